"""Match equity: the chance to win a match before a game begins, by the points both sides still need.

Tables are read from the XML files of GNU Backgammon's form (`met.dtd`), of which one is shipped, and continued by the
formulas of docs/cube.md where they end. A rule set whose games end otherwise than backgammon's gets a table that is
made so from the first cell on.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_ai.cube import kernels
from nardy_ai.cube.efficiency import SHIPPED
from nardy_ai.errors import CubeError
from nardy_ai.outcomes import Outcomes

__all__ = [
    "BACKGAMMON_ENDS",
    "LONGEST",
    "MatchTable",
    "computed_table",
    "extended_table",
    "read_table",
    "shipped_table",
]

LONGEST = 500
"""Points away in the longest match that is computed."""

BACKGAMMON_ENDS = np.array([0.37, 0.125, 0.005, 0.37, 0.125, 0.005], dtype=np.float32)
"""How games of backgammon between equals end, `float32[6]`: a fourth of the wins is a mars, a hundredth koks."""

_SHIPPED = Path(__file__).resolve().parent / "met" / "Kazaross-XG2.xml"


@dataclass(frozen=True, eq=False)
class MatchTable:
    """Match equities. utilities: `float64[2, n + 1, n + 1]`, 2 x chance - 1 of the first side by both sides' points
    away; plane 0 before and in the Crawford game, plane 1 after it. read: up to how many points away it was read from a
    file, 0 if it was computed.
    """

    name: str
    utilities: NDArray[np.float64]
    read: int = 0

    @property
    def length(self) -> int:
        """Points away that the table reaches to."""
        return self.utilities.shape[1] - 1

    def chance(self, mine: int, his: int, *, after_crawford: bool = False) -> float:
        """The first side's chance to win the match before a game. Raises CubeError."""
        if not (0 <= mine <= self.length and 0 <= his <= self.length and (mine or his)):
            raise CubeError(f"{mine} and {his} points away; expected 0 to {self.length} each, not both 0")
        return float(self.utilities[int(after_crawford), mine, his] + 1) / 2


@lru_cache(maxsize=1)
def shipped_table() -> MatchTable:
    """Kazaross XG2, up to 25 points away."""
    return read_table(_SHIPPED)


def read_table(path: Path) -> MatchTable:
    """A table from a file of GNU Backgammon's form. Raises CubeError with the file and the fault."""
    try:
        root = ET.parse(path).getroot()  # noqa: S314 - entities are neither fetched nor expanded without end by expat
        return _table_of(root)
    except OSError as error:
        raise CubeError(f"{path}: cannot be read: {error.strerror}") from error
    except (ET.ParseError, ValueError) as error:
        raise CubeError(f"{path}: is no match equity table: {error}") from error


def extended_table(
    table: MatchTable, length: int, ends: Outcomes, points: NDArray[np.int64], *, arithmetic: bool = False
) -> MatchTable:
    """The same table, continued to `length` points away by the formulas; itself if it reaches so far.

    ends: `float32[K]`, how even games end. points: `int64[K]`, of each class. Raises CubeError.
    """
    if length <= table.length:
        return table
    return _filled(table.name, length, ends, points, arithmetic, table, SHIPPED.contact)


def computed_table(
    length: int,
    ends: Outcomes,
    points: NDArray[np.int64],
    *,
    arithmetic: bool = False,
    efficiency: tuple[float, float, float] = SHIPPED.contact,
) -> MatchTable:
    """A table made by the formulas alone, for games that end as `ends` `float32[K]` says. Raises CubeError.

    efficiency: the cube's in such games, in the centre, of the side on roll, of the other.
    """
    return _filled("computed", length, ends, points, arithmetic, None, efficiency)


def _filled(
    name: str,
    length: int,
    ends: Outcomes,
    points: NDArray[np.int64],
    arithmetic: bool,
    known: MatchTable | None,
    efficiency: tuple[float, float, float],
) -> MatchTable:
    if not 1 <= length <= LONGEST:
        raise CubeError(f"{length} points away; match equities are computed for 1 to {LONGEST}")
    utilities, settled = _empty(length)
    if known is not None:
        n = known.length + 1
        utilities[:, :n, :n] = known.utilities
        settled[:, :n, :n] = True
    numbers = kernels.CubeNumbers(jacoby=0, beavers=0, raccoons=0, arithmetic=int(arithmetic), cap=0)
    for after_crawford in (1, 0):
        for total in range(2, 2 * length + 1):  # cells of one sum depend on those of smaller ones only
            mine = np.arange(max(1, total - length), min(length, total - 1) + 1)
            to_go = np.stack((mine, total - mine), axis=1)
            wanted = ~settled[after_crawford, to_go[:, 0], to_go[:, 1]]
            wanted &= (to_go.min(axis=1) == 1) | (not after_crawford)
            to_go = to_go[wanted]
            crawford = (to_go.min(axis=1) == 1) & (not after_crawford)
            on_roll, waiting = (
                _even_games(scores, crawford, ends, points, efficiency, numbers, utilities)
                for scores in (to_go, np.ascontiguousarray(to_go[:, ::-1]))
            )
            utilities[after_crawford, to_go[:, 0], to_go[:, 1]] = (on_roll - waiting) / 2
    return MatchTable(name, utilities, 0 if known is None else known.read)


def _even_games(
    to_go: NDArray[np.int64],
    crawford: NDArray[np.bool_],
    ends: Outcomes,
    points: NDArray[np.int64],
    efficiency: tuple[float, float, float],
    numbers: kernels.CubeNumbers,
    utilities: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What games that begin even are worth to the side on roll at scores `int64[N, 2]`, `float64[N]`."""
    n = len(to_go)
    out = np.empty((n, kernels.COLUMNS))
    chances, efficiencies = np.tile(ends.astype(np.float32), (n, 1)), np.tile(efficiency, (n, 1))
    stakes, owners = np.ones(n, dtype=np.int64), np.full(n, kernels.CENTRE, dtype=np.int64)
    kernels.cubeful(chances, points, stakes, owners, to_go, crawford, efficiencies, numbers, utilities, out)
    return out[:, kernels.BEST]


def _empty(length: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Utilities of matches that are over, and which cells these are."""
    utilities = np.zeros((2, length + 1, length + 1))
    settled = np.zeros(utilities.shape, dtype=bool)
    utilities[:, 0, :], utilities[:, :, 0], utilities[:, 0, 0] = 1, -1, 0
    settled[:, 0, :] = settled[:, :, 0] = True
    return utilities, settled


def _table_of(root: ET.Element) -> MatchTable:
    name = (root.findtext("info/name") or "").strip()
    before = _rows(root.find("pre-crawford-table"), "pre-crawford-table")
    length = len(before)
    if length < 1 or any(len(row) != length for row in before):
        raise ValueError(f"pre-crawford-table has {length} rows of {sorted({len(row) for row in before})} numbers")
    behind = root.findall("post-crawford-table")
    if len(behind) != 1 or behind[0].get("player", "both") != "both":
        raise ValueError("expected one post-crawford-table, for both players")
    after = _rows(behind[0], "post-crawford-table")
    if len(after) != 1 or len(after[0]) < length:
        raise ValueError(f"post-crawford-table has not one row of {length} numbers")
    utilities, _ = _empty(length)
    chances = np.array(before)
    utilities[0, 1:, 1:] = 2 * chances - 1
    trailing = 2 * np.array(after[0][:length]) - 1
    utilities[1, 1:, 1] = trailing
    utilities[1, 1, 1:] = -trailing
    if not (abs(chances + chances.T - 1) < 1e-3).all() or not (np.diff(chances, axis=1) > -1e-3).all():
        raise ValueError("its chances contradict each other: both sides' must add up to 1 and grow with the lead")
    return MatchTable(name or "unnamed", utilities, length)


def _rows(element: ET.Element | None, what: str) -> list[list[float]]:
    """The rows of numbers of one table. Raises ValueError."""
    if element is None:
        raise ValueError(f"it has no {what}")
    if element.get("type", "explicit") != "explicit":
        raise ValueError(f"{what} is of type {element.get('type')!r}; expected 'explicit' numbers")
    rows = [[float(cell.text or "") for cell in row.findall("me")] for row in element.findall("row")]
    if any(not 0 <= chance <= 1 for row in rows for chance in row):
        raise ValueError(f"{what} holds numbers that are no chances")
    return rows

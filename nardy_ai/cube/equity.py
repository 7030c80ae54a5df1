"""Cubeful equity of many positions at once by formula: the typed adapter in front of the kernels.

A `CubeModel` holds what games share (points of the classes, the rules of the cube, match equities), `CubeStates` what
each has of its own. Utilities are row 0's: points, stake and all, for money; 2 x match winning chance - 1 in a match.
The other side's are their opposites, and `swapped` says so. docs/cube.md has the formulas and their sources.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.cube import kernels
from nardy_ai.cube.efficiency import SHIPPED, Efficiencies, efficiencies
from nardy_ai.cube.kernels import BEAVER, BEST, COLUMNS, DOUBLE_PASS, DOUBLE_TAKE, NO_DOUBLE, RACCOON, CubeNumbers
from nardy_ai.cube.met import BACKGAMMON_ENDS, MatchTable, computed_table, extended_table, shipped_table
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.errors import CubeError
from nardy_ai.outcomes import Outcomes, class_points, final_outcomes
from nardy_ai.rules import RuleSet

__all__ = ["CubeModel", "CubeWorth", "has_shipped_table", "match_table", "swapped_utilities"]

_NO_TABLE = np.zeros((2, 1, 1))


@dataclass(frozen=True, eq=False)
class CubeWorth:
    """Utilities of row 0 in N states, `float64[N]` each.

    no_double: it rolls without an offer. double_take, double_pass: it offers and the other takes, or passes; beaver: it
    is beavered and plays on; raccoon: it raccoons, and the other plays on. NaN for what cannot be. best: both sides
    decide rightly, where row 0 may double.
    """

    no_double: NDArray[np.float64]
    double_take: NDArray[np.float64]
    double_pass: NDArray[np.float64]
    beaver: NDArray[np.float64]
    raccoon: NDArray[np.float64]
    best: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CubeModel:
    """The rules of the cube for games of one rule set. table: None for money. cap: None without a limit.

    efficiency: what the formulas take for it.
    """

    rules: RuleSet
    growth: str = "geometric"
    cap: int | None = None
    jacoby: bool = False
    beavers: bool = False
    raccoons: bool = False
    table: MatchTable | None = None
    efficiency: Efficiencies = SHIPPED

    @staticmethod
    def of(state: CubeState, rules: RuleSet, table: MatchTable | None = None) -> "CubeModel":
        """The model that a state calls for. table: needed, and used, in a match only."""
        return CubeModel(
            rules=rules,
            growth=state.growth,
            cap=state.cap,
            jacoby=state.jacoby and not state.is_match,
            beavers=state.beavers and not state.is_match,
            raccoons=state.raccoons and not state.is_match,
            table=table if state.is_match else None,
        )

    @cached_property
    def numbers(self) -> CubeNumbers:
        """The rules as the kernels read them."""
        arithmetic = int(self.growth == "arithmetic")
        return CubeNumbers(int(self.jacoby), int(self.beavers), int(self.raccoons), arithmetic, self.cap or 0)

    @cached_property
    def points(self) -> NDArray[np.int64]:
        """Points of each class, `int64[K]`."""
        return class_points(self.rules).astype(np.int64)

    @property
    def utilities(self) -> NDArray[np.float64]:
        """Match equities as the kernels read them; one cell for money."""
        return _NO_TABLE if self.table is None else self.table.utilities

    def worth(self, outcomes: Outcomes, boards: Boards, states: CubeStates) -> CubeWorth:
        """What positions are worth by formula. outcomes: `float32[N, K]`; boards: `int8[N, 2, 26]`, for efficiency."""
        return self.worth_at(outcomes, self.efficiencies(boards, outcomes), states)

    def efficiencies(self, boards: Boards, outcomes: Outcomes) -> NDArray[np.float64]:
        """The cube's efficiency in the centre, of row 0's cube and of row 1's, `float64[N, 3]`."""
        return efficiencies(boards, outcomes, self.rules, self.efficiency)

    def worth_at(self, outcomes: Outcomes, efficiency: NDArray[np.float64], states: CubeStates) -> CubeWorth:
        """The same with efficiencies of one's own, `float64[N, 3]` as of `efficiencies`. Raises CubeError."""
        self.check(states, len(outcomes))
        if outcomes.shape[1:] != self.points.shape or efficiency.shape != (len(outcomes), 3):
            raise CubeError(
                f"outcomes are {list(outcomes.shape)} and efficiencies {list(efficiency.shape)}; expected"
                f" [{len(outcomes)}, {len(self.points)}] and [{len(outcomes)}, 3]"
            )
        out = np.empty((len(outcomes), COLUMNS))
        kernels.cubeful(
            np.ascontiguousarray(outcomes, dtype=np.float32), self.points, states.stakes, states.owners, states.to_go,
            states.crawford, efficiency, self.numbers, self.utilities, out,
        )  # fmt: skip
        return CubeWorth(*(out[:, i] for i in (NO_DOUBLE, DOUBLE_TAKE, DOUBLE_PASS, BEAVER, RACCOON, BEST)))

    def check(self, states: CubeStates, n: int) -> None:
        """Refuse another number of states than `n`, money in a model of matches and the reverse, scores off the table.

        Raises CubeError.
        """
        if len(states) != n:
            raise CubeError(f"{len(states)} states of the cube for {n} boards; expected one for each")
        if not n:
            return
        least, most = int(states.to_go.min()), int(states.to_go.max())
        if (self.table is None) != (most == 0):
            kind = "money" if self.table is None else "matches"
            raise CubeError(f"points away are {least} to {most}; this model of the cube is for {kind}")
        if self.table is not None and not 1 <= least <= most <= self.table.length:
            raise CubeError(f"points away are {least} to {most}; the match equities at hand reach {self.table.length}")

    def may_double(self, states: CubeStates) -> NDArray[np.bool_]:
        """Where row 0 may double and could gain by it, `bool[N]`: not where the stake already wins it the match."""
        mine = states.to_go[:, 0]
        may = (states.owners != 1) & ~states.crawford & ((mine == 0) | (states.stakes < mine))
        return may & (self._raised(states.stakes) > 0)

    def may_beaver(self, states: CubeStates) -> NDArray[np.bool_]:
        """Where a double of row 0 could be beavered, `bool[N]`."""
        return self.may_double(states) & self.beavers & (self._raised(self._raised(states.stakes)) > 0)

    def may_raccoon(self, states: CubeStates) -> NDArray[np.bool_]:
        """Where row 0 could answer a beaver by a raccoon, `bool[N]`."""
        raised = self._raised(self._raised(self._raised(states.stakes)))
        return self.may_beaver(states) & self.raccoons & (raised > 0)

    def doubled(self, states: CubeStates, *, times: int = 1) -> CubeStates:
        """The states after a double of row 0 is taken; after a beaver with `times` 2, after a raccoon with 3."""
        stakes = states.stakes
        for _ in range(times):
            stakes = self._raised(stakes)
        return CubeStates(stakes, np.ones_like(states.owners), states.to_go, states.crawford)

    def single(self, states: CubeStates, *, won: bool) -> NDArray[np.float64]:
        """Row 0's utility when it wins (or loses) the stake once, `float64[N]`."""
        if self.table is None:
            return states.stakes.astype(np.float64) * (1 if won else -1)
        mine, his = states.to_go.T
        later = (states.to_go.min(axis=1) == 1).astype(np.int64)
        if won:
            return self.utilities[later, np.maximum(mine - states.stakes, 0), his]
        return self.utilities[later, mine, np.maximum(his - states.stakes, 0)]

    def per_cube(self, utilities: NDArray[np.float64], states: CubeStates) -> NDArray[np.float64]:
        """Utilities on the scale on which winning the stake once is 1 and losing it once is -1, `float64[N]`."""
        won, lost = self.single(states, won=True), self.single(states, won=False)
        return (2 * utilities - won - lost) / (won - lost)

    def final(self, boards: Boards, states: CubeStates) -> NDArray[np.float64]:
        """Row 0's utility on finished boards, `float64[N]`."""
        outcomes = final_outcomes(boards, self.rules)
        return self.worth_at(outcomes, np.full((len(boards), 3), kernels.OVER), states).no_double

    def _raised(self, stakes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Stakes after a double, 0 where there can be none."""
        raised = np.where(stakes == 0, 0, stakes + 1 if self.growth == "arithmetic" else 2 * stakes)
        return raised if self.cap is None else np.where(raised > self.cap, 0, raised)


def swapped_utilities(utilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same utilities as the other side sees them."""
    return -utilities


def has_shipped_table(rules: RuleSet, growth: str) -> bool:
    """Whether the shipped match equities are of this game: fifteen checkers, mars and koks, and stakes that double."""
    return growth == "geometric" and rules.scoring == "oin_mars_koks" and rules.checkers == 15


def match_table(
    rules: RuleSet,
    length: int,
    *,
    growth: str = "geometric",
    ends: Outcomes | None = None,
    base: MatchTable | None = None,
) -> MatchTable:
    """Match equities up to `length` points away for games of a rule set.

    base: a table that was read, continued where it ends. Without one the shipped one serves where it is of this game;
    otherwise all is computed. ends: `float32[K]`, how even games end; None: as in backgammon. Raises CubeError.
    """
    points = class_points(rules).astype(np.int64)
    even = BACKGAMMON_ENDS if ends is None else ends
    if base is None and not has_shipped_table(rules, growth):
        return computed_table(length, even, points, arithmetic=growth == "arithmetic")
    found = shipped_table() if base is None else base
    return extended_table(found, length, even, points, arithmetic=growth == "arithmetic")

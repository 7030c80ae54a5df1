"""Phases of a game: which head of a network judges a board. Named, versioned, told by what is farthest behind.

Each side is in a zone, by its highest occupied slot and perhaps by how many checkers it has far behind, and a pair of
zones is a phase. The last phase of every set is the race. To look a phase up costs next to nothing; that there are many
costs room, and parts of tiles that are computed for nothing. A set never changes once a bot file names it.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, HEAD, HOME, PARALLEL, SLOTS, Boards, highest_slots
from nardy_ai.errors import BotError
from nardy_ai.rules import MAX_CHECKERS

__all__ = ["PHASE_SETS", "PhaseSet", "PhaseTables", "find_phases"]

NO_PHASE = -1
"""Where a table tells none."""

_COUNTS = MAX_CHECKERS + 1


@dataclass(frozen=True)
class Zones:
    """How the sides of a geometry are told apart.

    places: the slot at which a place begins, rising, and how many checkers far behind part it into further zones,
    rising. apart: how many zones the sides may be apart; the lower is counted as that near to the higher one.
    """

    places: tuple[tuple[int, tuple[int, ...]], ...]
    apart: int = SLOTS

    @property
    def since(self) -> int:
        """The slot from which checkers are far behind: where the first place begins that is parted."""
        return next((start for start, counts in self.places if counts), SLOTS)

    @property
    def number(self) -> int:
        """How many zones there are."""
        return sum(1 + len(counts) for _, counts in self.places)

    def of_side(self, highest: int, behind: int) -> int:
        """The zone of a side by its highest slot and how many checkers it has far behind."""
        zone = first = 0
        for start, counts in self.places:
            if highest >= start:
                zone = first + bisect_right(counts, behind)
            first += 1 + len(counts)
        return zone

    def as_counted(self, mine: int, his: int) -> tuple[int, int]:
        """The zones of both sides, no more than `apart`."""
        return max(mine, his - self.apart), max(his, mine - self.apart)


class PhaseTables(NamedTuple):
    """What a phase is looked up in.

    by_slots: `int64[26, 26]`, by both sides' highest slots (0: all off), `NO_PHASE` where counts decide; then since:
    slots from which checkers are counted; zones: `int64[26, 16]`, by highest slot and count; pairs: `int64[Z, Z]`, the
    phase by the zones of row 0 and of row 1.
    """

    by_slots: NDArray[np.int64]
    since: int
    zones: NDArray[np.int64]
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class PhaseSet:
    """`zones`, by geometry. Every pair of them that can hold contact is a phase, and the race is the last one."""

    name: str
    zones: Mapping[str, Zones]
    summary: str

    def names(self, board: str) -> tuple[str, ...]:
        """What each phase is called, such as `1-2` for the zones of row 0 and row 1, and at last `race`."""
        pairs = _pairs(self.name, board)
        return (*("contact" if len(pairs) == 1 else f"{i}-{j}" for i, j in pairs), "race")

    def count(self, board: str) -> int:
        """P, the number of phases."""
        return len(_pairs(self.name, board)) + 1

    def tables(self, board: str) -> PhaseTables:
        """What `of` looks up."""
        return _tables(self.name, board)

    def of(self, boards: Boards, board: str) -> NDArray[np.int64]:
        """The phase of each board, `int64[N]`."""
        tables = self.tables(board)
        highest = highest_slots(boards)
        zones = tables.zones[highest, boards[:, :, tables.since :].sum(axis=2, dtype=np.int64)]
        by_slots = tables.by_slots[highest[:, 0], highest[:, 1]]
        return np.where(by_slots == NO_PHASE, tables.pairs[zones[:, 0], zones[:, 1]], by_slots)

    def within(self, other: "PhaseSet", board: str) -> NDArray[np.int64]:
        """For each phase the one of `other` in which most of its boards are, `int64[P]`.

        Most by highest slots and counts, each as likely as the next, and of boards whose zones count as they are.
        """
        mine, theirs = self.tables(board), other.tables(board)
        slots = np.repeat(np.arange(SLOTS), _COUNTS)
        zone, other_zone = mine.zones.ravel(), theirs.zones.ravel()
        as_they_are = np.abs(zone[:, None] - zone) <= self.zones[board].apart
        counted = ~_races(board)[slots[:, None], slots] & as_they_are
        shape = self.count(board), other.count(board)
        at = mine.pairs[zone[:, None], zone][counted], theirs.pairs[other_zone[:, None], other_zone][counted]
        often = np.bincount(np.ravel_multi_index(at, shape), minlength=shape[0] * shape[1]).reshape(shape)
        often[-1, -1] = 1  # the race
        return often.argmax(axis=1)


def _races(board: str) -> NDArray[np.bool_]:
    """Where the sides can no longer meet, by their highest slots: twin of `boards.is_race`. Also where all are off."""
    mine, his = np.indices((SLOTS, SLOTS))
    off = (mine == 0) | (his == 0)
    return off | (mine + his < BAR if board == CONTRARY else np.maximum(mine, his) <= 12)


@cache
def _pairs(name: str, board: str) -> list[tuple[int, int]]:
    """The pairs of zones that hold contact somewhere, as they count."""
    zones, highest = PHASE_SETS[name].zones[board], BAR if board == CONTRARY else HEAD
    sides = {(slot, zones.of_side(slot, n)) for slot in range(1, highest + 1) for n in range(_COUNTS)}
    races = _races(board)
    return sorted({zones.as_counted(mine, his) for (i, mine), (j, his) in product(sides, repeat=2) if not races[i, j]})


@cache
def _tables(name: str, board: str) -> PhaseTables:
    zones, pairs = PHASE_SETS[name].zones[board], _pairs(name, board)
    numbers = {pair: number for number, pair in enumerate(pairs)}
    sides = range(zones.number)
    by_count = np.array([[zones.of_side(slot, n) for n in range(_COUNTS)] for slot in range(SLOTS)])
    by_pair = np.array([[numbers.get(zones.as_counted(i, j), NO_PHASE) for j in sides] for i in sides])
    told = (by_count == by_count[:, :1]).all(axis=1)
    by_slots = np.where(told[:, None] & told, by_pair[by_count[:, :1], by_count[:, 0]], NO_PHASE)
    by_slots[_races(board)] = len(pairs)
    tables = PhaseTables(by_slots, zones.since, by_count, by_pair)
    for table in (tables.by_slots, tables.zones, tables.pairs):
        table.flags.writeable = False
    return tables


PHASE_SETS = {
    entry.name: entry
    for entry in (
        PhaseSet("race-1", {CONTRARY: Zones(((1, ()),)), PARALLEL: Zones(((1, ()),))}, "contact and race"),
        PhaseSet(
            "zones-1",
            {
                CONTRARY: Zones(((1, ()), (HOME + 1, ()), (19, ()), (BAR, ()))),
                PARALLEL: Zones(((1, ()), (HOME + 1, ()), (13, ()), (19, ()))),
            },
            "where each side's rearmost checker stands: at home, outside, in his home, on the bar; and the race",
        ),
        PhaseSet(
            "stages-1",
            {
                CONTRARY: Zones(((1, ()), (HOME + 1, ()), (19, (2, 3)), (BAR, (3,)))),
                PARALLEL: Zones(((1, ()), (HOME + 1, ()), (13, ()), (19, ()), (HEAD, (3, 6, 9))), apart=1),
            },
            "the same, and how many checkers a side has in his home or on the bar; where both sides move the same way"
            " how many on the head, and sides' zones at most one apart",
        ),
    )
}


def find_phases(name: str) -> PhaseSet:
    """The set of that name. Raises BotError."""
    if name not in PHASE_SETS:
        raise BotError(f"unknown phases {name!r}; expected one of {', '.join(PHASE_SETS)}")
    return PHASE_SETS[name]

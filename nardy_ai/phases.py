"""Phases of a game: which head of a network judges a board. Named, versioned, told by the sides' rearmost checkers.

A phase is looked up in a table by the highest occupied slots of row 0 and row 1, so any number of phases costs the
network nothing. The last phase of every set is the race. A set never changes once a bot file names it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, HOME, PARALLEL, SLOTS, Boards, highest_slots
from nardy_ai.errors import BotError

__all__ = ["PHASE_SETS", "PhaseSet", "find_phases"]


@dataclass(frozen=True)
class PhaseSet:
    """`bounds`: by geometry the slots at which a new zone of the highest checker begins, rising.

    Every pair of zones that can hold contact is a phase, and the race is the last one.
    """

    name: str
    bounds: Mapping[str, tuple[int, ...]]
    summary: str

    def names(self, board: str) -> tuple[str, ...]:
        """What each phase is called, such as `1-2` for the zones of row 0 and row 1, and at last `race`."""
        return _names(self.name, board)

    def count(self, board: str) -> int:
        """P, the number of phases."""
        return len(self.names(board))

    def table(self, board: str) -> NDArray[np.int64]:
        """`int64[26, 26]`: the phase by the highest slot of row 0 and of row 1 (0 where all are off: the race)."""
        return _table(self.name, board)

    def of(self, boards: Boards, board: str) -> NDArray[np.int64]:
        """The phase of each board, `int64[N]`."""
        highest = highest_slots(boards)
        phases: NDArray[np.int64] = self.table(board)[highest[:, 0], highest[:, 1]]
        return phases


def _races(board: str) -> NDArray[np.bool_]:
    """Where the sides can no longer meet, by their highest slots, `bool[26, 26]`: twin of `boards.is_race`."""
    mine, his = np.indices((SLOTS, SLOTS))
    return mine + his < BAR if board == CONTRARY else np.maximum(mine, his) <= 12


@cache
def _zones(name: str, board: str) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """The zone of each slot, and the pairs of zones that hold contact somewhere."""
    bounds = PHASE_SETS[name].bounds[board]
    zone = np.searchsorted(np.array(bounds, dtype=np.int64), np.arange(SLOTS), side="right")
    contact = ~_races(board)
    slots = range(1, SLOTS if board == CONTRARY else BAR)
    pairs = {(int(zone[i]), int(zone[j])) for i, j in product(slots, slots) if contact[i, j]}
    return zone, sorted(pairs)


@cache
def _names(name: str, board: str) -> tuple[str, ...]:
    pairs = _zones(name, board)[1]
    return (*("contact" if len(pairs) == 1 else f"{i}-{j}" for i, j in pairs), "race")


@cache
def _table(name: str, board: str) -> NDArray[np.int64]:
    zone, pairs = _zones(name, board)
    numbers = {pair: number for number, pair in enumerate(pairs)}
    table = np.full((SLOTS, SLOTS), len(pairs), dtype=np.int64)
    for i, j in zip(*np.nonzero(~_races(board)), strict=True):
        table[i, j] = numbers.get((int(zone[i]), int(zone[j])), 0)
    table.flags.writeable = False
    return table


PHASE_SETS = {
    entry.name: entry
    for entry in (
        PhaseSet("race-1", {CONTRARY: (), PARALLEL: ()}, "contact and race"),
        PhaseSet(
            "zones-1",
            {CONTRARY: (HOME + 1, 19, BAR), PARALLEL: (HOME + 1, 13, 19)},
            "where each side's rearmost checker stands: at home, outside, in his home, on the bar; and the race",
        ),
    )
}


def find_phases(name: str) -> PhaseSet:
    """The set of that name. Raises BotError."""
    if name not in PHASE_SETS:
        raise BotError(f"unknown phases {name!r}; expected one of {', '.join(PHASE_SETS)}")
    return PHASE_SETS[name]

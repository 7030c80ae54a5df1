"""Pruning nets: small networks that guess how a bot orders the plays of a roll, so that it judges the likeliest only.

GNU Backgammon calls its own ones so. This one is U squared units over the 52 counts of the board after a play, and one
row of weights for the phase of the board before it; what comes out is a score in points, right up to a number that is
the same for all plays of the board. A parent's sum is made once, and a play adds and takes away the rows of the few
counts that it changed, so a score costs a small part of what the network's judgement does.

As a network's first layers are (`grid`), all numbers are whole: a score does not depend on its batch or on its place.
"""

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import Boards, swap_sides
from nardy_ai.errors import BotError
from nardy_ai.evaluators.grid import (
    CEILING,
    as_int16,
    find_grid,
    find_reach,
    from_units,
    in_units,
    square,
    weight_units,
    whole_rows,
)
from nardy_ai.features import COUNTS, LEVELS, STEPS
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.movegen.kernels import lowest_bit
from nardy_ai.phases import PhaseSet
from nardy_ai.rules import RuleSet
from nardy_ai.vectors import LANES, add_four_rows, bytes_differ, exchange_rows, lined_up, lined_up_space

__all__ = ["PruningNet", "PruningWeights"]


@dataclass(frozen=True)
class PruningWeights:
    """Trained numbers, `float32`: first `[52 * F, U]`, first_bias `[U]`, out `[P, U]`, for P phases and F steps."""

    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    out: NDArray[np.float32]

    def check(self, phases: int) -> None:
        """Refuse shapes that do not fit together, and values that are no numbers. Raises BotError."""
        units = self.first.shape[-1] if self.first.ndim else 0
        expected = {"first": (COUNTS * STEPS.shape[1], units), "first_bias": (units,), "out": (phases, units)}
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float32:
                raise BotError(
                    f"weights {name} of the pruning net are {array.dtype}{list(array.shape)}; expected"
                    f" float32{list(shape)}"
                )
            if not np.isfinite(array).all():
                raise BotError(f"weights {name} of the pruning net hold values that are no finite numbers")
        if units % LANES or not units:
            raise BotError(f"{units} units of the pruning net; expected a multiple of {LANES}")


@dataclass(frozen=True, eq=False)
class PruningNet:
    """What guesses. rules: whose boards; phases: of which set P are.

    unit: so many points is a score of 1.
    """

    rules: RuleSet
    phases: PhaseSet
    weights: PruningWeights
    unit: float = field(init=False)
    _table: NDArray[np.int16] = field(init=False, repr=False)
    _bias: NDArray[np.int16] = field(init=False, repr=False)
    _out: NDArray[np.int16] = field(init=False, repr=False)
    _ceiling: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = self.weights
        given.check(self.phases.count(self.rules.board))
        none = np.empty((0, 0), dtype=np.float32)
        reach = find_reach(given.first, given.first_bias, none, given.out[:, None], self.rules.checkers)
        grid = find_grid(reach, True, CEILING)
        units = weight_units(len(given.first), grid)
        first, bias = (
            from_units(in_units(values, units[name]), units[name])
            for name, values in (("first", given.first), ("first_bias", given.first_bias))
        )
        rows = whole_rows(first, grid)
        for name, value in {
            "unit": 2.0 ** -(grid.second + grid.units(True)),
            "_table": lined_up(rows.reshape(COUNTS * LEVELS, -1)),
            "_bias": as_int16(bias * 2.0**grid.sums),
            "_out": as_int16(given.out * 2.0**grid.second),
            "_ceiling": int(CEILING * 2.0**grid.sums),
        }.items():
            object.__setattr__(self, name, value)

    def scores(self, boards: Boards, after: Afterstates) -> NDArray[np.int32]:
        """The scores of all afterstates, `int32[M]`, in units: the higher, the better for the side that plays.

        boards: `int8[N, 2, 26]`, the parents, each with equally many segments of `after`.
        """
        plays = np.ascontiguousarray(after.boards, dtype=np.int8).reshape(-1, COUNTS)
        scores = np.empty(len(plays), dtype=np.int32)
        bases = swap_sides(np.asarray(boards, dtype=np.int8)).reshape(-1, COUNTS)
        phases = self.phases.of(boards, self.rules.board)
        _score(bases, plays, after.offsets, phases, self._table, self._bias, self._out, self._ceiling, scores)
        return scores


@njit(nogil=True, cache=True)
def _score(bases, boards, offsets, phases, table, bias, out, ceiling, scores):
    """Scores of M boards, by the sums of their parents.

    bases: `int8[N, 52]`, the parents with the other side on roll; boards: `int8[M, 52]`; offsets: `int64[S + 1]`, S / N
    segments for each parent; phases: `int64[N]`; the weights as `PruningNet` has them. scores: `int32[M]`, filled.
    """
    width = len(bias)
    tail = COUNTS - 32
    flat = table.reshape(-1)
    parent = lined_up_space(1, width)[0]
    units = lined_up_space(1, width)[0]
    more = np.zeros(COUNTS + 3, np.int64)
    less = np.zeros(COUNTS + 3, np.int64)
    each = (len(offsets) - 1) // max(len(bases), 1)
    top = np.int16(ceiling)
    for i in range(len(bases)):
        base = bases[i]
        n = 0
        for s in range(COUNTS):
            more[n] = (s * LEVELS + base[s]) * width
            n += 1 if base[s] else 0
        more[n : n + 3] = 0  # the row of an empty slot
        parent[:] = bias
        for k in range(0, n, 4):
            add_four_rows(parent, 0, parent, 0, flat, more[k], more[k + 1], more[k + 2], more[k + 3], width)
        weights = out[phases[i]]
        for m in range(offsets[i * each], offsets[(i + 1) * each]):
            board = boards[m]
            changed = bytes_differ(boards, m * COUNTS, bases, i * COUNTS)
            changed |= bytes_differ(boards, m * COUNTS + tail, bases, i * COUNTS + tail) << tail
            n = 0
            while changed:
                s = lowest_bit(changed)
                changed &= changed - 1
                more[n] = (s * LEVELS + board[s]) * width
                less[n] = (s * LEVELS + base[s]) * width
                n += 1
            more[n] = 0
            more[n + 1] = 0
            less[n] = 0
            less[n + 1] = 0
            exchange_rows(units, 0, parent, 0, flat, more[0], more[1], less[0], less[1], width)
            for k in range(2, n, 2):
                exchange_rows(units, 0, units, 0, flat, more[k], more[k + 1], less[k], less[k + 1], width)
            score = np.int32(0)
            for h in range(width):
                unit = np.int16(square(min(max(units[h], np.int16(0)), top)))
                score += np.int32(unit) * np.int32(weights[h])
            scores[m] = score

"""Weights in whole numbers: on what grids the first two layers lie, so that `int16` and `int32` hold their exact sums.

A network's weights are rounded when it is made, before anything is asked of it, so a bot file holds what the kernel
computes with. `Grid` says how finely: by powers of two, the finest for which no board can make a sum overflow.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.features import COUNTS, LEVELS, STEPS

CEILING = 2.0
"""A squared unit is the square of its sum held between 0 and this."""

SQUARE_SHIFT = 8
"""A square loses so many of its bits: of a sum in units of 2^-k, those below 2^(SQUARE_SHIFT - 2 k)."""

REAL_BITS = 8
"""Real inputs are rounded to 2^-REAL_BITS."""

MOST_SUM = 2**15 - 1
"""The largest sum of the first layer, in its units; what real inputs add on top is held to it."""

_MOST_PRODUCT = 2**31 - 1
_FINEST = 10
"""Squares of sums no finer than this have room, and are exact in `float32` as well: torch finds the same ones."""

_FINEST_SECOND = 14
_SLACK = 16
"""By so many units at most does rounding change the sum of 30 checkers and a bias."""

_FRACTIONS = np.array([1, 1, 1, 1, 1, 4], dtype=np.float64)
"""A weight is rounded to so many units that what `STEPS` makes of it is a whole number of them."""


Unit = float | NDArray[np.float64]
"""What weights are whole numbers of: the same for all, or one for each row."""


class Grid(NamedTuple):
    """sums: the first layer is in units of 2^-sums. second: so is the second, of 2^-second."""

    sums: int
    second: int

    def units(self, squared: bool) -> int:
        """What comes out of the first layer is in units of 2 to minus this."""
        return 2 * self.sums - SQUARE_SHIFT if squared else self.sums


class Reach(NamedTuple):
    """How large the numbers of two layers get: sums of the first over all boards, weights and sums of the second."""

    first: float
    weight: float
    second: float
    units: int


def find_reach(
    first: NDArray[np.float32], bias: NDArray[np.float32], reals: NDArray[np.float32], second: NDArray[np.float32],
    checkers: int,
) -> Reach:  # fmt: skip
    """The reach of weights as `Weights` has them, on boards of so many checkers a side.

    `second` counts where all units with weights of one sign are 1 and the others 0.
    """
    slots = len(first) // STEPS.shape[1]
    rows = STEPS.astype(np.float64) @ first.reshape(slots, STEPS.shape[1], -1).astype(np.float64)
    far = []
    for sign in (1, -1):
        sums = sign * bias.astype(np.float64) + (sign * rows[COUNTS:]).max(axis=1, initial=0.0).sum(axis=0)
        for side in np.split(sign * rows[:COUNTS, : checkers + 1], 2):
            sums += _most(np.ascontiguousarray(side))
        far.append(float(sums.max()))
    largest = max(*far, float(np.abs(reals).max(initial=0.0)))
    signs = [np.clip(second * sign, 0, None).sum(axis=2, dtype=np.float64).max() for sign in (1, -1)]
    return Reach(largest, float(np.abs(second).max()), float(max(signs)), second.shape[2])


def find_grid(reach: Reach, squared: bool, ceiling: float) -> Grid:
    """The finest grids on which weights of this reach are safe when they have been rounded.

    ceiling: above which no squared unit sees a sum.
    """
    sums = _FINEST
    while reach.first * 2.0**sums > MOST_SUM - _SLACK:
        sums -= 1
    second = _FINEST_SECOND
    while not _safe(Grid(sums, second), reach, reach.units, squared, ceiling):
        second -= 1
    return Grid(sums, second)


def holds(grid: Grid, reach: Reach, squared: bool, ceiling: float) -> bool:
    """Whether weights of this reach that lie on a grid are safe there."""
    return reach.first * 2.0**grid.sums <= MOST_SUM and _safe(grid, reach, 0, squared, ceiling)


def _safe(grid: Grid, reach: Reach, slack: int, squared: bool, ceiling: float) -> bool:
    """Whether weights and sums of the second layer have room. slack: by how many units rounding may change a sum."""
    most = ceiling**2 * 2.0 ** grid.units(True) if squared else MOST_SUM
    scale = 2.0**grid.second
    return reach.weight * scale < MOST_SUM and (reach.second * scale + slack) * most <= _MOST_PRODUCT


def weight_units(inputs: int, grid: Grid) -> Mapping[str, Unit]:
    """Of what the weights on a grid are whole numbers, by their names in `Weights`. inputs: rows of the first layer."""
    sums, second = 2.0**-grid.sums, 2.0**-grid.second
    first = np.tile(_FRACTIONS * sums, inputs // len(_FRACTIONS))[:, None]
    return {"first": first, "first_bias": sums, "reals": sums, "second": second}


def whole_rows(first: NDArray[np.float32], grid: Grid) -> NDArray[np.int16]:
    """What so many in a slot add to the sums, in their units: `int16[S, LEVELS, H]`; first: `float32[S * F, H]`.

    Whole numbers already, but for rows that no board of these rules has.
    """
    rows = STEPS.astype(np.float64) @ first.reshape(-1, STEPS.shape[1], first.shape[1]).astype(np.float64)
    return as_int16(rows * 2.0**grid.sums)


def as_int16(values: NDArray[np.floating[Any]]) -> NDArray[np.int16]:
    """The nearest whole numbers, held to what has room."""
    return np.clip(np.rint(values), -MOST_SUM, MOST_SUM).astype(np.int16)


def in_units(values: NDArray[np.float32], unit: Unit) -> NDArray[np.float64]:
    """Values as the nearest whole numbers of a unit."""
    return np.rint(values / unit)


def from_units(whole: NDArray[np.float64] | NDArray[np.int16], unit: Unit) -> NDArray[np.float32]:
    """The values of whole numbers of a unit."""
    return (whole * unit).astype(np.float32)


@njit(nogil=True, cache=True, forceinline=True)
def square(x):
    """The square less `SQUARE_SHIFT` bits, as the upper half of a product of two `uint16`: one instruction."""
    y = np.uint32(np.uint16(x << (16 - SQUARE_SHIFT) // 2))
    return np.uint32(y * y) >> np.uint32(16)


@njit(nogil=True, cache=True)
def _most(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest sum of a side for each unit, `float64[H]`; rows `[26, checkers + 1, H]`: what so many in a slot add.

    The best of the first slots for each number of checkers, slot by slot.
    """
    slots, counts, width = rows.shape
    best = np.full((counts, width), -np.inf)
    best[0] = 0
    for s in range(slots):
        for c in range(counts - 1, -1, -1):
            for n in range(1, c + 1):
                for h in range(width):
                    x = best[c - n, h] + rows[s, n, h]
                    best[c, h] = x if x > best[c, h] else best[c, h]
    most: NDArray[np.float64] = best[counts - 1]
    return most


assert len(_FRACTIONS) == STEPS.shape[1] and (STEPS * _FRACTIONS % 1 == 0).all() and LEVELS == len(STEPS)

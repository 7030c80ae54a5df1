"""How well the cube can be used, 0 (a dead cube) to 1 (a live one), by position; docs/cube.md has the numbers.

scripts/fit_efficiencies.py makes those that are fitted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import OFF, Boards, finished, is_race, pip_counts
from nardy_ai.cube import kernels
from nardy_ai.outcomes import Outcomes
from nardy_ai.rules import RuleSet

__all__ = ["SHIPPED", "Efficiencies", "efficiencies", "places"]

FEW = 3
"""Checkers on the board, on the side that has more, up to which a position is one of few checkers."""

CHANCES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Chances to win of the side on roll for which tables of few checkers have a row."""
LENGTHS = (6.0, 12.0, 18.0, 24.0, 36.0, 60.0)
"""Pips of the side that has fewer for which they have a column."""


@dataclass(frozen=True)
class Efficiencies:
    """The numbers. Three in a row: the cube is in the centre, the side on roll's, the other's.

    contact: where there is contact, and more than FEW checkers. race: by `race_lengths`, the pips of the side that has
    fewer. lagging: in short races an owner whose chance to win is t makes a + b t, at most 1, times what the table says
    of the cube. lagging_centre: there a centred cube has the first where row 0's chance to win is below the second, the
    table's where it is above the third, and in between lines. few: `[3][CHANCES][LENGTHS]`, for contact with FEW
    checkers or less; None: as with more.
    """

    contact: tuple[float, float, float]
    race_lengths: tuple[float, ...]
    race: tuple[tuple[float, ...], ...]
    lagging: tuple[float, float]
    lagging_centre: tuple[float, float, float]
    few: tuple[tuple[tuple[float, ...], ...], ...] | None = None


SHIPPED = Efficiencies(
    contact=(0.76, 0.68, 0.68),
    race_lengths=(6.0, 12.0, 18.0, 24.0, 30.0, 120.0),
    race=(
        (0.58, 0.33, 0.58, 0.68, 0.78, 0.72),
        (0.38, 0.48, 0.53, 0.66, 0.68, 0.70),
        (0.48, 0.68, 0.70, 0.68, 0.68, 0.70),
    ),
    lagging=(0.0, 2.0),
    lagging_centre=(0.90, 0.50, 0.60),
    few=(
        (  # centre
            (1.00, 1.00, 1.00, 0.91, 0.77, 0.78),
            (0.60, 0.58, 0.91, 0.98, 1.00, 0.78),
            (0.33, 0.14, 0.53, 0.74, 0.89, 1.00),
            (0.31, 0.05, 0.52, 0.70, 1.00, 0.90),
            (0.74, 0.36, 0.37, 0.99, 0.88, 0.74),
            (0.80, 0.60, 0.08, 0.33, 0.64, 1.00),
            (0.78, 0.59, 0.09, 0.38, 0.68, 1.00),
            (0.78, 0.36, 0.35, 0.72, 1.00, 0.88),
            (0.78, 0.76, 1.00, 1.00, 0.80, 0.78),
        ),
        (  # own
            (0.60, 0.57, 0.60, 0.62, 0.65, 0.66),
            (0.57, 0.49, 0.48, 0.49, 0.57, 0.65),
            (0.62, 0.56, 0.50, 0.54, 0.56, 0.63),
            (0.64, 0.49, 0.52, 0.57, 0.62, 0.66),
            (0.65, 0.43, 0.40, 0.54, 0.65, 0.67),
            (0.65, 0.50, 0.34, 0.44, 0.66, 0.80),
            (0.66, 0.59, 0.28, 0.37, 0.63, 1.00),
            (0.65, 0.54, 0.41, 0.63, 0.84, 0.67),
            (0.65, 0.64, 0.69, 0.73, 0.66, 0.66),
        ),
        (  # the other's
            (0.76, 0.87, 0.84, 0.78, 0.69, 0.68),
            (0.62, 0.54, 0.64, 0.72, 0.74, 0.68),
            (0.52, 0.31, 0.46, 0.60, 0.80, 1.00),
            (0.51, 0.33, 0.52, 0.65, 0.85, 0.73),
            (0.64, 0.45, 0.54, 0.64, 0.63, 0.69),
            (0.67, 0.57, 0.52, 0.41, 0.60, 0.65),
            (0.68, 0.65, 0.46, 0.49, 0.59, 0.67),
            (0.68, 0.64, 0.49, 0.51, 0.56, 0.68),
            (0.68, 0.67, 0.65, 0.66, 0.68, 0.68),
        ),
    ),
)
"""What the program uses. contact: a centred cube by the shipped match equities, owned ones by GNU Backgammon's manual,
"Cubeful equities". race: up to 30 pips fitted to exact bear-offs; 0.7 from 120 on is GNU Backgammon's for a cube that
somebody owns; between them lines. few: fitted to hyper nardy solved with the cube.
"""


def efficiencies(
    boards: Boards, outcomes: Outcomes, rules: RuleSet, numbers: Efficiencies = SHIPPED
) -> NDArray[np.float64]:
    """The efficiency of the cube in the centre, of row 0's and of row 1's, `float64[N, 3]`; `kernels.OVER` when a game
    is over.

    boards: `int8[N, 2, 26]`; outcomes: `float32[N, K]`. What the chances change in races, they change to the full in
    those of 30 pips and not at all from 120 on.
    """
    answers = np.tile(numbers.contact, (len(boards), 1))
    raced = is_race(boards, rules.board)
    wins = outcomes[:, : outcomes.shape[1] // 2].sum(axis=1, dtype=np.float64)
    race = np.flatnonzero(raced)
    if len(race):
        answers[race] = _of_races(pip_counts(boards[race]), wins[race], numbers)
    if numbers.few is not None:
        few = np.flatnonzero(~raced & (boards[:, :, OFF] >= rules.checkers - FEW).all(axis=1))
        if len(few):
            answers[few] = _between(np.array(numbers.few), wins[few], pip_counts(boards[few]).min(axis=1))
    answers[finished(boards)] = kernels.OVER
    return answers


def _of_races(pips: NDArray[np.int16], wins: NDArray[np.float64], numbers: Efficiencies) -> NDArray[np.float64]:
    """pips: `int16[R, 2]`; wins: `float64[R]`, row 0's chances."""
    lengths = pips.min(axis=1).astype(np.float64)
    table = np.stack([np.interp(lengths, numbers.race_lengths, values) for values in numbers.race], axis=1)
    least, slope = numbers.lagging
    lagging, low, high = numbers.lagging_centre
    changed = table.copy()
    changed[:, 0] += (lagging - table[:, 0]) * np.clip((high - wins) / (high - low), 0, 1)
    changed[:, 1] *= np.minimum(least + slope * wins, 1)
    changed[:, 2] *= np.minimum(least + slope * (1 - wins), 1)
    share = np.interp(lengths, numbers.race_lengths[-2:], (1.0, 0.0))[:, None]
    return share * changed + (1 - share) * table


def _between(tables: NDArray[np.float64], wins: NDArray[np.float64], lengths: NDArray[np.int16]) -> NDArray[np.float64]:
    """Bilinear in tables `float64[3, CHANCES, LENGTHS]`: `float64[F, 3]`."""
    i, along = places(wins, CHANCES)
    j, across = places(lengths.astype(np.float64), LENGTHS)
    low = tables[:, i, j] * (1 - across) + tables[:, i, j + 1] * across
    high = tables[:, i + 1, j] * (1 - across) + tables[:, i + 1, j + 1] * across
    return (low * (1 - along) + high * along).T


def places(values: NDArray[np.float64], grid: tuple[float, ...]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Between which points of a grid values lie, and how far along; beyond its ends, at them."""
    clipped = np.clip(values, grid[0], grid[-1])
    i = np.clip(np.searchsorted(grid, clipped, side="right") - 1, 0, len(grid) - 2)
    points = np.array(grid)
    return i, (clipped - points[i]) / (points[i + 1] - points[i])

"""Take points, doubling windows and gammon values: at which chances to win a cube turns, by the formulas.

How often a win or a loss is a mars stays as it is in the position; only the chance to win moves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.state import CubeStates
from nardy_ai.outcomes import Outcomes

__all__ = ["Window", "gammon_value", "window_of"]

_GRID = np.linspace(0, 1, 401)
_ZOOMS = 3
_NOTHING = 1e-9
"""A double that costs no more costs nothing."""
_NEARLY = 1e-5
"""The same at a cash point, which is found to 1e-7."""


@dataclass(frozen=True)
class Window:
    """The chances of row 0 to win at which its double turns; None for what does not come.

    take_point: of row 1, below which it passes, seen as its own chance. double_point: from here on row 0 doubles.
    cash_point: from here on row 1 passes; 1 - take_point. too_good_point: from here on row 0 plays on undoubled.
    """

    take_point: float | None
    double_point: float | None
    cash_point: float | None
    too_good_point: float | None


def window_of(
    model: CubeModel, states: CubeStates, outcomes: Outcomes, *, board: Boards | None = None, efficiency: float = 1.0
) -> Window:
    """Row 0's doubling window in one state. outcomes: `float32[K]`, for the shares of mars.

    board: `int8[2, 26]`, whose efficiencies are taken; None: `efficiency`, 0 for a dead and 1 for a live cube.
    """
    if not model.may_double(states)[0]:
        return Window(None, None, None, None)

    def gains(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """What a double gains, what a take costs, and what playing on is worth beyond a pass."""
        n = len(chances)
        moved = _with_win_chance(outcomes, chances)
        if board is None:
            cube = np.full((n, 3), efficiency)
        else:
            cube = model.efficiencies(np.broadcast_to(board, (n, *board.shape)), moved)
        worth = model.worth_at(moved, cube, states.take(np.zeros(n, dtype=np.int64)))
        doubled = np.minimum(worth.double_take, worth.double_pass)
        return doubled - worth.no_double, worth.double_take - worth.double_pass, worth.no_double - worth.double_pass

    cash = _first(lambda chances: gains(chances)[1])
    double = _first(lambda chances: gains(chances)[0] + _NOTHING)
    if double is None and cash is not None and gains(np.array([cash]))[0][0] > -_NEARLY:
        double = cash  # a live cube turns at this one point
    return Window(
        take_point=None if cash is None else 1 - cash,
        double_point=double,
        cash_point=cash,
        too_good_point=_first(lambda chances: gains(chances)[2]),
    )


def gammon_value(model: CubeModel, states: CubeStates) -> float:
    """What a mars of row 0 is worth beyond a single win, measured by what a single win is beyond a single loss."""
    won, lost = model.single(states, won=True)[0], model.single(states, won=False)[0]
    twice = CubeStates(2 * states.stakes, states.owners, states.to_go, states.crawford)
    return float((model.single(twice, won=True)[0] - won) / (won - lost))


def _first(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float | None:
    """The least chance from which on the function is above 0, to 1e-7; None if there is none below 1.

    Looked for on a grid, then on finer ones between two of its points.
    """
    low, high = 0.0, 1.0
    for _ in range(_ZOOMS):
        chances = low + (high - low) * _GRID
        above = function(chances) > 1e-12
        if not above[:-1].any():
            return None if high == 1.0 else high
        at = int(np.argmax(above))
        low, high = float(chances[max(at - 1, 0)]), float(chances[at])
    return high


def _with_win_chance(outcomes: Outcomes, chances: NDArray[np.float64]) -> Outcomes:
    """Outcomes with these chances to win, `float32[N, K]`, and the shares of each way to win or lose as given."""
    half = len(outcomes) // 2
    sides = []
    for part, weight in ((outcomes[:half], chances), (outcomes[half:], 1 - chances)):
        shares = part / part.sum() if part.sum() > 0 else np.eye(half)[0]
        sides.append(weight[:, None] * shares)
    return np.concatenate(sides, axis=1).astype(np.float32)

"""The evaluator and bot that knows: a solved game as an opponent, and as the measure of the others."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import Boards
from nardy_ai.exact.solve import Solution
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes, swap
from nardy_ai.rules import RuleSet

__all__ = ["ExactBot"]


class ExactBot:
    """Plays a solved game without an error. rules: what the solution is of."""

    def __init__(self, solution: Solution) -> None:
        self.name = "exact"
        self.rules: RuleSet = solution.rules
        self.solution = solution

    def outcomes(self, boards: ArrayLike) -> Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        return self.solution.outcomes(boards)

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, `float32[N]`. boards: `int8[N, 2, 26]`. Raises BoardError."""
        return self.solution.equities(boards)

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`.

        boards: before the plays; not looked at.
        """
        return self.solution.worth(swap(self.solution.outcomes(after.boards)))

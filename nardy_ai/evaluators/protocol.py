"""The two protocols that everything above relies on."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes
from nardy_ai.rules import RuleSet


class Bot(Protocol):
    """Chooses plays. `rules` is the rule set it was made for; `name` is what reports call it."""

    name: str
    rules: RuleSet

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`; the highest is played.

        boards: `int8[N, 2, 26]` before the plays. after: their N segments of M afterstates in all.
        A pure function of its arguments, each segment by itself: batches may be split and permuted.
        """
        ...


@runtime_checkable
class Evaluator(Protocol):
    """Knows how games end. Every evaluator of this package is a `Bot` as well."""

    name: str
    rules: RuleSet

    def outcomes(self, boards: Boards) -> Outcomes:
        """The chances of the K classes for row 0, on roll and not yet rolled, `float32[N, K]`."""
        ...

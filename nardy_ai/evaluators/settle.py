"""From an evaluator's outcomes to the worth of plays: finished games exactly, the others by the evaluator."""

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards, finished
from nardy_ai.evaluators.protocol import Evaluator
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes, equities, final_outcomes, swap
from nardy_ai.rules import RuleSet

__all__ = ["evaluator_play_values", "settled_outcomes", "values_to_mover"]


def evaluator_play_values(evaluator: Evaluator, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
    """`Bot.play_values` for any evaluator: cubeless points to the side that has just played, `float32[M]`.

    boards: before the plays; not looked at, since an evaluator sees the afterstate only.
    """
    return values_to_mover(settled_outcomes(evaluator, after.boards), evaluator.rules)


def settled_outcomes(evaluator: Evaluator, boards: Boards) -> Outcomes:
    """The evaluator's outcomes, `float32[N, K]`, but certain ones for finished boards, which it is never shown."""
    done = finished(boards)
    if not done.any():
        return evaluator.outcomes(boards)
    answers = final_outcomes(boards, evaluator.rules)
    if not done.all():
        answers[~done] = evaluator.outcomes(boards[~done])
    return answers


def values_to_mover(outcomes: Outcomes, rules: RuleSet) -> NDArray[np.float32]:
    """Cubeless points of row 1, which has just played, from outcomes of row 0, `float32[N]`."""
    return equities(swap(outcomes), rules)

"""How lucky rolls are, in points, as an evaluator sees it.

The luck of a roll is what its best play is worth less the mean of that over all rolls, so its mean is 0 whoever
measures it and however the game goes on. A result less the luck of its rolls has therefore the same mean and, with a
good evaluator, a far smaller spread ("luck adjusted" results, as GNU Backgammon calls them; control variates).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.dice import roll_numbers
from nardy_ai.errors import BotError, RulesError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.outcomes import equities
from nardy_ai.pruned import unpruned
from nardy_ai.rollouts import CANDIDATES
from nardy_ai.rules import RuleSet, same_game
from nardy_ai.search import (
    PlayingEvaluator,
    Siblings,
    best_replies,
    distinct_boards,
    expectation,
    without_lookahead,
)
from nardy_ai.sieve import Sieve, sieve_for

__all__ = ["Luck", "luck_by"]


@dataclass(frozen=True)
class Luck:
    """Measures luck by `control`; sieve: which replies it judges, None: all."""

    control: PlayingEvaluator
    sieve: Sieve | None

    def of(self, boards: Boards, dice: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Points that rolls bring the side on roll, `float64[N]`.

        boards: `int8[N, 2, 26]`, not finished, before any roll may come; dice: `uint8[N, 2]`.
        """
        first, which = distinct_boards(boards)
        outcomes = best_replies(self.control, boards[first], self.sieve).outcomes
        worth = -equities(outcomes.reshape(-1, outcomes.shape[2]), self.control.rules).reshape(len(first), -1)
        luck = worth[which, roll_numbers(dice)] - expectation(worth[:, :, None])[which, 0]
        return luck.astype(np.float64)


def luck_by(control: Bot, rules: RuleSet) -> Luck:
    """Luck as a trained bot sees it, without its look-ahead. Raises BotError, RulesError."""
    bare = unpruned(without_lookahead(control))
    if not isinstance(bare, PlayingEvaluator):
        raise BotError(f"bot {bare.name!r} knows no chances and cannot measure luck; take a trained bot")
    if not same_game(bare.rules, rules):
        raise RulesError(f"{bare.name!r} measures luck at {bare.rules.name!r}, but {rules.name!r} is played")
    return Luck(bare, sieve_for(bare, keep=CANDIDATES) if isinstance(bare, Siblings) else None)

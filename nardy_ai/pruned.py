"""A trained bot that judges only the plays its pruning net lets pass: nearly the same plays for half the time.

What is missed are mostly plays that the bot holds for a little better than the one it makes; docs/performance.md says
how much is lost and won.
"""

from hashlib import sha256
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import Boards
from nardy_ai.errors import BotError
from nardy_ai.evaluators.network import check_plays
from nardy_ai.evaluators.with_bearoff import Trained, bare
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes
from nardy_ai.rules import RuleSet
from nardy_ai.sieve import Sieve

T = TypeVar("T")

__all__ = ["LEAST", "MARGIN", "MOST", "Pruned", "unpruned"]

LEAST, MOST, MARGIN = 5, 16, 0.16
"""Of each roll's plays the `LEAST` best by the pruning net are judged, and of the `MOST` best those within `MARGIN`
points of the first: chosen on games of `short` (docs/performance.md).
"""


class Pruned:
    """An evaluator and bot: `bot`, of whose plays only those are judged that its pruning net lets pass.

    Chances and equities of boards are those of `bot`. Raises BotError where its file has no pruning net.
    """

    def __init__(self, bot: Trained) -> None:
        pruning = bare(bot).pruning
        if pruning is None:
            raise BotError(f"bot {bot.name!r} has no pruning net; `nardy prune` gives it one")
        self.bot = bot
        self.name = f"{bot.name}@pruned"
        self.rules: RuleSet = bot.rules
        self.pruning = pruning
        self.sieve = Sieve(pruning, LEAST, MOST, MARGIN)

    def digest(self) -> bytes:
        """What tells the pruning net from others."""
        weights = self.pruning.weights
        return sha256(weights.first.tobytes() + weights.first_bias.tobytes() + weights.out.tobytes()).digest()

    def outcomes(self, boards: ArrayLike) -> Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        return self.bot.outcomes(boards)

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, `float32[N]`. boards: `int8[N, 2, 26]`. Raises BoardError."""
        return self.bot.equity(boards)

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`; the highest is played.

        One that does not pass counts a trifle less than the least of those that do, whatever it is worth; ask
        `unpruned` bots for that. Raises BoardError.
        """
        check_plays(boards, after, self.rules)
        passed, rows, _ = self.sieve.passed(boards, after)
        values = np.empty(len(after.boards), dtype=np.float32)
        _spread(self.bot.play_values(boards, passed), passed.offsets, rows, after.offsets, values)
        return values


def unpruned(bot: T) -> T | Trained:
    """Who judges every play, for whoever asks what each is worth: the bot inside a `Pruned`, any other bot itself."""
    return bot.bot if isinstance(bot, Pruned) else bot


@njit(nogil=True, cache=True)
def _spread(known, known_offsets, rows, offsets, values):
    """values[rows] = known, and the others of each segment the next number below its least one."""
    for segment in range(len(offsets) - 1):
        least = np.float32(np.inf)
        for k in range(known_offsets[segment], known_offsets[segment + 1]):
            least = min(least, known[k])
        below = np.nextafter(least, np.float32(-np.inf))
        for m in range(offsets[segment], offsets[segment + 1]):
            values[m] = below
        for k in range(known_offsets[segment], known_offsets[segment + 1]):
            values[rows[k]] = known[k]

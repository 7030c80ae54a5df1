"""A network that looks races at home up: exactly where the two-sided tables know them, nearly so elsewhere.

Every trained bot is one of these where its rule set's races at home are those of the tables; training plays the bare
network. The tables are read when the first such race turns up. A batch without one costs a glance at its boards.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import Boards, checked_boards
from nardy_ai.evaluators.network import Known, Network
from nardy_ai.exact.bearoff import any_at_home, bearoff_tables
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes
from nardy_ai.rules import RuleSet

__all__ = ["Trained", "WithBearoff", "bare"]


class WithBearoff:
    """An evaluator and bot: `network`, but with the bearoff tables' answers where they cover a board.

    The rules of `network` are ones that `is_covered`. Answers are pure functions of the board, as the network's are.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.name = network.name
        self.rules: RuleSet = network.rules

    def outcomes(self, boards: ArrayLike) -> Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        return self._judge(boards)[0]

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, `float32[N]`. boards: `int8[N, 2, 26]`. Raises BoardError."""
        return self._judge(boards)[1]

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`."""
        return -self.evaluate_plays(boards, after)[1]

    def evaluate_plays(self, boards: Boards, after: Afterstates) -> tuple[Outcomes, NDArray[np.float32]]:
        """As `Network.evaluate_plays`, with the tables' answers at afterstates that they cover. Raises BoardError."""
        return self.network.evaluate_plays(boards, after, self._known(after.boards))

    def _judge(self, boards: ArrayLike) -> tuple[Outcomes, NDArray[np.float32]]:
        checked = checked_boards(boards, self.rules.checkers)
        return self.network.evaluate(checked, self._known(checked))

    def _known(self, boards: Boards) -> Known | None:
        """What the tables say about boards; None if they cover none."""
        given = np.ascontiguousarray(boards, dtype=np.int8)
        if not any_at_home(given):
            return None
        return Known(*bearoff_tables().look_up(given, self.rules))


Trained = Network | WithBearoff
"""What a trained bot is."""


def bare(bot: Trained) -> Network:
    """The network alone."""
    return bot.network if isinstance(bot, WithBearoff) else bot

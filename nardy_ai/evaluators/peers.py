"""Engines from outside as bots: GNU Backgammon's nets through gnubg-nn, Sage's through bgsage.

Both are optional (the extra `peers`) and imported when a bot is made. Both know ordinary short nardy only. Each
counts its depth its own way: gnubg's 0-ply and Sage's 1-ply are both the bare net.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, FACING, OFF, Boards, checked_boards, finished, swap_sides
from nardy_ai.errors import BotError
from nardy_ai.evaluators.settle import evaluator_play_values, values_to_mover
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes, final_outcomes, possible, swap
from nardy_ai.rules import RuleSet, find_rules, same_game

__all__ = ["GnubgBot", "SageBot"]


class _SageNets(Protocol):
    """What is used of bgsage's strategies."""

    def evaluate_board(self, board: list[int], pre_move_board: list[int]) -> dict[str, list[float]]: ...


class GnubgBot:
    """GNU Backgammon's nets, cubeless, by gnubg-nn. GPL; one call a board, about 5 us each at 0-ply.

    plies: gnubg's count, 0 is the bare net.
    Raises BotError when gnubg-nn is not installed or the rules are not ordinary short nardy.
    """

    def __init__(self, rules: RuleSet | None = None, *, plies: int = 0) -> None:
        self.rules = _short_rules("gnubg", rules)
        if plies < 0:
            raise BotError(f"gnubg: plies = {plies}; expected 0 (the bare net) or more")
        self.name = f"gnubg:{plies}"
        self._plies = plies
        self._probabilities: Callable[[list[list[int]], int], Sequence[float]]
        self._probabilities = _peer("gnubg_nn", "gnubg-nn").probabilities

    def outcomes(self, boards: Boards) -> Outcomes:
        """The chances of the six classes for row 0, on roll, `float32[N, 6]`. Finished boards are settled here."""
        boards = checked_boards(boards, self.rules.checkers)
        open_at = np.flatnonzero(~finished(boards))
        cumulative = np.zeros((len(open_at), 5))
        # gnubg lists the side on roll second, each side's ace point first, its bar last.
        for i, board in enumerate(boards[open_at][:, ::-1, OFF + 1 :].tolist()):
            cumulative[i] = self._probabilities(board, self._plies)
        answers = final_outcomes(boards, self.rules)
        answers[open_at] = _exclusive(cumulative, boards[open_at], self.rules)
        return answers

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """Cubeless points of every afterstate to the side that has just played, `float32[M]`."""
        return evaluator_play_values(self, boards, after)


class SageBot:
    """Sage's nets, cubeless, by bgsage. MPL 2.0; one call a board, about 8 us each at 1-ply.

    Sage scores the board after a play and looks at the board before it to choose among its nets, so plays are
    valued with both, as its own engine does; `outcomes` has no board before and uses the board itself. Bear-offs of
    both sides are looked up in bgsage's own table.
    plies: Sage's count, 1 is the bare net.
    Raises BotError when bgsage is not installed or the rules are not ordinary short nardy.
    """

    def __init__(self, rules: RuleSet | None = None, *, plies: int = 1) -> None:
        self.rules = _short_rules("sage", rules)
        if plies < 1:
            raise BotError(f"sage: plies = {plies}; expected 1 (the bare net) or more")
        self.name = f"sage:{plies}"
        engine = _peer("bgbot_cpp", "bgsage")
        weights = _peer("bgsage", "bgsage").default_weights()
        files = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
        path = _peer("bgsage.weights", "bgsage").bearoff_db_path()
        table = engine.BearoffDB()
        if not table.load(str(path)):
            raise BotError(f"sage: {path} cannot be loaded; install bgsage again")
        self._nets: _SageNets
        if plies == 1:
            self._nets = engine.BearoffStrategy(engine.create_strategy(*files), table)
        else:
            self._nets = engine.create_multipy(*files, n_plies=plies)
            engine.multipy_set_bearoff_db(self._nets, table)

    def outcomes(self, boards: Boards) -> Outcomes:
        """The chances of the six classes for row 0, on roll, `float32[N, 6]`. Finished boards are settled here."""
        boards = checked_boards(boards, self.rules.checkers)
        return self._outcomes(boards, boards[:, ::-1])

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """Cubeless points of every afterstate to the side that has just played, `float32[M]`."""
        before = np.repeat(boards, after.counts(), axis=0)
        return values_to_mover(self._outcomes(after.boards, before), self.rules)

    def _outcomes(self, boards: Boards, before: Boards) -> Outcomes:
        """Outcomes of row 0 of `boards`, where row 1 has just played from `before`, in which it is row 0."""
        open_at = np.flatnonzero(~finished(boards))
        after_lists = _sage_boards(swap_sides(boards[open_at])).tolist()
        before_lists = _sage_boards(before[open_at]).tolist()
        cumulative = np.zeros((len(open_at), 5))
        for i, (board, earlier) in enumerate(zip(after_lists, before_lists, strict=True)):
            cumulative[i] = self._nets.evaluate_board(board, earlier)["probs"]
        answers = final_outcomes(boards, self.rules)
        movers = _exclusive(cumulative, swap_sides(boards[open_at]), self.rules)
        answers[open_at] = swap(movers)
        return answers


def _short_rules(peer: str, rules: RuleSet | None) -> RuleSet:
    """The given rules, or short nardy's, if they are the game that the peers know. Raises BotError."""
    short = find_rules("short")
    if rules is None:
        return short
    if not same_game(rules, short):
        raise BotError(f"{peer} plays ordinary short nardy only; rules {rules.name!r} differ from it")
    return rules


def _peer(module: str, package: str) -> ModuleType:
    """An optional module. Raises BotError that names what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise BotError(f"{package} is not installed ({error}); pip install 'nardy_ai[peers]'") from error


def _sage_boards(boards: Boards) -> Boards:
    """bgsage's layout, `int8[N, 26]`: row 0's checkers positive on its own points, both bars positive at 25 and 0."""
    signed = boards[:, 0] - boards[:, 1, FACING[CONTRARY]]
    signed[:, OFF] = boards[:, 1, BAR]
    signed[:, BAR] = boards[:, 0, BAR]
    return signed


def _exclusive(cumulative: NDArray[np.float64], boards: Boards, rules: RuleSet) -> Outcomes:
    """Row 0's exclusive classes from the peers' five numbers, `float32[N, 6]`.

    cumulative: `float64[N, 5]`, row 0's chance to win, to win mars or more, to win koks, to lose mars or more, to
    lose koks. Nets may break the order by a little or allow what cannot happen: such chances go to the class below.
    """
    can = possible(boards, rules)
    win, win_mars, win_koks, lose_mars, lose_koks = np.clip(cumulative, 0, 1).T
    sides = []
    for total, mars, koks, first in ((win, win_mars, win_koks, 0), (1 - win, lose_mars, lose_koks, 3)):
        mars = np.where(can[:, first + 1] | can[:, first + 2], np.minimum(mars, total), 0)
        koks = np.where(can[:, first + 2], np.minimum(koks, mars), 0)
        sides += [total - mars, mars - koks, koks]
    return np.stack(sides, axis=1).astype(np.float32)

"""The typed adapter in front of the move kernel: batches of boards and rolls to distinct afterstates."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import FACING, HOME, PARALLEL, SLOTS, Boards, checked_boards, finished
from nardy_ai.dice import checked_dice
from nardy_ai.errors import BoardError
from nardy_ai.movegen import kernels
from nardy_ai.rules import RuleSet

_SIX_BLOCK = {"free": kernels.FREE, "ahead": kernels.AHEAD, "home": kernels.HOME_BLOCK, "never": kernels.NEVER}
_HIDE = {"allowed": kernels.ALLOWED, "no_hide": kernels.NO_HIDE, "no_run": kernels.NO_RUN}
_HEAD_EXCEPTION = {
    "none": kernels.NO_EXCEPTION,
    "66": kernels.ONLY_66,
    "44_66": kernels.FROM_44,
    "33_44_66": kernels.FROM_33,
    "any_double": kernels.ANY_DOUBLE,
    "if_blocked_double": kernels.IF_BLOCKED_DOUBLE,
    "if_blocked": kernels.IF_BLOCKED,
}
_ALL_POINTS = (1 << 25) - 2
_HOME_POINTS = (1 << (HOME + 1)) - 2
_WORDS = 2 * SLOTS // 4


@dataclass(frozen=True)
class Afterstates:
    """Results of N rolls. Those of position i are `boards[offsets[i]:offsets[i + 1]]`: distinct, at least one.

    boards: `int8[M, 2, 26]`, already swapped: row 0 rolls next, row 1 has just played.
    offsets: `int64[N + 1]`. A pass is one afterstate, the unchanged board swapped.
    """

    boards: Boards
    offsets: NDArray[np.int64]

    def counts(self) -> NDArray[np.int64]:
        """How many results each position has, `int64[N]`."""
        return np.diff(self.offsets)


@lru_cache(maxsize=64)
def kernel_rules(rules: RuleSet) -> kernels.KernelRules:
    """The rule set in the numbers that the kernel reads."""
    return kernels.KernelRules(
        parallel=int(rules.board == PARALLEL),
        checkers=rules.checkers,
        closed_by=rules.closed_by,
        head_limit=kernels.NO_LIMIT if rules.head_limit is None else rules.head_limit,
        head_exception=_HEAD_EXCEPTION[rules.head_exception],
        six_block=_SIX_BLOCK[rules.six_block],
        six_step=int(rules.six_block_check == "step"),
        hide=_HIDE[rules.hit_hide],
        hide_mask=_HOME_POINTS if rules.hit_hide_scope == "home" else _ALL_POINTS,
        hide_final=int(rules.hit_hide_check == "final"),
    )


def afterstates(boards: ArrayLike, dice: ArrayLike, rules: RuleSet) -> Afterstates:
    """Every distinct result of every legal play, for a batch.

    boards: `int8[N, 2, 26]`, row 0 on roll; finished boards are refused. dice: `uint8[N, 2]`, or one roll for all.
    Raises BoardError, NotationError. The GIL is released.
    """
    given, rolls = np.asarray(boards), np.asarray(dice)
    if given.dtype != np.int8 or given.shape[1:] != (2, SLOTS) or rolls.dtype != np.uint8 or rolls.ndim != 2:
        given = checked_boards(given, rules.checkers)
        rolls = checked_dice(rolls, len(given))
    given, rolls = np.ascontiguousarray(given), np.ascontiguousarray(rolls)
    if rolls.shape != (len(given), 2) or kernels.first_fault(given, rolls, rules.checkers) >= 0:
        # One of them is at fault, or the dice are in another order: slower, and with words.
        given = checked_boards(given, rules.checkers)
        rolls = checked_dice(rolls, len(given))
        over = finished(given)
        if over.any():
            raise BoardError(f"board {int(np.argmax(over))}: the game is over; nobody can move")
    return expand(given, rolls, rules)


def expand(boards: Boards, dice: NDArray[np.uint8], rules: RuleSet) -> Afterstates:
    """`afterstates` without its checks: for callers whose boards and dice are right by construction."""
    n = len(boards)
    numbers, facing = kernel_rules(rules), FACING[rules.board]
    offsets = np.zeros(n + 1, dtype=np.int64)
    room = 24 * n + 2 * kernels.MOST_OF_TWO_DICE
    out = np.empty((room, _WORDS), dtype=np.int32)
    at = m = 0
    while True:
        at, m = kernels.expand(boards, dice, numbers, facing, at, n, out, m, room, offsets)
        if at == n:
            break
        room = 2 * room
        larger = np.empty((room, _WORDS), dtype=np.int32)
        larger[:m] = out[:m]
        out = larger
    return Afterstates(out[:m].view(np.int8).reshape(m, 2, SLOTS), offsets)


def best_of_segments(values: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of the highest value of each segment, `int64[N]`; the first of equals."""
    chosen = np.empty(len(offsets) - 1, dtype=np.int64)
    kernels.best_of_segments(np.ascontiguousarray(values, dtype=np.float32), offsets, chosen)
    return chosen

"""A sieve of plays: a linear guess at an evaluator's order of them, by which only the most likely best are judged.

A play's score is a sum over the 52 counts of the board after it, learned from the evaluator's own judgement of
positions as its games reach them, for contact and for races. It costs a tenth of an evaluation. How good it is decides
how much is found, so it serves where what is missed does no harm: a rollout's luck has the mean zero whatever measures
it.
"""

from collections import deque
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import SLOTS, Boards, finished, is_race
from nardy_ai.dice import ROLLS, dice_at
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.rules import MAX_CHECKERS, RuleSet, start_boards

__all__ = ["Sieve", "sieve_for"]

_UNIT = 2.0**-14
"""Points of a score of 1. Scores are whole numbers, so that what is learned does not depend on how sums are rounded."""

_GAMES = 64
_PLIES = 100
_BOARDS = 800
_ROLLS_A_BOARD = 4
_RIDGE = 3.0
"""Added to the diagonal of the normal equations: as much as three plays that say nothing."""

_STREAM = 0x51E7E
_LEARNING = Lock()
_LEARNED: deque[tuple[Bot, NDArray[np.int32]]] = deque(maxlen=8)
"""Bots with their tables, compared by identity."""

_COUNT = np.arange(MAX_CHECKERS + 1)
_STEPS = np.stack((_COUNT >= 1, _COUNT >= 2, _COUNT >= 3, np.maximum(_COUNT - 3, 0)), axis=1)
"""`int64[16, 4]`: what is learned of a count: 1 or more, 2 or more, 3 or more, and how many above 3."""


@dataclass(frozen=True, eq=False)
class Sieve:
    """table: `int32[2, 26, 256]`, what each two counts of a board after a play, the 2nd times 16 and the 1st, add to
    its score, in contact and in a race. keep: how many plays of a roll pass.
    """

    rules: RuleSet
    table: NDArray[np.int32]
    keep: int

    def passed(
        self, boards: Boards, after: Afterstates, whole: NDArray[np.bool_] | None = None
    ) -> tuple[Afterstates, NDArray[np.bool_]]:
        """The `keep` afterstates of each segment with the highest scores, in their order.

        boards: `int8[N, 2, 26]`, the parents, each with equally many segments. whole: `bool[segments]`, where all
        afterstates pass. Returns those that pass and which of them are among the `keep` of their segment, `bool[M]`.
        """
        passing = np.zeros(len(after.offsets) - 1, dtype=np.bool_) if whole is None else whole
        rows = np.empty(len(after.boards), dtype=np.int64)
        likely = np.empty(len(after.boards), dtype=np.bool_)
        offsets = np.zeros(len(after.offsets), dtype=np.int64)
        phases = is_race(boards, self.rules.board).astype(np.int64)
        pairs = after.boards.reshape(-1, 2 * SLOTS).view(np.uint16)
        _sift(pairs, after.offsets, phases, passing, self.table, self.keep, rows, likely, offsets)
        n = offsets[-1]
        return Afterstates(after.boards[rows[:n]], offsets), likely[:n]


def sieve_for(bot: Bot, *, keep: int) -> Sieve:
    """The sieve that a bot teaches, learned at its first use in tenths of a second. The last few are remembered."""
    with _LEARNING:
        for known, table in _LEARNED:
            if known is bot:
                return Sieve(bot.rules, table, keep)
        table = _learn(bot)
        _LEARNED.append((bot, table))
    return Sieve(bot.rules, table, keep)


def _learn(bot: Bot) -> NDArray[np.int32]:
    """The table of a sieve for positions as games of `bot` reach them.

    Least squares of what the plays of a roll are worth, each roll by itself: only their order counts.
    """
    rules = bot.rules
    met = _reached(bot)
    rng = np.random.default_rng(_STREAM)
    met = met[rng.permutation(len(met))[:_BOARDS]]
    rolls = ROLLS[rng.integers(0, len(ROLLS), size=(len(met), _ROLLS_A_BOARD))]
    parents = np.repeat(met, _ROLLS_A_BOARD, axis=0)
    after = expand(parents, rolls.reshape(-1, 2), rules)
    values = bot.play_values(parents, after).astype(np.float64)
    segments = np.repeat(np.arange(len(parents)), after.counts())
    race = is_race(parents, rules.board)[segments]
    table = np.zeros((2, 2 * SLOTS, MAX_CHECKERS + 1))
    for phase in (0, 1):
        at = race == phase
        steps = _STEPS[after.boards[at].reshape(-1, 2 * SLOTS)].reshape(at.sum(), -1).astype(np.float64)
        _center(steps, segments[at])
        wanted = values[at, None]
        _center(wanted, segments[at])
        normal = steps.T @ steps + _RIDGE * np.eye(steps.shape[1])
        weights = np.linalg.solve(normal, steps.T @ wanted).reshape(2 * SLOTS, -1)
        table[phase] = weights @ _STEPS.T
    return _by_pairs(np.rint(table / _UNIT).astype(np.int32))


def _by_pairs(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """`int32[2, 52, 16]`, what each count adds, as `Sieve.table`."""
    both = table[:, 1::2, :, None] + table[:, ::2, None, :]
    return np.ascontiguousarray(both.reshape(2, SLOTS, -1))


def _reached(bot: Bot) -> Boards:
    """Positions before the roll in games of the bot, `int8[N, 2, 26]`."""
    games = np.arange(_GAMES)
    boards = start_boards(bot.rules, _GAMES)
    met = []
    for ply in range(_PLIES):
        going = ~finished(boards)
        boards, games = boards[going], games[going]
        if not len(boards):
            break
        met.append(boards)
        after = expand(boards, dice_at(_STREAM, games, ply), bot.rules)
        boards = after.boards[best_of_segments(bot.play_values(boards, after), after.offsets)]
    return np.concatenate(met)


def _center(columns: NDArray[np.float64], segments: NDArray[np.int64]) -> None:
    """Take each segment's mean off, in place. segments: rising."""
    starts = np.flatnonzero(np.diff(segments, prepend=-1))
    if len(starts):
        counts = np.diff(starts, append=len(segments))
        columns -= np.repeat(np.add.reduceat(columns, starts, axis=0) / counts[:, None], counts, axis=0)


@njit(nogil=True, cache=True)
def _sift(pairs, offsets, phases, whole, table, keep, rows, likely, kept):
    """The best `keep` rows of each segment by score, the first of equals, or all where `whole`; in their order.

    pairs: `uint16[M, 26]`, boards two counts at a time, the first in the low byte; offsets: `int64[S + 1]`; phases:
    `int64[N]`, one for S / N segments each. rows: `int64[M]`, filled as far as kept, `int64[S + 1]`, filled, says;
    likely: `bool[M]` beside it, which of them are among the best `keep`.
    """
    best = np.empty(keep, np.int64)
    found = np.empty(keep, np.int64)
    each = (len(offsets) - 1) // max(len(phases), 1)
    n = 0
    for segment in range(len(offsets) - 1):
        low = offsets[segment]
        high = offsets[segment + 1]
        if high - low <= keep:
            for m in range(low, high):
                rows[n] = m
                likely[n] = True
                n += 1
        else:
            adds = table[phases[segment // each]]
            filled = 0
            for m in range(low, high):
                score = np.int32(0)
                for s in range(pairs.shape[1]):
                    both = np.uint64(pairs[m, s])
                    score += adds[s, (both & np.uint64(15)) | (both >> np.uint64(4))]
                # `best` falls; an equal one that comes later stands behind.
                if filled == keep and score <= best[keep - 1]:
                    continue
                k = filled if filled < keep else keep - 1
                while k > 0 and best[k - 1] < score:
                    best[k] = best[k - 1]
                    found[k] = found[k - 1]
                    k -= 1
                best[k] = score
                found[k] = m
                filled = min(filled + 1, keep)
            in_order = np.sort(found)
            if whole[segment]:
                for m in range(low, high):
                    rows[n + m - low] = m
                    likely[n + m - low] = False
                for m in in_order:
                    likely[n + m - low] = True
                n += high - low
            else:
                for m in in_order:
                    rows[n] = m
                    likely[n] = True
                    n += 1
        kept[segment + 1] = n

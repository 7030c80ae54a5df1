"""A sieve of plays: only those are judged that are most likely among the best, by a guess at an evaluator's order.

A bot's file may hold a pruning net that guesses (`evaluators.pruning`). For one without, a linear guess is learned at
its first use: a sum over the 52 counts of the board after a play, from the evaluator's own judgement of positions as
its games reach them, for contact and for races. How good a guess is decides how much is found, so the linear one serves
where what is missed does no harm: a rollout's luck has the mean zero whatever measures it.
"""

from collections import deque
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import SLOTS, Boards, finished, is_race
from nardy_ai.dice import ROLLS, dice_at
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.with_bearoff import Trained, bare
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.rules import MAX_CHECKERS, RuleSet, start_boards

__all__ = ["Guess", "LinearGuess", "Sieve", "guess_of", "sieve_for"]

_UNIT = 2.0**-14
"""Points of a score of 1. Scores of a linear guess are whole numbers, so that what is learned does not depend on how
sums are rounded.
"""

_MOST_MARGIN = 2**31
"""In units of a score: further no two are apart."""

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


class Guess(Protocol):
    """Guesses how a bot orders the plays of a roll. unit: so many points is a score of 1."""

    @property
    def unit(self) -> float: ...

    def scores(self, boards: Boards, after: Afterstates) -> NDArray[np.int32]:
        """The scores of all afterstates, `int32[M]`: the higher, the likelier the best.

        boards: `int8[N, 2, 26]`, the parents, each with equally many segments of `after`.
        """
        ...


@dataclass(frozen=True, eq=False)
class LinearGuess:
    """table: `int32[2, 26, 256]`, what each two counts of a board after a play, the 2nd times 16 and the 1st, add to
    its score, in contact and in a race.
    """

    rules: RuleSet
    table: NDArray[np.int32]
    unit: float = _UNIT

    def scores(self, boards: Boards, after: Afterstates) -> NDArray[np.int32]:
        """As `Guess` says."""
        scores = np.empty(len(after.boards), dtype=np.int32)
        phases = is_race(boards, self.rules.board).astype(np.int64)
        _add_up(after.boards.reshape(-1, 2 * SLOTS).view(np.uint16), after.offsets, phases, self.table, scores)
        return scores


@dataclass(frozen=True)
class Sieve:
    """Lets pass, of the plays of each roll, the `least` best by a guess, and of the `most` best those within `margin`
    points of the first.
    """

    guess: Guess
    least: int
    most: int
    margin: float = 0.0

    def passed(
        self, boards: Boards, after: Afterstates, whole: NDArray[np.bool_] | None = None
    ) -> tuple[Afterstates, NDArray[np.int64], NDArray[np.bool_]]:
        """The afterstates of each segment that pass, in their order.

        boards: `int8[N, 2, 26]`, the parents, each with equally many segments. whole: `bool[segments]`, where all
        afterstates pass. Returns those that pass, which of `after` they are, `int64[m]`, and which of them would pass
        anyway, `bool[m]`.
        """
        passing = np.zeros(len(after.offsets) - 1, dtype=np.bool_) if whole is None else whole
        rows = np.empty(len(after.boards), dtype=np.int64)
        likely = np.empty(len(after.boards), dtype=np.bool_)
        offsets = np.zeros(len(after.offsets), dtype=np.int64)
        margin = min(round(self.margin / self.guess.unit), _MOST_MARGIN)
        scores = self.guess.scores(boards, after)
        _sift(scores, after.offsets, passing, self.least, self.most, margin, rows, likely, offsets)
        n = offsets[-1]
        return Afterstates(after.boards[rows[:n]], offsets), rows[:n], likely[:n]


def sieve_for(bot: Bot, *, keep: int) -> Sieve:
    """The sieve that lets the `keep` best of each roll pass by `guess_of` a bot."""
    return Sieve(guess_of(bot), keep, keep)


def guess_of(bot: Bot) -> Guess:
    """The pruning net of a bot, or else a linear guess, learned at its first use in tenths of a second.

    The last few of those are remembered.
    """
    if isinstance(bot, Trained) and (pruning := bare(bot).pruning) is not None:
        return pruning
    with _LEARNING:
        for known, table in _LEARNED:
            if known is bot:
                return LinearGuess(bot.rules, table)
        table = _learn(bot)
        _LEARNED.append((bot, table))
    return LinearGuess(bot.rules, table)


def _learn(bot: Bot) -> NDArray[np.int32]:
    """The table of a `LinearGuess` for positions as games of `bot` reach them.

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
    """`int32[2, 52, 16]`, what each count adds, as `LinearGuess.table`."""
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
def _add_up(pairs, offsets, phases, table, scores):
    """Scores of M boards by a linear guess.

    pairs: `uint16[M, 26]`, boards two counts at a time, the first in the low byte; offsets: `int64[S + 1]`; phases:
    `int64[N]`, one for S / N segments each. scores: `int32[M]`, filled.
    """
    each = (len(offsets) - 1) // max(len(phases), 1)
    for i in range(len(phases)):
        adds = table[phases[i]]
        for m in range(offsets[i * each], offsets[(i + 1) * each]):
            score = np.int32(0)
            for s in range(pairs.shape[1]):
                both = np.uint64(pairs[m, s])
                score += adds[s, (both & np.uint64(15)) | (both >> np.uint64(4))]
            scores[m] = score


@njit(nogil=True, cache=True)
def _sift(scores, offsets, whole, least, most, margin, rows, likely, kept):
    """The rows of each segment that pass, in their order: see `Sieve`; all where `whole`. Of equals the first passes.

    scores: `int32[M]`; offsets: `int64[S + 1]`; margin: in units of a score. rows: `int64[M]`, filled as far as kept,
    `int64[S + 1]`, filled, says; likely: `bool[M]` beside it, which of them pass by their scores.
    """
    best = np.empty(most, np.int32)
    found = np.empty(most, np.int64)
    n = 0
    for segment in range(len(offsets) - 1):
        low = offsets[segment]
        high = offsets[segment + 1]
        if high - low <= least:
            for m in range(low, high):
                rows[n] = m
                likely[n] = True
                n += 1
        else:
            filled = 0
            for m in range(low, high):
                score = scores[m]
                # `best` falls; an equal one that comes later stands behind.
                if filled == most and score <= best[most - 1]:
                    continue
                k = filled if filled < most else most - 1
                while k > 0 and best[k - 1] < score:
                    best[k] = best[k - 1]
                    found[k] = found[k - 1]
                    k -= 1
                best[k] = score
                found[k] = m
                filled = min(filled + 1, most)
            while filled > least and np.int64(best[0]) - best[filled - 1] > margin:
                filled -= 1
            in_order = np.sort(found[:filled])
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

"""Look-ahead: an evaluator made from an evaluator by playing every roll out one or more plies.

Plies are counted as GNU Backgammon does: 0 is the evaluator itself, 1 looks at the opponent's next roll, 2 at his and
at one's own after it. The outcomes of a board at n plies are the expectation over the 21 rolls of the outcomes at
n - 1 plies of the board after the best play, and that play is always the one the bare evaluator (0 plies) thinks best.
Which plays are worth looking at is a `MoveFilter`'s business; what happens over whole games is `rollout`'s.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import SLOTS, Boards, checked_boards, finished
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BotError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.outcomes import Outcomes, class_points, equities, final_outcomes, swap
from nardy_ai.pruned import Pruned, unpruned
from nardy_ai.rules import RuleSet
from nardy_ai.sieve import Sieve, sieve_for

__all__ = [
    "DEFAULT_FILTER",
    "FILTERS",
    "Judgement",
    "MOST_PLIES",
    "Level",
    "Lookahead",
    "MoveFilter",
    "PlayingEvaluator",
    "Replies",
    "Siblings",
    "best_replies",
    "distinct_boards",
    "expectation",
    "filtered_values",
    "find_filter",
    "sibling_outcomes",
    "without_lookahead",
]

MOST_PLIES = 3
"""A play costs about 450 evaluations at the first ply and 450 times as many at each one more."""

T = TypeVar("T")

N_ROLLS = len(ROLLS)
_CHUNK = 64
"""Boards that are expanded at once with all rolls: some 30,000 afterstates, which stay in the processor's cache."""

_SHARES = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0)
"""`float64[21]`: in how many of 36 throws each of `ROLLS` falls; whole numbers, so that the certain stays certain."""


@runtime_checkable
class PlayingEvaluator(Evaluator, Bot, Protocol):
    """An evaluator that chooses plays, as every evaluator of this package does."""


@runtime_checkable
class Siblings(Protocol):
    """An evaluator that gives outcomes and equities of all afterstates at once, from their parents."""

    def evaluate_plays(self, boards: Boards, after: Afterstates) -> tuple[Outcomes, NDArray[np.float32]]: ...


@dataclass(frozen=True)
class Level:
    """Which of the plays judged at one depth are judged at the next: the `keep` best within `margin` points."""

    keep: int
    margin: float


@dataclass(frozen=True)
class MoveFilter:
    """For each depth from 0 which plays are looked at deeper; depths beyond the last level use the last."""

    name: str
    levels: tuple[Level, ...]

    def level(self, depth: int) -> Level:
        """What holds for plays judged at `depth`."""
        return self.levels[min(depth, len(self.levels) - 1)]


FILTERS: Mapping[str, MoveFilter] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            MoveFilter("narrow", (Level(5, 0.08), Level(2, 0.03))),
            MoveFilter("normal", (Level(8, 0.16), Level(4, 0.08))),
            MoveFilter("wide", (Level(16, 0.32), Level(8, 0.16))),
        )
    }
)
"""The presets by name; what each costs in PR and in time is in docs/rollouts.md."""

DEFAULT_FILTER = "normal"


def find_filter(name: str) -> MoveFilter:
    """The preset of that name. Raises BotError."""
    if name not in FILTERS:
        close = get_close_matches(name, FILTERS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BotError(f"unknown move filter {name!r}{hint} (known: {', '.join(FILTERS)})")
    return FILTERS[name]


@dataclass(frozen=True)
class Replies:
    """For N boards and each of `dice.ROLLS` the board after the best play, and how the game ends from there.

    boards: `int8[N, 21, 2, 26]`, swapped: row 0 rolls next. outcomes: `float32[N, 21, K]`, for their row 0. With a
    sieve, or of a `Pruned` evaluator, both are of the best of the plays that pass; with a sieve the boards of rolls
    that are judged whole are of all plays.
    """

    boards: Boards
    outcomes: Outcomes


@dataclass(frozen=True)
class Judgement:
    """What look-ahead says of M afterstates. values: `float32[M]`, their worth to the side that has just played.

    outcomes: `float32[M, K]`, for their row 0, and depths: `int64[M]`, the plies at which they were judged.
    """

    values: NDArray[np.float32]
    outcomes: Outcomes
    depths: NDArray[np.int64]


class Lookahead:
    """An evaluator and bot that looks `plies` further ahead than `evaluator`.

    filter: a preset's name, or a filter of one's own. candidates: of how many replies to each roll, the likeliest by a
    sieve, the best is taken; None: of all, or of those that a `Pruned` evaluator judges. Answers are pure functions of
    the board: batches may be split and permuted.
    Raises BotError if `evaluator` is none, or does not choose plays.
    """

    def __init__(
        self,
        evaluator: Bot,
        plies: int,
        *,
        filter: MoveFilter | str = DEFAULT_FILTER,
        candidates: int | None = None,
    ) -> None:
        if not isinstance(evaluator, PlayingEvaluator):
            raise BotError(
                f"bot {evaluator.name!r} is no evaluator: it ranks plays and knows no chances, so it cannot look ahead;"
                " take a trained bot"
            )
        if not 0 <= plies <= MOST_PLIES:
            raise BotError(f"plies = {plies}; expected 0 (the bare evaluator) to {MOST_PLIES}")
        if candidates is not None and isinstance(evaluator, Pruned):
            raise BotError(f"bot {evaluator.name!r} chooses by its pruning net what it judges; leave candidates out")
        if candidates is not None and candidates < 1:
            raise BotError(f"candidates = {candidates}; expected 1 or more, or None")
        self.evaluator = evaluator
        self.plies = plies
        self.filter = find_filter(filter) if isinstance(filter, str) else filter
        self.rules: RuleSet = evaluator.rules
        suffix = "" if self.filter.name == DEFAULT_FILTER else f":{self.filter.name}"
        suffix += "" if candidates is None else f":{candidates}"
        self.name = f"{evaluator.name}@{plies}ply{suffix}"
        self._sieve = None if candidates is None else sieve_for(evaluator, keep=candidates)

    def outcomes(self, boards: ArrayLike) -> Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        return self._outcomes(checked_boards(boards, self.rules.checkers), self.plies)

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, `float32[N]`. boards: `int8[N, 2, 26]`. Raises BoardError."""
        return equities(self.outcomes(boards), self.rules)

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`; the highest is played.

        Each is judged at the depth to which the filter lets it come; see `filtered_values`.
        """
        return self._search(boards, after)[0]

    def judge_plays(self, boards: Boards, after: Afterstates) -> Judgement:
        """What `play_values` says, with how each play's game ends and how deep it was looked at."""
        values, searched = self._search(boards, after)
        outcomes = settled_outcomes(self.evaluator, after.boards)
        depths = np.zeros(len(values), dtype=np.int64)
        for depth, (rows, deeper) in enumerate(searched, start=1):
            outcomes[rows] = deeper
            depths[rows] = depth
        return Judgement(values, outcomes, depths)

    def _search(
        self, boards: Boards, after: Afterstates
    ) -> tuple[NDArray[np.float32], list[tuple[NDArray[np.int64], Outcomes]]]:
        """Values of the plays, and for each depth from 1 which were judged there, with their outcomes."""
        values = unpruned(self.evaluator).play_values(boards, after).astype(np.float32)
        searched: list[tuple[NDArray[np.int64], Outcomes]] = []

        def deeper(kept: NDArray[np.int64], depth: int) -> NDArray[np.float32]:
            outcomes = self._outcomes(after.boards[kept], depth)
            searched.append((kept, outcomes))
            return equities(swap(outcomes), self.rules)

        return filtered_values(values, after, self.filter, self.plies, deeper), searched

    def _outcomes(self, boards: Boards, plies: int) -> Outcomes:
        """Outcomes at `plies`; equal boards are judged once."""
        if plies == 0:
            return settled_outcomes(self.evaluator, boards)
        answers = final_outcomes(boards, self.rules)
        waiting = np.flatnonzero(~finished(boards))
        first, which = distinct_boards(boards[waiting])
        found = np.empty((len(first), answers.shape[1]), dtype=np.float32)
        for part in _chunks(len(first)):
            replies = best_replies(self.evaluator, boards[waiting[first[part]]], self._sieve)
            outcomes = replies.outcomes
            if plies > 1:
                outcomes = self._outcomes(replies.boards.reshape(-1, 2, SLOTS), plies - 1).reshape(outcomes.shape)
            found[part] = swap(expectation(outcomes).astype(np.float32))
        answers[waiting] = found[which]
        return answers


def without_lookahead(bot: T) -> T | PlayingEvaluator:
    """Who decides at once: the evaluator inside a `Lookahead`, any other bot itself."""
    return bot.evaluator if isinstance(bot, Lookahead) else bot


def filtered_values(
    values: NDArray[np.float32],
    after: Afterstates,
    filter: MoveFilter,
    plies: int,
    deeper: Callable[[NDArray[np.int64], int], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Values of afterstates, `float32[M]`, where those that the filter lets pass are judged at greater depth.

    values: at depth 0, changed in place. deeper: what `int64[m]` of the afterstates are worth at a depth. One that is
    left behind counts at most a trifle less than the least of those that went on, and one that is left alone is not
    looked at further.
    """
    segments = np.repeat(np.arange(len(after.offsets) - 1), after.counts())
    kept = np.arange(len(values))
    for depth in range(plies):
        kept = _passed(values, kept, segments, filter.level(depth))
        kept = kept[np.bincount(segments[kept], minlength=len(after.offsets))[segments[kept]] > 1]
        if not len(kept):
            break
        found = deeper(kept, depth + 1)
        least = np.full(len(after.offsets) - 1, np.inf, dtype=np.float32)
        np.minimum.at(least, segments[kept], found)
        values = np.minimum(values, np.nextafter(least, np.float32(-np.inf))[segments])
        values[kept] = found
    return values


def sibling_outcomes(evaluator: PlayingEvaluator, boards: Boards, after: Afterstates) -> Outcomes:
    """The bare evaluator's outcomes of all afterstates, `float32[M, K]`, by the parents' sums where it has them."""
    evaluator = unpruned(evaluator)
    if isinstance(evaluator, Siblings):
        return evaluator.evaluate_plays(boards, after)[0]
    return settled_outcomes(evaluator, after.boards)


def best_replies(
    evaluator: PlayingEvaluator, boards: Boards, sieve: Sieve | None = None, whole: NDArray[np.bool_] | None = None
) -> Replies:
    """The best play of the bare `evaluator` on each board with each roll.

    boards: `int8[N, 2, 26]`, not finished. sieve: which plays are judged; None: all. whole: `bool[N * 21]`, rolls of
    which all are. A pruned evaluator has a sieve of its own, and looks at nothing else. The plays of all rolls of a
    board are siblings: they share its sum in the network. A play is chosen by its cubeless points; by cubeful ones in
    `cubeful`.
    """
    if isinstance(evaluator, Pruned):
        sieve, whole, evaluator = evaluator.sieve, None, evaluator.bot
    n = len(boards)
    best = np.empty((n * N_ROLLS, 2, SLOTS), dtype=np.int8)
    answers = np.empty((n * N_ROLLS, len(class_points(evaluator.rules))), dtype=np.float32)
    evaluate_plays = evaluator.evaluate_plays if isinstance(evaluator, Siblings) else None
    for part in _chunks(n):
        parents = boards[part]
        rows = slice(part.start * N_ROLLS, part.stop * N_ROLLS)
        dice = np.tile(ROLLS, (len(parents), 1))
        after = expand(np.repeat(parents, N_ROLLS, axis=0), dice, evaluator.rules)
        likely = None
        if sieve is not None:
            after, _, likely = sieve.passed(parents, after, None if whole is None else whole[rows])
        siblings = Afterstates(after.boards, np.ascontiguousarray(after.offsets[::N_ROLLS]))
        outcomes = None
        if evaluate_plays is not None:
            outcomes, worth = evaluate_plays(parents, siblings)
            values = -worth
        else:
            values = evaluator.play_values(parents, siblings)
        chosen = best_of_segments(values, after.offsets)
        best[rows] = after.boards[chosen]
        if likely is not None and whole is not None:
            chosen = best_of_segments(np.where(likely, values, -np.inf), after.offsets)
        answers[rows] = settled_outcomes(evaluator, after.boards[chosen]) if outcomes is None else outcomes[chosen]
    return Replies(best.reshape(n, N_ROLLS, 2, SLOTS), answers.reshape(n, N_ROLLS, -1))


def expectation(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """The mean over the 21 rolls, by their chances, `float64[N, K]`. values: `float32[N, 21, K]`.

    Added roll by roll, so that it is the same to the last bit in every batch.
    """
    total = np.zeros((len(values), values.shape[2]))
    for roll, share in enumerate(_SHARES):
        total += share * values[:, roll]
    return total / 36.0


def distinct_boards(boards: Boards) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of boards all different, `int64[U]`, and for each of N boards which of them it is, `int64[N]`."""
    keys = np.ascontiguousarray(boards).reshape(len(boards), 2 * SLOTS).view(f"V{2 * SLOTS}").ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return first, which


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))


def _passed(
    values: NDArray[np.float32], kept: NDArray[np.int64], segments: NDArray[np.int64], level: Level
) -> NDArray[np.int64]:
    """Those of `kept` that the level lets pass, at least the best of each segment; of equals the first."""
    order = kept[np.lexsort((kept, -values[kept], segments[kept]))]
    starts = np.flatnonzero(np.diff(segments[order], prepend=-1))
    lengths = np.diff(starts, append=len(order))
    rank = np.arange(len(order)) - np.repeat(starts, lengths)
    best = np.repeat(values[order[starts]], lengths)
    return np.sort(order[(rank == 0) | ((rank < level.keep) & (values[order] >= best - np.float32(level.margin)))])

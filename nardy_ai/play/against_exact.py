"""A bot measured by a solved game: errors of equity and equity lost, over positions as right play reaches them."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.outcomes import equities
from nardy_ai.play.lockstep import advance, new_lanes, roll
from nardy_ai.rules import MatchOptions

__all__ = ["ExactReport", "ExactSample", "judge", "mean_by_game", "sample_games"]

_LANES = 1024
_TIED = 1e-6
"""A play that loses no more than this loses nothing: the solution knows no better."""


@dataclass(frozen=True, eq=False)
class ExactSample:
    """What games of the exact bot against itself come to: every position before its roll, with its dice.

    boards: `int8[N, 2, 26]`; dice: `uint8[N, 2]`; games: `int64[N]`, the game of each.
    """

    boards: Boards
    dice: NDArray[np.uint8]
    games: NDArray[np.int64]
    seed: int


@dataclass(frozen=True)
class ExactReport:
    """How far a bot is from the exact one.

    rms_error, worst_error: of equity over `positions`, None for a bot that is no evaluator. mean_loss: points lost in
    a decision, over the `decisions` with more than one result, with a standard error over games; worst_loss: the most.
    best_share: decisions in which nothing was lost. exact, found: `float64[positions]`, the equity of each position
    by the solution and by the bot, None for a bot that is no evaluator.
    """

    bot: str
    games: int
    positions: int
    decisions: int
    rms_error: float | None
    worst_error: float | None
    mean_loss: float
    standard_error: float
    worst_loss: float
    best_share: float
    exact: NDArray[np.float64] = field(repr=False, compare=False)
    found: NDArray[np.float64] | None = field(repr=False, compare=False)


def sample_games(exact: ExactBot, match: MatchOptions, *, games: int, seed: int) -> ExactSample:
    """Play `games` games of the exact bot against itself, every position of every one of them kept."""
    if games < 1:
        raise NardyError(f"games = {games}; expected 1 or more")
    boards: list[Boards] = []
    dice: list[NDArray[np.uint8]] = []
    numbers: list[NDArray[np.int64]] = []
    lanes = new_lanes(exact.rules, min(games, _LANES))
    while (lanes.games < games).any():
        thrown = roll(seed, lanes.games, lanes.plies, match.opening)
        wanted = lanes.games < games
        boards.append(lanes.boards[wanted])
        dice.append(thrown[wanted])
        numbers.append(lanes.games[wanted])
        after = expand(lanes.boards, thrown, exact.rules)
        chosen = best_of_segments(exact.play_values(lanes.boards, after), after.offsets)
        lanes, _ = advance(lanes, after.boards[chosen], exact.rules)
    return ExactSample(np.concatenate(boards), np.concatenate(dice), np.concatenate(numbers), seed)


def judge(bot: Bot, exact: ExactBot, sample: ExactSample) -> ExactReport:
    """How `bot` values the positions of `sample`, and what its plays there lose. Its rules are those of `exact`."""
    known = exact.equity(sample.boards).astype(np.float64)
    found = errors = None
    if isinstance(bot, Evaluator):
        found = equities(bot.outcomes(sample.boards), exact.rules).astype(np.float64)
        errors = np.abs(found - known)
    after = expand(sample.boards, sample.dice, exact.rules)
    right = exact.play_values(sample.boards, after)
    best = right[best_of_segments(right, after.offsets)].astype(np.float64)
    chosen = best_of_segments(bot.play_values(sample.boards, after), after.offsets)
    lost = best - right[chosen]
    free = after.counts() > 1
    mean, error = mean_by_game(lost[free], sample.games[free])
    return ExactReport(
        bot=bot.name,
        games=len(np.unique(sample.games)),
        positions=len(lost),
        decisions=int(free.sum()),
        rms_error=None if errors is None else float(np.sqrt((errors**2).mean())),
        worst_error=None if errors is None else float(errors.max()),
        mean_loss=mean,
        standard_error=error,
        worst_loss=float(lost.max()),
        best_share=float((lost[free] < _TIED).mean()),
        exact=known,
        found=found,
    )


def mean_by_game(lost: NDArray[np.float64], games: NDArray[np.int64]) -> tuple[float, float]:
    """The mean, and its standard error with the decisions of a game taken together (Cochran 1977, ratio estimator)."""
    _, of_game = np.unique(games, return_inverse=True)
    counts = np.bincount(of_game)
    mean = float(lost.mean())
    apart = np.bincount(of_game, weights=lost) - mean * counts
    n = len(counts)
    error = math.sqrt(n / (n - 1) * float((apart**2).sum())) / len(lost) if n > 1 else math.inf
    return mean, error

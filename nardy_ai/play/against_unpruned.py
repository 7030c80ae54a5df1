"""A pruned bot measured by itself without pruning: what the plays that it leaves unjudged would have won."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import CONTRARY, finished
from nardy_ai.errors import NardyError
from nardy_ai.movegen.generate import best_of_segments
from nardy_ai.play.against_exact import mean_by_game
from nardy_ai.play.decisions import PR_SCALE
from nardy_ai.play.sampling import turns_of
from nardy_ai.pruned import Pruned
from nardy_ai.rules import MatchOptions

__all__ = ["PruningReport", "judge_pruning"]

_STRETCH = 1000
"""Games played side by side."""


@dataclass(frozen=True)
class PruningReport:
    """What pruning leaves out in games that the bot plays without it, in `decisions`: rolls with two results or more.

    awkward: whether the games began from awkward boards. plays: results a decision; judged: how many of them pass.
    other_share: decisions in which another play is chosen. pr: `PR_SCALE` times the points lost in a decision, by the
    bot's own judgement, with a standard error over games.
    """

    bot: str
    awkward: bool
    games: int
    decisions: int
    plays: float
    judged: float
    other_share: float
    pr: float
    pr_error: float


def judge_pruning(
    bot: Pruned,
    match: MatchOptions,
    *,
    games: int,
    seed: int,
    awkward: bool = False,
    progress: Callable[[int], None] = lambda games: None,
    stop: Callable[[], bool] = lambda: False,
) -> PruningReport:
    """Play `games` games, from the start or from awkward boards (`sampling.awkward_boards`), and judge both ways.

    stop: asked after each stretch of games; those played by then are reported. Raises NardyError where there are none,
    or no awkward boards.
    """
    if games < 1:
        raise NardyError(f"games = {games}; expected 1 or more")
    if awkward and bot.rules.board != CONTRARY:
        raise NardyError(f"rules {bot.rules.name!r} have no awkward boards to begin from")
    losses: list[NDArray[np.float32]] = []
    numbers: list[NDArray[np.int64]] = []
    plays = judged = played = 0
    while played < games and not (played and stop()):
        stretch = range(played, min(played + _STRETCH, games))
        for turn in turns_of(
            bot, match, stretch, seed=seed, wild_share=0.0, wild_plies=1, awkward_share=float(awkward)
        ):
            passed, rows, _ = bot.sieve.passed(turn.boards, turn.after)
            best = turn.values[best_of_segments(turn.values, turn.after.offsets)]
            found = turn.values[rows][best_of_segments(turn.values[rows], passed.offsets)]
            choice = (turn.after.counts() > 1) & ~finished(turn.boards)  # awkward boards may be finished
            losses.append((best - found)[choice])
            numbers.append(turn.games[choice])
            plays += int(turn.after.counts()[choice].sum())
            judged += int(passed.counts()[choice].sum())
        progress(len(stretch))
        played = stretch.stop
    loss = np.concatenate(losses).astype(np.float64)
    if not len(loss):
        raise NardyError(f"{played} games have no roll with more than one play; take more")
    mean, error = mean_by_game(loss, np.concatenate(numbers))
    return PruningReport(
        bot=bot.name,
        awkward=awkward,
        games=played,
        decisions=len(loss),
        plays=plays / len(loss),
        judged=judged / len(loss),
        other_share=float((loss > 0).mean()),
        pr=PR_SCALE * mean,
        pr_error=PR_SCALE * error,
    )

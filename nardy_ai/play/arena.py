"""The arena: bots against each other, the checkers only. Every pair of games has the same dice with seats swapped.

Points a game are those of the first bot; the standard error is over pairs, since the two games of a pair depend on each
other. A bot against itself scores exactly 0, whatever the dice. Luck can be taken off the points (`play.luck`).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.play.lockstep import roll, won
from nardy_ai.play.luck import Luck
from nardy_ai.rules import MatchOptions, RuleSet, start_boards

MOST_PLIES = 20_000
"""A game that lasts longer is cut and counted as 0 points for both. Random play ends in some hundreds."""

MOST_PAIRS = 100_000_000
MOST_WORKERS = 256

_LANES = 2048

Progress = Callable[[int], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class ArenaReport:
    """How the first bot did against the second.

    points: a game, with standard_error over pairs, less luck as the bot named `luck` sees it (None: luck and all).
    first_rates, second_rates: the shares of all games that each won in each class (single, mars, koks; or by checkers
    left). first_won: its share of all games. cut: games never ended.
    """

    first: str
    second: str
    rules: str
    pairs: int
    seed: int
    points: float
    standard_error: float
    first_won: float
    first_rates: tuple[float, ...]
    second_rates: tuple[float, ...]
    plies: float
    cut: int
    luck: str | None = None


def play_pairs(
    first: Bot,
    second: Bot,
    rules: RuleSet,
    match: MatchOptions,
    *,
    pairs: int,
    seed: int,
    luck: Luck | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> ArenaReport:
    """Play `pairs` pairs of games; in each, either bot starts once with the same dice.

    luck: takes the luck of all rolls but the opening off the points: the same mean, a far smaller spread, and a ply
    takes several times as long. workers: threads; they change the time, never the result. progress: called with the
    number of games ended since the last call. stop: asked by every thread before each ply; once it says yes no new
    pair begins, and the report is of those begun, which are played to their end: to drop them would be to drop long
    games. What it raises ends the match.
    """
    if not (0 <= seed < 2**63 and pairs <= MOST_PAIRS and workers <= MOST_WORKERS):
        raise NardyError(
            f"seed = {seed}, pairs = {pairs}, workers = {workers}; expected a seed of 0 to 2**63 - 1, at most"
            f" {MOST_PAIRS} pairs and {MOST_WORKERS} workers"
        )
    if pairs < 1 or workers < 1:
        raise NardyError(f"pairs = {pairs}, workers = {workers}; expected 1 or more")
    bounds = np.linspace(0, pairs, min(workers, pairs) + 1).astype(int).tolist()
    with ThreadPoolExecutor(len(bounds) - 1) as pool:
        jobs = [
            pool.submit(_play_range, (first, second), rules, match, range(low, high), seed, luck, progress, stop)
            for low, high in pairwise(bounds)
        ]
        parts = [job.result() for job in jobs]
    classes, plies, lucky = (np.concatenate(each) for each in zip(*parts, strict=True))
    points = np.append(oc.class_points(rules), 0)[classes] - lucky
    by_pair = points.mean(axis=1)
    half = oc.class_count(rules) // 2
    rates = [float((classes == k).mean()) for k in range(2 * half)]
    return ArenaReport(
        first=first.name,
        second=second.name,
        rules=rules.name,
        pairs=len(by_pair),
        seed=seed,
        points=float(by_pair.mean()),
        standard_error=float(by_pair.std(ddof=1) / np.sqrt(len(by_pair))) if len(by_pair) > 1 else float("inf"),
        first_won=float((classes < half).mean()),
        first_rates=tuple(rates[:half]),
        second_rates=tuple(rates[half:]),
        plies=float(plies.mean()),
        cut=int((classes == 2 * half).sum()),
        luck=None if luck is None else luck.control.name,
    )


def play_matrix(
    bots: Sequence[Bot],
    rules: RuleSet,
    match: MatchOptions,
    *,
    pairs: int,
    seed: int,
    luck: Luck | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[ArenaReport]:
    """`play_pairs` for every two of `bots`, all on the same dice, in the order (0, 1), (0, 2), ..., (1, 2), ...

    luck, stop: as in `play_pairs`; matches that have not begun are left out.
    """
    reports: list[ArenaReport] = []
    for one, other in combinations(bots, 2):
        if reports and stop is not None and stop():
            break
        reports.append(
            play_pairs(
                one,
                other,
                rules,
                match,
                pairs=pairs,
                seed=seed,
                luck=luck,
                workers=workers,
                progress=progress,
                stop=stop,
            )
        )
    return reports


class _Games(NamedTuple):
    """P pairs of games. classes: in which the first bot ended each, `int64[P, 2]`, K for a game cut. plies:
    `int64[P, 2]`. luck: what it has brought the first bot, `float64[P, 2]`, 0 where nobody measures it.
    """

    classes: NDArray[np.int64]
    plies: NDArray[np.int64]
    luck: NDArray[np.float64]


def _play_range(
    bots: tuple[Bot, Bot],
    rules: RuleSet,
    match: MatchOptions,
    pairs: range,
    seed: int,
    luck: Luck | None,
    progress: Progress | None,
    stop: Stop | None,
) -> _Games:
    """The games of these pairs.

    Column 0: the first bot started. Games run side by side; a lane whose game has ended takes the next one waiting.
    """
    n = 2 * len(pairs)
    classes = np.zeros(n, dtype=np.int64)
    lengths = np.zeros(n, dtype=np.int64)
    lucky = np.zeros(n)
    lanes = min(n, _LANES)
    job = np.arange(lanes)  # game number within the range: pair job // 2, started by bot job % 2
    waiting = lanes
    boards = start_boards(rules, lanes)
    plies = np.zeros(lanes, dtype=np.int64)
    while len(job):
        if stop is not None and stop():
            n = waiting + waiting % 2  # the second game of a pair that has begun is played too
        dice = roll(seed, job // 2 + pairs.start, plies, match.opening)
        mover = (job + plies) % 2
        if luck is not None:
            at = np.flatnonzero(plies)  # an opening roll has other chances, and both bots have it once
            if len(at):
                brought = luck.of(boards[at], dice[at])
                lucky[job[at]] += np.where(mover[at] == 0, brought, -brought)
        boards = _play_ply(bots, boards, dice, mover, rules)
        plies = plies + 1
        over = won(boards, rules)
        cut = ~over & (plies >= MOST_PLIES)
        if not (over.any() or cut.any()):
            continue
        half = oc.class_count(rules) // 2
        lost = oc.loss_classes(boards[over, 0], rules)
        classes[job[over]] = np.where(mover[over] == 0, lost, lost + half)
        classes[job[cut]] = 2 * half
        ended = over | cut
        lengths[job[ended]] = plies[ended]
        at = np.flatnonzero(ended)
        if progress is not None:
            progress(len(at))
        fresh = at[: n - waiting]
        boards[fresh] = start_boards(rules, len(fresh))
        plies[fresh] = 0
        job[fresh] = np.arange(waiting, waiting + len(fresh))
        waiting += len(fresh)
        gone = at[len(fresh) :]
        if len(gone):
            keep = np.ones(len(job), dtype=bool)
            keep[gone] = False
            boards, plies, job = boards[keep], plies[keep], job[keep]
    return _Games(classes[:n].reshape(-1, 2), lengths[:n].reshape(-1, 2), lucky[:n].reshape(-1, 2))


def _play_ply(
    bots: tuple[Bot, Bot], boards: Boards, dice: NDArray[np.uint8], mover: NDArray[np.int64], rules: RuleSet
) -> Boards:
    """The boards after every lane's bot `mover` has played, swapped."""
    answers = np.empty_like(boards)
    for seat, bot in enumerate(bots):
        at = np.flatnonzero(mover == seat)
        if len(at):
            after = expand(boards[at], dice[at], rules)
            values = bot.play_values(boards[at], after)
            answers[at] = after.boards[best_of_segments(values, after.offsets)]
    return answers

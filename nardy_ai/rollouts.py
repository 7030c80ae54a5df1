"""Rollouts: a position played to its end many times with the project's dice, and what that says of it.

Games are played in lockstep. Dice are a pure function of (seed, game, ply), the first two rolls spread evenly over
their 36 x 36 throws; all positions of one rollout see the same dice, so that their differences are known better than
they are themselves. Luck, which any evaluator can measure, is taken off: its mean is zero whatever that evaluator
thinks, so the answer is unbiased and only its spread shrinks. Cubeless, unless a state of the cube is given: then
`cube_games` plays, and equities are with the cube. docs/rollouts.md has the formulas.
"""

import json
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import Boards, checked_boards, finished
from nardy_ai.cube.decision import BeaverWorth, Verdict, verdict
from nardy_ai.cube.equity import swapped_utilities
from nardy_ai.cube.met import MatchTable
from nardy_ai.cube.state import CubeState, CubeStates, swap_state
from nardy_ai.cube_games import CubeGames, play_cube_games
from nardy_ai.cube_policies import cube_player, default_policy
from nardy_ai.cubeful import Cubeful, cubeful_of
from nardy_ai.dice import ROLLS, dice_at, hash_at, roll_numbers
from nardy_ai.errors import BotError, CubeError, NardyError, RulesError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.exact.bearoff import any_at_home, bearoff_tables, exact_at, is_covered
from nardy_ai.files import replace_file
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.outcomes import Outcomes, class_count, class_points, final_outcomes, swap
from nardy_ai.pruned import unpruned
from nardy_ai.rules import RuleSet, rules_from_dict, rules_to_dict
from nardy_ai.search import (
    DEFAULT_FILTER,
    N_ROLLS,
    Lookahead,
    PlayingEvaluator,
    Siblings,
    best_replies,
    distinct_boards,
    expectation,
    without_lookahead,
)
from nardy_ai.sieve import Sieve, sieve_for

__all__ = [
    "CANDIDATES",
    "CLEAR",
    "CUT_AFTER",
    "CubeRollout",
    "Line",
    "RolloutReport",
    "RolloutSettings",
    "THROWS",
    "decide",
    "first_rolls",
    "read_rollout",
    "rollout",
    "save_rollout",
]

CUT_AFTER = 1_000
"""Plies after which a game is cut and judged by the bot as it stands. A usual game of short nardy has about 55."""

CLEAR = 3.0
"""Standard errors by which a play must lead for the rule "the best play is clear" that the command offers."""

THROWS = 36
"""Ordered throws of two dice: in so many games in a row each is the first roll once."""

_CELLS = THROWS * THROWS
_STRATA_STREAM = 0x57A7
"""Added to the seed where chance spreads the first two rolls, so that they are independent of the dice."""
_GAMES_A_BATCH = 216
_CHECK_EVERY = 108
_LEAST_GAMES = 216
"""Stop rules look at the games in steps of _CHECK_EVERY, from _LEAST_GAMES on, whatever the batches."""

_ROLL_OF_THROW = roll_numbers([(i, j) for i in range(1, 7) for j in range(1, 7)])
"""`int64[36]`: which of `dice.ROLLS` each throw of two dice is."""

CANDIDATES = 6
"""Plays of a roll that a network judges to measure luck. In docs/rollouts.md is what 4, 5, 6 and all of them cost."""

_FORMAT = "nardy_ai rollout"
_VERSION = 3
_SAME = 1e-5
"""Outcomes of one bot on two machines differ less than this; those of two bots differ more."""


@dataclass(frozen=True)
class RolloutSettings:
    """All that decides the numbers, but for boards and games. control: None without variance reduction.

    bearoff: games end where the two-sided tables know the rest. candidates: how many plays of a roll the control judges
    to measure luck; None: all, or nobody measures it. state: the cube and the score, as the side on roll sees them, or
    the side that has played; None: cubeless. policy: when both sides double and take. met: whose match equities count.
    decision: the lines are those of a cube decision, no double first.
    """

    bot: str
    control: str | None
    seed: int
    plies: int
    filter: str
    truncate_after: int | None
    cut_after: int
    after_play: bool
    bearoff: bool
    candidates: int | None
    state: CubeState | None = None
    policy: str | None = None
    met: str | None = None
    decision: bool = False


@dataclass(frozen=True)
class Line:
    """One position's answer, for row 0; for row 1, who has played, if boards are rolled out after the play.

    equity: cubeless points; per cube, on the scale of the given state, if there is one. Then outcomes are how games
    ended, passes as single wins, luck and all: cubeless counts, which do not add up to the equity.
    outcomes, outcome_errors: `float64[K]`, exclusive, and their standard errors; chances that luck was taken off may
    be a trifle below 0 or above 1. difference: in equity to the best line, 0 or below, with its own standard error,
    made from the same dice; both 0 for the best. cut: games that never ended.
    """

    board: Boards
    equity: float
    standard_error: float
    outcomes: NDArray[np.float64]
    outcome_errors: NDArray[np.float64]
    difference: float
    difference_error: float
    cut: int


@dataclass(frozen=True)
class RolloutReport:
    """A rollout of P positions over G games, which more games can be added to.

    boards: `int8[P, 2, 26]`. results: `float64[P, G, K]`, what each game says of each position. cut: `bool[P, G]`,
    games that had not ended after `settings.cut_after` plies. stopped: `games` (all were played), `error`, `clear` or
    `interrupted`. probe: `float64[P, K]`, the bare bot's outcomes of the boards, by which another bot of its name is
    told apart; zeros without an evaluator. values: `float64[P, G]`, with the cube what each game says of the equity per
    cube; None without.
    """

    settings: RolloutSettings
    rules: RuleSet
    boards: Boards
    results: NDArray[np.float64] = field(repr=False)
    cut: NDArray[np.bool_] = field(repr=False)
    probe: NDArray[np.float64] = field(repr=False)
    stopped: str = "games"
    values: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def games(self) -> int:
        """How many games were counted for each position."""
        return int(self.results.shape[1])

    @property
    def equities(self) -> NDArray[np.float64]:
        """What each game says of the equity of each position, `float64[P, G]`."""
        return self.results @ class_points(self.rules).astype(np.float64) if self.values is None else self.values

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The answers, in the order of the boards."""
        values = self.equities
        equities = values.mean(axis=1)
        best = int(np.argmax(equities))
        errors = self._strata.standard_errors(values.T)
        apart = self._strata.standard_errors((values - values[best]).T)
        return tuple(
            Line(
                board=self.boards[p],
                equity=float(equities[p]),
                standard_error=float(errors[p]),
                outcomes=self.results[p].mean(axis=0),
                outcome_errors=self._strata.standard_errors(self.results[p]),
                difference=float(equities[p] - equities[best]),
                difference_error=0.0 if p == best else float(apart[p]),
                cut=int(self.cut[p].sum()),
            )
            for p in range(len(self.boards))
        )

    def errors_of(self, line: int, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The standard errors of sums of outcomes in one line, `float64[C]`. sums: `float64[K, C]`, how much of each.

        Such as any win: classes depend on each other, so that their own errors do not say.
        """
        return self.standard_errors(self.results[line] @ sums)

    def standard_errors(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The standard errors of means over the games, `float64[D]`. values: `float64[G, D]`."""
        return self._strata.standard_errors(values)

    @cached_property
    def _strata(self) -> "_Strata":
        return _Strata.of(self.settings.seed, self.games)

    @property
    def best(self) -> Line:
        """The line with the highest equity."""
        return max(self.lines, key=lambda line: line.equity)

    @property
    def equity(self) -> float:
        """Cubeless points of the position, of the best one if there are several; with a state of the cube per cube."""
        return self.best.equity

    @property
    def standard_error(self) -> float:
        """The standard error of `equity`."""
        return self.best.standard_error

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """The chances of the K classes, `float64[K]`, of the position or the best one."""
        return self.best.outcomes

    @property
    def outcome_errors(self) -> NDArray[np.float64]:
        """The standard errors of `outcomes`, `float64[K]`."""
        return self.best.outcome_errors


Progress = Callable[[RolloutReport], None]
Stop = Callable[[], bool]


def rollout(
    bot: Bot,
    boards: ArrayLike,
    *,
    games: int = 1296,
    seed: int = 1,
    plies: int = 0,
    filter: str = DEFAULT_FILTER,
    truncate_after: int | None = None,
    cut_after: int = CUT_AFTER,
    variance_reduction: bool = True,
    control: Bot | None = None,
    candidates: int | None = CANDIDATES,
    bearoff: bool = True,
    after_play: bool = False,
    until_error: float | None = None,
    until_clear: float | None = None,
    state: CubeState | None = None,
    policy: str | None = None,
    table: MatchTable | None = None,
    decision: bool = False,
    workers: int = 1,
    batch: int = _GAMES_A_BATCH,
    earlier: RolloutReport | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> RolloutReport:
    """Play every board to its end `games` times, all with the same dice, both sides by `bot`.

    boards: `int8[2, 26]` or `int8[P, 2, 26]`, row 0 on roll. plies: how far ahead the bot looks in play, with the move
    filter `filter`. truncate_after: judge games by the bot after so many plies in place of playing on; then the answer
    is as biased as the bot is. control: who measures luck; None: the bot, without its look-ahead. candidates: how many
    plays of a roll a network judges to measure luck, the likeliest ones; None: all. bearoff: end games where the
    two-sided bearoff tables know the rest exactly, which takes no bias and no spread. after_play: the
    boards are results of plays, and values are for row 1, who has played. until_error: stop when no standard error is
    above it. until_clear: stop when the best board leads by so many standard errors of the difference. state: the cube
    and the score, as the side on roll sees them, or the side that has played; games are then played with the cube, by
    `policy` of `cube_policies` (None: the usual one), and equities are per cube; a position before its roll begins with
    the decision to double. table: match equities in place of those of the game. decision: roll out one board without a
    double, after a double that was taken and, where one is allowed, after a beaver; `decide` says what follows.
    workers: threads; batch: games side by side; neither changes a number. earlier: a report that the games are added
    to. progress: called with the report so far. stop: asked by every thread before each ply; once it says yes, batches
    of games that have not ended are dropped. Raises BoardError, BotError, CubeError, NardyError.
    """
    checked = checked_boards(boards, bot.rules.checkers)
    if candidates is not None and candidates < 1:
        raise NardyError(f"candidates = {candidates}; expected 1 or more, or None")
    if games < 1 or workers < 1 or batch < 1 or not len(checked):
        raise NardyError(
            f"games = {games}, boards: {len(checked)}, workers = {workers}, batch = {batch}; expected 1 or more"
        )
    if (truncate_after is not None and truncate_after < 1) or cut_after < 1:
        raise NardyError(f"truncate_after = {truncate_after}, cut_after = {cut_after}; expected plies, 1 or more")
    asked = None if state is None else _CubeAsked(state, policy, table, decision=decision)
    if asked is None and (decision or policy is not None or table is not None):
        raise CubeError("decision, policy and table are about the cube; give the state of one")
    if asked is not None and decision:
        checked = _boards_of_decision(bot, checked, asked, after_play=after_play)
    if until_clear is not None and len(checked) < 2:
        raise NardyError("until_clear compares plays; expected two boards or more")
    task = _task_of(
        bot, checked, seed=seed, plies=plies, filter=filter, truncate_after=truncate_after, cut_after=cut_after,
        control=control, variance_reduction=variance_reduction, after_play=after_play, bearoff=bearoff,
        candidates=candidates, cube=asked,
    )  # fmt: skip
    return _roll_out(
        task, games=games, until_error=until_error, until_clear=until_clear, workers=workers, batch=batch,
        earlier=earlier, progress=progress, stop=stop,
    )  # fmt: skip


@dataclass(frozen=True)
class CubeRollout:
    """A cube decision rolled out. report: its lines, no double, double and take, and a beaver where one is allowed.

    double_pass: 1, since equities are per cube. verdict: what the means say is right. lead, lead_error: by how much the
    better of doubling and not doubling leads, made from the same dice; take_lead, take_lead_error: by how much taking
    is better than passing for row 1 (below 0: worse). winning: in a match the chances to win it, by name.
    """

    report: RolloutReport
    verdict: Verdict
    lead: float
    lead_error: float
    take_lead: float
    take_lead_error: float
    winning: dict[str, float] | None
    double_pass: float = 1.0

    @property
    def no_double(self) -> Line:
        """Row 0 rolls without doubling."""
        return self.report.lines[0]

    @property
    def double_take(self) -> Line:
        """Row 0 has doubled and row 1 taken."""
        return self.report.lines[1]

    @property
    def beaver(self) -> Line | None:
        """Row 1 has beavered and row 0 plays on; None where that is not allowed."""
        return self.report.lines[2] if len(self.report.lines) > 2 else None


def decide(report: RolloutReport, bot: Bot, *, table: MatchTable | None = None) -> CubeRollout:
    """What a rollout with `decision` says is right. bot, table: as it was made with. Raises CubeError.

    The answer to a double is that of the means. Significance is lead / lead_error: beyond 3 it is sure.
    """
    settings = report.settings
    state = settings.state
    if state is None or not settings.decision or not report.games:
        raise CubeError("the rollout is of no cube decision, or of no games")
    model, given = cubeful_of(bot, state, table=table).model, CubeStates.of(state)
    values = report.equities
    means = values.mean(axis=1)
    beaver = None
    if len(means) > 2:
        dropped = model.per_cube(model.single(model.doubled(given), won=False), given)
        beaver = BeaverWorth(float(means[2]), float(dropped[0]))
    ruling = verdict(float(means[0]), float(means[1]), 1.0, beaver=beaver, redouble=state.owner == 0)
    answered = {"take": values[1], "pass": np.ones(report.games), "beaver": values[-1]}[ruling.answer or "take"]
    if ruling.answer == "beaver" and beaver is not None and beaver.reply == "drop":
        answered = np.full(report.games, beaver.dropped)
    apart = np.stack((answered - values[0], 1 - values[1]), axis=1)
    errors = report.standard_errors(apart)
    winning = None
    if state.is_match:
        won, lost = (float(model.single(given, won=w)[0]) for w in (True, False))
        equities = {"no_double": means[0], "double_take": means[1], "double_pass": 1.0}
        winning = {name: float((value * (won - lost) + won + lost) / 4 + 0.5) for name, value in equities.items()}
    return CubeRollout(
        report=report,
        verdict=ruling,
        lead=abs(float(apart[:, 0].mean())),
        lead_error=float(errors[0]),
        take_lead=float(apart[:, 1].mean()),
        take_lead_error=float(errors[1]),
        winning=winning,
    )


def _roll_out(
    task: "_Task",
    *,
    games: int,
    until_error: float | None,
    until_clear: float | None,
    workers: int,
    batch: int,
    earlier: RolloutReport | None,
    progress: Progress | None,
    stop: Stop | None,
) -> RolloutReport:
    """Play batch after batch until there are enough games."""
    report = task.nothing() if earlier is None else _continued(earlier, task)
    ended = Event()

    def halted() -> bool:
        return ended.is_set() or (stop is not None and stop())

    last = report.games + games
    checked_games = report.games
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[_Played | None]] = deque()
        starts = iter(range(report.games, last, batch))
        try:
            for first in starts:
                waiting.append(pool.submit(_play_games, task, np.arange(first, min(first + batch, last)), halted))
                if len(waiting) > workers:
                    break
            while waiting:
                played = waiting.popleft().result()
                if played is None:
                    return replace(report, stopped="interrupted")
                report = _with_games(report, played)
                while checked_games + _CHECK_EVERY <= report.games:
                    checked_games += _CHECK_EVERY
                    reason = _enough(report, checked_games, until_error, until_clear)
                    if reason is not None:
                        return replace(_first_games(report, checked_games), stopped=reason)
                if progress is not None:
                    progress(report)
                for first in starts:
                    waiting.append(pool.submit(_play_games, task, np.arange(first, min(first + batch, last)), halted))
                    break
        finally:
            ended.set()
    return report


@dataclass(frozen=True)
class _Task:
    """What a batch of games needs to be played. judge: who values games that are not played to their end. sieve: which
    plays the control judges; None: all.
    """

    player: Bot
    control: PlayingEvaluator | None
    sieve: Sieve | None
    judge: Evaluator | None
    boards: Boards
    settings: RolloutSettings
    cube: "_CubeTask | None" = None

    def nothing(self) -> RolloutReport:
        """The report of no games."""
        p, k = len(self.boards), class_count(self.player.rules)
        judge = self.judge
        probe = np.zeros((p, k)) if judge is None else settled_outcomes(without_lookahead(judge), self.boards)
        return RolloutReport(
            settings=self.settings,
            rules=self.player.rules,
            boards=self.boards,
            results=np.zeros((p, 0, k)),
            cut=np.zeros((p, 0), dtype=bool),
            probe=probe.astype(np.float64),
            values=None if self.cube is None else np.zeros((p, 0)),
        )


@dataclass(frozen=True)
class _Played:
    """Results of some games: `float64[P, G, K]`, which were cut, `bool[P, G]`; values: as those of a report."""

    results: NDArray[np.float64]
    cut: NDArray[np.bool_]
    values: NDArray[np.float64] | None = None


def _with_games(report: RolloutReport, played: _Played) -> RolloutReport:
    values = report.values
    if values is not None:
        assert played.values is not None
        values = np.concatenate((values, played.values), axis=1)
    return replace(
        report,
        results=np.concatenate((report.results, played.results), axis=1),
        cut=np.concatenate((report.cut, played.cut), axis=1),
        values=values,
    )


@dataclass(frozen=True)
class _CubeAsked:
    """What is asked about the cube. decision: the boards are rolled out with it where a cube decision leads."""

    state: CubeState
    policy: str | None
    table: MatchTable | None
    decision: bool


@dataclass(frozen=True)
class _CubeTask:
    """Games with the cube. scale: the utilities of winning and of losing the given stake once."""

    games: CubeGames
    scale: tuple[float, float]

    def play(self, settings: RolloutSettings, games: NDArray[np.int64], halted: Stop) -> _Played | None:
        """As `_play_games`."""
        played = play_cube_games(self.games, games, lambda at, ply: _rolls_at(settings.seed, at, ply), halted)
        if played is None:
            return None
        utilities, outcomes = played.utilities, played.outcomes
        if settings.after_play:
            utilities, outcomes = swapped_utilities(utilities), swap(outcomes)
        won, lost = self.scale
        return _Played(outcomes.astype(np.float64), played.cut, (2 * utilities - won - lost) / (won - lost))


def _boards_of_decision(bot: Bot, boards: Boards, asked: _CubeAsked, *, after_play: bool) -> Boards:
    """The board for each line of a cube decision. Raises CubeError."""
    if len(boards) != 1 or finished(boards)[0] or after_play:
        raise CubeError("a cube decision is about one board before its roll, on which play goes on")
    model, given = cubeful_of(bot, asked.state, table=asked.table).model, CubeStates.of(asked.state)
    if not model.may_double(given)[0]:
        raise CubeError("there is nothing to decide: the side on roll may not double, or could gain nothing by it")
    return np.repeat(boards, 2 + int(model.may_beaver(given)[0]), axis=0)


def _cube_task_of(
    bot: Bot,
    player: Bot,
    measure: PlayingEvaluator | None,
    boards: Boards,
    asked: _CubeAsked,
    settings: RolloutSettings,
) -> tuple[_CubeTask, RolloutSettings]:
    """The games with the cube, and the settings with what is said of them. Raises BotError, CubeError."""
    state, policy = asked.state, asked.policy or default_policy(bot)
    judge = cubeful_of(player, state, table=asked.table)
    model = judge.model
    given = CubeStates.of(state)
    if asked.decision:
        states = CubeStates.join([given, *(model.doubled(given, times=times) for times in range(1, len(boards)))])
    else:
        states = CubeStates.of(swap_state(state) if settings.after_play else state, len(boards))
    model.check(states, len(boards))
    games = CubeGames(
        player=cube_player(player, policy, state, table=asked.table),
        control=None if measure is None else Cubeful(measure, model, plies=0),
        judge=Cubeful(player, model, plies=0),
        boards=boards,
        states=states,
        doubles_first=not asked.decision,
        bearoff=settings.bearoff,
        truncate_after=settings.truncate_after,
        cut_after=settings.cut_after,
    )
    scale = (float(model.single(given, won=True)[0]), float(model.single(given, won=False)[0]))
    met = None if model.table is None else model.table.name
    found = replace(settings, candidates=None, state=state, policy=policy, met=met, decision=asked.decision)
    return _CubeTask(games, scale), found


def _task_of(
    bot: Bot,
    boards: Boards,
    *,
    seed: int,
    plies: int,
    filter: str,
    truncate_after: int | None,
    cut_after: int,
    control: Bot | None,
    variance_reduction: bool,
    after_play: bool,
    bearoff: bool,
    candidates: int | None,
    cube: _CubeAsked | None,
) -> _Task:
    player = Lookahead(bot, plies, filter=filter) if plies else bot
    measure: PlayingEvaluator | None = None
    if variance_reduction:
        # Of the plays of a bot that prunes `candidates` are judged, as of any other's.
        chosen = unpruned(without_lookahead(player) if control is None else control)
        if not isinstance(chosen, PlayingEvaluator):
            raise BotError(
                f"bot {chosen.name!r} is no evaluator and cannot measure luck; roll out without variance reduction, or"
                " with a trained bot as control"
            )
        if (chosen.rules.board, class_count(chosen.rules)) != (bot.rules.board, class_count(bot.rules)):
            raise RulesError(f"control {chosen.name!r} plays {chosen.rules.name!r}, the bot {bot.rules.name!r}")
        measure = chosen
    judge = player if isinstance(player, Evaluator) else measure
    if truncate_after is not None and judge is None:
        raise BotError(f"bot {bot.name!r} is no evaluator and cannot judge games that are truncated; play them out")
    sieve = None
    if cube is None and candidates is not None and measure is not None and isinstance(measure, Siblings):
        sieve = sieve_for(measure, keep=candidates)
    settings = RolloutSettings(
        bot=bot.name, control=None if measure is None else measure.name, seed=seed, plies=plies,
        filter=filter if plies else "", truncate_after=truncate_after, cut_after=cut_after, after_play=after_play,
        bearoff=bearoff and is_covered(bot.rules), candidates=None if sieve is None else candidates,
    )  # fmt: skip
    if cube is None:
        return _Task(player, measure, sieve, judge, boards, settings)
    cube_task, settings = _cube_task_of(bot, player, measure, boards, cube, settings)
    return _Task(player, measure, sieve, judge, boards, settings, cube_task)


def _play_games(task: _Task, games: NDArray[np.int64], halted: Stop) -> _Played | None:
    """Play the games of these numbers from every board; None if halted before the last has ended."""
    rules, settings = task.player.rules, task.settings
    if task.cube is not None:
        return task.cube.play(settings, games, halted)
    p, k = len(task.boards), class_count(rules)
    results = np.zeros((p * len(games), k))
    cut = np.zeros(p * len(games), dtype=bool)
    lanes = np.arange(p * len(games))
    numbers = np.tile(games, p)
    boards = np.repeat(task.boards, len(games), axis=0)
    turned = int(settings.after_play)
    plays_itself = task.control is task.player
    ply = 0
    while True:
        over, ends = _ended(boards, rules, bearoff=settings.bearoff)
        if over.any():
            results[lanes[over]] += _seen(ends, turned + ply)
            boards, lanes, numbers = boards[~over], lanes[~over], numbers[~over]
        if not len(lanes):
            break
        if ply in (settings.truncate_after, settings.cut_after):
            results[lanes] += _seen(_judged(task, boards), turned + ply)
            cut[lanes] = ply != settings.truncate_after
            break
        if halted():
            return None
        first, which = distinct_boards(boards)
        pairs = which * N_ROLLS + _rolls_at(settings.seed, numbers, ply)
        if task.control is not None:
            thrown = np.zeros(len(first) * N_ROLLS, dtype=np.bool_)
            thrown[pairs] = plays_itself
            replies = best_replies(task.control, boards[first], task.sieve, thrown)
            luck = (replies.outcomes - expectation(replies.outcomes)[:, None]).reshape(-1, k).astype(np.float32)
            results[lanes] -= _seen(luck[pairs], turned + ply + 1)
        if plays_itself:
            boards = replies.boards.reshape(-1, *boards.shape[1:])[pairs]
        else:
            boards = _played(task.player, boards[first], pairs)
        ply += 1
    return _Played(results.reshape(p, len(games), k), cut.reshape(p, len(games)))


def _ended(boards: Boards, rules: RuleSet, *, bearoff: bool) -> tuple[NDArray[np.bool_], Outcomes]:
    """Which games have come to where the rest is known, `bool[L]`, and how those end, `float32[E, K]`."""
    over = finished(boards)
    if not bearoff or not any_at_home(boards):
        return over, final_outcomes(boards[over], rules)
    known = exact_at(boards, rules)
    answers = np.empty((len(boards), class_count(rules)), dtype=np.float32)
    answers[over] = final_outcomes(boards[over], rules)
    answers[known] = bearoff_tables().outcomes(boards[known], rules)
    over |= known
    return over, answers[over]


def _played(bot: Bot, boards: Boards, pairs: NDArray[np.int64]) -> Boards:
    """The boards after `bot` has played. pairs: `int64[L]`, board x 21 + roll; equal ones are played once."""
    needed, which = np.unique(pairs, return_inverse=True)
    parents = boards[needed // N_ROLLS]
    after = expand(parents, ROLLS[needed % N_ROLLS], bot.rules)
    return after.boards[best_of_segments(bot.play_values(parents, after), after.offsets)][which]


def _judged(task: _Task, boards: Boards) -> Outcomes:
    """What boards that are played no further count; even chances if no evaluator is at hand."""
    if task.judge is not None:
        return settled_outcomes(task.judge, boards)
    even = np.zeros((len(boards), class_count(task.player.rules)), dtype=np.float32)
    even[:, [0, even.shape[1] // 2]] = 0.5
    return even


def _seen(outcomes: Outcomes, ply: int) -> NDArray[np.float64]:
    """Outcomes of row 0 after `ply` changes of sides, as row 0 saw them before."""
    return (outcomes if ply % 2 == 0 else swap(outcomes)).astype(np.float64)


def first_rolls(seed: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
    """The throws of the first two plies of each game, `int64[G, 2]`, numbers of 36 throws.

    In every 36 games in a row, counted from 0, each throw is once the first and once the second; in every 1,296 each
    pair comes once. The order is drawn by chance, so each game by itself has fair dice.
    """
    blocks, block = np.unique(games // THROWS, return_inverse=True)
    wholes, whole = np.unique(games // _CELLS, return_inverse=True)
    first = _shuffled(seed, blocks, 0)[block, games % THROWS]
    second = _shuffled(seed, wholes, 1)[whole, (first + games // THROWS) % THROWS]
    return np.stack((first, second), axis=1)


def _shuffled(seed: int, blocks: NDArray[np.int64], ply: int) -> NDArray[np.int64]:
    """For each block the numbers 0 to 35 in an order of its own, `int64[B, 36]`."""
    places = blocks[:, None] * THROWS + np.arange(THROWS)
    keys = hash_at(seed + _STRATA_STREAM, places.ravel(), ply).reshape(-1, THROWS)
    return np.argsort(keys, axis=1, kind="stable")


def _rolls_at(seed: int, games: NDArray[np.int64], ply: int) -> NDArray[np.int64]:
    """Which of `dice.ROLLS` each game throws at `ply`, `int64[G]`."""
    if ply < 2:
        return _ROLL_OF_THROW[first_rolls(seed, games)[:, ply]]
    return roll_numbers(dice_at(seed, games, ply))


@dataclass(frozen=True)
class _Strata:
    """Games grouped by first rolls, which were spread evenly and so add nothing to the spread of a mean.

    labels: `int64[G]`. Whole blocks of 1,296 games by both rolls, whole blocks of 36 behind them by the first, the rest
    is one group.
    """

    labels: NDArray[np.int64]
    rest: int

    @staticmethod
    def of(seed: int, games: int) -> "_Strata":
        rolls = _ROLL_OF_THROW[first_rolls(seed, np.arange(games, dtype=np.int64))]
        labels = N_ROLLS + rolls[:, 0] * N_ROLLS + rolls[:, 1]
        whole = games - games % _CELLS
        labels[whole:] = rolls[whole:, 0]
        return _Strata(labels, games % THROWS)

    def standard_errors(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The standard error of each column's mean, `float64[D]`. values: `float64[G, D]`; unknown (inf) below two.

        The variance of a sum is that of its groups: n times the variance within. Groups of one game have that of all
        groups together.
        """
        games, columns = values.shape
        if games < 2:
            return np.full(columns, np.inf)
        overall = values.var(axis=0, ddof=1)
        grouped = values[: games - self.rest]
        total = self.rest * overall
        _, label, counts = np.unique(self.labels[: len(grouped)], return_inverse=True, return_counts=True)
        several = counts > 1
        if several.any():
            within = np.zeros((len(counts), columns))
            means = np.zeros((len(counts), columns))
            np.add.at(means, label, grouped)
            means /= counts[:, None]
            np.add.at(within, label, (grouped - means[label]) ** 2)
            pooled = within.sum(axis=0) / (counts - 1).sum()
            total = total + (within[several] * (counts / np.maximum(counts - 1, 1))[several, None]).sum(axis=0)
            total = total + (~several).sum() * pooled
        else:
            total = total + len(grouped) * overall
        errors: NDArray[np.float64] = np.sqrt(total) / games
        return errors


def _enough(report: RolloutReport, games: int, until_error: float | None, until_clear: float | None) -> str | None:
    """Why the first `games` games are enough, None if they are not."""
    if games < _LEAST_GAMES or (until_error is None and until_clear is None):
        return None
    lines = _first_games(report, games).lines
    if until_error is not None and max(line.standard_error for line in lines) <= until_error:
        return "error"
    others = sorted(lines, key=lambda line: -line.equity)[1:]
    if until_clear is not None and all(-line.difference >= until_clear * line.difference_error for line in others):
        return "clear"
    return None


def _first_games(report: RolloutReport, games: int) -> RolloutReport:
    values = None if report.values is None else report.values[:, :games]
    return replace(report, results=report.results[:, :games], cut=report.cut[:, :games], values=values)


def _continued(earlier: RolloutReport, task: _Task) -> RolloutReport:
    """The earlier report, after a look at whether the task is the same. Raises NardyError."""
    fresh = task.nothing()
    for entry in fields(RolloutSettings):
        before, now = getattr(earlier.settings, entry.name), getattr(fresh.settings, entry.name)
        if before != now:
            raise NardyError(f"the earlier rollout has {entry.name} = {before!r}, this one {now!r}; use the same")
    if earlier.rules != fresh.rules or not np.array_equal(earlier.boards, fresh.boards):
        raise NardyError("the earlier rollout is of other positions or rules; name the same ones, in the same order")
    if not np.allclose(earlier.probe, fresh.probe, rtol=0, atol=_SAME):
        raise NardyError(f"the earlier rollout was made by another bot of the name {fresh.settings.bot!r}")
    return replace(earlier, stopped="games")


def save_rollout(path: Path, report: RolloutReport) -> None:
    """Write a report with all its games, whole or not at all; `read_rollout` is the way back."""
    about = {
        "format": _FORMAT,
        "version": _VERSION,
        "settings": asdict(report.settings),
        "rules": rules_to_dict(report.rules),
        "stopped": report.stopped,
    }
    text = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)

    def write(part: Path) -> None:
        with part.open("wb") as file:
            values = np.empty((0, 0)) if report.values is None else report.values
            np.savez_compressed(
                file,
                about=text,
                boards=report.boards,
                results=report.results,
                cut=report.cut,
                probe=report.probe,
                values=values,
            )

    replace_file(path, write)


def read_rollout(path: Path) -> RolloutReport:
    """A report that `save_rollout` wrote. Raises NardyError."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            if about["format"] != _FORMAT or about["version"] not in (1, 2, _VERSION):
                raise NardyError(f"has format {about['format']!r} {about['version']}; expected {_FORMAT!r} {_VERSION}")
            if about["version"] == 1:
                about["settings"] |= {"bearoff": False, "candidates": None}
            state = about["settings"].get("state")
            if state is not None:
                away = state.pop("away")
                about["settings"]["state"] = CubeState(**state, away=None if away is None else tuple(away))
            rules = rules_from_dict(about["rules"])
            report = RolloutReport(
                settings=RolloutSettings(**about["settings"]),
                rules=rules,
                boards=checked_boards(arrays["boards"], rules.checkers),
                results=arrays["results"],
                cut=arrays["cut"],
                probe=arrays["probe"],
                stopped=str(about["stopped"]),
                values=arrays["values"] if state is not None else None,
            )
    except FileNotFoundError as error:
        raise NardyError(f"{path}: no such file") from error
    except (OSError, EOFError, KeyError, TypeError, ValueError, BadZipFile) as error:
        raise NardyError(f"{path}: is no rollout: {error}") from error
    p, k = len(report.boards), class_count(rules)
    shapes = (report.results.shape[::2], report.cut.shape, report.probe.shape)
    if shapes != ((p, k), (p, report.games), (p, k)) or report.results.dtype != np.float64:
        raise NardyError(f"{path}: is no rollout: its arrays do not fit together")
    if report.values is not None and report.values.shape != (p, report.games):
        raise NardyError(f"{path}: is no rollout: its arrays do not fit together")
    return report

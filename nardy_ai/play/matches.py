"""Matches and money games with the cube between two bots. Every pair has the same dice with the seats swapped.

A session is a match to `MatchOptions.length` points, or so many money games in a row. Sessions run side by side, and
each lane goes on by its own game, score and cube. The dice of a game depend on the pair, on how many games of the
session came before, and on nothing else; so a bot with a cube policy against itself scores exactly 0. Standard errors
are over pairs.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import SLOTS, Boards
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.state import LARGEST_STAKE, CubeStates, first_state
from nardy_ai.cube_policies import BEAVER, DROP, PASS, RACCOON, CubePlayer
from nardy_ai.dice import dice_at, opening_dice_at, opening_ties_at, starters_at
from nardy_ai.errors import CubeError, NardyError
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.play.arena import MOST_PAIRS, MOST_PLIES, MOST_WORKERS
from nardy_ai.play.lockstep import won
from nardy_ai.rules import MatchOptions, RuleSet, start_boards

__all__ = ["LARGEST_CAP", "CubeUse", "MatchReport", "play_matches", "play_matches_of_all"]

LARGEST_CAP = 1024
"""No double goes beyond it unless another cap is given: the limit that an XGID states by default."""

_LANES = 2048
_NEXT_GAME = 1 << 32
"""Dice of a session's games: the pair's number, plus this times the games before. The first has those of the arena."""
_NOBODY = -1

Progress = Callable[[int], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class CubeUse:
    """What one side did with the cube. doubles: its doubles a game; taken, beavered: the shares of them that were;
    raccooned: the share whose beaver it answered so.
    """

    doubles: float
    taken: float
    beavered: float
    raccooned: float


@dataclass(frozen=True)
class MatchReport:
    """How the first bot did against the second.

    points: a game, with points_error over pairs. games_won: its share of all games. matches_won: its share of matches,
    one that was cut counts half, with its error; None for money. length: points of a match, 0 for money; games: of all
    sessions together. stake: the mean of what was played for at the ends of games. plies: rolls a game. cut: sessions
    that ended with a game that never did, which counts 0 points.
    """

    first: str
    second: str
    rules: str
    length: int
    pairs: int
    seed: int
    games: int
    points: float
    points_error: float
    games_won: float
    matches_won: float | None
    matches_error: float | None
    first_cube: CubeUse
    second_cube: CubeUse
    stake: float
    plies: float
    cut: int


@dataclass(frozen=True)
class _Contest:
    """What is played by whom."""

    players: tuple[CubePlayer, CubePlayer]
    rules: RuleSet
    options: MatchOptions
    games: int
    model: CubeModel
    seed: int

    @property
    def with_cube(self) -> bool:
        return self.options.cube != "none"


@dataclass(frozen=True)
class _Tally:
    """What happened in S sessions. Columns of `[S, 2]` are the first and the second bot's.

    points: the first bot's. outcome: 2 a match that it won, 1 one that was cut, 0 one that it lost.
    """

    points: NDArray[np.int64]
    games: NDArray[np.int64]
    won: NDArray[np.int64]
    outcome: NDArray[np.int64]
    stakes: NDArray[np.int64]
    plies: NDArray[np.int64]
    cut: NDArray[np.int64]
    doubles: NDArray[np.int64]
    taken: NDArray[np.int64]
    beavered: NDArray[np.int64]
    raccooned: NDArray[np.int64]

    @staticmethod
    def of(n: int) -> "_Tally":
        return _Tally(*(np.zeros(n, np.int64) for _ in range(7)), *(np.zeros((n, 2), np.int64) for _ in range(4)))

    @staticmethod
    def join(parts: Sequence["_Tally"]) -> "_Tally":
        return _Tally(*(np.concatenate([getattr(part, entry.name) for part in parts]) for entry in fields(_Tally)))

    def first(self, n: int) -> "_Tally":
        return _Tally(*(getattr(self, entry.name)[:n] for entry in fields(_Tally)))


@dataclass
class _Lanes:
    """B sessions before a roll; changed in place. Seats are 0 and 1: in odd sessions the first bot sits on 1.

    boards: `int8[B, 2, 26]`, the seat on roll first. session: which within the range; game: how many of the session
    came before. owner: the seat that has the cube, `_NOBODY` in the centre. scores: points by seat, `int64[B, 2]`.
    """

    session: NDArray[np.int64]
    game: NDArray[np.int64]
    starter: NDArray[np.int64]
    ply: NDArray[np.int64]
    stake: NDArray[np.int64]
    owner: NDArray[np.int64]
    scores: NDArray[np.int64]
    crawford: NDArray[np.bool_]
    crawford_played: NDArray[np.bool_]
    boards: Boards

    @staticmethod
    def of(n: int) -> "_Lanes":
        return _Lanes(
            session=np.arange(n),
            game=np.zeros(n, np.int64),
            starter=np.zeros(n, np.int64),
            ply=np.zeros(n, np.int64),
            stake=np.ones(n, np.int64),
            owner=np.full(n, _NOBODY),
            scores=np.zeros((n, 2), np.int64),
            crawford=np.zeros(n, bool),
            crawford_played=np.zeros(n, bool),
            boards=np.zeros((n, 2, SLOTS), np.int8),
        )

    def __len__(self) -> int:
        return len(self.session)

    def keep(self, at: NDArray[np.bool_]) -> "_Lanes":
        return _Lanes(*(getattr(self, entry.name)[at] for entry in fields(_Lanes)))

    @property
    def mover(self) -> NDArray[np.int64]:
        """The seat on roll."""
        return (self.starter + self.ply) % 2

    def seat_of(self, bot: int) -> NDArray[np.int64]:
        """Where the first (0) or the second bot (1) sits."""
        return (self.session + bot) % 2

    def dice_of(self, pairs: range) -> NDArray[np.int64]:
        """The numbers of the games, of which their dice are a function."""
        return self.session // 2 + pairs.start + _NEXT_GAME * self.game

    def states(self, length: int) -> CubeStates:
        """As the seats on roll see them; they stay when the lanes go on."""
        mover = self.mover
        rows = np.arange(len(self))
        away = (length - self.scores if length else 0 * self.scores)[rows[:, None], np.stack((mover, 1 - mover), 1)]
        owners = np.where(self.owner == _NOBODY, _NOBODY, self.owner ^ mover)
        return CubeStates(self.stake.copy(), owners, away, self.crawford.copy())


@dataclass
class _Results:
    """Games that have just ended, by lane. winner: a seat, `_NOBODY` for one that was cut. points: with the stake."""

    over: NDArray[np.bool_]
    winner: NDArray[np.int64]
    points: NDArray[np.int64]

    @staticmethod
    def none(n: int) -> "_Results":
        return _Results(np.zeros(n, bool), np.full(n, _NOBODY), np.zeros(n, np.int64))

    def end(self, at: NDArray[np.int64], winner: NDArray[np.int64], points: NDArray[np.int64]) -> None:
        self.over[at] = True
        self.winner[at] = winner
        self.points[at] = points


def play_matches(
    first: CubePlayer,
    second: CubePlayer,
    rules: RuleSet,
    options: MatchOptions,
    *,
    pairs: int,
    seed: int,
    games: int = 1,
    cap: int = LARGEST_CAP,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> MatchReport:
    """Play `pairs` pairs of matches, or of sessions of `games` money games; in each, either bot sits once in each seat.

    Seat 0 starts the first game. options: who starts the others, the cube and its rules, and what a match needs; with
    `cube = "none"` nobody doubles. cap: no double raises the stake beyond. The rest is as in `arena.play_pairs`, with
    sessions in place of games. Raises CubeError, NardyError.
    """
    if not (0 <= seed < 2**63 and 1 <= pairs <= MOST_PAIRS and 1 <= workers <= MOST_WORKERS):
        raise NardyError(
            f"seed = {seed}, pairs = {pairs}, workers = {workers}; expected a seed of 0 to 2**63 - 1, 1 to {MOST_PAIRS}"
            f" pairs and 1 to {MOST_WORKERS} workers"
        )
    if games < 1 or (options.length and games != 1):
        raise NardyError(f"games = {games}, length = {options.length}; expected 1 game or more for money, 1 in a match")
    if not 1 <= cap <= LARGEST_STAKE:
        raise CubeError(f"the largest stake is {cap}; expected 1 to {LARGEST_STAKE}")
    state = first_state(options, cap=cap)
    contest = _Contest((first, second), rules, options, games, CubeModel.of(state, rules), seed)
    bounds = np.linspace(0, pairs, min(workers, pairs) + 1).astype(int).tolist()
    with ThreadPoolExecutor(len(bounds) - 1) as pool:
        jobs = [pool.submit(_play_range, contest, range(*ends), progress, stop) for ends in pairwise(bounds)]
        tally = _Tally.join([job.result() for job in jobs])
    return _report(contest, tally)


def play_matches_of_all(
    players: Sequence[CubePlayer],
    rules: RuleSet,
    options: MatchOptions,
    *,
    pairs: int,
    seed: int,
    games: int = 1,
    cap: int = LARGEST_CAP,
    workers: int = 1,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[MatchReport]:
    """`play_matches` for every two of `players`, in the order (0, 1), (0, 2), ..., (1, 2), ...

    stop: contests that have not begun are left out.
    """
    reports: list[MatchReport] = []
    for one, other in combinations(players, 2):
        if reports and stop is not None and stop():
            break
        reports.append(
            play_matches(
                one, other, rules, options, pairs=pairs, seed=seed, games=games, cap=cap, workers=workers,
                progress=progress, stop=stop,
            )
        )  # fmt: skip
    return reports


def _report(contest: _Contest, tally: _Tally) -> MatchReport:
    length = contest.options.length
    points, games = (column.reshape(-1, 2).sum(axis=1) for column in (tally.points, tally.games))
    pairs, total = len(points), int(games.sum())
    rate = points.sum() / total
    outcome = tally.outcome.reshape(-1, 2).mean(axis=1) / 2
    uses = []
    for bot in (0, 1):
        doubles = int(tally.doubles[:, bot].sum())
        answers = (tally.taken, tally.beavered, tally.raccooned)
        uses.append(CubeUse(doubles / total, *(int(one[:, bot].sum()) / max(doubles, 1) for one in answers)))
    return MatchReport(
        first=contest.players[0].name,
        second=contest.players[1].name,
        rules=contest.rules.name,
        length=length,
        pairs=pairs,
        seed=contest.seed,
        games=total,
        points=float(rate),
        points_error=_standard_error((points - rate * games) / games.mean()),
        games_won=float(tally.won.sum() / total),
        matches_won=float(outcome.mean()) if length else None,
        matches_error=_standard_error(outcome) if length else None,
        first_cube=uses[0],
        second_cube=uses[1],
        stake=float(tally.stakes.sum() / total),
        plies=float(tally.plies.sum() / total),
        cut=int(tally.cut.sum()),
    )


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def _play_range(contest: _Contest, pairs: range, progress: Progress | None, stop: Stop | None) -> _Tally:
    """Play the two sessions of each of these pairs. A lane whose session has ended takes the next one waiting."""
    n = 2 * len(pairs)
    tally = _Tally.of(n)
    waiting = min(n, _LANES)
    lanes = _Lanes.of(waiting)
    _begin_games(contest, lanes, np.arange(waiting), pairs)
    while len(lanes):
        if stop is not None and stop():
            n = waiting + waiting % 2  # the second session of a pair that has begun is played too
        results = _Results.none(len(lanes))
        if contest.with_cube:
            _offer_doubles(contest, lanes, results, tally)
        _play_ply(contest, lanes, results, pairs)
        if not results.over.any():
            continue
        _score(lanes, results, tally)
        ended = _sessions_over(contest, lanes, results)
        _note_sessions(lanes, results, ended, tally)
        going_on = results.over & ~ended
        lanes.game[going_on] += 1
        if contest.options.next_game_first == "winner":
            lanes.starter[going_on] = results.winner[going_on]
        else:
            lanes.starter[going_on] = starters_at(contest.seed, lanes.dice_of(pairs)[going_on])
        at = np.flatnonzero(ended)
        if progress is not None and len(at):
            progress(len(at))
        fresh = at[: n - waiting]
        lanes.session[fresh] = np.arange(waiting, waiting + len(fresh))
        waiting += len(fresh)
        for column in (lanes.game, lanes.starter, lanes.scores, lanes.crawford_played):
            column[fresh] = 0
        _begin_games(contest, lanes, np.concatenate((np.flatnonzero(going_on), fresh)), pairs)
        if len(fresh) < len(at):
            kept = np.ones(len(lanes), dtype=bool)
            kept[at[len(fresh) :]] = False
            lanes = lanes.keep(kept)
    return tally.first(n)


def _begin_games(contest: _Contest, lanes: _Lanes, at: NDArray[np.int64], pairs: range) -> None:
    """Set up the next game of these lanes, whose game, starter and scores are known."""
    options = contest.options
    lanes.boards[at] = start_boards(contest.rules, len(at))
    lanes.ply[at] = 0
    lanes.owner[at] = _NOBODY
    lanes.stake[at] = 1
    if options.length:
        near = options.crawford & (lanes.scores[at].max(axis=1) == options.length - 1)
        lanes.crawford[at] = near & ~lanes.crawford_played[at]
        lanes.crawford_played[at] |= near
    elif options.auto_doubles:
        thrown = at[_opening_is_thrown(contest, lanes)[at]]
        ties = opening_ties_at(contest.seed, lanes.dice_of(pairs)[thrown], options.opening)
        lanes.stake[thrown] = 2 ** np.minimum(ties, options.auto_doubles)


def _opening_is_thrown(contest: _Contest, lanes: _Lanes) -> NDArray[np.bool_]:
    """Whether dice were thrown for who starts; a winner who starts the next game just rolls."""
    return (lanes.game == 0) | (contest.options.next_game_first == "roll")


def _offer_doubles(contest: _Contest, lanes: _Lanes, results: _Results, tally: _Tally) -> None:
    """Let the seats on roll double, from their second turn on, and the others answer."""
    model, length = contest.model, contest.options.length
    states, mover = lanes.states(length), lanes.mover
    may = (lanes.ply > 0) & model.may_double(states)
    for bot, player in enumerate(contest.players):
        other = contest.players[1 - bot]
        at = np.flatnonzero(may & (mover == lanes.seat_of(bot)))
        if not len(at):
            continue
        at = at[player.doubles(lanes.boards[at], states.take(at))]
        if not len(at):
            continue
        asked = states.take(at)
        answers = other.answers(lanes.boards[at], asked)
        sessions = lanes.session[at]
        tally.doubles[sessions, bot] += 1
        passed = answers == PASS
        results.end(at[passed], mover[at[passed]], lanes.stake[at[passed]])
        tally.taken[sessions[~passed], bot] += 1
        beavered = (answers == BEAVER) & model.may_beaver(asked)
        tally.beavered[sessions[beavered], bot] += 1
        lanes.stake[at[~passed]] = model.doubled(asked.take(~passed)).stakes
        lanes.owner[at[~passed]] = 1 - mover[at[~passed]]
        if not beavered.any():
            continue
        at = at[beavered]
        replies = player.replies(lanes.boards[at], states.take(at))
        dropped, raised = at[replies == DROP], at[replies != DROP]
        results.end(dropped, 1 - mover[dropped], lanes.stake[dropped])
        lanes.stake[raised] = model.doubled(states.take(raised), times=2).stakes
        at = at[(replies == RACCOON) & model.may_raccoon(states.take(at))]
        if not len(at):
            continue
        tally.raccooned[lanes.session[at], bot] += 1
        last = other.last_answers(lanes.boards[at], states.take(at))
        given_up, raised = at[last == DROP], at[last != DROP]
        results.end(given_up, mover[given_up], lanes.stake[given_up])
        lanes.stake[raised] = model.doubled(states.take(raised), times=3).stakes


def _play_ply(contest: _Contest, lanes: _Lanes, results: _Results, pairs: range) -> None:
    """Roll and play in every lane whose game goes on."""
    rules, options = contest.rules, contest.options
    numbers = lanes.dice_of(pairs)
    dice = dice_at(contest.seed, numbers, lanes.ply)
    thrown = (lanes.ply == 0) & _opening_is_thrown(contest, lanes)
    if thrown.any():
        dice[thrown] = opening_dice_at(contest.seed, numbers[thrown], options.opening)
    mover, states = lanes.mover, lanes.states(options.length)
    for bot, player in enumerate(contest.players):
        at = np.flatnonzero(~results.over & (mover == lanes.seat_of(bot)))
        if not len(at):
            continue
        after = expand(lanes.boards[at], dice[at], rules)
        values = player.play_values(lanes.boards[at], after, states.take(at))
        lanes.boards[at] = after.boards[best_of_segments(values, after.offsets)]
    rolled = ~results.over
    lanes.ply[rolled] += 1
    ended = np.flatnonzero(rolled & won(lanes.boards, rules))
    points = oc.class_points(rules).astype(np.int64)[oc.loss_classes(lanes.boards[ended, 0], rules)]
    if contest.model.jacoby:
        points[lanes.owner[ended] == _NOBODY] = 1
    results.end(ended, mover[ended], points * lanes.stake[ended])
    cut = np.flatnonzero(rolled & ~results.over & (lanes.ply >= MOST_PLIES))
    results.end(cut, np.full(len(cut), _NOBODY), np.zeros(len(cut), np.int64))


def _score(lanes: _Lanes, results: _Results, tally: _Tally) -> None:
    """Add the games that have ended to the scores of their sessions."""
    at = np.flatnonzero(results.over)
    sessions, winner, points = lanes.session[at], results.winner[at], results.points[at]
    decided = winner != _NOBODY
    lanes.scores[at[decided], winner[decided]] += points[decided]
    by_first = winner == lanes.seat_of(0)[at]
    tally.points[sessions] += np.where(by_first, points, -points)
    tally.won[sessions] += by_first
    tally.games[sessions] += 1
    tally.stakes[sessions] += lanes.stake[at]
    tally.plies[sessions] += lanes.ply[at]
    tally.cut[sessions] += ~decided


def _sessions_over(contest: _Contest, lanes: _Lanes, results: _Results) -> NDArray[np.bool_]:
    """Whose session has ended with the game."""
    if contest.options.length:
        done = lanes.scores.max(axis=1) >= contest.options.length
    else:
        done = lanes.game + 1 >= contest.games
    return results.over & (done | (results.winner == _NOBODY))


def _note_sessions(lanes: _Lanes, results: _Results, ended: NDArray[np.bool_], tally: _Tally) -> None:
    """Write down who won the sessions that have ended."""
    first = results.winner == lanes.seat_of(0)
    outcome = np.where(results.winner == _NOBODY, 1, 2 * first)
    tally.outcome[lanes.session[ended]] = outcome[ended]

"""Cube decisions measured by exact values: of a solved game, and of bear-offs that the two-sided tables know.

Positions come as right play reaches them: games with the money cube in which both sides play, double and answer by the
exact values. What is right is named as everywhere: by `cube.decision`'s rule, one label a decision. A judge whose label
differs, but whose action is worth the same to 1e-6, has acted rightly.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import Boards, finished
from nardy_ai.cube.equity import CubeModel, CubeWorth
from nardy_ai.cube.kernels import CENTRE
from nardy_ai.cube.state import CubeStates
from nardy_ai.cube_policies import BEAVER, PASS, Actions, actions_of
from nardy_ai.cubeful import Cubeful
from nardy_ai.dice import dice_at
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.settle import evaluator_play_values
from nardy_ai.exact.bearoff import Bearoff, CubeValues, exact_at, random_bearoffs
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.outcomes import Outcomes, class_points, final_outcomes
from nardy_ai.play.against_exact import mean_by_game
from nardy_ai.play.lockstep import new_lanes, roll, won
from nardy_ai.rules import RuleSet, start_boards

__all__ = [
    "BearoffBot", "BearoffCube", "CubeCounts", "CubeSample", "ExactCube", "ExactCubeReport", "drawn_bearoffs",
    "judge_cube", "played_cube_games", "reached_bearoffs",
]  # fmt: skip

EQUAL = 1e-6
"""Actions whose exact worth differs by no more are the same: exact values know no better."""

OWNERS = {"centred": CENTRE, "own": 0}
"""Where the cube can be for a side that may double."""

_BATCH = 256


class ExactCube(Protocol):
    """What knows the worth of positions with the money cube at 1, stakes growing twofold."""

    def values(self, boards: ArrayLike) -> CubeValues:
        """Of boards `int8[N, 2, 26]`, finished ones too."""
        ...


@dataclass(frozen=True)
class BearoffCube:
    """The two-sided tables as an `ExactCube`, for bear-offs of one rule set."""

    tables: Bearoff
    rules: RuleSet

    def values(self, boards: ArrayLike) -> CubeValues:
        """Raises BoardError for boards that are neither finished nor in the tables."""
        given = np.asarray(boards, dtype=np.int8)
        over = finished(given)
        ends = final_outcomes(given[over], self.rules) @ class_points(self.rules)
        no_double = np.empty((len(given), 3), dtype=np.float32)
        best = np.empty_like(no_double)
        no_double[over] = best[over] = ends[:, None]
        found = self.tables.cube_values(given[~over], self.rules)
        no_double[~over], best[~over] = found.no_double, found.best
        return CubeValues(no_double, best)


class BearoffBot:
    """The chances of the two-sided tables as an evaluator: what the formulas make of exact chances."""

    def __init__(self, tables: Bearoff, rules: RuleSet) -> None:
        self.name = "tables"
        self.rules = rules
        self.tables = tables

    def outcomes(self, boards: ArrayLike) -> Outcomes:
        """Chances of the K classes, `float32[N, K]`; finished boards exactly. Raises BoardError for other boards."""
        given = np.asarray(boards, dtype=np.int8)
        over = finished(given)
        answers = final_outcomes(given, self.rules)
        answers[~over] = self.tables.outcomes(given[~over], self.rules)
        return answers

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """Points of every afterstate to the side that has just played, `float32[M]`."""
        return evaluator_play_values(self, boards, after)


@dataclass(frozen=True, eq=False)
class CubeSample:
    """Decisions of sides that may double, before their roll.

    boards: `int8[N, 2, 26]`; owners: `int64[N]`, `CENTRE` or 0; games: `int64[N]`, the game of each.
    """

    boards: Boards
    owners: NDArray[np.int64]
    games: NDArray[np.int64]


@dataclass(frozen=True)
class CubeCounts:
    """How a judge did in some decisions.

    decisions: sides that may double. same: the share in which both sides act rightly, with a standard error.
    doubling: stakes lost a decision of the doubler. answers: right doubles, each of which is answered; taking: stakes
    lost an answer. loss: stakes lost a decision of either side. Standard errors take the decisions of a game together.
    """

    decisions: int
    same: float
    same_error: float
    doubling: float
    doubling_error: float
    answers: int
    taking: float
    taking_error: float
    loss: float
    loss_error: float


@dataclass(frozen=True)
class ExactCubeReport:
    """A judge by where the cube is, and in all. plies: its look-ahead."""

    name: str
    plies: int
    by_owner: dict[str, CubeCounts]
    total: CubeCounts


def played_cube_games(
    exact: ExactCube,
    model: CubeModel,
    *,
    games: int,
    seed: int,
    opening: str,
) -> CubeSample:
    """Play `games` whole games by exact values, every decision about the cube kept.

    Nobody doubles with the dice of the opening. Raises NardyError.
    """
    if games < 1:
        raise NardyError(f"games = {games}; expected 1 or more")
    boards, owners = start_boards(model.rules, games), np.full(games, CENTRE)
    return _played(exact, model, boards, owners, seed, opening)


def reached_bearoffs(
    bot: Bot, exact: ExactCube, model: CubeModel, *, games: int, seed: int, opening: str
) -> CubeSample:
    """Bear-offs from where `bot`'s games come to the tables, played to their end with the cube by exact values.

    The bot plays its games cubeless. Each bear-off is played three times: the cube is in the centre, mine, his.
    """
    if games < 1:
        raise NardyError(f"games = {games}; expected 1 or more")
    first: list[Boards] = []
    lanes, rules = new_lanes(model.rules, games), model.rules
    boards, numbers, ply = lanes.boards, lanes.games, 0
    while len(boards):
        dice = roll(seed, numbers, np.full(len(numbers), ply), opening)
        after = expand(boards, dice, rules)
        boards = after.boards[best_of_segments(bot.play_values(boards, after), after.offsets)]
        reached = exact_at(boards, rules)
        first.append(boards[reached])
        going_on = ~reached & ~won(boards, rules)
        boards, numbers, ply = boards[going_on], numbers[going_on], ply + 1
    starts = np.concatenate(first)
    owners = np.repeat([CENTRE, 0, 1], len(starts))
    return _played(exact, model, np.tile(starts, (3, 1, 1)), owners, seed, None)


def drawn_bearoffs(rules: RuleSet, *, n: int, seed: int) -> CubeSample:
    """`n` bear-offs of up to six checkers a side, every pair of sides equally likely, with the cube in two places."""
    boards = random_bearoffs(rules, n=n, seed=seed)
    games = np.arange(n)
    return CubeSample(np.tile(boards, (2, 1, 1)), np.repeat([CENTRE, 0], n), np.tile(games, 2))


def _played(
    exact: ExactCube,
    model: CubeModel,
    boards: Boards,
    owners: NDArray[np.int64],
    seed: int,
    opening: str | None,
) -> CubeSample:
    """Games from boards and owners as the sides on roll see them. opening: None where row 0 may double at once."""
    rules, games = model.rules, np.arange(len(boards))
    kept: list[tuple[Boards, NDArray[np.int64], NDArray[np.int64]]] = [(boards[:0], owners[:0], games[:0])]
    ply = 0
    while len(boards):
        if ply or opening is None:
            may = owners != 1
            kept.append((boards[may], owners[may], games[may]))
            found = actions_of(_worth(exact, model, boards, owners), model, _states(owners))
            double = may & found.double
            owners = np.where(double, 1, owners)
            going_on = ~(double & (found.answer == PASS))
            boards, owners, games = boards[going_on], owners[going_on], games[going_on]
        plies = np.full(len(games), ply)
        dice = dice_at(seed, games, plies) if opening is None else roll(seed, games, plies, opening)
        after = expand(boards, dice, rules)
        theirs = np.where(owners == CENTRE, CENTRE, 1 - owners)
        worth = exact.values(after.boards).best
        columns = np.repeat(theirs + 1, after.counts())
        chosen = best_of_segments(-worth[np.arange(len(worth)), columns], after.offsets)
        boards, owners = after.boards[chosen], theirs
        going_on = ~won(boards, rules)
        boards, owners, games, ply = boards[going_on], owners[going_on], games[going_on], ply + 1
    return CubeSample(*(np.concatenate([part[i] for part in kept]) for i in range(3)))


def judge_cube(
    judge: Cubeful,
    name: str,
    exact: ExactCube,
    sample: CubeSample,
    *,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> ExactCubeReport:
    """How `judge` decides where the sample's sides may double. workers: threads; progress: told of decisions made."""
    model, owners = judge.model, sample.owners
    right = _worth(exact, model, sample.boards, owners)

    def decide(start: int) -> Actions:
        part = slice(start, start + _BATCH)
        states = _states(owners[part])
        found = actions_of(judge.worth(sample.boards[part], states), model, states)
        if progress is not None:
            progress(len(states))
        return found

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(decide, range(0, len(owners), _BATCH)))
    double = np.concatenate([part.double for part in parts])
    answer = np.concatenate([part.answer for part in parts])
    known = actions_of(right, model, _states(owners))
    doubled = _answered(right, known.answer)
    doubling = np.maximum(right.no_double, doubled) - np.where(double, doubled, right.no_double)
    taking = np.where(known.double, _answered(right, answer) - doubled, 0.0)
    doubling[doubling <= EQUAL] = 0
    taking[taking <= EQUAL] = 0
    places = {word: owners == owner for word, owner in OWNERS.items()}
    counts = {
        word: _counts(doubling[at], taking[at], known.double[at], sample.games[at])
        for word, at in places.items()
        if at.any()
    }
    return ExactCubeReport(name, judge.plies, counts, _counts(doubling, taking, known.double, sample.games))


def _states(owners: NDArray[np.int64]) -> CubeStates:
    """Money at stake 1."""
    n = len(owners)
    return CubeStates(np.ones(n, dtype=np.int64), owners, np.zeros((n, 2), dtype=np.int64), np.zeros(n, dtype=bool))


def _worth(exact: ExactCube, model: CubeModel, boards: Boards, owners: NDArray[np.int64]) -> CubeWorth:
    """What is known of boards before a double."""
    values = exact.values(boards)
    at = np.arange(len(boards)), owners + 1
    taken = 2 * values.no_double[:, 2].astype(np.float64)
    beaver = 2 * taken if model.beavers else np.full(len(boards), np.nan)
    return CubeWorth(
        no_double=values.no_double[at].astype(np.float64),
        double_take=taken,
        double_pass=np.ones(len(boards)),
        beaver=beaver,
        raccoon=np.full(len(boards), np.nan),  # where stakes double without end a right beaver is never raccooned
        best=values.best[at].astype(np.float64),
    )


def _answered(worth: CubeWorth, answer: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a double is worth after these answers; a beavered doubler drops if that costs him less."""
    beavered = np.maximum(worth.beaver, -2)
    return np.select([answer == PASS, answer == BEAVER], [worth.double_pass, beavered], worth.double_take)


def _counts(
    doubling: NDArray[np.float64], taking: NDArray[np.float64], asked: NDArray[np.bool_], games: NDArray[np.int64]
) -> CubeCounts:
    same = ((doubling == 0) & (taking == 0)).astype(np.float64)
    answers = int(asked.sum())
    share, share_error = mean_by_game(same, games)
    doubled, doubled_error = mean_by_game(doubling, games)
    taken, taken_error = mean_by_game(taking[asked], games[asked]) if answers else (0.0, float("inf"))
    both, both_games = np.concatenate((doubling, taking[asked])), np.concatenate((games, games[asked]))
    loss, loss_error = mean_by_game(both, both_games)
    return CubeCounts(
        len(doubling), share, share_error, doubled, doubled_error, answers, taken, taken_error, loss, loss_error
    )

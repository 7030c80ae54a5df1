"""Small games solved exactly: what every position is worth, and how games end, if both sides play as well as can be.

Value iteration over all boards on which no point holds both sides, with every roll and every play. One sweep of a pass
takes the boards by rising pips of both sides, those with equally many at once, and uses what it has just found
(Gauss-Seidel), so that a race is right after one. A sweep that looks for the best replies writes them down; sweeps
that only follow them are a hundred times cheaper and come between (modified policy iteration, Puterman 1994, 6.5).

Why it converges, and how near the end is: to follow given replies shrinks every difference by 1 - 1/longest at least,
measured by the rolls to come under them, of which `longest` is the largest mean (Bertsekas and Tsitsiklis 1996, 2.2).
So once a sweep that looks for best replies changes no value by more than c, a value and the mean of its best replies
differ by c at most, and what those replies are worth is within c * longest of what is said: `Solution.bound`. Values
are `float64` while they are sought and `float32` when they are kept.

With the money cube each board has three values, and its decisions are part of the recursion. Values stay within 3
points, since whoever would lose more than 1 to a double refuses, but a taken double counts twice, so that the argument
above does not hold for it: `CubeSolution.change` says how still the values stand.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import BAR, FACING, HEAD, OFF, SLOTS, checked_boards, pip_counts
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import RulesError
from nardy_ai.exact import kernels
from nardy_ai.exact.bearoff import CubeValues, offered
from nardy_ai.exact.cache import Note, Tables, kept
from nardy_ai.exact.ranking import Ranking, ranking
from nardy_ai.movegen.generate import expand
from nardy_ai.rules import RuleSet, rules_to_dict

__all__ = [
    "MOST_CHECKERS", "CubeSolution", "Progress", "Solution", "Sweep", "check_solvable", "few_checkers",
    "load_cube_solution", "load_solution", "solve", "solve_cube",
]  # fmt: skip

MOST_CHECKERS = 3
"""Checkers a side of the largest games that are solved: about 8 million boards. With one more they are 400 million."""

TOLERANCE = 2e-8
"""Sweeps end when the last one, which looks for best replies everywhere, changes no value by more than this.

Small enough for an error bound of 1e-6 in games of up to fifty rolls.
"""

MOST_SWEEPS = 100
_MOST_FOLLOWING = 200
_FOLLOWED_SHARE = 0.01
"""Replies are followed until a sweep changes no more than this share of what finding them has changed."""

_STILL = 1e-8
"""Chances that change by no more than this stand still: single precision keeps them no better."""

_BATCH = 512


@dataclass(frozen=True)
class Sweep:
    """How far solving has come. sweep: which search for best replies, from 1. change: the largest of the last sweep,
    infinite before. done: boards whose replies it has found, of `boards`.
    """

    sweep: int
    change: float
    done: int
    boards: int


Progress = Callable[[Sweep], None]


@dataclass(frozen=True)
class Effort:
    """What solving took. sweeps: searches for best replies; follow_ups: sweeps that followed them."""

    boards: int
    sweeps: int
    follow_ups: int


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved game without a cube.

    table: `float32[P, K]`, the chances of the K classes for the side on roll, by the pair of sides, for one way of best
    play (the first of equal plays). change: the largest of the last sweep. longest: the most rolls a game takes on
    average from any board. bound: how far an equity may be from the right one.
    """

    rules: RuleSet
    table: NDArray[np.float32]
    effort: Effort
    change: float
    longest: float

    @property
    def bound(self) -> float:
        """The error bound of the module's docstring, and half a unit in the last place of what is kept."""
        return self.change * self.longest + 3 * 2.0**-24

    def outcomes(self, boards: ArrayLike) -> oc.Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        checked = checked_boards(boards, self.rules.checkers)
        return self.table[_sides(self.rules).pairs(checked)]

    def equities(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, on roll, `float32[N]`. Raises BoardError."""
        return self.worth(self.outcomes(boards))

    def worth(self, outcomes: oc.Outcomes) -> NDArray[np.float32]:
        """Cubeless points of outcomes `float32[N, K]`, summed more precisely than single precision does."""
        return (outcomes.astype(np.float64) @ oc.class_points(self.rules).astype(np.float64)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class CubeSolution:
    """A game solved with the money cube. no_double: `float32[P, 3]` as in `CubeValues`, by the pair of sides."""

    rules: RuleSet
    jacoby: bool
    beavers: bool
    no_double: NDArray[np.float32]
    effort: Effort
    change: float

    def values(self, boards: ArrayLike) -> CubeValues:
        """What boards are worth with the cube at 1, not yet rolled nor doubled. Raises BoardError."""
        at = _sides(self.rules).pairs(checked_boards(boards, self.rules.checkers))
        return offered(self.no_double[at], beavers=self.beavers)


def few_checkers(rules: RuleSet, checkers: int) -> RuleSet:
    """The same game with fewer checkers, the rearmost of its start. Raises RulesError."""
    if not 1 <= checkers <= rules.checkers:
        raise RulesError(f"{checkers} checkers of {rules.name!r}; expected 1 to {rules.checkers}")
    if checkers == rules.checkers:
        return rules
    start: dict[int, int] = {}
    for point in sorted(rules.start, reverse=True):
        count = min(rules.start[point], checkers - sum(start.values()))
        if count:
            start[point] = count
    return replace(rules, name=f"{rules.name}-{checkers}", checkers=checkers, start=start)


def check_solvable(rules: RuleSet) -> None:
    """Refuse a game that is too big. Raises RulesError, which says how big is too big."""
    if rules.checkers > MOST_CHECKERS:
        raise RulesError(
            f"rules {rules.name!r} have {rules.checkers} checkers a side and {comb(BAR + rules.checkers, BAR) ** 2:.0e}"
            f" pairs of sides; games of up to {MOST_CHECKERS} checkers a side are solved (hyper, or fewer checkers of"
            " any rule set: nardy solve RULES --checkers N)"
        )


def load_solution(
    rules: RuleSet, *, workers: int = 2, progress: Progress | None = None, note: Note | None = None
) -> Solution:
    """The solution from the user's cache folder, or solved and put there. Raises RulesError for a game too big.

    note: told why a file in the cache cannot be used, and that solving begins.
    """
    check_solvable(rules)
    facts = _facts(rules)

    def make() -> Tables:
        return _packed(solve(rules, workers=workers, progress=progress))

    tables = kept(f"solution-{_key(facts)}", facts, make, note=note)
    return _unpacked(tables, rules)


def solve(
    rules: RuleSet, *, tolerance: float = TOLERANCE, workers: int = 2, progress: Progress | None = None
) -> Solution:
    """Solve a game without a cube. workers: threads; they change the time, never the result. Raises RulesError."""
    check_solvable(rules)
    with ThreadPoolExecutor(workers) as pool:
        game = _Game.of(rules)
        values = game.first_values(states=1, jacoby=False)
        replies, effort, change = _iterate(game, values, 0, tolerance, pool, workers, progress)
        chances = _ends(game, replies, pool, workers)
    longest = float(chances[game.order, -1].max())
    return Solution(rules, chances[:, :-1].astype(np.float32), effort, change, longest)


def solve_cube(
    rules: RuleSet,
    *,
    jacoby: bool,
    beavers: bool,
    tolerance: float = TOLERANCE,
    workers: int = 2,
    progress: Progress | None = None,
) -> CubeSolution:
    """Solve a game with the money cube, stakes growing twofold. Raises RulesError.

    jacoby: while the cube is in the centre every win counts 1. beavers: who takes may double at once and keep the cube.
    """
    check_solvable(rules)
    flag = kernels.BEAVERS if beavers else 0
    with ThreadPoolExecutor(workers) as pool:
        game = _Game.of(rules)
        values = game.first_values(states=3, jacoby=jacoby)
        replies, effort, change = _iterate(game, values, flag, tolerance, pool, workers, progress)
        no_double = values.astype(np.float32)  # right where a game is over
        for rows in game.batches(workers):
            rolled = np.empty((len(rows), 3))
            kernels.follow_replies(replies[rows.start : rows.stop], values, ROLL_WEIGHTS, rolled)
            no_double[game.order[rows.start : rows.stop]] = rolled
    return CubeSolution(rules, jacoby, beavers, no_double, effort, change)


def load_cube_solution(
    rules: RuleSet,
    *,
    jacoby: bool,
    beavers: bool,
    workers: int = 2,
    progress: Progress | None = None,
    note: Note | None = None,
) -> CubeSolution:
    """`solve_cube` from the user's cache folder, or solved and put there, as `load_solution` does. Raises RulesError.

    Hyper nardy needs 2.6 GiB while it is solved.
    """
    check_solvable(rules)
    facts = {"game": _facts(rules), "cube": {"growth": 2, "jacoby": jacoby, "beavers": beavers}}

    def make() -> Tables:
        solution = solve_cube(rules, jacoby=jacoby, beavers=beavers, workers=workers, progress=progress)
        return _packed_cube(solution)

    tables = kept(f"cube-{_key(facts)}", facts, make, note=note)
    return _unpacked_cube(tables, rules, jacoby=jacoby, beavers=beavers)


@dataclass(frozen=True, eq=False)
class _Game:
    """The boards of a game. order: `int64[L]`, the pairs of sides that are boards on which play goes on, by rising
    pips; layers: `int64`, where each number of pips begins in it.
    """

    rules: RuleSet
    sides: Ranking
    order: NDArray[np.int64]
    layers: NDArray[np.int64]

    @classmethod
    def of(cls, rules: RuleSet) -> "_Game":
        """All boards of `rules` but those on which a point holds both sides."""
        sides = _sides(rules)
        masks = (sides.rows > 0) @ (1 << np.arange(SLOTS, dtype=np.int64))
        facing = FACING[rules.board][1 : HEAD + 1]
        seen = (sides.rows[:, facing] > 0) @ (1 << np.arange(1, HEAD + 1, dtype=np.int64))
        rank = np.arange(sides.sides)
        apart = (masks[:, None] & seen) == 0
        apart &= (rank > 0)[:, None] & (rank > 0)
        order = np.flatnonzero(apart)
        pips = pip_counts(sides.rows).astype(np.int64)
        total = pips[order // sides.sides] + pips[order % sides.sides]
        by_pips = np.argsort(total, kind="stable")
        order, total = order[by_pips], total[by_pips]
        layers = np.concatenate(([0], np.flatnonzero(np.diff(total)) + 1, [len(order)])).astype(np.int64)
        return cls(rules, sides, order, layers)

    def over(self) -> NDArray[np.int64]:
        """The pairs of sides of which one is all off, `int64[2 sides - 1]`."""
        rank = np.arange(self.sides.sides)
        return np.union1d(rank, rank * self.sides.sides)

    def first_values(self, *, states: int, jacoby: bool) -> NDArray[np.float64]:
        """Values to begin with, `float64[P, S]`: right where a game is over, elsewhere a guess by the pips."""
        pips = pip_counts(self.sides.rows).astype(np.float64)
        lead = (pips[None, :] - pips[:, None]) / (pips[None, :] + pips[:, None] + 1)
        values = np.repeat(lead.reshape(-1, 1), states, axis=1)
        over = self.over()
        ends = oc.final_outcomes(self.sides.boards(over), self.rules).astype(np.float64)
        points = ends @ oc.class_points(self.rules).astype(np.float64)
        values[over] = points[:, None]
        if jacoby and states == 3:
            values[over, 0] = np.sign(points)
        return values

    def batches(self, workers: int, layer: tuple[int, int] | None = None, most: int = 1 << 16) -> list[range]:
        """A layer, or all boards, in pieces for `workers` threads, none longer than `most`."""
        low, high = layer or (0, len(self.order))
        pieces = max(-(-(high - low) // most), min(workers, -(-(high - low) // 64)))
        bounds = np.linspace(low, high, pieces + 1).astype(int).tolist()
        return [range(start, stop) for start, stop in pairwise(bounds)]

    def by_layer(self) -> Iterator[tuple[int, int]]:
        """Beginning and end of every layer in `order`."""
        return pairwise(self.layers.tolist())


def _sides(rules: RuleSet) -> Ranking:
    return ranking(rules.checkers, BAR)


def _iterate(
    game: _Game,
    values: NDArray[np.float64],
    beavers: int,
    tolerance: float,
    pool: Executor,
    workers: int,
    progress: Progress | None,
) -> tuple[NDArray[np.int32], Effort, float]:
    """Sweep until best replies change no value by more than `tolerance`. values: `float64[P, S]`, filled.

    Returns the best replies `int32[L, 21, S]` and the last change.
    """
    states = values.shape[1]
    boards = len(game.order)
    replies = np.empty((boards, len(ROLLS), states), dtype=np.int32)
    rolled = np.empty((boards, states))
    change = float("inf")
    follow_ups = 0

    def find(rows: range) -> None:
        at = game.order[rows.start : rows.stop]
        parents = game.sides.boards(at).repeat(len(ROLLS), axis=0)
        after = expand(parents, np.tile(ROLLS, (len(at), 1)), game.rules)
        kernels.best_replies(
            after.boards, after.offsets, BAR, game.rules.checkers, game.sides.sides, game.sides.binomials, values,
            ROLL_WEIGHTS, replies[rows.start : rows.stop], rolled[rows.start : rows.stop],
        )  # fmt: skip

    def follow(rows: range) -> None:
        kernels.follow_replies(replies[rows.start : rows.stop], values, ROLL_WEIGHTS, rolled[rows.start : rows.stop])

    def pass_over(step: Callable[[range], None], most: int, tell: Callable[[int], None] | None) -> float:
        """One sweep: layers one after the other, a layer's boards at once, so threads cannot change the result."""
        largest = 0.0
        for low, high in game.by_layer():
            list(pool.map(step, game.batches(workers, (low, high), most)))
            largest = max(largest, kernels.settle(game.order[low:high], rolled[low:high], values, beavers))
            if tell is not None:
                tell(high)
        return largest

    for sweep in range(1, MOST_SWEEPS + 1):
        last = change

        def tell(done: int, sweep: int = sweep, last: float = last) -> None:
            if progress is not None:
                progress(Sweep(sweep, last, done, boards))

        change = pass_over(find, _BATCH, tell)
        if change <= tolerance:
            break
        enough = max(_FOLLOWED_SHARE * tolerance, _FOLLOWED_SHARE * change)
        for _ in range(_MOST_FOLLOWING):
            follow_ups += 1
            if pass_over(follow, 1 << 16, None) <= enough:
                break
    return replies, Effort(boards, sweep, follow_ups), change


def _ends(game: _Game, replies: NDArray[np.int32], pool: Executor, workers: int) -> NDArray[np.float64]:
    """How games end when `replies` are played, and the mean number of rolls to come, `float64[P, K + 1]`."""
    classes = oc.class_count(game.rules)
    chances = np.zeros((game.sides.sides**2, classes + 1))
    over = game.over()
    chances[over, :classes] = oc.final_outcomes(game.sides.boards(over), game.rules)
    fresh = np.empty((len(game.order), classes + 1))

    def follow(rows: range) -> None:
        kernels.follow_chances(replies[rows.start : rows.stop], chances, ROLL_WEIGHTS, fresh[rows.start : rows.stop])

    for _ in range(_MOST_FOLLOWING):
        largest = 0.0
        for low, high in game.by_layer():
            list(pool.map(follow, game.batches(workers, (low, high))))
            largest = max(largest, kernels.put_rows(game.order[low:high], fresh[low:high], chances))
        if largest <= _STILL:
            break
    return chances


def _facts(rules: RuleSet) -> dict[str, object]:
    """What a solution depends on, as plain data: everything about the rules but their name and start."""
    return {key: value for key, value in rules_to_dict(rules).items() if key not in ("name", "start")}


def _key(facts: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _kept_classes(rules: RuleSet) -> NDArray[np.int64]:
    """The classes that a file holds: all that are possible but the last, which is what the others leave."""
    return np.flatnonzero(oc.ever_possible(rules))[:-1]


def _packed(solution: Solution) -> Tables:
    """A solution as arrays without the pairs of sides that are no boards."""
    order = np.sort(_Game.of(solution.rules).order)
    return {
        "chances": _split(solution.table[order][:, _kept_classes(solution.rules)]),
        "effort": _effort_array(solution.effort),
        "ends": np.array([solution.change, solution.longest]),
    }


def _unpacked(tables: Tables, rules: RuleSet) -> Solution:
    game = _Game.of(rules)
    order, over, kept_classes = np.sort(game.order), game.over(), _kept_classes(rules)
    chances = _joined(tables["chances"], len(kept_classes))
    table = np.zeros((game.sides.sides**2, oc.class_count(rules)), dtype=np.float32)
    for k, column in zip(kept_classes, chances, strict=True):
        table[order, k] = column
    last = np.flatnonzero(oc.ever_possible(rules))[-1]
    table[order, last] = np.maximum(1 - chances.sum(axis=0, dtype=np.float64), 0)
    table[over] = oc.final_outcomes(game.sides.boards(over), rules)
    change, longest = (float(number) for number in tables["ends"])
    return Solution(rules, table, _effort(tables["effort"]), change, longest)


def _packed_cube(solution: CubeSolution) -> Tables:
    """As `_packed`; `best` follows from `no_double`."""
    order = np.sort(_Game.of(solution.rules).order)
    return {
        "no_double": _split(solution.no_double[order]),
        "effort": _effort_array(solution.effort),
        "ends": np.array([solution.change]),
    }


def _unpacked_cube(tables: Tables, rules: RuleSet, *, jacoby: bool, beavers: bool) -> CubeSolution:
    game = _Game.of(rules)
    no_double = game.first_values(states=3, jacoby=jacoby).astype(np.float32)  # right where a game is over
    order = np.sort(game.order)
    for state, column in enumerate(_joined(tables["no_double"], 3)):
        no_double[order, state] = column
    return CubeSolution(rules, jacoby, beavers, no_double, _effort(tables["effort"]), float(tables["ends"][0]))


def _split(table: NDArray[np.float32]) -> NDArray[np.uint8]:
    """`float32[N, C]` by column and by byte of each number, `uint8[4, C * N]`: alike bytes are pressed better."""
    return np.ascontiguousarray(table.T).view(np.uint8).reshape(-1, 4).T.copy()


def _joined(pressed: NDArray[np.uint8], columns: int) -> NDArray[np.float32]:
    """The way back from `_split`: `float32[C, N]`."""
    return np.ascontiguousarray(pressed.T).view(np.float32).reshape(columns, -1)


def _effort_array(effort: Effort) -> NDArray[np.int64]:
    return np.array([effort.boards, effort.sweeps, effort.follow_ups], dtype=np.int64)


def _effort(array: NDArray[np.int64]) -> Effort:
    boards, sweeps, follow_ups = (int(number) for number in array)
    return Effort(boards, sweeps, follow_ups)


assert OFF == 0  # rank 0 has all off

"""Bearing off without contact: two-sided tables, which are exact, and one-sided ones, which are very nearly so.

*Two-sided*: both sides have at most six checkers left, all at home. Every position is solved against the best reply:
the chance to win, and what the money cube makes it worth. A result is single, so only boards are covered where
nobody can lose more: each side has one off, or the rule set knows no mars. Jacoby's rule is then about nothing, and
nobody would double where the other could beaver.

*One-sided*: up to fifteen checkers, all at home. Each side's chances to need exactly n rolls, as if it were alone, by
the policy that needs the fewest rolls on average. Two sides' tables give the chances of a race as if neither looked at
the other: not exact, since who is behind plays for a quick finish rather than for few rolls, but seldom off by a
hundredth (boards of up to six a side: less than 0.001 on average, 0.013 at worst). Mars comes from the rolls that a
side needs to its first checker off, by the policy that needs fewest of those.

A race at home is the same in every geometry and under every rule of hitting and of the head. A block of six that is
forbidden even there (`six_block = never`) is not, and scoring by the checkers left asks for more than single or mars:
such rule sets are not covered.
"""

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import HOME, OFF, SLOTS, Boards, checked_boards, highest_slots, pip_counts
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import BoardError
from nardy_ai.exact import kernels
from nardy_ai.exact.cache import Tables, kept
from nardy_ai.exact.ranking import Ranking, ranking
from nardy_ai.movegen.generate import expand
from nardy_ai.outcomes import Outcomes, class_count, class_points
from nardy_ai.rules import MAX_CHECKERS, RuleSet

__all__ = [
    "Bearoff", "CubeValues", "any_at_home", "bearoff_tables", "exact_at", "is_covered", "nearly_exact_at", "offered",
    "random_bearoffs",
]  # fmt: skip

TWO_SIDED_CHECKERS = 6
MOST_ROLLS = 32
"""More than any side at home needs: 2-1 thirty times takes fifteen checkers 90 pips."""

_BLOCK = 6
_BATCH = 1024
_LOADING = Lock()
_SIDE = RuleSet("bearoff", {HOME: MAX_CHECKERS})
"""Rules under which a side at home moves as in any other rule set that is covered."""


@dataclass(frozen=True)
class CubeValues:
    """What positions are worth with the money cube at 1, in points of row 0, `float32[N, 3]` each.

    Columns: the cube is in the centre, belongs to row 0, belongs to row 1. no_double: row 0 rolls without an offer.
    best: row 0 offers where that is right, and row 1 refuses where that is. A double taken is worth twice
    `no_double[:, 2]`.
    """

    no_double: NDArray[np.float32]
    best: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bearoff:
    """The tables.

    off, first: `float32[54264, 32]`, a side's chances to be all off, and to have one more off, after exactly n rolls,
    by rank. win: `float32[924 * 924]`, the chance of the side on roll by pair of sides. no_double: `float32[924 * 924,
    3]`, what these are worth with the cube, as in `CubeValues`.
    """

    off: NDArray[np.float32]
    first: NDArray[np.float32]
    win: NDArray[np.float32]
    no_double: NDArray[np.float32]

    def outcomes(self, boards: ArrayLike, rules: RuleSet) -> Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`. Raises BoardError unless `exact_at` all."""
        checked = checked_boards(boards, rules.checkers)
        _refuse_others(checked, exact_at(checked, rules), "the two-sided tables", rules)
        answers = np.zeros((len(checked), class_count(rules)), dtype=np.float32)
        answers[:, 0] = self.win[_two_sided_sides().pairs(checked)]
        answers[:, answers.shape[1] // 2] = 1 - answers[:, 0]
        return answers

    def cube_values(self, boards: ArrayLike, rules: RuleSet) -> CubeValues:
        """What boards are worth with the money cube. Raises BoardError unless `exact_at` all."""
        checked = checked_boards(boards, rules.checkers)
        _refuse_others(checked, exact_at(checked, rules), "the two-sided tables", rules)
        return offered(self.no_double[_two_sided_sides().pairs(checked)], beavers=False)

    def roll_chances(self, boards: ArrayLike, rules: RuleSet) -> NDArray[np.float32]:
        """Each side's chances to be off after exactly n rolls of its own, `float32[N, 2, 32]`.

        Raises BoardError unless `nearly_exact_at` all.
        """
        checked = checked_boards(boards, rules.checkers)
        _refuse_others(checked, nearly_exact_at(checked, rules), "the one-sided tables", rules)
        return self.off[np.stack([_one_sided_sides().ranks(checked, side) for side in (0, 1)], axis=1)]

    def race_outcomes(self, boards: ArrayLike, rules: RuleSet) -> Outcomes:
        """The chances of the K classes for row 0 by the one-sided tables, `float32[N, K]`.

        Raises BoardError unless `nearly_exact_at` all.
        """
        checked = checked_boards(boards, rules.checkers)
        _refuse_others(checked, nearly_exact_at(checked, rules), "the one-sided tables", rules)
        answers = np.empty((len(checked), class_count(rules)), dtype=np.float32)
        binomials = _one_sided_sides().binomials
        kernels.races(checked, rules.scoring != "oin", binomials, self.off, self.first, answers)
        return answers

    def look_up(self, boards: Boards, rules: RuleSet) -> tuple[Outcomes, NDArray[np.float32], NDArray[np.bool_]]:
        """What the tables say, two-sided before one-sided, about the boards that they cover.

        boards: `int8[N, 2, 26]`, contiguous, of rules that `is_covered`. Returns the chances for row 0 `float32[N, 6]`,
        its points `float32[N]`, both unset elsewhere, and which boards are covered, `bool[N]`.
        """
        sides = _two_sided_sides()
        answers = np.empty((len(boards), class_count(rules)), dtype=np.float32)
        values = np.empty(len(boards), dtype=np.float32)
        covered = np.empty(len(boards), dtype=np.bool_)
        kernels.look_up(
            boards, _words(boards), rules.scoring != "oin", rules.checkers, sides.binomials, self.off, self.first,
            sides.checkers, sides.sides, self.win, class_points(rules), answers, values, covered,
        )  # fmt: skip
        return answers, values, covered


def offered(no_double: NDArray[np.float32], *, beavers: bool) -> CubeValues:
    """The values with right offers and answers, from those without an offer, `float32[N, 3]`.

    A double is worth twice the value with the cube on the other side, or 1 if he does better to refuse; with a beaver,
    where that is right, four times.
    """
    doubled = 2 * no_double[:, 2:]
    if beavers:
        doubled = np.minimum(doubled, 2 * doubled)
    best = no_double.copy()
    best[:, :2] = np.maximum(no_double[:, :2], np.minimum(1, doubled))
    return CubeValues(no_double, best)


def random_bearoffs(rules: RuleSet, *, n: int, seed: int) -> Boards:
    """Boards of the two-sided tables, every pair of sides equally likely, `int8[n, 2, 26]`. Raises BoardError."""
    rows = _two_sided_sides().rows.astype(np.int8)
    missing = rules.checkers - TWO_SIDED_CHECKERS
    rows[:, OFF] += missing
    usable = np.flatnonzero((rows[:, OFF] >= (rules.scoring != "oin")) & (rows[:, OFF] < rules.checkers))
    if missing < 0 or not is_covered(rules):
        raise BoardError(f"the tables hold no bear-offs of {TWO_SIDED_CHECKERS} checkers for rules {rules.name!r}")
    picked = np.random.default_rng(seed).choice(usable, (n, 2))
    return np.ascontiguousarray(rows[picked])


def is_covered(rules: RuleSet) -> bool:
    """Whether a race at home under `rules` is the plain one of the tables."""
    return class_count(rules) == 6 and (rules.six_block != "never" or rules.checkers < _BLOCK)


def exact_at(boards: Boards, rules: RuleSet) -> NDArray[np.bool_]:
    """Which boards the two-sided tables cover, `bool[N]`: all at home, six a side or fewer, only single results."""
    off = boards[:, :, OFF]
    covered = nearly_exact_at(boards, rules)
    covered &= (off >= rules.checkers - TWO_SIDED_CHECKERS).all(axis=1)
    if rules.scoring != "oin":
        covered &= (off > 0).all(axis=1)
    return covered


def nearly_exact_at(boards: Boards, rules: RuleSet) -> NDArray[np.bool_]:
    """Which boards the one-sided tables cover, `bool[N]`: both sides all at home and not yet off."""
    highest = highest_slots(boards)
    at_home = ((highest <= HOME) & (highest > OFF)).sum(axis=1) == 2
    return at_home & is_covered(rules)


def any_at_home(boards: Boards) -> bool:
    """Whether both sides of any board are all at home and neither is off: boards that the tables may cover.

    boards: `int8[N, 2, 26]`, contiguous. A glance: about a nanosecond a board.
    """
    return kernels.any_at_home(boards, _words(boards))


def bearoff_tables() -> Bearoff:
    """The tables, from the user's cache folder or made in some seconds and put there."""
    with _LOADING:
        return _tables()


@lru_cache(maxsize=1)
def _tables() -> Bearoff:
    # Read by whoever meets the first race at home, so quickly: 28 MB as they are, in place of 19 MB to be unpacked.
    tables = kept("bearoff", {"tables": "bearoff"}, _make, compressed=False)
    return Bearoff(tables["off"], tables["first"], tables["win"], tables["no_double"])


def _make() -> Tables:
    """All tables from nothing."""
    return _make_one_sided() | _make_two_sided()


def _make_one_sided() -> dict[str, NDArray[np.float32]]:
    sides = _one_sided_sides()
    offsets, successors = _successors(sides)
    off = np.zeros((sides.sides, MOST_ROLLS))
    first = np.zeros((sides.sides, MOST_ROLLS))
    off[0, 0] = first[0, 0] = 1
    on_board = (MAX_CHECKERS - sides.rows[:, OFF]).astype(np.int64)
    order = np.argsort(_pips(sides), kind="stable")[1:]
    kernels.one_sided(order, on_board, offsets, successors, ROLL_WEIGHTS, off, first)
    return {"off": off.astype(np.float32), "first": first.astype(np.float32)}


def _make_two_sided() -> dict[str, NDArray[np.float32]]:
    sides = _two_sided_sides()
    offsets, successors = _successors(sides)
    pips = _pips(sides)
    order = np.argsort((pips[:, None] + pips).ravel(), kind="stable")
    order = order[(order // sides.sides > 0) & (order % sides.sides > 0)]
    solved: dict[int, NDArray[np.float32]] = {}
    for states in (1, 3):
        values = np.zeros((sides.sides**2, states))
        values[np.arange(sides.sides**2) % sides.sides == 0] = -1
        rolled = np.zeros_like(values)
        kernels.two_sided(order, sides.sides, offsets, successors, ROLL_WEIGHTS, values, rolled)
        solved[states] = rolled.astype(np.float32) if states == 3 else ((rolled[:, 0] + 1) / 2).astype(np.float32)
    return {"win": solved[1], "no_double": solved[3]}


def _successors(sides: Ranking) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ranks that a side can come to by every roll: offsets `int64[sides * 21 + 1]` and ranks; none for rank 0."""
    waiting = np.zeros(SLOTS, dtype=np.int8)
    waiting[1] = MAX_CHECKERS  # the other side stands out of the way
    mine = sides.rows.copy()
    mine[:, OFF] += MAX_CHECKERS - sides.checkers
    counts: list[NDArray[np.int64]] = [np.zeros(len(ROLLS), dtype=np.int64)]
    found: list[NDArray[np.int64]] = []
    for low in range(1, sides.sides, _BATCH):
        rows = mine[low : low + _BATCH]
        boards = np.stack((rows, np.broadcast_to(waiting, rows.shape)), axis=1).repeat(len(ROLLS), axis=0)
        after = expand(boards, np.tile(ROLLS, (len(rows), 1)), _SIDE)
        counts.append(after.counts())
        found.append(sides.ranks(after.boards, 1))
    return np.concatenate(([0], np.cumsum(np.concatenate(counts)))), np.concatenate(found)


def _pips(sides: Ranking) -> NDArray[np.int16]:
    return pip_counts(sides.rows)


def _one_sided_sides() -> Ranking:
    return ranking(MAX_CHECKERS, HOME)


def _two_sided_sides() -> Ranking:
    return ranking(TWO_SIDED_CHECKERS, HOME)


def _words(boards: Boards) -> NDArray[np.int32]:
    """Boards as `int32[N, 13]`."""
    return boards.reshape(len(boards), 2 * SLOTS).view(np.int32)


def _refuse_others(boards: Boards, covered: NDArray[np.bool_], tables: str, rules: RuleSet) -> None:
    if not covered.all():
        i = int(np.argmin(covered))
        raise BoardError(
            f"board {i}: {boards[i].tolist()} is not covered by {tables} under rules {rules.name!r}; ask for boards"
            " that `exact_at` or `nearly_exact_at` says are"
        )

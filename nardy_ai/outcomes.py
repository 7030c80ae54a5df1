"""What a game can end in and what that is worth: K exclusive classes, their points, masks and views.

Outcomes are `float32[N, K]`, for row 0 of the board, exclusive, summing to 1. Class k of one side is class
(k + K/2) mod K of the other. K is 6 (win single, mars, koks; lose single, mars, koks) or, for
`scoring = checkers_left`, 32 (win with 1..14 of the loser's checkers left; win, none off, not all home;
win, none off, all home; then the same lost). The cumulative view ("mars or more") exists for printing only.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, HOME, OFF, Boards, highest_slots, is_race
from nardy_ai.rules import MAX_CHECKERS, RuleSet

Outcomes = NDArray[np.float32]

KOKS_SLOT = 19
"""A loser's checker on this point of his or above, or on his bar, stands in the winner's home or before it."""

_LEFT_MARS, _LEFT_KOKS = 14, 15


def class_count(rules: RuleSet) -> int:
    """K, the number of classes a game under `rules` can end in, both sides' together."""
    return 32 if rules.scoring == "checkers_left" else 6


def class_names(rules: RuleSet) -> tuple[str, ...]:
    """A name for each of the K classes, such as `win_mars`."""
    if rules.scoring == "checkers_left":
        ways = [f"{n}_left" for n in range(1, 15)] + ["mars", "koks"]
    else:
        ways = ["single", "mars", "koks"]
    return tuple(f"{result}_{way}" for result in ("win", "lose") for way in ways)


def class_points(rules: RuleSet) -> NDArray[np.float32]:
    """Points of each class for row 0, `float32[K]`; an impossible class has 0."""
    if rules.scoring == "checkers_left":
        won = [*range(1, 15), 2 * rules.checkers, 3 * rules.checkers]
    else:
        won = {"oin": [1, 0, 0], "oin_mars": [1, 2, 0], "oin_mars_koks": [1, 2, 3]}[rules.scoring]
    return np.array(won + [-x for x in won], dtype=np.float32)


def ever_possible(rules: RuleSet) -> NDArray[np.bool_]:
    """Which classes exist under `rules` at all, `bool[K]`."""
    return class_points(rules) != 0


def swap(outcomes: Outcomes) -> Outcomes:
    """The same outcomes seen from the other side, any leading shape."""
    half = outcomes.shape[-1] // 2
    return np.concatenate((outcomes[..., half:], outcomes[..., :half]), axis=-1)


def equities(outcomes: Outcomes, rules: RuleSet) -> NDArray[np.float32]:
    """Cubeless points of row 0, `float32[N]`, or of any leading shape.

    Added class by class: the same to the last bit in every batch, as a matrix product is not.
    """
    total = np.zeros(outcomes.shape[:-1], dtype=np.float32)
    for k, points in enumerate(class_points(rules)):
        total += outcomes[..., k] * points
    return total


def possible(boards: Boards, rules: RuleSet) -> NDArray[np.bool_]:
    """Which classes a game can still end in from each board, `bool[N, K]`.

    A side with a checker off cannot lose mars. Koks needs a loser's checker on the bar or on his 19..24; in a race
    he who has left them cannot lose koks. With `checkers_left` nobody has more left at the end than now.
    The mask never excludes what can happen; it may keep what cannot.
    """
    race = is_race(boards, rules.board)
    passed = race[:, None] & (highest_slots(boards) < KOKS_SLOT)
    ways = loss_ways(rules)[boards[:, :, OFF].astype(np.int64), passed.astype(np.int64)]
    return np.concatenate((ways[:, 1], ways[:, 0]), axis=1)


@cache
def loss_ways(rules: RuleSet) -> NDArray[np.bool_]:
    """The classes in which a side can still lose, `bool[16, 2, K/2]`, by what decides it.

    First index: how many checkers the side has off. Second: whether it is past all contact and stands below
    `KOKS_SLOT`.
    """
    half = class_count(rules) // 2
    ways = np.zeros((MAX_CHECKERS + 1, 2, half), dtype=bool)
    for off in range(rules.checkers + 1):
        if rules.scoring == "checkers_left":
            ways[off, :, : min(rules.checkers - off, rules.checkers - 1)] = True
            ways[off, :, _LEFT_MARS:] = off == 0
            continue
        ways[off] = ever_possible(rules)[:half]
        ways[off, :, 1] &= off == 0
        ways[off, :, 2] &= off == 0 or not rules.koks_needs_none_off
        ways[off, 1, 2] = False
    ways.flags.writeable = False
    return ways


def final_outcomes(boards: Boards, rules: RuleSet) -> Outcomes:
    """The certain outcome of finished boards for row 0, `float32[N, K]`; rows of boards not finished are 0.

    Row 1 has played last, so it wins if it has all checkers off; if only row 0 has, row 0 has won.
    """
    n = len(boards)
    answers = np.zeros((n, class_count(rules)), dtype=np.float32)
    half = answers.shape[1] // 2
    all_off = boards[:, :, OFF] == rules.checkers
    for winner, loser, first in ((1, 0, half), (0, 1, 0)):
        at = np.flatnonzero(all_off[:, winner] & ~all_off[:, 1] if winner == 0 else all_off[:, 1])
        answers[at, first + loss_classes(boards[at, loser], rules)] = 1
    return answers


def loss_classes(losers: NDArray[np.int8], rules: RuleSet) -> NDArray[np.int64]:
    """The class (0 = single, ...) in which each loser's checkers `int8[N, 26]` lose, `int64[N]`."""
    none_off = losers[:, OFF] == 0
    if rules.scoring == "checkers_left":
        all_home = losers[:, HOME + 1 :].sum(axis=1) == 0
        left = rules.checkers - losers[:, OFF].astype(np.int64)
        return np.where(none_off, np.where(all_home, _LEFT_KOKS, _LEFT_MARS), left - 1)
    ways = np.zeros(len(losers), dtype=np.int64)
    if rules.scoring in ("oin_mars", "oin_mars_koks"):
        ways[none_off] = 1
    if rules.scoring == "oin_mars_koks" and rules.board == CONTRARY:
        behind = losers[:, KOKS_SLOT : BAR + 1].sum(axis=1) > 0
        ways[behind & none_off if rules.koks_needs_none_off else behind] = 2
    return ways


def points_won(
    losers: NDArray[np.int8], rules: RuleSet, *, stake: int = 1, jacoby: bool = False, cube_turned: bool = False
) -> NDArray[np.float32]:
    """Points that each loser's checkers `int8[N, 26]` lose, `float32[N]`; always positive.

    jacoby: while the cube was never turned every class counts 1.
    """
    if jacoby and not cube_turned:
        return np.full(len(losers), stake, dtype=np.float32)
    return class_points(rules)[loss_classes(losers, rules)] * np.float32(stake)


def cumulative(outcomes: Outcomes) -> dict[str, NDArray[np.float32]]:
    """The view for printing six classes: win, win mars or more, win koks, and the same lost."""
    win, lose = outcomes[..., :3], outcomes[..., 3:]
    return {
        "win": win.sum(axis=-1),
        "win_mars": win[..., 1:].sum(axis=-1),
        "win_koks": win[..., 2],
        "lose_mars": lose[..., 1:].sum(axis=-1),
        "lose_koks": lose[..., 2],
    }

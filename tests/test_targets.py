"""Learning targets by hand: every window here is small enough to work out on paper."""

import numpy as np
import pytest

from nardy_ai import outcomes as oc
from nardy_ai.play.selfplay import Window
from nardy_ai.train.targets import td_targets

# Estimates for the side that rolls next: win single, mars, koks, lose single, mars, koks.
A = (0.5, 0.1, 0.0, 0.3, 0.1, 0.0)
B = (0.2, 0.0, 0.0, 0.5, 0.2, 0.1)
C = (0.6, 0.2, 0.1, 0.1, 0.0, 0.0)
LOST = (0, 0, 0, 1, 0, 0)
"""What the side that would roll next has got when the other has just borne off its last checker."""

TOLERANCE = 1e-6
"""A few roundings of float32 values below 1."""


def window(*plies: tuple, ended: tuple = (), random: tuple = ()) -> Window:
    """One lane. plies: the estimate after each; ended, random: the plies that are."""
    n = len(plies)
    return Window(
        boards=np.zeros((n, 1, 2, 26), dtype=np.int8),
        next_outcomes=np.array(plies, dtype=np.float32)[:, None],
        ended=np.array([[t in ended] for t in range(n)]),
        random=np.array([[t in random] for t in range(n)]),
        evaluations=0,
    )


def swapped(outcomes: tuple) -> np.ndarray:
    return np.array(outcomes[3:] + outcomes[:3])


def mean(share: float, one, other) -> np.ndarray:
    """`share` of `other`, the rest of `one`."""
    return (1 - share) * np.asarray(one, dtype=np.float64) + share * np.asarray(other, dtype=np.float64)


def assert_targets(window: Window, trace: float, *wanted: np.ndarray) -> None:
    found = td_targets(window, trace)

    assert found.dtype == np.float32
    assert found.shape == window.next_outcomes.shape
    np.testing.assert_allclose(found[:, 0], np.array(wanted), rtol=0, atol=TOLERANCE)


def test_trace_0_takes_the_next_board_seen_from_the_other_side():
    assert_targets(window(A, B, C), 0.0, swapped(A), swapped(B), swapped(C))


def test_trace_1_takes_the_last_estimate_of_the_window():
    """C is for the side that rolls at ply 3: the other side at plies 0 and 2, the same at ply 1."""
    assert_targets(window(A, B, C), 1.0, swapped(C), np.array(C), swapped(C))


def test_trace_1_takes_the_result_where_the_game_ends_in_the_window():
    """The side that rolled at ply 2 has won; at ply 1 the loser rolled, at ply 0 the winner."""
    assert_targets(window(A, B, LOST, ended=(2,)), 1.0, swapped(LOST), np.array(LOST), swapped(LOST))


def test_trace_of_a_half_mixes_estimate_and_target():
    last = swapped(C)
    middle = np.roll(mean(0.5, B, last), 3)
    first = np.roll(mean(0.5, A, middle), 3)

    assert_targets(window(A, B, C), 0.5, first, middle, last)


def test_numbers_of_a_half_by_hand():
    """V(1) = 60 % win for the side at ply 1, and it then plays to a board on which the other side wins 20 %.

    Target at ply 1: 80 %. At ply 0, seen from the other side: 1 - (60 % + 80 %) / 2 = 30 %.
    """
    targets = td_targets(window((0.6, 0, 0, 0.4, 0, 0), (0.2, 0, 0, 0.8, 0, 0)), 0.5)

    assert targets[1, 0] == pytest.approx([0.8, 0, 0, 0.2, 0, 0], abs=TOLERANCE)
    assert targets[0, 0] == pytest.approx([0.3, 0, 0, 0.7, 0, 0], abs=TOLERANCE)


def test_targets_do_not_reach_over_the_end_of_a_game():
    """Ply 1 ends a game; ply 2 belongs to the next one and says nothing about plies 0 and 1."""
    first = np.roll(mean(0.5, A, swapped(LOST)), 3)

    assert_targets(window(A, LOST, C, ended=(1,)), 0.5, first, swapped(LOST), swapped(C))
    assert_targets(window(A, LOST, B, ended=(1,)), 0.5, first, swapped(LOST), swapped(B))


def test_targets_do_not_reach_over_a_play_that_chance_chose():
    """At ply 1 chance played: what came of it says nothing about ply 0, whose own play was meant."""
    assert_targets(window(A, B, C, random=(1,)), 1.0, swapped(A), np.array(C), swapped(C))
    assert_targets(window(A, B, C, random=(0,)), 1.0, swapped(C), np.array(C), swapped(C))


def test_mars_stays_with_the_side_that_lost_it():
    """An asymmetric result: row 0 of the last board has lost mars. Ply 0 was its opponent's."""
    lost_mars = (0, 0, 0, 0, 1, 0)

    targets = td_targets(window(lost_mars, ended=(0,)), 0.7)

    assert targets[0, 0].tolist() == [0, 1, 0, 0, 0, 0]


def test_lanes_are_independent():
    lanes = [window(A, B, C), window(B, LOST, A, ended=(1,)), window(C, A, B, random=(2,))]
    together = Window(
        boards=np.zeros((3, 3, 2, 26), dtype=np.int8),
        next_outcomes=np.concatenate([one.next_outcomes for one in lanes], axis=1),
        ended=np.concatenate([one.ended for one in lanes], axis=1),
        random=np.concatenate([one.random for one in lanes], axis=1),
        evaluations=0,
    )

    targets = td_targets(together, 0.7)

    for lane, one in enumerate(lanes):
        assert (targets[:, lane] == td_targets(one, 0.7)[:, 0]).all()


@pytest.mark.parametrize("trace", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("classes", [6, 32])
def test_targets_are_chances(trace: float, classes: int):
    rng = np.random.default_rng(1)
    values = rng.random((9, 5, classes)).astype(np.float32)
    values /= values.sum(axis=2, keepdims=True)
    many = Window(
        boards=np.zeros((9, 5, 2, 26), dtype=np.int8),
        next_outcomes=values,
        ended=rng.random((9, 5)) < 0.1,
        random=rng.random((9, 5)) < 0.1,
        evaluations=0,
    )

    targets = td_targets(many, trace)

    assert targets.min() >= 0
    np.testing.assert_allclose(targets.sum(axis=2), 1, rtol=0, atol=1e-6)
    assert (targets[-1] == oc.swap(values[-1])).all()


def test_window_is_left_as_it_was():
    given = window(A, B, C)
    before = given.next_outcomes.copy()

    td_targets(given, 0.5)

    assert (given.next_outcomes == before).all()

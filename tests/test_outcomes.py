"""What finished games are worth, which results are still possible, and the two views of one outcome."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from positions import afterstate_of, board_of, preset_of, reached_boards, read_data

from nardy_ai.boards import BAR, OFF, SLOTS, Boards, finished, swap_sides
from nardy_ai.dice import dice_at
from nardy_ai.movegen.reference import plays
from nardy_ai.outcomes import (
    class_count,
    class_names,
    class_points,
    cumulative,
    equities,
    ever_possible,
    final_outcomes,
    loss_classes,
    points_won,
    possible,
    swap,
)
from nardy_ai.rules import RuleSet, find_rules, preset_names, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")
LONG_LEFT = find_rules("long-left")


def loser_of(own: Mapping[int, int], checkers: int = 15) -> Boards:
    """A loser's checkers `int8[1, 26]`; what is not named is off."""
    return board_of(own, {}, checkers)[:1]


def random_game(rules: RuleSet, seed: int) -> list[Boards]:
    """Every board of one game of random plays by the reference, the finished one last; row 0 always on roll."""
    rng = np.random.default_rng(seed)
    boards = [start_boards(rules)[0]]
    while not finished(boards[-1][None])[0]:
        found = plays(boards[-1], dice_at(seed, 0, len(boards))[0], rules)
        boards.append(found[rng.integers(len(found))].afterstate)
    return boards


# Points


@pytest.mark.parametrize("case", read_data("cases/scores.json")["scores"], ids=lambda case: case["id"])
def test_finished_game_is_worth_the_listed_points(case: dict[str, Any]) -> None:
    preset = preset_of(case)
    own = {int(slot): count for slot, count in case["loser"]["own"].items()} | {BAR: case["loser"]["own_bar"]}

    points = points_won(
        loser_of(own, case["n"]),
        preset.rules,
        stake=case["stake"],
        jacoby=preset.match.jacoby,
        cube_turned=case["cube_turned"],
    )

    assert points.tolist() == [case["points"]]


@pytest.mark.parametrize(
    ("own", "points"),
    [
        ({6: 7, 13: 8}, 2),
        ({6: 7, 1: 7, 19: 1}, 3),
        ({6: 7, 1: 7, 18: 1}, 2),
        ({6: 7, 1: 7, BAR: 1}, 3),
        ({6: 7, 1: 6, 19: 1}, 1),
        ({6: 7, 1: 6, BAR: 1}, 1),
    ],
)
def test_mars_and_koks_are_told_apart(own: dict[int, int], points: int) -> None:
    """Users 12: point 19 and the bar make koks, 18 does not, and one checker off makes both single."""
    assert points_won(loser_of(own), SHORT).tolist() == [points]


def test_jacoby_holds_only_while_the_cube_is_unturned() -> None:
    mars = loser_of({6: 15})
    assert points_won(mars, SHORT, jacoby=True).tolist() == [1]
    assert points_won(mars, SHORT, stake=2, jacoby=True, cube_turned=True).tolist() == [4]


@pytest.mark.parametrize(
    ("own", "points"),
    [({1: 1}, 1), ({6: 14}, 14), ({6: 15}, 45), ({6: 14, 7: 1}, 30), ({24: 15}, 30)],
)
def test_long_left_counts_the_checkers_left(own: dict[int, int], points: int) -> None:
    """001-C literally: one off, the number left; none off, 30, or 45 when all are home."""
    assert points_won(loser_of(own), LONG_LEFT).tolist() == [points]


# Classes


@pytest.mark.parametrize("preset", preset_names())
def test_points_of_the_two_sides_are_opposite(preset: str) -> None:
    rules = find_rules(preset)
    points = class_points(rules)

    assert len(points) == len(class_names(rules)) == class_count(rules)
    assert (swap(points[None])[0] == -points).all()
    assert (ever_possible(rules) == (points != 0)).all()


def test_classes_of_each_scoring_have_the_points_of_the_rules() -> None:
    """RULES section 4, outcome classes: an impossible class has no points."""
    assert class_points(find_rules("short-dave")).tolist() == [1, 0, 0, -1, 0, 0]
    assert class_points(LONG).tolist() == [1, 2, 0, -1, -2, 0]
    assert class_points(SHORT).tolist() == [1, 2, 3, -1, -2, -3]


def test_long_left_has_32_classes() -> None:
    points = class_points(LONG_LEFT)
    assert class_count(LONG_LEFT) == 32
    assert points[:16].tolist() == [*range(1, 15), 30, 45]
    assert class_names(LONG_LEFT)[13:18] == ("win_14_left", "win_mars", "win_koks", "lose_1_left", "lose_2_left")


def test_swap_twice_is_no_swap_and_the_equity_changes_sign() -> None:
    outcomes = np.random.default_rng(3).dirichlet(np.ones(6), size=20).astype(np.float32)

    assert (swap(swap(outcomes)) == outcomes).all()
    np.testing.assert_allclose(equities(swap(outcomes), SHORT), -equities(outcomes, SHORT), atol=1e-6)


def test_cumulative_view_counts_a_koks_as_a_mars_and_a_win() -> None:
    outcomes = np.array([[0.3, 0.2, 0.1, 0.25, 0.1, 0.05]], dtype=np.float32)

    view = cumulative(outcomes)

    rounded = {name: round(float(value[0]), 4) for name, value in view.items()}
    assert rounded == {"win": 0.6, "win_mars": 0.3, "win_koks": 0.1, "lose_mars": 0.15, "lose_koks": 0.05}


# Finished boards


def test_side_that_has_just_played_wins_when_it_is_off() -> None:
    """Row 1 has played last: the loser is row 0."""
    board = np.frombuffer(afterstate_of({}, {24: 1, 6: 14}, 15), dtype=np.int8).reshape(1, 2, SLOTS)

    assert final_outcomes(board, SHORT).tolist() == [[0, 0, 0, 0, 0, 1]]
    assert final_outcomes(swap_sides(board), SHORT).tolist() == [[0, 0, 1, 0, 0, 0]]


def test_board_that_is_not_finished_has_no_outcome() -> None:
    assert final_outcomes(start_boards(SHORT, 2), SHORT).sum() == 0


# Masks


MASK_RULES = [
    find_rules("short"),
    find_rules("short-oin"),
    find_rules("tavla"),
    find_rules("hyper"),
    find_rules("long"),
    find_rules("long-left"),
    replace(SHORT, koks_needs_none_off=False),
    replace(find_rules("hyper"), koks_needs_none_off=False),
]


@pytest.mark.parametrize("rules", MASK_RULES, ids=lambda rules: f"{rules.name}-{rules.koks_needs_none_off}")
def test_mask_never_excludes_what_happens(rules: RuleSet) -> None:
    games = 40 if rules.checkers < 15 else 4
    for seed in range(games):
        boards = random_game(rules, seed)
        final = final_outcomes(boards[-1][None], rules)
        assert final.sum() == 1
        for plies_left, board in enumerate(reversed(boards)):
            seen = final if plies_left % 2 == 0 else swap(final)
            assert possible(board[None], rules)[seen > 0].all()


@pytest.mark.parametrize("rules", MASK_RULES, ids=lambda rules: f"{rules.name}-{rules.koks_needs_none_off}")
def test_mask_of_the_other_side_is_the_swapped_mask(rules: RuleSet) -> None:
    boards, _ = reached_boards(rules, 200, seed=6)

    mask = possible(boards, rules)
    assert (possible(swap_sides(boards), rules) == swap(mask.astype(np.float32))).all()
    assert (mask <= ever_possible(rules)).all()


def test_side_with_a_checker_off_cannot_lose_mars() -> None:
    """Users 14: gammon exactly 0 when the opponent has one off, whatever else stands back."""
    board = board_of({24: 2, 6: 13}, {24: 2, 6: 12}, 15)[None]
    assert board[0, 1, OFF] == 1

    assert possible(board, SHORT)[0].tolist() == [True, False, False, True, True, True]
    assert possible(board, replace(SHORT, koks_needs_none_off=False))[0].tolist() == [
        True,
        False,
        True,
        True,
        True,
        True,
    ]


def test_side_that_has_left_the_enemy_home_in_a_race_cannot_lose_koks() -> None:
    assert possible(board_of({12: 15}, {12: 15}, 15)[None], SHORT)[0].tolist() == [True, True, False] * 2
    assert possible(board_of({13: 15}, {12: 15}, 15)[None], SHORT)[0].tolist() == [True, True, True] * 2
    still_there = board_of({19: 1, 6: 14}, {5: 15}, 15)[None]
    assert possible(still_there, SHORT)[0].tolist() == [True, True, False, True, True, True]


def test_nobody_can_lose_more_checkers_than_are_left() -> None:
    board = board_of({1: 3}, {6: 15}, 15)[None]

    mask = possible(board, LONG_LEFT)[0]

    assert np.flatnonzero(mask[16:]).tolist() == [0, 1, 2]
    assert mask[:16].all()


def test_loss_class_is_counted_on_the_parallel_board_without_koks() -> None:
    assert loss_classes(loser_of({24: 3, 6: 12}), LONG).tolist() == [1]

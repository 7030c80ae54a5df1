"""Games side by side: dice by game and ply, the opening rule, and what becomes of lanes whose game ends."""

from dataclasses import replace

import numpy as np
import pytest

from nardy_ai.boards import OFF, swap_sides
from nardy_ai.dice import dice_at, opening_dice_at
from nardy_ai.movegen.generate import afterstates
from nardy_ai.play.lockstep import Lanes, advance, legal, new_lanes, roll, won
from nardy_ai.rules import CHOICES, find_rules, start_boards

SHORT = find_rules("short")


def lanes_at(plies: list[int], games: list[int]) -> Lanes:
    return replace(new_lanes(SHORT, len(games)), plies=np.array(plies), games=np.array(games), next_game=100)


def test_new_lanes_stand_at_the_start_of_the_next_games():
    lanes = new_lanes(SHORT, 3, first_game=7)

    assert (lanes.boards == start_boards(SHORT)).all()
    assert (lanes.games.tolist(), lanes.plies.tolist(), lanes.next_game) == ([7, 8, 9], [0, 0, 0], 10)


@pytest.mark.parametrize("opening", CHOICES["opening"])
def test_first_roll_follows_the_opening_rule_and_the_others_do_not(opening: str):
    games, plies = np.arange(400), np.arange(400) % 2

    dice = roll(5, games, plies, opening)

    first = plies == 0
    assert (dice[first] == opening_dice_at(5, games[first], opening)).all()
    assert (dice[~first] == dice_at(5, games[~first], 1)).all()
    doubles = dice[:, 0] == dice[:, 1]
    assert doubles[~first].any()
    assert doubles[first].any() == (opening != "use_dice")


def test_dice_do_not_depend_on_the_lane():
    games, plies = np.array([4, 9, 4]), np.array([0, 3, 3])
    order = np.array([2, 0, 1])

    dice = roll(5, games, plies, "use_dice")

    assert (roll(5, games[order], plies[order], "use_dice") == dice[order]).all()
    assert (roll(5, games[:1], plies[:1], "use_dice") == dice[:1]).all()


def test_legal_plays_are_those_of_the_lanes_rolls():
    lanes = lanes_at([0, 1, 2], [3, 4, 5])

    after = legal(lanes, SHORT, 5, "use_dice")

    wanted = afterstates(lanes.boards, roll(5, lanes.games, lanes.plies, "use_dice"), SHORT)
    assert after.boards.tobytes() == wanted.boards.tobytes()
    assert after.offsets.tolist() == wanted.offsets.tolist()


def test_afterstate_without_checkers_of_the_side_that_played_is_won():
    """Row 1 has just played; row 0 never wins by its opponent's play."""
    boards = start_boards(SHORT, 3)
    boards[1, 1] = boards[2, 0] = 0
    boards[1, 1, OFF] = boards[2, 0, OFF] = 15

    assert won(boards, SHORT).tolist() == [False, True, False]


def test_lanes_whose_game_ended_begin_new_games_in_their_order():
    lanes = lanes_at([4, 5, 6, 7], [3, 8, 1, 9])
    boards = start_boards(SHORT, 4)
    boards[:, 0, 24], boards[:, 0, 23] = 1, 1
    boards[[1, 3], 1] = 0
    boards[[1, 3], 1, OFF] = 15
    given = boards.copy()

    after, ended = advance(lanes, boards, SHORT)

    assert ended.tolist() == [False, True, False, True]
    assert after.games.tolist() == [3, 100, 1, 101]
    assert after.plies.tolist() == [5, 0, 7, 0]
    assert after.next_game == 102
    assert (after.boards[[1, 3]] == start_boards(SHORT)).all()
    assert (after.boards[[0, 2]] == given[[0, 2]]).all()
    assert (boards == given).all()
    assert lanes.games.tolist() == [3, 8, 1, 9]


def test_lanes_without_an_end_only_count_the_ply():
    lanes = lanes_at([0, 5], [3, 8])
    boards = swap_sides(legal(lanes, SHORT, 1, "reroll").boards[:2])

    after, ended = advance(lanes, boards, SHORT)

    assert not ended.any()
    assert (after.plies.tolist(), after.games.tolist(), after.next_game) == ([1, 6], [3, 8], 100)
    assert (after.boards == boards).all()

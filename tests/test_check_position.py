"""Boards that no game can show are refused with the place of the fault; all others are accepted."""

import numpy as np
import pytest

from nardy_ai.boards import PARALLEL, Boards
from nardy_ai.errors import BoardError
from nardy_ai.notation import check_position, parse_position
from nardy_ai.rules import RuleSet, find_rules, preset_names, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")
CLOSED = dict.fromkeys(range(1, 7), 2)


def board_of(on_roll: dict[int, int], other: dict[int, int]) -> Boards:
    """Exactly these counts by slot; nothing is added."""
    board = np.zeros((2, 26), dtype=np.int8)
    for side, row in enumerate((on_roll, other)):
        for slot, count in row.items():
            board[side, slot] = count
    return board


@pytest.mark.parametrize("name", preset_names())
def test_start_of_every_rule_set_is_accepted(name: str):
    rules = find_rules(name)
    check_position(start_boards(rules)[0], rules)


@pytest.mark.parametrize(
    ("board", "rules", "fault"),
    [
        (board_of({24: 15}, {24: 14}), LONG, "the other side has 14 checkers, those off included"),
        (board_of({24: 16}, {24: 15}), LONG, "the side on roll has 16 checkers in column 24"),
        (board_of({6: 5, 8: 11}, {6: 15}), SHORT, "the side on roll has 16 checkers, those off included"),
        (board_of({6: 15}, {6: -1, 8: 16}), SHORT, "the other side has -1 checkers in column 6"),
        (
            board_of({1: 1, 0: 14}, {24: 2, 0: 13}),
            SHORT,
            "the side on roll's 1 (1 checkers) is the other side's 24 (2)",
        ),
        (board_of({24: 15}, {12: 15}), LONG, "the side on roll's 24 (15 checkers) is the other side's 12 (15)"),
        (board_of({0: 15}, {0: 15}), SHORT, "both sides have borne off everything"),
        (board_of({24: 14, 25: 1}, {24: 15}), LONG, "the side on roll has 1 on the bar; nothing is hit in 'long'"),
        (board_of({24: 15}, {24: 14, 25: 1}), LONG, "the other side has 1 on the bar"),
        (board_of(CLOSED | {25: 3}, CLOSED | {25: 1, 0: 2}), SHORT, "nobody can ever move"),
        (np.zeros((26, 2), dtype=np.int8), SHORT, "expected int8[2, 26]"),
        (np.zeros((2, 26)), SHORT, "expected int8[2, 26]"),
    ],
)
def test_impossible_board_is_refused_where_it_is_wrong(board: Boards, rules: RuleSet, fault: str):
    with pytest.raises(BoardError) as caught:
        check_position(board, rules)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("board", "rules"),
    [
        (board_of({0: 15}, {6: 15}), SHORT),
        (board_of({6: 15}, {0: 15}), SHORT),
        (board_of({25: 15}, {6: 15}), SHORT),
        (board_of({0: 15}, {24: 15}), LONG),
        (board_of(CLOSED | {25: 3}, CLOSED | {7: 3}), SHORT),
        (board_of({25: 3} | CLOSED, dict.fromkeys(range(1, 6), 2) | {25: 1, 7: 4}), SHORT),
        (board_of({1: 1, 0: 14}, {24: 1, 0: 14}), LONG),
    ],
    ids=["on roll won", "other won", "all on the bar", "long won", "one on the bar", "five closed", "long, 1 and 24"],
)
def test_odd_but_possible_board_is_accepted(board: Boards, rules: RuleSet):
    check_position(board, rules)


def test_readers_refuse_what_the_check_refuses():
    with pytest.raises(BoardError, match="both sides stand on one point"):
        parse_position("6:1 / 19:1", SHORT)


def test_parallel_points_face_other_numbers_than_contrary_ones():
    """My 6 is his 19 in short and his 18 in long."""
    assert LONG.board == PARALLEL
    check_position(board_of({6: 15}, {19: 15}), LONG)
    with pytest.raises(BoardError, match=r"the side on roll's 6 .* is the other side's 18"):
        check_position(board_of({6: 15}, {18: 15}), LONG)

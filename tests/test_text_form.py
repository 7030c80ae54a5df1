"""The project's own position text, which serves every rule set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_ai.errors import BoardError, NotationError
from nardy_ai.notation import Position, parse_position, read_position, write_position
from nardy_ai.rules import find_rules, preset_names, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")
HYPER = find_rules("hyper")
START = start_boards(SHORT)[0]


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("word", ["start", "opening", " Start\n"])
def test_start_is_the_first_board_of_every_rule_set(name: str, word: str):
    rules = find_rules(name)
    assert np.array_equal(parse_position(word, rules), start_boards(rules)[0])


@pytest.mark.parametrize("name", preset_names())
def test_first_board_of_every_rule_set_comes_back(name: str):
    rules = find_rules(name)
    board = start_boards(rules)[0]
    assert np.array_equal(parse_position(write_position(board, rules), rules), board)


def test_checkers_not_written_are_borne_off():
    board = parse_position("20:1 / 12:2", SHORT)
    assert (board[0, 20], board[0, 0], board[1, 12], board[1, 0]) == (1, 14, 2, 13)


def test_each_side_is_written_in_its_own_numbering():
    text = "24:14 4:1 / 24:13 18:2"
    board = parse_position(text, LONG)
    assert (board[0, 4], board[1, 18]) == (1, 2)
    assert write_position(board, LONG) == text


def test_order_blanks_case_and_bar_do_not_matter():
    board = parse_position("  6:5 8:3 13:5 BAR:2/24:2 13:5 8:3 6:5 ", SHORT)
    assert write_position(board, SHORT) == "bar:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5"


def test_finished_board_is_written_with_its_off():
    assert write_position(parse_position("off:3 / 1:1", HYPER), HYPER) == "off:3 / 1:1"


def test_words_after_the_board_carry_dice_cube_and_match():
    position = read_position("start dice=13 cube=2 owner=other length=7 score=3-2", SHORT)
    assert position == Position(START, dice=(3, 1), cube_value=2, cube_owner=1, match_length=7, scores=(3, 2))


@pytest.mark.parametrize(
    "words",
    [
        "dice=31",
        "cube=2 owner=own jacoby beavers",
        "length=5 score=4-2 crawford",
        "cube=3 owner=other",
        "maxcube=64 offer=raccoon beavers",
        "resign=mars player=0",
        "length=7 score=0-7 game=dropped acted=other",
        "move=17 state=IW",
    ],
)
def test_words_come_back(words: str):
    text = write_position(read_position(f"start {words}", SHORT), SHORT)
    board_text = write_position(START, SHORT)
    assert set(text.removeprefix(board_text).split()) == set(words.split())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("24:2 13:5", "0 strokes"),
        ("24:2 / 13:5 / 6:5", "2 strokes"),
        ("25:1 / 12:2", "the side on roll: '25:1' names no point"),
        ("20:1 / 0:2", "the other side: '0:2' names no point"),
        ("20:1 20:2 / 12:2", "the side on roll: '20' is named twice"),
        ("20:1 / 12:2 off:12", "the other side: off:12, but 15 checkers less those on the board leave 13"),
        ("20:1 start / 12:2", "'start' stands among points"),
        ("20:1 / 12:2 foo", "'foo' is not understood"),
        ("20:1 / 12:2 dice=", "'dice=' is not understood"),
        ("20:1 / 12:2 dice=70", "dice is '70'"),
        ("20:1 / 12:2 dice=31 dice=31", "'dice' is given twice"),
        ("20:1 / 12:2 cube=0", "cube is '0'"),
        ("20:1 / 12:2 owner=white", "owner=white; expected one of own, other"),
        ("20:1 / 12:2 score=3", "score=3; expected score=3-2"),
        ("20:1 / 12:2 length=3 score=3-0", "the match to 3 is over"),
        ("20:1 / 12:2 length=3 jacoby", "Jacoby and beavers are for money"),
        ("20:1 / 12:2 crawford", "a Crawford game exists only in a match"),
        ("20:1 / 12:2 maxcube=3", "expected a power of two"),
        ("20:1 / 12:2 dice=31 offer=double", "a double comes before the roll"),
        ("20:1 / 12:2 acted=other", "not being played"),
    ],
)
def test_message_says_what_is_wrong_and_where(text: str, fault: str):
    with pytest.raises(NotationError) as caught:
        read_position(text, SHORT)
    assert fault in str(caught.value)


def test_too_many_checkers_are_refused():
    with pytest.raises(BoardError, match="the other side has 16 checkers on the board; 'short' is played with 15"):
        read_position("20:1 / 12:16", SHORT)


def test_text_of_no_known_shape_lists_the_forms():
    with pytest.raises(NotationError, match=r"expected an XGID, a GNU position ID .* an OGID, 'start', or text"):
        read_position("white to move", SHORT)


def test_unknown_format_is_refused():
    with pytest.raises(NotationError, match="unknown format 'fen'; expected one of text, xgid, gnubg, ogid"):
        write_position(START, SHORT, format="fen")


positions = st.builds(
    Position,
    board=st.just(START),
    dice=st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda dice: (max(dice), min(dice))),
    cube_value=st.integers(1, 2**15),
    cube_owner=st.sampled_from([None, 0, 1]),
    scores=st.tuples(st.integers(0, 32767), st.integers(0, 32767)),
    jacoby=st.booleans(),
    beavers=st.booleans(),
    max_cube_log2=st.integers(0, 30),
    resign_offered=st.integers(0, 3),
    game_state=st.sampled_from(["none", "playing", "over", "resigned", "dropped"]),
    row0_player=st.integers(0, 1),
    move_number=st.integers(0, 32767),
    ogid_state=st.sampled_from(["", "R", "IW"]),
)


@given(positions)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_every_position_comes_back_whole(position: Position):
    assert read_position(write_position(position, SHORT), SHORT) == position


def test_a_position_keeps_its_own_copy_of_the_board():
    board = start_boards(SHORT)[0]
    position = Position(board)
    board[0, 24] = 0
    assert position.board[0, 24] == 2

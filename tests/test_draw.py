"""Drawn boards: where checkers, bar, numbers, cube and score stand."""

import pytest

from nardy_ai.errors import BoardError
from nardy_ai.notation import draw_board, parse_position, read_position
from nardy_ai.rules import find_rules, preset_names, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")

CONTRARY_BOARD = """\
+13-14-15-16-17-18-+---+19-20-21-22-23-24-+
| X  .  .  .  O  . | O | O  O  .  .  .  X |  O Boris
| X           O    | O | O  O             |  192 pips
| X                |   | O                |  2 of 7 points
|                  |   |                  |
|                  |   |                  |
|                  |BAR|                  |  cube 2, held by O Boris
|                  |   |                  |  X Анна
| O           X    |   | X                |  124 pips
| O           X    |   | X                |  2 off
| O           X    |   | X                |  4 of 7 points
| O  .  .  .  X  . |   | X  X  .  O  .  O |  to play 5-2
+12-11-10--9--8--7-+---+-6--5--4--3--2--1-+"""

PARALLEL_BOARD = """\
+13-14-15-16-17-18-+19-20-21-22-23-24-+  <-- X from its head 24, O home to 18-13
| .  .  .  O  .  . | .  .  .  .  .  X |  O
|                  |                X |  340 pips
|                  |                X |
|                  |                X |
|                  |               15 |
|                  |                  |
|14                |                  |
| O                |                  |
| O                |                  |  X
| O                |                  |  360 pips
| O  .  .  .  .  . | .  .  .  .  .  . |  to play 6-6
+12-11-10--9--8--7-+-6--5--4--3--2--1-+  --> O from its head 12, X home to 6-1"""

PARALLEL_BOARD_OF_THE_OTHER_SIDE = """\
+13-14-15-16-17-18-+19-20-21-22-23-24-+  <-- X from its head 24, O home to 18-13
| .  .  .  .  .  . | .  .  .  .  .  X |  O Boris
|                  |                X |  360 pips
|                  |                X |  to play 6-6
|                  |                X |
|                  |               14 |
|                  |                  |
|15                |                  |
| O                |                  |
| O                |                  |
| O                |                  |  X Анна
| O  .  .  .  .  . | .  .  X  .  .  . |  340 pips
+12-11-10--9--8--7-+-6--5--4--3--2--1-+  --> O from its head 12, X home to 6-1"""


def test_contrary_board_looks_like_this():
    position = read_position("XGID=-a---BC-B---cD---d-da-A-AB:1:1:-1:52:2:4:0:7:10", SHORT)
    assert draw_board(position, SHORT, names=("Анна", "Boris")) == CONTRARY_BOARD


def test_parallel_board_has_no_bar_and_one_numbering_and_says_which_way_the_sides_go():
    """The other side's head is my 12, his 4 is my 16, his home 6-1 my 18-13."""
    position = read_position("24:15 / 24:14 4:1 dice=66", LONG)
    assert draw_board(position, LONG, cube=False) == PARALLEL_BOARD


def test_board_is_drawn_from_the_side_that_is_asked_for():
    """The same position for the side that waits: it sits at the bottom, numbers the points and is X."""
    position = read_position("24:15 / 24:14 4:1 dice=66", LONG)
    drawn = draw_board(position, LONG, names=("Boris", "Анна"), cube=False, bottom=1)
    assert drawn == PARALLEL_BOARD_OF_THE_OTHER_SIDE


@pytest.mark.parametrize("text", ["start cube=2 owner=own", "start offer=double", "start length=5 score=3-1 dice=31"])
def test_names_cube_and_score_stay_with_their_sides(text: str):
    position = read_position(text, SHORT)
    swapped = draw_board(position, SHORT, names=("Анна", "Boris"), bottom=1)
    lines = (
        draw_board(position, SHORT, names=("Анна", "Boris")).replace("X Анна", "O Анна").replace("O Boris", "X Boris")
    )
    assert sorted(line[45:] for line in swapped.split("\n")) == sorted(line[45:] for line in lines.split("\n"))


@pytest.mark.parametrize("name", preset_names())
def test_every_rule_set_is_drawn_in_thirteen_lines_of_one_width(name: str):
    rules = find_rules(name)
    lines = draw_board(start_boards(rules)[0], rules).split("\n")
    assert len(lines) == 13
    assert len({line.rindex("|" if "|" in line else "+") for line in lines}) == 1


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("start", "cube 1, centred"),
        ("start", "on roll"),
        ("start cube=4 owner=own", "cube 4, held by X"),
        ("start offer=double", "cube 1, centred, X doubles"),
        ("start offer=double", "to answer"),
        ("start beavers offer=beaver", "O beavers"),
        ("start resign=mars", "X offers to lose mars"),
        ("start length=5 score=4-0 crawford", "Crawford game: no cube"),
        ("start score=12-3", "12 points"),
        ("start length=5 score=4-0", "0 of 5 points"),
    ],
)
def test_state_of_the_game_stands_beside_the_board(text: str, note: str):
    assert note in draw_board(read_position(text, SHORT), SHORT)


def test_nobody_is_on_roll_when_the_game_is_over():
    assert "on roll" not in draw_board(parse_position("off:15 / 1:1", SHORT), SHORT)


def test_bar_stacks_stand_in_their_owners_half():
    lines = draw_board(parse_position("bar:7 6:8 / bar:1 6:8", SHORT), SHORT).split("\n")
    assert [line[19:24] for line in (lines[1], lines[7], lines[11])] == ["| O |", "| 7 |", "| X |"]


def test_impossible_board_is_not_drawn():
    board = start_boards(SHORT)[0]
    board[0, 6] = 4
    with pytest.raises(BoardError, match="14 checkers"):
        draw_board(board, SHORT)

"""Boards as SVG: what is drawn is the board, in both geometries, and says itself in words."""

import math
import re
from collections import Counter
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from nardy_ai.boards import BAR, CONTRARY, OFF, Boards
from nardy_ai.errors import BoardError, NotationError
from nardy_ai.notation import Position, parse_play, read_position
from nardy_ai.pictures import BOARD_STYLE, board_svg
from nardy_ai.rules import RuleSet, find_rules, preset_names, start_boards
from tests.positions import invented_boards, reached_boards

SHORT, LONG = find_rules("short"), find_rules("long")
SVG = "{http://www.w3.org/2000/svg}"
MATCH = "XGID=-a---BC-B---cD---d-da-A-AB:1:1:-1:52:2:4:0:7:10"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter() if name in (one.get("class") or "").split()]


def labels_of_points(root: ET.Element) -> list[ET.Element]:
    """The numbers of the points."""
    return list(of_class(root, "nb-number")[0])


def checkers_of(stack: ET.Element) -> list[ET.Element]:
    return [one for one in stack if one.tag in (f"{SVG}circle", f"{SVG}rect") and one.get("class") is None]


def middle(shape: ET.Element) -> tuple[float, float]:
    if shape.tag == f"{SVG}circle":
        return float(shape.get("cx")), float(shape.get("cy"))
    x, y, width, height = (float(shape.get(key)) for key in ("x", "y", "width", "height"))
    return x + width / 2, y + height / 2


def own_number(point: int, rules: RuleSet) -> int:
    """The other side's number of a point of the side on roll, counted here once more."""
    if rules.board == CONTRARY:
        return 25 - point
    return point - 12 if point > 12 else point + 12


def board_seen(root: ET.Element, rules: RuleSet) -> Boards:
    """The board as an eye reads it: fills and places of checkers, held against the printed numbers of the points."""
    numbers = {}
    for label in labels_of_points(root):
        numbers[(float(label.get("x")), float(label.get("y")) > 250)] = int(label.text)
    trays = [middle(tray) for tray in of_class(root, "nb-tray")]
    board = np.zeros((2, 26), dtype=np.int8)
    for stack in of_class(root, "nb-stack"):
        shapes = checkers_of(stack)
        side = 0 if "nb-light" in stack.get("class") else 1
        written = [int(label.text) for label in of_class(stack, "nb-count")]
        x, y = middle(shapes[0])
        if shapes[0].tag == f"{SVG}rect":
            assert abs(trays[side][0] - x) < 3
            board[side, OFF] += len(shapes)
            continue
        assert len(shapes) <= 5
        count = written[0] if written else len(shapes)
        assert (count > 5) == bool(written)
        assert len({middle(shape) for shape in shapes}) == len(shapes)
        point = numbers.get((x, y > 250))
        slot = BAR if point is None else point if side == 0 else own_number(point, rules)
        board[side, slot] += count
    return board


@pytest.mark.parametrize("name", preset_names())
def test_what_is_drawn_is_the_board(name):
    rules = find_rules(name)
    boards = [*reached_boards(rules, 12, 5)[0], *invented_boards(rules, 12, 6)[0]]
    for board in boards:
        np.testing.assert_array_equal(board_seen(parsed(board_svg(board, rules, style=False)), rules), board)


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=["contrary", "parallel"])
def test_data_of_the_stacks_says_the_board(rules):
    board = reached_boards(rules, 40, 5)[0][-1]
    seen = np.zeros_like(board)
    for stack in of_class(parsed(board_svg(board, rules)), "nb-stack"):
        seen[int(stack.get("data-side")), int(stack.get("data-slot"))] = int(stack.get("data-count"))
    np.testing.assert_array_equal(seen, board)


def test_points_are_numbered_once_each_from_the_movers_view():
    labels = labels_of_points(parsed(board_svg(start_boards(SHORT)[0], SHORT)))
    assert Counter(int(label.text) for label in labels) == Counter(range(1, 25))
    above = sorted((float(one.get("x")), int(one.text)) for one in labels if float(one.get("y")) < 250)
    assert [number for _, number in above] == list(range(13, 25))


@pytest.mark.parametrize(("rules", "goes_left"), [(SHORT, False), (LONG, True)], ids=["contrary", "parallel"])
def test_ways_home_end_at_the_trays(rules, goes_left):
    """On a contrary board the other side runs home to the upper right, on a parallel one to the upper left."""
    root = parsed(board_svg(start_boards(rules)[0], rules))
    for side, left in ((0, False), (1, goes_left)):
        [way] = [one for one in of_class(root, "nb-travel") if one.get("data-side") == str(side)]
        start, end = map(float, re.findall(r"[MH]([0-9.]+)", way.find(f"{SVG}path").get("d")))
        tray, _ = middle(of_class(root, "nb-tray")[side])
        assert (end < start) == left
        assert abs(tray - end) < 50


def test_bar_is_drawn_only_where_checkers_are_hit():
    short, long = (parsed(board_svg(start_boards(rules)[0], rules)) for rules in (SHORT, LONG))
    assert float(of_class(short, "nb-middle")[0].get("width")) > 3 * float(of_class(long, "nb-middle")[0].get("width"))


@pytest.mark.parametrize(
    ("options", "owner", "shown"),
    [("", "centre", "64"), ("cube=2 owner=own", "0", "2"), ("cube=4 owner=other", "1", "4"), ("cube=2", "centre", "2")],
)
def test_cube_lies_with_its_owner(options, owner, shown):
    root = parsed(board_svg(read_position(f"start {options}", SHORT), SHORT))
    [cube] = of_class(root, "nb-doubling")
    assert (cube.get("data-owner"), cube.find(f"{SVG}text").text) == (owner, shown)
    y = middle(cube.find(f"{SVG}rect"))[1]
    height = float(root.get("viewBox").split()[3])
    assert abs(y - {"centre": 0.5, "0": 0.84, "1": 0.16}[owner] * height) < 0.04 * height


def test_crawford_game_shows_no_cube():
    root = parsed(board_svg(read_position("start length=3 score=2-0 crawford", SHORT), SHORT))
    assert not of_class(root, "nb-doubling")
    assert "Crawford" in root.find(f"{SVG}desc").text


def test_offer_is_written_on_the_board():
    root = parsed(board_svg(read_position("start offer=double", SHORT), SHORT, names=("A", "B")))
    assert [one.text for one in of_class(root, "nb-note")] == ["cube 1, centred, A doubles"]


def test_dice_show_their_faces_in_dots():
    root = parsed(board_svg(read_position("start dice=52", SHORT), SHORT))
    assert [len(die.findall(f"{SVG}circle")) for die in of_class(root, "nb-die")] == [5, 2]
    assert not of_class(parsed(board_svg(start_boards(SHORT)[0], SHORT)), "nb-die")


def test_position_is_said_in_words():
    root = parsed(board_svg(read_position(MATCH, SHORT), SHORT, names=("Анна", "Boris"), moves=parse_play("6/1*")))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "short nardy: Анна to play 5-2"
    assert root.find(f"{SVG}desc").text == (
        "Анна, on roll, 1 on 24, 3 on 13, 4 on 8, 4 on 6, 1 on 5, 2 off; 124 pips. Boris, the other side, 2 on the bar,"
        " 1 on 24, 1 on 22, 4 on 13, 2 on 8, 3 on 6, 2 on 5; 192 pips. Each side's points are in its own numbers; the"
        " sides move against each other, from 24 down to 1 and off. Match to 7 points, Анна 4, Boris 2. Cube 2, held by"
        " Boris. Arrows show the play 6/1*."
    )


def test_notes_give_pips_score_and_who_is_on_roll():
    root = parsed(board_svg(read_position(MATCH, SHORT), SHORT, names=("Анна", "Boris")))
    assert {one.text for one in of_class(root, "nb-text")} == {
        "Анна · 124 pips · 2 off · 4 of 7 points · to play 5-2",
        "Boris · 192 pips · 2 of 7 points",
    }


def test_sides_differ_by_more_than_colour():
    root = parsed(board_svg(start_boards(SHORT)[0], SHORT))
    rings = {
        fill: sum(
            len(of_class(stack, "nb-ring")) for stack in of_class(root, "nb-stack") if of_class(stack, f"nb-{fill}")
        )
        for fill in ("light", "dark")
    }
    assert rings == {"light": 0, "dark": 15}


def test_checkers_keep_their_player_when_the_other_side_is_on_roll():
    board = start_boards(SHORT)[0]
    for player, fill in ((1, "light"), (0, "dark")):
        root = parsed(board_svg(Position(board, row0_player=player), SHORT))
        mine = [one for one in of_class(root, "nb-stack") if one.get("data-side") == "0"]
        assert all(f"nb-{fill}" in stack.get("class").split() for stack in mine)


@pytest.mark.parametrize(
    ("text", "play", "rules", "landings"),
    [
        ("start", "8/5 6/5", SHORT, [5, 5]),
        ("bar:1 6:2 / 24:2", "bar/22 6/5", SHORT, [22, 5]),
        ("24:15 / 24:15", "24/18 24/23", LONG, [18, 23]),
    ],
)
def test_arrows_end_on_the_points_of_the_play(text, play, rules, landings):
    root = parsed(board_svg(read_position(text, rules), rules, moves=parse_play(play)))
    columns = {int(one.text): float(one.get("x")) for one in labels_of_points(root)}
    tips = [tuple(map(float, one.get("points").split()[0].split(","))) for one in of_class(root, "nb-head")]
    assert sorted(x for x, _ in tips) == sorted(columns[point] for point in landings)
    assert len(set(tips)) == len(tips)


def test_arrow_leaves_from_the_innermost_checker_drawn():
    root = parsed(board_svg(start_boards(LONG)[0], LONG, moves=parse_play("24/23")))
    start = tuple(map(float, re.match(r"M([0-9.]+) ([0-9.]+)", of_class(root, "nb-arrow")[0].get("d")).groups()))
    stack = next(one for one in of_class(root, "nb-stack") if one.get("data-side") == "0")
    assert math.dist(start, middle(checkers_of(stack)[-1])) < 12


def test_arrow_of_a_checker_borne_off_ends_in_the_tray():
    root = parsed(board_svg(read_position("6:1 3:2 / 5:6", SHORT), SHORT, moves=parse_play("6/off")))
    tip = float(of_class(root, "nb-head")[0].get("points").split(",")[0])
    assert abs(tip - middle(of_class(root, "nb-tray")[0])[0]) < 3


def test_play_of_a_checker_that_is_not_there_is_refused():
    with pytest.raises(NotationError, match="no checker stands on 20"):
        board_svg(start_boards(SHORT)[0], SHORT, moves=parse_play("20/17"))


def test_board_of_another_game_is_refused():
    with pytest.raises(BoardError, match="3 checkers"):
        board_svg(start_boards(find_rules("hyper"))[0], SHORT)


def test_names_cannot_break_out_of_the_picture():
    name = '<script>alert("1")</script>\x00\x1b & ' + "x" * 100
    svg = board_svg(start_boards(SHORT)[0], SHORT, names=(name, "B"))
    root = parsed(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert "\x00" not in svg
    assert max(len(one.text) for one in of_class(root, "nb-text")) < 60


def test_same_position_is_the_same_text_and_needs_nothing_from_outside():
    position = read_position(MATCH, SHORT)
    svg = board_svg(position, SHORT)
    assert svg == board_svg(read_position(MATCH, SHORT), SHORT)
    assert re.findall("https?://[^\"']*", svg) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in svg


def test_style_is_left_out_for_a_page_that_has_it():
    svg = board_svg(start_boards(SHORT)[0], SHORT, style=False)
    assert "<style" not in svg
    used = {name for one in parsed(svg).iter() for name in (one.get("class") or "").split()}
    styled = set(re.findall(r"\.(nb[a-z-]*)", BOARD_STYLE))
    assert {"nb-light", "nb-dark", "nb-even", "nb-odd"} <= used & styled

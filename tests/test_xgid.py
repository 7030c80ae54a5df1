"""XGID: every vector of data/formats/xgid.json, both ways, and what the format cannot say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nardy_ai.errors import BoardError, NardyError, NotationError
from nardy_ai.notation import Position, parse_position, read_position, write_position
from nardy_ai.notation.gnubg_id import write_match_id
from nardy_ai.rules import find_rules

FORMAT = json.loads((Path(__file__).parent / "data" / "formats" / "xgid.json").read_text(encoding="utf-8"))
VECTORS = FORMAT["vectors"]
NAMES = [vector["name"] for vector in VECTORS]
SHORT = find_rules("short")
HYPER = find_rules("hyper")
OPENING_31 = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def row_as_decoded(position: Position, side: int) -> dict[str, int]:
    """A row in the form of the vectors: own point or `bar` -> checkers."""
    row = position.board[side].tolist()
    return {"bar" if slot == 25 else str(slot): row[slot] for slot in range(1, 26) if row[slot]}


def as_decoded(position: Position) -> dict[str, Any]:
    """A position in the absolute terms of the vectors."""
    bottom = 0 if position.row0_player == 1 else 1
    owner = {None: None, bottom: "bottom", 1 - bottom: "top"}[position.cube_owner]
    return {
        "bottom": row_as_decoded(position, bottom),
        "top": row_as_decoded(position, 1 - bottom),
        "bottom_off": int(position.board[bottom, 0]),
        "top_off": int(position.board[1 - bottom, 0]),
        "cube_value": position.cube_value,
        "cube_owner": owner,
        "on_roll": "bottom" if bottom == 0 else "top",
        "dice": None if position.dice is None else list(position.dice),
        "bottom_score": position.scores[bottom],
        "top_score": position.scores[1 - bottom],
        "match_length": position.match_length,
        "crawford": position.crawford,
        "jacoby": position.jacoby,
        "beavers": position.beavers,
        "max_cube_log2": position.max_cube_log2,
    }


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_xgid_says_what_its_vector_says(vector: dict[str, Any]):
    assert as_decoded(read_position(vector["xgid"], SHORT)) == vector["decoded"]


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_xgid_is_written_back_letter_by_letter(vector: dict[str, Any]):
    assert write_position(read_position(vector["xgid"], SHORT), SHORT, format="xgid") == vector["xgid"]


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_xgid_becomes_the_ids_gnubg_shows(vector: dict[str, Any]):
    position = read_position(vector["xgid"], SHORT)
    both = f"{vector['gnubg_position_id']}:{vector['match_id_bottom_as_player1']}"
    assert write_position(position, SHORT, format="gnubg") == both


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_match_id_from_an_xgid_can_name_the_side_on_roll_player_1(vector: dict[str, Any]):
    position = replace(read_position(vector["xgid"], SHORT), row0_player=1)
    assert write_match_id(position) == vector["gnubg_match_id_on_roll_as_player1"]


@pytest.mark.parametrize("case", FORMAT["must_accept"], ids=lambda case: case["note"])
def test_xgid_in_another_dress_is_the_same_position(case: dict[str, str]):
    assert read_position(case["input"], SHORT) == read_position(OPENING_31, SHORT)


@pytest.mark.parametrize("case", FORMAT["must_reject"], ids=lambda case: case["why"])
def test_broken_xgid_is_refused(case: dict[str, str]):
    with pytest.raises(NardyError):
        read_position(case["xgid"], SHORT)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("-b----E-C---eE---c-e---2B-:0:0:1:00:0:0:0:0:10", "field 1, place 23: '2'"),
        ("Ab----E-C---eE---c-e----A-:0:0:1:00:0:0:0:0:10", "field 1, place 0: 'A' stands on the other player's bar"),
        ("-b----E-C---eE---c-e----B-:16:0:1:00:0:0:0:0:10", "field 2"),
        ("-b----E-C---eE---c-e----B-:0:+1:1:00:0:0:0:0:10", "field 3"),
        ("-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10", "field 4"),
        ("-b----E-C---eE---c-e----B-:0:0:1:30:0:0:0:0:10", "field 5"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:-1:0:0:0:10", "field 6"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:x:0:0:10", "field 7"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:4:0:2:5:10", "field 8"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:4:0:10", "field 8"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:٥:10", "field 9"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:31", "field 10"),
        ("-b----E-C---eE---c-e----B-:0:0:1:00:2:2:1:5:10", "the leader is one point away"),
        ("-b----E-C---eE---c-e----B-:1:-1:1:D:0:0:0:0:10", "the other side owns the cube"),
    ],
)
def test_message_names_the_field_at_fault(text: str, fault: str):
    with pytest.raises(NotationError) as caught:
        read_position(text, SHORT)
    assert fault in str(caught.value)


def test_letters_do_not_turn_with_the_turn():
    """users-ask 33: best for the top side is 11/8 11/5, so it is row 0 that has three checkers on its 11."""
    board = parse_position("---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8", SHORT)
    assert [board[0, 11], board[0, 6], board[1, 24]] == [3, 3, 1]


@pytest.mark.parametrize(("turn", "position_id"), [("-1", "bFuFACWwu80BAA"), ("1", "sLvNAQBsW4UAJQ")])
def test_turn_decides_which_side_the_position_id_puts_on_roll(turn: str, position_id: str):
    board = parse_position(f"---BBBBAAA---Ac-bbccbAA-A-:1:1:{turn}:63:4:3:0:5:8", SHORT)
    assert write_position(board, SHORT, format="gnubg") == position_id


def test_cube_limit_survives():
    text = "XGID=---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8"
    assert write_position(read_position(text, SHORT), SHORT, format="xgid") == text


def test_xgid_cut_after_the_dice_is_money():
    position = read_position("-L-b-A---A-----bcc-cb-A---:0:0:1:62", SHORT)
    assert (position.dice, position.match_length, position.jacoby) == ((6, 2), 0, False)


@pytest.mark.parametrize(("letter", "offer", "to_act"), [("D", "double", 1), ("B", "beaver", 0), ("R", "raccoon", 1)])
def test_waiting_double_keeps_the_doubler_in_row_0(letter: str, offer: str, to_act: int):
    text = f"XGID=-b----E-C---eE---c-e----B-:0:0:-1:{letter}:0:0:2:0:10"
    position = read_position(text, SHORT)
    assert (position.offer, position.row0_player, position.to_act) == (offer, 0, to_act)
    assert write_position(position, SHORT, format="xgid") == text


def test_missing_checkers_are_counted_from_the_rule_set():
    board = parse_position("-a----------------------A-:0:0:1:00:0:0:0:0:10", HYPER)
    assert board[:, 0].tolist() == [2, 2]


def test_more_checkers_than_the_rule_set_has_are_refused():
    with pytest.raises(BoardError, match="15 checkers on the board; 'hyper' is played with 3"):
        read_position(OPENING_31, HYPER)


@pytest.mark.parametrize("name", ["long", "nardgammon"])
def test_parallel_boards_are_sent_to_the_text_form(name: str):
    with pytest.raises(NotationError, match="Use the text form"):
        read_position(OPENING_31, find_rules(name))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"resign_offered": 1}, "resignation"),
        ({"game_state": "dropped"}, "dropped"),
        ({"cube_value": 3}, "powers of two"),
    ],
)
def test_what_an_xgid_cannot_say_is_refused(change: dict[str, Any], fault: str):
    position = replace(read_position("start", SHORT), **change)
    with pytest.raises(NotationError, match=fault):
        write_position(position, SHORT, format="xgid")

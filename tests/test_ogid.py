"""OGID: every vector of data/formats/ogid.json, both ways, and what the format cannot say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_ai.errors import BoardError, NardyError, NotationError
from nardy_ai.notation import Position, parse_position, read_position, write_position
from nardy_ai.notation.ogid import read_ogid
from nardy_ai.rules import find_rules, start_boards

FORMAT = json.loads((Path(__file__).parent / "data" / "formats" / "ogid.json").read_text(encoding="utf-8"))
VECTORS = FORMAT["vectors"]
NAMES = [vector["name"] for vector in VECTORS]
SHORT = find_rules("short")
HYPER = find_rules("hyper")
COLOURS = ("white", "black")
OPENING = "11ccccchhhjjjjj:66666888dddddoo"
ACCEPTED = [case["input"] for case in FORMAT["must_accept"]]


def as_decoded(position: Position) -> dict[str, Any]:
    """A position in the absolute terms of the vectors."""
    white = position.row0_player
    decoded: dict[str, Any] = {}
    for colour, side in (("white", white), ("black", 1 - white)):
        row = position.board[side].tolist()
        decoded[colour] = {"bar" if slot == 25 else str(slot): row[slot] for slot in range(1, 26) if row[slot]}
        decoded[f"{colour}_off"] = row[0]
        decoded[f"{colour}_score"] = position.scores[side]
    owner = position.cube_owner
    decoded |= {
        "cube_value": position.cube_value,
        "cube_owner": None if owner is None else COLOURS[position.row0_player ^ owner],
        "double_waiting": position.double_offered,
        "dice": None if position.dice is None else list(position.dice),
        "on_roll": COLOURS[position.row0_player],
        "match_length": position.match_length,
        "crawford": position.crawford,
        "to_act": COLOURS[position.row0_player ^ position.to_act],
    }
    if position.double_offered:
        decoded["doubler"] = COLOURS[position.row0_player]
    return decoded


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_ogid_says_what_its_vector_says(vector: dict[str, Any]):
    expected = {key: value for key, value in vector["decoded"].items() if key != "field5"}
    assert as_decoded(read_position(vector["ogid"], SHORT)) == expected


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_ogid_is_written_back_letter_by_letter(vector: dict[str, Any]):
    assert write_position(read_position(vector["ogid"], SHORT), SHORT, format="ogid") == vector["ogid"]


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_ogid_becomes_the_position_id_of_the_side_on_roll(vector: dict[str, Any]):
    board = parse_position(vector["ogid"], SHORT)
    assert write_position(board, SHORT, format="gnubg") == vector["gnubg_position_id"]


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_ogid_becomes_the_xgid_with_white_on_top(vector: dict[str, Any]):
    assert write_position(read_position(vector["ogid"], SHORT), SHORT, format="xgid") == vector["xgid_white_is_top"]


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_xgid_of_an_ogid_is_the_same_position(vector: dict[str, Any]):
    """All but what only OGID can say."""
    position = replace(read_position(vector["ogid"], SHORT), move_number=0, ogid_state="")
    assert read_position(vector["xgid_white_is_top"], SHORT) == position


def test_unsorted_checkers_are_the_same_board():
    board = parse_position(ACCEPTED[0], SHORT)
    assert np.array_equal(board, start_boards(SHORT)[0])


def test_three_fields_are_enough_and_put_white_on_roll():
    position = read_position(ACCEPTED[1], SHORT)
    assert position == Position(start_boards(SHORT)[0], row0_player=0)


def test_borne_off_checkers_may_be_written():
    """White has one off; Black, who did not act last, is on roll."""
    position = read_position(ACCEPTED[2], SHORT)
    assert position.board[:, 0].tolist() == [0, 1]
    assert (position.cube_value, position.cube_owner, position.row0_player) == (2, 1, 1)


def test_eleventh_field_counts_the_checkers_of_hyper():
    board = read_ogid(ACCEPTED[3], HYPER).board
    assert board[:, 0].tolist() == [0, 0]


def test_vector_for_the_eleventh_field_shows_no_board_of_a_game():
    """Both colours have a checker on place o: as a text it is an OGID, as a board it is refused like 1111:1111."""
    with pytest.raises(BoardError, match=r"the side on roll's 24 .* is the other side's 1"):
        read_position(ACCEPTED[3], HYPER)


def test_hyper_is_written_with_its_eleventh_field():
    text = "123:mno:N0N::W::0:0:1:0:3"
    assert write_position(read_position(text, HYPER), HYPER, format="ogid") == text


def test_eleventh_field_must_fit_the_rule_set():
    with pytest.raises(NotationError, match="3 checkers a side; 'short' is played with 15"):
        read_position(ACCEPTED[3], SHORT)


@pytest.mark.parametrize("case", FORMAT["must_reject"], ids=lambda case: case["why"])
def test_broken_ogid_is_refused(case: dict[str, str]):
    with pytest.raises(NardyError):
        read_position(case["ogid"], SHORT)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (OPENING, "2 fields"),
        (f"{OPENING[:-1]}r:N0N", "field 2 (Black): 'r'"),
        (f"p1ccccchhhjjjjj{OPENING[15:]}:N0N", "field 1 (White): 'p'"),
        (f"{OPENING}:?0N", "cube owner '?'"),
        (f"{OPENING}:D0N", "cube owner 'D'"),
        (f"{OPENING}:N16N", "log2 of the cube"),
        (f"{OPENING}:N0X", "cube action 'X'"),
        (f"{OPENING}:N0O", "field 5 does not say whose"),
        (f"{OPENING}:N1T::W", "W took the double, but the cube's owner is N"),
        (f"{OPENING}:W1O::B", "the other side owns the cube"),
        (f"{OPENING}:N0N:7", "field 4"),
        (f"{OPENING}:N0N::X", "field 5"),
        (f"{OPENING}:N0N::W:lower", "OGID state"),
        (f"{OPENING}:N0N::W::-1", "field 7"),
        (f"{OPENING}:N0N::W:::x", "field 8"),
        (f"{OPENING}:N0N::W::0:0:5L", "field 9"),
        (f"{OPENING}:N0N::W::0:0:C", "a Crawford game exists only in a match"),
        (f"{OPENING}:N0N::W::0:0:5:x", "field 10"),
        (f"{OPENING}:N0N::W::0:0:5:0:16", "field 11"),
        (f"{OPENING}:N0N::W::0:0:5:0:15:0", "12 fields"),
        (f"{OPENING[:15]}q{OPENING[15:]}:N0N", "1 checkers borne off, but 0 are missing"),
    ],
)
def test_message_names_the_field_at_fault(text: str, fault: str):
    with pytest.raises(NotationError) as caught:
        read_position(text, SHORT)
    assert fault in str(caught.value)


def test_taken_double_is_an_ordinary_position_of_the_doubler():
    position = read_position(f"{OPENING}:W1T::W", SHORT)
    assert (position.cube_value, position.cube_owner, position.row0_player, position.offer) == (2, 1, 1, "none")


def test_passed_double_is_a_dropped_game():
    text = f"{OPENING}:N0P::W::0:0:5:4"
    position = read_position(text, SHORT)
    assert (position.game_state, position.row0_player, position.to_act) == ("dropped", 1, 1)
    assert write_position(position, SHORT, format="ogid") == text


def test_side_with_all_off_is_written_as_borne_off_checkers():
    board = parse_position("off:15 / 1:1", SHORT)
    text = write_position(board, SHORT, format="ogid")
    assert text.split(":")[1] == "q" * 15
    assert np.array_equal(parse_position(text, SHORT), board)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"resign_offered": 1}, "resignation"),
        ({"game_state": "over"}, "over"),
        ({"offer": "beaver"}, "beaver"),
        ({"cube_value": 3}, "powers of two"),
    ],
)
def test_what_an_ogid_cannot_say_is_refused(change: dict[str, Any], fault: str):
    position = replace(read_position("start", SHORT), **change)
    with pytest.raises(NotationError, match=fault):
        write_position(position, SHORT, format="ogid")

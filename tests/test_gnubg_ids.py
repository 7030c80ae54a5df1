"""GNU Backgammon's Position ID and Match ID: every vector of data/formats, both ways."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nardy_ai.errors import NardyError, NotationError
from nardy_ai.notation import Position, parse_position, read_position, write_position
from nardy_ai.rules import find_rules, start_boards

DATA = Path(__file__).parent / "data" / "formats"
POSITION_IDS = json.loads((DATA / "gnubg-position-id.json").read_text(encoding="utf-8"))
MATCH_IDS = json.loads((DATA / "gnubg-match-id.json").read_text(encoding="utf-8"))
SHORT = find_rules("short")
OPENING = "4HPwATDgc/ABMA"
PLAYERS = {None: None, 0: "player0", 1: "player1"}


def named(vector: dict[str, Any]) -> str:
    return vector.get("name") or vector["why"]


def board_of(vector: dict[str, Any]) -> list[list[int]]:
    rows = []
    for side in ("on_roll", "opponent"):
        row = [0] * 26
        for place, count in vector[side].items():
            row[25 if place == "bar" else int(place)] = count
        row[0] = vector[f"{side}_off"]
        rows.append(row)
    return rows


def as_fields(position: Position) -> dict[str, Any]:
    """A position in the terms of the match ID vectors."""
    on_roll = position.row0_player
    owner = None if position.cube_owner is None else on_roll ^ position.cube_owner
    return {
        "cube_value": position.cube_value,
        "cube_owner": PLAYERS[owner],
        "on_roll": on_roll,
        "crawford": position.crawford,
        "game_state": position.game_state,
        "turn": on_roll ^ position.to_act,
        "double_offered": position.double_offered,
        "resign_offered": position.resign_offered,
        "dice": None if position.dice is None else list(position.dice),
        "match_length": position.match_length,
        "score_player0": position.scores[on_roll],
        "score_player1": position.scores[1 - on_roll],
        "jacoby": position.jacoby,
    }


@pytest.mark.parametrize("vector", POSITION_IDS["vectors"], ids=named)
def test_position_id_is_the_board_of_its_vector(vector: dict[str, Any]):
    assert parse_position(vector["position_id"], SHORT).tolist() == board_of(vector)


@pytest.mark.parametrize("vector", POSITION_IDS["vectors"], ids=named)
def test_board_is_written_as_its_position_id(vector: dict[str, Any]):
    board = parse_position(vector["position_id"], SHORT)
    assert write_position(board, SHORT, format="gnubg") == vector["position_id"]


@pytest.mark.parametrize("case", POSITION_IDS["must_reject"], ids=named)
def test_broken_position_id_is_refused(case: dict[str, Any]):
    with pytest.raises(NardyError):
        read_position(case["position_id"], SHORT)


@pytest.mark.parametrize("vector", MATCH_IDS["vectors"], ids=named)
def test_match_id_says_what_its_vector_says(vector: dict[str, Any]):
    assert as_fields(read_position(f"{OPENING}:{vector['match_id']}", SHORT)) == vector["fields"]


@pytest.mark.parametrize("vector", MATCH_IDS["vectors"], ids=named)
def test_match_id_is_written_back(vector: dict[str, Any]):
    text = f"{OPENING}:{vector['match_id']}"
    assert write_position(read_position(text, SHORT), SHORT, format="gnubg") == text


@pytest.mark.parametrize("case", MATCH_IDS["must_reject"], ids=named)
def test_broken_match_id_is_refused(case: dict[str, Any]):
    with pytest.raises(NotationError):
        read_position(f"{OPENING}:{case['match_id']}", SHORT)


@pytest.mark.parametrize("text", ["mxmAQ4PbAQAAAA", "YzsHBwDgc/ABYA"])
def test_position_id_comes_back_with_the_opponents_bar(text: str):
    """users-ask 14."""
    assert write_position(parse_position(text, SHORT), SHORT, format="gnubg") == text


def test_side_on_roll_and_side_to_act_differ_only_while_an_offer_waits():
    """users-ask 34."""
    with pytest.raises(NotationError, match=r"player 0 is on roll \(bit 6\) and player 1 must act \(bit 11\), but no"):
        read_position("bFuFACWwu80BAA:AQmvAEAAGAAA", SHORT)


def test_side_on_roll_is_written_into_bit_6():
    """users-ask 34: our own Match ID of the position of entry 33."""
    position = read_position("---BBBBAAA---Ac-bbccbAA-A-:1:1:-1:63:4:3:0:5:8", SHORT)
    written = write_position(replace(position, row0_player=1), SHORT, format="gnubg")
    assert written == "bFuFACWwu80BAA:QQmvAEAAGAAE"


def test_redouble_of_a_five_point_match_is_read():
    """users-ask 20: 5-point match, 2-0, the cube at 2 with the side on roll."""
    position = read_position("tm0BBByz7wYAAA:UQmgAAAAEAAA", SHORT)
    assert (position.match_length, position.scores, position.cube_value, position.cube_owner) == (5, (2, 0), 2, 0)


def test_match_id_without_a_game_says_so():
    """8IhuACAACAAE, the example of several READMEs: state 'none'."""
    text = f"{OPENING}:8IhuACAACAAE"
    position = read_position(text, SHORT)
    assert (position.game_state, position.playing) == ("none", False)
    assert write_position(position, SHORT, format="gnubg") == text


def test_match_id_alone_holds_no_board():
    with pytest.raises(NotationError, match="POSITIONID:MATCHID"):
        read_position("cAkAAAAAAAAE", SHORT)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("4HPwATDgc/ABMB", "last character"),
        ("4HPwATDgc/AB8A", "of 50 counts: too many checkers"),
        ("AQAABAAAAAAAQA", "bits after its last count"),
        (f"{OPENING}:cAkAAAAAAAA8", "bits 67 to 71"),
        (f"{OPENING}:cA0AAAAAAAAE", "game state 5"),
        (f"{OPENING}:cAkfAAAAAAAE", "the dice are"),
        (f"{OPENING}:cBngAAAAAAAE", "an offer waits"),
        (f"{OPENING}:", "0 characters"),
    ],
)
def test_message_names_the_bits_at_fault(text: str, fault: str):
    with pytest.raises(NotationError) as caught:
        read_position(text, SHORT)
    assert fault in str(caught.value)


def test_beaver_has_no_place_in_a_match_id():
    position = Position(start_boards(SHORT)[0], offer="beaver", beavers=True)
    with pytest.raises(NotationError, match="beaver"):
        write_position(position, SHORT, format="gnubg")


def test_hyper_counts_borne_off_checkers_from_three():
    board = parse_position("AQAABAAAAAAAAA", find_rules("hyper"))
    assert board[:, :2].tolist() == [[2, 1], [2, 1]]

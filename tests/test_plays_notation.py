"""The text of a play, both ways, in the form GNU Backgammon prints."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_ai.errors import NotationError
from nardy_ai.notation import Move, format_play, parse_play

HIT = True


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        ([], "pass"),
        ([Move(6, 5), Move(8, 5)], "8/5 6/5"),
        ([Move(25, 22), Move(22, 16, HIT)], "bar/16*"),
        ([Move(25, 22, HIT), Move(22, 16)], "bar/22*/16"),
        ([Move(22, 16), Move(25, 22, HIT)], "bar/22*/16"),
        ([Move(6, 0), Move(6, 0)], "6/off(2)"),
        ([Move(24, 20), Move(20, 16), Move(16, 12), Move(12, 8)], "24/8"),
        ([Move(13, 9), Move(13, 9), Move(9, 5), Move(9, 5)], "13/5(2)"),
        ([Move(13, 9, HIT), Move(13, 9), Move(9, 5), Move(9, 5)], "13/9*/5(2)"),
        ([Move(20, 14), Move(20, 14), Move(9, 3, HIT), Move(9, 3)], "20/14(2) 9/3*(2)"),
        ([Move(25, 20), Move(20, 15), Move(13, 8), Move(13, 8)], "bar/15 13/8(2)"),
        ([Move(6, 5, HIT), Move(24, 20, HIT)], "24/20* 6/5*"),
        ([Move(13, 9, HIT), Move(10, 9)], "13/9* 10/9"),
        ([Move(5, 3), Move(3, 0)], "5/off"),
    ],
)
def test_play_is_written_as_gnubg_writes_it(moves: list[Move], text: str):
    assert format_play(moves) == text


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("8/5 6/5", [Move(8, 5), Move(6, 5)]),
        ("6/5 8/5", [Move(8, 5), Move(6, 5)]),
        ("8-5, 6-5", [Move(8, 5), Move(6, 5)]),
        (" 8 / 5 , 6/5", [Move(8, 5), Move(6, 5)]),
        ("BAR/22*", [Move(25, 22, HIT)]),
        ("25/22", [Move(25, 22)]),
        ("bar/22*/16*", [Move(25, 22, HIT), Move(22, 16, HIT)]),
        ("6/off (2)", [Move(6, 0), Move(6, 0)]),
        ("6/0", [Move(6, 0)]),
        ("9/3*(2)", [Move(9, 3, HIT), Move(9, 3)]),
        ("bar/20/15 13/8(2)", [Move(25, 20), Move(20, 15), Move(13, 8), Move(13, 8)]),
        ("pass", []),
        ("No  play", []),
    ],
)
def test_play_is_read_as_people_type_it(text: str, moves: list[Move]):
    assert parse_play(text) == tuple(moves)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "'' is no move"),
        ("8", "'8' is no move"),
        ("8/5 x", "'x' is no move"),
        ("5/8", "'5/8' does not move down"),
        ("8/8", "does not move down"),
        ("26/20", "does not move down"),
        ("8/off/5", "does not move down"),
        ("8/bar", "does not move down"),
        ("6/off*", "hits a checker off the board"),
        ("6/5(0)", "played no times"),
        ("6/5(5)", "5 moves; a turn has at most 4"),
        ("24/23 22/21 20/19 18/17 16/15", "5 moves"),
    ],
)
def test_message_names_the_word_at_fault(text: str, fault: str):
    with pytest.raises(NotationError) as caught:
        parse_play(text)
    assert fault in str(caught.value)


moves_of_one_turn = st.lists(
    st.tuples(st.integers(1, 25), st.integers(1, 6), st.booleans()).map(
        lambda move: Move(move[0], max(move[0] - move[1], 0), move[2] and move[0] > move[1])
    ),
    max_size=4,
)


@given(moves_of_one_turn)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_written_play_reads_back_to_the_same_text(moves: list[Move]):
    text = format_play(moves)
    assert format_play(parse_play(text)) == text


@given(moves_of_one_turn)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_written_play_moves_the_same_checkers(moves: list[Move]):
    def leaves_and_lands(turn: tuple[Move, ...]) -> tuple[list[int], set[int]]:
        net = [0] * 26
        for move in turn:
            net[move.source] -= 1
            net[move.target] += 1
        return net, {move.target for move in turn if move.hit}

    assert leaves_and_lands(parse_play(format_play(moves))) == leaves_and_lands(tuple(moves))


@given(st.text(alphabet="0123456789/-*(),; baroffpsXé", max_size=20) | st.text(max_size=10))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_mangled_play_is_read_or_refused(text: str):
    try:
        moves = parse_play(text)
    except NotationError:
        return
    assert all(0 <= move.target < move.source <= 25 for move in moves)


def test_the_checker_that_hit_stays_where_another_comes_and_goes_on():
    """Caucasian: 6/5*/4 would be a hide; the covering checker may go on (cauc-12)."""
    assert format_play([Move(6, 5, True), Move(6, 5), Move(5, 4)]) == "6/5* 6/4"
    assert format_play([Move(6, 5, True), Move(6, 5), Move(5, 4), Move(5, 4)]) == "6/5*/4(2)"
    assert format_play([Move(7, 6), Move(6, 5, True), Move(5, 4)]) == "7/5*/4"

"""What only the reference generator answers: the moves of a play, their order, and plays named in text.

Its result sets are proved in `test_movegen_cases.py`, together with the kernel's.
"""

from dataclasses import replace

import numpy as np
import pytest
from positions import (
    ListedRoll,
    Maker,
    board_from_letters,
    board_of,
    invented_boards,
    listed_rolls,
    move_cases,
    reached_boards,
)

from nardy_ai.boards import BAR, FACING, OFF, Boards, swap_sides
from nardy_ai.errors import BoardError, NotationError
from nardy_ai.movegen.reference import Play, play_named, plays
from nardy_ai.notation.plays import Move, format_play, parse_play
from nardy_ai.rules import RuleSet, find_rules, start_boards

SHORT = find_rules("short")
CAUCASIAN = find_rules("caucasian")
LONG = find_rules("long")
START = start_boards(SHORT)[0]

ON_THE_BAR = board_from_letters("-b----C-C---eE---c-c-b--CA")
"""Users 9: one on the bar, three on 24, and 5-5 to play."""


def played(board: Boards, moves: tuple[Move, ...], rules: RuleSet) -> Boards:
    """The board after `moves` one by one, `int8[2, 26]`; every move must find its checker and its blot."""
    after = board.copy()
    for move in moves:
        assert after[0, move.source] > 0
        after[0, move.source] -= 1
        after[0, move.target] += 1
        facing = FACING[rules.board][move.target]
        blot = move.target > OFF and after[1, facing] == 1 and rules.closed_by == 2
        assert move.hit == blot
        if move.hit:
            after[1, facing] -= 1
            after[1, BAR] += 1
    return after


def texts(found: list[Play]) -> list[str]:
    return [format_play(play.moves) for play in found]


@pytest.mark.parametrize("make", [reached_boards, invented_boards])
@pytest.mark.parametrize("preset", ["short", "caucasian", "tavla", "hyper", "long", "long-fnr"])
def test_moves_lead_to_the_board_they_are_given_with(preset: str, make: Maker) -> None:
    rules = find_rules(preset)
    boards, rolls = make(rules, 60, seed=8)
    for board, roll in zip(boards, rolls, strict=True):
        for play in plays(board, roll, rules):
            assert (played(board, play.moves, rules) == play.board).all()
            assert (swap_sides(play.board) == play.afterstate).all()
            assert (play.board[1] == board[1]).all() or any(move.hit for move in play.moves)


@pytest.mark.parametrize("case", listed_rolls(), ids=lambda case: case.name)
def test_every_play_uses_as_many_dice_as_the_roll_allows(case: ListedRoll) -> None:
    assert {len(play.moves) for play in plays(case.board, case.dice, SHORT)} == {case.dice_used}


def test_pass_is_one_play_without_moves() -> None:
    (case,) = [case for case in move_cases() if case.name == "short-07"]

    (play,) = plays(case.board, case.dice, case.rules)

    assert play.moves == ()
    assert format_play(play.moves) == "pass"
    assert (play.board == case.board).all()


def test_plays_come_in_one_order_whatever_the_order_of_the_dice() -> None:
    assert texts(plays(START, (3, 1), SHORT)) == texts(plays(START, (1, 3), SHORT))
    assert texts(plays(START, (3, 1), SHORT))[:3] == ["24/23 24/21", "24/20", "24/21 8/7"]


def test_one_checker_is_told_as_one_move() -> None:
    """13/10 10/8 and 13/11 11/8 make one board, and so does 13/10 with 10/8 by another: a player writes 13/8."""
    board = board_of({13: 1, 10: 1}, {1: 2}, 15)

    assert "13/8" in texts(plays(board, (3, 2), SHORT))
    assert "13/10 10/8" not in texts(plays(board, (3, 2), SHORT))


@pytest.mark.parametrize(
    ("letters", "dice", "text"),
    [
        ("-L-b-A---A-----bcc-cb-A---", (6, 2), "9/1"),
        ("-Nb----------A-----edd----", (6, 5), "13/7"),
        ("----b-M-A-------b-cdd---A-", (6, 2), "24/22 8/2"),
        ("-D----------------------b-", (1, 1), "1/off(4)"),
        ("------E-C---cE---c-cbb--bB", (6, 3), "bar/22"),
    ],
    ids=["users-1", "users-2", "users-3", "users-4", "users-8"],
)
def test_single_play_is_named_as_players_write_it(letters: str, dice: tuple[int, int], text: str) -> None:
    assert texts(plays(board_from_letters(letters), dice, SHORT)) == [text]


def test_hits_are_named() -> None:
    """Users 5: two of the sixteen plays hit twice, one of them is 24/20* 6/5*."""
    found = plays(board_from_letters("-a---aE-C---eE---c-da---B-"), (4, 1), SHORT)

    assert [sum(move.hit for move in play.moves) for play in found].count(2) == 2
    assert "24/20* 6/5*" in texts(found)


def test_both_bear_offs_are_named() -> None:
    """Users 6."""
    found = texts(plays(board_from_letters("--A--A------------------b-"), (4, 2), SHORT))

    assert sorted(found) == ["5/1 2/off", "5/off"]


def test_landing_point_of_one_move_is_not_ambiguous_when_the_other_is_blocked() -> None:
    """Users 7: with 1-1 only 12/11 lands on 11 by one move; no checker reaches 13 from 14."""
    found = plays(board_from_letters("-b----E-C---BbB--c-ec---C-"), (1, 1), SHORT)
    moves = {move for play in found for move in play.moves}

    assert {move.source for move in moves if move.target == 11} == {12}
    assert not any(move.target == 13 for move in moves)


@pytest.mark.parametrize(
    "text",
    ["bar/20/15 13/8(2)", "13/8(2) bar/20/15", "13/8 bar/15 13/8", "BAR/20 20/15 13/8* 13/8", "13/8(2), 20/15, bar/20"],
)
def test_play_is_found_from_text_in_any_order_with_or_without_hits(text: str) -> None:
    """Users 9."""
    play = play_named(ON_THE_BAR, (5, 5), parse_play(text), SHORT)

    assert format_play(play.moves) == "bar/15 13/8(2)"


@pytest.mark.parametrize("preset", ["short", "caucasian", "hyper", "long"])
def test_every_play_is_found_again_by_its_name(preset: str) -> None:
    """The text names each result, 13/10*/7 is not 13/7; at most four plays a roll are tried."""
    rules = find_rules(preset)
    for boards, rolls in (reached_boards(rules, 40, seed=5), invented_boards(rules, 40, seed=5)):
        for board, roll in zip(boards, rolls, strict=True):
            found = plays(board, roll, rules)
            for play in found[:: len(found) // 4 + 1]:
                named = play_named(board, roll, parse_play(format_play(play.moves)), rules)
                assert (named.board == play.board).all()


def test_sum_without_a_landing_is_the_way_that_hits_nothing() -> None:
    """One checker on 13, a blot on 10: 13/7 on 4-2 goes over 9 or 11; 13/8 on 3-2 over 11, or 13/10*/8."""
    board = board_of({13: 1}, {15: 1}, 15)

    assert format_play(play_named(board, (3, 2), parse_play("13/8"), SHORT).moves) == "13/8"
    assert format_play(play_named(board, (3, 2), parse_play("13/10/8"), SHORT).moves) == "13/10*/8"


def test_sum_that_hits_on_either_way_is_ambiguous() -> None:
    """Blots on 11 and 10 (his 14 and 15): 13/8 must say which one it hits."""
    board = board_of({13: 1}, {14: 1, 15: 1}, 15)

    with pytest.raises(NotationError, match=r"can mean '13/10\*/8', '13/11\*/8'"):
        play_named(board, (3, 2), parse_play("13/8"), SHORT)
    assert format_play(play_named(board, (3, 2), parse_play("13/11*/8"), SHORT).moves) == "13/11*/8"


def test_illegal_play_is_refused_with_the_nearest_legal_ones() -> None:
    with pytest.raises(
        NotationError, match=r"'8/4 6/5' is not legal for 3-1; of 16 legal plays the nearest are '8/5 6/5', "
    ):
        play_named(START, (3, 1), parse_play("8/4 6/5"), SHORT)


def test_pass_is_refused_when_there_is_something_to_play() -> None:
    with pytest.raises(NotationError, match="'pass' is not legal for 6-6; legal: '24/18\\(2\\)'"):
        play_named(start_boards(LONG)[0], (6, 6), (), LONG)


def test_move_from_an_empty_point_is_refused() -> None:
    with pytest.raises(NotationError, match="'20/16' is not legal"):
        play_named(START, (3, 1), parse_play("20/16"), SHORT)


def test_final_check_looks_only_where_the_hitter_ends() -> None:
    """[cauc-11] 6/5*/4/3/2 passes over own 4: illegal with `step`, legal with `final`."""
    board = board_of({6: 1, 4: 2, 24: 1}, {20: 1, 2: 2}, 15)
    over_own = board_of({2: 1, 4: 2, 24: 1}, {BAR: 1, 2: 2}, 15)
    final = replace(CAUCASIAN, hit_hide_check="final")

    def allows(rules: RuleSet, after: Boards) -> bool:
        return any((play.board == after).all() for play in plays(board, (1, 1), rules))

    assert not allows(CAUCASIAN, over_own)
    assert allows(final, over_own)


def test_final_check_forbids_the_hitter_to_end_on_its_own() -> None:
    """[cauc-01] 6/5*/3 on own 3 is hiding whichever way it is judged."""
    board = board_of({13: 1, 6: 2, 3: 2}, {20: 1}, 15)
    hidden = board_of({13: 1, 6: 1, 3: 3}, {BAR: 1}, 15)

    for check in ("step", "final"):
        found = plays(board, (2, 1), replace(CAUCASIAN, hit_hide_check=check))
        assert not any((play.board == hidden).all() for play in found)
    assert any((play.board == hidden).all() for play in plays(board, (2, 1), SHORT))


def test_batches_and_wrong_boards_are_refused() -> None:
    with pytest.raises(BoardError, match="2 boards are given; expected one"):
        plays(start_boards(SHORT, 2), (3, 1), SHORT)
    with pytest.raises(BoardError, match="every row must sum to 3"):
        plays(START, (3, 1), find_rules("hyper"))
    with pytest.raises(NotationError, match="dice must be integers from 1 to 6"):
        plays(START, (7, 1), SHORT)
    with pytest.raises(BoardError, match="the game is over"):
        plays(board_of({}, {1: 1}, 15), np.array([3, 1]), SHORT)

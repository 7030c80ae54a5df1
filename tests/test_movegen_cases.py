"""Worked positions with full answers, asked of both generators: the slow reference and the compiled kernel."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from positions import (
    FIRST_TURN,
    GENERATORS,
    SECOND_TURN,
    Case,
    Generator,
    ListedRoll,
    Maker,
    Results,
    afterstate_of,
    board_from_letters,
    board_of,
    has_forbidden_block,
    invented_boards,
    listed_rolls,
    move_cases,
    opening_cases,
    reached_boards,
    read_data,
    second_turn_cases,
    with_head,
)

from nardy_ai.boards import BAR, FACING, OFF, SLOTS, Boards, finished, pip_counts, swap_sides
from nardy_ai.errors import BoardError
from nardy_ai.notation.gnubg_id import write_position_id
from nardy_ai.rules import RuleSet, find_rules, preset_names, start_boards

SHORT = find_rules("short")
LONG = find_rules("long")

BOARDS_PER_RULES = 60
"""Enough for every kind of roll and position to come up; the reference takes about a millisecond a roll."""


@pytest.fixture(params=GENERATORS)
def results_of(request: pytest.FixtureRequest) -> Generator:
    """A generator: `results_of(board, dice, rules)` is the set of afterstates as bytes."""
    return GENERATORS[request.param]


def boards_of(results: Results) -> Boards:
    """The afterstates of a result set, `int8[M, 2, 26]`."""
    return np.frombuffer(b"".join(sorted(results)), dtype=np.int8).reshape(-1, 2, SLOTS)


# Whole answers from files


@pytest.mark.parametrize("case", move_cases(), ids=lambda case: case.name)
def test_worked_position_has_exactly_the_listed_results(case: Case, results_of: Generator) -> None:
    results = results_of(case.board, case.dice, case.rules)

    assert not results & case.illegal
    assert results == case.results


@pytest.mark.parametrize("case", move_cases(), ids=lambda case: case.name)
def test_order_of_the_dice_as_given_does_not_matter(case: Case, results_of: Generator) -> None:
    assert results_of(case.board, case.dice[::-1], case.rules) == case.results


@pytest.mark.parametrize("case", listed_rolls(), ids=lambda case: case.name)
def test_tricky_short_roll_reaches_exactly_the_listed_position_ids(case: ListedRoll, results_of: Generator) -> None:
    results = results_of(case.board, case.dice, SHORT)

    if case.count == 0:
        assert results == {swap_sides(case.board).tobytes()}
        return
    ids = sorted(write_position_id(board) for board in boards_of(results))
    assert len(ids) == case.count
    assert case.next_ids is None or ids == sorted(case.next_ids)
    assert hashlib.sha256("\n".join(ids).encode()).hexdigest() == case.digest


@pytest.mark.parametrize("case", opening_cases(), ids=lambda case: case.name)
def test_long_opening_has_exactly_the_listed_results(case: Case, results_of: Generator) -> None:
    assert results_of(case.board, case.dice, case.rules) == case.results


@pytest.mark.parametrize("check", ["final", "step"])
def test_wall_of_six_needs_an_opposing_checker_past_it(check: str, results_of: Generator) -> None:
    rules = replace(LONG, six_block_check=check)
    for entry in read_data("formats/long-nardy-openings.json")["wall"]:
        mover = {int(point): count for point, count in entry["mover"].items()}
        opponent = {24: 15} if entry["opponent"].endswith("all 15 on the head") else {24: 14, 6: 1}
        after = mover | {24: 7, 20: 1, 8: 1, 6: 1}

        results = results_of(board_of(mover, opponent, 15), (4, 2), rules)

        assert (afterstate_of(after, opponent, 15) in results) == entry["legal"]


# RULES section 3, the head


@pytest.mark.parametrize("preset", [name for name in preset_names() if name.startswith("long")])
def test_first_turn_of_long_nardy(preset: str, results_of: Generator) -> None:
    """The table of RULES section 3: one result a roll, two for 3-3."""
    rules = find_rules(preset)
    board = start_boards(rules)[0]
    for dice, answers in FIRST_TURN.items():
        if rules.head_exception == "66" and dice in ((3, 3), (4, 4)):
            continue
        expected = {afterstate_of(with_head(left, rules), rules.start, 15) for left in answers}
        assert results_of(board, dice, rules) == expected, dice


def test_first_turn_with_two_head_checkers_on_66_only(results_of: Generator) -> None:
    """`long-left`: on 4-4 and 3-3 one checker goes until it meets the opponent's head, my 12."""
    rules = find_rules("long-left")
    board = start_boards(rules)[0]
    for dice, left in [((4, 4), {16: 1}), ((3, 3), {15: 1})]:
        assert results_of(board, dice, rules) == {afterstate_of(with_head(left, rules), rules.start, 15)}


@pytest.mark.parametrize("head_exception", SECOND_TURN)
def test_second_players_first_turn(head_exception: str, results_of: Generator) -> None:
    """RULES section 3: of 22 opening results times 21 rolls exactly ten pairs differ from the first turn."""
    cases = second_turn_cases(head_exception)
    assert len(cases) == 22 * 21
    for case in cases:
        assert results_of(case.board, case.dice, case.rules) == case.results, case.name


# users-ask.md, legal plays


def test_smaller_die_first_when_only_that_order_goes(results_of: Generator) -> None:
    """Users 1: 9/7/1 is the one play; 9/3 and 22/16 are blocked, so the two comes first."""
    board = board_from_letters("-L-b-A---A-----bcc-cb-A---")
    after = board[0].copy()
    after[[9, 1]] += [-1, 1]

    (result,) = boards_of(results_of(board, (6, 2), SHORT))

    assert result[1].tolist() == after.tolist()


@pytest.mark.parametrize(
    ("letters", "dice", "moved"),
    [
        ("-Nb----------A-----edd----", (6, 5), {13: -1, 7: 1}),
        ("----b-M-A-------b-cdd---A-", (6, 2), {8: -1, 2: 1, 24: -1, 22: 1}),
        ("------E-C---cE---c-cbb--bB", (6, 3), {BAR: -1, 22: 1}),
        ("-D----------------------b-", (1, 1), {1: -4, OFF: 4}),
    ],
    ids=["users-2-larger-die", "users-3-whole-roll", "users-8-two-on-the-bar", "users-4-double-in-one-turn"],
)
def test_reported_roll_has_one_result(
    letters: str, dice: tuple[int, int], moved: dict[int, int], results_of: Generator
) -> None:
    board = board_from_letters(letters)
    after = board[0].copy()
    for slot, change in moved.items():
        after[slot] += change

    (result,) = boards_of(results_of(board, dice, SHORT))

    assert result.tolist() == [board[1].tolist(), after.tolist()]


def test_results_are_told_apart_by_their_hits(results_of: Generator) -> None:
    """Users 5: 16 results, 8 without a hit, 6 with one, 2 with two."""
    board = board_from_letters("-a---aE-C---eE---c-da---B-")

    results = boards_of(results_of(board, (4, 1), SHORT))

    assert np.bincount(results[:, 0, BAR]).tolist() == [8, 6, 2]


def test_both_ways_to_bear_off_are_found(results_of: Generator) -> None:
    """Users 6: 5/1 2/off leaves the ace, 5/3/off leaves the deuce."""
    results = boards_of(results_of(board_from_letters("--A--A------------------b-"), (4, 2), SHORT))

    assert sorted(np.flatnonzero(row[1:]).tolist() for row in results[:, 1]) == [[0], [1]]


@pytest.mark.parametrize(
    ("letters", "dice", "count"),
    [("-b----E-C---BbB--c-ec---C-", (1, 1), 92), ("-b----C-C---eE---c-c-b--CA", (5, 5), 10)],
    ids=["users-7", "users-9"],
)
def test_reported_double_has_this_many_results(
    letters: str, dice: tuple[int, int], count: int, results_of: Generator
) -> None:
    assert len(results_of(board_from_letters(letters), dice, SHORT)) == count


def test_nothing_is_played_after_the_end(results_of: Generator) -> None:
    """Users 11: the play that ends the game is made once."""
    (over,) = boards_of(results_of(board_from_letters("-D----------------------b-"), (1, 1), SHORT))

    assert finished(over[None])[0]
    with pytest.raises(BoardError, match="over"):
        results_of(over, (1, 1), SHORT)


@pytest.mark.parametrize("checkers", [1, 3, 14, 15])
def test_game_ends_when_all_checkers_are_off_whatever_their_number(checkers: int, results_of: Generator) -> None:
    """Users 16: the end test must not assume fifteen."""
    rules = replace(SHORT, start={6: checkers}, checkers=checkers)
    board = board_of({1: 1}, {6: checkers}, checkers)

    results = boards_of(results_of(board, (6, 5), rules))

    assert len(results) == 1
    assert results[0, 1, OFF] == checkers
    assert finished(results).all()


# Corners that no file holds


def test_last_checker_may_hit_on_its_way_off_and_then_must(results_of: Generator) -> None:
    """Most dice (RULES section 4): 3/2*/off plays the 1 and the 6, 3/off the 6 only."""
    board = board_of({3: 1}, {23: 1, 6: 2}, 15)

    results = results_of(board, (6, 1), SHORT)

    assert results == {afterstate_of({}, {BAR: 1, 6: 2}, 15)}


def test_hitter_that_may_not_run_may_not_bear_off(results_of: Generator) -> None:
    """`no_run`: after 6/5* the five is not borne off with it; the other checker moves or nobody."""
    rules = find_rules("tavla")
    board = board_of({6: 1, 2: 1}, {20: 1}, 15)

    results = boards_of(results_of(board, (5, 1), rules))

    with_hit = results[results[:, 0, BAR] == 1]
    assert len(results) > 0
    assert all(row[5] == 1 for row in with_hit[:, 1])


def test_second_hitter_is_bound_like_the_first(results_of: Generator) -> None:
    """`no_hide` by checker: 6/5* 5/4* with one checker may not go on to own 3."""
    rules = find_rules("caucasian")
    board = board_of({6: 1, 3: 2}, {20: 1, 21: 1}, 15)

    results = results_of(board, (1, 1), rules)

    assert afterstate_of({3: 3}, {BAR: 2}, 15) not in results
    assert afterstate_of({4: 1, 3: 1, 1: 1}, {BAR: 2}, 15) in results


def test_hit_checker_no_longer_excuses_the_block(results_of: Generator) -> None:
    """`ahead` with hitting: 13/12* sends back the one checker past the block that 7/6 completes."""
    rules = replace(SHORT, six_block="ahead")
    board = board_of({13: 1, 7: 1, 5: 1, 4: 1, 3: 1, 2: 1, 1: 1}, {13: 1, BAR: 14}, 15)

    results = boards_of(results_of(board, (1, 1), rules))

    assert not has_forbidden_block(swap_sides(results), rules).any()


def test_checker_on_the_bar_enters_first_even_into_a_forbidden_block(results_of: Generator) -> None:
    """With `step` the order counts: bar/20 completes 21..16 and is illegal, though 19/13 would open it again."""
    rules = replace(SHORT, six_block="never", six_block_check="step")
    mine = {25: 1, 23: 2, 21: 2, 19: 1, 18: 2, 17: 2, 16: 4}
    board = board_of(mine, {20: 4, 18: 5, 10: 3, 25: 3}, 15)

    results = results_of(board, (6, 5), rules)

    assert afterstate_of(mine | {25: 0, 20: 1, 19: 0, 13: 1}, {20: 4, 18: 5, 10: 3, 25: 3}, 15) not in results


# Properties over reached and invented boards


# The presets that differ in play, and options that no preset has; the rest differs in scoring, cube or opening.
PROPERTY_RULES = [
    *map(find_rules, ("short", "short-oin", "caucasian", "tavla", "hyper", "long", "long-home-block", "long-fnr")),
    replace(SHORT, name="hide-final", hit_hide="no_hide", hit_hide_check="final"),
    replace(SHORT, name="no-run-board", hit_hide="no_run", hit_hide_scope="board"),
    replace(LONG, name="if-blocked", head_exception="if_blocked", six_block="never", six_block_check="step"),
    replace(LONG, name="no-exception", head_exception="none", six_block="free"),
    replace(SHORT, name="block-and-hits", six_block="home", six_block_check="step", hit_hide="no_hide"),
    replace(SHORT, name="one-checker", start={6: 1}, checkers=1),
]


@pytest.mark.parametrize("make", [reached_boards, invented_boards])
@pytest.mark.parametrize("rules", PROPERTY_RULES, ids=lambda rules: rules.name)
def test_results_keep_what_every_result_keeps(rules: RuleSet, make: Maker, results_of: Generator) -> None:
    """Checkers are neither made nor lost, a point has one owner, hits are the only change to the other side."""
    facing = FACING[rules.board][1:BAR]
    boards, rolls = make(rules, BOARDS_PER_RULES, seed=4)
    for board, roll in zip(boards, rolls, strict=True):
        results = boards_of(results_of(board, (int(roll[0]), int(roll[1])), rules))

        assert (results >= 0).all()
        assert (results.sum(axis=2) == rules.checkers).all()
        assert not ((results[:, 1, 1:BAR] > 0) & (results[:, 0, facing] > 0)).any()
        most_pips = int(roll.sum()) * (2 if roll[0] == roll[1] else 1)
        assert (pip_counts(results)[:, 1] >= pip_counts(board[None])[0, 0] - most_pips).all()
        lost = board[1] - results[:, 0]
        assert ((lost[:, 1:BAR] == 0) | ((lost[:, 1:BAR] == 1) & (rules.closed_by == 2))).all()
        assert (lost[:, OFF] == 0).all()
        passed = (results == swap_sides(board)).all(axis=(1, 2))
        assert len(results) == 1 or not passed.any()
        assert not has_forbidden_block(swap_sides(results), rules)[~passed].any()

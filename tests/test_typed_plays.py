"""Plays as people type them: sloppy forms, completion, and what a text may mean, tested against whole legal turns."""

import random
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import invented_boards, reached_boards

from nardy_ai.boards import Boards
from nardy_ai.errors import NotationError
from nardy_ai.movegen.reference import plays, plays_with_ways
from nardy_ai.notation import format_play, parse_position
from nardy_ai.notation.typed import Reading, Ways, read_typed
from nardy_ai.rules import RuleSet, find_rules

SHORT = find_rules("short")


@cache
def legal_plays(position: str, dice: tuple[int, int], rules: RuleSet) -> tuple[Boards, list[str], list[Ways]]:
    board = parse_position(position, rules)
    legal = plays_with_ways(board, dice, rules)
    return board, [format_play(play.moves) for play, _ in legal], [ways for _, ways in legal]


def reading(position: str, dice: tuple[int, int], text: str, rules: RuleSet = SHORT) -> tuple[Reading, list[str]]:
    """What the text means, and the names of the legal plays."""
    board, names, ways = legal_plays(position, dice, rules)
    return read_typed(text, board, ways, dice), names


def understood(position: str, dice: tuple[int, int], text: str, rules: RuleSet = SHORT) -> str:
    found, names = reading(position, dice, text, rules)
    assert found.play is not None, found
    return names[found.play]


@pytest.mark.parametrize(
    "text",
    [
        "8/5 6/5",
        "6/5 8/5",
        "8-5,6-5",
        "8-5, 6-5",
        "8 / 5 , 6 / 5",
        "8→5; 6→5.",
        "85 65",
        "65,85",
        "8 5 6 5",
        "5 5",
        "5(2)",
        "8/5* 6/5*",
        "8/5х 6/5x",
        "31: 8/5 6/5",
        "1-3: 6/5 8/5",
        "(31): 85 65",
        "08/05 06/05",
    ],
)
def test_opening_31_is_read_in_any_spelling(text: str):
    assert understood("start", (3, 1), text) == "8/5 6/5"


@pytest.mark.parametrize(
    ("position", "dice", "text", "play"),
    [
        ("start", (3, 1), "24/20", "24/20"),
        ("start", (3, 1), "2420", "24/20"),
        ("start", (3, 1), "24/23/20", "24/20"),
        ("start", (3, 1), "24/21 21/20", "24/20"),
        ("start", (3, 1), "13/9", "13/9"),
        ("bar:1 6:14 / 1:2 13:13", (3, 1), "бар/22 6/5", "bar/22 6/5"),
        ("bar:1 6:14 / 1:2 13:13", (3, 1), "b/22 65", "bar/22 6/5"),
        ("bar:1 6:14 / 1:2 13:13", (3, 1), "bar22 6/5", "bar/22 6/5"),
        ("bar:1 6:14 / 1:2 13:13", (3, 1), "25/22 6/5", "bar/22 6/5"),
        ("bar:1 6:14 / 1:2 13:13", (3, 1), "6/5 Бар 22", "bar/22 6/5"),
        ("6:2 / 6:2", (6, 5), "6/off 6/1", "6/1 6/off"),
        ("6:2 / 6:2", (6, 5), "6/вб 61", "6/1 6/off"),
        ("6:2 / 6:2", (6, 5), "off", "6/1 6/off"),
        ("6:2 / 6:2", (6, 5), "1", "6/1 6/off"),
        ("6:2 5:1 / 6:2", (6, 5), "off off", "6/off 5/off"),
        ("6:2 5:1 / 6:2", (6, 5), "вб(2)", "6/off 5/off"),
    ],
)
def test_what_is_typed_is_the_play(position: str, dice: tuple[int, int], text: str, play: str):
    assert understood(position, dice, text) == play


def test_landing_point_is_one_move_where_the_other_way_to_it_is_blocked():
    """14/13 is blocked, so 11 can be reached from 12 only; the other three aces stay open."""
    found, names = reading("XGID=-b----E-C---BbB--c-ec---C-:0:0:1:11:0:0:0:0:10", (1, 1), "11")
    assert len(names) == 92
    assert format_play(found.begun) == "12/11"
    assert all(
        "12/11" in names[i] or "12/10" in names[i] or "12/9" in names[i] or "12/8" in names[i] for i in found.plays
    )


@pytest.mark.parametrize(
    "text", ["bar/20/15 13/8(2)", "13/8(2) bar/20/15*", "13-8(2),bar-15", "138 138 2515", "13/8 бар/15 13/8"]
)
def test_doubles_are_typed_in_any_order(text: str):
    position = "XGID=-b----C-C---eE---c-c-b--CA:0:0:1:55:0:0:0:0:10"
    assert understood(position, (5, 5), text) == "bar/15 13/8(2)"


@pytest.mark.parametrize(
    ("text", "play"),
    [("5/1", "5/1 2/off"), ("2/off", "5/1 2/off"), ("20", "5/1 2/off"), ("5/3", "5/off"), ("5/off", "5/off")],
)
def test_part_of_a_play_is_completed_where_one_result_is_left(text: str, play: str):
    """Of 4-2 with checkers on 5 and 2 there are two results."""
    assert understood("5:1 2:1 / 1:2", (4, 2), text) == play


@pytest.mark.parametrize(
    ("position", "dice", "text", "meanings"),
    [
        ("5:1 2:1 / 1:2", (4, 2), "off", {"5/off", "2/off"}),
        ("start", (3, 1), "5", {"8/5", "6/5"}),
        ("start", (3, 1), "24/2", {"24/20", "24/21", "24/23"}),
        ("start", (3, 1), "8/", {"8/5", "8/7"}),
        ("24:1 2:2 6:12 / 13:15", (2, 1), "21", {"24/21", "2/1"}),
    ],
)
def test_text_that_may_mean_more_is_told_all_it_may_mean(position, dice, text, meanings):
    assert set(reading(position, dice, text)[0].meanings) == meanings


def test_blot_on_the_way_is_not_hit_unless_it_is_named():
    position = "13:2 6:13 / 17:1 24:14"  # his 17 is my 8
    assert understood(position, (5, 1), "13/7") == "13/7"
    assert understood(position, (5, 1), "13/8/7") == "13/8*/7"
    assert format_play(reading(position, (5, 1), "13/8")[0].begun) == "13/8"


def test_two_ways_round_with_blots_on_both_must_be_named():
    position = "13:2 6:13 / 17:1 13:1 24:13"  # his 17 and 13 are my 8 and 12
    assert set(reading(position, (5, 1), "13/7")[0].meanings) == {"13/8*/7", "13/12*/7"}
    assert understood(position, (5, 1), "13/12/7") == "13/12*/7"


@pytest.mark.parametrize(
    ("position", "dice", "text", "reason"),
    [
        ("start", (3, 1), "12/9", "no checker of yours on 12"),
        ("start", (3, 1), "bar/22", "nothing stands on the bar"),
        ("start", (3, 1), "13/8", "13/8 is not possible with this roll"),
        ("start", (3, 1), "off", "a move to off is not possible"),
        ("start", (3, 1), "8/5 8/5", ""),
        ("bar:2 6:13 / 1:2 13:13", (3, 1), "6/5", "the bar comes first"),
        ("start", (3, 1), "pass", "there is a legal play"),
        ("bar:1 6:14 / 6:2 5:2 4:2 3:2 2:2 1:2", (3, 1), "6/5", "nothing can be played"),
    ],
)
def test_illegal_play_has_a_reason_and_the_nearest_legal_ones(position, dice, text, reason):
    found, names = reading(position, dice, text)
    assert reason in found.reason
    assert 1 <= len(found.nearest) <= 3
    assert set(found.nearest) <= set(names)


def test_nearest_plays_are_near():
    assert reading("start", (3, 1), "8/5 6/4")[0].nearest[0] == "8/5 6/5"


def test_pass_is_read_where_nothing_can_be_played():
    assert understood("bar:1 6:14 / 6:2 5:2 4:2 3:2 2:2 1:2 24:3", (3, 1), "пас") == "pass"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "names no move"),
        ("31:", "names no move"),
        ("42: 8/5", "is for 4-2, but the roll is 3-1"),
        ("5/8", "does not move down"),
        ("26/20", "does not move down"),
        ("xyz", "neither bar"),
        ("8/5(7)", "has 7 moves"),
        ("6/5/4 6/5/4 8/7", "has 5 moves"),
        ("8+5", "is no move"),
    ],
)
def test_text_that_is_no_play_is_refused(text: str, fault: str):
    with pytest.raises(NotationError, match=re.escape(fault)):
        reading("start", (3, 1), text)


def sloppy(name: str, rng: random.Random) -> list[str]:
    """A play's printed name as people might type it: shuffled, without stars, with dashes, joined."""
    words = name.split()
    rng.shuffle(words)
    shuffled = " ".join(words)
    bare = shuffled.replace("*", "")
    joined = [re.sub(r"/", "", word) if re.fullmatch(r"[0-9/]+(\([2-4]\))?", word) else word for word in bare.split()]
    russian = bare.replace("bar", "бар").replace("off", "вб")
    return [shuffled, bare, bare.replace("/", "-").replace(" ", ","), " ".join(joined), russian.upper()]


def positions_of(rules: RuleSet, n: int) -> list[tuple[np.ndarray, tuple[int, int]]]:
    found = []
    for make in (reached_boards, invented_boards):
        boards, dice = make(rules, n, seed=11)
        found += [(board, (int(high), int(low))) for board, (high, low) in zip(boards, dice, strict=True)]
    return found


@pytest.mark.parametrize("n", [8, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["short", "caucasian", "hyper", "long", "long-fnr"])
def test_every_sloppy_form_of_every_legal_play_is_that_play_or_named_among_others(name: str, n: int):
    """A name without stars may mean the play that hits less; joined digits may mean a landing point."""
    rules, rng = find_rules(name), random.Random(5)
    read = exact = 0
    for board, dice in positions_of(rules, n):
        legal = plays_with_ways(board, dice, rules)
        ways = [ways for _, ways in legal]
        for i in rng.sample(range(len(legal)), min(len(legal), 3 if n < 100 else 8)):
            text = format_play(legal[i][0].moves)
            assert read_typed(text, board, ways, dice).play == i, (text, dice, board)
            for form in sloppy(text, rng):
                found = read_typed(form, board, ways, dice)
                assert found.play == i or text in found.meanings, (text, form, dice, board, found)
                read, exact = read + 1, exact + (found.play == i)
    assert exact > 0.97 * read > 0


@pytest.mark.parametrize("name", ["short", "caucasian", "hyper", "long", "long-fnr"])
def test_ways_of_plays_move_the_same_checkers_and_have_the_same_length(name: str):
    rules = find_rules(name)
    for board, dice in positions_of(rules, 5):
        legal = plays(board, dice, rules)
        with_ways = plays_with_ways(board, dice, rules)
        assert [play.moves for play, _ in with_ways] == [play.moves for play in legal]
        for play, ways in with_ways:
            assert ways[0] == play.moves
            assert len({tuple(sorted(way)) for way in ways}) == len(ways)
            for way in ways:
                own = board[0].copy()
                for move in way:
                    own[move.source] -= 1
                    own[move.target] += 1
                assert (own == play.board[0]).all()


@given(
    st.text(alphabet="0123456789/-*(),:; барoffвбx→>", max_size=24)
    | st.lists(st.sampled_from(["8/5", "65", "off", "b", "24/", "(2)", "31:", "6", "13/8/7", "бар"]), max_size=5).map(
        " ".join
    )
    | st.text(max_size=12)
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_mangled_text_is_read_or_refused(text: str):
    for position, dice in (("start", (3, 1)), ("bar:1 6:2 5:2 4:2 / 1:2 13:2", (2, 2)), ("6:2 1:1 / 6:1", (6, 1))):
        try:
            found, names = reading(position, dice, text)
        except NotationError:
            continue
        said = [found.play is not None, bool(found.begun), bool(found.meanings), bool(found.nearest)]
        assert sum(said) == 1
        assert len(found.meanings) != 1
        assert found.play is None or found.play in range(len(names))

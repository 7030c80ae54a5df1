"""Matches judged: losses, marks, luck, PR, the cube, rollouts, and answers that are kept."""

from dataclasses import replace

import numpy as np
import pytest
from networks import random_weights

from nardy_ai.analysis import match as analysis_match
from nardy_ai.analysis.judge import Judge, PlayQuestion, RolloutOptions
from nardy_ai.analysis.match import analyse, cube_is_in_play
from nardy_ai.analysis.result import (
    BLUNDER,
    DOUBTFUL,
    ERROR,
    CubeDecision,
    PlayDecision,
    luck_word,
    mark_of,
)
from nardy_ai.boards import OFF
from nardy_ai.bots import best_afterstates, load_bot
from nardy_ai.cube.state import CubeState
from nardy_ai.cubeful import cube_decision
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS, dice_at, opening_dice_at
from nardy_ai.errors import BotError
from nardy_ai.evaluators.with_bearoff import bare
from nardy_ai.movegen.generate import afterstates
from nardy_ai.movegen.reference import play_named, plays
from nardy_ai.notation import parse_play, read_position
from nardy_ai.records import CubeAction, GameRecord, MatchRecord, Setup, Turn
from nardy_ai.records.mat import read_mat
from nardy_ai.rules import MatchOptions, find_match_options, find_rules, start_boards
from nardy_ai.search import Lookahead

SHORT = find_rules("short")


@pytest.fixture(scope="module")
def bots(bot_files):
    """Bots with random weights, by rules."""
    return {name: load_bot(path) for name, path in bot_files.items()}


def record_of(text: str, length: int = 5, scores: str = "0 0") -> MatchRecord:
    """One game of two columns."""
    left, right = scores.split()
    return read_mat(f"{length} point match\nGame 1\nA : {left}   B : {right}\n{text}\n".split("\n"), SHORT)


def set_up(text: str, *actions, rules=SHORT, **match) -> MatchRecord:
    """A game that begins with a position, and actions of its side on roll."""
    position = read_position(text, rules)
    side = position.row0_player
    game = GameRecord(1, (0, 0), (Setup(side, position), *actions))
    return MatchRecord(names=("A", "B"), length=0, games=(game,), rules=rules.name, **match)


def played_by(bot, games: int, seed: int = 4, plies: int = 30) -> MatchRecord:
    """Games of a bot against itself, broken off after some plies."""
    rules, records = bot.rules, []
    for number in range(games):
        board, side, actions = start_boards(rules)[0], number % 2, []
        for ply in range(plies):
            dice = (dice_at(seed, number, ply) if ply else opening_dice_at(seed, number, "use_dice"))[0]
            after, _ = best_afterstates(bot, board[None], dice[None])
            play = next(one for one in plays(board, dice, rules) if (one.afterstate == after[0]).all())
            actions.append(Turn(side, (int(dice[0]), int(dice[1])), play.moves))
            board, side = after[0], 1 - side
            if board[1, OFF] == rules.checkers:
                break
        records.append(GameRecord(number + 1, (0, 0), tuple(actions)))
    return MatchRecord(names=("A", "B"), length=0, games=tuple(records), rules=rules.name)


def decisions_of(analysis) -> list:
    return [decision for game in analysis.games for decision in game.decisions]


@pytest.mark.parametrize(
    ("loss", "mark"),
    [
        (0.0, ""),
        (DOUBTFUL - 1e-6, ""),
        (DOUBTFUL, "doubtful"),
        (ERROR, "error"),
        (BLUNDER - 1e-6, "error"),
        (BLUNDER, "blunder"),
        (None, ""),
    ],
)
def test_marks_begin_at_their_thresholds(loss, mark):
    assert mark_of(loss) == mark


@pytest.mark.parametrize(
    ("luck", "word"), [(0.29, ""), (0.3, "lucky"), (-0.3, "unlucky"), (0.6, "very lucky"), (-0.7, "very unlucky")]
)
def test_luck_is_named_beyond_its_thresholds(luck, word):
    assert luck_word(luck) == word


def test_pr_is_500_times_the_mean_loss_of_unforced_decisions(bots):
    """Losses of 0.05 and 0.02 over 7 decisions that count are a PR of 5; forced and illegal plays change nothing."""
    analysis = analyse(record_of("1) 31: 8/5 6/5"), bots["short"], cube=False)
    (one,) = decisions_of(analysis)
    losses = [0.05, 0.02, 0.0, 0.0, 0.0, 0.0, 0.0]
    decisions = [replace(one, loss=loss) for loss in losses]
    decisions += [replace(one, legal=1, loss=0.0), replace(one, loss=None, note="illegal")]

    total = analysis_match._total("A", decisions)

    assert (total.decisions, total.forced, total.turns) == (7, 1, 9)
    assert total.pr == pytest.approx(5.0, abs=1e-12)
    assert total.phases["opening"].pr == pytest.approx(5.0, abs=1e-12)
    assert total.marks == {"doubtful": 1, "error": 1, "blunder": 0}


@pytest.mark.parametrize("name", ["short", "hyper", "long", "long-left"])
@pytest.mark.parametrize("cube", [False, True])
def test_a_bot_that_is_judged_by_itself_loses_nothing(bots, name, cube):
    """Null control: the plays of the judge are the best; with a cube they were chosen without it and may lose."""
    bot = bots[name]

    analysis = analyse(played_by(bot, games=2), bot, cube=cube)

    turns = [one for one in decisions_of(analysis) if isinstance(one, PlayDecision)]
    assert len(turns) > 20
    assert {one.note for one in turns} == {""}
    assert all(one.played is not None and one.loss == one.played.loss >= 0 for one in turns)
    if not cube:
        assert {one.loss for one in turns} == {0.0}
        assert {one.rank for one in turns} == {1}
        assert analysis.totals[0].pr == analysis.totals[1].pr == 0.0
        assert analysis.worst == ()


def test_loss_is_the_difference_of_what_the_bot_says(bots):
    bot = bots["short"]
    record = record_of("1) 31: 24/23 24/21     64: 24/14")

    first, second = decisions_of(analyse(record, bot, cube=False))

    after = afterstates(start_boards(SHORT), np.array([[3, 1]], dtype=np.uint8), SHORT)
    values = bot.play_values(start_boards(SHORT), after)
    chosen = play_named(start_boards(SHORT)[0], (3, 1), parse_play("24/23 24/21"), SHORT)
    at = next(i for i, board in enumerate(after.boards) if (board == chosen.afterstate).all())
    assert first.loss == pytest.approx(float(values.max() - values[at]), abs=1e-6)
    assert first.choices[0].equity == pytest.approx(float(values.max()), abs=1e-6)
    assert [choice.loss for choice in first.choices] == sorted(choice.loss for choice in first.choices)
    assert first.legal == len(after.boards) == 16
    assert (first.played.play, second.played.play) == ("24/23 24/21", "24/14")
    assert (first.game, first.turn, first.line, first.side) == (1, 1, 4, 0)
    assert read_position(first.position_id, SHORT).dice == (3, 1)
    assert read_position(first.xgid, SHORT) == first.position


@pytest.mark.parametrize("state", [None, CubeState(jacoby=False), CubeState(value=2, owner=1, away=(3, 5))])
@pytest.mark.parametrize("opening", [False, True])
def test_luck_has_mean_zero(bots, state, opening):
    board = start_boards(SHORT)[0]
    judge = Judge(bots["short"])
    rolls = [tuple(roll) for roll in ROLLS.tolist() if not opening or roll[0] != roll[1]]
    questions = [
        PlayQuestion(board, roll, afterstates(board, np.array(roll), SHORT).boards, state, opening=opening)
        for roll in rolls
    ]

    luck = np.array([answer.luck for answer in judge.plays(questions)])

    weights = np.full(15, 1 / 15) if opening else ROLL_WEIGHTS
    assert (luck * weights).sum() == pytest.approx(0, abs=1e-6)
    assert luck.std() > 0.001


@pytest.mark.parametrize("cube", [False, True])
def test_good_rolls_are_lucky(cube):
    """Four checkers off at once, or one at most."""
    luck = {}
    for dice in ((6, 6), (2, 1)):
        record = set_up("6:2 5:2 / 6:2 5:2", Turn(1, dice, None))
        decisions = decisions_of(analyse(record, load_bot("short"), cube=cube))
        luck[dice] = next(one.luck for one in decisions if isinstance(one, PlayDecision))
    assert luck[6, 6] > 0.3
    assert luck[2, 1] < -0.3


def test_opening_roll_is_compared_with_rolls_that_it_could_have_been(bots):
    record = record_of("1) 31: 8/5 6/5    31: 8/5 6/5")
    opening, later = (one.luck for one in decisions_of(analyse(record, bots["short"], cube=False)))
    rolled_again, _ = (
        one.luck
        for one in decisions_of(analyse(record, bots["short"], cube=False, options=MatchOptions(opening="reroll")))
    )
    assert opening != rolled_again
    assert later != opening


def test_illegal_play_is_reported_and_counts_in_nothing(bots):
    record = record_of("1) 31: 8/4 6/5    42: 8/4 6/4\n2) 61: 13/7 8/7")

    analysis = analyse(record, bots["short"], cube=False)

    first, second, third = decisions_of(analysis)
    assert (first.loss, first.played, first.counts, first.mark) == (None, None, False, "")
    assert "is not legal for 3-1; of 16 legal plays the nearest are" in first.note
    assert second.loss is not None
    assert third.loss is not None
    assert [total.decisions for total in analysis.totals] == [1, 1]
    assert analysis.faults == (f"line 4: row 1: {first.note}",)


def test_phases():
    bot = load_bot("short")
    phases = {
        "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5 dice=31": "contact",
        "7:1 6:7 5:7 / 6:8 5:7 dice=31": "race",
        "6:8 5:7 / 7:1 6:7 5:7 dice=31": "bearoff",
    }
    for text, phase in phases.items():
        (decision,) = decisions_of(analyse(set_up(text, Turn(1, (3, 1), None)), bot, cube=False))
        assert decision.phase == phase
    opening = record_of("1) 31: 8/5 6/5    31: 24/23 24/21")
    assert [one.phase for one in decisions_of(analyse(opening, bot, cube=False))] == ["opening"] * 2


def test_double_that_should_not_be_made_is_an_error_of_what_it_loses():
    """An opening position for money: the double loses no double less double, take."""
    record = set_up("start", CubeAction(1, "double"), CubeAction(0, "take"))

    doubled, taken = decisions_of(analyse(record, load_bot("short")))

    assert (doubled.kind, doubled.action, doubled.best) == ("double", "double", "no double, take")
    assert doubled.loss == pytest.approx(doubled.no_double - doubled.double_take)
    assert doubled.loss > 0.15
    assert doubled.mark == "blunder"
    assert (taken.kind, taken.action, taken.loss, taken.side) == ("take", "take", 0.0, 0)


@pytest.mark.parametrize(("action", "loses"), [("double", True), (None, False)])
def test_redouble_at_the_doubling_point_has_one_name_and_one_loss(action, loses):
    """GNU Backgammon: no redouble +0.978, take +0.859 against pass +1.000; to redouble is an error."""
    position = read_position("tm0BBByz7wYAAA:UQmgAAAAEAAA", SHORT)
    actions = [CubeAction(position.row0_player, action)] if action else []

    cube = next(
        one
        for one in decisions_of(analyse(set_up("tm0BBByz7wYAAA:UQmgAAAAEAAA", *actions), load_bot("short"), cube=True))
        if isinstance(one, CubeDecision)
    )

    # Whichever of both names the bot's equities ask for, the command `cube` gives the same.
    state = CubeState(value=2, owner=0, away=(3, 5))
    assert cube.best == cube_decision(load_bot("short"), position.board, state).action
    assert cube.best in ("no redouble, take", "too good to redouble, take")
    assert (cube.loss > 0) == loses
    assert cube.loss == pytest.approx(cube.no_double - cube.double_take if loses else 0.0)


@pytest.mark.parametrize(
    ("xgid", "asked"),
    [
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:4:0:5:10", True),  # after Crawford, the trailer
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:3:4:1:5:10", False),  # the Crawford game
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:4:3:0:5:10", False),  # the leader wins nothing by a double
    ],
)
def test_cube_decisions_around_the_crawford_game(xgid, asked):
    record = set_up(xgid, Turn(1, (3, 1), parse_play("8/5 6/5")))

    cubes = [one for one in decisions_of(analyse(record, load_bot("short"))) if isinstance(one, CubeDecision)]

    assert bool(cubes) == asked
    assert [one.best for one in cubes] == ["double, pass"] * asked


def test_wrong_take_costs_its_side_equity_and_chances_to_win_the_match():
    """GNU Backgammon: two points away against one, after Crawford, taking costs the leader 0.102."""
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:3:4:0:5:10"
    record = set_up(xgid, CubeAction(1, "double"), CubeAction(0, "take"))

    analysis = analyse(record, load_bot("short@1ply"))

    doubled, taken = decisions_of(analysis)
    assert (doubled.loss, taken.side, taken.best) == (0.0, 0, "double, pass")
    assert taken.loss == pytest.approx(0.102, abs=0.05)
    assert taken.loss == pytest.approx(taken.double_take - taken.double_pass)
    # The stake is worth half a match here: a win makes 1-1, where chances are even, a loss loses the match.
    assert taken.winning_loss == pytest.approx(taken.loss / 4)
    assert analysis.totals[0].winning_lost == taken.winning_loss
    assert analysis.totals[0].phases["cube"].pr == pytest.approx(500 * taken.loss)


def test_cube_decision_counts_if_it_is_close_or_wrong(bots):
    record = set_up("start", CubeAction(1, "double"), CubeAction(0, "take"))
    doubled, _ = decisions_of(analyse(record, load_bot("short")))

    right = replace(doubled, loss=0.0, close=False)

    assert not right.counts
    assert replace(right, close=True).counts
    assert replace(right, loss=0.01).counts
    assert not replace(right, close=True, action="").counts


def test_double_that_nobody_would_make_is_no_decision_that_counts():
    record = record_of("1) 31: 8/5 6/5    52: 13/8 24/22")

    cube = next(one for one in decisions_of(analyse(record, load_bot("short"))) if isinstance(one, CubeDecision))

    assert (cube.side, cube.action, cube.loss, cube.close, cube.counts) == (1, "no double", 0.0, False, False)


def test_position_without_a_play_has_choices_and_no_loss(bots):
    record = set_up("24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5 dice=31", Turn(1, (3, 1), None))

    (decision,) = decisions_of(analyse(record, bots["short"], cube=False))

    assert (decision.played, decision.loss, decision.counts) == (None, None, False)
    assert len(decision.choices) == 5


def test_position_before_its_roll_is_a_cube_question():
    (decision,) = decisions_of(analyse(set_up("start"), load_bot("short"), cube=True))

    assert (decision.kind, decision.action, decision.counts) == ("double", "", False)
    assert decision.best == "no double, take"


@pytest.mark.parametrize(
    ("text", "rules", "options", "expected"),
    [
        ("1) 31: 8/5 6/5", "short", "short", True),  # a match of several points of a game with match equities
        ("1) Doubles => 2   Drops", "hyper", "short", True),
        ("1) 31: 24/23 24/21", "long", "long", False),
        ("1) 31: 24/23 24/21", "nardgammon", "nardgammon", True),
    ],
)
def test_whether_a_cube_is_in_play(text, rules, options, expected):
    assert cube_is_in_play(record_of(text), find_rules(rules), find_match_options(options)) == expected


@pytest.mark.parametrize(("length", "jacoby"), [(0, True), (5, False)])
def test_jacoby_of_the_rules_holds_in_money_play(bots, length, jacoby):
    record = record_of("1) 31: 8/5 6/5    52: 13/8 24/22", length=length)
    options = MatchOptions(cube="geometric", jacoby=True)

    decisions = decisions_of(analyse(record, bots["short"], options=options))

    assert {one.position.jacoby for one in decisions} == {jacoby}


def test_cube_limit_of_one_means_no_cube():
    record = replace(record_of("1) 31: 8/5 6/5"), tags=(("CubeLimit", "1"),))
    assert not cube_is_in_play(record, SHORT, MatchOptions(cube="geometric"))


def test_money_play_without_a_double_is_cubeless():
    assert not cube_is_in_play(record_of("1) 31: 8/5 6/5", length=0), SHORT, MatchOptions())


def test_workers_and_kept_answers_change_no_number(bots, tmp_path):
    """Look-ahead, so that the answers are many parts; the second time nothing is judged."""
    bot = Lookahead(bots["hyper"], 1)
    record = played_by(bots["hyper"], games=4)
    cache = tmp_path / "answers.sqlite"

    plain = analyse(record, bot, cube=True)
    threaded = analyse(record, bot, cube=True, workers=3, cache=cache)
    told = []
    again = analyse(record, bot, cube=True, cache=cache, progress=lambda done, total: told.append(done))

    assert plain == threaded == again
    assert told == []


def test_stopped_analysis_has_what_was_judged_and_goes_on_from_there(bots, tmp_path):
    bot = Lookahead(bots["hyper"], 1)
    record = played_by(bots["hyper"], games=4)
    cache = tmp_path / "answers.sqlite"
    counts = []

    part = analyse(
        record,
        bot,
        cube=False,
        cache=cache,
        progress=lambda done, total: counts.append(done),
        stop=lambda: len(counts) > 0,
    )
    later = []
    whole = analyse(record, bot, cube=False, cache=cache, progress=lambda done, total: later.append(done))

    assert not part.complete
    assert 0 < len(decisions_of(part)) == counts[-1] < len(decisions_of(whole))
    assert later[0] > counts[-1]
    assert whole == analyse(record, bot, cube=False)


def test_another_bot_of_the_same_name_is_judged_anew(bots, tmp_path):
    cache = tmp_path / "answers.sqlite"
    record = played_by(bots["hyper"], games=1)
    other = replace(bare(bots["hyper"]), weights=random_weights(bots["hyper"].rules, seed=2))

    before = analyse(record, bots["hyper"], cube=False, cache=cache)
    after = analyse(record, other, cube=False, cache=cache)

    assert after == analyse(record, other, cube=False)
    assert after != before


def test_damaged_cache_is_done_without(bots, tmp_path):
    cache = tmp_path / "answers.sqlite"
    cache.write_bytes(b"no database at all, and long enough to be looked at" * 20)
    record = played_by(bots["hyper"], games=1)

    analysis = analyse(record, bots["hyper"], cube=False, cache=cache)

    assert analysis.faults[0].startswith("answers are not kept: ")
    assert decisions_of(analysis) == decisions_of(analyse(record, bots["hyper"], cube=False))


@pytest.mark.parametrize("cube", [False, True])
def test_close_plays_are_rolled_out(bots, cube):
    bot = bots["hyper"]
    record = set_up("start", Turn(1, (6, 1), parse_play("24/23 24/18")), rules=bot.rules)
    options = RolloutOptions(games=36, within=10.0, seed=5)

    one, same, other = (
        next(d for d in decisions_of(analyse(record, bot, cube=cube, rollouts=chosen)) if isinstance(d, PlayDecision))
        for chosen in (options, options, replace(options, seed=6))
    )

    assert one == same
    assert one.choices != other.choices
    assert all(choice.error > 0 for choice in one.choices)
    assert [choice.equity for choice in one.choices] == sorted((c.equity for c in one.choices), reverse=True)
    assert sum(one.choices[0].outcomes) == pytest.approx(1, abs=1e-5)


def test_rolled_out_equity_of_the_last_game_is_that_of_the_wins(bots):
    """At one point away each, whatever the cube: 2 x chance to win - 1."""
    bot = bots["hyper"]
    board = start_boards(bot.rules)[0]
    after = afterstates(board, np.array((6, 1)), bot.rules).boards
    judge = Judge(bot, longest=1, rollouts=RolloutOptions(games=36, within=0.02, seed=5))

    (answer,) = judge.plays([PlayQuestion(board, (6, 1), after, CubeState(away=(1, 1)), played=0)])

    values, rolled = np.array(answer.values), np.array([error is not None for error in answer.errors])
    wins = np.array(answer.chances)[:, :3].sum(axis=1)
    assert 2 <= rolled.sum() < len(values)
    assert values[rolled] == pytest.approx(2 * wins[rolled] - 1, abs=1e-3)
    assert rolled[0]


def test_play_that_is_left_behind_counts_at_most_as_the_least_of_the_close_ones():
    """Rolled out are the plays close to the best, and the worst since it was played; those between keep their worth."""
    bot = load_bot("short")
    board = start_boards(bot.rules)[0]
    after = afterstates(board, np.array((3, 1)), bot.rules).boards
    bare = np.array(Judge(bot).plays([PlayQuestion(board, (3, 1), after, None)])[0].values)
    worst = int(bare.argmin())
    judge = Judge(bot, rollouts=RolloutOptions(games=12, within=0.02, seed=5))

    (answer,) = judge.plays([PlayQuestion(board, (3, 1), after, None, played=worst)])

    values, rolled = np.array(answer.values), np.array([error is not None for error in answer.errors])
    close = bare >= bare.max() - 0.02
    assert (rolled == (close | (np.arange(len(bare)) == worst))).all()
    assert values[~rolled] == pytest.approx(np.minimum(bare[~rolled], values[close].min()))
    assert values[worst] < values[~rolled].max()


def test_clear_decision_is_not_rolled_out(bots):
    bot = bots["hyper"]
    record = set_up("start", Turn(1, (6, 1), None), rules=bot.rules)

    (decision,) = decisions_of(analyse(record, bot, cube=False, rollouts=RolloutOptions(36, 0.0, 5)))

    assert {choice.error for choice in decision.choices} == {None}


def test_bot_that_knows_no_equities_is_refused():
    with pytest.raises(BotError, match="'pips' is no evaluator"):
        analyse(record_of("1) 31: 8/5 6/5"), load_bot("pips"))


def test_totals_of_games_add_up_to_those_of_the_match(bots):
    analysis = analyse(played_by(bots["short"], games=3), bots["short"], cube=True)

    for side in (0, 1):
        games = [game.totals[side] for game in analysis.games]
        assert sum(total.decisions for total in games) == analysis.totals[side].decisions
        assert sum(total.lost for total in games) == pytest.approx(analysis.totals[side].lost)
        assert sum(total.luck for total in games) == pytest.approx(analysis.totals[side].luck)
    assert [one.loss for one in analysis.worst] == sorted((one.loss for one in analysis.worst), reverse=True)
    assert analysis.worst[0].loss == max(one.loss for one in decisions_of(analysis) if one.counts)

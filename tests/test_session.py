"""A session between two seats: openings, cube, Crawford, Jacoby, results, undo, saving, and games to their end."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from positions import board_of, preset_of, read_data

from nardy_ai.boards import BAR, FACING, OFF
from nardy_ai.bots import load_bot
from nardy_ai.dice import dice_at, opening_at, opening_dice_at
from nardy_ai.errors import GameError, NotationError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.reference import plays
from nardy_ai.notation import format_play, parse_position
from nardy_ai.play.opponent import respond
from nardy_ai.play.session import (
    Action,
    Session,
    Setup,
    act,
    allowed,
    begin,
    from_dict,
    is_over,
    loss_names,
    position,
    score,
    to_dict,
    undo,
)
from nardy_ai.rules import find_preset

GAMES = ("short", "long", "hyper", "caucasian")


def session_of(name: str, *, seed: int = 1, games: int = 1, **options: object) -> Session:
    preset = find_preset(name)
    return begin(Setup(preset.rules, replace(preset.match, **options), seed, games=games))


def with_board(session: Session, text: str, **fields: object) -> Session:
    """The session as if the game stood at this board, before the roll."""
    board = parse_position(text, session.setup.rules)
    fields = {"ply": 10, "dice": None} | fields
    return Session(session.setup, states=(replace(session.state, board=board, **fields),))


def do(session: Session, *kinds: str) -> Session:
    """Act by whoever must."""
    for kind in kinds:
        word, _, text = kind.partition(" ")
        seat = session.state.to_act
        session = act(session, Action(0 if seat is None else seat, word, text))
    return session


def played_out(session: Session, bot: Bot, stop: Callable[[Session], bool] = is_over) -> Session:
    """The session played on by one bot in both seats."""
    while not stop(session):
        if session.state.game_over:
            session = act(session, Action(0, "next"))
        else:
            session = act(session, respond(session, bot))
    return session


@pytest.mark.parametrize("opening", ["use_dice", "reroll", "two_dice_each"])
def test_opening_has_the_dice_of_the_arena_and_throws_that_explain_it(opening: str):
    for game in range(60):
        found = opening_at(5, game, opening)
        assert found.dice == tuple(opening_dice_at(5, game, opening)[0].tolist())
        *ties, last = found.throws
        assert all(sum(one) == sum(other) for one, other in ties)
        assert sum(last[found.starter]) > sum(last[1 - found.starter])
        if opening == "use_dice":
            assert sorted((last[0][0], last[1][0]), reverse=True) == list(found.dice)
        if opening == "two_dice_each":
            assert last[found.starter] == found.dice


@pytest.mark.parametrize("case", read_data("cases/openings.json")["openings"], ids=lambda case: case["id"])
def test_openings_of_the_worked_cases(case):
    """The first seed that throws what the case throws (which seat threw what, after as many ties)."""
    options = preset_of(case).match
    *ties, last = [tuple((die,) if isinstance(die, int) else tuple(die) for die in throw) for throw in case["rolls"]]
    for seed in range(50_000):
        opening = opening_at(seed, 0, options.opening)
        if len(opening.throws) == len(ties) + 1 and opening.throws[-1] == last:
            break
    session = begin(Setup(preset_of(case).rules, options, seed))
    assert session.state.on_roll == ["first", "second"].index(case["starts"])
    assert session.state.stake == case.get("stake", 1)
    if case["plays"] is not None:
        assert session.state.dice == tuple(case["plays"])


def test_either_seat_starts_half_of_the_games():
    starters = [opening_at(1, game, "reroll").starter for game in range(1200)]
    assert abs(np.mean(starters) - 0.5) < 0.06  # more than four standard errors


def test_winner_starts_the_next_game_with_a_fresh_roll_where_the_rules_say_so():
    bot = load_bot("pips", "long")
    for seed in range(3):
        session = played_out(session_of("long", seed=seed, games=2), bot, stop=lambda s: s.state.game_over)
        after = do(session, "next").state
        assert after.on_roll == session.state.results[0].winner
        assert after.dice == tuple(dice_at(seed, 1, 0)[0].tolist())
        assert after.opening.throws == ()


@pytest.mark.parametrize("name", GAMES)
def test_rolls_are_those_of_the_lockstep_games(name: str):
    """A pure function of (seed, game, ply), the starter's roll by the opening."""
    session = played_out(session_of(name, seed=9), load_bot("random", name))
    states = [state for state in session.states if state.dice is not None]
    assert len({state.ply for state in states}) > 5
    for state in states:
        if state.ply:
            assert state.dice == tuple(dice_at(9, 0, state.ply)[0].tolist())


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(2))
def test_game_is_played_to_its_end_and_then_nothing_can_be_done(name: str, seed: int):
    session = played_out(session_of(name, seed=seed), load_bot("pips", name))
    (result,) = session.state.results
    assert result.how == "played"
    assert session.state.board[1, OFF] == session.setup.rules.checkers
    assert score(session)[result.winner] == result.points > 0
    assert allowed(session, 0) == allowed(session, 1) == ()
    for kind in ("roll", "play", "double", "next"):
        with pytest.raises(GameError):
            act(session, Action(0, kind))


@pytest.mark.parametrize("case", read_data("cases/scores.json")["scores"], ids=lambda case: case["id"])
def test_points_of_a_finished_game_are_those_of_the_worked_cases(case):
    preset = preset_of(case)
    rules = preset.rules
    loser = {int(point): count for point, count in case["loser"]["own"].items()} | {BAR: case["loser"]["own_bar"]}
    free = next(point for point in range(1, 7) if not loser.get(int(FACING[rules.board][point])))
    session = begin(Setup(rules, preset.match, 1))
    state = replace(
        session.state,
        board=board_of({free: 1}, loser, rules.checkers),
        dice=(6, 5),
        stake=case["stake"],
        owner=0 if case["cube_turned"] else None,
    )
    session = do(Session(session.setup, states=(state,)), f"play {free}/off")
    assert session.state.results[-1].points == case["points"]


def test_double_is_offered_before_the_roll_taken_and_owned_by_the_taker():
    session = with_board(session_of("short-match", length=5), "start")
    seat = session.state.on_roll
    assert allowed(session, seat) == ("roll", "double", "resign")
    assert allowed(session, 1 - seat) == ()
    session = do(session, "double")
    assert allowed(session, seat) == ()
    assert allowed(session, 1 - seat) == ("take", "drop")
    session = do(session, "take")
    assert (session.state.stake, session.state.owner) == (2, 1 - seat)
    assert allowed(session, seat) == ("roll", "resign")
    session = do(session, "roll")
    session = do(session, f"play {format_play(plays_now(session)[0].moves)}")
    assert allowed(session, 1 - seat) == ("roll", "double", "resign")


def plays_now(session: Session):
    return plays(session.state.board, session.state.dice, session.setup.rules)


def test_refused_double_loses_the_stake_before_it():
    session = do(with_board(session_of("short-match", length=7), "start", stake=4), "double", "drop")
    (result,) = session.state.results
    assert (result.winner, result.how, result.points) == (session.state.on_roll, "dropped", 4)


def test_arithmetic_cube_grows_by_one():
    session = with_board(session_of("short-dave", cube="arithmetic"), "start")
    stakes = [1]
    for _ in range(3):
        session = do(session, "double", "take", "roll")
        session = do(session, f"play {format_play(plays_now(session)[0].moves)}")
        stakes.append(session.state.stake)
    assert stakes == [1, 2, 3, 4]


def test_beaver_doubles_again_and_keeps_the_cube():
    session = with_board(session_of("short-money"), "start", stake=2)
    doubler = session.state.on_roll
    session = do(session, "double")
    assert allowed(session, 1 - doubler) == ("take", "beaver", "drop")
    session = do(session, "beaver")
    assert allowed(session, doubler) == ("take", "drop")
    taken = do(session, "take").state
    assert (taken.stake, taken.owner) == (8, 1 - doubler)
    (dropped,) = do(session, "drop").state.results
    assert (dropped.winner, dropped.points) == (1 - doubler, 4)


def test_raccoon_raises_once_more_and_the_cube_stays():
    session = with_board(session_of("short-money", raccoons=True), "start", stake=2)
    doubler = session.state.on_roll
    session = do(session, "double", "beaver")
    assert allowed(session, doubler) == ("take", "raccoon", "drop")
    session = do(session, "raccoon")
    assert allowed(session, 1 - doubler) == ("take", "drop")
    taken = do(session, "take").state
    assert (taken.stake, taken.owner, taken.to_act) == (16, 1 - doubler, doubler)
    (dropped,) = do(session, "drop").state.results
    assert (dropped.winner, dropped.points) == (doubler, 8)


@pytest.mark.parametrize(("options", "can"), [({"length": 0}, True), ({"length": 5, "jacoby": True}, False)])
def test_beavers_are_for_money(options, can):
    session = do(with_board(session_of("short-money", **options), "start"), "double")
    assert ("beaver" in allowed(session, session.state.to_act)) == can


@pytest.mark.parametrize(
    ("name", "fields", "can"),
    [
        ("short", {}, False),  # no cube
        ("short-match", {}, True),
        ("short-match", {"owner": 1}, False),  # the other seat's: the seat on roll is 0 here
        ("short-match", {"owner": 0}, True),
        ("short-match", {"crawford": True}, False),
        ("short-match", {"stake": 1024, "owner": 0}, False),
    ],
)
def test_who_may_double(name, fields, can):
    session = with_board(session_of(name, length=5), "start", on_roll=0, **fields)
    assert ("double" in allowed(session, 0)) == can


def test_nobody_doubles_before_the_first_roll_of_a_game():
    session = session_of("short-match", length=5)
    assert session.state.dice is not None
    assert allowed(session, session.state.on_roll) == ("play", "resign")


def lost_by(session: Session, loser: int, stake: int = 1) -> Session:
    """This game lost by a resignation at a stake, and the next begun if there is one."""
    state = replace(session.state, on_roll=loser, dice=None, ply=8, stake=stake)
    session = do(Session(session.setup, states=(state,)), "resign single", "accept")
    return session if is_over(session) else do(session, "next")


def test_crawford_game_is_the_one_after_a_side_reaches_match_point_and_no_other():
    session = session_of("short-match", length=3)
    crawford = [session.state.crawford]
    for loser, stake in ((1, 2), (0, 1), (1, 1)):
        session = lost_by(session, loser, stake)
        crawford.append(session.state.crawford)
    assert crawford == [False, True, False, False]
    assert score(session) == (3, 1)
    assert is_over(session)


def test_one_point_match_is_a_crawford_game():
    assert session_of("short-match", length=1).state.crawford


def test_match_goes_on_until_the_points_are_there_and_may_end_above():
    """Users' cases: 4-0 and a mars is 6-0 of 7; at 5-5 a stake of 4 ends it with 9."""
    session = lost_by(session_of("short-match", length=7), 1, stake=6)
    assert (score(session), is_over(session)) == ((6, 0), False)
    session = lost_by(lost_by(lost_by(session_of("short-match", length=7), 1, 5), 0, 5), 0, 4)
    assert (score(session), is_over(session)) == ((5, 9), True)


def test_automatic_doubles_are_as_many_as_the_rules_allow_and_for_money():
    ties = [len(opening_at(seed, 0, "use_dice").throws) - 1 for seed in range(300)]
    for seed in (ties.index(0), ties.index(1), ties.index(2)):
        money = session_of("short-money", seed=seed).state
        assert money.stake == (2 if ties[seed] else 1)
        assert money.owner is None
        twice = session_of("short-money", seed=seed, auto_doubles=2).state
        assert twice.stake == 2 ** ties[seed]
        assert session_of("short-money", seed=seed, length=5).state.stake == 1


@pytest.mark.parametrize(
    ("name", "board", "ways"),
    [
        ("short", "start", {"single": 1, "mars": 2, "koks": 3}),
        ("short", "6:14 / 6:15", {"single": 1}),
        ("short", "6:15 / 6:15", {"single": 1, "mars": 2}),
        ("short-money", "start", {"single": 1, "mars": 1, "koks": 1}),
        ("long", "start", {"single": 1, "mars": 2}),
        ("short-dave", "start", {"single": 1}),
        ("long-left", "6:2 / 6:15", {"1_left": 1, "2_left": 2}),
    ],
)
def test_resignation_is_to_a_loss_that_is_still_possible(name, board, ways):
    session = with_board(session_of(name), board)
    assert loss_names(session) == ways
    with pytest.raises(GameError, match="can still be lost as"):
        do(session, "resign everything")


def test_resignation_is_answered_and_play_goes_on_if_it_is_declined():
    session = do(with_board(session_of("short"), "start"), "roll")
    loser, dice = session.state.on_roll, session.state.dice
    offered = do(session, "resign mars")
    assert allowed(offered, 1 - loser) == ("accept", "decline")
    assert allowed(offered, loser) == ()
    declined = do(offered, "decline")
    assert (declined.state.dice, declined.state.on_roll) == (dice, loser)
    (result,) = do(offered, "accept").state.results
    assert (result.winner, result.how, result.way, result.points) == (1 - loser, "resigned", "mars", 2)


@pytest.mark.parametrize(
    ("board", "level", "answer"),
    [
        ("6:15 / 1:1", "single", "decline"),  # he wins with the next roll, and none of mine is off
        ("6:15 / 1:1", "mars", "accept"),
        ("6:14 / 1:1", "single", "accept"),
        ("1:1 / 6:15", "single", "accept"),  # a game I have won
    ],
)
def test_bot_accepts_what_it_could_not_win_more_by_playing_on(board, level, answer):
    for name in ("heuristic", "short"):
        session = do(with_board(session_of("short"), board), f"resign {level}")
        action = respond(session, load_bot(name, "short"))
        if name == "short":
            assert action.kind == answer
        else:
            assert action.kind == (
                "accept" if session.state.resigning == max(range(len(loss_names(session)))) else "decline"
            )


def test_undo_takes_back_the_last_decision_and_the_answer_to_it():
    session = session_of("short", seed=4)
    bot = load_bot("pips", "short")
    seat = session.state.on_roll
    other = 1 - seat
    while session.state.on_roll == seat or session.state.dice is not None:
        session = act(session, respond(session, bot))
    # The other seat is before its first roll: its first decision is still to come.
    with pytest.raises(GameError, match="nothing to take back"):
        undo(session, other)
    before = do(session, "roll")
    after = act(before, respond(before, bot))
    after = do(after, "roll")
    after = act(after, respond(after, bot))
    back = undo(after, other)
    assert back.state is before.state
    assert back.actions == before.actions
    rolled = do(after, "roll")
    with pytest.raises(GameError, match="you have rolled"):
        undo(rolled, other)


def test_forced_play_is_no_decision_to_take_back():
    session = with_board(session_of("short"), "bar:1 6:14 / 24:5 6:2 5:2 4:2 3:2 2:2", dice=(3, 2))
    seat = session.state.on_roll
    (forced,) = plays_now(session)
    session = do(session, f"play {format_play(forced.moves)}")
    with pytest.raises(GameError, match="your last play was forced"):
        undo(session, seat)


def test_game_that_is_over_is_not_taken_back_from_the_next():
    session = do(with_board(session_of("short", games=2), "start"), "resign single", "accept", "next")
    with pytest.raises(GameError, match="nothing in this game"):
        undo(session, 0)


@pytest.mark.parametrize("name", [*GAMES, "short-money", "long-left"])
def test_saved_session_goes_on_as_if_it_had_not_been_interrupted(name: str):
    bot = load_bot("heuristic", name)
    whole = played_out(session_of(name, seed=3, games=2), bot, stop=lambda s: is_over(s) or len(s.actions) >= 120)
    for cut in range(0, len(whole.actions), 23):
        before = Session(whole.setup, whole.actions[:cut], whole.states[: cut + 1])
        session = from_dict(json.loads(json.dumps(to_dict(before))))
        assert to_dict(session) == to_dict(before)
        for action in whole.actions[cut : cut + 3]:
            chosen = Action(0, "next") if session.state.game_over else respond(session, bot)
            assert chosen == action
            session = act(session, chosen)
    again = from_dict(json.loads(json.dumps(to_dict(whole))))
    assert again.state.results == whole.state.results
    assert (again.state.board == whole.state.board).all()


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "nardy-play-0"},
        {"actions": [[0, "play", "8/5 6/5"], [1, "play", "24/1"]]},
        {"actions": [[0, "dance", ""]]},
        {"actions": [[7, "play", "pass"]]},
        {"actions": [[0]]},
        {"actions": 3},
        {"rules": {}},
        {"match": {"length": "five"}},
        {"match": {"lenght": 5}},
        {"players": ["one"]},
        {"seed": None},
        {"seed": float("inf")},
        {"games": 0},
    ],
)
def test_damaged_save_is_refused_with_a_word_about_it(damage):
    data = to_dict(session_of("short")) | damage
    with pytest.raises(GameError, match=r"damaged|no saved game"):
        from_dict(data)


@pytest.mark.parametrize("data", [None, [], "x", {}, {"format": "nardy-play-1"}])
def test_other_data_is_no_saved_game(data):
    with pytest.raises(GameError):
        from_dict(data)


def test_illegal_play_is_refused_and_changes_nothing():
    session = session_of("short")
    seat, before = session.state.on_roll, session.state
    for text in ("24/1", "pass", "bar/22"):
        with pytest.raises(GameError, match="is not legal"):
            act(session, Action(seat, "play", text))
    with pytest.raises(NotationError):
        act(session, Action(seat, "play", "8+5"))
    with pytest.raises(GameError, match="cannot play now"):
        act(session, Action(1 - seat, "play", "8/5"))
    assert session.state is before


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_play_is_accepted_by_its_printed_name(name: str):
    bot = load_bot("random", name)
    session = session_of(name, seed=2)
    for _ in range(30):
        if session.state.game_over:
            break
        if session.state.dice is not None:
            for play in plays_now(session):
                after = act(session, Action(session.state.on_roll, "play", format_play(play.moves))).state
                assert (after.board == play.afterstate).all()
        session = act(session, respond(session, bot))


def test_position_shows_cube_and_score_from_the_side_on_roll():
    session = with_board(session_of("short-match", length=7), "start", on_roll=1, stake=2, owner=1)
    session = Session(session.setup, states=(replace(session.state, results=(), game=0),))
    shown = position(session)
    assert (shown.cube_value, shown.cube_owner, shown.match_length, shown.row0_player) == (2, 0, 7, 0)
    assert position(do(session, "double")).offer == "double"
    assert position(do(session, "double", "drop")).game_state == "dropped"

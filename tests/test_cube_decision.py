"""One decision has one name, and a state of the cube is one that a game can be in."""

import pytest
from positions import read_data

from nardy_ai.cube.decision import BeaverWorth, verdict
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.state import CubeState, CubeStates, first_state, state_of_position, swap_state
from nardy_ai.errors import CubeError
from nardy_ai.notation import read_position
from nardy_ai.rules import MatchOptions, find_match_options, find_rules

SHORT = find_rules("short")
CUBE_CASES = {case["id"]: case for case in read_data("cases/cube.json")["cube"]}


@pytest.mark.parametrize(
    ("values", "redouble", "action", "cost_no_double", "cost_double"),
    [
        ((0.105, -0.171, 1.0), False, "no double, take", 0, 0.276),  # entry 17 of what users ask
        ((1.448, 2.8, 1.0), False, "too good to double, pass", 0, 0.448),  # entry 18, without Jacoby
        ((0.98, 2.8, 1.0), False, "double, pass", 0.02, 0),
        ((0.978, 0.859, 1.0), True, "no redouble, take", 0, 0.119),  # entry 20
        ((0.958, 1.102, 1.0), False, "double, pass", 0.042, 0),  # entry 21
        ((0.0556, 0.1111, 1.0), False, "double, take", 0.0555, 0),  # entry 22
        ((0.4, 0.9, 1.0), True, "redouble, take", 0.5, 0),
        ((1.01, 0.99, 1.0), False, "too good to double, take", 0, 0.02),
        ((1.2, 1.3, 1.0), True, "too good to redouble, pass", 0, 0.2),
    ],
)
def test_decision_has_its_name_and_its_costs(values, redouble, action, cost_no_double, cost_double):
    found = verdict(*values, redouble=redouble)
    assert found.action == action
    assert (found.cost_no_double, found.cost_double) == pytest.approx((cost_no_double, cost_double), abs=1e-9)


def test_wrong_answers_cost_the_other_side():
    assert verdict(0.9, 1.102, 1.0).cost_take == pytest.approx(0.102)
    assert verdict(0.9, 1.102, 1.0).cost_pass == 0
    assert verdict(0.1, 0.3, 1.0).cost_pass == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("values", "action"),
    [
        ((1.0, 1.5, 1.0), "double, pass"),  # won or won: end it
        ((0.0, 0.0, 1.0), "no double, take"),  # nothing gained: keep the cube
        ((0.5, 1.0, 1.0), "double, take"),  # take and pass cost the same: play on
    ],
)
def test_equal_values_are_told_apart_by_the_second_key(values, action):
    assert verdict(*values).action == action
    jittered = tuple(value + 1e-9 for value in values[:2])
    assert verdict(*jittered, values[2]).action == action


def test_beaver_is_right_where_a_double_loses():
    beaver = BeaverWorth(-0.4, -2.0, -0.8, 4.0)
    found = verdict(0.1, -0.2, 1.0, beaver=beaver)
    assert found.action == "no double, beaver"
    assert (found.cost_take, found.cost_double) == pytest.approx((0.2, 0.5))
    assert beaver.reply == "play on"


def test_beaver_at_a_double_that_wins_is_answered_by_a_raccoon():
    beaver = BeaverWorth(0.6, -2.0, 1.2, 4.0)
    found = verdict(0.1, 0.3, 1.0, beaver=beaver)
    assert found.action == "double, take"
    assert found.cost_beaver == pytest.approx(0.9)
    assert beaver.reply == "raccoon"


def test_beavered_doubler_drops_what_is_lost():
    assert BeaverWorth(-2.5, -2.0).reply == "drop"
    assert verdict(-0.9, -1.25, 1.0, beaver=BeaverWorth(-2.5, -2.0)).answer == "beaver"


def test_double_at_minus_equity_can_be_right_and_is_beavered():
    """Kauder's paradox: with Jacoby's rule a double may gain although it loses and is rightly beavered."""
    found = verdict(-0.3, -0.1, 1.0, beaver=BeaverWorth(-0.2, -2.0))
    assert found.action == "double, beaver"
    assert found.cost_no_double == pytest.approx(0.1)


def test_where_nobody_may_double_there_is_no_action():
    found = verdict(0.7, None, 1.0)
    assert (found.action, found.answer, found.cost_double) == ("no cube action", None, 0)


def test_cases_of_the_rules():
    """tests/data/cases: how the stake grows, who may double, and what a drop costs."""
    case = CUBE_CASES["cube-05"]
    model_stakes = CubeStates.of(CubeState(case["stake"]))
    assert CubeModel(SHORT).doubled(model_stakes, times=2).stakes[0] == case["after"]
    arithmetic, stakes = CubeModel(SHORT, growth=CUBE_CASES["cube-02"]["progression"]), [1]
    states = CubeStates.of(CubeState())
    for _ in range(CUBE_CASES["cube-02"]["offers"]):
        states = arithmetic.doubled(states)
        stakes.append(int(states.stakes[0]))
    assert stakes == CUBE_CASES["cube-02"]["stakes"]
    dropped = CubeStates.of(CubeState(CUBE_CASES["cube-03"]["stake"]))
    assert CubeModel(SHORT).single(dropped, won=True)[0] == CUBE_CASES["cube-03"]["drop_points"]
    taken = CubeModel(SHORT).doubled(CubeStates.of(CubeState()))
    assert CUBE_CASES["cube-04"]["owner"] == "taker"
    assert taken.owners[0] == 1
    assert not CubeModel(SHORT).may_double(taken)[0]
    assert CubeModel(SHORT).may_double(taken.swapped())[0]


def test_match_case_of_the_rules_is_a_crawford_game():
    case = CUBE_CASES["match-01"]
    options = MatchOptions(cube="geometric", crawford=True, length=case["length"])
    state = first_state(options, scores=tuple(case["score"]), crawford_played=case["crawford_played"])
    assert state.crawford
    assert state.away == (1, 3)
    assert not first_state(options, scores=tuple(case["score"]), crawford_played=True).crawford


def test_game_begins_as_the_options_say():
    money = first_state(find_match_options("short-money"), ties=3)
    assert (money.value, money.owner, money.jacoby, money.beavers) == (2, None, True, True)  # one automatic double
    dave = first_state(MatchOptions(cube="arithmetic"))
    assert (dave.value, dave.growth, dave.jacoby) == (1, "arithmetic", False)
    match = first_state(MatchOptions(cube="geometric", crawford=True, length=7), scores=(3, 2))
    assert (match.away, match.crawford, match.jacoby) == ((4, 5), False, False)


def test_state_of_a_position_is_seen_by_the_side_on_roll():
    position = read_position("XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:3:2:0:7:10", SHORT)
    state = state_of_position(position)
    assert (state.value, state.owner, state.away, state.crawford, state.cap) == (2, 1, (4, 5), False, 1024)
    other = swap_state(state)
    assert (other.owner, other.away) == (0, (5, 4))
    assert swap_state(other) == state


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"value": 0}, "cube shows 0"),
        ({"value": 2**16}, "cube shows 65536"),
        ({"owner": 2}, "owner is 2"),
        ({"growth": "fast"}, "growth = 'fast'"),
        ({"cap": 0}, "largest stake is 0"),
        ({"crawford": True}, "only in a match"),
        ({"away": (3, 0)}, "points away are"),
        ({"away": (3, 2), "crawford": True}, "a side is one point away"),
    ],
)
def test_impossible_state_is_refused(arguments, fault):
    with pytest.raises(CubeError, match=fault):
        CubeState(**arguments)


def test_states_in_a_batch_swap_and_join():
    states = CubeStates.join([CubeStates.of(CubeState(2, 0, (3, 5))), CubeStates.of(CubeState(1, None, (2, 2)))])
    swapped = states.swapped()
    assert swapped.owners.tolist() == [1, -1]
    assert swapped.to_go.tolist() == [[5, 3], [2, 2]]
    assert len(states.repeat(3)) == 6
    assert states.repeat(2).stakes.tolist() == [2, 2, 1, 1]

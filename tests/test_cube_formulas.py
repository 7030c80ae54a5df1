"""Cubeful equity by formula: against the documentation's lines, known limits, and what the cube must never do."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cube_formulas
import numpy as np
import pytest
from cube_formulas import Twin, formulas

from nardy_ai.cube.efficiency import SHIPPED, efficiencies
from nardy_ai.cube.equity import CubeModel, match_table
from nardy_ai.cube.kernels import OVER
from nardy_ai.cube.met import BACKGAMMON_ENDS, computed_table
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cube.windows import gammon_value, window_of
from nardy_ai.errors import CubeError
from nardy_ai.outcomes import class_points, equities
from nardy_ai.rules import find_rules, start_boards

SHORT, DAVE, LEFT = find_rules("short"), find_rules("short-dave"), find_rules("long-left")
HYPER = find_rules("hyper")
CUT_OFF = 1e-4
"""Where a ladder of 64 stakes is cut off from another place, wins of 45 points differ by so much."""
NAMES = ("no_double", "double_take", "double_pass", "beaver", "raccoon", "best")


def single(*wins: float) -> np.ndarray:
    """Outcomes `float32[N, 6]` with single results only."""
    chances = np.zeros((len(wins), 6), dtype=np.float32)
    chances[:, 0] = wins
    chances[:, 3] = 1 - chances[:, 0]
    return chances


def random_chances(rules, n: int, rng: np.random.Generator) -> np.ndarray:
    weights = rng.gamma(0.6, size=(n, len(class_points(rules)))) * (class_points(rules) != 0)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def random_state(rng: np.random.Generator, *, match: bool, growth: str) -> CubeState:
    away = tuple(int(n) for n in rng.integers(1, 12, 2)) if match else None
    stake = int(rng.integers(1, 9)) if growth == "arithmetic" else int(2 ** rng.integers(0, 4))
    crawford = match and min(away) == 1 and rng.random() < 0.3
    owner = None if crawford else (None, 0, 1)[rng.integers(3)]
    cap = (None, 1, 4, 64)[rng.integers(4)]
    beavers = bool(rng.integers(2))
    return CubeState(
        stake, owner, away, crawford, jacoby=bool(rng.integers(2)), beavers=beavers,
        raccoons=beavers and bool(rng.integers(2)), growth=growth, cap=cap,
    )  # fmt: skip


@pytest.mark.parametrize("growth", ["geometric", "arithmetic"])
@pytest.mark.parametrize("match", [False, True])
@pytest.mark.parametrize("rules", [SHORT, DAVE, LEFT], ids=lambda rules: rules.name)
def test_program_does_what_the_documentation_says(rules, match, growth):
    rng = np.random.default_rng(len(rules.name) + 10 * match)
    table = match_table(rules, 12, growth=growth) if rules is not LEFT else match_table(SHORT, 12)
    for _ in range(60):
        state = random_state(rng, match=match, growth=growth)
        model = CubeModel.of(state, rules, table)
        chances, x = random_chances(rules, 1, rng), rng.random((1, 3))
        worth = model.worth_at(chances, x, CubeStates.of(state))
        for name, value in Twin(model, state, chances[0], x[0]).values().items():
            found = getattr(worth, name)[0]
            assert np.isnan(found) if value is None else found == pytest.approx(value, abs=CUT_OFF), (
                name,
                state,
            )


@pytest.mark.parametrize(("owner", "name"), [(0, "janowski_own"), (1, "janowski_his"), (None, "mixed_centre")])
def test_money_between_the_cash_points_is_janowskis_line(owner, name):
    rng = np.random.default_rng(4)
    model = CubeModel(SHORT)
    for _ in range(50):
        chances = random_chances(SHORT, 1, rng)
        p = float(chances[0, :3].sum())
        won, lost = chances[0, :3] @ [1, 2, 3] / p, chances[0, 3:] @ [1, 2, 3] / (1 - p)
        f, x = formulas(), rng.random()
        if not f.endless_his_cash(won, lost) < p < f.endless_my_cash(won, lost):
            continue
        worth = model.worth_at(chances, np.full((1, 3), x), CubeStates.of(CubeState(owner=owner, jacoby=False)))
        assert worth.no_double[0] == pytest.approx(getattr(f, name)(p, x, won, lost), abs=1e-5)


def test_scale_and_gammon_value_are_those_of_the_documentation():
    f, model = formulas(), CubeModel(SHORT, table=match_table(SHORT, 7))
    rng = np.random.default_rng(6)
    for _ in range(30):
        state = CubeState(int(rng.integers(1, 5)), away=tuple(int(n) for n in rng.integers(1, 8, 2)))
        states, twin = CubeStates.of(state), Twin(model, state, single(0.5)[0], np.ones(3))
        won, lost, twice = (twin.utility(n * state.value) for n in (1, -1, 2))
        assert model.per_cube(np.array([0.3]), states)[0] == pytest.approx(f.per_cube(0.3, won, lost))
        assert gammon_value(model, states) == pytest.approx(f.gammon_value(twice, won, lost))


def test_computed_match_equity_is_that_of_the_documentation():
    table = computed_table(6, BACKGAMMON_ENDS, CubeModel(SHORT).points)
    model = CubeModel(SHORT, table=table)
    for away in ((2, 5), (4, 4), (6, 3)):
        both = [
            Twin(model, CubeState(away=scores), BACKGAMMON_ENDS, np.array(SHIPPED.contact)).values()["best"]
            for scores in (away, away[::-1])
        ]
        assert 2 * table.chance(*away) - 1 == pytest.approx(formulas().cell(*both), abs=1e-6)


def test_no_formula_of_the_page_goes_untested():
    """Those that the twin uses, and those of the tests of this file."""
    twin = {name for name in vars(formulas()) if f"f.{name}(" in Path(cube_formulas.__file__).read_text("utf-8")}
    here = {name for name in vars(formulas()) if re.search(rf"[.\"]{name}\b", Path(__file__).read_text("utf-8"))}
    assert twin | here == set(vars(formulas()))
    assert len(twin) > 10


def test_live_cube_for_money_turns_at_a_fifth_and_a_dead_one_at_a_quarter():
    """Keeler and Spencer 1975."""
    model, states = CubeModel(SHORT), CubeStates.of(CubeState(jacoby=False))
    live = window_of(model, states, single(0.5)[0], efficiency=1.0)
    assert (live.take_point, live.double_point, live.cash_point) == pytest.approx((0.2, 0.8, 0.8), abs=1e-6)
    dead = window_of(model, states, single(0.5)[0], efficiency=0.0)
    assert (dead.take_point, dead.double_point) == pytest.approx((0.25, 0.5), abs=1e-6)
    assert dead.too_good_point is None


def mars_often(won: float) -> np.ndarray:
    """Half of the wins and a third of the losses with mars, `float64[6]`."""
    return np.array([won / 2, won / 2, 0, (1 - won) * 2 / 3, (1 - won) / 3, 0])


@pytest.mark.parametrize("growth", ["geometric", "arithmetic"])
def test_a_cube_that_cannot_turn_again_is_as_good_as_dead(growth: str):
    """With mars: below the last stake a live cube is cashed where the dead one is, at (1 + 2 L) / (2 W + 2 L)."""
    model, states = CubeModel(SHORT, growth=growth, cap=2), CubeStates.of(CubeState(jacoby=False))

    live, dead = (window_of(model, states, mars_often(0.5), efficiency=x) for x in (1.0, 0.0))

    assert live.cash_point == pytest.approx((1 + 2 * 4 / 3) / (2 * 3 / 2 + 2 * 4 / 3), abs=1e-6)
    assert live.cash_point == pytest.approx(dead.cash_point, abs=1e-6)


@pytest.mark.parametrize("cap", [2, 4, 8, 64])
@pytest.mark.parametrize("away", [None, (9, 7)])
def test_at_a_live_cash_point_to_take_costs_as_much_as_to_pass(cap: int, away: tuple[int, int] | None):
    """And nobody who doubles below it gains by it."""
    model = CubeModel(SHORT, cap=cap, table=None if away is None else match_table(SHORT, 9))
    states = CubeStates.of(CubeState(away=away, jacoby=False))
    cash = window_of(model, states, mars_often(0.5), efficiency=1.0).cash_point

    at, below = (model.worth_at(mars_often(p)[None], np.ones((1, 3)), states) for p in (cash, cash - 0.1))

    assert at.double_take[0] == pytest.approx(at.double_pass[0], abs=1e-5)
    assert at.no_double[0] == pytest.approx(at.double_pass[0], abs=1e-5)
    assert below.double_take[0] < below.no_double[0] + 1e-6  # equal if the cube cannot turn again


def test_every_mars_moves_the_dead_take_point():
    """If every loss of the taker is a mars he loses 4 for a pass of 1 and a win of 2: 3 of 6."""
    chances = np.array([0, 0.5, 0, 0.5, 0, 0], dtype=np.float32)
    window = window_of(CubeModel(SHORT), CubeStates.of(CubeState(jacoby=False)), chances, efficiency=0.0)
    assert window.take_point == pytest.approx(0.5, abs=1e-6)


def test_arithmetic_stakes_lower_the_take_point_level_by_level():
    f, model = formulas(), CubeModel(DAVE, growth="arithmetic")
    expected = 0.0
    takes = {}
    for stake in range(60, 0, -1):
        takes[stake] = expected = f.arithmetic_take(stake, expected)
    for stake in (1, 2, 3, 5, 10):
        states = CubeStates.of(CubeState(stake, growth="arithmetic"))
        assert window_of(model, states, single(0.5)[0], efficiency=1.0).take_point == pytest.approx(
            takes[stake], abs=1e-6
        )
        dead = window_of(model, states, single(0.5)[0], efficiency=0.0)
        assert dead.take_point == pytest.approx(1 / (2 * (stake + 1)), abs=1e-6)
    assert takes[1] == pytest.approx(0.2131, abs=1e-4)  # 0.2 if stakes double
    assert takes[1] > takes[2] > takes[5] > takes[10]


def test_holding_an_arithmetic_cube_is_worth_less_the_higher_it_stands():
    """Per cube, owned against not owned at an even chance."""
    model = CubeModel(DAVE, growth="arithmetic")
    gains = []
    for stake in (1, 2, 4, 8):
        mine, his = (
            model.worth_at(
                single(0.5), np.ones((1, 3)), CubeStates.of(CubeState(stake, owner, growth="arithmetic"))
            ).no_double[0]
            for owner in (0, 1)
        )
        gains.append((mine - his) / stake)
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0


@pytest.mark.parametrize("stake", [32, 64])
def test_cap_ends_doubling(stake):
    """At 32 of 64 one double is left, which the taker cannot return: 25 %. At 64 there is no cube any more."""
    model, states = CubeModel(SHORT, cap=64), CubeStates.of(CubeState(stake, jacoby=False, cap=64))
    window = window_of(model, states, single(0.5)[0], efficiency=1.0)
    worth = model.worth_at(single(0.9), np.ones((1, 3)), states)
    if stake == 32:
        assert window.take_point == pytest.approx(0.25, abs=1e-6)
        assert worth.double_take[0] == pytest.approx(64 * 0.8, abs=1e-4)
    else:
        assert window.take_point is None
        assert not model.may_double(states)[0]
        assert worth.no_double[0] == worth.best[0] == pytest.approx(64 * 0.8, abs=1e-4)
        assert np.isnan(worth.double_take[0])


def test_jacoby_counts_mars_only_once_the_cube_is_turned():
    """Entry 18 of what users ask: too good without Jacoby and with a turned cube, a cash with Jacoby in the centre."""
    chances = np.array([[0.52, 0.45, 0.01, 0.02, 0, 0]], dtype=np.float32)
    x = np.full((1, 3), 0.68)

    def worth(jacoby: bool, owner: int | None) -> float:
        state = CubeState(1, owner, jacoby=jacoby)
        return CubeModel.of(state, SHORT).worth_at(chances, x, CubeStates.of(state)).no_double[0]

    assert worth(False, None) > 1
    assert worth(True, None) <= 1
    assert worth(True, 0) == worth(False, 0) > 1


def test_beavers_bring_twice_the_loss_but_the_doubler_may_drop():
    state = CubeState(jacoby=False, beavers=True)
    model = CubeModel.of(state, SHORT)
    worth = model.worth_at(single(0.45, 0.02), np.zeros((2, 3)), CubeStates.of(state, 2))
    assert worth.beaver == pytest.approx(2 * worth.double_take, abs=1e-5)
    assert worth.double_take == pytest.approx([-0.2, -1.92], abs=1e-5)


def test_raccoons_change_no_value_where_stakes_double_without_end():
    """A right beaver is one to a double that loses, which no raccoon makes better; a wrong one is never made."""
    state = CubeState(jacoby=False, beavers=True)
    chances = random_chances(SHORT, 400, np.random.default_rng(5))
    with_them, without = (
        CubeModel.of(replace(state, raccoons=raccoons), SHORT).worth_at(
            chances, np.full((400, 3), 0.6), CubeStates.of(state, 400)
        )
        for raccoons in (True, False)
    )
    assert with_them.best.tolist() == without.best.tolist()
    assert np.isnan(without.raccoon).all()
    assert with_them.raccoon == pytest.approx(2 * with_them.beaver)


def test_a_raccoon_below_the_cap_can_be_right():
    """Stakes 1, 2, 3, 4 and no more: whoever is doubled to 3 by a beaver is doubled to a dead cube at 4."""
    state = CubeState(jacoby=False, beavers=True, growth="arithmetic", cap=4)
    chances = single(0.5)
    worths = [
        CubeModel.of(replace(state, raccoons=raccoons), SHORT).worth_at(chances, np.ones((1, 3)), CubeStates.of(state))
        for raccoons in (True, False)
    ]
    assert worths[0].raccoon[0] == pytest.approx(0)  # a dead cube, an even game
    assert worths[0].beaver[0] < 0


def test_finished_games_are_worth_what_they_pay():
    state = CubeState(4, 0, jacoby=False)
    worth = CubeModel.of(state, SHORT).worth_at(
        np.eye(6, dtype=np.float32), np.full((6, 3), OVER), CubeStates.of(state, 6)
    )
    assert worth.best.tolist() == worth.no_double.tolist() == [4, 8, 12, -4, -8, -12]


def test_crawford_game_has_no_cube_and_the_leader_never_doubles():
    model = CubeModel(SHORT, table=match_table(SHORT, 5))
    crawford, after = (CubeStates.of(CubeState(away=(2, 1), crawford=flag)) for flag in (True, False))
    leader = CubeStates.of(CubeState(away=(1, 2)))
    assert [bool(model.may_double(states)[0]) for states in (crawford, after, leader)] == [False, True, False]
    worth = model.worth_at(single(0.6), np.full((1, 3), 0.68), crawford)
    assert worth.no_double[0] == worth.best[0] == pytest.approx(0.6 * 0 + 0.4 * -1, abs=1e-6)  # 1-1 is even


def test_trailer_after_crawford_loses_nothing_by_doubling():
    """Entry 21: two away against one; the leader has a free pass just below an even chance."""
    model, states = CubeModel(SHORT, table=match_table(SHORT, 5)), CubeStates.of(CubeState(away=(2, 1)))
    worth = model.worth_at(single(0.45, 0.52), np.full((2, 3), 0.68), states.repeat(2))
    assert worth.double_take == pytest.approx([-0.1, 0.04], abs=1e-6)
    assert (np.minimum(worth.double_take, worth.double_pass) >= worth.no_double - 1e-9).all()
    assert worth.best == pytest.approx([-0.1, 0.0], abs=1e-6)


def test_overshooting_cube_is_worth_no_more_than_the_match():
    """Cube at 4, two away each: the winner has the match, whoever owns the cube and however he wins."""
    model = CubeModel(SHORT, table=match_table(SHORT, 7))
    chances = np.array([[0.1, 0.3, 0.1, 0.2, 0.2, 0.1]], dtype=np.float32)
    for owner in (None, 0, 1):
        states = CubeStates.of(CubeState(4, owner, away=(2, 2)))
        worth = model.worth_at(chances, np.full((1, 3), 0.68), states)
        assert worth.no_double[0] == worth.best[0] == pytest.approx(0.0, abs=1e-6)
        assert not model.may_double(states)[0]


@pytest.mark.parametrize("away", [None, (7, 7), (3, 5), (4, 2), (5, 1)])
def test_owning_the_cube_is_never_worse_and_values_rise_with_the_chance(away):
    state = CubeState(away=away, jacoby=False)
    model = CubeModel.of(state, SHORT, match_table(SHORT, 7))
    wins = np.linspace(0.01, 0.99, 99)
    chances = single(*wins)
    chances[:, 1], chances[:, 0] = 0.25 * chances[:, 0], 0.75 * chances[:, 0]
    values = {}
    for owner in (None, 0, 1):
        states = CubeStates.of(CubeState(2, owner, away=away, jacoby=False), 99)
        values[owner] = model.worth_at(chances, np.full((99, 3), 0.68), states).no_double
        assert (np.diff(values[owner]) >= -1e-9).all()
    assert (values[0] >= values[None] - 1e-9).all()
    assert (values[None] >= values[1] - 1e-9).all()


@pytest.mark.parametrize("away", [None, (4, 6), (2, 1)])
def test_the_other_side_sees_the_opposite(away):
    """A cube that nobody may double at this moment is worth as much to one side as it costs the other."""
    state = CubeState(2, away=away, jacoby=False)
    model = CubeModel.of(state, SHORT, match_table(SHORT, 7))
    chances = random_chances(SHORT, 40, np.random.default_rng(2))
    swapped = np.concatenate((chances[:, 3:], chances[:, :3]), axis=1)
    x = np.full((40, 3), 0.6)
    states = CubeStates.of(state, 40)
    mine = model.worth_at(chances, x, states).no_double
    his = model.worth_at(swapped, x, states.swapped()).no_double
    assert mine == pytest.approx(-his, abs=1e-6)


def test_no_cube_is_cubeless_points():
    state = CubeState(jacoby=False, cap=1)
    chances = random_chances(SHORT, 40, np.random.default_rng(3))
    worth = CubeModel.of(state, SHORT).worth_at(chances, np.full((40, 3), 0.68), CubeStates.of(state, 40))
    assert worth.best == pytest.approx(equities(chances, SHORT), abs=1e-5)


def test_gammon_value_is_a_half_for_money_and_nothing_where_the_match_is_won_anyway():
    assert gammon_value(CubeModel(SHORT), CubeStates.of(CubeState())) == 0.5
    model = CubeModel(SHORT, table=match_table(SHORT, 7))
    assert gammon_value(model, CubeStates.of(CubeState(away=(1, 4)))) == 0
    assert gammon_value(model, CubeStates.of(CubeState(away=(2, 1)))) == pytest.approx(1.0)


def test_answers_do_not_depend_on_the_batch():
    rng = np.random.default_rng(8)
    given = [random_state(rng, match=True, growth="geometric") for _ in range(30)]
    states = CubeStates.join([CubeStates.of(state) for state in given])
    model = CubeModel(SHORT, table=match_table(SHORT, 12))
    chances, x = random_chances(SHORT, 30, rng), rng.random((30, 3))
    together, order = model.worth_at(chances, x, states), rng.permutation(30)
    apart = model.worth_at(chances[order], x[order], states.take(order))
    for name in NAMES:
        assert np.array_equal(getattr(together, name)[order], getattr(apart, name), equal_nan=True)


def test_efficiency_is_lower_at_the_end_of_a_race_and_for_who_lags():
    boards = start_boards(SHORT, 4)
    boards[1:] = 0
    boards[1, :, 6], boards[2:, :, 1] = 15, 1
    boards[2:, :, 0] = 14
    found = efficiencies(boards, single(0.7, 0.7, 0.7, 0.2), SHORT)
    assert found[0].tolist() == list(SHIPPED.contact)
    assert (found[2, :2] < found[1, :2]).all()
    assert found[3, 1] < found[2, 1]  # my cube, while I lag
    assert found[2, 2] < found[3, 2]  # his cube, while he lags


@pytest.mark.parametrize("win", [0.1, 0.5, 0.55, 0.9])
def test_efficiency_in_a_short_race_is_that_of_the_documentation(win):
    """Six pips against six: the first row of the table of races."""
    board = np.zeros((1, 2, 26), dtype=np.int8)
    board[:, :, 0], board[:, :, 6] = 14, 1
    f = formulas()
    expected = [f.lagging_centre(0.58, win), f.lagging_owner(0.38, win), f.lagging_owner(0.48, 1 - win)]
    assert efficiencies(board, single(win), SHORT)[0] == pytest.approx(expected, abs=1e-6)


def test_states_must_fit_the_model():
    money, match = CubeModel(SHORT), CubeModel(SHORT, table=match_table(SHORT, 25))
    chances, x = single(0.5), np.full((1, 3), 0.5)
    with pytest.raises(CubeError, match="model of the cube is for money"):
        money.worth_at(chances, x, CubeStates.of(CubeState(away=(3, 3))))
    with pytest.raises(CubeError, match="is for matches"):
        match.worth_at(chances, x, CubeStates.of(CubeState()))
    with pytest.raises(CubeError, match="reach 25"):
        match.worth_at(chances, x, CubeStates.of(CubeState(away=(26, 3))))
    with pytest.raises(CubeError, match="2 states of the cube for 1 boards"):
        money.worth_at(chances, x, CubeStates.of(CubeState(), 2))
    with pytest.raises(CubeError, match=re.escape("expected [1, 6] and [1, 3]")):
        money.worth_at(chances, np.full(3, 0.5), CubeStates.of(CubeState()))


def few_tables() -> list[list[list[float]]]:
    """The tables of few checkers in docs/cube.md: centre, own, the other's; each with its head and its first column."""
    section = cube_formulas.PAGE.read_text("utf-8").partition("**Few checkers in contact**")[2].partition("How they")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    heads = [i for i, row in enumerate(rows) if row[0] == "chance to win"]
    tables = [rows[i:j] for i, j in zip(heads, [*heads[1:], len(rows)], strict=True)]
    return [[[0.0, *map(float, rows[0][1:])], *([float(x) for x in row] for row in rows[2:])] for rows in tables]


def test_efficiency_of_few_checkers_in_contact_is_that_of_the_documentation():
    """At the numbers of the tables, and half way between two of them. Row 1 has one checker, behind row 0's."""
    for owner, ((_, *lengths), *rows) in enumerate(few_tables()):
        for near, far in pairwise(range(len(lengths))):
            for low, high in pairwise(rows):
                for column, share in ((near, 0.0), (far, 0.0), (near, 0.5)):
                    pips = lengths[near] if column == near else lengths[far]
                    board = contact_of_pips(int(pips))
                    win = low[0] + share * (high[0] - low[0])
                    expected = low[1 + column] + share * (high[1 + column] - low[1 + column])
                    assert efficiencies(board, single(win), HYPER)[0, owner] == pytest.approx(expected, abs=1e-6)


def contact_of_pips(pips: int) -> np.ndarray:
    """Three checkers in contact with three; the side with fewer pips has so many, the other 60 or more."""
    board = np.zeros((1, 2, 26), dtype=np.int8)
    left, points = pips, []
    for checkers in (3, 2, 1):
        points.append(min(24, left - checkers + 1))
        left -= points[-1]
    assert left == 0
    for point in points:
        board[0, 0, point] += 1
    board[0, 1, 25] = 3
    return board


def test_more_checkers_in_contact_have_one_efficiency():
    board = np.zeros((1, 2, 26), dtype=np.int8)
    board[0, :, 0], board[0, :, 24], board[0, :, 23] = 11, 3, 1
    assert efficiencies(board, single(0.3), SHORT)[0].tolist() == list(SHIPPED.contact)
    board[0, :, 0], board[0, :, 24] = 12, 2
    assert efficiencies(board, single(0.3), SHORT)[0].tolist() != list(SHIPPED.contact)

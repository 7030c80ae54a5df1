"""Cube decisions measured by exact values: a judge that knows loses nothing, and losses are what they should be."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nardy_ai.cli.main import main
from nardy_ai.cube.efficiency import SHIPPED
from nardy_ai.cube.equity import CubeModel, CubeWorth
from nardy_ai.cube.kernels import CENTRE
from nardy_ai.cubeful import Cubeful
from nardy_ai.evaluators.baselines import PipsBot
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.exact.bearoff import CubeValues, bearoff_tables, exact_at
from nardy_ai.exact.solve import few_checkers, solve, solve_cube
from nardy_ai.play.cube_against_exact import (
    BearoffBot,
    BearoffCube,
    CubeSample,
    drawn_bearoffs,
    judge_cube,
    played_cube_games,
    reached_bearoffs,
)
from nardy_ai.rules import find_rules, start_boards

SHORT, ONE = find_rules("short"), few_checkers(find_rules("hyper"), 1)
JACOBY = CubeModel(ONE, jacoby=True)


@pytest.fixture(scope="module")
def known():
    return solve_cube(ONE, jacoby=True, beavers=False)


@dataclass
class Shifted:
    """The exact values, with `no_double` and `double_take` moved: a judge whose faults are known."""

    exact: object
    model: CubeModel
    no_double: float = 0.0
    taken: float = 0.0
    plies: int = 0

    def worth(self, boards, states):
        values = self.exact.values(boards)
        nothing = np.full(len(boards), np.nan)
        no_double = values.no_double[np.arange(len(boards)), states.owners + 1].astype(float) + self.no_double
        taken = 2 * values.no_double[:, 2].astype(float) + self.taken
        return CubeWorth(no_double, taken, np.ones(len(boards)), nothing, nothing, nothing)


def test_a_judge_that_knows_loses_nothing(known):
    sample = played_cube_games(known, JACOBY, games=60, seed=3, opening="use_dice")
    found = judge_cube(Shifted(known, JACOBY), "knows", known, sample).total
    assert (found.same, found.doubling, found.taking, found.loss) == (1, 0, 0, 0)
    assert found.decisions == len(sample.owners)
    assert 0 < found.answers < found.decisions


def test_losses_are_those_of_the_decisions_that_turn(known):
    """Who never doubles loses what every right double gains; who always takes loses what each pass would have saved."""
    sample = played_cube_games(known, JACOBY, games=60, seed=3, opening="use_dice")
    values, rows = known.values(sample.boards), np.arange(len(sample.owners))
    no_double = values.no_double[rows, sample.owners + 1].astype(float)
    taken = 2 * values.no_double[:, 2].astype(float)
    doubled = np.minimum(taken, 1)
    right = (doubled > no_double + 1e-7) | ((taken > 1 + 1e-7) & (doubled >= no_double - 1e-7))

    never = judge_cube(Shifted(known, JACOBY, no_double=10), "never", known, sample).total
    taker = judge_cube(Shifted(known, JACOBY, taken=-10), "taker", known, sample).total

    assert never.doubling == pytest.approx(np.maximum(doubled - no_double, 0).mean(), abs=1e-6)
    assert never.taking == 0
    assert taker.answers == right.sum()
    assert taker.taking == pytest.approx(np.maximum(taken - 1, 0)[right].mean(), abs=1e-6)
    both = never.doubling * never.decisions / (never.decisions + never.answers)
    assert never.loss == pytest.approx(both)


@dataclass
class Given:
    """As if it knew: what positions are worth without a double, by their order. `[N, 3]`."""

    no_double: np.ndarray

    def values(self, boards):
        return CubeValues(self.no_double[: len(boards)], self.no_double[: len(boards)])


def test_equal_actions_are_the_same_and_unequal_ones_are_not():
    """A double that gains, and a pass that saves, less than 1e-6 and more; the judge holds and takes everywhere."""
    exact = Given(np.array([[0.6, 0, 0.3000004], [0.6, 0, 0.301], [0, 0, 0.5000004], [0, 0, 0.501]], dtype=np.float32))
    sample = CubeSample(np.zeros((4, 2, 26), dtype=np.int8), np.full(4, CENTRE), np.arange(4))
    holds = judge_cube(Shifted(exact, JACOBY, no_double=10), "holds", exact, sample).total
    takes = judge_cube(Shifted(exact, JACOBY, taken=-0.1), "takes", exact, sample).total
    assert (holds.same, holds.doubling) == (0.25, pytest.approx((0.002 + 1 + 1) / 4))
    assert takes.taking == pytest.approx(0.002 / 4, abs=1e-7)
    assert takes.doubling == pytest.approx(0.002 / 4, abs=1e-7)
    assert takes.same == 0.5


def test_games_are_played_as_the_exact_values_say(known):
    """Every owner but the first follows from a taken double, and no decision follows one that was passed."""
    sample = played_cube_games(known, JACOBY, games=40, seed=1, opening="use_dice")
    values = known.values(sample.boards)
    taken = 2 * values.no_double[:, 2]
    for game in range(40):
        at = np.flatnonzero(sample.games == game)
        if not len(at):
            continue  # nobody came to a second turn with the cube
        owners = sample.owners[at]
        assert owners[0] == CENTRE
        assert not np.array_equal(sample.boards[at[0]], start_boards(ONE)[0])  # the opening has its dice
        passed = (taken[at] > 1 + 1e-6) & (values.no_double[at, owners + 1] < 1 - 1e-6)
        assert not passed[:-1].any()


def test_beavers_count_where_they_are_allowed(known):
    rules = replace(JACOBY, beavers=True)
    exact = solve_cube(ONE, jacoby=True, beavers=True)
    sample = played_cube_games(exact, rules, games=60, seed=3, opening="use_dice")
    found = judge_cube(Cubeful(ExactBot(solve(ONE)), rules, plies=1, tables=False), "formulas", exact, sample)
    assert found.total.answers > 0
    assert 0 <= found.total.taking < 0.1


def test_threads_change_nothing(known):
    sample = played_cube_games(known, JACOBY, games=200, seed=3, opening="use_dice")
    judge = Cubeful(ExactBot(solve(ONE)), JACOBY, tables=False)
    told: list[int] = []
    one = judge_cube(judge, "formulas", known, sample, workers=1, progress=told.append)
    assert judge_cube(judge, "formulas", known, sample, workers=3) == one
    assert sum(told) == len(sample.owners)


def test_drawn_bearoffs_are_those_of_the_tables():
    sample = drawn_bearoffs(SHORT, n=300, seed=4)
    assert exact_at(sample.boards, SHORT).all()
    assert sorted(set(sample.owners.tolist())) == [CENTRE, 0]
    assert np.array_equal(sample.boards[:300], sample.boards[300:])


def test_formulas_decide_bearoffs_nearly_always_right():
    model, exact = CubeModel(SHORT), BearoffCube(bearoff_tables(), SHORT)
    judge = Cubeful(BearoffBot(bearoff_tables(), SHORT), model, plies=1, tables=False)
    found = judge_cube(judge, "formulas", exact, drawn_bearoffs(SHORT, n=400, seed=4))
    assert found.total.same >= 0.98
    assert found.total.loss < 0.0005


def test_reached_bearoffs_begin_where_the_tables_do():
    rules = find_rules("hyper")
    bot, exact = PipsBot(rules), BearoffCube(bearoff_tables(), rules)
    sample = reached_bearoffs(bot, exact, CubeModel(rules), games=40, seed=2, opening="use_dice")
    assert exact_at(sample.boards, rules).all()
    assert {CENTRE, 0} == set(sample.owners.tolist())


@pytest.fixture
def one_checker(tmp_path) -> str:
    path = tmp_path / "one.toml"
    path.write_text('base = "hyper"\nstart = { 24 = 1 }\ncheckers = 1\n')
    return str(path)


def test_the_command_measures_formulas_and_bots(one_checker, capsys):
    argv = ["benchmark", "exact", "exact@1ply", "--rules", one_checker, "--exact", "--cube", "--pairs", "40", "--quiet"]
    assert main([*argv, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["bot"], one["plies"]) for one in found["exact_cubes"]] == [
        ("formulas on exact chances", 0), ("formulas on exact chances", 1), ("exact", 0), ("exact@1ply", 1),
    ]  # fmt: skip
    assert found["cube"] == {"jacoby": True, "beavers": False}
    formulas, look_ahead = found["exact_cubes"][:2]
    assert set(formulas["by_owner"]) == {"centred", "own"}
    assert look_ahead["total"]["loss"] < formulas["total"]["loss"]
    assert main(argv) == 0
    text = capsys.readouterr().out
    assert f"{found['exact_cubes'][0]['total']['decisions']:,} decisions of 80 games" in text
    assert f"{100 * formulas['total']['same']:6.2f} +-" in text


def test_bearoffs_of_a_bot_are_measured(capsys):
    """The small net's own chances lose some eight times what exact ones do over thousands of decisions."""
    assert main(["benchmark", "short-fast@bare", "--bearoffs", "drawn", "--pairs", "300", "--quiet", "--json"]) == 0
    (exact, _, bot) = json.loads(capsys.readouterr().out)["exact_cubes"]
    assert exact["total"]["decisions"] == bot["total"]["decisions"] == 1200
    assert bot["total"]["loss"] > 2 * exact["total"]["loss"]


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["hyper", "--exact", "--bearoffs", "drawn"], "give one of them"),
        (["short", "--bearoffs", "drawn", "--cube"], "--bearoffs, --decisions and --pruning do not"),
        (["hyper", "--exact", "--cube", "--match", "3"], "--exact knows --cube alone"),
        (["pips", "--rules", "long-left", "--bearoffs", "drawn"], "not those of the tables"),
    ],
)
def test_what_does_not_go_together_is_refused(argv, reason, capsys):
    assert main(["benchmark", *argv]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("plies", [0, 1])
def test_efficiencies_of_few_checkers_lose_less_than_half_of_what_one_number_loses(known, plies):
    """Fitted to three checkers a side, measured with one."""
    sample = played_cube_games(known, JACOBY, games=200, seed=8, opening="use_dice")
    bot = ExactBot(solve(ONE))
    fitted, one_number = (
        judge_cube(Cubeful(bot, replace(JACOBY, efficiency=numbers), plies=plies, tables=False), "", known, sample)
        for numbers in (SHIPPED, replace(SHIPPED, few=None))
    )
    assert fitted.total.loss < one_number.total.loss / 2

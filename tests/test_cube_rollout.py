"""Rollouts with the cube: unbiased whatever the control thinks, exact where all is known, the same however cut."""

import json
from dataclasses import replace

import numpy as np
import pytest
from networks import network_of
from positions import board_of, reached_boards
from test_cubeful import LAST_ROLLS, MONEY, SHORT, Tables, two_sided

from nardy_ai.boards import finished
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.cube.equity import CubeModel, match_table
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cube_games import CubeGames, play_cube_games
from nardy_ai.cube_policies import BEAVER, PASS, PLAY_ON, TAKE
from nardy_ai.cubeful import Cubeful
from nardy_ai.errors import CubeError
from nardy_ai.exact.bearoff import bearoff_tables
from nardy_ai.exact.solve import few_checkers, solve_cube
from nardy_ai.movegen.generate import afterstates
from nardy_ai.rollouts import _rolls_at, _Strata, decide, read_rollout, rollout, save_rollout
from nardy_ai.rules import find_rules, start_boards

HYPER = find_rules("hyper")
NET = network_of(HYPER)


class Solved:
    """Plays a solved game with the money cube without an error."""

    name = "solved"

    def __init__(self, solution):
        self.solution = solution
        self.rules = solution.rules

    def _values(self, boards, states, kind):
        return getattr(self.solution.values(boards), kind)[np.arange(len(boards)), states.owners + 1]

    def play_values(self, boards, after, states):
        theirs = states.take(np.repeat(np.arange(len(states)), after.counts())).swapped()
        return -self._values(after.boards, theirs, "best")

    def doubles(self, boards, states):
        taken = 2 * self.solution.values(boards).no_double[:, 2]
        answered = np.minimum(2 * taken if self.solution.beavers else taken, taken)
        return np.minimum(answered, 1) > self._values(boards, states, "no_double") + 1e-7

    def answers(self, boards, states):
        taken = 2 * self.solution.values(boards).no_double[:, 2]
        return np.where(taken > 1, PASS, np.where(taken < 0, BEAVER, TAKE))

    def replies(self, boards, states):
        return np.full(len(boards), PLAY_ON)

    def last_answers(self, boards, states):
        return np.full(len(boards), PLAY_ON)


def chi_square(
    *, jacoby: bool, beavers: bool, measured: bool, boards: int, seeds: int, seed: int = 0
) -> list[np.ndarray]:
    """((mean - exact) / standard error)^2 of rollouts of solved positions, luck measured by random weights or not.

    One array a seed: its positions were rolled out with the same dice and depend on each other.
    """
    rules = few_checkers(HYPER, 1)
    solution = solve_cube(rules, jacoby=jacoby, beavers=beavers)
    found = np.unique(reached_boards(rules, 300, 3)[0], axis=0)
    found = found[~finished(found)]
    centred = np.abs(solution.values(found).best[:, 0])  # rare results need more games than there are here
    found = found[centred < 0.8]
    found = found[np.random.default_rng(1).permutation(len(found))[:boards]]
    state = CubeState(jacoby=jacoby, beavers=beavers)
    owners = np.arange(len(found)) % 3 - 1
    states = replace(CubeStates.of(state, len(found)), owners=owners)
    model = CubeModel.of(state, rules)
    judge = Cubeful(network_of(rules), model, plies=0, tables=False)
    task = CubeGames(
        Solved(solution), judge if measured else None, judge, found, states, doubles_first=True, bearoff=False,
        truncate_after=None, cut_after=1000,
    )  # fmt: skip
    right = solution.values(found).best[np.arange(len(found)), owners + 1]
    answers = []
    for one in range(seeds):
        games = 216
        played = play_cube_games(
            task, np.arange(games), lambda at, ply, one=one: _rolls_at(seed + one, at, ply), lambda: False
        )
        errors = _Strata.of(seed + one, games).standard_errors(played.utilities.T)
        apart = played.utilities.mean(axis=1) - right
        certain = errors < 1e-9
        assert np.abs(apart[certain]).max(initial=0) < 1e-6
        answers.append((apart[~certain] / errors[~certain]) ** 2)
    return answers


# Unbiased


def test_random_control_leaves_the_mean_where_it_is():
    """About 1 a rollout; the bounds are four standard errors of the mean of that many independent chi-squares."""
    found = np.concatenate(chi_square(jacoby=True, beavers=True, measured=True, boards=20, seeds=2))

    assert len(found) > 20
    assert abs(found.mean() - 1) < 4 * (2 / len(found)) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize(("jacoby", "beavers"), [(False, False), (True, True)])
def test_rollouts_of_a_solved_game_are_unbiased(jacoby, beavers, measured):
    """About 1 a rollout: over 200 seeds 0.89 to 0.94, so standard errors are some 5 % too large, and none biased.

    The bounds are three standard errors over 20 seeds, whose dice are independent, around what 200 seeds gave.
    """
    found = chi_square(jacoby=jacoby, beavers=beavers, measured=measured, boards=24, seeds=20, seed=50)

    means = np.array([each.mean() for each in found])
    assert 0.73 < means.mean() < 1.1


@pytest.mark.parametrize("owner", [None, 0, 1])
def test_exact_control_leaves_no_spread(owner):
    """Bear-offs played out by the tables' values: every game says what the tables say."""
    boards, state = two_sided(6, 5), replace(MONEY, owner=owner, value=2)
    right = bearoff_tables().cube_values(boards, SHORT)
    column = {None: 0, 0: 1, 1: 2}[owner]

    report = rollout(Tables(), boards, state=state, games=20, bearoff=False)

    for p, line in enumerate(report.lines):
        assert report.equities[p] == pytest.approx(right.best[p, column], abs=1e-5)
        assert line.standard_error < 1e-5


def test_luck_left_in_has_the_same_mean():
    boards = two_sided(8, 6)
    right = bearoff_tables().cube_values(boards, SHORT).best[:, 0]

    report = rollout(Tables(), boards, state=MONEY, games=324, bearoff=False, variance_reduction=False)

    apart = np.array([line.equity for line in report.lines]) - right
    apart /= [max(line.standard_error, 1e-6) for line in report.lines]
    assert np.mean(np.square(apart)) < 2.5
    assert max(line.standard_error for line in report.lines) > 0.02


def test_games_end_where_the_tables_know_the_cube():
    boards = two_sided(6, 7)
    right = bearoff_tables().cube_values(boards, SHORT).best[:, 0]

    report = rollout(Tables(), boards, state=MONEY, games=2)

    assert [line.equity for line in report.lines] == pytest.approx(right, abs=1e-6)


# Decisions


def test_decision_of_a_bearoff_is_that_of_the_tables():
    board = board_of({5: 1, 2: 1}, {1: 1}, 15)  # 19 of 36 rolls win
    bot = Tables()

    found = decide(rollout(bot, board, state=MONEY, decision=True, games=36, bearoff=False), bot)

    assert found.no_double.equity == pytest.approx(2 / 36, abs=1e-6)
    assert found.double_take.equity == pytest.approx(4 / 36, abs=1e-6)
    assert (found.verdict.action, found.double_pass, found.beaver) == ("double, take", 1, None)
    assert found.lead == pytest.approx(2 / 36, abs=1e-6)
    assert found.take_lead == pytest.approx(1 - 4 / 36, abs=1e-6)


def test_beaver_is_a_line_where_one_is_allowed():
    own, good = LAST_ROLLS["4 and 4"]
    board = board_of(own, {1: 1}, 15)
    bot, state = Tables(), replace(MONEY, beavers=True)
    equity = 2 * good / 36 - 1

    found = decide(rollout(bot, board, state=state, decision=True, games=36, bearoff=False), bot)

    assert found.beaver.equity == pytest.approx(4 * equity, abs=1e-6)
    assert found.verdict.action == "no double, beaver"


@pytest.mark.parametrize("away", [(4, 4), (3, 2), (5, 1)])
def test_last_roll_of_a_match_is_exact_after_36_games(away):
    """All first rolls come once: 19 of 36 win; after a miss nothing can happen to the stake any more."""
    bot, state = Tables(), CubeState(away=away)
    table, after = match_table(SHORT, 5), min(away) == 1

    def utility(points: int) -> float:
        mine, his = (away[0] - points, away[1]) if points > 0 else (away[0], away[1] + points)
        return 1 if mine <= 0 else 0 if his <= 0 else table.chance(mine, his, after_crawford=after)

    report = rollout(
        bot, board_of({5: 1, 2: 1}, {1: 1}, 15), state=state, decision=True, games=36, variance_reduction=False
    )
    found = decide(report, bot)

    assert found.winning["no_double"] == pytest.approx((19 * utility(1) + 17 * utility(-1)) / 36, abs=1e-6)
    assert found.winning["double_take"] == pytest.approx((19 * utility(2) + 17 * utility(-2)) / 36, abs=1e-6)
    assert found.winning["double_pass"] == pytest.approx(utility(1), abs=1e-6)


def test_position_before_its_roll_begins_with_the_double():
    """Pass at once: the equity is 1 and every game counts as a single win."""
    board = board_of({1: 2}, {6: 6}, 15)

    (line,) = rollout(Tables(), board, state=MONEY, games=2, bearoff=False).lines

    assert (line.equity, line.standard_error) == (1, 0)
    assert line.outcomes.tolist() == [1, 0, 0, 0, 0, 0]


def test_plays_are_seen_by_the_side_that_has_played():
    boards = two_sided(5, 9)
    state = replace(MONEY, owner=0)
    right = bearoff_tables().cube_values(boards, SHORT).best[:, 2]  # row 1 has played and owns the cube

    report = rollout(Tables(), boards, state=state, games=5, after_play=True, bearoff=False)

    assert [line.equity for line in report.lines] == pytest.approx(-right, abs=1e-5)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (CubeState(owner=1), "nothing to decide"),
        (CubeState(away=(1, 3)), "nothing to decide"),
        (None, "give the state"),
    ],
)
def test_decision_that_is_none_is_refused(state, words):
    with pytest.raises(CubeError, match=words):
        rollout(NET, start_boards(HYPER)[0], state=state, decision=True, games=1)


# However the work is cut


@pytest.mark.parametrize("policy", ["cubeful", "fixed"])
def test_batches_workers_and_going_on_change_nothing(policy, tmp_path):
    state = CubeState(jacoby=False, beavers=True)
    board = reached_boards(HYPER, 1, 4)[0][0]
    options = {"state": state, "decision": True, "policy": policy, "seed": 3}

    whole = rollout(NET, board, games=24, **options)
    parts = rollout(NET, board, games=10, batch=3, workers=2, **options)
    save_rollout(tmp_path / "part.npz", parts)
    parts = rollout(NET, board, games=14, batch=5, earlier=read_rollout(tmp_path / "part.npz"), **options)

    assert np.array_equal(whole.equities, parts.equities)
    assert np.array_equal(whole.results, parts.results)
    assert whole.settings == parts.settings
    assert whole.equities.std() > 0


def test_match_state_survives_saving(tmp_path):
    report = rollout(Tables(), two_sided(1, 5), state=CubeState(away=(3, 4), value=2, owner=0), games=2)
    save_rollout(tmp_path / "match.npz", report)
    assert read_rollout(tmp_path / "match.npz").settings == report.settings


# The command


def test_command_prints_decision_and_counts_apart(capsys, bot_files):
    """Entry 31 of what users ask: columns of a row with the cube are labelled, and not its equity."""
    arguments = ["rollout", "start", "--bot", str(bot_files["hyper"]), "--games", "36", "--quiet", "--cube-decision"]

    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    for words in (
        "no double ",
        "double, take",
        "double, pass",
        "points per cube",
        "standard errors",
        "cubeless counts",
    ):
        assert words in text
    decision = found["decision"]
    assert [(line["action"], line["equity"]) for line in found["results"]] == [
        ("no double", decision["no_double"]),
        ("double, take", decision["double_take"]),
    ]
    assert found["outcomes_are"] == "cubeless counts of how games ended"
    assert (decision["double_pass"], found["decision"]["winning"], found["policy"]) == (1, None, "cubeful")
    assert found["state"]["jacoby"] is True
    assert f"{decision['lead']:.4f} +- {decision['lead_error']:.4f}" in text


def test_command_ranks_plays_with_the_cube(capsys, bot_files):
    bot = load_bot(bot_files["hyper"])
    arguments = ["start", "--bot", str(bot_files["hyper"]), "--dice", "21", "--top", "2", "--games", "20"]
    assert main(["rollout", *arguments, "--cube", "--match", "3:1-0", "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    board = start_boards(HYPER)[0]
    after = afterstates(board, np.array([[2, 1]], dtype=np.uint8), HYPER)
    best = np.argsort(-bot.play_values(board[None], after), kind="stable")[:2]
    report = rollout(bot, after.boards[best], state=CubeState(away=(2, 3)), after_play=True, games=20)
    wanted = sorted((line.equity for line in report.lines), reverse=True)
    assert [line["equity"] for line in found["results"]] == pytest.approx(wanted, abs=1e-6)
    assert found["state"]["away"] == [2, 3]


@pytest.mark.parametrize("option", [("--jacoby",), ("--policy", "fixed"), ("--match", "3")])
def test_options_of_the_cube_need_the_cube(option, capsys):
    assert main(["rollout", "start", "--rules", "hyper", *option]) == 2
    assert "with --cube or --cube-decision only" in capsys.readouterr().err

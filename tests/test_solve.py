"""Solved games: against slow solutions from the reference generator, against bearoff tables, and as bot and measure."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from solved import two_checkers

from nardy_ai import outcomes as oc
from nardy_ai.boards import FACING, OFF, finished
from nardy_ai.bots import SOLVED, is_trained, load_bot
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import NardyError, RulesError
from nardy_ai.evaluators.baselines import RandomBot
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Evaluator
from nardy_ai.exact.bearoff import bearoff_tables, exact_at
from nardy_ai.exact.ranking import ranking
from nardy_ai.exact.solve import (
    CubeSolution,
    Solution,
    Sweep,
    few_checkers,
    load_cube_solution,
    load_solution,
    solve,
    solve_cube,
)
from nardy_ai.movegen import reference
from nardy_ai.movegen.generate import afterstates
from nardy_ai.play.against_exact import judge, sample_games
from nardy_ai.play.arena import play_pairs
from nardy_ai.rules import MatchOptions, RuleSet, find_preset, find_rules, same_game, start_boards

HYPER = find_rules("hyper")
DAVE = find_rules("short-dave")
ONE, TWO = few_checkers(HYPER, 1), few_checkers(HYPER, 2)
KEPT_TO = 2e-6
"""Error bound of what is solved, and the rounding of what is kept."""


@pytest.fixture(scope="module")
def two() -> Solution:
    return two_checkers()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NARDY_CACHE", str(tmp_path))
    return tmp_path


@dataclass(frozen=True)
class SlowGame:
    """A game of one checker a side by the reference generator.

    boards: all on which play goes on, the first of `everything`; replies: `int64[N, 21, M]`, the places of the
    afterstates there, the first of them again where there are fewer than M.
    """

    boards: np.ndarray
    everything: np.ndarray
    replies: np.ndarray

    @classmethod
    def of(cls, rules: RuleSet) -> "SlowGame":
        rows = np.eye(26, dtype=np.int8)
        facing = FACING[rules.board]
        pairs = [(i, j) for i in range(26) for j in range(26) if not (1 <= i <= 24 and facing[i] == j)]
        everything = np.array([(rows[i], rows[j]) for i, j in sorted(pairs, key=lambda pair: 0 in pair)])
        boards = everything[~finished(everything)]
        place = {board.tobytes(): n for n, board in enumerate(everything)}
        replies = [
            [[place[play.afterstate.tobytes()] for play in reference.plays(board, roll, rules)] for roll in ROLLS]
            for board in boards
        ]
        most = max(len(after) for rolls in replies for after in rolls)
        padded = [[after + after[:1] * (most - len(after)) for after in rolls] for rolls in replies]
        return cls(boards, everything, np.array(padded))

    def over(self) -> np.ndarray:
        return self.everything[len(self.boards) :]

    def mean_of_best(self, values: np.ndarray) -> np.ndarray:
        """The mean over the rolls of the best reply, which is worth the less to him who rolls next the better."""
        return (-values[self.replies]).max(axis=2) @ ROLL_WEIGHTS


def slow_values(game: SlowGame, rules: RuleSet) -> np.ndarray:
    """Cubeless equities by plain value iteration."""
    values = np.zeros(len(game.everything))
    n = len(game.boards)
    values[n:] = oc.equities(oc.final_outcomes(game.over(), rules), rules)
    for _ in range(150):
        values[:n] = game.mean_of_best(values)
    return values[:n]


def slow_cube(game: SlowGame, rules: RuleSet, *, jacoby: bool, beavers: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values with the cube in the centre, mine, his: rolled without an offer, and best."""
    n = len(game.boards)
    points = oc.equities(oc.final_outcomes(game.over(), rules), rules)
    centre, mine, his = np.zeros((3, len(game.everything)))
    centre[n:], mine[n:], his[n:] = np.sign(points) if jacoby else points, points, points
    for _ in range(150):
        # My cube is, for him who rolls next, the other side's.
        no_double = [game.mean_of_best(centre), game.mean_of_best(his), game.mean_of_best(mine)]
        taken = 2 * no_double[2]
        if beavers:
            taken = np.minimum(taken, np.maximum(-2, 4 * no_double[2]))
        doubled = np.minimum(1, taken)
        centre[:n], mine[:n] = np.maximum(no_double[0], doubled), np.maximum(no_double[1], doubled)
        his[:n] = no_double[2]
    return np.stack(no_double, axis=1), np.stack((centre[:n], mine[:n], his[:n]), axis=1)


@pytest.mark.parametrize("name", ["hyper", "long", "short-dave", "long-left"])
def test_one_checker_is_solved_as_by_plain_value_iteration(name):
    rules = few_checkers(find_rules(name), 1)
    game = SlowGame.of(rules)
    solution = solve(rules)
    assert solution.effort.boards == len(game.boards)
    assert solution.equities(game.boards) == pytest.approx(slow_values(game, rules), abs=KEPT_TO)
    outcomes = solution.outcomes(game.boards)
    assert outcomes.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (outcomes[~oc.possible(game.boards, rules)] == 0).all()
    assert np.array_equal(solution.outcomes(game.over()), oc.final_outcomes(game.over(), rules))


@pytest.fixture(scope="module")
def one_checker_of_hyper() -> SlowGame:
    return SlowGame.of(ONE)


@pytest.mark.parametrize(("jacoby", "beavers"), [(False, False), (True, False), (True, True), (False, True)])
def test_one_checker_with_the_cube_is_solved_as_by_plain_value_iteration(jacoby, beavers, one_checker_of_hyper):
    game = one_checker_of_hyper
    solution = solve_cube(ONE, jacoby=jacoby, beavers=beavers)
    no_double, best = slow_cube(game, ONE, jacoby=jacoby, beavers=beavers)
    found = solution.values(game.boards)
    assert found.no_double == pytest.approx(no_double, abs=KEPT_TO)
    assert found.best == pytest.approx(best, abs=KEPT_TO)


def test_jacoby_makes_doubles_earlier_and_beavers_cost_the_doubler():
    """Under Jacoby a centred cube is never worth more; beavers are at most good for the taker."""
    free, jacoby, beavers = (
        solve_cube(ONE, jacoby=j, beavers=b) for j, b in ((False, False), (True, False), (True, True))
    )
    assert (jacoby.no_double[:, 0] != free.no_double[:, 0]).any()
    boards = SlowGame.of(ONE).boards
    assert not np.array_equal(jacoby.values(boards).best, beavers.values(boards).best)


def boards_of_two(n: int, seed: int) -> np.ndarray:
    """Boards of two checkers a side on which play goes on, at random."""
    sides = ranking(2, 25)
    pairs = np.random.default_rng(seed).integers(0, sides.sides**2, 4 * n)
    boards = sides.boards(pairs)
    apart = ~((boards[:, 0, 1:25] > 0) & (boards[:, 1, FACING["contrary"][1:25]] > 0)).any(axis=1)
    return boards[apart & ~finished(boards)][:n]


def test_two_checkers_are_worth_the_mean_of_their_best_replies(two):
    """Bellman's equation at boards drawn from all, with the reference's plays."""
    for board in boards_of_two(40, seed=1):
        mean = np.zeros(6)
        for weight, roll in zip(ROLL_WEIGHTS, ROLLS, strict=True):
            after = np.array([play.afterstate for play in reference.plays(board, roll, TWO)])
            mine = oc.swap(two.outcomes(after)).astype(np.float64)
            mean += weight * mine[np.argmax(two.worth(mine.astype(np.float32)))]
        assert two.equities(board)[0] == pytest.approx(mean @ oc.class_points(TWO), abs=KEPT_TO)


@pytest.mark.slow
def test_two_checkers_with_the_cube_are_worth_the_mean_of_their_best_replies(cube_of_two):
    for board in boards_of_two(30, seed=2):
        rolled = np.zeros(3)
        for weight, roll in zip(ROLL_WEIGHTS, ROLLS, strict=True):
            after = np.array([play.afterstate for play in reference.plays(board, roll, TWO)])
            rolled += weight * -cube_of_two.values(after).best[:, [0, 2, 1]].min(axis=0)
        found = cube_of_two.values(board)
        double = min(1, 2 * rolled[2], max(-2, 4 * rolled[2]))
        assert found.no_double[0] == pytest.approx(rolled, abs=KEPT_TO)
        assert found.best[0] == pytest.approx([*np.maximum(rolled[:2], double), rolled[2]], abs=2 * KEPT_TO)


@pytest.fixture(scope="module")
def cube_of_two() -> CubeSolution:
    return solve_cube(TWO, jacoby=True, beavers=True)


def test_a_race_at_home_is_worth_what_the_bearoff_tables_say():
    """One checker a side without mars: all races at home, cubeless and with the cube."""
    tables = bearoff_tables()
    rules = few_checkers(replace(DAVE, hit_hide="allowed", hit_hide_scope="home"), 1)
    sides = ranking(1, 25)
    boards = sides.boards(np.arange(sides.sides**2))
    boards = boards[exact_at(boards, rules)]
    assert len(boards) == 36
    assert solve(rules).outcomes(boards) == pytest.approx(tables.outcomes(boards, rules), abs=KEPT_TO)
    found, right = solve_cube(rules, jacoby=False, beavers=False).values(boards), tables.cube_values(boards, rules)
    assert found.no_double == pytest.approx(right.no_double, abs=KEPT_TO)
    assert found.best == pytest.approx(right.best, abs=KEPT_TO)


def test_errors_stay_within_the_bound_that_is_given():
    """A coarse solution says how coarse it is."""
    exact, coarse = solve(ONE), solve(ONE, tolerance=0.05)
    worst = np.abs(coarse.worth(coarse.table) - exact.worth(exact.table)).max()
    assert coarse.effort.sweeps < exact.effort.sweeps
    assert worst <= coarse.bound + exact.bound
    assert exact.bound < 1e-6


def test_workers_change_nothing():
    one, three = solve(ONE, workers=1), solve(ONE, workers=3)
    assert np.array_equal(one.table, three.table)
    assert one.effort == three.effort


def test_progress_counts_every_board_of_every_sweep():
    seen: list[Sweep] = []
    solution = solve(ONE, progress=seen.append)
    ends = [sweep for sweep in seen if sweep.done == sweep.boards]
    assert [sweep.sweep for sweep in ends] == list(range(1, solution.effort.sweeps + 1))
    assert all(earlier.change > later.change for earlier, later in pairwise(ends))


@pytest.mark.parametrize(
    ("name", "checkers", "start"),
    [("hyper", 2, {24: 1, 23: 1}), ("short", 1, {24: 1}), ("short", 3, {24: 2, 13: 1}), ("long", 2, {24: 2})],
)
def test_few_checkers_are_the_rearmost(name, checkers, start):
    rules = few_checkers(find_rules(name), checkers)
    assert (dict(rules.start), rules.checkers, rules.name) == (start, checkers, f"{name}-{checkers}")
    assert rules.scoring == find_rules(name).scoring
    assert few_checkers(HYPER, 3) is HYPER


@pytest.mark.parametrize("checkers", [0, -1, 16])
def test_a_number_of_checkers_that_is_none_is_refused(checkers):
    with pytest.raises(RulesError, match=f"{checkers} checkers of 'short'; expected 1 to 15"):
        few_checkers(find_rules("short"), checkers)


def test_a_game_that_is_too_big_is_refused_with_how_big_is_too_big():
    for solver in (solve, load_solution):
        with pytest.raises(RulesError, match=r"15 checkers a side .*up to 3 checkers a side are solved"):
            solver(find_rules("short"))
    with pytest.raises(RulesError, match="4 checkers a side"):
        load_bot("exact", few_checkers(find_rules("long"), 4))


@pytest.mark.parametrize(("jacoby", "beavers"), [(True, False), (False, True)])
def test_a_solution_with_the_cube_is_kept_and_read_again(jacoby, beavers, folder):
    """What is read is what was found, over finished boards too; other options are another file."""
    found = solve_cube(ONE, jacoby=jacoby, beavers=beavers)
    load_cube_solution(ONE, jacoby=jacoby, beavers=beavers)
    fail = lambda sweep: pytest.fail("solved again")  # noqa: E731
    again = load_cube_solution(ONE, jacoby=jacoby, beavers=beavers, progress=fail)
    game = SlowGame.of(ONE)
    for boards in (game.boards, game.over()):
        assert np.array_equal(again.values(boards).no_double, found.values(boards).no_double)
        assert np.array_equal(again.values(boards).best, found.values(boards).best)
    assert (again.effort, again.change) == (found.effort, found.change)
    load_cube_solution(ONE, jacoby=jacoby, beavers=not beavers)
    assert len(list(folder.iterdir())) == 2


def test_a_solution_is_kept_and_read_again(folder):
    first = load_solution(ONE)
    (file,) = folder.iterdir()
    again = load_solution(ONE, progress=lambda sweep: pytest.fail("solved again"))
    assert np.array_equal(again.table, first.table)
    assert again.table == pytest.approx(solve(ONE).table, abs=1e-6)
    assert (again.effort, again.change, again.longest) == (first.effort, first.change, first.longest)
    file.write_bytes(file.read_bytes()[:-50])
    notes: list[str] = []
    assert np.array_equal(load_solution(ONE, note=notes.append).table, first.table)
    assert len(notes) == 1
    assert "damaged" in notes[0]


def test_names_and_starts_share_a_solution_and_other_rules_do_not(folder):
    load_solution(ONE)
    load_solution(few_checkers(find_rules("short"), 1))
    assert len(list(folder.iterdir())) == 1
    load_solution(replace(ONE, scoring="oin"))
    assert len(list(folder.iterdir())) == 2


def test_the_exact_bot_is_an_evaluator_found_by_name():
    bot = load_bot("exact", ONE)
    assert isinstance(bot, Evaluator)
    assert (bot.name, same_game(bot.rules, ONE)) == ("exact", True)
    assert not is_trained("exact")
    assert "exact" in SOLVED
    assert bot.outcomes(start_boards(ONE)).dtype == np.float32


def test_plays_are_worth_what_their_afterstates_are(two):
    bot = ExactBot(two)
    boards = boards_of_two(50, seed=3)
    after = afterstates(boards, (5, 2), TWO)
    done = finished(after.boards)
    values = bot.play_values(boards, after)
    assert values == pytest.approx(-bot.equity(after.boards), abs=1e-6)
    assert values[done] == pytest.approx(oc.points_won(after.boards[done, 0], TWO))


def test_the_exact_bot_beats_chance_and_not_itself(two):
    match = find_preset("hyper").match
    bot = ExactBot(two)
    assert play_pairs(bot, bot, TWO, match, pairs=50, seed=1).points == 0
    against = play_pairs(bot, RandomBot(TWO), TWO, match, pairs=400, seed=1)
    assert against.points > 4 * against.standard_error


def test_mean_results_of_games_agree_with_the_solution(two):
    """4000 games from the start, whose last positions are known: their mean is within 4 standard errors."""
    sample = sample_games(ExactBot(two), MatchOptions(opening="reroll"), games=4000, seed=5)
    order = np.argsort(sample.games, kind="stable")
    ends = order[np.append(np.flatnonzero(np.diff(sample.games[order])), len(order) - 1)]
    after = afterstates(sample.boards[ends], sample.dice[ends], TWO)
    won = after.boards[:, 1, OFF] == TWO.checkers
    assert np.logical_or.reduceat(won, after.offsets[:-1]).all()
    starter_won = np.bincount(sample.games) % 2 == 1
    points = np.where(starter_won, 1, -1) * oc.points_won(sample.boards[ends, 1], TWO)
    error = points.std() / len(points) ** 0.5
    assert abs(points.mean() - two.equities(start_boards(TWO))[0]) < 4 * error


def test_the_exact_bot_measured_by_itself_loses_nothing(two):
    bot = ExactBot(two)
    sample = sample_games(bot, find_preset("hyper").match, games=50, seed=1)
    report = judge(bot, bot, sample)
    assert (report.games, report.positions) == (50, len(sample.boards))
    assert report.mean_loss == report.standard_error == report.worst_loss == 0
    assert report.rms_error == pytest.approx(0, abs=1e-6)
    assert report.best_share == 1


def test_a_poor_bot_is_measured_as_poor(two):
    """Errors by hand: an evaluator that thinks all is even, and chance, which is no evaluator."""

    class Even(ExactBot):
        def outcomes(self, boards):
            return np.tile(np.float32([0.5, 0, 0, 0.5, 0, 0]), (len(boards), 1))

    exact = ExactBot(two)
    sample = sample_games(exact, find_preset("hyper").match, games=60, seed=2)
    even = judge(Even(two), exact, sample)
    assert even.rms_error == pytest.approx(np.sqrt((exact.equity(sample.boards).astype(float) ** 2).mean()), rel=1e-6)
    assert even.worst_error == pytest.approx(np.abs(exact.equity(sample.boards)).max(), rel=1e-6)
    chance = judge(RandomBot(TWO), exact, sample)
    assert chance.rms_error is None
    lost = []
    chosen = RandomBot(TWO)
    for board, dice in zip(sample.boards, sample.dice, strict=True):
        after = afterstates(board, dice, TWO)
        if len(after.boards) > 1:
            right = -exact.equity(after.boards)
            lost.append(right.max() - right[np.argmax(chosen.play_values(board[None], after))])
    assert chance.decisions == len(lost)
    assert chance.mean_loss == pytest.approx(np.mean(lost), abs=1e-6)
    assert chance.mean_loss > 4 * chance.standard_error


def test_samples_do_not_depend_on_how_many_games_run_side_by_side(two, monkeypatch):
    def sorted_sample():
        sample = sample_games(ExactBot(two), find_preset("hyper").match, games=40, seed=4)
        order = np.argsort(sample.games, kind="stable")
        return sample.boards[order], sample.dice[order]

    many = sorted_sample()
    monkeypatch.setattr("nardy_ai.play.against_exact._LANES", 7)
    few = sorted_sample()
    assert np.array_equal(many[0], few[0])
    assert np.array_equal(many[1], few[1])


def test_no_games_are_refused(two):
    with pytest.raises(NardyError, match="games = 0"):
        sample_games(ExactBot(two), MatchOptions(), games=0, seed=1)


@pytest.mark.slow
def test_hyper_is_solved_within_its_bound():
    """Some minutes, some gigabytes: the whole game; the start is worth 0.1 or so to the side on roll."""
    solution = load_solution(HYPER)
    assert solution.bound < 2e-6
    assert solution.effort.boards > 7_000_000
    board = start_boards(HYPER)
    mean = 0.0
    for weight, roll in zip(ROLL_WEIGHTS, ROLLS, strict=True):
        after = np.array([play.afterstate for play in reference.plays(board[0], roll, HYPER)])
        mean += weight * -solution.equities(after).min()
    assert solution.equities(board)[0] == pytest.approx(mean, abs=KEPT_TO)

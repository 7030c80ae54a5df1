"""Rollouts: unbiased whatever measures luck, the same numbers however the work is cut, resumable, and stoppable."""

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest
from networks import network_of, random_weights
from positions import board_of, reached_boards
from solved import two_checkers

import nardy_ai as na
from nardy_ai.boards import pip_counts, swap_sides
from nardy_ai.bots import load_bot
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS, dice_at
from nardy_ai.errors import BotError, NardyError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.network import Network
from nardy_ai.evaluators.settle import evaluator_play_values
from nardy_ai.exact.bearoff import bearoff_tables, exact_at
from nardy_ai.exact.solve import few_checkers
from nardy_ai.features import find_features
from nardy_ai.movegen.generate import expand
from nardy_ai.notation import parse_position
from nardy_ai.outcomes import swap
from nardy_ai.rollouts import RolloutReport, _rolls_at, first_rolls, read_rollout, rollout, save_rollout
from nardy_ai.rules import RuleSet, find_rules, start_boards
from nardy_ai.train.self_check import RACE, exact_race

SHORT, HYPER = find_rules("short"), find_rules("hyper")


class ExactRace:
    """Plays the race of two without an error and knows every chance."""

    name, rules = "exact race", RACE

    def __init__(self) -> None:
        boards, chances = exact_race()
        self._chances = {board.tobytes(): chance for board, chance in zip(boards, chances, strict=True)}

    def outcomes(self, boards):
        answers = np.zeros((len(boards), 6), dtype=np.float32)
        answers[:, 0] = [self._chances[board.tobytes()] for board in boards]
        answers[:, 3] = 1 - answers[:, 0]
        return answers

    def play_values(self, boards, after):
        return evaluator_play_values(self, boards, after)


def bad_network(rules: RuleSet) -> Network:
    """Random weights, twice the usual size: sure of itself and wrong."""
    return Network("bad", rules, find_features("counts-1"), random_weights(rules, seed=5, scale=2.0))


@cache
def solved() -> ExactBot:
    """Two checkers a side, with contact: plays without an error and knows every chance."""
    return ExactBot(two_checkers())


def races(n: int):
    """Boards of the race of two, and their exact equities."""
    boards, chances = exact_race()
    picked = np.random.default_rng(3).permutation(np.flatnonzero((pip_counts(boards) >= 8).all(axis=1)))[:n]
    return boards[picked], 2 * chances[picked] - 1


def same(one: RolloutReport, other: RolloutReport) -> bool:
    return np.array_equal(one.results, other.results) and np.array_equal(one.cut, other.cut)


def chi_square(n: int, games: int, **options: object) -> float:
    """((mean - exact) / se)^2 of `n` rollouts of solved positions, summed; each has a seed of its own.

    Where two rolls decide all, nothing is left to chance, and the mean must be exact.
    """
    bot = solved()
    boards = reached_boards(bot.rules, 60, 3)[0]
    exact = bot.equity(boards)
    total, spread = 0.0, 0
    for seed in range(n):
        i = seed % len(boards)
        report = rollout(bot, boards[i], games=games, seed=seed, batch=games, **options)
        if report.standard_error < 1e-6:
            assert report.equity == pytest.approx(exact[i], abs=1e-5)
            continue
        total += ((report.equity - exact[i]) / report.standard_error) ** 2
        spread += 1
    assert spread > 0.9 * n
    return total / spread


KNOWS_NOTHING = {"control": bad_network(few_checkers(HYPER, 2)), "truncate_after": 6}
WAYS = {
    "luck left in": {"variance_reduction": False},
    "luck left in and no table asked": {"variance_reduction": False, "bearoff": False},
    "a control that knows nothing": KNOWS_NOTHING | {"candidates": None, "bearoff": False},
    "a control that knows nothing and looks at one play": KNOWS_NOTHING | {"candidates": 1},
}
"""The bot is exact, so games that it judges are as good as played; which saves the default run most of the time."""
QUICK = "a control that knows nothing and looks at one play"


@pytest.mark.parametrize("way", [way if way == QUICK else pytest.param(way, marks=pytest.mark.slow) for way in WAYS])
def test_rollouts_are_unbiased_and_their_errors_are_true(way):
    """Chi-square of 60 rollouts is 1 each on average, with a standard deviation of sqrt(2 / 60) = 0.18: four of it."""
    assert 1 - 0.73 < chi_square(60, 1296, **WAYS[way]) < 1 + 0.73


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_rollouts_to_the_end_are_unbiased(way):
    """600 rollouts: the standard deviation is 0.058; four of it."""
    assert 1 - 0.23 < chi_square(600, 1296, **(WAYS[way] | {"truncate_after": None})) < 1 + 0.23


def test_errors_of_games_that_fill_no_block_are_not_too_small():
    """500 games: what spreads the second rolls evenly is not made use of, so errors are a little too large."""
    assert 0.3 < chi_square(60, 500, **WAYS[QUICK]) < 1.4


def test_an_exact_control_takes_all_luck_off():
    """Its luck is the whole difference between a game's result and the truth."""
    boards, exact = races(5)
    report = rollout(ExactRace(), boards, games=72)
    for line, equity in zip(report.lines, exact, strict=True):
        assert line.equity == pytest.approx(equity, abs=1e-5)
        assert line.standard_error < 1e-5
        assert line.outcomes.sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("variance_reduction", [True, False])
def test_games_end_where_the_tables_know_the_rest(variance_reduction):
    """A covered board is answered by the tables at once; one roll before, the 36 first throws are the whole answer.

    Seven checkers on the ace point are one too many; every roll takes two off or more.
    """
    bot, tables = network_of(SHORT), bearoff_tables()
    covered = board_of({6: 3, 4: 3}, {6: 2, 3: 4}, 15)
    options = {"games": 36, "variance_reduction": variance_reduction}
    report = rollout(bot, covered, **options)
    assert (report.results == tables.outcomes(covered, SHORT)[0].astype(np.float64)).all()
    before = board_of({1: 7}, {6: 2, 3: 4}, 15)
    expected = 0.0
    for weight, roll in zip(ROLL_WEIGHTS, ROLLS, strict=True):
        after = expand(before[None], roll[None], SHORT).boards
        assert (len(after), exact_at(after, SHORT).all()) == (1, True)
        expected += weight * (1 - tables.outcomes(after, SHORT)[0, 0])
    report = rollout(bot, before, **options)
    assert report.outcomes[0] == pytest.approx(expected, abs=1e-5)
    assert report.standard_error < 1e-6
    assert rollout(bot, before, bearoff=False, **options).standard_error > 1e-3


def test_rules_whose_races_no_table_covers_are_played_to_the_end():
    report = rollout(network_of(find_rules("long-left"), "blocks-1"), start_boards(find_rules("long-left")), games=1)
    assert not report.settings.bearoff


def test_truncated_at_exact_values_the_answer_stays_right():
    boards, exact = races(1)
    report = rollout(ExactRace(), boards, games=1296, truncate_after=2, variance_reduction=False)
    # Every pair of first rolls came once, so nothing is left to chance.
    assert report.equity == pytest.approx(exact[0], abs=1e-6)
    assert report.standard_error < 1e-6


def test_last_roll_is_exact_in_every_game():
    """5 and 2 against one checker on the ace point: 19 of 36 first rolls win, and they come evenly."""
    board = board_of({5: 1, 2: 1}, {1: 1}, 15)
    report = rollout(network_of(SHORT), board, games=360, variance_reduction=False, bearoff=False)
    assert report.outcomes.tolist() == pytest.approx([19 / 36, 0, 0, 17 / 36, 0, 0])
    assert report.standard_error == 0


def test_first_rolls_are_spread_evenly():
    """Each throw once first and once second in 36 games, each pair once in 1,296; other seeds, other orders."""
    rolls = first_rolls(7, np.arange(2 * 1296))
    for start in range(0, len(rolls), 36):
        assert (np.sort(rolls[start : start + 36], axis=0) == np.arange(36)[:, None]).all()
    assert set(Counter(map(tuple, rolls.tolist())).values()) == {2}
    assert len(set(map(tuple, rolls[:1296].tolist()))) == 1296
    assert not np.array_equal(rolls, first_rolls(8, np.arange(2 * 1296)))
    assert not np.array_equal(rolls[:36, 0], rolls[36:72, 0])


def test_each_game_by_itself_has_fair_first_rolls():
    """Game 5 over 3,600 seeds: each throw 100 times, standard deviation 10; chi-square of 35 within 35 +- 4 x 8.4."""
    rolls = np.concatenate([first_rolls(seed, np.array([5])) for seed in range(3600)])
    for column in rolls.T:
        assert 35 - 34 < ((np.bincount(column, minlength=36) - 100) ** 2 / 100).sum() < 35 + 34


def test_later_rolls_are_the_dice_of_the_game():
    games = np.arange(500)
    assert (ROLLS[_rolls_at(3, games, 9)] == dice_at(3, games, 9)).all()
    counts = np.bincount(_rolls_at(3, np.arange(1296), 0), minlength=21)
    assert (counts == np.where(ROLLS[:, 0] == ROLLS[:, 1], 36, 72)).all()


@pytest.mark.parametrize("variance_reduction", [True, False])
def test_workers_and_batches_change_no_number(variance_reduction):
    board = start_boards(HYPER, 1)
    options = {"games": 150, "seed": 4, "variance_reduction": variance_reduction}
    whole = rollout(network_of(HYPER), board, **options)
    assert same(whole, rollout(network_of(HYPER), board, workers=3, batch=40, **options))
    assert same(whole, rollout(network_of(HYPER), board, batch=150, **options))
    assert not same(whole, rollout(network_of(HYPER), board, **(options | {"seed": 5})))


@pytest.mark.parametrize("plies", [0, 1])
def test_resumed_is_the_same_as_at_once(plies, tmp_path):
    """2 x 648 games through a file, and 1,296."""
    bot, board = network_of(SHORT), start_boards(SHORT)
    options = {"seed": 2, "truncate_after": 3, "plies": plies}
    half = rollout(bot, board, games=648, **options)
    save_rollout(tmp_path / "half.npz", half)
    resumed = rollout(bot, board, games=648, earlier=read_rollout(tmp_path / "half.npz"), **options)
    whole = rollout(bot, board, games=1296, **options)
    assert same(resumed, whole)
    assert (resumed.equity, resumed.standard_error) == (whole.equity, whole.standard_error)
    assert resumed.outcomes.tolist() == whole.outcomes.tolist()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 3}, "seed"),
        ({"truncate_after": None}, "truncate_after"),
        ({"variance_reduction": False}, "control"),
        ({"after_play": True}, "after_play"),
        ({"bearoff": False}, "bearoff"),
        ({"candidates": 3}, "candidates"),
    ],
)
def test_resuming_something_else_is_refused(change, word):
    options = {"games": 36, "truncate_after": 2} | change
    earlier = rollout(network_of(HYPER), start_boards(HYPER), games=36, truncate_after=2)
    with pytest.raises(NardyError, match=word):
        rollout(network_of(HYPER), start_boards(HYPER), earlier=earlier, **options)


def test_resuming_with_another_bot_of_the_same_name_is_refused():
    earlier = rollout(network_of(HYPER), start_boards(HYPER), games=36, truncate_after=2)
    with pytest.raises(NardyError, match="another bot of the name"):
        rollout(network_of(HYPER, seed=9), start_boards(HYPER), games=36, truncate_after=2, earlier=earlier)
    with pytest.raises(NardyError, match="other positions"):
        rollout(network_of(HYPER), reached_boards(HYPER, 99, 1)[0][98], games=36, truncate_after=2, earlier=earlier)


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_earlier_version_is_read_and_gone_on_with(version, tmp_path):
    """None of them knew the cube; the first knew no tables either, and judged all plays."""
    options = {"truncate_after": 2, "bearoff": False, "candidates": None}
    report = rollout(network_of(HYPER), start_boards(HYPER), games=36, **options)
    save_rollout(tmp_path / "new.npz", report)
    with np.load(tmp_path / "new.npz") as file:
        arrays = dict(file)
    about = json.loads(arrays["about"].tobytes())
    assert about["version"] == 3
    about["version"] = version
    for name in ("state", "policy", "met", "decision", *(("bearoff", "candidates") if version == 1 else ())):
        del about["settings"][name]
    del arrays["values"]
    np.savez(tmp_path / "old.npz", **(arrays | {"about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}))
    old = read_rollout(tmp_path / "old.npz")
    assert old.settings == report.settings
    assert rollout(network_of(HYPER), start_boards(HYPER), games=36, earlier=old, **options).games == 72


def test_files_that_are_no_rollout_are_refused(tmp_path):
    (tmp_path / "text.npz").write_text("not a rollout")
    np.savez(tmp_path / "other.npz", boards=np.zeros(3))
    for name, word in (("text", "no rollout"), ("other", "no rollout"), ("missing", "no such file")):
        with pytest.raises(NardyError, match=word):
            read_rollout(tmp_path / f"{name}.npz")


def test_plays_are_compared_on_the_same_dice():
    """A board rolled out twice in one rollout differs by exactly 0, and without any spread."""
    ahead, behind = board_of({1: 3}, {24: 3}, 3), board_of({24: 3}, {1: 3}, 3)
    first, second, third = rollout(network_of(HYPER), np.stack((ahead, ahead, behind)), games=36).lines
    assert (second.difference, second.difference_error, second.equity) == (0, 0, first.equity)
    assert third.difference < 0 < third.difference_error


def test_after_a_play_values_are_those_of_who_has_played():
    board = reached_boards(HYPER, 1, 6)[0]
    before = rollout(network_of(HYPER), board, games=36)
    after = rollout(network_of(HYPER), board, games=36, after_play=True)
    assert after.equity == pytest.approx(-before.equity, abs=1e-12)
    assert np.allclose(after.results, swap(before.results))


def test_a_play_that_ends_the_game_counts_exactly():
    board = board_of({1: 1}, {1: 1, 6: 14}, 15)
    won = expand(board[None], np.array([[2, 1]], dtype=np.uint8), SHORT).boards
    report = rollout(network_of(SHORT), np.concatenate((won, swap_sides(board[None]))), games=36, after_play=True)
    assert report.lines[0].outcomes.tolist() == [0, 1, 0, 0, 0, 0]
    assert (report.lines[0].equity, report.lines[0].standard_error) == (2, 0)


def test_rollout_stops_when_the_error_is_small_enough():
    board = start_boards(HYPER)
    report = rollout(network_of(HYPER), board, games=100_000, until_error=0.08, variance_reduction=False, batch=50)
    assert (report.stopped, report.games % 108) == ("error", 0)
    assert report.standard_error <= 0.08
    assert same(report, rollout(network_of(HYPER), board, games=report.games, variance_reduction=False))


def test_rollout_stops_when_the_best_play_is_clear():
    """A race won with one checker left against one lost by all fifteen."""
    boards = np.stack([board_of({1: 1}, {24: 3}, 3), board_of({24: 3}, {1: 1}, 3)])
    report = rollout(network_of(HYPER), boards, games=100_000, until_clear=3.0)
    assert (report.stopped, report.games) == ("clear", 216)
    assert report.lines[1].difference < -3 * report.lines[1].difference_error


def test_games_that_never_end_are_cut_and_counted():
    report = rollout(network_of(HYPER), start_boards(HYPER), games=72, cut_after=3)
    truncated = rollout(network_of(HYPER), start_boards(HYPER), games=72, truncate_after=3)
    assert report.lines[0].cut == 72
    assert truncated.lines[0].cut == 0
    assert np.array_equal(report.results, truncated.results)


def test_stopped_rollouts_keep_what_has_ended():
    seen: list[int] = []
    report = rollout(
        network_of(HYPER), start_boards(HYPER), games=10_000, progress=lambda one: seen.append(one.games),
        stop=lambda: len(seen) > 1,
    )  # fmt: skip
    assert report.stopped == "interrupted"
    assert report.games == seen[-1] < 10_000
    assert same(report, rollout(network_of(HYPER), start_boards(HYPER), games=report.games))


def test_bots_without_chances_play_with_luck_left_in_or_a_control():
    pips, board = load_bot("pips", HYPER), start_boards(HYPER)
    with pytest.raises(BotError, match="no evaluator"):
        rollout(pips, board, games=36)
    with pytest.raises(BotError, match="truncated"):
        rollout(pips, board, games=36, truncate_after=3, variance_reduction=False)
    plain = rollout(pips, board, games=324, variance_reduction=False)
    controlled = rollout(pips, board, games=324, control=network_of(HYPER))
    spread = np.hypot(plain.standard_error, controlled.standard_error)
    assert abs(plain.equity - controlled.equity) < 4 * spread


def test_wrong_arguments_are_explained():
    bot, board = network_of(HYPER), start_boards(HYPER)
    for options in ({"games": 0}, {"workers": 0}, {"truncate_after": 0}, {"until_clear": 2.0}, {"candidates": 0}):
        with pytest.raises(NardyError, match="expected"):
            rollout(bot, board, **options)


@pytest.mark.parametrize("plies", [0, 1])
def test_a_side_with_a_checker_off_never_loses_mars(plies):
    """After 5-4 from YEYF4TnO7w4AAA a checker is off: in every game, luck taken off or not, mars lost is exactly 0."""
    after = expand(parse_position("YEYF4TnO7w4AAA", SHORT)[None], np.array([[5, 4]], dtype=np.uint8), SHORT).boards
    report = rollout(network_of(SHORT), after, games=36, plies=plies, truncate_after=4, after_play=True)
    assert (len(after), report.results[:, :, 4:].any()) == (2, False)


def test_long_nardy_is_rolled_out_too():
    rules = find_rules("long")
    report = rollout(network_of(rules, "blocks-1"), start_boards(rules), games=36, truncate_after=10)
    assert report.outcomes.sum() == pytest.approx(1, abs=1e-6)
    assert np.isfinite(report.standard_error)


def test_public_name_is_the_function():
    assert na.rollout is rollout


@pytest.mark.slow
def test_luck_taken_off_shrinks_the_error():
    """A trained bot as its own control, on contact positions: at least 4-fold at equal games. Needs a shipped bot."""
    try:
        bot = load_bot("short")
    except BotError:
        pytest.skip("no bot of short nardy is shipped")
    plain = rollout(bot, start_boards(bot.rules), games=1296, variance_reduction=False)
    assert rollout(bot, start_boards(bot.rules), games=1296).standard_error < plain.standard_error / 4

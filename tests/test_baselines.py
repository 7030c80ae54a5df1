"""The fixed opponents: pure functions, fair where they say so, and ordered in strength as they should be."""

from dataclasses import replace

import numpy as np
import pytest

from nardy_ai.boards import finished, pip_counts
from nardy_ai.dice import dice_at, hash_at
from nardy_ai.errors import BotError
from nardy_ai.evaluators.baselines import HeuristicBot, PipsBot, PubevalBot, RandomBot, _log_misses
from nardy_ai.evaluators.settle import evaluator_play_values, settled_outcomes
from nardy_ai.movegen.generate import Afterstates, afterstates, best_of_segments
from nardy_ai.outcomes import equities, final_outcomes, swap
from nardy_ai.rules import find_rules, start_boards

SHORT, LONG = find_rules("short"), find_rules("long")


def side_boards(on_roll, other, checkers=15):
    """One board from two tables of own point -> checkers; the rest are off."""
    board = np.zeros((1, 2, 26), dtype=np.int8)
    for row, side in enumerate((on_roll, other)):
        for point, count in side.items():
            board[0, row, point] = count
    board[:, :, 0] = checkers - board.sum(axis=2)
    return board


def played(bot, boards, dice):
    """The afterstates that the bot plays, `int8[N, 2, 26]`."""
    after = afterstates(boards, dice, bot.rules)
    return after.boards[best_of_segments(bot.play_values(boards, after), after.offsets)]


def reached_boards(rules, *, bot=None, games=40, plies=60, seed=11):
    """Unfinished boards of games of a bot against itself, random unless said otherwise, from every phase."""
    bot, boards, kept = bot or RandomBot(rules, seed=seed), start_boards(rules, games), []
    for ply in range(plies):
        boards = played(bot, boards, dice_at(seed, np.arange(len(boards)), ply))
        boards = boards[~finished(boards)]
        kept.append(boards[ply % 4 :: 4])
    return np.concatenate(kept)


def points_per_game(one, two, *, pairs, seed):
    """Points of `one` a game with its standard error over pairs: the same dice, seats swapped."""
    rules = one.rules
    games = np.arange(2 * pairs)
    boards, won, ply = start_boards(rules, len(games)), np.zeros(len(games)), 0
    while len(games):
        dice, turn = dice_at(seed, games // 2, ply), (games + ply) % 2
        for bot, mine in ((one, turn == 0), (two, turn == 1)):
            if mine.any():
                boards[mine] = played(bot, boards[mine], dice[mine])
        over = finished(boards)
        to_mover = equities(swap(final_outcomes(boards[over], rules)), rules)
        won[games[over]] = np.where(turn[over] == 0, to_mover, -to_mover)
        games, boards, ply = games[~over], boards[~over], ply + 1
    means = won.reshape(-1, 2).mean(axis=1)
    return means.mean(), means.std() / np.sqrt(pairs)


def bots_of(name):
    rules = find_rules(name)
    bots = [RandomBot(rules, seed=3), PipsBot(rules), HeuristicBot(rules)]
    return bots + ([PubevalBot(rules)] if name in ("short", "caucasian") else [])


@pytest.mark.parametrize("name", ["short", "caucasian", "tavla", "hyper", "long", "long-fnr", "long-left"])
def test_permuting_or_splitting_a_batch_permutes_or_splits_the_values(name):
    boards = reached_boards(find_rules(name), games=12, plies=40)
    dice = dice_at(5, np.arange(len(boards)), 0)
    order = np.argsort(hash_at(1, np.arange(len(boards)), 0))
    after = afterstates(boards, dice, find_rules(name))
    mixed = afterstates(boards[order], dice[order], find_rules(name))
    for bot in bots_of(name):
        values = bot.play_values(boards, after)
        assert values.dtype == np.float32
        assert values.shape == (len(after.boards),)
        assert np.isfinite(values).all()
        segments = np.split(values, after.offsets[1:-1])
        expected = np.concatenate([segments[i] for i in order])
        assert np.array_equal(bot.play_values(boards[order], mixed), expected), bot.name
        half = len(boards) // 2
        cut = after.offsets[half]
        first = Afterstates(after.boards[:cut], after.offsets[: half + 1])
        second = Afterstates(after.boards[cut:], after.offsets[half:] - cut)
        parts = bot.play_values(boards[:half], first), bot.play_values(boards[half:], second)
        assert np.array_equal(np.concatenate(parts), values), bot.name


def test_values_do_not_depend_on_the_name_of_the_rules():
    for name in ("short", "long"):
        boards = reached_boards(find_rules(name), games=4, plies=20)
        after = afterstates(boards, (3, 1), find_rules(name))
        for bot in bots_of(name):
            other = type(bot)(replace(bot.rules, name="x"), **({"seed": 3} if bot.name == "random" else {}))
            assert np.array_equal(bot.play_values(boards, after), other.play_values(boards, after))


def test_the_arguments_are_left_as_they_were():
    for name in ("short", "long"):
        boards = reached_boards(find_rules(name), games=4, plies=20)
        after = afterstates(boards, (6, 5), find_rules(name))
        before = boards.copy(), after.boards.copy(), after.offsets.copy()
        for bot in bots_of(name):
            bot.play_values(boards, after)
        for array, copy in zip((boards, after.boards, after.offsets), before, strict=True):
            assert np.array_equal(array, copy)


def test_random_plays_each_distinct_result_equally_often_over_seeds():
    """3-1 from the start has 16 results; 4,000 seeds give 250 each, sd 15.3. Limit: five sd, once in 100,000."""
    boards = start_boards(SHORT)
    after = afterstates(boards, (3, 1), SHORT)
    chosen = [int(RandomBot(SHORT, seed=seed).play_values(boards, after).argmax()) for seed in range(4000)]
    counts = np.bincount(chosen, minlength=len(after.boards))
    assert len(after.boards) == 16
    assert np.abs(counts - 250).max() < 5 * 15.3


def test_random_plays_each_distinct_result_equally_often_over_positions():
    """One seed, many boards with 10 results or more: the place of the choice in its list is uniform, mean 0.5."""
    boards = reached_boards(SHORT)
    after = afterstates(boards, (5, 2), SHORT)
    chosen = best_of_segments(RandomBot(SHORT, seed=0).play_values(boards, after), after.offsets)
    counts = after.counts()
    many = counts >= 10
    places = ((chosen - after.offsets[:-1] + 0.5) / counts)[many]
    assert many.sum() > 200
    assert abs(places.mean() - 0.5) < 5 * np.sqrt(1 / 12 / many.sum())


def test_random_depends_on_the_seed_the_afterstate_and_the_board_before():
    boards = start_boards(SHORT)
    after = afterstates(boards, (2, 1), SHORT)
    values = RandomBot(SHORT, seed=1).play_values(boards, after)
    other_parent = side_boards({24: 2, 13: 5, 8: 3, 6: 4, 5: 1}, {24: 2, 13: 5, 8: 3, 6: 5})
    assert np.array_equal(values, RandomBot(SHORT, seed=1).play_values(boards, after))
    assert not np.isin(values, RandomBot(SHORT, seed=2).play_values(boards, after)).any()
    assert not np.isin(values, RandomBot(SHORT, seed=1).play_values(other_parent, after)).any()
    assert len(np.unique(values)) == len(values)
    assert values.min() >= 0
    assert values.max() < 1


def test_pips_counts_a_hit_by_the_pips_it_costs():
    """On roll 8 and 6 with 2-1, a blot on my 5: 6/5* and 8/5* cost him 20 pips, and one of them is played."""
    boards = side_boards({8: 1, 6: 1}, {20: 1, 1: 1})
    after = afterstates(boards, (2, 1), SHORT)
    values = PipsBot(SHORT).play_values(boards, after)
    pips = pip_counts(after.boards)
    assert values.max() == (25 + 1) - (14 - 3)
    assert np.array_equal(values, pips[:, 0] - pips[:, 1])


def test_heuristic_makes_the_five_point_with_three_one():
    chosen = played(HeuristicBot(SHORT), start_boards(SHORT), (3, 1))
    assert chosen[0, 1].nonzero()[0].tolist() == [5, 6, 8, 13, 24]


def test_heuristic_leaves_no_shot_when_it_need_not():
    """The last two pass the last enemy: 6-1 from 14 and 13 (he on my 5 and 4): both reach 7, or one stays behind."""
    boards = side_boards({14: 1, 8: 1, 6: 6, 3: 7}, {20: 2, 3: 13})
    chosen = played(HeuristicBot(SHORT), boards, (6, 1))
    blots = np.flatnonzero(chosen[0, 1, 5:25] == 1)
    assert len(blots) < 2


def test_heuristic_values_blots_only_where_they_can_be_hit():
    """Two blots against an enemy behind them: worth less than the same checkers where one checker closes a point."""
    after = Afterstates(side_boards({24: 2, 3: 13}, {18: 1, 17: 1, 6: 13}), np.array([0, 1]))
    unhit = replace(SHORT, closed_by=1)
    before = start_boards(SHORT)
    assert HeuristicBot(SHORT).play_values(before, after) < HeuristicBot(unhit).play_values(before, after)


def test_heuristic_values_a_wall_by_the_enemies_behind_it():
    """Six in a row against three on his 24, or against the same three past it: worth more than six scattered ones."""
    wall, scattered = {8: 2, 7: 2, 6: 2, 5: 2, 4: 2, 3: 5}, {12: 2, 10: 2, 8: 2, 6: 2, 4: 2, 2: 5}
    behind, past = {24: 3, 3: 12}, {10: 3, 3: 12}
    boards = np.concatenate([side_boards(his, mine) for mine in (wall, scattered) for his in (behind, past)])
    values = HeuristicBot(SHORT).play_values(start_boards(SHORT), Afterstates(boards, np.array([0, 4])))
    assert values[0] - values[1] > values[2] - values[3] + 20


def test_heuristic_takes_a_checker_off_the_head_and_spreads():
    """Long, second turn, 2-1: the one head move is played rather than two moves of the runner."""
    boards = side_boards({24: 14, 18: 1}, {24: 14, 20: 1})
    chosen = played(HeuristicBot(LONG), boards, (2, 1))
    assert chosen[0, 1, 24] == 13


def test_heuristic_closes_the_points_in_front_of_an_enemy_in_the_enemys_numbering():
    """Long: my 11..7 are his 23..19, five of six dice of his last checker. The same pips elsewhere stop none."""
    wall = {11: 1, 10: 1, 9: 1, 8: 1, 7: 1, 24: 10}
    elsewhere = {1: 1, 2: 1, 5: 1, 18: 1, 19: 1, 24: 10}
    boards = np.concatenate([side_boards({24: 1, 3: 14}, mine) for mine in (wall, elsewhere)])
    values = HeuristicBot(LONG).play_values(start_boards(LONG), Afterstates(boards, np.array([0, 2])))
    assert values[0] > values[1] + 5


@pytest.mark.parametrize(
    ("distance", "rolls"), [(1, 11), (2, 12), (3, 14), (4, 15), (5, 15), (6, 17), (7, 6), (12, 3), (13, 0), (24, 1)]
)
def test_chances_of_a_hit_are_the_known_ones_of_thirty_six(distance, rolls):
    assert (1 - np.exp(_log_misses()[25, 25 - distance])) * 36 == pytest.approx(rolls, abs=1e-4)


@pytest.mark.parametrize("name", ["short", "caucasian", "hyper", "long"])
def test_heuristic_beats_random_and_pips_by_ten_standard_errors(name):
    """Measured with 250 pairs: short +2.5 and +2.5, hyper +1.5 and +0.7, long +1.7 and +1.9 points a game."""
    rules = find_rules(name)
    for other in (RandomBot(rules), PipsBot(rules)):
        mean, error = points_per_game(HeuristicBot(rules), other, pairs=30 if name != "hyper" else 250, seed=1)
        assert mean > 9 * error, other.name


def test_a_bot_against_itself_scores_exactly_zero():
    for rules in (SHORT, LONG):
        mean, error = points_per_game(HeuristicBot(rules), HeuristicBot(rules), pairs=10, seed=2)
        assert (mean, error) == (0, 0)


class _Fair:
    """Row 0 wins six of ten singly; refuses finished boards."""

    name, rules = "fair", SHORT

    def outcomes(self, boards):
        assert not finished(boards).any()
        return np.tile(np.float32([0.6, 0, 0, 0.4, 0, 0]), (len(boards), 1))


def test_finished_afterstates_are_worth_what_the_rules_say_and_others_what_the_evaluator_says():
    """The mover has borne off his last: a single game, a mars, a koks; the fourth game goes on, row 0 favourite."""
    over = [side_boards(loser, {}) for loser in ({6: 14}, {6: 15}, {24: 1, 6: 14})]
    boards = np.concatenate([*over, side_boards({6: 14}, {1: 1})])
    after = Afterstates(boards, np.array([0, 4]))
    values = evaluator_play_values(_Fair(), boards[:1], after)
    assert values.dtype == np.float32
    assert np.allclose(values, [1, 2, 3, -0.2])
    assert np.allclose(settled_outcomes(_Fair(), boards[:3]).sum(axis=1), 1)
    assert np.allclose(settled_outcomes(_Fair(), boards[3:]), [[0.6, 0, 0, 0.4, 0, 0]])


@pytest.mark.parametrize("name", ["hyper", "long"])
def test_pubeval_refuses_games_it_does_not_know(name):
    with pytest.raises(BotError, match="15 checkers a side"):
        PubevalBot(find_rules(name))

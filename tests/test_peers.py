"""Outside engines as bots: whose turn it is, which classes, which game, and what they say of known positions."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from test_baselines import reached_boards, side_boards

from nardy_ai.boards import swap_sides
from nardy_ai.dice import dice_at, hash_at
from nardy_ai.errors import BotError
from nardy_ai.evaluators.baselines import HeuristicBot
from nardy_ai.evaluators.peers import GnubgBot, SageBot
from nardy_ai.evaluators.protocol import Evaluator
from nardy_ai.movegen.generate import Afterstates, afterstates, best_of_segments
from nardy_ai.outcomes import equities, possible, swap
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")
NEEDED = {GnubgBot: "gnubg_nn", SageBot: "bgbot_cpp"}

# Ahead on one side only, so that a wrong side on roll or a swapped row shows: closed out; a back game; two off.
ONE_SIDED = np.concatenate(
    (
        side_boards({7: 2, 6: 3, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2}, {25: 2, 13: 4, 6: 5, 5: 4}),
        side_boards({24: 2, 22: 3, 6: 4, 5: 3, 4: 3}, {13: 2, 8: 2, 7: 3, 6: 3, 5: 3, 4: 2}),
        side_boards({6: 3, 5: 3, 4: 3, 3: 2, 2: 2}, {12: 2, 9: 3, 6: 4, 5: 3, 4: 3}),
    )
)


def made(bot_class, **options):
    if find_spec(NEEDED[bot_class]) is None:
        pytest.skip(f"{NEEDED[bot_class]} is not installed; pip install 'nardy_ai[peers]'")
    return bot_class(**options)


@pytest.fixture(params=[GnubgBot, SageBot], ids=["gnubg", "sage"])
def bot(request):
    return made(request.param)


@pytest.fixture(scope="module")
def some_boards():
    """Boards of random games: many on the bar, broken positions, races."""
    return reached_boards(SHORT, games=20, plies=140)[::4]


@pytest.mark.parametrize("bot_class", [GnubgBot, SageBot])
def test_a_missing_engine_is_named_with_what_to_install(bot_class, monkeypatch):
    monkeypatch.setitem(sys.modules, NEEDED[bot_class], None)
    with pytest.raises(BotError, match=r"pip install 'nardy_ai\[peers\]'"):
        bot_class()


@pytest.mark.parametrize("bot_class", [GnubgBot, SageBot])
@pytest.mark.parametrize("name", ["long", "caucasian", "short-oin", "hyper"])
def test_other_games_are_refused_before_the_engine_is_looked_for(bot_class, name):
    with pytest.raises(BotError, match="ordinary short nardy only"):
        bot_class(find_rules(name))


def test_depths_that_an_engine_does_not_have_are_refused():
    with pytest.raises(BotError, match="plies = -1"):
        GnubgBot(plies=-1)
    with pytest.raises(BotError, match="plies = 0"):
        SageBot(plies=0)


def test_the_same_game_by_another_name_is_accepted(bot):
    assert type(bot)(find_rules("short-money")).rules.name == "short-money"
    assert isinstance(bot, Evaluator)


def test_outcomes_are_exclusive_and_impossible_classes_are_zero(bot, some_boards):
    boards = np.concatenate((some_boards, ONE_SIDED, swap_sides(ONE_SIDED)))
    outcomes = bot.outcomes(boards)
    assert outcomes.dtype == np.float32
    assert np.allclose(outcomes.sum(axis=1), 1, atol=1e-6)
    assert outcomes.min() >= 0
    assert (outcomes[~possible(boards, SHORT)] == 0).all()


def test_the_side_on_roll_has_the_better_of_the_start(bot):
    """gnubg's bare net gives +0.07, Sage's +0.08; with the sides taken the wrong way it is their negative."""
    assert 0.04 < equities(bot.outcomes(start_boards(SHORT)), SHORT)[0] < 0.11


def test_exact_values_of_a_bear_off(bot):
    """5 and 2 on roll against one on the ace: 19 of 36 rolls win (users-ask.md, 22). 6 and 1: 15; 6 and 6: 4."""
    boards = np.concatenate([side_boards(side, {1: 1}) for side in ({5: 1, 2: 1}, {6: 1, 1: 1}, {6: 2})])
    assert np.allclose(bot.outcomes(boards)[:, 0] * 36, [19, 15, 4], atol=2e-3)


def test_known_values_of_one_sided_positions(bot):
    """Two on the bar against a closed home lose a mars nine times of ten, whoever is on roll; 0.1 between the nets."""
    mine, his = bot.outcomes(ONE_SIDED[:1])[0], bot.outcomes(swap_sides(ONE_SIDED[:1]))[0]
    assert mine[1] == pytest.approx(0.90, abs=0.03)
    assert his[4] == pytest.approx(0.91, abs=0.03)
    back_game = bot.outcomes(ONE_SIDED[1:2])[0]
    assert back_game[3:].sum() == pytest.approx(0.79, abs=0.03)
    assert back_game[4:].sum() == pytest.approx(0.31, abs=0.03)


def test_gnubg_says_what_gnubg_says():
    """users-ask.md, 15: 5-4 as 6/2 5/off +0.762 or 5/off 4/off +0.765 at 0-ply."""
    bot = made(GnubgBot)
    boards = side_boards({2: 3, 4: 6, 5: 3, 6: 3}, {24: 3, 22: 4, 18: 1, 13: 1, 12: 1, 11: 1, 8: 2, 6: 2})
    after = afterstates(boards, (5, 4), SHORT)
    values = bot.play_values(boards, after)
    off = after.boards[:, 1, 0]
    assert values[off == 1].max() == pytest.approx(0.762, abs=0.001)
    assert values[off == 2].max() == pytest.approx(0.765, abs=0.001)
    assert (bot.outcomes(after.boards)[off > 0, 1:3] == 0).all()


def test_the_two_engines_agree():
    """Two bridges made apart: on boards of sensible games the equities differ by 0.05 (rms) and no more than 0.5.

    Null controls: with one bridge's sides exchanged, on the board, in the answer or in both, they are far apart.
    """
    boards = np.concatenate((reached_boards(SHORT, bot=HeuristicBot(SHORT), games=20), ONE_SIDED))
    gnubg, sage = made(GnubgBot).outcomes(boards), made(SageBot).outcomes(boards)
    other_side = made(SageBot).outcomes(swap_sides(boards))

    def difference(outcomes):
        return np.abs(equities(outcomes, SHORT) - equities(gnubg, SHORT))

    assert len(boards) > 200
    assert np.sqrt((difference(sage) ** 2).mean()) < 0.05
    assert difference(sage).max() < 0.5
    assert np.abs(sage - gnubg).mean(axis=0).max() < 0.02
    for wrong in (swap(sage), other_side, swap(other_side)):
        assert np.sqrt((difference(wrong) ** 2).mean()) > 0.15


def test_finished_games_are_settled_exactly(bot):
    over = np.concatenate([side_boards(loser, {}) for loser in ({6: 14}, {6: 15}, {24: 1, 6: 14})])
    values = bot.play_values(start_boards(SHORT), Afterstates(over, np.array([0, 3])))
    assert values.tolist() == [1, 2, 3]
    assert bot.outcomes(over).argmax(axis=1).tolist() == [3, 4, 5]


def test_permuting_or_splitting_a_batch_permutes_or_splits_the_values(bot, some_boards):
    boards = some_boards[:40]
    dice = dice_at(2, np.arange(len(boards)), 0)
    order = np.argsort(hash_at(3, np.arange(len(boards)), 0))
    after, mixed = afterstates(boards, dice, SHORT), afterstates(boards[order], dice[order], SHORT)
    segments = np.split(bot.play_values(boards, after), after.offsets[1:-1])
    assert np.array_equal(bot.play_values(boards[order], mixed), np.concatenate([segments[i] for i in order]))
    one = afterstates(boards[7:8], dice[7:8], SHORT)
    assert np.array_equal(bot.play_values(boards[7:8], one), segments[7])


def test_gnubg_plays_what_its_own_engine_plays(some_boards):
    bot = made(GnubgBot)
    import gnubg_nn

    for board, roll in zip(some_boards[:60], dice_at(4, np.arange(60), 0), strict=True):
        after = afterstates(board, roll, SHORT)
        values, result = bot.play_values(board[None], after), board.copy()
        for source, target in gnubg_nn.best_move([board[1, 1:].tolist(), board[0, 1:].tolist()], *roll.tolist(), 0):
            result[0, source] -= 1
            result[0, max(target, 0)] += 1
            if target > 0 and result[1, 25 - target]:
                result[1, [25 - target, 25]] = 0, result[1, 25] + 1
        same = (after.boards == result[::-1]).all(axis=(1, 2))
        assert values[same][0] >= values.max() - 1e-5


def test_sage_plays_what_its_own_engine_plays(some_boards):
    """Also proves that Sage is shown the board before the play: without it other nets are asked."""
    bot = made(SageBot)
    import bgbot_cpp
    from bgsage import default_weights
    from bgsage.weights import bearoff_db_path

    weights = default_weights()
    engine = bgbot_cpp.create_multipy(
        weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list, n_plies=1
    )
    table = bgbot_cpp.BearoffDB()
    table.load(str(bearoff_db_path()))
    bgbot_cpp.multipy_set_bearoff_db(engine, table)
    for board, roll in zip(some_boards[:60], dice_at(4, np.arange(60), 0), strict=True):
        after = afterstates(board, roll, SHORT)
        before = sage_list(board)
        candidates = [sage_list(result[::-1]) for result in after.boards]
        assert sorted(candidates) == sorted(bgbot_cpp.possible_moves(before, *roll.tolist()) or candidates)
        values = bot.play_values(board[None], after)
        if len(candidates) > 1:
            assert values[engine.best_move_index(candidates, before)] >= values.max() - 1e-5


def sage_list(board):
    """bgsage's 26 numbers, written a second time: row 0 positive on its points, bars at 25 and 0."""
    numbers = [int(board[0, point]) - int(board[1, 25 - point]) for point in range(1, 25)]
    return [int(board[1, 25]), *numbers, int(board[0, 25])]


def test_both_engines_would_rather_play_as_the_heuristic_than_at_random(bot, some_boards):
    """A strength check that a sign error cannot pass: the heuristic's plays lose far less than the average play."""
    boards = some_boards[:60]
    after = afterstates(boards, dice_at(6, np.arange(len(boards)), 0), SHORT)
    values = bot.play_values(boards, after)
    best = np.maximum.reduceat(values, after.offsets[:-1])
    chosen = best_of_segments(HeuristicBot(SHORT).play_values(boards, after), after.offsets)
    average = np.add.reduceat(values, after.offsets[:-1]) / after.counts()
    assert (best - values[chosen]).mean() < 0.5 * (best - average).mean()

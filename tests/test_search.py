"""Look-ahead: exact where the answer is known, the same in every batch, filters that prune, and bots named by depth."""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from networks import network_of
from positions import board_of, reached_boards

from nardy_ai.boards import finished
from nardy_ai.bots import is_trained, load_bot
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import BotError
from nardy_ai.evaluators.baselines import PipsBot
from nardy_ai.evaluators.settle import evaluator_play_values
from nardy_ai.movegen.generate import Afterstates, afterstates, expand
from nardy_ai.movegen.reference import plays
from nardy_ai.outcomes import class_count, class_points, equities, final_outcomes, swap
from nardy_ai.rules import find_rules, start_boards
from nardy_ai.search import FILTERS, Level, Lookahead, MoveFilter, distinct_boards

SHORT = find_rules("short")
GAMES = ("short", "long", "hyper", "long-left", "caucasian")
ALL = MoveFilter("all", (Level(10_000, 1e9),))


@dataclass
class Ignorant:
    """Knows finished games and thinks all others even; plays by nothing else."""

    rules: object
    name: str = "ignorant"

    def outcomes(self, boards):
        answers = np.zeros((len(boards), class_count(self.rules)), dtype=np.float32)
        answers[:, [0, answers.shape[1] // 2]] = 0.5
        return answers

    def play_values(self, boards, after):
        return evaluator_play_values(self, boards, after)


def network(name: str):
    rules = find_rules(name)
    return network_of(rules, "blocks-1" if rules.closed_by == 1 else "counts-1")


def positions(name: str, n: int, seed: int = 1):
    return reached_boards(find_rules(name), n, seed)[0]


LAST_ROLLS = {  # own checkers on these points, the other side on its ace point: rolls of 36 that bear both off
    "5 and 2": ({5: 1, 2: 1}, 19),
    "6 and 1": ({6: 1, 1: 1}, 15),
    "4 and 4": ({4: 2}, 11),
    "6 and 5": ({6: 1, 5: 1}, 6),
    "6 and 6": ({6: 2}, 4),
}


@pytest.mark.parametrize("plies", [1, 2, 3])
@pytest.mark.parametrize("name", LAST_ROLLS)
def test_last_roll_has_its_exact_chance_at_every_depth(name, plies):
    """One roll to bear off, else the other side does: an exact value does not drift when searched deeper."""
    own, good = LAST_ROLLS[name]
    board = board_of(own, {1: 1}, 15)
    outcomes = Lookahead(Ignorant(SHORT), plies).outcomes(board[None])[0]
    # Depth 1 sees his last roll as even; from depth 2 on it is seen to win.
    lost = (36 - good) / 36 * (0.5 if plies == 1 else 1.0)
    assert outcomes[3:].sum() == pytest.approx(lost, abs=1e-7)
    assert outcomes.sum() == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_finished_games_are_exact(plies):
    boards = np.stack([board_of({}, {1: 1}, 15), board_of({24: 15}, {}, 15)])
    assert (Lookahead(network("short"), plies).outcomes(boards) == final_outcomes(boards, SHORT)).all()


@pytest.mark.parametrize("name", GAMES)
def test_one_ply_is_the_mean_over_rolls_of_the_best_reply(name):
    """Against a slow twin: the reference generator, roll by roll."""
    net = network(name)
    boards = positions(name, 3)
    found = Lookahead(net, 1).outcomes(boards)
    for board, outcomes in zip(boards, found, strict=True):
        expected = np.zeros(len(outcomes))
        for dice, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            after = np.stack([play.afterstate for play in plays(board, dice, net.rules)])
            theirs = net.outcomes(after)
            theirs[finished(after)] = final_outcomes(after[finished(after)], net.rules)
            expected += weight * swap(theirs)[np.argmin(equities(theirs, net.rules))]
        assert np.allclose(outcomes, expected, rtol=0, atol=1e-6)


def test_two_plies_are_one_ply_after_the_bare_best_reply():
    net = network("hyper")
    boards = positions("hyper", 2)
    one = Lookahead(net, 1)
    for board, outcomes in zip(boards, Lookahead(net, 2).outcomes(boards), strict=True):
        expected = np.zeros(6)
        for dice, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
            after = expand(board[None], dice[None], net.rules)
            best = after.boards[[int(np.argmax(net.play_values(board[None], after)))]]
            expected += weight * swap(one.outcomes(best))[0]
        assert np.allclose(outcomes, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("plies", [1, 2])
def test_answers_are_the_same_in_every_batch(name, plies):
    """Permuted and split, bit for bit; equal boards included."""
    bot = Lookahead(network(name), plies)
    boards = positions(name, 6 if plies == 2 else 150)
    boards = np.concatenate((boards, boards[:3]))
    whole = bot.outcomes(boards)
    order = np.random.default_rng(1).permutation(len(boards))
    assert (bot.outcomes(boards[order]) == whole[order]).all()
    parts = [bot.outcomes(boards[first:last]) for first, last in pairwise((0, 1, 4, len(boards)))]
    assert (np.concatenate(parts) == whole).all()


@pytest.mark.parametrize("filter", FILTERS)
def test_play_values_are_the_same_in_every_batch(filter):
    bot = Lookahead(network("short"), 1, filter=filter)
    boards, dice = reached_boards(SHORT, 30, 2)
    whole = bot.play_values(boards, expand(boards, dice, SHORT))
    alone = [
        bot.play_values(board[None], expand(board[None], roll[None], SHORT))
        for board, roll in zip(boards, dice, strict=True)
    ]
    assert (np.concatenate(alone) == whole).all()


def test_an_evaluator_without_a_fast_path_gives_the_same():
    """The slow way through `outcomes` and the fast one through the parents' sums."""
    net = network("short")

    @dataclass
    class Slow:
        name = "slow"
        rules = net.rules

        def outcomes(self, boards):
            return net.outcomes(boards)

        def play_values(self, boards, after):
            return net.play_values(boards, after)

    boards = positions("short", 5)
    assert (Lookahead(Slow(), 1).outcomes(boards) == Lookahead(net, 1).outcomes(boards)).all()


def test_without_a_filter_every_play_has_its_own_value():
    net = network("short")
    board, dice = (array[:1] for array in reached_boards(SHORT, 1, 3))
    after = expand(board, dice, SHORT)
    bot = Lookahead(net, 1, filter=ALL)
    expected = equities(swap(bot.outcomes(after.boards)), SHORT)
    assert (bot.play_values(board, after) == expected).all()


@pytest.mark.parametrize("filter", FILTERS)
def test_plays_left_behind_count_less_than_those_looked_at_deeper(filter):
    """The chosen play is one that the filter kept, and keeps its own deeper value."""
    net = network("short")
    boards, dice = reached_boards(SHORT, 40, 4)
    after = expand(boards, dice, SHORT)
    bare, bot = net.play_values(boards, after), Lookahead(net, 1, filter=filter)
    values, level = bot.play_values(boards, after), FILTERS[filter].level(0)
    for first, last in pairwise(after.offsets):
        order = first + np.argsort(-bare[first:last], kind="stable")
        close = bare[order] >= bare[order[0]] - np.float32(level.margin)
        kept = order[close & (np.arange(len(order)) < level.keep)]
        left = np.setdiff1d(order, kept)
        if len(kept) == 1:
            assert (values[first:last] == bare[first:last]).all()
            continue
        assert (values[kept] == equities(swap(bot.outcomes(after.boards[kept])), SHORT)).all()
        assert (values[left] < values[kept].min()).all()
        assert (values[left] <= bare[left]).all()


def test_a_forced_play_is_not_looked_at():
    class Counting(Ignorant):
        asked = 0

        def play_values(self, boards, after):
            self.asked += 1
            return super().play_values(boards, after)

    evaluator = Counting(SHORT)
    board = board_of({1: 1}, {1: 1}, 15)[None]
    after = expand(board, np.array([[6, 5]], dtype=np.uint8), SHORT)
    Lookahead(evaluator, 2).play_values(board, after)
    assert evaluator.asked == 1


def test_nothing_asked_nothing_answered():
    bot = Lookahead(network("short"), 1)
    assert bot.outcomes(np.zeros((0, 2, 26), dtype=np.int8)).shape == (0, 6)
    empty = Afterstates(np.zeros((0, 2, 26), dtype=np.int8), np.zeros(1, dtype=np.int64))
    assert len(bot.play_values(np.zeros((0, 2, 26), dtype=np.int8), empty)) == 0


def test_equal_boards_are_found():
    boards = positions("short", 20)
    first, which = distinct_boards(np.concatenate((boards, boards[::-1])))
    assert len(first) == len({board.tobytes() for board in boards})
    assert (np.concatenate((boards, boards[::-1]))[first][which] == np.concatenate((boards, boards[::-1]))).all()


@pytest.mark.parametrize("name", ["short", "long-left"])
def test_points_are_those_of_the_classes(name):
    rules = find_rules(name)
    outcomes = np.random.default_rng(1).random((50, class_count(rules))).astype(np.float32)
    points = equities(outcomes, rules)
    assert np.allclose(points, outcomes.astype(np.float64) @ class_points(rules), atol=1e-4)
    for first, last in ((0, 1), (1, 4), (3, 50)):
        assert (equities(outcomes[first:last], rules) == points[first:last]).all()


def test_bots_named_by_depth(bot_files):
    file = bot_files["short"]
    bot = load_bot(f"{file}@1ply:wide")
    assert (bot.name, bot.plies, bot.filter) == (f"{file}@1ply:wide", 1, FILTERS["wide"])
    assert load_bot(f"{file}@2ply").filter == FILTERS["normal"]
    boards = positions("short", 3)
    assert (load_bot(f"{file}@0ply").outcomes(boards) == load_bot(file).outcomes(boards)).all()
    assert is_trained(f"{file}@1ply")
    assert not is_trained("pubeval@1ply")


@pytest.mark.parametrize(
    ("ending", "complaint"),
    [
        ("@2", "did you mean '.*@2ply'"),
        ("@two", "'two' is no depth"),
        ("@2ply:wid", "did you mean 'wide'"),
        ("@9ply", "expected 0 .* to 3"),
        ("@", "is no depth"),
    ],
)
def test_a_mistaken_depth_is_explained(ending, complaint, bot_files):
    with pytest.raises(BotError, match=complaint):
        load_bot(f"{bot_files['short']}{ending}")


@pytest.mark.parametrize("name", ["random", "pips", "pubeval"])
def test_bots_that_know_no_chances_cannot_look_ahead(name):
    with pytest.raises(BotError, match=re.escape(f"'{name}' is no evaluator")):
        load_bot(f"{name}@1ply")
    with pytest.raises(BotError):
        Lookahead(PipsBot(SHORT), 1)


def test_a_judgement_says_how_deep_each_play_was_looked_at():
    """Seven plays go on, of these three: each has the chances of its own depth, and the values are those of play."""
    bot = network_of(SHORT)
    ahead = Lookahead(bot, 2, filter=MoveFilter("odd", (Level(7, 9.0), Level(3, 9.0))))
    board = start_boards(SHORT)
    after = afterstates(board, (3, 1), SHORT)
    judged = ahead.judge_plays(board, after)
    assert np.bincount(judged.depths).tolist() == [len(after.boards) - 7, 4, 3]
    for plies in range(3):
        at = judged.depths == plies
        assert np.array_equal(judged.outcomes[at], Lookahead(bot, plies).outcomes(after.boards[at]))
    assert np.array_equal(judged.values, ahead.play_values(board, after))
    assert judged.depths[np.argmax(judged.values)] == 2

"""The arena: null controls, the same result however the work is cut, and games worked out one by one."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from networks import network_of

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards, finished, pip_counts
from nardy_ai.dice import dice_at, opening_dice_at
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.baselines import HeuristicBot, PipsBot, PubevalBot, RandomBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.generate import Afterstates, afterstates, best_of_segments
from nardy_ai.play import arena
from nardy_ai.play.arena import ArenaReport, play_matrix, play_pairs
from nardy_ai.rules import MatchOptions, RuleSet, find_preset, find_rules, start_boards

HYPER = find_rules("hyper")
USE_DICE = MatchOptions(opening="use_dice")
ONE_CHECKER = RuleSet("one checker", {1: 1}, checkers=1)
GAMES = ("hyper", "short", "caucasian", "long", "long-left")


KINDS = {
    "random": RandomBot,
    "pips": PipsBot,
    "heuristic": HeuristicBot,
    "pubeval": PubevalBot,
    "network": network_of,
}


@dataclass
class SlowestBot:
    """The worst racer: it wants its own checkers as far from home as they can be."""

    rules: RuleSet
    name: str = "slowest"

    def play_values(self, boards: Boards, after: Afterstates) -> np.ndarray:
        return pip_counts(after.boards)[:, 1].astype(np.float32)


def hyper_report(**changes) -> ArenaReport:
    options = {"pairs": 60, "seed": 3} | changes
    return play_pairs(RandomBot(HYPER, seed=1), HeuristicBot(HYPER), HYPER, USE_DICE, **options)


# Null controls


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("preset", GAMES)
def test_bot_against_itself_scores_exactly_0(preset: str, kind: str):
    entry = find_preset(preset)
    if kind == "pubeval" and (entry.rules.board, entry.rules.checkers) != ("contrary", 15):
        pytest.skip("pubeval is for fifteen checkers on a contrary board")
    bot = KINDS[kind](entry.rules)

    report = play_pairs(bot, bot, entry.rules, entry.match, pairs=6, seed=9)

    assert (report.points, report.standard_error, report.first_won, report.cut) == (0, 0, 0.5, 0)
    assert report.first_rates == report.second_rates


def test_two_bots_of_one_kind_score_exactly_0():
    """Nothing but the answers of a bot counts: not its identity, not its seat."""
    report = play_pairs(HeuristicBot(HYPER), HeuristicBot(HYPER), HYPER, USE_DICE, pairs=40, seed=2)

    assert (report.points, report.standard_error) == (0, 0)


def test_different_bots_do_not_score_0():
    """The control of the controls."""
    report = hyper_report()

    assert report.points < 0
    assert report.standard_error > 0


# However the work is cut


@pytest.mark.parametrize("workers", [2, 3, 100])
def test_workers_change_nothing(workers: int):
    assert hyper_report(workers=workers) == hyper_report(workers=1)


@pytest.mark.parametrize("lanes", [1, 2, 7, 64])
def test_lanes_change_nothing(lanes: int, monkeypatch: pytest.MonkeyPatch):
    wanted = hyper_report()
    monkeypatch.setattr(arena, "_LANES", lanes)

    assert hyper_report() == wanted
    assert hyper_report(workers=2) == wanted


def test_more_pairs_begin_with_the_same_pairs():
    few, many = (
        arena._play_range((RandomBot(HYPER), PipsBot(HYPER)), HYPER, USE_DICE, range(n), 3, None, None, None)
        for n in (9, 30)
    )

    assert (many[0][:9] == few[0]).all()
    assert (many[1][:9] == few[1]).all()


@pytest.mark.parametrize("preset", GAMES)
def test_exchanged_bots_negate_the_points_exactly(preset: str):
    entry = find_preset(preset)
    one, other = RandomBot(entry.rules, seed=4), HeuristicBot(entry.rules)

    there = play_pairs(one, other, entry.rules, entry.match, pairs=8, seed=5)
    back = play_pairs(other, one, entry.rules, entry.match, pairs=8, seed=5)

    assert there.points == -back.points
    assert there.standard_error == back.standard_error
    assert (there.first_rates, there.second_rates) == (back.second_rates, back.first_rates)
    assert there.plies == back.plies


def test_seeds_give_other_games():
    assert hyper_report(seed=4).plies != hyper_report(seed=3).plies


# Games one by one


def one_game(bots: tuple[Bot, Bot], starter: int, rules: RuleSet, opening: str, *, seed: int, game: int) -> tuple:
    """The points of the first bot and the number of plies, in the plainest way."""
    board, mover, ply = start_boards(rules), starter, 0
    while True:
        dice = dice_at(seed, game, ply) if ply else opening_dice_at(seed, game, opening)
        after = afterstates(board, dice, rules)
        values = bots[mover].play_values(board, after)
        board = after.boards[[best_of_segments(values, after.offsets)[0]]]
        ply += 1
        if finished(board)[0]:
            won = float(oc.points_won(board[:, 0], rules)[0])
            return (won if mover == 0 else -won), ply
        mover = 1 - mover


@pytest.mark.parametrize("preset", ["hyper", "short", "long", "long-left"])
def test_pairs_are_the_games_played_one_by_one(preset: str):
    entry = find_preset(preset)
    rules, opening = entry.rules, entry.match.opening
    bots = RandomBot(rules, seed=4), HeuristicBot(rules)

    report = play_pairs(*bots, rules, entry.match, pairs=4, seed=11)

    games = [one_game(bots, s, rules, opening, seed=11, game=pair) for pair in range(4) for s in (0, 1)]
    by_pair = np.array([points for points, _ in games]).reshape(4, 2).mean(axis=1)
    assert report.points == pytest.approx(by_pair.mean(), abs=1e-12)
    assert report.standard_error == pytest.approx(by_pair.std(ddof=1) / 2, abs=1e-12)
    assert report.plies == np.mean([plies for _, plies in games])
    assert report.first_won == np.mean([points > 0 for points, _ in games])


@pytest.mark.parametrize(
    ("scoring", "rates"),
    [("oin", (0.5, 0, 0)), ("oin_mars", (0, 0.5, 0)), ("oin_mars_koks", (0, 0.5, 0))],
)
def test_game_of_one_roll_is_won_by_the_starter(scoring: str, rates: tuple):
    """One checker on the ace point: every roll bears it off, and the other side has borne none off."""
    rules = replace(ONE_CHECKER, scoring=scoring)

    report = play_pairs(PipsBot(rules), RandomBot(rules), rules, USE_DICE, pairs=5, seed=1)

    assert (report.plies, report.points, report.first_won) == (1, 0, 0.5)
    assert report.first_rates == report.second_rates == rates


def test_classes_belong_to_the_bot_that_won_by_them():
    """Two checkers on 7. The slowest bot needs several plies more, so it loses nearly all, mostly mars."""
    rules = RuleSet("two checkers", {7: 2}, checkers=2)

    report = play_pairs(PipsBot(rules), SlowestBot(rules), rules, USE_DICE, pairs=200, seed=1)

    assert report.first_won > 0.5
    assert sum(report.first_rates) == pytest.approx(report.first_won)
    assert sum(report.first_rates) + sum(report.second_rates) == pytest.approx(1)
    points = oc.class_points(rules)
    wanted = np.dot(report.first_rates, points[:3]) + np.dot(report.second_rates, points[3:])
    assert report.points == pytest.approx(wanted, abs=1e-12)
    assert report.points > 0


# Games that do not end


def test_games_longer_than_the_most_plies_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch):
    """No points to anyone; the games that end in time are what they were."""
    bots = RandomBot(HYPER), PipsBot(HYPER)
    classes, plies, _ = arena._play_range(bots, HYPER, USE_DICE, range(60), 3, None, None, None)
    monkeypatch.setattr(arena, "MOST_PLIES", 20)
    monkeypatch.setattr(arena, "_LANES", 16)

    cut_classes, cut_plies, _ = arena._play_range(bots, HYPER, USE_DICE, range(60), 3, None, None, None)
    report = play_pairs(*bots, HYPER, USE_DICE, pairs=60, seed=3)

    in_time = plies <= 20
    assert 0 < report.cut == (~in_time).sum()
    assert (cut_classes[in_time] == classes[in_time]).all()
    assert (cut_classes[~in_time] == oc.class_count(HYPER)).all()
    assert (cut_plies == np.minimum(plies, 20)).all()
    assert sum(report.first_rates + report.second_rates) == pytest.approx(1 - report.cut / 120)


def test_all_games_cut_score_0(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arena, "MOST_PLIES", 2)

    report = hyper_report()

    assert (report.points, report.standard_error, report.cut, report.plies) == (0, 0, 120, 2)


# The rest of a report


def test_progress_counts_every_game_once():
    ended: list[int] = []

    hyper_report(workers=2, progress=ended.append)

    assert sum(ended) == 120


def test_one_pair_has_no_standard_error():
    assert hyper_report(pairs=1).standard_error == float("inf")


def test_matrix_plays_every_two_bots_on_the_same_dice():
    bots = [RandomBot(HYPER), PipsBot(HYPER), HeuristicBot(HYPER)]

    reports = play_matrix(bots, HYPER, USE_DICE, pairs=10, seed=3)

    wanted = [(0, 1), (0, 2), (1, 2)]
    assert reports == [play_pairs(bots[i], bots[j], HYPER, USE_DICE, pairs=10, seed=3) for i, j in wanted]


@pytest.mark.parametrize("options", [{"pairs": 0}, {"workers": 0}])
def test_nothing_to_play_is_refused(options: dict):
    with pytest.raises(NardyError, match="expected 1 or more"):
        hyper_report(**options)

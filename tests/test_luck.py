"""Results less luck: the same mean, nothing but errors left where luck is known exactly, and a small spread."""

import json

import numpy as np
import pytest
from networks import network_of
from solved import two_checkers

from nardy_ai import outcomes as oc
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import BotError, RulesError
from nardy_ai.evaluators.baselines import HeuristicBot, PipsBot, RandomBot
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.play import arena
from nardy_ai.play.arena import play_pairs
from nardy_ai.play.luck import luck_by
from nardy_ai.rules import MatchOptions, find_rules, start_boards
from nardy_ai.search import Lookahead

HYPER = find_rules("hyper")
MATCH = MatchOptions()


@pytest.fixture(scope="module")
def by_network():
    return luck_by(load_bot("hyper"), HYPER)


def test_less_exact_luck_a_bot_without_errors_is_never_behind_and_gains_what_the_other_loses():
    exact = ExactBot(two_checkers())
    luck = luck_by(exact, exact.rules)
    points = np.append(oc.class_points(exact.rules), 0)

    games = arena._play_range((exact, RandomBot(exact.rules)), exact.rules, MATCH, range(40), 3, luck, None, None)

    raw = points[games.classes].mean(axis=1)
    assert raw.min() < -0.4  # the dice decide
    gained = (points[games.classes] - games.luck).mean(axis=1)
    assert gained.min() > -1e-5
    assert gained.max() > 0.05


def test_the_mean_of_luck_over_all_rolls_is_0(by_network):
    rolls = np.array([(i, j) for i in range(1, 7) for j in range(1, 7)], dtype=np.uint8)
    boards = np.repeat(start_boards(HYPER), 36, axis=0)

    found = by_network.of(boards, rolls)

    assert abs(found.mean()) < 1e-6
    assert found.std() > 0.05
    assert np.allclose(found.reshape(6, 6), found.reshape(6, 6).T)


def test_points_less_luck_have_the_same_mean_and_less_than_half_the_spread(by_network):
    bots = HeuristicBot(HYPER), PipsBot(HYPER)  # whose errors are most of what is left

    raw = play_pairs(*bots, HYPER, MATCH, pairs=3000, seed=5)
    less = play_pairs(*bots, HYPER, MATCH, pairs=500, seed=6, luck=by_network)

    assert less.luck == "hyper"
    assert raw.luck is None
    assert less.standard_error * 500**0.5 < raw.standard_error * 3000**0.5 / 2
    assert abs(less.points - raw.points) < 4 * (less.standard_error**2 + raw.standard_error**2) ** 0.5


def test_a_bot_against_itself_scores_0_and_neither_seats_nor_workers_matter(by_network):
    one, other = HeuristicBot(HYPER), PipsBot(HYPER)
    itself = play_pairs(one, one, HYPER, MATCH, pairs=20, seed=5, luck=by_network)
    there = play_pairs(one, other, HYPER, MATCH, pairs=20, seed=5, luck=by_network)
    back = play_pairs(other, one, HYPER, MATCH, pairs=20, seed=5, luck=by_network, workers=3)

    assert (itself.points, itself.standard_error) == (0, 0)
    assert there.points == pytest.approx(-back.points, abs=1e-12)
    assert there.standard_error == pytest.approx(back.standard_error)


def test_luck_is_measured_by_the_bare_net_of_a_bot_of_the_same_game():
    net = network_of(HYPER)
    assert luck_by(Lookahead(net, 1), HYPER).control is net
    with pytest.raises(BotError, match="knows no chances"):
        luck_by(RandomBot(HYPER), HYPER)
    with pytest.raises(RulesError, match="but 'hyper' is played"):
        luck_by(network_of(find_rules("short")), HYPER)


def test_benchmark_takes_luck_off(capsys: pytest.CaptureFixture[str]):
    play = ["benchmark", "heuristic", "pips", "--rules", "hyper", "--pairs", "20", "--quiet", "--luck", "hyper"]

    assert main(play) == 0
    assert "points less luck, as hyper sees it" in capsys.readouterr().out
    assert main([*play, "--json"]) == 0
    match = json.loads(capsys.readouterr().out)["matches"][0]
    assert (match["luck"], match["pairs"]) == ("hyper", 20)

    for more, reason in ((["--cube"], "games without the cube"), (["--luck", "pips"], "knows no chances")):
        assert main([*play, *more]) == 2
        assert reason in capsys.readouterr().err

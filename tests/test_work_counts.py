"""How much work fixed small jobs take, counted. A change here is a change of speed, or of play, that must be meant."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from networks import random_weights

from nardy_ai.boards import Boards
from nardy_ai.dice import ROLLS
from nardy_ai.evaluators.baselines import PipsBot
from nardy_ai.evaluators.network import Network
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.features import FeatureSet, find_features
from nardy_ai.movegen.generate import Afterstates, afterstates
from nardy_ai.play import arena
from nardy_ai.play.arena import play_pairs
from nardy_ai.play.lockstep import new_lanes
from nardy_ai.play.selfplay import play_window
from nardy_ai.rules import RuleSet, find_preset, find_rules, start_boards

HYPER, SHORT = find_rules("hyper"), find_rules("short")


@dataclass
class CountingBot:
    """Another bot, with a list of how many parents and afterstates it was shown in each call."""

    bot: Bot
    calls: list[tuple[int, int]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.bot.name

    @property
    def rules(self) -> RuleSet:
        return self.bot.rules

    def play_values(self, boards: Boards, after: Afterstates) -> np.ndarray:
        self.calls.append((len(boards), len(after.boards)))
        return self.bot.play_values(boards, after)


@dataclass(frozen=True)
class CountingFeatures(FeatureSet):
    """Features that count the rows they are asked for, parents and afterstates alike."""

    rows: list[int] = field(default_factory=list)

    def inputs(self, boards: Boards, rules: RuleSet) -> np.ndarray:
        self.rows.append(len(boards))
        return super().inputs(boards, rules)


def counting_network(rules: RuleSet) -> tuple[Network, list[int]]:
    plain = find_features("counts-1")
    features = CountingFeatures(plain.name, plain.extra, plain.fill, plain.summary)
    return Network("network", rules, features, random_weights(rules)), features.rows


@pytest.mark.parametrize(("preset", "results"), [("short", 447), ("long", 22), ("hyper", 195)])
def test_distinct_results_of_all_rolls_from_the_start(preset: str, results: int):
    rules = find_rules(preset)

    after = afterstates(start_boards(rules, len(ROLLS)), ROLLS, rules)

    assert len(after.boards) == results


def test_arena_asks_each_bot_once_a_ply_and_judges_every_afterstate_once():
    entry = find_preset("hyper")
    bots = [CountingBot(PipsBot(HYPER)), CountingBot(PipsBot(HYPER))]

    report = play_pairs(bots[0], bots[1], HYPER, entry.match, pairs=50, seed=1)

    parents = [sum(n for n, _ in bot.calls) for bot in bots]
    assert parents[0] == parents[1]
    assert sum(parents) == round(report.plies * 100)
    assert (len(bots[0].calls), parents[0], sum(m for _, m in bots[0].calls)) == (178, 3215, 17220)


def test_lanes_are_kept_full(monkeypatch: pytest.MonkeyPatch):
    """8 lanes for 100 games: a lane whose game has ended takes the next one at once."""
    monkeypatch.setattr(arena, "_LANES", 8)
    entry = find_preset("hyper")
    bot = CountingBot(PipsBot(HYPER))

    report = play_pairs(bot, bot, HYPER, entry.match, pairs=50, seed=1)

    plies = round(report.plies * 100)
    assert sum(n for n, _ in bot.calls) == plies
    assert plies / 8 <= len(bot.calls) / 2 < plies / 8 + 10
    assert len(bot.calls) == 1624


def test_window_judges_every_afterstate_once_and_every_parent_once():
    """Chance chooses every play, so that no rounding on any machine can change the count."""
    network, rows = counting_network(SHORT)

    _, window = play_window(
        network, new_lanes(SHORT, 16), plies=12, seed=4, opening="use_dice", wild_share=1.0, wild_plies=10**9
    )

    parents, children = rows[::2], rows[1::2]
    assert parents == [16] * 12
    assert window.random.all()
    assert sum(children) == window.evaluations == 4429


def test_network_makes_inputs_once_a_board():
    network, rows = counting_network(SHORT)

    network.outcomes(start_boards(SHORT, 300))

    assert rows == [300]

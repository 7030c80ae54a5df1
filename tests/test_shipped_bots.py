"""The bots in checkpoints/: they load, their cards speak of them, and they play as their cards say."""

import re
from dataclasses import asdict

import numpy as np
import pytest

from nardy_ai.bot_file import read_bot
from nardy_ai.bots import best_afterstates, load_bot
from nardy_ai.notation import parse_position
from nardy_ai.play.against_unpruned import judge_pruning
from nardy_ai.play.arena import play_pairs
from nardy_ai.pruned import Pruned
from nardy_ai.resources import checkpoint_names, find_checkpoint, find_config, find_recipe
from nardy_ai.rules import find_match_options, find_rules, preset_names, start_boards
from nardy_ai.train.config import read_config
from nardy_ai.train.recipe import FitStage, LabelStage, PruneStage, read_recipe

SHIPPED = checkpoint_names()


def test_the_four_first_bots_are_shipped():
    assert {"short", "caucasian", "long", "hyper"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_bot_was_made_by_the_shipped_recipe_or_config_of_its_name(name):
    bot = read_bot(find_checkpoint(name))
    assert find_checkpoint(name).stat().st_size < 4 * 2**20
    if "games" in bot.card:
        config = read_config(find_config(name))
        assert bot.card["config"]["games"] == config.games <= bot.card["games"]
        assert bot.card["config"]["network"]["features"] == config.network.features == bot.network.features.name
        return
    recipe = read_recipe(find_recipe(name))
    fit, prune = recipe.stages[-2:]
    labels = {stage.name: stage for stage in recipe.stages if isinstance(stage, LabelStage)}
    assert isinstance(fit, FitStage)
    assert isinstance(prune, PruneStage)
    assert prune.bot == fit.name
    assert bot.card["pruning"].items() >= asdict(prune.config).items()
    assert bot.network.pruning is not None
    assert bot.card["steps"] == fit.config.steps
    assert bot.card["config"]["network"].items() <= asdict(fit.config.network).items()
    early = {
        "matrix_lr": 0.0,
        "equity_weight": 0.0,
        "equity_delta": 0.0,
    }  # what cards written before these options mean
    assert early | bot.card["config"]["optim"] == asdict(fit.config.optim)
    for source, label in zip(bot.card["sources"], fit.config.labels, strict=True):
        stage = labels[label]
        early = {"hard_share": 1.0, "candidates": 0, "trace": 0.0, "backgame_share": 0.0, "without": ""}
        assert (source["shards"], early | source["recipe"]) == (stage.shards, asdict(stage.recipe))
        # A bot labelled under its shipped name before it was followed by this one, or before it was shipped itself.
        known = {stage.teacher, f"{name}@{stage.teacher.partition('@')[2]}", *rounds_of(stage.teacher)}
        assert source["teacher"].replace("/bot.safetensors", "") in known


def rounds_of(teacher: str) -> set[str]:
    """The stages of a shipped teacher, with its look-ahead: labels by an earlier one may stay."""
    bare, _, ahead = teacher.partition("@")
    return {f"{stage.name}@{ahead}" for stage in read_recipe(find_recipe(bare)).stages} if bare in SHIPPED else set()


@pytest.mark.parametrize(
    ("name", "baseline", "margin"),
    [
        ("short", "pubeval", 0.40),
        ("caucasian", "pubeval", 0.35),
        ("long", "heuristic", 0.50),
        ("hyper", "heuristic", 0.20),
    ],
)
def test_bot_beats_its_baseline(name, baseline, margin):
    """Half of what the card claims, or what was promised, within three standard errors of 300 pairs."""
    bot = load_bot(name)
    match = find_match_options(name)
    report = play_pairs(bot, load_bot(baseline, bot.rules), bot.rules, match, pairs=300, seed=99, workers=2)
    assert report.points + 3 * report.standard_error > margin
    assert report.points > 3 * report.standard_error


def test_card_states_the_points_that_the_file_plays():
    card = find_checkpoint("short").with_suffix(".md").read_text(encoding="utf-8")
    points = float(re.search(r"\| `pubeval` \| ([+-][0-9.]+)", card).group(1))
    bot = load_bot("short")
    pubeval = load_bot("pubeval", bot.rules)
    report = play_pairs(bot, pubeval, bot.rules, find_match_options("short"), pairs=1000, seed=5, workers=2)
    assert report.points == pytest.approx(points, abs=4 * report.standard_error)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_the_pruning_net_lets_pass_holds_the_best_play(name):
    """By the bot's own judgement, in 40 games: it loses less than 0.1 of PR and judges less than half of the plays."""
    bot = load_bot(name)

    found = judge_pruning(Pruned(bot), find_match_options(bot.rules.name), games=40, seed=3)

    assert found.decisions > 400
    assert found.pr < 0.1
    assert name == "hyper" or found.judged < 0.5 * found.plays


def test_opening_three_one_makes_the_five_point():
    chosen, worth = best_afterstates(load_bot("short"), start_boards(find_rules("short")), (3, 1))
    after = parse_position("24:2 13:5 8:3 6:5 / 24:2 13:5 8:2 6:4 5:2", find_rules("short"))
    assert np.array_equal(chosen[0], after)
    assert 0.05 < worth[0] < 0.30  # rolled out by GNU Backgammon it is near +0.15


@pytest.mark.parametrize("rules", preset_names())
def test_every_preset_but_one_has_a_bot_that_plays_it(rules):
    """`long-left` counts the checkers left: no bot of two or three classes knows those."""
    from nardy_ai.bots import default_bot
    from nardy_ai.errors import BotError

    if rules == "long-left":
        with pytest.raises(BotError):
            default_bot(find_rules(rules))
        return
    bot = load_bot(default_bot(find_rules(rules)), rules)
    outcomes = bot.outcomes(start_boards(bot.rules))
    assert outcomes.sum() == pytest.approx(1, abs=1e-5)

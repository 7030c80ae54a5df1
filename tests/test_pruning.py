"""Pruning nets: scores against a slow twin, what a pruned bot makes of them, learning, files and the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import network_of, pruned_network, pruning_weights
from positions import invented_boards, reached_boards

from nardy_ai.analysis.judge import Judge
from nardy_ai.bot_file import read_bot, save_bot
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BoardError, BotError, ConfigError
from nardy_ai.evaluators.grid import CEILING
from nardy_ai.evaluators.pruning import PruningNet
from nardy_ai.evaluators.with_bearoff import WithBearoff
from nardy_ai.features import encode
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.phases import find_phases
from nardy_ai.play.decisions import Decisions, score_decisions
from nardy_ai.play.luck import luck_by
from nardy_ai.play.sampling import sampled_positions
from nardy_ai.pruned import LEAST, Pruned
from nardy_ai.rollouts import rollout
from nardy_ai.rules import RuleSet, find_match_options, find_rules, start_boards
from nardy_ai.search import Lookahead, best_replies
from nardy_ai.sieve import Sieve, guess_of
from nardy_ai.tensors import read_tensors, write_tensors

SHORT, HYPER, LONG = find_rules("short"), find_rules("hyper"), find_rules("long")


def plays_of(rules: RuleSet, n: int, seed: int = 5) -> tuple[np.ndarray, Afterstates]:
    """Positions, invented ones among them, each with two rolls."""
    boards = np.concatenate((reached_boards(rules, n, seed)[0][::7], invented_boards(rules, n // 4, seed)[0]))
    rolls = ROLLS[np.random.default_rng(seed).integers(0, 21, size=2 * len(boards))]
    return boards, expand(np.repeat(boards, 2, axis=0), rolls, rules)


# Scores


@pytest.mark.parametrize(("rules", "phases"), [(SHORT, "stages-1"), (LONG, "stages-1"), (HYPER, "race-1")])
def test_scores_are_squares_of_sums_of_what_the_board_holds(rules, phases):
    boards, after = plays_of(rules, 200)
    weights = pruning_weights(rules, phases)
    net = PruningNet(rules, find_phases(phases), weights)

    scores = net.scores(boards, after) * net.unit

    assert len(after.boards) > 300
    at = find_phases(phases).of(boards, rules.board).repeat(2).repeat(after.counts())
    sums = encode(after.boards.reshape(-1, 52)) @ weights.first + weights.first_bias
    wanted = (np.clip(sums, 0, CEILING) ** 2 * weights.out[at]).sum(axis=1)
    assert len(np.unique(at)) > 1
    assert np.abs(scores - wanted).max() < 0.02 < 0.1 * wanted.std()


def test_a_score_does_not_depend_on_its_batch():
    boards, after = plays_of(SHORT, 200)
    net = pruned_network(SHORT).pruning
    scores = net.scores(boards, after)
    for i in range(0, len(boards), 5):
        low, middle, high = after.offsets[2 * i : 2 * i + 3]
        alone = net.scores(boards[i : i + 1], Afterstates(after.boards[middle:high], np.array([0, high - middle])))
        assert np.array_equal(alone, scores[middle:high])
        turned = net.scores(boards[i : i + 1], Afterstates(after.boards[low:high][::-1], np.array([0, high - low])))
        assert np.array_equal(turned[::-1], scores[low:high])


def test_large_weights_lose_their_finest_bits_and_not_their_order():
    boards, after = plays_of(SHORT, 60)
    small = pruning_weights(SHORT, "race-1")
    large = replace(small, out=small.out * np.float32(1000))
    nets = [PruningNet(SHORT, find_phases("race-1"), weights) for weights in (small, large)]
    one, other = (net.scores(boards, after) * net.unit for net in nets)
    assert np.corrcoef(one, other)[0, 1] > 0.9999
    assert other.std() == pytest.approx(1000 * one.std(), rel=0.01)


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("first", np.zeros((311, 32), np.float32), r"float32\[311, 32\]; expected float32\[312, 32\]"),
        ("first", np.zeros((312, 32)), r"float64\[312, 32\]"),
        ("first_bias", np.zeros(16, np.float32), "first_bias"),
        ("out", np.zeros((4, 32), np.float32), "out of the pruning net"),
        ("out", np.full((2, 32), np.nan, np.float32), "no finite numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(name, array, reason):
    weights = replace(pruning_weights(SHORT, "race-1"), **{name: array})
    with pytest.raises(BotError, match=reason):
        PruningNet(SHORT, find_phases("race-1"), weights)


def test_units_fill_whole_vectors():
    with pytest.raises(BotError, match="24 units of the pruning net; expected a multiple of 16"):
        PruningNet(SHORT, find_phases("race-1"), pruning_weights(SHORT, "race-1", units=24))


# A pruned bot


@pytest.mark.parametrize("features", ["counts-1", "tactics-1"])
def test_plays_that_pass_are_worth_what_the_bot_says_and_others_a_trifle_less(features):
    boards, after = plays_of(SHORT, 200)
    bot = WithBearoff(pruned_network(SHORT, features))
    pruned = Pruned(bot)
    parents = np.repeat(boards, 2, axis=0)
    values, whole = pruned.play_values(parents, after), bot.play_values(parents, after)
    scores = bot.network.pruning.scores(parents, after)
    left = 0
    for low, high in zip(after.offsets, after.offsets[1:], strict=False):
        mine, his = values[low:high], whole[low:high]
        passed = mine == his
        assert passed.sum() >= min(LEAST, high - low)
        assert (mine[~passed] == np.nextafter(mine[passed].min(), np.float32(-np.inf))).all()
        if not passed.all():
            assert scores[low:high][~passed].max() <= scores[low:high][passed].min()
        assert mine.argmax() == np.flatnonzero(passed)[his[passed].argmax()]
        left += (~passed).sum()
    assert left > 100
    assert np.array_equal(pruned.outcomes(boards), bot.outcomes(boards))
    assert np.array_equal(pruned.equity(boards), bot.equity(boards))


def test_look_ahead_answers_with_plays_that_pass():
    """One ply: the mean over the rolls of what the best of the plays that pass is worth."""
    bot = pruned_network(HYPER)
    pruned = Pruned(bot)
    boards = reached_boards(HYPER, 900, 5)[0][::90]
    assert len(np.unique(boards, axis=0)) > 5
    ahead = Lookahead(pruned, 1)
    for board, found in zip(boards, ahead.equity(boards), strict=True):
        total = 0.0
        for roll in ROLLS:
            after = expand(board[None], roll[None], HYPER)
            total += (1 if roll[0] == roll[1] else 2) * pruned.play_values(board[None], after).max()
        assert found == pytest.approx(total / 36, abs=1e-5)
    assert ahead.name == "pruned@pruned@1ply"
    whole = np.ones(21 * len(boards), dtype=np.bool_)
    one, other = best_replies(pruned, boards), best_replies(pruned, boards, None, whole)
    assert np.array_equal(one.boards, other.boards)


def test_where_plays_are_listed_all_are_judged(tmp_path, capsys):
    path = tmp_path / "mine.safetensors"
    save_bot(path, pruned_network(SHORT), golden=start_boards(SHORT), card={})
    asked = ["evaluate", "start", "--dice", "31", "--json", "--bot"]
    listed = []
    for name in (path, f"{path}@pruned"):
        assert main([*asked, str(name)]) == 0
        listed.append([play["equity"] for play in json.loads(capsys.readouterr().out)[0]["plays"]])
    assert len(listed[0]) == 16
    assert listed[0] == listed[1]
    boards, after = plays_of(SHORT, 30)
    parents, network = np.repeat(boards, 2, axis=0), pruned_network(SHORT)
    free, found = (Lookahead(bot, 0).play_values(parents, after) for bot in (network, Pruned(network)))
    assert np.array_equal(free, found)


def test_whoever_asks_what_plays_are_worth_gets_the_judgement_of_all():
    """Positions to label, errors of equity and luck: with pruning and without they are the same."""
    network = pruned_network(SHORT)
    pruned = Pruned(network)
    found = [
        sampled_positions(
            bot, find_match_options("short"), range(4), seed=2, wild_share=0.0, wild_plies=1, awkward_share=0.5,
            near_share=1.0,
        )
        for bot in (network, pruned)
    ]  # fmt: skip
    assert np.array_equal(*found)
    boards, after = plays_of(SHORT, 60)
    parents = np.repeat(boards, 2, axis=0)
    equities = np.zeros(len(after.boards))
    decisions = Decisions(
        parents, after, equities, np.ones(len(equities), dtype=np.bool_), ("",) * len(parents), "plays"
    )
    whole, some = (score_decisions(bot, decisions) for bot in (network, pruned))
    assert some.rms_error == whole.rms_error
    dice = np.tile(np.array([[3, 1]], dtype=np.uint8), (len(boards), 1))
    assert np.array_equal(luck_by(pruned, SHORT).of(boards, dice), luck_by(network, SHORT).of(boards, dice))
    assert luck_by(pruned, SHORT).sieve == luck_by(network, SHORT).sieve


def test_another_pruning_net_is_another_judge():
    network = pruned_network(HYPER)
    other = replace(network, pruning=PruningNet(HYPER, network.phases, pruning_weights(HYPER, "race-1", seed=9)))
    probes = {Judge(Lookahead(bot, 1)).probe(start_boards(HYPER)) for bot in (network, Pruned(network), Pruned(other))}
    assert len(probes) == 3


def test_candidates_do_not_go_with_pruning_but_rollouts_have_theirs():
    pruned = Pruned(pruned_network(HYPER))
    with pytest.raises(BotError, match="chooses by its pruning net what it judges; leave candidates out"):
        Lookahead(pruned, 1, candidates=3)
    few, many = (rollout(pruned, start_boards(HYPER), games=36, candidates=n) for n in (1, None))
    assert few.settings.candidates == 1
    assert not np.array_equal(few.results, many.results)
    plain = rollout(pruned, start_boards(HYPER), games=36, candidates=1, plies=1)
    assert plain.settings.bot == "pruned@pruned"


def test_plays_that_do_not_belong_are_refused():
    boards, after = plays_of(SHORT, 60)
    pruned, parents = Pruned(pruned_network(SHORT)), np.repeat(boards, 2, axis=0)
    cases = [Afterstates(after.boards, after.offsets[:-1])]
    for m in np.linspace(0, len(after.boards) - 1, 9).astype(int):
        for count in (-128, 16, 120):
            changed = after.boards.copy()
            changed[m, 1, 7] = count
            cases.append(Afterstates(changed, after.offsets))
    for case in cases:
        with pytest.raises(BoardError, match="do not belong to"):
            pruned.play_values(parents, case)


def test_a_sieve_lets_the_nearest_pass():
    """Against sorting: the least first, and of the most those within the margin of the first."""
    boards, after = plays_of(SHORT, 200)
    net = pruned_network(SHORT).pruning
    scores = net.scores(boards, after)
    for least, most, margin in ((1, 4, 0.05), (2, 6, 0.5), (3, 3, 0.0), (2, 30, 1e9)):
        passed, rows, likely = Sieve(net, least, most, margin).passed(boards, after)
        assert likely.all()
        assert np.array_equal(passed.boards, after.boards[rows])
        for i, (low, high) in enumerate(zip(after.offsets, after.offsets[1:], strict=False)):
            order = low + np.argsort(-scores[low:high], kind="stable")[:most]
            near = [m for k, m in enumerate(order) if k < least or (scores[order[0]] - scores[m]) * net.unit <= margin]
            assert sorted(near) == rows[passed.offsets[i] : passed.offsets[i + 1]].tolist()


def test_whoever_has_a_pruning_net_guesses_by_it():
    network = pruned_network(SHORT)
    assert guess_of(network) is network.pruning
    assert guess_of(WithBearoff(network)) is network.pruning


def test_names(bot_files, tmp_path):
    path = tmp_path / "mine.safetensors"
    network = pruned_network(SHORT)
    save_bot(path, network, golden=start_boards(SHORT), card={})
    bot = load_bot(f"{path}@pruned")
    assert isinstance(bot, Pruned)
    assert bot.name == f"{path}@pruned"
    assert bot.rules == SHORT
    assert load_bot(f"{path}@pruned", "tavla").rules == find_rules("tavla")
    ahead = load_bot(f"{path}@pruned@1ply")
    assert isinstance(ahead.evaluator, Pruned)
    assert load_bot(f"{path}@bare@pruned").bot.name == f"{path}@bare"
    with pytest.raises(BotError, match="has no pruning net; `nardy prune` gives it one"):
        load_bot(f"{bot_files['short']}@pruned")
    with pytest.raises(BotError, match="is no trained bot; @bare is the network of one"):
        load_bot(f"{path}@pruned@bare")
    for name in ("heuristic@pruned", f"{path}@1ply@pruned", f"{path}@pruned@pruned"):
        with pytest.raises(BotError, match="is no trained bot; @pruned judges fewer plays of one"):
            load_bot(name)


# Files


def test_a_file_keeps_the_pruning_net(tmp_path):
    path = tmp_path / "mine.safetensors"
    network = pruned_network(SHORT)
    save_bot(path, network, golden=start_boards(SHORT), card={})
    boards, after = plays_of(SHORT, 60)
    found = read_bot(path)
    assert np.array_equal(found.network.pruning.scores(boards, after), network.pruning.scores(boards, after))
    assert np.array_equal(found.golden, start_boards(SHORT))
    arrays, metadata = read_tensors(path)
    for name in ("first", "first_bias", "out"):
        cut = {key: array for key, array in arrays.items() if key != f"pruning.{name}"}
        write_tensors(
            path, cut, {key: text for key, text in metadata.items() if key != "digest"}, check=lambda path: None
        )
        with pytest.raises(BotError, match="of the pruning net there is only"):
            read_bot(path)
    save_bot(path, network_of(SHORT), golden=start_boards(SHORT), card={})
    assert read_bot(path).network.pruning is None


# Learning


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="only training needs torch")


def test_a_net_learns_which_plays_are_best(torch):
    """Held-out games of a bot: the best play passes far more often than by a net that has learned nothing."""
    from nardy_ai.train.config import PruningConfig
    from nardy_ai.train.pruning import PruningWatcher, learn_pruning

    bot = network_of(HYPER)
    steps = []
    watcher = PruningWatcher(on_steps=steps.append)
    config = PruningConfig(games=400, steps=330, units=16, seed=4)
    net, card = learn_pruning(bot, find_match_options("hyper"), config, watcher)
    again, _ = learn_pruning(bot, find_match_options("hyper"), config, PruningWatcher())

    assert sum(steps) == 330
    assert card.items() >= {"games": 400, "steps": 330, "units": 16, "seed": 4}.items()
    for name in ("first", "first_bias", "out"):
        assert np.array_equal(getattr(net.weights, name), getattr(again.weights, name))
    boards = reached_boards(HYPER, 900, 8)[0][::3]
    rolls = ROLLS[np.random.default_rng(1).integers(0, 21, size=len(boards))]
    after = expand(boards, rolls, HYPER)
    best = best_of_segments(bot.play_values(boards, after), after.offsets)[after.counts() > 3]

    def share(guess: PruningNet) -> float:
        return float(np.isin(best, Sieve(guess, 1, 1).passed(boards, after)[1]).mean())

    assert share(PruningNet(HYPER, bot.phases, pruning_weights(HYPER, bot.phases.name))) < 0.45
    assert share(net) > 0.6


def test_learning_that_is_stopped_gives_nothing(torch):
    from nardy_ai.train.config import PruningConfig
    from nardy_ai.train.pruning import PruningWatcher, learn_pruning

    watcher = PruningWatcher()

    def stop(steps: int) -> None:
        watcher.stop = True

    watcher.on_steps = stop
    config = PruningConfig(games=20, steps=1000, units=16)
    assert learn_pruning(network_of(HYPER), find_match_options("hyper"), config, watcher) is None
    assert learn_pruning(network_of(HYPER), find_match_options("hyper"), config, PruningWatcher(stop=True)) is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"games": 0}, "games = 0; expected 1 to 1000000"),
        ({"steps": 0}, "steps = 0"),
        ({"units": 24}, "units = 24; expected a multiple of 16"),
        ({"lr": 0.0}, "lr = 0.0; expected above 0, at most 1"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_options_that_cannot_be_are_refused(options, reason, torch):
    from nardy_ai.train.config import PruningConfig

    with pytest.raises(ConfigError, match=reason):
        PruningConfig(**options)


# The command

FEW = ["--games", "20", "--steps", "40", "--units", "16", "--quiet"]


def test_command_writes_a_copy_with_a_pruning_net(tmp_path: Path, bot_files, capsys, torch):
    out = tmp_path / "mine.safetensors"
    assert main(["prune", str(bot_files["hyper"]), "--out", str(out), *FEW, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    found, given = read_bot(out), read_bot(bot_files["hyper"])
    assert said["bot"] == str(out)
    assert said["pruning"] == found.card["pruning"]
    assert said["pruning"]["units"] == 16 == found.network.pruning.weights.first.shape[1]
    assert given.card.items() <= found.card.items()
    assert np.array_equal(found.network.weights.first, given.network.weights.first)
    assert np.array_equal(found.golden, given.golden)
    assert main(["moves", "start", "--rules", "hyper", "--dice", "31"]) == 0
    assert main(["benchmark", f"{out}@pruned", "random", "--pairs", "10"]) == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["heuristic", "--out", "x.safetensors"], "'heuristic' is no trained bot by itself"),
        (["short@1ply", "--out", "x.safetensors"], "'short@1ply' is no trained bot by itself"),
        (["nobody.safetensors", "--out", "x.safetensors"], "nobody.safetensors"),
        (["short", "--out", "x"], "--out 'x': expected a file that ends in .safetensors"),
        (["short", "--out", "x.safetensors", "--units", "7"], "units = 7; expected a multiple of 16"),
    ],
)
def test_command_refuses(arguments, reason, tmp_path, monkeypatch, capsys, torch):
    monkeypatch.chdir(tmp_path)
    assert main(["prune", *arguments]) == 2
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_refuses_a_file_that_cannot_be_written_before_it_learns(
    tmp_path, bot_files, monkeypatch, capsys, torch
):
    from nardy_ai.train import pruning

    monkeypatch.setattr(pruning, "learn_pruning", lambda *arguments: pytest.fail("it learned"))
    out = tmp_path / "file" / "mine.safetensors"
    out.parent.write_bytes(b"")
    assert main(["prune", str(bot_files["hyper"]), "--out", str(out), *FEW]) == 2
    assert f"{out}: cannot be written" in capsys.readouterr().err


def test_interrupted_command_leaves_an_old_file_as_it_was(tmp_path, bot_files, monkeypatch, capsys, torch):
    from nardy_ai.train import pruning

    out = tmp_path / "mine.safetensors"
    out.write_bytes(b"old")
    monkeypatch.setattr(pruning, "learn_pruning", lambda *arguments: None)
    assert main(["prune", str(bot_files["hyper"]), "--out", str(out), *FEW]) == 130
    assert "stopped; nothing was written" in capsys.readouterr().err
    assert out.read_bytes() == b"old"

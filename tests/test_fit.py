"""Fits to labels: learning, beginning with a smaller net, stopping and going on to the last bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from networks import network_of
from positions import invented_boards, reached_boards

from nardy_ai.boards import finished
from nardy_ai.bot_file import read_bot, save_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import Network
from nardy_ai.features import FEATURE_SETS
from nardy_ai.rules import find_preset, find_rules
from nardy_ai.train.config import FitConfig, NetworkConfig, OptimConfig, override
from nardy_ai.train.labels import LabelRecipe, make_labels

torch = pytest.importorskip("torch", reason="only training needs torch")

from nardy_ai.train.fit import Fit, FitWatcher  # noqa: E402
from nardy_ai.train.learner import Learner  # noqa: E402

HYPER = find_rules("hyper")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    make_labels(folder, network_of(HYPER), find_preset("hyper").match, LabelRecipe(games=150), shards=1)
    return folder


def config_of(labels: Path, **changes: object) -> FitConfig:
    values = {"labels": str(labels), "steps": 400, "optim.batch": 64, "network.units": 64, "network.hidden": 8}
    values["network.seeing"] = 16
    return override(FitConfig(), values | changes)


def held_out(fit: Fit) -> list[float]:
    lines = (fit.folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["held_out_rms"] for line in lines]


def test_a_fit_comes_near_its_teacher(labels: Path, tmp_path: Path):
    fit = Fit.begun(tmp_path / "run", config_of(labels))

    assert fit.train(FitWatcher())

    errors = held_out(fit)
    assert errors[-1] < 0.35 * errors[0]
    bot = read_bot(tmp_path / "run" / "bot.safetensors")
    assert bot.card["labels"] == len(fit.learned)
    assert bot.card["sources"][0]["teacher"] == "network"
    assert len(fit.held_out) > 10
    assert not set(fit.held_out) & set(fit.learned)


def test_a_stopped_fit_goes_on_to_the_same_weights(labels: Path, tmp_path: Path):
    whole = Fit.begun(tmp_path / "whole", config_of(labels))
    whole.train(FitWatcher())
    part = Fit.begun(tmp_path / "part", config_of(labels))
    watcher = FitWatcher()

    def stop_at_once(steps: int) -> None:
        watcher.stop = True

    watcher.on_steps = stop_at_once
    assert not part.train(watcher)

    resumed = Fit.resumed(tmp_path / "part")
    assert 0 < resumed.steps < 400
    assert resumed.train(FitWatcher())

    one, other = (read_bot(tmp_path / name / "bot.safetensors").network for name in ("whole", "part"))
    boards = reached_boards(HYPER, 100, seed=4)[0]
    assert one.outcomes(boards).tobytes() == other.outcomes(boards).tobytes()


def test_metrics_written_after_the_last_state_are_written_again_once(labels: Path, tmp_path: Path):
    """As after a kill between a record and a save, in the middle of a line."""
    fit = Fit.begun(tmp_path / "run", config_of(labels, steps=400))
    watcher = FitWatcher()

    def stop_at_once(steps: int) -> None:
        watcher.stop = True

    watcher.on_steps = stop_at_once
    fit.train(watcher)
    with (tmp_path / "run" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"steps": 240, "loss": 1.0}\n{"steps": 28')

    Fit.resumed(tmp_path / "run").train(FitWatcher())

    lines = (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line)["steps"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] == 400


def network_in(learner: Learner) -> Network:
    """What a learner has learned so far."""
    taught = learner.network
    weights = learner.averaged_weights()
    return Network("grown", taught.rules, taught.features, weights, taught.phases, taught.activation)


@pytest.mark.parametrize("features", FEATURE_SETS)
@pytest.mark.parametrize("preset", ["hyper", "long"])
def test_a_grown_net_says_what_the_smaller_one_said(preset: str, features: str):
    """More units, more heads and real inputs on top: what is new is silent or begins as the old."""
    rules = find_rules(preset)
    smaller = network_of(rules, features)
    shape = NetworkConfig(features, 64, 20, "stages-1", 16, 24, smaller.activation)
    if features == "counts-1":
        shape = NetworkConfig("tactics-1", 128, 20, "stages-1", 16, 24)
    learner = Learner(rules, shape, OptimConfig(), seed=1, device=CPU)
    if features == "counts-1":
        with torch.no_grad():
            learner.network.reals.zero_()  # units of the old net are not the ones that see them
    learner.begin_with(smaller)

    grown = network_in(learner)

    boards = np.concatenate((reached_boards(rules, 400, seed=4)[0], invented_boards(rules, 400, seed=4)[0]))
    boards = boards[~finished(boards)]
    if (features, preset) == ("tactics-1", "long"):  # phases that are joined there take over one head of several
        own = grown.phases.within(smaller.phases, rules.board)[grown.phases.of(boards, rules.board)]
        boards = boards[own == smaller.phases.of(boards, rules.board)]
    assert len(np.unique(grown.phases.of(boards, rules.board))) > 7
    np.testing.assert_allclose(grown.outcomes(boards), smaller.outcomes(boards), atol=1e-5)


def test_more_units_may_see_the_real_inputs():
    smaller = network_of(HYPER, "tactics-1")
    shape = NetworkConfig("tactics-1", 80, 12, "zones-1", 48, 8, smaller.activation)
    learner = Learner(HYPER, shape, OptimConfig(), seed=1, device=CPU)
    learner.begin_with(smaller)

    grown = network_in(learner)

    boards = reached_boards(HYPER, 200, seed=4)[0]
    np.testing.assert_allclose(grown.outcomes(boards), smaller.outcomes(boards), atol=1e-5)


def test_what_cannot_be_grown_is_refused(labels: Path, tmp_path: Path):
    path = tmp_path / "large.safetensors"
    save_bot(path, network_of(HYPER), golden=reached_boards(HYPER, 4, seed=1)[0], card={})

    with pytest.raises(ConfigError, match="has more inputs or units"):
        Fit.begun(tmp_path / "run", config_of(labels, start=str(path), **{"network.hidden": 4}))
    with pytest.raises(ConfigError, match="cannot begin 'hyper'"):
        Fit.begun(tmp_path / "run", config_of(labels, start="long", **{"network.units": 512, "network.hidden": 64}))


def test_rate_rises_and_falls():
    optim = OptimConfig(lr=1e-2, final_lr=1e-4, decay_fraction=0.5, warmup=0.1)
    learner = Learner(HYPER, NetworkConfig(units=16, hidden=4), optim, seed=1, device=CPU)

    rates = [learner.rate(progress) for progress in (0, 0.05, 0.1, 0.4, 0.75, 1.0)]

    assert rates[0] < 1e-4
    assert rates[1:] == pytest.approx([5e-3, 1e-2, 1e-2, 5.05e-3, 1e-4])


def test_fit_command_begins_and_resumes(labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = str(tmp_path / "run")
    arguments = ["--labels", str(labels), "--steps", "200", "--optim.batch", "64", "--quiet"]
    arguments += ["--network.units", "128", "--network.seeing", "64"]

    assert main(["fit", *arguments, "--run", folder, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["finished"]
    assert answer["held_out_rms"] > 0
    assert main(["fit", "--resume", folder, "--quiet"]) == 0
    assert main(["fit", *arguments, "--run", folder]) == 2
    assert "holds a run already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "name one with --run"),
        (["--run", "x"], "no labels given"),
        (["--run", "x", "--labels", "nothing"], "holds no labels"),
        (["--run", "x", "--labels", "y", "--optim.warmup", "2"], "optim.warmup must be from 0 to 1"),
        (["--resume", "x"], "no such file"),
        (["--resume", "x", "--steps", "4"], "--resume takes up a fit as it was"),
    ],
)
def test_fit_refuses_what_makes_no_sense(arguments, reason, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert main(["fit", *arguments]) == 2

    assert reason in capsys.readouterr().err

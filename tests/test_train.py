"""The training loop: the same to the last bit whether it was stopped, killed, saved often or not at all."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from nardy_ai.bot_file import read_bot
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import Weights
from nardy_ai.pictures.charts import TrainingRun, plot_runs, read_metrics
from nardy_ai.rules import find_rules, start_boards
from nardy_ai.train import loop
from nardy_ai.train.config import BenchmarkConfig, NetworkConfig, OptimConfig, PlayConfig, TrainConfig
from nardy_ai.train.learner import Learner, choose_device
from nardy_ai.train.loop import BOT_FILE, METRICS_FILE, STATE_FILE, Run, Watcher, start_run
from nardy_ai.train.state import load_state

TINY = TrainConfig(
    rules="hyper",
    games=400,
    seed=5,
    self_check=False,
    save_seconds=1e9,
    network=NetworkConfig(units=16, hidden=4),
    optim=OptimConfig(batch=32),
    play=PlayConfig(lanes=16, window=4, trace=0.5, wild_share=0.2, wild_plies=4),
    benchmark=BenchmarkConfig(every=1.0, pairs=2, against=("random",)),
)


def weights_of(folder: Path) -> dict[str, np.ndarray]:
    weights = read_bot(folder / BOT_FILE).network.weights
    return {entry.name: getattr(weights, entry.name) for entry in fields(Weights)}


def losses_of(folder: Path) -> list[tuple[int, float]]:
    return [(record["games"], record["loss"]) for record in read_metrics(folder / METRICS_FILE) if "loss" in record]


def same(one: Path, other: Path) -> bool:
    first, second = weights_of(one), weights_of(other)
    return all(np.array_equal(first[name], second[name]) for name in first) and losses_of(one) == losses_of(other)


@pytest.fixture(scope="module")
def straight(tmp_path_factory) -> Path:
    """A run of TINY that was never stopped."""
    folder = tmp_path_factory.mktemp("straight")
    assert start_run(folder, TINY).train(Watcher()).finished
    return folder


def stop_after(stretches: int) -> Watcher:
    """Asks to stop once that many stretches have been told of."""
    watcher = Watcher()
    told = []

    def on_metrics(metrics):
        told.append(metrics)
        watcher.stop = sum("loss" in one for one in told) >= stretches

    watcher.on_metrics = on_metrics
    return watcher


def test_a_stopped_and_resumed_run_ends_like_one_never_stopped(straight, tmp_path):
    assert not start_run(tmp_path, TINY).train(stop_after(2)).finished
    assert not Run.resumed(tmp_path).train(stop_after(1)).finished
    assert Run.resumed(tmp_path).train(Watcher()).finished
    assert same(tmp_path, straight)


def test_another_seed_gives_another_bot(straight, tmp_path):
    start_run(tmp_path, replace(TINY, seed=6)).train(Watcher())
    assert not same(tmp_path, straight)


def test_saving_after_every_stretch_changes_nothing(straight, tmp_path):
    start_run(tmp_path, replace(TINY, save_seconds=0.0)).train(Watcher())
    assert same(tmp_path, straight)


def test_benchmarks_change_nothing(straight, tmp_path):
    benchmark = replace(TINY.benchmark, every=0.1)
    start_run(tmp_path, replace(TINY, benchmark=benchmark)).train(Watcher())
    assert sum("benchmark" in record for record in read_metrics(tmp_path / METRICS_FILE)) > 3
    assert same(tmp_path, straight)


def test_what_was_written_after_the_state_is_cut_off_on_resuming(straight, tmp_path):
    start_run(tmp_path, TINY).train(stop_after(2))
    with (tmp_path / METRICS_FILE).open("a") as file:
        file.write('{"games": 999, "loss": 1.0}\n{"games": 10')
    Run.resumed(tmp_path).train(Watcher())
    assert same(tmp_path, straight)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1])
def test_a_killed_run_resumes_to_the_same_bot(straight, tmp_path, seconds):
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace; sys.path.insert(0, sys.argv[2]);"
        "from test_train import TINY; from nardy_ai.train.loop import *;"
        "start_run(Path(sys.argv[1]), replace(TINY, save_seconds=0.0)).train(Watcher())"
    )
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", code, str(folder), str(Path(__file__).parent)])
    until = time.monotonic() + 60
    while not (folder / STATE_FILE).exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run was over before it was killed"
    assert Run.resumed(folder).train(Watcher()).finished
    assert same(folder, straight)


def test_a_folder_that_holds_a_run_is_not_overwritten(straight):
    before = (straight / BOT_FILE).read_bytes()
    with pytest.raises(ConfigError, match="holds a training run already"):
        start_run(straight, TINY)
    assert (straight / BOT_FILE).read_bytes() == before


@pytest.mark.parametrize("damage", ["cut", "empty", "absent", "text"])
def test_a_damaged_state_is_refused_in_one_line(straight, tmp_path, damage):
    state = (straight / STATE_FILE).read_bytes()
    path = tmp_path / STATE_FILE
    if damage != "absent":
        path.write_bytes({"cut": state[: len(state) // 2], "empty": b"", "text": b"not a state"}[damage])
    with pytest.raises(ConfigError, match=STATE_FILE) as caught:
        Run.resumed(tmp_path)
    assert "\n" not in str(caught.value)


def test_the_state_says_where_the_run_stands(straight):
    state = load_state(straight / STATE_FILE)
    assert state.lanes.next_game - TINY.play.lanes >= TINY.games
    assert state.config["seed"] == TINY.seed


def test_the_card_of_the_bot_says_how_it_was_trained(straight):
    card = read_bot(straight / BOT_FILE).card
    assert card["games"] >= TINY.games
    assert card["config"]["play"]["trace"] == TINY.play.trace
    assert card["device"] == "cpu"


def test_the_run_keeps_its_resolved_config(straight):
    kept = json.loads((straight / loop.CONFIG_FILE).read_text())
    assert kept["config"]["optim"]["batch"] == TINY.optim.batch
    assert kept["rules"]["name"] == "hyper"


def test_the_learning_curve_is_a_png(straight, tmp_path):
    picture = tmp_path / "curve.png"
    plot_runs([TrainingRun("straight", read_metrics(straight / METRICS_FILE))], picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_half_written_last_line_of_metrics_is_passed_over(tmp_path):
    path = tmp_path / METRICS_FILE
    path.write_text('{"games": 1, "loss": 2.0}\n{"games": 2, "lo')
    assert read_metrics(path) == [{"games": 1, "loss": 2.0}]
    path.write_text('{"games": 1, "lo\n{"games": 2, "loss": 1.0}\n')
    with pytest.raises(ConfigError, match=r"metrics.jsonl:1"):
        read_metrics(path)


def learner(config: TrainConfig = TINY) -> Learner:
    return Learner(find_rules("hyper"), config.network, config.optim, seed=3, device=choose_device("cpu"))


def test_the_learning_rate_is_level_then_falls_to_its_end():
    optim = OptimConfig(lr=1e-2, final_lr=1e-4, decay_fraction=0.5)
    rates = [learner(replace(TINY, optim=optim)).rate(progress) for progress in (0.0, 0.5, 0.75, 1.0)]
    assert rates == pytest.approx([1e-2, 1e-2, (1e-2 + 1e-4) / 2, 1e-4])


def test_learning_moves_the_outcomes_towards_the_targets():
    student = learner(replace(TINY, optim=OptimConfig(lr=1e-2)))
    boards = start_boards(find_rules("hyper"), 32)
    targets = np.tile(np.array([0.5, 0.2, 0.1, 0.1, 0.1, 0.0], dtype=np.float32), (32, 1))
    before = np.abs(student.network.outcomes(boards) - targets).max()
    for _ in range(200):
        student.learn(boards, targets, 0.0)
    after = np.abs(student.network.outcomes(boards) - targets).max()
    assert after < 0.02 < before


def test_a_restored_learner_has_the_same_next_loss():
    first, second = learner(), learner()
    boards = start_boards(find_rules("hyper"), 8)
    targets = np.full((8, 6), 1 / 6, dtype=np.float32)
    for _ in range(3):
        first.learn(boards, targets, 0.0)
    second.load_state(first.state(), first.steps)
    assert [first.learn(boards, targets, 0.0) for _ in range(3)] == [
        second.learn(boards, targets, 0.0) for _ in range(3)
    ]


def test_an_absent_gpu_is_said_and_auto_does_without():
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    assert choose_device("auto").type == "cpu"
    with pytest.raises(ConfigError, match="no GPU"):
        choose_device("cuda")


@pytest.mark.gpu
def test_learning_works_on_a_gpu(tmp_path):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    assert start_run(tmp_path, TINY, device="cuda").train(Watcher()).finished

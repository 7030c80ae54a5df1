"""`nardy train`: configs by name or file, flags on top, resuming, Ctrl-C, and bad input in one line."""

import json
import signal
import subprocess
import sys
import time

import pytest
from complaints import complaint

from nardy_ai.bot_file import read_bot
from nardy_ai.cli.main import main

TINY = """
rules = "hyper"
games = 300
save_seconds = 1e9
[network]
units = 16
hidden = 4
[optim]
batch = 32
[play]
lanes = 16
window = 4
[benchmark]
every = 1.0
pairs = 2
against = ["random"]
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_a_run_leaves_bot_state_metrics_config_and_curve(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["train", str(config), "--run", str(folder), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == str(folder / "bot.safetensors")
    assert "learner on cpu" in err
    files = {path.name for path in folder.iterdir() if path.name != ".lock"}
    assert files == {"bot.safetensors", "state.safetensors", "metrics.jsonl", "config.json", "curve.png"}
    assert read_bot(folder / "bot.safetensors").network.rules.name == "hyper"


def test_flags_override_the_file(config, tmp_path, capsys):
    folder = tmp_path / "run"
    flags = ["--games", "50", "--optim.lr", "0.002", "--benchmark.against", "random,pips", "--rules", "гипер"]
    assert main(["train", str(config), "--run", str(folder), "--quiet", *flags]) == 0
    kept = json.loads((folder / "config.json").read_text())["config"]
    assert (kept["games"], kept["optim"]["lr"], kept["benchmark"]["against"]) == (50, 0.002, ["random", "pips"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train"], "no config given"),
        (["train", "shrot"], "did you mean 'short'"),
        (["train", "absent.toml"], "cannot be read"),
        (["train", "demo", "--games", "many"], "games = 'many'; expected int"),
        (["train", "demo", "--network.units", "17"], "multiple of 16"),
        (["train", "demo", "--rules", "logn"], "did you mean 'long'"),
        (["train", "demo", "--resume", "x"], "goes with --device and --quiet only"),
        (["train", "--resume", "nowhere"], "is this the folder of a training run?"),
        (["train", "demo", "--benchmark.against", "nobody"], "unknown bot 'nobody'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert says in complaint(capsys, *arguments)
    assert not list(tmp_path.iterdir())


def test_an_unknown_key_names_the_file_and_the_nearest_key(config, capsys):
    config.write_text(TINY.replace("batch", "learning_rate"))
    assert main(["train", str(config)]) == 2
    assert "tiny.toml: unknown key 'optim.learning_rate'; did you mean" in capsys.readouterr().err


def test_a_second_run_in_the_same_folder_is_refused(config, tmp_path, capsys):
    arguments = ["train", str(config), "--run", str(tmp_path / "run"), "--quiet"]
    assert main(arguments) == 0
    before = (tmp_path / "run" / "bot.safetensors").read_bytes()
    assert main(arguments) == 2
    assert "resume it with --resume" in capsys.readouterr().err
    assert (tmp_path / "run" / "bot.safetensors").read_bytes() == before


def test_ctrl_c_saves_and_resume_goes_on(config, tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "nardy_ai.cli.main", "train"]
    process = subprocess.Popen(
        [*command, str(config), "--run", str(folder), "--games", "1000000", "--self_check", "false", "--quiet"],
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = folder / "metrics.jsonl"
    until = time.monotonic() + 240
    while not (metrics.exists() and metrics.stat().st_size) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped, resume with: nardy train --resume" in err
    assert "Traceback" not in err
    again = subprocess.Popen([*command, "--resume", str(folder), "--quiet"], stderr=subprocess.PIPE, text=True)
    size = metrics.stat().st_size
    while metrics.stat().st_size == size and time.monotonic() < until:
        time.sleep(0.02)
    again.send_signal(signal.SIGINT)
    _, err = again.communicate(timeout=60)
    assert again.returncode == 130
    assert "resuming" in err

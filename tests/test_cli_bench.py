"""`nardy bench`: how much work each task does, who agrees on it, and what is printed. Never how long it takes."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from networks import pruned_network
from numba.core.registry import CPUDispatcher

import nardy_ai as na
from nardy_ai.bench import contest, peers, positions, rollout_peers, tasks
from nardy_ai.bench.contest import Contestant, Disagreement, Figure, Machine, Table, take_turns
from nardy_ai.bench.tasks import SHARED_WORK, TASKS, Setting, Work
from nardy_ai.bot_file import save_bot
from nardy_ai.bots import load_bot
from nardy_ai.cli import bench as command
from nardy_ai.cli.main import main
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BotError
from nardy_ai.evaluators import network
from nardy_ai.evaluators.baselines import RandomBot
from nardy_ai.movegen import kernels, reference
from nardy_ai.notation import parse_play
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")
FEW = 6
FEW_WORK = Work(126, 2081, 1)
"""Of the first six shared positions with all rolls."""


@dataclass
class FakePeer:
    """An engine that says what it is told to."""

    name: str
    counts: dict[tuple, int]

    def items(self, pairs):
        return [(board.tobytes(), *roll) for board, roll in zip(pairs.boards, pairs.dice.tolist(), strict=True)]

    def count(self, item):
        return self.counts[item]

    def generate(self, items):
        return sum(self.counts[item] for item in items)

    def decide(self, items):
        return len(items)


@pytest.fixture
def tiny(monkeypatch):
    """Tasks of a hundredth of the size: six shared positions, one run a turn."""
    boards = positions.shared_boards()[:FEW]
    monkeypatch.setattr(contest, "SECONDS", 0.0)
    monkeypatch.setattr(tasks, "shared_boards", lambda: boards)
    monkeypatch.setattr(tasks, "SHARED_WORK", FEW_WORK)
    for name, value in {
        "DECISIONS": 50,
        "BATCH": 40,
        "LANES": 8,
        "AGES": 4,
        "PLIES": 30,
        "PEER_GAMES": 1,
    }.items():
        monkeypatch.setattr(tasks, name, value)
    monkeypatch.setattr(positions, "REACHED", 20)
    for name in command.SLOWED_BY:
        monkeypatch.delenv(name, raising=False)
    return boards


@cache
def few_counts() -> dict[tuple, int]:
    """What the slow reference counts for the tiny work, by (board, roll)."""
    counts = {}
    for board in positions.shared_boards()[:FEW]:
        for roll in ROLLS:
            plays = reference.plays(board, roll, SHORT)
            counts[(board.tobytes(), *roll.tolist())] = 0 if plays[0].moves == () else len(plays)
    return counts


def measured(task: str, bots=(), peers=(), rounds: int = 2) -> list[Table]:
    return list(TASKS[task](Setting(rounds, tuple(map(load_bot, bots)), tuple(peers))))


def printed_data(capsys, *argv: object) -> dict:
    assert main(["bench", *map(str, argv), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_positions_are_those_that_their_page_describes():
    folder = Path(positions.__file__).parent
    digest = hashlib.sha256((folder / "positions.npz").read_bytes()).hexdigest()
    assert digest in (folder / "positions.md").read_text(encoding="utf-8")


def test_shared_positions_have_the_known_number_of_afterstates():
    """As gnubg-nn, bgsage and a slow generator outside this repository count them."""
    pairs = positions.with_all_rolls(positions.shared_boards(), "shared")
    counts = tasks._our_counts(pairs, SHORT)
    assert (len(counts), counts.sum(), (counts == 0).sum()) == (52_500, 997_254, 5_936) == SHARED_WORK


def test_few_positions_have_the_number_that_the_reference_counts():
    counts = list(few_counts().values())
    assert (len(counts), sum(counts), counts.count(0)) == FEW_WORK


def test_contestants_take_turns_and_get_other_work_each_time(monkeypatch):
    monkeypatch.setattr(contest, "SECONDS", 0.0)
    calls = []
    contestants = [Contestant(name, lambda k, name=name: calls.append((name, k)) or 7, 7) for name in "ab"]

    figures = take_turns(contestants, rounds=3)

    warm_up = [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert calls == [*warm_up, ("a", 2), ("b", 2), ("a", 3), ("b", 3), ("a", 4), ("b", 4)]
    assert [(figure.name, len(figure.values), len(figure.cores)) for figure in figures] == [("a", 3, 3), ("b", 3, 3)]


def test_work_that_changes_is_not_timed():
    numbers = count()
    with pytest.raises(Disagreement, match=r"a counts 1 in its run 1; expected 0"):
        take_turns([Contestant("a", lambda k: next(numbers), 0)], rounds=1)


def test_movegen_counts_what_the_peers_count(tiny):
    first, by_rules, two_threads = measured("movegen", peers=[FakePeer("fake", few_counts())])

    assert [figure.name for figure in first.figures] == ["fake", "nardy_ai, batches of 40"]
    assert str(FEW_WORK) in first.work
    assert "fake" in first.work
    assert [figure.name.split(",")[0] for figure in by_rules.figures] == ["short", "caucasian", "long"]
    assert re.findall(r"(\w+): 420 \(position, roll\) pairs", by_rules.work) == ["caucasian", "long"]
    assert [figure.threads for figure in two_threads.figures] in ([1, 2], [])


def test_a_peer_that_counts_otherwise_stops_the_task_before_anything_is_timed(tiny, monkeypatch, capsys):
    monkeypatch.setattr(tasks, "take_turns", lambda *args, **options: pytest.fail("timed"))
    counts = few_counts() | {next(reversed(few_counts())): 1000}
    monkeypatch.setattr(command, "make_peers", lambda names: [FakePeer("fake", counts)])
    assert main(["bench", "movegen"]) == 1
    assert "not measured: fake differs on 1 pairs; pair 125" in capsys.readouterr().err


def test_other_work_than_the_known_stops_the_task_before_anything_is_timed(tiny, monkeypatch):
    monkeypatch.setattr(tasks, "take_turns", lambda *args, **options: pytest.fail("timed"))
    monkeypatch.setattr(tasks, "SHARED_WORK", FEW_WORK._replace(passes=5))
    with pytest.raises(Disagreement, match="expected 126"):
        measured("movegen")


@pytest.mark.parametrize("name", list(peers.PEERS))
def test_peers_count_decide_and_play(name, tiny):
    if name not in peers.installed_peers():
        pytest.skip(f"{name} is not installed; pip install 'nardy_ai[peers]'")
    (peer,) = peers.make_peers([name])
    items = peer.items(positions.with_all_rolls(tiny, "shared"))
    assert [peer.count(item) for item in items] == list(few_counts().values())
    assert peer.generate(items) >= FEW_WORK.afterstates
    assert peer.decide(items[:10]) == 10
    if isinstance(peer, peers.GnubgNn):
        assert peer.play_games(2, seed=1) == 2


def test_short_bots_meet_peers_and_others_play_their_own_games(tiny, bot_files):
    short, long = measured("decisions", [bot_files["short"], bot_files["long"]], [FakePeer("fake", few_counts())])
    assert [figure.name.split()[0] for figure in short.figures] == ["fake", "nardy_ai"]
    assert "50 decisions a run, each run others of 100; shared positions" in short.work
    assert [figure.name.split()[0] for figure in long.figures] == ["nardy_ai"]
    assert "50 decisions a run, each run others of 400" in long.work
    assert "own games" in long.work


def test_bots_with_a_pruning_net_decide_with_and_without_it(tiny, tmp_path, monkeypatch):
    path = tmp_path / "mine.safetensors"
    rules = find_rules("short")
    save_bot(path, pruned_network(rules), golden=start_boards(rules), card={})
    monkeypatch.setattr(tasks, "AHEAD_PLIES", 1)
    for task in ("decisions", "lookahead"):
        (table,) = measured(task, [path], rounds=1)
        plain, pruned = (figure.name.split(",")[0] for figure in table.figures)
        assert (plain + "@pruned" if task == "decisions" else plain.replace("@1ply", "@pruned@1ply")) == pruned
        assert all(figure.median > 0 for figure in table.figures)


def test_selfplay_counts_the_games_that_end(bot_files, tiny):
    player = tasks._Player(load_bot(bot_files["short"]))
    before = player._lanes.next_game
    ended = sum(player.run(k) for k in range(8))
    assert ended == player.games == player._lanes.next_game - before > 0
    assert player.plies == 8 * 30 * 8
    (table,) = measured("selfplay", [bot_files["short"]])
    assert [figure.name.split()[0] for figure in table.figures] == ["nardy_ai"]


def test_games_of_selfplay_begin_at_different_ages(bot_files):
    """So that they do not end all at once: 16 ages of 8 plies each, 32 games each."""
    player = tasks._Player(load_bot(bot_files["long"]))
    assert sorted(player._lanes.plies[:: tasks.AGES]) == [0] * 32
    assert set(player._lanes.plies[3 :: tasks.AGES]) == {24}
    assert len(set(player._lanes.games)) == 512


def test_evaluation_counts_the_same_boards_both_ways(tiny, bot_files):
    (table,) = measured("evaluation", [bot_files["short"]])
    assert f"{FEW_WORK.afterstates + FEW_WORK.passes:,} afterstates of shared positions" in table.work
    assert [figure.name for figure in table.figures] == ["each board for itself", "from the parent's sum"]


def test_evaluation_that_depends_on_the_parent_is_not_timed(tiny, bot_files, monkeypatch):
    monkeypatch.setattr(tasks, "take_turns", lambda *args, **options: pytest.fail("timed"))
    bot = load_bot(bot_files["short"])
    bot.outcomes = lambda boards: np.zeros((len(boards), 6), np.float32)
    with pytest.raises(Disagreement, match="otherwise from their parents' sums"):
        list(TASKS["evaluation"](Setting(1, (bot,), ())))


def test_memory_is_that_of_a_query(tiny, bot_files, monkeypatch, tmp_path):
    script = tmp_path / "stub.py"
    script.write_text(
        "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('2048'); sys.exit(sys.argv[2] != 'evaluate')"
    )
    monkeypatch.setattr(tasks, "_child", lambda file: [sys.executable, str(script), str(file)])
    peak, seconds = measured("memory", [bot_files["short"]], rounds=3)
    assert peak.figures[0].values == (2.0, 2.0, 2.0)
    assert len(seconds.figures[0].values) == 3
    assert f"evaluate start --dice 31 --bot {bot_files['short']}" in peak.title


@pytest.mark.slow
def test_a_query_takes_less_than_300_mib(bot_files):
    peak, _ = measured("memory", [bot_files["short"]], rounds=1)
    assert 20 < peak.figures[0].median < 300


STUB = """
import json, pathlib, sys, time
peak, run = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[sys.argv.index("--run") + 1])
assert sys.argv[2:4] == ["train", "short"]
run.mkdir()
peak.write_text("2048")
with (run / "metrics.jsonl").open("w") as file:
    for k in range({rows}):
        row = dict(seconds=k, games=100 * k, games_per_second=10 + k, positions_per_second=1, evaluations_per_second=2)
        file.write(json.dumps(row) + "\\n" + json.dumps(dict(benchmark=1)) + "\\n")
time.sleep({sleep})
"""


def stub_training(monkeypatch, tmp_path, **values):
    script = tmp_path / "stub.py"
    script.write_text(STUB.format(**values))
    monkeypatch.setattr(tasks, "_child", lambda file: [sys.executable, str(script), str(file)])
    monkeypatch.setattr(tasks, "LEARNING_WARM", 4.0)
    monkeypatch.setattr(tasks, "LEARNING_SECONDS", 5.0)


def test_learning_is_measured_after_the_warm_up_and_then_stopped(monkeypatch, tmp_path):
    stub_training(monkeypatch, tmp_path, rows=10, sleep=60)
    games, *_, memory = measured("learning")
    assert games.figures[0].values == (15, 16, 17, 18, 19)
    assert memory.figures[0].values == (2.0,)


def test_training_that_ends_early_is_a_fault(monkeypatch, tmp_path):
    stub_training(monkeypatch, tmp_path, rows=5, sleep=0)
    with pytest.raises(BotError, match="nardy train short ended early"):
        measured("learning")


@pytest.mark.slow
def test_learning_measures_a_real_training(monkeypatch):
    monkeypatch.setattr(tasks, "LEARNING_WARM", 2.0)
    monkeypatch.setattr(tasks, "LEARNING_SECONDS", 4.0)
    games, *_, memory = measured("learning")
    assert len(games.figures[0].values) >= 1
    assert memory.figures[0].median < 2048


def test_json_has_every_value(tiny, bot_files, capsys):
    data = printed_data(capsys, "decisions", "evaluation", "--bot", bot_files["short"], "--no-peers", "--rounds", 3)
    assert (data["rounds"], data["peers"], data["bots"][0]) == (3, [], str(bot_files["short"]))
    assert data["machine"]["packages"]["numba"]
    assert {table["task"] for table in data["tables"]} == {"decisions", "evaluation"}
    for figure in (figure for table in data["tables"] for figure in table["figures"]):
        assert len(figure["values"]) == len(figure["cores"]) == 3
        assert figure["range"] == [min(figure["values"]), max(figure["values"])]


def test_tables_name_machine_and_work(tiny, bot_files, capsys):
    assert main(["bench", "evaluation", "--bot", str(bot_files["short"]), "--no-peers"]) == 0
    out = capsys.readouterr().out
    assert "load " in out
    assert "both ways agree to the last bit" in out
    assert "x 1.00" in out


def test_a_busy_machine_and_starved_contestants_are_called_doubtful(capsys):
    machine = Machine("cpu", 2, 3.0, "3.11", {})
    assert machine.is_busy
    assert not replace(machine, load=0.3).is_busy
    assert not replace(machine, load=None).is_busy
    assert not replace(machine, cores=16).is_busy
    figures = (Figure("full", (1.0,), (1.0,)), Figure("starved", (1.0,), (1.0,), threads=2))
    command._print_table(Table("task", "title", "unit", figures, "work"))
    assert "doubtful, since other programs had a good part of the cores: starved\n" in capsys.readouterr().out
    command._print_machine(machine, Setting(1, (), ()))
    assert "WARNING: other programs are at work here (load 3.0 on 2 cores)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["speed"], "unknown task 'speed'; expected any of movegen, decisions, "),
        (["--rounds", "0"], "--rounds 0: expected 1 or more"),
        (["evaluation", "--bot", "pubeval"], "'pubeval' is no trained bot"),
        (["evaluation", "--bot", "nobody"], "unknown bot 'nobody'"),
    ],
)
def test_misuse_is_one_line(argv, says, tiny, capsys):
    assert main(["bench", *argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_without_any_bot_one_is_asked_for(tiny, monkeypatch, capsys):
    monkeypatch.setattr("nardy_ai.bots.checkpoint_names", list)
    monkeypatch.setattr(command, "checkpoint_names", list)
    assert main(["bench", "decisions"]) == 2
    assert "no bot is shipped that can play 'short'; train one" in capsys.readouterr().err


def test_peers_that_are_asked_for_must_be_installed(tiny, monkeypatch, capsys):
    monkeypatch.setattr(peers, "installed_peers", tuple)
    assert main(["bench", "movegen", "--peers"]) == 2
    assert "not installed: gnubg-nn, bgsage; pip install 'nardy_ai[peers]'" in capsys.readouterr().err


def test_settings_that_slow_numpy_are_taken_away_and_the_command_begins_anew(tiny, monkeypatch):
    """numpy reads them when it is loaded, so the process must begin once more, with the same arguments."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    started = []

    def execve(program: str, argv: list[str], environment: dict[str, str]) -> None:
        started.append((argv[1:], "OPENBLAS_CORETYPE" in environment, "PATH" in environment))
        raise SystemExit(0)

    monkeypatch.setattr(command, "os", SimpleNamespace(environ=os.environ, execve=execve))
    given = ["movegen", "memory", "--rounds", "3", "--bot", "a", "--bot", "b", "--no-peers", "--json"]
    assert main(["bench", *given]) == 0
    assert started == [(["-m", "nardy_ai.cli.main", "bench", *given], False, True)]


def test_child_leaves_its_own_peak_memory_and_the_exit_code_of_the_command(tmp_path):
    """Not this process's memory, which `wait4` would count in."""
    file = tmp_path / "peak"
    ballast = np.ones(10_000_000)
    child = [sys.executable, "-m", "nardy_ai.bench.child", str(file)]
    assert subprocess.run([*child, "--version"], capture_output=True, check=False).returncode == 0
    assert 4 * 2**20 < int(file.read_text()) * 1024 < ballast.nbytes
    assert subprocess.run([*child, "nonsense"], capture_output=True, check=False).returncode == 2


def test_reached_positions_are_of_games_that_go_on():
    boards = positions.reached_boards(RandomBot(SHORT), seed=1)
    assert boards.shape == (2500, 2, 26)
    assert (boards[:, :, 0] < 15).all()
    assert len(np.unique(boards.reshape(len(boards), -1), axis=0)) > 2400


@pytest.mark.parametrize("module", [kernels, network])
def test_compiled_functions_release_the_interpreter_lock(module):
    """Or two threads would be no faster than one."""
    compiled = {name: value for name, value in vars(module).items() if isinstance(value, CPUDispatcher)}
    assert compiled
    assert [name for name, function in compiled.items() if not function.targetoptions.get("nogil")] == []


def test_look_ahead_counts_its_decisions(bot_files, monkeypatch):
    monkeypatch.setattr(tasks, "AHEAD_PLIES", 1)
    (table,) = measured("lookahead", [bot_files["short"]], rounds=1)
    (figure,) = table.figures
    assert figure.name.endswith("@1ply")
    assert figure.median > 0
    assert "16 decisions a run" in table.work


GNUBG = """#!/bin/sh
if [ ! -t 1 ]; then exit 1; fi
cat "$5" >{seen}
cat <<END
Estimated SE for "Current Position" after 36 trials  0.03721
Rollout done. Printing final results.

Current Position:
  0.45900 0.07343 0.00351 - 0.54100 0.19882 0.00737 CL -0.21125
 [0.01268 0.02010 0.00171 - 0.01268 0.02301 0.00312 CL  0.03673] 1r
Full cubeless rollout with variance reduction
@@SECONDS 11.4159 11.1000
END
"""


def test_gnubg_rolls_out_on_a_terminal_and_is_understood(tmp_path, monkeypatch):
    """It prints results nowhere else."""
    program, seen = tmp_path / "gnubg", tmp_path / "seen"
    program.write_text(GNUBG.format(seen=seen))
    program.chmod(0o755)
    monkeypatch.setattr(rollout_peers, "GNUBG", (str(program),))
    assert rollout_peers.find_gnubg() == str(program)
    roll = rollout_peers.ROLLING["gnubg"][0]
    assert roll(36, 7) == rollout_peers.Answer(-0.21125, 0.03673, 11.4159, 11.1)
    script = seen.read_text()
    for line in ("set rollout trials 36", "set rollout seed 7", f"set gnubgid {rollout_peers.POSITION}:"):
        assert line in script
    program.write_text("#!/bin/sh\necho no such thing\n")
    with pytest.raises(BotError, match="printed no result"):
        roll(36, 7)


def test_the_position_that_is_rolled_out_is_that_after_31():
    start = start_boards(SHORT)[0]
    play = reference.play_named(start, np.array([3, 1], dtype=np.uint8), parse_play("8/5 6/5"), SHORT)
    assert np.array_equal(rollout_peers.after_31().reshape(2, 26), play.afterstate)


@pytest.mark.slow
@pytest.mark.parametrize(("equity", "agrees"), [(None, True), (3.0, False)])
def test_rollouts_are_timed_where_all_agree(equity, agrees, bot_files, monkeypatch):
    """Random weights would play on for long, so games are cut short; another engine says the same or something else."""
    monkeypatch.setattr(tasks, "ROLLOUT_GAMES", 72)
    monkeypatch.setattr(tasks, "rollout", partial(na.rollout, truncate_after=2))
    monkeypatch.setattr(contest, "SECONDS", 0.0)
    bot = load_bot(bot_files["short"])
    told = []

    def other(games: int, seed: int) -> rollout_peers.Answer:
        told.append((games, seed))
        found = tasks._our_rollout(bot, rollout_peers.after_31(), seed)
        return replace(found, equity=found.equity if equity is None else equity, seconds=4.0, cpu_seconds=2.0)

    monkeypatch.setattr(tasks, "ROLLING", {"other": (other, lambda: True), "absent": (other, lambda: False)})
    setting = Setting(1, (bot,), (object(),))
    if not agrees:
        with pytest.raises(Disagreement, match=r"other finds \+3.0000"):
            list(TASKS["rollouts"](setting))
        return
    tables = list(TASKS["rollouts"](setting))
    assert told == [(324, 1)]
    first = tables[0].figures[0]
    error = tasks._our_rollout(bot, rollout_peers.after_31(), 1).standard_error
    assert first.values == pytest.approx((4.0 * (error / 0.005) ** 2,))
    assert first.cores == (0.5,)
    assert [figure.name for figure in tables[0].figures] == ["other", f"nardy_ai {bot.name}"]
    assert len(tables) == 2


def test_rollouts_need_a_bot_of_short_nardy(bot_files):
    with pytest.raises(BotError, match="no bot of short nardy"):
        measured("rollouts", [bot_files["hyper"]])

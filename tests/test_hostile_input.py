"""What a breaker found: input that once crashed compiled code, lost a training or went by without a word."""

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import network_of
from test_train import TINY, same, start_run

import nardy_ai as na
from nardy_ai.boards import checked_boards
from nardy_ai.errors import BoardError, ConfigError, NardyError, RulesError
from nardy_ai.evaluators.network import _counted_phase
from nardy_ai.files import sole_use
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.phases import find_phases
from nardy_ai.pictures.charts import read_metrics
from nardy_ai.rules import find_rules, preset_names, start_boards
from nardy_ai.train.loop import METRICS_FILE, STATE_FILE, Run, Watcher

SHORT = find_rules("short")


def wrapping(dtype: type) -> np.ndarray:
    """A board whose rows sum to 15 only because numbers wrap round."""
    board = start_boards(SHORT, 1).astype(dtype)
    board[0, 0, 24] = 16
    board[0, 0, 13] = np.iinfo(dtype).max
    return board


@pytest.mark.parametrize("dtype", [np.uint64, np.int64, np.uint8, np.int16])
def test_counts_that_wrap_round_are_refused(dtype):
    with pytest.raises(BoardError, match="every count must be from 0 to 15"):
        checked_boards(wrapping(dtype), 15)
    with pytest.raises(BoardError):
        network_of(SHORT).outcomes(wrapping(dtype))


def test_durations_are_no_counts():
    with pytest.raises(BoardError, match="expected integers"):
        checked_boards(start_boards(SHORT).astype("timedelta64[s]"), 15)


def test_afterstates_of_other_boards_are_refused():
    bot = network_of(SHORT)
    boards = start_boards(SHORT, 3)
    after = na.afterstates(boards, (3, 1), SHORT)
    spoiled = after.boards.copy()
    spoiled[0, 0, 5] = 100
    for parents, wrong in (
        (boards[:1], after),
        (boards, Afterstates(after.boards, np.array([0, 10**8, 5, len(after.boards)]))),
        (boards, Afterstates(after.boards, after.offsets[::-1].copy())),
        (boards, Afterstates(spoiled, after.offsets)),
    ):
        with pytest.raises(BoardError, match="do not belong"):
            bot.play_values(parents, wrong)


def test_more_checkers_far_behind_than_there_are_do_not_lead_out_of_the_tables_of_phases():
    """Compiled code would not notice, so Python runs it."""
    tables = find_phases("stages-1").tables(SHORT.board)
    crowded = np.full((2, 26), 15, dtype=np.int8)

    assert _counted_phase.py_func(crowded, 24, 24, tables) == tables.pairs[4, 4]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "run"
    start_run(folder, TINY).train(Watcher())
    return folder


def test_every_changed_byte_of_a_state_is_refused(run_folder, tmp_path):
    state = (run_folder / STATE_FILE).read_bytes()
    rng = np.random.default_rng(3)
    for at in rng.integers(0, len(state), 60):
        changed = bytearray(state)
        changed[at] ^= 1 << int(rng.integers(8))
        (tmp_path / STATE_FILE).write_bytes(bytes(changed))
        with pytest.raises(ConfigError) as caught:
            Run.resumed(tmp_path)
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_run_killed_before_its_first_save_can_be_resumed(run_folder, tmp_path):
    code = (
        "import os, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); from test_train import TINY;"
        "from nardy_ai.train import loop; loop.Run._stretch = lambda *_: os.kill(os.getpid(), 9);"
        "loop.start_run(Path(sys.argv[1]), TINY).train(loop.Watcher())"
    )
    folder = tmp_path / "run"
    subprocess.run([sys.executable, "-c", code, str(folder), str(Path(__file__).parent)], check=False)
    assert Run.resumed(folder).train(Watcher()).finished
    assert same(folder, run_folder)


def test_rules_that_changed_since_a_run_began_are_refused(tmp_path):
    rules = tmp_path / "mine.toml"
    rules.write_text('base = "hyper"\n')
    run = start_run(tmp_path / "run", replace(TINY, rules=str(rules), games=20))
    run.train(Watcher())
    rules.write_text('base = "hyper"\nscoring = "oin"\n')
    with pytest.raises(ConfigError, match="have changed since"):
        Run.resumed(tmp_path / "run")


@pytest.mark.skipif(sys.platform == "win32", reason="locks of one process do not exclude each other there")
def test_two_trainings_in_one_folder_are_refused(run_folder):
    with sole_use(run_folder / ".lock"), pytest.raises(NardyError, match="in use by another process"):
        Run.resumed(run_folder).train(Watcher())


@pytest.mark.parametrize("left", [0, 100])
def test_lost_metrics_do_not_spoil_a_resumed_run(run_folder, tmp_path, left):
    for file in run_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    metrics = (run_folder / METRICS_FILE).read_bytes()
    (tmp_path / METRICS_FILE).write_bytes(metrics[:left])
    Run.resumed(tmp_path).train(Watcher())
    assert all("games" in record for record in read_metrics(tmp_path / METRICS_FILE))


@pytest.mark.parametrize(
    "text",
    [
        'base = "long"\naliases = 5',
        'base = "long"\naliases = [1]',
        "base = []",
        "base = {}",
        'base = "long"\nx = ' + "[" * 3000,
        'base = "long"\nauto = ' + "9" * 5000,
        "start = { 24 = 7, 024 = 15 }",
        'start = { "٢٤" = 15 }',
    ],
    ids=lambda text: text[:30],
)
def test_odd_rule_files_are_refused_in_one_line(tmp_path, text):
    path = tmp_path / "odd.toml"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(RulesError, match=r"odd\.toml"):
        find_rules(path)


@pytest.mark.parametrize("name", preset_names())
def test_rules_survive_pickle_and_copy(name):
    rules = find_rules(name)
    assert pickle.loads(pickle.dumps(rules)) == copy.deepcopy(rules) == rules

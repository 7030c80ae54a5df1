"""The rollouts of other engines: Sage's through bgsage, GNU Backgammon's through its program on a terminal.

gnubg-nn is not among them: its `rollout` of release 1.1.0a11 crashes. All roll out the position after 31: 8/5 6/5,
cubeless, to the end, by their bare nets, with variance reduction, on one thread unless said.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from nardy_ai.bench.peers import BgSage
from nardy_ai.bench.positions import Pairs
from nardy_ai.boards import Boards, swap_sides
from nardy_ai.errors import BotError
from nardy_ai.notation import parse_position
from nardy_ai.rules import find_rules, start_boards

__all__ = ["POSITION", "ROLLING", "Answer", "after_31", "find_gnubg"]

POSITION = "sGfwATDgc/ABMA"
"""The GNU identifier of the position, the side that has not played 31 on roll."""

GNUBG = ("gnubg", "/usr/games/gnubg")
"""Where the program is looked for: Debian keeps games off the path of some users."""

_LIMIT = 3600
_SETUP = """set player 0 human
set player 1 human
set automatic roll off
set automatic game off
set automatic bearoff off
set jacoby off
set output digits 5
set rng mersenne
set rollout varredn on
set rollout cubeful off
set rollout trials {games}
set rollout truncation enable off
set rollout quasirandom on
set rollout initial off
set rollout limit enable off
set rollout jsd stop off
set rollout later enable off
set rollout bearofftruncation exact off
set rollout bearofftruncation onesided off
set rollout chequerplay plies 0
set rollout cubedecision plies 0
set rollout chequerplay prune on
set threads 1
new game
set gnubgid {position}:cAkAAAAAAAAA
set rollout seed {seed}"""

_SCRIPT = """import gnubg, time
for line in {lines!r}:
    gnubg.command(line)
began, cpu = time.perf_counter(), time.process_time()
gnubg.command("rollout")
print("\\n@@SECONDS %.4f %.4f" % (time.perf_counter() - began, time.process_time() - cpu), flush=True)
"""

_RESULT = re.compile(r"C[LF] +([-+]\d+\.\d+)\n \[.*?C[LF] +(\d+\.\d+)\]", re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """What one rollout says: equity for the side on roll, its standard error, and how long it took.

    cpu_seconds: of them, those in which a core worked for it.
    """

    equity: float
    standard_error: float
    seconds: float
    cpu_seconds: float


def after_31() -> Boards:
    """The position, `int8[2, 26]`, row 0 on roll."""
    return parse_position(POSITION, find_rules("short"))


def find_gnubg() -> str | None:
    """GNU Backgammon's program, if it is installed."""
    return next((found for name in GNUBG if (found := shutil.which(name))), None)


def _gnubg(games: int, seed: int) -> Answer:
    """Run the program on a terminal of its own: elsewhere it prints no result. Raises BotError."""
    program = find_gnubg()
    if program is None:
        raise BotError(f"{GNUBG[0]} is not installed")
    lines = _SETUP.format(games=games, position=POSITION, seed=seed).splitlines()
    with tempfile.TemporaryDirectory(prefix="nardy-bench-") as folder:
        script = Path(folder) / "rollout.py"
        script.write_text(_SCRIPT.format(lines=lines), encoding="utf-8")
        text = _on_terminal([program, "-t", "-q", "-r", "-p", str(script)])
    taken = re.search(r"@@SECONDS (\d+\.\d+) (\d+\.\d+)", text)
    found = _RESULT.search(text.split("Printing final results")[-1])
    if taken is None or found is None:
        raise BotError(f"{program} printed no result of a rollout: ...{text[-300:]!r}")
    return Answer(float(found[1]), float(found[2]), float(taken[1]), float(taken[2]))


def _on_terminal(command: list[str]) -> str:
    """What a program prints on a terminal, line ends as `\\n`."""
    master, terminal = os.openpty()
    with subprocess.Popen(  # noqa: S603 - the engine that was found
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=os.environ | {"TERM": "dumb"}
    ) as process:
        os.close(terminal)
        parts = []
        began = time.monotonic()
        try:
            while time.monotonic() - began < _LIMIT:
                try:
                    part = os.read(master, 1 << 16)
                except OSError:  # how Linux says that the other end is closed
                    break
                if not part:
                    break
                parts.append(part)
        finally:
            os.close(master)
            process.kill()
    return b"".join(parts).decode(errors="replace").replace("\r", "")


def _sage(games: int, seed: int) -> Answer:
    engine = import_module("bgbot_cpp")
    weights = import_module("bgsage").default_weights()
    table = engine.BearoffDB()
    table.load(str(import_module("bgsage.weights").bearoff_db_path()))
    # 9999 is what bgsage's own analyser passes: luck is taken off at every ply, not at the first two only.
    job = engine.create_rollout(
        weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list, n_trials=games,
        truncation_depth=0, decision_ply=1, n_threads=1, seed=seed, ultra_late_threshold=9999, enable_vr=True,
    )  # fmt: skip
    engine.rollout_set_bearoff_db(job, table)
    boards = np.stack((swap_sides(after_31()), start_boards(find_rules("short"))[0]))
    played, before = (item[0] for item in BgSage().items(Pairs(boards, np.ones((2, 2), dtype=np.uint8), "")))
    began, cpu = time.perf_counter(), time.process_time()
    found = job.evaluate_board(played, before)  # in the view of who has played
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    return Answer(0.0 - found["equity"], found["std_error"], seconds, cpu_seconds)


ROLLING: Mapping[str, tuple[Callable[[int, int], Answer], Callable[[], bool]]] = {
    "gnubg": (_gnubg, lambda: find_gnubg() is not None),
    "bgsage": (_sage, lambda: find_spec("bgbot_cpp") is not None),
}
"""Each engine by name: its rollout of so many games with a seed, and whether it is installed."""

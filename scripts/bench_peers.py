"""Speed of this package beside gnubg-nn and bgsage: the same positions, the same run, one core.

    python scripts/bench_peers.py                   # everything, about a minute
    python scripts/bench_peers.py --rounds 9 --json FILE

Contestants take turns (A B C A B C ...), so a machine that slows down slows all of them; rates are medians over the
rounds. How much work there is, and that all engines agree on it, is asserted before any time is printed. Leave the
machine otherwise idle. Needs the extra `peers`. The positions: benchmarks/README.md.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, FACING, OFF, Boards, finished, swap_sides
from nardy_ai.dice import ROLLS, dice_at
from nardy_ai.evaluators.baselines import RandomBot
from nardy_ai.movegen.generate import afterstates, best_of_segments
from nardy_ai.rules import RuleSet, find_rules, start_boards

POSITIONS = Path(__file__).parents[1] / "benchmarks" / "positions.npz"
PAIRS, AFTERSTATES, PASSES = 52_500, 997_254, 5_936  # as gnubg-nn, bgsage and a slow reference count them
BATCH = 1024  # (position, roll) pairs in one call of ours
SECONDS = 0.5  # of work in one turn of a contestant
SLOWED_BY = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # settings that keep numpy from its full speed


@dataclass(frozen=True)
class Contestant:
    """One engine's way to do the work. run: does all of it once, `work` units, and returns what it counted."""

    name: str
    work: int
    run: Callable[[], int]


@dataclass(frozen=True)
class Table:
    """Rates of one contest. rates: contestant -> units a second in each round, the baseline first."""

    title: str
    unit: str
    rates: dict[str, list[float]]


def measured(title: str, unit: str, contestants: Sequence[Contestant], *, rounds: int) -> Table:
    """Let the contestants take turns. Every run must count the same as the first one."""
    expected, repeats = {}, {}
    for contestant in contestants:
        contestant.run()  # warm up: compiled code, caches
        start = time.perf_counter()
        expected[contestant.name] = contestant.run()
        repeats[contestant.name] = max(1, round(SECONDS / (time.perf_counter() - start)))
    rates: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            start = time.perf_counter()
            done = [contestant.run() for _ in range(repeats[contestant.name])]
            seconds = time.perf_counter() - start
            if set(done) != {expected[contestant.name]}:
                raise SystemExit(f"{title}: {contestant.name} counted {set(done)}, before {expected[contestant.name]}")
            rates[contestant.name].append(contestant.work * len(done) / seconds)
    return Table(title, unit, rates)


def show(table: Table) -> None:
    """One line a contestant: median, range, and the ratio of medians to the first."""
    print(f"\n{table.title} ({table.unit}/s; median of {len(next(iter(table.rates.values())))}, range, ratio)")
    baseline = statistics.median(next(iter(table.rates.values())))
    for name, rates in table.rates.items():
        median = statistics.median(rates)
        print(f"  {name:<44} {median:>14,.0f}  {min(rates):>13,.0f} .. {max(rates):<13,.0f} x {median / baseline:.2f}")


@contextmanager
def cores(n: int) -> Iterator[None]:
    """Run on the first n of the cores that this process may use."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) < n:
        raise SystemExit(f"{n} cores are needed; this process may use {len(allowed)}")
    os.sched_setaffinity(0, set(sorted(allowed)[:n]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def benchmark_boards() -> Boards:
    """The 2,500 positions, `int8[2500, 2, 26]`, row 0 on roll."""
    with np.load(POSITIONS) as file:
        rows = np.stack((file["me"], file["opp"]), axis=1)
    boards = np.zeros((len(rows), 2, 26), dtype=np.int8)
    boards[:, :, 1:] = rows
    boards[:, :, OFF] = 15 - rows.sum(axis=2)
    return boards


def random_boards(rules: RuleSet, n: int, *, seed: int) -> Boards:
    """n positions before the roll from games of random play, `int8[n, 2, 26]`: every hundredth ply of each game."""
    bot, games = RandomBot(rules, seed=seed), np.arange(n)
    boards, kept, ply = start_boards(rules, n), [], 0
    while len(boards):
        kept.append(boards[(games + ply) % 100 == 0])
        after = afterstates(boards, dice_at(seed, games, ply), rules)
        boards = after.boards[best_of_segments(bot.play_values(boards, after), after.offsets)]
        going = ~finished(boards)
        boards, games, ply = boards[going], games[going], ply + 1
    found = np.concatenate(kept)
    order = np.argsort(np.random.default_rng(seed).random(len(found)))
    if len(found) < n:
        return np.concatenate((found, random_boards(rules, n - len(found), seed=seed + 1)))
    return found[order[:n]]


def with_all_rolls(boards: Boards) -> tuple[Boards, NDArray[np.uint8]]:
    """Every position with each of the 21 rolls."""
    return np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1))


def batches_of(boards: Boards, dice: NDArray[np.uint8]) -> list[tuple[Boards, NDArray[np.uint8]]]:
    """The same pairs in pieces of `BATCH`."""
    return [(boards[i : i + BATCH], dice[i : i + BATCH]) for i in range(0, len(boards), BATCH)]


def our_counts(boards: Boards, dice: NDArray[np.uint8], rules: RuleSet) -> NDArray[np.int64]:
    """Distinct results of each pair, `int64[N]`; 0 for a pass."""
    after = afterstates(boards, dice, rules)
    unmoved = (after.boards[after.offsets[:-1]] == swap_sides(boards)).all(axis=(1, 2))
    return np.where(unmoved, 0, np.diff(after.offsets))


def our_generator(boards: Boards, dice: NDArray[np.uint8], rules: RuleSet) -> Callable[[], int]:
    """A run of our generator over all pairs, in batches; it counts results, a pass as one."""
    batches = batches_of(boards, dice)

    def run() -> int:
        return sum(len(afterstates(some, rolls, rules).boards) for some, rolls in batches)

    return run


def bench_movegen(*, rounds: int) -> list[Table]:
    """Distinct afterstates a second: the peers, other rules, two threads against one."""
    gnubg, sage = import_module("gnubg_nn"), import_module("bgbot_cpp")
    short = find_rules("short")
    boards, dice = with_all_rolls(benchmark_boards())
    # gnubg-nn lists the side on roll second; bgsage has its checkers positive, and the bars at 25 and 0.
    signed = boards[:, 0] - boards[:, 1, FACING[CONTRARY]]
    signed[:, [OFF, BAR]] = boards[:, [1, 0], BAR]
    rolls = dice.tolist()
    for_gnubg = [(board, *roll) for board, roll in zip(boards[:, ::-1, 1:].tolist(), rolls, strict=True)]
    for_sage = [(board, *roll) for board, roll in zip(signed.tolist(), rolls, strict=True)]
    check_agreement(
        our_counts(boards, dice, short),
        {
            "gnubg-nn": [_gnubg_count(gnubg, item) for item in for_gnubg],
            "bgsage": [sum(result != item[0] for result in sage.possible_moves(*item)) for item in for_sage],
        },
    )
    ours = Contestant(f"nardy_ai afterstates(), batches of {BATCH}", AFTERSTATES, our_generator(boards, dice, short))
    peers = [
        Contestant("gnubg-nn moves()", AFTERSTATES, lambda: _total(gnubg.moves, for_gnubg)),
        Contestant("bgsage possible_moves()", AFTERSTATES, lambda: _total(sage.possible_moves, for_sage)),
    ]
    others = [in_other_rules(name) for name in ("caucasian", "long")]
    halves = [our_generator(boards[i::2], dice[i::2], short) for i in (0, 1)]
    what = "Distinct afterstates"
    with cores(1):
        tables = [
            measured(f"{what}, short, one core", "afterstates", [*peers, ours], rounds=rounds),
            measured(f"{what}, other rules, one core", "afterstates", [ours, *others], rounds=rounds),
        ]
    with cores(2), ThreadPoolExecutor(2) as pool:
        both = Contestant("nardy_ai, two threads", AFTERSTATES, lambda: sum(pool.map(lambda run: run(), halves)))
        tables.append(measured(f"{what}, short, two cores", "afterstates", [ours, both], rounds=rounds))
    return tables


def check_agreement(ours: NDArray[np.int64], theirs: dict[str, list[int]]) -> None:
    """Stop unless everybody counts the known number of results, pair by pair."""
    work = len(ours), int(ours.sum()), int((ours == 0).sum())
    if work != (PAIRS, AFTERSTATES, PASSES):
        raise SystemExit(f"ours: {work}; expected {(PAIRS, AFTERSTATES, PASSES)} pairs, afterstates, passes")
    for name, counts in theirs.items():
        differing = np.flatnonzero(ours != np.array(counts))
        if len(differing):
            i = int(differing[0])
            raise SystemExit(f"{name} differs on {len(differing)} pairs; pair {i}: {counts[i]} against {ours[i]}")
    print(
        f"agreed, pair by pair, by {', '.join(theirs)} and ours: {PAIRS:,} (position, roll) pairs,"
        f" {AFTERSTATES:,} distinct afterstates, {PASSES:,} passes"
    )


def in_other_rules(name: str) -> Contestant:
    """Our generator on positions of random play under other rules, which no peer knows."""
    rules = find_rules(name)
    boards, dice = with_all_rolls(random_boards(rules, 2500, seed=20261129))
    counts = our_counts(boards, dice, rules)
    passes = int((counts == 0).sum())
    print(f"{name}, random play: {len(counts):,} pairs, {counts.sum():,} distinct afterstates, {passes:,} passes")
    return Contestant(f"nardy_ai, {name}, random play", int(counts.sum()), our_generator(boards, dice, rules))


def _total(generate: Callable[..., Sequence[Any]], items: Sequence[tuple[Any, ...]]) -> int:
    return sum(len(generate(*item)) for item in items)


def _gnubg_count(gnubg: Any, item: tuple[Any, ...]) -> int:
    """Distinct results by gnubg-nn, 0 for a pass, which it lists as the unmoved board or not at all."""
    keys = gnubg.moves(*item)
    if len(keys) == 1 and [list(side) for side in gnubg.board_from_position_key(keys[0])] == item[0]:
        return 0
    return len(set(keys))


def machine() -> str:
    """The processor, the cores this process may use, how busy they are, and the versions of what is measured."""
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    packages = ", ".join(f"{name} {version(name)}" for name in ("nardy_ai", "numpy", "numba", "gnubg-nn", "bgsage"))
    allowed = len(os.sched_getaffinity(0))
    busy = f"{allowed} of {len(names)} cores, load {os.getloadavg()[0]:.1f}"
    return f"{names[0]}, {busy}; Python {platform.python_version()}, {packages}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Speed beside gnubg-nn and bgsage on the same positions.")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (default 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round's rates to this file")
    arguments = parser.parse_args(argv)
    described = machine()
    print(described)
    tables = bench_movegen(rounds=arguments.rounds)
    for table in tables:
        show(table)
    if arguments.json:
        content = {"machine": described, "tables": [vars(table) for table in tables]}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    if any(name in os.environ for name in SLOWED_BY):
        clean = {name: value for name, value in os.environ.items() if name not in SLOWED_BY}
        os.execve(sys.executable, [sys.executable, *sys.argv], clean)  # noqa: S606 - the same program, once more
    sys.exit(main())

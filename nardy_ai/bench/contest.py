"""Measuring: contestants that take turns, and the machine they run on.

They take turns (A B A B ...), so a machine that slows down slows all of them; a figure has one value for each turn.
"""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SECONDS = 0.5
"""Work in one turn of a contestant."""

PACKAGES = ("nardy_ai", "numpy", "numba", "torch", "gnubg-nn", "bgsage")


class Disagreement(Exception):
    """Work that does not count what it must: no time is worth printing."""


@dataclass(frozen=True)
class Contestant:
    """One way to do the work.

    run: does the k-th piece of it (k from 0) and returns how many units that was. units: how many that must be each
    time; None where it varies. threads: how many cores it can use.
    """

    name: str
    run: Callable[[int], int]
    units: int | None = None
    threads: int = 1


@dataclass(frozen=True)
class Figure:
    """What was measured of one contestant, a value for each turn.

    cores: processor time over time passed in each turn, empty where it is not known. It is `threads` on a machine
    without other work.
    """

    name: str
    values: tuple[float, ...]
    cores: tuple[float, ...] = ()
    threads: int = 1

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)


@dataclass(frozen=True)
class Table:
    """Figures that belong together; ratios are to the first. work: what was done, and who agreed on how much it is."""

    task: str
    title: str
    unit: str
    figures: tuple[Figure, ...]
    work: str


def take_turns(contestants: Sequence[Contestant], *, rounds: int) -> tuple[Figure, ...]:
    """The rates of the contestants, units a second, in `rounds` turns each. Raises Disagreement."""
    done = [0] * len(contestants)
    repeats = [1] * len(contestants)
    values: list[list[float]] = [[] for _ in contestants]
    cores: list[list[float]] = [[] for _ in contestants]

    def turn(i: int) -> tuple[float, float, float]:
        """Units, seconds and seconds of processor time of one turn."""
        units = 0
        start, start_cpu = time.perf_counter(), time.process_time()
        for _ in range(repeats[i]):
            units += _checked_units(contestants[i], done[i])
            done[i] += 1
        return units, time.perf_counter() - start, time.process_time() - start_cpu

    for i in range(len(contestants)):
        turn(i)  # warm up: compiled code, caches
        repeats[i] = max(1, round(SECONDS / turn(i)[1]))
    for _ in range(rounds):
        for i in range(len(contestants)):
            units, seconds, cpu = turn(i)
            values[i].append(units / seconds)
            cores[i].append(cpu / seconds)
    return tuple(
        Figure(one.name, tuple(rates), tuple(busy), one.threads)
        for one, rates, busy in zip(contestants, values, cores, strict=True)
    )


def _checked_units(contestant: Contestant, k: int) -> int:
    units = contestant.run(k)
    if contestant.units is not None and units != contestant.units:
        raise Disagreement(f"{contestant.name} counts {units:,} in its run {k}; expected {contestant.units:,}")
    return units


@contextmanager
def pinned(n: int) -> Iterator[None]:
    """Run on the first `n` cores that this process may use; where the system knows no pinning, on any."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(allowed)[:n]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Machine:
    """Where it is measured. load: programs that ran or waited, on average over the last minute; None if unknown."""

    processor: str
    cores: int
    load: float | None
    python: str
    packages: dict[str, str]

    @property
    def is_busy(self) -> bool:
        """Whether others leave fewer than the two cores that the tasks use at most."""
        return self.load is not None and self.load + 2 > max(self.cores, 2) + 0.5


def this_machine() -> Machine:
    """The machine as it is now."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Machine(_processor(), usable_cores(), load, platform.python_version(), found)


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text(encoding="utf-8").splitlines() if described.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Does learning work at all? Two small questions that a broken sign, swapped row or frozen dice cannot pass.

1. A race of two checkers a side is learned for a few seconds and compared with exact win chances, worked out here by
   recursion over all rolls and plays of the slow reference generator.
2. A short run under the rules at hand must beat random play by a margin.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import OFF, SLOTS, Boards
from nardy_ai.bots import load_bot
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.movegen.reference import plays
from nardy_ai.outcomes import class_count
from nardy_ai.play.arena import play_pairs
from nardy_ai.rules import MatchOptions, Preset, RuleSet, find_preset
from nardy_ai.train.config import BenchmarkConfig, NetworkConfig, OptimConfig, PlayConfig, TrainConfig
from nardy_ai.train.loop import Run, Watcher

RACE = RuleSet(name="race of two", start={5: 2}, checkers=2, scoring="oin")
_RACE = Preset(RACE, MatchOptions(opening="reroll"))
RACE_GAMES = 80_000
RACE_ERROR = 0.12
"""Most root mean square error of win chances. Healthy runs end at 0.05 to 0.08; runs with targets not swapped (0.82),
rows shifted (0.28), or dice that are frozen (0.35) or the same in all games (0.26) end far above."""

RANDOM_GAMES = 2_000
RANDOM_PAIRS = 200
RANDOM_MARGIN = 0.5
"""Least points a game against random play after the short run."""


def self_check(config: TrainConfig, *, device: str) -> Iterator[str]:
    """Run both checks and yield what is wrong in plain words, nothing if all is well. Takes some seconds."""
    with TemporaryDirectory() as folder:
        error = race_error(Path(folder) / "race", config.seed, device=device)
        if error > RACE_ERROR:
            yield (
                f"learning looks broken: after {RACE_GAMES} games of a two-checker race the win chances are off by"
                f" {error:.3f} (root mean square against exact values); at most {RACE_ERROR} is expected"
            )
        points, spread = random_margin(Path(folder) / "short", config, device=device)
        if points < RANDOM_MARGIN:
            yield (
                f"learning looks broken: after {RANDOM_GAMES} games the bot makes {points:+.2f} points a game"
                f" (standard error {spread:.2f}) against random play; at least {RANDOM_MARGIN:+.2f} is expected"
            )


def race_error(folder: Path, seed: int, *, device: str) -> float:
    """The root mean square error of win chances in the race of two after `RACE_GAMES` games."""
    run = _small_run(folder, seed, device, _RACE, RACE_GAMES)
    boards, exact = exact_race()
    half = class_count(RACE) // 2
    learned = run.network(averaged=True).outcomes(boards)[:, :half].sum(axis=1)
    return float(np.sqrt(((learned - exact) ** 2).mean()))


def random_margin(folder: Path, config: TrainConfig, *, device: str) -> tuple[float, float]:
    """Points a game against random play, with standard error, after `RANDOM_GAMES` games under the config's rules."""
    run = _small_run(folder, config.seed, device, find_preset(config.rules), RANDOM_GAMES)
    random = load_bot("random", run.rules)
    report = play_pairs(
        run.network(averaged=True), random, run.rules, run.match, pairs=RANDOM_PAIRS, seed=config.seed, workers=2
    )
    return report.points, report.standard_error


def _small_run(folder: Path, seed: int, device: str, preset: Preset, games: int) -> Run:
    config = TrainConfig(
        rules=preset.rules.name,
        games=games,
        seed=seed,
        save_seconds=1e9,
        network=NetworkConfig(units=64, hidden=16),
        optim=OptimConfig(lr=3e-3, final_lr=3e-4, batch=256, average=0.99),
        play=PlayConfig(lanes=256, trace=0.7, wild_share=0.5, wild_plies=4),
        benchmark=BenchmarkConfig(against=()),
    )
    run = Run(folder, config, device=device, preset=preset)
    run.train(Watcher())
    return run


@cache
def exact_race() -> tuple[Boards, NDArray[np.float64]]:
    """Every board of `RACE` with both sides on 1..5 and its exact chance that the side on roll wins."""
    hands = [(high, low) for high in range(1, 6) for low in range(high + 1)]
    pairs = [(mine, his) for mine in hands for his in hands]
    boards = np.stack([_board(mine, his) for mine, his in pairs])
    return boards, np.array([_win_chance(mine, his) for mine, his in pairs])


def _board(mine: tuple[int, int], his: tuple[int, int]) -> Boards:
    board = np.zeros((2, SLOTS), dtype=np.int8)
    for side, hand in enumerate((mine, his)):
        for point in hand:
            board[side, point] += 1
    return board


@cache
def _win_chance(mine: tuple[int, int], his: tuple[int, int]) -> float:
    """The chance that the side on roll gets both checkers off first, each side choosing its best play."""
    chance = 0.0
    for dice, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
        best = 0.0
        for play in plays(_board(mine, his), dice, RACE):
            if play.board[0, OFF] == RACE.checkers:
                best = 1.0
                break
            left = tuple(sorted(np.repeat(np.arange(SLOTS), play.board[0]).tolist(), reverse=True))
            best = max(best, 1 - _win_chance(his, (left[0], left[1])))
        chance += weight * best
    return chance

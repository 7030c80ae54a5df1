"""The training loop: self-play in one thread, learning in another, both the same to the last bit every time.

A round plays a window with the weights of its start while the window before it is learned. Every `DRAIN_ROUNDS` rounds
the pipeline is emptied, whether or not there is anything to do then; only there is the state saved or a benchmark
played, so that neither changes what is learned. Killed at any moment, a run resumes from its last state and ends
with the same weights as one that was never stopped.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nardy_ai import __version__
from nardy_ai.bot_file import save_bot
from nardy_ai.bots import load_bot
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import Network
from nardy_ai.files import sole_use
from nardy_ai.play.arena import play_pairs
from nardy_ai.play.lockstep import Lanes, new_lanes
from nardy_ai.play.selfplay import Window, play_window
from nardy_ai.rules import Preset, find_preset, rules_to_dict
from nardy_ai.train.config import TrainConfig, config_from, config_to_dict
from nardy_ai.train.learner import Learner, choose_device
from nardy_ai.train.state import State, load_state, save_state
from nardy_ai.train.targets import td_targets

DRAIN_ROUNDS = 16
BENCHMARK_SEED = 20_000_000
GOLDEN = 16

STATE_FILE = "state.safetensors"
BOT_FILE = "bot.safetensors"
METRICS_FILE = "metrics.jsonl"
CONFIG_FILE = "config.json"
LOCK_FILE = ".lock"


@dataclass
class Watcher:
    """What a run tells whoever watches, and how it is asked to stop. The command line fills this in."""

    on_games: Callable[[int], None] = lambda games: None
    on_metrics: Callable[[Mapping[str, Any]], None] = lambda metrics: None
    stop: bool = False


@dataclass(frozen=True)
class Result:
    """How a run ended: `finished` or stopped, with its bot's file and the last benchmark."""

    finished: bool
    games: int
    bot: Path
    benchmark: Mapping[str, Any] = field(default_factory=dict)


class Run:
    """One training run in a folder: its config, learner, running games and files."""

    def __init__(
        self, folder: Path, config: TrainConfig, *, device: str = "auto", preset: Preset | None = None
    ) -> None:
        """preset: in place of the one that `config.rules` names."""
        self.folder = folder
        self.config = config
        preset = preset or find_preset(config.rules)
        self.rules, self.match = preset.rules, preset.match
        self.opponents = [load_bot(name, self.rules) for name in config.benchmark.against]
        self.device = choose_device(device)
        self.learner = Learner(self.rules, config.network, config.optim, seed=config.seed, device=self.device)
        self.lanes: Lanes = new_lanes(self.rules, config.play.lanes)
        self.rounds = 0
        self.benchmarks = 0
        self.seconds = 0.0
        self.metrics_bytes = 0

    @classmethod
    def resumed(cls, folder: Path, *, device: str = "auto") -> "Run":
        """The run in `folder`, where its last state left it. Raises ConfigError."""
        state = load_state(folder / STATE_FILE)
        run = cls(folder, config_from(state.config), device=device)
        if run.rules != state.rules:
            raise ConfigError(f"the rules {run.config.rules!r} have changed since {folder} was begun with them")
        run.learner.load_state(state.learner, int(state.counters["steps"]))
        run.lanes = state.lanes
        run.rounds = int(state.counters["rounds"])
        run.benchmarks = int(state.counters["benchmarks"])
        run.seconds = state.counters["seconds"]
        run.metrics_bytes = int(state.counters["metrics_bytes"])
        return run

    @property
    def games(self) -> int:
        """Games ended so far."""
        return self.lanes.next_game - self.config.play.lanes

    @property
    def progress(self) -> float:
        """The share of the run that is done."""
        return min(self.games / self.config.games, 1.0)

    def network(self, *, averaged: bool) -> Network:
        """The network as it is, or the running average that becomes the bot."""
        weights = self.learner.averaged_weights() if averaged else self.learner.network.weights()
        network = self.learner.network
        return Network(self.folder.name, self.rules, network.features, weights, network.phases, network.activation)

    def train(self, watcher: Watcher) -> Result:
        """Play and learn until the config's games are done or `watcher.stop` is set. Saves state and bot."""
        torch.set_num_threads(1)
        self.folder.mkdir(parents=True, exist_ok=True)
        with sole_use(self.folder / LOCK_FILE):
            return self._train(watcher)

    def _train(self, watcher: Watcher) -> Result:
        self._cut_metrics()
        if self.rounds == 0:
            self.save()  # so that a run can be resumed whenever it is killed
        saved = time.monotonic()
        latest: Mapping[str, Any] = {}
        with ThreadPoolExecutor(1) as pool:
            while self.progress < 1 and not watcher.stop:
                metrics = self._stretch(pool, watcher)
                self._record(metrics, watcher)
                if self.progress >= min((self.benchmarks + 1) * self.config.benchmark.every, 1.0):
                    latest = self._benchmark()
                    self._record(latest, watcher)
                if time.monotonic() - saved >= self.config.save_seconds:
                    self.save()
                    saved = time.monotonic()
        self.save()
        return Result(self.progress >= 1, self.games, self.folder / BOT_FILE, latest)

    def _cut_metrics(self) -> None:
        """Drop what was written after the state, which will be written again, and half a line that a crash left."""
        path = self.folder / METRICS_FILE
        content = path.read_bytes()[: self.metrics_bytes] if path.exists() else b""
        content = content[: content.rfind(b"\n") + 1]
        path.write_bytes(content)
        self.metrics_bytes = len(content)

    def save(self) -> None:
        """Write the resumable state and the bot, each in one step."""
        counters = {
            "steps": self.learner.steps,
            "rounds": self.rounds,
            "benchmarks": self.benchmarks,
            "seconds": self.seconds,
            "metrics_bytes": self.metrics_bytes,
        }
        state = State(self.lanes, self.learner.state(), counters, config_to_dict(self.config), self.rules)
        save_state(self.folder / STATE_FILE, state)
        card = {
            "games": self.games,
            "seconds": round(self.seconds),
            "machine": machine(),
            "device": self.device.type,
            "version": __version__,
            "config": config_to_dict(self.config),
        }
        golden = self.lanes.boards[:GOLDEN]
        save_bot(self.folder / BOT_FILE, self.network(averaged=True), golden=golden, card=card)

    def _stretch(self, pool: ThreadPoolExecutor, watcher: Watcher) -> dict[str, Any]:
        """`DRAIN_ROUNDS` rounds, or fewer at the end, and what came of them."""
        began, games = time.monotonic(), self.games
        losses: list[float] = []
        positions = evaluations = 0
        waiting: Window | None = None
        for _ in range(DRAIN_ROUNDS):
            playing = self._play(pool)
            if waiting is not None:
                losses += self._learn(waiting)
            before = self.games
            self.lanes, waiting = playing.result()
            self.rounds += 1
            positions += waiting.ended.size
            evaluations += waiting.evaluations
            watcher.on_games(self.games - before)
            if self.progress >= 1:
                break
        if waiting is not None:
            losses += self._learn(waiting)
        seconds = time.monotonic() - began
        self.seconds += seconds
        return {
            "games": self.games,
            "seconds": round(self.seconds, 3),
            "loss": float(np.mean(losses)),
            "lr": self.learner.rate(self.progress),
            "games_per_second": round((self.games - games) / seconds, 1),
            "positions_per_second": round(positions / seconds),
            "evaluations_per_second": round(evaluations / seconds),
        }

    def _play(self, pool: ThreadPoolExecutor) -> Future[tuple[Lanes, Window]]:
        play = self.config.play
        return pool.submit(
            play_window,
            self.network(averaged=False),
            self.lanes,
            plies=play.window,
            seed=self.config.seed,
            opening=self.match.opening,
            wild_share=play.wild_share,
            wild_plies=play.wild_plies,
        )

    def _learn(self, window: Window) -> list[float]:
        """The losses of the steps that a window is worth. Plays that chance chose are no evidence and are left out."""
        keep = ~window.random.reshape(-1)
        boards = window.boards.reshape(-1, *window.boards.shape[2:])[keep]
        targets = td_targets(window, self.config.play.trace).reshape(len(keep), -1)[keep]
        batch = self.config.optim.batch
        return [
            self.learner.learn(boards[k : k + batch], targets[k : k + batch], self.progress)
            for k in range(0, len(boards), batch)
        ]

    def _benchmark(self) -> dict[str, Any]:
        """Points a game against each baseline, on dice that no training game has."""
        self.benchmarks = int(self.progress / self.config.benchmark.every)
        bot = self.network(averaged=True)
        results = {}
        for name, opponent in zip(self.config.benchmark.against, self.opponents, strict=True):
            report = play_pairs(
                bot,
                opponent,
                self.rules,
                self.match,
                pairs=self.config.benchmark.pairs,
                seed=self.config.seed + BENCHMARK_SEED,
                workers=2,
            )
            results[name] = {"points": round(report.points, 4), "standard_error": round(report.standard_error, 4)}
        return {"games": self.games, "seconds": round(self.seconds, 3), "benchmark": results}

    def _record(self, metrics: Mapping[str, Any], watcher: Watcher) -> None:
        with (self.folder / METRICS_FILE).open("ab") as file:
            self.metrics_bytes += file.write(json.dumps(metrics).encode() + b"\n")
        watcher.on_metrics(metrics)


def start_run(folder: Path, config: TrainConfig, *, device: str = "auto") -> Run:
    """A new run in `folder`, which must not hold one. Raises ConfigError, RulesError."""
    if (folder / STATE_FILE).exists() or (folder / METRICS_FILE).exists():
        raise ConfigError(f"{folder} holds a training run already; resume it with --resume, or name another folder")
    if config.rules.endswith(".toml"):
        config = replace(config, rules=str(Path(config.rules).resolve()))
    run = Run(folder, config, device=device)
    folder.mkdir(parents=True, exist_ok=True)
    resolved = {"config": config_to_dict(config), "rules": rules_to_dict(run.rules)}
    (folder / CONFIG_FILE).write_text(json.dumps(resolved, ensure_ascii=False, indent=2), encoding="utf-8")
    return run


def machine() -> str:
    """What ran this, in a few words."""
    return f"{platform.machine()} {platform.system()}, {os.cpu_count()} cores"

"""Fits: a network learns labels that lie on disk, as often as its recipe says. Resumable like a training.

The order of the labels is a pure function of the seed, and a share of them is held out and never learned. A killed fit
is taken up from its last state and ends with the same weights as one that was never stopped.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_ai import __version__
from nardy_ai.bot_file import BotFile, read_bot, save_bot
from nardy_ai.dice import hash_at
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import Network
from nardy_ai.files import replace_text, sole_use
from nardy_ai.resources import find_checkpoint
from nardy_ai.tensors import TensorsError, read_tensors, write_tensors
from nardy_ai.train.config import FitConfig, config_to_dict, fit_config_from
from nardy_ai.train.labels import Labels, plain_name, read_labels, rms_of_equity
from nardy_ai.train.learner import Learner, choose_device
from nardy_ai.train.loop import BOT_FILE, CONFIG_FILE, GOLDEN, LOCK_FILE, METRICS_FILE, STATE_FILE, machine

FORMAT = "nardy_ai fit state 1"
STRETCH = 200
"""Steps between two looks at the clock and at whether to stop."""

_HELD_OUT_STREAM = 0x4E1D
_ORDER_STREAM = 0x0DE5
_MOST_HELD_OUT = 50_000


@dataclass
class FitWatcher:
    """What a fit tells whoever watches, and how it is asked to stop."""

    on_steps: Callable[[int], None] = lambda steps: None
    on_metrics: Callable[[Mapping[str, Any]], None] = lambda metrics: None
    stop: bool = False


@dataclass
class Fit:
    """One fit in a folder."""

    folder: Path
    config: FitConfig
    learner: Learner
    labels: Labels
    learned: NDArray[np.int64]
    held_out: NDArray[np.int64]
    steps: int = 0
    seconds: float = 0.0
    _losses: list[float] = field(default_factory=list)
    _epoch: int = -1
    _order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def begun(cls, folder: Path, config: FitConfig, *, device: str = "auto") -> "Fit":
        """A new fit in `folder`, which must not hold a run. Raises ConfigError, BotError."""
        if (folder / STATE_FILE).exists() or (folder / METRICS_FILE).exists():
            raise ConfigError(f"{folder} holds a run already; resume it with --resume, or name another folder")
        config = replace(config, labels=tuple(str(Path(name).resolve()) for name in config.labels))
        fit = cls._made(folder, config, device)
        if config.start:
            fit.learner.begin_with(_start_bot(config.start).network)
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / CONFIG_FILE, json.dumps({"config": config_to_dict(config)}, indent=2))
        return fit

    @classmethod
    def resumed(cls, folder: Path, *, device: str = "auto") -> "Fit":
        """The fit in `folder`, where its last state left it. Raises ConfigError."""
        try:
            arrays, texts = read_tensors(folder / STATE_FILE)
            if texts.get("format") != FORMAT:
                raise ConfigError(f"{folder / STATE_FILE}: is no state of a fit")
            counters = json.loads(texts["counters"])
            fit = cls._made(folder, fit_config_from(json.loads(texts["config"])), device)
            if fit.digest != texts["labels"]:
                raise ConfigError(f"the labels of {folder} have changed since it was begun with them")
            fit.learner.load_state(arrays, int(counters["steps"]))
            fit.steps, fit.seconds = int(counters["steps"]), float(counters["seconds"])
        except (TensorsError, KeyError, TypeError, ValueError) as error:
            raise error if isinstance(error, ConfigError) else ConfigError(f"{folder}: {error}") from error
        return fit

    @classmethod
    def _made(cls, folder: Path, config: FitConfig, device: str) -> "Fit":
        labels = read_labels([Path(name) for name in config.labels])
        bits = hash_at(config.seed + _HELD_OUT_STREAM, np.arange(len(labels.boards)), 0)
        out = (bits >> np.uint64(40)).astype(np.float64) < config.held_out * 2.0**24
        learned, held_out = np.flatnonzero(~out), np.flatnonzero(out)[:_MOST_HELD_OUT]
        if len(learned) < config.optim.batch:
            raise ConfigError(f"{len(learned)} labels are fewer than a step of {config.optim.batch}")
        learner = Learner(labels.rules, config.network, config.optim, seed=config.seed, device=choose_device(device))
        return cls(folder, config, learner, labels, learned, held_out)

    @property
    def digest(self) -> str:
        """What tells these labels from others."""
        return json.dumps([len(self.labels.boards), *self.labels.sources], sort_keys=True)

    def network(self) -> Network:
        """The running average of the weights."""
        network = self.learner.network
        return Network(
            self.folder.name,
            self.labels.rules,
            network.features,
            self.learner.averaged_weights(),
            network.phases,
            network.activation,
        )

    def train(self, watcher: FitWatcher) -> bool:
        """Learn until all steps are done, or `watcher.stop`. Saves state and bot. Returns whether it is done."""
        torch.set_num_threads(1)
        with sole_use(self.folder / LOCK_FILE):
            saved = time.monotonic()
            self._cut_metrics()
            if self.steps == 0:
                self._record(watcher)
                self.save()
            while self.steps < self.config.steps and not watcher.stop:
                before, began = self.steps, time.monotonic()
                until = min(self.steps + STRETCH, self.config.steps)
                while self.steps < until:
                    self._step()
                self.seconds += time.monotonic() - began
                watcher.on_steps(self.steps - before)
                every = max(1, round(self.config.report * self.config.steps))
                if self.steps // every > before // every or self.steps == self.config.steps:
                    self._record(watcher)
                if time.monotonic() - saved >= self.config.save_seconds:
                    self.save()
                    saved = time.monotonic()
            self.save()
        return self.steps >= self.config.steps

    def _step(self) -> None:
        batch = self.config.optim.batch
        epoch, place = divmod(self.steps, len(self.learned) // batch)
        if epoch != self._epoch:
            rng = np.random.default_rng([self.config.seed + _ORDER_STREAM, epoch])
            self._epoch, self._order = epoch, self.learned[rng.permutation(len(self.learned))]
        rows = self._order[place * batch : (place + 1) * batch]
        loss = self.learner.learn(self.labels.boards[rows], self.labels.outcomes[rows], self.steps / self.config.steps)
        self._losses.append(loss)
        self.steps += 1

    def _cut_metrics(self) -> None:
        """Drop what was written after the state, which will be written again, and half a line that a crash left."""
        path = self.folder / METRICS_FILE
        whole = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        kept = [line for line in whole if line.endswith("\n") and json.loads(line)["steps"] <= self.steps]
        replace_text(path, "".join(kept if self.steps else []))

    def _record(self, watcher: FitWatcher) -> None:
        """The rms error of equity on labels held out, a line of the metrics."""
        boards, wanted = self.labels.boards[self.held_out], self.labels.outcomes[self.held_out]
        error = rms_of_equity(self.network().outcomes(boards), wanted, self.labels.rules) if len(boards) else None
        metrics = {
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "loss": float(np.mean(self._losses)) if self._losses else None,
            "lr": self.learner.rate(self.steps / self.config.steps),
            "held_out_rms": error,
        }
        self._losses.clear()
        with (self.folder / METRICS_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(metrics) + "\n")
        watcher.on_metrics(metrics)

    def save(self) -> None:
        """Write the resumable state and the bot, each in one step."""
        texts = {
            "format": FORMAT,
            "counters": json.dumps({"steps": self.steps, "seconds": self.seconds}),
            "config": json.dumps(config_to_dict(self.config)),
            "labels": self.digest,
        }
        write_tensors(self.folder / STATE_FILE, self.learner.state(), texts, check=read_tensors)
        config = config_to_dict(self.config)
        config["labels"] = [Path(name).name for name in self.config.labels]
        config["start"] = plain_name(self.config.start)
        start = {}
        if self.config.start:
            start = {"start": {"name": plain_name(self.config.start), "card": dict(_start_bot(self.config.start).card)}}
        card = {
            "labels": len(self.learned),
            "sources": list(self.labels.sources),
            "steps": self.steps,
            "seconds": round(self.seconds),
            "machine": machine(),
            "device": self.learner.network.first.device.type,
            "version": __version__,
            "config": config,
        } | start
        golden = self.labels.boards[self.learned[:GOLDEN]]
        save_bot(self.folder / BOT_FILE, self.network(), golden=golden, card=card)


def _start_bot(name: str) -> BotFile:
    """The bot that a fit begins with: a shipped one or a file. Raises BotError."""
    return read_bot(find_checkpoint(name) or Path(name))

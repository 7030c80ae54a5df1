"""Pruning nets learned: which plays a bot thinks best, guessed by a net a hundredth of its size.

The bot plays games, some from awkward boards or with plies by chance, and what it thinks of every play of every roll is
what is learned: differences between the plays of one roll, those near the best most of all.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.bot_file import read_bot, save_bot
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import Network
from nardy_ai.evaluators.pruning import PruningNet, PruningWeights
from nardy_ai.features import COUNTS, STEPS
from nardy_ai.play.sampling import turns_of
from nardy_ai.rules import MatchOptions, match_options_of
from nardy_ai.train.config import PruningConfig
from nardy_ai.train.first_layer import first_units

__all__ = ["PruningWatcher", "learn_pruning", "with_pruning"]

_ROLLS = 256
"""A step learns from so many rolls."""

_NEAR = 0.03
"""An error counts by one over this many points more than what the play is worse than the best."""

_WARM, _LEVEL = 0.03, 0.3
"""Shares of the steps in which the rate rises from nothing, and up to which it then stays."""

_WILD_SHARE, _WILD_PLIES, _AWKWARD_SHARE = 0.1, 30, 0.25
_STRETCH = 20


@dataclass
class PruningWatcher:
    """What the learning tells whoever watches, and how it is asked to stop."""

    on_steps: Callable[[int], None] = lambda steps: None
    stop: bool = False


@dataclass(frozen=True)
class _Rolls:
    """R rolls with more than one play. plays: `int8[M, 52]`, the boards after them; values: `float32[M]`, what they are
    worth; phases: `int64[M]`, of the boards before them; offsets: `int64[R + 1]`.
    """

    plays: NDArray[np.int8]
    values: NDArray[np.float32]
    phases: NDArray[np.int64]
    offsets: NDArray[np.int64]


def learn_pruning(
    bot: Network, match: MatchOptions, config: PruningConfig, watcher: PruningWatcher
) -> tuple[PruningNet, dict[str, Any]] | None:
    """A pruning net for a network, and what its card shall say of it; None where it was asked to stop."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    began = time.monotonic()
    rolls = _played(bot, match, config, watcher)
    if rolls is None:
        return None
    net = _Net(bot.phases.count(bot.rules.board), config)
    near = 1 / (_NEAR + _behind(rolls))
    weights = torch.from_numpy((near / near.mean()).astype(np.float32))
    rng = np.random.default_rng(config.seed)
    for step in range(config.steps):
        if watcher.stop:
            return None
        net.learn(rolls, weights, rng.integers(0, len(rolls.offsets) - 1, size=_ROLLS), _rate(step / config.steps))
        if (step + 1) % _STRETCH == 0 or step + 1 == config.steps:
            watcher.on_steps(step % _STRETCH + 1)
    card = asdict(config) | {"seconds": round(time.monotonic() - began, 1)}
    return PruningNet(bot.rules, bot.phases, net.weights()), card


def with_pruning(
    source: Path, target: Path, config: PruningConfig, watcher: PruningWatcher
) -> Mapping[str, Any] | None:
    """Write the bot of a file to `target`, whole or not at all, with a pruning net learned for it.

    Returns what its card says of the net; None where it was asked to stop, and nothing is written. Raises BotError,
    ConfigError, OSError.
    """
    bot = read_bot(source)
    learned = learn_pruning(bot.network, match_options_of(bot.network.rules), config, watcher)
    if learned is None:
        return None
    pruning, card = learned
    save_bot(target, replace(bot.network, pruning=pruning), golden=bot.golden, card={**bot.card, "pruning": card})
    return card


def _played(bot: Network, match: MatchOptions, config: PruningConfig, watcher: PruningWatcher) -> _Rolls | None:
    """The rolls of the games; None where it was asked to stop."""
    plays: list[Boards] = []
    values, phases, counts = [], [], []
    for turn in turns_of(
        bot, match, range(config.games), seed=config.seed, wild_share=_WILD_SHARE, wild_plies=_WILD_PLIES,
        awkward_share=_AWKWARD_SHARE,
    ):  # fmt: skip
        if watcher.stop:
            return None
        number = turn.after.counts()
        choice = number > 1
        rows = np.repeat(choice, number)
        plays.append(turn.after.boards[rows].reshape(-1, COUNTS))
        values.append(turn.values[rows])
        phases.append(np.repeat(bot.phases.of(turn.boards, bot.rules.board), number)[rows])
        counts.append(number[choice])
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(counts))))
    if len(offsets) == 1:
        raise ConfigError(f"{config.games} games have no roll with more than one play; take more")
    return _Rolls(np.concatenate(plays), np.concatenate(values), np.concatenate(phases), offsets)


def _behind(rolls: _Rolls) -> NDArray[np.float32]:
    """By how much each play is worse than the best of its roll, `float32[M]`."""
    best = np.maximum.reduceat(rolls.values, rolls.offsets[:-1])
    behind: NDArray[np.float32] = np.repeat(best, np.diff(rolls.offsets)) - rolls.values
    return behind


def _rate(done: float) -> float:
    """The share of the first rate that holds when a share of the steps is done: up, level, then a half cosine down."""
    return min(1.0, (done + 1e-4) / _WARM) * (1 + float(np.cos(np.pi * max(0.0, (done - _LEVEL) / (1 - _LEVEL))))) / 2


class _Net:
    """`PruningNet` in torch, with what learns it."""

    def __init__(self, phases: int, config: PruningConfig) -> None:
        generator = torch.Generator().manual_seed(config.seed)

        def uniform(*size: int, reach: float) -> torch.nn.Parameter:
            return torch.nn.Parameter((torch.rand(*size, generator=generator) * 2 - 1) * reach)

        self.first = uniform(COUNTS * STEPS.shape[1], config.units, reach=40**-0.5)
        self.bias = torch.nn.Parameter(torch.zeros(config.units))
        # What all phases share, and what each has of its own on top: a rare phase learns from the others.
        self.shared = uniform(config.units, reach=0.3)
        self.out = torch.nn.Parameter(torch.zeros(phases, config.units))
        self.lr = config.lr
        self.optimiser = torch.optim.Adam([self.first, self.bias, self.shared, self.out], lr=config.lr)

    def learn(self, rolls: _Rolls, weights: torch.Tensor, which: NDArray[np.int64], rate: float) -> None:
        """One step on these rolls. weights: `float32[M]`, how much an error of each play counts."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.lr * rate
        starts, counts = rolls.offsets[which], rolls.offsets[which + 1] - rolls.offsets[which]
        rows = np.repeat(starts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(counts.sum())
        segments = torch.from_numpy(np.repeat(np.arange(len(which)), counts))
        weight = weights[rows]
        error = self._scores(rolls.plays[rows], rolls.phases[rows]) - torch.from_numpy(rolls.values[rows])
        total = torch.zeros(2, len(which)).index_add_(1, segments, torch.stack((error * weight, weight)))
        loss = (weight * (error - (total[0] / total[1])[segments]).square()).mean()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()

    def _scores(self, plays: NDArray[np.int8], phases: NDArray[np.int64]) -> torch.Tensor:
        none, nothing = torch.empty(0, 0), torch.empty(len(plays), 0)
        units = first_units(self.first, self.bias, none, torch.from_numpy(plays), nothing, True)
        return (units * (self.shared + self.out[torch.from_numpy(phases)])).sum(dim=1)

    def weights(self) -> PruningWeights:
        """The numbers as the fast path takes them."""
        arrays = (value.detach().numpy().copy() for value in (self.first, self.bias, self.shared + self.out))
        return PruningWeights(*arrays)

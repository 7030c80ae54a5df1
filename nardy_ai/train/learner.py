"""The network in torch, and one step of learning. The only module that needs torch."""

from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards, is_race
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import PHASES, Weights
from nardy_ai.features import STEPS, encode, find_features
from nardy_ai.rules import RuleSet
from nardy_ai.train.config import NetworkConfig, OptimConfig

_IMPOSSIBLE = -1e9


def choose_device(name: str) -> torch.device:
    """`auto` (a GPU if there is one), `cpu` or `cuda`. Raises ConfigError where cuda is asked for and absent."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device cuda: torch finds no GPU here; use --device cpu or auto")
    if name not in ("auto", "cpu", "cuda"):
        raise ConfigError(f"device {name!r}; expected auto, cpu or cuda")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu")


class TorchNetwork(torch.nn.Module):
    """The same function as `evaluators.network.Network`, with gradients."""

    def __init__(self, rules: RuleSet, shape: NetworkConfig, seed: int) -> None:
        super().__init__()
        self.rules = rules
        self.features = find_features(shape.features)
        dense = self.features.slots * STEPS.shape[1]
        classes = oc.class_count(rules)
        generator = torch.Generator().manual_seed(seed)

        def uniform(*size: int, inputs: int) -> torch.nn.Parameter:
            values = torch.rand(*size, generator=generator) * 2 - 1
            return torch.nn.Parameter(values / inputs**0.5)

        # About 40 of the inputs of a board are not 0; the scale follows what is seen, not what there is.
        self.first = uniform(dense, shape.units, inputs=40)
        self.first_bias = torch.nn.Parameter(torch.zeros(shape.units))
        self.second = uniform(len(PHASES), shape.hidden, shape.units, inputs=shape.units // 4)
        self.second_bias = torch.nn.Parameter(torch.zeros(len(PHASES), shape.hidden))
        self.third = torch.nn.Parameter(torch.zeros(len(PHASES), classes, shape.hidden))
        self.third_bias = torch.nn.Parameter(torch.zeros(len(PHASES), classes))

    def logits(self, dense: torch.Tensor, race: torch.Tensor) -> torch.Tensor:
        """`float32[N, K]` before masking. dense: `float32[N, S * F]`. race: `bool[N]`."""
        units = torch.relu(torch.addmm(self.first_bias, dense, self.first))
        contact, passed = (self._head(units, phase) for phase in range(len(PHASES)))
        return torch.where(race[:, None], passed, contact)

    def _head(self, units: torch.Tensor, phase: int) -> torch.Tensor:
        hidden = torch.relu(torch.addmm(self.second_bias[phase], units, self.second[phase].T))
        return torch.addmm(self.third_bias[phase], hidden, self.third[phase].T)

    def masked(self, boards: Boards) -> torch.Tensor:
        """Logits `float32[N, K]` of boards, the impossible classes far below all others."""
        device = self.first.device
        dense = torch.from_numpy(encode(self.features.inputs(boards, self.rules))).to(device)
        race = torch.from_numpy(is_race(boards, self.rules.board)).to(device)
        possible = torch.from_numpy(oc.possible(boards, self.rules)).to(device)
        return self.logits(dense, race).masked_fill(~possible, _IMPOSSIBLE)

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        """The chances of the K classes for row 0 of boards not finished, `float32[N, K]`."""
        with torch.no_grad():
            return cast(NDArray[np.float32], torch.softmax(self.masked(boards), dim=1).cpu().numpy())

    def weights(self) -> Weights:
        """The numbers as the fast path takes them."""
        arrays = {name: value.detach().cpu().numpy().copy() for name, value in self.named_parameters()}
        return Weights(**arrays)


class Learner:
    """A network, its optimiser and the running average of its weights."""

    def __init__(
        self, rules: RuleSet, shape: NetworkConfig, optim: OptimConfig, *, seed: int, device: torch.device
    ) -> None:
        torch.set_flush_denormal(True)
        self.network = TorchNetwork(rules, shape, seed).to(device)
        self.optim = optim
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=optim.lr, fused=True)
        self.average = {name: value.detach().clone() for name, value in self.network.named_parameters()}
        self.steps = 0

    def rate(self, progress: float) -> float:
        """The learning rate when a share `progress` of the run is done: level, then a half cosine down."""
        optim = self.optim
        into = (progress - (1 - optim.decay_fraction)) / optim.decay_fraction if optim.decay_fraction else 0.0
        return optim.final_lr + (optim.lr - optim.final_lr) * (1 + float(np.cos(np.pi * np.clip(into, 0, 1)))) / 2

    def learn(self, boards: Boards, targets: NDArray[np.float32], progress: float) -> float:
        """One step on boards `int8[N, 2, 26]` and target outcomes `float32[N, K]`. Returns the cross entropy."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(progress)
        wanted = torch.from_numpy(targets).to(self.network.first.device)
        loss = -(wanted * torch.log_softmax(self.network.masked(boards), dim=1)).sum(dim=1).mean()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.steps += 1
        keep = min(self.optim.average, self.steps / (self.steps + 10))
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                self.average[name].lerp_(value, 1 - keep)
        return float(loss.detach())

    def averaged_weights(self) -> Weights:
        """The running average of the weights: what is saved as the bot."""
        return Weights(**{name: value.cpu().numpy().copy() for name, value in self.average.items()})

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Everything that `load_state` needs, as arrays by name."""
        arrays: dict[str, torch.Tensor] = {}
        for name, value in self.network.named_parameters():
            arrays[f"network.{name}"] = value.detach()
            arrays[f"average.{name}"] = self.average[name]
            for key in ("exp_avg", "exp_avg_sq"):
                moment = self.optimiser.state[value].get(key) if value in self.optimiser.state else None
                arrays[f"{key}.{name}"] = torch.zeros_like(value) if moment is None else moment
        return {name: value.detach().cpu().numpy().copy() for name, value in arrays.items()}

    def load_state(self, arrays: dict[str, NDArray[np.float32]], steps: int) -> None:
        """Take up where `state` was written after `steps` steps."""
        self.steps = steps
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                value.copy_(torch.from_numpy(arrays[f"network.{name}"]))
                self.average[name].copy_(torch.from_numpy(arrays[f"average.{name}"]))
                if steps:
                    self.optimiser.state[value] = {
                        "step": torch.tensor(float(steps), device=value.device),
                        "exp_avg": torch.from_numpy(arrays[f"exp_avg.{name}"]).to(value.device),
                        "exp_avg_sq": torch.from_numpy(arrays[f"exp_avg_sq.{name}"]).to(value.device),
                    }

"""The network in torch, and one step of learning. The only module that needs torch."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import accumulate
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.grid import CEILING, MOST_SUM, REAL_BITS, Grid
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.features import STEPS, encode, find_features
from nardy_ai.phases import find_phases
from nardy_ai.rules import RuleSet
from nardy_ai.train.config import NetworkConfig, OptimConfig
from nardy_ai.train.first_layer import first_units
from nardy_ai.train.muon import Muon

MATRICES = ("first", "reals", "shared")
"""The matrices that Muon can learn (`OptimConfig.matrix_lr`); Adam learns the heads and what is no matrix."""

_IMPOSSIBLE = -1e9
_MOMENTS: Mapping[type, tuple[str, ...]] = {
    torch.optim.Adam: ("exp_avg", "exp_avg_sq"),
    Muon: ("momentum_buffer",),
}
"""What each optimiser remembers of a parameter."""


def choose_device(name: str) -> torch.device:
    """`auto` (a GPU if there is one), `cpu` or `cuda`. Raises ConfigError where cuda is asked for and absent."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device cuda: torch finds no GPU here; use --device cpu or auto")
    if name not in ("auto", "cpu", "cuda"):
        raise ConfigError(f"device {name!r}; expected auto, cpu or cuda")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu")


class OneOfLayers(torch.autograd.Function):
    """See `one_of_layers`. Its gradients are written where they belong, without a whole set of zeros for each layer."""

    @staticmethod
    def forward(
        ctx: Any, inputs: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor, counts: list[int]
    ) -> torch.Tensor:
        answers = inputs.new_empty(len(inputs), weights.shape[1])
        for p, rows in _parts(counts):
            torch.addmm(biases[p], inputs[rows], weights[p].T, out=answers[rows])
        ctx.save_for_backward(inputs, weights)
        ctx.counts = counts
        return answers

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, None]:
        inputs, weights = ctx.saved_tensors
        to_inputs, to_weights = torch.empty_like(inputs), torch.zeros_like(weights)
        to_biases = weights.new_zeros(weights.shape[:2])
        for p, rows in _parts(ctx.counts):
            torch.mm(grad[rows], weights[p], out=to_inputs[rows])
            torch.mm(grad[rows].T, inputs[rows], out=to_weights[p])
            torch.sum(grad[rows], dim=0, out=to_biases[p])
        return to_inputs, to_weights, to_biases, None


def _parts(counts: list[int]) -> Iterator[tuple[int, slice]]:
    """The layers that have rows, and these rows."""
    ends = accumulate(counts)
    return ((p, slice(end - n, end)) for p, (n, end) in enumerate(zip(counts, ends, strict=True)) if n)


def one_of_layers(inputs: torch.Tensor, weights: torch.Tensor, biases: torch.Tensor, counts: list[int]) -> torch.Tensor:
    """Linear layers `[P, O, I]` with biases `[P, O]`: the first counts[0] rows of inputs `[N, I]` go through layer 0,
    the next counts[1] through layer 1 and so on. `[N, O]`, with gradients for all three.
    """
    answers: torch.Tensor = OneOfLayers.apply(inputs, weights, biases, counts)  # type: ignore[no-untyped-call]
    return answers


class TorchNetwork(torch.nn.Module):
    """The same function as `evaluators.network.Network`, with gradients.

    grid: None while it learns, with numbers as they are; else all is rounded as the fast path rounds it.
    """

    def __init__(self, rules: RuleSet, shape: NetworkConfig, seed: int) -> None:
        super().__init__()
        self.rules = rules
        self.features = find_features(shape.features)
        self.phases = find_phases(shape.phases)
        self.activation = shape.activation
        self.grid: Grid | None = None
        phases = self.phases.count(rules.board)
        dense = self.features.slots * STEPS.shape[1]
        classes = oc.class_count(rules)
        generator = torch.Generator().manual_seed(seed)

        def uniform(*size: int, inputs: int) -> torch.nn.Parameter:
            values = torch.rand(*size, generator=generator) * 2 - 1
            return torch.nn.Parameter(values / inputs**0.5)

        # About 40 of the inputs of a board are not 0; the scale follows what is seen, not what there is.
        self.first = uniform(dense, shape.units, inputs=40)
        width = shape.seeing if self.features.reals else 0
        self.reals = uniform(self.features.reals, width, inputs=max(self.features.reals, 1))
        self.first_bias = torch.nn.Parameter(torch.zeros(shape.units))
        # What all phases share, and what each has of its own on top: a rare phase learns from the others.
        self.shared = uniform(shape.hidden, shape.units, inputs=shape.units // 4)
        self.second = torch.nn.Parameter(torch.zeros(phases, shape.hidden, shape.units))
        self.second_bias = torch.nn.Parameter(torch.zeros(phases, shape.hidden))
        middle = uniform(shape.middle, shape.hidden, inputs=max(shape.hidden // 3, 1))
        self.middle = torch.nn.Parameter(middle.detach().repeat(phases, 1, 1))
        self.middle_bias = torch.nn.Parameter(torch.zeros(phases, shape.middle))
        self.third = torch.nn.Parameter(torch.zeros(phases, classes, shape.middle or shape.hidden))
        self.third_bias = torch.nn.Parameter(torch.zeros(phases, classes))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Dense inputs, shared units, units of the second and of the middle layer."""
        return len(self.first), len(self.first_bias), len(self.shared), self.middle.shape[1]

    def logits(self, boards: Boards) -> torch.Tensor:
        """`float32[N, K]` before masking."""
        phases = self.phases.of(boards, self.rules.board)
        order = np.argsort(phases, kind="stable")
        inputs = self.features.inputs(boards[order], self.rules)
        reals = torch.from_numpy(self.features.real_inputs(boards[order], self.rules)).to(self.first.device)
        squared = self.activation == "squared"
        if self.first.is_cpu and self.grid is None:
            units = first_units(self.first, self.first_bias, self.reals, torch.from_numpy(inputs), reals, squared)
        else:
            units = self._dense_units(torch.from_numpy(encode(inputs)).to(self.first.device), reals, squared)
        counts = np.bincount(phases, minlength=len(self.second)).tolist()
        hidden = torch.relu(one_of_layers(units, self.shared + self.second, self.second_bias, counts))
        if self.middle.numel():
            hidden = torch.relu(one_of_layers(hidden, self.middle, self.middle_bias, counts))
        logits = one_of_layers(hidden, self.third, self.third_bias, counts)
        return logits[torch.from_numpy(np.argsort(order, kind="stable")).to(logits.device)]

    def _dense_units(self, dense: torch.Tensor, reals: torch.Tensor, squared: bool) -> torch.Tensor:
        """What `first_units` makes of the same inputs, `float32[N, S * F]`, by products."""
        sums = torch.addmm(self.first_bias, dense, self.first)
        before = sums.shape[1] - self.reals.shape[1]
        if self.grid is not None:
            reals = torch.floor(reals * 2**REAL_BITS + 0.5) / 2**REAL_BITS
        whole = torch.cat((sums[:, :before], torch.addmm(sums[:, before:], reals, self.reals)), dim=1)
        if self.grid is not None:
            whole = _floor_to(whole, self.grid.sums).clamp(max=MOST_SUM * 2.0**-self.grid.sums)
        units = whole.clamp(0, CEILING).square() if squared else torch.relu(whole)
        return units if self.grid is None else _floor_to(units, self.grid.units(squared))

    def masked(self, boards: Boards) -> torch.Tensor:
        """Logits `float32[N, K]` of boards, the impossible classes far below all others."""
        possible = torch.from_numpy(oc.possible(boards, self.rules)).to(self.first.device)
        return self.logits(boards).masked_fill(~possible, _IMPOSSIBLE)

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        """The chances of the K classes for row 0 of boards not finished, `float32[N, K]`."""
        with torch.no_grad():
            return cast(NDArray[np.float32], torch.softmax(self.masked(boards), dim=1).cpu().numpy())

    def take(self, weights: Weights, grid: Grid | None = None) -> None:
        """Take over numbers of a network of the same shape, and its grid. What the phases share is their mean."""
        self.grid = grid
        arrays = {entry.name: getattr(weights, entry.name) for entry in fields(Weights)}
        arrays["shared"] = weights.second.mean(axis=0)
        arrays["second"] = weights.second - arrays["shared"]
        with torch.no_grad():
            for name, value in self.named_parameters():
                value.copy_(torch.from_numpy(arrays[name]))

    def grow_from(self, smaller: Network) -> None:
        """Begin as `smaller`, a net of the same rules: its units are the first of each layer, new ones start silent.

        A phase takes over the head that judged most of its boards (`PhaseSet.within`). Raises ConfigError.
        """
        weights, board = smaller.weights, self.rules.board
        slots, units, hidden = len(weights.first), weights.first.shape[1], weights.second.shape[1]
        middle = weights.middle.shape[1]
        inner = middle or (hidden if self.middle.numel() else 0)
        if smaller.rules.board != board or oc.class_count(smaller.rules) != len(self.third_bias[0]):
            raise ConfigError(f"{smaller.name!r} plays {smaller.rules.name!r}; it cannot begin {self.rules.name!r}")
        within = (slots, units, hidden, inner)
        if any(mine < old for mine, old in zip(self.shape, within, strict=True)):
            raise ConfigError(f"{smaller.name!r} has more inputs or units than the network that shall begin with it")
        if smaller.features.reals and (
            len(weights.reals) != len(self.reals) or weights.reals.shape[1] > self.reals.shape[1]
        ):
            raise ConfigError(f"{smaller.name!r} has other real inputs than the network that shall begin with it")
        if smaller.activation != self.activation:
            raise ConfigError(
                f"{smaller.name!r} has {smaller.activation} units; it cannot begin one with {self.activation} units"
            )
        heads = self.phases.within(smaller.phases, board)
        with torch.no_grad():
            if smaller.features.reals:
                # The last units see the real inputs, so the old ones stay last.
                place = slice(len(self.first_bias) - units, len(self.first_bias))
                self.reals.zero_()
                self.reals[:, -weights.reals.shape[1] :] = torch.from_numpy(weights.reals)
            else:
                place = slice(0, units)
            self.first[:slots, place] = torch.from_numpy(weights.first)
            self.first_bias[place] = torch.from_numpy(weights.first_bias)
            second = torch.zeros_like(self.second)
            second[:, :hidden, place] = torch.from_numpy(weights.second[heads])
            second[:, hidden:] = self.shared[hidden:]
            self.shared.copy_(second.mean(dim=0))
            self.second.copy_(second - self.shared)
            self.second_bias[:, :hidden] = torch.from_numpy(weights.second_bias[heads])
            if inner:
                # What is rectified already passes through one to one, where there was no layer between.
                between = weights.middle[heads] if middle else np.eye(hidden, dtype=np.float32)[None]
                self.middle[:, :inner] = 0
                self.middle[:, :inner, :hidden] = torch.from_numpy(between)
                self.middle_bias[:, :middle] = torch.from_numpy(weights.middle_bias[heads])
            self.third[:, :, : inner or hidden] = torch.from_numpy(weights.third[heads])
            self.third_bias.copy_(torch.from_numpy(weights.third_bias[heads]))

    def weights(self) -> Weights:
        """The numbers as the fast path takes them."""
        return weights_of({name: value.detach() for name, value in self.named_parameters()})


def equity_loss(error: torch.Tensor, delta: float) -> torch.Tensor:
    """The squares of errors well below delta, and of larger ones twice delta their size; delta = 0: all squares.

    Pseudo-Huber: 2 delta (sqrt(error^2 + delta^2) - delta).
    """
    if not delta:
        return error.square()
    return 2 * delta * ((error.square() + delta * delta).sqrt() - delta)


def _floor_to(values: torch.Tensor, bits: int) -> torch.Tensor:
    """Values in whole numbers of 2^-bits, rounded down."""
    return torch.floor(values * 2.0**bits) * 2.0**-bits


def weights_of(parameters: Mapping[str, torch.Tensor]) -> Weights:
    """A network's parameters as the fast path takes them: each phase with what it shares."""
    arrays = {name: value.cpu().numpy().copy() for name, value in parameters.items()}
    arrays["second"] += arrays.pop("shared")
    return Weights(**arrays)


class Learner:
    """A network, its optimiser and the running average of its weights."""

    def __init__(
        self, rules: RuleSet, shape: NetworkConfig, optim: OptimConfig, *, seed: int, device: torch.device
    ) -> None:
        torch.set_flush_denormal(True)
        self.network = TorchNetwork(rules, shape, seed).to(device)
        self.optim = optim
        named = dict(self.network.named_parameters())
        self.matrices = [name for name in MATRICES if optim.matrix_lr and named[name].numel()]
        self.optimiser = torch.optim.Adam(
            [value for name, value in named.items() if name not in self.matrices], lr=optim.lr, fused=True
        )
        whole = [named[name] for name in self.matrices]
        self.orthogonal = Muon(whole, lr=optim.matrix_lr) if whole else None
        self.points = torch.from_numpy(oc.class_points(rules).astype(np.float32)).to(device)
        self.average = {name: value.detach().clone() for name, value in self.network.named_parameters()}
        self.steps = 0

    def begin_with(self, network: Network) -> None:
        """Begin as a trained network that is no larger than this one. Raises ConfigError."""
        self.network.grow_from(network)
        for name, value in self.network.named_parameters():
            self.average[name].copy_(value.detach())

    def rate(self, progress: float) -> float:
        """The learning rate when a share `progress` of the run is done: up, level, then a half cosine down."""
        optim = self.optim
        if progress < optim.warmup:
            return optim.lr * max(progress / optim.warmup, 1e-3)
        into = (progress - (1 - optim.decay_fraction)) / optim.decay_fraction if optim.decay_fraction else 0.0
        return optim.final_lr + (optim.lr - optim.final_lr) * (1 + float(np.cos(np.pi * np.clip(into, 0, 1)))) / 2

    def learn(self, boards: Boards, targets: NDArray[np.float32], progress: float) -> float:
        """One step on boards `int8[N, 2, 26]` and target outcomes `float32[N, K]`. Returns the cross entropy."""
        rate = self.rate(progress)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        wanted = torch.from_numpy(targets).to(self.network.first.device)
        logarithms = torch.log_softmax(self.network.masked(boards), dim=1)
        loss = entropy = -(wanted * logarithms).sum(dim=1).mean()
        if self.optim.equity_weight:
            error = (logarithms.exp() - wanted) @ self.points
            loss = entropy + self.optim.equity_weight * equity_loss(error, self.optim.equity_delta).mean()
        self.network.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        if self.orthogonal is not None:
            for group in self.orthogonal.param_groups:
                group["lr"] = self.optim.matrix_lr * rate / self.optim.lr
            self.orthogonal.step()
        self.steps += 1
        keep = min(self.optim.average, self.steps / (self.steps + 10))
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                self.average[name].lerp_(value, 1 - keep)
        return float(entropy.detach())

    def averaged_weights(self) -> Weights:
        """The running average of the weights: what is saved as the bot."""
        return weights_of(self.average)

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Everything that `load_state` needs, as arrays by name."""
        arrays: dict[str, torch.Tensor] = {}
        for name, value in self.network.named_parameters():
            arrays[f"network.{name}"] = value.detach()
            arrays[f"average.{name}"] = self.average[name]
            optimiser = self._optimiser_of(name)
            for key in _MOMENTS[type(optimiser)]:
                moment = optimiser.state[value].get(key) if value in optimiser.state else None
                arrays[f"{key}.{name}"] = torch.zeros_like(value) if moment is None else moment
        return {name: value.detach().cpu().numpy().copy() for name, value in arrays.items()}

    def load_state(self, arrays: dict[str, NDArray[np.float32]], steps: int) -> None:
        """Take up where `state` was written after `steps` steps."""
        self.steps = steps
        with torch.no_grad():
            for name, value in self.network.named_parameters():
                value.copy_(torch.from_numpy(arrays[f"network.{name}"]))
                self.average[name].copy_(torch.from_numpy(arrays[f"average.{name}"]))
                if not steps:
                    continue
                optimiser = self._optimiser_of(name)
                state = {
                    key: torch.from_numpy(arrays[f"{key}.{name}"]).to(value.device) for key in _MOMENTS[type(optimiser)]
                }
                if optimiser is self.optimiser:
                    state["step"] = torch.tensor(float(steps), device=value.device)
                optimiser.state[value] = state

    def _optimiser_of(self, name: str) -> torch.optim.Optimizer:
        """Who learns a parameter."""
        return self.orthogonal if self.orthogonal is not None and name in self.matrices else self.optimiser

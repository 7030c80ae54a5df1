"""Learning's own forward and backward passes against torch's."""

import numpy as np
import pytest
from networks import HIDDEN, SEEING, UNITS, middle_for, phases_for, random_weights
from positions import reached_boards

from nardy_ai.evaluators.grid import CEILING
from nardy_ai.evaluators.network import ACTIVATIONS
from nardy_ai.features import FEATURE_SETS, encode
from nardy_ai.rules import find_rules

torch = pytest.importorskip("torch", reason="only training needs torch")

from nardy_ai.train.config import NetworkConfig, OptimConfig  # noqa: E402
from nardy_ai.train.learner import Learner, TorchNetwork, equity_loss  # noqa: E402

SHORT = find_rules("short")


def plain_logits(network: TorchNetwork, boards: np.ndarray) -> torch.Tensor:
    """Every board through dense products, one by one where its phase chooses the layers."""
    sums = torch.from_numpy(encode(network.features.inputs(boards, SHORT))) @ network.first + network.first_bias
    reals = torch.from_numpy(network.features.real_inputs(boards, SHORT)) @ network.reals
    whole = sums + torch.nn.functional.pad(reals, (UNITS - reals.shape[1], 0))
    units = torch.relu(whole) if network.activation == "linear" else whole.clamp(0, CEILING) ** 2
    phases = torch.from_numpy(network.phases.of(boards, SHORT.board))
    second = (network.shared + network.second)[phases]
    hidden = torch.relu(torch.einsum("nh,noh->no", units, second) + network.second_bias[phases])
    if network.middle.numel():
        hidden = torch.relu(torch.einsum("no,nmo->nm", hidden, network.middle[phases]) + network.middle_bias[phases])
    return torch.einsum("no,nko->nk", hidden, network.third[phases]) + network.third_bias[phases]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("features", FEATURE_SETS)
def test_logits_and_gradients_are_those_of_plain_products(features: str, activation: str):
    shape = NetworkConfig(features, UNITS, HIDDEN, phases_for(features), SEEING, middle_for(features), activation)
    network = TorchNetwork(SHORT, shape, seed=1)
    network.take(random_weights(SHORT, features))
    boards = reached_boards(SHORT, 200, seed=8)[0]
    boards = boards[(boards[:, :, 1:] > 0).any(axis=2).all(axis=1)]
    weights = torch.from_numpy(np.random.default_rng(1).normal(size=(len(boards), 6)).astype(np.float32))

    logits = [network.logits(boards), plain_logits(network, boards)]
    gradients = [
        torch.autograd.grad((each * weights).sum(), list(network.parameters()), allow_unused=True) for each in logits
    ]

    torch.testing.assert_close(logits[0], logits[1], rtol=0, atol=1e-5)
    for (name, value), found, wanted in zip(network.named_parameters(), *gradients, strict=True):
        if value.numel():
            assert wanted.abs().max() > 0.1, name
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4, msg=name)


def test_large_errors_of_equity_count_by_their_size_and_small_ones_by_its_square():
    error = torch.tensor([-4.0, -1e-3, 0.0, 1e-3, 4.0], dtype=torch.float64)

    torch.testing.assert_close(equity_loss(error, 0.0), error.square())
    torch.testing.assert_close(equity_loss(error, 0.1)[1:4], error[1:4].square(), rtol=1e-4, atol=0)
    torch.testing.assert_close(
        equity_loss(error, 0.1)[[0, 4]], torch.full((2,), 0.2 * 4 - 0.02).double(), rtol=1e-2, atol=0
    )


def test_a_step_follows_the_loss_that_was_asked_for():
    """Where one label is far off, delta keeps it from deciding for all."""
    shape = NetworkConfig(
        "tactics-1", UNITS, HIDDEN, phases_for("tactics-1"), SEEING, middle_for("tactics-1"), "squared"
    )
    boards = reached_boards(SHORT, 20, seed=8)[0]
    boards = boards[(boards[:, :, 1:] > 0).any(axis=2).all(axis=1)]
    targets = np.tile(np.float32([1, 0, 0, 0, 0, 0]), (len(boards), 1))
    after = []
    for optim in (
        OptimConfig(),
        OptimConfig(equity_weight=10.0),
        OptimConfig(equity_weight=10.0, equity_delta=1e3),
        OptimConfig(equity_weight=10.0, equity_delta=0.01),
    ):
        learner = Learner(SHORT, shape, optim, seed=1, device=torch.device("cpu"))
        learner.learn(boards, targets, 0.0)
        gradient = learner.network.third_bias.grad
        assert gradient is not None
        after.append(gradient.clone())

    torch.testing.assert_close(after[2], after[1], rtol=1e-3, atol=1e-4)
    bare, squared, bounded = after[0], after[1], after[3]
    assert (squared - bare).abs().max() > 5 * (bounded - bare).abs().max() > 0

"""The optimiser of the shared matrices: torch's own steps, in the precision that is fastest here."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="only training needs torch")

from nardy_ai.train.muon import Muon, orthogonal, precision_for  # noqa: E402


def some_matrix(rows: int, columns: int, seed: int = 1) -> torch.Tensor:
    """By chance, its singular values from 0.01 to 1 of the largest."""
    rng = np.random.default_rng(seed)
    left, _, right = np.linalg.svd(rng.normal(size=(rows, columns)), full_matrices=False)
    values = 100 * np.geomspace(0.01, 1, min(rows, columns))
    return torch.from_numpy((left * values) @ right).float()


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (80, 24), (40, 40)])
@pytest.mark.parametrize(("precision", "within"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)])
def test_what_is_made_orthogonal_keeps_its_directions(rows: int, columns: int, precision: torch.dtype, within: float):
    matrix = some_matrix(rows, columns)
    left, _, right = torch.linalg.svd(matrix.double(), full_matrices=False)

    values = left.T @ orthogonal(matrix.to(precision)).double() @ right.T

    lengths = values.diagonal()
    assert ((lengths > 0.68 - within) & (lengths < 1.21 + within)).all()
    torch.testing.assert_close(values, torch.diag(lengths), rtol=0, atol=within)


def test_nothing_stays_nothing():
    assert not orthogonal(torch.zeros(4, 8)).any()


@pytest.mark.parametrize(
    ("features", "precision"),
    [
        ({"avx2": True, "avx512bf16": False, "amx-bf16": False}, torch.float32),
        ({}, torch.float32),
        ({"avx512bf16": True}, torch.bfloat16),
        ({"amx-bf16": True}, torch.bfloat16),
    ],
)
def test_products_have_the_precision_for_which_there_are_instructions(
    features: dict[str, bool], precision: torch.dtype
):
    assert precision_for(features) == precision


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (80, 24)])
def test_steps_are_those_of_torch_but_for_its_rounding(rows: int, columns: int):
    """Its products have eight bits; ten steps of 0.1 move a matrix by about 1."""
    mine, theirs = (torch.nn.Parameter(some_matrix(rows, columns)) for _ in range(2))
    optimisers = Muon([mine], lr=0.1), torch.optim.Muon([theirs], lr=0.1, weight_decay=0.0)
    for seed in range(10):
        for parameter, optimiser in zip((mine, theirs), optimisers, strict=True):
            parameter.grad = some_matrix(rows, columns, seed=seed)
            optimiser.step()

    moved = (mine - some_matrix(rows, columns)).norm()
    assert moved > 3
    assert (mine - theirs).norm() < 0.05 * moved


def test_a_matrix_without_a_gradient_stays():
    matrix = torch.nn.Parameter(some_matrix(4, 8))

    Muon([matrix], lr=0.1).step()

    assert torch.equal(matrix, some_matrix(4, 8))

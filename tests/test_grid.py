"""Weights in whole numbers: no sum overflows, rounding is done once and changes next to nothing."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from networks import activation_for, network_of, phases_for, random_weights
from positions import invented_boards, reached_boards

from nardy_ai.evaluators.grid import CEILING, MOST_SUM, Grid, Reach, _most, find_grid, find_reach, holds
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.features import FEATURE_SETS, LEVELS, STEPS, find_features
from nardy_ai.phases import find_phases
from nardy_ai.rules import find_rules

SHORT, HYPER = find_rules("short"), find_rules("hyper")


def reach_of(weights: Weights, checkers: int = 15) -> Reach:
    return find_reach(weights.first, weights.first_bias, weights.reals, weights.second, checkers)


def sums_of(weights: Weights, inputs: np.ndarray) -> np.ndarray:
    """What the first layer makes of inputs `int8[N, S]`, `float64[N, H]`."""
    rows = STEPS[inputs].reshape(len(inputs), -1).astype(np.float64)
    return rows @ weights.first.astype(np.float64) + weights.first_bias


def test_most_is_that_of_the_best_board():
    rows = np.random.default_rng(1).normal(size=(4, 4, 3))
    rows[:, 0] = 0
    boards = [counts for counts in product(range(4), repeat=4) if sum(counts) == 3]

    wanted = np.max([sum(rows[s, n] for s, n in enumerate(counts)) for counts in boards], axis=0)

    np.testing.assert_allclose(_most(rows), wanted)


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_no_board_reaches_further(features: str):
    weights = random_weights(SHORT, features)
    boards = np.concatenate((reached_boards(SHORT, 300, seed=4)[0], invented_boards(SHORT, 300, seed=4)[0]))

    largest = np.abs(sums_of(weights, find_features(features).inputs(boards, SHORT))).max()

    assert 0.2 * reach_of(weights).first < largest <= reach_of(weights).first


def test_fewer_checkers_reach_less_far():
    weights = random_weights(SHORT)

    assert reach_of(weights, 3).first < reach_of(weights, 15).first


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
def test_grid_is_the_finest_on_which_nothing_overflows(scale: float, squared: bool):
    reach = reach_of(random_weights(SHORT, scale=scale))

    grid = find_grid(reach, squared, CEILING)

    assert reach.first * 2.0**grid.sums + 16 <= MOST_SUM
    most = CEILING**2 * 2.0 ** grid.units(True) if squared else MOST_SUM
    assert (reach.second * 2.0**grid.second + reach.units) * most < 2**31
    assert holds(grid, reach, squared, CEILING)
    if scale >= 1:
        assert not holds(Grid(grid.sums + 2, grid.second), reach, squared, CEILING)
        assert not holds(Grid(grid.sums, grid.second + 2), reach, squared, CEILING)


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_rows_of_every_count_are_whole_numbers(features: str):
    weights, grid = random_weights(SHORT, features), Grid(7, 9)

    rounded = weights.rounded_to(grid).first

    slots = find_features(features).slots
    rows = STEPS.astype(np.float64) @ rounded.reshape(slots, STEPS.shape[1], -1).astype(np.float64) * 2**7
    assert rows.shape[1] == LEVELS
    assert (rows == np.rint(rows)).all()
    assert 0 < np.abs(rounded - weights.first).max() <= 2**-6


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_rounding_is_done_once(features: str):
    network = network_of(SHORT, features)
    parts = network.features, network.weights, network.phases, network.activation

    again = Network("again", SHORT, *parts, network.grid)

    assert again.grid == network.grid
    assert all((getattr(again.weights, name) == value).all() for name, value in vars(network.weights).items())


@pytest.mark.parametrize("features", FEATURE_SETS)
def test_rounding_changes_next_to_nothing(features: str):
    """Finer grids would change outcomes by no more than this; on one eight times as coarse they do."""
    weights, phases = random_weights(SHORT, features), find_phases(phases_for(features))
    boards = reached_boards(SHORT, 300, seed=4)[0]
    network = network_of(SHORT, features)

    def outcomes(grid: Grid) -> np.ndarray:
        made = Network("net", SHORT, find_features(features), weights, phases, activation_for(features), grid)
        assert made.grid == grid
        return made.outcomes(boards)

    coarse = outcomes(Grid(network.grid.sums - 1, network.grid.second - 1))
    coarsest = outcomes(Grid(network.grid.sums - 5, network.grid.second - 5))

    assert np.abs(network.outcomes(boards) - coarse).max() < 0.02
    assert np.abs(network.outcomes(boards) - coarsest).max() > 0.02


def test_grid_on_which_something_would_overflow_is_replaced():
    weights = random_weights(SHORT)

    network = Network("net", SHORT, find_features("counts-1"), weights, grid=Grid(14, 14))

    assert network.grid == network_of(SHORT).grid


def test_grid_of_a_game_of_three_checkers_is_replaced_where_fifteen_play():
    weights = random_weights(HYPER, scale=6.0)
    small = Network("small", HYPER, find_features("counts-1"), weights)

    large = replace(small, rules=SHORT)

    assert large.grid.sums < small.grid.sums

"""The fast network: the same function as in torch, the same bits however a batch is cut, only what can happen."""

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from networks import HIDDEN, SEEING, UNITS, network_of, random_weights
from positions import invented_boards, reached_boards

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards, is_race, swap_sides
from nardy_ai.errors import BotError
from nardy_ai.evaluators.network import _ROWS, Network, Weights, _exponentials
from nardy_ai.evaluators.protocol import Evaluator
from nardy_ai.features import FEATURE_SETS, find_features
from nardy_ai.movegen.generate import Afterstates, afterstates
from nardy_ai.phases import find_phases
from nardy_ai.rules import RuleSet, find_rules, preset_names, start_boards

SHORT = find_rules("short")
KOKS_WITH_SOME_OFF = replace(SHORT, name="koks with some off", koks_needs_none_off=False)
GAMES = [
    *map(find_rules, preset_names()),
    KOKS_WITH_SOME_OFF,
    replace(find_rules("long"), name="long hits", closed_by=2),
]
BOARDS, SLOW_BOARDS = 500, 10_000
TOLERANCE = 1e-5
"""Between two orders of float32 sums; the format's own promise (`bot_file.TOLERANCE`)."""


@cache
def sample(rules: RuleSet, n: int = BOARDS) -> tuple[Boards, np.ndarray]:
    reached, reached_rolls = reached_boards(rules, n - n // 2, seed=21)
    invented, invented_rolls = invented_boards(rules, n // 2, seed=21)
    return np.concatenate((reached, invented)), np.concatenate((reached_rolls, invented_rolls))


@cache
def plays_of(rules: RuleSet, n: int = BOARDS) -> Afterstates:
    return afterstates(*sample(rules, n), rules)


# Against torch


def torch_outcomes(network: Network, boards: Boards) -> np.ndarray:
    pytest.importorskip("torch", reason="only training needs torch")
    from nardy_ai.train.config import NetworkConfig
    from nardy_ai.train.learner import TorchNetwork

    shape = NetworkConfig(
        network.features.name,
        UNITS,
        HIDDEN,
        network.phases.name,
        SEEING,
        network.weights.middle.shape[1],
        network.activation,
    )
    twin = TorchNetwork(network.rules, shape, seed=1)
    twin.take(network.weights, network.grid)
    return twin.outcomes(boards)


@pytest.mark.parametrize("features", FEATURE_SETS)
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_fast_path_agrees_with_torch(rules: RuleSet, features: str):
    boards, _ = sample(rules)

    found = network_of(rules, features).outcomes(boards)

    wanted = torch_outcomes(network_of(rules, features), boards)
    assert np.abs(found - wanted).max() < TOLERANCE
    assert wanted.max() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("features", FEATURE_SETS)
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_fast_path_agrees_with_torch_on_many_boards(rules: RuleSet, features: str):
    boards, _ = sample(rules, SLOW_BOARDS)

    found = network_of(rules, features).outcomes(boards)

    assert np.abs(found - torch_outcomes(network_of(rules, features), boards)).max() < TOLERANCE


def test_sample_holds_both_phases():
    for rules in GAMES:
        race = is_race(sample(rules)[0], rules.board)
        assert 10 < race.sum() < len(race) - 10, rules.name


# One value a position, to the last bit


@pytest.mark.parametrize("features", FEATURE_SETS)
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_plays_are_judged_as_their_boards_alone_to_the_last_bit(rules: RuleSet, features: str):
    """From the parent's sum or from nothing: first-layer sums are exact, and the rest does not know of the parent."""
    network = network_of(rules, features)
    boards, _ = sample(rules)
    after = plays_of(rules)

    outcomes, values = network.evaluate_plays(boards, after)

    assert outcomes.tobytes() == network.outcomes(after.boards).tobytes()
    assert values.tobytes() == network.equity(after.boards).tobytes()
    assert network.play_values(boards, after).tobytes() == (-values).tobytes()


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_rows_are_independent_to_the_last_bit(rules: RuleSet):
    """Permuted, split into every size around the block of rows, and put together."""
    network = network_of(rules)
    boards = np.concatenate((sample(rules)[0], plays_of(rules).boards[:400]))
    whole = network.outcomes(boards)
    order = np.random.default_rng(2).permutation(len(boards))

    assert network.outcomes(boards[order]).tobytes() == whole[order].tobytes()
    for size in (1, 3, 4, 5, 97, _ROWS - 1, _ROWS, _ROWS + 1):
        parts = [network.outcomes(boards[i : i + size]) for i in range(0, len(boards), size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes(), size
    assert network.outcomes(np.tile(boards, (3, 1, 1))).tobytes() == np.tile(whole, (3, 1)).tobytes()


def test_segments_are_independent_to_the_last_bit():
    network = network_of(SHORT)
    boards, rolls = sample(SHORT)
    values = network.play_values(boards, plays_of(SHORT))

    parts = [
        network.play_values(boards[i : i + 11], afterstates(boards[i : i + 11], rolls[i : i + 11], SHORT))
        for i in range(0, len(boards), 11)
    ]

    assert np.concatenate(parts).tobytes() == values.tobytes()


def test_boards_that_are_not_contiguous_are_the_same_boards():
    """Every second row, and rows that are a view with the sides exchanged."""
    network = network_of(SHORT)
    boards, _ = sample(SHORT)

    assert network.outcomes(boards[::2]).tobytes() == network.outcomes(boards[::2].copy()).tobytes()
    assert network.outcomes(boards[:, ::-1]).tobytes() == network.outcomes(swap_sides(boards)).tobytes()


def test_empty_batch_has_no_outcomes():
    assert network_of(SHORT).outcomes(start_boards(SHORT, 0)).shape == (0, 6)


# What can happen


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_outcomes_are_chances_of_what_is_possible(rules: RuleSet):
    """Exactly 0 where `outcomes.possible` says no and above 0 elsewhere; a row sums to 1 but for rounding."""
    boards, _ = sample(rules)

    outcomes = network_of(rules).outcomes(boards)

    assert outcomes.dtype == np.float32
    assert ((outcomes > 0) == oc.possible(boards, rules)).all()
    np.testing.assert_allclose(outcomes.sum(axis=1, dtype=np.float64), 1, rtol=0, atol=1e-6)


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_equity_is_the_worth_of_the_outcomes(rules: RuleSet):
    network = network_of(rules)
    boards, _ = sample(rules)

    wanted = network.outcomes(boards).astype(np.float64) @ oc.class_points(rules)
    np.testing.assert_allclose(network.equity(boards), wanted, rtol=0, atol=1e-6 * oc.class_points(rules).max())


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_finished_boards_have_their_certain_outcome(rules: RuleSet):
    """Won by the side that has just played, or by the side on roll; among boards that go on."""
    boards = sample(rules)[0].copy()
    boards[::3, 1] = 0
    boards[::3, 1, 0] = rules.checkers
    boards[1::3, 0] = 0
    boards[1::3, 0, 0] = rules.checkers
    over = np.arange(len(boards)) % 3 < 2

    outcomes = network_of(rules).outcomes(boards)

    assert outcomes[over].tobytes() == oc.final_outcomes(boards, rules)[over].tobytes()
    assert network_of(rules).equity(boards)[over].tolist() == oc.equities(outcomes[over], rules).tolist()


# Extremes


def test_huge_weights_give_no_nan():
    """Logits of many thousands: the largest takes all, nothing overflows."""
    for scale in (1e2, 1e4, 1e6):
        network = Network("huge", SHORT, find_features("counts-1"), random_weights(SHORT, scale=scale))

        outcomes = network.outcomes(sample(SHORT)[0])

        assert np.isfinite(outcomes).all()
        np.testing.assert_allclose(outcomes.sum(axis=1), 1, atol=1e-6)
        assert ((outcomes > 0) <= oc.possible(sample(SHORT)[0], SHORT)).all()


def test_zero_weights_give_equal_chances_to_what_is_possible():
    weights = Weights(**{e.name: np.zeros_like(getattr(random_weights(SHORT), e.name)) for e in fields(Weights)})
    boards, _ = sample(SHORT)

    outcomes = Network("zero", SHORT, find_features("counts-1"), weights).outcomes(boards)

    possible = oc.possible(boards, SHORT)
    np.testing.assert_allclose(outcomes, possible / possible.sum(axis=1, keepdims=True), atol=1e-7)


def exponentials(values: np.ndarray) -> np.ndarray:
    x = values.astype(np.float32).copy()
    scales = np.zeros_like(x)
    _exponentials(x, scales, scales.view(np.int32), len(x))
    return x


def test_exponentials_are_right_to_a_relative_error_of_2e_7():
    values = np.concatenate((-np.logspace(-8, np.log10(86.9), 200_000), -np.arange(87), [0.0, -0.0])).astype(np.float32)

    relative = exponentials(values) / np.exp(values.astype(np.float64)) - 1

    assert np.abs(relative).max() < 2e-7


def test_exponentials_of_very_negative_values_are_next_to_nothing():
    """Below -87 a float32 cannot hold the answer as a normal number; what is impossible has -1e30."""
    found = exponentials(np.array([-87, -88, -104, -1e4, -1e30, -3e38], dtype=np.float32))

    assert (found >= 0).all()
    assert found.max() < 2e-38


# What is refused


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("first", lambda array: array[:-1]),
        ("first_bias", lambda array: array[None]),
        ("second", lambda array: array[:1]),
        ("second", lambda array: array[0]),
        ("second_bias", lambda array: array[:, :-1]),
        ("third", lambda array: array[:, :-1]),
        ("third", lambda array: array.astype(np.float64)),
        ("third_bias", lambda array: array[:, :3]),
    ],
)
def test_weights_of_another_shape_or_type_are_refused(name: str, change):
    weights = random_weights(SHORT)
    changed = replace(weights, **{name: change(getattr(weights, name))})

    with pytest.raises(BotError, match=r"expected float32\["):
        Network("wrong", SHORT, find_features("counts-1"), changed)


@pytest.mark.parametrize("name", [entry.name for entry in fields(Weights)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(name: str, value: float):
    weights = random_weights(SHORT, "tactics-1")
    getattr(weights, name).flat[-1] = value

    with pytest.raises(BotError, match=f"weights {name} hold values that are no finite numbers"):
        Network("wrong", SHORT, find_features("tactics-1"), weights, find_phases("zones-1"))


def test_first_layer_that_is_no_table_is_refused():
    with pytest.raises(BotError, match="weights first"):
        Network("wrong", SHORT, find_features("counts-1"), replace(random_weights(SHORT), first=np.float32(1)))


def test_weights_for_other_features_or_classes_are_refused():
    with pytest.raises(BotError, match="weights first are"):
        Network("wrong", SHORT, find_features("blocks-1"), random_weights(SHORT))
    with pytest.raises(BotError, match="weights reals are"):
        Network("wrong", SHORT, find_features("tactics-1"), random_weights(SHORT))
    with pytest.raises(BotError, match="weights second are"):
        Network("wrong", SHORT, find_features("counts-1"), random_weights(SHORT), find_phases("zones-1"))
    with pytest.raises(BotError, match="weights third are"):
        Network("wrong", find_rules("long-left"), find_features("counts-1"), random_weights(SHORT))


def test_units_that_the_kernel_cannot_take_are_refused():
    weights = random_weights(SHORT)
    narrow = replace(weights, second=weights.second[:, :6], second_bias=weights.second_bias[:, :6])
    narrow = replace(narrow, third=weights.third[:, :, :6], middle=weights.middle[:, :, :6])

    with pytest.raises(BotError, match="64, 6 and 0 units; expected multiples of 16, of 4 and of 4"):
        Network("wrong", SHORT, find_features("counts-1"), narrow)


@pytest.mark.parametrize("seeing", [0, 8, 128])
def test_units_that_see_no_real_inputs_or_are_not_there_are_refused(seeing: int):
    weights = random_weights(SHORT, "tactics-1")
    changed = replace(weights, reals=np.zeros((len(weights.reals), seeing), dtype=np.float32))

    with pytest.raises(BotError, match=f"{seeing} of 64 units see the 24 real inputs"):
        Network("wrong", SHORT, find_features("tactics-1"), changed, find_phases("zones-1"))


def test_network_is_an_evaluator():
    assert isinstance(network_of(SHORT), Evaluator)

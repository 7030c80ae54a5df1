"""Networks for tests: random weights, every layer at work."""

from dataclasses import replace
from functools import cache

import numpy as np

from nardy_ai import outcomes as oc
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.evaluators.pruning import PruningNet, PruningWeights
from nardy_ai.features import find_features
from nardy_ai.phases import find_phases
from nardy_ai.rules import RuleSet

UNITS, HIDDEN, SEEING = 64, 12, 16
"""Units of networks in tests, and how many see real inputs."""


def phases_for(features: str) -> str:
    """Phases that networks of these features have in tests: all sets are at work."""
    return {"tactics-1": "zones-1", "blocks-1": "stages-1"}.get(features, "race-1")


def activation_for(features: str) -> str:
    """The same for what shared units make of their sums."""
    return "squared" if features == "tactics-1" else "linear"


def middle_for(features: str) -> int:
    """The same for the units of a middle layer."""
    return 8 if features == "tactics-1" else 0


def random_weights(rules: RuleSet, features: str = "counts-1", *, seed: int = 1, scale: float = 1.0) -> Weights:
    """Weights with every layer at work: chances far from equal, all phases different."""
    rng = np.random.default_rng(seed)
    classes, slots, reals = oc.class_count(rules), find_features(features).slots, find_features(features).reals
    phases, middle = find_phases(phases_for(features)).count(rules.board), middle_for(features)

    def normal(*shape: int, inputs: int) -> np.ndarray:
        return (rng.normal(size=shape) * scale / inputs**0.5).astype(np.float32)

    return Weights(
        first=normal(6 * slots, UNITS, inputs=20),
        first_bias=normal(UNITS, inputs=4),
        second=normal(phases, HIDDEN, UNITS, inputs=UNITS // 4),
        second_bias=normal(phases, HIDDEN, inputs=4),
        middle=normal(phases, middle, HIDDEN, inputs=HIDDEN // 4),
        middle_bias=normal(phases, middle, inputs=4),
        third=normal(phases, classes, middle or HIDDEN, inputs=HIDDEN // 4),
        third_bias=normal(phases, classes, inputs=4),
        reals=normal(reals, SEEING if reals else 0, inputs=4),
    )


@cache
def network_of(rules: RuleSet, features: str = "counts-1", seed: int = 1) -> Network:
    """A network that is made once for each rule set, features and seed."""
    weights = random_weights(rules, features, seed=seed)
    phases = find_phases(phases_for(features))
    return Network("network", rules, find_features(features), weights, phases, activation_for(features))


def pruning_weights(rules: RuleSet, phases: str, *, units: int = 32, seed: int = 3) -> PruningWeights:
    """Weights of a pruning net by chance."""
    rng = np.random.default_rng(seed)
    shapes = ((312, units), (units,), (find_phases(phases).count(rules.board), units))
    return PruningWeights(
        *(
            rng.normal(size=shape).astype(np.float32) * scale
            for shape, scale in zip(shapes, (0.25, 0.3, 0.1), strict=True)
        )
    )


def pruned_network(rules: RuleSet, features: str = "counts-1") -> Network:
    """A network that has a pruning net."""
    network = network_of(rules, features)
    pruning = PruningNet(rules, network.phases, pruning_weights(rules, network.phases.name))
    return replace(network, name="pruned", pruning=pruning)

"""Networks for tests: random weights, every layer at work."""

from functools import cache

import numpy as np

from nardy_ai import outcomes as oc
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.features import find_features
from nardy_ai.rules import RuleSet

UNITS, HIDDEN = 48, 12


def random_weights(rules: RuleSet, features: str = "counts-1", *, seed: int = 1, scale: float = 1.0) -> Weights:
    """Weights with every layer at work: chances far from equal, both phases different."""
    rng = np.random.default_rng(seed)
    classes, slots = oc.class_count(rules), find_features(features).slots

    def normal(*shape: int, inputs: int) -> np.ndarray:
        return (rng.normal(size=shape) * scale / inputs**0.5).astype(np.float32)

    return Weights(
        first=normal(6 * slots, UNITS, inputs=20),
        first_bias=normal(UNITS, inputs=4),
        second=normal(2, HIDDEN, UNITS, inputs=UNITS // 4),
        second_bias=normal(2, HIDDEN, inputs=4),
        third=normal(2, classes, HIDDEN, inputs=HIDDEN // 4),
        third_bias=normal(2, classes, inputs=4),
    )


@cache
def network_of(rules: RuleSet, features: str = "counts-1", seed: int = 1) -> Network:
    """A network that is made once for each rule set, features and seed."""
    return Network("network", rules, find_features(features), random_weights(rules, features, seed=seed))

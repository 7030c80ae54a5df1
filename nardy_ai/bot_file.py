"""Bot files: one safetensors file that says what it is.

Tensors: the arrays of `Weights` that are not empty, those that lie on the grid as `int16`, whole numbers of its units
(`float32` where they have no room there, and in all files of version 2), those of `PruningWeights` as `pruning.NAME` if
there is a pruning net, and `golden.boards` `int8[G, 2, 26]` with
`golden.outcomes` `float32[G, K]`, positions with the answers that were right when the file was written. Metadata, all
text: `format`, `version`, `rules`, `grid` and `card` as JSON, `features`, `phases`, `activation` (absent where it is
`linear`), and `digest`, the SHA-256 of everything else. All of it is checked when a file is loaded.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from nardy_ai.boards import Boards, checked_boards
from nardy_ai.errors import BotError
from nardy_ai.evaluators.grid import MOST_SUM, Grid, from_units, in_units, weight_units
from nardy_ai.evaluators.network import ACTIVATIONS, Network, Weights
from nardy_ai.evaluators.pruning import PruningNet, PruningWeights
from nardy_ai.features import STEPS, FeatureSet, find_features
from nardy_ai.phases import PhaseSet, find_phases
from nardy_ai.rules import RuleSet, rules_from_dict, rules_to_dict
from nardy_ai.tensors import TensorsError, read_tensors, write_tensors

FORMAT = "nardy_ai bot"
VERSION = "3"
READ = ("2", VERSION)
TOLERANCE = 1e-5
_MOST_BITS = 127
_WEIGHTS = tuple(entry.name for entry in fields(Weights))
_PRUNING = "pruning."
_PRUNING_WEIGHTS = tuple(entry.name for entry in fields(PruningWeights))
_SOME_HAVE = ("reals", "middle", "middle_bias")
_ALWAYS = tuple(name for name in _WEIGHTS if name not in _SOME_HAVE)


@dataclass(frozen=True)
class BotFile:
    """What a bot file holds: the network, its card (games, time, machine, config, results) and its golden positions,
    `int8[G, 2, 26]`.
    """

    network: Network
    card: Mapping[str, Any]
    golden: Boards


def save_bot(path: Path, network: Network, *, golden: Boards, card: Mapping[str, Any]) -> None:
    """Write `network` to `path`, whole or not at all: what takes the place of an old file has been read back.

    golden: `int8[G, 2, 26]`, boards not finished whose outcomes are kept in the file. card: plain data for JSON.
    Raises BoardError, BotError, OSError.
    """
    _check_golden(golden, network.rules)
    arrays = {name: getattr(network.weights, name) for name in _WEIGHTS}
    arrays = {name: array for name, array in arrays.items() if name in _ALWAYS or array.size}
    assert network.grid is not None
    for name, unit in weight_units(len(network.weights.first), network.grid).items():
        if name in arrays and np.abs(whole := in_units(arrays[name], unit)).max() <= MOST_SUM:
            arrays[name] = whole.astype(np.int16)
    if network.pruning is not None:
        arrays |= {f"{_PRUNING}{name}": getattr(network.pruning.weights, name) for name in _PRUNING_WEIGHTS}
    arrays["golden.boards"] = np.asarray(golden, dtype=np.int8)
    arrays["golden.outcomes"] = network.outcomes(golden)
    texts = {
        "format": FORMAT,
        "version": VERSION,
        "rules": json.dumps(rules_to_dict(network.rules), ensure_ascii=False),
        "features": network.features.name,
        "phases": network.phases.name,
        "grid": json.dumps(network.grid),
        "card": json.dumps(card, ensure_ascii=False),
    }
    if network.activation != ACTIVATIONS[0]:
        texts["activation"] = network.activation
    write_tensors(path, arrays, texts, check=read_bot)


def read_bot(path: Path) -> BotFile:
    """The bot in a file, checked against its digest and its golden positions. Raises BotError."""
    try:
        arrays, metadata = read_tensors(path)
    except TensorsError as error:
        raise BotError(str(error)) from error
    if metadata.get("format") != FORMAT:
        raise BotError(f"{path}: is no bot file of nardy_ai")
    if metadata.get("version") not in READ:
        raise BotError(f"{path}: has format version {metadata.get('version')}; this program reads {' and '.join(READ)}")
    missing = [name for name in (*_ALWAYS, "golden.boards", "golden.outcomes") if name not in arrays]
    missing += [name for name in ("rules", "features", "phases", "grid", "card", "digest") if name not in metadata]
    if missing:
        raise BotError(f"{path}: lacks {', '.join(missing)}")
    try:
        rules = rules_from_dict(json.loads(metadata["rules"]))
        card = json.loads(metadata["card"])
        if not isinstance(card, dict):
            raise BotError(f"card {metadata['card']!r}; expected a table")
        features = find_features(metadata["features"])
        _check_golden(arrays["golden.boards"], rules)
        phases = find_phases(metadata["phases"])
        grid = _read_grid(metadata["grid"])
        if metadata["version"] == VERSION:
            arrays |= _decoded(arrays, features, grid)
        for name, array in _absent(arrays).items():
            arrays.setdefault(name, array)
        weights = Weights(**{name: arrays[name] for name in _WEIGHTS})
        activation = metadata.get("activation", ACTIVATIONS[0])
        pruning = _read_pruning(arrays, rules, phases)
        network = Network(path.stem, rules, features, weights, phases, activation, grid, pruning)
        answers = network.outcomes(arrays["golden.boards"])
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise BotError(f"{path}: {error}") from error
    wanted = arrays["golden.outcomes"]
    if answers.shape != wanted.shape or not np.allclose(answers, wanted, rtol=0, atol=TOLERANCE):
        raise BotError(f"{path}: the network does not give the answers that its file promises")
    return BotFile(network, card, arrays["golden.boards"])


def _read_pruning(arrays: Mapping[str, Any], rules: RuleSet, phases: PhaseSet) -> PruningNet | None:
    """The pruning net of a file, if it has one. Raises BotError."""
    found = {name: arrays[_PRUNING + name] for name in _PRUNING_WEIGHTS if _PRUNING + name in arrays}
    if not found:
        return None
    if len(found) < len(_PRUNING_WEIGHTS):
        raise BotError(f"of the pruning net there is only {', '.join(found)}")
    return PruningNet(rules, phases, PruningWeights(**found))


def _decoded(arrays: Mapping[str, Any], features: FeatureSet, grid: Grid) -> dict[str, Any]:
    """What files of version 3 hold in whole numbers, as `float32`, but what no unit fits."""
    found: dict[str, Any] = {}
    for name, unit in weight_units(features.slots * STEPS.shape[1], grid).items():
        array = arrays.get(name)
        if array is None or array.dtype != np.int16:
            continue
        if np.ndim(unit) and (array.ndim, len(array)) != (2, np.size(unit)):  # no rows that have units of their own
            continue
        with np.errstate(over="ignore"):
            found[name] = from_units(array, unit)
    return found


def _absent(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """What a file leaves out where its network has no real inputs or no middle layer."""
    phases, hidden = arrays["second"].shape[:2]
    return {
        "reals": np.empty((0, 0), dtype=np.float32),
        "middle": np.empty((phases, 0, hidden), dtype=np.float32),
        "middle_bias": np.empty((phases, 0), dtype=np.float32),
    }


def _read_grid(text: str) -> Grid:
    found = json.loads(text)
    if not isinstance(found, list) or len(found) != 2 or any(type(bits) is not int for bits in found):
        raise BotError(f"grid {text!r}; expected two whole numbers")
    if not all(-_MOST_BITS <= bits <= _MOST_BITS for bits in found):
        raise BotError(f"grid {text!r}; expected numbers from -{_MOST_BITS} to {_MOST_BITS}")
    return Grid(*found)


def _check_golden(boards: Boards, rules: RuleSet) -> None:
    if boards.dtype != np.int8 or len(checked_boards(boards, rules.checkers)) == 0:
        raise BotError("there is no golden position; expected one or more, int8")

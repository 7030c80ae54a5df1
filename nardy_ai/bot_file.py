"""Bot files: one safetensors file that says what it is.

Tensors: the arrays of `Weights`, and `golden.boards` `int8[G, 2, 26]` with `golden.outcomes` `float32[G, K]`,
positions with the answers that were right when the file was written. Metadata, all text: `format`, `version`, `rules`
and `card` as JSON, `features`, and `digest`, the SHA-256 of everything else. All of it is checked when a file is
loaded.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from nardy_ai.boards import Boards, checked_boards
from nardy_ai.errors import BotError
from nardy_ai.evaluators.network import Network, Weights
from nardy_ai.features import find_features
from nardy_ai.files import replace_file
from nardy_ai.rules import RuleSet, rules_from_dict, rules_to_dict

FORMAT = "nardy_ai bot"
VERSION = "1"
TOLERANCE = 1e-5
_WEIGHTS = tuple(entry.name for entry in fields(Weights))


@dataclass(frozen=True)
class BotFile:
    """What a bot file holds: the network and its card (games, time, machine, config, results)."""

    network: Network
    card: Mapping[str, Any]


def save_bot(path: Path, network: Network, *, golden: Boards, card: Mapping[str, Any]) -> None:
    """Write `network` to `path`, whole or not at all: what takes the place of an old file has been read back.

    golden: `int8[G, 2, 26]`, boards not finished whose outcomes are kept in the file. card: plain data for JSON.
    Raises BoardError, BotError.
    """
    _check_golden(golden, network.rules)
    arrays = {name: np.ascontiguousarray(getattr(network.weights, name)) for name in _WEIGHTS}
    arrays["golden.boards"] = np.ascontiguousarray(golden, dtype=np.int8)
    arrays["golden.outcomes"] = np.ascontiguousarray(network.outcomes(golden))
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "rules": json.dumps(rules_to_dict(network.rules), ensure_ascii=False),
        "features": network.features.name,
        "card": json.dumps(card, ensure_ascii=False),
    }
    metadata["digest"] = _digest(arrays, metadata)

    def write(part: Path) -> None:
        save_file(arrays, part, metadata)
        read_bot(part)

    replace_file(path, write)


def read_bot(path: Path) -> BotFile:
    """The bot in a file, checked against its digest and its golden positions. Raises BotError."""
    arrays, metadata = _read(path)
    if metadata.get("format") != FORMAT:
        raise BotError(f"{path}: is no bot file of nardy_ai")
    if metadata.get("version") != VERSION:
        raise BotError(f"{path}: has format version {metadata.get('version')}; this program reads {VERSION}")
    missing = [name for name in (*_WEIGHTS, "golden.boards", "golden.outcomes") if name not in arrays]
    missing += [name for name in ("rules", "features", "card") if name not in metadata]
    if missing:
        raise BotError(f"{path}: lacks {', '.join(missing)}")
    if metadata.get("digest") != _digest(arrays, metadata):
        raise BotError(f"{path}: is damaged: its contents differ from their digest")
    try:
        rules = rules_from_dict(json.loads(metadata["rules"]))
        card = json.loads(metadata["card"])
        if not isinstance(card, dict):
            raise BotError(f"card {metadata['card']!r}; expected a table")
        features = find_features(metadata["features"])
        _check_golden(arrays["golden.boards"], rules)
        network = Network(path.stem, rules, features, Weights(**{name: arrays[name] for name in _WEIGHTS}))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BotError(f"{path}: {error}") from error
    answers = network.outcomes(arrays["golden.boards"])
    wanted = arrays["golden.outcomes"]
    if answers.shape != wanted.shape or not np.allclose(answers, wanted, rtol=0, atol=TOLERANCE):
        raise BotError(f"{path}: the network does not give the answers that its file promises")
    return BotFile(network, card)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError as error:
        raise BotError(f"{path}: no such file") from error
    except (OSError, SafetensorError) as error:
        raise BotError(f"{path}: is no readable bot file: {error}") from error


def _check_golden(boards: Boards, rules: RuleSet) -> None:
    if len(checked_boards(boards, rules.checkers)) == 0:
        raise BotError("there is no golden position; expected one or more")


def _digest(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> str:
    """The SHA-256 of all tensors and texts but `digest` itself."""
    digest = hashlib.sha256()
    texts = {key: text for key, text in metadata.items() if key != "digest"}
    digest.update(json.dumps(texts, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()

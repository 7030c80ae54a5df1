"""The resumable state of a training run: one file, written whole or not at all, checked when read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import checked_boards
from nardy_ai.errors import ConfigError
from nardy_ai.play.lockstep import Lanes
from nardy_ai.rules import RuleSet, rules_from_dict, rules_to_dict
from nardy_ai.tensors import TensorsError, read_tensors, write_tensors

FORMAT = "nardy_ai training state 2"
_LEARNER = "learner."
_LANES = ("boards", "games", "plies")


@dataclass(frozen=True)
class State:
    """Where a run stands between two rounds, nothing played that is not yet learned.

    learner: the arrays of `Learner.state`. counters: steps, rounds, metrics_bytes (how long the metrics file is),
    seconds spent, benchmarks done. config: as plain data. rules: what the config's rules were when the run began.
    """

    lanes: Lanes
    learner: dict[str, NDArray[np.float32]]
    counters: dict[str, float]
    config: dict[str, Any]
    rules: RuleSet


def save_state(path: Path, state: State) -> None:
    """Write the state in one step. Raises OSError."""
    arrays = {f"{_LEARNER}{name}": value for name, value in state.learner.items()}
    arrays |= {f"lanes.{name}": getattr(state.lanes, name) for name in _LANES}
    texts = {
        "format": FORMAT,
        "counters": json.dumps(state.counters | {"next_game": state.lanes.next_game}),
        "config": json.dumps(state.config),
        "rules": json.dumps(rules_to_dict(state.rules), ensure_ascii=False),
    }
    write_tensors(path, arrays, texts, check=load_state)


def load_state(path: Path) -> State:
    """Read a state. Raises ConfigError where there is none or it is damaged."""
    try:
        arrays, texts = read_tensors(path)
    except TensorsError as error:
        hint = "" if path.exists() else "; is this the folder of a training run?"
        raise ConfigError(f"{error}{hint}") from error
    if texts.get("format") != FORMAT or "digest" not in texts:
        raise ConfigError(f"{path}: is no training state of this version")
    try:
        counters = json.loads(texts["counters"])
        rules = rules_from_dict(json.loads(texts["rules"]))
        lanes = Lanes(**{name: arrays[f"lanes.{name}"] for name in _LANES}, next_game=int(counters.pop("next_game")))
        checked_boards(lanes.boards, rules.checkers)
        config = json.loads(texts["config"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: is no readable training state: {error}") from error
    learner = {name.removeprefix(_LEARNER): value for name, value in arrays.items() if name.startswith(_LEARNER)}
    return State(lanes, learner, counters, config, rules)

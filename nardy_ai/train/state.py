"""The resumable state of a training run: one file, written whole or not at all, checked when read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from nardy_ai.errors import ConfigError
from nardy_ai.files import replace_file
from nardy_ai.play.lockstep import Lanes

FORMAT = "nardy_ai training state 1"
_LANES = ("boards", "games", "plies")


@dataclass(frozen=True)
class State:
    """Where a run stands between two rounds, nothing played that is not yet learned.

    learner: the arrays of `Learner.state`. counters: steps, rounds, metrics_bytes (how long the metrics file is),
    seconds spent, benchmarks done. config: as plain data.
    """

    lanes: Lanes
    learner: dict[str, NDArray[np.float32]]
    counters: dict[str, float]
    config: dict[str, Any]


def save_state(path: Path, state: State) -> None:
    """Write the state in one step."""
    arrays = {f"learner.{name}": np.ascontiguousarray(value) for name, value in state.learner.items()}
    arrays |= {f"lanes.{name}": np.ascontiguousarray(getattr(state.lanes, name)) for name in _LANES}
    metadata = {
        "format": FORMAT,
        "counters": json.dumps(state.counters | {"next_game": state.lanes.next_game}),
        "config": json.dumps(state.config),
    }
    replace_file(path, lambda part: save_file(arrays, part, metadata))


def load_state(path: Path) -> State:
    """Read a state. Raises ConfigError where there is none or it is damaged."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("format") != FORMAT:
            raise ConfigError(f"{path}: is no training state of this version")
        counters = json.loads(metadata["counters"])
        lanes = Lanes(**{name: arrays[f"lanes.{name}"] for name in _LANES}, next_game=int(counters.pop("next_game")))
        config = json.loads(metadata["config"])
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file; is this the folder of a training run?") from error
    except (OSError, SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ConfigError(f"{path}: is no readable training state: {error}") from error
    prefix = "learner."
    learner = {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
    return State(lanes, learner, counters, config)

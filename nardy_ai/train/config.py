"""Training configs: frozen dataclasses, the TOML files that mirror them, and values given one by one."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.network import ACTIVATIONS
from nardy_ai.features import FEATURE_SETS
from nardy_ai.phases import PHASE_SETS

MOST_SEED = 2**62
"""The largest seed."""


_Config = TypeVar("_Config", "TrainConfig", "FitConfig")

MANY = 1_000_000
"""The most lanes, positions a step, pairs and plies: beyond it lies a slip of the keyboard."""


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of the network."""

    features: str = _option("counts-1", "the inputs: counts-1, blocks-1 or tactics-1")
    units: int = _option(256, "units of the shared first layer, a multiple of 16")
    hidden: int = _option(32, "units of each phase's second layer, a multiple of 4")
    phases: str = _option("race-1", "what tells the phases, each with a head of its own: race-1, zones-1 or stages-1")
    seeing: int = _option(128, "how many of the units see the real inputs of tactics-1, a multiple of 16")
    middle: int = _option(0, "units of a layer behind each phase's second one, a multiple of 4 (0: no such layer)")
    activation: str = _option("linear", "what the shared units make of a sum above 0: linear, or squared up to 2")


@dataclass(frozen=True)
class OptimConfig:
    """How the network learns."""

    lr: float = _option(1e-3, "Adam's learning rate at the start")
    final_lr: float = _option(3e-5, "the rate at the end, after a half cosine over the last decay_fraction")
    decay_fraction: float = _option(0.75, "the last share of the run, over which the rate falls")
    batch: int = _option(512, "positions a step")
    warmup: float = _option(0.0, "the first share of the run, over which the rate rises from 0")
    matrix_lr: float = _option(0.0, "Muon's rate for the shared matrices, falling like lr (0: Adam learns them too)")
    equity_weight: float = _option(0.0, "weight of the squared error of equity beside the cross entropy of outcomes")
    equity_delta: float = _option(
        0.0, "errors of equity well above this count by their size, not its square; 0: none do"
    )
    average: float = _option(0.999, "weight of the past in the running average of weights that is saved as the bot")


@dataclass(frozen=True)
class PlayConfig:
    """How self-play makes positions."""

    lanes: int = _option(512, "games played side by side")
    window: int = _option(8, "plies played between two rounds of learning")
    trace: float = _option(0.7, "lambda of TD(lambda), from 0 (next position) to 1 (final result)")
    wild_share: float = _option(0.1, "share of games that begin with plies chosen by chance")
    wild_plies: int = _option(20, "most plies chosen by chance in such a game")


@dataclass(frozen=True)
class BenchmarkConfig:
    """What is measured while training."""

    every: float = _option(0.05, "share of the run between two benchmarks")
    pairs: int = _option(500, "pairs of games a baseline")
    against: tuple[str, ...] = _option(("random", "heuristic"), "baselines, by name")


@dataclass(frozen=True)
class FitConfig:
    """A fit of a network to labels on disk."""

    labels: tuple[str, ...] = _option((), "folders of labels; a position that several have counts as in the last")
    start: str = _option("", "bot to begin with, shipped or a file, no larger than the network (none: by chance)")
    steps: int = _option(10_000, "steps of optim.batch positions")
    seed: int = _option(1, "seed of the order, of what is held out and of first weights")
    held_out: float = _option(0.02, "share of the labels that are never learned and measure the fit")
    report: float = _option(0.1, "share of the steps between two measurements")
    save_seconds: float = _option(60.0, "time between two saves of the resumable state")
    network: NetworkConfig = field(
        default_factory=lambda: NetworkConfig("tactics-1", 512, 32, "zones-1", 256, 32, "squared")
    )
    optim: OptimConfig = field(
        default_factory=lambda: OptimConfig(
            lr=3e-3,
            final_lr=3e-5,
            decay_fraction=1.0,
            batch=2048,
            warmup=0.02,
            matrix_lr=0.03,
            equity_weight=10.0,
            average=0.998,
        )
    )

    def __post_init__(self) -> None:
        """Refuse values that no fit can have. Raises ConfigError."""
        _refuse_first(
            (1 <= self.steps <= 100 * MANY, f"steps = {self.steps}; expected 1 or more"),
            (0 <= self.seed <= MOST_SEED, f"seed = {self.seed}; expected 0 to {MOST_SEED}"),
            (0 <= self.held_out < 1, f"held_out = {self.held_out}; expected 0 to below 1"),
            (1e-6 <= self.report <= 1, f"report = {self.report}; expected 0.000001 to 1"),
            (self.save_seconds >= 0, f"save_seconds = {self.save_seconds}; expected 0 or more"),
            *_network_checks(self.network),
            *_optim_checks(self.optim),
        )


@dataclass(frozen=True)
class PruningConfig:
    """How a pruning net is learned."""

    games: int = _option(6_000, "games that the bot plays to learn from")
    steps: int = _option(20_000, "steps of learning")
    units: int = _option(64, "units of the net, a multiple of 16")
    lr: float = _option(0.004, "Adam's learning rate at the start")
    seed: int = _option(1, "seed of games and of first weights")

    def __post_init__(self) -> None:
        """Refuse values that cannot be. Raises ConfigError."""
        _refuse_first(
            (1 <= self.games <= MANY, f"games = {self.games}; expected 1 to {MANY}"),
            (1 <= self.steps <= 100 * MANY, f"steps = {self.steps}; expected 1 or more"),
            (_multiple(self.units, 16), f"units = {self.units}; expected a multiple of 16"),
            (0 < self.lr <= 1, f"lr = {self.lr}; expected above 0, at most 1"),
            (0 <= self.seed <= MOST_SEED, f"seed = {self.seed}; expected 0 to {MOST_SEED}"),
        )


@dataclass(frozen=True)
class TrainConfig:
    """A training run."""

    rules: str = _option("short", "rule set: a preset's name or a TOML file")
    games: int = _option(100_000, "games of self-play")
    seed: int = _option(1, "seed of dice, choices and first weights")
    self_check: bool = _option(True, "check on small exact cases that learning works before a long run")
    save_seconds: float = _option(60.0, "time between two saves of the resumable state")
    network: NetworkConfig = field(default_factory=NetworkConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    play: PlayConfig = field(default_factory=PlayConfig)
    benchmark: BenchmarkConfig = field(default_factory=BenchmarkConfig)

    def __post_init__(self) -> None:
        """Refuse values that no run can have. Raises ConfigError."""
        play, benchmark = self.play, self.benchmark
        _refuse_first(
            (self.games >= 1, f"games = {self.games}; expected 1 or more"),
            (0 <= self.seed <= MOST_SEED, f"seed = {self.seed}; expected 0 to {MOST_SEED}"),
            (self.save_seconds >= 0, f"save_seconds = {self.save_seconds}; expected 0 or more"),
            *_network_checks(self.network),
            *_optim_checks(self.optim),
            (1 <= play.lanes <= MANY, f"play.lanes = {play.lanes}; expected 1 to {MANY}"),
            (1 <= play.window <= 1000, f"play.window = {play.window}; expected 1 to 1000"),
            (0 <= play.trace <= 1, "play.trace must be from 0 to 1"),
            (0 <= play.wild_share <= 1, "play.wild_share must be from 0 to 1"),
            (1 <= play.wild_plies <= MANY, f"play.wild_plies = {play.wild_plies}; expected 1 to {MANY}"),
            (1e-6 <= benchmark.every <= 1, f"benchmark.every = {benchmark.every}; expected 0.000001 to 1"),
            (1 <= benchmark.pairs <= MANY, f"benchmark.pairs = {benchmark.pairs}; expected 1 to {MANY}"),
        )


def _network_checks(network: NetworkConfig) -> Iterator[tuple[bool, str]]:
    known, phases = ", ".join(FEATURE_SETS), ", ".join(PHASE_SETS)
    features = FEATURE_SETS.get(network.features)
    yield features is not None, f"network.features = {network.features!r}; expected one of {known}"
    yield network.phases in PHASE_SETS, f"network.phases = {network.phases!r}; expected one of {phases}"
    yield _multiple(network.units, 16), f"network.units = {network.units}; expected a multiple of 16"
    if features is not None and features.reals:
        fits = _multiple(network.seeing, 16) and network.seeing <= network.units
        yield fits, f"network.seeing = {network.seeing}; expected a multiple of 16, at most {network.units} units"
    whole = network.middle == 0 or _multiple(network.middle, 4)
    yield whole, f"network.middle = {network.middle}; expected 0 or a multiple of 4"
    known = ", ".join(ACTIVATIONS)
    yield network.activation in ACTIVATIONS, f"network.activation = {network.activation!r}; expected one of {known}"
    yield _multiple(network.hidden, 4), f"network.hidden = {network.hidden}; expected a multiple of 4"


def _optim_checks(optim: OptimConfig) -> Iterator[tuple[bool, str]]:
    yield 0 < optim.final_lr <= optim.lr, "optim.final_lr must be above 0 and at most optim.lr"
    yield 0 <= optim.decay_fraction <= 1, "optim.decay_fraction must be from 0 to 1"
    yield 0 <= optim.warmup <= 1, "optim.warmup must be from 0 to 1"
    yield 1 <= optim.batch <= MANY, f"optim.batch = {optim.batch}; expected 1 to {MANY}"
    yield optim.lr <= 1, f"optim.lr = {optim.lr}; expected at most 1"
    yield 0 <= optim.matrix_lr <= 1, f"optim.matrix_lr = {optim.matrix_lr}; expected 0 to 1"
    yield 0 <= optim.equity_weight <= MANY, f"optim.equity_weight = {optim.equity_weight}; expected 0 or more"
    yield 0 <= optim.equity_delta <= MANY, f"optim.equity_delta = {optim.equity_delta}; expected 0 or more"
    yield 0 <= optim.average < 1, "optim.average must be from 0 to below 1"


def _refuse_first(*checks: tuple[bool, str]) -> None:
    for condition, text in checks:
        if not condition:
            raise ConfigError(text)


def _multiple(number: int, of: int) -> bool:
    return 0 < number <= 16_384 and number % of == 0


def read_config(path: Path, overrides: Mapping[str, object] | None = None) -> TrainConfig:
    """The training config of a TOML file, with dotted `overrides` such as `{"optim.lr": 0.01}` on top.

    A rule set's file is looked for beside the config first, then from the working folder.
    Strict: unknown keys and values of another type are refused with the nearest known key. Raises ConfigError.
    """
    config = _read(path, TrainConfig())
    beside = path.parent / config.rules
    if config.rules.endswith(".toml") and beside.is_file():
        config = replace(config, rules=str(beside))
    return override(config, overrides or {})


def read_fit_config(path: Path | None, overrides: Mapping[str, object] | None = None) -> FitConfig:
    """The same for a fit; without a file its defaults. Raises ConfigError."""
    return override(FitConfig() if path is None else _read(path, FitConfig()), overrides or {})


def _read(path: Path, default: _Config) -> _Config:
    """`default` with what a TOML file says. Raises ConfigError."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from error
    try:
        return _filled(default, table, "", type(default))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def config_from(table: Mapping[str, Any]) -> TrainConfig:
    """A config from plain data, as TOML or JSON gives it. Raises ConfigError."""
    return _filled(TrainConfig(), table, "", TrainConfig)


def fit_config_from(table: Mapping[str, Any]) -> FitConfig:
    """The same for a fit. Raises ConfigError."""
    return _filled(FitConfig(), table, "", FitConfig)


def config_to_dict(config: TrainConfig | FitConfig) -> dict[str, Any]:
    """The config as plain data; `config_from` or `fit_config_from` is the way back."""
    return asdict(config)


def option_fields(record: type = TrainConfig, prefix: str = "") -> dict[str, Field[Any]]:
    """Every option by its dotted name, such as `optim.lr`, for help texts and flags."""
    found: dict[str, Field[Any]] = {}
    for entry in fields(record):
        if entry.default_factory is not MISSING:
            found |= option_fields(type(entry.default_factory()), f"{prefix}{entry.name}.")
        else:
            found[prefix + entry.name] = entry
    return found


def override(config: _Config, values: Mapping[str, object]) -> _Config:
    """`config` with dotted keys set; texts are read as TOML values, so flags can be passed on. Raises ConfigError.

    Where the option is a text it is taken as it is: `rules = "1"` needs no quotes.
    """
    options = option_fields(type(config))
    table: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, str) and not (key in options and isinstance(options[key].default, str)):
            value = _parsed(value)
        *path, last = key.split(".")
        inner = table
        for name in path:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return _filled(config, table, "", type(config))


def _parsed(text: str) -> object:
    """A flag's text as the TOML value it would be; a bare word is itself."""
    try:
        table = tomllib.loads(f"x = {text}")
    except (ValueError, RecursionError):
        return text
    return table["x"] if len(table) == 1 else text


def _filled(record: Any, table: Mapping[str, Any], prefix: str, whole: type) -> Any:
    """`record`, a part of a config of type `whole`, with the values of `table`. Raises ConfigError."""
    known = {entry.name: entry for entry in fields(record)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            options = option_fields(whole)
            inside = [name for name in options if name.endswith("." + key)]
            words = key.replace("_", " ")
            meant = [name for name, entry in options.items() if words in entry.metadata["help"]]
            close = get_close_matches(prefix + key, list(options), n=1, cutoff=0.5)
            nearest = inside or meant or close
            hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
            raise ConfigError(f"unknown key '{prefix}{key}'{hint}")
        current = getattr(record, key)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                raise ConfigError(f"{prefix}{key} = {value!r}; expected a table")
            values[key] = _filled(current, value, f"{prefix}{key}.", whole)
        else:
            values[key] = _typed(value, current, prefix + key)
    return replace(record, **values)


def _typed(value: object, like: object, key: str) -> object:
    """`value` if it has the type of `like`; a whole number passes as float, a list or one word as a tuple of words."""
    if isinstance(like, tuple):
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            raise ConfigError(f"{key} = {value!r}; expected a list of words")
        return tuple(words)
    if isinstance(like, float) and type(value) is int:
        return float(value)
    if type(value) is not type(like):
        raise ConfigError(f"{key} = {value!r}; expected {type(like).__name__}")
    return value

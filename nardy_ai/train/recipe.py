"""Recipes: chains of stages (training, labels, fits, pruning nets) from nothing to a bot, taken up where they stopped.

A recipe is a TOML file: a table for each stage, in order, whose `kind` says what it is and whose other keys are those
of the stage's own config. `start`, `teacher`, `student`, `labels` and `bot` may name earlier stages:

    [base]
    kind = "train"
    games = 1_500_000

    [labels]
    kind = "label"
    teacher = "base@1ply"
    shards = 40

    [bot]
    kind = "fit"
    labels = ["labels"]
    start = "base"

    [pruned]
    kind = "prune"
    bot = "bot"

Every stage has a folder of its own name in the run's folder.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nardy_ai.errors import ConfigError
from nardy_ai.resources import find_checkpoint
from nardy_ai.train.config import FitConfig, PruningConfig, TrainConfig, config_from, fit_config_from
from nardy_ai.train.labels import LabelRecipe, find_teacher, lead_over_student, make_labels

__all__ = ["FitStage", "LabelStage", "PruneStage", "Recipe", "Stage", "TrainStage", "read_recipe", "run_label_stage"]

_KINDS: Mapping[type, tuple[Any, str]] = {
    str: (str, "word"),
    int: (int, "whole number"),
    float: (int | float, "number"),
}
"""What an option may be, by the type of its default, and what that is called."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class TrainStage:
    """Self-play from nothing."""

    name: str
    config: TrainConfig


@dataclass(frozen=True)
class LabelStage:
    """Labels of a teacher; first the check of `check_teacher` if `decisions` names a set of decisions."""

    name: str
    teacher: str
    rules: str
    shards: int
    recipe: LabelRecipe
    decisions: str
    student: str


@dataclass(frozen=True)
class FitStage:
    """A fit; `config.labels` and `config.start` are as the recipe names them."""

    name: str
    config: FitConfig


@dataclass(frozen=True)
class PruneStage:
    """A copy of a bot with a pruning net."""

    name: str
    bot: str
    config: PruningConfig


Stage = TrainStage | LabelStage | FitStage | PruneStage


@dataclass(frozen=True)
class Recipe:
    """The stages in their order."""

    stages: tuple[Stage, ...]

    def place(self, name: str, folder: Path) -> str:
        """A bot or folder as a stage names it, as it lies in the run's folder: `base@1ply` has its look-ahead kept."""
        bare, at, depth = name.partition("@")
        for stage in self.stages:
            if stage.name == bare:
                if isinstance(stage, LabelStage):
                    return str(folder / bare)
                return f"{folder / bare / 'bot.safetensors'}{at}{depth}"
        return name


def read_recipe(path: Path) -> Recipe:
    """A recipe, every key of every stage looked at. Raises ConfigError with the stage and the fault."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from error
    stages: list[Stage] = []
    for name, entry in table.items():
        try:
            if not _NAME.fullmatch(name) or not isinstance(entry, Mapping):
                raise ConfigError("expected a table with a name of small letters, digits and hyphens")
            stages.append(_stage(name, dict(entry), {stage.name: stage for stage in stages}))
        except ConfigError as error:
            raise ConfigError(f"{path}: stage {name!r}: {error}") from error
    if not stages:
        raise ConfigError(f"{path}: has no stage")
    return Recipe(tuple(stages))


def _stage(name: str, entry: dict[str, Any], before: Mapping[str, Stage]) -> Stage:
    kind = entry.pop("kind", None)
    if kind == "train":
        return TrainStage(name, config_from(entry))
    if kind == "fit":
        config = fit_config_from(entry)
        if not config.labels:
            raise ConfigError("has no labels")
        for label in config.labels:
            if not isinstance(before.get(label), LabelStage):
                raise ConfigError(f"labels {label!r} are no earlier stage of that kind")
        return FitStage(name, config)
    if kind == "prune":
        bot = entry.pop("bot", None)
        if not isinstance(bot, str) or not bot:
            raise ConfigError("expected a bot")
        if not isinstance(before.get(bot), TrainStage | FitStage) and find_checkpoint(bot) is None:
            if bot in before or not Path(bot).is_file():
                raise ConfigError(f"bot {bot!r} is no earlier stage that makes one, no shipped bot and no file")
        _check_options(entry, PruningConfig)
        return PruneStage(name, bot, PruningConfig(**entry))
    if kind != "label":
        raise ConfigError(f"kind {kind!r}; expected train, label, fit or prune")
    texts = {key: entry.pop(key, "") for key in ("teacher", "rules", "decisions", "student")}
    shards = entry.pop("shards", 20)
    _check_options(entry, LabelRecipe)
    if not texts["teacher"] or not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError("expected a teacher, and words for rules, decisions and student")
    if type(shards) is not int or shards < 1:
        raise ConfigError(f"shards = {shards!r}; expected 1 or more")
    return LabelStage(name, shards=shards, recipe=LabelRecipe(**entry), **texts)


def _check_options(entry: Mapping[str, Any], config: type[LabelRecipe | PruningConfig]) -> None:
    """Refuse keys that are no options of a config, and words for numbers. Raises ConfigError."""
    known = {field.name: _KINDS[type(field.default)] for field in fields(config)}
    for key, value in entry.items():
        if key not in known:
            raise ConfigError(f"{key} is unknown; expected {', '.join(known)}")
        kind, word = known[key]
        if isinstance(value, bool) or not isinstance(value, kind):
            raise ConfigError(f"{key} = {value!r}; expected a {word}")


def run_label_stage(
    recipe: Recipe,
    stage: LabelStage,
    folder: Path,
    *,
    workers: int,
    say: Callable[[str], None],
    stop: Callable[[], bool],
) -> bool:
    """Make what is missing of a stage's labels. Returns whether all are there. Raises ConfigError, BotError."""
    teacher, match = find_teacher(recipe.place(stage.teacher, folder), stage.rules)
    if stage.decisions and not (folder / stage.name).exists():
        apart = lead_over_student(teacher, recipe.place(stage.student, folder), stage.decisions)
        say(f"the teacher is better than the student by {-apart.pr:.2f} +- {apart.standard_error:.2f} PR")
    done = make_labels(
        folder / stage.name, teacher, match, stage.recipe, shards=stage.shards, workers=workers, stop=stop,
        progress=lambda shard, positions: say(f"shard {shard + 1} of {stage.shards}: {positions:,} positions"),
    )  # fmt: skip
    return done == stage.shards

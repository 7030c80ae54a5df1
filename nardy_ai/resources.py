"""Where the configs, bots and sets of decisions that come with the package lie, found by name from any working folder.

A wheel carries them inside the package; in a repository they lie at its top level. What is in the files is
the business of `train`, `bot_file` and `play.decisions`.
"""

from difflib import get_close_matches
from pathlib import Path

from nardy_ai.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent
CONFIG_SUFFIX = ".toml"
CHECKPOINT_SUFFIX = ".safetensors"
CARD_SUFFIX = ".md"
DECISIONS_SUFFIX = ".jsonl.gz"
RECIPES = "configs/recipes"


def find_config(name: str) -> Path:
    """The file of a shipped config, such as `demo` or `short`. Raises ConfigError for an unknown name."""
    found = _files("configs", CONFIG_SUFFIX)
    if name not in found:
        raise ConfigError(f"unknown config {name!r}{_hint(name, found)}")
    return found[name]


def find_recipe(name: str) -> Path:
    """The file of a shipped recipe, such as `short`. Raises ConfigError for an unknown name."""
    found = _files(RECIPES, CONFIG_SUFFIX)
    if name not in found:
        raise ConfigError(f"unknown recipe {name!r}{_hint(name, found)}")
    return found[name]


def recipe_names() -> list[str]:
    """The names of the shipped recipes, sorted."""
    return sorted(_files(RECIPES, CONFIG_SUFFIX))


def find_checkpoint(name: str) -> Path | None:
    """The file of a shipped bot, such as `short`; None if no bot of this name is shipped."""
    return _files("checkpoints", CHECKPOINT_SUFFIX).get(name)


def find_decisions(name: str) -> Path | None:
    """The file of a shipped set of decisions, such as `short`; None if no set of this name is shipped."""
    return _files("decisions", DECISIONS_SUFFIX).get(name)


def decisions_names() -> list[str]:
    """The names of the shipped sets of decisions, sorted."""
    return sorted(_files("decisions", DECISIONS_SUFFIX))


def config_names() -> list[str]:
    """The names of the shipped configs, sorted."""
    return sorted(_files("configs", CONFIG_SUFFIX))


def checkpoint_names() -> list[str]:
    """The names of the shipped bots, sorted."""
    return sorted(_files("checkpoints", CHECKPOINT_SUFFIX))


def checkpoint_summary(name: str) -> str:
    """The first line of text in the card of a shipped bot; empty if it has no card."""
    path = find_checkpoint(name)
    card = path.with_suffix(CARD_SUFFIX) if path else None
    if card is None or not card.is_file():
        return ""
    lines = (line.strip() for line in card.read_text(encoding="utf-8").splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")


def _files(folder: str, suffix: str) -> dict[str, Path]:
    """The shipped files of one kind by name."""
    return {path.name.removesuffix(suffix): path for path in _shipped(folder).glob(f"*{suffix}")}


def _shipped(folder: str) -> Path:
    """The folder inside the package (wheel), else at the top level of the repository.

    The neighbour of the package counts only in a repository: beside an installed package lie strangers' files.
    """
    inside = _PACKAGE / folder
    if inside.is_dir() or not (_PACKAGE.parent / "pyproject.toml").is_file():
        return inside
    return _PACKAGE.parent / folder


def _hint(name: str, known: dict[str, Path]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f" (known: {', '.join(sorted(known)) or 'none is shipped'}, or a {CONFIG_SUFFIX} file)"

"""Recipes: stages that chain, are done once, and are refused before anything starts if they make no sense."""

import json
from pathlib import Path

import pytest

from nardy_ai.bot_file import read_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import ConfigError
from nardy_ai.resources import find_recipe, recipe_names
from nardy_ai.train.recipe import LabelStage, read_recipe

WHOLE = """
[base]
kind = "train"
rules = "hyper"
games = 300
self_check = false
network = { units = 16, hidden = 4 }
benchmark = { pairs = 10, every = 1.0, against = ["random"] }

[labels]
kind = "label"
teacher = "base@1ply"
shards = 2
games = 20

[bot]
kind = "fit"
labels = ["labels"]
start = "base"
steps = 20
network = { units = 64, hidden = 8, seeing = 16, activation = "linear" }
optim = { batch = 64 }

[pruned]
kind = "prune"
bot = "bot"
games = 30
steps = 20
units = 16
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_stages_chain_and_are_done_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch", reason="only training needs torch")
    path = written(tmp_path, WHOLE)
    arguments = ["recipe", str(path), "--run", str(tmp_path / "run"), "--json", "--workers", "1"]

    assert main(arguments) == 0

    assert json.loads(capsys.readouterr().out)["done"] == ["base", "labels", "bot", "pruned"]
    pruned = read_bot(tmp_path / "run" / "pruned" / "bot.safetensors")
    assert pruned.network.pruning is not None
    assert pruned.card["pruning"].items() >= {"games": 30, "steps": 20, "units": 16}.items()
    card = read_bot(tmp_path / "run" / "bot" / "bot.safetensors").card
    assert card["sources"][0]["shards"] == 2
    assert card["start"]["card"]["games"] >= 300
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("0*.safetensors")}
    assert main(arguments) == 0
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("0*.safetensors")}


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('kind = "fit"', 'kind = "fitt"', "stage 'bot': kind 'fitt'; expected train, label, fit or prune"),
        ('labels = ["labels"]', 'labels = ["base"]', "labels 'base' are no earlier stage of that kind"),
        ('labels = ["labels"]', "", "stage 'bot': has no labels"),
        ("steps = 20", "step = 20", "unknown key 'step'; did you mean 'steps'"),
        ('teacher = "base@1ply"', "", "expected a teacher"),
        ("shards = 2", "shards = 0", "shards = 0; expected 1 or more"),
        ("games = 20", "plays = 20", "plays is unknown; expected seed, games"),
        ("games = 20", "games = 'twenty'", "games = 'twenty'; expected a whole number"),
        ("games = 20", "games = 20\nwithout = 1", "without = 1; expected a word"),
        ('bot = "bot"', "", "stage 'pruned': expected a bot"),
        (
            'bot = "bot"',
            'bot = "labels"',
            "bot 'labels' is no earlier stage that makes one, no shipped bot and",
        ),
        ('bot = "bot"', 'bot = "pruned"', "bot 'pruned' is no earlier stage that makes one"),
        ('bot = "bot"', 'bot = "bot@1ply"', "bot 'bot@1ply' is no earlier stage that makes one"),
        ('bot = "bot"\ngames = 30', 'bot = "bot"\ngames = 0.5', "stage 'pruned': games = 0.5; expected a whole number"),
        ('bot = "bot"\ngames = 30', 'bot = "bot"\ngames = 0', "stage 'pruned': games = 0; expected 1 to 1000000"),
        (
            'bot = "bot"\ngames = 30',
            'bot = "bot"\nteacher = 1',
            "stage 'pruned': teacher is unknown; expected games, steps, units, lr, seed",
        ),
        ("[bot]", "[Bot]", "expected a table with a name of small letters"),
        ("[base]", "[base", "is no TOML"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(before: str, after: str, reason: str, tmp_path: Path):
    assert before in WHOLE

    with pytest.raises(ConfigError, match=r"mine\.toml") as caught:
        read_recipe(written(tmp_path, WHOLE.replace(before, after)))

    assert reason in str(caught.value)


def test_a_recipe_without_stages_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="has no stage"):
        read_recipe(written(tmp_path, ""))


def test_names_of_stages_become_places():
    recipe = read_recipe(find_recipe("short"))

    labels = next(stage for stage in recipe.stages if isinstance(stage, LabelStage))
    bare, _, depth = labels.teacher.partition("@")

    assert recipe.place(labels.teacher, Path("runs/x")) == f"{Path('runs/x') / bare / 'bot.safetensors'}@{depth}"
    assert recipe.place("pubeval", Path("runs/x")) == "pubeval"


@pytest.mark.parametrize("name", recipe_names())
def test_shipped_recipes_are_read(name: str):
    assert read_recipe(find_recipe(name)).stages

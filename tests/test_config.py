"""Training configs: strict about keys and types, overridden by texts, the same there and back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nardy_ai.errors import ConfigError
from nardy_ai.train.config import (
    NetworkConfig,
    PlayConfig,
    TrainConfig,
    config_from,
    config_to_dict,
    option_fields,
    override,
    read_config,
)


def write(folder: Path, text: str) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_sets_what_it_names_and_leaves_the_rest(tmp_path: Path):
    path = write(tmp_path, 'rules = "long"\ngames = 200_000\n[optim]\nlr = 0.01\n[benchmark]\nagainst = ["pips"]\n')

    config = read_config(path)

    usual = TrainConfig()
    assert config == replace(
        usual,
        rules="long",
        games=200_000,
        optim=replace(usual.optim, lr=0.01),
        benchmark=replace(usual.benchmark, against=("pips",)),
    )


def test_whole_number_stands_for_a_float():
    config = config_from({"play": {"trace": 1}})

    assert config.play.trace == 1.0
    assert type(config.play.trace) is float


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"optim": {"learning_rate": 1}}, "unknown key 'optim.learning_rate'; did you mean 'optim.lr'?"),
        ({"lr": 0.1}, "unknown key 'lr'; did you mean 'optim.lr'?"),
        ({"gmaes": 5}, "unknown key 'gmaes'; did you mean 'games'?"),
        ({"network": {"unit": 16}}, "unknown key 'network.unit'; did you mean 'network.units'?"),
        ({"xyzzy": 5}, "unknown key 'xyzzy'"),
    ],
)
def test_unknown_key_is_refused_with_the_nearest(table: dict, message: str):
    with pytest.raises(ConfigError) as caught:
        config_from(table)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"games": 1.5}, "games = 1.5; expected int"),
        ({"games": True}, "games = True; expected int"),
        ({"games": "many"}, "games = 'many'; expected int"),
        ({"self_check": 1}, "self_check = 1; expected bool"),
        ({"optim": {"lr": "fast"}}, "optim.lr = 'fast'; expected float"),
        ({"optim": {"lr": True}}, "optim.lr = True; expected float"),
        ({"rules": 5}, "rules = 5; expected str"),
        ({"rules": True}, "rules = True; expected str"),
        ({"network": {"features": 1}}, "network.features = 1; expected str"),
        ({"optim": 3}, "optim = 3; expected a table"),
        ({"games": {"x": 3}}, "games = {'x': 3}; expected int"),
        ({"benchmark": {"against": 3}}, "benchmark.against = 3; expected a list of words"),
        ({"benchmark": {"against": ["pips", 3]}}, "benchmark.against = ['pips', 3]; expected a list of words"),
    ],
)
def test_value_of_another_type_is_refused(table: dict, message: str):
    with pytest.raises(ConfigError) as caught:
        config_from(table)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("games", 0),
        ("network.features", "counts"),
        ("network.units", 0),
        ("network.units", 24),
        ("network.hidden", 6),
        ("optim.lr", 1e-9),
        ("optim.final_lr", 0),
        ("optim.lr", float("nan")),
        ("optim.decay_fraction", 1.1),
        ("optim.batch", 0),
        ("optim.average", 1),
        ("optim.average", float("nan")),
        ("play.lanes", 0),
        ("play.window", 0),
        ("play.trace", -0.1),
        ("play.trace", 1.1),
        ("play.wild_share", 2),
        ("play.wild_plies", 0),
        ("benchmark.every", 0),
        ("benchmark.pairs", 0),
        ("save_seconds", -1),
    ],
)
def test_value_that_no_run_can_have_is_refused(key: str, value: object):
    with pytest.raises(ConfigError, match=key.split(".")[-1]):
        override(TrainConfig(), {key: value})


def test_texts_are_read_as_the_option_is_typed():
    config = override(
        TrainConfig(),
        {
            "rules": "long",
            "games": "1_000",
            "self_check": "false",
            "optim.lr": "1e-2",
            "play.trace": "1",
            "network.features": "blocks-1",
            "benchmark.against": "pips,random",
        },
    )

    assert (config.rules, config.games, config.self_check) == ("long", 1000, False)
    assert (config.optim.lr, config.play, config.network) == (
        0.01, PlayConfig(trace=1.0), NetworkConfig(features="blocks-1"),
    )  # fmt: skip
    assert config.benchmark.against == ("pips", "random")


@pytest.mark.parametrize("text", ["1", "true", "2026-01-01", "nan"])
def test_text_option_takes_any_text_as_it_is(text: str):
    assert override(TrainConfig(), {"rules": text}).rules == text


def test_one_word_is_a_list_of_one():
    assert override(TrainConfig(), {"benchmark.against": "gnubg:0"}).benchmark.against == ("gnubg:0",)
    assert override(TrainConfig(), {"benchmark.against": '["pips"]'}).benchmark.against == ("pips",)


def test_overrides_are_judged_together():
    """Either of these alone would put the final rate above the first one."""
    config = override(TrainConfig(), {"optim.lr": "1e-5", "optim.final_lr": "1e-6"})

    assert (config.optim.lr, config.optim.final_lr) == (1e-5, 1e-6)


@pytest.mark.parametrize("key", ["optim.learning_rate", "optim.lr.x", "nothing", ""])
def test_unknown_override_is_refused(key: str):
    with pytest.raises(ConfigError):
        override(TrainConfig(), {key: "1"})


def test_overrides_stand_above_the_file(tmp_path: Path):
    path = write(tmp_path, "games = 5\nseed = 3\n")

    config = read_config(path, {"games": "7"})

    assert (config.games, config.seed) == (7, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"games = ", "is no TOML"),
        (b"games = '\xff'", "is no UTF-8 text"),
        (b"gmaes = 1", "unknown key 'gmaes'; did you mean 'games'?"),
        (b"games = 0", "games = 0; expected 1 or more"),
    ],
)
def test_fault_of_a_file_names_the_file(content: bytes, message: str, tmp_path: Path):
    path = tmp_path / "small.toml"
    path.write_bytes(content)

    with pytest.raises(ConfigError) as caught:
        read_config(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder_are_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path)


def test_config_comes_back_from_plain_data():
    config = override(TrainConfig(), {"rules": "long", "optim.lr": 0.01, "benchmark.against": ["pips", "random"]})

    assert config_from(json.loads(json.dumps(config_to_dict(config)))) == config


def test_every_option_has_a_help_text_and_can_be_overridden_by_its_own_default():
    options = option_fields()

    assert {"games", "optim.lr", "benchmark.against"} <= set(options)
    assert all(entry.metadata["help"] for entry in options.values())
    assert override(TrainConfig(), {name: entry.default for name, entry in options.items()}) == TrainConfig()


def test_a_rule_set_is_looked_for_beside_its_config(tmp_path, monkeypatch):
    (tmp_path / "club.toml").write_text('base = "hyper"\nscoring = "oin"\n')
    (tmp_path / "mine.toml").write_text('rules = "club.toml"\n')
    monkeypatch.chdir("/")
    assert read_config(tmp_path / "mine.toml").rules == str(tmp_path / "club.toml")

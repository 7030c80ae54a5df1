"""Shipped configs and bots are found by name from any folder, in a repository and in a wheel."""

import pytest

from nardy_ai import resources
from nardy_ai.errors import ConfigError


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one config and one bot; the working folder is another."""
    package = tmp_path / "project" / "nardy_ai"
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").touch()
    for name in ("configs/demo.toml", "checkpoints/tiny.safetensors"):
        file = package.parent / name
        file.parent.mkdir()
        file.touch()
    (package.parent / "checkpoints" / "tiny.md").write_text("# tiny\n\nA bot for a test.\nMore.\n", encoding="utf-8")
    monkeypatch.setattr(resources, "_PACKAGE", package)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return package.parent


def test_files_at_the_top_level_of_a_repository_are_found(repository):
    assert resources.find_config("demo") == repository / "configs" / "demo.toml"
    assert resources.find_checkpoint("tiny") == repository / "checkpoints" / "tiny.safetensors"
    assert (resources.config_names(), resources.checkpoint_names()) == (["demo"], ["tiny"])


def test_files_inside_the_package_come_first(repository):
    inside = repository / "nardy_ai" / "configs"
    inside.mkdir()
    (inside / "demo.toml").touch()
    assert resources.find_config("demo") == inside / "demo.toml"


def test_neighbours_of_an_installed_package_are_strangers(repository):
    (repository / "pyproject.toml").unlink()
    assert resources.config_names() == []
    assert resources.find_checkpoint("tiny") is None


def test_unknown_config_gets_a_suggestion(repository):
    with pytest.raises(ConfigError, match="unknown config 'dmeo'; did you mean 'demo'"):
        resources.find_config("dmeo")


def test_unknown_config_lists_what_is_known(repository):
    with pytest.raises(ConfigError, match=r"known: demo, or a \.toml file"):
        resources.find_config("zzz")


@pytest.mark.parametrize("name", ["../configs/demo", "", ".", "demo.toml"])
def test_names_are_no_paths(repository, name):
    with pytest.raises(ConfigError):
        resources.find_config(name)


def test_summary_is_the_first_line_of_the_card(repository):
    assert resources.checkpoint_summary("tiny") == "A bot for a test."
    assert resources.checkpoint_summary("absent") == ""

"""`docs/commands.md` tells about every command and every option."""

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest

from nardy_ai.cli.main import COMMANDS

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_in_its_section(name):
    """Options of a config are flags of their own (their destination begins with `option`) and are in its help."""
    parser = argparse.ArgumentParser(add_help=False)
    import_module(f"nardy_ai.cli.{name}").add_arguments(parser)
    section = re.search(rf"^## nardy {name}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None
    for action in parser._actions:
        if not action.dest.startswith("option "):
            for flag in action.option_strings:
                assert f"`{flag}" in section[1], flag


def test_every_section_is_about_a_command():
    assert re.findall(r"^## nardy (.*)$", PAGE, re.MULTILINE) == sorted(
        COMMANDS, key=lambda name: PAGE.index(f"## nardy {name}\n")
    )

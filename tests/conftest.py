"""What several test files need: small bots with random weights, each in a file of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from networks import network_of

from nardy_ai.bot_file import save_bot
from nardy_ai.rules import find_rules, start_boards


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tables are made once a run, in a folder of its own, and never read from the user's; answers are English."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NARDY_CACHE", str(folder))
        patch.setenv("NARDY_LANG", "en")
        yield folder


@pytest.fixture(scope="session")
def bot_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of bots with random weights by the name of their rules: short, long, hyper, long-left."""
    folder = tmp_path_factory.mktemp("bots")
    files = {}
    for name in ("short", "long", "hyper", "long-left"):
        rules = find_rules(name)
        features = "blocks-1" if rules.closed_by == 1 else "counts-1"
        files[name] = folder / f"{name}.safetensors"
        save_bot(files[name], network_of(rules, features), golden=start_boards(rules), card={})
    return files

"""What starting costs: who imports numpy, numba and torch, and the table of public names."""

import ast
import importlib.util
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import nardy_ai

PACKAGE = Path(nardy_ai.__file__).parent


def modules_after(code: str) -> set[str]:
    """The modules loaded by a fresh interpreter that runs `code`; what it prints is dropped."""
    script = (
        "import contextlib, io, json, sys\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("heavy", ["numpy", "numba", "torch"])
@pytest.mark.parametrize(
    "code",
    [
        "import nardy_ai",
        "from nardy_ai.cli.main import main; main(['--help'])",
        "from nardy_ai.cli.main import main; main(['bots'])",
    ],
)
def test_start_imports_nothing_heavy(code, heavy):
    assert heavy not in modules_after(code)


@pytest.mark.parametrize("heavy", ["numba", "torch", "matplotlib"])
@pytest.mark.parametrize("argv", [["rules", "long"], ["moves", "start", "--dice", "31"]])
def test_looking_up_rules_and_plays_imports_no_compiler(argv, heavy):
    assert heavy not in modules_after(f"from nardy_ai.cli.main import main; main({argv!r})")


@pytest.mark.parametrize("argv", [["--help"], ["evaluate", "start", "--dice", "31", "--bot", "pips"]])
def test_answers_without_pictures_import_nothing_that_draws(argv):
    loaded = modules_after(f"from nardy_ai.cli.main import main; main({argv!r})")
    assert not {"jinja2", "matplotlib", "nardy_ai.pictures", "nardy_ai.reports"} & loaded


def test_only_training_imports_torch():
    modules = [
        module.name
        for module in pkgutil.walk_packages(nardy_ai.__path__, "nardy_ai.")
        if not module.name.startswith(("nardy_ai.train", "nardy_ai.cli.train"))
    ]
    assert "torch" not in modules_after("\n".join(f"import {name}" for name in modules))


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_only_the_training_package_names_torch(file):
    if file.relative_to(PACKAGE).parts[0] == "train":
        return
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(name.split(".")[0] == "torch" for name in names)


@pytest.mark.parametrize("name", sorted(set(nardy_ai.__all__) - {"__version__"}))
def test_public_name_can_be_loaded(name):
    assert getattr(nardy_ai, name) is not None


def test_public_names_and_their_table_agree():
    assert set(nardy_ai.__all__) == {*nardy_ai._MODULES, "__version__"}
    assert set(dir(nardy_ai)) == set(nardy_ai.__all__)


def test_public_names_are_declared_for_type_checkers():
    declared = {
        alias.asname: node.module
        for node in ast.walk(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert declared == nardy_ai._MODULES


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        nardy_ai.no_such_name  # noqa: B018


def test_every_command_has_a_module():
    from nardy_ai.cli.main import COMMANDS

    for name in COMMANDS:
        assert importlib.util.find_spec(f"nardy_ai.cli.{name}") is not None

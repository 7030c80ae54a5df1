"""Every sample of the documentation runs: `console` and `sh` fences with `nardy` commands, and `python` fences.

A sample is left out with its reason by a comment on the line before the fence: `<!-- sample: skip REASON -->`.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "README.ru.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(
    r"^(?:<!-- sample: skip (?P<reason>[^\n]*?) -->\n+)?```(?P<language>console|sh|python)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LIMIT_SECONDS = 120


def commands(body: str) -> str:
    """A shell sample without prompts and outputs; empty if none of its commands is `nardy`.

    In a `console` sample with prompts only lines after a prompt are commands. A backslash continues a line.
    """
    lines = body.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return "\n".join(lines) if any(line.startswith("nardy ") for line in lines) else ""


def samples() -> Iterator[object]:
    """One parameter a sample: how it is run. What two pages show alike runs once."""
    seen = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            is_python = match["language"] == "python"
            script = match["body"] if is_python else commands(match["body"])
            if script and script not in seen:
                seen.add(script)
                line = text.count("\n", 0, match.start("language")) + 1
                reason = match["reason"]
                marks = [pytest.mark.skip(reason=reason)] if reason else []
                yield pytest.param(is_python, script, id=f"{page.name}:{line}", marks=marks)


@pytest.mark.parametrize(("is_python", "script"), list(samples()))
def test_sample_of_the_documentation_runs(is_python, script, tmp_path):
    command = [sys.executable, "-c", script] if is_python else ["sh", "-ec", script]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"


def test_pages_have_samples():
    assert any(commands(match["body"]) for page in PAGES for match in FENCE.finditer(page.read_text(encoding="utf-8")))


def test_every_skipped_sample_gives_a_reason():
    for page in PAGES:
        for comment in re.findall(r"<!-- sample:.*?-->", page.read_text(encoding="utf-8")):
            assert re.fullmatch(r"<!-- sample: skip \S.* -->", comment), f"{page.name}: {comment}"

"""Files written whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in `path`'s place in one step.

    Whoever reads `path` sees the old file or the new one, even after a kill or a power cut. Makes missing folders.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """`replace_file` with UTF-8 text."""

    def write(part: Path) -> None:
        part.write_text(text, encoding="utf-8")

    replace_file(path, write)

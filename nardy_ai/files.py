"""Files written whole or not at all, and folders that one process uses at a time."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EISDIR
from os import strerror
from pathlib import Path

from nardy_ai.errors import NardyError


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in `path`'s place in one step.

    Whoever reads `path` sees the old file or the new one, even after a kill or a power cut. Makes missing folders.
    Raises OSError.
    """
    temporary = _beside(path)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path) -> None:
    """Refuse a file that `replace_file` could not put in place, before long work for it. Raises OSError."""
    temporary = _beside(path)
    try:
        temporary.touch()
    finally:
        temporary.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """The temporary file of `path`. Makes missing folders. Raises OSError where path is a folder."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, strerror(EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.name}.part")


def replace_text(path: Path, text: str) -> None:
    """`replace_file` with UTF-8 text."""

    def write(part: Path) -> None:
        part.write_text(text, encoding="utf-8")

    replace_file(path, write)


@contextmanager
def sole_use(path: Path) -> Iterator[None]:
    """Hold the lock file `path` while open; it goes with the process, however that ends. Raises NardyError if held."""
    with path.open("a+b") as file:
        if not _lock(file.fileno()):
            raise NardyError(f"{path.parent} is in use by another process; wait for it or stop it")
        yield


def _lock(descriptor: int) -> bool:
    """Whether this process got the lock that a file stands for."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

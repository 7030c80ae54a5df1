"""Tables that are made once and kept in the user's cache folder, and made again when they are damaged.

A table file is an `.npz` of plain arrays, compressed or not, and one more, `header`: JSON with the format number, what
the tables are for, and a checksum over the arrays. What a table means is its maker's business.
"""

import hashlib
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai.files import replace_file

__all__ = ["FORMAT", "Note", "Tables", "cache_folder", "kept", "read_tables", "write_tables"]

FORMAT = 1

Note = Callable[[str], None]
"""Told in one line what is being made, and why a file could not be used."""

Tables = Mapping[str, NDArray[Any]]


def cache_folder() -> Path:
    """`NARDY_CACHE` if it is set, else `nardy_ai` in the folder where the system keeps what can be made again."""
    own = os.environ.get("NARDY_CACHE")
    if own:
        return Path(own)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "nardy_ai" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nardy_ai"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else Path.home() / ".cache") / "nardy_ai"


def kept(
    name: str,
    about: Mapping[str, Any],
    make: Callable[[], Tables],
    *,
    compressed: bool = True,
    note: Note | None = None,
) -> Tables:
    """The tables `name` from the cache; made, and put there, if they are missing, damaged or about something else.

    about: plain data; what is in the file must say the same. compressed: a smaller file that takes longer to read. A
    folder that cannot be written to costs the time of making them the next time, and a note.
    """
    tell = note or _silent
    path = cache_folder() / f"{name}.npz"
    try:
        return read_tables(path, about)
    except FileNotFoundError:
        tell(f"making {name} (once) ...")
    except (OSError, ValueError) as error:
        tell(f"{path}: {error}; making it again ...")
    tables = make()
    try:
        write_tables(path, tables, about, compressed=compressed)
    except OSError as error:
        tell(f"{path}: cannot be written: {error.strerror or error}")
    return tables


def write_tables(path: Path, tables: Tables, about: Mapping[str, Any], *, compressed: bool = True) -> None:
    """Write arrays and what they are about, in one step. Raises OSError."""
    header = json.dumps({"format": FORMAT, "about": dict(about), "sha256": _checksum(tables)}, sort_keys=True)
    arrays: dict[str, Any] = {**tables, "header": np.frombuffer(header.encode(), dtype=np.uint8)}

    def write(part: Path) -> None:
        with part.open("wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **arrays)

    replace_file(path, write)


def read_tables(path: Path, about: Mapping[str, Any]) -> Tables:
    """What `write_tables` wrote. Raises ValueError for a file that is damaged or about something else, OSError."""
    try:
        with np.load(path, allow_pickle=False) as file:
            tables = {key: file[key] for key in file.files}
        header = json.loads(tables.pop("header").tobytes())
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError) as error:
        raise ValueError(f"is damaged ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"is not of format {FORMAT}")
    if header.get("about") != json.loads(json.dumps(dict(about))):
        raise ValueError("was made for something else")
    if header.get("sha256") != _checksum(tables):
        raise ValueError("is damaged (its checksum is wrong)")
    return tables


def _checksum(tables: Tables) -> str:
    """SHA-256 over names, types, shapes and bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(tables):
        array = np.ascontiguousarray(tables[name])
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _silent(text: str) -> None:
    """Nobody listens."""

"""Arrays and texts in one safetensors file, written whole and checked when read.

The texts are the file's metadata; one of them, `digest`, is the SHA-256 of all arrays and all other texts. What the
arrays mean is for `bot_file` and `train.state` to say.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save_file

from nardy_ai.errors import NardyError
from nardy_ai.files import replace_file

Arrays = dict[str, NDArray[Any]]
_HEADER_LENGTH = 8


class TensorsError(NardyError):
    """A file is not readable as arrays and texts, or is damaged."""


def write_tensors(
    path: Path, arrays: Mapping[str, NDArray[Any]], texts: Mapping[str, str], *, check: Callable[[Path], object]
) -> None:
    """Write a file; `check` reads the new one before it takes the place of an old one. Raises OSError."""
    whole = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    signed = dict(texts) | {"digest": _digest(whole, texts)}

    def write(part: Path) -> None:
        try:
            save_file(whole, part, signed)
        except SafetensorError as error:
            raise OSError(f"{path}: cannot be written: {' '.join(str(error).split())}") from error
        check(part)

    replace_file(path, write)


def read_tensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """The arrays and texts of a file, if they are those that were written. Raises TensorsError.

    The bytes are read before anything is made of them, so a file that changes meanwhile does no harm.
    """
    try:
        if not path.is_file():
            raise TensorsError(f"{path}: {'is no file' if path.exists() else 'no such file'}")
        content = path.read_bytes()
        arrays = load(content)
        size = int.from_bytes(content[:_HEADER_LENGTH], "little")
        texts = json.loads(content[_HEADER_LENGTH : _HEADER_LENGTH + size]).get("__metadata__", {})
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, TensorsError):
            raise
        raise TensorsError(f"{path}: is not readable: {' '.join(str(error).split())}") from error
    if "digest" in texts and texts["digest"] != _digest(arrays, texts):
        raise TensorsError(f"{path}: is damaged: its contents differ from their digest")
    return arrays, texts


def _digest(arrays: Mapping[str, NDArray[Any]], texts: Mapping[str, str]) -> str:
    """The SHA-256 of all arrays and of all texts but `digest` itself."""
    digest = hashlib.sha256()
    others = {key: text for key, text in texts.items() if key != "digest"}
    digest.update(json.dumps(others, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()

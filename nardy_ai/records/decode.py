"""Bytes of a text file to its lines: byte order marks, old eight-bit encodings, the line ends of every system."""

import codecs
import re
from pathlib import Path

from nardy_ai.errors import NotationError

__all__ = ["decoded", "file_lines"]

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
LARGEST = 64 * 2**20
"""Bytes; no match is a hundredth of it."""


def file_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends. Raises NotationError if it cannot be read or holds no text."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise NotationError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise NotationError(f"{path}: has more than {LARGEST} bytes; a match is smaller by far")
    text = decoded(data)
    if "\0" in text:
        raise NotationError(f"{path}: is no text: it holds zero bytes (an .xg or .bgf file? export it as .mat)")
    return _LINE_END.split(text)


def decoded(data: bytes) -> str:
    """The text of a file: by its byte order mark, else UTF-8, else Windows-1251 or Latin-1.

    Of the last two it is Windows-1251 if in the words with letters beyond ASCII such letters are the most: Cyrillic
    words are made of nothing else, accents of the West stand alone.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    words = [word for word in _WORD.findall(data) if any(byte >= 0x80 for byte in word)]
    beyond = sum(byte >= 0x80 for word in words for byte in word)
    if 2 * beyond > sum(map(len, words)):
        return data.decode("cp1251", errors="replace")
    return data.decode("latin-1")

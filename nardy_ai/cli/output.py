"""How subcommands print: tables, JSON, pictures. What they read is `cli.positions`' business."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nardy_ai.errors import NardyError
from nardy_ai.files import check_target, replace_text
from nardy_ai.language import LANGUAGES, tr


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_language_argument(parser: argparse.ArgumentParser) -> None:
    """`--lang`, which `cli.main` obeys; commands without it speak English."""
    parser.add_argument("--lang", choices=LANGUAGES, help="the language of the answer (default: that of the locale)")


def heading(text: str, width: int) -> str:
    """What stands over a column of numbers of this width: `text` in the current language, to the right."""
    return tr(text).rjust(width)


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    """`--svg FILE` and `--html FILE`."""
    parser.add_argument("--svg", metavar="FILE", help="draw the board, with the best play of a roll, into an SVG file")
    parser.add_argument("--html", metavar="FILE", help="write the answer with drawn boards as a page for a browser")


def check_picture_arguments(args: argparse.Namespace, positions: int) -> None:
    """Refuse `--svg` for more than one position. Raises NardyError."""
    if args.svg is not None and positions > 1:
        raise NardyError(f"--svg draws one position, but {positions} are given; --html takes them all")


@contextmanager
def writing(file: str) -> Iterator[Path]:
    """Where a file that the user has named is written, or looked at before. Raises NardyError if it cannot be."""
    try:
        yield Path(file)
    except OSError as error:
        raise NardyError(f"{file}: cannot be written: {error.strerror or error}") from error


def check_targets(*files: str | None) -> None:
    """Refuse files, None for none, that could not be written, before long work for them. Raises NardyError."""
    for file in files:
        if file is not None:
            with writing(file) as path:
                check_target(path)


def write_document(file: str, text: str) -> None:
    """A text file, written whole or not at all. Raises NardyError if it cannot be."""
    with writing(file) as path:
        replace_text(path, text)


def print_json(value: object) -> None:
    """One JSON document on stdout; a list of numbers, such as a row of a board, is one line."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    print(_NUMBERS.sub(lambda found: " ".join(found[0].split()).replace("[ ", "[").replace(" ]", "]"), text))


_NUMBERS = re.compile(r"\[\n\s*-?\d[-+.\deE]*(?:,\n\s*-?\d[-+.\deE]*)*\n\s*\]")
"""A list of numbers over several lines; no text within JSON has a line break."""


def print_table(
    rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), indent: int = 0, width: int | None = None
) -> None:
    """Left-aligned columns on stdout; the last one is not padded. width: of the table, to which the last is wrapped."""
    lines = [header, *rows] if header else list(rows)
    if not lines:
        return
    if width is not None:
        taken = indent + sum(max(len(line[i]) for line in lines) + 2 for i in range(len(lines[0]) - 1))
        lines = [one for line in lines for one in _wrapped(line, width - taken)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print((" " * indent + "  ".join(cells)).rstrip())


def _wrapped(line: Sequence[str], width: int) -> list[list[str]]:
    """A line of a table as one or more, the last cell no wider than `width`."""
    *cells, last = line
    first, *others = textwrap.wrap(last, width) or [""]
    return [[*cells, first], *([*[""] * len(cells), other] for other in others)]


def say(text: str) -> None:
    """A line on stderr, where what is no result goes."""
    print(text, file=sys.stderr, flush=True)

"""How subcommands print: tables, JSON, pictures. What they read is `cli.positions`' business."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from nardy_ai.errors import NardyError
from nardy_ai.files import replace_text


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_picture_arguments(parser: argparse.ArgumentParser) -> None:
    """`--svg FILE` and `--html FILE`."""
    parser.add_argument("--svg", metavar="FILE", help="draw the board, with the best play of a roll, into an SVG file")
    parser.add_argument("--html", metavar="FILE", help="write the answer with drawn boards as a page for a browser")


def check_picture_arguments(args: argparse.Namespace, positions: int) -> None:
    """Refuse `--svg` for more than one position. Raises NardyError."""
    if args.svg is not None and positions > 1:
        raise NardyError(f"--svg draws one position, but {positions} are given; --html takes them all")


def write_document(file: str, text: str) -> None:
    """A text file, written whole or not at all. Raises NardyError if it cannot be."""
    try:
        replace_text(Path(file), text)
    except OSError as error:
        raise NardyError(f"{file}: cannot be written: {error.strerror}") from error


def print_json(value: object) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), indent: int = 0) -> None:
    """Left-aligned columns on stdout; the last column is not padded."""
    lines = [header, *rows] if header else list(rows)
    if not lines:
        return
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print((" " * indent + "  ".join(cells)).rstrip())


def say(text: str) -> None:
    """A line on stderr, where what is no result goes."""
    print(text, file=sys.stderr, flush=True)

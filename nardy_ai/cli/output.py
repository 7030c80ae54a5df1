"""How subcommands print: tables and JSON. What they read is `cli.positions`' business."""

import argparse
import json
import sys
from collections.abc import Sequence


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


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

"""The arguments about positions that several subcommands have, and how they are read."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_ai.dice import parse_dice
from nardy_ai.errors import NardyError, NotationError
from nardy_ai.notation import Position, read_position
from nardy_ai.rules import RuleSet


@dataclass(frozen=True)
class Given:
    """A position as the user gave it. where: empty for an argument, otherwise `FILE:LINE: `."""

    where: str
    text: str
    position: Position


def add_rules_argument(parser: argparse.ArgumentParser, *, default_text: str | None = None) -> None:
    """`--rules NAME`.

    default_text: what the help says where the default depends on the bots (it is then None); None: it is `short`.
    """
    parser.add_argument(
        "--rules",
        default="short" if default_text is None else None,
        metavar="NAME",
        help=f"a rule set, an alias or a .toml file (default: {default_text or 'short'})",
    )


def add_position_arguments(parser: argparse.ArgumentParser) -> None:
    """`POSITION ...` and `--file FILE`."""
    parser.add_argument(
        "positions",
        nargs="*",
        metavar="POSITION",
        help="start, an XGID, a GNU or OGID identifier, or text such as '20:1 / 12:2'; - reads stdin, one a line",
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="read positions from a file, one a line; blank lines and lines that begin with # are skipped",
    )


def add_dice_argument(parser: argparse.ArgumentParser) -> None:
    """`--dice ROLL`."""
    parser.add_argument("--dice", metavar="ROLL", help="the roll, such as 31, in place of one the position names")


def read_positions(args: argparse.Namespace, rules: RuleSet) -> list[Given]:
    """All positions named by the arguments, in their order. Raises NardyError, which names file and line."""
    given = []
    for where, text in _position_texts(args):
        try:
            given.append(Given(where, text, read_position(text, rules)))
        except NardyError as error:
            raise type(error)(f"{where}{error}") from error
    return given


def read_dice(args: argparse.Namespace, given: Given) -> NDArray[np.uint8] | None:
    """The roll of `--dice`, else the one the position names, `uint8[2]`, larger first; None if neither says."""
    if args.dice is not None:
        return parse_dice(args.dice)
    if given.position.dice is not None:
        return np.array(given.position.dice, dtype=np.uint8)
    return None


def _position_texts(args: argparse.Namespace) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for text in args.positions:
        found.extend(_lines("stdin", _read_stdin()) if text == "-" else [("", text)])
    if args.file == "-":
        found.extend(_lines("stdin", _read_stdin()))
    elif args.file is not None:
        found.extend(_lines(args.file, _read_file(args.file)))
    if not found:
        raise NotationError("no position given; expected POSITION, --file FILE or - for stdin")
    return found


def _lines(source: str, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield f"{source}:{number}: ", stripped


def _read_stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise NotationError("stdin: is no text in the encoding of the terminal") from error


def _read_file(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotationError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotationError(f"{file}: is no UTF-8 text") from error

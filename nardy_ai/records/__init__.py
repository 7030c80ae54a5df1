"""Matches as written: read from `.mat`, `.sgf` and lists of positions, written as `.mat`, replayed on boards.

What stands in a file is `records.game`'s data, whatever its format; a damaged file is read as far as it goes, and its
faults are named by line. `records.replay` finds the boards and says where a play was none.
"""

from pathlib import Path

from nardy_ai.errors import NotationError
from nardy_ai.files import replace_text
from nardy_ai.records.decode import file_lines
from nardy_ai.records.game import (
    Action,
    CubeAction,
    Fault,
    GameRecord,
    MatchRecord,
    Resignation,
    Setup,
    Turn,
)
from nardy_ai.records.mat import looks_like_mat, read_mat, write_mat
from nardy_ai.records.positions import read_position_list
from nardy_ai.records.replay import Moment, ReplayedGame, replay_match
from nardy_ai.records.sgf import looks_like_sgf, read_sgf
from nardy_ai.rules import RuleSet

__all__ = [
    "Action",
    "CubeAction",
    "Fault",
    "GameRecord",
    "MatchRecord",
    "Moment",
    "ReplayedGame",
    "Resignation",
    "Setup",
    "Turn",
    "read_record",
    "replay_match",
    "save_record",
]


def read_record(path: Path, rules: RuleSet) -> MatchRecord:
    """The match in a file of any format that is read here, recognised by what it holds.

    rules: by which positions are read, where the file does not name its own. Raises NotationError with file and fault
    if nothing can be read; other faults are in the record.
    """
    lines = file_lines(path)
    if looks_like_sgf(lines):
        read = read_sgf
    elif looks_like_mat(lines):
        read = read_mat
    else:
        read = read_position_list
    try:
        return read(lines, rules)
    except NotationError as error:
        raise NotationError(f"{path}: {error}") from error


def save_record(path: Path, record: MatchRecord) -> None:
    """Write a match as `.mat`, UTF-8, whole or not at all. Raises NotationError for what the format cannot carry."""
    replace_text(path, write_mat(record))

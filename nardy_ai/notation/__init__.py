"""Position and play text, both ways: XGID, GNU Backgammon's IDs, OGID, the project's own form, plays, drawn boards.

Every fault of a text is a NotationError or BoardError that says what is wrong and where; a text never becomes another
board than the one it names. Legal plays are `movegen`'s business, cube decisions `cube`'s.
"""

import re
from collections.abc import Callable

from nardy_ai.boards import CONTRARY, Boards
from nardy_ai.errors import NotationError
from nardy_ai.notation.draw import draw_board
from nardy_ai.notation.gnubg_id import MATCH_ID_LENGTH, POSITION_ID_LENGTH, read_gnubg, write_gnubg, write_position_id
from nardy_ai.notation.ogid import CUBE_FIELD, read_ogid, write_ogid
from nardy_ai.notation.plays import Move, format_play, ordered_moves, parse_play
from nardy_ai.notation.position import Position, check_position
from nardy_ai.notation.text import START_WORDS, board_text, read_text, write_text
from nardy_ai.notation.xgid import read_xgid, write_xgid
from nardy_ai.rules import RuleSet

__all__ = [
    "FORMATS",
    "Move",
    "Position",
    "board_text",
    "check_position",
    "draw_board",
    "format_of",
    "format_play",
    "ordered_moves",
    "parse_play",
    "parse_position",
    "read_position",
    "write_position",
    "xgid_or_none",
]

FORMATS = ("text", "xgid", "gnubg", "ogid")
"""What `write_position` can write and `read_position` recognises."""

_READERS: dict[str, Callable[[str, RuleSet], Position]] = {
    "text": read_text,
    "xgid": read_xgid,
    "gnubg": read_gnubg,
    "ogid": read_ogid,
}
_GNUBG = re.compile(f"[A-Za-z0-9+/]{{{POSITION_ID_LENGTH}}}(:[A-Za-z0-9+/]{{{MATCH_ID_LENGTH}}})?")
_ABOUT_AN_ID = frozenset(
    length + slip for length in (POSITION_ID_LENGTH, POSITION_ID_LENGTH + 1 + MATCH_ID_LENGTH) for slip in range(-2, 3)
)
"""Lengths of texts that are meant as a Position ID, or as one with a Match ID, and a little too long or too short."""

_TEXT = re.compile(rf"(?:{'|'.join(START_WORDS)})(?=\s|$)|/(?=\s|$)|(?:bar|off|[0-9]{{1,2}}):[0-9]{{1,2}}(?=[\s/]|$)")


def read_position(text: str, rules: RuleSet) -> Position:
    """The position named by a text in any of FORMATS; `start` names the rule set's first board.

    Raises NotationError, or BoardError if no game under `rules` can show the board.
    """
    name = format_of(text)
    if name != "text":
        _check_geometry(name, rules)
    position = _READERS[name](text, rules)
    check_position(position.board, rules)
    return position


def parse_position(text: str, rules: RuleSet) -> Boards:
    """The board `int8[2, 26]`, row 0 on roll, of a text in any of FORMATS. Raises NotationError, BoardError."""
    return read_position(text, rules).board


def write_position(position_or_board: Position | Boards, rules: RuleSet, *, format: str = "text") -> str:
    """The text of a position, or of a board `int8[2, 26]` with row 0 on roll, in one of FORMATS.

    A bare board is money before the roll; as `gnubg` it is a Position ID alone, a Position is `POSITIONID:MATCHID`.
    Raises BoardError for a board that `read_position` would refuse, NotationError for what the format cannot say.
    """
    if format not in FORMATS:
        raise NotationError(f"unknown format {format!r}; expected one of {', '.join(FORMATS)}")
    if format != "text":
        _check_geometry(format, rules)
    bare = not isinstance(position_or_board, Position)
    position = Position(position_or_board) if not isinstance(position_or_board, Position) else position_or_board
    check_position(position.board, rules)
    if format == "text":
        return write_text(position)
    if format == "xgid":
        return write_xgid(position)
    if format == "ogid":
        return write_ogid(position, rules)
    return write_position_id(position.board) if bare else write_gnubg(position)


def xgid_or_none(position: Position, rules: RuleSet) -> str | None:
    """The position as XGID; None where that cannot say it."""
    try:
        return write_position(position, rules, format="xgid")
    except NotationError:
        return None


def format_of(text: str) -> str:
    """The format a text has the shape of, right or wrong. Raises NotationError if it has none."""
    given = text.strip()
    folded = given.casefold()
    for prefix, name in (("xgid=", "xgid"), ("ogid=", "ogid")):
        if folded.startswith(prefix):
            return name
    if _GNUBG.fullmatch(given):
        return "gnubg"
    if _TEXT.match(folded):
        return "text"
    if " / " in given:
        return "text"
    fields = given.split(":")
    if len(fields) >= 3 and (CUBE_FIELD.fullmatch(fields[2]) or not re.fullmatch("-?[0-9]*", fields[2])):
        return "ogid"
    if len(fields) >= 3:
        return "xgid"
    if re.fullmatch("[0-9a-q]+:[0-9a-q]+", given):
        return "ogid"
    if re.fullmatch(r"[A-Za-z0-9+/:=]+", given) and len(given) in _ABOUT_AN_ID:
        return "gnubg"
    raise NotationError(
        f"{text!r} is no position; expected an XGID, a GNU position ID (14 characters, perhaps :MATCHID), an OGID,"
        " 'start', or text such as 20:1 / 12:2 (on roll / other, own numbering)"
    )


def _check_geometry(name: str, rules: RuleSet) -> None:
    if rules.board != CONTRARY:
        label = {"xgid": "an XGID", "gnubg": "a GNU position ID", "ogid": "an OGID"}[name]
        raise NotationError(
            f"{label} describes sides that move against each other; in {rules.name!r} they move the same way."
            " Use the text form, such as 24:15 / 24:15 (on roll / other, own numbering)"
        )

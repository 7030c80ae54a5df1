"""OGID, the position text of OpenGammon.

Fields with colons between: White's checkers, Black's checkers, cube, then optionally dice, the side that acted last,
state, White's score, Black's score, match length, move number, checkers a side. A checker is one character, its place
in one fixed frame: 0..9a..p are places 0..25, White's own point p is place 25 - p, Black's is place p; q is borne off.
There is no formal document; the source is two open implementations, as told in tests/data/formats/ogid.json.
"""

import re

from nardy_ai.boards import BAR, SLOTS, Boards
from nardy_ai.errors import NotationError
from nardy_ai.notation.fields import board_of, two_dice, whole_number
from nardy_ai.notation.position import MAX_CUBE_LOG2, MAX_POINTS, Position
from nardy_ai.rules import MAX_CHECKERS, RuleSet

CUBE_FIELD = re.compile("([A-Z?])([0-9]{1,2})([A-Z])")

_WHITE, _BLACK = 0, 1
_PLACES = "0123456789abcdefghijklmnop"
_OFF = "q"
_COLOURS = {"W": _WHITE, "B": _BLACK}
_LETTERS = ("W", "B")
_NAMES = ("White", "Black")
_LEAST_FIELDS, _MOST_FIELDS = 3, 11


def read_ogid(text: str, rules: RuleSet) -> Position:
    """The position an OGID names. Raises NotationError, BoardError.

    The side on roll is the one that did not act last, or the doubler while a double waits; White if no side is named.
    Checkers not in the text are borne off. The board is not yet checked against the rules.
    """
    given = re.sub("^ogid=", "", text.strip(), flags=re.IGNORECASE).split(":")
    if not _LEAST_FIELDS <= len(given) <= _MOST_FIELDS:
        raise NotationError(f"OGID has {len(given)} fields; expected {_LEAST_FIELDS} to {_MOST_FIELDS}")
    fields = given + [""] * (_MOST_FIELDS - len(given))
    checkers = whole_number(fields[10] or str(rules.checkers), "OGID field 11 (checkers a side)", 1, MAX_CHECKERS)
    if checkers != rules.checkers:
        raise NotationError(
            f"OGID field 11: {checkers} checkers a side; {rules.name!r} is played with {rules.checkers}"
        )
    cube = CUBE_FIELD.fullmatch(fields[2])
    if not cube:
        raise NotationError(f"OGID field 3 (cube) is {fields[2]!r}; expected one such as N0N or W1O")
    owner, log2, action = cube.groups()
    if fields[4] not in ("", *_COLOURS):
        raise NotationError(f"OGID field 5 (side that acted last) is {fields[4]!r}; expected W or B")
    if owner not in ("N", *_COLOURS):
        raise NotationError(f"OGID field 3: cube owner {owner!r}; expected N, W or B")
    if action not in ("N", "O", "T", "P"):
        raise NotationError(f"OGID field 3: cube action {action!r}; expected N, O, T or P")
    if action != "N" and not fields[4]:
        raise NotationError(f"OGID field 3: cube action {action!r}, but field 5 does not say whose")
    if action == "T" and owner != fields[4]:
        raise NotationError(f"OGID field 3: {fields[4]} took the double, but the cube's owner is {owner}")
    acted = _COLOURS[fields[4] or "B"]
    row0 = acted if action == "O" else 1 - acted
    white = whole_number(fields[6] or "0", "OGID field 7 (White's score)", 0, MAX_POINTS)
    black = whole_number(fields[7] or "0", "OGID field 8 (Black's score)", 0, MAX_POINTS)
    length = re.fullmatch("([0-9]*)(C?)", fields[8])
    if not length:
        raise NotationError(
            f"OGID field 9 (match length) is {fields[8]!r}; expected a number, with C in a Crawford game"
        )
    rows = (_row(fields[0], _WHITE), _row(fields[1], _BLACK))
    board = board_of((rows[row0], rows[1 - row0]), rules, (_NAMES[row0], _NAMES[1 - row0]))
    _check_off(fields, board, row0)
    return Position(
        board=board,
        dice=two_dice(fields[3], "OGID field 4 (dice)") if fields[3] else None,
        cube_value=2 ** whole_number(log2, "OGID field 3: log2 of the cube", 0, MAX_CUBE_LOG2),
        cube_owner=None if owner == "N" else int(_COLOURS[owner] != row0),
        match_length=whole_number(length[1] or "0", "OGID field 9 (match length)", 0, MAX_POINTS),
        scores=(white, black) if row0 == _WHITE else (black, white),
        crawford=bool(length[2]),
        offer="double" if action == "O" else "none",
        game_state="dropped" if action == "P" else "playing",
        other_acted=action == "P",
        row0_player=row0,
        move_number=whole_number(fields[9] or "0", "OGID field 10 (move number)", 0, MAX_POINTS),
        ogid_state=fields[5],
    )


def write_ogid(position: Position, rules: RuleSet) -> str:
    """The OGID of a position on a contrary board, checkers ascending, dice low-high, as the reference writer does.

    Jacoby, beavers and the cube's limit have no place in it. Raises NotationError for what the format cannot say.
    """
    if position.resign_offered:
        raise NotationError("an OGID cannot carry a resignation offer; use the gnubg or the text form")
    if position.offer in ("beaver", "raccoon"):
        raise NotationError(f"an OGID cannot carry a {position.offer}; use the xgid or the text form")
    if not position.playing and not (position.game_state == "dropped" and position.other_acted):
        raise NotationError(f"an OGID cannot say that the game is {position.game_state!r}; use the gnubg or text form")
    if position.cube_value & (position.cube_value - 1):
        raise NotationError(
            f"the cube shows {position.cube_value}; an OGID holds powers of two only, use the text form"
        )
    row0 = position.row0_player
    white, black = position.scores if row0 == _WHITE else position.scores[::-1]
    owner = "N" if position.cube_owner is None else _LETTERS[row0 ^ position.cube_owner]
    action = "O" if position.double_offered else "N" if position.playing else "P"
    parts = [
        _places(position.board, row0, _WHITE),
        _places(position.board, row0, _BLACK),
        f"{owner}{position.cube_value.bit_length() - 1}{action}",
        "{1}{0}".format(*position.dice) if position.dice else "",
        _LETTERS[row0 if position.double_offered else 1 - row0],
        position.ogid_state or ("D" if position.double_offered else "R" if position.dice else ""),
        str(white),
        str(black),
        f"{position.match_length}{'C' if position.crawford else ''}",
        str(position.move_number),
    ]
    if rules.checkers != MAX_CHECKERS:
        parts.append(str(rules.checkers))
    return ":".join(parts)


def _row(places: str, colour: int) -> list[int]:
    """Counts by own slot; slot 0 holds the checkers written as borne off."""
    row = [0] * SLOTS
    for place in places:
        if place == _OFF:
            row[0] += 1
            continue
        slot = _PLACES.find(place)
        own = BAR - slot if colour == _WHITE else slot
        if slot < 0 or own == 0:
            raise NotationError(f"OGID field {colour + 1} ({_NAMES[colour]}): {place!r} is no place for a checker")
        row[own] += 1
    return row


def _check_off(fields: list[str], board: Boards, row0: int) -> None:
    """Checkers written as borne off must not be more than the ones missing on the board."""
    for colour in (_WHITE, _BLACK):
        written, missing = fields[colour].count(_OFF), int(board[row0 ^ colour, 0])
        if written > missing:
            raise NotationError(
                f"OGID field {colour + 1} ({_NAMES[colour]}): {written} checkers borne off, but {missing} are missing"
            )


def _places(board: Boards, row0: int, colour: int) -> str:
    row = board[row0 ^ colour]
    slots = range(BAR, 0, -1) if colour == _WHITE else range(1, SLOTS)
    places = "".join(_PLACES[BAR - slot if colour == _WHITE else slot] * int(row[slot]) for slot in slots)
    return places or _OFF * int(row[0])

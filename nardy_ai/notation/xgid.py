"""XGID, the position text of eXtreme Gammon.

Ten fields with colons between: 26 letters in the bottom player's numbering, cube, cube owner, turn, dice, two
scores, Crawford or money rules, match length, cube limit. The letters are absolute: they do not turn with the turn.
Described in eXtreme Gammon's help, "XGID"; vectors in tests/data/formats/xgid.json.
"""

import re

from nardy_ai.boards import BAR, SLOTS
from nardy_ai.errors import NotationError
from nardy_ai.notation.fields import Dice, board_of, two_dice, whole_number
from nardy_ai.notation.position import MAX_CUBE_LOG2, MAX_POINTS, Position
from nardy_ai.rules import RuleSet

PREFIX = "XGID="

_BOTTOM, _TOP = 1, 0
_FIELDS = 10
_FIELDS_TO_DICE = 5
_MONEY = ["0", "0", "0", "0", "10"]
_SIGNS = {"1": _BOTTOM, "-1": _TOP}
_OFFER_BY_LETTER = {"D": "double", "B": "beaver", "R": "raccoon"}
_LETTER_BY_OFFER = {offer: letter for letter, offer in _OFFER_BY_LETTER.items()}


def read_xgid(text: str, rules: RuleSet) -> Position:
    """The position an XGID names; all ten fields, or the first five (money). Raises NotationError, BoardError.

    Checkers not in the text are borne off. The board is not yet checked against the rules.
    """
    given = re.sub("^xgid=", "", text.strip(), flags=re.IGNORECASE)
    fields = given.split(":")
    if len(fields) == _FIELDS_TO_DICE:
        fields += _MONEY
    if len(fields) != _FIELDS:
        raise NotationError(
            f"XGID has {len(fields)} fields; expected {_FIELDS}, or {_FIELDS_TO_DICE} up to the dice for money"
        )
    rows = _rows(fields[0])
    if fields[3] not in _SIGNS:
        raise NotationError(f"XGID field 4 (turn) is {fields[3]!r}; expected 1 (bottom) or -1 (top)")
    if fields[2] not in ("0", *_SIGNS):
        raise NotationError(f"XGID field 3 (cube owner) is {fields[2]!r}; expected 1, 0 or -1")
    row0 = _SIGNS[fields[3]]
    dice, offer = _dice_and_offer(fields[4])
    bottom = whole_number(fields[5], "XGID field 6 (bottom's score)", 0, MAX_POINTS)
    top = whole_number(fields[6], "XGID field 7 (top's score)", 0, MAX_POINTS)
    length = whole_number(fields[8], "XGID field 9 (match length)", 0, MAX_POINTS)
    if length:
        special = whole_number(fields[7], "XGID field 8 (Crawford game)", 0, 1)
    else:
        special = whole_number(fields[7], "XGID field 8 (Jacoby 1, beavers 2)", 0, 3)
    names = ("bottom", "top") if row0 == _BOTTOM else ("top", "bottom")
    return Position(
        board=board_of((rows[row0], rows[1 - row0]), rules, names),
        dice=dice,
        cube_value=2 ** whole_number(fields[1], "XGID field 2 (log2 of the cube)", 0, MAX_CUBE_LOG2),
        cube_owner=None if fields[2] == "0" else int(_SIGNS[fields[2]] != row0),
        match_length=length,
        scores=(bottom, top) if row0 == _BOTTOM else (top, bottom),
        crawford=bool(length and special),
        jacoby=bool(not length and special & 1),
        beavers=bool(not length and special & 2),
        max_cube_log2=whole_number(fields[9], "XGID field 10 (log2 of the largest cube)", 0, 2 * MAX_CUBE_LOG2),
        offer=offer,
        row0_player=row0,
    )


def write_xgid(position: Position) -> str:
    """The XGID of a position on a contrary board. Raises NotationError for what the format cannot say."""
    if position.resign_offered:
        raise NotationError("an XGID cannot carry a resignation offer; use the gnubg or the text form")
    if not position.playing:
        raise NotationError(f"an XGID cannot say that the game is {position.game_state!r}; use the gnubg or text form")
    if position.cube_value & (position.cube_value - 1):
        raise NotationError(
            f"the cube shows {position.cube_value}; an XGID holds powers of two only, use the text form"
        )
    row0 = position.row0_player
    letters = ["-"] * SLOTS
    for side in (0, 1):
        bottom_side = (side == 0) == (row0 == _BOTTOM)
        for slot in range(1, SLOTS):
            count = int(position.board[side, slot])
            if count:
                letters[slot if bottom_side else BAR - slot] = chr(ord("A" if bottom_side else "a") + count - 1)
    owner = position.cube_owner
    dice = "00" if position.dice is None else "{}{}".format(*position.dice)
    bottom, top = position.scores if row0 == _BOTTOM else position.scores[::-1]
    special = int(position.crawford) if position.match_length else position.jacoby + 2 * position.beavers
    parts = (
        "".join(letters),
        position.cube_value.bit_length() - 1,
        0 if owner is None else _sign(row0 if owner == 0 else 1 - row0),
        _sign(row0),
        _LETTER_BY_OFFER.get(position.offer, dice),
        bottom,
        top,
        special,
        position.match_length,
        position.max_cube_log2,
    )
    return PREFIX + ":".join(str(part) for part in parts)


def _sign(player: int) -> int:
    return 1 if player == _BOTTOM else -1


def _rows(letters: str) -> tuple[list[int], list[int]]:
    """Counts by own slot of the top (index 0) and the bottom player (index 1)."""
    if len(letters) != SLOTS:
        raise NotationError(f"XGID field 1 has {len(letters)} characters; expected {SLOTS}")
    rows = ([0] * SLOTS, [0] * SLOTS)
    for i, letter in enumerate(letters):
        if letter == "-":
            continue
        if not re.fullmatch("[A-Oa-o]", letter):
            raise NotationError(f"XGID field 1, place {i}: {letter!r} is no checker letter A-O, a-o or '-'")
        player = _BOTTOM if letter.isupper() else _TOP
        slot = i if player == _BOTTOM else BAR - i
        if slot == 0:
            raise NotationError(f"XGID field 1, place {i}: {letter!r} stands on the other player's bar")
        rows[player][slot] = ord(letter.upper()) - ord("A") + 1
    return rows


def _dice_and_offer(text: str) -> tuple[Dice | None, str]:
    if text in _OFFER_BY_LETTER:
        return None, _OFFER_BY_LETTER[text]
    if text == "00":
        return None, "none"
    return two_dice(text, "XGID field 5 (dice; 00 before the roll, or D, B, R)"), "none"

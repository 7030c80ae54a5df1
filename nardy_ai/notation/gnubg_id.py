"""The Position ID and Match ID of GNU Backgammon, alone or as `POSITIONID:MATCHID`.

Sources: the GNU Backgammon manual, "A technical description of the Position ID" and "... of the Match ID"; the
manual stops at bit 65 of the latter, bit 66 (no Jacoby) is what the program writes. Vectors in tests/data/formats.
"""

import base64
import re

import numpy as np

from nardy_ai.boards import SLOTS, Boards
from nardy_ai.errors import NotationError
from nardy_ai.notation.fields import Dice, board_of
from nardy_ai.notation.position import GAME_STATES, SIDE_NAMES, Position
from nardy_ai.rules import RuleSet

POSITION_ID_LENGTH = 14
MATCH_ID_LENGTH = 12

_COUNTS = SLOTS - 1
_CENTRE = 3

# First bit and number of bits of each field of the match ID.
_LAYOUT = {
    "cube": (0, 4),
    "owner": (4, 2),
    "on roll": (6, 1),
    "crawford": (7, 1),
    "state": (8, 3),
    "to act": (11, 1),
    "double": (12, 1),
    "resign": (13, 2),
    "die 1": (15, 3),
    "die 2": (18, 3),
    "length": (21, 15),
    "score 0": (36, 15),
    "score 1": (51, 15),
    "no jacoby": (66, 1),
    "unused": (67, 5),
}


def read_gnubg(text: str, rules: RuleSet) -> Position:
    """The position of `POSITIONID` or `POSITIONID:MATCHID`. Raises NotationError, BoardError.

    A position ID alone is a money game before the roll with row 0 as player 1.
    """
    position_id, colon, match_id = text.strip().partition(":")
    board = read_position_id(position_id, rules)
    return read_match_id(match_id, board) if colon else Position(board)


def write_gnubg(position: Position) -> str:
    """`POSITIONID:MATCHID`. Raises NotationError for what the format cannot say."""
    return f"{write_position_id(position.board)}:{write_match_id(position)}"


def read_position_id(text: str, rules: RuleSet) -> Boards:
    """The board `int8[2, 26]` of a Position ID; checkers not in it are off. Raises NotationError, BoardError."""
    if len(text) == MATCH_ID_LENGTH:
        raise NotationError(f"{text!r} has the length of a match ID, which holds no board; give POSITIONID:MATCHID")
    key = _decoded(text, POSITION_ID_LENGTH, "position ID")
    bits = np.unpackbits(np.frombuffer(key, dtype=np.uint8), bitorder="little")
    ends = np.flatnonzero(bits == 0)
    if len(ends) < 2 * _COUNTS:
        raise NotationError(f"position ID {text!r} holds {len(ends)} of {2 * _COUNTS} counts: too many checkers")
    if bits[ends[2 * _COUNTS - 1] :].any():
        raise NotationError(f"position ID {text!r} has bits after its last count; it is damaged")
    counts = np.diff(ends[: 2 * _COUNTS], prepend=-1) - 1
    other, on_roll = ([0, *half.tolist()] for half in np.split(counts, 2))
    return board_of((on_roll, other), rules, SIDE_NAMES)


def write_position_id(board: Boards) -> str:
    """The Position ID of a board `int8[2, 26]`, 14 characters."""
    bits = [bit for side in (1, 0) for count in board[side, 1:].tolist() for bit in [1] * count + [0]]
    key = np.packbits(np.array(bits + [0] * (80 - len(bits)), dtype=np.uint8), bitorder="little")
    return base64.b64encode(key.tobytes()).decode().rstrip("=")


def read_match_id(text: str, board: Boards) -> Position:
    """The position of this board, row 0 on roll, and what a Match ID says about it. Raises NotationError."""
    number = int.from_bytes(_decoded(text, MATCH_ID_LENGTH, "match ID"), "little")
    values = {name: (number >> first) & (2**width - 1) for name, (first, width) in _LAYOUT.items()}
    if values["unused"]:
        raise NotationError(f"match ID {text!r}: bits 67 to 71 are set; they are not used")
    if values["owner"] not in (0, 1, _CENTRE):
        raise NotationError(f"match ID {text!r}: cube owner {values['owner']}; expected 0, 1 or {_CENTRE} (centre)")
    if values["state"] >= len(GAME_STATES):
        raise NotationError(f"match ID {text!r}: game state {values['state']}; expected 0 to {len(GAME_STATES) - 1}")
    on_roll = values["on roll"]
    playing = GAME_STATES[values["state"]] == "playing"
    other_acts = values["to act"] != on_roll
    waits = bool(values["double"] or values["resign"])
    if playing and other_acts != waits:
        raise NotationError(
            f"match ID {text!r}: player {on_roll} is on roll (bit 6) and player {values['to act']} must act (bit 11),"
            f" but {'an' if waits else 'no'} offer waits for an answer; the two differ exactly while one waits"
        )
    return Position(
        board=board,
        dice=_dice(values["die 1"], values["die 2"], text),
        cube_value=2 ** values["cube"],
        cube_owner=None if values["owner"] == _CENTRE else int(values["owner"] != on_roll),
        match_length=values["length"],
        scores=(values[f"score {on_roll}"], values[f"score {1 - on_roll}"]),
        crawford=bool(values["crawford"]),
        jacoby=not values["no jacoby"] and not values["length"],
        offer="double" if values["double"] else "none",
        resign_offered=values["resign"],
        game_state=GAME_STATES[values["state"]],
        other_acted=other_acts and not playing,
        row0_player=on_roll,
    )


def write_match_id(position: Position) -> str:
    """The Match ID of a position, 12 characters. Beavers and the cube's limit have no place in it.

    Raises NotationError for a cube that is no power of two and for a beaver or raccoon that waits.
    """
    if position.cube_value & (position.cube_value - 1):
        raise NotationError(f"the cube shows {position.cube_value}; a match ID holds powers of two only")
    if position.offer in ("beaver", "raccoon"):
        raise NotationError(f"a match ID cannot carry a {position.offer}; use the xgid or the text form")
    on_roll = position.row0_player
    dice = position.dice or (0, 0)
    values = {
        "cube": position.cube_value.bit_length() - 1,
        "owner": _CENTRE if position.cube_owner is None else on_roll ^ position.cube_owner,
        "on roll": on_roll,
        "crawford": int(position.crawford),
        "state": GAME_STATES.index(position.game_state),
        "to act": on_roll ^ position.to_act,
        "double": int(position.double_offered),
        "resign": position.resign_offered,
        "die 1": dice[0],
        "die 2": dice[1],
        "length": position.match_length,
        "score 0": position.scores[on_roll],
        "score 1": position.scores[1 - on_roll],
        "no jacoby": int(not position.jacoby),
    }
    number = sum(value << _LAYOUT[name][0] for name, value in values.items())
    return base64.b64encode(number.to_bytes(9, "little")).decode()


def _decoded(text: str, length: int, what: str) -> bytes:
    """The bytes of an unpadded Base64 text of this length; refuses bits that fall outside whole bytes."""
    if len(text) != length:
        raise NotationError(f"{what} {text!r} has {len(text)} characters; expected {length}")
    if not re.fullmatch("[A-Za-z0-9+/]*", text):
        raise NotationError(f"{what} {text!r}: expected only A-Z, a-z, 0-9, '+' and '/'")
    decoded = base64.b64decode(text + "=" * (-length % 4))
    if base64.b64encode(decoded).decode().rstrip("=") != text:
        raise NotationError(f"{what} {text!r}: the last character holds bits beyond the last byte; it is damaged")
    return decoded


def _dice(first: int, second: int, text: str) -> Dice | None:
    if first == second == 0:
        return None
    if not (1 <= first <= 6 and 1 <= second <= 6):
        raise NotationError(
            f"match ID {text!r}: the dice are {first} and {second}; expected two from 1 to 6, or 0 and 0"
        )
    return max(first, second), min(first, second)

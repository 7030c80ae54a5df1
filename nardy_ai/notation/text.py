"""The project's own text of a position: `24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5 dice=31 cube=2 owner=other`.

On roll / other, each side in its own numbering, `point:checkers`, `bar:n` and `off:n`; without `off` the rest are
off. It serves every rule set. Words after the board carry the rest of a `Position`; a word left out has its default.
"""

import re

from nardy_ai.boards import BAR, OFF, SLOTS, Boards
from nardy_ai.errors import NotationError
from nardy_ai.notation.fields import board_of, two_dice, whole_number
from nardy_ai.notation.position import (
    GAME_STATES,
    MAX_CUBE_LOG2,
    MAX_POINTS,
    OFFERS,
    SIDE_NAMES,
    Position,
)
from nardy_ai.rules import RuleSet, start_boards

START_WORDS = ("start", "opening")

_PLACE = re.compile("(bar|off|[0-9]{1,2}):([0-9]{1,2})")
_FLAGS = ("crawford", "jacoby", "beavers")
_RESIGNATIONS = ("none", "single", "mars", "koks")
_VALUES = {
    "dice": "dice=31",
    "cube": "cube=2",
    "owner": "owner=own or owner=other",
    "length": "length=7",
    "score": "score=3-2, the side on roll first",
    "maxcube": "maxcube=1024, the largest cube allowed",
    "offer": f"offer={', '.join(OFFERS)}",
    "resign": f"resign={', '.join(_RESIGNATIONS)}",
    "game": f"game={', '.join(GAME_STATES)}",
    "acted": "acted=own or acted=other",
    "player": "player=1 (bottom, Black, GNU's player 1) or player=0",
    "move": "move=17",
    "state": "state=IW, a state of OGID",
}
_OWN_OTHER = ("own", "other")


def read_text(text: str, rules: RuleSet) -> Position:
    """The position a text names; `start` or `opening` stands for the rule set's first board.

    Raises NotationError, BoardError. The board is not yet checked against the rules.
    """
    words = text.replace("/", " / ").split()
    places: list[str] = []
    while words and (_PLACE.fullmatch(words[0].casefold()) or words[0] == "/" or words[0].casefold() in START_WORDS):
        places.append(words.pop(0).casefold())
    options: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        key = key.casefold()
        if word.casefold() not in _FLAGS and not (key in _VALUES and value):
            raise NotationError(
                f"position word {word!r} is not understood; expected point:checkers, bar:n, off:n, '/' between sides,"
                f" and after the board {', '.join(_FLAGS)} or {', '.join(f'{name}=' for name in _VALUES)}"
            )
        if key in options:
            raise NotationError(f"{key!r} is given twice")
        options[key] = value
    if places and all(place in START_WORDS for place in places):
        return _with_options(start_boards(rules)[0], options)
    return _with_options(_board(places, rules), options)


def write_text(position: Position) -> str:
    """The text of a position; what has its default is left out."""
    words = [board_text(position.board)]
    if position.dice:
        words.append("dice={}{}".format(*position.dice))
    if position.cube_value != 1:
        words.append(f"cube={position.cube_value}")
    if position.cube_owner is not None:
        words.append(f"owner={_OWN_OTHER[position.cube_owner]}")
    if position.match_length:
        words.append(f"length={position.match_length}")
    if position.scores != (0, 0):
        words.append("score={}-{}".format(*position.scores))
    words += [flag for flag in _FLAGS if getattr(position, flag)]
    if position.max_cube_log2 != Position.max_cube_log2:
        words.append(f"maxcube={2**position.max_cube_log2}")
    if position.double_offered:
        words.append(f"offer={position.offer}")
    if position.resign_offered:
        words.append(f"resign={_RESIGNATIONS[position.resign_offered]}")
    if not position.playing:
        words.append(f"game={position.game_state}")
    if position.other_acted:
        words.append("acted=other")
    if position.row0_player != Position.row0_player:
        words.append(f"player={position.row0_player}")
    if position.move_number:
        words.append(f"move={position.move_number}")
    if position.ogid_state:
        words.append(f"state={position.ogid_state}")
    return " ".join(words)


def board_text(board: Boards) -> str:
    """The text of a board alone, `int8[2, 26]`; it is not checked."""
    return f"{_row_text(board, 0)} / {_row_text(board, 1)}"


def _board(places: list[str], rules: RuleSet) -> Boards:
    if places.count("/") != 1:
        raise NotationError(
            f"the position has {places.count('/')} strokes; expected one '/' between the side on roll and the other,"
            " such as 20:1 / 12:2"
        )
    stroke = places.index("/")
    rows = (_row(places[:stroke], SIDE_NAMES[0]), _row(places[stroke + 1 :], SIDE_NAMES[1]))
    board = board_of((rows[0][0], rows[1][0]), rules, SIDE_NAMES)
    for side in (0, 1):
        off = rows[side][1]
        if off is not None and off != board[side, OFF]:
            raise NotationError(
                f"{SIDE_NAMES[side]}: off:{off}, but {rules.checkers} checkers less those on the board leave"
                f" {int(board[side, OFF])}"
            )
    return board


def _row(places: list[str], side: str) -> tuple[list[int], int | None]:
    """Counts by slot, and the number written as off, if any."""
    row = [0] * SLOTS
    seen = set()
    for place in places:
        found = _PLACE.fullmatch(place)
        if not found:
            raise NotationError(f"{side}: {place!r} stands among points; expected point:checkers")
        name, count = found[1], int(found[2])
        slot = BAR if name == "bar" else OFF if name == "off" else int(name)
        if name not in ("bar", "off") and not OFF < slot < BAR:
            raise NotationError(f"{side}: {place!r} names no point; expected 1 to 24, bar or off")
        if slot in seen:
            raise NotationError(f"{side}: {name!r} is named twice")
        seen.add(slot)
        row[slot] = count
    return row, row[OFF] if OFF in seen else None


def _row_text(board: Boards, side: int) -> str:
    row = board[side].tolist()
    places = [f"{'bar' if slot == BAR else slot}:{row[slot]}" for slot in range(BAR, OFF, -1) if row[slot]]
    return " ".join(places) or f"off:{row[OFF]}"


def _with_options(board: Boards, options: dict[str, str]) -> Position:
    score = re.fullmatch("([0-9]+)[-:]([0-9]+)", options.get("score", "0-0"))
    if not score:
        raise NotationError(f"score={options['score']}; expected {_VALUES['score']}")
    most = 2 ** (2 * MAX_CUBE_LOG2)
    limit = whole_number(options.get("maxcube", str(2**Position.max_cube_log2)), "maxcube", 1, most)
    if limit & (limit - 1):
        raise NotationError(f"maxcube={limit}; expected a power of two")
    return Position(
        board=board,
        dice=two_dice(options["dice"], "dice") if "dice" in options else None,
        cube_value=whole_number(options.get("cube", "1"), "cube", 1, 2**MAX_CUBE_LOG2),
        cube_owner=_choice(options, "owner", _OWN_OTHER) if "owner" in options else None,
        match_length=whole_number(options.get("length", "0"), "length", 0, MAX_POINTS),
        scores=(whole_number(score[1], "score", 0, MAX_POINTS), whole_number(score[2], "score", 0, MAX_POINTS)),
        crawford="crawford" in options,
        jacoby="jacoby" in options,
        beavers="beavers" in options,
        max_cube_log2=limit.bit_length() - 1,
        offer=OFFERS[_choice(options, "offer", OFFERS)],
        resign_offered=_choice(options, "resign", _RESIGNATIONS),
        game_state=GAME_STATES[_choice(options, "game", GAME_STATES, default="playing")],
        other_acted=bool(_choice(options, "acted", _OWN_OTHER)),
        row0_player=whole_number(options.get("player", "1"), "player", 0, 1),
        move_number=whole_number(options.get("move", "0"), "move", 0, MAX_POINTS),
        ogid_state=options.get("state", "").upper(),
    )


def _choice(options: dict[str, str], key: str, words: tuple[str, ...], default: str | None = None) -> int:
    """The index of the word given for `key`, or of `default`, or 0. Raises NotationError."""
    word = options.get(key, default or words[0]).casefold()
    if word not in words:
        raise NotationError(f"{key}={options[key]}; expected one of {', '.join(words)}")
    return words.index(word)

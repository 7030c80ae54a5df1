"""Small pieces that every reader needs: whole numbers with bounds, two dice, checkers counted into a board."""

import re

import numpy as np

from nardy_ai.boards import OFF, SLOTS, Boards
from nardy_ai.errors import BoardError, NotationError
from nardy_ai.rules import RuleSet

Dice = tuple[int, int]

_WHOLE = re.compile("[0-9]{1,10}")


def whole_number(text: str, what: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`. Raises NotationError that begins with `what`."""
    if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
        raise NotationError(f"{what} is {text!r}; expected a whole number from {least} to {most}")
    return int(text)


def two_dice(text: str, what: str) -> Dice:
    """Two digits from 1 to 6 in any order, larger first. Raises NotationError that begins with `what`."""
    if not re.fullmatch("[1-6]{2}", text):
        raise NotationError(f"{what} is {text!r}; expected two digits from 1 to 6, such as 31")
    high, low = sorted(map(int, text), reverse=True)
    return high, low


def board_of(rows: tuple[list[int], list[int]], rules: RuleSet, names: tuple[str, str]) -> Boards:
    """The board `int8[2, 26]` with these slots, the rest of each side's checkers borne off. Raises BoardError.

    rows: two lists of 26 counts; the counts of slot 0 are not looked at. names: what to call the two sides.
    """
    board = np.zeros((2, SLOTS), dtype=np.int8)
    for side in (0, 1):
        on_board = sum(rows[side][1:])
        if on_board > rules.checkers:
            raise BoardError(
                f"{names[side]} has {on_board} checkers on the board; {rules.name!r} is played with {rules.checkers}"
            )
        board[side] = rows[side]
        board[side, OFF] = rules.checkers - on_board
    return board

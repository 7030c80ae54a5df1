"""The board array: its layout, the two geometries, and what can be read off it without rules of play.

A batch of boards is `int8[N, 2, 26]`. Row 0 is the side on roll, row 1 the other side. Columns are that side's
own pips: 0 borne off, 1..24 the points it moves down, 25 the bar. A row sums to the rule set's checkers.
Who may move where is `movegen`'s business; what a position is called is `notation`'s.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.errors import BoardError

Boards: TypeAlias = NDArray[np.int8]

OFF = 0
HEAD = 24
BAR = 25
SLOTS = 26
HOME = 6
PIPS_BY_SLOT = np.arange(SLOTS, dtype=np.int16)

CONTRARY = "contrary"
PARALLEL = "parallel"

# facing[p]: the other side's number of the point that I call p. Off and bar face nothing and map to themselves.
_POINTS = np.arange(1, 25)
FACING = {
    CONTRARY: np.concatenate(([OFF], 25 - _POINTS, [BAR])),
    PARALLEL: np.concatenate(([OFF], (_POINTS + 11) % 24 + 1, [BAR])),
}
"""For each geometry `int64[26]`: the opponent's own number of my point. Its own inverse."""


def swap_sides(boards: Boards) -> Boards:
    """The same boards with the other side on roll: rows exchanged, any leading shape."""
    return np.ascontiguousarray(boards[..., ::-1, :])


def pip_counts(boards: Boards) -> NDArray[np.int16]:
    """Pips each side still needs, `int16[N, 2]`, row 0's side first. A checker on the bar counts 25."""
    return boards.astype(np.int16) @ PIPS_BY_SLOT


def highest_slots(boards: Boards) -> NDArray[np.int64]:
    """The highest occupied slot of each side, `int64[N, 2]`; 0 when all checkers are off."""
    occupied = boards[..., 1:] > 0
    last = 25 - np.argmax(occupied[..., ::-1], axis=-1)
    return np.where(occupied.any(axis=-1), last, OFF)


def is_race(boards: Boards, board: str) -> NDArray[np.bool_]:
    """Whether the sides can no longer meet, `bool[N]`.

    board: the geometry. Contrary: the two rearmost checkers have passed each other. Parallel: both sides stand
    on their own 12..1, which are different points.
    """
    highest = highest_slots(boards)
    if board == CONTRARY:
        return highest.sum(axis=-1) < 25
    return highest.max(axis=-1) <= 12


def finished(boards: Boards) -> NDArray[np.bool_]:
    """Whether a side has borne off its last checker, `bool[N]`."""
    return (boards[..., 1:] == 0).all(axis=-1).any(axis=-1)


def checked_boards(boards: ArrayLike, checkers: int) -> Boards:
    """`boards` as a contiguous `int8[N, 2, 26]`, after a look at shape, type, sign and sums.

    boards: one board `[2, 26]` or a batch `[N, 2, 26]` of integers.
    Raises BoardError. Whether a game can reach the board is `notation.check_position`'s question.
    """
    array = np.asarray(boards)
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1:] != (2, SLOTS):
        raise BoardError(f"boards have shape {np.asarray(boards).shape}; expected (N, 2, {SLOTS})")
    if array.dtype.kind not in "iu":
        raise BoardError(f"boards have dtype {array.dtype}; expected integers (int8)")
    out = ((array < 0) | (array > checkers)).any(axis=(1, 2))
    wrong = out | (array.sum(axis=2, dtype=np.int64) != checkers).any(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        sums = array[i].sum(axis=1, dtype=np.int64).tolist()
        raise BoardError(
            f"board {i}: rows sum to {sums}, counts are {int(array[i].min())} to {int(array[i].max())};"
            f" every count must be from 0 to {checkers} and every row must sum to {checkers}"
        )
    return np.ascontiguousarray(array, dtype=np.int8)

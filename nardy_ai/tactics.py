"""Hand-made inputs that a sum over points cannot give: shots, what they cost, primes, escapes and room to move.

`float32[N, 24]`, twelve numbers for each side, most of them from 0 to 1. They say what a board looks like and not what
is legal: bearing off, the head and the rules of hiding and of blocks are left out of account, and only what one roll
does is seen. A set of inputs never changes once a bot file names it (`features`).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import PARALLEL, SLOTS, Boards
from nardy_ai.rules import RuleSet
from nardy_ai.vectors import bytes_with, ones, reversed_bits, top_of

__all__ = ["NAMES", "TACTICS", "tactics"]

NAMES = (
    "hit",  # share of the 36 throws with which the other side hits a blot of this one
    "loss",  # mean pips that this costs: the number, as he counts, of the blot with most to lose, / 10
    "double_hit",  # share of throws that hit one of two blots or more
    "escape",  # share of throws that this side's rearmost checker can play whole
    "escape_next",  # the same for the next point behind it
    "mobility",  # moves by one die that this side has, of all six dice and all its points, / 40
    "stuck",  # share of the six dice with no move at all
    "prime",  # longest run of closed points with a checker of the other side behind it, / 6
    "trapped",  # checkers behind it, / 5
    "dense",  # most closed points among six in a row with a checker of the other side behind, / 6
    "contact",  # pips until this side is past the other one's rearmost checker, / 100
    "enter",  # share of throws that bring a checker of this side in from the bar, 1 with none there
)
TACTICS = 2 * len(NAMES)

_ESCAPE_SPAN = 12
_POINTS = np.int32(0x1FFFFFE)
"""The bits of the points 1 to 24."""

_BAR = np.int32(1 << 25)
_SLOTS = _POINTS | _BAR
_WITH_BIT = np.array([sum(1 << p for p in range(1, 26) if p >> i & 1) for i in range(5)], dtype=np.int32)
"""The slots whose number has the bit 2^i."""

_BLOCK = 64
_DIVISORS = np.array([36, 360, 36, 40, 6, 6, 5, 6, 100, 36], dtype=np.float32)
"""Of all `NAMES` but the two escapes, which come from a table."""

_COUNTED = len(_DIVISORS)


def _escapes() -> NDArray[np.float32]:
    """The share of throws that a checker can play whole past closed points, by those 1 to 12 ahead, bit k - 1 for k."""
    masks = np.arange(1 << _ESCAPE_SPAN)
    open_at = [((masks >> k - 1) & 1) == 0 for k in range(1, _ESCAPE_SPAN + 1)]
    throws = np.zeros(len(masks))
    for i in range(1, 7):
        for j in range(1, i + 1):
            passes = open_at[i + j - 1] & (open_at[i - 1] | open_at[j - 1])
            throws += passes * (1 if i == j else 2)
    return (throws / 36).astype(np.float32)


_ESCAPES = _escapes()


def tactics(boards: Boards, rules: RuleSet) -> NDArray[np.float32]:
    """`float32[N, 24]`: `NAMES` of row 0, then of row 1. boards: `int8[N, 2, 26]`."""
    answers = np.empty((len(boards), TACTICS), dtype=np.float32)
    _fill(np.ascontiguousarray(boards), rules.board == PARALLEL, rules.closed_by, _ESCAPES, answers)
    return answers


@njit(nogil=True, cache=True)
def _facing(mask, parallel):
    """A side's points in the other side's numbering: turned by half a board, or in reverse order."""
    if parallel:
        return ((mask >> np.int32(12)) | (mask << np.int32(12))) & _POINTS
    return np.int32(reversed_bits(np.uint32(mask)) >> np.uint32(6)) & _POINTS


@njit(nogil=True, cache=True)
def _backwards(mask):
    """Bit p of a mask of points as bit 25 - p."""
    return np.int32(reversed_bits(np.uint32(mask)) >> np.uint32(6)) & _POINTS


@njit(nogil=True, cache=True)
def _read(boards, start, count, planes, occupied, closed, single, limit):
    """The points and the bar of both sides of `count` boards as masks, `int32[2, _BLOCK]`, bit p for slot p.

    planes `int32[2, 4, _BLOCK]`: where a count has the bit 1, 2, 4, 8.
    """
    for n in range(count):
        at = (start + n) * 2 * SLOTS
        for j in range(4):
            bit = np.int8(1 << j)
            planes[0, j, n] = np.int32(bytes_with(boards, at, bit)) & _SLOTS
            planes[1, j, n] = np.int32(bytes_with(boards, at + 2 * SLOTS - 32, bit) >> (32 - SLOTS)) & _SLOTS
    for side in range(2):
        for n in range(_BLOCK):
            alone = planes[side, 0, n]
            more = planes[side, 1, n] | planes[side, 2, n] | planes[side, 3, n]
            occupied[side, n] = alone | more
            closed[side, n] = (more if limit > 1 else alone | more) & _POINTS
            single[side, n] = (alone & ~more if limit > 1 else np.int32(0)) & _POINTS


@njit(nogil=True, cache=True)
def _find_shots(blots, wall, sources, bar, hit, pips, double):
    """What he can do to my blots, all in his numbering: out of 36 throws, and 36 times the mean pips.

    With a checker on the bar it comes in first, with two both dice do and no other checker is thought of.
    wall: my closed points; sources: his points; bar: how many he has there.
    """
    hit[:] = 0
    pips[:] = 0
    double[:] = 0
    for first in range(np.int32(1), np.int32(7)):
        for second in range(np.int32(1), first + np.int32(1)):
            weight = np.int32(1 if first == second else 2)
            for n in range(_BLOCK):
                open_points = ~wall[n] & _POINTS
                moving = _BAR if bar[n] else sources[n]
                others = sources[n] if bar[n] < 2 else np.int32(0)
                going_on = np.int32(-1) if bar[n] < 2 else np.int32(0)
                one = (moving >> first) & open_points
                if first == second:
                    found = one
                    one = (((others if one else np.int32(0)) | (one & going_on)) >> first) & open_points
                    found |= one
                    one = (one >> first) & open_points
                    found |= one
                    found |= (one >> first) & open_points
                else:
                    two = (moving >> second) & open_points
                    found = one | two
                    found |= ((others if one else np.int32(0)) | (one & going_on)) >> second
                    found |= ((others if two else np.int32(0)) | (two & going_on)) >> first
                found &= blots[n]
                hit[n] += weight if found else np.int32(0)
                pips[n] += weight * top_of(found | np.int32(1))
                double[n] += weight if found & (found - np.int32(1)) else np.int32(0)


@njit(nogil=True, cache=True)
def _find_moves(wall, sources, moves, stuck):
    """My moves by one die of all six dice, and how many dice have none. wall: his closed points as I number them."""
    moves[:] = 0
    stuck[:] = 0
    for die in range(np.int32(1), np.int32(7)):
        for n in range(_BLOCK):
            count = ones((sources[n] >> die) & ~wall[n] & _POINTS)
            moves[n] += count
            stuck[n] += np.int32(1) if count == 0 else np.int32(0)


@njit(nogil=True, cache=True)
def _find_primes(wall, his, reach, runs, run, longest, dense):
    """My longest run of closed points with his checkers behind it, the run's lowest point, and the densest six points.

    wall: my closed points as he numbers them; his: his slots.
    """
    longest[:] = 0
    run[:] = 0
    for n in range(_BLOCK):
        reach[n] = (np.int32(2) << top_of(his[n] | np.int32(1))) - np.int32(1)
        runs[n] = wall[n] & (reach[n] >> np.int32(1))
    left = True
    while left:
        some = np.int32(0)
        for n in range(_BLOCK):
            x = runs[n]
            longest[n] += np.int32(1) if x else np.int32(0)
            run[n] = x if x else run[n]
            x &= x >> np.int32(1)
            runs[n] = x
            some |= x
        left = some != 0
    for n in range(_BLOCK):
        run[n] &= -run[n]
        x0 = wall[n]
        x1, x2, x3, x4, x5 = (
            x0 >> np.int32(1),
            x0 >> np.int32(2),
            x0 >> np.int32(3),
            x0 >> np.int32(4),
            x0 >> np.int32(5),
        )
        sum_a, carry_a = x0 ^ x1 ^ x2, (x0 & x1) | (x2 & (x0 ^ x1))
        sum_b, carry_b = x3 ^ x4 ^ x5, (x3 & x4) | (x5 & (x3 ^ x4))
        carry = sum_a & sum_b
        one, two = sum_a ^ sum_b, carry_a ^ carry_b ^ carry
        four = (carry_a & carry_b) | (carry & (carry_a ^ carry_b))
        window = (reach[n] >> np.int32(6)) & ~np.int32(1)
        most = np.int32(4) if window & four else np.int32(0)
        window = window & four if window & four else window
        most += np.int32(2) if window & two else np.int32(0)
        window = window & two if window & two else window
        dense[n] = most + (np.int32(1) if window & one else np.int32(0))


@njit(nogil=True, cache=True)
def _count_behind(run, planes, trapped):
    """How many checkers stand behind a point, given as a bit. planes `int32[4, _BLOCK]` as in `_read`."""
    for n in range(_BLOCK):
        behind = -(run[n] << np.int32(1))
        count = np.int32(0)
        for j in range(4):
            count += ones(planes[j, n] & behind) << np.int32(j)
        trapped[n] = count


@njit(nogil=True, cache=True)
def _count_contact(bound, planes, contact):
    """The sum of p - bound over all checkers in slots p above it. planes `int32[4, _BLOCK]` as in `_read`."""
    for n in range(_BLOCK):
        beyond = np.int32(-2) << bound[n]
        total = np.int32(0)
        for j in range(4):
            here = planes[j, n] & beyond
            pips = -bound[n] * ones(here)
            for i in range(5):
                pips += ones(here & _WITH_BIT[i]) << np.int32(i)
            total += pips << np.int32(j)
        contact[n] = total


@njit(nogil=True, cache=True)
def _fill(boards, parallel, limit, escapes, answers):
    """See `tactics`: blocks of boards at a time, so that every loop runs over boards and not over points."""
    planes = np.zeros((2, 4, _BLOCK), np.int32)
    masks = np.zeros((3, 2, _BLOCK), np.int32)
    occupied, closed, single = masks[0], masks[1], masks[2]
    scratch = np.zeros((10, _BLOCK), np.int32)
    blots, my_wall, his_wall, his_points, my_points = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    bar, reach, runs, run, bound = scratch[5], scratch[6], scratch[7], scratch[8], scratch[9]
    counts = np.zeros((_COUNTED, _BLOCK), np.int32)
    found = np.zeros((len(_DIVISORS), _BLOCK), np.float32)
    for start in range(0, len(boards), _BLOCK):
        count = min(len(boards) - start, _BLOCK)
        _read(boards, start, count, planes, occupied, closed, single, limit)
        for side in range(2):
            other = 1 - side
            for n in range(_BLOCK):
                blots[n] = _facing(single[side, n], parallel)
                my_wall[n] = _facing(closed[side, n], parallel)
                his_wall[n] = _facing(closed[other, n], parallel)
                his_points[n] = occupied[other, n] & _POINTS
                my_points[n] = occupied[side, n] & _POINTS
                bound[n] = 12 if parallel else 25 - top_of(occupied[other, n] | 1)
                many = planes[other, 1, n] | planes[other, 2, n] | planes[other, 3, n]
                bar[n] = 2 if many >> 25 else occupied[other, n] >> 25
            _find_shots(blots, my_wall, his_points, bar, counts[0], counts[1], counts[2])
            _find_moves(his_wall, my_points, counts[3], counts[4])
            _find_primes(my_wall, occupied[other], reach, runs, run, counts[5], counts[7])
            _count_behind(run, planes[other], counts[6])
            _count_contact(bound, planes[side], counts[8])
            for n in range(_BLOCK):
                counts[6, n] = counts[6, n] if run[n] else 0
                gone = 6 - ones(~his_wall[n] & 0x1F80000)
                counts[9, n] = 36 - gone * gone if occupied[side, n] >> 25 else 36
            for j in range(_COUNTED):
                for n in range(_BLOCK):
                    found[j, n] = np.float32(counts[j, n]) / _DIVISORS[j]
            for n in range(count):
                out = answers[start + n]
                at = side * len(NAMES)
                mine = occupied[side, n]
                high = top_of(mine | 1)
                following = top_of((mine & ~(1 << high)) | 1)
                back = _backwards(his_wall[n])
                escape = escapes[(back >> (26 - high)) & 0xFFF] if high else np.float32(0)
                out[at] = found[0, n]
                out[at + 1] = found[1, n]
                out[at + 2] = found[2, n]
                out[at + 3] = escape
                out[at + 4] = escapes[(back >> (26 - following)) & 0xFFF] if following else escape
                for j in range(3, _COUNTED):
                    out[at + 2 + j] = found[j, n]

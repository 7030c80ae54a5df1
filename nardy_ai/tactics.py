"""Hand-made inputs that a sum over points cannot give: shots, what they cost, primes, escapes and room to move.

`float32[N, 24]`, twelve numbers for each side, most of them from 0 to 1. They say what a board looks like and not what
is legal: bearing off, the head and the rules of hiding and of blocks are left out of account, and only what one roll
does is seen. A set of inputs never changes once a bot file names it (`features`).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import PARALLEL, Boards
from nardy_ai.rules import RuleSet

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
_POINTS = 0x1FFFFFE
"""The bits of the points 1 to 24."""


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
def _turned(mask):
    """The parallel board's change of sides: points 1..12 and 13..24 exchanged."""
    return ((mask >> 12) | (mask << 12)) & _POINTS


@njit(nogil=True, cache=True)
def _hits(sources, on_bar, open_points, blots, first, second):
    """The blots that a throw can hit, as a mask. All in the numbering of the side that throws; bar is bit 25.

    sources: its points without the bar. With two on the bar both dice enter, and no other checker is thought of.
    """
    bar = 1 << 25
    if on_bar == 0:
        if first != second:
            one = sources >> first
            other = sources >> second
            through = ((one & open_points) >> second) | ((other & open_points) >> first)
            return (one | other | through) & blots
        landed = (sources >> first) & open_points
        reached = landed
        for _ in range(3):
            landed = (landed >> first) & open_points
            reached |= landed
        return reached & blots
    entered = (bar >> first) & open_points
    entered_too = (bar >> second) & open_points
    reached = entered | entered_too
    if on_bar == 1:
        if first != second:
            if entered:
                reached |= (sources | entered) >> second
            if entered_too:
                reached |= (sources | entered_too) >> first
        elif entered:
            landed = ((sources | entered) >> first) & open_points
            reached |= landed
            for _ in range(2):
                landed = (landed >> first) & open_points
                reached |= landed
    return reached & blots


@njit(nogil=True, cache=True)
def _ones(mask):
    """How many bits are set, of 26."""
    x = mask - ((mask >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    return (((x + (x >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24) & 0xFF


@njit(nogil=True, cache=True)
def _top(mask):
    """The highest bit of a mask that is not 0."""
    p = 0
    for shift in (16, 8, 4, 2, 1):
        if mask >> shift:
            mask >>= shift
            p += shift
    return p


@njit(nogil=True, cache=True)
def _fill(boards, parallel, closed_by, escapes, answers):
    """See `tactics`. Masks of points, bit p for point p; `_back` ones run the other way, bit 25 - p."""
    limit = np.int8(closed_by)
    half = answers.shape[1] // 2
    occupied = np.empty(2, np.int64)
    closed = np.empty(2, np.int64)
    closed_back = np.empty(2, np.int64)
    single = np.empty(2, np.int64)
    single_back = np.empty(2, np.int64)
    for n in range(len(boards)):
        for side in range(2):
            row = boards[n, side]
            a = b = c = d = e = np.int32(0)
            for p in range(1, 26):
                bit = np.int32(1) << np.int32(p)
                back = np.int32(1) << np.int32(25 - p)
                a |= np.int32(row[p] > 0) * bit
                b |= np.int32(row[p] >= limit) * bit
                c |= np.int32(row[p] >= limit) * back
                d |= np.int32(row[p] == 1) * bit
                e |= np.int32(row[p] == 1) * back
            occupied[side] = a
            closed[side] = np.int64(b) & _POINTS
            closed_back[side] = np.int64(c) & _POINTS
            single[side] = np.int64(d) & _POINTS
            single_back[side] = np.int64(e) & _POINTS
        for side in range(2):
            other = 1 - side
            mine = boards[n, side]
            his = boards[n, other]
            out = answers[n, side * half : (side + 1) * half]

            # What he can do to me: my blots and closed points as he numbers them.
            hit = 0
            pips = 0
            double = 0
            blots = np.int64(0)
            if limit > 1:
                blots = _turned(single[side]) if parallel else single_back[side]
            my_wall = _turned(closed[side]) if parallel else closed_back[side]
            if blots:
                open_points = ~my_wall & _POINTS
                bar = np.int64(his[25])
                sources = occupied[other] & _POINTS
                # A blot behind all his checkers cannot be hit.
                if bar or blots & ((1 << _top(sources | 1)) - 1):
                    for first in range(1, 7):
                        for second in range(1, first + 1):
                            found = _hits(sources, bar, open_points, blots, first, second)
                            if found:
                                weight = 1 if first == second else 2
                                hit += weight
                                pips += weight * _top(found)
                                double += weight if found & (found - 1) else 0
            out[0] = hit / np.float32(36)
            out[1] = pips / np.float32(360)
            out[2] = double / np.float32(36)

            # What I can do: his closed points as I number them.
            wall = _turned(closed[other]) if parallel else closed_back[other]
            wall_back = _turned(closed_back[other]) if parallel else closed[other]
            open_points = ~wall & _POINTS
            sources = occupied[side] & _POINTS
            highest = _top(occupied[side] | 1)
            rest = occupied[side] & ~(np.int64(1) << highest)
            following = _top(rest | 1)
            out[3] = escapes[(wall_back >> (26 - highest)) & 0xFFF] if highest else 0
            out[4] = escapes[(wall_back >> (26 - following)) & 0xFFF] if following else out[3]
            moves = 0
            stuck = 0
            for die in range(1, 7):
                count = _ones((sources >> die) & open_points)
                moves += count
                stuck += 1 if count == 0 else 0
            out[5] = moves / np.float32(40)
            out[6] = stuck / np.float32(6)

            # My closed points as he numbers them, and his checkers behind them.
            wall = my_wall
            reach = occupied[other] | 1
            for shift in (1, 2, 4, 8, 16):
                reach |= reach >> shift
            longest = 0
            run = np.int64(0)
            runs = wall & (reach >> 1)
            while runs:
                longest += 1
                run = runs
                runs &= runs >> 1
            run &= -run
            x1, x2, x3, x4, x5 = wall >> 1, wall >> 2, wall >> 3, wall >> 4, wall >> 5
            sum_a, carry_a = wall ^ x1 ^ x2, (wall & x1) | (x2 & (wall ^ x1))
            sum_b, carry_b = x3 ^ x4 ^ x5, (x3 & x4) | (x5 & (x3 ^ x4))
            carry = sum_a & sum_b
            ones, twos = sum_a ^ sum_b, carry_a ^ carry_b ^ carry
            fours = (carry_a & carry_b) | (carry & (carry_a ^ carry_b))
            dense = 0
            window = (reach >> 6) & ~1
            if window & fours:
                window &= fours
                dense += 4
            if window & twos:
                window &= twos
                dense += 2
            if window & ones:
                dense += 1
            bound = 12 if parallel else 25 - _top(occupied[other] | 1)
            trapped = np.int32(0)
            contact = np.int32(0)
            last = np.int32(run)
            for p in range(26):
                trapped += np.int32(his[p]) if (np.int32(1) << np.int32(p)) > last else np.int32(0)
                contact += np.int32(mine[p]) * np.int32(max(p - bound, 0))
            out[7] = longest / np.float32(6)
            out[8] = trapped / np.float32(5) if longest else np.float32(0)
            out[9] = dense / np.float32(6)
            out[10] = contact / np.float32(100)
            if mine[25]:
                gone = 6 - _ones(open_points & 0x1F80000)
                out[11] = (36 - gone * gone) / np.float32(36)
            else:
                out[11] = 1

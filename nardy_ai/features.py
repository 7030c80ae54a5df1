"""The network's inputs: named, versioned sets of small whole numbers ("slots"), each 0 to 15.

A board becomes `int8[S]`: its 52 counts, and for some sets a few hand-made numbers behind them. What a network sees
of a slot is a row of `STEPS` (a thermometer), so that trained first-layer weights fold into a table
`[S, 16, H]` and an afterstate differs from its parent in the few rows of the slots that changed. A set never changes
once a bot file names it; a better one gets a new name.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_ai.boards import FACING, SLOTS, Boards
from nardy_ai.errors import BotError
from nardy_ai.rules import RuleSet
from nardy_ai.tactics import TACTICS, tactics

LEVELS = 16
STEPS = np.array([[n >= 1, n >= 2, n >= 3, n >= 4, n >= 5, max(n - 5, 0) / 4] for n in range(LEVELS)], dtype=np.float32)
"""`float32[16, F]`: what the network sees of a slot that holds n. Row 0 is 0, so an empty slot costs nothing."""

COUNTS = 2 * SLOTS
BLOCK_SLOTS = 4

_Extra = Callable[[Boards, NDArray[np.int64], int, NDArray[np.int8]], None]


@dataclass(frozen=True)
class FeatureSet:
    """`name` with its version; `extra` slots behind the 52 counts, filled by `fill` (none if None).

    reals: how many real numbers the network sees besides the slots; `tactics` makes them.
    """

    name: str
    extra: int
    fill: _Extra | None
    summary: str
    reals: int = 0

    @property
    def slots(self) -> int:
        """S, the number of slots."""
        return COUNTS + self.extra

    def inputs(self, boards: Boards, rules: RuleSet) -> NDArray[np.int8]:
        """`int8[N, S]`, values 0 to 15. Without extra slots this is a view of contiguous `boards`."""
        counts = boards.reshape(len(boards), COUNTS)
        if self.fill is None:
            return counts
        answers = np.empty((len(boards), self.slots), dtype=np.int8)
        answers[:, :COUNTS] = counts
        self.fill(boards, FACING[rules.board], rules.closed_by, answers)
        return answers

    def real_inputs(self, boards: Boards, rules: RuleSet) -> NDArray[np.float32]:
        """`float32[N, R]`, R = `reals`."""
        return tactics(boards, rules) if self.reals else np.empty((len(boards), 0), dtype=np.float32)


@njit(nogil=True, cache=True)
def _fill_blocks(boards, facing, closed_by, inputs):
    """Behind the counts, for each side: the blocks it has built before enemy checkers, in the ENEMY's numbering.

    Slots 0 and 1 of a side: the longest run of closed points with an enemy checker behind it, and how many are behind.
    Slots 2 and 3: the most closed points among six in a row with an enemy checker behind them, and how many are behind.
    Of equal blocks the lowest counts, which holds most; where no point is closed all four are 0.

    boards: `int8[N, 2, 26]`, no point with checkers of both sides. inputs: `int8[N, 60]`. Sets of his slots are masks,
    bit q for slot q; loops over 26 slots in `int32` are made into a few vector instructions.
    """
    limit = np.int8(closed_by)
    parallel = facing[1] == 13
    first_bit, bit_step = (0, 1) if parallel else (25, -1)
    for n in range(len(boards)):
        for side in range(2):
            mine = boards[n, side]
            his = boards[n, 1 - side]
            shut = np.int32(0)
            occupied = np.int32(0)
            for p in range(26):
                shut |= np.int32(mine[p] >= limit) << np.int32(first_bit + bit_step * p)
                occupied |= np.int32(his[p] > 0) << np.int32(p)
            closed = np.int64(shut) & 0x1FFFFFE
            if parallel:
                closed = ((closed >> 12) | (closed << 12)) & 0x1FFFFFE
            # All slots up to his highest.
            reach = np.int64(occupied | 1)
            for shift in (1, 2, 4, 8, 16):
                reach |= reach >> shift

            # Each round leaves, of the runs that are longer by one, the lowest points.
            longest = 0
            run = np.int64(0)
            runs = closed & (reach >> 1)
            while runs:
                longest += 1
                run = runs
                runs &= runs >> 1
            run &= -run

            # How many of q..q + 5 are closed, for all q at once: two full adders of three masks, and one of the sums.
            x1, x2, x3, x4, x5 = closed >> 1, closed >> 2, closed >> 3, closed >> 4, closed >> 5
            sum_a, carry_a = closed ^ x1 ^ x2, (closed & x1) | (x2 & (closed ^ x1))
            sum_b, carry_b = x3 ^ x4 ^ x5, (x3 & x4) | (x5 & (x3 ^ x4))
            carry = sum_a & sum_b
            ones, twos = sum_a ^ sum_b, carry_a ^ carry_b ^ carry
            fours = (carry_a & carry_b) | (carry & (carry_a ^ carry_b))
            densest = 0
            window = (reach >> 6) & ~1
            for weight, having in ((4, fours), (2, twos), (1, ones)):
                if window & having:
                    window &= having
                    densest += weight
            window &= -window

            trapped = np.int32(0)
            shut_in = np.int32(0)
            last_of_run = np.int32(run)
            last_of_window = np.int32(window << 5)
            for p in range(26):
                bit = np.int32(1) << np.int32(p)
                trapped += np.int32(his[p]) if bit > last_of_run else np.int32(0)
                shut_in += np.int32(his[p]) if bit > last_of_window else np.int32(0)
            at = COUNTS + BLOCK_SLOTS * side
            inputs[n, at] = min(longest, 15)
            inputs[n, at + 1] = trapped if longest else 0
            inputs[n, at + 2] = densest
            inputs[n, at + 3] = shut_in if densest else 0


FEATURE_SETS = {
    entry.name: entry
    for entry in (
        FeatureSet("counts-1", 0, None, "the 52 counts: off, points and bar of both sides"),
        FeatureSet("blocks-1", 2 * BLOCK_SLOTS, _fill_blocks, "the counts, and each side's blocks and whom they hold"),
        FeatureSet("tactics-1", 0, None, "the counts; shots, primes, escapes and mobility of both sides", TACTICS),
    )
}


def find_features(name: str) -> FeatureSet:
    """The feature set of that name. Raises BotError."""
    if name not in FEATURE_SETS:
        raise BotError(f"unknown features {name!r}; expected one of {', '.join(FEATURE_SETS)}")
    return FEATURE_SETS[name]


def encode(inputs: NDArray[np.int8]) -> NDArray[np.float32]:
    """Slots `int8[N, S]` as the network's dense inputs `float32[N, S * F]`: each slot's row of `STEPS`."""
    return STEPS[inputs].reshape(len(inputs), -1)

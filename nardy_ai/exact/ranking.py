"""Sides as numbers: the multisets of a side's slots, each with its rank, and back."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import OFF, SLOTS, Boards
from nardy_ai.exact import kernels
from nardy_ai.rules import MAX_CHECKERS

__all__ = ["Ranking", "ranking"]

_BINOMIALS = np.array([[comb(n, k) for k in range(MAX_CHECKERS + 2)] for n in range(SLOTS + MAX_CHECKERS + 1)])


@dataclass(frozen=True, eq=False)
class Ranking:
    """The sides with up to `checkers` checkers on slots 1 to `top`, the others off. Rank 0 has all off."""

    checkers: int
    top: int
    binomials: NDArray[np.int64]

    @property
    def sides(self) -> int:
        """How many sides there are."""
        return comb(self.checkers + self.top, self.top)

    @cached_property
    def rows(self) -> NDArray[np.int8]:
        """The side of each rank, `int8[sides, 26]`."""
        # With the last slot leading, lexicographic order is the colexicographic order of ranks.
        multisets = combinations_with_replacement(range(self.top + 1), self.checkers)
        slots = np.array(sorted(tuple(reversed(slots)) for slots in multisets), dtype=np.int64)
        rows = np.zeros((len(slots), SLOTS), dtype=np.int8)
        np.add.at(rows, (np.arange(len(slots))[:, None], slots), 1)
        rows.flags.writeable = False
        return rows

    def ranks(self, boards: Boards, side: int) -> NDArray[np.int64]:
        """The rank of row `side` of each board, `int64[N]`.

        boards: `int8[N, 2, 26]` of one rule set, which may have more checkers: those are off. Nothing is above `top`.
        """
        ranks = np.empty(len(boards), dtype=np.int64)
        boards = np.ascontiguousarray(boards, dtype=np.int8)
        uncounted = int(boards[:1, side].sum()) - self.checkers
        kernels.rank_sides(boards, side, self.top, self.checkers, uncounted, self.binomials, ranks)
        return ranks

    def pairs(self, boards: Boards) -> NDArray[np.int64]:
        """The number of each board among all pairs of sides, `int64[N]`: sides * rank of row 0 + rank of row 1."""
        return self.ranks(boards, 0) * self.sides + self.ranks(boards, 1)

    def boards(self, pairs: NDArray[np.int64]) -> Boards:
        """The boards of `pairs`, `int8[N, 2, 26]`."""
        return np.stack((self.rows[pairs // self.sides], self.rows[pairs % self.sides]), axis=1)


@lru_cache(maxsize=8)
def ranking(checkers: int, top: int) -> Ranking:
    """All sides of `checkers` checkers on slots 0 to `top` and their ranks."""
    return Ranking(checkers, top, _BINOMIALS)


assert OFF == 0

"""Where the cube and the score stand: one state for people, arrays of states for batches.

As everywhere, 0 is the side on roll and 1 the other. What a state is worth is `equity`'s business.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nardy_ai.cube.kernels import CENTRE
from nardy_ai.errors import CubeError
from nardy_ai.notation import Position
from nardy_ai.rules import MatchOptions

__all__ = ["GROWTHS", "LARGEST_STAKE", "CubeState", "CubeStates", "first_state", "state_of_position", "swap_state"]

GROWTHS = ("geometric", "arithmetic")
LARGEST_STAKE = 2**15
"""The largest stake of a position's text, and so the largest here."""


@dataclass(frozen=True)
class CubeState:
    """The cube and the score of one game.

    value: the stake. owner: who may double: 0 the side on roll, 1 the other, None both (the cube is in the centre).
    away: points that row 0 and row 1 need to win the match; None is money. crawford: this is the Crawford game.
    jacoby, beavers, raccoons (which need beavers): money only, ignored in a match. growth: what a double makes of the
    stake, twofold (`geometric`) or one more (`arithmetic`). cap: the largest stake; None: no limit. Raises CubeError.
    """

    value: int = 1
    owner: int | None = None
    away: tuple[int, int] | None = None
    crawford: bool = False
    jacoby: bool = True
    beavers: bool = False
    raccoons: bool = False
    growth: str = "geometric"
    cap: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.value <= LARGEST_STAKE:
            raise CubeError(f"the cube shows {self.value}; expected 1 to {LARGEST_STAKE}")
        if self.owner not in (None, 0, 1):
            raise CubeError(f"the cube's owner is {self.owner!r}; expected None, 0 (the side on roll) or 1")
        if self.growth not in GROWTHS:
            raise CubeError(f"growth = {self.growth!r}; expected one of {', '.join(GROWTHS)}")
        if self.cap is not None and self.cap < 1:
            raise CubeError(f"the largest stake is {self.cap}; expected 1 or more, or None for no limit")
        if self.raccoons and not self.beavers:
            raise CubeError("raccoons answer beavers, but beavers are not allowed; allow both")
        if self.away is None:
            if self.crawford:
                raise CubeError("a Crawford game exists only in a match; give the points away as well")
            return
        if len(self.away) != 2 or min(self.away) < 1:
            raise CubeError(f"points away are {self.away}; expected two numbers of 1 or more, row 0's first")
        if self.crawford and min(self.away) != 1:
            raise CubeError(f"in the Crawford game a side is one point away, but {self.away[0]} and {self.away[1]} are")

    @property
    def is_match(self) -> bool:
        """Whether this is a game of a match."""
        return self.away is not None


@dataclass(frozen=True, eq=False)
class CubeStates:
    """N states that share the rules of the cube.

    stakes, owners: `int64[N]`, owners -1 in the centre, 0 or 1. to_go: `int64[N, 2]`, points away of row 0 and row 1,
    0 and 0 for money. crawford: `bool[N]`.
    """

    stakes: NDArray[np.int64]
    owners: NDArray[np.int64]
    to_go: NDArray[np.int64]
    crawford: NDArray[np.bool_]

    @staticmethod
    def of(state: CubeState, n: int = 1) -> "CubeStates":
        """One state n times."""
        return CubeStates(
            np.full(n, state.value, dtype=np.int64),
            np.full(n, CENTRE if state.owner is None else state.owner, dtype=np.int64),
            np.full((n, 2), state.away or (0, 0), dtype=np.int64),
            np.full(n, state.crawford),
        )

    @staticmethod
    def join(parts: Sequence["CubeStates"]) -> "CubeStates":
        """All states of the parts, in their order."""
        return CubeStates(
            np.concatenate([part.stakes for part in parts]),
            np.concatenate([part.owners for part in parts]),
            np.concatenate([part.to_go for part in parts]),
            np.concatenate([part.crawford for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.stakes)

    def take(self, at: NDArray[np.int64] | NDArray[np.bool_]) -> "CubeStates":
        """The states at these places."""
        return CubeStates(self.stakes[at], self.owners[at], self.to_go[at], self.crawford[at])

    def repeat(self, times: int) -> "CubeStates":
        """Each state so many times in a row."""
        return self.take(np.repeat(np.arange(len(self)), times))

    def swapped(self) -> "CubeStates":
        """The same states seen from the other side."""
        owners = np.where(self.owners == CENTRE, CENTRE, 1 - self.owners)
        return CubeStates(self.stakes, owners, np.ascontiguousarray(self.to_go[:, ::-1]), self.crawford)


def swap_state(state: CubeState) -> CubeState:
    """The same state seen from the other side."""
    owner = None if state.owner is None else 1 - state.owner
    return replace(state, owner=owner, away=None if state.away is None else (state.away[1], state.away[0]))


def first_state(
    options: MatchOptions,
    *,
    scores: tuple[int, int] = (0, 0),
    crawford_played: bool = False,
    ties: int = 0,
    cap: int | None = None,
) -> CubeState:
    """The state in which a game begins.

    scores: points won by row 0 and row 1. crawford_played: whether the match has had its Crawford game. ties: equal
    opening dice thrown before; each doubles the stake as far as the options let it, for money only. Raises CubeError.
    """
    if options.length == 0:
        doubles = min(ties, options.auto_doubles)
        growth = GROWTHS[0] if options.cube == "none" else options.cube
        return CubeState(
            2**doubles,
            jacoby=options.jacoby,
            beavers=options.beavers,
            raccoons=options.raccoons,
            growth=growth,
            cap=cap,
        )
    away = (options.length - scores[0], options.length - scores[1])
    return CubeState(
        away=away,
        crawford=options.crawford and not crawford_played and min(away) == 1,
        jacoby=False,
        growth=GROWTHS[0] if options.cube == "none" else options.cube,
        cap=cap,
    )


def state_of_position(position: Position, *, growth: str = GROWTHS[0]) -> CubeState:
    """The cube and the score that a position names. Raises CubeError."""
    length = position.match_length
    return CubeState(
        value=position.cube_value,
        owner=position.cube_owner,
        away=(length - position.scores[0], length - position.scores[1]) if length else None,
        crawford=position.crawford,
        jacoby=position.jacoby,
        beavers=position.beavers,
        raccoons=position.beavers and position.offer == "raccoon",
        growth=growth,
        cap=2**position.max_cube_log2,
    )

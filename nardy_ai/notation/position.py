"""A position: a board and all that an identifier can say about dice, cube, match and who acts.

Owns the record that every format reads into and writes from, and the test whether a game can show a board.
How each format spells it is the business of the other modules here.
"""

import re
from dataclasses import dataclass, fields

import numpy as np

from nardy_ai.boards import BAR, CONTRARY, FACING, HOME, OFF, SLOTS, Boards
from nardy_ai.errors import BoardError, NotationError
from nardy_ai.notation.fields import Dice
from nardy_ai.rules import MAX_CHECKERS, RuleSet

MAX_CUBE_LOG2 = 15
"""The largest cube a GNU match ID can hold, and so the largest here."""

MAX_POINTS = 32767
"""The longest match a GNU match ID can hold, and so the longest here."""

GAME_STATES = ("none", "playing", "over", "resigned", "dropped")
"""States of a game in the order of the GNU match ID's numbers."""

OFFERS = ("none", "double", "beaver", "raccoon")
"""What waits for an answer: nothing, a double, a beaver to it, a raccoon to that."""

SIDE_NAMES = ("the side on roll", "the other side")


@dataclass(frozen=True, eq=False)
class Position:
    """A board with dice, cube, match and who acts. The sides are 0 (row 0, on roll) and 1, unless said otherwise.

    Raises NotationError if the fields contradict each other; `check_position` judges the board.
    """

    board: Boards
    """`int8[2, 26]`, row 0 on roll (while a double waits: the doubler). A copy of what was given."""
    dice: Dice | None = None
    """The roll to play, larger die first; None before the roll."""
    cube_value: int = 1
    """The stake; while a double waits still the old one."""
    cube_owner: int | None = None
    """The side that may double; None: both, the cube is in the centre."""
    match_length: int = 0
    """Points to win the match; 0 is money."""
    scores: tuple[int, int] = (0, 0)
    """Points of row 0's side and of the other."""
    crawford: bool = False
    """Whether this is the Crawford game. Post-Crawford follows from the score."""
    jacoby: bool = False
    """Money only: mars and koks count single while the cube is unturned."""
    beavers: bool = False
    """Money only: beavers are allowed."""
    max_cube_log2: int = 10
    """Log2 of the largest cube allowed (XGID only)."""
    offer: str = "none"
    """One of OFFERS."""
    resign_offered: int = 0
    """The resignation that waits for an answer: 0 none, 1 single, 2 mars, 3 koks."""
    game_state: str = "playing"
    """One of GAME_STATES."""
    other_acted: bool = False
    """In a game that is not being played: whether the side not on roll acted last (GNU match ID, bits 6 and 11)."""
    row0_player: int = 1
    """Who row 0 is: 1 = XGID's bottom = OGID's Black = GNU's player 1; 0 = top = White = player 0."""
    move_number: int = 0
    """The move's number in the game (OGID only)."""
    ogid_state: str = ""
    """OGID's state field; empty: it follows from dice and offer."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", _copied(self.board))
        self._check_cube()
        self._check_match()
        if self.dice is not None and not (len(self.dice) == 2 and 6 >= self.dice[0] >= self.dice[1] >= 1):
            raise NotationError(f"dice are {self.dice}; expected two numbers from 6 to 1, larger first, or None")
        if self.dice is not None and self.offer != "none":
            raise NotationError(f"a {self.offer} is offered after the roll {self.dice}; a double comes before the roll")
        if not 0 <= self.move_number <= MAX_POINTS:
            raise NotationError(f"the move number is {self.move_number}; expected 0 to {MAX_POINTS}")
        if not re.fullmatch("[A-Z]{0,2}", self.ogid_state):
            raise NotationError(
                f"the OGID state is {self.ogid_state!r}; expected at most two capitals, such as R or IW"
            )
        if self.row0_player not in (0, 1):
            raise NotationError(f"row 0's player is {self.row0_player}; expected 0 or 1")
        if self.other_acted and self.playing:
            raise NotationError("other_acted tells about a game that is not being played; here the offers say who acts")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, entry.name), getattr(other, entry.name))
            if entry.name == "board"
            else getattr(self, entry.name) == getattr(other, entry.name)
            for entry in fields(self)
        )

    @property
    def playing(self) -> bool:
        """Whether a game is in progress."""
        return self.game_state == "playing"

    @property
    def double_offered(self) -> bool:
        """Whether a double, beaver or raccoon waits for an answer."""
        return self.offer != "none"

    @property
    def to_act(self) -> int:
        """The side that must act now: the one on roll, unless it waits for an answer."""
        if not self.playing:
            return int(self.other_acted)
        return int(self.offer in ("double", "raccoon") or (self.resign_offered > 0 and self.offer == "none"))

    def _check_cube(self) -> None:
        if not 1 <= self.cube_value <= 2**MAX_CUBE_LOG2:
            raise NotationError(f"the cube shows {self.cube_value}; expected 1 to {2**MAX_CUBE_LOG2}")
        if self.cube_owner not in (None, 0, 1):
            raise NotationError(f"the cube's owner is {self.cube_owner!r}; expected None, 0 (on roll) or 1")
        if not 0 <= self.max_cube_log2 <= 2 * MAX_CUBE_LOG2:
            raise NotationError(f"the cube's limit is 2^{self.max_cube_log2}; expected 2^0 to 2^{2 * MAX_CUBE_LOG2}")
        if self.offer not in OFFERS:
            raise NotationError(f"the offer is {self.offer!r}; expected one of {', '.join(OFFERS)}")
        if self.offer != "none" and self.cube_owner == 1:
            raise NotationError("the side on roll doubles, but the other side owns the cube")
        if self.resign_offered not in (0, 1, 2, 3):
            raise NotationError(f"the resignation offered is {self.resign_offered}; expected 0, 1, 2 or 3")

    def _check_match(self) -> None:
        if self.game_state not in GAME_STATES:
            raise NotationError(f"the game is {self.game_state!r}; expected one of {', '.join(GAME_STATES)}")
        for what, points in (("length", self.match_length), ("score", self.scores[0]), ("score", self.scores[1])):
            if not 0 <= points <= MAX_POINTS:
                raise NotationError(f"the match {what} is {points}; expected 0 to {MAX_POINTS}")
        if not self.match_length:
            if self.crawford:
                raise NotationError("a Crawford game exists only in a match, but the match length is 0 (money)")
            return
        if self.jacoby or self.beavers:
            raise NotationError(f"Jacoby and beavers are for money, but this is a match to {self.match_length}")
        if self.playing and max(self.scores) >= self.match_length:
            raise NotationError(f"a side has {max(self.scores)} points: the match to {self.match_length} is over")
        if self.playing and self.crawford and max(self.scores) != self.match_length - 1:
            raise NotationError(
                f"in the Crawford game the leader is one point away, but the score is"
                f" {self.scores[0]}-{self.scores[1]} to {self.match_length}"
            )


def check_position(board: Boards, rules: RuleSet) -> None:
    """Refuse a board that no game under `rules` can show, saying what is wrong and where. Raises BoardError.

    board: `int8[2, 26]`. A game that is over (one side has all off) is accepted.
    """
    board = _copied(board)
    for side in (0, 1):
        count = int(board[side].sum())
        if count != rules.checkers:
            raise BoardError(
                f"{SIDE_NAMES[side]} has {count} checkers, those off included;"
                f" {rules.name!r} is played with {rules.checkers}"
            )
        if rules.closed_by == 1 and board[side, BAR]:
            raise BoardError(
                f"{SIDE_NAMES[side]} has {int(board[side, BAR])} on the bar; nothing is hit in {rules.name!r}"
            )
    facing = FACING[rules.board]
    shared = np.flatnonzero((board[0, 1:BAR] > 0) & (board[1, facing[1:BAR]] > 0)) + 1
    if len(shared):
        point = int(shared[0])
        raise BoardError(
            f"both sides stand on one point: {SIDE_NAMES[0]}'s {point}"
            f" ({int(board[0, point])} checkers) is {SIDE_NAMES[1]}'s {int(facing[point])}"
            f" ({int(board[1, facing[point]])})"
        )
    if (board[:, OFF] == rules.checkers).all():
        raise BoardError("both sides have borne off everything; the game ends when the first one has")
    if rules.board == CONTRARY:
        locked_out = (board[:, BAR] > 0).all() and (board[:, 1 : HOME + 1] >= rules.closed_by).all()
        if locked_out:
            raise BoardError("both sides are on the bar and both homes are closed: nobody can ever move")


def _copied(board: Boards) -> Boards:
    """A copy as `int8[2, 26]`. Raises BoardError on another shape or type and on counts that are none."""
    array = np.asarray(board)
    if array.shape != (2, SLOTS) or not np.issubdtype(array.dtype, np.integer):
        raise BoardError(f"the board is {array.dtype}{list(array.shape)}; expected int8[2, {SLOTS}]")
    wrong = np.argwhere((array < 0) | (array > MAX_CHECKERS))
    if len(wrong):
        side, slot = (int(i) for i in wrong[0])
        raise BoardError(
            f"{SIDE_NAMES[side]} has {int(array[side, slot])} checkers in column {slot}; expected 0 to {MAX_CHECKERS}"
        )
    return np.array(array, dtype=np.int8, order="C")

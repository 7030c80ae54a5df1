"""What a written match holds: games, and in them rolls with their plays, cube actions and resignations.

Sides are 0 and 1: the left and the right column of a `.mat`, White and Black of an `.sgf`. Nothing here is judged: a
record may hold what no rules allow. Which boards it leads to, and whether it could, is `records.replay`'s business.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nardy_ai.errors import NotationError
from nardy_ai.notation import Move, Position, ordered_moves

__all__ = [
    "CUBE_KINDS",
    "OFFERS",
    "Action",
    "CubeAction",
    "Fault",
    "GameRecord",
    "MatchRecord",
    "Resignation",
    "Setup",
    "Turn",
    "add_answer",
    "row_numbers",
]

OFFERS = ("double", "beaver", "raccoon")
CUBE_KINDS = (*OFFERS, "take", "pass")


@dataclass(frozen=True)
class Turn:
    """A roll, larger die first, and the moves made with it: none for a pass, None if they are not written.

    Moves are put in the order of `notation.ordered_moves`, so that equal plays are equal turns.
    """

    side: int
    dice: tuple[int, int]
    moves: tuple[Move, ...] | None
    line: int = field(default=0, compare=False)
    comment: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.moves is not None:
            object.__setattr__(self, "moves", ordered_moves(self.moves))


@dataclass(frozen=True)
class CubeAction:
    """One of CUBE_KINDS. value: what the cube then shows, if it is written."""

    side: int
    kind: str
    value: int | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Resignation:
    """The side gives up the game. level: 1 single, 2 mars, 3 koks, 0 if it is not written."""

    side: int
    level: int = 0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Setup:
    """The board and the cube are set to `position`, whose row 0 is `side`; play goes on from there."""

    side: int
    position: Position
    line: int = field(default=0, compare=False)


Action = Turn | CubeAction | Resignation | Setup


@dataclass(frozen=True)
class GameRecord:
    """One game. scores: before it, side 0's first. winner and points: as written, None and 0 if it was broken off."""

    number: int
    scores: tuple[int, int]
    actions: tuple[Action, ...]
    winner: int | None = None
    points: int = 0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Fault:
    """What is wrong in a line of a file (0: in none of them)."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True)
class MatchRecord:
    """A match or a session. length: points to win, 0 for money. rules: the name of a rule set, None if not written.

    crawford, jacoby, beavers: rules about the cube. tags: what else a file says about itself, name and value. faults:
    what was wrong with the file it was read from; the rest of it is here. Raises NotationError for names that no file
    can carry.
    """

    names: tuple[str, str]
    length: int
    games: tuple[GameRecord, ...]
    rules: str | None = None
    crawford: bool = True
    jacoby: bool = False
    beavers: bool = False
    tags: tuple[tuple[str, str], ...] = ()
    faults: tuple[Fault, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        for name in self.names:
            if not name or name != " ".join(name.split()):
                raise NotationError(f"a player's name is {name!r}; expected words with single blanks between them")


def add_answer(actions: list[Action], answer: CubeAction) -> str:
    """Append a take or a pass, and before it the double that it answers where that is missing; then say so, else ''."""
    last = actions[-1] if actions else None
    offered = isinstance(last, CubeAction) and last.kind in OFFERS and last.side != answer.side
    if not offered:
        actions.append(CubeAction(1 - answer.side, "double", line=answer.line))
    actions.append(answer)
    return "" if offered else f"a {answer.kind} answers no double; one is put in before it"


def row_numbers(actions: Sequence[Action]) -> list[int]:
    """The row of each action in a transcript of two columns, from 1. A row is left column, right column."""
    rows: list[int] = []
    row, free = 1, 0
    for action in actions:
        if isinstance(action, Setup):
            row, free = row + (free > 0), 0
        else:
            row, free = row + (action.side < free), action.side + 1
        rows.append(row)
    return rows

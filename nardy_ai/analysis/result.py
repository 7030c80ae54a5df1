"""What an analysis says: a match, its games, their decisions, and each side's totals.

Only data and the few numbers by which they are marked; `analysis.judge` fills them in, the command line and reports
show them. Sides are 0 and 1 as in the record (0: the left column of a `.mat`, White of an `.sgf`), whoever is on roll.
Equities, losses and luck are those of the side that decides or rolls. Without a cube they are points a game. With one
they are per cube: on the scale on which to win the stake once is 1 and to lose it once is -1, in a match by its match
equities (what others call normalised or EMG); the stake is not in them.

**Loss** is the equity of the best choice less that of the one made, 0 or more. **Luck** is the equity of the best play
of the roll that fell less its expectation over all rolls (of the first roll of a game whose opening dice are played:
over those that are no doubles), always by the bare bot. **PR** is 500 x the mean loss of a side's own unforced
decisions; what is forced, unknown or illegal counts in neither number, and of cube decisions only those count that were
close or wrong. `PR_DEFINITION` says so in print.
"""

from dataclasses import dataclass

from nardy_ai.language import marked
from nardy_ai.notation import Position
from nardy_ai.rules import RuleSet

__all__ = [
    "BLUNDER",
    "CLOSE",
    "CUBE",
    "DOUBTFUL",
    "ERROR",
    "LUCKY",
    "MARKS",
    "PHASES",
    "PR_DEFINITION",
    "PR_SCALE",
    "VERY_LUCKY",
    "AnalysisSettings",
    "Choice",
    "CubeDecision",
    "GameAnalysis",
    "MatchAnalysis",
    "PhaseTotal",
    "PlayDecision",
    "SideTotal",
    "luck_word",
    "mark_of",
]

DOUBTFUL, ERROR, BLUNDER = 0.02, 0.04, 0.08
"""Losses from which on a decision is marked. eXtreme Gammon calls 0.02 an error and 0.08 a blunder; GNU Backgammon
calls 0.04 doubtful."""

LUCKY, VERY_LUCKY = 0.3, 0.6
"""Luck beyond these, either way, is named, as GNU Backgammon does."""

PR_SCALE = 500.0
PR_DEFINITION = marked(
    "500 x mean equity lost per own unforced decision (plays with a choice; cube decisions close or wrong)"
)

CLOSE = 0.16
"""A cube decision is close if the wrong action costs less; GNU Backgammon's threshold."""

MARKS = ("", marked("doubtful"), marked("error"), marked("blunder"))
PHASES = (marked("opening"), marked("contact"), marked("race"), marked("bearoff"))
"""opening: a side's first three turns of a game that begins at the start; contact: until the sides have passed each
other; race: after that; bearoff: a race in which the side that plays has all its checkers at home or off."""

CUBE = marked("cube")
"""The phase under which decisions about the cube are counted."""


def mark_of(loss: float | None) -> str:
    """One of MARKS; nothing where no loss is known."""
    if loss is None or loss < DOUBTFUL:
        return MARKS[0]
    return MARKS[1 + (loss >= ERROR) + (loss >= BLUNDER)]


_LUCK_WORDS = (marked("lucky"), marked("unlucky"))


def luck_word(luck: float | None) -> str:
    """`very lucky`, `lucky`, `unlucky`, `very unlucky`, or nothing for rolls that are neither."""
    if luck is None or abs(luck) < LUCKY:
        return ""
    words = (marked("very lucky"), marked("very unlucky")) if abs(luck) >= VERY_LUCKY else _LUCK_WORDS
    return words[luck < 0]


@dataclass(frozen=True)
class Choice:
    """One play of a roll and what it is worth to the side that plays.

    play: its text. after: the position after it, as text, the other side on roll. loss: to the best, 0 or more.
    outcomes: chances of the K classes of that side (`outcomes.class_names`), exclusive, by the bare bot or by rollout.
    error: the standard error of the cubeless equity if it was rolled out, else None.
    """

    play: str
    after: str
    equity: float
    loss: float
    outcomes: tuple[float, ...] = ()
    error: float | None = None


@dataclass(frozen=True)
class PlayDecision:
    """A roll and what was made of it.

    game: number of the game in the record. turn: number of the row in its transcript, from 1. line: line of the file, 0
    if there is none. position: row 0 is `side`, with dice, cube and score. position_id: the same as text that `nardy`
    reads; xgid: the same as XGID, None where there is none. legal: how many plays there were. choices: the best, the
    first of them the best of all. played: what was played, None if it is not written or not legal. rank: its place
    among the legal plays, from 1. loss: of `played`. winning_loss: in a match with a cube the chance to win the match
    that it cost. note: what is wrong with the play as it is written, with the nearest legal ones; else empty.
    """

    game: int
    turn: int
    line: int
    side: int
    position: Position
    position_id: str
    xgid: str | None
    dice: tuple[int, int]
    phase: str
    legal: int
    choices: tuple[Choice, ...]
    played: Choice | None
    rank: int | None
    loss: float | None
    luck: float | None
    winning_loss: float | None = None
    note: str = ""
    comment: str = ""

    @property
    def forced(self) -> bool:
        """Whether there was nothing to decide: one legal play, a pass included."""
        return self.legal == 1

    @property
    def counts(self) -> bool:
        """Whether the decision counts in a PR."""
        return self.loss is not None and not self.forced

    @property
    def mark(self) -> str:
        """One of MARKS."""
        return mark_of(self.loss if self.counts else None)


@dataclass(frozen=True)
class CubeDecision:
    """A decision about the cube: `kind` is `double` (offer it or not) or `take` (take, pass or beaver).

    position: row 0 is the side that may double. The equities are its, on the scale of the module; beaver: None where
    none is allowed. action: what was done, one of `no double`, `double`, `take`, `pass`, `beaver`; empty if it is not
    known. best: what both
    sides should have done, in words. loss: what the action cost `side`. close: whether the wrong action costs less than
    CLOSE.
    """

    game: int
    turn: int
    line: int
    side: int
    position: Position
    position_id: str
    xgid: str | None
    kind: str
    no_double: float
    double_take: float
    double_pass: float
    action: str
    best: str
    loss: float
    close: bool
    beaver: float | None = None
    winning_loss: float | None = None

    @property
    def counts(self) -> bool:
        """Whether the decision counts in a PR."""
        return bool(self.action) and (self.close or self.loss > 0)

    @property
    def mark(self) -> str:
        """One of MARKS."""
        return mark_of(self.loss)


@dataclass(frozen=True)
class PhaseTotal:
    """What a side lost in one of PHASES or CUBE: `decisions` that count, the sum of their losses, PR (None of none)."""

    decisions: int
    lost: float
    pr: float | None


@dataclass(frozen=True)
class SideTotal:
    """A side's totals, of a game or of the match.

    turns: all rolls; forced: those with one play. decisions, lost, pr: of all phases and the cube together. marks: how
    many decisions have each of MARKS but the first. luck: the sum over rolls; rolls: how many of them have a luck.
    winning_lost: in a match with a cube, the chances to win it that were lost, added up.
    """

    name: str
    turns: int
    forced: int
    decisions: int
    lost: float
    pr: float | None
    phases: dict[str, PhaseTotal]
    marks: dict[str, int]
    luck: float
    rolls: int
    winning_lost: float | None = None


@dataclass(frozen=True)
class GameAnalysis:
    """One game. scores: before it, side 0's first. winner: a side, None if the game was broken off.

    decisions: in the order in which they were taken.
    """

    number: int
    scores: tuple[int, int]
    crawford: bool
    winner: int | None
    points: int
    ending: str
    decisions: tuple[PlayDecision | CubeDecision, ...]
    totals: tuple[SideTotal, SideTotal]


@dataclass(frozen=True)
class AnalysisSettings:
    """All that decides the numbers. bot: its name with its level, such as `short@2ply`.

    cube: whether decisions are judged with the cube in play. rollout_games: 0 if nothing was rolled out; else where two
    plays or more lie within `rollout_within`, or another than the best was played, they were rolled out with `seed`.
    """

    version: str
    bot: str
    rules: str
    cube: bool
    rollout_games: int = 0
    rollout_within: float = 0.0
    seed: int | None = None


@dataclass(frozen=True)
class MatchAnalysis:
    """The whole: games in their order, both sides' totals, and the decisions that cost most, the dearest first.

    source: the file's name. length: points to win, 0 for money. faults: what is wrong with the file, each with its
    line. complete: False if the analysis was interrupted; what had been judged by then is here.
    """

    source: str
    rules: RuleSet
    settings: AnalysisSettings
    names: tuple[str, str]
    length: int
    games: tuple[GameAnalysis, ...]
    totals: tuple[SideTotal, SideTotal]
    worst: tuple[PlayDecision | CubeDecision, ...]
    faults: tuple[str, ...] = ()
    complete: bool = True

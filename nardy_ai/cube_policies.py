"""Cube policies, by name: when a bot doubles, takes and beavers, and by which values it plays under a cube.

A bot with a policy is a `CubePlayer`, which is what games with a cube are played by. `cubeful` is what `cubeful` says;
`fixed` goes by the cubeless chance to win alone, as a beginner does, and `never` leaves the cube where it is: both are
baselines, and play cubeless.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.cube.decision import EQUAL
from nardy_ai.cube.equity import CubeModel, CubeWorth
from nardy_ai.cube.met import MatchTable
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import Cubeful, cubeful_of
from nardy_ai.errors import BotError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.rules import RuleSet

__all__ = [
    "BEAVER",
    "DROP",
    "PASS",
    "PLAY_ON",
    "POLICIES",
    "RACCOON",
    "TAKE",
    "Actions",
    "CubePlayer",
    "CubefulPlayer",
    "FixedPlayer",
    "NeverPlayer",
    "actions_of",
    "cube_player",
    "default_policy",
]

PASS, TAKE, BEAVER = 0, 1, 2
"""Answers to a double."""

PLAY_ON, DROP, RACCOON = 0, 1, 2
"""Replies to a beaver; an answer to a raccoon is one of the first two."""

DOUBLE_FROM, TAKE_FROM = 0.70, 0.25
"""Chances to win from which `fixed` doubles and takes if it is not told others."""

POLICIES = {
    "cubeful": "doubles, takes and plays by equity with the cube, with the bot's look-ahead",
    "fixed": (
        f"doubles from a chance to win of {DOUBLE_FROM}, takes from {TAKE_FROM}, as in fixed:{DOUBLE_FROM}:{TAKE_FROM}"
    ),
    "never": "never doubles, takes every double",
}

_REPLIES = {"play on": PLAY_ON, "drop": DROP, "raccoon": RACCOON}

_FIXED = re.compile(r"fixed(?::([0-9.]+):([0-9.]+))?")


class CubePlayer(Protocol):
    """Plays, doubles and answers. Answers are pure functions of board and state: batches may be split and permuted.

    boards: `int8[N, 2, 26]`, before the roll but in `play_values`, not finished; states: as row 0 sees them.
    """

    name: str
    rules: RuleSet

    def play_values(self, boards: Boards, after: Afterstates, states: CubeStates) -> NDArray[np.float32]:
        """The worth of every afterstate to row 0, which has played it, `float32[M]`; the highest is played."""
        ...

    def doubles(self, boards: Boards, states: CubeStates) -> NDArray[np.bool_]:
        """Where row 0 doubles, which it may everywhere, `bool[N]`."""
        ...

    def answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """What row 1 says to a double of row 0, `int64[N]`: PASS, TAKE or BEAVER, which counts as TAKE if forbidden."""
        ...

    def replies(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """What row 0 does, whose double in these states was beavered, `int64[N]`.

        PLAY_ON, DROP, which gives the doubled stake up, or RACCOON, which counts as PLAY_ON if forbidden.
        """
        ...

    def last_answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """What row 1 does, whose beaver to a double in these states was raccooned, `int64[N]`: PLAY_ON or DROP."""
        ...


@dataclass(frozen=True)
class Actions:
    """Right actions in N states. double: `bool[N]`; answer: `int64[N]`, right if row 0 doubles."""

    double: NDArray[np.bool_]
    answer: NDArray[np.int64]


def actions_of(worth: CubeWorth, model: CubeModel, states: CubeStates) -> Actions:
    """What `cube.decision.verdict` calls right, for N states at once."""
    values = worth.no_double, worth.double_take, worth.beaver, worth.raccoon
    no_double, taken, beaver, raccoon = (model.per_cube(value, states) for value in values)
    answer = np.where(taken <= 1 + EQUAL, TAKE, PASS)
    answered = np.where(answer == TAKE, taken, 1.0)
    dropped = np.full(len(states), np.nan)
    at = np.flatnonzero(~np.isnan(beaver))
    asked = states.take(at)
    dropped[at] = model.per_cube(model.single(model.doubled(asked), won=False), asked)
    beavered = np.maximum(beaver, dropped)
    at = np.flatnonzero(~np.isnan(raccoon))
    asked = states.take(at)
    given_up = model.per_cube(model.single(model.doubled(asked, times=2), won=True), asked)
    beavered[at] = np.maximum(beavered[at], np.minimum(raccoon[at], given_up))
    better = beavered < answered - EQUAL
    answer[better] = BEAVER
    answered[better] = beavered[better]
    double = (answered > no_double + EQUAL) | ((answer == PASS) & (answered >= no_double - EQUAL))
    return Actions(double & ~np.isnan(taken), answer)


class CubefulPlayer:
    """Does what is right by its equities with the cube. Raises BotError unless `judge`'s bot knows chances."""

    def __init__(self, name: str, judge: Cubeful) -> None:
        self.name = name
        self.rules = judge.model.rules
        self.judge = judge

    def play_values(self, boards: Boards, after: Afterstates, states: CubeStates) -> NDArray[np.float32]:
        """Equity with the cube, per cube."""
        return self.judge.play_values(boards, after, states)

    def doubles(self, boards: Boards, states: CubeStates) -> NDArray[np.bool_]:
        """Where a double is right."""
        return self._actions(boards, states).double

    def answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """The right answers."""
        return self._actions(boards, states).answer

    def replies(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """The right replies to beavers, wrong beavers too."""
        worths = self.judge.beavers(boards, states)
        return np.array([PLAY_ON if one is None else _REPLIES[one.reply] for one in worths], dtype=np.int64)

    def last_answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """The right answers to raccoons."""
        worths = self.judge.beavers(boards, states)
        answers = (None if one is None else one.last_answer for one in worths)
        return np.array([PLAY_ON if word is None else _REPLIES[word] for word in answers], dtype=np.int64)

    def _actions(self, boards: Boards, states: CubeStates) -> Actions:
        return actions_of(self.judge.worth(boards, states), self.judge.model, states)


class NeverPlayer:
    """Plays cubeless by any bot, never doubles and takes everything."""

    def __init__(self, name: str, bot: Bot) -> None:
        self.name = name
        self.rules = bot.rules
        self.bot = bot

    def play_values(self, boards: Boards, after: Afterstates, states: CubeStates) -> NDArray[np.float32]:
        """The bot's own values."""
        return self.bot.play_values(boards, after)

    def doubles(self, boards: Boards, states: CubeStates) -> NDArray[np.bool_]:
        """Nowhere."""
        return np.zeros(len(boards), dtype=bool)

    def answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """TAKE."""
        return np.full(len(boards), TAKE)

    def replies(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """PLAY_ON."""
        return np.full(len(boards), PLAY_ON)

    def last_answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """PLAY_ON."""
        return np.full(len(boards), PLAY_ON)


class FixedPlayer:
    """Plays cubeless by an evaluator; doubles and takes from fixed chances to win, whatever cube and score are."""

    def __init__(self, name: str, bot: Bot, *, double_from: float = DOUBLE_FROM, take_from: float = TAKE_FROM) -> None:
        if not isinstance(bot, Evaluator):
            raise BotError(f"bot {bot.name!r} knows no chances and cannot go by fixed ones; its cube policy is never")
        self.name = name
        self.rules = bot.rules
        self.bot: Bot = bot
        self.evaluator: Evaluator = bot
        self.double_from = double_from
        self.take_from = take_from

    def play_values(self, boards: Boards, after: Afterstates, states: CubeStates) -> NDArray[np.float32]:
        """The bot's own values."""
        return self.bot.play_values(boards, after)

    def doubles(self, boards: Boards, states: CubeStates) -> NDArray[np.bool_]:
        """Where the chance to win is large enough."""
        return self._chances(boards)[:, 0] >= self.double_from

    def answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """TAKE where row 1's chance to win is large enough, else PASS."""
        return np.where(self._chances(boards)[:, 1] >= self.take_from, TAKE, PASS)

    def replies(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """DROP where the chance to win is too small to take with, RACCOON where one would double, else PLAY_ON."""
        chances = self._chances(boards)[:, 0]
        return np.select([chances < self.take_from, chances >= self.double_from], [DROP, RACCOON], PLAY_ON)

    def last_answers(self, boards: Boards, states: CubeStates) -> NDArray[np.int64]:
        """PLAY_ON where row 1's chance to win is large enough to take with, else DROP."""
        return np.where(self._chances(boards)[:, 1] >= self.take_from, PLAY_ON, DROP)

    def _chances(self, boards: Boards) -> NDArray[np.float64]:
        """The chances of row 0 and row 1 to win, `float64[N, 2]`."""
        outcomes = settled_outcomes(self.evaluator, boards).astype(np.float64)
        half = outcomes.shape[1] // 2
        return np.stack((outcomes[:, :half].sum(axis=1), outcomes[:, half:].sum(axis=1)), axis=1)


def default_policy(bot: Bot) -> str:
    """`cubeful` for a bot that knows chances, else `never`."""
    return "cubeful" if isinstance(bot, Evaluator) else "never"


def cube_player(bot: Bot, policy: str | None, state: CubeState, *, table: MatchTable | None = None) -> CubePlayer:
    """A bot with a policy by name; None: `default_policy`. Reports call it `BOT/POLICY`, or `BOT` with the default.

    state: any state of the games to come; growth, cap, Jacoby, beavers and the largest number of points away are its
    own. table: match equities in place of those of the game. Raises BotError, CubeError.
    """
    usual = default_policy(bot)
    chosen = usual if policy is None else policy
    name = bot.name if chosen == usual else f"{bot.name}/{chosen}"
    if chosen == "never":
        return NeverPlayer(name, bot)
    if chosen == "cubeful":
        return CubefulPlayer(name, cubeful_of(bot, state, table=table))
    found = _FIXED.fullmatch(chosen)
    if found is None:
        close = get_close_matches(chosen, POLICIES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise BotError(f"unknown cube policy {chosen!r}{hint} (known: {', '.join(POLICIES)}, fixed:0.75:0.2)")
    if found[1] is None:
        return FixedPlayer(name, bot)
    try:
        double_from, take_from = float(found[1]), float(found[2])
    except ValueError as error:
        raise BotError(f"cube policy {chosen!r}: expected two chances, such as fixed:0.75:0.2") from error
    if not (0 <= double_from <= 1 and 0 <= take_from <= 1):
        raise BotError(f"cube policy {chosen!r}: expected two chances from 0 to 1, such as fixed:0.75:0.2")
    return FixedPlayer(name, bot, double_from=double_from, take_from=take_from)

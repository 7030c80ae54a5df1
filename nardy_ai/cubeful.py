"""Look-ahead with the cube, and the cube decision that comes of it.

A board before the roll is worth, with the cube where it is, the mean over the 21 rolls of the best play's worth, and
after a play the other side may double: so every ply has a cube decision of its own, on both branches. At the last ply
the formulas of `cube.equity` stand. Bear-offs that the tables know are taken from them: chances always, and for money
with stakes that double the value of the cube as well, so that what is exact stays exact at every depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import SLOTS, Boards, checked_boards, finished
from nardy_ai.cube import kernels
from nardy_ai.cube.decision import EQUAL, BeaverWorth, Verdict, verdict
from nardy_ai.cube.equity import CubeModel, CubeWorth, has_shipped_table, match_table, swapped_utilities
from nardy_ai.cube.met import MatchTable
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import BotError, CubeError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.exact.bearoff import bearoff_tables, exact_at, nearly_exact_at
from nardy_ai.movegen.generate import Afterstates, expand
from nardy_ai.outcomes import Outcomes, equities, swap
from nardy_ai.rules import start_boards
from nardy_ai.search import (
    DEFAULT_FILTER,
    N_ROLLS,
    Lookahead,
    MoveFilter,
    PlayingEvaluator,
    distinct_boards,
    filtered_values,
    find_filter,
    sibling_outcomes,
    without_lookahead,
)

__all__ = [
    "CubeDecision",
    "Cubeful",
    "MarketLosers",
    "cube_decision",
    "cubeful_of",
    "decisions_of",
    "distinct_questions",
    "market_losers",
]

_CHUNK = 64
_EQUAL = np.float32(1e-6)
"""Plays whose equities per cube differ by no more are equal, as far as single precision knows."""
_FAR = 64
"""A cap so many times above the stake is out of reach: no table of bear-offs would notice it."""


class Cubeful:
    """Values of boards and plays under states of the cube, by a bot's chances.

    bot: an evaluator that chooses plays, perhaps with look-ahead, whose depth is then that of the cube too. plies: in
    place of that. tables: whether bear-offs are looked up. Values are utilities of `cube.equity`. Answers are pure
    functions of board and state. Raises BotError.
    """

    def __init__(self, bot: Bot, model: CubeModel, *, plies: int | None = None, tables: bool = True) -> None:
        bare = without_lookahead(bot)
        if not isinstance(bare, PlayingEvaluator):
            raise BotError(
                f"bot {bot.name!r} is no evaluator: it ranks plays and knows no chances, so it cannot judge a cube;"
                " take a trained bot"
            )
        self.evaluator = bare
        self.model = model
        self.plies = (bot.plies if isinstance(bot, Lookahead) else 0) if plies is None else plies
        self.filter: MoveFilter = bot.filter if isinstance(bot, Lookahead) else find_filter(DEFAULT_FILTER)
        self.tables = tables

    def outcomes(self, boards: Boards) -> Outcomes:
        """The chances that the values stand on, `float32[N, K]`: the bare evaluator's, or those of the tables."""
        return self._known_outcomes(boards, settled_outcomes(self.evaluator, boards))

    def worth(self, boards: ArrayLike, states: CubeStates) -> CubeWorth:
        """What boards are worth to row 0, on roll and free to double. boards: `int8[N, 2, 26]`.

        Raises BoardError, CubeError.
        """
        checked = checked_boards(boards, self.model.rules.checkers)
        self.model.check(states, len(checked))
        return self._worth(checked, states, self.plies)

    def play_values(self, boards: Boards, after: Afterstates, states: CubeStates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, per cube, `float32[M]`.

        The highest is played. boards: `int8[N, 2, 26]` before the plays; states: theirs, as the side that plays sees
        them. Deeper plies look at the plays that the filter lets pass. Of equal plays the one with most cubeless points
        is worth a trifle more. Raises CubeError.
        """
        self.model.check(states, len(boards))
        outcomes = self._sibling_outcomes(boards, after)
        theirs = states.swapped().take(np.repeat(np.arange(len(states)), after.counts()))
        mine = theirs.swapped()

        def seen(utilities: NDArray[np.float64], at: NDArray[np.int64]) -> NDArray[np.float32]:
            values = self.model.per_cube(swapped_utilities(utilities), mine.take(at))
            return values.astype(np.float32)

        everything = np.arange(len(outcomes))
        values = seen(self._formula(outcomes, after.boards, theirs).best, everything)
        values = filtered_values(
            values, after, self.filter, self.plies,
            lambda kept, depth: seen(self._worth(after.boards[kept], theirs.take(kept), depth).best, kept),
        )  # fmt: skip
        return _told_apart(values, equities(swap(outcomes), self.model.rules), after.offsets)

    def formula(self, boards: Boards, states: CubeStates) -> CubeWorth:
        """`worth` without look-ahead, whatever the depth. boards: `int8[N, 2, 26]`."""
        return self._worth(boards, states, 0)

    def beavers(self, boards: Boards, states: CubeStates) -> list[BeaverWorth | None]:
        """What a beaver leads to in each state, per cube of row 0; None where none is allowed."""
        model = self.model
        at = np.flatnonzero(model.may_beaver(states))
        answers: list[BeaverWorth | None] = [None] * len(boards)
        asked = states.take(at)
        beavered, raccooned = model.doubled(asked, times=2), model.doubled(asked, times=3)
        can = np.flatnonzero(model.may_raccoon(asked))
        values = self._rolled(
            np.concatenate((boards[at], boards[at[can]])), CubeStates.join([beavered, raccooned.take(can)]), self.plies
        )
        played = model.per_cube(values[: len(at)], asked)
        dropped = model.per_cube(model.single(model.doubled(asked), won=False), asked)
        for k, place in enumerate(at):
            answers[int(place)] = BeaverWorth(float(played[k]), float(dropped[k]))
        higher = model.per_cube(values[len(at) :], asked.take(can))
        dropped_later = model.per_cube(model.single(beavered, won=True), asked)
        for value, k in zip(higher, can.tolist(), strict=True):
            more = (float(value), float(dropped_later[k]))
            answers[int(at[k])] = BeaverWorth(float(played[k]), float(dropped[k]), *more)
        return answers

    def _worth(self, boards: Boards, states: CubeStates, plies: int) -> CubeWorth:
        """`worth` at so many plies."""
        model = self.model
        may = model.may_double(states)
        turn = np.flatnonzero(may)
        asked = CubeStates.join([states, model.doubled(states.take(turn))])
        values = self._rolled(np.concatenate((boards, boards[turn])), asked, plies)
        n = len(boards)
        no_double, taken = values[:n], np.full(n, np.nan)
        taken[turn] = values[n:]
        cash = model.single(states, won=True)
        beaver, raccoon = np.full(n, np.nan), np.full(n, np.nan)
        at = np.flatnonzero(model.may_beaver(states))
        at = at[taken[at] < 0]  # only a double that loses is worth a beaver
        again = at[model.may_raccoon(states.take(at))]
        if len(at):
            raised = (model.doubled(states.take(at), times=2), model.doubled(states.take(again), times=3))
            asked_boards = np.concatenate((boards[at], boards[again]))
            found = self._rolled(asked_boards, CubeStates.join(list(raised)), plies)
            beaver[at], raccoon[again] = found[: len(at)], found[len(at) :]
        best = no_double.copy()
        replied = np.full(n, np.nan)
        lost = model.single(model.doubled(states.take(at)), won=False)
        won = model.single(model.doubled(states.take(again), times=2), won=True)
        replied[at] = np.maximum(beaver[at], lost)
        replied[again] = np.maximum(replied[again], np.minimum(raccoon[again], won))
        answered = np.where(np.isnan(replied), taken, np.minimum(taken, replied))
        best[turn] = np.maximum(no_double, np.minimum(answered, cash))[turn]
        over = finished(boards)
        best[over] = no_double[over]
        return CubeWorth(no_double, taken, cash, beaver, raccoon, best)

    def _rolled(self, boards: Boards, states: CubeStates, plies: int) -> NDArray[np.float64]:
        """Row 0's utility when it rolls without doubling, `float64[Q]`; equal boards in equal states are asked once."""
        values = np.empty(len(boards))
        over = finished(boards)
        values[over] = self.model.final(boards[over], states.take(over))
        known = ~over & self.is_known(boards, states)
        if known.any():
            table = bearoff_tables().cube_values(boards[known], self.model.rules).no_double
            owners = states.owners[known]
            values[known] = states.stakes[known] * table[np.arange(len(owners)), owners + 1].astype(np.float64)
        open_at = np.flatnonzero(~over & ~known)
        if not len(open_at):
            return values
        first, which = distinct_boards(boards[open_at])
        distinct = boards[open_at[first]]
        if plies == 0:
            outcomes = self.outcomes(distinct)[which]
            values[open_at] = self._formula(outcomes, boards[open_at], states.take(open_at)).no_double
            return values
        questions, answers = distinct_questions(which, states.take(open_at))
        found = np.empty(len(questions))
        order = np.argsort(which[questions], kind="stable")
        bounds = np.searchsorted(which[questions[order]], np.arange(0, len(distinct) + _CHUNK, _CHUNK))
        for chunk, start in enumerate(range(0, len(distinct), _CHUNK)):
            at = order[bounds[chunk] : bounds[chunk + 1]]
            asked = questions[at]
            part = distinct[start : start + _CHUNK]
            found[at] = self._expanded(part, which[asked] - start, states.take(open_at[asked]), plies)
        values[open_at] = found[answers]
        return values

    def _expanded(
        self, boards: Boards, asked: NDArray[np.int64], states: CubeStates, plies: int
    ) -> NDArray[np.float64]:
        """The mean over the rolls of the best play's worth, `float64[Q]`. asked: `int64[Q]`, each state's board."""
        replies, worth = self.best_replies(boards, asked, states)
        if plies > 1:
            flat = replies.reshape(-1, 2, SLOTS)
            worth = self._worth(flat, states.swapped().repeat(N_ROLLS), plies - 1).best.reshape(worth.shape)
        total = np.zeros(len(worth))
        for roll, weight in enumerate(ROLL_WEIGHTS):  # roll by roll: the same to the last bit in every batch
            total += weight * worth[:, roll]
        return swapped_utilities(total)

    def best_replies(
        self, boards: Boards, asked: NDArray[np.int64], states: CubeStates
    ) -> tuple[Boards, NDArray[np.float64]]:
        """For each question and each of `dice.ROLLS` the board after the best play by the formulas, and its worth.

        boards: `int8[B, 2, 26]`, not finished. asked: `int64[Q]`, which board each question is about; states: of its
        row 0. Returns `int8[Q, 21, 2, 26]`, swapped, and `float64[Q, 21]`, utilities of the side that rolls next.
        Raises CubeError.
        """
        model, theirs = self.model, states.swapped()
        model.check(states, len(asked))
        after = expand(np.repeat(boards, N_ROLLS, axis=0), np.tile(ROLLS, (len(boards), 1)), model.rules)
        siblings = Afterstates(after.boards, np.ascontiguousarray(after.offsets[::N_ROLLS]))
        outcomes = self._sibling_outcomes(boards, siblings)
        trusted, known = self._table_holds(states), np.empty((0, 3), dtype=np.float32)
        if trusted.any():
            exact = exact_at(after.boards, model.rules)
            trusted &= exact.any()
            if exact.any():
                known = np.full((len(after.boards), 3), np.nan, dtype=np.float32)
                known[exact] = bearoff_tables().cube_values(after.boards[exact], model.rules).best
        chosen = np.empty((len(asked), N_ROLLS), dtype=np.int64)
        worth = np.empty((len(asked), N_ROLLS))
        kernels.best_plays(
            np.ascontiguousarray(outcomes), model.points, equities(outcomes, model.rules), after.offsets, asked,
            theirs.stakes, theirs.owners, theirs.to_go, theirs.crawford,
            model.efficiencies(after.boards, outcomes), known, trusted, model.numbers, model.utilities, N_ROLLS,
            chosen, worth,
        )  # fmt: skip
        return after.boards[chosen], worth

    def _formula(self, outcomes: Outcomes, boards: Boards, states: CubeStates) -> CubeWorth:
        """Values without look-ahead; the tables' where they hold the cube."""
        worth = self.model.worth(outcomes, boards, states)
        known = ~finished(boards) & self.is_known(boards, states)
        if known.any():
            table = bearoff_tables().cube_values(boards[known], self.model.rules)
            owners, stakes = states.owners[known] + 1, states.stakes[known]
            rows = np.arange(len(owners))
            worth.no_double[known] = stakes * table.no_double[rows, owners].astype(np.float64)
            worth.best[known] = stakes * table.best[rows, owners].astype(np.float64)
        return worth

    def _sibling_outcomes(self, boards: Boards, after: Afterstates) -> Outcomes:
        return self._known_outcomes(after.boards, sibling_outcomes(self.evaluator, boards, after))

    def _known_outcomes(self, boards: Boards, outcomes: Outcomes) -> Outcomes:
        """The same outcomes with those of bear-offs from the tables."""
        if not self.tables:
            return outcomes
        rules = self.model.rules
        nearly = nearly_exact_at(boards, rules)
        if not nearly.any():
            return outcomes
        outcomes = outcomes.copy()
        exact = exact_at(boards, rules)
        one_sided = nearly & ~exact
        if one_sided.any():
            outcomes[one_sided] = bearoff_tables().race_outcomes(boards[one_sided], rules)
        if exact.any():
            outcomes[exact] = bearoff_tables().outcomes(boards[exact], rules)
        return outcomes

    def is_known(self, boards: Boards, states: CubeStates) -> NDArray[np.bool_]:
        """Where the tables know what the cube is worth, `bool[N]`."""
        holds = self._table_holds(states)
        return holds & exact_at(boards, self.model.rules) if holds.any() else holds

    def _table_holds(self, states: CubeStates) -> NDArray[np.bool_]:
        """Where the cube is that of the tables, `bool[N]`: money, stakes that double, no cap within reach."""
        model = self.model
        if not self.tables or model.table is not None or model.growth != "geometric":
            return np.zeros(len(states), dtype=bool)
        return np.ones(len(states), dtype=bool) if model.cap is None else states.stakes * _FAR <= model.cap


@dataclass(frozen=True)
class CubeDecision:
    """A cube decision of row 0, on roll.

    no_double, double_take, double_pass, beaver: equities per cube, on the scale on which to win the stake once is 1 and
    to lose it once is -1; None for what cannot be. best: that where both decide rightly. winning: in a match the same
    as chances to win it, by name. verdict: the right action in words and what each mistake costs. reply: what row 0
    should do with a beaver; last_answer: what row 1 should do with a raccoon. outcomes: `float32[K]`, the chances
    without look-ahead that the formulas start from. plies: how far was looked ahead.
    """

    state: CubeState
    no_double: float
    double_take: float | None
    double_pass: float
    beaver: float | None
    best: float
    verdict: Verdict
    reply: str | None
    last_answer: str | None
    winning: dict[str, float] | None
    outcomes: NDArray[np.float32] = field(repr=False)
    plies: int = 0

    @property
    def action(self) -> str:
        """The right action of both sides in words."""
        return self.verdict.action


@dataclass(frozen=True)
class MarketLosers:
    """Which of the 21 x 21 next rolls lose the market, if row 0 does not double now and both sides play well.

    lost: `bool[21, 21]`, by `dice.ROLLS` of row 0, then of row 1: the game is won, or row 1 would pass a double before
    row 0's next roll. share: how many of the 1,296 throws these are.
    """

    lost: NDArray[np.bool_]
    share: float


def cubeful_of(bot: Bot, state: CubeState, *, table: MatchTable | None = None, plies: int | None = None) -> Cubeful:
    """The values that a state calls for. table: match equities in place of those of the game.

    Match equities of a game that no table is shipped for are computed from how the bot thinks it ends from the start.
    Raises BotError, CubeError.
    """
    rules = bot.rules
    if not state.is_match:
        return Cubeful(bot, CubeModel.of(state, rules), plies=plies)
    assert state.away is not None
    ends = None
    if table is None and not has_shipped_table(rules, state.growth):
        ends = _even_ends(bot)
    found = match_table(rules, max(state.away), growth=state.growth, ends=ends, base=table)
    return Cubeful(bot, CubeModel.of(state, rules, found), plies=plies)


def cube_decision(
    bot: Bot, board: ArrayLike, state: CubeState, *, table: MatchTable | None = None, plies: int | None = None
) -> CubeDecision:
    """Whether row 0 should double, and row 1 take, with all equities.

    board: `int8[2, 26]`, not finished. bot: an evaluator; the look-ahead of `NAME@1ply` is cubeful here. table: match
    equities in place of those of the game. plies: in place of the bot's. Raises BoardError, BotError, CubeError.
    """
    judge = cubeful_of(bot, state, table=table, plies=plies)
    checked = checked_boards(board, bot.rules.checkers)
    if len(checked) != 1:
        raise CubeError(f"{len(checked)} boards; cube_decision answers about one")
    if finished(checked)[0]:
        raise CubeError("the game is over; there is nothing to double")
    return decisions_of(judge, checked, [state])[0]


def decisions_of(judge: Cubeful, boards: Boards, given: Sequence[CubeState]) -> list[CubeDecision]:
    """The decisions on boards `int8[N, 2, 26]`, not finished, in states that share the rules of `judge`'s model."""
    model = judge.model
    states = CubeStates.join([CubeStates.of(state) for state in given])
    worth = judge.worth(boards, states)
    outcomes = judge.outcomes(boards)
    beavers = judge.beavers(boards, states)
    found = []
    for i, state in enumerate(given):
        here = states.take(np.array([i]))

        def scaled(utility: float, here: CubeStates = here) -> float:
            return float(model.per_cube(np.array([utility]), here)[0])

        values = {name: float(getattr(worth, name)[i]) for name in _WORTH}
        taken = None if np.isnan(values["double_take"]) else scaled(values["double_take"])
        beaver = beavers[i]
        ruling = verdict(
            scaled(values["no_double"]),
            taken,
            scaled(values["double_pass"]),
            beaver=beaver,
            redouble=state.owner == 0,
        )
        known = {name: (value + 1) / 2 for name, value in values.items() if not np.isnan(value)}
        found.append(
            CubeDecision(
                state=state,
                no_double=scaled(values["no_double"]),
                double_take=taken,
                double_pass=scaled(values["double_pass"]),
                beaver=None if beaver is None else beaver.worth,
                best=scaled(values["best"]),
                verdict=ruling,
                reply=None if beaver is None else beaver.reply,
                last_answer=None if beaver is None else beaver.last_answer,
                winning=known if state.is_match else None,
                outcomes=outcomes[i],
                plies=judge.plies,
            )
        )
    return found


_WORTH = ("no_double", "double_take", "double_pass", "best")


def market_losers(judge: Cubeful, board: ArrayLike, state: CubeState) -> MarketLosers:
    """The next rolls that lose the market. board: `int8[2, 26]`, not finished. Raises BoardError.

    Plays and the double behind them are judged by the formulas without look-ahead: two plies are gone already.
    """
    boards = checked_boards(board, judge.model.rules.checkers)
    states = CubeStates.of(state)
    lost = np.zeros((N_ROLLS, N_ROLLS), dtype=bool)
    if not judge.model.may_double(states)[0]:
        return MarketLosers(lost, 0.0)
    first = judge.best_replies(boards, np.zeros(1, dtype=np.int64), states)[0][0]
    over = finished(first)
    lost[over] = True
    going = np.flatnonzero(~over)
    theirs = states.swapped().repeat(len(going))
    second = judge.best_replies(first[going], np.arange(len(going)), theirs)[0]
    flat = second.reshape(-1, 2, SLOTS)
    worth = judge.formula(flat, theirs.swapped().repeat(N_ROLLS))
    passes = ~finished(flat) & (worth.double_take > worth.double_pass + EQUAL)
    lost[going] = passes.reshape(len(going), N_ROLLS)
    return MarketLosers(lost, float(ROLL_WEIGHTS @ lost @ ROLL_WEIGHTS))


def _even_ends(bot: Bot) -> Outcomes:
    """How the bot thinks that a game between equals ends, `float32[K]`: the start, seen from both sides."""
    bare = without_lookahead(bot)
    if not isinstance(bare, PlayingEvaluator):
        raise BotError(f"bot {bot.name!r} is no evaluator; take a trained bot")
    outcomes = settled_outcomes(bare, start_boards(bot.rules))[0]
    return ((outcomes + swap(outcomes)) / 2).astype(np.float32)


def distinct_questions(boards: NDArray[np.int64], states: CubeStates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of questions all different, `int64[U]`, and which of them each of Q is. boards: their numbers."""
    columns = (boards[:, None], states.stakes[:, None], states.owners[:, None], states.to_go, states.crawford[:, None])
    keys = np.concatenate(columns, axis=1).astype(np.int64)
    _, first, which = np.unique(keys.view(f"V{keys.shape[1] * 8}").ravel(), return_index=True, return_inverse=True)
    return first, which


def _told_apart(
    values: NDArray[np.float32], cubeless: NDArray[np.float32], offsets: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Values in which, of the plays of a segment that are as good as its best, that with most cubeless points leads."""
    segments = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    best = np.maximum.reduceat(values, offsets[:-1])
    equal = np.flatnonzero(values >= (best - _EQUAL)[segments])
    order = equal[np.lexsort((equal, -cubeless[equal], segments[equal]))]
    leaders = order[np.flatnonzero(np.diff(segments[order], prepend=-1))]
    values = values.copy()
    values[leaders] = np.nextafter(best, np.float32(np.inf))
    return values

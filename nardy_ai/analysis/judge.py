"""What plays, cube actions and rolls are worth, by a bot, for many questions at once.

Without a cube values are the bot's cubeless points. With one they are `cubeful`'s, per cube: the depth of the bot's
look-ahead is the cube's too. Luck is measured by the bare bot at any depth. Answers are pure functions of their
questions, so questions may be split, ordered and kept as one likes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards
from nardy_ai.cube.decision import Verdict
from nardy_ai.cube.equity import CubeModel, swapped_utilities
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import Cubeful, cubeful_of, decisions_of
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS, roll_numbers
from nardy_ai.errors import BotError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.outcomes import Outcomes, equities, swap
from nardy_ai.pruned import Pruned, unpruned
from nardy_ai.rollouts import rollout
from nardy_ai.search import Lookahead, PlayingEvaluator, best_replies, without_lookahead

__all__ = ["CubeAnswer", "CubeQuestion", "Judge", "PlayAnswer", "PlayQuestion", "RolloutOptions"]

MOST_ROLLED_OUT = 5
"""Plays of one decision that are rolled out at most, besides the one that was played."""

_BATCH, _BARE_BATCH = 16, 512


@dataclass(frozen=True)
class RolloutOptions:
    """Close decisions are rolled out: `games` for each play within `within` of the best, and for the one played."""

    games: int
    within: float
    seed: int


@dataclass(frozen=True, eq=False)
class PlayQuestion:
    """A roll to be played. after: `int8[L, 2, 26]`, the legal afterstates, swapped; played: which was played, if any.

    state: None without a cube. opening: whether the roll is the first of a game and cannot be a double.
    """

    board: Boards
    dice: tuple[int, int]
    after: Boards
    state: CubeState | None
    played: int | None = None
    opening: bool = False


@dataclass(frozen=True)
class PlayAnswer:
    """values: of each afterstate to the side that plays. chances: its K outcomes after each. luck: of the roll.

    errors: standard errors of the cubeless equity where it was rolled out, else None. winning: the chance to win the
    match that one unit of value is worth; None for money and without a cube.
    """

    values: tuple[float, ...]
    chances: tuple[tuple[float, ...], ...]
    luck: float
    errors: tuple[float | None, ...]
    winning: float | None = None


@dataclass(frozen=True, eq=False)
class CubeQuestion:
    """Whether row 0 should double, and the other side take."""

    board: Boards
    state: CubeState


@dataclass(frozen=True)
class CubeAnswer:
    """Equities per cube of row 0 and the verdict; double_take None where it may not double or gains nothing by it."""

    no_double: float
    double_take: float | None
    double_pass: float
    beaver: float | None
    verdict: Verdict
    winning: float | None = None


class Judge:
    """A bot as a judge. longest: points away that questions about matches may have.

    batch: how many questions make a good part of a long analysis. Raises BotError if the bot is no evaluator.
    """

    def __init__(self, bot: Bot, *, longest: int = 0, rollouts: RolloutOptions | None = None) -> None:
        bare = unpruned(without_lookahead(bot))
        if not isinstance(bare, PlayingEvaluator):
            raise BotError(
                f"bot {bot.name!r} is no evaluator: it ranks plays and knows no equities, so it cannot judge a match;"
                " take a trained bot"
            )
        self.bot = bot
        self.rollouts = rollouts
        self.batch = 1 if rollouts else _BATCH if isinstance(bot, Lookahead) else _BARE_BATCH
        self._bare = bare
        self._rules = bot.rules
        self._longest = longest
        self._by_state: dict[CubeState, Cubeful] = {}

    def probe(self, boards: Boards) -> bytes:
        """What the bare bot thinks of some boards, `int8[N, 2, 26]`, and its pruning: tells bots of one name apart."""
        thoughts = settled_outcomes(self._bare, boards).tobytes()
        player = without_lookahead(self.bot)
        return thoughts + player.digest() if isinstance(player, Pruned) else thoughts

    def plays(self, questions: Sequence[PlayQuestion]) -> list[PlayAnswer]:
        """The answers, in the order of the questions."""
        answers: list[PlayAnswer | None] = [None] * len(questions)
        for cubeful, places in self._groups([question.state for question in questions]):
            asked = [questions[i] for i in places]
            for i, answer in zip(places, self._play_answers(asked, cubeful), strict=True):
                answers[i] = answer
        return [answer for answer in answers if answer is not None]

    def cubes(self, questions: Sequence[CubeQuestion]) -> list[CubeAnswer]:
        """The answers, in the order of the questions."""
        answers: list[CubeAnswer | None] = [None] * len(questions)
        for cubeful, places in self._groups([question.state for question in questions]):
            assert cubeful is not None
            asked = [questions[i] for i in places]
            boards = np.stack([question.board for question in asked])
            states = [question.state for question in asked]
            winning = _winning(cubeful.model, CubeStates.join([CubeStates.of(state) for state in states]))
            found = decisions_of(cubeful, boards, states)
            for i, decision, share in zip(places, found, winning, strict=True):
                answers[i] = CubeAnswer(
                    no_double=decision.no_double,
                    double_take=decision.double_take,
                    double_pass=decision.double_pass,
                    beaver=decision.beaver,
                    verdict=decision.verdict,
                    winning=share,
                )
        return [answer for answer in answers if answer is not None]

    def _groups(self, states: Sequence[CubeState | None]) -> list[tuple[Cubeful | None, list[int]]]:
        """Places of questions that share the rules of the cube, with what judges them."""
        groups: dict[int, tuple[Cubeful | None, list[int]]] = {}
        for i, state in enumerate(states):
            cubeful = None if state is None else self._cubeful(state)
            groups.setdefault(id(cubeful), (cubeful, []))[1].append(i)
        return list(groups.values())

    def _cubeful(self, state: CubeState) -> Cubeful:
        """Values under the rules of a state: one object for all states that differ in stake, owner and score only."""
        away = None if state.away is None else (max(self._longest, *state.away),) * 2
        rules_only = replace(state, value=1, owner=None, away=away, crawford=False)
        if rules_only not in self._by_state:
            self._by_state[rules_only] = cubeful_of(self.bot, rules_only)
        return self._by_state[rules_only]

    def _play_answers(self, questions: Sequence[PlayQuestion], cubeful: Cubeful | None) -> list[PlayAnswer]:
        boards = np.stack([question.board for question in questions])
        counts = [len(question.after) for question in questions]
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        after = Afterstates(np.concatenate([question.after for question in questions]), offsets)
        chances = swap(settled_outcomes(self._bare, after.boards))
        winning: list[float | None] = [None] * len(questions)
        states = None
        if cubeful is None:
            values = unpruned(self.bot).play_values(boards, after).astype(np.float64)
        else:
            given = [question.state for question in questions if question.state is not None]
            states = CubeStates.join([CubeStates.of(state) for state in given])
            values = cubeful.play_values(boards, after, states).astype(np.float64)
            winning = _winning(cubeful.model, states)
        luck = self._luck(questions, boards, cubeful, states)
        answers = []
        for i, question in enumerate(questions):
            part = slice(int(offsets[i]), int(offsets[i + 1]))
            answer = PlayAnswer(
                values=tuple(values[part].tolist()),
                chances=tuple(tuple(row) for row in chances[part].tolist()),
                luck=float(luck[i]),
                errors=(None,) * counts[i],
                winning=winning[i],
            )
            answers.append(answer if self.rollouts is None else self._rolled_out(question, answer, cubeful))
        return answers

    def _luck(
        self, questions: Sequence[PlayQuestion], boards: Boards, cubeful: Cubeful | None, states: CubeStates | None
    ) -> NDArray[np.float64]:
        """Each roll's best play less its expectation, `float64[N]`."""
        if cubeful is None or states is None:
            replies = best_replies(self._bare, boards).outcomes
            values = equities(swap(replies), self._rules).astype(np.float64)
        else:
            _, worth = cubeful.best_replies(boards, np.arange(len(boards)), states)
            mine = swapped_utilities(worth)
            values = np.stack([cubeful.model.per_cube(column, states) for column in mine.T], axis=1)
        rolls = roll_numbers([question.dice for question in questions])
        all_rolls, no_doubles = ROLL_WEIGHTS, np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1 / 15)
        weights = np.stack([no_doubles if question.opening else all_rolls for question in questions])
        return values[np.arange(len(rolls)), rolls] - (values * weights).sum(axis=1)

    def _rolled_out(self, question: PlayQuestion, answer: PlayAnswer, cubeful: Cubeful | None) -> PlayAnswer:
        """The answer with the close plays rolled out, and the one that was played.

        One that is left behind counts at most as the least of the close ones.
        """
        options = self.rollouts
        assert options is not None
        values = np.array(answer.values)
        order = np.argsort(-values, kind="stable")
        chosen = [int(i) for i in order[:MOST_ROLLED_OUT] if values[i] >= values[order[0]] - options.within]
        close = len(chosen)
        if question.played is not None and question.played not in chosen:
            chosen.append(question.played)
        if len(chosen) < 2:
            return answer
        boards = question.after[chosen]
        report = rollout(self.bot, boards, games=options.games, seed=options.seed, after_play=True)
        outcomes = _chances(np.stack([line.outcomes for line in report.lines]))
        if cubeful is None or question.state is None:
            found = np.array([line.equity for line in report.lines])
        else:
            mine = CubeStates.of(question.state, len(chosen))
            utilities = cubeful.model.worth(swap(outcomes), boards, mine.swapped()).best
            found = cubeful.model.per_cube(swapped_utilities(utilities), mine)
        values = np.minimum(values, found[:close].min())
        values[chosen] = found
        chances, errors = list(answer.chances), list(answer.errors)
        for i, line, row in zip(chosen, report.lines, outcomes.tolist(), strict=True):
            chances[i], errors[i] = tuple(row), line.standard_error
        return replace(answer, values=tuple(values.tolist()), chances=tuple(chances), errors=tuple(errors))


def _chances(outcomes: NDArray[np.float64]) -> Outcomes:
    """Rolled-out outcomes `float64[P, K]`, which may leave 0 to 1 a little, as chances, `float32[P, K]`."""
    clipped = np.clip(outcomes, 0, 1)
    return (clipped / clipped.sum(axis=1, keepdims=True)).astype(np.float32)


def _winning(model: CubeModel, states: CubeStates) -> list[float | None]:
    """The chance to win the match that one unit of equity per cube is worth; None for money."""
    if model.table is None:
        return [None] * len(states)
    won, lost = model.single(states, won=True), model.single(states, won=False)
    return ((won - lost) / 4).tolist()

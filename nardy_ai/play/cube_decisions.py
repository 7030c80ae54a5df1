"""Cube decisions with known answers: how much equity a bot loses by doubling and taking as it thinks right.

A file has one JSON object a line (`.jsonl`, or `.jsonl.gz`): `board` before the roll in the view of the side on roll,
as in `play.decisions`, and the cube: `length` of the match (0: money), `score` of players 0 and 1, `onroll`,
`crawford`, `cube`, `owner` (a player; 3: the centre); the known equities per cube `nd`, `dt` and `dp` (no double,
double and take, double and pass); perhaps `probs`, five cumulative chances of the side on roll to win, to win mars or
more, to win koks, to lose mars or more, to lose koks.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards, is_race
from nardy_ai.cube.equity import CubeModel, CubeWorth, match_table
from nardy_ai.cube.met import MatchTable
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import Cubeful
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.outcomes import Outcomes
from nardy_ai.play.decisions import boards_of, checked_counts, checked_equity, read_records
from nardy_ai.rules import RuleSet

__all__ = ["CubeDecisions", "CubeReport", "read_cube_decisions", "score_chances", "score_cube"]

_CENTRE_OF_FILE = 3


@dataclass(frozen=True)
class CubeDecisions:
    """N decisions of row 0. boards: `int8[N, 2, 26]`; equities: `float64[N, 3]`, per cube: no double, take, pass.

    outcomes: `float32[N, K]`, the file's chances, None if it has none. classes: a word for each decision.
    """

    boards: Boards
    states: CubeStates
    equities: NDArray[np.float64]
    outcomes: Outcomes | None
    classes: tuple[str, ...]


@dataclass(frozen=True)
class CubeReport:
    """How somebody did.

    doubling, taking: the mean equity per cube lost a decision by the side that may double, and by the other, with their
    standard errors, and the shares in which nothing was lost. errors: root mean squares of equity, of no double and of
    double and take. by_class: the mean loss of both sides together. lost: `float64[N]`, the same of each decision.
    """

    name: str
    doubling: float
    doubling_error: float
    taking: float
    taking_error: float
    doubled_right: float
    taken_right: float
    errors: tuple[float, float]
    by_class: dict[str, float]
    lost: NDArray[np.float64] = field(repr=False, compare=False)


def read_cube_decisions(path: Path, rules: RuleSet) -> CubeDecisions:
    """Read a file of cube decisions. Raises NardyError with file, line and fault."""
    views: list[list[int]] = []
    states: list[CubeState] = []
    equities: list[list[float]] = []
    chances: list[list[float]] = []
    for number, record in read_records(path):
        try:
            views.append(checked_counts(record["board"], rules))
            states.append(_state_of(record))
            equities.append([checked_equity(record[name]) for name in ("nd", "dt", "dp")])
            if "probs" in record:
                chances.append([checked_equity(chance) for chance in record["probs"]])
                if len(chances[-1]) != 5:
                    raise ValueError(f"it has {len(chances[-1])} chances; expected 5")
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise NardyError(f"{path}:{number}: is no cube decision: {reason}") from error
    boards = boards_of(views, rules)
    return CubeDecisions(
        boards=boards,
        states=CubeStates.join([CubeStates.of(state) for state in states]),
        equities=np.array(equities),
        outcomes=_exclusive(np.array(chances)) if len(chances) == len(views) else None,
        classes=_classes(boards, states, rules),
    )


def score_cube(bot: Bot, decisions: CubeDecisions, *, table: MatchTable | None = None) -> CubeReport:
    """Let `bot` decide. table: match equities in place of those of the game. Raises BotError."""
    judge = Cubeful(bot, _model(bot.rules, decisions, table))
    return _report(bot.name, judge.worth(decisions.boards, decisions.states), judge.model, decisions)


def score_chances(decisions: CubeDecisions, rules: RuleSet, *, table: MatchTable | None = None) -> CubeReport | None:
    """How the formulas do on the file's own chances; None if it has none."""
    if decisions.outcomes is None:
        return None
    model = _model(rules, decisions, table)
    worth = model.worth(decisions.outcomes, decisions.boards, decisions.states)
    return _report("formulas on the file's chances", worth, model, decisions)


def _model(rules: RuleSet, decisions: CubeDecisions, table: MatchTable | None) -> CubeModel:
    length = int(decisions.states.to_go.max())
    if length == 0:
        return CubeModel(rules)
    return CubeModel(rules, table=match_table(rules, length, base=table))


def _report(name: str, worth: CubeWorth, model: CubeModel, decisions: CubeDecisions) -> CubeReport:
    states = decisions.states
    no_double = model.per_cube(worth.no_double, states)
    taken = np.where(model.may_double(states), model.per_cube(worth.double_take, states), -np.inf)
    cash = model.per_cube(worth.double_pass, states)
    known_no_double, known_taken, known_cash = decisions.equities.T
    known_doubled = np.minimum(known_taken, known_cash)
    doubles = np.minimum(taken, cash) > no_double
    doubling = np.maximum(known_no_double, known_doubled) - np.where(doubles, known_doubled, known_no_double)
    taking = np.where((taken <= cash) == (known_taken <= known_cash), 0.0, np.abs(known_taken - known_cash))
    lost = doubling + taking
    classes = np.array(decisions.classes)
    root = len(lost) ** 0.5
    return CubeReport(
        name=name,
        doubling=float(doubling.mean()),
        doubling_error=float(doubling.std(ddof=1)) / root if len(lost) > 1 else float("inf"),
        taking=float(taking.mean()),
        taking_error=float(taking.std(ddof=1)) / root if len(lost) > 1 else float("inf"),
        doubled_right=float((doubling == 0).mean()),
        taken_right=float((taking == 0).mean()),
        errors=(_root_mean_square(no_double - known_no_double), _root_mean_square(taken - known_taken)),
        by_class={word: float(lost[classes == word].mean()) for word in sorted(set(decisions.classes))},
        lost=lost,
    )


def _root_mean_square(errors: NDArray[np.float64]) -> float:
    known = errors[np.isfinite(errors)]
    return float(np.sqrt((known**2).mean())) if len(known) else float("nan")


def _state_of(record: dict[str, object]) -> CubeState:
    """The cube and the score of a record. Raises ValueError and the like for what is none."""
    on_roll, owner, length = record["onroll"], record["owner"], record["length"]
    if on_roll not in (0, 1) or owner not in (0, 1, _CENTRE_OF_FILE):
        raise ValueError(f"onroll {on_roll!r}, owner {owner!r}; expected 0 or 1, and 0, 1 or {_CENTRE_OF_FILE}")
    score = record["score"]
    if not isinstance(length, int) or not isinstance(score, list) or len(score) != 2:
        raise ValueError(f"length {length!r}, score {score!r}; expected a number and two")
    mine, his = score if on_roll == 0 else reversed(score)
    return CubeState(
        value=int(str(record["cube"])),
        owner=None if owner == _CENTRE_OF_FILE else int(owner != on_roll),
        away=(length - mine, length - his) if length else None,
        crawford=bool(record["crawford"]),
        jacoby=False,
    )


def _exclusive(cumulative: NDArray[np.float64]) -> Outcomes:
    """Six exclusive classes `float32[N, 6]` from five cumulative chances `float64[N, 5]`."""
    win, mars, koks, lose_mars, lose_koks = cumulative.T
    return np.stack(
        (win - mars, mars - koks, koks, 1 - win - lose_mars, lose_mars - lose_koks, lose_koks), axis=1
    ).astype(np.float32)


def _classes(boards: Boards, states: list[CubeState], rules: RuleSet) -> tuple[str, ...]:
    """Where the cube is, and whether there is contact."""
    race = is_race(boards, rules.board)
    return tuple(
        f"{'centred' if state.owner is None else 'owned'}, {'race' if raced else 'contact'}"
        for state, raced in zip(states, race, strict=True)
    )

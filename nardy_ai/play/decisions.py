"""Decisions with known answers: how much equity a bot's choices lose on them.

A file has one JSON object a line (`.jsonl`, or `.jsonl.gz`): `board` before the play, `cls`, and `cands`, 2 or more,
each with its `board` after the play, its `equity` and perhaps the `ply` of its analysis. Boards are 26 whole numbers in
the mover's view: points 1 to 24, his checkers positive, the other side's negative; `[25]` his bar, `[0]` the other's.
Checkers that are missing are borne off. A set of the project's own (`play.decision_sets`) begins with a line that says
how it was made and for which rules, and its candidates tell how sure their equities are; of other files the reader
must know the rules.
PR is 500 x the mean equity lost a decision (eXtreme Gammon's performance rating).
"""

import gzip
import json
import math
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, FACING, OFF, SLOTS, Boards, swap_sides
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.pruned import unpruned
from nardy_ai.resources import decisions_names, find_decisions
from nardy_ai.rules import RuleSet, presets, rules_from_dict, same_game

FORMAT = "nardy_ai decisions"
"""What the first line of the project's own sets says they are."""

OWN = "own"
"""In place of a name: the shipped set of the rules that are played."""

PR_SCALE = 500.0
FULL_PLY = 4
TIED = 1e-9
"""Equities no further apart than this are the same: labels have few decimals."""


@dataclass(frozen=True)
class Doubt:
    """How sure the equities of M candidates are. errors: `float64[M]`, their standard errors.

    difference_errors: `float64[M]`, those of the differences to the best, 0 for the best. halves: `float64[M, 2]`, the
    equities by one half of the games and by the other.
    """

    errors: NDArray[np.float64]
    difference_errors: NDArray[np.float64]
    halves: NDArray[np.float64]


@dataclass(frozen=True)
class Decisions:
    """N decisions. boards: `int8[N, 2, 26]` before the plays; candidates: their listed afterstates, M in all.

    equities: `float64[M]`, for the mover. full: `bool[M]`, analysed at full depth. classes: a word for each decision.
    doubt: None where the file says nothing of it.
    """

    boards: Boards
    candidates: Afterstates
    equities: NDArray[np.float64]
    full: NDArray[np.bool_]
    classes: tuple[str, ...]
    doubt: Doubt | None = None


@dataclass(frozen=True)
class Score:
    """PR with its standard error over `decisions`, and the share where a best listed play was chosen."""

    decisions: int
    pr: float
    standard_error: float
    best_share: float


@dataclass(frozen=True)
class LabelNoise:
    """What the spread of labels does to PR. error, difference_error: root mean squares over candidates (not the best).

    pr_about: by how much the labels' noise raises the PR of every bot alike, as an estimate. pr_at_most: a bound of it.
    Each with its standard error over decisions. about_by_class: the estimate for the decisions of a class.
    """

    error: float
    difference_error: float
    pr_about: float
    about_error: float
    pr_at_most: float
    at_most_error: float
    about_by_class: dict[str, Score]


@dataclass(frozen=True)
class DecisionReport:
    """How a bot did: in all, by class, and (evaluators only) the rms error of equity at full depth.

    lost: `float64[N]`, the equity lost in each decision.
    """

    bot: str
    total: Score
    by_class: dict[str, Score]
    rms_error: float | None
    lost: NDArray[np.float64] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Difference:
    """By how much more PR a bot loses than another one on the same decisions; negative if it loses less."""

    pr: float
    standard_error: float


def find_decisions_file(text: str, rules: RuleSet) -> Path:
    """The file that `text` means: a shipped set by name, `own` for that of `rules`, or a path. Raises NardyError."""
    if text == OWN:
        known = presets()
        for name in decisions_names():
            if name in known and same_game(known[name].rules, rules):
                return _shipped(name)
        raise NardyError(
            f"no set of decisions is shipped for rules {rules.name!r}; make one with nardy decisions and name its file"
        )
    if text in decisions_names():
        return _shipped(text)
    path = Path(text)
    if path.name == text and "." not in text and not path.exists():
        known_names = ", ".join([OWN, *decisions_names()])
        raise NardyError(f"unknown set of decisions {text!r} (known: {known_names}, or a .jsonl or .jsonl.gz file)")
    return path


def _shipped(name: str) -> Path:
    found = find_decisions(name)
    assert found is not None
    return found


def read_decisions(path: Path, rules: RuleSet) -> Decisions:
    """Read a decisions file. Raises NardyError with file, line and fault, and for a set made for other rules."""
    parents: list[list[int]] = []
    candidates: list[list[int]] = []
    counts: list[int] = []
    equities: list[float] = []
    full: list[bool] = []
    classes: list[str] = []
    doubts: list[list[float]] = []
    for number, record in read_records(path):
        if record.get("format") == FORMAT:
            _check_rules(path, number, record, rules)
            continue
        try:
            parents.append(checked_counts(record["board"], rules))
            for candidate in record["cands"]:
                candidates.append(checked_counts(candidate["board"], rules))
                equities.append(checked_equity(candidate["equity"]))
                full.append(candidate.get("ply", FULL_PLY) == FULL_PLY)
                if "se" in candidate:
                    one, other = candidate["halves"]
                    told = (candidate["se"], candidate["difference_se"], one, other)
                    doubts.append([checked_equity(number) for number in told])
            counts.append(len(record["cands"]))
            classes.append(str(record.get("cls", "all")))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise NardyError(f"{path}:{number}: is no decision: {reason}") from error
        if counts[-1] < 2:
            raise NardyError(f"{path}:{number}: has {counts[-1]} candidates; expected 2 or more")
    if not counts:
        raise NardyError(f"{path}: holds no decision")
    return Decisions(
        boards=boards_of(parents, rules),
        candidates=Afterstates(
            swap_sides(boards_of(candidates, rules)), np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        ),
        equities=np.array(equities),
        full=np.array(full),
        classes=tuple(classes),
        doubt=_doubt(doubts) if len(doubts) == len(equities) else None,
    )


def _check_rules(path: Path, number: int, about: dict[str, Any], rules: RuleSet) -> None:
    """Refuse a set that was made for another game. Raises NardyError."""
    try:
        made_for = rules_from_dict(about["rules"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NardyError(f"{path}:{number}: does not say for which rules it was made: {error}") from error
    if not same_game(made_for, rules):
        raise NardyError(f"{path}: was made for rules {made_for.name!r}, not for {rules.name!r}")


def _doubt(told: list[list[float]]) -> Doubt:
    numbers = np.array(told)
    return Doubt(numbers[:, 0], numbers[:, 1], numbers[:, 2:])


def read_records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a file with their lines' numbers, at least one. Raises NardyError with file, line and fault."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise NardyError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise NardyError(f"{path}:{number}: is no decision: {error}") from error
        if not isinstance(record, dict):
            raise NardyError(f"{path}:{number}: is no decision: expected a JSON object")
        records.append((number, record))
    if not records:
        raise NardyError(f"{path}: holds no decision")
    return records


def holds_cube_decisions(path: Path) -> bool:
    """Whether a file's first record is about the cube, not about plays. Raises NardyError."""
    _, record = read_records(path)[0]
    return "cands" not in record and "nd" in record


def score_decisions(bot: Bot, decisions: Decisions) -> DecisionReport:
    """Let `bot` choose among the listed plays. Equal values are decided by a fixed coin."""
    offsets = decisions.candidates.offsets
    counts = np.diff(offsets)
    values = bot.play_values(decisions.boards, decisions.candidates).astype(np.float64)
    coin = np.random.default_rng(1).random(len(values))
    order = np.lexsort((coin, values, np.repeat(np.arange(len(counts)), counts)))
    best = np.maximum.reduceat(decisions.equities, offsets[:-1])
    lost = best - decisions.equities[order[offsets[1:] - 1]]
    rms = None
    if isinstance(bot, Evaluator) and decisions.full.any():
        judge = unpruned(bot)
        judged = values if judge is bot else judge.play_values(decisions.boards, decisions.candidates)
        error = (judged - decisions.equities)[decisions.full]
        rms = float(np.sqrt((error**2).mean()))
    return DecisionReport(
        bot=bot.name,
        total=_score(lost),
        by_class=_by_class(lost, decisions),
        rms_error=rms,
        lost=lost,
    )


def label_noise(decisions: Decisions) -> LabelNoise | None:
    """What the labels' noise does to PR; None if they do not tell how sure they are.

    The best of noisy equities is too high on average, so that everybody's loss is; what was chosen is not, since the
    choice does not know the noise. Choosing the best by half of the games and looking at what the other half says of
    it is at most the best true equity on average. The distance of the two is the same for every bot, and bounds what
    noise adds. The estimate: half the games have twice the variance, and where gaps between plays are spread evenly the
    excess grows as the variance does, so it is as large as what the halves' own best equities have more (a jackknife).
    """
    doubt, starts = decisions.doubt, decisions.candidates.offsets[:-1]
    if doubt is None:
        return None
    segments = np.repeat(np.arange(len(starts)), decisions.candidates.counts())
    best = np.maximum.reduceat(decisions.equities, starts)
    excess = np.maximum.reduceat(doubt.halves, starts, axis=0).mean(axis=1) - best
    fair = np.zeros(len(starts))
    for one, other in ((0, 1), (1, 0)):
        order = np.lexsort((-doubt.halves[:, one], segments))
        fair += doubt.halves[order[starts], other] / 2
    about, bound = _score(excess), _score(best - fair)
    others = decisions.equities < best[segments]
    apart = doubt.difference_errors[others] if others.any() else np.zeros(1)
    return LabelNoise(
        error=float(np.sqrt((doubt.errors**2).mean())),
        difference_error=float(np.sqrt((apart**2).mean())),
        pr_about=about.pr,
        about_error=about.standard_error,
        pr_at_most=bound.pr,
        at_most_error=bound.standard_error,
        about_by_class=_by_class(excess, decisions),
    )


def difference(report: DecisionReport, base: DecisionReport) -> Difference:
    """How much more PR than `base` the bot of `report` lost on the same decisions, compared one by one."""
    apart = _score(report.lost - base.lost)
    return Difference(apart.pr, apart.standard_error)


def _by_class(lost: NDArray[np.float64], decisions: Decisions) -> dict[str, Score]:
    classes = np.array(decisions.classes)
    return {name: _score(lost[classes == name]) for name in sorted(set(decisions.classes))}


def _score(lost: NDArray[np.float64]) -> Score:
    n = len(lost)
    scaled = PR_SCALE * lost
    spread = float(scaled.std(ddof=1)) if n > 1 else float("inf")
    return Score(n, float(scaled.mean()), spread / n**0.5, float((lost < TIED).mean()))


def checked_counts(board: object, rules: RuleSet) -> list[int]:
    """26 counts in the mover's view. Raises ValueError for anything else."""
    if not isinstance(board, list) or len(board) != SLOTS or not all(type(count) is int for count in board):
        raise ValueError(f"board {board!r} is not {SLOTS} whole numbers")
    points = board[1:BAR]
    mine = board[BAR] + sum(count for count in points if count > 0)
    his = board[OFF] - sum(count for count in points if count < 0)
    if board[BAR] < 0 or board[OFF] < 0 or max(mine, his) > rules.checkers:
        raise ValueError(
            f"board {board!r} has {mine} and {his} checkers, {board[BAR]} and {board[OFF]} of them on the bar;"
            f" {rules.name!r} is played with {rules.checkers}"
        )
    return board


def checked_equity(equity: object) -> float:
    if isinstance(equity, bool) or not isinstance(equity, int | float) or not math.isfinite(equity):
        raise ValueError(f"equity {equity!r} is no number")
    return float(equity)


def boards_of(views: list[list[int]], rules: RuleSet) -> Boards:
    """Boards in the mover's view as `int8[N, 2, 26]`, row 0 the mover."""
    counts = np.array(views, dtype=np.int8)
    sides = np.zeros((len(counts), 2, SLOTS), dtype=np.int8)
    sides[:, 0, 1:BAR] = np.maximum(counts[:, 1:BAR], 0)
    sides[:, 1, 1:BAR] = np.maximum(-counts[:, FACING[rules.board][1:BAR]], 0)
    sides[:, 0, BAR] = counts[:, BAR]
    sides[:, 1, BAR] = counts[:, OFF]
    sides[:, :, OFF] = rules.checkers - sides[:, :, 1:].sum(axis=2)
    return sides

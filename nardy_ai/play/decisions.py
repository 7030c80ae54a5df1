"""Decisions with known answers: how much equity a bot's choices lose on them.

A file has one JSON object a line (`.jsonl`, or `.jsonl.gz`): `board` before the play, `cls`, and `cands`, 2 or more,
each with its `board` after the play, its `equity` and perhaps the `ply` of its analysis. Boards are 26 whole numbers in
the mover's view: points 1 to 24, his checkers positive, the other side's negative; `[25]` his bar, `[0]` the other's.
Checkers that are missing are borne off. A file does not say by which rules it is meant; whoever reads it does.
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
from nardy_ai.rules import RuleSet

PR_SCALE = 500.0
FULL_PLY = 4
TIED = 1e-9
"""Equities no further apart than this are the same: labels have few decimals."""


@dataclass(frozen=True)
class Decisions:
    """N decisions. boards: `int8[N, 2, 26]` before the plays; candidates: their listed afterstates, M in all.

    equities: `float64[M]`, for the mover. full: `bool[M]`, analysed at full depth. classes: a word for each decision.
    """

    boards: Boards
    candidates: Afterstates
    equities: NDArray[np.float64]
    full: NDArray[np.bool_]
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """PR with its standard error over `decisions`, and the share where a best listed play was chosen."""

    decisions: int
    pr: float
    standard_error: float
    best_share: float


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


def read_decisions(path: Path, rules: RuleSet) -> Decisions:
    """Read a decisions file. Raises NardyError with file, line and fault."""
    parents: list[list[int]] = []
    candidates: list[list[int]] = []
    counts: list[int] = []
    equities: list[float] = []
    full: list[bool] = []
    classes: list[str] = []
    for number, record in read_records(path):
        try:
            parents.append(checked_counts(record["board"], rules))
            for candidate in record["cands"]:
                candidates.append(checked_counts(candidate["board"], rules))
                equities.append(checked_equity(candidate["equity"]))
                full.append(candidate.get("ply", FULL_PLY) == FULL_PLY)
            counts.append(len(record["cands"]))
            classes.append(str(record.get("cls", "all")))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise NardyError(f"{path}:{number}: is no decision: {reason}") from error
        if counts[-1] < 2:
            raise NardyError(f"{path}:{number}: has {counts[-1]} candidates; expected 2 or more")
    return Decisions(
        boards=boards_of(parents, rules),
        candidates=Afterstates(
            swap_sides(boards_of(candidates, rules)), np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        ),
        equities=np.array(equities),
        full=np.array(full),
        classes=tuple(classes),
    )


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
    classes = np.array(decisions.classes)
    rms = None
    if isinstance(bot, Evaluator) and decisions.full.any():
        error = (values - decisions.equities)[decisions.full]
        rms = float(np.sqrt((error**2).mean()))
    return DecisionReport(
        bot=bot.name,
        total=_score(lost),
        by_class={name: _score(lost[classes == name]) for name in sorted(set(decisions.classes))},
        rms_error=rms,
        lost=lost,
    )


def difference(report: DecisionReport, base: DecisionReport) -> Difference:
    """How much more PR than `base` the bot of `report` lost on the same decisions, compared one by one."""
    apart = _score(report.lost - base.lost)
    return Difference(apart.pr, apart.standard_error)


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

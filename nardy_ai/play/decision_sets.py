"""Sets of decisions with answers, made by the project itself: sampled from games of a bot, labelled by its rollouts.

Everything in a set is a pure function of its recipe, so it can be made again, interrupted and taken up, or made longer.
Which decisions and plays are listed is settled before a rollout is begun, so that the noise of labels is not selected.
Reading sets is `play.decisions`' business.
"""

import gzip
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai import __version__
from nardy_ai.boards import BAR, FACING, OFF, SLOTS, Boards, finished, swap_sides
from nardy_ai.dice import hash_at
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.files import replace_file, sole_use
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.outcomes import equities, swap
from nardy_ai.play.decisions import FORMAT, read_records
from nardy_ai.play.kinds import kinds_of, named_kinds
from nardy_ai.play.sampling import turns_of
from nardy_ai.pruned import unpruned
from nardy_ai.rollouts import THROWS, RolloutReport, rollout
from nardy_ai.rules import MatchOptions, RuleSet, rules_to_dict, start_boards
from nardy_ai.search import Lookahead, PlayingEvaluator

__all__ = ["Candidates", "Decision", "SetRecipe", "found_decisions", "make_set"]

VERSION = 1

CLOSE = 0.15
"""A decision is taken in if its second best play is within so many points of the best, by one ply of look-ahead."""

TRIFLE = 0.005
"""And if the best and the worst of the plays listed are so many points apart."""

REACH = 0.3
"""Listed are plays within so many points of the best."""

MOST_LISTED = 5
A_GAME = 2
"""How many decisions one game gives at most: those of one game are about related positions."""

TRIES = 6
"""How many turns of a game are looked at for them."""

BEHIND = 4.0
"""Standard errors of the difference by which a play must trail to be left after the first games."""

WILD_SHARE = 0.1
WILD_PLIES = 20
AWKWARD_SHARE = 0.15
"""Games begun by chance or from awkward boards, as `sampling.turns_of` takes them."""

_BLOCK = 64
"""Games sampled at once. A part of the recipe: awkward boards are drawn block by block."""

_GAME_STREAM = 0xDEC151
_ROLLOUT_STREAM = 0xDEC152
_DIGITS = 6
_BEFORE = {"first": 0, "whole": "", "whole_games": 0}
"""What an older set's recipe does not say, as it was before there was a choice."""
_SAME = 1e-4
"""Equities of one bot on two machines differ less than this; those of two bots differ more."""


@dataclass(frozen=True)
class SetRecipe:
    """How a set is made, but for rules, bot and length. games: rolled out for each play; 0 where answers are exact."""

    seed: int = field(default=1, metadata={"help": "seed of the games sampled and of the rollouts"})
    games: int = field(default=576, metadata={"help": "games rolled out for each play; a multiple of 36 is best"})
    plies: int = field(default=0, metadata={"help": "how far ahead the bot looks in rollouts"})
    truncate: int | None = field(
        default=None, metadata={"help": "let the bot judge games of rollouts after N plies in place of playing on"}
    )
    first: int = field(
        default=0,
        metadata={
            "help": f"after N games roll out no further what is {BEHIND:g} standard errors behind the best; 0: all"
        },
    )
    whole: str = field(
        default="",
        metadata={"help": "kinds of position, parted by commas, whose games are played on in spite of truncation"},
    )
    whole_games: int = field(default=0, metadata={"help": "games rolled out for each play of these kinds; 0: as many"})

    def __post_init__(self) -> None:
        """Refuse values that no set can have. Raises NardyError."""
        least = self.truncate is None or self.truncate >= 1
        if not 0 <= self.seed < 2**62 or self.games < 0 or self.games == 1 or self.plies < 0 or not least:
            raise NardyError(
                f"{self}: a seed of 0 to 2**62 - 1, 2 games or more, plies from 0 and truncation after 1 or more are"
                " expected"
            )
        if self.first and not 2 <= self.first < self.games:
            raise NardyError(f"first = {self.first}; expected 2 games or more and less than {self.games}, or 0")
        if named_kinds(self.whole) and self.truncate is None:
            raise NardyError(f"whole = {self.whole!r}; expected with truncate only")
        if self.whole_games and (self.whole_games < self.games or not self.whole):
            raise NardyError(f"whole_games = {self.whole_games}; expected {self.games} or more, with whole kinds, or 0")

    def truncated_after(self, kind: str) -> int | None:
        """After how many plies games from such a position are judged; None: at their end."""
        return None if kind in named_kinds(self.whole) else self.truncate

    def games_of(self, kind: str) -> int:
        """How many games are rolled out for a play of such a position."""
        return self.whole_games if self.whole_games and kind in named_kinds(self.whole) else self.games


@dataclass(frozen=True)
class Decision:
    """One to be labelled. board: `int8[2, 26]` before the roll; plays: `int8[C, 2, 26]`, the listed afterstates.

    start: how its game began: `start`, `chance` or `awkward`.
    """

    game: int
    ply: int
    start: str
    board: Boards
    dice: tuple[int, int]
    kind: str
    plays: Boards


@dataclass(frozen=True)
class Candidates:
    """Which of M afterstates are listed, `bool[M]`, and which of N decisions are close, `bool[N]`."""

    listed: NDArray[np.bool_]
    close: NDArray[np.bool_]


def make_set(
    path: Path,
    bot: Bot,
    match: MatchOptions,
    recipe: SetRecipe,
    *,
    count: int,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> int:
    """Write a set of `count` decisions to `path` (`.jsonl.gz`), and return how many there are.

    They are labelled by rollouts of `bot`, or by itself if it is the exact one. What is done lies in a part file beside
    `path` and is taken up, as a shorter set at `path` is; workers change no number. progress: called with how many
    there are, at first with those found. stop: once it says yes, rollouts that have not ended are dropped. Raises
    NardyError where `path` or the part file is of another recipe, bot or rules, or the bot cannot label.
    """
    if not path.name.endswith(".jsonl.gz"):
        raise NardyError(f"{path}: expected a name that ends with .jsonl.gz")
    if count < 1 or workers < 1:
        raise NardyError(f"count = {count}, workers = {workers}; expected 1 or more")
    labeller = _checked(bot, recipe)
    about = _about(labeller, match, recipe)
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with sole_use(lock):
        lines = _done(path, part, about)
        if len(lines) > count:
            raise NardyError(f"{path}: holds {len(lines)} decisions already; expected a count of so many or more")
        if progress is not None:
            progress(len(lines))
        if len(lines) < count:
            if not part.exists():
                _write_lines(part, [_text(about), *lines])
            if not _go_on(part, labeller, match, recipe, lines, count, workers, progress, stop):
                return len(lines)
        if part.exists():
            replace_file(path, lambda temporary: _write_gzip(temporary, [_text(about), *lines]))
            part.unlink()
    lock.unlink(missing_ok=True)
    return len(lines)


def found_decisions(
    bot: PlayingEvaluator, match: MatchOptions, *, seed: int, first_game: int = 0
) -> Iterator[Decision]:
    """Decisions without end, in the order of their games from the block of `first_game` on; equal ones may come again.

    At most `A_GAME` of a game, both from turns that chance chose.
    """
    seed += _GAME_STREAM
    block = first_game // _BLOCK
    while True:
        yield from _of_block(bot, match, range(block * _BLOCK, (block + 1) * _BLOCK), seed)
        block += 1


def _of_block(bot: PlayingEvaluator, match: MatchOptions, games: range, seed: int) -> Iterator[Decision]:
    turns = list(
        turns_of(
            bot, match, games, seed=seed, wild_share=WILD_SHARE, wild_plies=WILD_PLIES, awkward_share=AWKWARD_SHARE
        )
    )
    numbers = np.concatenate([turn.games for turn in turns])
    plies = np.repeat([turn.ply for turn in turns], [len(turn.games) for turn in turns])
    boards = np.concatenate([turn.boards for turn in turns])
    dice = np.concatenate([turn.dice for turn in turns])
    starts = np.concatenate([np.where(turn.awkward, 2, turn.wild.astype(np.int64)) for turn in turns])
    free = np.concatenate([turn.after.counts() > 1 for turn in turns]) & ~finished(boards)
    drawn = np.flatnonzero(free)
    drawn = drawn[np.lexsort((hash_at(seed, numbers[drawn], plies[drawn] + 1), numbers[drawn]))]
    drawn = drawn[_rank(numbers[drawn]) < TRIES]
    after = expand(boards[drawn], dice[drawn], bot.rules)
    chosen = candidates(bot, boards[drawn], after)
    kept = np.flatnonzero(chosen.close)
    kept = kept[_rank(numbers[drawn[kept]]) < A_GAME]
    kept = kept[np.lexsort((plies[drawn[kept]], numbers[drawn[kept]]))]
    kinds = kinds_of(boards[drawn[kept]], bot.rules)
    for i, kind in zip(kept, kinds, strict=True):
        at, segment = drawn[i], slice(after.offsets[i], after.offsets[i + 1])
        yield Decision(
            game=int(numbers[at]), ply=int(plies[at]), start=("start", "chance", "awkward")[starts[at]],
            board=boards[at], dice=(int(dice[at, 0]), int(dice[at, 1])), kind=kind,
            plays=after.boards[segment][chosen.listed[segment]],
        )  # fmt: skip


def candidates(bot: PlayingEvaluator, boards: Boards, after: Afterstates) -> Candidates:
    """Which plays are listed: the bot's bare choice, the best by one ply, and others up to `MOST_LISTED` in `REACH`.

    The exact bot's answers cost nothing, so that all plays are listed.
    """
    exact = isinstance(bot, ExactBot)
    values = unpruned(bot).play_values(boards, after)
    bare = best_of_segments(values, after.offsets)
    judged = np.ones(len(values), dtype=np.bool_)
    if not exact:
        judgement = Lookahead(bot, 1, filter="wide").judge_plays(boards, after)
        values, judged = judgement.values, judgement.depths == 1
    counts = after.counts()
    segments = np.repeat(np.arange(len(counts)), counts)
    known = np.where(judged, values.astype(np.float64), -np.inf)
    best = np.maximum.reduceat(known, after.offsets[:-1])
    first = known.copy()
    first[bare] = np.inf
    order = np.lexsort((-first, segments))
    listed = np.ones(len(values), dtype=np.bool_)
    if not exact:
        listed[order] = _rank(segments) < MOST_LISTED
        listed &= first >= np.repeat(best - REACH, counts)
    near = np.add.reduceat(judged & (known >= np.repeat(best - CLOSE, counts)), after.offsets[:-1], dtype=np.int64) >= 2
    worst = np.minimum.reduceat(np.where(listed, known, np.inf), after.offsets[:-1])
    return Candidates(listed, near & (np.where(near, best, np.inf) - worst >= TRIFLE))


def _rank(sorted_groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each entry in its group, `int64[N]`, from 0. sorted_groups: equal ones side by side."""
    starts = np.flatnonzero(np.diff(sorted_groups, prepend=-1))
    return np.arange(len(sorted_groups)) - np.repeat(starts, np.diff(starts, append=len(sorted_groups)))


def _checked(bot: Bot, recipe: SetRecipe) -> PlayingEvaluator:
    """The bot, if it can label. Raises NardyError."""
    if not isinstance(bot, PlayingEvaluator):
        raise NardyError(f"bot {bot.name!r} knows no chances and cannot label; take a trained bot, or exact")
    if isinstance(bot, Lookahead):
        raise NardyError(
            f"bot {bot.name!r} looks ahead; name {bot.evaluator.name!r}, and how far it shall look in rollouts by plies"
        )
    if isinstance(bot, ExactBot) and (recipe.games, recipe.plies, recipe.truncate) != (0, 0, None):
        raise NardyError("the exact bot's answers need no rollouts: games = 0, without plies and truncation")
    if not isinstance(bot, ExactBot) and recipe.games == 0:
        raise NardyError(f"games = 0, but bot {bot.name!r} labels by rollouts; expected 2 games or more")
    return bot


def _about(bot: PlayingEvaluator, match: MatchOptions, recipe: SetRecipe) -> dict[str, Any]:
    """The first line of a set: what decides the others, but for how many there are."""
    after = expand(start_boards(bot.rules), np.array([[6, 1]], dtype=np.uint8), bot.rules)
    return {
        "format": FORMAT,
        "version": VERSION,
        "nardy": __version__,
        "rules": rules_to_dict(bot.rules),
        "opening": match.opening,
        "bot": bot.name,
        "recipe": asdict(recipe),
        "sampling": {
            "close": CLOSE, "trifle": TRIFLE, "reach": REACH, "most_listed": MOST_LISTED, "a_game": A_GAME,
            "tries": TRIES, "block": _BLOCK, "wild_share": WILD_SHARE, "wild_plies": WILD_PLIES,
            "awkward_share": AWKWARD_SHARE,
        },
        "probe": [round(float(one), _DIGITS) for one in equities(bot.outcomes(after.boards), bot.rules)],
    }  # fmt: skip


def _done(path: Path, part: Path, about: Mapping[str, Any]) -> list[str]:
    """The lines of decisions that are there, from the part file or else the set. Raises NardyError."""
    if part.exists():
        text = part.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]  # what a kill left behind the last line is dropped
        if len(whole) < len(text):
            with part.open("rb+") as file:
                file.truncate(len(whole))
        if not whole:
            part.unlink()
    source = part if part.exists() else path
    if not source.exists():
        return []
    records = [record for _, record in read_records(source)]
    found = records[0]
    for key, wanted in about.items():
        if key == "probe":
            same = len(found.get(key, ())) == len(wanted) and np.allclose(found[key], wanted, rtol=0, atol=_SAME)
        elif key == "recipe":
            same = isinstance(found.get(key), dict) and _BEFORE | found[key] == wanted
        else:
            same = found.get(key) == wanted
        if not same:
            raise NardyError(
                f"{source}: was made with {key} {found.get(key, 'unknown')}, not {wanted}; name another file"
            )
    return [_text(record) for record in records[1:]]


def _go_on(
    part: Path,
    bot: PlayingEvaluator,
    match: MatchOptions,
    recipe: SetRecipe,
    lines: list[str],
    count: int,
    workers: int,
    progress: Callable[[int], None] | None,
    stop: Callable[[], bool] | None,
) -> bool:
    """Add to `lines` and the part file until there are `count`; False if stopped before."""
    wanted = _unlabelled(bot, match, recipe.seed, lines)
    todo = islice(wanted, count - len(lines))
    halted = stop if stop is not None else lambda: False
    waiting: deque[Future[str | None]] = deque()
    with ThreadPoolExecutor(workers) as pool, part.open("a", encoding="utf-8", newline="\n") as file:
        try:
            while True:
                while len(waiting) <= workers and not halted():
                    decision = next(todo, None)
                    if decision is None:
                        break
                    waiting.append(pool.submit(_labelled, decision, bot, recipe, halted))
                if not waiting:
                    return len(lines) >= count
                line = waiting.popleft().result()
                if line is None:
                    return False
                file.write(line + "\n")
                file.flush()
                lines.append(line)
                if progress is not None:
                    progress(len(lines))
        finally:
            for one in waiting:
                one.cancel()


def _unlabelled(bot: PlayingEvaluator, match: MatchOptions, seed: int, lines: list[str]) -> Iterator[Decision]:
    """The distinct decisions behind those of the lines."""
    last, seen = (-1, -1), set()
    for line in lines:
        record = json.loads(line)
        last = (record["game"], record["ply"])
        seen.add((str(record["board"]), tuple(record["dice"])))
    for decision in found_decisions(bot, match, seed=seed, first_game=max(last[0], 0)):
        key = (str(_view(decision.board, bot.rules)), decision.dice)
        if (decision.game, decision.ply) > last and key not in seen:
            seen.add(key)
            yield decision


def _labelled(decision: Decision, bot: PlayingEvaluator, recipe: SetRecipe, stop: Callable[[], bool]) -> str | None:
    """The line of a decision, the best play first; None if stopped."""
    rules = bot.rules
    seed = int(hash_at(recipe.seed + _ROLLOUT_STREAM, decision.game, decision.ply)[0] >> np.uint64(33))
    most = recipe.games_of(decision.kind)
    listed: list[dict[str, Any]]
    if isinstance(bot, ExactBot):
        outcomes = swap(bot.outcomes(decision.plays))
        worth = equities(outcomes, rules)
        listed = [
            _candidate(play, rules, float(one), (float(one), float(one)), 0.0, 0.0, chances)
            for play, one, chances in zip(decision.plays, worth, outcomes, strict=True)
        ]
    else:
        listed = []
        plays, games, earlier = decision.plays, recipe.first or most, None
        while len(plays):
            report = rollout(
                bot, plays, games=games, seed=seed, plies=recipe.plies,
                truncate_after=recipe.truncated_after(decision.kind), after_play=True, batch=most,
                earlier=earlier, stop=stop,
            )  # fmt: skip
            if report.stopped == "interrupted":
                return None
            going = np.array([line.difference >= -BEHIND * line.difference_error for line in report.lines])
            if report.games == most or going.sum() < 2:
                going[:] = False
            listed += [line for line, more in zip(_listed(report), going, strict=True) if not more]
            plays, games = plays[going], most - report.games
            earlier = _of_some(report, going)
    listed.sort(key=lambda one: -one["equity"])
    return _text(
        {
            "board": _view(decision.board, rules), "dice": list(decision.dice), "rules": rules.name,
            "cls": decision.kind, "start": decision.start, "game": decision.game, "ply": decision.ply,
            "cands": listed, "games": most, "bot": bot.name, "seed": seed, "version": __version__,
        }
    )  # fmt: skip


def _listed(report: RolloutReport) -> list[dict[str, Any]]:
    """What a set says of the plays rolled out."""
    middle = report.games // (2 * THROWS) * THROWS or report.games // 2
    halves = np.stack((report.equities[:, :middle].mean(axis=1), report.equities[:, middle:].mean(axis=1)), axis=1)
    return [
        _candidate(
            line.board, report.rules, line.equity, (float(half[0]), float(half[1])), line.standard_error,
            line.difference_error, line.outcomes,
        )
        for line, half in zip(report.lines, halves, strict=True)
    ]  # fmt: skip


def _of_some(report: RolloutReport, kept: NDArray[np.bool_]) -> RolloutReport:
    """The report of some of its positions, `bool[P]`."""
    return replace(
        report,
        boards=report.boards[kept],
        results=report.results[kept],
        cut=report.cut[kept],
        probe=report.probe[kept],
    )


def _candidate(
    play: Boards,
    rules: RuleSet,
    equity: float,
    halves: tuple[float, float],
    error: float,
    difference_error: float,
    chances: NDArray[np.floating[Any]],
) -> dict[str, Any]:
    return {
        "board": _view(swap_sides(play), rules),
        "equity": round(equity, _DIGITS),
        "se": round(error, _DIGITS),
        "difference_se": round(difference_error, _DIGITS),
        "halves": [round(half, _DIGITS) for half in halves],
        "probs": [round(float(chance), _DIGITS) for chance in chances],
    }


def _view(board: Boards, rules: RuleSet) -> list[int]:
    """26 counts in the view of row 0, as `play.decisions` reads them. board: `int8[2, 26]`."""
    counts = np.zeros(SLOTS, dtype=np.int64)
    counts[1:BAR] = board[0, 1:BAR].astype(np.int64) - board[1, FACING[rules.board][1:BAR]]
    counts[BAR], counts[OFF] = board[0, BAR], board[1, BAR]
    view: list[int] = counts.tolist()
    return view


def _text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _write_lines(path: Path, lines: list[str]) -> None:
    def write(temporary: Path) -> None:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")

    replace_file(path, write)


def _write_gzip(path: Path, lines: list[str]) -> None:
    """The same lines give the same bytes."""
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))

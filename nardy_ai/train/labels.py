"""Labels: positions and how a teacher thinks they end, in shards on disk that can be made, checked and made again.

A teacher is an evaluator better than the student: its own net with a ply of look-ahead, or an exact solution. A shard
is a pure function of the folder's recipe and the shard's number, so filling a folder can be interrupted and taken up.
What made it stands in every shard: the recipe, the teacher's name and the digest of its answers.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import Boards, checked_boards, finished
from nardy_ai.bots import load_bot
from nardy_ai.errors import ConfigError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.files import sole_use
from nardy_ai.outcomes import Outcomes, class_count, equities, swap
from nardy_ai.play.decisions import (
    Decisions,
    Difference,
    difference,
    find_decisions_file,
    read_decisions,
    score_decisions,
)
from nardy_ai.play.kinds import kinds_of, named_kinds
from nardy_ai.play.sampling import paths_of, sampled_positions, turns_of
from nardy_ai.rules import MatchOptions, RuleSet, find_preset, match_options_of, rules_from_dict, rules_to_dict
from nardy_ai.search import Lookahead, PlayingEvaluator, distinct_boards, without_lookahead
from nardy_ai.tensors import TensorsError, read_tensors, write_tensors

__all__ = [
    "LabelRecipe", "Labels", "check_teacher", "find_teacher", "lead_over_student", "make_labels", "read_labels",
]  # fmt: skip

FORMAT = "nardy_ai labels 1"
LOCK_FILE = ".lock"
LEAD = 3.0
"""Standard errors by which a teacher must be better than its student on held-out decisions."""

_PROBES = 64


@dataclass(frozen=True)
class LabelRecipe:
    """How the positions of a folder are found. One shard has the games `games` k to `games` (k + 1) - 1."""

    seed: int = field(default=1, metadata={"help": "seed of dice and choices"})
    games: int = field(default=1024, metadata={"help": "games a shard; short nardy has about 70 positions a game"})
    wild_share: float = field(default=0.1, metadata={"help": "share of games that begin with plies chosen by chance"})
    wild_plies: int = field(default=30, metadata={"help": "most plies chosen by chance in such a game"})
    awkward_share: float = field(
        default=0.1,
        metadata={"help": "share of games begun from back games, primes, crashes, several on the bar"},
    )
    backgame_share: float = field(
        default=0.0, metadata={"help": "share of those games where one side at least is given a back game"}
    )
    near_share: float = field(
        default=0.5, metadata={"help": "share of decisions where a play that was nearly made is labelled too"}
    )
    hard_share: float = field(
        default=1.0,
        metadata={"help": "share of the positions that is labelled, those where one ply changes the net's mind most"},
    )
    candidates: int = field(
        default=0, metadata={"help": "replies to a roll that the teacher judges, the likeliest ones; 0: all"}
    )
    without: str = field(default="", metadata={"help": "kinds of position, parted by commas, that are not labelled"})
    trace: float = field(
        default=0.0,
        metadata={
            "help": "lambda: the share of what look-ahead changes at later plies that a label takes over, ply by ply"
        },
    )

    def __post_init__(self) -> None:
        """Refuse values that no folder can have. Raises ConfigError."""
        if self.games < 1 or not 0 <= self.seed < 2**62 or not 1 <= self.wild_plies <= 1_000_000:
            raise ConfigError(f"{self}: games and wild_plies from 1, a seed of 0 to 2**62 - 1 are expected")
        if self.candidates < 0:
            raise ConfigError(f"candidates = {self.candidates}; expected 1 or more, or 0 for all")
        for name in ("wild_share", "awkward_share", "backgame_share", "near_share", "hard_share", "trace"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} = {getattr(self, name)}; expected 0 to 1")
        named_kinds(self.without)
        if self.trace and (self.near_share, self.hard_share) != (0, 1):
            raise ConfigError(
                f"trace = {self.trace} labels all positions of the games and no others; expected near_share = 0 and"
                " hard_share = 1"
            )


@dataclass(frozen=True)
class Labels:
    """N distinct positions with what a teacher says. boards: `int8[N, 2, 26]`. outcomes: `float32[N, K]`.

    sources: what each folder's shards say of how they were made, for the card of the bot that learns from them.
    """

    rules: RuleSet
    boards: Boards
    outcomes: Outcomes
    sources: tuple[Mapping[str, Any], ...]


def find_teacher(name: str, rules: str = "") -> tuple[PlayingEvaluator, MatchOptions]:
    """The bot that labels, and by what options its games are played. Raises BotError, ConfigError, RulesError.

    rules: a preset, an alias or a TOML file; none: the teacher's own, with the options of their preset.
    """
    preset = find_preset(rules) if rules else None
    teacher = load_bot(name, preset.rules if preset else None)
    if not isinstance(teacher, PlayingEvaluator):
        raise ConfigError(f"teacher {name!r} knows no chances and cannot label; take a trained bot")
    return teacher, preset.match if preset else match_options_of(teacher.rules)


def lead_over_student(teacher: PlayingEvaluator, student: str, decisions: str) -> Difference:
    """`check_teacher` on the decisions that `find_decisions_file` knows by this name.

    student: a bot's name; none: the teacher's bare net.
    """
    learner = load_bot(student, teacher.rules) if student else without_lookahead(teacher)
    path = find_decisions_file(decisions, teacher.rules)
    return check_teacher(teacher, learner, read_decisions(path, teacher.rules))


def check_teacher(teacher: Bot, student: Bot, decisions: Decisions) -> Difference:
    """How much less PR the teacher loses than the student on held-out decisions. Raises ConfigError if not enough.

    A student does not pass its teacher, so labels of one that is no better are wasted.
    """
    apart = difference(score_decisions(teacher, decisions), score_decisions(student, decisions))
    if apart.pr >= -LEAD * apart.standard_error:
        raise ConfigError(
            f"teacher {teacher.name!r} is not better than student {student.name!r}: its PR differs by {apart.pr:+.2f}"
            f" with a standard error of {apart.standard_error:.2f}; {LEAD:g} standard errors below are expected. Take a"
            " deeper teacher"
        )
    return apart


def make_labels(
    folder: Path,
    teacher: PlayingEvaluator,
    match: MatchOptions,
    recipe: LabelRecipe,
    *,
    shards: int,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> int:
    """Fill `folder` up to `shards` shards, and return how many there are. Those that are whole stay as they are.

    progress: called with a shard's number and its positions, those found whole included. stop: asked before each shard.
    Raises ConfigError where the folder holds shards of another recipe, teacher or rules.
    """
    labeller = _labeller(teacher, recipe)
    folder.mkdir(parents=True, exist_ok=True)
    about = _about(labeller, recipe) | {"teacher": teacher.name}

    def one(number: int) -> bool:
        path = _path(folder, number)
        found = _whole(path, about)
        if found is None:
            if stop is not None and stop():
                return False
            games = range(number * recipe.games, (number + 1) * recipe.games)
            made = _followed if recipe.trace else _judged
            boards, outcomes = made(labeller, match, games, recipe)
            write_tensors(path, {"boards": boards, "outcomes": outcomes}, about, check=_read_shard)
            found = len(boards)
        if progress is not None:
            progress(number, found)
        return True

    with sole_use(folder / LOCK_FILE), ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(one, range(shards)))


def read_labels(folders: list[Path]) -> Labels:
    """All labels of the folders, each position once: the last folder that has it counts. Raises ConfigError."""
    boards: list[Boards] = []
    outcomes: list[Outcomes] = []
    sources: list[Mapping[str, Any]] = []
    rules: RuleSet | None = None
    for folder in reversed(folders):
        paths = sorted(folder.glob("[0-9]*.safetensors"))
        if not paths:
            raise ConfigError(f"{folder}: holds no labels; make them with nardy label")
        for path in paths:
            arrays, texts = _read_shard(path)
            found = rules_from_dict(json.loads(texts["rules"]))
            if rules is not None and found != rules:
                raise ConfigError(f"{path}: is of rules {found.name!r}, others are of {rules.name!r}")
            rules = found
            boards.append(arrays["boards"])
            outcomes.append(arrays["outcomes"])
        sources.append(
            {"folder": folder.name, "shards": len(paths), "teacher": plain_name(texts["teacher"]),
             "digest": texts["answers"], "recipe": json.loads(texts["recipe"])}
        )  # fmt: skip
    assert rules is not None
    whole = np.concatenate(boards)
    first = np.sort(distinct_boards(whole)[0])
    return Labels(rules, whole[first], np.concatenate(outcomes)[first], tuple(reversed(sources)))


def plain_name(name: str) -> str:
    """A bot's name for a card: of a file its folder and name, wherever on this machine it lies."""
    return "/".join(Path(name).parts[-2:])


def rms_of_equity(found: Outcomes, wanted: Outcomes, rules: RuleSet) -> float:
    """Root mean square difference of cubeless points between outcomes `float32[N, K]`."""
    return float(np.sqrt(((equities(found, rules) - equities(wanted, rules)).astype(np.float64) ** 2).mean()))


def _about(teacher: PlayingEvaluator, recipe: LabelRecipe) -> dict[str, str]:
    """What a shard says of itself, but for the teacher's name. Another teacher of the same name has other answers."""
    probes = sampled_positions(
        without_lookahead(teacher), MatchOptions(), range(1), seed=0, wild_share=1.0, wild_plies=10, awkward_share=0.0,
        near_share=0.0,
    )[:_PROBES]  # fmt: skip
    answers = np.round(teacher.outcomes(probes).astype(np.float64), 4)
    return {
        "format": FORMAT,
        "rules": json.dumps(rules_to_dict(teacher.rules), ensure_ascii=False),
        "recipe": json.dumps(asdict(recipe)),
        "answers": hashlib.sha256(answers.tobytes()).hexdigest(),
    }


def _labeller(teacher: PlayingEvaluator, recipe: LabelRecipe) -> PlayingEvaluator:
    """The teacher, who judges `recipe.candidates` replies to a roll; 0: all. Raises ConfigError."""
    if recipe.trace and not (isinstance(teacher, Lookahead) and teacher.plies == 1):
        raise ConfigError(f"trace follows one ply of look-ahead; teacher {teacher.name!r} is none, take NAME@1ply")
    candidates = recipe.candidates
    if not candidates:
        return teacher
    if not isinstance(teacher, Lookahead):
        raise ConfigError(
            f"candidates are of look-ahead, and teacher {teacher.name!r} does not look ahead; leave it out"
        )
    return Lookahead(teacher.evaluator, teacher.plies, filter=teacher.filter, candidates=candidates)


def _judged(
    labeller: PlayingEvaluator, match: MatchOptions, games: range, recipe: LabelRecipe
) -> tuple[Boards, Outcomes]:
    """Positions of these games and what the labeller says of them."""
    player = without_lookahead(labeller)
    boards = sampled_positions(
        player, match, games, seed=recipe.seed, wild_share=recipe.wild_share, wild_plies=recipe.wild_plies,
        awkward_share=recipe.awkward_share, near_share=recipe.near_share, backgame_share=recipe.backgame_share,
    )  # fmt: skip
    boards = boards[_wanted(boards, player.rules, recipe)]
    if recipe.hard_share < 1:
        boards = _hardest(player, boards, recipe.hard_share)
    return boards, labeller.outcomes(boards)


def _followed(
    labeller: PlayingEvaluator, match: MatchOptions, games: range, recipe: LabelRecipe
) -> tuple[Boards, Outcomes]:
    """All positions of these games, with what one ply of look-ahead says there and what it changes later in the game.

    With V the player's outcomes, A those of its look-ahead over the roll that comes and its own play, and s' the board
    to which the game went on: label(s) = A(s) + trace * swap(label(s') - V(s')). As A(s) is the mean of swap(V(s')),
    that is TD(lambda) with the luck of the dice taken off: with trace = 1 its mean is how games of the player end. What
    the path adds has a spread, so a label may lie outside 0 to 1; those of equal boards are averaged.
    """
    player = without_lookahead(labeller)
    assert isinstance(player, PlayingEvaluator)
    turns = turns_of(
        player, match, games, seed=recipe.seed, wild_share=recipe.wild_share, wild_plies=recipe.wild_plies,
        awkward_share=recipe.awkward_share, backgame_share=recipe.backgame_share,
    )  # fmt: skip
    paths = paths_of(turns)
    first, which = distinct_boards(paths.boards)
    boards = paths.boards[first]
    ahead = labeller.outcomes(boards).astype(np.float64)
    change = (ahead - settled_outcomes(player, boards))[which]
    later = np.zeros_like(change)
    for start, end in reversed(list(pairwise(paths.starts))):
        going = start + np.flatnonzero(paths.following[start:end] >= 0)
        then = paths.following[going]
        later[going] = recipe.trace * swap(change[then] + later[then])
    added = np.zeros_like(ahead)
    np.add.at(added, which, later)
    labels = (ahead + added / np.bincount(which)[:, None]).astype(np.float32)
    playable = ~finished(boards) & _wanted(boards, player.rules, recipe)
    return boards[playable], labels[playable]


def _wanted(boards: Boards, rules: RuleSet, recipe: LabelRecipe) -> NDArray[np.bool_]:
    """Which boards are of no kind that the recipe goes without, `bool[N]`."""
    named = named_kinds(recipe.without)
    if not named:
        return np.ones(len(boards), dtype=np.bool_)
    return ~np.isin(np.array(kinds_of(boards, rules), dtype=np.str_), named)


def _hardest(net: Bot, boards: Boards, share: float) -> Boards:
    """The share of boards, in their order, of which `net` and its own first ply of look-ahead think most differently.

    They are what the net cannot see yet, so a deeper teacher's time is best spent there.
    """
    ahead = Lookahead(net, 1)
    apart = np.abs(equities(ahead.outcomes(boards) - ahead.evaluator.outcomes(boards), net.rules))
    return boards[np.sort(np.argsort(-apart, kind="stable")[: round(share * len(boards))])]


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.safetensors"


def _whole(path: Path, about: Mapping[str, str]) -> int | None:
    """How many positions a shard has; None if it is not there or damaged. Raises ConfigError if made otherwise."""
    if not path.exists():
        return None
    try:
        arrays, texts = _read_shard(path)
    except ConfigError:
        return None
    for key, text in about.items():
        if texts[key] != text:
            raise ConfigError(f"{path}: was made with {key} {texts[key]}, not {text}; name another folder")
    return len(arrays["boards"])


def _read_shard(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """A shard's arrays and texts. Raises ConfigError."""
    try:
        arrays, texts = read_tensors(path)
    except TensorsError as error:
        raise ConfigError(str(error)) from error
    wanted = ("format", "rules", "recipe", "teacher", "answers", "digest")
    if texts.get("format") != FORMAT or any(key not in texts for key in wanted):
        raise ConfigError(f"{path}: is no shard of labels")
    try:
        rules = rules_from_dict(json.loads(texts["rules"]))
        boards = checked_boards(arrays["boards"], rules.checkers)
        outcomes = arrays["outcomes"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is no shard of labels: {error}") from error
    if outcomes.shape != (len(boards), class_count(rules)) or outcomes.dtype != np.float32:
        raise ConfigError(f"{path}: {len(boards)} boards have outcomes {outcomes.dtype}{list(outcomes.shape)}")
    return arrays, texts

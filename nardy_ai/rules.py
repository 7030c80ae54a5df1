"""Rule sets as data: what decides legality and the class of a result, and what decides starts, cube and match.

A game is a frozen `RuleSet`; nothing else in the package asks for its name. Presets lie in `presets.toml`; a user's
own rule set is a TOML file of the same form. How a rule is carried out is `movegen`'s business, what a result is
worth is `outcomes`'.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nardy_ai.boards import BAR, CONTRARY, FACING, OFF, PARALLEL, SLOTS, Boards
from nardy_ai.errors import RulesError

MAX_CHECKERS = 15

CHOICES: dict[str, dict[str, str]] = {
    "board": {
        CONTRARY: "the sides move against each other; his point q is my 25 - q",
        PARALLEL: "both sides move the same way round; his point q is my q - 12 or q + 12",
    },
    "head_exception": {
        "none": "never more than the limit",
        "66": "two on 6-6, while all stand on the head",
        "44_66": "two on 4-4 and 6-6, while all stand on the head",
        "33_44_66": "two on 3-3, 4-4 and 6-6, while all stand on the head",
        "any_double": "two on any double, while all stand on the head",
        "if_blocked_double": "two on a double that one checker cannot complete, while all stand on the head",
        "if_blocked": "two on a roll that one checker cannot complete, while all stand on the head",
    },
    "six_block": {
        "free": "six points in a row are always allowed",
        "ahead": "allowed if an opposing checker is past the block or borne off",
        "home": "allowed if an opposing checker is in his home or borne off",
        "never": "forbidden",
    },
    "six_block_check": {
        "final": "the block is judged at the end of the turn",
        "step": "the block is judged after every move",
    },
    "hit_hide": {
        "allowed": "a checker that hits may go on as it likes",
        "no_hide": "a checker that hits may not land on an own point later in the turn",
        "no_run": "a checker that hits may not move again in the turn",
    },
    "hit_hide_scope": {
        "home": "the ban holds for hits in one's own home",
        "board": "the ban holds for hits anywhere",
    },
    "hit_hide_check": {
        "step": "every landing counts",
        "final": "only where the checker stands at the end of the turn counts",
    },
    "scoring": {
        "oin": "every win counts 1",
        "oin_mars": "oin 1, mars 2 (the loser has borne none off)",
        "oin_mars_koks": "oin 1, mars 2, koks 3 (mars, and a checker on the bar or in the winner's home)",
        "checkers_left": "one point a checker left; none off: 30, or 45 when all are home",
    },
    "opening": {
        "use_dice": "one die each, the higher starts and plays both",
        "reroll": "one die each, the higher starts and rolls two fresh dice",
        "two_dice_each": "two dice each, the higher sum starts and plays its own pair",
    },
    "opening_tie": {
        "reroll": "equal dice are thrown again",
        "auto_double": "equal dice double the stake, at most auto_doubles times, and are thrown again",
    },
    "next_game_first": {
        "roll": "every game begins with an opening roll",
        "winner": "the winner of a game starts the next",
    },
    "cube": {
        "none": "no cube",
        "geometric": "stakes 1, 2, 4, 8, ...",
        "arithmetic": "stakes 1, 2, 3, 4, ...",
    },
    "refuse": {"lose_stake": "refusing a double loses the stake as it was"},
}
"""Every option that is one of a few words, and what each word means."""


@dataclass(frozen=True)
class MatchOptions:
    """What may change without a new network: who starts, the cube, the match."""

    opening: str = field(default="use_dice", metadata={"help": "how the first player and the first roll are found"})
    opening_tie: str = field(default="reroll", metadata={"help": "what equal opening dice do"})
    auto_doubles: int = field(default=0, metadata={"help": "how often equal opening dice may double the stake"})
    next_game_first: str = field(default="roll", metadata={"help": "who starts the next game"})
    cube: str = field(default="none", metadata={"help": "the doubling cube (куб удвоения, даве) and its growth"})
    jacoby: bool = field(default=False, metadata={"help": "mars and koks count single while the cube is unturned"})
    beavers: bool = field(default=False, metadata={"help": "the taker may double again at once and keep the cube"})
    raccoons: bool = field(default=False, metadata={"help": "a beavered doubler may double once more at once"})
    crawford: bool = field(default=False, metadata={"help": "no doubling in the game after a side is one point away"})
    refuse: str = field(default="lose_stake", metadata={"help": "the price of refusing a double"})
    length: int = field(default=0, metadata={"help": "points to win the match; 0 is money play"})

    def __post_init__(self) -> None:
        _check_fields(self)
        if self.auto_doubles < 0 or self.length < 0:
            raise RulesError("auto_doubles and length must be 0 or more")
        if self.auto_doubles and self.opening_tie != "auto_double":
            raise RulesError("auto_doubles needs opening_tie = 'auto_double'; equal dice are thrown again otherwise")
        if self.opening_tie == "auto_double" and not self.auto_doubles:
            raise RulesError("opening_tie = 'auto_double' needs auto_doubles of 1 or more")
        for option in ("jacoby", "beavers", "raccoons", "crawford"):
            if getattr(self, option) and self.cube == "none":
                raise RulesError(f"{option} is a rule about the cube, but cube = 'none'")
        if self.raccoons and not self.beavers:
            raise RulesError("raccoons answer beavers; set beavers too")


@dataclass(frozen=True)
class RuleSet:
    """What decides which plays are legal and how a finished game is classed. A network is trained for one of these."""

    name: str = field(metadata={"help": "the name it is found by"})
    start: Mapping[int, int] = field(
        hash=False, metadata={"help": "own point -> checkers at the start, the same for both sides"}
    )
    board: str = field(default=CONTRARY, metadata={"help": "the geometry"})
    checkers: int = field(default=15, metadata={"help": "checkers a side, the sum of start"})
    closed_by: int = field(
        default=2, metadata={"help": "enemy checkers that close a point; with 2 a single one is hit, with 1 none is"}
    )
    head_limit: int | None = field(
        default=None, metadata={"help": "checkers that may leave the head (голова, point 24) in a turn"}
    )
    head_exception: str = field(default="none", metadata={"help": "when one more may leave the head"})
    six_block: str = field(default="free", metadata={"help": "the block (блок): six own points in a row"})
    six_block_check: str = field(default="final", metadata={"help": "when the block is judged"})
    hit_hide: str = field(default="allowed", metadata={"help": "hit and hide (побить и запрятаться)"})
    hit_hide_scope: str = field(default="home", metadata={"help": "where the ban on hiding holds"})
    hit_hide_check: str = field(default="step", metadata={"help": "when the ban on hiding is judged"})
    scoring: str = field(default="oin_mars_koks", metadata={"help": "classes of results and their points"})
    koks_needs_none_off: bool = field(default=True, metadata={"help": "koks needs that the loser has borne none off"})

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy, which cannot take `start`'s view."""
        return rules_from_dict, (rules_to_dict(self),)

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "start", MappingProxyType(dict(sorted(self.start.items(), reverse=True))))
        if not 1 <= self.checkers <= MAX_CHECKERS:
            raise RulesError(f"checkers = {self.checkers}; expected 1 to {MAX_CHECKERS}")
        if any(not 1 <= point <= 24 or count < 1 for point, count in self.start.items()):
            raise RulesError(f"start = {dict(self.start)}; expected own points 1 to 24 with 1 checker or more each")
        if sum(self.start.values()) != self.checkers:
            raise RulesError(f"start holds {sum(self.start.values())} checkers, but checkers = {self.checkers}")
        facing = FACING[self.board]
        for point in self.start:
            if int(facing[point]) in self.start:
                raise RulesError(f"start puts both sides on one point: my {point} is his {int(facing[point])}")
        if self.closed_by not in (1, 2):
            raise RulesError(f"closed_by = {self.closed_by}; expected 1 (no hitting) or 2 (a single checker is hit)")
        if self.closed_by == 1 and self.hit_hide != "allowed":
            raise RulesError(f"hit_hide = '{self.hit_hide}' bans hiding after a hit, but closed_by = 1 allows no hit")
        if self.hit_hide == "allowed" and (self.hit_hide_scope, self.hit_hide_check) != ("home", "step"):
            raise RulesError("hit_hide_scope and hit_hide_check need hit_hide = 'no_hide' or 'no_run'")
        if self.hit_hide == "no_run" and self.hit_hide_check == "final":
            raise RulesError("hit_hide = 'no_run' forbids every further move, so hit_hide_check must stay 'step'")
        if self.head_limit not in (None, 1):
            raise RulesError(f"head_limit = {self.head_limit}; expected 1, or nothing for no limit")
        if self.head_limit is None and self.head_exception != "none":
            raise RulesError(f"head_exception = '{self.head_exception}' needs head_limit = 1")
        if self.six_block == "free" and self.six_block_check == "step":
            raise RulesError("six_block_check = 'step' needs a six_block other than 'free'")
        if self.scoring == "oin_mars_koks" and self.board == PARALLEL:
            raise RulesError("scoring = 'oin_mars_koks': koks exists only on a contrary board; use 'oin_mars'")
        if not self.koks_needs_none_off and self.scoring != "oin_mars_koks":
            raise RulesError("koks_needs_none_off = false needs scoring = 'oin_mars_koks'")


@dataclass(frozen=True)
class Preset:
    """A rule set with the match options that go with it, its other names and one line about it."""

    rules: RuleSet
    match: MatchOptions
    aliases: tuple[str, ...] = ()
    summary: str = ""


def _check_fields(record: MatchOptions | RuleSet) -> None:
    """Refuse values of another type and words that are no choice. Raises RulesError."""
    for entry in fields(record):
        value = getattr(record, entry.name)
        if entry.name in CHOICES:
            if value not in CHOICES[entry.name]:
                raise RulesError(f"{entry.name} = {value!r}; expected one of {', '.join(CHOICES[entry.name])}")
        elif entry.name == "start":
            if not isinstance(value, Mapping) or not all(
                type(point) is int and type(count) is int for point, count in value.items()
            ):
                raise RulesError(f"start = {value!r}; expected a table of point = count, such as {{ 24 = 15 }}")
        elif entry.name == "name":
            if not isinstance(value, str) or not value:
                raise RulesError(f"name = {value!r}; expected a word")
        elif entry.name == "head_limit":
            if value is not None and type(value) is not int:
                raise RulesError(f"head_limit = {value!r}; expected a whole number")
        elif type(value) is not type(entry.default):
            raise RulesError(f"{entry.name} = {value!r}; expected {type(entry.default).__name__}")


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, in the order of `presets.toml`."""
    text = (Path(__file__).parent / "presets.toml").read_text(encoding="utf-8")
    found: dict[str, Preset] = {}
    for name, table in tomllib.loads(text).items():
        found[name] = _preset_from(name, table, found)
    return MappingProxyType(found)


def preset_names() -> list[str]:
    """The names of the presets, without aliases."""
    return list(presets())


def find_preset(name: str | Path) -> Preset:
    """A preset by name or alias, or a user's own from a TOML file.

    name: a preset, one of its aliases (Russian or English, any case), or the path of a `.toml` file.
    Raises RulesError.
    """
    text = str(name)
    if text in presets():
        return presets()[text]
    if text.endswith(".toml") or "/" in text or "\\" in text:
        return _read_preset(Path(text))
    return presets()[_known_name(text, presets())]


def _known_name(text: str, known: Mapping[str, Preset]) -> str:
    """The name of a preset from its name or alias, any case. Raises RulesError."""
    folded = text.casefold().replace("_", "-").strip()
    for key, preset in known.items():
        if folded == key or folded in preset.aliases:
            return key
    names = [alias for key, preset in known.items() for alias in (key, *preset.aliases)]
    close = get_close_matches(folded, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise RulesError(f"unknown rules {text!r}{hint} (known: {', '.join(known)}, or a .toml file)")


def find_rules(name: str | Path) -> RuleSet:
    """The `RuleSet` of a preset, alias or TOML file; see `find_preset`. Raises RulesError."""
    return find_preset(name).rules


def find_match_options(name: str | Path) -> MatchOptions:
    """The `MatchOptions` of a preset, alias or TOML file; see `find_preset`. Raises RulesError."""
    return find_preset(name).match


def match_options_of(rules: RuleSet) -> MatchOptions:
    """The `MatchOptions` of the preset that a rule set is; the plainest for any other, whatever its name."""
    preset = presets().get(rules.name)
    return preset.match if preset is not None and preset.rules == rules else MatchOptions()


def _read_preset(path: Path) -> Preset:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RulesError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RulesError(f"{path}: is no UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise RulesError(f"{path}: is no TOML: {error}") from error
    try:
        return _preset_from(str(table.pop("name", path.stem)), table, presets())
    except (RulesError, TypeError, AttributeError) as error:
        raise RulesError(f"{path}: {error}") from error


def _preset_from(name: str, table: Mapping[str, Any], known: Mapping[str, Preset]) -> Preset:
    """One table of a presets file, strict about its keys. Raises RulesError."""
    table = dict(table)
    base = table.pop("base", None)
    if base is not None:
        try:
            base = _known_name(str(base), known)
        except RulesError as error:
            raise RulesError(f"base: {error}") from error
    rule_keys = [entry.name for entry in fields(RuleSet) if entry.name != "name"]
    match_keys = [entry.name for entry in fields(MatchOptions)]
    match = table.pop("match", {})
    aliases = tuple(alias.casefold() for alias in table.pop("aliases", ()))
    summary = str(table.pop("summary", ""))
    if not isinstance(match, dict):
        raise RulesError(f"match = {match!r}; expected a table of match options")
    _check_keys(table, rule_keys, "")
    _check_keys(match, match_keys, "match.")
    if "start" in table:
        table["start"] = _start_from(table["start"])
    if base is None and "start" not in table:
        raise RulesError("neither base nor start is given; a rule set needs one of them")
    try:
        rules = replace(known[base].rules, name=name, **table) if base else RuleSet(name=name, **table)
        options = replace(known[base].match if base else MatchOptions(), **match)
    except TypeError as error:
        raise RulesError(str(error)) from error
    return Preset(rules, options, aliases, summary or (known[base].summary if base else ""))


def _check_keys(table: Mapping[str, Any], known: list[str], prefix: str) -> None:
    for key in table:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"; did you mean '{prefix}{close[0]}'?" if close else f" (known: {', '.join(known)})"
            if not prefix and key in (entry.name for entry in fields(MatchOptions)):
                hint = "; it is a match option and belongs under [match]"
            raise RulesError(f"unknown key '{prefix}{key}'{hint}")


def _start_from(table: object) -> dict[int, int]:
    """TOML keys are text: `{ 24 = 15 }` arrives as `{"24": 15}`."""
    known = {str(point) for point in range(1, 25)}
    if not isinstance(table, dict) or not known.issuperset(table):
        raise RulesError(f"start = {table!r}; expected a table of point = count, such as {{ 24 = 15 }}")
    return {int(point): count for point, count in table.items()}


def rules_to_dict(rules: RuleSet) -> dict[str, Any]:
    """The rule set as plain data for JSON; `rules_from_dict` is the way back."""
    return {entry.name: getattr(rules, entry.name) for entry in fields(rules)} | {
        "start": {str(point): count for point, count in rules.start.items()}
    }


def rules_from_dict(table: Mapping[str, Any]) -> RuleSet:
    """A rule set from what `rules_to_dict` wrote. Raises RulesError."""
    table = dict(table)
    name = str(table.pop("name", ""))
    return _preset_from(name, table, presets()).rules


def same_game(one: RuleSet, other: RuleSet) -> bool:
    """Whether two rule sets differ in nothing but their names."""
    return replace(one, name="x") == replace(other, name="x")


def start_boards(rules: RuleSet, n: int = 1) -> Boards:
    """The starting position `n` times, `int8[n, 2, 26]`."""
    row = np.zeros(SLOTS, dtype=np.int8)
    for point, count in rules.start.items():
        row[point] = count
    return np.broadcast_to(row, (n, 2, SLOTS)).copy()


def match_to_dict(match: MatchOptions) -> dict[str, Any]:
    """Match options as plain data for JSON."""
    return asdict(match)


def match_from_dict(table: Mapping[str, Any]) -> MatchOptions:
    """Match options from what `match_to_dict` wrote. Raises RulesError."""
    _check_keys(table, [entry.name for entry in fields(MatchOptions)], "match.")
    return MatchOptions(**table)


assert OFF == 0 and BAR == SLOTS - 1

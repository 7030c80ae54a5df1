"""The JellyFish match text, `.mat`, in the dialects that programs and servers write; reading and writing.

The format was never specified. What is read: header lines `; [Name "Value"]` (eXtreme Gammon), ` 7 point match`, then
for each game ` Game 1`, a line of names and scores, and rows `  1) 31: 8/5 6/5      42: 24/20 13/11` of two columns, in
which besides rolls stand `Doubles => 2`, `Takes`, `Drops`, `Beavers`, `Raccoons`, `Resigns` and `Wins 2 points`. Points
are each side's own, the bar is `bar` or 25, off is `off` or 0; so a game of long nardy is written like any other. The
set-up of a position, which JellyFish cannot say, is a header line `; [Position "..."]` in a game, with the project's
own text. What is not understood is a fault with its line; the rest is read on.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nardy_ai.errors import NardyError, NotationError
from nardy_ai.notation import Move, parse_play, read_position, write_position
from nardy_ai.records.game import (
    Action,
    CubeAction,
    Fault,
    GameRecord,
    MatchRecord,
    Resignation,
    Setup,
    Turn,
    add_answer,
    row_numbers,
)
from nardy_ai.rules import RuleSet, find_rules

__all__ = ["VARIATIONS", "looks_like_mat", "read_mat", "write_mat"]

VARIATIONS = {"backgammon": "short", "hypergammon": "hyper"}
"""eXtreme Gammon's words for games that are rule sets here. Its others (NackGammon, LongGammon) are none."""

_TAG = re.compile(r'\s*;\s*\[\s*([^"\]]+?)\s+"(.*)"\s*\]\s*')
_COMMENT = re.compile(r"\s*(?:;|#|//)")
_LENGTH = re.compile(r"\s*(\d{1,5})\s+points?\s+match\b.*", re.IGNORECASE)
_MONEY = re.compile(r"\s*(?:money|unlimited)\s+(?:match|session|game|play)\b.*", re.IGNORECASE)
_GAME = re.compile(r"\s*Game\s+(\d{1,6})\b.*", re.IGNORECASE)
_NAMES = (
    re.compile(r"\s*(.*\S)\s*:\s*(\d{1,5})\s{2,}(\S.*?)\s*:\s*(\d{1,5})\s*"),
    re.compile(r"\s*(.*?\S)\s*:\s*(\d{1,5})\s+(\S.*?)\s*:\s*(\d{1,5})\s*"),
)
_ROW = re.compile(r"\s*(\d{1,4})\)")
_SLOT = r"(?:bar|off|\d{1,2})"
_MOVE = rf"{_SLOT}(?:\s?[/-]\s?{_SLOT}\*?)+(?:\s?\(\d\))?"
_ENTRY = re.compile(
    rf"""
    (?P<dice>\d\s?-?\s?\d)\s?:\s*
        (?: (?P<none>cannot\s+move|can't\s+move|no\s+(?:move|play)|dances?\b|pass(?:es)?\b)
          | (?P<unknown>\?+|illegal\s+play\b(?:\s*\([^)]*\))?)
          | (?P<moves>{_MOVE}(?:[\s,;]+{_MOVE})*)
          | )
    | (?P<double>(?:re)?doubles?\b|beavers?\b|rac?coons?\b) (?:\s*(?:=>|\bto\b|:)\s*(?P<value>\d+))?
    | (?P<take>takes?\b|accepts?\b)
    | (?P<pass>drops?\b|pass(?:es)?\b|declines?\b|refuses?\b|rejects?\b)
    | (?P<resigns>resigns?\b)(?:\s+(?:a\s+)?(?P<level>single|gammon|mars|backgammon|koks)\b)?(?:\s+game\b)?
    | (?P<wins>wins?\b)(?:\s+(?P<points>\d+)\s*(?:points?|pts?)?)?(?:\s+and\s+the\s+match)?\.?
    | (?P<loses>loss(?:es)?\b|loses?\b)(?:\s+\d+\s*(?:points?|pts?)?)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEVELS = {"single": 1, "gammon": 2, "mars": 2, "backgammon": 3, "koks": 3}
_LEVEL_WORDS = ("", " single", " gammon", " backgammon")
_FLAGS = {"crawford": "crawford", "jacoby": "jacoby", "beaver": "beavers", "beavers": "beavers"}

_LEFT_INDENT = 8
"""Blanks behind `1)` up to which an entry that is alone in its row stands in the left column."""

_LEFT_EDGE = 16
"""The column up to which an entry in a line without a number stands in the left column."""

_LONGEST_LINE = 1000

_WIDTH = 33
"""Where the right column begins in what is written."""


def looks_like_mat(lines: Sequence[str]) -> bool:
    """Whether a text is a match of this format, damaged perhaps."""
    return any(_LENGTH.fullmatch(line) or _MONEY.fullmatch(line) or _GAME.fullmatch(line) for line in lines)


def read_mat(lines: Sequence[str], rules: RuleSet) -> MatchRecord:
    """The match in the lines of a file; what is wrong is in its `faults`. Raises NotationError if there is no game.

    rules: what positions that are set up are read by, where the file names no rules itself.
    """
    reader = _Reader(rules)
    for number, line in enumerate(lines, start=1):
        reader.read_line(number, line.expandtabs())
    return reader.record()


def write_mat(record: MatchRecord) -> str:
    """The text of a match, which `read_mat` reads back equal. Comments and faults are not written.

    Raises NotationError for names that would be read as something else.
    """
    lines = []
    if record.rules is not None:
        lines.append(f'; [Rules "{record.rules}"]')
    for word, value, default in (
        ("Crawford", record.crawford, MatchRecord.crawford),
        ("Jacoby", record.jacoby, MatchRecord.jacoby),
        ("Beaver", record.beavers, MatchRecord.beavers),
    ):
        if value != default:
            lines.append(f'; [{word} "{"On" if value else "Off"}"]')
    lines += [f'; [{name} "{value}"]' for name, value in record.tags]
    lines += ["", f" {record.length} point match"]
    for game in record.games:
        left, right = (f"{name} : {score}" for name, score in zip(record.names, game.scores, strict=True))
        line = f" {left:<{_WIDTH - 3}}  {right}"
        if _COMMENT.match(line) or _names_and_scores(line) != (record.names, game.scores):
            raise NotationError(
                f"the players are {record.names[0]!r} and {record.names[1]!r}; {line!r} is read otherwise"
            )
        lines += ["", f" Game {game.number}", line]
        lines += _rows(game, record)
    return "\n".join(lines) + "\n"


def _names_and_scores(line: str) -> tuple[tuple[str, str], tuple[int, int]] | None:
    """What a line of names and scores says; None for another line."""
    found = next((found for pattern in _NAMES if (found := pattern.fullmatch(line))), None)
    if found is None:
        return None
    return (" ".join(found[1].split()), " ".join(found[3].split())), (int(found[2]), int(found[4]))


def _rows(game: GameRecord, record: MatchRecord) -> list[str]:
    rows: dict[int, list[str]] = {}
    setups: dict[int, str] = {}
    for row, action in zip(row_numbers(game.actions), game.actions, strict=True):
        if isinstance(action, Setup):
            rules = find_rules(record.rules or "short")
            setups[row] = f'; [Position "{write_position(action.position, rules)}"]'
        else:
            rows.setdefault(row, ["", ""])[action.side] = _entry_text(action)
    lines = []
    for row in sorted(rows.keys() | setups.keys()):
        if row in setups:
            lines.append(setups[row])
        if row in rows:
            left, right = rows[row]
            lines.append(f"{row:3}) {left:<{_WIDTH - 7}}  {right}".rstrip())
    if game.winner is not None:
        points = "1 point" if game.points == 1 else f"{game.points} points"
        over = record.length and game.scores[game.winner] + game.points >= record.length
        indent = " " * (6 if game.winner == 0 else _WIDTH)
        lines.append(f"{indent}Wins {points}{' and the match' if over else ''}")
    return lines


def _entry_text(action: Turn | CubeAction | Resignation) -> str:
    if isinstance(action, Resignation):
        return f"Resigns{_LEVEL_WORDS[action.level]}"
    if isinstance(action, CubeAction):
        word = {"double": "Doubles", "beaver": "Beavers", "raccoon": "Raccoons", "take": "Takes", "pass": "Drops"}
        return word[action.kind] + (f" => {action.value}" if action.value is not None else "")
    dice = "{}{}:".format(*action.dice)
    if action.moves is None:
        return dice
    if not action.moves:
        return f"{dice} Cannot Move"
    # As they are read: joined moves would be another text for the same play.
    return " ".join([dice, *(f"{move.source}/{move.target}{'*' if move.hit else ''}" for move in action.moves)])


@dataclass
class _OpenGame:
    """The game that is being read. flipped: its columns are those of the match exchanged."""

    number: int
    line: int
    scores: tuple[int, int]
    named: bool = False
    flipped: bool = False
    actions: list[Action] = field(default_factory=list)
    winner: int | None = None
    points: int = 0


class _Reader:
    """Where reading stands: what has been read so far, and the game that is open."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._rules_name: str | None = None
        self._names: tuple[str, str] | None = None
        self._length: int | None = None
        self._flags: dict[str, bool] = {}
        self._tags: list[tuple[str, str]] = []
        self._games: list[GameRecord] = []
        self._faults: list[Fault] = []
        self._open: _OpenGame | None = None

    def read_line(self, number: int, line: str) -> None:
        """Take in one line. number: from 1."""
        if not line.strip():
            return
        if len(line) > _LONGEST_LINE:
            self._fault(number, f"has {len(line)} characters and is left out; a row has fewer than {_LONGEST_LINE}")
        elif found := _TAG.fullmatch(line):
            self._tag(number, found[1], found[2])
        elif _COMMENT.match(line) or self._read_names(number, line):
            return
        elif found := _LENGTH.fullmatch(line):
            self._length = int(found[1]) if self._length is None else self._length
        elif _MONEY.fullmatch(line):
            self._length = 0
        elif found := _GAME.fullmatch(line):
            self._close()
            self._open = _OpenGame(int(found[1]), number, self._score_so_far())
        elif self._open is None:
            self._fault(number, f"{line.strip()!r} stands before the first game and is not understood")
        else:
            self._row(number, line)

    def record(self) -> MatchRecord:
        """All that was read. Raises NotationError if there is no game."""
        self._close()
        if not self._games:
            raise NotationError("holds no game: no line such as 'Game 1' is followed by rolls or a result")
        if self._length is None:
            self._fault(0, "no line such as '7 point match' says how long the match is; taken as money play")
        return MatchRecord(
            names=self._names or self._tagged_names(),
            length=self._length or 0,
            games=tuple(self._games),
            rules=self._rules_name,
            tags=tuple(self._tags),
            faults=tuple(self._faults),
            **self._flags,
        )

    def _fault(self, line: int, text: str) -> None:
        self._faults.append(Fault(line, text))

    def _close(self) -> None:
        game = self._open
        if game is not None and (game.named or game.actions or game.winner is not None):
            self._games.append(
                GameRecord(
                    game.number,
                    game.scores,
                    tuple(game.actions),
                    winner=game.winner,
                    points=game.points,
                    line=game.line,
                )
            )
        elif game is not None:
            self._fault(game.line, f"game {game.number} is empty")
        self._open = None

    def _score_so_far(self) -> tuple[int, int]:
        scores = [0, 0]
        if self._games:
            last = self._games[-1]
            scores = list(last.scores)
            if last.winner is not None:
                scores[last.winner] += last.points
        return scores[0], scores[1]

    def _tagged_names(self) -> tuple[str, str]:
        tags = {name.casefold(): " ".join(value.split()) for name, value in self._tags}
        return tags.get("player 1") or "Player 1", tags.get("player 2") or "Player 2"

    def _tag(self, number: int, name: str, value: str) -> None:
        key = name.casefold()
        if key == "position" and self._open is not None:
            self._set_up(number, value)
        elif key in _FLAGS:
            self._flags[_FLAGS[key]] = value.strip().casefold() in ("on", "yes", "true", "1")
        elif key == "rules" or (key == "variation" and self._rules_name is None):
            if key == "variation":
                self._tags.append((name, value))
                value = VARIATIONS.get(value.strip().casefold(), value)
            try:
                self._rules = find_rules(value)
                self._rules_name = value
            except NardyError as error:
                self._fault(number, str(error))
        else:
            self._tags.append((name, value))

    def _set_up(self, number: int, text: str) -> None:
        assert self._open is not None
        try:
            position = read_position(text, self._rules)
        except NardyError as error:
            self._fault(number, str(error))
            return
        self._open.actions.append(Setup(position.row0_player, position, line=number))

    def _read_names(self, number: int, line: str) -> bool:
        """Whether the line is that of names and scores which the open game still lacks."""
        if self._open is None or self._open.named:
            return False
        found = _names_and_scores(line)
        if found is None:
            return False
        names, scores = found
        self._open.named = True
        if self._names is None:
            self._names = names
        elif names == self._names[::-1] and names != self._names:
            self._open.flipped = True
        elif names != self._names:
            self._fault(number, f"the players are {' and '.join(names)}; before they were {' and '.join(self._names)}")
        self._open.scores = scores[::-1] if self._open.flipped else scores
        return True

    def _row(self, number: int, line: str) -> None:
        """A numbered row, or a line with a result or another entry by itself."""
        assert self._open is not None
        if not self._open.named:
            self._fault(number, "the line of names and scores is missing before this row")
            self._open.named = True
        row = _ROW.match(line)
        start = row.end() if row else 0
        found = list(self._entries(number, line, start))
        if not found:
            if row is None:
                self._fault(number, f"{line.strip()!r} is not understood")
            return
        if len(found) > 2:
            self._fault(number, f"{found[2][0]!r} is a third entry in a row of two")
        if len(found) == 1:
            text = found[0]
            indent = text.start() - start
            sides = [int(indent > (_LEFT_INDENT if row else _LEFT_EDGE))]
        else:
            sides = [0, 1]
        for side, entry in zip(sides, found, strict=False):
            self._entry(number, self._named_winner(line, entry, 1 - side if self._open.flipped else side), entry)

    def _entries(self, number: int, line: str, start: int) -> Iterator[re.Match[str]]:
        """The entries of a row; what stands between them is a fault, unless it is the name of who wins."""
        at = start
        while at < len(line):
            found = _ENTRY.search(line, at)
            between = line[at : found.start() if found else len(line)].strip(" ,;.")
            if between and not (found and found["wins"] and between in (self._names or ())):
                self._fault(number, f"{between!r} is not understood")
            if not found:
                return
            yield found
            at = found.end()

    def _named_winner(self, line: str, entry: re.Match[str], side: int) -> int:
        """The side that a result names, as in `Alice wins 2 points`, else `side`."""
        before = line[: entry.start()].rstrip()
        if entry["wins"] and self._names and self._names[0] != self._names[1]:
            for other, name in enumerate(self._names):
                if before.endswith(name):
                    return other
        return side

    def _entry(self, number: int, side: int, entry: re.Match[str]) -> None:
        game = self._open
        assert game is not None
        if game.winner is not None and not entry["loses"]:
            self._fault(number, f"{entry[0].strip()!r} stands behind the end of game {game.number} and is left out")
        elif entry["dice"]:
            self._turn(number, side, entry)
        elif entry["double"]:
            word = entry["double"].casefold()
            kind = "beaver" if word.startswith("b") else "raccoon" if word.startswith("ra") else "double"
            game.actions.append(CubeAction(side, kind, int(entry["value"]) if entry["value"] else None, line=number))
        elif entry["take"] or entry["pass"]:
            self._answer(number, side, entry)
        elif entry["resigns"]:
            game.actions.append(Resignation(side, _LEVELS.get((entry["level"] or "").casefold(), 0), line=number))
        elif entry["wins"]:
            game.winner, game.points = side, int(entry["points"] or 1)

    def _turn(self, number: int, side: int, entry: re.Match[str]) -> None:
        assert self._open is not None
        dice = sorted((int(digit) for digit in re.findall(r"\d", entry["dice"])), reverse=True)
        if not (dice[0] <= 6 and dice[1] >= 1):
            self._fault(
                number, f"the roll is {entry['dice']!r}; expected two numbers from 1 to 6; the turn is left out"
            )
            return
        moves: tuple[Move, ...] | None = () if entry["none"] else None
        if entry["moves"]:
            try:
                moves = parse_play(entry["moves"])
            except NotationError as error:
                self._fault(number, str(error))
        self._open.actions.append(Turn(side, (dice[0], dice[1]), moves, line=number))

    def _answer(self, number: int, side: int, entry: re.Match[str]) -> None:
        """A take or a pass, of a double or of a resignation."""
        assert self._open is not None
        actions = self._open.actions
        last = actions[-1] if actions else None
        kind = "take" if entry["take"] else "pass"
        if isinstance(last, Resignation) and last.side != side:
            if kind == "pass":  # a resignation refused: play goes on
                actions.pop()
            return
        if fault := add_answer(actions, CubeAction(side, kind, line=number)):
            self._fault(number, fault)

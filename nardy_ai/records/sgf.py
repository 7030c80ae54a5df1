"""Matches that GNU Backgammon saves: SGF (FF[4], GM[6]), one tree a game; reading.

Properties used: `PW` and `PB` (White is side 0), `MI` (length, number, scores), `RU`, `RE`, date and place in the root;
then `W[31hehf]` and `B[...]` (a roll and pairs of letters), `double`, `take`, `drop`; `AE`, `AW`, `AB`, `PL`, `CP`,
`CV`, `DI` set up a position; `C` is a comment. Letters count from White's 1 point, a to x; y is the bar, z off.
Analysis in the file is skipped, and so are variations: the first branch is the game. Source: GNU Backgammon's manual,
"The SGF file format", and files that it writes.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from nardy_ai.boards import BAR, OFF, SLOTS
from nardy_ai.errors import NardyError, NotationError
from nardy_ai.notation import Move, Position, check_position
from nardy_ai.notation.fields import board_of, two_dice, whole_number
from nardy_ai.notation.position import MAX_CUBE_LOG2
from nardy_ai.records.game import (
    OFFERS,
    Action,
    CubeAction,
    Fault,
    GameRecord,
    MatchRecord,
    Resignation,
    Setup,
    Turn,
    add_answer,
)
from nardy_ai.rules import RuleSet, start_boards

__all__ = ["looks_like_sgf", "read_sgf"]

_SIDES = {"W": 0, "B": 1}
_TAGS = {"EV": "Event", "RO": "Round", "PC": "Place", "DT": "EventDate", "AN": "Annotator"}
_SETS_UP = frozenset({"AW", "AB", "PL", "CP", "CV"})
_CUBE = {"double": "double", "redouble": "double", "beaver": "beaver", "raccoon": "raccoon"}
_CUBE |= {"take": "take", "accept": "take", "drop": "pass", "pass": "pass", "reject": "pass"}
_VARIATIONS = {"hypergammon3": "hyper"}
_NO_RULES = frozenset({"nackgammon", "hypergammon1", "hypergammon2"})
_TOKEN = re.compile(r"\s*(?:([();])|([A-Za-z]+)|\[((?:[^\]\\]|\\.)*)\])", re.DOTALL)

MOST_MOVES = 4


@dataclass
class _Node:
    """One node: its properties with their values, and the line of the file on which it begins."""

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)


def looks_like_sgf(lines: Sequence[str]) -> bool:
    """Whether a text is a collection of game trees."""
    return next((line.lstrip().startswith("(") for line in lines if line.strip()), False) and any(
        ";" in line for line in lines[:20]
    )


def read_sgf(lines: Sequence[str], rules: RuleSet) -> MatchRecord:
    """The match in the lines of a file; what is wrong is in its `faults`. Raises NotationError if there is no game.

    rules: whose checkers are counted where a position is set up.
    """
    trees, faults = _trees("\n".join(lines))
    if not trees:
        raise NotationError("holds no game: no tree such as (;GM[6]... with nodes")
    root = trees[0][0].values
    if root.get("GM", ["6"])[0].strip() != "6":
        raise NotationError(f"holds a game of another kind, GM[{root['GM'][0]}]; backgammon is GM[6]")
    games: list[GameRecord] = []
    scores = (0, 0)
    for tree in trees:
        game = _game(tree, len(games) + 1, scores, rules, faults)
        games.append(game)
        won = [0, 0]
        if game.winner is not None:
            won[game.winner] = game.points
        scores = (game.scores[0] + won[0], game.scores[1] + won[1])
    words = {word.casefold() for tree in trees for word in tree[0].values.get("RU", [""])[0].split(":")}
    faults += [Fault(1, f"{word!r} is no game of the rule sets here") for word in sorted(words & _NO_RULES)]
    length = _match_info(root).get("length", 0)
    return MatchRecord(
        names=(_name(root, "PW", "White"), _name(root, "PB", "Black")),
        length=length,
        games=tuple(games),
        rules=next((name for word, name in _VARIATIONS.items() if word in words), None),
        crawford="crawford" in words or not length,
        jacoby="jacoby" in words,
        tags=tuple((tag, _tag_value(tag, root[key][0])) for key, tag in _TAGS.items() if key in root),
        faults=tuple(faults),
    )


def _trees(text: str) -> tuple[list[list[_Node]], list[Fault]]:
    """The first branch of every tree, as far as it can be read."""
    trees: list[list[_Node]] = []
    faults: list[Fault] = []
    line_ends = [found.start() for found in re.finditer("\n", text)]
    depth, branch_ended, key = 0, False, ""
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        line = bisect_left(line_ends, found.start(found.lastindex or 0) if found else at) + 1
        if not found:
            faults.append(
                Fault(line, f"{text[at : at + 20].strip()!r} is no property; the rest of the file is left out")
            )
            break
        at = found.end()
        mark, name, value = found.groups()
        if mark == "(":
            depth += 1
            if depth == 1:
                trees.append([])
                branch_ended = False
        elif mark == ")":
            depth = max(depth - 1, 0)
            branch_ended = True
        elif mark == ";":
            key = ""
            if depth and not branch_ended:
                trees[-1].append(_Node(line))
        elif name is not None:
            key = name
        elif key and depth and not branch_ended and trees[-1]:
            trees[-1][-1].values.setdefault(key, []).append(re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL))
    if depth:
        faults.append(Fault(len(line_ends) + 1, "the file ends within a game"))
    return [tree for tree in trees if tree], faults


def _game(tree: list[_Node], number: int, scores: tuple[int, int], rules: RuleSet, faults: list[Fault]) -> GameRecord:
    """One tree as a game. What is wrong with a node is added to `faults`; the node is left out."""
    root = tree[0].values
    info = _match_info(root)
    actions: list[Action] = []
    set_up: dict[str, list[str]] = {}
    for node in tree:
        set_up |= {key: values for key, values in node.values.items() if key in _SETS_UP}
        try:
            follows = _node_actions(node, set_up)
            if set_up and (follows or node is tree[-1]):
                begins, set_up = set_up, {}
                actions.append(_set_up(begins, node.line, rules, at_start=not actions))
            for action in follows:
                if not (isinstance(action, CubeAction) and action.kind not in OFFERS):
                    actions.append(action)
                elif fault := add_answer(actions, action):
                    faults.append(Fault(node.line, fault))
        except NardyError as error:
            faults.append(Fault(node.line, str(error)))
    winner, points = None, 0
    if found := re.match(r"([BW])\+(\d{0,5})(R?)", root.get("RE", [""])[0]):
        winner, points = _SIDES[found[1]], int(found[2] or 1)
        if found[3]:
            actions.append(Resignation(1 - winner, line=tree[-1].line))
    return GameRecord(
        number=info.get("game", number - 1) + 1,
        scores=(info.get("ws", scores[0]), info.get("bs", scores[1])),
        actions=tuple(actions),
        winner=winner,
        points=points,
        line=tree[0].line,
    )


def _node_actions(node: _Node, set_up: dict[str, list[str]]) -> list[Action]:
    """What is done in a node. set_up: what waits to be set up before it. Raises NotationError."""
    actions: list[Action] = []
    comment = " ".join(node.values.get("C", [""])[0].split())
    for key, side in _SIDES.items():
        for value in node.values.get(key, ()):
            word = value.strip().casefold()
            if word in _CUBE:
                actions.append(CubeAction(side, _CUBE[word], line=node.line))
            elif word.startswith("resign"):
                actions.append(Resignation(side, line=node.line))
            else:
                actions.append(_turn(side, word, node.line, comment))
    if not actions and "DI" in node.values and set_up:
        dice = two_dice(node.values["DI"][0].strip(), "DI (the dice)")
        actions.append(Turn(_side_on_roll(set_up), dice, None, line=node.line, comment=comment))
    return actions


def _turn(side: int, text: str, line: int, comment: str) -> Turn:
    found = re.fullmatch(r"([1-6])([1-6])((?:[a-z][a-z])*)", text)
    if not found or len(found[3]) > 2 * MOST_MOVES:
        raise NotationError(f"{text!r} is no play; expected two dice and up to {MOST_MOVES} pairs of letters")
    high, low = sorted((int(found[1]), int(found[2])), reverse=True)
    pairs = [found[3][i : i + 2] for i in range(0, len(found[3]), 2)]
    moves = [Move(_slot(pair[0], side), _slot(pair[1], side)) for pair in pairs]
    if any(move.source <= move.target for move in moves):
        raise NotationError(f"{text!r} moves a checker backwards")
    return Turn(side, (high, low), tuple(moves) if moves else None, line=line, comment=comment)


def _slot(letter: str, side: int) -> int:
    """A side's own slot of a letter: White's 1 point is a, Black's is x."""
    if letter == "y":
        return BAR
    if letter == "z":
        return OFF
    place = ord(letter) - ord("a") + 1
    return place if side == 0 else BAR - place


def _set_up(values: dict[str, list[str]], line: int, rules: RuleSet, *, at_start: bool) -> Setup:
    """The position that properties set up; at the start of a game without AW and AB the rule set's first board."""
    on_roll = _side_on_roll(values)
    owner = {"w": 0, "b": 1}.get(values.get("CP", ["c"])[0].strip()[:1].casefold())
    if values.keys() & {"AW", "AB"}:
        rows = (_row(values, 0), _row(values, 1))
        board = board_of((rows[on_roll], rows[1 - on_roll]), rules, ("the side on roll", "the other side"))
        check_position(board, rules)
    elif at_start:
        board = start_boards(rules)[0]
    else:
        raise NotationError(f"{', '.join(values)} in the middle of a game, without a board; it is left out")
    position = Position(
        board,
        cube_value=whole_number(values.get("CV", ["1"])[0].strip(), "CV (the cube)", 1, 2**MAX_CUBE_LOG2),
        cube_owner=None if owner is None else int(owner != on_roll),
        row0_player=on_roll,
    )
    return Setup(on_roll, position, line=line)


def _row(values: dict[str, list[str]], side: int) -> list[int]:
    """A side's checkers by its own slots, from AW or AB."""
    row = [0] * SLOTS
    key = ("AW", "AB")[side]
    for value in values.get(key, ()):
        first, _, last = value.strip().partition(":")
        if not re.fullmatch("[a-y]", first) or not re.fullmatch("[a-y]?", last):
            raise NotationError(f"{key}[{value}] names no point; expected a to x, or y for the bar")
        for code in range(ord(first), ord(last or first) + 1):
            row[_slot(chr(code), side)] += 1
    return row


def _side_on_roll(values: dict[str, list[str]]) -> int:
    return _SIDES.get(values.get("PL", ["W"])[0].strip()[:1].upper(), 0)


def _match_info(root: dict[str, list[str]]) -> dict[str, int]:
    """The numbers of `MI[length:7][game:0][ws:0][bs:0]`."""
    pairs = (value.partition(":") for value in root.get("MI", ()))
    return {key.strip(): int(value) for key, _, value in pairs if value.strip().isdecimal() and len(value) < 6}


def _name(root: dict[str, list[str]], key: str, default: str) -> str:
    return _plain(root.get(key, [""])[0]) or default


def _tag_value(tag: str, text: str) -> str:
    """A header's value; dates with points, as a `.mat` has them."""
    return _plain(text).replace("-", ".") if tag == "EventDate" else _plain(text)


def _plain(text: str) -> str:
    """One line without quotes, as a header line of a `.mat` can carry it."""
    return " ".join(text.replace('"', "'").split())

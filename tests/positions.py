"""Positions for tests: the worked cases as boards, boards reached by random play, and invented ones.

Two generators answer the same question, the reference and the compiled kernel, so a case is kept in a form that
fits both: a board, a roll, a rule set and the afterstates as bytes.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, FACING, HEAD, HOME, OFF, SLOTS, Boards, finished, swap_sides
from nardy_ai.dice import ROLLS, dice_at
from nardy_ai.movegen import reference
from nardy_ai.movegen.generate import afterstates
from nardy_ai.rules import MatchOptions, Preset, RuleSet, find_preset, find_rules, start_boards

DATA = Path(__file__).parent / "data"
SHORT_CHECKERS = 15

Results = frozenset[bytes]
"""The distinct afterstates of one roll, each the 52 bytes of an `int8[2, 26]`."""

Generator = Callable[[Boards, tuple[int, int], RuleSet], Results]


class Maker(Protocol):
    """`reached_boards` or `invented_boards`."""

    def __call__(self, rules: RuleSet, n: int, seed: int) -> tuple[Boards, NDArray[np.uint8]]: ...


def results_by_reference(board: Boards, dice: tuple[int, int], rules: RuleSet) -> Results:
    """What the reference generator says; a result that comes twice is a fault."""
    found = [play.afterstate.tobytes() for play in reference.plays(board, dice, rules)]
    assert len(set(found)) == len(found), "the reference repeats a result"
    return frozenset(found)


def results_by_kernel(board: Boards, dice: tuple[int, int], rules: RuleSet) -> Results:
    """What the compiled kernel says; a result that comes twice is a fault."""
    found = [row.tobytes() for row in afterstates(board[None], np.array([dice]), rules).boards]
    assert len(set(found)) == len(found), "the kernel repeats a result"
    return frozenset(found)


GENERATORS: dict[str, Generator] = {"reference": results_by_reference, "kernel": results_by_kernel}


@dataclass(frozen=True)
class Case:
    """A roll with its full answer. illegal: results that a likely fault would add."""

    name: str
    rules: RuleSet
    board: Boards
    dice: tuple[int, int]
    results: Results
    illegal: Results = frozenset()


@dataclass(frozen=True)
class ListedRoll:
    """A short-nardy roll of `legal-plays.json`: the number of results and the hash of their Position IDs."""

    name: str
    board: Boards
    dice: tuple[int, int]
    dice_used: int
    count: int
    next_ids: tuple[str, ...] | None
    digest: str | None


def read_data(name: str) -> dict[str, Any]:
    """A JSON file under `tests/data`."""
    answer: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return answer


def preset_of(case: Mapping[str, Any]) -> Preset:
    """The preset a case names, with its overrides in the record they belong to."""
    preset = find_preset(case["ruleset"])
    overrides = case.get("overrides", {})
    match_fields = {entry.name for entry in fields(MatchOptions)}
    return replace(
        preset,
        rules=replace(preset.rules, **{k: v for k, v in overrides.items() if k not in match_fields}),
        match=replace(preset.match, **{k: v for k, v in overrides.items() if k in match_fields}),
    )


def board_of(own: Mapping[int, int], opponent: Mapping[int, int], checkers: int) -> Boards:
    """`int8[2, 26]` from each side's own slots (bar is 25); what is not named is off."""
    board = np.zeros((2, SLOTS), dtype=np.int8)
    for row, counts in zip(board, (own, opponent), strict=True):
        for slot, count in counts.items():
            row[slot] = count
        row[OFF] = checkers - row[1:].sum()
    return board


def afterstate_of(own: Mapping[int, int], opponent: Mapping[int, int], checkers: int) -> bytes:
    """The same as an afterstate: the side that has played is row 1."""
    return swap_sides(board_of(own, opponent, checkers)).tobytes()


def board_from_letters(letters: str) -> Boards:
    """A short-nardy board from the 26 letters of an XGID, the bottom side (capitals) on roll."""
    own = {i: ord(c) - ord("A") + 1 for i, c in enumerate(letters) if c.isupper()}
    opponent = {BAR - i: ord(c) - ord("a") + 1 for i, c in enumerate(letters) if c.islower()}
    return board_of(own, opponent, SHORT_CHECKERS)


@cache
def move_cases() -> tuple[Case, ...]:
    """Every case of `cases/moves.json`."""
    return tuple(_move_case(case) for case in read_data("cases/moves.json")["moves"])


def _move_case(case: Mapping[str, Any]) -> Case:
    rules = preset_of(case).rules
    position = case["pos"]
    assert position["n"] == rules.checkers
    own = _slots(position["own"].items()) | {BAR: position["own_bar"]}
    opponent = _facing(_slots(position["opp"].items()), rules) | {BAR: position["opp_bar"]}
    board = board_of(own, opponent, rules.checkers)
    assert board[:, OFF].tolist() == [position["own_off"], position["opp_off"]]
    legal = frozenset(_afterstate_from_text(text, rules) for text in case["legal"])
    assert len(legal) == case["count"]
    assert {_afterstate_from_text(text, rules) for text in case.get("must_be_legal", [])} <= legal
    illegal = frozenset(_afterstate_from_text(text, rules) for text in case.get("illegal", []))
    assert not case["pass"] or legal == {swap_sides(board).tobytes()}
    return Case(case["id"], rules, board, (case["dice"][0], case["dice"][1]), legal, illegal)


def _afterstate_from_text(text: str, rules: RuleSet) -> bytes:
    """`2:2 13:1 bar:0 off:12 / bar:1 off:14`, both sides in the mover's numbering."""
    sides = []
    for side in text.split("/"):
        counts = dict(part.split(":") for part in side.split())
        off, bar = int(counts.pop("off")), int(counts.pop("bar"))
        slots = _slots(counts.items()) | {BAR: bar}
        assert sum(slots.values()) + off == rules.checkers
        sides.append(slots)
    return afterstate_of(sides[0], _facing(sides[1], rules), rules.checkers)


def _slots(items: Iterable[tuple[str, Any]]) -> dict[int, int]:
    return {int(slot): int(count) for slot, count in items}


def _facing(slots: Mapping[int, int], rules: RuleSet) -> dict[int, int]:
    return {int(FACING[rules.board][slot]): count for slot, count in slots.items()}


@cache
def opening_cases() -> tuple[Case, ...]:
    """The first and second turns of `formats/long-nardy-openings.json`, under the preset it names."""
    data = read_data("formats/long-nardy-openings.json")
    rules = find_rules("long")
    cases = []
    for entry in data["opening"] + data["second_player"]:
        starter = _slots(entry.get("first_player", {HEAD: rules.checkers}).items())
        results = frozenset(
            afterstate_of(_slots(result.items()), starter, rules.checkers) for result in entry["results"]
        )
        board = board_of(rules.start, starter, rules.checkers)
        high, low = entry["dice"]
        cases.append(Case(f"{entry.get('before', 'first turn')}: {high}{low}", rules, board, (high, low), results))
    return tuple(cases)


# RULES section 3, first turn: for each roll the possible sets of own points off the head.
FIRST_TURN: dict[tuple[int, int], list[dict[int, int]]] = {
    (6, 6): [{18: 2}],
    (6, 5): [{13: 1}],
    (6, 4): [{14: 1}],
    (6, 3): [{15: 1}],
    (6, 2): [{16: 1}],
    (6, 1): [{17: 1}],
    (5, 5): [{4: 1}],
    (5, 4): [{15: 1}],
    (5, 3): [{16: 1}],
    (5, 2): [{17: 1}],
    (5, 1): [{18: 1}],
    (4, 4): [{16: 2}],
    (4, 3): [{17: 1}],
    (4, 2): [{18: 1}],
    (4, 1): [{19: 1}],
    (3, 3): [{18: 2}, {21: 1, 15: 1}],
    (3, 2): [{19: 1}],
    (3, 1): [{20: 1}],
    (2, 2): [{16: 1}],
    (2, 1): [{21: 1}],
    (1, 1): [{20: 1}],
}

_AFTER_55 = (5, 5, ((4, 1),))
_AFTER_21 = (2, 1, ((21, 1),))
_AFTER_33 = (3, 3, ((21, 1), (15, 1)))
_ON_16 = [(6, 2, ((16, 1),)), (5, 3, ((16, 1),)), (2, 2, ((16, 1),)), (4, 4, ((16, 2),))]
_Starter = tuple[int, int, tuple[tuple[int, int], ...]]

# RULES section 3, second player's first turn: the ten pairs that differ from FIRST_TURN, for each exception.
SECOND_TURN: dict[str, dict[tuple[_Starter, tuple[int, int]], list[dict[int, int]]]] = {
    "33_44_66": {
        (_AFTER_55, (4, 4)): [{20: 2}],
        (_AFTER_55, (2, 2)): [{18: 1}],
        (_AFTER_55, (6, 2)): [{18: 1}],
        (_AFTER_55, (5, 3)): [{19: 1}],
        (_AFTER_21, (5, 5)): [{14: 1}],
        (_AFTER_33, (5, 5)): [{14: 1}],
        **{(starter, (5, 5)): [{9: 1}] for starter in _ON_16},
    },
    "if_blocked_double": {
        (_AFTER_55, (4, 4)): [{20: 2}],
        (_AFTER_55, (2, 2)): [{20: 2}, {22: 1, 18: 1}],
        (_AFTER_55, (6, 2)): [{18: 1}],
        (_AFTER_55, (5, 3)): [{19: 1}],
        (_AFTER_21, (5, 5)): [{14: 2}],
        (_AFTER_33, (5, 5)): [{14: 2}],
        **{(starter, (5, 5)): [{14: 2}, {19: 1, 9: 1}] for starter in _ON_16},
    },
}
SECOND_TURN["if_blocked"] = SECOND_TURN["if_blocked_double"] | {
    (_AFTER_55, (6, 2)): [{22: 1, 18: 1}],
    (_AFTER_55, (5, 3)): [{21: 1, 19: 1}],
}


def second_turn_cases(head_exception: str) -> list[Case]:
    """All 22 x 21 pairs of an opening result and the second player's first roll."""
    rules = replace(find_rules("long"), head_exception=head_exception)
    differing = SECOND_TURN[head_exception]
    cases = []
    for opening, results in FIRST_TURN.items():
        for left in results:
            starter = (*opening, tuple(left.items()))
            for dice, usual in FIRST_TURN.items():
                answers = differing.get((starter, dice), usual)
                his = with_head(left, rules)
                cases.append(
                    Case(
                        f"after {opening} to {left}: {dice}",
                        rules,
                        board_of(rules.start, his, rules.checkers),
                        dice,
                        frozenset(afterstate_of(with_head(own, rules), his, rules.checkers) for own in answers),
                    )
                )
    return cases


def with_head(left: Mapping[int, int], rules: RuleSet) -> dict[int, int]:
    """Own slots of a side that has these points off the head and all the rest on it."""
    return {HEAD: rules.checkers - sum(left.values())} | dict(left)


@cache
def listed_rolls() -> tuple[ListedRoll, ...]:
    """Every roll of `formats/legal-plays.json`."""
    rolls = []
    for i, case in enumerate(read_data("formats/legal-plays.json")["cases"]):
        letters = case["xgid"].removeprefix("XGID=")[:SLOTS]
        ids = case.get("next_position_ids_opponent_on_roll")
        rolls.append(
            ListedRoll(
                f"{case['category']}-{i}",
                board_from_letters(letters),
                (case["dice"][0], case["dice"][1]),
                case["dice_used"],
                case["results"],
                None if ids is None else tuple(ids),
                case["sha256_of_sorted_next_ids"],
            )
        )
    return tuple(rolls)


def has_forbidden_block(boards: Boards, rules: RuleSet) -> NDArray[np.bool_]:
    """Whether row 0 holds a six that the rules forbid, `bool[N]`; a second statement of the rule, for properties."""
    if rules.six_block == "free":
        return np.zeros(len(boards), dtype=bool)
    on_his_path = boards[:, 0, FACING[rules.board]] > 0
    forbidden = np.zeros(len(boards), dtype=bool)
    for lowest in range(1, 20):
        six = on_his_path[:, lowest : lowest + 6].all(axis=1)
        past = {"ahead": lowest, "home": HOME + 1, "never": 0}[rules.six_block]
        forbidden |= six & (boards[:, 1, :past].sum(axis=1) == 0)
    return forbidden


def random_rolls(n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """`uint8[n, 2]` with all 21 rolls equally likely, so that doubles come often."""
    return ROLLS[rng.integers(len(ROLLS), size=n)]


_LOCKSTEP = 64
_STRIDE = 3
"""Every third board of a game is taken: neighbours are too alike to be worth a check each."""


def reached_boards(rules: RuleSet, n: int, seed: int) -> tuple[Boards, NDArray[np.uint8]]:
    """`n` boards that random play reaches, `int8[n, 2, 26]`, none finished, each with a roll `uint8[n, 2]`.

    Every distinct result is equally likely to be chosen; a finished game starts afresh. The rolls that come with
    the boards are uniform over the 21.
    """
    rng = np.random.default_rng(seed)
    boards = start_boards(rules, min(_LOCKSTEP, n))
    games = np.arange(len(boards))
    taken: list[Boards] = []
    ply = 0
    while sum(map(len, taken)) < n:
        if ply % _STRIDE == 0:
            taken.append(boards)
        results = afterstates(boards, dice_at(seed, games, ply), rules)
        counts = np.diff(results.offsets)
        boards = results.boards[results.offsets[:-1] + rng.integers(counts)]
        boards[finished(boards)] = start_boards(rules)[0]
        ply += 1
    return np.concatenate(taken)[:n], random_rolls(n, rng)


def invented_boards(rules: RuleSet, n: int, seed: int) -> tuple[Boards, NDArray[np.uint8]]:
    """`n` boards that no game need reach, `int8[n, 2, 26]`, none finished, each with a roll `uint8[n, 2]`.

    They keep the geometry (a point belongs to one side), the bar (only where there is hitting) and the block rule.
    Crowded homes, blots in them, primes, many on the bar, many off and full heads come far oftener than in play.
    """
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, SLOTS), dtype=np.int8)
    for board in boards:
        while board.sum() == 0 or has_forbidden_block(np.stack((board, board[::-1])), rules).any():
            board[:] = _invented_board(rules, rng)
    return boards, random_rolls(n, rng)


def _invented_board(rules: RuleSet, rng: np.random.Generator) -> Boards:
    board = np.zeros((2, SLOTS), dtype=np.int8)
    facing = FACING[rules.board]
    styles = rng.integers(_STYLES, size=2)
    if rng.random() < 0.4:
        if rules.six_block != "free":
            styles[:] = _PRIME, _ON_HEAD
        elif rules.hit_hide != "allowed":
            styles[:] = _HOME_AND_YARD, _FAR_BACK
    for side in rng.permutation(2):
        mine, his = board[side], board[1 - side]
        left: int = rules.checkers
        if rng.random() < 0.5:
            mine[OFF] = rng.integers(rules.checkers)
            left -= int(mine[OFF])
        if rules.closed_by == 2 and rng.random() < 0.3:
            mine[BAR] = min(left, int(rng.integers(1, 5)))
            left -= int(mine[BAR])
        weights = _weights(styles[side], rng)
        weights[his[facing[1 : HEAD + 1]] > 0] = 0
        if left == 0:
            continue
        # One checker on each of k points, the rest anywhere on them: few points make stacks, many make blots.
        n_likely = int((weights > 0.05).sum())
        k = int(rng.integers(1, max(min(left, n_likely), 1) + 1))
        points = rng.choice(HEAD, size=k, replace=False, p=weights / weights.sum()) + 1
        mine[points] = 1
        np.add.at(mine, rng.choice(points, size=left - k), 1)
    return board


_ANYWHERE, _AT_HOME, _HOME_AND_YARD, _FAR_BACK, _PRIME, _ON_HEAD = range(6)
_STYLES = 6


def _weights(style: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How likely each own point 1..24 is to be occupied, `float64[24]`, for one side of one invented board."""
    points = np.arange(1, HEAD + 1)
    first = rng.integers(1, 20)
    likely = {
        _ANYWHERE: points > 0,
        _AT_HOME: points <= HOME,
        _HOME_AND_YARD: points <= 2 * HOME,
        _FAR_BACK: points > HEAD - HOME,
        # Six or more points in a row, often with a gap that one move fills.
        _PRIME: (points >= first) & (points < first + rng.integers(6, 9)) & (points != first + rng.integers(12)),
        _ON_HEAD: points == HEAD,
    }[style]
    return np.where(likely, 1.0, rng.choice([1e-6, 0.01, 0.1]))

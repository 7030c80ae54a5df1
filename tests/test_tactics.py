"""Hand-made inputs against a slow twin that tries every throw checker by checker."""

from dataclasses import replace

import numpy as np
import pytest
from positions import board_of, invented_boards, reached_boards

from nardy_ai.boards import BAR, FACING, Boards
from nardy_ai.rules import RuleSet, find_rules
from nardy_ai.tactics import NAMES, TACTICS, tactics

SHORT, LONG = find_rules("short"), find_rules("long")
GAMES = [
    SHORT,
    LONG,
    find_rules("hyper"),
    replace(LONG, name="long-with-hits", closed_by=2),
    replace(SHORT, name="short-without-hits", closed_by=1),
]
THROWS = [(i, j) for i in range(1, 7) for j in range(1, 7)]


def slow_tactics(board: Boards, rules: RuleSet) -> list[float]:
    return [value for side in (0, 1) for value in slow_side(board[side], board[1 - side], rules)]


def slow_side(mine: np.ndarray, his: np.ndarray, rules: RuleSet) -> list[float]:
    facing = FACING[rules.board]
    limit = rules.closed_by

    # His throws against my blots, points as he numbers them.
    my_walls = {int(facing[p]) for p in range(1, BAR) if mine[p] >= limit}
    my_blots = {int(facing[p]) for p in range(1, BAR) if mine[p] == 1} if limit > 1 else set()
    hit = pips = double = 0
    for throw in THROWS:
        found = reach(his, throw, my_walls) & my_blots
        hit += bool(found)
        pips += max(found, default=0)
        double += len(found) > 1

    # My checkers before his walls.
    walls = {int(facing[q]) for q in range(1, BAR) if his[q] >= limit}
    occupied = [p for p in range(BAR, 0, -1) if mine[p]]
    escapes = [sum(can_play(p, throw, walls) for throw in THROWS) / 36 for p in occupied[:2]]
    points = [p for p in occupied if p < BAR]
    moves = [sum(p - die >= 1 and p - die not in walls for p in points) for die in range(1, 7)]

    behind = [sum(his[q + 1 :]) for q in range(BAR)]
    runs = [
        (last - first + 1, -first)
        for first in range(1, BAR)
        for last in range(first, BAR)
        if set(range(first, last + 1)) <= my_walls and behind[last]
    ]
    longest, first = max(runs, default=(0, 0))
    dense = [len(my_walls & set(range(q, q + 6))) for q in range(1, 20) if behind[q + 5]]
    highest = max((q for q in range(BAR + 1) if his[q] and q), default=0)
    bound = 12 if rules.board == "parallel" else BAR - highest
    gone = len(walls & set(range(19, BAR)))
    return [
        hit / 36,
        pips / 360,
        double / 36,
        escapes[0],
        escapes[-1],
        sum(moves) / 40,
        sum(count == 0 for count in moves) / 6,
        longest / 6,
        behind[longest - first - 1] / 5 if longest else 0,
        max(dense, default=0) / 6,
        sum(int(mine[p]) * max(p - bound, 0) for p in range(1, BAR + 1)) / 100,
        (36 - gone**2) / 36 if mine[BAR] else 1,
    ]


def reach(his: np.ndarray, throw: tuple[int, int], walls: set[int]) -> set[int]:
    """Points that one of his checkers can land on with a throw, as the input sees it."""
    free = [p for p in range(1, BAR) if his[p]]
    landed: set[int] = set()
    orders = [throw[:1] * 4] if throw[0] == throw[1] else [throw, throw[::-1]]
    for dice in orders:
        if his[BAR] == 0:
            for p in free:
                walk(p, dice, walls, landed)
            continue
        entered = BAR - dice[0]
        if entered in walls:
            continue
        landed.add(entered)
        if his[BAR] == 1:
            for p in [*free, entered]:
                walk(p, dice[1:], walls, landed)
    return landed


def walk(p: int, dice: tuple[int, ...], walls: set[int], landed: set[int]) -> None:
    for die in dice:
        p -= die
        if p < 1 or p in walls:
            return
        landed.add(p)


def can_play(p: int, throw: tuple[int, int], walls: set[int]) -> bool:
    """Whether one checker can play both dice of a throw; two steps of a double."""
    i, j = throw
    return p - i - j not in walls and (p - i not in walls or p - j not in walls)


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_tactics_are_what_the_slow_twin_finds(rules: RuleSet):
    boards = np.concatenate((reached_boards(rules, 150, seed=5)[0], invented_boards(rules, 150, seed=5)[0]))
    boards = boards[(boards[:, :, 1:] > 0).any(axis=2).all(axis=1)]

    found = tactics(boards, rules)

    np.testing.assert_allclose(found, [slow_tactics(board, rules) for board in boards], atol=1e-6)
    assert found.shape == (len(boards), TACTICS)
    if rules.closed_by > 1:
        assert (found[:, NAMES.index("hit")] > 0).any()


def test_a_direct_shot_at_six_is_hit_by_seventeen_throws():
    """The field's number: 11 throws with a six, and 5-1, 4-2 (both ways), 3-3, 2-2."""
    board = board_of({13: 1, 6: 14}, {18: 1, 2: 14}, 15)

    (row,) = tactics(board[None], SHORT)

    assert row[NAMES.index("hit")] * 36 == pytest.approx(17)

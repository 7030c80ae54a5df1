"""The network's inputs: the hand-made numbers against a slow twin, their range, and what the network sees of them."""

from dataclasses import replace

import numpy as np
import pytest
from positions import board_of, invented_boards, reached_boards

from nardy_ai.boards import BAR, FACING, OFF, SLOTS, Boards
from nardy_ai.errors import BotError
from nardy_ai.features import BLOCK_SLOTS, COUNTS, FEATURE_SETS, LEVELS, STEPS, encode, find_features
from nardy_ai.rules import RuleSet, find_rules

SHORT, LONG = find_rules("short"), find_rules("long")
GAMES = [
    SHORT,
    LONG,
    find_rules("hyper"),
    replace(LONG, name="long-with-hits", closed_by=2),
    replace(SHORT, name="short-without-hits", closed_by=1),
]
BOARDS = 600


def mixed_boards(rules: RuleSet, n: int) -> Boards:
    return np.concatenate((reached_boards(rules, n // 2, seed=5)[0], invented_boards(rules, n // 2, seed=5)[0]))


def slow_blocks(board: Boards, rules: RuleSet) -> list[int]:
    """The eight block slots of one board, by the words of the kernel's docstring."""
    answers = []
    for mine, his in ((board[0], board[1]), (board[1], board[0])):
        # Both lists are in the numbering of the side that is held.
        closed = [OFF < q < BAR and mine[FACING[rules.board][q]] >= rules.closed_by for q in range(SLOTS)]
        above = [int(his[q + 1 :].sum()) for q in range(SLOTS)]
        runs = [
            (last - first + 1, above[last])
            for first in range(1, BAR)
            for last in range(first, BAR)
            if all(closed[first : last + 1]) and above[last] > 0
        ]
        windows = [(sum(closed[q : q + 6]), above[q + 5]) for q in range(1, BAR - 5) if above[q + 5] > 0]
        for length, held in (max(runs, default=(0, 0)), max(windows, default=(0, 0))):
            answers += [length, held if length else 0]
    return answers


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_blocks_are_what_the_slow_twin_finds(rules: RuleSet):
    boards = mixed_boards(rules, BOARDS)

    found = find_features("blocks-1").inputs(boards, rules)

    assert found[:, COUNTS:].tolist() == [slow_blocks(board, rules) for board in boards]
    assert (found[:, COUNTS] > 0).any()


@pytest.mark.parametrize(
    ("rules", "own", "opponent", "expected"),
    [
        # My 9..4 are his 16..21; he has two on the bar and one on 24 behind them.
        (SHORT, {9: 2, 8: 2, 7: 2, 6: 2, 5: 2, 4: 2, 1: 3}, {BAR: 2, 24: 1, 3: 12}, [6, 3, 6, 3]),
        # My 8, 7 and 5..3 are his 17, 18, 20..22: a run of three, five among six; he is on the bar.
        (SHORT, {8: 3, 7: 3, 5: 3, 4: 3, 3: 3}, {BAR: 1, 1: 14}, [3, 1, 5, 1]),
        # Blots close nothing, and nobody is behind my 1, his 24.
        (SHORT, {6: 1, 5: 1, 1: 2}, {3: 15}, [0, 0, 0, 0]),
        # Two equal runs: the lower one, my 20 and 19 (his 5 and 6), holds three, the upper one two.
        (SHORT, {20: 2, 19: 2, 5: 2, 4: 2}, {BAR: 2, 10: 1, 1: 12}, [2, 3, 2, 3]),
        # Long: my 12 and 11 are his 24 and 23 (nobody is behind them), my 1 and 24 his 13 and 12.
        (LONG, {12: 1, 11: 1, 1: 1, 24: 12}, {20: 2, 5: 13}, [2, 2, 2, 2]),
        # His head is my 12; my 5..10 are his 17..22 and hold all of it.
        (LONG, {5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, 2: 9}, {24: 15}, [6, 15, 6, 15]),
    ],
)
def test_blocks_of_drawn_positions(rules: RuleSet, own: dict, opponent: dict, expected: list):
    board = board_of(own, opponent, 15)

    (slots,) = find_features("blocks-1").inputs(board[None], rules)

    assert slots[COUNTS : COUNTS + BLOCK_SLOTS].tolist() == expected


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_sides_of_the_inputs_change_places_with_the_sides_of_the_board(rules: RuleSet):
    boards = mixed_boards(rules, 200)
    features = find_features("blocks-1")

    swapped = features.inputs(np.ascontiguousarray(boards[:, ::-1]), rules)

    halves = features.inputs(boards, rules)[:, COUNTS:].reshape(-1, 2, BLOCK_SLOTS)
    assert swapped[:, COUNTS:].tolist() == halves[:, ::-1].reshape(-1, 2 * BLOCK_SLOTS).tolist()


@pytest.mark.parametrize("name", FEATURE_SETS)
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_inputs_begin_with_the_counts_and_stay_within_the_levels(name: str, rules: RuleSet):
    boards = mixed_boards(rules, 400)
    features = find_features(name)

    inputs = features.inputs(boards, rules)

    assert inputs.shape == (400, features.slots)
    assert inputs.dtype == np.int8
    assert inputs.min() >= 0
    assert inputs.max() < LEVELS
    assert (inputs[:, :COUNTS].reshape(-1, 2, SLOTS) == boards).all()


@pytest.mark.parametrize("name", FEATURE_SETS)
def test_rows_of_the_inputs_are_independent(name: str):
    boards = mixed_boards(SHORT, 200)
    order = np.random.default_rng(1).permutation(len(boards))
    features = find_features(name)
    inputs = features.inputs(boards, SHORT)

    assert (features.inputs(boards[order], SHORT) == inputs[order]).all()
    assert (features.inputs(boards[50:60], SHORT) == inputs[50:60]).all()
    assert len(features.inputs(boards[:0], SHORT)) == 0


def test_slots_are_a_whole_number_of_words():
    """The network compares four slots at a time."""
    assert all(features.slots % 4 == 0 for features in FEATURE_SETS.values())


def test_encoding_is_a_thermometer():
    """1, 2, 3, 4, 5 and more, and a quarter for each beyond 5."""
    inputs = np.array([[0, 1, 3, 15]], dtype=np.int8)

    dense = encode(inputs).reshape(4, -1)

    assert dense.dtype == np.float32
    assert dense.tolist() == [[0] * 6, [1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 2.5]]
    assert len(np.unique(STEPS, axis=0)) == LEVELS


def test_unknown_features_are_refused_with_the_known_ones():
    with pytest.raises(BotError, match=r"unknown features 'counts'; expected one of counts-1, blocks-1, tactics-1"):
        find_features("counts")

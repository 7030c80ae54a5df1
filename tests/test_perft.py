"""Golden tables: how many plays lie ahead of the start of every preset. `scripts/make_perft.py` wrote them."""

import numpy as np
import pytest
from positions import read_data

from nardy_ai.boards import finished
from nardy_ai.dice import ROLLS
from nardy_ai.movegen.generate import afterstates
from nardy_ai.movegen.reference import plays
from nardy_ai.rules import find_rules, preset_names, start_boards

PLAYS_BY_DEPTH: dict[str, list[int]] = read_data("perft.json")["plays_by_depth"]


def test_every_preset_has_a_table() -> None:
    assert list(PLAYS_BY_DEPTH) == preset_names()
    assert all(len(counts) >= 2 for counts in PLAYS_BY_DEPTH.values())


@pytest.mark.parametrize("preset", preset_names())
def test_kernel_counts_the_plays_ahead_of_the_start(preset: str) -> None:
    rules = find_rules(preset)
    boards = start_boards(rules)
    counts = []
    for _ in PLAYS_BY_DEPTH[preset]:
        boards = boards[~finished(boards)]
        rolls = np.tile(ROLLS, (len(boards), 1))
        boards = afterstates(np.repeat(boards, len(ROLLS), axis=0), rolls, rules).boards
        counts.append(len(boards))

    assert counts == PLAYS_BY_DEPTH[preset]


@pytest.mark.parametrize("preset", preset_names())
def test_reference_counts_the_plays_of_the_first_turn(preset: str) -> None:
    rules = find_rules(preset)
    board = start_boards(rules)[0]

    assert sum(len(plays(board, dice, rules)) for dice in ROLLS) == PLAYS_BY_DEPTH[preset][0]

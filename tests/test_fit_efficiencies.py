"""`scripts/fit_efficiencies.py`: what it finds where the answer is known, and that it prints what the module holds."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from nardy_ai.boards import pip_counts
from nardy_ai.cube.efficiency import CHANCES, LENGTHS, SHIPPED, places

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "fit_efficiencies.py"


@pytest.fixture(scope="module")
def script() -> dict[str, object]:
    return runpy.run_path(str(SCRIPT))


def test_least_squares_find_the_table_that_made_the_values(script):
    """Three checkers at random, near home and far; what positions gain by a live cube is arbitrary."""
    rng = np.random.default_rng(1)
    table = rng.uniform(0.2, 0.9, (len(CHANCES), len(LENGTHS))).round(2)
    boards = np.zeros((20_000, 2, 26), dtype=np.int8)
    farthest = rng.integers(2, 26, 20_000)
    for side in (0, 1):
        for _ in range(3):
            np.add.at(boards, (np.arange(20_000), side, 1 + rng.integers(farthest)), 1)
    wins = rng.uniform(0, 1, 20_000)
    outcomes = np.zeros((20_000, 6), dtype=np.float32)
    outcomes[:, 0], outcomes[:, 3] = wins, 1 - wins
    gains = rng.uniform(0.5, 1.5, 20_000)
    i, along = places(outcomes[:, 0].astype(float), CHANCES)
    j, across = places(pip_counts(boards).min(axis=1).astype(float), LENGTHS)
    near = table[i, j] * (1 - along) + table[i + 1, j] * along
    far = table[i, j + 1] * (1 - along) + table[i + 1, j + 1] * along

    found, one, error = script["_fitted"](boards, outcomes, gains, gains * (near * (1 - across) + far * across))

    assert found == pytest.approx(table, abs=0.03)
    assert error < one / 20


def test_a_small_solved_game_makes_tables_of_the_shape_of_the_shipped_ones(script, capsys):
    script["main"](["few", "--checkers", "1", "--games", "100"])
    text = capsys.readouterr().out
    rows = [tuple(map(float, row.split(","))) for row in re.findall(r"^\((.*)\),$", text, re.MULTILINE)]
    assert np.array(rows).reshape(3, len(CHANCES), -1).shape == np.array(SHIPPED.few).shape
    assert all(0 <= x <= 1 for row in rows for x in row)


def test_match_equities_come_nearest_to_the_shipped_ones_at_the_centre_of_the_module(script, capsys):
    script["main"](["centre"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    nearest = min(lines, key=lambda line: float(line[1]))
    assert float(nearest[0]) == SHIPPED.contact[0]


@pytest.mark.slow
def test_search_moves_towards_less_loss(script, capsys):
    """Twenty bear-offs, so that it is quick: what it ends with loses no more than what it begins with."""
    script["main"](["races", "--positions", "20"])
    losses = [float(x) for x in re.findall(r": ([\d.]+) stakes a decision", capsys.readouterr().out)]
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)

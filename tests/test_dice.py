"""Dice as a pure function of seed, game and ply, and the first roll of a game.

Uniformity is judged by chi-square at the 99.9 % quantile; seeds are fixed, so a test that passes keeps passing.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from positions import preset_of, read_data

from nardy_ai.dice import (
    ROLL_WEIGHTS,
    ROLLS,
    checked_dice,
    dice_at,
    hash_at,
    opening_dice_at,
    parse_dice,
    roll_numbers,
)
from nardy_ai.errors import NotationError

N = 60_000
CHI_SQUARE_14, CHI_SQUARE_20, CHI_SQUARE_440 = 36.1, 45.3, 537.4
"""99.9 % quantiles of chi-square for 14, 20 and 440 degrees of freedom."""


GOLDEN_GAMES = [[4, 3], [6, 1], [6, 5], [3, 1]]
GOLDEN_PLIES = [[4, 3], [6, 3], [4, 2], [3, 2]]


def roll_counts(dice: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How often each of the 21 rolls occurs, `int64[21]`."""
    return np.array([(dice == roll).all(axis=1).sum() for roll in ROLLS])


def chi_square(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """Distance of counts from what the chances make expected; classes of chance 0 must be empty."""
    assert (counts[chances == 0] == 0).all()
    expected = counts.sum() * chances[chances > 0]
    return float(((counts[chances > 0] - expected) ** 2 / expected).sum())


def test_rolls_are_the_21_with_their_weights() -> None:
    assert len({tuple(roll) for roll in ROLLS.tolist()}) == 21
    assert (ROLLS[:, 0] >= ROLLS[:, 1]).all()
    assert ROLL_WEIGHTS.sum() == pytest.approx(1, abs=1e-12)
    assert set(ROLL_WEIGHTS[ROLLS[:, 0] == ROLLS[:, 1]]) == {1 / 36}


def test_rolls_are_numbered_in_either_order() -> None:
    assert roll_numbers(ROLLS).tolist() == roll_numbers(ROLLS[:, ::-1]).tolist() == list(range(21))


@pytest.mark.parametrize("along", ["games", "plies", "seeds"])
def test_dice_are_fair_along_games_plies_and_seeds(along: str) -> None:
    if along == "games":
        dice = dice_at(7, np.arange(N), 3)
    elif along == "plies":
        dice = dice_at(7, 12, np.arange(N))
    else:
        dice = np.concatenate([dice_at(seed, 5, 9) for seed in range(N // 10)])

    assert chi_square(roll_counts(dice), ROLL_WEIGHTS) < CHI_SQUARE_20


@pytest.mark.parametrize(("games", "plies"), [((0, 1), (0, 0)), ((0, 0), (0, 1)), ((0, 1), (1, 0))])
def test_neighbouring_rolls_are_independent(games: tuple[int, int], plies: tuple[int, int]) -> None:
    """The pair of rolls of neighbouring games or plies falls on the 21 x 21 pairs as two fair rolls do."""
    at = np.arange(0, 4 * N, 2)
    one, other = (dice_at(1, at + game, at + ply) for game, ply in zip(games, plies, strict=True))
    where = [np.argmax((dice[:, None] == ROLLS).all(axis=2), axis=1) for dice in (one, other)]
    counts = np.bincount(where[0] * 21 + where[1], minlength=441)

    assert chi_square(counts, np.outer(ROLL_WEIGHTS, ROLL_WEIGHTS).ravel()) < CHI_SQUARE_440


def test_same_arguments_give_the_same_dice_for_ever() -> None:
    """Golden rolls: a change of the hash would change every recorded game."""
    assert dice_at(1, [0, 1, 2, 3], [0, 0, 0, 0]).tolist() == GOLDEN_GAMES
    assert dice_at(1, 0, [0, 1, 2, 3]).tolist() == GOLDEN_PLIES
    assert hash_at(-1, 0, 0).tolist() == hash_at(2**64 - 1, 0, 0).tolist()


def test_permuting_a_batch_permutes_the_dice() -> None:
    games, plies = np.arange(500) % 37, np.arange(500) // 3
    order = np.random.default_rng(2).permutation(500)

    assert (dice_at(4, games[order], plies[order]) == dice_at(4, games, plies)[order]).all()
    assert (dice_at(4, games[:7], plies[:7]) == dice_at(4, games, plies)[:7]).all()
    for opening in ("use_dice", "reroll", "two_dice_each"):
        whole = opening_dice_at(4, games, opening)
        assert (opening_dice_at(4, games[order], opening) == whole[order]).all()


def test_seeds_give_different_games() -> None:
    assert (dice_at(1, np.arange(100), 0) != dice_at(2, np.arange(100), 0)).any()


# The first roll


def test_opening_by_one_die_each_is_never_a_double() -> None:
    """`use_dice`: the 15 unequal rolls, each as likely as the others."""
    counts = roll_counts(opening_dice_at(3, np.arange(N), "use_dice"))

    unequal = ROLLS[:, 0] != ROLLS[:, 1]
    assert chi_square(counts, unequal / 15) < CHI_SQUARE_14


def test_opening_with_fresh_dice_is_an_ordinary_roll() -> None:
    dice = opening_dice_at(3, np.arange(N), "reroll")

    assert chi_square(roll_counts(dice), ROLL_WEIGHTS) < CHI_SQUARE_20


def test_opening_by_two_dice_each_is_the_higher_sum() -> None:
    """`two_dice_each`: a roll starts as often as it meets a lower sum; 1-1 never does."""
    sums = ROLLS.sum(axis=1, dtype=np.int64)
    chances = ROLL_WEIGHTS * np.array([ROLL_WEIGHTS[sums < total].sum() for total in sums])
    chances /= chances.sum()

    counts = roll_counts(opening_dice_at(3, np.arange(N), "two_dice_each"))

    assert counts[0] == 0
    assert chi_square(counts, chances) < CHI_SQUARE_20


@pytest.mark.parametrize("case", read_data("cases/openings.json")["openings"], ids=lambda case: case["id"])
def test_opening_case_can_come_up(case: dict[str, Any]) -> None:
    """The dice a case plays are among the first rolls of its preset; a fresh roll may be a double."""
    dice = opening_dice_at(9, np.arange(2000), preset_of(case).match.opening)

    played = case["plays"]
    if played is None:
        assert (dice[:, 0] == dice[:, 1]).any()
    else:
        assert (dice == sorted(played, reverse=True)).all(axis=1).any()


# Text and arrays


@pytest.mark.parametrize("text", ["31", "13", "3-1", "1 3", "3,1", "3:1"])
def test_roll_is_read_larger_die_first(text: str) -> None:
    assert parse_dice(text).tolist() == [3, 1]


@pytest.mark.parametrize("text", ["", "3", "311", "70", "a1", "3.1"])
def test_text_that_is_no_roll_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="expected two numbers from 1 to 6"):
        parse_dice(text)


def test_dice_are_sorted_and_one_roll_serves_all() -> None:
    assert checked_dice([[1, 6], [5, 2]], 2).tolist() == [[6, 1], [5, 2]]
    assert checked_dice((1, 6), 3).tolist() == [[6, 1]] * 3
    assert checked_dice(np.zeros((0, 2), dtype=np.uint8), 0).shape == (0, 2)


@pytest.mark.parametrize(
    ("dice", "reason"),
    [
        ([[1, 2, 3]], r"expected \(2, 2\)"),
        ([[1, 7], [1, 1]], "integers from 1 to 6"),
        ([[0, 1], [1, 1]], "integers from 1 to 6"),
        ([[1.0, 2.0], [1.0, 1.0]], "integers from 1 to 6"),
    ],
)
def test_arrays_that_are_no_rolls_are_refused(dice: list[list[float]], reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        checked_dice(dice, 2)

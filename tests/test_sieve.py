"""The sieve of plays: against a slow twin, what passes where all shall, and how often the best play does."""

from dataclasses import replace

import numpy as np
import pytest
from networks import network_of
from positions import board_of, reached_boards

from nardy_ai.boards import is_race
from nardy_ai.bots import load_bot
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BotError
from nardy_ai.evaluators.with_bearoff import bare
from nardy_ai.movegen.generate import Afterstates, expand
from nardy_ai.rules import RuleSet, find_rules
from nardy_ai.search import best_replies
from nardy_ai.sieve import LinearGuess, Sieve, sieve_for

SHORT = find_rules("short")


def all_rolls(boards: np.ndarray, rules: RuleSet) -> Afterstates:
    return expand(np.repeat(boards, 21, axis=0), np.tile(ROLLS, (len(boards), 1)), rules)


def invented(rules: RuleSet, keep: int, most: int) -> Sieve:
    """A table of random numbers from 0 to `most`; small ones make many equal scores."""
    table = np.random.default_rng(1).integers(0, most + 1, size=(2, 26, 256), dtype=np.int32)
    return Sieve(LinearGuess(rules, table), keep, keep)


def slow_scores(sieve: Sieve, boards: np.ndarray, after: Afterstates) -> np.ndarray:
    """Score by score from the definition of the table."""
    phases = is_race(boards, sieve.guess.rules.board).astype(int).repeat(21).repeat(after.counts())
    flat = after.boards.reshape(len(after.boards), 52).astype(int)
    return np.array(
        [
            sum(int(sieve.guess.table[phase, s, counts[2 * s] + 16 * counts[2 * s + 1]]) for s in range(26))
            for phase, counts in zip(phases, flat, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ["short", "long"])
@pytest.mark.parametrize(("keep", "most"), [(1, 10_000), (4, 10_000), (6, 1)])
def test_the_best_by_score_pass_and_all_where_all_shall(name, keep, most):
    rules = find_rules(name)
    race = board_of({12: 2, 9: 3, 6: 4, 5: 3, 2: 3}, {11: 3, 8: 4, 6: 3, 4: 3, 1: 2}, 15)
    boards = np.concatenate((reached_boards(rules, 300, 5)[0][::30], race[None]))
    after, sieve = all_rolls(boards, rules), invented(rules, keep, most)
    scores = slow_scores(sieve, boards, after)
    whole = np.random.default_rng(2).random(len(after.offsets) - 1) < 0.3
    passed, found, likely = sieve.passed(boards, after, whole)
    assert np.array_equal(passed.boards, after.boards[found])
    assert is_race(boards, rules.board).tolist() == [False] * 10 + [True]
    for i in range(len(whole)):
        low, high = after.offsets[i], after.offsets[i + 1]
        best = np.sort(low + np.argsort(-scores[low:high], kind="stable")[:keep])
        rows = np.arange(low, high) if whole[i] else best
        at = slice(passed.offsets[i], passed.offsets[i + 1])
        assert np.array_equal(passed.boards[at], after.boards[rows])
        assert np.array_equal(rows[likely[at]], best)


def test_replies_are_the_best_of_those_that_pass():
    """Boards of rolls that are judged whole are those without a sieve; outcomes are of the likely plays everywhere."""
    bot = network_of(SHORT)
    boards = reached_boards(SHORT, 200, 5)[0][::25]
    after, sieve = all_rolls(boards, SHORT), invented(SHORT, 2, 10_000)
    whole = np.arange(21 * len(boards)) % 2 == 0
    found = best_replies(bot, boards, sieve, whole)
    free = best_replies(bot, boards)
    values = -bot.equity(after.boards)
    _, _, likely = sieve.passed(boards, after, np.ones_like(whole))
    differ = 0
    for i in range(len(whole)):
        rows = np.arange(after.offsets[i], after.offsets[i + 1])
        best = rows[likely[rows]][np.argmax(values[rows[likely[rows]]])]
        outcomes = found.outcomes.reshape(-1, 6)[i]
        assert np.array_equal(outcomes, bot.outcomes(after.boards[best])[0])
        board = found.boards.reshape(-1, 2, 26)[i]
        assert np.array_equal(board, free.boards.reshape(-1, 2, 26)[i] if whole[i] else after.boards[best])
        differ += not np.array_equal(board, after.boards[best])
    assert differ > 20


@pytest.mark.slow
def test_the_sieve_of_a_bot_is_learned_once():
    bot = network_of(SHORT)
    assert sieve_for(bot, keep=3).guess.table is sieve_for(bot, keep=5).guess.table
    assert sieve_for(network_of(SHORT, seed=7), keep=3).guess.table is not sieve_for(bot, keep=3).guess.table


@pytest.mark.slow
def test_a_learned_sieve_seldom_drops_the_best_play():
    """Of 6 candidates the best is one in nine of ten rolls or more, and little is lost without it.

    The shipped bot, less its pruning net.
    """
    try:
        bot = replace(bare(load_bot("short")), pruning=None)
    except BotError:
        pytest.skip("no bot of short nardy is shipped")
    boards = reached_boards(SHORT, 200, 8)[0][::10]
    sieve = sieve_for(bot, keep=6)
    free, found = best_replies(bot, boards), best_replies(bot, boards, sieve)
    same = (free.boards == found.boards).all(axis=(2, 3))
    assert same.mean() > 0.85
    assert bot.equity(found.boards[~same]).mean() - bot.equity(free.boards[~same]).mean() < 0.1

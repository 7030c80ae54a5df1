"""Trained bots answer races at home from the bearoff tables, and everything else by their network."""

from dataclasses import replace

import numpy as np
import pytest
from networks import network_of
from positions import board_of, reached_boards

import nardy_ai as na
from nardy_ai.bots import is_trained, load_bot
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BoardError, BotError
from nardy_ai.evaluators.network import Network
from nardy_ai.evaluators.with_bearoff import WithBearoff
from nardy_ai.exact.bearoff import bearoff_tables, exact_at, nearly_exact_at
from nardy_ai.movegen.generate import Afterstates, expand
from nardy_ai.outcomes import equities, final_outcomes
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")


def mixed_boards(rules) -> np.ndarray:
    """Positions of games, a fifth of them races at home, some of those with six a side or fewer."""
    boards = reached_boards(rules, 400, 9)[0]
    races = []
    rng = np.random.default_rng(4)
    for _ in range(100):
        sides = [np.bincount(rng.integers(1, 7, size=rng.integers(1, 14)), minlength=26) for _ in range(2)]
        races.append([side + (rules.checkers - side.sum()) * np.eye(26, dtype=int)[0] for side in sides])
    return rng.permutation(np.concatenate((boards, np.array(races, dtype=np.int8))))


@pytest.mark.parametrize("name", ["short", "caucasian", "long"])
def test_covered_boards_get_the_answers_of_the_tables_and_others_those_of_the_network(name):
    rules = find_rules(name)
    network = network_of(rules)
    bot, boards, tables = WithBearoff(network), mixed_boards(rules), bearoff_tables()
    exact, near = exact_at(boards, rules), nearly_exact_at(boards, rules)
    assert 100 <= near.sum() < 300
    assert 10 < exact.sum() < near.sum()
    found = bot.outcomes(boards)
    assert np.array_equal(found[exact], tables.outcomes(boards[exact], rules))
    assert np.array_equal(found[near & ~exact], tables.race_outcomes(boards[near & ~exact], rules))
    assert np.array_equal(found[~near], network.outcomes(boards[~near]))
    assert np.array_equal(bot.equity(boards)[~near], network.equity(boards[~near]))
    assert bot.equity(boards) == pytest.approx(equities(found, rules), abs=1e-6)


def test_plays_are_valued_as_their_afterstates_are():
    """One roll at a time and all rolls of a board as siblings; finished games too."""
    bot, boards = WithBearoff(network_of(SHORT)), mixed_boards(SHORT)[:60]
    after = expand(boards.repeat(21, axis=0), np.tile(ROLLS, (len(boards), 1)), SHORT)
    siblings = Afterstates(after.boards, np.ascontiguousarray(after.offsets[::21]))
    outcomes, values = bot.evaluate_plays(boards, siblings)
    assert nearly_exact_at(after.boards, SHORT).any()
    assert np.array_equal(outcomes, bot.outcomes(after.boards))
    assert np.array_equal(values, bot.equity(after.boards))
    assert np.array_equal(bot.play_values(boards.repeat(21, axis=0), after), -values)
    over = (after.boards[:, 1, 0] == 15) | (after.boards[:, 0, 0] == 15)
    assert over.any()
    assert np.array_equal(outcomes[over], final_outcomes(after.boards[over], SHORT))


def test_answers_do_not_depend_on_the_batch():
    bot, boards = WithBearoff(network_of(SHORT)), mixed_boards(SHORT)
    whole = bot.outcomes(boards)
    assert np.array_equal(np.concatenate([bot.outcomes(boards[i : i + 7]) for i in range(0, len(boards), 7)]), whole)
    assert np.array_equal(bot.outcomes(boards[::-1])[::-1], whole)
    assert np.array_equal(bot.outcomes(boards.astype(np.int64)), whole)


def test_tables_are_not_read_before_a_race_at_home_turns_up(monkeypatch):
    monkeypatch.setattr("nardy_ai.evaluators.with_bearoff.bearoff_tables", lambda: pytest.fail("read"))
    bot, start = WithBearoff(network_of(SHORT)), start_boards(SHORT)
    bot.outcomes(start)
    na.best_afterstates(bot, start, (3, 1))
    with pytest.raises(pytest.fail.Exception):
        bot.outcomes(board_of({5: 1, 2: 1}, {1: 1}, 15))


def test_impossible_boards_are_refused():
    with pytest.raises(BoardError):
        WithBearoff(network_of(SHORT)).outcomes(np.zeros((1, 2, 26), dtype=np.int8))


def test_a_trained_bot_knows_the_last_roll_and_its_network_does_not(bot_files):
    """19 of 36 rolls take both off."""
    board, file = board_of({5: 1, 2: 1}, {1: 1}, 15), bot_files["short"]
    assert load_bot(file).outcomes(board)[0] == pytest.approx([19 / 36, 0, 0, 17 / 36, 0, 0], abs=1e-6)
    alone = load_bot(f"{file}@bare")
    assert isinstance(alone, Network)
    assert alone.name == f"{file}@bare"
    assert np.array_equal(alone.outcomes(board), network_of(SHORT).outcomes(board))
    assert abs(alone.outcomes(board)[0, 0] - 19 / 36) > 0.01
    ahead, bare_ahead = load_bot(f"{file}@1ply"), load_bot(f"{file}@bare@1ply")
    assert ahead.outcomes(board)[0, 0] == pytest.approx(19 / 36, abs=1e-6)
    assert bare_ahead.name == f"{file}@bare@1ply"
    assert is_trained(bare_ahead.name)
    assert not is_trained("pubeval@bare@1ply")


def test_where_a_race_is_another_game_the_network_is_asked(bot_files):
    left, never = load_bot(bot_files["long-left"]), load_bot(bot_files["long"], replace_block("never"))
    assert isinstance(left, Network)
    assert isinstance(never, Network)
    assert isinstance(load_bot(bot_files["long"]), WithBearoff)


def replace_block(value: str):
    return replace(find_rules("long"), six_block=value)


@pytest.mark.parametrize("name", ["pubeval@bare", "random@bare"])
def test_only_trained_bots_have_a_network(name):
    with pytest.raises(BotError, match="is no trained bot"):
        load_bot(name)

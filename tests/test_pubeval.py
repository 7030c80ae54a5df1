"""Pubeval: the shipped numbers, the published way to use them, and the engine they were recovered from."""

import json
import runpy
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from test_baselines import played, points_per_game, reached_boards, side_boards

from nardy_ai.boards import CONTRARY, is_race
from nardy_ai.dice import dice_at, hash_at
from nardy_ai.evaluators.baselines import PubevalBot, RandomBot, pubeval_inputs, pubeval_weights
from nardy_ai.movegen.generate import Afterstates, afterstates
from nardy_ai.rules import find_rules, start_boards

SHORT = find_rules("short")
SCRIPT = Path(__file__).parents[1] / "scripts" / "recover_pubeval.py"


def gnubg_nn():
    return pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed; pip install 'nardy_ai[peers]'")


def scores(boards, before=None):
    """Pubeval's scores of afterstates, one segment; by default the board before is the start, which is contact."""
    before = start_boards(SHORT) if before is None else before
    return PubevalBot(SHORT).play_values(before, Afterstates(boards, np.array([0, len(boards)])))


def test_inputs_follow_the_published_description():
    """The mover (row 1) has 1, 2, 3 and 6 on his 24, 13, 8, 6 three off; the enemy a blot on my 5, one on the bar."""
    boards = side_boards({20: 1, 25: 1, 6: 13}, {24: 1, 13: 2, 8: 3, 6: 6})
    shown = {i: float(x) for i, x in enumerate(pubeval_inputs(boards)[0]) if x}
    blot_on_my_5 = 5 * (24 - 5)
    expected = {5 * (24 - 24) + 1: 1, 5 * (24 - 13) + 2: 1}
    expected |= {5 * (24 - 8) + 2: 1, 5 * (24 - 8) + 3: 1, 5 * (24 - 6) + 2: 1, 5 * (24 - 6) + 4: 1.5}
    expected |= {blot_on_my_5: 1, 120: 0.5, 121: np.float32(3 / 15)}
    assert shown == pytest.approx(expected)


def test_scores_are_the_hand_computed_ones():
    """Tesauro's numbers by hand. One checker on 6, 14 off, an enemy on the bar: -1.18223 + 5.62596/2 - 2.758*14/15.

    Race: three on the ace point, twelve off: -7.26713 - 3.40177 + 3.4204*12/15.
    """
    contact = scores(side_boards({25: 1}, {6: 1}))
    race = scores(side_boards({1: 15}, {1: 3}), before=side_boards({2: 3}, {1: 15}))
    assert contact[0] == pytest.approx(-1.18223 + 5.62596 / 2 - 2.758 * 14 / 15, abs=1e-5)
    assert race[0] == pytest.approx(-7.26713 - 3.40177 + 3.4204 * 12 / 15, abs=1e-5)


def test_the_board_before_the_play_chooses_the_weights():
    """12/6 11/6 with 6-5 breaks contact (he stands on my 11): the contact weights still score it."""
    before = side_boards({15: 1, 11: 1, 6: 13}, {12: 1, 6: 14})
    after = afterstates(before, (6, 5), SHORT)
    assert is_race(after.boards, CONTRARY).any()
    assert not is_race(before, CONTRARY).any()
    contact, race = pubeval_weights()
    inputs = pubeval_inputs(after.boards)
    values = PubevalBot(SHORT).play_values(before, after)
    assert np.allclose(values, inputs @ contact, atol=1e-5)
    assert not np.allclose(values, inputs @ race, atol=1e-1)


def test_a_batch_may_hold_races_and_contact():
    race, contact = side_boards({6: 15}, {6: 15}), start_boards(SHORT)
    both = np.concatenate((race, contact))
    after = afterstates(both, (4, 2), SHORT)
    values = PubevalBot(SHORT).play_values(both, after)
    alone = [PubevalBot(SHORT).play_values(b, afterstates(b, (4, 2), SHORT)) for b in (race, contact)]
    assert np.array_equal(values, np.concatenate(alone))


def test_a_finished_board_is_best_of_all():
    boards = np.concatenate((side_boards({25: 15}, {6: 2}), side_boards({1: 14}, {})))
    values = scores(boards)
    assert values[1] > 1e7 > values[0]


def test_the_file_says_where_its_numbers_come_from():
    table = json.loads(files("nardy_ai.evaluators").joinpath("pubeval.json").read_text(encoding="utf-8"))
    assert len(table["contact"]) == len(table["race"]) == 122
    assert "Tesauro" in table["source"]
    assert "public domain" in table["source"]
    assert "recover_pubeval.py" in table["note"]
    assert table["race"][120] == table["race"][115] == 0


def test_scores_agree_with_gnubg_nn():
    """On boards of random games, by the weights that gnubg-nn takes, which sees no board before. Single precision."""
    engine = gnubg_nn()
    boards = reached_boards(SHORT, games=60, plies=160)
    race = is_race(boards, CONTRARY)
    contact_weights, race_weights = pubeval_weights()
    inputs = pubeval_inputs(boards)
    ours = np.where(race, inputs @ race_weights, inputs @ contact_weights)
    theirs = [engine.pub_eval_score([b[1, 1:].tolist(), b[0, 1:].tolist()]) for b in boards]
    assert race.sum() > 50
    assert (~race).sum() > 500
    assert np.abs(ours - theirs).max() < 2e-5


def test_plays_are_gnubg_nns():
    """`pub_best_move` knows the board before the play too: its choice is one of our best, in every phase."""
    engine = gnubg_nn()
    boards = reached_boards(SHORT, games=20, plies=160)
    dice = dice_at(9, np.arange(len(boards)), 0)
    after = afterstates(boards, dice, SHORT)
    values = np.split(PubevalBot(SHORT).play_values(boards, after), after.offsets[1:-1])
    results = np.split(after.boards, after.offsets[1:-1])
    for board, roll, candidates, worth in zip(boards, dice.tolist(), results, values, strict=True):
        result = board.copy()
        slots = [index + 1 for index in engine.pub_best_move([board[1, 1:].tolist(), board[0, 1:].tolist()], *roll)]
        for source, target in zip(slots[::2], slots[1::2], strict=True):
            result[0, source] -= 1
            result[0, max(target, 0)] += 1
            if target > 0 and result[1, 25 - target]:
                result[1, [25 - target, 25]] = 0, result[1, 25] + 1
        same = (candidates == result[::-1]).all(axis=(1, 2))
        assert same.any()
        assert worth[same][0] >= worth.max() - np.float32(1e-4)


def test_the_numbers_are_recovered_again_and_a_wrong_one_is_named(tmp_path):
    gnubg_nn()
    script = runpy.run_path(str(SCRIPT))
    found = script["recover"]()
    shipped = Path(str(files("nardy_ai.evaluators").joinpath("pubeval.json")))
    assert script["differences"](found, shipped) == []
    table = json.loads(shipped.read_text(encoding="utf-8"))
    table["race"][7] += 0.00001
    (tmp_path / "wrong.json").write_text(json.dumps(table), encoding="utf-8")
    assert script["differences"](found, tmp_path / "wrong.json") == ["race[7]: -1.05121 against -1.05120"]


def test_pubeval_beats_random_and_another_seed_of_random_is_another_player():
    mean, error = points_per_game(PubevalBot(SHORT), RandomBot(SHORT), pairs=40, seed=4)
    assert mean > 9 * error  # +2.50 points a game, standard error 0.03, over 250 pairs
    boards = np.repeat(start_boards(SHORT), 50, axis=0)
    dice = dice_at(0, hash_at(0, np.arange(50), 0), 0)
    one, two = (played(RandomBot(SHORT, seed=seed), boards, dice) for seed in (0, 1))
    assert not np.array_equal(one, two)

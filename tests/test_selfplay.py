"""Self-play: the same games whatever is played beside them, the best plays, and plays by chance where they belong."""

from dataclasses import replace

import numpy as np
import pytest
from networks import network_of

from nardy_ai import outcomes as oc
from nardy_ai.bots import best_afterstates
from nardy_ai.movegen.generate import afterstates
from nardy_ai.play.lockstep import Lanes, legal, new_lanes, roll
from nardy_ai.play.selfplay import Window, play_window, wild_until
from nardy_ai.rules import RuleSet, find_rules
from nardy_ai.train.targets import td_targets

SEED = 6
HYPER, SHORT, LONG = (find_rules(name) for name in ("hyper", "short", "long"))


def played(rules: RuleSet, lanes: Lanes, plies: int, **changes) -> tuple[Lanes, Window]:
    options = {"seed": SEED, "opening": "use_dice", "wild_share": 0.3, "wild_plies": 6} | changes
    return play_window(network_of(rules), lanes, plies=plies, **options)


def boards_by_game(rules: RuleSet, lanes: int, plies: int) -> dict[tuple[int, int], bytes]:
    """Every board that was rolled on, by game and ply."""
    found: dict[tuple[int, int], bytes] = {}
    state = new_lanes(rules, lanes)
    for _ in range(plies):
        before = state
        state, window = played(rules, before, 1)
        for game, ply, board in zip(before.games, before.plies, window.boards[0], strict=True):
            assert (game, ply) not in found
            found[int(game), int(ply)] = board.tobytes()
    return found


@pytest.mark.parametrize(
    ("rules", "plies"), [(HYPER, 160), (SHORT, 120), (LONG, 120)], ids=lambda x: getattr(x, "name", x)
)
def test_games_are_the_same_whatever_the_number_of_lanes(rules: RuleSet, plies: int):
    few, many = boards_by_game(rules, 8, plies), boards_by_game(rules, 32, plies)

    shared = few.keys() & many.keys()
    assert len(shared) > 8 * plies // 2
    assert all(few[key] == many[key] for key in shared)
    assert max(game for game, _ in few) >= 8, "no lane has begun a second game"


def test_windows_are_the_same_however_the_plies_are_cut():
    whole_lanes, whole = played(HYPER, new_lanes(HYPER, 8), 40)
    lanes, first = played(HYPER, new_lanes(HYPER, 8), 13)
    lanes, second = played(HYPER, lanes, 27)

    for name in ("boards", "next_outcomes", "ended", "random"):
        assert np.concatenate((getattr(first, name), getattr(second, name))).tobytes() == getattr(whole, name).tobytes()
    assert lanes.games.tolist() == whole_lanes.games.tolist()
    assert first.evaluations + second.evaluations == whole.evaluations


def test_other_seed_plays_other_games():
    _, one = played(HYPER, new_lanes(HYPER, 8), 5)
    _, other = played(HYPER, new_lanes(HYPER, 8), 5, seed=SEED + 1)

    assert one.boards.tobytes() != other.boards.tobytes()


def test_window_holds_shapes_and_types_as_stated():
    _, window = played(SHORT, new_lanes(SHORT, 5), 3)

    assert (window.boards.shape, window.boards.dtype) == ((3, 5, 2, 26), np.int8)
    assert (window.next_outcomes.shape, window.next_outcomes.dtype) == ((3, 5, 6), np.float32)
    assert (window.ended.shape, window.random.shape) == ((3, 5), (3, 5))


def test_outcomes_of_a_ply_are_those_of_the_next_board_or_the_result():
    """The sign convention: for the side that rolls next. Where the game ended that side has lost."""
    _, window = played(HYPER, new_lanes(HYPER, 16), 80)
    going_on = ~window.ended[:-1]

    following = network_of(HYPER).outcomes(window.boards[1:][going_on])

    assert window.ended.sum() > 10
    assert window.next_outcomes[:-1][going_on].tobytes() == following.tobytes()
    results = window.next_outcomes[window.ended]
    assert (results[:, :3] == 0).all()
    assert (results.max(axis=1) == 1).all()
    assert (np.isin(window.next_outcomes, (0, 1)).all(axis=2) == window.ended).all()


def test_best_play_is_played_where_chance_does_not_choose():
    lanes, differing = new_lanes(SHORT, 16), 0
    for _ in range(12):
        before = lanes
        lanes, window = played(SHORT, before, 1)
        dice = roll(SEED, before.games, before.plies, "use_dice")
        best, _ = best_afterstates(network_of(SHORT), before.boards, dice)
        same = (lanes.boards == best).all(axis=(1, 2))

        assert same[~window.random[0]].all()
        differing += int((~same).sum())
    assert differing > 0


def test_evaluations_count_the_afterstates():
    lanes = new_lanes(SHORT, 16)

    _, window = played(SHORT, lanes, 1)

    assert window.evaluations == len(legal(lanes, SHORT, SEED, "use_dice").boards)


@pytest.mark.parametrize("preset", ["hyper", "short", "long", "long-left"])
def test_targets_promise_nothing_that_the_board_excludes(preset: str):
    """What can still happen later could happen before: a masked class, whose logarithm is huge, is never a target."""
    rules = find_rules(preset)
    _, window = played(rules, new_lanes(rules, 32), 150)

    targets = td_targets(window, 0.7)

    possible = oc.possible(window.boards.reshape(-1, 2, 26), rules).reshape(targets.shape)
    assert window.ended.any()
    assert not targets[~possible].any()


# Chance


def test_chance_chooses_the_first_plies_of_wild_games_only():
    lanes = new_lanes(HYPER, 64)
    for _ in range(30):
        until = wild_until(SEED, lanes.games, share=0.3, most=6)
        wanted = lanes.plies < until
        lanes, window = played(HYPER, lanes, 1)

        assert window.random[0].tolist() == wanted.tolist()


def test_share_and_length_of_wild_games():
    """200,000 games; five standard errors: 0.005 of the share, 0.01 of each length."""
    until = wild_until(3, np.arange(200_000), share=0.25, most=5)

    assert until.min() == 0
    assert (until > 0).mean() == pytest.approx(0.25, abs=0.005)
    lengths = np.bincount(until[until > 0], minlength=6) / (until > 0).sum()
    assert lengths[1:] == pytest.approx([0.2] * 5, abs=0.01)


def test_no_and_all_wild_games():
    games = np.arange(10_000)

    assert not wild_until(3, games, share=0.0, most=5).any()
    assert wild_until(3, games, share=1.0, most=5).all()
    assert (wild_until(3, games, share=1.0, most=1) == 1).all()


def test_wild_games_do_not_depend_on_the_batch():
    games = np.arange(50)

    assert (wild_until(3, games[::-1], share=0.5, most=5) == wild_until(3, games, share=0.5, most=5)[::-1]).all()


def test_chance_takes_every_legal_play_about_as_often():
    """One roll in 8,000 games, 3-1 from the start with its 16 results: each within five standard errors of 500."""
    n = 8000
    lanes = new_lanes(SHORT, n)
    dice = roll(SEED, lanes.games, lanes.plies, "use_dice")
    mine = (dice == (3, 1)).all(axis=1)
    results = afterstates(lanes.boards[:1], (3, 1), SHORT).boards

    after, window = played(SHORT, lanes, 1, wild_share=1.0, wild_plies=1)

    assert window.random.all()
    counts = np.array([(after.boards[mine] == result).all(axis=(1, 2)).sum() for result in results])
    assert counts.sum() == mine.sum()
    expected = mine.sum() / len(results)
    assert np.abs(counts - expected).max() < 5 * expected**0.5


def test_without_wild_games_nothing_is_random():
    _, window = played(HYPER, new_lanes(HYPER, 8), 20, wild_share=0.0)

    assert not window.random.any()


def test_first_roll_of_every_game_follows_the_opening_rule():
    """`use_dice`: never a double. Every board of ply 1 is a result of the opening roll of its game."""
    lanes = new_lanes(HYPER, 64)
    for _ in range(60):
        before = lanes
        lanes, window = played(HYPER, before, 1)
        started = np.flatnonzero((before.plies == 0) & ~window.ended[0])
        dice = roll(SEED, before.games, before.plies, "use_dice")
        assert (dice[before.plies == 0, 0] != dice[before.plies == 0, 1]).all()
        for i in started:
            results = afterstates(before.boards[i], dice[i], HYPER).boards
            assert (results == lanes.boards[i]).all(axis=(1, 2)).any()
    assert lanes.games.max() > 64


def test_classes_of_a_rule_set_with_32_are_played_through():
    rules = replace(find_rules("long-left"), start={1: 1}, checkers=1)

    _, window = play_window(
        network_of(rules), new_lanes(rules, 4), plies=3, seed=1, opening="reroll", wild_share=0.0, wild_plies=1
    )

    assert window.ended.all()
    assert (window.next_outcomes.argmax(axis=2) == 16 + 15).all()
    assert (window.next_outcomes == oc.swap(oc.swap(window.next_outcomes))).all()

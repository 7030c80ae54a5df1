"""Look-ahead with the cube: exact where the answer is known, the same in every batch, and play under a cube."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from networks import network_of
from positions import board_of, reached_boards

import nardy_ai as na
from nardy_ai.boards import finished
from nardy_ai.bots import load_bot
from nardy_ai.cube.equity import CubeModel, match_table
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import Cubeful, cube_decision, cubeful_of, decisions_of, market_losers
from nardy_ai.dice import ROLLS
from nardy_ai.errors import BotError, CubeError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.settle import evaluator_play_values
from nardy_ai.exact.bearoff import bearoff_tables, exact_at, random_bearoffs
from nardy_ai.exact.solve import few_checkers, solve, solve_cube
from nardy_ai.movegen.generate import afterstates
from nardy_ai.rules import find_rules
from nardy_ai.search import Lookahead

SHORT, HYPER = find_rules("short"), find_rules("hyper")
MONEY = CubeState(jacoby=False)
NET = network_of(SHORT)


@dataclass
class Tables:
    """Knows the chances of bear-offs exactly and nothing of the cube."""

    rules: object = SHORT
    name: str = "tables"

    def outcomes(self, boards):
        return bearoff_tables().outcomes(boards, SHORT)

    def play_values(self, boards, after):
        return evaluator_play_values(self, boards, after)


def two_sided(n: int, seed: int) -> np.ndarray:
    """Bear-offs of up to six checkers a side, every pair of sides equally likely."""
    return random_bearoffs(SHORT, n=n, seed=seed)


LAST_ROLLS = {  # own checkers on these points, the other side on its ace point: rolls of 36 that bear both off
    "5 and 2": ({5: 1, 2: 1}, 19),
    "6 and 1": ({6: 1, 1: 1}, 15),
    "4 and 4": ({4: 2}, 11),
    "6 and 5": ({6: 1, 5: 1}, 6),
    "6 and 6": ({6: 2}, 4),
}


@pytest.mark.parametrize("plies", [0, 1, 2, 3])
@pytest.mark.parametrize("name", LAST_ROLLS)
def test_last_roll_is_exact_at_every_depth(name, plies):
    """Entry 22 of what users ask: money, the cube in the centre."""
    own, good = LAST_ROLLS[name]
    found = cube_decision(NET, board_of(own, {1: 1}, 15), MONEY, plies=plies)
    equity = 2 * good / 36 - 1
    assert (found.no_double, found.double_take) == pytest.approx((equity, 2 * equity), abs=1e-6)
    assert found.action == ("double, take" if good > 18 else "no double, take")


@pytest.mark.parametrize("away", [(4, 4), (2, 1), (1, 3)])
def test_last_roll_of_a_match_is_exact_from_one_ply_on(away):
    """Nobody can use the cube after the roll: the chance to win times match equities."""
    table, state = match_table(SHORT, 5), CubeState(away=away)
    after = min(away) == 1

    def utility(points: int) -> float:
        mine, his = (away[0] - points, away[1]) if points > 0 else (away[0], away[1] + points)
        return 1 if mine <= 0 else 0 if his <= 0 else table.chance(mine, his, after_crawford=after)

    board = board_of({5: 1, 2: 1}, {1: 1}, 15)
    for plies in (1, 2):
        found = cube_decision(NET, board, state, plies=plies)
        assert found.winning["no_double"] == pytest.approx((19 * utility(1) + 17 * utility(-1)) / 36, abs=1e-6)
        if away[0] > 1:
            assert found.winning["double_take"] == pytest.approx((19 * utility(2) + 17 * utility(-2)) / 36, abs=1e-6)


def test_bearoffs_of_the_tables_have_their_money_values():
    boards = two_sided(200, 5)
    right = bearoff_tables().cube_values(boards, SHORT)
    for column, owner in enumerate((None, 0, 1)):
        for plies in (0, 1):
            judge = Cubeful(NET, CubeModel(SHORT), plies=plies)
            worth = judge.worth(boards, CubeStates.of(replace(MONEY, owner=owner, value=4), 200))
            assert worth.no_double == pytest.approx(4 * right.no_double[:, column], abs=1e-5)
            assert worth.best == pytest.approx(4 * right.best[:, column], abs=1e-5)


def test_a_cap_within_reach_is_no_matter_of_the_batch():
    """The tables know no cap: a stake far below it is looked up, one near it is not, whoever else is asked."""
    boards = two_sided(40, 8)
    model = CubeModel(SHORT, cap=128)
    judge = Cubeful(NET, model, plies=1)
    low, high = (CubeStates.of(replace(MONEY, value=value, cap=128), 40) for value in (1, 64))
    together = judge.worth(np.concatenate((boards, boards)), CubeStates.join([low, high])).best
    assert np.array_equal(together[:40], judge.worth(boards, low).best)
    assert np.array_equal(together[40:], judge.worth(boards, high).best)
    assert together[:40] == pytest.approx(bearoff_tables().cube_values(boards, SHORT).best[:, 0], abs=1e-6)
    assert (np.abs(together[40:] / 64 - together[:40]) > 1e-3).any()


@pytest.mark.parametrize("owner", [None, 0])
def test_formulas_with_one_ply_decide_bearoffs_nearly_always_right(owner):
    """docs/cube.md: exact chances in the formulas, against the tables' exact cube: loss in points a decision."""
    n = 1500
    boards = two_sided(n, 3)
    states = CubeStates.of(replace(MONEY, owner=owner), n)
    worth = Cubeful(Tables(), CubeModel(SHORT), plies=1, tables=False).worth(boards, states)
    right = bearoff_tables().cube_values(boards, SHORT)
    no_double, taken = right.no_double[:, 0 if owner is None else 1], 2 * right.no_double[:, 2]
    doubled = np.minimum(taken, 1)
    doubles = np.minimum(worth.double_take, 1) > worth.no_double + 1e-7
    doubling = np.maximum(no_double, doubled) - np.where(doubles, doubled, no_double)
    taking = np.where((worth.double_take <= 1 + 1e-7) == (taken <= 1 + 1e-7), 0, np.abs(taken - 1))
    assert doubling.mean() + taking.mean() < 0.0005
    assert ((doubling < 1e-6) & (taking < 1e-6)).mean() >= 0.98


@pytest.mark.parametrize(("jacoby", "beavers"), [(False, False), (True, True)])
def test_deeper_look_ahead_comes_closer_to_the_solved_game(jacoby, beavers):
    """One checker a side, with contact, mars and the cube: the exact solution against 0 to 2 plies."""
    rules = few_checkers(HYPER, 1)
    solution = solve_cube(rules, jacoby=jacoby, beavers=beavers)
    boards = np.unique(reached_boards(rules, 300, 3)[0], axis=0)
    boards = boards[~finished(boards)]
    state = CubeState(jacoby=jacoby, beavers=beavers)
    right = solution.values(boards)
    bot, model = ExactBot(solve(rules)), CubeModel.of(state, rules)
    errors = []
    for plies in (0, 1, 2):
        worth = Cubeful(bot, model, plies=plies).worth(boards, CubeStates.of(state, len(boards)))
        wrong = np.stack((worth.no_double - right.no_double[:, 0], worth.best - right.best[:, 0]))
        errors.append(float(np.sqrt((wrong**2).mean())))
    assert errors[0] > 2 * errors[1] > 3 * errors[2]
    assert errors[2] < 0.04


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_without_a_cube_it_is_the_cubeless_look_ahead(plies):
    """A cap at the present stake leaves no cube: the same points, plies and plays."""
    boards = reached_boards(SHORT, 12 if plies < 2 else 3, 2)[0]
    boards = boards[~finished(boards) & ~exact_at(boards, SHORT)]
    state = replace(MONEY, cap=1)
    judge = Cubeful(NET, CubeModel.of(state, SHORT), plies=plies, tables=False)
    states = CubeStates.of(state, len(boards))
    assert judge.worth(boards, states).best == pytest.approx(Lookahead(NET, plies).equity(boards), abs=2e-5)
    after = afterstates(boards, (4, 2), SHORT)
    found, right = (
        judge.play_values(boards, after, states),
        Lookahead(NET, plies).play_values(boards, after),
    )
    assert found == pytest.approx(right, abs=2e-5)


@pytest.mark.parametrize("plies", [0, 1])
def test_answers_do_not_depend_on_the_batch(plies):
    boards = reached_boards(SHORT, 20, 4)[0]
    boards = boards[~finished(boards)]
    given = [CubeState(2 ** (i % 3), (None, 0, 1)[i % 3], (7 - i % 6, 2 + i % 5)) for i in range(len(boards))]
    states = CubeStates.join([CubeStates.of(state) for state in given])
    judge = Cubeful(NET, CubeModel(SHORT, table=match_table(SHORT, 7)), plies=plies)
    together, order = judge.worth(boards, states), np.random.default_rng(1).permutation(len(boards))
    apart = judge.worth(boards[order], states.take(order))
    for name in ("no_double", "double_take", "best"):
        assert np.array_equal(getattr(together, name)[order], getattr(apart, name), equal_nan=True)
    alone = [judge.worth(boards[i], states.take(np.array([i]))).best[0] for i in range(3)]
    assert alone == together.best[:3].tolist()
    after = afterstates(boards, (3, 1), SHORT)
    values = judge.play_values(boards, after, states)
    first = afterstates(boards[:1], (3, 1), SHORT)
    assert np.array_equal(judge.play_values(boards[:1], first, states.take(np.array([0]))), values[: len(first.boards)])


def test_the_cubes_owner_reaches_the_choice_of_play():
    """Entry 19 of what users ask: with the cube over there the mars counts, with one's own the cash."""
    bot = load_bot("short@1ply")
    board = na.parse_position("XGID=-aBa--D-CB--cB---d-cB-ba--:0:0:1:66:0:0:0:0:10", SHORT)
    worth = {}
    for owner in (None, 0, 1):
        judge = cubeful_of(bot, CubeState(2, owner, jacoby=False))
        after = afterstates(board[None], (6, 6), SHORT)
        values = judge.play_values(board[None], after, CubeStates.of(CubeState(2, owner, jacoby=False)))
        # 20/14(2) 9/3*(2) and 13/1* 9/3*(2), in the other side's view: two on 14, or one on the ace point.
        safe = next(m for m, b in enumerate(after.boards) if b[1, 14] == 2 and b[1, 3] == 2 and b[1, 13] == 2)
        blitz = next(m for m, b in enumerate(after.boards) if b[1, 1] == 1 and b[1, 3] == 2)
        worth[owner] = values[safe] - values[blitz]
    assert worth[1] < 0 < worth[None]  # the latter by little: our bots think the two plays nearly equal
    assert worth[1] < -0.05  # the user's answer: by 0.077
    assert min(worth[None], worth[0]) > worth[1] + 0.05


def test_best_afterstates_plays_by_the_score():
    """Two away after Crawford against one away: a mars is worth the match at stake 1, nothing at stake 2."""
    boards = reached_boards(SHORT, 200, 6)[0]
    boards = boards[~finished(boards)]
    dice = ROLLS[np.arange(len(boards)) % 21]
    at_one, worth = na.best_afterstates(NET, boards, dice, state=CubeState(away=(2, 2)))
    at_two, _ = na.best_afterstates(NET, boards, dice, state=CubeState(2, 1, away=(2, 2)))
    cubeless, _ = na.best_afterstates(NET, boards, dice)
    assert (at_one != at_two).any()
    assert (at_two != cubeless).any()
    wins = 1 - NET.outcomes(at_two[~finished(at_two)])[:, :3].sum(axis=1)
    others = 1 - NET.outcomes(cubeless[~finished(at_two) & ~finished(cubeless)])[:, :3].sum(axis=1)
    assert wins.mean() > others.mean()
    assert worth.shape == (len(boards),)


def test_equal_plays_are_ranked_by_cubeless_points():
    """At one away each only winning counts, and here every play wins at once or loses the same: mars decides."""
    board = board_of({1: 2}, {24: 1}, 15)
    after = afterstates(board[None], (6, 5), SHORT)
    judge = cubeful_of(NET, CubeState(away=(1, 1)))
    assert len(judge.play_values(board[None], after, CubeStates.of(CubeState(away=(1, 1))))) == 1
    boards = reached_boards(SHORT, 300, 7)[0]
    boards = boards[~finished(boards)]
    after = afterstates(boards, (2, 1), SHORT)
    # A cube that has won the match for both sides, with the game as good as lost: all plays are worth the same.
    states = CubeStates.of(CubeState(away=(1, 1)), len(boards))
    hopeless = Hopeless()
    values = Cubeful(hopeless, CubeModel(SHORT, table=match_table(SHORT, 3))).play_values(boards, after, states)
    cubeless = hopeless.play_values(boards, after)
    for i in range(len(boards)):
        segment = slice(after.offsets[i], after.offsets[i + 1])
        assert cubeless[segment][np.argmax(values[segment])] == cubeless[segment].max()


class Hopeless:
    """Sure that whoever is on roll wins, by a mars that depends on the board."""

    name, rules = "hopeless", SHORT

    def outcomes(self, boards):
        answers = np.zeros((len(boards), 6), dtype=np.float32)
        share = (boards[:, 0].astype(np.int64) @ np.arange(26) % 7 / 10).astype(np.float32)
        answers[:, 0], answers[:, 1] = 1 - share, share
        return answers

    def play_values(self, boards, after):
        return evaluator_play_values(self, boards, after)


def test_decision_is_the_same_alone_and_in_a_batch():
    boards = reached_boards(SHORT, 6, 9)[0]
    states = [CubeState(1, None, (5, 3)), CubeState(2, 0, (3, 5)), CubeState(2, 1, (2, 2))] * 2
    judge = Cubeful(NET, CubeModel(SHORT, table=match_table(SHORT, 5)))
    together = decisions_of(judge, boards, states)
    for board, state, found in zip(boards, states, together, strict=True):
        alone = cube_decision(NET, board, state)
        assert (alone.action, alone.no_double, alone.best) == (found.action, found.no_double, found.best)
    assert together[2].action == "no cube action"
    assert together[2].double_take is None


def test_match_decision_tells_winning_chances_besides():
    found = cube_decision(NET, reached_boards(SHORT, 1, 9)[0], CubeState(away=(4, 5)))
    table = match_table(SHORT, 5)
    assert found.winning["double_pass"] == pytest.approx(table.chance(3, 5))
    low, high = table.chance(4, 4), table.chance(3, 5)
    assert found.no_double == pytest.approx((2 * found.winning["no_double"] - low - high) / (high - low), abs=1e-6)
    assert cube_decision(NET, reached_boards(SHORT, 1, 9)[0], MONEY).winning is None


def test_market_losers_of_a_last_roll_are_the_rolls_that_win():
    """5 and 2 against one checker on the ace point: what bears both off wins, what does not loses."""
    judge = cubeful_of(NET, MONEY)
    losers = market_losers(judge, board_of({5: 1, 2: 1}, {1: 1}, 15), MONEY)
    assert losers.share == pytest.approx(19 / 36)
    assert (losers.lost.all(axis=1) == losers.lost.any(axis=1)).all()
    owned = market_losers(judge, board_of({5: 1, 2: 1}, {1: 1}, 15), replace(MONEY, owner=1))
    assert owned.share == 0


def test_games_without_a_table_have_computed_match_equities():
    bot = network_of(find_rules("long"), "blocks-1")
    start = reached_boards(bot.rules, 1, 1)[0]
    judge = cubeful_of(bot, CubeState(away=(5, 5)))
    assert judge.model.table.name == "computed"
    assert judge.model.table.read == 0
    assert cube_decision(bot, start, CubeState(away=(5, 5))).action
    arithmetic = cube_decision(bot, start, CubeState(3, 0, growth="arithmetic"))
    assert arithmetic.double_take is not None


def test_what_cannot_be_asked_is_refused():
    board = reached_boards(SHORT, 1, 1)[0]
    with pytest.raises(BotError, match="cannot judge a cube"):
        cube_decision(load_bot("pubeval"), board, MONEY)
    with pytest.raises(CubeError, match="for 1 boards"):
        cubeful_of(NET, MONEY).worth(board, CubeStates.of(MONEY, 2))
    with pytest.raises(CubeError, match="the game is over"):
        cube_decision(NET, board_of({}, {1: 1}, 15), MONEY)
    with pytest.raises(CubeError, match="answers about one"):
        cube_decision(NET, np.concatenate((board, board)), MONEY)

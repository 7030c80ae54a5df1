"""Fixed opponents that need no training: chance, the pip count, a hand-made heuristic, Tesauro's pubeval.

Each is a `Bot` and a pure function of its arguments: yardsticks for trained networks, not players to learn from.
Engines from outside the package are `evaluators.peers`'.
"""

import json
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from nardy_ai.boards import (
    BAR,
    CONTRARY,
    FACING,
    HEAD,
    HOME,
    OFF,
    PARALLEL,
    SLOTS,
    Boards,
    is_race,
    pip_counts,
)
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS, hash_at, mix
from nardy_ai.errors import BotError
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.rules import RuleSet

__all__ = ["HeuristicBot", "PipsBot", "PubevalBot", "RandomBot", "pubeval_inputs", "pubeval_weights"]

PUBEVAL_INPUTS = 122
PUBEVAL_FINISHED = 99999999.0  # the original's score of a board with all checkers off

_WORDS = 2 * SLOTS // 4  # a board is 52 bytes, 13 words of 32 bits
BLOCK = 6


class RandomBot:
    """Plays any of the DISTINCT results of a roll with equal chance; not uniform over sequences of moves.

    The worth of an afterstate is a hash of (seed, board before the play, afterstate). So this is a pure function of
    its arguments: batches may be split and permuted, the same board and roll always get the same play, and another
    seed is another player. Values are in [0, 1) with 24 bits.
    """

    def __init__(self, rules: RuleSet, *, seed: int = 0) -> None:
        self.name = "random"
        self.rules = rules
        self._before, self._after = hash_at(seed, np.arange(2)[:, None], np.arange(_WORDS))

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`."""
        parents = np.repeat(_words(boards) @ self._before, after.counts())
        bits = mix(mix(parents) ^ (_words(after.boards) @ self._after))
        return (bits >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)


def _words(boards: Boards) -> NDArray[np.uint64]:
    """The bytes of each board as numbers, `uint64[N, 13]`, on every machine the same."""
    return np.ascontiguousarray(boards).reshape(len(boards), 2 * SLOTS).view("<u4").astype(np.uint64)


class PipsBot:
    """Plays the greedy race: the fewest own pips against the other side's. A hit counts by the pips it costs him.

    Plays that use the same dice and hit nothing are worth the same here; the first of them is played.
    """

    def __init__(self, rules: RuleSet) -> None:
        self.name = "pips"
        self.rules = rules

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`: pips of lead."""
        pips = pip_counts(after.boards)
        return (pips[:, 0] - pips[:, 1]).astype(np.float32)


class HeuristicBot:
    """Plays by what a beginner's book says about the geometry and the hitting that the rule set has.

    Nothing is learned and nothing looked ahead: the race, and while the sides can meet, how row 1 stands. The
    weights are pips, set by hand; some were tried one at a time, on a contrary board by what gnubg-nn's bare net
    says the plays of 800 benchmark positions lose, on a parallel one in a few hundred games against `PipsBot`.
    """

    def __init__(self, rules: RuleSet) -> None:
        self.name = "heuristic"
        self.rules = rules

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`, in pips or so."""
        if self.rules.board == CONTRARY:
            standing = _contrary_standing(after.boards, self.rules)
        else:
            standing = _parallel_standing(after.boards)
        standing[is_race(after.boards, self.rules.board)] = 0
        return _race_values(after.boards) + standing


_QUARTERS = (np.arange(SLOTS, dtype=np.float32) + HOME - 1) // HOME
"""Quarters of the board that a checker on each slot has still to cross or leave, `float32[26]`."""


def _race_values(boards: Boards) -> NDArray[np.float32]:
    """Row 1's lead in the race, `float32[M]`: pips, less what will be lost in bearing off.

    Lost are Tom Keith's pips (2004) at half weight: two for each checker beyond the first on 1, one beyond the first
    on 2 and beyond the third on 3, one for a gap on 4, 5, 6. Besides, checkers still to bear off and quarters still
    to cross, because a checker that only just gets home or off wastes least.
    """
    mine = boards[:, 1].astype(np.float32)
    pips = pip_counts(boards)
    lost = np.maximum(mine[:, 1:4] - np.array([1, 1, 3], np.float32), 0) @ np.array([2, 1, 1], np.float32)
    lost += (mine[:, 4 : HOME + 1] == 0).sum(axis=1)
    stacks = np.maximum(mine[:, 1 : HOME + 1] - 2, 0).sum(axis=1)
    left = mine[:, OFF + 1 :].sum(axis=1)
    values: NDArray[np.float32] = (pips[:, 0] - pips[:, 1]).astype(np.float32)
    values -= 0.5 * lost + 0.3 * stacks + 4 * left + mine @ _QUARTERS
    return values


@cache
def _log_misses() -> NDArray[np.float32]:
    """ln of the chance that a checker on the row's slot misses a blot on the column's, `float32[26, 26]`.

    Both slots are in the hitter's pips; points between them count as open. In steps of 2^-19, so that a side's sum
    is exact in single precision, and the same whatever the order of a matrix product.
    """
    high, low = ROLLS[:, :1].astype(np.int64), ROLLS[:, 1:].astype(np.int64)
    distances = np.arange(SLOTS)
    hits = (distances == high) | (distances == low) | (distances == high + low)
    hits |= (high == low) & (distances % high == 0) & (distances <= 4 * high)
    missed = np.log1p(-(ROLL_WEIGHTS @ (hits & (distances > 0))))
    apart = np.arange(SLOTS)[:, None] - np.arange(SLOTS)
    steps: NDArray[np.float64] = np.rint(np.where(apart > 0, missed[np.abs(apart)], 0) * 2**19)
    return (steps / 2**19).astype(np.float32)


_POINT_WORTH = np.array(
    [0, -1, 1, 3, 6, 7, 6, 5, 4, 2.5, 2, 1.5, 1, 2, 1, 1, 2, 1.5, 5, 3, 8, 7, 4, 2, 1, 0], dtype=np.float32
)
"""What a made point is worth, own 0..25: the home board, the bar point, anchors in his home; `float32[26]`."""


def _contrary_standing(boards: Boards, rules: RuleSet) -> NDArray[np.float32]:
    """What row 1's position is worth while the sides come towards each other, `float32[M]`."""
    mine, his = boards[:, 1], boards[:, 0]
    closed = mine >= rules.closed_by
    values = closed @ _POINT_WORTH
    values -= 0.8 * np.maximum(mine[:, 1:BAR] - 3, 0).sum(axis=1)
    values -= 2 * mine[:, 1] + mine[:, 2]  # out of play

    # Six points in a row, as many as are closed, against up to three of his checkers that are still behind them.
    windows = sliding_window_view(closed[:, 1:BAR], BLOCK, axis=1).sum(axis=2)
    here = his[:, FACING[CONTRARY]]
    here[:, OFF] = his[:, BAR]
    behind = np.minimum(np.cumsum(here, axis=1)[:, : BAR - BLOCK], 3)
    values += 0.5 * (windows**2 * behind).max(axis=1)

    values += 2 * his[:, BAR] * (1 + closed[:, 1 : HOME + 1].sum(axis=1))
    if rules.closed_by == 2:  # a single checker can be hit
        values -= 0.7 * _expected_loss(mine, his)
    return values.astype(np.float32)


def _expected_loss(mine: NDArray[np.int8], his: NDArray[np.int8]) -> NDArray[np.float32]:
    """Pips that blots will cost, `float32[M]`: each one's way round times the chance that it is hit next roll.

    Coming in again costs a pip more for each point that he has made at home. Hits are taken as independent.
    """
    risk = 1 - np.exp((his > 0).astype(np.float32) @ _log_misses())
    way = np.arange(SLOTS, dtype=np.float32)[::-1] + (his[:, 1 : HOME + 1] >= 2).sum(axis=1)[:, None]
    blots = mine == 1
    blots[:, [OFF, BAR]] = False
    loss: NDArray[np.float32] = (blots * risk[:, FACING[CONTRARY]] * way).sum(axis=1)
    return loss


def _parallel_standing(boards: Boards) -> NDArray[np.float32]:
    """What row 1's position is worth while both sides go the same way round and close points to each other."""
    mine, his = boards[:, 1], boards[:, 0]
    held = _points(mine > 0)
    held_for_him, his_here = held[:, FACING[PARALLEL]], _points(his > 0)[:, FACING[PARALLEL]]
    values: NDArray[np.float32] = held.sum(axis=1).astype(np.float32)
    values -= 1.5 * mine[:, HEAD] + 0.5 * np.maximum(mine[:, 1:BAR] - 2, 0).sum(axis=1)

    # The strongest six points in his numbering, against up to four of his checkers that are still behind them.
    windows = sliding_window_view(held_for_him[:, 1:BAR], BLOCK, axis=1).sum(axis=2)
    beyond = np.cumsum(his[:, ::-1], axis=1)[:, ::-1]
    values += 0.15 * (windows**2 * np.minimum(beyond[:, BLOCK + 1 :], 4)).max(axis=1)

    values += _mobility(mine, his_here) - 1.5 * _mobility(his, held_for_him)
    return values


def _points(slots: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The same slots without those borne off and on the bar."""
    slots[:, [OFF, BAR]] = False
    return slots


def _mobility(own: NDArray[np.int8], closed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """How freely a side moves on the points, `float32[M]`: over the six dice, the root of up to three landings.

    closed: `bool[M, 26]`, the points that the other side holds, in this side's numbering.
    """
    freedom = np.zeros(len(own), dtype=np.float32)
    for die in range(1, 7):
        landings = (own[:, die + 1 : BAR] > 0) & ~closed[:, 1 : BAR - die]
        freedom += np.sqrt(np.minimum(landings.sum(axis=1), 3).astype(np.float32))
    return freedom


class PubevalBot:
    """Gerald Tesauro's pubeval (IBM Research, 1993): a linear score of the board after the play.

    The race weights score all plays of a turn if the board BEFORE it is a race, the contact weights otherwise.
    Raises BotError for rule sets that it was not made for.
    """

    def __init__(self, rules: RuleSet) -> None:
        if rules.board != CONTRARY or rules.checkers != 15:
            raise BotError(
                f"pubeval knows 15 checkers a side that move against each other; rules {rules.name!r} have"
                f" {rules.checkers} on a {rules.board} board; use 'random', 'pips' or 'heuristic'"
            )
        self.name = "pubeval"
        self.rules = rules

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`; scores, not points."""
        # Inputs are thirtieths and weights have five decimals: as whole numbers the sums are exact in any order.
        whole_weights = np.rint(np.stack(pubeval_weights(), axis=1) * 1e5)
        both = np.rint(pubeval_inputs(after.boards) * 30.0).astype(np.float64) @ whole_weights / 3e6
        race_before = np.repeat(is_race(boards, CONTRARY), after.counts())
        scores = np.where(race_before, both[:, 1], both[:, 0])
        done = after.boards[:, 1, OFF] == self.rules.checkers
        return np.where(done, PUBEVAL_FINISHED, scores).astype(np.float32)


def pubeval_inputs(boards: Boards) -> NDArray[np.float32]:
    """Pubeval's 122 inputs for the side that has just played, row 1, `float32[M, 122]`.

    Five for each own point from 24 to 1: an enemy blot there, one own checker, two or more, three, and half of
    those beyond three. Then the enemy's checkers on the bar, halved, and the own ones off, in fifteenths.
    """
    mine = boards[:, 1, HEAD:OFF:-1]
    his = boards[:, 0, 1:BAR]
    inputs = np.empty((len(boards), PUBEVAL_INPUTS), dtype=np.float32)
    points = inputs[:, :120].reshape(-1, 24, 5)
    points[:, :, 0] = his == 1
    points[:, :, 1] = mine == 1
    points[:, :, 2] = mine >= 2
    points[:, :, 3] = mine == 3
    points[:, :, 4] = np.maximum(mine - 3, 0) / 2
    inputs[:, 120] = boards[:, 0, BAR] / 2
    inputs[:, 121] = boards[:, 1, OFF] / 15
    return inputs


@cache
def pubeval_weights() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The contact and the race weights, `float64[122]` each; where they come from is told in `pubeval.json`."""
    table = json.loads(files("nardy_ai.evaluators").joinpath("pubeval.json").read_text(encoding="utf-8"))
    return np.array(table["contact"], dtype=np.float64), np.array(table["race"], dtype=np.float64)

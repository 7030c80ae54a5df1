"""Self-play for learning: windows of plies over many games, with everything that targets are made from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards
from nardy_ai.dice import hash_at
from nardy_ai.evaluators.network import Network
from nardy_ai.movegen.generate import best_of_segments
from nardy_ai.play.lockstep import Lanes, advance, legal

_CHOICE_STREAM = 0x5EED
"""Added to the seed where chance chooses plays, so that plays and dice are independent."""


@dataclass(frozen=True)
class Window:
    """T plies of B lanes.

    boards: `int8[T, B, 2, 26]` before the roll. next_outcomes: `float32[T, B, K]` of the afterstates that were played,
    for the side that rolls next; the certain outcome where the game ended. ended: `bool[T, B]`. random: `bool[T, B]`,
    where chance chose the play. evaluations: how many afterstates were judged.
    """

    boards: Boards
    next_outcomes: NDArray[np.float32]
    ended: NDArray[np.bool_]
    random: NDArray[np.bool_]
    evaluations: int


def play_window(
    network: Network, lanes: Lanes, *, plies: int, seed: int, opening: str, wild_share: float, wild_plies: int
) -> tuple[Lanes, Window]:
    """Play `plies` plies in every lane, the best play by `network` each.

    wild_share: the share of games whose first 1 to `wild_plies` plies are chosen by chance, so that positions which
    good play does not reach are seen too.
    """
    rules = network.rules
    size = len(lanes.games)
    boards = np.empty((plies, *lanes.boards.shape), dtype=np.int8)
    next_outcomes = np.empty((plies, size, oc.class_count(rules)), dtype=np.float32)
    ended = np.empty((plies, size), dtype=bool)
    random = np.zeros((plies, size), dtype=bool)
    evaluations = 0
    for t in range(plies):
        after = legal(lanes, rules, seed, opening)
        outcomes, values = network.evaluate_plays(lanes.boards, after)
        chosen = best_of_segments(-values, after.offsets)
        if wild_share:
            random[t] = lanes.plies < wild_until(seed, lanes.games, share=wild_share, most=wild_plies)
            if random[t].any():
                choice = hash_at(seed + _CHOICE_STREAM, lanes.games, lanes.plies + 1)
                drawn = after.offsets[:-1] + (choice % after.counts().astype(np.uint64)).astype(np.int64)
                chosen = np.where(random[t], drawn, chosen)
        boards[t] = lanes.boards
        next_outcomes[t] = outcomes[chosen]
        evaluations += len(after.boards)
        lanes, ended[t] = advance(lanes, after.boards[chosen], rules)
    return lanes, Window(boards, next_outcomes, ended, random, evaluations)


def wild_until(seed: int, games: NDArray[np.int64], *, share: float, most: int) -> NDArray[np.int64]:
    """How many plies of each game chance chooses, `int64[B]`: 1 to `most` in a `share` of the games, else 0."""
    bits = hash_at(seed + _CHOICE_STREAM, games, 0)
    wild = (bits >> np.uint64(40)).astype(np.float64) < share * 2.0**24
    return np.where(wild, 1 + (bits % np.uint64(max(most, 1))).astype(np.int64), 0)

"""Games side by side: the state of many running games, and how one ply takes all of them on.

The dice are a pure function of (seed, game, ply), so a game is the same whatever else is played beside it.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import OFF, Boards
from nardy_ai.dice import dice_at, opening_dice_at
from nardy_ai.movegen.generate import Afterstates, expand
from nardy_ai.rules import RuleSet, start_boards


@dataclass(frozen=True)
class Lanes:
    """B running games before their next roll.

    boards: `int8[B, 2, 26]`, the side on roll first. games: `int64[B]`, which game. plies: `int64[B]`, how many rolls
    it has seen; the starter is on roll at even plies. next_game: the first game not begun.
    """

    boards: Boards
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    next_game: int


def new_lanes(rules: RuleSet, n: int, first_game: int = 0) -> Lanes:
    """`n` games at their start, numbered from `first_game`."""
    return Lanes(
        boards=start_boards(rules, n),
        games=np.arange(first_game, first_game + n, dtype=np.int64),
        plies=np.zeros(n, dtype=np.int64),
        next_game=first_game + n,
    )


def roll(seed: int, games: NDArray[np.int64], plies: NDArray[np.int64], opening: str) -> NDArray[np.uint8]:
    """The rolls of games at plies, `uint8[B, 2]`; ply 0 by the rule `opening`."""
    dice = dice_at(seed, games, plies)
    starts = plies == 0
    if starts.any():
        dice[starts] = opening_dice_at(seed, games[starts], opening)
    return dice


def legal(lanes: Lanes, rules: RuleSet, seed: int, opening: str) -> Afterstates:
    """The afterstates of every lane's next roll."""
    return expand(lanes.boards, roll(seed, lanes.games, lanes.plies, opening), rules)


def won(boards: Boards, rules: RuleSet) -> NDArray[np.bool_]:
    """Which afterstates are won by the side that has just played, `bool[N]`."""
    return boards[:, 1, OFF] == rules.checkers


def advance(lanes: Lanes, boards: Boards, rules: RuleSet) -> tuple[Lanes, NDArray[np.bool_]]:
    """The lanes after a ply that led to `boards`, and which of them ended `bool[B]`; those begin new games.

    New games are numbered in the order of the lanes.
    """
    over = won(boards, rules)
    if not over.any():
        return replace(lanes, boards=boards, plies=lanes.plies + 1), over
    n = int(over.sum())
    boards, games, plies = boards.copy(), lanes.games.copy(), lanes.plies + 1
    boards[over] = start_boards(rules, n)
    games[over] = np.arange(lanes.next_game, lanes.next_game + n)
    plies[over] = 0
    return Lanes(boards, games, plies, lanes.next_game + n), over

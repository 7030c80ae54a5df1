"""What the engines work on: the shared positions of short nardy, and positions that a bot reaches by itself."""

from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import OFF, Boards
from nardy_ai.dice import ROLLS
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.generate import best_of_segments
from nardy_ai.play.lockstep import advance, legal, new_lanes

REACHED = 2500
SNAPSHOTS = 10
"""How often the lanes are looked at, each lane giving one position; `SPACING` plies lie between."""
SPACING = 37


@dataclass(frozen=True)
class Pairs:
    """Positions with rolls: boards `int8[N, 2, 26]`, row 0 on roll, dice `uint8[N, 2]`; `about` says where from."""

    boards: Boards
    dice: NDArray[np.uint8]
    about: str

    def __len__(self) -> int:
        return len(self.boards)

    def pieces(self, size: int) -> "list[Pairs]":
        """The same in pieces of `size`; the last may be shorter."""
        return [
            Pairs(self.boards[i : i + size], self.dice[i : i + size], self.about) for i in range(0, len(self), size)
        ]

    def shuffled(self, *, seed: int) -> "Pairs":
        """The same in another order."""
        order = np.random.default_rng(seed).permutation(len(self))
        return Pairs(self.boards[order], self.dice[order], self.about)


def with_all_rolls(boards: Boards, about: str) -> Pairs:
    """Every position with each of the 21 rolls."""
    return Pairs(np.repeat(boards, len(ROLLS), axis=0), np.tile(ROLLS, (len(boards), 1)), about)


def shared_boards() -> Boards:
    """The 2,500 positions of `positions.npz`, `int8[2500, 2, 26]`, row 0 on roll; `positions.md` says what they are."""
    with as_file(files("nardy_ai.bench") / "positions.npz") as path, np.load(path) as file:
        rows = np.stack((file["me"], file["opp"]), axis=1)
    boards = np.zeros((len(rows), 2, 26), dtype=np.int8)
    boards[:, :, 1:] = rows
    boards[:, :, OFF] = 15 - rows.sum(axis=2)
    return boards


def reached_boards(bot: Bot, *, seed: int) -> Boards:
    """`REACHED` positions before the roll that `bot` reaches against itself, `int8[REACHED, 2, 26]`."""
    lanes = new_lanes(bot.rules, REACHED // SNAPSHOTS)
    kept = []
    for ply in range(1, SNAPSHOTS * SPACING + 1):
        after = legal(lanes, bot.rules, seed, "reroll")
        chosen = best_of_segments(bot.play_values(lanes.boards, after), after.offsets)
        lanes, _ = advance(lanes, after.boards[chosen], bot.rules)
        if ply % SPACING == 0:
            kept.append(lanes.boards)
    return np.concatenate(kept)

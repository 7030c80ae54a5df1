"""gnubg-nn and bgsage at the same work as this package: results of rolls, decisions, games.

Boards are put into an engine's own form outside the clock; what it answers stays the Python objects that it returns.
As opponents the engines are `evaluators.peers`'.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from nardy_ai.bench.positions import Pairs
from nardy_ai.boards import BAR, CONTRARY, FACING, OFF
from nardy_ai.errors import BotError
from nardy_ai.rules import find_rules, start_boards

Item = tuple[Any, int, int]
"""A board in an engine's own form with a roll."""


class Peer(Protocol):
    """An engine that does the work one position at a time."""

    name: str

    def items(self, pairs: Pairs) -> list[Item]:
        """The pairs in its own form."""
        ...

    def count(self, item: Item) -> int:
        """How many distinct results a roll has; 0 for a pass."""
        ...

    def generate(self, items: Sequence[Item]) -> int:
        """Make all results; how many it listed, a pass as one or none, as is its way."""
        ...

    def decide(self, items: Sequence[Item]) -> int:
        """Choose a play in each; how many."""
        ...


class GnubgNn:
    """gnubg-nn: GNU Backgammon's nets, 0-ply."""

    name = "gnubg-nn"

    def __init__(self) -> None:
        self._engine = import_module("gnubg_nn")
        self._start = start_boards(find_rules("short"))[0, :, OFF + 1 :].tolist()

    def items(self, pairs: Pairs) -> list[Item]:
        """It lists the side on roll second, each side's ace point first, its bar last."""
        boards = pairs.boards[:, ::-1, OFF + 1 :].tolist()
        return [(board, *roll) for board, roll in zip(boards, pairs.dice.tolist(), strict=True)]

    def count(self, item: Item) -> int:
        """Distinct keys. A pass it lists as the unmoved board or not at all."""
        keys = self._engine.moves(*item)
        if len(keys) == 1 and [list(side) for side in self._engine.board_from_position_key(keys[0])] == item[0]:
            return 0
        return len(set(keys))

    def generate(self, items: Sequence[Item]) -> int:
        """Its keys of all results."""
        moves = self._engine.moves
        return sum(len(moves(*item)) for item in items)

    def decide(self, items: Sequence[Item]) -> int:
        """Its best move at 0-ply."""
        best = self._engine.best_move
        for item in items:
            best(*item, 0)
        return len(items)

    def decide_ahead(self, items: Sequence[Item], plies: int) -> int:
        """Its best move `plies` ahead, by its own move filter; how many."""
        best = self._engine.best_move
        for item in items:
            best(*item, plies)
        return len(items)

    def play_games(self, n: int, *, seed: int) -> int:
        """Play `n` cubeless games against itself by its best move at 0-ply; returns `n`."""
        best, rng = self._engine.best_move, random.Random(seed)
        for _ in range(n):
            mine, his = list(self._start[0]), list(self._start[1])
            while True:
                for source, target in best([his, mine], rng.randint(1, 6), rng.randint(1, 6), 0):
                    mine[source - 1] -= 1
                    if target > 0:
                        mine[target - 1] += 1
                        if his[24 - target]:
                            his[24 - target] = 0
                            his[24] += 1
                if not any(mine):
                    break
                mine, his = his, mine
        return n


class BgSage:
    """bgsage: Sage's nets, 1-ply, which is the bare net as well."""

    name = "bgsage"

    def __init__(self) -> None:
        self._engine = import_module("bgbot_cpp")
        weights = import_module("bgsage").default_weights()
        files = (weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list)
        self._nets = self._engine.create_multipy(*files, n_plies=1)

    def items(self, pairs: Pairs) -> list[Item]:
        """It has row 0's checkers positive on its own points, and the bars, both positive, at 25 and 0."""
        boards = pairs.boards
        signed = boards[:, 0] - boards[:, 1, FACING[CONTRARY]]
        signed[:, [OFF, BAR]] = boards[:, [1, 0], BAR]
        return [(board, *roll) for board, roll in zip(signed.tolist(), pairs.dice.tolist(), strict=True)]

    def count(self, item: Item) -> int:
        """Distinct boards other than the unmoved one."""
        return sum(result != item[0] for result in self._engine.possible_moves(*item))

    def generate(self, items: Sequence[Item]) -> int:
        """Its boards of all results."""
        moves = self._engine.possible_moves
        return sum(len(moves(*item)) for item in items)

    def decide(self, items: Sequence[Item]) -> int:
        """Its boards, and the index of the best where there is a choice."""
        moves, best = self._engine.possible_moves, self._nets.best_move_index
        for item in items:
            results = moves(*item)
            if len(results) > 1:
                best(results, item[0])
        return len(items)


PEERS: Mapping[str, tuple[Callable[[], Peer], tuple[str, ...]]] = {
    "gnubg-nn": (GnubgNn, ("gnubg_nn",)),
    "bgsage": (BgSage, ("bgsage", "bgbot_cpp")),
}
"""Each peer by its package: how it is made, and the modules it needs."""


def installed_peers() -> tuple[str, ...]:
    """The peers that are installed."""
    return tuple(name for name, (_, modules) in PEERS.items() if all(map(find_spec, modules)))


def make_peers(names: Sequence[str]) -> list[Peer]:
    """The engines of these names. Raises BotError where one is not installed."""
    missing = [name for name in names if name not in installed_peers()]
    if missing:
        raise BotError(f"not installed: {', '.join(missing)}; pip install 'nardy_ai[peers]', or give --no-peers")
    return [PEERS[name][0]() for name in names]

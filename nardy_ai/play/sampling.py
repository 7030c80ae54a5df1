"""Positions to learn from: whole games by a bot, the plays it nearly made, and starts that play seldom reaches."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, FACING, HEAD, HOME, OFF, SLOTS, Boards, finished
from nardy_ai.dice import hash_at
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.movegen.generate import Afterstates, best_of_segments, expand
from nardy_ai.play.lockstep import roll, won
from nardy_ai.play.selfplay import wild_until
from nardy_ai.pruned import unpruned
from nardy_ai.rules import MatchOptions, RuleSet, start_boards
from nardy_ai.search import distinct_boards

__all__ = ["Paths", "Turn", "awkward_boards", "paths_of", "sampled_positions", "turns_of"]

MOST_PLIES = 2_000
"""Games that last longer are left where they are."""

NEAR = 0.2
"""Points by which a play may be worse than the best to count as one that was nearly made."""

_NEAR_STREAM = 0xA1E4
_START_STREAM = 0x57A2


@dataclass(frozen=True)
class Turn:
    """One ply of the games that are still played.

    games: `int64[B]`. boards: `int8[B, 2, 26]` before the roll; dice: `uint8[B, 2]`; after: what they may become, with
    `values` `float32[M]` by the bot that plays. wild, awkward: `bool[B]`, begun by chance, or from an awkward board.
    """

    ply: int
    games: NDArray[np.int64]
    boards: Boards
    dice: NDArray[np.uint8]
    after: Afterstates
    values: NDArray[np.float32]
    wild: NDArray[np.bool_]
    awkward: NDArray[np.bool_]


@dataclass(frozen=True)
class Paths:
    """N boards before a roll as whole games reach them, `int8[N, 2, 26]`, the games side by side and ply by ply.

    starts: `int64[P + 1]`, where each ply begins. following: `int64[N]`, the board to which the best play led; -1 where
    the game ended or chance chose another play. A first board may be finished.
    """

    boards: Boards
    starts: NDArray[np.int64]
    following: NDArray[np.int64]


def sampled_positions(
    bot: Bot,
    match: MatchOptions,
    games: range,
    *,
    seed: int,
    wild_share: float,
    wild_plies: int,
    awkward_share: float,
    near_share: float,
    backgame_share: float = 0.0,
) -> Boards:
    """Distinct boards before a roll, `int8[N, 2, 26]`, from these games, each played to its end by `bot`.

    near_share: of the decisions, where besides the play made one that was within `NEAR` points of it is taken in. The
    other options are those of `turns_of`. A pure function of its arguments.
    """
    found: list[Boards] = []
    for turn in turns_of(
        bot, match, games, seed=seed, wild_share=wild_share, wild_plies=wild_plies, awkward_share=awkward_share,
        backgame_share=backgame_share,
    ):  # fmt: skip
        bits = hash_at(seed + _NEAR_STREAM, turn.games, turn.ply)
        found += [turn.boards, turn.after.boards[_near_misses(turn.values, turn.after, bits, near_share)]]
    everything = np.concatenate(found)
    everything = everything[~finished(everything)]
    return everything[np.sort(distinct_boards(everything)[0])]


def paths_of(turns: Iterable[Turn]) -> Paths:
    """The games that `turns_of` plays."""
    boards: list[Boards] = []
    following: list[NDArray[np.int64]] = []
    starts = [0]
    last: tuple[NDArray[np.int64], Boards] | None = None
    for turn in turns:
        if last is not None:
            numbers, best = last
            at = np.searchsorted(numbers, turn.games)
            on_path = (best[at] == turn.boards).all(axis=(1, 2))  # chance may have chosen another play
            following[-1][at[on_path]] = starts[-1] + np.flatnonzero(on_path)
        boards.append(turn.boards)
        following.append(np.full(len(turn.games), -1))
        starts.append(starts[-1] + len(turn.games))
        last = turn.games, turn.after.boards[best_of_segments(turn.values, turn.after.offsets)]
    return Paths(np.concatenate(boards), np.array(starts), np.concatenate(following))


def turns_of(
    bot: Bot,
    match: MatchOptions,
    games: range,
    *,
    seed: int,
    wild_share: float,
    wild_plies: int,
    awkward_share: float,
    backgame_share: float = 0.0,
) -> Iterator[Turn]:
    """The plies of these games, each played to its end by `bot`.

    wild_share: of the games, begun with 1 to `wild_plies` plies chosen by chance. awkward_share: of the games, begun
    from `awkward_boards` (contrary boards only), which may be finished boards; of these `backgame_share` with a back
    game of one side at least. Every play is judged, also by a bot that prunes.
    """
    bot = unpruned(bot)
    rules = bot.rules
    numbers = np.arange(games.start, games.stop, dtype=np.int64)
    boards = start_boards(rules, len(numbers))
    awkward = np.zeros(len(numbers), dtype=bool)
    if rules.board == CONTRARY and awkward_share:
        awkward = _chance(hash_at(seed + _START_STREAM, numbers, 0)) < awkward_share
        boards[awkward] = awkward_boards(
            rules, int(awkward.sum()), seed=seed + games.start, backgame_share=backgame_share
        )
    until = wild_until(seed, numbers, share=wild_share, most=wild_plies)
    until[awkward] = 0
    for ply in range(MOST_PLIES):
        if not len(numbers):
            break
        plies = np.where(awkward, ply + 1, ply)  # an awkward start is no opening: any roll may come
        dice = roll(seed, numbers, plies, match.opening)
        after = expand(boards, dice, rules)
        values = bot.play_values(boards, after)
        yield Turn(ply, numbers, boards, dice, after, values, until > 0, awkward)
        chosen = best_of_segments(values, after.offsets)
        random = ply < until
        if random.any():
            bits = hash_at(seed + _NEAR_STREAM, numbers, ply)
            drawn = after.offsets[:-1] + (bits % after.counts().astype(np.uint64)).astype(np.int64)
            chosen = np.where(random, drawn, chosen)
        boards = after.boards[chosen]
        going = ~won(boards, rules)
        boards, numbers, until, awkward = boards[going], numbers[going], until[going], awkward[going]


def _near_misses(
    values: NDArray[np.float32], after: Afterstates, bits: NDArray[np.uint64], share: float
) -> NDArray[np.int64]:
    """In a `share` of the segments one afterstate within `NEAR` of the best that is not the best itself."""
    counts = after.counts()
    best = best_of_segments(values, after.offsets)
    near = values >= np.repeat(values[best] - np.float32(NEAR), counts)
    near[best] = False
    places = np.flatnonzero(near)
    segments = np.repeat(np.arange(len(counts)), counts)[places]
    number = np.bincount(segments, minlength=len(counts))
    wanted = (number > 0) & (_chance(bits) < share)
    first = np.concatenate(([0], np.cumsum(number)))[:-1]
    which = (bits % np.maximum(number, 1).astype(np.uint64)).astype(np.int64)
    chosen: NDArray[np.int64] = places[(first + which)[wanted]]
    return chosen


def _chance(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Bits as numbers from 0 to below 1."""
    return (bits >> np.uint64(40)).astype(np.float64) * 2.0**-24


def awkward_boards(rules: RuleSet, n: int, *, seed: int, backgame_share: float = 0.0) -> Boards:
    """Boards that good play seldom reaches, `int8[n, 2, 26]`, on a contrary board: `seed` says which.

    Each side is drawn by itself: checkers held back in his home (back games), long primes, crashed boards, several on
    the bar, a closed home with checkers off, or anything at all. A checker drawn for a point that the other side holds
    goes to the nearest free one below, or else to the bar. backgame_share: of the boards, the first ones, where the
    side drawn first has a back game, whatever else it would have.
    """
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, SLOTS), dtype=np.int8)
    facing = FACING[CONTRARY]
    backgames = round(backgame_share * n)
    for at, board in enumerate(boards):
        backgame = at < backgames
        for side in rng.permutation(2):
            held = {int(facing[p]) for p in range(1, BAR) if board[1 - side, p]}
            for wanted in _awkward_side(rules.checkers, rng, backgame=backgame):
                slot = wanted
                while slot in held:
                    slot -= 1
                board[side, slot if slot > OFF or wanted == OFF else BAR] += 1
            backgame = False
    return boards


def _awkward_side(checkers: int, rng: np.random.Generator, *, backgame: bool) -> list[int]:
    """Slots of one side's checkers, of which at least one is on the board."""
    kind = rng.integers(6)
    if backgame or kind == 0:  # a back game: two points in his home, the rest come home
        anchors = rng.choice(np.arange(18, BAR), 2, replace=False)
        some = [int(p) for p in np.repeat(anchors, rng.integers(2, 4, 2))]
        rest = rng.integers(1, 14, checkers)
    elif kind == 1:  # a prime of four to six points
        low = int(rng.integers(2, 12))
        some = [low + i for i in range(int(rng.integers(4, 7))) for _ in range(2)]
        rest = rng.integers(1, BAR, checkers)
    elif kind == 2:  # crashed: deep in the own home, some still behind
        some = [int(p) for p in rng.integers(19, BAR + 1, rng.integers(1, 4))]
        rest = rng.integers(1, 5, checkers)
    elif kind == 3:  # several on the bar
        some = [BAR] * int(rng.integers(1, 5))
        rest = rng.integers(1, BAR, checkers)
    elif kind == 4:  # a closed home, some off
        some = [p for p in range(1, HOME + 1) for _ in range(2)]
        rest = np.where(rng.random(checkers) < 0.7, OFF, rng.integers(1, HEAD + 1, checkers))
    else:
        some = []
        rest = rng.integers(1, HEAD + 1, checkers)
    return [*some, *rest.tolist()][:checkers]

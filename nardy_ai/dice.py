"""Rolls and dice: the 21 rolls with their weights, and dice as a pure function of (seed, game, ply)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.errors import NotationError

ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], dtype=np.uint8)
"""`uint8[21, 2]`: the distinct rolls, larger die first."""

ROLL_WEIGHTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36.0
"""`float64[21]`: the chance of each of `ROLLS`."""

_NUMBERS = np.zeros((7, 7), dtype=np.int64)
_NUMBERS[ROLLS[:, 0], ROLLS[:, 1]] = _NUMBERS[ROLLS[:, 1], ROLLS[:, 0]] = np.arange(len(ROLLS))

_DICE_BY_36 = np.array([(max(i, j), min(i, j)) for i in range(1, 7) for j in range(1, 7)], dtype=np.uint8)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_OTHER_PAIR = 1 << 32
"""A ply that no game reaches: throws that are needed besides the one of each ply are drawn from here on."""
_STARTER = 1 << 33
"""Where it is drawn who starts, and from the next ply on what is thrown to see that where those dice are not played."""


def roll_numbers(dice: ArrayLike) -> NDArray[np.int64]:
    """Which of `ROLLS` each throw is, `int64[N]`. dice: whole numbers `[N, 2]` from 1 to 6, in either order."""
    throws = np.asarray(dice)
    numbers: NDArray[np.int64] = _NUMBERS[throws[:, 0], throws[:, 1]]
    return numbers


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The SplitMix64 finaliser (Steele, Lea, Flood 2014): a bijection that scatters neighbouring integers."""
    z = values
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hash_at(seed: int, game: ArrayLike, ply: ArrayLike) -> NDArray[np.uint64]:
    """64 scattered bits for each (seed, game, ply), `uint64[N]`; the only source of chance in the package."""
    games = np.atleast_1d(np.asarray(game)).astype(np.uint64)
    plies = np.atleast_1d(np.asarray(ply)).astype(np.uint64)
    with np.errstate(over="ignore"):
        state = mix(np.array([seed % 2**64], dtype=np.uint64) + _GOLDEN)
        state = mix(state ^ (games * _GOLDEN + _GOLDEN))
        return mix(state ^ (plies * _GOLDEN + _GOLDEN))


def dice_at(seed: int, game: ArrayLike, ply: ArrayLike) -> NDArray[np.uint8]:
    """The rolls of the given games at the given plies, `uint8[N, 2]`, larger die first.

    All 36 ordered rolls are equally likely (to within 1e-8). The same arguments give the same dice for ever.
    """
    high_bits = hash_at(seed, game, ply) >> np.uint64(32)
    return _DICE_BY_36[(high_bits * np.uint64(36)) >> np.uint64(32)]


def opening_dice_at(seed: int, game: ArrayLike, opening: str) -> NDArray[np.uint8]:
    """The starter's first roll in each game, `uint8[N, 2]`, by the rule `MatchOptions.opening`.

    `use_dice`: one die each, ties thrown again, so never a double. `reroll`: two fresh dice.
    `two_dice_each`: the pair with the higher sum, equal sums thrown again.
    """
    games = np.atleast_1d(np.asarray(game))
    dice = dice_at(seed, games, 0)
    if opening == "reroll":
        return dice
    others = dice_at(seed, games, _OTHER_PAIR)
    throw = 0
    while (tie := _is_tie(dice, others, opening)).any():
        throw += 2
        dice[tie] = dice_at(seed, games[tie], _OTHER_PAIR + throw)
        others[tie] = dice_at(seed, games[tie], _OTHER_PAIR + throw + 1)
    if opening == "use_dice":
        return dice
    lower = dice.sum(axis=1) < others.sum(axis=1)
    return np.where(lower[:, None], others, dice)


def starters_at(seed: int, game: ArrayLike) -> NDArray[np.int64]:
    """Which side threw the higher opening dice, 0 or 1: a fair coin for each game, `int64[N]`."""
    return (hash_at(seed, game, _STARTER) >> np.uint64(63)).astype(np.int64)


def opening_ties_at(seed: int, game: ArrayLike, opening: str) -> NDArray[np.int64]:
    """How many throws of each game's opening were ties, by the rule `MatchOptions.opening`, `int64[N]`."""
    games = np.atleast_1d(np.asarray(game))
    ties = np.zeros(len(games), dtype=np.int64)
    waiting = np.arange(len(games))
    throw = 0
    while len(waiting):
        at = games[waiting]
        if opening == "reroll":
            dice = others = dice_at(seed, at, _STARTER + 1 + throw)
            rule = "use_dice"
        else:
            dice = dice_at(seed, at, _OTHER_PAIR + 2 * throw if throw else 0)
            others = dice_at(seed, at, _OTHER_PAIR + (2 * throw + 1 if throw else 0))
            rule = opening
        waiting = waiting[_is_tie(dice, others, rule)]
        ties[waiting] += 1
        throw += 1
    return ties


@dataclass(frozen=True)
class Opening:
    """How a game begins between sides 0 and 1.

    starter: who rolls first. dice: that roll, larger die first. throws: for each throw that was made to find the
    starter what side 0 and what side 1 threw, one die or two; all but the last are ties.
    """

    starter: int
    dice: tuple[int, int]
    throws: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()


def opening_at(seed: int, game: int, opening: str) -> Opening:
    """The opening of one game, by the rule `MatchOptions.opening`.

    Its dice are those of `opening_dice_at`. Who threw the higher ones is a fair coin, a function of (seed, game).
    """
    starter = int(starters_at(seed, game)[0])
    throws: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while not throws or sum(throws[-1][0]) == sum(throws[-1][1]):
        lower, higher = sorted(_opening_throw(seed, game, len(throws), opening), key=sum)
        throws.append((higher, lower) if starter == 0 else (lower, higher))
    high, low = opening_dice_at(seed, game, opening)[0]
    return Opening(starter, (int(high), int(low)), tuple(throws))


def _opening_throw(seed: int, game: int, throw: int, opening: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is thrown by one side and the other, at the plies that `opening_dice_at` looks at."""
    if opening == "reroll":
        one, other = dice_at(seed, game, _STARTER + 1 + throw)[0].tolist()
        return (one,), (other,)
    ply = _OTHER_PAIR + 2 * throw
    dice = dice_at(seed, game, ply if throw else 0)[0].tolist()
    if opening == "use_dice":
        return (dice[0],), (dice[1],)
    return tuple(dice), tuple(dice_at(seed, game, ply + 1 if throw else ply)[0].tolist())


def _is_tie(dice: NDArray[np.uint8], others: NDArray[np.uint8], opening: str) -> NDArray[np.bool_]:
    if opening == "use_dice":
        return dice[:, 0] == dice[:, 1]
    return dice.sum(axis=1) == others.sum(axis=1)


def parse_dice(text: str) -> NDArray[np.uint8]:
    """`"31"`, `"3-1"`, `"3 1"` or `"3,1"` -> `uint8[2]`, larger die first. Raises NotationError."""
    digits = [c for c in text if c not in " -,:"]
    if len(digits) != 2 or any(c not in "123456" for c in digits):
        raise NotationError(f"dice {text!r}: expected two numbers from 1 to 6, such as 31 or 6-6")
    low, high = sorted(int(c) for c in digits)
    return np.array([high, low], dtype=np.uint8)


def checked_dice(dice: ArrayLike, n: int) -> NDArray[np.uint8]:
    """`dice` as a contiguous `uint8[n, 2]`, larger first; one roll is used for all n. Raises NotationError."""
    array = np.asarray(dice)
    if array.shape == (2,):
        array = np.broadcast_to(array, (n, 2))
    if array.shape != (n, 2):
        raise NotationError(f"dice have shape {np.asarray(dice).shape}; expected ({n}, 2), one roll a board")
    if not np.issubdtype(array.dtype, np.integer) or (n and (array.min() < 1 or array.max() > 6)):
        raise NotationError("dice must be integers from 1 to 6")
    return np.ascontiguousarray(-np.sort(-array.astype(np.int64), axis=1), dtype=np.uint8)

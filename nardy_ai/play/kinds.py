"""What kind of position a decision is about: a word for each board, by which a bot's losses are told apart.

Told by the checkers alone, before the roll, from the side that plays. The first kind that fits counts.
"""

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, FACING, HEAD, HOME, OFF, Boards, highest_slots, is_race
from nardy_ai.errors import ConfigError
from nardy_ai.rules import RuleSet

__all__ = ["KINDS", "kinds_of", "named_kinds"]

KINDS = {
    "bearoff": "no contact, the player's checkers all at home",
    "race": "no contact",
    "bearing-off": "contact, and the player bears off or has all checkers at home",
    "containing": "contact, and the other side bears off or has all checkers at home",
    "backgame": "the player holds two points or more of the other side's home",
    "against-backgame": "the other side holds two points or more of the player's home",
    "crashed": "contact, and two fifths of the player's checkers on his last three points",
    "priming": "the player has four points in a row before a checker of the other side",
    "primed": "the other side has four in a row before a checker of the player",
    "mutual": "both sides have checkers in the other's home or on the bar",
    "escaping": "only the player has",
    "holding": "only the other side has",
    "passing": "contact outside the homes only",
    "opening": "boards where both move the same way: more than half of the player's checkers on his head",
    "middle": "such boards: any other contact",
}
"""Each kind with what it means, in the order in which they are tried."""

_PRIME = 4
_DEEP = 3
_BEHIND = 19
"""On a contrary board the first point of the other side's home."""


def named_kinds(text: str) -> tuple[str, ...]:
    """The kinds that `text` names, parted by commas; none if it is empty. Raises ConfigError."""
    named = tuple(text.split(",")) if text else ()
    if not set(named) <= set(KINDS):
        raise ConfigError(f"kinds of position {text!r}; expected some of {', '.join(KINDS)}, parted by commas")
    return named


def kinds_of(boards: Boards, rules: RuleSet) -> tuple[str, ...]:
    """A word of `KINDS` for each board, `int8[N, 2, 26]`, row 0 the side that plays."""
    contrary = np.full(len(boards), rules.board == CONTRARY)
    race = is_race(boards, rules.board)
    highest = highest_slots(boards)
    mine_home, his_home = ((highest[:, side] <= HOME) | (boards[:, side, OFF] > 0) for side in (0, 1))
    mine_held, his_held = ((boards[:, side, _BEHIND:BAR] >= rules.closed_by).sum(axis=1) >= 2 for side in (0, 1))
    crashed = boards[:, 0, 1 : _DEEP + 1].sum(axis=1) * 5 >= rules.checkers * 2
    mine_back, his_back = (highest[:, side] >= _BEHIND for side in (0, 1))
    tests = {
        "bearoff": race & (highest[:, 0] <= HOME),
        "race": race,
        "bearing-off": mine_home,
        "containing": his_home,
        "backgame": contrary & mine_held,
        "against-backgame": contrary & his_held,
        "crashed": contrary & crashed,
        "priming": _primes(boards, 0, rules),
        "primed": _primes(boards, 1, rules),
        "mutual": contrary & mine_back & his_back,
        "escaping": contrary & mine_back,
        "holding": contrary & his_back,
        "passing": contrary,
        "opening": boards[:, 0, HEAD] * 2 > rules.checkers,
    }
    words = np.select(list(tests.values()), list(tests), "middle")
    return tuple(str(word) for word in words)


def _primes(boards: Boards, side: int, rules: RuleSet) -> NDArray[np.bool_]:
    """Whether a side has `_PRIME` points in a row that a checker of the other has yet to pass, `bool[N]`."""
    closed = boards[:, side] >= rules.closed_by
    rearmost = highest_slots(boards)[:, 1 - side]
    found = np.zeros(len(boards), dtype=np.bool_)
    for low in range(1, HEAD - _PRIME + 2):
        points = slice(low, low + _PRIME)
        found |= closed[:, points].all(axis=1) & (rearmost > FACING[rules.board][points].max())
    return found

"""The text of a play: `8/5 6/5`, `bar/22*/16`, `6/off(2)`, `pass`. Points are the playing side's own.

Owns the `Move` and both ways between moves and text, in the form GNU Backgammon prints: a checker's moves are
joined, points passed on the way are named only where a blot is hit, equal moves are counted, the rearmost checker
comes first. Which moves are legal is `movegen`'s business.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from nardy_ai.boards import BAR, OFF
from nardy_ai.errors import NotationError

PASS = "pass"
MAX_MOVES = 4

_PASS_WORDS = frozenset({PASS, "no play", "no move", "cannot move"})
_SLOT = r"(?:bar|off|[0-9]{1,2})"
_HOP = re.compile(rf"[/-]({_SLOT})(\*?)")
_WORD = re.compile(rf"({_SLOT})((?:[/-]{_SLOT}\*?)+)(?:\(([0-9])\))?")


class Move(NamedTuple):
    """One checker moved, in the playing side's own numbering: 25 is the bar, 0 is off."""

    source: int
    target: int
    hit: bool = False


def format_play(moves: Iterable[Move]) -> str:
    """The text of a play, such as `24/22 13/11*`; `pass` for no moves. The order of the moves does not matter.

    Where another checker comes to a hit point and one goes on, the checker that hit is the one that stays, as the ban
    on hiding wants it.
    """
    left = sorted(moves, key=lambda move: (-move.source, -move.target))
    hits = {move.target for move in left if move.hit}
    stays: set[int] = set()
    chains: list[tuple[int, ...]] = []
    while left:
        chain = [*left.pop(0)[:2]]
        while follower := next((move for move in left if move.source == chain[-1]), None):
            here = chain[-1]
            if here in hits - stays:
                others = sum(move.target == here for move in left)
                if sum(move.source == here for move in left) <= others:
                    break
            left.remove(follower)
            chain[-1:] = [here, follower.target] if here in hits - stays else [follower.target]
        stays |= hits & {chain[-1]}
        chains.append(tuple(chain))
    words = []
    for path, times in sorted(Counter(chains).items(), reverse=True):
        word = _slot_text(path[0])
        for slot in path[1:]:
            word += f"/{_slot_text(slot)}{'*' if slot in hits else ''}"
            hits.discard(slot)
        words.append(f"{word}({times})" if times > 1 else word)
    return " ".join(words) or PASS


def parse_play(text: str) -> tuple[Move, ...]:
    """The moves a text names, the rearmost first; none for a pass. Raises NotationError.

    Accepts `/` and `-`, blanks and commas, any order, any letter case, with or without `*`. A move is taken as written:
    `24/18` may stand for two dice, and a hit that the text does not mark is not marked. Only the board can tell.
    """
    folded = " ".join(text.casefold().split())
    if folded in _PASS_WORDS:
        return ()
    joined = re.sub(r" ?([/-]) ?", r"\1", re.sub(r" \(", "(", folded))
    moves: list[Move] = []
    for word in re.split(r"[ ,;]+", joined.strip(" ,;")):
        moves += _moves_of(word, text)
    if len(moves) > MAX_MOVES:
        raise NotationError(f"play {text!r}: {len(moves)} moves; a turn has at most {MAX_MOVES}")
    return ordered_moves(moves)


def ordered_moves(moves: Iterable[Move]) -> tuple[Move, ...]:
    """The moves as `parse_play` gives them: the rearmost first, a hit marked at the first that lands on its point."""
    moves = list(moves)
    hits = {move.target for move in moves if move.hit}
    ordered = []
    for move in sorted(moves, key=lambda move: (-move.source, -move.target)):
        ordered.append(move._replace(hit=move.target in hits))
        hits.discard(move.target)
    return tuple(ordered)


def _moves_of(word: str, text: str) -> list[Move]:
    found = _WORD.fullmatch(word)
    if not found:
        raise NotationError(f"play {text!r}: {word!r} is no move; expected one such as 8/5, bar/22* or 6/off(2)")
    first, hops, count = found.groups()
    moves = []
    source = _slot(first)
    for name, star in _HOP.findall(hops):
        target = _slot(name)
        if source > BAR or target >= source:
            raise NotationError(f"play {text!r}: {word!r} does not move down from bar or 24..1 towards off")
        if target == OFF and star:
            raise NotationError(f"play {text!r}: {word!r} hits a checker off the board")
        moves.append(Move(source, target, bool(star)))
        source = target
    times = int(count) if count else 1
    if times == 0:
        raise NotationError(f"play {text!r}: {word!r} is played no times")
    return moves * times


def _slot(name: str) -> int:
    return {"bar": BAR, "off": OFF}[name] if name in ("bar", "off") else int(name)


def _slot_text(slot: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(slot, str(slot))

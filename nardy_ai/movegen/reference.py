"""The slow, obvious twin of the compiled move kernel: every order of dice and checkers, one checker at a time.

It owns the rules in their readable form and the names of plays: each result comes with the moves that make it.
Speed is the kernel's business, what is written on the page `notation`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_ai.boards import BAR, FACING, HEAD, HOME, OFF, SLOTS, Boards, checked_boards, finished, swap_sides
from nardy_ai.dice import checked_dice
from nardy_ai.errors import BoardError, NotationError
from nardy_ai.notation.plays import Move, format_play
from nardy_ai.rules import RuleSet

__all__ = ["Play", "nearest_plays", "play_among", "play_named", "plays"]

BLOCK = 6
NEAREST_SHOWN = 3

_EXCEPTION_DOUBLES = {"66": (6,), "44_66": (4, 6), "33_44_66": (3, 4, 6), "any_double": (1, 2, 3, 4, 5, 6)}


@dataclass(frozen=True, eq=False)
class Play:
    """One distinct result of a roll, with moves that lead to it.

    moves: in an order in which they are legal; empty for a pass.
    board: `int8[2, 26]` after the play, the side that played still row 0.
    afterstate: the same board swapped: row 0 rolls next.
    """

    moves: tuple[Move, ...]
    board: Boards
    afterstate: Boards


class _Checker(NamedTuple):
    """One own checker. has_hit: it hit this turn where the hide rule holds; hides: it then landed on its own."""

    slot: int
    has_hit: bool = False
    hides: bool = False


class _Turn(NamedTuple):
    """Where a turn stands: both sides' checkers, the dice left, the checkers that have left the head."""

    own: tuple[_Checker, ...]
    his: tuple[int, ...]
    dice: tuple[int, ...]
    heads_used: int = 0


def plays(board: ArrayLike, dice: ArrayLike, rules: RuleSet) -> list[Play]:
    """Every distinct result of a roll, in a fixed order; never empty: a pass is one play without moves.

    board: `int8[2, 26]`, row 0 on roll, not finished. dice: two numbers in any order.
    Raises BoardError, NotationError.
    """
    row, his = (tuple(int(count) for count in side) for side in _single_board(board, rules))
    high, low = (int(die) for die in checked_dice(dice, 1)[0])
    own = tuple(_Checker(slot) for slot in range(BAR, -1, -1) for _ in range(row[slot]))
    turn = _Turn(own, his, (high,) * 4 if high == low else (high, low))

    best: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[Move, ...]] = {}
    for end, moves in _longest(turn, _head_allowance(turn, rules), rules).items():
        result = (_counts(end.own), end.his)
        if result not in best or _reading_order(moves) < _reading_order(best[result]):
            best[result] = moves
    ordered = sorted(best.items(), key=lambda item: _reading_order(item[1]))
    return [_play(moves, result) for result, moves in ordered]


def play_named(board: ArrayLike, dice: ArrayLike, moves: Sequence[Move], rules: RuleSet) -> Play:
    """The legal play that `moves` describe.

    moves: as read from text. One may stand for several dice (13/7 on a 5-1), their order does not matter, nor do
    the marks of hits: a landing on a blot hits it (13/10/7), and where none is named none is hit if possible.
    Raises BoardError; NotationError, which names the legal plays nearest to the moves.
    """
    return play_among(plays(board, dice, rules), board, dice, moves, rules)


def play_among(legal: Sequence[Play], board: ArrayLike, dice: ArrayLike, moves: Sequence[Move], rules: RuleSet) -> Play:
    """`play_named` where the legal plays are at hand."""
    before = _single_board(board, rules)
    wanted = _wanted(before, moves)
    found = [play for play in legal if (play.board[0] == wanted).all()]
    if len(found) > 1:
        found = _told_apart_by_hits(found, before, moves, rules)
    if len(found) == 1:
        return found[0]
    given = format_play(tuple(moves))
    roll = "{}-{}".format(*checked_dice(dice, 1)[0])
    if found:
        raise NotationError(f"play {given!r} for {roll} can mean {_listed(found)}; name the landings on the way")
    nearest = nearest_plays(legal, before, moves)[:NEAREST_SHOWN]
    count = f"of {len(legal)} legal plays the nearest are" if len(legal) > NEAREST_SHOWN else "legal:"
    raise NotationError(f"play {given!r} is not legal for {roll}; {count} {_listed(nearest)}")


def nearest_plays(legal: Sequence[Play], board: Boards, moves: Sequence[Move]) -> list[Play]:
    """The legal plays by how many checkers they leave elsewhere than `moves` would, the nearest first.

    board: `int8[2, 26]` before the play.
    """
    wanted = _wanted(board, moves)
    return sorted(legal, key=lambda play: int(np.abs(play.board[0] - wanted).sum()))


def _wanted(board: Boards, moves: Sequence[Move]) -> NDArray[np.int64]:
    """The mover's counts after `moves`, `int64[26]`, whether they can be made or not."""
    wanted = board[0].astype(np.int64)
    for move in moves:
        wanted[move.source] -= 1
        wanted[move.target] += 1
    return wanted


def _longest(turn: _Turn, head_allowance: int, rules: RuleSet) -> dict[_Turn, tuple[Move, ...]]:
    """The ways a turn may end that play the most dice, and the larger die if that is one of two."""
    longest: dict[_Turn, tuple[Move, ...]] = {turn: ()}
    reached = longest
    while reached:
        following: dict[_Turn, tuple[Move, ...]] = {}
        for before, moves in reached.items():
            for move, after in _steps(before, head_allowance, rules):
                longer = (*moves, move)
                if after not in following or _reading_order(longer) < _reading_order(following[after]):
                    following[after] = longer
        allowed = {end: moves for end, moves in following.items() if _may_end(end, rules)}
        longest = allowed or longest
        reached = following
    if all(len(moves) == 1 for moves in longest.values()):
        high, low = turn.dice[0], turn.dice[-1]
        with_larger = {end: moves for end, moves in longest.items() if end.dice == turn.dice[1:]}
        if high != low and with_larger:
            return with_larger
    return longest


def _steps(turn: _Turn, head_allowance: int, rules: RuleSet) -> list[tuple[Move, _Turn]]:
    """Every single move of every checker by every die that is left. None once all checkers are off."""
    steps = []
    on_bar = any(checker.slot == BAR for checker in turn.own)
    for die in sorted(set(turn.dice), reverse=True):
        for checker in dict.fromkeys(turn.own):
            if checker.slot == OFF or (on_bar and checker.slot != BAR):
                continue
            if checker.slot == HEAD and turn.heads_used >= head_allowance:
                continue
            if checker.has_hit and rules.hit_hide == "no_run":
                continue
            step = _step(turn, checker, die, rules)
            if step is not None:
                steps.append(step)
    return steps


def _step(turn: _Turn, checker: _Checker, die: int, rules: RuleSet) -> tuple[Move, _Turn] | None:
    """One checker moved by one die, or None if it does not go."""
    target = checker.slot - die
    if target <= OFF:
        highest = max(other.slot for other in turn.own)
        if highest > HOME or (target < OFF and highest > checker.slot):
            return None
        target = OFF
    facing = int(FACING[rules.board][target])
    enemies = turn.his[facing] if target > OFF else 0
    if enemies >= rules.closed_by:
        return None
    hits = enemies > 0
    onto_own = target > OFF and any(other.slot == target for other in turn.own)
    if checker.has_hit and onto_own and (rules.hit_hide, rules.hit_hide_check) == ("no_hide", "step"):
        return None

    his = list(turn.his)
    if hits:
        his[facing] -= 1
        his[BAR] += 1
    where_banned = rules.hit_hide != "allowed" and (rules.hit_hide_scope == "board" or target <= HOME)
    has_hit = target > OFF and (checker.has_hit or (hits and where_banned))
    own = list(turn.own)
    own.remove(checker)
    own.append(_Checker(target, has_hit, hides=checker.has_hit and onto_own))
    dice = list(turn.dice)
    dice.remove(die)
    after = _Turn(
        tuple(sorted(own, reverse=True)),
        tuple(his),
        tuple(dice),
        turn.heads_used + (checker.slot == HEAD),
    )
    if rules.six_block_check == "step" and _has_forbidden_block(after, rules):
        return None
    return Move(checker.slot, target, hits), after


def _may_end(turn: _Turn, rules: RuleSet) -> bool:
    """The checks of the board a turn ends with: a hidden checker under the `final` hide rule, the block."""
    if rules.hit_hide_check == "final":
        slots = [checker.slot for checker in turn.own]
        if any(checker.hides and slots.count(checker.slot) > 1 for checker in turn.own):
            return False
    return not _has_forbidden_block(turn, rules)


def _has_forbidden_block(turn: _Turn, rules: RuleSet) -> bool:
    """Whether six own points in a row on his path stand where the rules forbid it."""
    if rules.six_block == "free":
        return False
    slots = {checker.slot for checker in turn.own}
    facing = FACING[rules.board]
    on_his_path = [point > OFF and int(facing[point]) in slots for point in range(HEAD + 1)]
    for lowest in range(1, HEAD - BLOCK + 2):
        if not all(on_his_path[lowest : lowest + BLOCK]):
            continue
        past = {"ahead": turn.his[OFF:lowest], "home": turn.his[OFF : HOME + 1], "never": ()}[rules.six_block]
        if sum(past) == 0:
            return True
    return False


def _head_allowance(turn: _Turn, rules: RuleSet) -> int:
    """How many checkers may leave the head this turn."""
    if rules.head_limit is None:
        return len(turn.own)
    if any(checker.slot != HEAD for checker in turn.own):
        return rules.head_limit
    is_double = turn.dice[0] == turn.dice[-1]
    if rules.head_exception in ("if_blocked", "if_blocked_double"):
        named = is_double or rules.head_exception == "if_blocked"
        dice_used = max(len(moves) for moves in _longest(turn, rules.head_limit, rules).values())
        applies = named and dice_used < len(turn.dice)
    else:
        applies = is_double and turn.dice[0] in _EXCEPTION_DOUBLES.get(rules.head_exception, ())
    return rules.head_limit + applies


def _reading_order(moves: tuple[Move, ...]) -> list[tuple[int, int]]:
    """What is written first: the rear checkers, and of one checker's ways the one with the longer first step."""
    return [(-move.source, move.target) for move in moves]


def _counts(own: tuple[_Checker, ...]) -> tuple[int, ...]:
    slots = [checker.slot for checker in own]
    return tuple(slots.count(slot) for slot in range(SLOTS))


def _play(moves: tuple[Move, ...], rows: tuple[tuple[int, ...], tuple[int, ...]]) -> Play:
    board = np.array(rows, dtype=np.int8)
    return Play(moves, board, swap_sides(board))


def _single_board(board: ArrayLike, rules: RuleSet) -> Boards:
    """`board` as `int8[2, 26]`. Raises BoardError if it is none or finished."""
    array = checked_boards(board, rules.checkers)
    if len(array) != 1:
        raise BoardError(f"{len(array)} boards are given; expected one board, [2, {SLOTS}]")
    if finished(array)[0]:
        raise BoardError("the game is over: a side has all its checkers off, so there is nothing to play")
    single: Boards = array[0]
    return single


def _told_apart_by_hits(found: list[Play], board: Boards, moves: Sequence[Move], rules: RuleSet) -> list[Play]:
    """Of plays that differ only in what they hit, those that hit on just the landings that `moves` name."""
    named = {move.target for move in moves if board[1, FACING[rules.board][move.target]] == 1} - {OFF}
    return [play for play in found if {move.target for move in play.moves if move.hit} == named] or found


def _listed(several: Sequence[Play]) -> str:
    return ", ".join(repr(format_play(play.moves)) for play in several)

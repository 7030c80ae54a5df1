"""A board as text for a terminal. The side on roll is X, sits at the bottom and moves home to the bottom right.

Both geometries have the same picture: points are the numbers of the side on roll, 13..24 above, 12..1 below. Where both
sides move the same way round, arrows at the edges say which, and where each comes from and goes to.
"""

from collections.abc import Sequence

from nardy_ai.boards import BAR, FACING, OFF, PARALLEL, Boards, finished, pip_counts, swap_sides
from nardy_ai.language import tr, tr_count
from nardy_ai.notation.position import Position, check_position
from nardy_ai.rules import RuleSet

_TALLEST = 5
_MARKS = ("X", "O")
_UPPER = (range(13, 19), range(19, 25))
_LOWER = (range(12, 6, -1), range(6, 0, -1))
_CELL = 3


def draw_board(
    position_or_board: Position | Boards,
    rules: RuleSet,
    *,
    names: tuple[str, str] = ("", ""),
    cube: bool = True,
    bottom: int = 0,
) -> str:
    """A drawn board, 13 lines without a last newline. Raises BoardError.

    position_or_board: a `Position`, or a board `int8[2, 26]` with row 0 on roll. names: of row 0's side and of the
    other. cube: whether to say where the cube is. bottom: the side that is X, sits at the bottom and numbers the
    points; 0 is the side on roll. A stack of more than five shows its height. The bar is drawn where checkers can be
    hit, each side's in its own half.
    """
    position = position_or_board if isinstance(position_or_board, Position) else Position(position_or_board)
    check_position(position.board, rules)
    board = swap_sides(position.board) if bottom else position.board
    upper = [_line(board, rules, _UPPER, 1, depth) for depth in range(_TALLEST)]
    lower = [_line(board, rules, _LOWER, 0, depth) for depth in reversed(range(_TALLEST))]
    blank = " " * (_CELL * 6)
    middle = f"|{blank}|BAR|{blank}|" if rules.closed_by > 1 else f"|{blank}|{blank}|"
    marks = _MARKS[::-1] if bottom else _MARKS
    labels = [f"{mark} {name}".strip() for mark, name in zip(marks, names, strict=True)]
    below, above = (side_notes(position, side, labels[side]) for side in (bottom, 1 - bottom))
    leftwards, rightwards = _ways_round(rules)
    notes = [leftwards, *above, *[""] * (_TALLEST - len(above)), cube_note(position, labels) if cube else ""]
    notes += [*[""] * (_TALLEST - len(below)), *below, rightwards]
    lines = [_edge(_UPPER, rules), *upper, middle, *lower, _edge(_LOWER, rules)]
    return "\n".join(f"{line}  {note}".rstrip() for line, note in zip(lines, notes, strict=True))


def _ways_round(rules: RuleSet) -> tuple[str, str]:
    """What stands beside the upper and the lower edge: which way sides go there that move the same way round."""
    if rules.board != PARALLEL:
        return "", ""
    x, o = _MARKS
    return (
        "<-- " + tr("{from_head} from its head 24, {to_home} home to 18-13", from_head=x, to_home=o),
        "--> " + tr("{from_head} from its head 12, {to_home} home to 6-1", from_head=o, to_home=x),
    )


def _edge(quarters: tuple[range, range], rules: RuleSet) -> str:
    """The frame with the numbers of the points."""
    numbers = ["-".join(f"{point:->2}" for point in quarter) for quarter in quarters]
    bar = "---+" if rules.closed_by > 1 else ""
    return f"+{numbers[0]}-+{bar}{numbers[1]}-+"


def _line(board: Boards, rules: RuleSet, quarters: tuple[range, range], bar_side: int, depth: int) -> str:
    """One line of a half: the checkers at this depth, counted from the edge."""
    facing = FACING[rules.board]
    halves = []
    for quarter in quarters:
        cells = []
        for point in quarter:
            counts = (int(board[0, point]), int(board[1, facing[point]]))
            side = 0 if counts[0] else 1
            cells.append(_cell(counts[side], _MARKS[side], depth, empty="."))
        halves.append("".join(cells))
    if rules.closed_by == 1:
        return f"|{halves[0]}|{halves[1]}|"
    return f"|{halves[0]}|{_cell(int(board[bar_side, BAR]), _MARKS[bar_side], depth, empty=' ')}|{halves[1]}|"


def _cell(count: int, mark: str, depth: int, *, empty: str) -> str:
    """What three columns show of a stack; the number stands in place of the innermost checker."""
    if count > _TALLEST and depth == _TALLEST - 1:
        return f"{count:>2} "
    if depth < count:
        return f" {mark} "
    return f" {empty if depth == 0 else ' '} "


def side_notes(position: Position, side: int, label: str) -> list[str]:
    """What stands beside a side's half, at most five lines."""
    notes = [label, tr_count("{n} pips", "{n} pips", int(pip_counts(position.board)[side]))]
    off = int(position.board[side, OFF])
    if off:
        notes.append(tr("{n} off", n=off))
    score = position.scores[side]
    if position.match_length:
        notes.append(tr("{score} of {length} points", score=score, length=position.match_length))
    elif any(position.scores):
        notes.append(tr_count("{n} points", "{n} points", score))
    if position.playing and side == position.to_act and not finished(position.board):
        waits = position.double_offered or position.resign_offered
        roll = tr("to play {dice}", dice="{}-{}".format(*position.dice)) if position.dice else tr("on roll")
        notes.append(tr("to answer") if waits else roll)
    return notes


def cube_note(position: Position, labels: Sequence[str]) -> str:
    """What there is to say of the cube: its value, who holds it, and the offer that waits for an answer."""
    if position.crawford:
        return tr("Crawford game: no cube")
    stake, owner = position.cube_value, position.cube_owner
    if owner is None:
        words = [tr("cube {stake}, centred", stake=stake)]
    else:
        words = [tr("cube {stake}, held by {who}", stake=stake, who=labels[owner])]
    offers = {
        "double": tr("{who} doubles", who=labels[0]),
        "beaver": tr("{who} beavers", who=labels[1]),
        "raccoon": tr("{who} raccoons", who=labels[0]),
    }
    if position.offer != "none":
        words.append(offers[position.offer])
    loss = ("", tr("a single game"), tr("mars"), tr("koks"))[position.resign_offered]
    if loss:
        words.append(tr("{who} offers to lose {loss}", who=labels[1 - position.to_act], loss=loss))
    return ", ".join(words)

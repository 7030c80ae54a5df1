"""A board as SVG: the picture of a `Position`, with the arrows of a play. Where things lie is `layout`'s business.

The same input gives the same text, to the byte. Colours follow the reader's dark or light setting; the sides differ
by a ring and an outline too. The picture says itself in words, in its `title` and `desc`.
"""

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from nardy_ai.boards import BAR, OFF, Boards
from nardy_ai.errors import NotationError
from nardy_ai.language import marked, tr
from nardy_ai.notation import Move, Position, check_position, format_play
from nardy_ai.notation.draw import cube_note, side_notes
from nardy_ai.pictures.layout import (
    BOARD_SLOTS,
    PITCH,
    POINT_HEIGHT,
    RADIUS,
    SIDES,
    TALLEST,
    TRAY_PITCH,
    TRAY_WIDTH,
    WIDTH,
    Layout,
)
from nardy_ai.pictures.words import board_title, board_words
from nardy_ai.rules import RuleSet

FILLS = ("light", "dark")
"""How the two players' checkers are drawn: plain, and with a ring. Player 1 of a `Position` has the light ones."""

FILL_NAMES = {"light": marked("Light"), "dark": marked("Dark")}
"""What a player without a name is called."""

CENTRED_CUBE = 64
"""What a cube shows that nobody has turned."""

BOARD_STYLE = """\
.nb{font-family:system-ui,"DejaVu Sans",sans-serif;font-size:13px}
.nb-page{fill:#fbfaf7}
.nb-rim{fill:#6b4a2f}
.nb-field{fill:#eadfc8}
.nb-middle{fill:#7d5a3c}
.nb-tray{fill:#57391f}
.nb-even{fill:#c9a877}
.nb-odd{fill:#a3754a}
.nb-number{fill:#f6efe2;font-size:11px;text-anchor:middle}
.nb-light{fill:#fdfbf4;stroke:#2a2118;stroke-width:1.5}
.nb-dark{fill:#31343f;stroke:#0d0e12;stroke-width:1.5}
.nb-ring{fill:none;stroke:#aeb4c6;stroke-width:2}
.nb-count{font-size:15px;font-weight:700;text-anchor:middle;stroke:none}
.nb-on-light{fill:#1b1611}
.nb-on-dark{fill:#fdfbf4}
.nb-cube{fill:#fdfbf4;stroke:#1b1611;stroke-width:2}
.nb-cube-value{fill:#1b1611;font-size:17px;font-weight:700;text-anchor:middle}
.nb-text{fill:#1b1611}
.nb-note{fill:#1b1611;font-size:12px;text-anchor:middle}
.nb-way{fill:none;stroke:#6b6257;stroke-width:1.5}
.nb-way-head{fill:#6b6257}
.nb-halo{fill:none;stroke:#fff;stroke-width:7;stroke-linecap:round;stroke-opacity:.85}
.nb-arrow{fill:none;stroke:#0b5cad;stroke-width:4;stroke-linecap:round}
.nb-head{fill:#0b5cad;stroke:#fff;stroke-width:1.5}
@media screen and (prefers-color-scheme:dark){
.nb-page{fill:#17181b}
.nb-rim{fill:#3a2c20}
.nb-field{fill:#454036}
.nb-middle{fill:#2c2219}
.nb-tray{fill:#241a12}
.nb-even{fill:#75603f}
.nb-odd{fill:#5d4227}
.nb-light{fill:#efe9db;stroke:#0d0e12}
.nb-dark{fill:#14161b;stroke:#c3c8d6}
.nb-text{fill:#ece7dd}
.nb-note{fill:#ece7dd}
.nb-way{stroke:#a79f92}
.nb-way-head{fill:#a79f92}
.nb-halo{stroke:#000}
.nb-arrow{stroke:#63b3ff}
.nb-head{fill:#63b3ff;stroke:#000}
}
"""
"""The style sheet of all boards, for a page that shows several."""

_LONGEST_NAME = 28
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ARROW_HEAD = 12
_ARROW_GAP = 11
"""How long the head of an arrow is, and how far from the middle of a checker its shaft begins: numbers stay legible."""

_PIPS = {1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "abcghi"}
"""Which of nine places, a to i by columns, have a dot on each face of a die."""


def board_svg(
    position_or_board: Position | Boards,
    rules: RuleSet,
    *,
    names: tuple[str, str] = ("", ""),
    cube: bool = True,
    moves: Sequence[Move] = (),
    others: Sequence[Sequence[Move]] = (),
    style: bool = True,
) -> str:
    """The picture as the text of an SVG element. Raises BoardError; NotationError if no checker can make the moves.

    position_or_board: a `Position`, or a board `int8[2, 26]` with row 0 on roll. names: of row 0's side and of the
    other; without one a side is called by its checkers. cube: whether to show it. moves: drawn as arrows over the
    board before the play, one each. others: the moves of other plays, hidden: the play i of all, `moves` first, is
    `g.nb-play` with `data-play` i, and a page may show another one. style: False leaves out BOARD_STYLE, for a page
    that has it already.

    Checkers are grouped by where they are: `g.nb-stack` has `data-side` (0 on roll), `data-slot` in that side's own
    numbers (0 off, 25 bar) and `data-count`.
    """
    position = position_or_board if isinstance(position_or_board, Position) else Position(position_or_board)
    check_position(position.board, rules)
    layout = Layout(rules, cube and not position.crawford)
    fills = FILLS if position.row0_player == 1 else (FILLS[1], FILLS[0])
    labels = [_clean(name) or tr(FILL_NAMES[fill]) for name, fill in zip(names, fills, strict=True)]
    width, height = layout.size
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "nb",
            "viewBox": f"0 0 {_n(width)} {_n(height)}",
            "width": _n(width),
            "height": _n(height),
            "role": "img",
        },
    )
    ET.SubElement(svg, "title").text = board_title(position, rules, labels)
    ET.SubElement(svg, "desc").text = board_words(position, rules, labels, cube=cube, moves=moves)
    if style:
        ET.SubElement(svg, "style").text = BOARD_STYLE
    _rect(svg, "nb-page", 0, 0, width, height)
    _draw_wood(svg, layout)
    _draw_ways(svg, layout, fills)
    for side in SIDES:
        _draw_checkers(svg, layout, position.board, side, fills[side])
        _draw_notes(svg, layout, side_notes(position, side, _shortened(labels[side])), side, fills[side])
    if position.dice and position.playing:
        for i, face in enumerate(position.dice):
            _draw_die(svg, *layout.die(i, 0), face, fills[0])
    if cube:
        _draw_cube(svg, layout, position, [_shortened(label) for label in labels])
    for i, play in enumerate((moves, *others)):
        group = ET.SubElement(svg, "g", {"class": "nb-play", "data-play": str(i)} | ({"display": "none"} if i else {}))
        _draw_arrows(group, layout, position.board, play)
    return ET.tostring(svg, encoding="unicode")


def _draw_wood(svg: ET.Element, layout: Layout) -> None:
    """Rim, points with their numbers, bar and trays."""
    _rect(svg, "nb-rim", *layout.rim, rx="6")
    _rect(svg, "nb-field", layout.left, layout.top, layout.right - layout.left, layout.bottom - layout.top)
    x = layout.middle - layout.middle_width / 2
    _rect(svg, "nb-middle", x, layout.top, layout.middle_width, layout.bottom - layout.top)
    for side in SIDES:
        _rect(svg, "nb-tray", *layout.tray(side), rx="3")
    numbers = ET.SubElement(svg, "g", {"class": "nb-number"})
    triangles = ["", ""]
    for point in range(1, BAR):
        x = layout.column(point)
        edge, tip = (layout.top, POINT_HEIGHT) if layout.is_upper(point) else (layout.bottom, -POINT_HEIGHT)
        triangles[point % 2] += f"M{_n(x - WIDTH / 2)} {_n(edge)}h{WIDTH}L{_n(x)} {_n(edge + tip)}z"
        _text(numbers, "", *layout.number(point), str(point))
    for kind, path in zip(("nb-even", "nb-odd"), triangles, strict=True):
        ET.SubElement(svg, "path", {"class": kind, "d": path})


def _draw_ways(svg: ET.Element, layout: Layout, fills: Sequence[str]) -> None:
    """A line along each side's last twelve points, from its own checker to its tray."""
    for side in SIDES:
        y, start, end = layout.travel(side)
        step = math.copysign(1, end - start)
        way = ET.SubElement(svg, "g", {"class": "nb-travel", "data-side": str(side)})
        ET.SubElement(way, "path", {"class": "nb-way", "d": f"M{_n(start)} {_n(y)}H{_n(end - step * 8)}"})
        _polygon(way, "nb-way-head", ((end, y), (end - step * 9, y - 4.5), (end - step * 9, y + 4.5)))
        _circle(way, f"nb-{fills[side]}", start, y, 5)


def _draw_checkers(svg: ET.Element, layout: Layout, board: Boards, side: int, fill: str) -> None:
    row = board[side].tolist()
    for slot in (slot for slot in BOARD_SLOTS if row[slot]):
        stack = _stack(svg, side, slot, row[slot], fill)
        for depth in range(min(row[slot], TALLEST)):
            _draw_checker(stack, *layout.checker(side, slot, depth), fill)
        if row[slot] > TALLEST:
            x, y = layout.checker(side, slot, TALLEST - 1)
            _text(stack, f"nb-count nb-on-{fill}", x, y + 5.5, str(row[slot]))
    if row[OFF]:
        stack = _stack(svg, side, OFF, row[OFF], fill)
        for depth in range(row[OFF]):
            x, y = layout.borne_off(side, depth)
            _rect(stack, "", x, y, TRAY_WIDTH, TRAY_PITCH - 1.5, rx="2")


def _stack(svg: ET.Element, side: int, slot: int, count: int, fill: str) -> ET.Element:
    data = {"class": f"nb-stack nb-{fill}", "data-side": str(side), "data-slot": str(slot), "data-count": str(count)}
    return ET.SubElement(svg, "g", data)


def _draw_checker(parent: ET.Element, x: float, y: float, fill: str) -> None:
    _circle(parent, "", x, y, RADIUS - 0.75)
    if fill == "dark":
        _circle(parent, "nb-ring", x, y, RADIUS - 6)


def _draw_notes(svg: ET.Element, layout: Layout, notes: Sequence[str], side: int, fill: str) -> None:
    """Who the side is, its pips and score, and what it has to do."""
    y = layout.info(side)
    _draw_small_checker(svg, layout.left + 8, y - 4.5, fill)
    _text(svg, "nb-text", layout.left + 22, y, " \u00b7 ".join(notes))


def _draw_small_checker(svg: ET.Element, x: float, y: float, fill: str) -> None:
    _circle(svg, f"nb-{fill}", x, y, 8)
    if fill == "dark":
        _circle(svg, "nb-ring", x, y, 4.5)


def _draw_die(svg: ET.Element, x: float, y: float, face: int, fill: str) -> None:
    die = ET.SubElement(svg, "g", {"class": "nb-die", "data-face": str(face)})
    _rect(die, f"nb-{fill}", x - 17, y - 17, 34, 34, rx="6")
    for place in _PIPS[face]:
        column, line = divmod("abcdefghi".index(place), 3)
        _circle(die, f"nb-on-{fill}", x + (column - 1) * 9.5, y + (line - 1) * 9.5, 3.2)


def _draw_cube(svg: ET.Element, layout: Layout, position: Position, labels: Sequence[str]) -> None:
    """The cube with its owner, and in the middle of the board what is offered."""
    if not position.crawford:
        x, y = layout.cube_at(position.cube_owner)
        untouched = position.cube_owner is None and position.cube_value == 1
        owner = "centre" if position.cube_owner is None else str(position.cube_owner)
        cube = ET.SubElement(svg, "g", {"class": "nb-doubling", "data-owner": owner})
        _rect(cube, "nb-cube", x - 19, y - 19, 38, 38, rx="5")
        _text(cube, "nb-cube-value", x, y + 6, str(CENTRED_CUBE if untouched else position.cube_value))
    if position.crawford or position.double_offered or position.resign_offered:
        x = (layout.left + layout.middle) / 2
        _text(svg, "nb-note", x, layout.centre + 4, cube_note(position, labels))


def _draw_arrows(parent: ET.Element, layout: Layout, board: Boards, moves: Sequence[Move]) -> None:
    """One arrow for each move, from the checker to where it lands. Raises NotationError if there is no checker."""
    counts = board[0].tolist()
    ends = []
    for move in moves:
        if not counts[move.source]:
            raise NotationError(f"play {format_play(moves)!r}: no checker stands on {move.source} to be moved")
        counts[move.source] -= 1
        ends.append(
            (
                layout.place(0, move.source, counts[move.source]),
                layout.place(0, move.target, counts[move.target]),
            )
        )
        counts[move.target] += 1
    for start, end in ends:
        _draw_arrow(parent, start, end, layout.centre)


def _draw_arrow(parent: ET.Element, start: tuple[float, float], end: tuple[float, float], centre: float) -> None:
    """A curve that bends towards the middle of the board, with a head; a halo keeps it apart from what lies under."""
    x0, y0 = start
    x1, y1 = end
    bend = min(60.0, math.dist(start, end) / 3)
    middle = (y0 + y1) / 2
    pull = 0.0 if abs(middle - centre) < PITCH else math.copysign(bend, centre - middle)
    cx, cy = (x0 + x1) / 2, middle + pull
    vx, vy = _direction(start, (cx, cy))
    ux, uy = _direction((cx, cy), end)
    bx, by = x1 - ux * _ARROW_HEAD, y1 - uy * _ARROW_HEAD
    path = f"M{_n(x0 + vx * _ARROW_GAP)} {_n(y0 + vy * _ARROW_GAP)}Q{_n(cx)} {_n(cy)} {_n(bx)} {_n(by)}"
    arrow = ET.SubElement(parent, "g", {"class": "nb-move"})
    ET.SubElement(arrow, "path", {"class": "nb-halo", "d": path})
    ET.SubElement(arrow, "path", {"class": "nb-arrow", "d": path})
    back = (bx - ux * 2, by - uy * 2)
    _polygon(arrow, "nb-head", (end, (back[0] - uy * 8, back[1] + ux * 8), (back[0] + uy * 8, back[1] - ux * 8)))


def _direction(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float]:
    """The unit vector from one point to another one."""
    length = math.dist(start, end)
    return (end[0] - start[0]) / length, (end[1] - start[1]) / length


def _rect(parent: ET.Element, kind: str, x: float, y: float, width: float, height: float, *, rx: str = "") -> None:
    shape = {"class": kind, "x": _n(x), "y": _n(y), "width": _n(width), "height": _n(height), "rx": rx}
    ET.SubElement(parent, "rect", _given(shape))


def _circle(parent: ET.Element, kind: str, x: float, y: float, radius: float) -> None:
    ET.SubElement(parent, "circle", _given({"class": kind, "cx": _n(x), "cy": _n(y), "r": _n(radius)}))


def _polygon(parent: ET.Element, kind: str, corners: Sequence[tuple[float, float]]) -> None:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
    ET.SubElement(parent, "polygon", {"class": kind, "points": points})


def _text(parent: ET.Element, kind: str, x: float, y: float, text: str) -> None:
    ET.SubElement(parent, "text", _given({"class": kind, "x": _n(x), "y": _n(y)})).text = text


def _given(attributes: dict[str, str]) -> dict[str, str]:
    """Without those that are empty: a class that the shape has from its group, corners that are not round."""
    return {key: value for key, value in attributes.items() if value}


def _n(value: float) -> str:
    """A coordinate, to a tenth, in its shortest form."""
    return f"{round(value, 1) + 0:g}"


def _clean(name: str) -> str:
    """A name without what XML cannot hold, on one line."""
    return " ".join(_NO_XML.sub("", name).split())


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST_NAME else f"{label[: _LONGEST_NAME - 1]}\u2026"

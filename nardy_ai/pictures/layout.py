"""Where everything on a drawn board lies, in the units of its view box, x to the right and y down.

The side on roll sits below and bears off at the lower right, in both geometries; points are its own numbers, 13..24
above and 12..1 below. What stands there is `board`'s business.
"""

from dataclasses import dataclass
from functools import cached_property

from nardy_ai.boards import BAR, CONTRARY, FACING, OFF, SLOTS
from nardy_ai.rules import RuleSet

TALLEST = 5
"""Checkers drawn of a stack; a higher one has its number on the innermost."""

WIDTH = 40
"""Of a point."""

RADIUS = 18
PITCH = 37
TRAY_PITCH = 11
TRAY_WIDTH = 34
"""Of a checker that lies in a tray, and how far apart two are."""

_QUARTER = 6 * WIDTH
_HALF = TALLEST * PITCH + 8
_BAND = 58
_MARGIN = 10
_INFO = 28
_TRAVEL = 12
_NUMBERS = 18
_RIM = 6
_BAR_WIDTH = 48
_HINGE_WIDTH = 12
_TRAY_COLUMN = 46
_CUBE_COLUMN = 52
_UPPER_LEFT, _LOWER_LEFT = 13, 12
POINT_HEIGHT = _HALF - 12


@dataclass(frozen=True)
class Layout:
    """The places of a board under `rules`, with a column for the cube on the left if `cube`."""

    rules: RuleSet
    cube: bool

    @property
    def has_bar(self) -> bool:
        """Whether checkers can be hit."""
        return self.rules.closed_by > 1

    @property
    def other_bears_off_left(self) -> bool:
        """Where both sides move the same way round, the other side's home is the upper left quarter."""
        return self.rules.board != CONTRARY

    @cached_property
    def left(self) -> float:
        """The left edge of the points."""
        trays = _TRAY_COLUMN if self.other_bears_off_left else 0
        return _MARGIN + (_CUBE_COLUMN if self.cube else 0) + trays + _RIM

    @property
    def middle_width(self) -> float:
        """Of the bar, or of the hinge where there is none."""
        return _BAR_WIDTH if self.has_bar else _HINGE_WIDTH

    @property
    def middle(self) -> float:
        """The x of the middle of the bar."""
        return self.left + _QUARTER + self.middle_width / 2

    @property
    def right(self) -> float:
        """The right edge of the points."""
        return self.left + 2 * _QUARTER + self.middle_width

    @property
    def top(self) -> float:
        """The upper edge of the points."""
        return _MARGIN + _INFO + _TRAVEL + _NUMBERS

    @property
    def bottom(self) -> float:
        """The lower edge of the points."""
        return self.top + 2 * _HALF + _BAND

    @property
    def centre(self) -> float:
        """The y of the middle of the board."""
        return (self.top + self.bottom) / 2

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        return self.right + _RIM + _TRAY_COLUMN + _MARGIN, self.bottom + _NUMBERS + _TRAVEL + _INFO + _MARGIN

    @property
    def rim(self) -> tuple[float, float, float, float]:
        """x, y, width and height of the wood round points and trays."""
        x = self.left - _RIM - (_TRAY_COLUMN if self.other_bears_off_left else 0)
        y = self.top - _NUMBERS
        return x, y, self.right + _RIM + _TRAY_COLUMN - x, self.bottom + _NUMBERS - y

    def info(self, side: int) -> float:
        """The y of the base line of what is said about a side."""
        return self.size[1] - _MARGIN - 8 if side == 0 else _MARGIN + _INFO - 10

    def number(self, point: int) -> tuple[float, float]:
        """Where a point's number stands, its middle and base line."""
        return self.column(point), self.top - 5 if self.is_upper(point) else self.bottom + 13

    def travel(self, side: int) -> tuple[float, float, float]:
        """The y of the mark of a side's way home, and the x of its start and its end, which is at the side's tray."""
        if side == 0:
            return self.bottom + _NUMBERS + _TRAVEL / 2, self.left, self.right
        ends = (self.right, self.left) if self.other_bears_off_left else (self.left, self.right)
        return self.top - _NUMBERS - _TRAVEL / 2, *ends

    def is_upper(self, point: int) -> bool:
        """Whether a point of the side on roll lies in the upper half."""
        return point >= _UPPER_LEFT

    def column(self, point: int) -> float:
        """The x of the middle of a point of the side on roll."""
        step = point - _UPPER_LEFT if self.is_upper(point) else _LOWER_LEFT - point
        return self.left + (step + 0.5) * WIDTH + (self.middle_width if step >= 6 else 0)

    def checker(self, side: int, slot: int, depth: int) -> tuple[float, float]:
        """The middle of a side's checker on a point or the bar, `slot` in the side's own numbers.

        depth: how many lie between it and the edge; those beyond TALLEST lie on the last one drawn. On the bar each
        side's checkers are in its own half.
        """
        depth = min(depth, TALLEST - 1)
        if slot == BAR:
            x, upper = self.middle, side == 1
        else:
            point = slot if side == 0 else int(FACING[self.rules.board][slot])
            x, upper = self.column(point), self.is_upper(point)
        reach = RADIUS + 2 + depth * PITCH
        return x, self.top + reach if upper else self.bottom - reach

    def tray(self, side: int) -> tuple[float, float, float, float]:
        """x, y, width and height of the tray of a side's checkers that are off."""
        is_left = side == 1 and self.other_bears_off_left
        column = self.left - _RIM - _TRAY_COLUMN if is_left else self.right + _RIM
        x = column + (_TRAY_COLUMN - TRAY_WIDTH) / 2 - (-2 if is_left else 2)
        return x, self.top if side == 1 else self.bottom - _HALF, TRAY_WIDTH, _HALF

    def borne_off(self, side: int, depth: int) -> tuple[float, float]:
        """The left upper corner of a checker that lies in the tray, the first one at the edge of the board."""
        x, y, _, height = self.tray(side)
        return x, y + 2 + depth * TRAY_PITCH if side == 1 else y + height - 2 - (depth + 1) * TRAY_PITCH

    def place(self, side: int, slot: int, depth: int) -> tuple[float, float]:
        """The middle of a checker wherever it is, off included."""
        if slot != OFF:
            return self.checker(side, slot, depth)
        x, y = self.borne_off(side, depth)
        return x + TRAY_WIDTH / 2, y + TRAY_PITCH / 2

    def die(self, i: int, side: int) -> tuple[float, float]:
        """The middle of the first or second die; the side on roll throws to its right."""
        quarter = self.right - _QUARTER / 2 if side == 0 else self.left + _QUARTER / 2
        return quarter + (2 * i - 1) * 24, self.centre

    def cube_at(self, owner: int | None) -> tuple[float, float]:
        """The middle of the cube: between the sides, or with the one that owns it."""
        y = {None: self.centre, 0: self.bottom - 26, 1: self.top + 26}[owner]
        return _MARGIN + _CUBE_COLUMN / 2 - 4, y


SIDES = (0, 1)
BOARD_SLOTS = range(1, SLOTS)
"""The points and the bar."""

"""Tables of reports, which a reader can sort."""

from collections.abc import Sequence
from dataclasses import dataclass

from nardy_ai.language import tr

__all__ = ["Cell", "Table"]

_UNKNOWN = ("", "-", "?")
"""What stands in a column of numbers where there is none, besides the word `unknown`."""


@dataclass(frozen=True)
class Cell:
    """A text, a smaller one below it, such as a standard error, and the anchor on the page that it leads to."""

    text: str
    below: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """Rows that a reader can sort.

    play_column: the column with plays, whose arrows the board shows when one is chosen. play_of_row: which play of the
    board each row's is, the first one being shown; empty: as the rows are.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    play_column: int | None = None
    play_of_row: tuple[int, ...] = ()

    @classmethod
    def of_texts(
        cls,
        caption: str,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        below: Sequence[Sequence[str]] = (),
        play_column: int | None = None,
    ) -> "Table":
        """A table of padded texts, as a terminal shows them. below: the smaller texts, as many rows or none."""
        smaller = below or [[""] * len(row) for row in rows]
        cells = tuple(
            tuple(Cell(text.strip(), small.strip()) for text, small in zip(row, lower, strict=True))
            for row, lower in zip(rows, smaller, strict=True)
        )
        return cls(caption, tuple(heading.strip() for heading in header), cells, play_column)

    @property
    def plays(self) -> tuple[int, ...]:
        """Each row's play of the board."""
        return self.play_of_row or tuple(range(len(self.rows)))

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers only."""
        return tuple(all(_is_number(row[i].text) for row in self.rows) for i in range(len(self.header)))


def _is_number(text: str) -> bool:
    try:
        float(text.removesuffix("%").replace(",", "") if text not in (*_UNKNOWN, tr("unknown")) else 0)
    except ValueError:
        return False
    return True

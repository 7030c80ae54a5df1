"""The page about positions that the queries of the command line write: boards, and tables beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from nardy_ai.reports.render import render
from nardy_ai.reports.tables import Table

__all__ = ["Section", "positions_page"]


@dataclass(frozen=True)
class Section:
    """One position. board: its picture as SVG. lines: sentences above the tables; notes: small print below them."""

    heading: str
    board: str
    lines: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def positions_page(title: str, sections: Sequence[Section]) -> str:
    """The page as text. Every section's `lines` begin with all that is needed to ask again."""
    return render("positions.html.j2", title=title, sections=sections)

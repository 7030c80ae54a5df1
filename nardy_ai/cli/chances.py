"""Outcomes as people read them: cumulative ("mars or more"), in percent, short where there are many classes.

Whatever the scoring, the last two ways of losing are mars and koks, and the others leave fewer checkers on.
"""

import math
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

from nardy_ai.cli.output import heading
from nardy_ai.language import marked, tr, tr_count
from nardy_ai.outcomes import class_names, class_points, cumulative, ever_possible
from nardy_ai.rules import RuleSet

WAYS = (marked("single"), marked("mars"), marked("koks"))


def exclusive_chances(outcomes: NDArray[np.float32], rules: RuleSet) -> dict[str, float]:
    """The chance of each class by its name, of one position's outcomes `float32[K]`."""
    return {name: rounded(chance) for name, chance in zip(class_names(rules), outcomes, strict=True)}


def cumulative_chances(outcomes: NDArray[np.float32]) -> dict[str, float]:
    """The chances of one position's outcomes `float32[K]` to win and to lose at all, mars or more, and koks."""
    half = len(outcomes) // 2
    view = cumulative(np.array([*three_ways(outcomes[:half]), *three_ways(outcomes[half:])]))
    view["lose"] = outcomes[half:].sum()
    return {f"{side}{way}": rounded(view[f"{side}{way}"]) for side in ("win", "lose") for way in ("", "_mars", "_koks")}


def three_ways(shares: Sequence[float] | NDArray[np.float32]) -> tuple[float, float, float]:
    """One side's shares of its K/2 classes as single (for `checkers_left`: any number left), mars, koks."""
    return float(sum(shares[:-2])), float(shares[-2]), float(shares[-1])


def way_text(way: str) -> str:
    """A class of results in words: what stands behind `win_` or `lose_` in its name."""
    left = way.removesuffix("_left")
    return tr(way) if left == way else tr_count("{n} left", "{n} left", int(left))


def possible_ways(rules: RuleSet) -> list[bool]:
    """Which of WAYS a game under `rules` can end in."""
    half = ever_possible(rules)[: len(class_names(rules)) // 2]
    return [bool(half[:-2].any()), bool(half[-2]), bool(half[-1])]


def chance_table(outcomes: NDArray[np.float32], rules: RuleSet) -> list[list[str]]:
    """Header and two rows about one position's outcomes `float32[K]`.

    With `checkers_left` a last column has the points that the side's wins are worth on average.
    """
    chances = cumulative_chances(outcomes)
    _, mars, koks = possible_ways(rules)
    averages = average_points(outcomes, rules) if rules.scoring == "checkers_left" else None
    header = [tr("cumulative"), heading("any", 8), *[heading("mars or more", 12)] * mars, *[heading("koks", 8)] * koks]
    table = [header + [heading("points each", 11)] * (averages is not None)]
    for row, (side, verb) in enumerate((("win", tr("wins")), ("lose", tr("loses")))):
        cells = [verb, percent(chances[side])]
        cells += [f"{percent(chances[f'{side}_mars']):>12}"] * mars + [percent(chances[f"{side}_koks"])] * koks
        if averages is not None:
            cells.append(f"{averages[row]:11.2f}")
        table.append(cells)
    return table


def chance_header(rules: RuleSet) -> list[str]:
    """The headings of `chance_cells`."""
    _, mars, koks = possible_ways(rules)
    more = [heading("mars+", 6) if koks else heading("mars", 6)] * mars + [heading("koks", 6)] * koks
    return [heading("wins %", 7), *more, heading("loses %", 7), *more]


def chance_cells(outcomes: NDArray[np.float32], rules: RuleSet) -> list[str]:
    """One row about one position's outcomes `float32[K]`, cumulative, in percent without the sign."""
    chances = cumulative_chances(outcomes)
    _, mars, koks = possible_ways(rules)
    cells = []
    for side in ("win", "lose"):
        cells += [f"{100 * chances[side]:7.2f}"]
        cells += [f"{100 * chances[f'{side}_mars']:6.2f}"] * mars + [f"{100 * chances[f'{side}_koks']:6.2f}"] * koks
    return cells


def average_points(outcomes: NDArray[np.float32], rules: RuleSet) -> tuple[float, float]:
    """What a win and a loss are worth on average, both positive; 0 where there is none."""
    half = len(outcomes) // 2
    points = class_points(rules)[:half]
    sides = (outcomes[:half], outcomes[half:])
    win, lose = (float(side @ points / side.sum()) if side.sum() > 0 else 0.0 for side in sides)
    return win, lose


def percent(share: float) -> str:
    """A share as text of fixed width."""
    return f"{100 * share:6.2f} %"


def rounded(value: SupportsFloat) -> float:
    """A number for JSON: what `float32` knows and no more."""
    return round(float(value), 6)


def or_null(value: float | None) -> float | None:
    """The same of a number that may be unknown: None."""
    return rounded(value) if value is not None and math.isfinite(value) else None


def or_unknown(error: float, digits: int = 4) -> str:
    """A standard error to be printed; that of a single draw is unknown."""
    return f"{error:.{digits}f}" if math.isfinite(error) else tr("unknown")

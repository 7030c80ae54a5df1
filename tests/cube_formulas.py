"""The formulas of docs/cube.md, read from that page, and the cube composed of them: the slow twin of `cube.kernels`."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.state import CubeState

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cube.md"
MOST_LEVELS = 64


@cache
def formulas() -> SimpleNamespace:
    """Every formula of the page as a function of its name."""
    found: dict[str, Callable[..., float]] = {}
    for block in re.findall(r"^```formula\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            name, arguments, expression = re.fullmatch(r"(\w+)\((.*?)\) = (.*)", line).groups()
            assert name not in found
            found[name] = eval(f"lambda {arguments}: {expression}", {"min": min, "max": max})
    return SimpleNamespace(**found)


class Twin:
    """One position in one state, valued by the page's formulas. chances: `[K]`; x: three efficiencies."""

    def __init__(self, model: CubeModel, state: CubeState, chances: np.ndarray, x: np.ndarray) -> None:
        self.model, self.state, self.x, self.f = model, state, x, formulas()
        half = len(chances) // 2
        self.win, self.lose = chances[:half].astype(float), chances[half:].astype(float)
        self.p = self.win.sum() / (self.win.sum() + self.lose.sum())
        self.points = model.points[:half]

    def utility(self, points: int) -> float:
        """Of winning (negative: losing) so many points."""
        if self.state.away is None:
            return float(points)
        mine, his = self.state.away
        after = min(mine, his) == 1
        left = (mine - points, his) if points > 0 else (mine, his + points)
        if left[0] <= 0:
            return 1.0
        if left[1] <= 0:
            return -1.0
        return 2 * self.model.table.chance(*left, after_crawford=after) - 1

    def ends(self, stake: int) -> tuple[float, float]:
        """The mean utilities of a win and of a loss."""
        both = []
        for weights, sign in ((self.win, 1), (self.lose, -1)):
            worth = [self.utility(int(sign * stake * points)) for points in self.points]
            both.append(weights @ worth / weights.sum() if weights.sum() else self.utility(sign * stake))
        return both[0], both[1]

    def raised(self, stake: int) -> int | None:
        """The next stake, None where there is none."""
        up = stake + 1 if self.model.growth == "arithmetic" else 2 * stake
        return None if self.model.cap is not None and up > self.model.cap else up

    def useless(self, stake: int) -> tuple[bool, bool]:
        """For which side the stake wins the match already."""
        mine, his = self.state.away or (stake + 1, stake + 1)
        return stake >= mine, stake >= his

    def cash_points(self, stake: int, depth: int = 0) -> tuple[float, float]:
        """Mine and his."""
        f, up = self.f, self.raised(stake)
        if up is None or all(self.useless(stake)):
            return 1.0, 0.0
        if depth == MOST_LEVELS:
            won, lost = self.ends(1)
            return (
                (f.limit_my_cash(won, -lost), f.limit_his_cash(won, -lost)) if self.state.away is None else (1.0, 0.0)
            )
        if self.state.away is None and self.model.cap is None and self.model.growth == "geometric":
            won, lost = self.ends(1)
            return f.endless_my_cash(won, -lost), f.endless_his_cash(won, -lost)
        mine, his = self.cash_points(up, depth + 1)
        win, loss = self.ends(up)
        dead_mine, dead_his = self.useless(stake)
        return (
            1.0 if dead_mine else f.my_cash(his, win, self.utility(-up) if his else loss, self.utility(stake)),
            0.0 if dead_his else f.his_cash(mine, loss, self.utility(up) if mine < 1 else win, self.utility(-stake)),
        )

    def rolled(self, stake: int, owner: int | None) -> float:
        """Nobody doubles now."""
        f, p = self.f, self.p
        won, lost = self.utility(stake), self.utility(-stake)
        win, loss = (won, lost) if self.model.jacoby and owner is None else self.ends(stake)
        dead = f.dead(p, win, loss)
        if self.state.crawford:
            return dead
        up = self.raised(stake)
        if self.state.away is not None and up is not None:
            turned = f.dead(p, *self.ends(up))
            mine, his = self.useless(stake)
            if owner != 0 and mine and not his:
                return f.free_for_him(dead, turned, lost)
            if owner != 1 and his and not mine:
                return f.free_for_me(dead, turned, won)
        my_cash, his_cash = self.cash_points(stake)
        low, at_low = (0.0, loss) if owner == 0 or his_cash == 0 else (his_cash, lost)
        high, at_high = (1.0, win) if owner == 1 or my_cash == 1 else (my_cash, won)
        if p <= low and low > 0:
            live = f.below(p, low, loss, lost)
        elif p >= high and high < 1:
            live = f.above(p, high, win, won)
        else:
            live = f.between(p, low, at_low, high, at_high)
        return f.mixed(self.x[{None: 0, 0: 1, 1: 2}[owner]], live, dead)

    def values(self) -> dict[str, float | None]:
        """No double, double and take, double and pass, beaver, raccoon, and best."""
        f, state = self.f, self.state
        no_double, won = self.rolled(state.value, state.owner), self.utility(state.value)
        up = self.raised(state.value)
        values = {"no_double": no_double, "double_take": None, "double_pass": won, "beaver": None, "raccoon": None}
        values["best"] = no_double
        if state.crawford or up is None or all(self.useless(state.value)):
            return values
        values["double_take"] = answered = self.rolled(up, 1)
        higher = self.raised(up)
        if self.model.beavers and state.away is None and higher is not None:
            values["beaver"] = self.rolled(higher, 1)
            reply, again = f.replied(values["beaver"], self.utility(-up)), self.raised(higher)
            if self.model.raccoons and again is not None:
                values["raccoon"] = self.rolled(again, 1)
                reply = f.raccooned(reply, values["raccoon"], self.utility(higher))
            answered = f.answered(answered, reply)
        if state.owner != 1 and not self.useless(state.value)[0]:
            values["best"] = f.best(no_double, answered, won)
        return values

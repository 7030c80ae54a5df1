"""The compiled formulas of docs/cube.md, one row at a time, and the choice of plays by them.

Utilities are row 0's: points of money, or 2 x match winning chance - 1; either way the other side has the opposite.
Chances of a win or a loss and their kinds stand still while the chance to win moves: that is what makes values with a
perfectly live cube straight lines between few corners.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

CENTRE = -1
LEVELS = 64
"""Stakes that are looked at, from the present one up. Stakes that grow by one beyond have their limit there."""
SELF_SIMILAR = 2
"""Stakes that double without end look alike at every level; one is kept, with its closed form."""
OVER = -1.0
"""In place of an efficiency: the game is over."""
TIE = 1e-9
"""Utilities no further apart are equal."""

NO_DOUBLE, DOUBLE_TAKE, DOUBLE_PASS, BEAVER, RACCOON, BEST = 0, 1, 2, 3, 4, 5
COLUMNS = 6

_STAKE, _WIN, _LOSS, _CASH, _LOSE, _MINE, _HIS = 0, 1, 2, 3, 4, 5, 6
WORK = 7
"""Rows of the scratch array: the stake, the mean utility of a win and of a loss, of a single win and a single loss, and
the chances to win from which on row 0 (below which row 1) doubles the other out.
"""


class CubeNumbers(NamedTuple):
    """The rules of the cube. cap: the largest stake, 0 without one."""

    jacoby: int
    beavers: int
    raccoons: int
    arithmetic: int
    cap: int


@njit(cache=True, nogil=True)
def next_stake(stake, numbers):
    """The stake after a double; 0 if the cube cannot be turned any more."""
    raised = stake + 1 if numbers.arithmetic else 2 * stake
    return 0 if numbers.cap and raised > numbers.cap else raised


@njit(cache=True, nogil=True)
def utility(points, mine, his, table):
    """What row 0 has after winning `points` (negative: after losing them). mine, his: points to go, 0 for money."""
    if mine == 0:
        return float(points)
    later = 1 if min(mine, his) == 1 else 0
    if points > 0:
        return table[later, max(mine - points, 0), his]
    return table[later, mine, max(his + points, 0)]


@njit(cache=True, nogil=True)
def _mean_end(chances, points, first, stake, mine, his, table):
    """The mean utility over the classes from `first` on that are half of all; of a single result if none is likely."""
    half = len(points) // 2
    total = 0.0
    weight = 0.0
    for k in range(first, first + half):
        if chances[k] > 0:
            weight += chances[k]
            total += chances[k] * utility(points[k] * stake, mine, his, table)
    if weight == 0.0:
        return utility(stake if first == 0 else -stake, mine, his, table)
    return total / weight


@njit(cache=True, nogil=True)
def _levels(chances, points, stake, mine, his, numbers, table, work):
    """Fill `work` for the stake and those above it, the cash points from the highest down. Returns how many."""
    half = len(points) // 2
    endless = mine == 0 and numbers.cap == 0 and numbers.arithmetic == 0
    most = SELF_SIMILAR if endless else LEVELS
    won = 0.0
    lost = 0.0
    if mine == 0:
        won = _mean_end(chances, points, 0, 1, mine, his, table)
        lost = -_mean_end(chances, points, half, 1, mine, his, table)
    n = 0
    higher = stake
    while True:
        stake = higher
        work[_STAKE, n] = stake
        if mine == 0:
            work[_WIN, n] = won * stake
            work[_LOSS, n] = -lost * stake
        else:
            work[_WIN, n] = _mean_end(chances, points, 0, stake, mine, his, table)
            work[_LOSS, n] = _mean_end(chances, points, half, stake, mine, his, table)
        work[_CASH, n] = utility(stake, mine, his, table)
        work[_LOSE, n] = utility(-stake, mine, his, table)
        n += 1
        higher = next_stake(stake, numbers)
        if n == most or higher == 0 or (mine > 0 and stake >= mine and stake >= his):
            break
    top = n - 1
    work[_MINE, top] = 1.0
    work[_HIS, top] = 0.0
    if endless:
        work[_MINE, top] = (lost + 1) / (won + lost + 0.5)
        work[_HIS, top] = (lost - 0.5) / (won + lost + 0.5)
    elif mine == 0 and higher > 0:
        work[_MINE, top] = (lost + 1) / (won + lost)
        work[_HIS, top] = (lost - 1) / (won + lost)
    for i in range(top - 1, -1, -1):
        work[_MINE, i] = 1.0
        work[_HIS, i] = 0.0
        floor = work[_HIS, i + 1]
        ceiling = work[_MINE, i + 1]
        if mine == 0 or work[_STAKE, i] < mine:
            at_floor = work[_LOSE, i + 1] if floor > 0 else work[_LOSS, i + 1]
            gap = work[_WIN, i + 1] - at_floor
            if gap > 0:
                cash = floor + (1 - floor) * (work[_CASH, i] - at_floor) / gap
                work[_MINE, i] = min(max(cash, floor), 1.0)
        if mine == 0 or work[_STAKE, i] < his:
            at_ceiling = work[_CASH, i + 1] if ceiling < 1 else work[_WIN, i + 1]
            gap = at_ceiling - work[_LOSS, i + 1]
            if gap > 0:
                cash = ceiling * (work[_LOSE, i] - work[_LOSS, i + 1]) / gap
                work[_HIS, i] = max(min(cash, ceiling), 0.0)
    return n


@njit(cache=True, nogil=True)
def _mixed(work, n, i, owner, p, win, loss, mine, his, efficiency):
    """The utility at level i before the roll with nobody doubling now: live and dead cube mixed by the efficiency.

    win, loss: mean utilities at this level; with Jacoby's rule those of single results.
    """
    dead = p * win + (1 - p) * loss
    if mine > 0 and i + 1 < n:
        # A side whom the other's win costs the match either way doubles for nothing at its next turn.
        turned = p * work[_WIN, i + 1] + (1 - p) * work[_LOSS, i + 1]
        stake = work[_STAKE, i]
        if owner != 0 and stake >= mine and stake < his:
            return min(dead, max(turned, work[_LOSE, i]))
        if owner != 1 and stake >= his and stake < mine:
            return max(dead, min(turned, work[_CASH, i]))
    low, at_low = 0.0, loss
    if owner != 0 and work[_HIS, i] > 0:
        low, at_low = work[_HIS, i], work[_LOSE, i]
    high, at_high = 1.0, win
    if owner != 1 and work[_MINE, i] < 1:
        high, at_high = work[_MINE, i], work[_CASH, i]
    if p <= low:
        live = at_low if low == 0 else loss + (at_low - loss) * p / low
    elif p >= high:
        live = at_high if high == 1 else at_high + (win - at_high) * (p - high) / (1 - high)
    else:
        live = at_low + (at_high - at_low) * (p - low) / (high - low)
    return efficiency * live + (1 - efficiency) * dead


@njit(cache=True, nogil=True)
def best_of(no_double, double_take, double_pass, beaver, lost, raccoon, won):
    """Row 0's utility where both sides decide rightly. beaver, raccoon: NaN where none is allowed.

    lost: what a drop after a beaver leaves row 0; won: what a drop after a raccoon brings it.
    """
    taken = double_take
    if beaver == beaver:
        replied = max(beaver, lost)
        if raccoon == raccoon:
            replied = max(replied, min(raccoon, won))
        taken = min(taken, replied)
    return max(no_double, min(taken, double_pass))


@njit(cache=True, nogil=True)
def may_turn(stake, owner, mine, crawford, numbers):
    """Whether row 0 may double and could gain by it."""
    return owner != 1 and not crawford and (mine == 0 or stake < mine) and next_stake(stake, numbers) > 0


@njit(cache=True, nogil=True)
def one_row(chances, points, stake, owner, mine, his, crawford, efficiency, numbers, table, work, out):
    """All values of one position in one state into `out`; NaN for what cannot be.

    efficiency: `float64[3]`, of a cube in the centre, row 0's and row 1's; the first below 0: the game is over.
    """
    half = len(points) // 2
    won = 0.0
    lost = 0.0
    for k in range(half):
        won += chances[k]
        lost += chances[half + k]
    p = won / (won + lost)
    n = _levels(chances, points, stake, mine, his, numbers, table, work)
    win, loss = work[_WIN, 0], work[_LOSS, 0]
    if numbers.jacoby and mine == 0 and owner == CENTRE:
        win, loss = work[_CASH, 0], work[_LOSE, 0]
    out[DOUBLE_TAKE] = np.nan
    out[BEAVER] = np.nan
    out[RACCOON] = np.nan
    out[DOUBLE_PASS] = work[_CASH, 0]
    if crawford or efficiency[0] < 0:
        out[NO_DOUBLE] = p * win + (1 - p) * loss
        out[BEST] = out[NO_DOUBLE]
        return
    out[NO_DOUBLE] = _mixed(work, n, 0, owner, p, win, loss, mine, his, efficiency[owner + 1])
    out[BEST] = out[NO_DOUBLE]
    if n > 1:
        out[DOUBLE_TAKE] = _mixed(work, n, 1, 1, p, work[_WIN, 1], work[_LOSS, 1], mine, his, efficiency[2])
        raised = next_stake(next_stake(stake, numbers), numbers)
        if numbers.beavers and mine == 0 and raised > 0:
            if n > 2:
                out[BEAVER] = _mixed(work, n, 2, 1, p, work[_WIN, 2], work[_LOSS, 2], mine, his, efficiency[2])
            else:  # alike at every level
                out[BEAVER] = out[DOUBLE_TAKE] * raised / work[_STAKE, 1]
            again = next_stake(raised, numbers)
            if numbers.raccoons and again > 0:
                if n > 3:
                    out[RACCOON] = _mixed(work, n, 3, 1, p, work[_WIN, 3], work[_LOSS, 3], mine, his, efficiency[2])
                else:
                    out[RACCOON] = out[DOUBLE_TAKE] * again / work[_STAKE, 1]
        if may_turn(stake, owner, mine, crawford, numbers):
            out[BEST] = best_of(
                out[NO_DOUBLE], out[DOUBLE_TAKE], out[DOUBLE_PASS], out[BEAVER], work[_LOSE, 1], out[RACCOON],
                float(raised),
            )  # fmt: skip


@njit(cache=True, nogil=True)
def cubeful(outcomes, points, stakes, owners, to_go, crawford, efficiencies, numbers, table, out):
    """`one_row` for N rows, `out` `float64[N, COLUMNS]`."""
    work = np.empty((WORK, LEVELS))
    for i in range(len(outcomes)):
        one_row(
            outcomes[i], points, stakes[i], owners[i], to_go[i, 0], to_go[i, 1], crawford[i], efficiencies[i],
            numbers, table, work, out[i],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def best_plays(
    outcomes, points, cubeless, offsets, asked, stakes, owners, to_go, crawford, efficiencies, known, trusted, numbers,
    table, rolls, chosen, worth,
):  # fmt: skip
    """For each of Q questions the play of each roll that leaves the other side, on roll next, least.

    outcomes `float32[M, K]`, cubeless `float32[M]` and efficiencies `float64[M, 3]` of the afterstates of B boards with
    all `rolls`; offsets `int64[B * rolls + 1]`. asked `int64[Q]`: the board of each question; states as the other side
    sees them. known `float32[M, 3]`: exact values with the cube at 1 (centre, row 0's, row 1's), NaN where there is
    none; trusted `bool[Q]`: whether they hold. Of equal plays the one that leaves less cubeless points is taken, then
    the first.
    Fills chosen `int64[Q, rolls]` and worth `float64[Q, rolls]`, the other side's utility.
    """
    work = np.empty((WORK, LEVELS))
    out = np.empty(COLUMNS)
    for q in range(len(asked)):
        for roll in range(rolls):
            segment = asked[q] * rolls + roll
            best = -1
            least = np.inf
            for m in range(offsets[segment], offsets[segment + 1]):
                if trusted[q] and known[m, 0] == known[m, 0]:
                    value = float(stakes[q]) * known[m, owners[q] + 1]
                else:
                    one_row(
                        outcomes[m], points, stakes[q], owners[q], to_go[q, 0], to_go[q, 1], crawford[q],
                        efficiencies[m], numbers, table, work, out,
                    )  # fmt: skip
                    value = out[BEST]
                if best < 0 or value < least - TIE or (value <= least + TIE and cubeless[m] < cubeless[best]):
                    best = m
                    least = value
            chosen[q, roll] = best
            worth[q, roll] = least

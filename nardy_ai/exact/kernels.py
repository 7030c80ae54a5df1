"""The compiled loops behind bearoff tables and solved games.

A side is a multiset of its checkers' slots and has a rank; what a side can come to has been made by `movegen`.
Values stand in arrays `float64[P, S]`: S is 1 without a cube, or 3 with one: it is in the centre, belongs to the side
on roll, or to the other side. Kernels write into arrays they are given, release the interpreter lock, and run as
ordinary Python with compilation off. Their callers are `ranking`, `bearoff` and `solve`; their slow twins are in the
tests.
"""

import numpy as np
from numba import njit

BEAVERS = 1
"""The flag of `settle` and `two_sided` by which a taker may double at once and keep the cube."""

NEVER = 1e-8
"""The chance of a race to go on below which it is taken to be over: less than single precision tells."""


@njit(nogil=True, cache=True)
def _rank(row, top, checkers, uncounted, binomials):
    """The rank of a side's slots 1..top. uncounted: how many of those off are not among the `checkers` that are ranked.

    Colexicographic: with slots p_0 <= p_1 <= ... the sum of binomials[p_k + k, k + 1]. A checker off adds 0.
    """
    k = np.int64(row[0]) - uncounted
    rank = np.int64(0)
    for slot in range(1, top + 1):
        for _ in range(row[slot]):
            rank += binomials[slot + k, k + 1]
            k += 1
        if k >= checkers:
            break
    return rank


@njit(nogil=True, cache=True)
def rank_sides(boards, side, top, checkers, uncounted, binomials, ranks):
    """ranks[i] = the rank of row `side` of each board. boards: `int8[N, 2, 26]`; ranks: `int64[N]`, filled."""
    for i in range(len(boards)):
        ranks[i] = _rank(boards[i, side], top, checkers, uncounted, binomials)


@njit(nogil=True, cache=True)
def _decided(rolled, beavers, state):
    """What a position is worth before the cube is offered, from what it is worth when it is rolled without an offer.

    rolled: `float64[S]`. A double is worth twice the value with the cube on the other side, or 1 if that is less (he
    refuses). A beaver makes it four times. Who doubled may refuse a beaver and lose 2, but would not have doubled then.
    """
    value = rolled[state]
    if len(rolled) == 3 and state < 2:
        double = 2 * rolled[2]
        if beavers == BEAVERS:
            double = min(double, 4 * rolled[2])
        value = max(value, min(1.0, double))
    return value


@njit(nogil=True, cache=True)
def best_replies(boards, offsets, top, checkers, sides, binomials, values, weights, replies, rolled):
    """The best play of every roll, and the mean over the rolls of what it brings.

    boards, offsets: the afterstates of N positions by each of R rolls. values: `float64[sides * sides, S]` by
    rank of row 0 times sides plus rank of row 1. weights: `float64[R]`. replies: `int32[N, R, S]`, filled with the
    afterstates that are played, the first of equals; rolled: `float64[N, S]`, filled.
    """
    n, rolls, states = replies.shape
    best = np.empty(states)
    chosen = np.empty(states, np.int64)
    for i in range(n):
        for s in range(states):
            rolled[i, s] = 0
        for r in range(rolls):
            for s in range(states):
                best[s] = -1e30
            for m in range(offsets[i * rolls + r], offsets[i * rolls + r + 1]):
                at = _rank(boards[m, 0], top, checkers, 0, binomials) * sides
                at += _rank(boards[m, 1], top, checkers, 0, binomials)
                for s in range(states):
                    # The cube in the centre stays there; mine is, for him, the other side's.
                    value = -values[at, 0 if s == 0 else 3 - s]
                    if value > best[s]:
                        best[s] = value
                        chosen[s] = at
            for s in range(states):
                replies[i, r, s] = chosen[s]
                rolled[i, s] += weights[r] * best[s]


@njit(nogil=True, cache=True)
def follow_replies(replies, values, weights, rolled):
    """`best_replies` with the plays as they are: the mean over the rolls, nothing chosen anew."""
    n, rolls, states = replies.shape
    for i in range(n):
        for s in range(states):
            total = 0.0
            for r in range(rolls):
                total -= weights[r] * values[replies[i, r, s], 0 if s == 0 else 3 - s]
            rolled[i, s] = total


@njit(nogil=True, cache=True)
def settle(order, rolled, values, beavers):
    """values[order[i]] = what rolled[i] becomes with the right cube decision. Returns the largest change."""
    change = 0.0
    states = values.shape[1]
    for i in range(len(order)):
        for s in range(states):
            value = _decided(rolled[i], beavers, s)
            change = max(change, abs(value - values[order[i], s]))
            values[order[i], s] = value
    return change


@njit(nogil=True, cache=True)
def follow_chances(replies, chances, weights, fresh):
    """How games end when the replies are played: fresh[i] = the mean of the afterstates' chances, sides exchanged.

    replies: `int32[N, R, 1]`. chances: `float64[P, K + 1]`: K classes for the side on roll, then the mean number of
    rolls to come. fresh: `float64[N, K + 1]`, filled.
    """
    n, rolls, _ = replies.shape
    classes = chances.shape[1] - 1
    half = classes // 2
    for i in range(n):
        for k in range(classes):
            fresh[i, k] = 0
        fresh[i, classes] = 1
        for r in range(rolls):
            row = chances[replies[i, r, 0]]
            for k in range(half):
                fresh[i, k] += weights[r] * row[half + k]
                fresh[i, half + k] += weights[r] * row[k]
            fresh[i, classes] += weights[r] * row[classes]


@njit(nogil=True, cache=True)
def put_rows(order, fresh, chances):
    """chances[order[i]] = fresh[i]. Returns the largest change of a class."""
    change = 0.0
    columns = chances.shape[1]
    for i in range(len(order)):
        for k in range(columns):
            if k < columns - 1:
                change = max(change, abs(fresh[i, k] - chances[order[i], k]))
            chances[order[i], k] = fresh[i, k]
    return change


@njit(nogil=True, cache=True)
def one_sided(order, on_board, offsets, successors, weights, off, first):
    """Chances of a side that plays alone, to be off, or to have the first checker off, after exactly n rolls.

    order: the ranks by rising pips, rank 0 (all off) left out. on_board: checkers left by rank. successors: by rank and
    roll, in the segments of `offsets`. off, first: `float64[P, T]`, filled, by rank and number of rolls; off[0, 0] is
    1. Each plays for the least mean number of rolls to its own end.
    """
    rolls = len(weights)
    steps = off.shape[1]
    mean_off = np.zeros(len(off))
    mean_first = np.zeros(len(off))
    for rank in order:
        for r in range(rolls):
            best_off = -1
            best_first = -1
            for m in range(offsets[rank * rolls + r], offsets[rank * rolls + r + 1]):
                after = successors[m]
                if best_off < 0 or mean_off[after] < mean_off[best_off]:
                    best_off = after
                if best_first < 0:
                    best_first = after
                elif on_board[best_first] == on_board[rank]:
                    if on_board[after] < on_board[rank] or mean_first[after] < mean_first[best_first]:
                        best_first = after
            for n in range(steps - 1):
                off[rank, n + 1] += weights[r] * off[best_off, n]
            if on_board[best_first] < on_board[rank]:
                first[rank, 1] += weights[r]
            else:
                for n in range(steps - 1):
                    first[rank, n + 1] += weights[r] * first[best_first, n]
        for n in range(steps):
            mean_off[rank] += n * off[rank, n]
            mean_first[rank] += n * first[rank, n]


@njit(nogil=True, cache=True)
def two_sided(order, sides, offsets, successors, weights, values, rolled):
    """Exact values of bearing off against each other, every result a single one.

    order: sides * rank of the side on roll + rank of the other one, by rising pips of both, nobody all off.
    offsets, successors: as for `one_sided`. values, rolled: `float64[sides * sides, S]`, where the side not on roll is
    all off set beforehand, the rest filled: with the right cube decision, and rolled without an offer.
    """
    rolls = len(weights)
    states = values.shape[1]
    for at in order:
        mine = at // sides
        his = at % sides
        for s in range(states):
            seen = 0 if s == 0 else 3 - s
            total = 0.0
            for r in range(rolls):
                best = -1e30
                for m in range(offsets[mine * rolls + r], offsets[mine * rolls + r + 1]):
                    best = max(best, -values[his * sides + successors[m], seen])
                total += weights[r] * best
            rolled[at, s] = total
        for s in range(states):
            values[at, s] = _decided(rolled[at], 0, s)


@njit(nogil=True, cache=True)
def _at_home(board):
    """Whether both sides have all checkers at home and not all off."""
    outside = np.int8(0)
    mine = np.int8(0)
    his = np.int8(0)
    for slot in range(7, 26):
        outside |= board[0, slot] | board[1, slot]
    for slot in range(1, 7):
        mine |= board[0, slot]
        his |= board[1, slot]
    return outside == 0 and mine > 0 and his > 0


@njit(nogil=True, cache=True)
def _nothing_outside(words, i):
    """Whether row 0's slots 8 to 23 and row 1's slots 10 to 25 are empty: a glance that most boards do not pass."""
    mine = words[i, 2] | words[i, 3] | words[i, 4] | words[i, 5]
    return (mine | words[i, 9] | words[i, 10] | words[i, 11] | words[i, 12]) == 0


@njit(nogil=True, cache=True)
def any_at_home(boards, words):
    """Whether any of N boards is `_at_home`. words: the same as `int32[N, 13]`."""
    i = 0
    while i < len(boards) and not (_nothing_outside(words, i) and _at_home(boards[i])):
        i += 1
    return i < len(boards)


@njit(nogil=True, cache=True)
def _race(board, mars, binomials, off, first, chances):
    """The chances of a race of sides that do not look at each other, `float64[4]`: row 0 wins single, mars, loses so.

    off, first: as `one_sided` makes them. mars: whether there is any.
    """
    checkers = 0
    for slot in range(26):
        checkers += board[0, slot]
    most = off.shape[1]
    my_rank = _rank(board[0], 6, 15, checkers - 15, binomials)
    his_rank = _rank(board[1], 6, 15, checkers - 15, binomials)
    my_off = off[my_rank]
    his_off = off[his_rank]
    my_first = first[my_rank]
    his_first = first[his_rank]
    mine_on = 1.0
    his_on = 1.0
    mine_none = 1.0 if mars and board[0, 0] == 0 else 0.0
    his_none = 1.0 if mars and board[1, 0] == 0 else 0.0
    for k in range(4):
        chances[k] = 0
    # Row 0 is off with its roll n: row 1 has had n - 1. Row 1 is off with its roll n: row 0 has had n.
    for n in range(1, most):
        chances[0] += my_off[n] * (his_on - his_none)
        chances[1] += my_off[n] * his_none
        mine_on = max(mine_on - my_off[n], 0.0)
        if mine_none > 0:
            mine_none = min(max(mine_none - my_first[n], 0.0), mine_on)
        chances[2] += his_off[n] * (mine_on - mine_none)
        chances[3] += his_off[n] * mine_none
        his_on = max(his_on - his_off[n], 0.0)
        if his_none > 0:
            his_none = min(max(his_none - his_first[n], 0.0), his_on)
        if mine_on * his_on < NEVER:
            break
    total = chances[0] + chances[1] + chances[2] + chances[3]
    for k in range(4):
        chances[k] /= total


@njit(nogil=True, cache=True)
def races(boards, mars, binomials, off, first, answers):
    """answers[i] = the chances of the six classes by the one-sided tables. boards: all `_at_home`."""
    chances = np.empty(4)
    for i in range(len(boards)):
        _race(boards[i], mars, binomials, off, first, chances)
        answers[i] = 0
        answers[i, 0] = chances[0]
        answers[i, 1] = chances[1]
        answers[i, 3] = chances[2]
        answers[i, 4] = chances[3]


@njit(nogil=True, cache=True)
def look_up(boards, words, mars, checkers, binomials, off, first, most, sides, win, points, answers, values, known):
    """Put what the tables say into the rows of boards that are `_at_home`, and mark them.

    Two-sided tables, of `sides` sides of up to `most` checkers, where they cover a board, one-sided ones elsewhere.
    words: as in `any_at_home`. answers: `float32[N, 6]`, values: `float32[N]`; known: `bool[N]`, filled.
    """
    chances = np.empty(4)
    for i in range(len(boards)):
        board = boards[i]
        known[i] = _nothing_outside(words, i) and _at_home(board)
        if not known[i]:
            continue
        fewest = min(board[0, 0], board[1, 0])
        if fewest >= checkers - most and (fewest > 0 or not mars):
            at = _rank(board[0], 6, most, checkers - most, binomials) * sides
            at += _rank(board[1], 6, most, checkers - most, binomials)
            chances[0] = win[at]
            chances[1] = 0
            chances[2] = 1 - chances[0]
            chances[3] = 0
        else:
            _race(board, mars, binomials, off, first, chances)
        answers[i] = 0
        answers[i, 0] = chances[0]
        answers[i, 1] = chances[1]
        answers[i, 3] = chances[2]
        answers[i, 4] = chances[3]
        values[i] = chances[0] * points[0] + chances[1] * points[1] + chances[2] * points[3] + chances[3] * points[4]

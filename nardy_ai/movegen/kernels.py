"""The rules of play, compiled: one kernel that turns boards and rolls into distinct afterstates, for every rule set.

Nothing is hashed: each distinct result is made once by construction, except where bearing off meets two different
dice (a short list is compared). How:

- *A double* is a multiset of sources, taken in falling order. The result fixes how many checkers left each point,
  so no multiset gives a board twice. Every legal sequence can be put into falling order, rules about the order of
  moves aside (hiding, the block judged after every move); plays in danger of those are tried in every order.
- *Two different dice, no bearing off*: two checkers (i by the larger, j by the smaller die) give a board nothing else
  gives, unless one lands where the other leaves; those pairs are left out, and each net move of one checker is made
  once, and once more for each blot it hits on the way.

Points are bits of `int64` masks in the mover's own numbering. `cur` is the afterstate being built, 52 bytes in the
order of the result: the waiting side first, the mover from byte 26 on. Kernels run as ordinary Python with
compilation off (`NUMBA_DISABLE_JIT=1`). Everything that is called from here is in this file, because the compile cache
does not see edits elsewhere. The only caller is `generate`.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

FREE, AHEAD, HOME_BLOCK, NEVER = range(4)
ALLOWED, NO_HIDE, NO_RUN = range(3)
NO_EXCEPTION, ONLY_66, FROM_44, FROM_33, ANY_DOUBLE, IF_BLOCKED_DOUBLE, IF_BLOCKED = range(7)

NO_LIMIT = 127
MOST_OF_TWO_DICE = 512
"""More results than any roll of two different dice has: room that must be left before one is expanded."""

OVERFLOW = -1


class KernelRules(NamedTuple):
    """A rule set in numbers. `facing` lies apart, because it is an array."""

    parallel: int
    checkers: int
    closed_by: int
    head_limit: int
    head_exception: int
    six_block: int
    six_step: int
    hide: int
    hide_mask: int
    hide_final: int


if config.DISABLE_JIT:

    def lowest_bit(mask):
        """The number of the lowest bit that is set; `mask` is not 0."""
        return int(mask & -mask).bit_length() - 1

    def highest_bit(mask):
        """The number of the highest bit that is set; `mask` is not 0."""
        return int(mask).bit_length() - 1

else:

    @intrinsic
    def lowest_bit(typingctx: Any, mask: Any) -> Any:
        """The number of the lowest bit that is set; `mask` is not 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.int64), codegen

    @intrinsic
    def highest_bit(typingctx: Any, mask: Any) -> Any:
        """The number of the highest bit that is set; `mask` is not 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.int64), codegen


@njit(nogil=True, cache=True)
def forbidden_block(occupied, rules, waiting):
    """Whether own points `occupied` hold a block of six that the rules forbid.

    waiting: the waiting side's occupied slots in its own numbering, a checker off included; bit 25 is always set.
    """
    points = (occupied >> 1) & 0xFFFFFF
    if rules.parallel:
        points = ((points >> 12) | (points << 12)) & 0xFFFFFF
    pairs = points & (points >> 1)
    fours = pairs & (pairs >> 2)
    sixes = fours & (pairs >> 4)
    if sixes == 0:
        return False
    if rules.six_block == NEVER:
        return True
    waiting_low = lowest_bit(waiting)
    if rules.six_block == HOME_BLOCK:
        return waiting_low > 6
    # His number of the block's lowest point; the lowest block is the hardest to have passed.
    first = lowest_bit(sixes) + 1 if rules.parallel else 19 - highest_bit(sixes)
    return waiting_low >= first


@njit(nogil=True, cache=True)
def block_in_reach(occupied, moves, rules):
    """Whether `moves` moves could complete a block of six: a window of six lacks no more points than that."""
    points = (occupied >> 1) & 0xFFFFFF
    if rules.parallel:
        points = ((points >> 12) | (points << 12)) & 0xFFFFFF
    for start in range(19):
        window = (points >> start) & 63
        missing = 6
        while window:
            window &= window - 1
            missing -= 1
        if missing <= moves:
            return True
    return False


@njit(nogil=True, cache=True)
def _copy_out(out32, m, cur32):
    for word in range(13):
        out32[m, word] = cur32[word]


@njit(nogil=True, cache=True)
def _playable_in_some_order(cur, sources, dice, n, blots, rules, facing, waiting, board, flagged, hidden):
    """Whether `n` moves (sources[k] by dice[k]) can be played in some order under the rules about order.

    cur: the board before the turn, unchanged here. board, flagged, hidden: scratch `int8[26]`. The plain rules (closed
    points, head) are taken as kept; the bar, bearing off, the block after every move and hiding are judged here. A bit
    of `choice` says whether a checker that has hit, or another one, leaves the point where both stand.
    """
    orders = 1
    for k in range(2, n + 1):
        orders *= k
    for order in range(orders):
        for choice in range(1 << n):
            for p in range(26):
                board[p] = cur[26 + p]
                flagged[p] = 0
                hidden[p] = 0
            left = blots
            waits = waiting
            used = 0
            rest = order
            legal = True
            for step in range(n):
                # Decode the order: the (rest mod remaining)-th move not yet used.
                pick = rest % (n - step)
                rest //= n - step
                k = 0
                while True:
                    if not (used >> k) & 1:
                        if pick == 0:
                            break
                        pick -= 1
                    k += 1
                used |= 1 << k
                source = sources[k]
                target = max(source - dice[k], 0)
                if board[source] == 0 or (board[25] > 0 and source != 25):
                    legal = False
                    break
                marked = flagged[source] + hidden[source]
                by_hitter = (choice >> step) & 1
                if by_hitter and marked == 0:
                    legal = False
                    break
                if not by_hitter and board[source] == marked:
                    legal = False
                    break
                if target == 0:
                    highest = 0
                    for p in range(25, 0, -1):
                        if board[p] > 0:
                            highest = p
                            break
                    if highest > 6 or (source < dice[k] and highest > source):
                        legal = False
                        break
                if by_hitter and rules.hide == NO_RUN:
                    legal = False
                    break
                lands_on_own = target > 0 and board[target] > 0
                if by_hitter and lands_on_own and not rules.hide_final:
                    legal = False
                    break
                board[source] -= 1
                board[target] += 1
                hits = target > 0 and (left >> target) & 1
                if hits:
                    left &= ~(np.int64(1) << target)
                    waits &= ~(np.int64(1) << facing[target])
                if by_hitter:
                    if hidden[source] > 0:
                        hidden[source] -= 1
                    else:
                        flagged[source] -= 1
                if target > 0:
                    if hits and rules.hide != ALLOWED and (rules.hide_mask >> target) & 1:
                        flagged[target] += 1
                    elif by_hitter:
                        if lands_on_own:
                            hidden[target] += 1
                        else:
                            flagged[target] += 1
                if rules.six_block != FREE and rules.six_step:
                    occupied = np.int64(0)
                    for p in range(1, 25):
                        if board[p] > 0:
                            occupied |= np.int64(1) << p
                    if forbidden_block(occupied, rules, waits):
                        legal = False
                        break
            if legal:
                for p in range(1, 25):
                    if hidden[p] > 0 and board[p] > 1:
                        legal = False
            if legal:
                return True
    return False


@njit(nogil=True, cache=True)
def _hide_in_reach(occupied, closed, blots, die, rules):
    """Whether within three moves of `die` a blot is hit where hiding is banned, and a fourth can go on from there."""
    from_three = (occupied >> die) | (occupied >> 2 * die) | (occupied >> 3 * die)
    goes_on = blots & rules.hide_mask & from_three & ~(closed << die)
    if rules.hide == NO_HIDE:
        goes_on &= ~((np.int64(2) << die) - 1)  # bearing off is no hiding
    return goes_on != 0


@njit(nogil=True, cache=True)
def _lands_on_own(target, start, sources, n, rules):
    """Whether a checker that comes to `target` in a double finds an own one there in whatever order it is played."""
    if target < 1 or rules.hide_final:
        return False
    stay = start[target]
    for k in range(n):
        if sources[k] == target:
            stay -= 1
    return stay > 0


@njit(nogil=True, cache=True)
def _expand_double(
    die, cur, cur32, occupied, closed, blots, limit, rules, facing, waiting, scratch, out32, out8, m, room
):
    """All results of a double. Returns (results end, dice played), or (OVERFLOW, 0) when `room` is reached."""
    first = m
    best = 0
    checkers = scratch[3]
    sources = scratch[4]
    dice = scratch[5]
    hit_at = scratch[6]
    start = scratch[7]
    for p in range(26):
        start[p] = cur[26 + p]
    start_blots = blots
    hide_risk = rules.hide != ALLOWED and _hide_in_reach(occupied, closed, blots, die, rules)
    block_risk = rules.six_block != FREE and block_in_reach(occupied, 4, rules)
    judged = hide_risk or block_risk
    for k in range(4):
        dice[k] = die
    cand = scratch[8]
    occ = scratch[9]
    depth = 0
    heads = 0
    last = 25
    occ[0] = occupied
    low = (np.int64(1) << (die + 1)) - 1
    blocked = (closed << die) | low
    fresh = True
    while True:
        if fresh:
            now = occ[depth]
            if now >> 25:
                mask = now & (np.int64(1) << 25) & ~blocked
            else:
                mask = now & ~blocked
                if heads >= limit:
                    mask &= ~(np.int64(1) << 24)
                if now >> 7 == 0 and now != 0:
                    top = highest_bit(now)
                    if top < die:
                        mask |= np.int64(1) << top
                    else:
                        mask |= now & (np.int64(1) << die)
                mask &= (np.int64(2) << last) - 1
            cand[depth] = mask
            fresh = False
            if depth == 3 and not judged and mask:
                if best < 4:
                    best = 4
                    m = first
                while mask:
                    p = lowest_bit(mask)
                    mask &= mask - 1
                    if m >= room:
                        return OVERFLOW, 0
                    _copy_out(out32, m, cur32)
                    base = 52 * m
                    t = max(p - die, 0)
                    out8[base + 26 + p] -= 1
                    out8[base + 26 + t] += 1
                    if (blots >> t) & 1:
                        out8[base + facing[t]] -= 1
                        out8[base + 25] += 1
                    m += 1
                cand[3] = 0
        if cand[depth] == 0 or depth == 4:
            if depth == 0:
                break
            # Leave this node; it is a play if no deeper one was found and it passes what is judged at the end.
            if depth >= best:
                good = True
                ask = False
                if block_risk:
                    waits = waiting
                    for k in range(depth):
                        if hit_at[k]:
                            waits &= ~(np.int64(1) << facing[hit_at[k]])
                        if k + 1 == depth or rules.six_step:
                            if forbidden_block(occ[k + 1], rules, waits):
                                # At the end it counts always; on the way another order may avoid it.
                                good = good and k + 1 < depth
                                ask = True
                if good and hide_risk:
                    for k in range(depth):
                        t = hit_at[k]
                        if t and (rules.hide_mask >> t) & 1 and cur[26 + t] == 0:
                            # Everyone who came here has gone on, the checker that hit with them.
                            if rules.hide == NO_RUN or _lands_on_own(t - die, start, sources, depth, rules):
                                good = False
                            else:
                                ask = True
                if good and ask:
                    for p in range(26):
                        checkers[p] = cur[26 + p]
                        cur[26 + p] = start[p]
                    good = _playable_in_some_order(
                        cur, sources, dice, depth, start_blots, rules, facing, waiting,
                        scratch[0], scratch[1], scratch[2],
                    )  # fmt: skip
                    for p in range(26):
                        cur[26 + p] = checkers[p]
                if good:
                    if depth > best:
                        best = depth
                        m = first
                    if m >= room:
                        return OVERFLOW, 0
                    _copy_out(out32, m, cur32)
                    m += 1
            depth -= 1
            p = sources[depth]
            t = max(p - die, 0)
            cur[26 + p] += 1
            cur[26 + t] -= 1
            if p == 24:
                heads -= 1
            if hit_at[depth]:
                cur[facing[t]] += 1
                cur[25] -= 1
                blots |= np.int64(1) << t
            continue
        p = lowest_bit(cand[depth])
        cand[depth] &= cand[depth] - 1
        t = max(p - die, 0)
        cur[26 + p] -= 1
        cur[26 + t] += 1
        now = occ[depth]
        if cur[26 + p] == 0:
            now &= ~(np.int64(1) << p)
        if t:
            now |= np.int64(1) << t
        hit_at[depth] = 0
        if (blots >> t) & 1:
            cur[facing[t]] -= 1
            cur[25] += 1
            blots &= ~(np.int64(1) << t)
            hit_at[depth] = t
        if p == 24:
            heads += 1
        sources[depth] = p
        last = p
        depth += 1
        occ[depth] = now
        if depth < 4:
            fresh = True
        else:
            cand[4] = 0
    return m, best


@njit(nogil=True, cache=True)
def _expand_bearing_off(a, b, cur, cur32, occupied, closed, blots, limit, rules, facing, waiting, keys, out32, out8, m):
    """All results of two different dice where a checker may come off: both orders, results compared. The bar is empty.

    keys: scratch `int64[512, 2]`. Returns (results end, dice played).
    """
    first = m
    best = 0
    check_block = rules.six_block != FREE
    for n_dice in range(2, 0, -1):
        for order in range(2):
            d1 = a if order == 0 else b
            d2 = b if order == 0 else a
            if n_dice == 1 and order == 1 and m > first:
                break  # the larger die can be played
            mask1 = _sources(occupied, closed, d1)
            while mask1:
                i = lowest_bit(mask1)
                mask1 &= mask1 - 1
                t1 = max(i - d1, 0)
                occ1 = occupied
                if cur[26 + i] == 1:
                    occ1 &= ~(np.int64(1) << i)
                if t1:
                    occ1 |= np.int64(1) << t1
                hit1 = (blots >> t1) & 1
                waits1 = waiting & ~(hit1 << facing[t1])
                if check_block and (rules.six_step or n_dice == 1) and forbidden_block(occ1, rules, waits1):
                    continue
                if n_dice == 1:
                    m = _emit_once(cur32, out32, out8, first, m, keys, i, t1, hit1, 0, 0, 0, facing)
                    best = 1
                    continue
                mask2 = _sources(occ1, closed, d2)
                if i == 24 and limit < 2:
                    mask2 &= ~(np.int64(1) << 24)
                while mask2:
                    j = lowest_bit(mask2)
                    mask2 &= mask2 - 1
                    t2 = max(j - d2, 0)
                    occ2 = occ1
                    # A first move may have left j with one checker fewer or more.
                    at_j = cur[26 + j] - (1 if i == j else 0) + (1 if t1 == j else 0)
                    if hit1 and j == t1 and rules.hide != ALLOWED and (rules.hide_mask >> t1) & 1:
                        if rules.hide == NO_RUN or (t2 > 0 and (occ1 >> t2) & 1):
                            continue
                    if at_j == 1:
                        occ2 &= ~(np.int64(1) << j)
                    if t2:
                        occ2 |= np.int64(1) << t2
                    hit2 = (blots >> t2) & 1 if t1 != t2 else np.int64(0)
                    if check_block and forbidden_block(occ2, rules, waits1 & ~(hit2 << facing[t2])):
                        continue
                    m = _emit_once(cur32, out32, out8, first, m, keys, i, t1, hit1, j, t2, hit2, facing)
                    best = 2
        if m > first:
            break
    return m, best


@njit(nogil=True, cache=True)
def _sources(occupied, closed, die):
    """Own points from which a checker may move by `die`, bearing off included, the bar and the head aside."""
    mask = occupied & ~((closed << die) | ((np.int64(1) << (die + 1)) - 1))
    if occupied >> 7 == 0 and occupied != 0:
        top = highest_bit(occupied)
        if top < die:
            mask |= np.int64(1) << top
        else:
            mask |= occupied & (np.int64(1) << die)
    return mask


@njit(nogil=True, cache=True)
def _emit_once(cur32, out32, out8, first, m, keys, i, t1, hit1, j, t2, hit2, facing):
    """Write the result of i/t1 (and j/t2; j = 0 for none) unless it is there already. Returns the results' end."""
    hits = np.int64(0)
    if hit1:
        hits |= np.int64(1) << t1
    if hit2:
        hits |= np.int64(1) << t2
    if j == 0:
        key = i * 32 + t1
    elif j == t1:
        key = i * 32 + t2
    elif t2 == i:
        key = j * 32 + t1
    else:
        key = (max(i, j) * 32 + min(i, j)) * 1024 + max(t1, t2) * 32 + min(t1, t2)
    for k in range(m - first):
        if keys[k, 0] == key and keys[k, 1] == hits:
            return m
    keys[m - first, 0] = key
    keys[m - first, 1] = hits
    _copy_out(out32, m, cur32)
    base = 52 * m
    out8[base + 26 + i] -= 1
    out8[base + 26 + t1] += 1
    if hit1:
        out8[base + facing[t1]] -= 1
        out8[base + 25] += 1
    if j:
        out8[base + 26 + j] -= 1
        out8[base + 26 + t2] += 1
        if hit2:
            out8[base + facing[t2]] -= 1
            out8[base + 25] += 1
    return m + 1


@njit(nogil=True, cache=True)
def _expand_two_dice(a, b, cur, cur32, occupied, closed, blots, limit, rules, facing, waiting, scratch, out32, out8, m):
    """All results of two different dice, `a` the larger, where no checker can come off. Returns (end, dice played)."""
    first = m
    one = np.int64(1)
    head = one << 24
    bar = one << 25
    low_a = (one << (a + 1)) - 1
    low_b = (one << (b + 1)) - 1
    mask_a = occupied & ~((closed << a) | low_a)
    mask_b = occupied & ~((closed << b) | low_b)
    on_bar = cur[26 + 25]
    if on_bar:
        # Two on the bar: both dice enter, or one of them does. One: it enters with either die.
        if on_bar > 1:
            mask_a &= bar
            mask_b &= bar
    block_risk = rules.six_block != FREE and block_in_reach(occupied, 2, rules)
    step_risk = block_risk and rules.six_step
    sources = scratch[4]
    dice = scratch[5]

    # Two checkers.
    mask = mask_a
    while mask:
        i = lowest_bit(mask)
        mask &= mask - 1
        t = i - a
        second = mask_b & ~((one << t) | (one << (i + b)))
        if cur[26 + i] == 1:
            second &= ~(one << i)
        if i == 24 and limit < 2:
            second &= ~head
        if on_bar and i != 25:
            second &= bar
        if second == 0:
            continue
        cur[26 + i] -= 1
        cur[26 + t] += 1
        hit = (blots >> t) & 1
        blots_left = blots
        if hit:
            cur[facing[t]] -= 1
            cur[25] += 1
            blots_left &= ~(one << t)
        occ1 = occupied | (one << t)
        if cur[26 + i] == 0:
            occ1 &= ~(one << i)
        while second:
            j = lowest_bit(second)
            second &= second - 1
            u = j - b
            if block_risk:
                waits_i = waiting & ~(((blots >> t) & 1) << facing[t])
                waits_j = waiting & ~(((blots >> u) & 1) << facing[u])
                occ2 = occ1 | (one << u)
                if cur[26 + j] == 1:
                    occ2 &= ~(one << j)
                if forbidden_block(occ2, rules, waits_i & waits_j):
                    continue
                if step_risk:
                    # One of the two orders must be good; a checker on the bar goes first.
                    occ3 = occupied | (one << u)
                    if cur[26 + j] + (1 if i == j else 0) == 1:
                        occ3 &= ~(one << j)
                    i_first = (not on_bar or i == 25) and not forbidden_block(occ1, rules, waits_i)
                    j_first = (not on_bar or j == 25) and not forbidden_block(occ3, rules, waits_j)
                    if not i_first and not j_first:
                        continue
            _copy_out(out32, m, cur32)
            base = 52 * m
            out8[base + 26 + j] -= 1
            out8[base + 26 + u] += 1
            if (blots_left >> u) & 1:
                out8[base + facing[u]] -= 1
                out8[base + 25] += 1
            m += 1
        cur[26 + i] += 1
        cur[26 + t] -= 1
        if hit:
            cur[facing[t]] += 1
            cur[25] -= 1

    # One checker, both dice.
    if on_bar < 2:
        ab = a + b
        mask = (mask_a | mask_b) & ~((closed << ab) | ((one << (ab + 1)) - 1))
        if on_bar:
            mask &= bar
        while mask:
            i = lowest_bit(mask)
            mask &= mask - 1
            t = i - ab
            via_a = (mask_a >> i) & 1
            via_b = (mask_b >> i) & 1
            hit_a = via_a and (blots >> (i - a)) & 1
            hit_b = via_b and (blots >> (i - b)) & 1
            occ2 = occupied | (one << t)
            if cur[26 + i] == 1:
                occ2 &= ~(one << i)
            for way in range(3):
                # 0: no hit on the way; 1: hit where the larger die leads; 2: where the smaller one does.
                if way == 0:
                    good = (via_a and not hit_a) or (via_b and not hit_b)
                    stop = 0
                elif way == 1:
                    good = hit_a
                    stop = i - a
                else:
                    good = hit_b
                    stop = i - b
                if not good:
                    continue
                if stop and rules.hide != ALLOWED and (rules.hide_mask >> stop) & 1:
                    if rules.hide == NO_RUN or (occupied >> t) & 1:
                        continue
                if block_risk:
                    waits = waiting & ~(((blots >> t) & 1) << facing[t])
                    if stop:
                        waits &= ~(one << facing[stop])
                    if forbidden_block(occ2, rules, waits):
                        continue
                if step_risk:
                    found = False
                    for die in (a, b):
                        stop2 = i - die
                        if way == 0:
                            passes = not ((blots >> stop2) & 1)
                        else:
                            passes = stop2 == stop
                        if die == a:
                            passes = passes and via_a
                        else:
                            passes = passes and via_b
                        if passes and not found:
                            sources[0] = i
                            dice[0] = die
                            sources[1] = stop2
                            dice[1] = ab - die
                            found = _playable_in_some_order(
                                cur, sources, dice, 2, blots, rules, facing, waiting,
                                scratch[0], scratch[1], scratch[2],
                            )  # fmt: skip
                    if not found:
                        continue
                _copy_out(out32, m, cur32)
                base = 52 * m
                out8[base + 26 + i] -= 1
                out8[base + 26 + t] += 1
                if stop:
                    out8[base + facing[stop]] -= 1
                    out8[base + 25] += 1
                if (blots >> t) & 1:
                    out8[base + facing[t]] -= 1
                    out8[base + 25] += 1
                m += 1
    if m > first:
        return m, 2

    # One die: the larger if it can be played.
    for die in (a, b):
        mask = mask_a if die == a else mask_b
        if on_bar:
            mask &= bar
        while mask:
            i = lowest_bit(mask)
            mask &= mask - 1
            t = i - die
            if block_risk:
                occ1 = occupied | (one << t)
                if cur[26 + i] == 1:
                    occ1 &= ~(one << i)
                if forbidden_block(occ1, rules, waiting & ~(((blots >> t) & 1) << facing[t])):
                    continue
            _copy_out(out32, m, cur32)
            base = 52 * m
            out8[base + 26 + i] -= 1
            out8[base + 26 + t] += 1
            if (blots >> t) & 1:
                out8[base + facing[t]] -= 1
                out8[base + 25] += 1
            m += 1
        if m > first:
            return m, 1
    return first, 0


@njit(nogil=True, cache=True)
def expand(boards, dice, rules, facing, at, end, out32, m, room, offsets):
    """Expand positions `at`..`end` into `out32` from result `m` on, as far as `room` reaches.

    boards: `int8[N, 2, 26]`. dice: `uint8[N, 2]`, larger first. facing: `int64[26]`. out32: `int32[cap, 13]`, the 52
    bytes of each result. offsets: `int64[N + 1]`, filled up to the position reached. Returns (position, results' end).
    """
    one = np.int64(1)
    out8 = out32.reshape(-1).view(np.int8)
    scratch = np.zeros((10, 26), np.int64)
    keys = np.zeros((MOST_OF_TWO_DICE, 2), np.int64)
    cur32 = np.zeros(13, np.int32)
    cur = cur32.view(np.int8)
    while at < end:
        if room - m < MOST_OF_TWO_DICE:
            return at, m
        a = np.int64(dice[at, 0])
        b = np.int64(dice[at, 1])
        occupied = np.int64(0)
        closed = np.int64(0)
        blots = np.int64(0)
        waiting = one << 25
        for p in range(26):
            mine = boards[at, 0, p]
            his = boards[at, 1, p]
            cur[26 + p] = mine
            cur[p] = his
            if 1 <= p and mine > 0:
                occupied |= one << p
            if his > 0 and p < 25:
                waiting |= one << p
                if p >= 1:
                    if his >= rules.closed_by:
                        closed |= one << facing[p]
                    else:
                        blots |= one << facing[p]
        limit = rules.head_limit
        exception = rules.head_exception
        retry = False
        if exception != NO_EXCEPTION and cur[26 + 24] == rules.checkers:
            if exception <= FROM_33:
                if a == b and (a == 6 or (a == 4 and exception >= FROM_44) or (a == 3 and exception == FROM_33)):
                    limit += 1
            elif exception == ANY_DOUBLE:
                if a == b:
                    limit += 1
            else:
                retry = a == b or exception == IF_BLOCKED
        first = m
        outside = occupied >> 7
        bears_off = outside == 0
        if not bears_off and outside & (outside - 1) == 0:
            top = lowest_bit(outside) + 7
            bears_off = cur[26 + top] == 1 and top - a <= 6
        while True:
            if a == b:
                m, played = _expand_double(
                    a,
                    cur,
                    cur32,
                    occupied,
                    closed,
                    blots,
                    limit,
                    rules,
                    facing,
                    waiting,
                    scratch,
                    out32,
                    out8,
                    first,
                    room,
                )
                if m == OVERFLOW:
                    return at, first
                full = 4
            elif bears_off:
                m, played = _expand_bearing_off(
                    a, b, cur, cur32, occupied, closed, blots, limit, rules, facing, waiting, keys, out32, out8, first
                )
                full = 2
            else:
                m, played = _expand_two_dice(
                    a,
                    b,
                    cur,
                    cur32,
                    occupied,
                    closed,
                    blots,
                    limit,
                    rules,
                    facing,
                    waiting,
                    scratch,
                    out32,
                    out8,
                    first,
                )
                full = 2
            if retry and played < full:
                retry = False
                limit += 1
                continue
            break
        if m == first:
            _copy_out(out32, m, cur32)
            m += 1
        at += 1
        offsets[at] = m
    return at, m


@njit(nogil=True, cache=True)
def first_fault(boards, dice, checkers):
    """The first position that cannot be expanded, -1 if all can.

    It has a count below 0, a row that does not sum to `checkers`, a side that is all off, or a roll that is not two
    numbers from 6 down to 1, larger first.
    """
    for n in range(len(boards)):
        for side in range(2):
            total = np.int32(0)
            signs = np.int8(0)
            for p in range(26):
                total += np.int32(boards[n, side, p])
                signs |= boards[n, side, p]
            if signs < 0 or total != checkers or boards[n, side, 0] == checkers:
                return n
        if dice[n, 0] > 6 or dice[n, 0] < dice[n, 1] or dice[n, 1] < 1:
            return n
    return -1


@njit(nogil=True, cache=True)
def best_of_segments(values, offsets, chosen):
    """The index of the highest value of each segment, the first of equals. chosen: `int64[N]`, filled."""
    for i in range(len(offsets) - 1):
        best = offsets[i]
        for k in range(offsets[i] + 1, offsets[i + 1]):
            if values[k] > values[best]:
                best = k
        chosen[i] = best

"""The network and its fast path: everything a trained bot computes, but for its inputs (`features`, `tactics`).

A network is a first layer shared by all positions and one small head for each phase of the game (`phases`):
inputs -> H units -> O units (-> M units) -> K classes, softmax over the classes that are still possible. The O and M
units are rectified linear; the H units are that or its square (`ACTIVATIONS`).
Its inputs are slots of small whole numbers (`features`), so the first layer folds into a table of rows, one for
each slot and value, and

1. a parent's sum is made once, in the view of the side that rolls next, of one row for each slot that holds any;
2. each sibling adds the rows of the few slots in which it differs;
3. the O units of eight positions at a time are made in registers (`vectors`);
4. classes, softmax and points follow, all in one compiled function without temporaries of batch size.

Up to the sums of the O units all numbers are whole multiples of powers of two (`grid`) that no sum lets overflow, so a
position has the same value to the last bit whatever its parent, batch or place in it. Training (`train`) has the same
network in torch; both read one file and agree to 1e-5.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from nardy_ai import outcomes as oc
from nardy_ai.boards import CONTRARY, SLOTS, Boards, checked_boards, swap_sides
from nardy_ai.errors import BoardError, BotError
from nardy_ai.evaluators.grid import (
    CEILING,
    MOST_SUM,
    REAL_BITS,
    Grid,
    as_int16,
    find_grid,
    find_reach,
    from_units,
    holds,
    in_units,
    square,
    weight_units,
    whole_rows,
)
from nardy_ai.evaluators.pruning import PruningNet
from nardy_ai.features import COUNTS, LEVELS, STEPS, FeatureSet
from nardy_ai.movegen.generate import Afterstates
from nardy_ai.movegen.kernels import highest_bit, lowest_bit
from nardy_ai.phases import PhaseSet, PhaseTables, find_phases
from nardy_ai.rules import RuleSet
from nardy_ai.vectors import (
    LANES,
    PRODUCT_ROWS,
    add_four_rows,
    add_product_of_16,
    add_product_of_32,
    bytes_differ,
    bytes_with,
    exchange_rows,
    lined_up,
    lined_up_space,
)

UNIT_MULTIPLE = 16
ACTIVATIONS = ("linear", "squared")
"""What the H units make of their sum x: max(x, 0), or the square of x held between 0 and `CEILING`."""

_ROWS = 64
_DEPTH = 128
_POINTS_AND_BAR = 0x3FFFFFE
_BARRED = np.float32(-1e30)
_SCORING = {"oin": 0, "oin_mars": 1, "oin_mars_koks": 2, "checkers_left": 3}


class OutcomeRules(NamedTuple):
    """What the kernel must know of a rule set."""

    contrary: int
    checkers: int
    scoring: int
    koks_needs_none_off: int


@dataclass(frozen=True)
class Weights:
    """Trained numbers, `float32`. P phases, S slots, F steps, H and O units, K classes.

    first `[S * F, H]`, first_bias `[H]`, second `[P, O, H]`, second_bias `[P, O]`, third `[P, K, O]`,
    third_bias `[P, K]`; reals `[R, V]`: what the last V units see of the R real inputs that some feature sets have.
    middle `[P, M, O]`, middle_bias `[P, M]`: a layer between the second and the third, which then is `[P, K, M]`, or
    with M = 0 none.
    """

    first: NDArray[np.float32]
    first_bias: NDArray[np.float32]
    second: NDArray[np.float32]
    second_bias: NDArray[np.float32]
    third: NDArray[np.float32]
    third_bias: NDArray[np.float32]
    reals: NDArray[np.float32]
    middle: NDArray[np.float32]
    middle_bias: NDArray[np.float32]

    def rounded_to(self, grid: Grid) -> "Weights":
        """The same with the first two layers on a grid."""
        units = weight_units(len(self.first), grid)
        on_grid = {name: from_units(in_units(getattr(self, name), unit), unit) for name, unit in units.items()}
        return replace(self, **on_grid)

    def check(self, features: FeatureSet, phases: int, classes: int) -> None:
        """Refuse shapes that do not fit together, and values that are no numbers. Raises BotError."""
        units = self.first.shape[-1] if self.first.ndim else 0
        hidden = self.second.shape[1] if self.second.ndim == 3 else 0
        seeing = self.reals.shape[-1] if self.reals.ndim else 0
        middle = self.middle.shape[1] if self.middle.ndim == 3 else 0
        expected = {
            "first": (features.slots * STEPS.shape[1], units),
            "first_bias": (units,),
            "second": (phases, hidden, units),
            "second_bias": (phases, hidden),
            "middle": (phases, middle, hidden),
            "middle_bias": (phases, middle),
            "third": (phases, classes, middle or hidden),
            "third_bias": (phases, classes),
            "reals": (features.reals, seeing),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float32:
                raise BotError(f"weights {name} are {array.dtype}{list(array.shape)}; expected float32{list(shape)}")
            if not np.isfinite(array).all():
                raise BotError(f"weights {name} hold values that are no finite numbers")
        if units % UNIT_MULTIPLE or hidden % 4 or middle % 4 or not units or not hidden:
            raise BotError(
                f"{units}, {hidden} and {middle} units; expected multiples of {UNIT_MULTIPLE}, of 4 and of 4"
            )
        if seeing % UNIT_MULTIPLE or seeing > units or bool(seeing) != bool(features.reals):
            raise BotError(f"{seeing} of {units} units see the {features.reals} real inputs; expected a part of them")


class Curve(NamedTuple):
    """A unit's sum becomes itself between 0 and ceiling, or if squared its square less `SQUARE_SHIFT` bits."""

    ceiling: int
    squared: bool


class Known(NamedTuple):
    """Answers for some of M boards, which need no network: answers `float32[M, K]`, values `float32[M]`, right at the
    boards that at, `bool[M]`, marks.
    """

    answers: NDArray[np.float32]
    values: NDArray[np.float32]
    at: NDArray[np.bool_]


@dataclass
class Network:
    """An evaluator and bot from weights. `name` is what reports call it.

    grid: where the first two layers lie; None: the finest that fits. The weights are those rounded to it. pruning: what
    guesses the order of plays for whoever does not want all of them judged.
    """

    name: str
    rules: RuleSet
    features: FeatureSet
    weights: Weights
    phases: PhaseSet = field(default_factory=lambda: find_phases("race-1"))
    activation: str = ACTIVATIONS[0]
    grid: Grid | None = None
    pruning: PruningNet | None = None
    _folded: "_Folded" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.weights.check(self.features, self.phases.count(self.rules.board), oc.class_count(self.rules))
        if self.activation not in ACTIVATIONS:
            raise BotError(f"unknown activation {self.activation!r}; expected one of {', '.join(ACTIVATIONS)}")
        squared = self.activation == "squared"
        weights = self.weights
        reach = find_reach(weights.first, weights.first_bias, weights.reals, weights.second, self.rules.checkers)
        if self.grid is None or not holds(self.grid, reach, squared, CEILING):
            self.grid = find_grid(reach, squared, CEILING)
        self.weights = weights.rounded_to(self.grid)
        self._folded = _fold(self.weights, self.phases, self.rules, self.grid, squared)

    def outcomes(self, boards: ArrayLike) -> oc.Outcomes:
        """The chances of the K classes for row 0, on roll, `float32[N, K]`; finished boards exactly.

        boards: `int8[N, 2, 26]`. Raises BoardError.
        """
        return self.evaluate(checked_boards(boards, self.rules.checkers))[0]

    def equity(self, boards: ArrayLike) -> NDArray[np.float32]:
        """Cubeless points of row 0, `float32[N]`. boards: `int8[N, 2, 26]`. Raises BoardError."""
        return self.evaluate(checked_boards(boards, self.rules.checkers))[1]

    def play_values(self, boards: Boards, after: Afterstates) -> NDArray[np.float32]:
        """The worth of every afterstate to the side that has just played, `float32[M]`."""
        return -self.evaluate_plays(boards, after)[1]

    def evaluate_plays(
        self, boards: Boards, after: Afterstates, known: Known | None = None
    ) -> tuple[oc.Outcomes, NDArray[np.float32]]:
        """Outcomes `float32[M, K]` and equities `float32[M]` of afterstates, for their row 0, from their parents' sums.

        boards: `int8[N, 2, 26]`, the parents. known: answers from elsewhere, which are kept and written into. Raises
        BoardError where boards and segments do not fit together.
        """
        check_plays(boards, after, self.rules)
        bases = self.features.inputs(swap_sides(boards), self.rules)
        return self._run(after.boards, bases, after.offsets, known)

    def evaluate(self, boards: Boards, known: Known | None = None) -> tuple[oc.Outcomes, NDArray[np.float32]]:
        """Outcomes `float32[N, K]` and equities `float32[N]` of boards that have been checked; known: as above."""
        inputs = self.features.inputs(np.ascontiguousarray(boards, dtype=np.int8), self.rules)
        return self._run(boards, inputs, np.arange(len(boards) + 1), known, inputs)

    def _run(
        self,
        boards: Boards,
        bases: NDArray[np.int8],
        offsets: NDArray[np.int64],
        known: Known | None,
        inputs: NDArray[np.int8] | None = None,
    ) -> tuple[oc.Outcomes, NDArray[np.float32]]:
        boards = np.ascontiguousarray(boards, dtype=np.int8)
        folded = self._folded
        if inputs is None:
            inputs = self.features.inputs(boards, self.rules)
        reals = self.features.real_inputs(boards, self.rules)
        nets = (
            folded.reals, folded.second, folded.second_unit, folded.second_bias, folded.middle, folded.middle_bias,
            folded.third, folded.third_bias,
        )  # fmt: skip
        if known is None:
            known = Known(
                np.empty((len(boards), len(folded.points)), dtype=np.float32),
                np.empty(len(boards), dtype=np.float32),
                np.empty(0, dtype=np.bool_),
            )
        _evaluate(
            bases, inputs, offsets, boards, reals, folded.table, folded.whole, folded.bias, folded.curve, nets,
            folded.rules, folded.phases, folded.barred, folded.points, known.at, known.answers, known.values,
        )  # fmt: skip
        return known.answers, known.values


def check_plays(boards: Boards, after: Afterstates, rules: RuleSet) -> None:
    """Refuse afterstates that are not in one segment for each board, or lead out of tables. Raises BoardError."""
    if not _fits(after.boards, after.offsets, len(boards), rules.checkers):
        raise BoardError(
            f"{len(after.boards)} afterstates in {len(after.offsets) - 1} segments do not belong to {len(boards)}"
            " boards, or hold impossible counts"
        )


@dataclass(frozen=True)
class _Folded:
    """Weights as the kernel reads them.

    table: `int16[S * 16 + 1, H]`, row 16 s + n what the n-th checker in slot s adds (n from 0), the last row 0. whole:
    `int16[S * 16, H]`, row 16 s + n what n checkers in slot s add together. Both, bias and reals are in units of the
    grid. Two numbers that follow each other in a column of reals or second are the halves of one `int32`.
    """

    table: NDArray[np.int16]
    whole: NDArray[np.int16]
    bias: NDArray[np.int16]
    curve: Curve
    reals: NDArray[np.int32]  # `[R / 2, V]`
    second: NDArray[np.int32]  # `[P, H / 2, O]`, O rounded up to a multiple of LANES
    second_unit: np.float32
    second_bias: NDArray[np.float32]
    middle: NDArray[np.float32]  # `[P, O, M]`, M rounded up as well
    middle_bias: NDArray[np.float32]
    third: NDArray[np.float32]  # `[P, M or O, K]`, K rounded up as well
    third_bias: NDArray[np.float32]
    rules: OutcomeRules
    phases: PhaseTables
    barred: NDArray[np.float32]  # `[32, K / 2]`: 0, or far below all logits where `outcomes.loss_ways` has no way
    points: NDArray[np.float32]


def _fold(weights: Weights, phases: PhaseSet, rules: RuleSet, grid: Grid, squared: bool) -> _Folded:
    slots = len(weights.first) // STEPS.shape[1]
    scale = 2.0**grid.sums
    rows = whole_rows(weights.first, grid)
    table = np.zeros((slots * LEVELS + 1, rows.shape[2]), dtype=np.int16)
    table[:-1].reshape(slots, LEVELS, -1)[:, :-1] = np.diff(rows, axis=1)
    return _Folded(
        table=lined_up(table),
        whole=lined_up(rows.reshape(slots * LEVELS, -1)),
        bias=as_int16(weights.first_bias * scale),
        curve=Curve(int(CEILING * scale) if squared else MOST_SUM, squared),
        reals=lined_up(_pairs(as_int16(weights.reals * scale))),
        second=lined_up(_pairs(as_int16(_columns(weights.second) * 2.0**grid.second))),
        second_unit=np.float32(2.0 ** -(grid.second + grid.units(squared))),
        second_bias=np.ascontiguousarray(weights.second_bias),
        middle=_columns(weights.middle),
        middle_bias=np.ascontiguousarray(weights.middle_bias),
        third=_columns(weights.third),
        third_bias=np.ascontiguousarray(weights.third_bias),
        rules=OutcomeRules(
            contrary=int(rules.board == CONTRARY),
            checkers=rules.checkers,
            scoring=_SCORING[rules.scoring],
            koks_needs_none_off=int(rules.koks_needs_none_off),
        ),
        phases=phases.tables(rules.board),
        barred=np.where(oc.loss_ways(rules), np.float32(0), _BARRED).reshape(2 * LEVELS, -1),
        points=oc.class_points(rules),
    )


def _pairs(rows: NDArray[np.int16]) -> NDArray[np.int32]:
    """`int16[..., 2 N, M]` as `int32[..., N, M]`: rows 2 n and 2 n + 1 of a column beside each other."""
    *before, depth, columns = rows.shape
    pairs = rows.reshape(*before, depth // 2, 2, columns).swapaxes(-1, -2)
    return np.ascontiguousarray(pairs).view(np.int32)[..., 0]


def _columns(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """`[P, M, N]` as `[P, N, M]`, M rounded up to a multiple of LANES with zeros."""
    turned = weights.transpose(0, 2, 1)
    return np.ascontiguousarray(np.pad(turned, ((0, 0), (0, 0), (0, -turned.shape[2] % LANES))))


@njit(nogil=True, cache=True)
def _fits(boards, offsets, n, checkers):
    """Whether `offsets` cut `boards` into `n` segments, and no count would lead out of a table."""
    if len(offsets) != n + 1 or offsets[0] != 0 or offsets[n] != len(boards):
        return False
    for i in range(n):
        if offsets[i] > offsets[i + 1]:
            return False
    for m in range(len(boards)):
        bad = False
        for p in range(26):
            bad |= (boards[m, 0, p] < 0) | (boards[m, 0, p] > checkers)
            bad |= (boards[m, 1, p] < 0) | (boards[m, 1, p] > checkers)
        if bad:
            return False
    return True


@njit(nogil=True, cache=True)
def _highest(board, side):
    for p in range(25, 0, -1):
        if board[side, p] > 0:
            return p
    return 0


@njit(nogil=True, cache=True)
def _loss_class(board, loser, rules):
    """The class in which row `loser` has lost a finished game. Twin of `outcomes.loss_classes`."""
    none_off = board[loser, 0] == 0
    highest = _highest(board, loser)
    if rules.scoring == 3:
        if none_off:
            return 15 if highest <= 6 else 14
        return rules.checkers - board[loser, 0] - 1
    if (
        rules.scoring == 2
        and rules.contrary
        and highest >= oc.KOKS_SLOT
        and (none_off or not rules.koks_needs_none_off)
    ):
        return 2
    return 1 if none_off and rules.scoring >= 1 else 0


@njit(nogil=True, cache=True, forceinline=True)
def _add_product(a, a_at, a_step, b, b_at, depth, columns, c, c_at, c_step, n):
    """c += a . b for `n` rows, rounded up to a multiple of PRODUCT_ROWS, and `columns`, a multiple of 16.

    Of each array: where it begins, and the way from one row to the next (b: `columns`). A block of rows of b stays in
    the nearest cache while all rows of a meet it. All are `float32`, or `int32` of which a and b have two `int16` in
    each element; `depth` counts elements.
    """
    for k in range(0, depth, _DEPTH):
        block = min(depth - k, _DEPTH)
        for r in range(0, n, PRODUCT_ROWS):
            left = a_at + r * a_step + k
            right = b_at + k * columns
            out = c_at + r * c_step
            for j in range(0, columns - LANES, 2 * LANES):
                add_product_of_32(a, left, a_step, b, right + j, columns, block, c, out + j, c_step)
            if columns % (2 * LANES):
                j = columns - LANES
                add_product_of_16(a, left, a_step, b, right + j, columns, block, c, out + j, c_step)


@njit(nogil=True, cache=True, fastmath={"contract"})
def _exponentials(x, scales, scale_bits, n):
    """x[k] = exp(x[k]) for the first `n` of `float32` values not above 0, to a relative error of 2e-7.

    Exactly 0 below -87, which is how impossible classes end.

    exp(x) = 2^i exp(r) with |r| <= ln(2)/2, the latter by its Taylor polynomial of degree 7; 2^i is made from its bits.
    scales and scale_bits are one scratch buffer seen as `float32` and as `int32`.
    """
    for k in range(n):
        v = x[k] if x[k] > np.float32(-87.0) else np.float32(-87.0)
        i = np.int32(v * np.float32(1.44269504) - np.float32(0.5))
        r = (v - np.float32(i) * np.float32(0.693359375)) + np.float32(i) * np.float32(2.12194440e-4)
        p = np.float32(1 / 5040)
        p = p * r + np.float32(1 / 720)
        p = p * r + np.float32(1 / 120)
        p = p * r + np.float32(1 / 24)
        p = p * r + np.float32(1 / 6)
        p = p * r + np.float32(0.5)
        p = p * r + np.float32(1)
        scale_bits[k] = (i + np.int32(127)) << np.int32(23) if x[k] > np.float32(-87.0) else np.int32(0)
        x[k] = p * r + np.float32(1)
    for k in range(n):
        x[k] *= scales[k]


@njit(nogil=True, cache=True, forceinline=True)
def _rectify(sums, bias, n):
    """sums[r, c] + bias[c] where that is above 0, and 0 elsewhere, in the first `n` rows."""
    zero = np.float32(0)
    for r in range(n):
        for c in range(len(bias)):
            x = sums[r, c] + bias[c]
            sums[r, c] = x if x > zero else zero


@njit(nogil=True, cache=True)
def _finish(phase, n, rows, keys, units, seen, curve, nets, barred, points, scratch, answers, values):
    """From H units to outcomes and equities of the `n` positions of a phase.

    rows `int64[n]`: where their answers go; keys `int64[n, 2]`: for each side its row of `barred`.
    """
    zero = np.float32(0)
    classes = answers.shape[1]
    half = classes // 2
    width = units.shape[2]
    sights, views, sums, hidden, inner, shares, chances, scales = scratch
    real_rows, second, second_unit, second_bias, middle, middle_bias, third, third_bias = nets
    if len(real_rows):
        see = real_rows.shape[1]
        depth = len(real_rows)
        views[:] = 0
        _add_product(
            sights.view(np.int32), phase * _ROWS * depth, depth, real_rows, 0, depth, see, views, 0, see, n
        )  # fmt: skip
        for r in range(n):
            _see(units[phase, r, seen:], views[r], curve)
    sums[:] = 0
    columns = sums.shape[1]
    half_width = width // 2
    _add_product(
        units.view(np.int32), phase * _ROWS * half_width, half_width, second, phase * half_width * columns, half_width,
        columns, sums, 0, columns, n,
    )  # fmt: skip
    depth = second_bias.shape[1]
    for r in range(n):
        for c in range(depth):
            x = np.float32(sums[r, c]) * second_unit + second_bias[phase, c]
            hidden[r, c] = x if x > zero else zero
    if middle_bias.shape[1]:
        inner[:] = zero
        wide = inner.shape[1]
        _add_product(hidden, 0, columns, middle, phase * depth * wide, depth, wide, inner, 0, wide, n)
        _rectify(inner, middle_bias[phase], n)
        hidden = inner
        columns = wide
        depth = middle_bias.shape[1]
    shares[:] = zero
    wide = shares.shape[1]
    _add_product(hidden, 0, columns, third, phase * depth * wide, depth, wide, shares, 0, wide, n)
    bias = third_bias[phase]
    for r in range(n):
        his = barred[keys[r, 1]]
        mine = barred[keys[r, 0]]
        top = np.float32(-1e30)
        for k in range(half):
            x = shares[r, k] + bias[k] + his[k]
            y = shares[r, half + k] + bias[half + k] + mine[k]
            chances[r, k] = x
            chances[r, half + k] = y
            top = x if x > top else top
            top = y if y > top else top
        for k in range(classes):
            chances[r, k] -= top
    _exponentials(chances.reshape(-1), scales, scales.view(np.int32), n * classes)
    for r in range(n):
        row = rows[r]
        whole = zero
        value = zero
        for k in range(classes):
            whole += chances[r, k]
            value += chances[r, k] * points[k]
        scale = np.float32(1) / whole
        for k in range(classes):
            answers[row, k] = chances[r, k] * scale
        values[row] = value * scale


@njit(nogil=True, cache=True)
def _bend(units, curve):
    """What units make of their sums, in place."""
    ceiling, squared = curve
    if squared:
        for h in range(len(units)):
            units[h] = square(min(max(units[h], np.int16(0)), np.int16(ceiling)))
    else:
        for h in range(len(units)):
            units[h] = max(units[h], np.int16(0))


@njit(nogil=True, cache=True)
def _see(units, views, curve):
    """`_bend` of sums with what real inputs add, which is in units finer by `REAL_BITS`."""
    ceiling, squared = curve
    if squared:
        for h in range(len(units)):
            units[h] = square(min(max(units[h] + (views[h] >> REAL_BITS), 0), ceiling))
    else:
        for h in range(len(units)):
            units[h] = min(max(units[h] + (views[h] >> REAL_BITS), 0), ceiling)


@njit(nogil=True, cache=True)
def _counted_phase(board, high0, high1, tables):
    """The phase of a board that its highest slots do not tell."""
    behind0 = behind1 = 0
    for s in range(tables.since, SLOTS):
        behind0 += board[0, s]
        behind1 += board[1, s]
    # Of boards with too many checkers nobody asks, but they must not lead out of the table.
    zone0 = tables.zones[high0, min(behind0, LEVELS - 1)]
    zone1 = tables.zones[high1, min(behind1, LEVELS - 1)]
    return tables.pairs[zone0, zone1]


@njit(nogil=True, cache=True)
def _evaluate(
    bases, inputs, offsets, boards, reals, table, whole, bias, curve, nets, rules, phase_of, barred, points, known,
    answers, values,
):  # fmt: skip
    """Outcomes and equities of M boards for their row 0, segment by segment from their segment's base.

    inputs: `int8[M, S]`, bases `int8[N, S]`; offsets `int64[N + 1]`, boards `int8[M, 2, 26]`, reals `float32[M, R]`;
    the weights as `_Folded` has them. answers: `float32[M, K]`, values `float32[M]`, both filled.
    """
    zero = np.float32(0)
    real_rows, second, _, _, middle, _, third, _ = nets
    width = len(bias)
    phases = len(second)
    slots = inputs.shape[1]
    tail = slots - 32
    classes = answers.shape[1]
    half = classes // 2
    nothing = (len(table) - 1) * width
    flat_table = table.reshape(-1)
    flat_whole = whole.reshape(-1)
    parent = lined_up_space(1, width)[0]
    more = np.empty(slots * LEVELS + 3, np.int64)
    less = np.empty(slots * LEVELS, np.int64)
    race = phases - 1
    seen = width - real_rows.shape[1]  # from here on units see the real inputs
    # Rows of a tile beyond the last position are computed with whatever they hold, and nobody reads them.
    units = lined_up_space(phases * _ROWS, width).reshape(phases, _ROWS, width)
    flat_units = units.reshape(-1)
    sights = np.empty((phases, _ROWS, 2 * len(real_rows)), np.int16)
    rows = np.empty((phases, _ROWS), np.int64)
    keys = np.empty((phases, _ROWS, 2), np.int64)
    filled = np.zeros(phases, np.int64)
    scratch = (
        sights,
        np.empty((_ROWS, real_rows.shape[1]), np.int32),
        np.empty((_ROWS, second.shape[2]), np.int32),
        np.zeros((_ROWS, second.shape[2]), np.float32),
        np.empty((_ROWS, middle.shape[2]), np.float32),
        np.empty((_ROWS, third.shape[2]), np.float32),
        np.empty((_ROWS, classes), np.float32),
        np.empty(_ROWS * classes, np.float32),
    )
    for segment in range(len(offsets) - 1):
        base = bases[segment]
        n_more = 0
        for s in range(slots):
            more[n_more] = (s * LEVELS + base[s]) * width
            n_more += 1 if base[s] else 0
        more[n_more : n_more + 3] = 0
        parent[:] = bias
        for k in range(0, n_more, 4):
            add_four_rows(
                parent, 0, parent, 0, flat_whole, more[k], more[k + 1], more[k + 2], more[k + 3], width
            )  # fmt: skip
        for m in range(offsets[segment], offsets[segment + 1]):
            if len(known) and known[m]:
                continue
            board = boards[m]
            high0 = highest_bit((bytes_with(boards, m * COUNTS, 127) & _POINTS_AND_BAR) | 1)
            high1 = highest_bit(
                (bytes_with(boards, m * COUNTS + COUNTS - 32, 127) >> (32 - SLOTS) & _POINTS_AND_BAR) | 1
            )
            if high0 == 0 or high1 == 0:
                for k in range(classes):
                    answers[m, k] = zero
                k = half + _loss_class(board, 0, rules) if high1 == 0 else _loss_class(board, 1, rules)
                answers[m, k] = 1
                values[m] = points[k]
                continue
            mine = inputs[m]
            n_more = 0
            n_less = 0
            changed = bytes_differ(inputs, m * slots, bases, segment * slots)
            changed |= bytes_differ(inputs, m * slots + tail, bases, segment * slots + tail) << tail
            while changed:
                s = lowest_bit(changed)
                changed &= changed - 1
                # Written to both lists and counted in one: a branch would be guessed wrong half of the time.
                rises = 1 if mine[s] > base[s] else 0
                for n in range(min(mine[s], base[s]), max(mine[s], base[s])):
                    more[n_more] = (s * LEVELS + n) * width
                    less[n_less] = (s * LEVELS + n) * width
                    n_more += rises
                    n_less += 1 - rises
            steps = max(n_more, n_less, 1)
            steps += steps & 1
            more[n_more:steps] = nothing
            less[n_less:steps] = nothing
            phase = phase_of.by_slots[high0, high1]
            if phase < 0:
                phase = _counted_phase(board, high0, high1, phase_of)
            n = filled[phase]
            out = units[phase, n]
            for k in range(reals.shape[1]):
                # No real input is negative, so this rounds.
                sights[phase, n, k] = np.int32(reals[m, k] * np.float32(2**REAL_BITS) + np.float32(0.5))
            at = (phase * _ROWS + n) * width
            exchange_rows(flat_units, at, parent, 0, flat_table, more[0], more[1], less[0], less[1], width)
            for k in range(2, steps, 2):
                exchange_rows(
                    flat_units, at, flat_units, at, flat_table, more[k], more[k + 1], less[k], less[k + 1], width
                )  # fmt: skip
            _bend(out[:seen], curve)
            rows[phase, n] = m
            keys[phase, n, 0] = 2 * board[0, 0] + (1 if phase == race and high0 < oc.KOKS_SLOT else 0)
            keys[phase, n, 1] = 2 * board[1, 0] + (1 if phase == race and high1 < oc.KOKS_SLOT else 0)
            filled[phase] = n + 1
            if n + 1 == _ROWS:
                filled[phase] = 0
                _finish(
                    phase, _ROWS, rows[phase], keys[phase], units, seen, curve, nets, barred, points, scratch, answers,
                    values,
                )  # fmt: skip
    for phase in range(phases):
        if filled[phase]:
            _finish(
                phase, filled[phase], rows[phase], keys[phase], units, seen, curve, nets, barred, points, scratch,
                answers, values,
            )  # fmt: skip


assert COUNTS == 2 * SLOTS and LEVELS == len(STEPS)

"""What numba's Python has no word for: many bytes compared at once, bits counted, a matrix product kept in registers.

Written as LLVM code for vectors of fixed lengths, which LLVM cuts to what the processor has: what comes out does not
depend on that, but for rounding. Numba's compile cache of the callers does not see edits here.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 16
"""Columns of the narrow product; the wide one has twice as many."""

PRODUCT_ROWS = 8

LINE = 64
"""Bytes of a line of the processor's cache. A vector that crosses into the next one takes twice as long to fetch."""

_INDEX = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), 32)


Number = TypeVar("Number", np.int16, np.int32, np.float32)


def lined_up(array: NDArray[Number]) -> NDArray[Number]:
    """A contiguous copy that begins with a line."""
    room = np.empty(array.nbytes + LINE, dtype=np.uint8)
    skip = -room.ctypes.data % LINE
    copy = room[skip : skip + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@njit(nogil=True, cache=True)
def lined_up_space(rows: int, width: int) -> NDArray[np.int16]:
    """`int16[rows, width]` that begins with a line, holding anything."""
    room = np.empty(rows * width + LINE // 2, np.int16)
    skip = (LINE - room.ctypes.data % LINE) % LINE // 2
    return room[skip : skip + rows * width].reshape(rows, width)


def _index(number: int) -> Any:
    return ir.Constant(_INDEX, number)


def _address(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    """Where element args[k + 1] of the contiguous array args[k] is."""
    array = context.make_array(signature.args[k])(context, builder, args[k])
    return builder.gep(array.data, [args[k + 1]])


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of equal values."""
    nothing = ir.Constant(vector, ir.Undefined)
    lane = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    order = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(lane, nothing, order)


class _Floats:
    """What a product of `float32` numbers is made of, step by step."""

    total = factor = ir.VectorType(ir.FloatType(), LANES)
    nothing = 0.0

    @staticmethod
    def added(builder: Any, total: Any, x: Any, factor: Any) -> Any:
        product = builder.fmul(_spread(builder, x, _Floats.factor), factor, flags=("contract",))
        return builder.fadd(total, product, flags=("contract",))

    @staticmethod
    def joined(builder: Any, a: Any, b: Any) -> Any:
        return builder.fadd(a, b)


class _Pairs:
    """The same for `int16` numbers two at a time, with sums of `int32`."""

    total = ir.VectorType(ir.IntType(32), LANES)
    factor = ir.VectorType(ir.IntType(16), 2 * LANES)
    nothing = 0

    @staticmethod
    def added(builder: Any, total: Any, x: Any, factor: Any) -> Any:
        # Compilers know these operations in this order as one instruction.
        wide = ir.VectorType(ir.IntType(32), 2 * LANES)
        pairs = builder.bitcast(_spread(builder, x, _Pairs.total), _Pairs.factor)
        products = builder.mul(builder.sext(pairs, wide), builder.sext(factor, wide))
        halves = (
            builder.shuffle_vector(
                products, products, ir.Constant(_Pairs.total, [2 * lane + odd for lane in range(LANES)])
            )
            for odd in (0, 1)
        )
        return builder.add(total, builder.add(*halves))

    @staticmethod
    def joined(builder: Any, a: Any, b: Any) -> Any:
        return builder.add(a, b)


class Tile(NamedTuple):
    """How many rows and vectors of LANES columns of a product are summed at one time."""

    rows: int
    vectors: int


WIDE_TILE, NARROW_TILE = Tile(PRODUCT_ROWS, 2), Tile(PRODUCT_ROWS // 2, 1)


def tile_for(features: Mapping[str, bool]) -> Tile:
    """The largest tile whose sums stay in the registers of a processor with these features, as LLVM names them.

    A wide one needs 16 vectors of 64 bytes; with 16 of 32 bytes, which most have, its sums would go through memory.
    """
    return WIDE_TILE if features.get("avx512f") else NARROW_TILE


def product_of(vectors: int, tile: Tile) -> Any:
    """c[r, j] += the sum over k of a[r, k] * b[k, j], for PRODUCT_ROWS rows and `vectors * LANES` columns.

    Called with (a, a_at, a_step, b, b_at, b_step, depth, c, c_at, c_step): of each contiguous array the element to
    begin with and the way from one row to the next. Each sum is added up in the order of k on its own, so it does not
    depend on its row, its neighbours or the tile.

    All arrays are `float32`; or they are `int32`, and an element of a and b is two `int16` numbers: b[k, j] those of
    column j in the rows 2 k and 2 k + 1.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = _Pairs if signature.args[0].dtype == types.int32 else _Floats
        a_step, b_step, depth, c_step = args[2], args[5], args[6], args[9]
        a, b, c = (_address(context, builder, signature, args, k) for k in (0, 3, 7))
        zero = ir.Constant(kind.total, [kind.nothing] * LANES)

        def vector_at(pointer: Any, row: Any, v: int, vector: Any) -> Any:
            at = builder.add(row, _index(v * LANES))
            return builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer())

        def add_tile(rows: range, columns: range) -> None:
            sums = {(r, v): cgutils.alloca_once_value(builder, zero) for r in rows for v in columns}
            with cgutils.for_range(builder, depth, intp=_INDEX) as loop:
                row = builder.mul(loop.index, b_step)
                factors = {v: builder.load(vector_at(b, row, v, kind.factor), align=4) for v in columns}
                for r in rows:
                    at = builder.add(loop.index, builder.mul(_index(r), a_step))
                    x = builder.load(builder.gep(a, [at]), align=4)
                    for v, factor in factors.items():
                        builder.store(kind.added(builder, builder.load(sums[r, v]), x, factor), sums[r, v])
            for (r, v), total in sums.items():
                pointer = vector_at(c, builder.mul(_index(r), c_step), v, kind.total)
                whole = kind.joined(builder, builder.load(pointer, align=4), builder.load(total))
                builder.store(whole, pointer, align=4)

        for r in range(0, PRODUCT_ROWS, tile.rows):
            for v in range(0, vectors, tile.vectors):
                add_tile(range(r, r + tile.rows), range(v, min(v + tile.vectors, vectors)))
        return context.get_dummy_value()

    def typer(
        typingctx: Any, a: Any, a_at: Any, a_step: Any, b: Any, b_at: Any, b_step: Any, depth: Any,
        c: Any, c_at: Any, c_step: Any,
    ) -> Any:  # fmt: skip
        number = types.int64
        return types.void(a, number, number, b, number, number, number, c, number, number), codegen

    return intrinsic(typer)


_TILE = tile_for(get_host_cpu_features())
add_product_of_16 = product_of(1, _TILE)
add_product_of_32 = product_of(2, _TILE)


def _rows(signs: tuple[int, ...]) -> Any:
    """total = source + four rows of a table, each added or taken away as `signs` say; all `int16`.

    Called with (total, total_at, source, source_at, table, first, second, third, fourth, width): with which element of
    the contiguous arrays each row begins, and how long all are, a multiple of LANES. Source and total may be the same
    numbers.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, source = (_address(context, builder, signature, args, k) for k in (0, 2))
        table = context.make_array(signature.args[4])(context, builder, args[4])
        rows = [builder.gep(table.data, [args[k]]) for k in (5, 6, 7, 8)]

        def add_at(at: Any, lanes: int) -> None:
            vector = ir.VectorType(ir.IntType(16), lanes).as_pointer()

            def place(pointer: Any) -> Any:
                return builder.bitcast(builder.gep(pointer, [at]), vector)

            total = builder.load(place(source), align=2)
            for row, sign in zip(rows, signs, strict=True):
                number = builder.load(place(row), align=2)
                total = builder.add(total, number) if sign > 0 else builder.sub(total, number)
            builder.store(total, place(out), align=2)

        double = _index(2 * LANES)
        with cgutils.for_range(builder, builder.udiv(args[9], double), intp=_INDEX) as loop:
            add_at(builder.mul(loop.index, double), 2 * LANES)
        with builder.if_then(builder.icmp_unsigned("!=", builder.urem(args[9], double), _index(0))):
            add_at(builder.sub(args[9], _index(LANES)), LANES)
        return context.get_dummy_value()

    def typer(
        typingctx: Any, total: Any, total_at: Any, source: Any, source_at: Any, table: Any, first: Any, second: Any,
        third: Any, fourth: Any, width: Any,
    ) -> Any:  # fmt: skip
        number = types.int64
        return types.void(total, number, source, number, table, number, number, number, number, number), codegen

    return intrinsic(typer)


add_four_rows = _rows((1, 1, 1, 1))
exchange_rows = _rows((1, 1, -1, -1))


def _bits_of(builder: Any, lanes: Any) -> Any:
    """32 truth values as the low bits of an `int64`."""
    return builder.zext(builder.bitcast(lanes, ir.IntType(32)), _INDEX)


def _bytes_at(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
    pointer = builder.bitcast(_address(context, builder, signature, args, k), _BYTES.as_pointer())
    return builder.load(pointer, align=1)


@intrinsic
def bytes_with(typingctx: Any, array: Any, at: Any, bits: Any) -> Any:
    """Bit k, of 32, where array[at + k] has one of `bits` (`int8`). array: contiguous `int8`, 32 bytes from `at` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.and_(_bytes_at(context, builder, signature, args, 0), _spread(builder, args[2], _BYTES))
        return _bits_of(builder, builder.icmp_signed("!=", found, ir.Constant(_BYTES, [0] * _BYTES.count)))

    return types.int64(array, types.int64, types.int8), codegen


@intrinsic
def bytes_differ(typingctx: Any, a: Any, a_at: Any, b: Any, b_at: Any) -> Any:
    """Bit k, of 32, where a[a_at + k] is not b[b_at + k]. a, b: contiguous `int8`, 32 bytes from there on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, y = (_bytes_at(context, builder, signature, args, k) for k in (0, 2))
        return _bits_of(builder, builder.icmp_signed("!=", x, y))

    return types.int64(a, types.int64, b, types.int64), codegen


@intrinsic
def ones(typingctx: Any, mask: Any) -> Any:
    """How many bits of a mask are set, in the mask's own type."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return mask(mask), codegen


@intrinsic
def top_of(typingctx: Any, mask: Any) -> Any:
    """The number of the highest bit that is set, `int32`; mask: `int32` and not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(32), 31), zeros)

    return types.int32(types.int32), codegen


@intrinsic
def reversed_bits(typingctx: Any, mask: Any) -> Any:
    """The 32 bits of a `uint32` mask in reverse order."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitreverse(args[0])

    return types.uint32(types.uint32), codegen

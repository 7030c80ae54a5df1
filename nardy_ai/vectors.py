"""What numba's Python has no word for: many bytes compared at once, bits counted, a matrix product kept in registers.

Written as LLVM code for vectors of fixed lengths, which LLVM cuts to what the processor has: what comes out does not
depend on that, but for rounding. Numba's compile cache of the callers does not see edits here.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
"""Columns of the narrow product; the wide one has twice as many."""

PRODUCT_ROWS = 8

_INDEX = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), 32)


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


def _product(vectors: int) -> Any:
    """c[r, j] += the sum over k of a[r, k] * b[k, j], for PRODUCT_ROWS rows and `vectors * LANES` columns, `float32`.

    Called with (a, a_at, a_step, b, b_at, b_step, depth, c, c_at, c_step): of each contiguous array the element to
    begin with and the way from one row to the next. Each sum is added up in the order of k on its own, so it does not
    depend on its row or its neighbours.
    """
    vector = ir.VectorType(ir.FloatType(), LANES)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a_step, b_step, depth, c_step = args[2], args[5], args[6], args[9]
        a, b, c = (_address(context, builder, signature, args, k) for k in (0, 3, 7))
        zero = ir.Constant(vector, [0.0] * LANES)
        sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(vectors)] for _ in range(PRODUCT_ROWS)]

        def vector_at(pointer: Any, row: Any, v: int) -> Any:
            at = builder.add(row, _index(v * LANES))
            return builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer())

        with cgutils.for_range(builder, depth, intp=_INDEX) as loop:
            row = builder.mul(loop.index, b_step)
            factors = [builder.load(vector_at(b, row, v), align=4) for v in range(vectors)]
            for r in range(PRODUCT_ROWS):
                at = builder.add(loop.index, builder.mul(_index(r), a_step))
                x = _spread(builder, builder.load(builder.gep(a, [at]), align=4), vector)
                for total, factor in zip(sums[r], factors, strict=True):
                    product = builder.fmul(x, factor, flags=("contract",))
                    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
        for r in range(PRODUCT_ROWS):
            for v in range(vectors):
                pointer = vector_at(c, builder.mul(_index(r), c_step), v)
                whole = builder.fadd(builder.load(pointer, align=4), builder.load(sums[r][v]))
                builder.store(whole, pointer, align=4)
        return context.get_dummy_value()

    def typer(
        typingctx: Any, a: Any, a_at: Any, a_step: Any, b: Any, b_at: Any, b_step: Any, depth: Any,
        c: Any, c_at: Any, c_step: Any,
    ) -> Any:  # fmt: skip
        number = types.int64
        return types.void(a, number, number, b, number, number, number, c, number, number), codegen

    return intrinsic(typer)


add_product_of_16 = _product(1)
add_product_of_32 = _product(2)


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

"""What is written in LLVM's own words, against numpy."""

import numpy as np
import pytest
from numba import njit

from nardy_ai.vectors import (
    LANES,
    LINE,
    NARROW_TILE,
    PRODUCT_ROWS,
    WIDE_TILE,
    add_four_rows,
    add_product_of_16,
    add_product_of_32,
    bytes_differ,
    bytes_with,
    exchange_rows,
    lined_up,
    lined_up_space,
    ones,
    product_of,
    reversed_bits,
    tile_for,
    top_of,
)

BITS = np.arange(32)
MASKS = np.random.default_rng(3).integers(1, 2**31, 200).astype(np.int32) >> np.arange(200) % 31 | 1


@njit
def _with(array, at, bits):
    return bytes_with(array, at, np.int8(bits))


@njit
def _differ(a, a_at, b, b_at):
    return bytes_differ(a, a_at, b, b_at)


@njit
def _counts(masks, tops, reverse):
    total = np.empty(len(masks), np.int64)
    for n in range(len(masks)):
        total[n] = ones(masks[n])
        tops[n] = top_of(masks[n])
        reverse[n] = reversed_bits(np.uint32(masks[n]))
    return total


def compiled(product):
    @njit
    def run(a, a_at, b, b_at, depth, c, c_at):
        product(a, a_at, a.shape[1], b, b_at, b.shape[1], depth, c, c_at, c.shape[1])

    return run


PRODUCTS = [
    pytest.param(compiled(product), columns, id=f"{columns} columns, {name}")
    for name, narrow, wide in (
        ("this processor", add_product_of_16, add_product_of_32),
        ("wide tile", product_of(1, WIDE_TILE), product_of(2, WIDE_TILE)),
        ("narrow tile", product_of(1, NARROW_TILE), product_of(2, NARROW_TILE)),
    )
    for product, columns in ((narrow, LANES), (wide, 2 * LANES))
]


@njit
def _four(total, total_at, source, source_at, table, rows, width):
    add_four_rows(total, total_at, source, source_at, table, rows[0], rows[1], rows[2], rows[3], width)


@njit
def _exchange(total, total_at, source, source_at, table, rows, width):
    exchange_rows(total, total_at, source, source_at, table, rows[0], rows[1], rows[2], rows[3], width)


def bits_of(truth: np.ndarray) -> int:
    return int((truth.astype(np.int64) << BITS).sum())


@pytest.mark.parametrize("at", [0, 5, 28])
def test_bytes_are_compared_thirty_two_at_once(at: int):
    rng = np.random.default_rng(at)
    a, b = rng.integers(0, 16, (2, 60)).astype(np.int8)

    assert _with(a, at, 6) == bits_of((a[at : at + 32] & 6) != 0)
    assert _differ(a, at, b, 3) == bits_of(a[at : at + 32] != b[3:35])


def test_bits_are_counted_found_and_turned():
    tops, reverse = np.empty(200, np.int64), np.empty(200, np.uint32)

    counts = _counts(MASKS, tops, reverse)

    texts = [f"{mask:032b}" for mask in MASKS]
    assert counts.tolist() == [text.count("1") for text in texts]
    assert tops.tolist() == [31 - text.index("1") for text in texts]
    assert reverse.tolist() == [int(text[::-1], 2) for text in texts]


@pytest.mark.parametrize(("product", "columns"), PRODUCTS)
def test_product_is_added_to_its_part_of_an_array_and_to_nothing_else(product, columns: int):
    rng = np.random.default_rng(columns)
    a, b, c = (rng.normal(size=size).astype(np.float32) for size in ((12, 40), (50, 64), (12, 70)))
    wanted = c.astype(np.float64)
    wanted[2 : 2 + PRODUCT_ROWS, 3 : 3 + columns] += (
        a[1 : 1 + PRODUCT_ROWS, 4:27].astype(float) @ b[6:29, 8 : 8 + columns]
    )

    product(a, 40 + 4, b, 6 * 64 + 8, 23, c, 2 * 70 + 3)

    np.testing.assert_allclose(c, wanted, atol=1e-5)


def test_a_sum_has_the_same_bits_in_every_tile():
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=size).astype(np.float32) for size in ((12, 40), (50, 64), (12, 70)))
    found = []
    for tile in (WIDE_TILE, NARROW_TILE):
        total = c.copy()
        compiled(product_of(2, tile))(a, 40, b, 64, 40, total, 70)
        found.append(total)

    assert not np.array_equal(found[0], c)
    assert found[0].tobytes() == found[1].tobytes()


def test_tiles_are_wide_where_vectors_are():
    assert tile_for({"avx2": True, "avx512f": True}) == WIDE_TILE
    assert tile_for({"avx2": True, "avx512f": False}) == tile_for({}) == NARROW_TILE


@pytest.mark.parametrize(("product", "columns"), PRODUCTS)
def test_product_of_pairs_is_exact_up_to_the_largest_numbers(product, columns: int):
    rng = np.random.default_rng(columns)
    a, b = (rng.integers(-(2**15) + 1, 2**15, size).astype(np.int16) for size in ((12, 80), (50, 64, 2)))
    b[:, :, 1] = rng.integers(-3, 4, (50, 64))  # so that the sums have room
    a[:, ::2] >>= 6
    c = rng.integers(-9, 9, (12, 70)).astype(np.int32)
    wanted = c.copy()
    left = a[1 : 1 + PRODUCT_ROWS, 8:54].astype(np.int64)
    right = b[6:29, 8 : 8 + columns].astype(np.int64).transpose(0, 2, 1).reshape(46, columns)
    wanted[2 : 2 + PRODUCT_ROWS, 3 : 3 + columns] += left @ right

    product(a.view(np.int32), 40 + 4, b.view(np.int32)[..., 0], 6 * 64 + 8, 23, c, 2 * 70 + 3)

    assert np.abs(left @ right).max() > 2**24
    assert np.array_equal(c, wanted)


@pytest.mark.parametrize(("add", "signs"), [(_four, (1, 1, 1, 1)), (_exchange, (1, 1, -1, -1))])
@pytest.mark.parametrize("width", [16, 32, 48, 160])
def test_rows_are_added_to_the_source_or_in_place(add, signs: tuple[int, ...], width: int):
    rng = np.random.default_rng(width)
    table, source = (rng.integers(-5000, 5000, size).astype(np.int16) for size in ((9, width), 3 * width))
    rows = np.array([3, 8, 3, 5])
    change = sum(sign * table[row] for row, sign in zip(rows, signs, strict=True))
    total = source.copy()

    add(total, width, source, 7, table.reshape(-1), rows * width, width)

    wanted = source.copy()
    wanted[width : 2 * width] = source[7 : 7 + width] + change
    assert np.array_equal(total, wanted)
    add(total, width, total, width, table.reshape(-1), rows * width, width)
    wanted[width : 2 * width] += change
    assert np.array_equal(total, wanted)


def test_what_is_lined_up_begins_with_a_line():
    array = np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32)[:, ::-1]

    assert [lined_up(array).ctypes.data % LINE for _ in range(5)] == [0] * 5
    assert np.array_equal(lined_up(array), array)
    assert lined_up(array).flags.c_contiguous
    spaces = [lined_up_space(n, 7) for n in range(1, 9)]
    assert {space.ctypes.data % LINE for space in spaces} == {0}
    assert [space.shape for space in spaces] == [(n, 7) for n in range(1, 9)]

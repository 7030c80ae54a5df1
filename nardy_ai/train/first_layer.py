"""The network's first layer for learning on a processor: sums of table rows, forwards and backwards.

About 20 of a board's slots hold anything, so its first layer is a sum of some 20 rows of the folded table
`[S, 16, H]` (`features`), where a dense product would multiply 312 numbers, nearly all of them 0. Same numbers as the
dense product up to rounding.
"""

from typing import Any

import numpy as np
import torch
from numba import njit

from nardy_ai.evaluators.grid import CEILING
from nardy_ai.features import LEVELS, STEPS


class FirstUnits(torch.autograd.Function):
    """See `first_units`. One function for all of it: what lies between would be matrices of the units' size."""

    @staticmethod
    def forward(
        ctx: Any, first: torch.Tensor, bias: torch.Tensor, seeing: torch.Tensor, inputs: torch.Tensor,
        reals: torch.Tensor, squared: bool,
    ) -> torch.Tensor:  # fmt: skip
        slots = inputs.shape[1]
        steps = torch.from_numpy(STEPS)
        table = torch.matmul(steps, first.detach().view(slots, STEPS.shape[1], -1)).contiguous()
        units = torch.empty(len(inputs), first.shape[1])
        _gather(inputs.numpy(), table.numpy(), bias.detach().numpy(), units.numpy())
        if len(seeing):
            units[:, -seeing.shape[1] :].addmm_(reals, seeing)
        if squared:
            _square(units.numpy())
        else:
            units.clamp_(min=0)
        ctx.save_for_backward(inputs, reals, units)
        ctx.width = seeing.shape[1]
        ctx.squared = squared
        return units

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        inputs, reals, units = ctx.saved_tensors
        grad = grad.contiguous()
        table = torch.zeros(inputs.shape[1], LEVELS, grad.shape[1])
        bias = torch.zeros(grad.shape[1])
        behind = torch.empty(len(inputs), ctx.width)
        _scatter(inputs.numpy(), grad.numpy(), units.numpy(), ctx.squared, table.numpy(), bias.numpy(), behind.numpy())
        first = torch.matmul(torch.from_numpy(STEPS.T.copy()), table)
        return first.view(-1, grad.shape[1]), bias, torch.mm(reals.T, behind), None, None, None


def first_units(
    first: torch.Tensor, bias: torch.Tensor, seeing: torch.Tensor, inputs: torch.Tensor, reals: torch.Tensor,
    squared: bool,
) -> torch.Tensor:  # fmt: skip
    """The units `float32[N, H]`, rectified or the square of it (`ACTIVATIONS`), with gradients for first, bias, seeing.

    They are made of dense inputs of slots `int8[N, S]` times `first` `float32[S * F, H]`, plus a bias, and in the
    last V columns reals `float32[N, R]` times seeing `float32[R, V]`.
    """
    units: torch.Tensor = FirstUnits.apply(first, bias, seeing, inputs, reals, squared)
    return units


@njit(nogil=True, cache=True)
def _rows_of(board, rows):
    """The slots that hold something as rows of the table, their number rounded up to four by empty slots' rows.

    These differ: rows that were one would make `_scatter` go step by step.
    """
    n = 0
    for s in range(len(board)):
        rows[n] = s * LEVELS + board[s]
        n += 1 if board[s] else 0
    for k in range(3):
        rows[n + k] = k * LEVELS
    return (n + 3) // 4 * 4


@njit(nogil=True, cache=True)
def _gather(inputs, table, bias, sums):
    """sums[n] = bias + the rows of the slots of board n. Row 0 of the table, an empty slot, is 0."""
    slots, levels, width = table.shape
    flat = table.reshape(slots * levels, width)
    rows = np.empty(slots + 4, np.int64)
    for n in range(len(inputs)):
        count = _rows_of(inputs[n], rows)
        total = sums[n]
        total[:] = bias
        for k in range(0, count, 4):
            a = flat[rows[k]]
            b = flat[rows[k + 1]]
            c = flat[rows[k + 2]]
            d = flat[rows[k + 3]]
            for h in range(width):
                total[h] += (a[h] + b[h]) + (c[h] + d[h])


@njit(nogil=True, cache=True)
def _square(units):
    """The square of what is above 0, held below `CEILING`, in place."""
    zero = np.float32(0)
    top = np.float32(CEILING)
    for n in range(len(units)):
        row = units[n]
        for h in range(len(row)):
            x = row[h] if row[h] > zero else zero
            x = x if x < top else top
            row[h] = x * x


@njit(nogil=True, cache=True)
def _scatter(inputs, grad, units, squared, table, bias, behind):
    """g = grad[n] times the slope of units[n]: table[s, count] += g for every slot of every board, bias += g.

    The slope is told by the unit: 1 where it is above 0, or 2 sqrt(unit) below the square of the ceiling.
    behind[n]: the last columns of g. What falls on empty slots means nothing.
    """
    slots, levels, width = table.shape
    flat = table.reshape(slots * levels, width)
    rows = np.empty(slots + 4, np.int64)
    g = np.empty(width, np.float32)
    zero = np.float32(0)
    two = np.float32(2)
    top = np.float32(CEILING * CEILING)
    for n in range(len(inputs)):
        count = _rows_of(inputs[n], rows)
        if squared:
            for h in range(width):
                unit = units[n, h]
                g[h] = grad[n, h] * (two * np.sqrt(unit) if unit < top else zero)
        else:
            for h in range(width):
                g[h] = grad[n, h] if units[n, h] > zero else zero
        for h in range(width):
            bias[h] += g[h]
        behind[n] = g[width - behind.shape[1] :]
        for k in range(0, count, 4):
            a = flat[rows[k]]
            b = flat[rows[k + 1]]
            c = flat[rows[k + 2]]
            d = flat[rows[k + 3]]
            for h in range(width):
                x = g[h]
                a[h] += x
                b[h] += x
                c[h] += x
                d[h] += x


assert not STEPS[0].any()

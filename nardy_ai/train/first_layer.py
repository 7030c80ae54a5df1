"""The network's first layer for learning on a processor: sums of table rows, forwards and backwards.

About 20 of a board's slots hold anything, so its first layer is a sum of some 20 rows of the folded table
`[S, 16, H]` (`features`), where a dense product would multiply 312 numbers, nearly all of them 0. Same numbers as the
dense product up to rounding.
"""

from typing import Any

import numpy as np
import torch
from numba import njit

from nardy_ai.features import LEVELS, STEPS


class SumOfRows(torch.autograd.Function):
    """`float32[N, H]` = dense inputs of slots `int8[N, S]` times `first` `float32[S * F, H]`, plus a bias."""

    @staticmethod
    def forward(ctx: Any, first: torch.Tensor, bias: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        slots = inputs.shape[1]
        steps = torch.from_numpy(STEPS)
        table = torch.matmul(steps, first.detach().view(slots, STEPS.shape[1], -1)).contiguous()
        sums = torch.empty(len(inputs), first.shape[1])
        _gather(inputs.numpy(), table.numpy(), bias.detach().numpy(), sums.numpy())
        ctx.save_for_backward(inputs)
        return sums

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        (inputs,) = ctx.saved_tensors
        grad = grad.contiguous()
        table = torch.zeros(inputs.shape[1], LEVELS, grad.shape[1])
        _scatter(inputs.numpy(), grad.numpy(), table.numpy())
        first = torch.matmul(torch.from_numpy(STEPS.T.copy()), table)
        return first.view(-1, grad.shape[1]), grad.sum(dim=0), None


def sum_of_rows(first: torch.Tensor, bias: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """First-layer sums `float32[N, H]`, with gradients for first and bias. inputs: slots `int8[N, S]`."""
    sums: torch.Tensor = SumOfRows.apply(first, bias, inputs)
    return sums


@njit(nogil=True, cache=True)
def _rows_of(board, rows):
    """The slots that hold something as rows of the table, their number rounded up to four by the empty first row."""
    n = 0
    for s in range(len(board)):
        rows[n] = s * LEVELS + board[s]
        n += 1 if board[s] else 0
    rows[n : n + 3] = 0
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
def _scatter(inputs, grad, table):
    """table[s, count] += grad[n] for every slot of every board; what falls on empty slots means nothing."""
    slots, levels, width = table.shape
    flat = table.reshape(slots * levels, width)
    rows = np.empty(slots + 4, np.int64)
    for n in range(len(inputs)):
        count = _rows_of(inputs[n], rows)
        g = grad[n]
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

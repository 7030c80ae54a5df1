"""What the network should have said: lambda-returns over a window of self-play."""

import numpy as np
from numpy.typing import NDArray

from nardy_ai import outcomes as oc
from nardy_ai.play.selfplay import Window


def td_targets(window: Window, trace: float) -> NDArray[np.float32]:
    """Targets for every board of the window, `float32[T, B, K]`, for the side on roll.

    The target at t mixes, seen from the other side, the next board's estimate with that board's own target:
    G(t) = swap((1 - trace) V(t + 1) + trace G(t + 1)); the certain outcome where the game ends; the estimate alone at
    the window's end and where chance chose the next play. trace 0 is TD(0), 1 the result (Sutton 1988).
    """
    targets = np.empty_like(window.next_outcomes)
    steps = len(targets)
    for t in range(steps - 1, -1, -1):
        ahead = window.next_outcomes[t]
        if trace and t + 1 < steps:
            usable = ~(window.ended[t] | window.random[t + 1])
            mixed = (1 - trace) * ahead + trace * targets[t + 1]
            ahead = np.where(usable[:, None], mixed, ahead)
        targets[t] = oc.swap(ahead)
    return targets

"""Says that kernels are being compiled, which happens at the first use and after every change of numba or of them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.event import Listener, install_listener

from nardy_ai.language import marked, tr

NOTICE = marked("compiling kernels (once for each, under a minute in all) ...")


class _Notice(Listener):  # type: ignore[misc]  # numba has no types
    """Prints NOTICE when the first kernel is compiled. Kernels found in numba's cache raise no such event."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, event: object) -> None:
        """A kernel begins to be compiled."""
        if not self._said:
            print(tr(NOTICE), file=sys.stderr, flush=True)
            self._said = True

    def on_end(self, event: object) -> None:
        """A kernel has been compiled."""


@contextmanager
def compile_notice() -> Iterator[None]:
    """While open, say so on stderr, once, if a kernel is compiled."""
    with install_listener("numba:compile", _Notice()):
        yield

"""Long work asked to stop by Ctrl-C or TERM: it ends its stretch and saves."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from nardy_ai.cli.output import say


class Stoppable(Protocol):
    """What looks at `stop` now and then."""

    stop: bool


@contextmanager
def interruptible(watcher: Stoppable) -> Iterator[None]:
    """The first Ctrl-C (or TERM) asks the work to stop and save; the second ends it at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if watcher.stop:
            raise KeyboardInterrupt
        watcher.stop = True
        say("\nstopping after this stretch, then saving; once more to stop at once")

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)

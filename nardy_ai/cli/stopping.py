"""Long work asked to stop by Ctrl-C or TERM: it ends its stretch and saves, or says what there is by then."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from nardy_ai.cli.output import say

INTERRUPTED = 130
"""What a command that was asked to stop returns, as shells have it."""


class Stoppable(Protocol):
    """What looks at `stop` now and then."""

    stop: bool


@dataclass
class Watch:
    """The least that can be asked to stop."""

    stop: bool = False


@contextmanager
def interruptible(watcher: Stoppable, *, saves: bool = True) -> Iterator[None]:
    """The first Ctrl-C (or TERM) asks the work to stop, and to save if it `saves`; the second ends it at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if watcher.stop:
            raise KeyboardInterrupt
        watcher.stop = True
        say(f"\nstopping after this stretch{', then saving' if saves else ''}; once more to stop at once")

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """A question whether Ctrl-C was pressed; a second press ends the program at once."""
    pressed = threading.Event()

    def press(number: int, frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def finishing() -> Iterator[Callable[[], bool]]:
    """A question whether Ctrl-C was pressed; games that run are ended then. A second press interrupts the question."""
    presses = 0

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        if presses == 1:
            say("\nending the games that have begun; once more to stop at once")

    def stop() -> bool:
        if presses > 1:
            raise KeyboardInterrupt
        return presses > 0

    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield stop
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)

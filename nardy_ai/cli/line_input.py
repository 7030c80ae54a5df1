"""One line from whoever sits at the terminal or writes into the pipe."""

import sys
from collections.abc import Callable, Sequence


def ask(prompt: str, completions: Sequence[str] = ()) -> str:
    """A line, without what ends it. Raises EOFError, KeyboardInterrupt.

    At a terminal the tab key completes to `completions`. Over a pipe the line is echoed behind the prompt, so that the
    output reads like a session.
    """
    if sys.stdin is None:
        raise EOFError
    if sys.stdin.isatty():
        _let_tab_complete(completions)
        return input(prompt)
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    print(line.rstrip())
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def completer(completions: Sequence[str]) -> Callable[[str, int], str | None]:
    """A function for readline: the i-th of `completions` that begins with what is typed, in any letter case."""

    def complete(text: str, i: int) -> str | None:
        found = [one for one in completions if one.casefold().startswith(text.casefold())]
        return found[i] if i < len(found) else None

    return complete


def _let_tab_complete(completions: Sequence[str]) -> None:
    try:
        import readline
    except ImportError:  # Windows has none; lines are read all the same
        return
    readline.set_completer_delims("")
    readline.set_completer(completer(completions))
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

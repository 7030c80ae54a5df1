"""The `nardy` command: finds the subcommand, imports only its module, and turns faults into exit codes.

Exit codes: 0 done, 1 failed, 2 misused, 130 interrupted. What is wrong with the input is one line on stderr; any
other exception is a fault of the program and shows its traceback.

A subcommand is a line in `COMMANDS` and a module of the same name in this folder with two functions,
`add_arguments(parser)` and `run(args) -> int`.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn, Protocol, cast

from nardy_ai import __version__
from nardy_ai.cli.stopping import INTERRUPTED
from nardy_ai.errors import NardyError
from nardy_ai.language import ENGLISH, default_language, speaking

COMMANDS = {
    "train": "train a bot by self-play",
    "label": "let a teacher say how positions of self-play will end",
    "fit": "fit a network to labels",
    "prune": "give a bot a pruning net, by which it plays faster",
    "recipe": "go through a chain of stages from nothing to a bot",
    "evaluate": "say how a position will end, or rank the plays of a roll",
    "cube": "say whether to double, and whether to take",
    "rollout": "play a position to its end many times, or compare plays that way",
    "analyse": "judge every decision of a match: .mat, .sgf or a list of positions",
    "benchmark": "let bots play each other, or choose in decisions with known answers",
    "decisions": "make a set of decisions with answers, sampled from games of a bot",
    "bench": "measure speed and memory on this machine, beside other engines where they are installed",
    "plot": "draw how training went, or what a benchmark found",
    "solve": "solve a game of few checkers exactly",
    "play": "play a game or a match against a bot at the terminal",
    "moves": "list the legal plays of a position",
    "rules": "list the rule sets, or print one with all its options",
    "bots": "list the bots that can be named",
}
"""Each subcommand with its line of help, in the order of the help text."""

DONE, FAILED, MISUSED, PIPE_CLOSED = 0, 1, 2, 141


class Command(Protocol):
    """What the module of a subcommand provides."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work, print the answer, return the exit code. Raises NardyError for bad input."""
        ...


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong on stderr and exit with 2."""
        self.exit(MISUSED, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    argv: the arguments without the program's name; None takes those of the process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else DONE
    except NardyError as error:
        code = _complain(" ".join(str(error).split()), MISUSED)
    except KeyboardInterrupt:
        code = _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _drop_output()
        code = PIPE_CLOSED
    except OSError as error:
        code = _complain(str(error), FAILED)
    except MemoryError:
        code = _complain("not enough memory for what was asked", FAILED)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        code = _complain("compiled code cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written", FAILED)
    return code


def entry() -> NoReturn:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    raise SystemExit(main())


def _dispatch(arguments: list[str]) -> int:
    parser = _top_parser()
    if not arguments:
        parser.print_help(sys.stderr)
        return MISUSED
    name = arguments[0]
    if name.startswith("-"):
        parser.parse_args(arguments)
        parser.error(f"expected a command before {name!r}")
    if name not in COMMANDS:
        close = get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(COMMANDS)}"
        parser.error(f"unknown command {name!r}; {hint}")
    command = cast(Command, import_module(f"nardy_ai.cli.{name}"))
    subparser = Parser(prog=f"nardy {name}", description=COMMANDS[name], allow_abbrev=False)
    command.add_arguments(subparser)
    args = subparser.parse_args(arguments[1:])
    with speaking(_language_of(args)):
        return command.run(args)


def _language_of(args: argparse.Namespace) -> str:
    """What `--lang` says, else the environment; English for commands that have no such option."""
    if "lang" not in args:
        return ENGLISH
    return args.lang or default_language(os.environ)


def _top_parser() -> Parser:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    parser = Parser(
        prog="nardy",
        usage="nardy [-h] [--version] COMMAND ...",
        description="Trains, evaluates and benchmarks bots for short, Caucasian, hyper and long nardy.",
        epilog="\n".join(["commands:", *lines, "", "nardy COMMAND --help tells more."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"nardy {__version__}")
    return parser


def _complain(text: str, code: int) -> int:
    """One line on stderr."""
    print(f"nardy: {text}", file=sys.stderr)
    return code


def _drop_output() -> None:
    """Let the interpreter's last flush of stdout go nowhere: its reader has left."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


if __name__ == "__main__":
    entry()

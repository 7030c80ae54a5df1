"""`nardy bench [TASK ...]`: speed and memory on this machine, beside other engines where they are installed."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from nardy_ai import __version__
from nardy_ai.bench.contest import Disagreement, Figure, Machine, Table, this_machine
from nardy_ai.bench.peers import PEERS, installed_peers, make_peers
from nardy_ai.bench.tasks import NEED_A_BOT, TASKS, Setting
from nardy_ai.bots import default_bot, is_trained, load_bot
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, print_json, print_table
from nardy_ai.errors import BotError, NardyError
from nardy_ai.evaluators.with_bearoff import Trained
from nardy_ai.resources import checkpoint_names
from nardy_ai.rules import find_rules, same_game

SLOWED_BY = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Settings that keep numpy's matrix products from their full speed. They count when numpy is loaded."""

BY_DEFAULT = ("short", "long")
"""The rule sets whose shipped bots are measured where none is named."""

TOO_LITTLE = 0.9
"""Share of the cores that a contestant can use, below which its figure is called doubtful."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"any of {', '.join(TASKS)} (default: all)")
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="turns of each contestant (default: %(default)s)"
    )
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        metavar="BOT",
        help="a trained bot, by name or file; may be given again (default: the shipped ones of short and long nardy)",
    )
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        help=f"compare with {' and '.join(PEERS)} (default: with those installed)",
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Measure, and print each table when it is there."""
    names = args.tasks or list(TASKS)
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        raise NardyError(f"unknown task {unknown[0]!r}; expected any of {', '.join(TASKS)}")
    if args.rounds < 1:
        raise NardyError(f"--rounds {args.rounds}: expected 1 or more")
    if any(name in os.environ for name in SLOWED_BY):
        clean = {name: value for name, value in os.environ.items() if name not in SLOWED_BY}
        command = [sys.executable, "-m", "nardy_ai.cli.main", "bench", *_as_given(args)]
        os.execve(sys.executable, command, clean)  # noqa: S606 - this command, once more
    with compile_notice():
        bots = _bots(args.bot)
        if not bots and NEED_A_BOT.intersection(names):
            default_bot(find_rules("short"))  # says that none is shipped
        setting = Setting(args.rounds, bots, tuple(make_peers(_peer_names(args.peers))))
        machine = this_machine()
        if not args.json:
            _print_machine(machine, setting)
        tables = []
        try:
            for name in names:
                print(f"measuring {name} ...", file=sys.stderr, flush=True)
                for table in TASKS[name](setting):
                    tables.append(table)
                    if not args.json:
                        _print_table(table)
        except Disagreement as error:
            print(f"nardy: not measured: {error}", file=sys.stderr)
            return 1
    if args.json:
        print_json(_as_data(machine, setting, tables))
    return 0


def _as_given(args: argparse.Namespace) -> list[str]:
    """The arguments as a command line."""
    given = [*args.tasks, "--rounds", str(args.rounds)]
    for bot in args.bot:
        given += ["--bot", bot]
    if args.peers is not None:
        given.append("--peers" if args.peers else "--no-peers")
    return [*given, "--json"] if args.json else given


def _bots(names: Sequence[str]) -> tuple[Trained, ...]:
    """The bots named, and the shipped ones of the rule sets that none of them plays."""
    bots = []
    for name in names:
        bot = load_bot(name) if is_trained(name) else None
        if not isinstance(bot, Trained):
            raise BotError(f"{name!r} is no trained bot; nardy bench measures those only")
        bots.append(bot)
    for name in BY_DEFAULT:
        if name in checkpoint_names() and not any(same_game(bot.rules, find_rules(name)) for bot in bots):
            bot = load_bot(name)
            assert isinstance(bot, Trained)
            bots.append(bot)
    return tuple(bots)


def _peer_names(wanted: bool | None) -> Sequence[str]:
    if wanted is None:
        return installed_peers()
    return list(PEERS) if wanted else ()


def _print_machine(machine: Machine, setting: Setting) -> None:
    packages = ", ".join(f"{name} {version}" for name, version in machine.packages.items())
    cores = "1 core" if machine.cores == 1 else f"{machine.cores} cores"
    load = "unknown" if machine.load is None else f"{machine.load:.1f}"
    print(f"{machine.processor}, {cores}, load {load}; Python {machine.python}, {packages}")
    print(f"bots: {', '.join(bot.name for bot in setting.bots) or 'none'};", end=" ")
    print(f"peers: {', '.join(peer.name for peer in setting.peers) or 'none'}; rounds: {setting.rounds}")
    if machine.is_busy:
        print(f"WARNING: {_doubt(machine)}")


def _doubt(machine: Machine) -> str:
    return (
        f"other programs are at work here (load {machine.load:.1f} on {machine.cores} cores): the rates are too low and"
        " vary, ratios are rough, and what two cores gain over one cannot be seen. Repeat it on an idle machine."
    )


def _print_table(table: Table) -> None:
    print(f"\n{table.task}: {table.title}\n  {table.work}")
    if not table.figures:
        return
    compared = len(table.figures) > 1
    timed = bool(table.figures[0].cores)
    rows = []
    for figure in table.figures:
        row = [
            figure.name,
            f"{_number(figure.median):>14}",
            f"{_number(min(figure.values)):>13} .. {_number(max(figure.values)):<13}",
        ]
        if timed:
            row.append(f"{_busy(figure):.2f}")
        if compared:
            row.append(f"x {figure.median / table.figures[0].median:.2f}")
        rows.append(row)
    values = len(table.figures[0].values)
    header = ["", f"{table.unit:>14}", f"range of {values}", *(["cores"] * timed), *(["ratio"] * compared)]
    print_table(rows, header=header, indent=2)
    starved = [figure.name for figure in table.figures if timed and _busy(figure) < TOO_LITTLE * figure.threads]
    if starved:
        print(f"  doubtful, since other programs had a good part of the cores: {', '.join(starved)}")


def _busy(figure: Figure) -> float:
    return sum(figure.cores) / len(figure.cores)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _as_data(machine: Machine, setting: Setting, tables: Sequence[Table]) -> Mapping[str, object]:
    return {
        "version": __version__,
        "machine": vars(machine),
        "busy": _doubt(machine) if machine.is_busy else None,
        "rounds": setting.rounds,
        "bots": [bot.name for bot in setting.bots],
        "peers": [peer.name for peer in setting.peers],
        "tables": [
            {
                "task": table.task,
                "title": table.title,
                "unit": table.unit,
                "work": table.work,
                "figures": [
                    {
                        "name": figure.name,
                        "median": figure.median,
                        "range": [min(figure.values), max(figure.values)],
                        "ratio": figure.median / table.figures[0].median,
                        "values": figure.values,
                        "cores": figure.cores,
                    }
                    for figure in table.figures
                ],
            }
            for table in tables
        ],
    }

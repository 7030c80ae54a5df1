"""`nardy solve RULES`: the exact solution of a game with few checkers."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.cli.arguments import WORKERS, add_workers_argument
from nardy_ai.cli.chances import chance_table, exclusive_chances, rounded
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, print_json, print_table
from nardy_ai.errors import NardyError
from nardy_ai.exact.solve import (
    CubeSolution,
    Progress,
    Solution,
    Sweep,
    check_solvable,
    few_checkers,
    load_cube_solution,
    load_solution,
)
from nardy_ai.rules import MatchOptions, RuleSet, find_preset, start_boards

CUBE_OWNERS = ("centre", "mine", "his")
"""Where the cube is, for the side on roll, in the order of `CubeValues`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rules", metavar="RULES", help="a rule set, an alias or a .toml file")
    parser.add_argument(
        "--checkers", type=int, metavar="N", help="play it with N checkers a side, the rearmost of its start"
    )
    parser.add_argument("--cube", action="store_true", help="solve it with the money cube")
    parser.add_argument(
        "--jacoby",
        action=argparse.BooleanOptionalAction,
        help="with the cube: while nobody has doubled every win counts 1 (default: as the match options say)",
    )
    parser.add_argument(
        "--beavers",
        action=argparse.BooleanOptionalAction,
        help="with the cube: who takes may double at once and keep the cube (default: as the match options say)",
    )
    add_workers_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Solve, or read what was solved before, and print what the start is worth."""
    if args.workers < 1:
        raise NardyError(f"--workers {args.workers}: expected 1 or more")
    if not args.cube and (args.jacoby is not None or args.beavers is not None):
        raise NardyError("--jacoby and --beavers are rules about the cube; give --cube with them")
    preset = find_preset(args.rules)
    rules = preset.rules if args.checkers is None else few_checkers(preset.rules, args.checkers)
    began = time.monotonic()
    if args.cube:
        with compile_notice():
            cube = _cube_solved(args, rules, preset.match)
        seconds = time.monotonic() - began
        if args.json:
            print_json(_cube_data(cube, seconds))
        else:
            _print_cube(cube, seconds)
        return 0
    with compile_notice():
        solution = solved(rules, workers=args.workers, quiet=args.quiet)
    seconds = time.monotonic() - began
    if args.json:
        print_json(_data(solution, seconds))
    else:
        _print(solution, seconds)
    return 0


def solved(rules: RuleSet, *, workers: int = WORKERS, quiet: bool = False) -> Solution:
    """The solution from the cache, or found under a progress bar. Raises RulesError for a game too big."""
    check_solvable(rules)
    with _bar(quiet=quiet) as progress:
        return load_solution(rules, workers=workers, progress=progress, note=None if quiet else _say)


def solved_with_cube(
    rules: RuleSet, *, jacoby: bool, beavers: bool, workers: int = WORKERS, quiet: bool = False
) -> CubeSolution:
    """The solution with the cube from the cache, or found under a progress bar. Raises RulesError."""
    check_solvable(rules)
    note = None if quiet else _say
    with _bar(quiet=quiet) as progress:
        return load_cube_solution(rules, jacoby=jacoby, beavers=beavers, workers=workers, progress=progress, note=note)


def _cube_solved(args: argparse.Namespace, rules: RuleSet, match: MatchOptions) -> CubeSolution:
    """The solution by the arguments, else by the match options."""
    jacoby = match.jacoby if args.jacoby is None else args.jacoby
    beavers = match.beavers if args.beavers is None else args.beavers
    return solved_with_cube(rules, jacoby=jacoby, beavers=beavers, workers=args.workers, quiet=args.quiet)


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Progress]:
    """A bar over the boards of each sweep, which appears with the first of them."""
    bar: tqdm[None] | None = None

    def progress(sweep: Sweep) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=sweep.boards, unit=" boards", disable=quiet, file=sys.stderr)
        if sweep.done < bar.n:
            bar.reset()
        bar.set_description(f"sweep {sweep.sweep}, last change {sweep.change:.1e}", refresh=False)
        bar.update(sweep.done - bar.n)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.close()


def _print(solution: Solution, seconds: float) -> None:
    rules, effort = solution.rules, solution.effort
    start = start_boards(rules)
    outcomes = solution.outcomes(start)[0]
    print(f"nardy {__version__}, rules {rules.name}, {rules.checkers} checkers a side, no cube\n")
    print_table(
        [
            ["positions", f"{effort.boards:,}"],
            ["sweeps", f"{effort.sweeps}, and {effort.follow_ups} between them that follow the plays found"],
            ["last change", f"{solution.change:.1e}"],
            ["error bound", f"{solution.bound:.1e}"],
            ["longest", f"{solution.longest:.1f} rolls to come on average, from the position with most"],
            ["start", f"{float(solution.equities(start)[0]):+.6f} for the side on roll, before the roll"],
        ]
    )
    print()
    print_table(chance_table(outcomes, rules))
    print(f"\n{seconds:.1f} s")


def _data(solution: Solution, seconds: float) -> dict[str, object]:
    rules, effort = solution.rules, solution.effort
    outcomes = solution.outcomes(start_boards(rules))[0]
    return {
        "version": __version__,
        "rules": rules.name,
        "checkers": rules.checkers,
        "positions": effort.boards,
        "sweeps": effort.sweeps,
        "follow_ups": effort.follow_ups,
        "change": solution.change,
        "bound": solution.bound,
        "longest": rounded(solution.longest),
        "start": {
            "equity": rounded(solution.equities(start_boards(rules))[0]),
            "win": rounded(outcomes[: len(outcomes) // 2].sum()),
            "outcomes": exclusive_chances(outcomes, rules),
        },
        "seconds": round(seconds, 3),
    }


def _print_cube(solution: CubeSolution, seconds: float) -> None:
    rules, effort = solution.rules, solution.effort
    options = [name for name, on in (("Jacoby", solution.jacoby), ("beavers", solution.beavers)) if on]
    print(
        f"nardy {__version__}, rules {rules.name}, {rules.checkers} checkers a side, money cube,"
        f" {' and '.join(options) or 'neither Jacoby nor beavers'}\n"
    )
    print_table(
        [
            ["positions", f"{effort.boards:,}"],
            ["sweeps", f"{effort.sweeps}, and {effort.follow_ups} between them that follow the plays found"],
            ["last change", f"{solution.change:.1e}"],
        ]
    )
    print("\nthe start, before the roll, for the side on roll, in stakes; the cube is")
    values = solution.values(start_boards(rules))
    rows = [
        [name, *(f"{value:+14.6f}" for value in row[0])]
        for name, row in (("rolled without an offer", values.no_double), ("offered and taken where right", values.best))
    ]
    print_table(rows, header=["", "in the centre", "          mine", "           his"], indent=2)
    print(f"\n{seconds:.1f} s")


def _cube_data(solution: CubeSolution, seconds: float) -> dict[str, object]:
    rules, effort = solution.rules, solution.effort
    values = solution.values(start_boards(rules))
    return {
        "version": __version__,
        "rules": rules.name,
        "checkers": rules.checkers,
        "cube": {"jacoby": solution.jacoby, "beavers": solution.beavers},
        "positions": effort.boards,
        "sweeps": effort.sweeps,
        "follow_ups": effort.follow_ups,
        "change": solution.change,
        "start": {
            name: {owner: rounded(value) for owner, value in zip(CUBE_OWNERS, row[0], strict=True)}
            for name, row in (("no_double", values.no_double), ("best", values.best))
        },
        "seconds": round(seconds, 3),
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

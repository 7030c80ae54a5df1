"""`nardy benchmark BOT BOT --cube` and `--match N`: money games with the cube, and whole matches."""

import argparse
import math
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations

from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.cli.chances import or_null, or_unknown, rounded
from nardy_ai.cli.output import print_json, print_table
from nardy_ai.cli.stopping import INTERRUPTED, finishing
from nardy_ai.cube.state import GROWTHS, first_state
from nardy_ai.cube_policies import POLICIES, CubePlayer, cube_player
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.notation.position import MAX_POINTS
from nardy_ai.play.matches import LARGEST_CAP, MatchReport, play_matches_of_all
from nardy_ai.rules import MatchOptions, RuleSet

SURE = 1.96
"""Standard errors to either side of a 95 % interval."""


def add_match_arguments(parser: argparse.ArgumentParser) -> None:
    """What makes money games with the cube, or matches, of games without."""
    parser.add_argument(
        "--cube",
        action=argparse.BooleanOptionalAction,
        help="play with the cube, for money by the match options of the rules; --no-cube: matches without it",
    )
    parser.add_argument("--match", type=int, metavar="N", help="play whole matches to N points, with the cube")
    parser.add_argument(
        "--games", type=int, metavar="N", help="money games in a row between the same seats (default: 1)"
    )
    parser.add_argument(
        "--policy",
        metavar="NAME[,NAME]",
        help=(
            f"when the bots double and take, one for all or one each: {', '.join(POLICIES)}"
            " (default: cubeful, never for bots that know no chances)"
        ),
    )
    parser.add_argument("--cap", type=int, metavar="N", help=f"the largest stake of a double (default: {LARGEST_CAP})")


def wants_cube(args: argparse.Namespace) -> bool:
    """Whether any of the arguments was given."""
    return any(getattr(args, name) is not None for name in ("cube", "match", "games", "policy", "cap"))


def only_cube(args: argparse.Namespace) -> bool:
    """Whether none of them was given but `--cube` or `--no-cube`."""
    return all(getattr(args, name) is None for name in ("match", "games", "policy", "cap"))


def play_with_cube(args: argparse.Namespace, bots: Sequence[Bot], rules: RuleSet, match: MatchOptions) -> int:
    """Play and print how the bots did."""
    options = _options(args, match)
    cap = LARGEST_CAP if args.cap is None else args.cap
    players = _players(args, bots, options, cap)
    contests = len(list(combinations(players, 2)))
    unit = " matches" if options.length else " sessions"
    with (
        finishing() as stop,
        tqdm(total=2 * args.pairs * contests, unit=unit, disable=args.quiet, file=sys.stderr) as bar,
    ):
        lock = threading.Lock()

        def progress(sessions: int) -> None:
            with lock:
                bar.update(sessions)

        reports = play_matches_of_all(
            players, rules, options, pairs=args.pairs, seed=args.seed, games=args.games or 1, cap=cap,
            workers=args.workers, progress=progress, stop=stop,
        )  # fmt: skip
        complete = not stop()
    if args.json:
        print_json(_data(args, reports, rules, options, cap, complete=complete))
    else:
        _print(args, reports, rules, options, cap, complete=complete)
    return 0 if complete else INTERRUPTED


def _options(args: argparse.Namespace, match: MatchOptions) -> MatchOptions:
    """The match options to play by. Raises NardyError.

    Rules without a cube are given one that doubles, with the Crawford game, unless it is not wanted.
    """
    if args.match is not None and not 0 <= args.match <= MAX_POINTS:
        raise NardyError(f"--match {args.match}: expected 1 to {MAX_POINTS} points, or 0 for money")
    length = match.length if args.match is None else args.match
    if args.games is not None and (args.games < 1 or length):
        raise NardyError(
            f"--games {args.games}: expected 1 or more games for money; a match to {length} ends by its length"
            if length
            else f"--games {args.games}: expected 1 or more"
        )
    options = replace(match, length=length)
    if args.cube is False:
        return replace(options, cube="none", jacoby=False, beavers=False, raccoons=False, crawford=False)
    return replace(options, cube=GROWTHS[0], crawford=True) if options.cube == "none" else options


def _players(args: argparse.Namespace, bots: Sequence[Bot], options: MatchOptions, cap: int) -> list[CubePlayer]:
    names: list[str | None] = [None] if args.policy is None else args.policy.split(",")
    if options.cube == "none":
        if set(names) - {None, "never"}:
            raise NardyError(f"--policy {args.policy}: without a cube there is nothing to double; leave it out")
        names = ["never"]
    if len(names) == 1:
        names = names * len(bots)
    if len(names) != len(bots):
        raise NardyError(f"--policy {args.policy}: {len(names)} policies for {len(bots)} bots; give one, or one each")
    state = first_state(options, cap=cap)
    return [cube_player(bot, name, state) for bot, name in zip(bots, names, strict=True)]


def _settings(args: argparse.Namespace, rules: RuleSet, options: MatchOptions, cap: int) -> str:
    """All that the numbers depend on, on one line."""
    kind = f"matches to {options.length}" if options.length else f"money, {args.games or 1} games a session"
    parts = [f"nardy {__version__}", f"rules {rules.name}", kind, f"{args.pairs} pairs", f"seed {args.seed}"]
    parts += [f"opening {options.opening}", f"next game {options.next_game_first}"]
    if options.cube == "none":
        parts.append("no cube")
    else:
        parts.append(f"cube {options.cube} up to {cap}")
        money = [("Jacoby", options.jacoby), ("beavers", options.beavers), ("raccoons", options.raccoons)]
        money += [("automatic doubles", options.auto_doubles > 0)]
        parts += [word for word, on in ([("Crawford", options.crawford)] if options.length else money) if on]
    return ", ".join([*parts, "duplicate dice, seats swapped"])


def _print(
    args: argparse.Namespace,
    reports: Sequence[MatchReport],
    rules: RuleSet,
    options: MatchOptions,
    cap: int,
    *,
    complete: bool,
) -> None:
    print(_settings(args, rules, options, cap))
    if not complete:
        print("interrupted: what follows is of the pairs played")
    print()
    header = ["bots", "points a game", "95 % interval", "games won", "rolls", "games", "pairs"]
    rows = [
        [
            f"{one.first} - {one.second}",
            f"{one.points:+.4f} +- {or_unknown(one.points_error)}",
            _interval(one.points, one.points_error),
            f"{100 * one.games_won:7.1f} %",
            f"{one.plies:5.1f}",
            str(one.games),
            str(one.pairs),
        ]
        for one in reports
    ]
    if options.length:
        header.insert(1, "matches won")
        for row, one in zip(rows, reports, strict=True):
            assert one.matches_won is not None and one.matches_error is not None
            row.insert(1, f"{100 * one.matches_won:5.1f} +- {or_unknown(100 * one.matches_error, 1)} %")
    print_table(rows, header=header)
    if options.cube != "none":
        print("\nthe cube: doubles a game, and what came of them")
        cubes = [
            [
                f"{one.first} - {one.second}",
                name,
                f"{use.doubles:7.3f}",
                f"{100 * use.taken:5.1f} %",
                f"{100 * use.beavered:5.1f} %",
                f"{100 * use.raccooned:5.1f} %",
                f"{one.stake:5.2f}",
            ]
            for one in reports
            for name, use in ((one.first, one.first_cube), (one.second, one.second_cube))
        ]
        print_table(cubes, header=["bots", "doubler", "doubles", "taken", "beavered", "raccooned", "mean stake"])
    for one in reports:
        if one.cut:
            print(f"{one.first} - {one.second}: {one.cut} sessions ended with a game that never did")


def _interval(value: float, error: float) -> str:
    reach = SURE * error
    return f"{value - reach:+.4f} to {value + reach:+.4f}" if math.isfinite(error) else "unknown"


def _data(
    args: argparse.Namespace,
    reports: Sequence[MatchReport],
    rules: RuleSet,
    options: MatchOptions,
    cap: int,
    *,
    complete: bool,
) -> dict[str, object]:
    return {
        "version": __version__,
        "rules": rules.name,
        "options": asdict(options) | {"cap": cap, "games": args.games or 1},
        "pairs": args.pairs,
        "seed": args.seed,
        "dice": "duplicate, seats swapped",
        "complete": complete,
        "matches": [_match_data(one) for one in reports],
    }


def _match_data(report: MatchReport) -> dict[str, object]:
    return {
        "first": report.first,
        "second": report.second,
        "pairs": report.pairs,
        "games": report.games,
        "points": rounded(report.points),
        "standard_error": or_null(report.points_error),
        "games_won": rounded(report.games_won),
        "matches_won": or_null(report.matches_won),
        "matches_error": or_null(report.matches_error),
        "first_cube": {key: rounded(value) for key, value in asdict(report.first_cube).items()},
        "second_cube": {key: rounded(value) for key, value in asdict(report.second_cube).items()},
        "stake": rounded(report.stake),
        "plies": rounded(report.plies),
        "cut": report.cut,
    }

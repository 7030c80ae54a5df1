"""`nardy benchmark BOT BOT ...`: bots against each other, on known answers, by a solved game, or by themselves."""

import argparse
import math
import sys
import threading
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.bots import SOLVED, best_afterstates, is_trained, load_bot
from nardy_ai.cli.arguments import add_workers_argument
from nardy_ai.cli.chances import WAYS, or_null, or_unknown, possible_ways, rounded, three_ways
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.cube_matches import add_match_arguments, only_cube, play_with_cube, wants_cube
from nardy_ai.cli.exact_cubes import judge_bearoffs, judge_cubes
from nardy_ai.cli.output import add_json_argument, print_json, print_table
from nardy_ai.cli.positions import add_rules_argument
from nardy_ai.cli.pruning_loss import judge_all
from nardy_ai.cli.solve import solved
from nardy_ai.cli.stopping import INTERRUPTED, finishing
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.outcomes import class_names
from nardy_ai.play.against_exact import ExactReport, judge, sample_games
from nardy_ai.play.arena import ArenaReport, play_matrix
from nardy_ai.play.cube_decisions import CubeReport, read_cube_decisions, score_chances, score_cube
from nardy_ai.play.decisions import (
    DecisionReport,
    Difference,
    LabelNoise,
    Score,
    difference,
    find_decisions_file,
    holds_cube_decisions,
    label_noise,
    read_decisions,
    score_decisions,
)
from nardy_ai.play.luck import luck_by
from nardy_ai.rules import MatchOptions, RuleSet, find_preset, find_rules, match_options_of, start_boards

SURE = 1.96
"""Standard errors to either side of a 95 % interval."""

POINTS = 1000
"""Positions whose equities `--exact --json` gives one by one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bots", nargs="+", metavar="BOT", help="a name that `nardy bots` lists, or a bot's file")
    parser.add_argument(
        "--decisions",
        metavar="NAME",
        help="let the bots choose in decisions with known answers and do not play: a shipped set, `own` for that of the"
        " rules, or a file (.jsonl, .jsonl.gz)",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help=(
            "measure the bots by the exact solution of the game, which is found first, and do not play; with --cube"
            " their decisions about the cube"
        ),
    )
    parser.add_argument(
        "--bearoffs",
        choices=("reached", "drawn"),
        help=(
            "measure decisions about the cube by the bear-off tables, in bear-offs that the first bot's games come to"
            " or that are drawn at random, and do not play"
        ),
    )
    parser.add_argument(
        "--pruning",
        action="store_true",
        help="measure what bots named @pruned lose by plays that they do not judge, and do not play against each other",
    )
    add_match_arguments(parser)
    add_rules_argument(parser, default_text="those of the first trained bot, else short")
    parser.add_argument(
        "--pairs",
        type=int,
        default=1000,
        metavar="N",
        help="games in pairs: same dice, seats swapped (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the dice (default: %(default)s)")
    parser.add_argument(
        "--luck",
        metavar="BOT",
        help="take luck off the points, as BOT sees it, such as short-fast: strong bots are compared as surely in a"
        " fifth of the time (default: luck and all)",
    )
    add_workers_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Play, or let the bots choose, and print how they did."""
    benchmarks = args.exact, args.decisions is not None, args.bearoffs is not None, args.pruning
    if sum(benchmarks) > 1:
        raise NardyError(
            "--exact, --bearoffs, --decisions NAME and --pruning are different benchmarks; give one of them"
        )
    measured = any(benchmarks)
    if not measured and len(args.bots) < 2:
        raise NardyError(f"{args.bots[0]!r} has no opponent; name two bots or more, --decisions NAME or --exact")
    if measured and wants_cube(args) and not (args.exact and only_cube(args)):
        raise NardyError(
            "--cube, --match, --games, --policy and --cap play; --bearoffs, --decisions and --pruning do not, and"
            " --exact knows --cube alone"
        )
    if args.luck is not None and (measured or wants_cube(args)):
        raise NardyError("--luck is taken off the points of games without the cube")
    if args.pairs < 1 or args.workers < 1:
        raise NardyError(f"--pairs {args.pairs} --workers {args.workers}: expected 1 or more")
    with compile_notice():
        rules, match = _find_rules(args.rules, args.bots)
        exact = None
        if args.exact or any(name in SOLVED for name in args.bots):  # solved here, where progress can be shown
            exact = ExactBot(solved(rules, workers=args.workers, quiet=args.quiet))
        bots = [exact if exact is not None and name in SOLVED else load_bot(name, rules) for name in args.bots]
        if args.exact and exact is not None:
            return (judge_cubes if args.cube else _judge)(args, bots, exact, match)
        if args.bearoffs is not None:
            return judge_bearoffs(args, bots, rules, match)
        if args.pruning:
            return judge_all(args, bots, rules, match)
        if args.decisions is not None:
            path = find_decisions_file(args.decisions, rules)
            decide = _decide_cubes if holds_cube_decisions(path) else _decide
            return decide(path, bots, rules, as_json=args.json)
        for bot in bots:  # so that kernels are compiled before the bar appears
            best_afterstates(bot, start_boards(rules), (3, 1))
        if wants_cube(args):
            return play_with_cube(args, bots, rules, match)
        return _play(args, bots, rules, match)


def _find_rules(name: str | None, bots: Sequence[str]) -> tuple[RuleSet, MatchOptions]:
    """The rules asked for, else those of the first trained bot, else short; and how games start under them."""
    if name is not None:
        preset = find_preset(name)
        return preset.rules, preset.match
    trained = next((bot for bot in bots if is_trained(bot)), None)
    rules = find_rules("short") if trained is None else load_bot(trained).rules
    return rules, match_options_of(rules)


def _play(args: argparse.Namespace, bots: Sequence[Bot], rules: RuleSet, match: MatchOptions) -> int:
    matches = len(list(combinations(bots, 2)))
    luck = None if args.luck is None else luck_by(load_bot(args.luck, rules), rules)
    with (
        finishing() as stop,
        tqdm(total=2 * args.pairs * matches, unit=" games", disable=args.quiet, file=sys.stderr) as bar,
    ):
        lock = threading.Lock()

        def progress(games: int) -> None:
            with lock:
                bar.update(games)

        reports = play_matrix(
            bots, rules, match, pairs=args.pairs, seed=args.seed, luck=luck, workers=args.workers, progress=progress,
            stop=stop,
        )  # fmt: skip
        complete = not stop()
    if args.json:
        print_json(_matches_data(args, reports, rules, match, complete=complete))
    else:
        _print_matches(args, reports, bots, rules, match, complete=complete)
    return 0 if complete else INTERRUPTED


def _print_matches(
    args: argparse.Namespace,
    reports: Sequence[ArenaReport],
    bots: Sequence[Bot],
    rules: RuleSet,
    match: MatchOptions,
    *,
    complete: bool,
) -> None:
    print(
        f"nardy {__version__}, rules {rules.name}, {args.pairs} pairs a match, seed {args.seed}, opening"
        f" {match.opening}, duplicate dice, seats swapped"
    )
    if args.luck is not None:
        print(f"points less luck, as {reports[0].luck} sees it; wins are as they fell")
    if not complete:
        print("interrupted: what follows is of the pairs played")
    print()
    rows = [
        [
            f"{one.first} - {one.second}",
            f"{one.points:+.4f} +- {or_unknown(one.standard_error)}",
            _interval_text(one),
            f"{100 * one.first_won:5.1f} %",
            f"{one.plies:5.1f}",
            str(one.pairs),
        ]
        for one in reports
    ]
    print_table(rows, header=["bots", "points a game", "95 % interval", "   wins", "plies", "pairs"])
    print("\nwins by kind, % of all games")
    _print_rates(reports, rules)
    for one in reports:
        if one.cut:
            print(f"{one.first} - {one.second}: {one.cut} games never ended and count 0")
    if len(bots) > 2:
        print("\npoints a game of the row's bot against the column's")
        _print_matrix(reports, bots)


def _print_rates(reports: Sequence[ArenaReport], rules: RuleSet) -> None:
    """Each bot's wins by kind; with `checkers_left` the single ones are those with any number left."""
    possible = possible_ways(rules)
    ways = [way for way, can in zip(WAYS, possible, strict=True) if can]
    rows = []
    for one in reports:
        for name, rates in ((one.first, one.first_rates), (one.second, one.second_rates)):
            shares = [share for share, can in zip(three_ways(rates), possible, strict=True) if can]
            rows.append([f"{one.first} - {one.second}", name, *(f"{100 * share:6.2f}" for share in shares)])
    print_table(rows, header=["bots", "winner", *(f"{way:>6}" for way in ways)])


def _print_matrix(reports: Sequence[ArenaReport], bots: Sequence[Bot]) -> None:
    cells = [["-"] * len(bots) for _ in bots]
    for (i, j), one in zip(combinations(range(len(bots)), 2), reports, strict=False):
        cells[i][j], cells[j][i] = f"{one.points:+.4f}", f"{0 - one.points:+.4f}"
    names = [bot.name for bot in bots]
    print_table([[name, *row] for name, row in zip(names, cells, strict=True)], header=["", *names])


def _interval(report: ArenaReport) -> tuple[float, float]:
    reach = SURE * report.standard_error
    return report.points - reach, report.points + reach


def _interval_text(report: ArenaReport) -> str:
    low, high = _interval(report)
    return f"{low:+.4f} to {high:+.4f}" if math.isfinite(low) else "unknown"


def _matches_data(
    args: argparse.Namespace, reports: Sequence[ArenaReport], rules: RuleSet, match: MatchOptions, *, complete: bool
) -> dict[str, object]:
    ways = [name.removeprefix("win_") for name in class_names(rules) if name.startswith("win_")]
    return {
        "version": __version__,
        "rules": rules.name,
        "opening": match.opening,
        "pairs": args.pairs,
        "seed": args.seed,
        "dice": "duplicate, seats swapped",
        "complete": complete,
        "matches": [
            {
                "first": one.first,
                "second": one.second,
                "pairs": one.pairs,
                "luck": one.luck,
                "points": rounded(one.points),
                "standard_error": or_null(one.standard_error),
                "interval": [or_null(end) for end in _interval(one)],
                "first_won": rounded(one.first_won),
                "first_rates": {way: rounded(rate) for way, rate in zip(ways, one.first_rates, strict=True)},
                "second_rates": {way: rounded(rate) for way, rate in zip(ways, one.second_rates, strict=True)},
                "plies": rounded(one.plies),
                "cut": one.cut,
            }
            for one in reports
        ],
    }


def _judge(args: argparse.Namespace, bots: Sequence[Bot], exact: ExactBot, match: MatchOptions) -> int:
    rules = exact.rules
    sample = sample_games(exact, match, games=2 * args.pairs, seed=args.seed)
    reports = [judge(bot, exact, sample) for bot in bots]
    bound = exact.solution.bound
    first = reports[0]
    if args.json:
        print_json(
            {
                "version": __version__,
                "rules": rules.name,
                "opening": match.opening,
                "seed": args.seed,
                "games": first.games,
                "positions": first.positions,
                "decisions": first.decisions,
                "bound": bound,
                "bots": [_exact_data(one) for one in reports],
            }
        )
        return 0
    print(
        f"nardy {__version__}, rules {rules.name}, {first.positions:,} positions and {first.decisions:,} decisions of"
        f" {first.games:,} games of the exact bot against itself, seed {args.seed}, opening {match.opening}"
    )
    print(f"points of equity; exact to {bound:.1e}; a decision has two results or more\n")
    rows = [
        [
            one.bot,
            "" if one.rms_error is None else f"{one.rms_error:.5f}",
            "" if one.worst_error is None else f"{one.worst_error:.4f}",
            f"{one.mean_loss:.6f} +- {or_unknown(one.standard_error, 6)}",
            f"{one.worst_loss:.4f}",
            f"{100 * one.best_share:5.1f} %",
        ]
        for one in reports
    ]
    print_table(rows, header=["bot", "rms error", "worst error", "mean loss a decision", "worst loss", "best chosen"])
    return 0


def _exact_data(report: ExactReport) -> dict[str, object]:
    return {
        "bot": report.bot,
        "rms_error": None if report.rms_error is None else rounded(report.rms_error),
        "worst_error": None if report.worst_error is None else rounded(report.worst_error),
        "mean_loss": rounded(report.mean_loss),
        "standard_error": or_null(report.standard_error),
        "worst_loss": rounded(report.worst_loss),
        "best_share": rounded(report.best_share),
        "points": _points(report),
    }


def _points(report: ExactReport) -> list[tuple[float, float]]:
    """Equity by the solution and by the bot, of at most POINTS positions spread evenly over the sample."""
    if report.found is None:
        return []
    at = np.linspace(0, report.positions - 1, min(POINTS, report.positions)).round().astype(int)
    return [(rounded(exact), rounded(found)) for exact, found in zip(report.exact[at], report.found[at], strict=True)]


def _decide(path: Path, bots: Sequence[Bot], rules: RuleSet, *, as_json: bool) -> int:
    decisions = read_decisions(path, rules)
    reports = [score_decisions(bot, decisions) for bot in bots]
    differences = [difference(report, reports[0]) for report in reports]
    noise = label_noise(decisions)
    if as_json:
        print_json(
            {
                "version": __version__,
                "rules": rules.name,
                "file": str(path),
                "decisions": len(decisions.classes),
                "label_noise": None if noise is None else _noise_data(noise),
                "bots": [_decisions_data(one, apart) for one, apart in zip(reports, differences, strict=True)],
            }
        )
        return 0
    print(f"nardy {__version__}, rules {rules.name}, {len(decisions.classes)} decisions of {path}")
    print("PR is 500 x the mean equity lost a decision")
    if noise is not None:
        print(_noise_text(noise))
    print()
    rows = [
        [
            one.bot,
            _score_text(one.total),
            f"{100 * one.total.best_share:5.1f} %",
            "" if one.rms_error is None else f"{one.rms_error:.4f}",
            "" if one is reports[0] else f"{apart.pr:+.3f} +- {or_unknown(apart.standard_error, 3)}",
        ]
        for one, apart in zip(reports, differences, strict=True)
    ]
    print_table(rows, header=["bot", "PR", "best chosen", "rms error", f"PR minus that of {reports[0].bot}"])
    print("\nPR by class")
    columns = [(one.bot, one.by_class) for one in reports]
    if noise is not None and noise.error:
        columns.append(("of which noise", noise.about_by_class))
    classes = [
        [name, f"{score.decisions:>9}", *(_score_text(by_class[name]) for _, by_class in columns)]
        for name, score in reports[0].by_class.items()
    ]
    print_table(classes, header=["class", "decisions", *(header for header, _ in columns)])
    return 0


def _decide_cubes(path: Path, bots: Sequence[Bot], rules: RuleSet, *, as_json: bool) -> int:
    decisions = read_cube_decisions(path, rules)
    formulas = score_chances(decisions, rules)
    reports = ([] if formulas is None else [formulas]) + [score_cube(bot, decisions) for bot in bots]
    if as_json:
        print_json(
            {
                "version": __version__,
                "rules": rules.name,
                "file": str(path),
                "cube_decisions": len(decisions.classes),
                "bots": [_cube_data(one) for one in reports],
            }
        )
        return 0
    print(f"nardy {__version__}, rules {rules.name}, {len(decisions.classes)} cube decisions of {path}")
    print("equity per cube lost a decision, by the side that may double and by the other\n")
    rows = [
        [
            one.name,
            f"{one.doubling:.5f} +- {or_unknown(one.doubling_error, 5)}",
            f"{100 * one.doubled_right:5.1f} %",
            f"{one.taking:.5f} +- {or_unknown(one.taking_error, 5)}",
            f"{100 * one.taken_right:5.1f} %",
            f"{one.errors[0]:.4f}",
            f"{one.errors[1]:.4f}",
        ]
        for one in reports
    ]
    header = ["bot", "doubling", "right", "taking", "right", "rms no double", "rms double, take"]
    print_table(rows, header=header)
    print("\nboth together by class")
    counts = {word: decisions.classes.count(word) for word in reports[0].by_class}
    classes = [
        [word, f"{count:>9}", *(f"{one.by_class[word]:.5f}" for one in reports)] for word, count in counts.items()
    ]
    print_table(classes, header=["class", "decisions", *(one.name for one in reports)])
    return 0


def _cube_data(report: CubeReport) -> dict[str, object]:
    return {
        "bot": report.name,
        "doubling": {"loss": rounded(report.doubling), "standard_error": or_null(report.doubling_error)},
        "taking": {"loss": rounded(report.taking), "standard_error": or_null(report.taking_error)},
        "doubled_right": rounded(report.doubled_right),
        "taken_right": rounded(report.taken_right),
        "rms_error": {"no_double": rounded(report.errors[0]), "double_take": or_null(report.errors[1])},
        "by_class": {word: rounded(loss) for word, loss in report.by_class.items()},
    }


def _noise_text(noise: LabelNoise) -> str:
    if noise.error == 0:
        return "the answers are exact"
    return (
        f"the answers have a standard error of {noise.error:.4f}, differences to the best one of"
        f" {noise.difference_error:.4f} (rms);\nby that every PR is too high, by the same amount, about"
        f" {noise.pr_about:.3f} +- {or_unknown(noise.about_error, 3)} and at most"
        f" {noise.pr_at_most:.3f} +- {or_unknown(noise.at_most_error, 3)};\ndifferences of PR are not touched"
    )


def _noise_data(noise: LabelNoise) -> dict[str, object]:
    return {
        "standard_error": rounded(noise.error),
        "difference_error": rounded(noise.difference_error),
        "pr_about": rounded(noise.pr_about),
        "pr_about_error": or_null(noise.about_error),
        "pr_at_most": rounded(noise.pr_at_most),
        "pr_at_most_error": or_null(noise.at_most_error),
        "pr_about_by_class": {
            name: {"pr": rounded(about.pr), "standard_error": or_null(about.standard_error)}
            for name, about in noise.about_by_class.items()
        },
    }


def _score_text(score: Score) -> str:
    return f"{score.pr:6.3f} +- {or_unknown(score.standard_error, 3)}"


def _decisions_data(report: DecisionReport, apart: Difference) -> dict[str, object]:
    return {
        "bot": report.bot,
        **_score_data(report.total),
        "rms_error": None if report.rms_error is None else rounded(report.rms_error),
        "difference": {"pr": rounded(apart.pr), "standard_error": or_null(apart.standard_error)},
        "by_class": {name: _score_data(score) for name, score in report.by_class.items()},
    }


def _score_data(score: Score) -> dict[str, object]:
    return {
        "decisions": score.decisions,
        "pr": rounded(score.pr),
        "standard_error": or_null(score.standard_error),
        "best_share": rounded(score.best_share),
    }

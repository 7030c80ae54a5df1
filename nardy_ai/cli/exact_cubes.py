"""`nardy benchmark BOT ... --exact --cube`: cube decisions measured by exact values."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.cli.chances import or_null, or_unknown
from nardy_ai.cli.output import print_json, print_table
from nardy_ai.cli.solve import solved_with_cube
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cubeful import Cubeful
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.exact.bearoff import bearoff_tables, is_covered
from nardy_ai.play.cube_against_exact import (
    BearoffBot,
    BearoffCube,
    CubeCounts,
    CubeSample,
    ExactCube,
    ExactCubeReport,
    drawn_bearoffs,
    judge_cube,
    played_cube_games,
    reached_bearoffs,
)
from nardy_ai.rules import MatchOptions, RuleSet

FORMULAS = "formulas on exact chances"
PLIES = (0, 1)
"""How far the formulas look ahead on exact chances."""


def judge_cubes(args: argparse.Namespace, bots: Sequence[Bot], exact: ExactBot, match: MatchOptions) -> int:
    """Cube decisions in games of a solved game, by the formulas on exact chances and by the bots as they play."""
    model = _model(exact.rules, match)
    known = solved_with_cube(
        exact.rules, jacoby=model.jacoby, beavers=model.beavers, workers=args.workers, quiet=args.quiet
    )
    sample = played_cube_games(known, model, games=2 * args.pairs, seed=args.seed, opening=match.opening)
    judges = [(FORMULAS, Cubeful(exact, model, plies=plies, tables=False)) for plies in PLIES]
    judges += [(bot.name, Cubeful(bot, model)) for bot in bots]
    where = f"{2 * args.pairs:,} games that the exact solution plays against itself"
    return _judge(args, judges, known, sample, where, model)


def judge_bearoffs(args: argparse.Namespace, bots: Sequence[Bot], rules: RuleSet, match: MatchOptions) -> int:
    """Cube decisions in bear-offs, by the formulas on exact chances and by the bots on their own; no tables."""
    if not is_covered(rules):
        raise NardyError(f"--bearoffs: races at home under rules {rules.name!r} are not those of the tables")
    model = CubeModel(rules)  # results are single, and a double that could be beavered is never right
    known = BearoffCube(bearoff_tables(), rules)
    games = 2 * args.pairs
    if args.bearoffs == "drawn":
        sample, where = drawn_bearoffs(rules, n=games, seed=args.seed), "bear-offs drawn at random, two states each"
    else:
        sample = reached_bearoffs(bots[0], known, model, games=games, seed=args.seed, opening=match.opening)
        where = f"bear-offs that {games:,} games of {bots[0].name} come to, played on exactly"
    exact = BearoffBot(known.tables, rules)
    judges = [(FORMULAS, Cubeful(exact, model, plies=plies, tables=False)) for plies in PLIES]
    judges += [(bot.name, Cubeful(bot, model, tables=False)) for bot in bots]
    return _judge(args, judges, known, sample, where, model)


def _model(rules: RuleSet, match: MatchOptions) -> CubeModel:
    """The rules of the cube by which the solution is found. Raises NardyError."""
    if match.cube == "arithmetic":
        raise NardyError(f"rules {rules.name!r} have stakes that grow by one; exact are those that double only")
    return CubeModel(rules, jacoby=match.jacoby, beavers=match.beavers)


def _judge(
    args: argparse.Namespace,
    judges: Sequence[tuple[str, Cubeful]],
    known: ExactCube,
    sample: CubeSample,
    where: str,
    model: CubeModel,
) -> int:
    with tqdm(total=len(judges) * len(sample.owners), unit=" decisions", disable=args.quiet, file=sys.stderr) as bar:
        reports = [
            judge_cube(judge, name, known, sample, workers=args.workers, progress=bar.update) for name, judge in judges
        ]
    if args.json:
        print_json(_data(args, reports, where, model))
    else:
        _print(args, reports, where, model)
    return 0


def _print(args: argparse.Namespace, reports: Sequence[ExactCubeReport], where: str, model: CubeModel) -> None:
    options = [name for name, on in (("Jacoby", model.jacoby), ("beavers", model.beavers)) if on]
    decisions = reports[0].total.decisions
    cube = " and ".join(options) or "no Jacoby, no beavers"
    print(
        f"nardy {__version__}, rules {model.rules.name}, money cube, {cube}: {decisions:,} decisions of {where},"
        f" seed {args.seed}"
    )
    print("losses in stakes a decision; actions worth the same to 1e-6 are the same; a right double is answered\n")
    rows = []
    for report in reports:
        for word, counts in [*report.by_owner.items(), ("both", report.total)]:
            rows.append(
                [
                    report.name,
                    f"{report.plies:>5}",
                    word,
                    f"{counts.decisions:>9,}",
                    f"{100 * counts.same:6.2f} +- {or_unknown(100 * counts.same_error, 2)} %",
                    f"{counts.doubling:.5f} +- {or_unknown(counts.doubling_error, 5)}",
                    f"{counts.answers:>7,}",
                    f"{counts.taking:.5f} +- {or_unknown(counts.taking_error, 5)}",
                    f"{counts.loss:.5f} +- {or_unknown(counts.loss_error, 5)}",
                ]
            )
    header = ["bot", "plies", "cube", "decisions", "same action", "doubling", "answers", "taking", "all decisions"]
    print_table(rows, header=header)


def _data(
    args: argparse.Namespace, reports: Sequence[ExactCubeReport], where: str, model: CubeModel
) -> dict[str, object]:
    return {
        "version": __version__,
        "rules": model.rules.name,
        "cube": {"jacoby": model.jacoby, "beavers": model.beavers},
        "where": where,
        "seed": args.seed,
        "exact_cubes": [
            {
                "bot": report.name,
                "plies": report.plies,
                "by_owner": {word: _counts_data(counts) for word, counts in report.by_owner.items()},
                "total": _counts_data(report.total),
            }
            for report in reports
        ],
    }


def _counts_data(counts: CubeCounts) -> dict[str, object]:
    return {name: value if isinstance(value, int) else or_null(value) for name, value in asdict(counts).items()}

"""`nardy benchmark NAME@pruned ... --pruning`: what bots lose by plays that they do not judge."""

import argparse
import sys
from collections.abc import Sequence
from itertools import product

from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.boards import CONTRARY
from nardy_ai.cli.chances import or_null, or_unknown, rounded
from nardy_ai.cli.output import print_json, print_table
from nardy_ai.cli.stopping import INTERRUPTED, finishing
from nardy_ai.errors import BotError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.play.against_unpruned import PruningReport, judge_pruning
from nardy_ai.pruned import Pruned
from nardy_ai.rules import MatchOptions, RuleSet


def judge_all(args: argparse.Namespace, bots: Sequence[Bot], rules: RuleSet, match: MatchOptions) -> int:
    """Games of each bot with itself from the start, and from awkward boards where the rules have any."""
    pruned = [bot for bot in bots if isinstance(bot, Pruned)]
    wrong = [bot.name for bot in bots if bot not in pruned]
    if wrong:
        raise BotError(f"bot {wrong[0]!r} does not prune; --pruning measures bots such as short@pruned")
    games = 2 * args.pairs
    starts = [False, True] if rules.board == CONTRARY else [False]
    reports: list[PruningReport] = []
    with (
        finishing() as stop,
        tqdm(total=games * len(starts) * len(pruned), unit=" games", disable=args.quiet, file=sys.stderr) as bar,
    ):
        for bot, awkward in product(pruned, starts):
            if reports and stop():
                break
            reports.append(
                judge_pruning(bot, match, games=games, seed=args.seed, awkward=awkward, progress=bar.update, stop=stop)
            )
        complete = not stop()
    if args.json:
        print_json(
            {
                "version": __version__,
                "rules": rules.name,
                "seed": args.seed,
                "complete": complete,
                "pruning": [_data(one) for one in reports],
            }
        )
    else:
        _print(args, reports, rules, complete=complete)
    return 0 if complete else INTERRUPTED


def _print(args: argparse.Namespace, reports: Sequence[PruningReport], rules: RuleSet, *, complete: bool) -> None:
    print(f"nardy {__version__}, rules {rules.name}, games of each bot without pruning, seed {args.seed}")
    print("PR is 500 x the mean equity lost a decision of two results or more, by the bot's own judgement")
    if not complete:
        print("interrupted: what follows is of the games played")
    print()
    rows = [
        [
            one.bot,
            "awkward boards" if one.awkward else "the start",
            f"{one.games:>6,}",
            f"{one.decisions:>9,}",
            f"{one.plays:5.1f}",
            f"{one.judged:6.1f}",
            f"{100 * one.other_share:6.2f} %",
            f"{one.pr:6.3f} +- {or_unknown(one.pr_error, 3)}",
        ]
        for one in reports
    ]
    header = ["bot", "games from", " games", "decisions", "plays", "judged", "another", "PR lost"]
    print_table(rows, header=header)


def _data(report: PruningReport) -> dict[str, object]:
    return {
        "bot": report.bot,
        "from": "awkward" if report.awkward else "start",
        "games": report.games,
        "decisions": report.decisions,
        "plays": rounded(report.plays),
        "judged": rounded(report.judged),
        "other_share": rounded(report.other_share),
        "pr": rounded(report.pr),
        "standard_error": or_null(report.pr_error),
    }

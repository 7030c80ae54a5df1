"""`nardy decisions RULES --out FILE`: a set of decisions with answers, for `nardy benchmark --decisions`."""

import argparse
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path

from tqdm import tqdm

from nardy_ai.bots import SOLVED, default_bot, load_bot
from nardy_ai.cli.arguments import add_workers_argument
from nardy_ai.cli.chances import rounded
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, print_json, print_table, say
from nardy_ai.cli.solve import solved
from nardy_ai.cli.stopping import INTERRUPTED, stoppable
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.play.decision_sets import SetRecipe, make_set
from nardy_ai.play.decisions import Decisions, label_noise, read_decisions
from nardy_ai.rules import RuleSet, find_preset

COUNT = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("rules", metavar="RULES", help="a rule set, an alias or a .toml file")
    parser.add_argument("--out", required=True, metavar="FILE", help="where the set goes, a .jsonl.gz file")
    parser.add_argument(
        "--bot",
        metavar="BOT",
        help="who plays and rolls out, or exact where the game is solved (default: the shipped one)",
    )
    parser.add_argument(
        "--count", type=int, default=COUNT, metavar="N", help="how many decisions there shall be (default: %(default)s)"
    )
    for entry in fields(SetRecipe):
        parser.add_argument(
            f"--{entry.name.replace('_', '-')}",
            type=str if isinstance(entry.default, str) else int,
            metavar="KINDS" if isinstance(entry.default, str) else "N",
            help=f"{entry.metadata['help']} (default: {_default(entry.default)})",
        )
    add_workers_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Make the set, or what of it is missing."""
    preset = find_preset(args.rules)
    rules = preset.rules
    options = {entry.name: getattr(args, entry.name) for entry in fields(SetRecipe)}
    options = {name: value for name, value in options.items() if value is not None}
    with compile_notice():
        bot: Bot
        if args.bot in SOLVED:
            bot = ExactBot(solved(rules, workers=max(args.workers, 1), quiet=args.quiet))
            options = {"games": 0} | options
        else:
            bot = load_bot(args.bot or default_bot(rules), rules)
        with (
            stoppable() as stop,
            tqdm(total=args.count, unit=" decisions", disable=args.quiet, file=sys.stderr, dynamic_ncols=True) as bar,
        ):
            begun = False

            def progress(done: int) -> None:
                nonlocal begun
                if not begun:  # what was there before is not of this run's speed
                    begun, bar.initial, bar.n = True, done, done
                bar.update(done - bar.n)

            done = make_set(
                Path(args.out), bot, preset.match, SetRecipe(**options), count=args.count, workers=args.workers,
                progress=progress, stop=stop,
            )  # fmt: skip
    if done < args.count:
        say(f"stopped; the same command goes on after {done} of {args.count} decisions")
        if args.json:
            print_json({"file": args.out, "rules": rules.name, "bot": bot.name, "decisions": done, "finished": False})
        return INTERRUPTED
    decisions = read_decisions(Path(args.out), rules)
    if args.json:
        print_json(
            {"file": args.out, "rules": rules.name, "bot": bot.name, "decisions": done, "finished": True}
            | _summary(decisions)
        )
    else:
        _print(args.out, decisions, rules, bot)
    return 0


def _default(value: object) -> str:
    return "to the end" if value is None else str(value) or "none"


def _summary(decisions: Decisions) -> dict[str, object]:
    """What the set holds, and how sure its answers are."""
    noise = label_noise(decisions)
    return {
        "candidates": len(decisions.equities),
        "classes": dict(sorted(Counter(decisions.classes).items())),
        "standard_error": None if noise is None else rounded(noise.error),
        "difference_error": None if noise is None else rounded(noise.difference_error),
    }


def _print(file: str, decisions: Decisions, rules: RuleSet, bot: Bot) -> None:
    print(
        f"{file}: {len(decisions.classes)} decisions, {len(decisions.equities)} plays, rules {rules.name}, answers by"
        f" {bot.name}"
    )
    noise = label_noise(decisions)
    if noise is not None and noise.error > 0:
        print(f"standard error {noise.error:.4f}, of differences to the best {noise.difference_error:.4f} (rms)")
    print()
    print_table(
        [[kind, f"{number:>9}"] for kind, number in sorted(Counter(decisions.classes).items())],
        header=["class", "decisions"],
    )

"""`nardy prune BOT --out FILE`: a copy of a bot's file with a pruning net, by which `BOT@pruned` plays faster."""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from tqdm import tqdm

from nardy_ai.bots import is_trained, split_at
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, check_targets, print_json, say
from nardy_ai.cli.stopping import INTERRUPTED, interruptible
from nardy_ai.errors import BotError
from nardy_ai.resources import CHECKPOINT_SUFFIX, find_checkpoint
from nardy_ai.train.config import PruningConfig


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bot", metavar="BOT", help="a trained bot, shipped or in a file")
    parser.add_argument("--out", required=True, metavar="FILE", help="where the copy goes, a .safetensors file")
    for entry in fields(PruningConfig):
        parser.add_argument(
            f"--{entry.name}", type=type(entry.default), default=entry.default,
            metavar="X" if isinstance(entry.default, float) else "N",
            help=f"{entry.metadata['help']} (default: %(default)s)",
        )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Learn the net and write the file, or nothing if interrupted."""
    config = PruningConfig(**{entry.name: getattr(args, entry.name) for entry in fields(PruningConfig)})
    if split_at(args.bot)[1] is not None or not is_trained(args.bot):
        raise BotError(f"bot {args.bot!r} is no trained bot by itself; name a shipped one or a file")
    if not args.out.endswith(CHECKPOINT_SUFFIX):
        raise BotError(f"--out {args.out!r}: expected a file that ends in {CHECKPOINT_SUFFIX}")
    check_targets(args.out)
    from nardy_ai.train.pruning import PruningWatcher, with_pruning

    watcher = PruningWatcher()
    bar = tqdm(total=config.steps, unit=" steps", disable=args.quiet, dynamic_ncols=True, file=sys.stderr)
    with compile_notice(), interruptible(watcher, saves=False), bar:
        watcher.on_steps = bar.update
        say(f"{config.games:,} games of {args.bot}, then {config.steps:,} steps")
        card = with_pruning(find_checkpoint(args.bot) or Path(args.bot), Path(args.out), config, watcher)
    if card is None:
        say("stopped; nothing was written")
        return INTERRUPTED
    if args.json:
        print_json({"bot": args.out, "pruning": card})
    else:
        print(args.out)
    return 0

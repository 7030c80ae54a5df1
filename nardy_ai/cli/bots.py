"""`nardy bots`: the bots that commands find by name."""

import argparse
from importlib.util import find_spec

from nardy_ai.bots import BASELINES, PEERS, SOLVED, Entry
from nardy_ai.cli.output import add_json_argument, print_json, print_table
from nardy_ai.resources import checkpoint_names, checkpoint_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line a bot."""
    rows = [(name, "shipped", checkpoint_summary(name)) for name in checkpoint_names()]
    rows += [(name, "baseline", entry.summary) for name, entry in BASELINES.items()]
    rows += [(name, "solved", entry.summary) for name, entry in SOLVED.items()]
    rows += [(name, _peer_kind(entry), entry.summary) for name, entry in PEERS.items()]
    if args.json:
        print_json([{"name": name, "kind": kind, "summary": text} for name, kind, text in rows])
        return 0
    print_table(rows, header=("name", "kind", "about"))
    print("\nA bot of your own is named by its file, such as runs/demo/bot.safetensors.")
    return 0


def _peer_kind(entry: Entry) -> str:
    return "peer" if entry.module and find_spec(entry.module) else "peer, not installed"

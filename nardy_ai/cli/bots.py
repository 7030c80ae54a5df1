"""`nardy bots`: the bots that commands find by name."""

import argparse
import re
from importlib.util import find_spec

from nardy_ai.bots import BASELINES, PEERS, SOLVED, Entry
from nardy_ai.cli.output import add_json_argument, add_language_argument, print_json, print_table
from nardy_ai.language import marked, tr
from nardy_ai.resources import checkpoint_names, checkpoint_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line a bot."""
    rows = [(name, marked("shipped"), checkpoint_summary(name)) for name in checkpoint_names()]
    rows += [(name, marked("baseline"), entry.summary) for name, entry in BASELINES.items()]
    rows += [(name, marked("solved"), entry.summary) for name, entry in SOLVED.items()]
    rows += [(name, _peer_kind(entry), entry.summary) for name, entry in PEERS.items()]
    if args.json:
        print_json([{"name": name, "kind": kind, "summary": text} for name, kind, text in rows])
        return 0
    shown = [(name, tr(kind), summary_text(text)) for name, kind, text in rows]
    print_table(shown, header=(tr("name"), tr("kind"), tr("about")))
    print(f"\n{tr('A bot of your own is named by its file, such as runs/demo/bot.safetensors.')}")
    return 0


def _peer_kind(entry: Entry) -> str:
    return marked("peer") if entry.module and find_spec(entry.module) else marked("peer, not installed")


def summary_text(summary: str) -> str:
    """What is said about a bot, in the current language: a text of its own, or the first line of a shipped card."""
    found = _CARD.fullmatch(summary)
    if not found:
        return tr(summary)
    values = found.groupdict()
    if values["games"] is None:
        return tr("Rules `{rules}`; {points} points a game against `{opponent}`.", **values)
    return tr("Rules `{rules}`, {games} games; {points} points a game against `{opponent}`.", **values)


_CARD = re.compile(
    r"Rules `(?P<rules>[^`]+)`(?:, (?P<games>[0-9,]+) games)?; (?P<points>[-+0-9. ]+) points a game against"
    r" `(?P<opponent>[^`]+)`\."
)
"""The first line of a card as `scripts/ship_bot.py` writes it."""

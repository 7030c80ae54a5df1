"""`nardy rules [NAME]`: the presets, or one rule set with every option and what its value means."""

import argparse
import textwrap
from collections.abc import Mapping
from dataclasses import fields

from nardy_ai.cli.chances import way_text
from nardy_ai.cli.output import add_json_argument, add_language_argument, print_json, print_table
from nardy_ai.language import ENGLISH, current_language, speaking, tr
from nardy_ai.outcomes import class_names, class_points, ever_possible
from nardy_ai.rules import (
    CHOICES,
    MatchOptions,
    Preset,
    RuleSet,
    find_preset,
    match_to_dict,
    presets,
    rules_to_dict,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a preset, one of its aliases (Russian too) or a .toml file"
    )
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the list of presets, or one of them."""
    if args.name is None:
        _print_list(as_json=args.json)
    else:
        _print_one(find_preset(args.name), as_json=args.json)
    return 0


WIDTH = 100
"""Tables are no wider."""


def option_rows(record: RuleSet | MatchOptions) -> list[tuple[str, str, str]]:
    """(option, value, what the value means, in the current language) for every option of the record."""
    rows = []
    for entry in fields(record):
        if entry.name != "name":
            value = getattr(record, entry.name)
            meaning = tr(str(entry.metadata["help"]))
            if entry.name in CHOICES:
                meaning = f"{meaning}: {tr(CHOICES[entry.name][value])}"
            rows.append((entry.name, _value_text(value), meaning))
    return rows


def _value_text(value: object) -> str:
    if value is None:
        return tr("none")
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, Mapping):
        return " ".join(f"{point}:{count}" for point, count in value.items())
    return str(value)


def _print_list(*, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {"name": name, "summary": preset.summary, "aliases": list(preset.aliases)}
                for name, preset in presets().items()
            ]
        )
        return
    rows = []
    for name, preset in presets().items():
        rows.append((name, tr(preset.summary)))
        if preset.aliases:
            rows.append(("", tr("also called {names}", names=", ".join(preset.aliases))))
    print_table(rows, header=(tr("name"), tr("game", context="rules")), width=WIDTH)
    print(f"\n{tr('nardy rules NAME prints every option of one.')}")


def _print_one(preset: Preset, *, as_json: bool) -> None:
    rules, match = preset.rules, preset.match
    outcomes = list(zip(class_names(rules), class_points(rules).tolist(), ever_possible(rules).tolist(), strict=True))
    if as_json:
        print_json(
            {
                "name": rules.name,
                "summary": preset.summary,
                "aliases": list(preset.aliases),
                "rules": rules_to_dict(rules),
                "match": match_to_dict(match),
                "meanings": _meanings(rules, match),
                "outcomes": [
                    {"class": name, "points": points if possible else None, "possible": possible}
                    for name, points, possible in outcomes
                ],
            }
        )
        return
    print(rules.name)
    if preset.summary:
        print(tr(preset.summary))
    if preset.aliases:
        print(textwrap.fill(tr("also called {names}", names=", ".join(preset.aliases)), WIDTH))
    print(f"\n{tr('legal plays and results')}")
    print_table(option_rows(rules), indent=2, width=WIDTH)
    print(f"\n{tr('start, cube and match')}")
    print_table(option_rows(match), indent=2, width=WIDTH)
    print(f"\n{tr('how a game can end, for the side on roll')}")
    print_table(
        [(_class_text(name), f"{points:+g}" if possible else tr("impossible")) for name, points, possible in outcomes],
        indent=2,
    )


def _meanings(rules: RuleSet, match: MatchOptions) -> dict[str, str]:
    """What the options mean, for JSON: in English."""
    with speaking(ENGLISH):
        return {name: text for name, _, text in option_rows(rules) + option_rows(match)}


def _class_text(name: str) -> str:
    """A class of results: its name, in Russian in words."""
    if current_language() == ENGLISH:
        return name
    result, _, way = name.partition("_")
    words = {"win": tr("wins"), "lose": tr("loses")}
    return f"{words[result]}: {way_text(way)}"

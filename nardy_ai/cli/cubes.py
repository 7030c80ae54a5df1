"""The arguments about cube and score that several subcommands have, and how they are read and said."""

import argparse
import re
from dataclasses import replace
from pathlib import Path

from nardy_ai.cli.positions import Given
from nardy_ai.cube.met import MatchTable, read_table
from nardy_ai.cube.state import GROWTHS, CubeState, state_of_position
from nardy_ai.errors import CubeError
from nardy_ai.language import tr
from nardy_ai.notation import Position, format_of
from nardy_ai.rules import MatchOptions, RuleSet, find_match_options, match_options_of

_OWNERS = {"own": 0, "other": 1, "centre": None}
_STATE_ARGUMENTS = ("match", "crawford", "stake", "owner", "jacoby", "beavers", "raccoons", "growth", "cap", "met")


def add_state_arguments(parser: argparse.ArgumentParser) -> None:
    """What stands in place of the cube and the score that a position names."""
    group = parser.add_argument_group("cube and score, in place of those that the position names")
    group.add_argument(
        "--match",
        metavar="N[:A-B]",
        help="a match to N points, the score A-B, that of the side on roll first; 0: money",
    )
    group.add_argument("--crawford", action="store_true", default=None, help="this is the Crawford game")
    group.add_argument("--stake", type=int, metavar="N", help="what the cube shows")
    group.add_argument("--owner", choices=_OWNERS, help="whose the cube is")
    group.add_argument(
        "--jacoby", action=argparse.BooleanOptionalAction, help="money: results count single while the cube is unturned"
    )
    group.add_argument("--beavers", action=argparse.BooleanOptionalAction, help="money: beavers are allowed")
    group.add_argument(
        "--raccoons", action=argparse.BooleanOptionalAction, help="money: raccoons are allowed, and beavers with them"
    )
    group.add_argument("--growth", choices=GROWTHS, help="stakes 1, 2, 4, 8, ... or 1, 2, 3, 4, ...")
    group.add_argument("--cap", metavar="N", help="the largest stake, such as 64, or none")
    group.add_argument("--met", metavar="FILE", help="match equities from a file of GNU Backgammon's form")


def given_state_arguments(args: argparse.Namespace) -> list[str]:
    """Those of the arguments that were given, as the user writes them."""
    return [f"--{name}" for name in _STATE_ARGUMENTS if getattr(args, name) is not None]


def read_met(args: argparse.Namespace) -> MatchTable | None:
    """The table of `--met`, if any. Raises CubeError."""
    return None if args.met is None else read_table(Path(args.met))


def options_of(rules_name: str | None, rules: RuleSet) -> MatchOptions:
    """The match options that go with `--rules`, else with the preset of the rules."""
    return match_options_of(rules) if rules_name is None else find_match_options(rules_name)


def read_state(args: argparse.Namespace, given: Given, options: MatchOptions) -> CubeState:
    """The cube and the score of a position: the arguments', else the position's, else those of the rules.

    A text of the project's own form that says nothing of Jacoby and beavers leaves both to the rules. Raises CubeError.
    """
    growth = args.growth or (GROWTHS[0] if options.cube == "none" else options.cube)
    state = state_of_position(given.position, growth=growth)
    if format_of(given.text) == "text" and not state.is_match:
        beavers = state.beavers or options.beavers
        raccoons = state.raccoons or options.raccoons
        state = replace(state, jacoby=state.jacoby or options.jacoby, beavers=beavers, raccoons=raccoons)
    changes: dict[str, object] = {}
    if args.match is not None:
        changes |= _match_of(args.match)
    if args.stake is not None:
        changes["value"] = args.stake
    if args.owner is not None:
        changes["owner"] = _OWNERS[args.owner]
    if args.cap is not None:
        changes["cap"] = _cap_of(args.cap)
    for name in ("crawford", "jacoby", "beavers", "raccoons"):
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    if args.raccoons and args.beavers is None:
        changes["beavers"] = True
    if args.beavers is False and args.raccoons is None:
        changes["raccoons"] = False
    return replace(state, **changes)  # type: ignore[arg-type]


def state_text(state: CubeState, *, met: str | None = None) -> str:
    """A state in words: money or match, the cube and whose it is, the rules about it."""
    owned = {
        None: tr("cube {stake} in the centre", stake=state.value),
        0: tr("cube {stake} of the side on roll", stake=state.value),
        1: tr("cube {stake} of the other side", stake=state.value),
    }
    words = [owned[state.owner]]
    if state.away is None:
        rules = (tr("Jacoby"), state.jacoby), (tr("beavers"), state.beavers), (tr("raccoons"), state.raccoons)
        words += [name for name, on in rules if on]
        words.insert(0, tr("money"))
    else:
        mine, his = state.away
        words.insert(0, tr("match, {mine} and {his} points away", mine=mine, his=his))
        if state.crawford:
            words.insert(1, tr("Crawford game"))
        elif min(state.away) == 1:
            words.insert(1, tr("after the Crawford game"))
        if met:
            words.append(tr("match equities {table}", table=met))
    if state.growth == "arithmetic":
        words.append(tr("stakes grow by one"))
    if state.cap not in (None, 2**Position.max_cube_log2):
        words.append(tr("largest stake {stake}", stake=state.cap))
    return ", ".join(words)


def state_data(state: CubeState) -> dict[str, object]:
    """A state for JSON; the side on roll is 0."""
    return {
        "stake": state.value,
        "owner": state.owner,
        "away": None if state.away is None else list(state.away),
        "crawford": state.crawford,
        "jacoby": state.jacoby and not state.is_match,
        "beavers": state.beavers and not state.is_match,
        "raccoons": state.raccoons and not state.is_match,
        "growth": state.growth,
        "cap": state.cap,
    }


def _match_of(text: str) -> dict[str, object]:
    """The points away of `--match`. Raises CubeError."""
    found = re.fullmatch(r"(\d{1,5})(?::(\d{1,5})-(\d{1,5}))?", text)
    if not found:
        raise CubeError(f"--match {text}: expected a length such as 7, or length and score such as 7:3-2")
    length, mine, his = (int(number or 0) for number in found.groups())
    if length == 0:
        if mine or his:
            raise CubeError(f"--match {text}: money has no score; expected 0, or a length and score such as 7:3-2")
        return {"away": None, "crawford": False}
    if max(mine, his) >= length:
        raise CubeError(f"--match {text}: a side has {max(mine, his)} points, so the match to {length} is over")
    return {"away": (length - mine, length - his), "crawford": False}


def _cap_of(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdigit() or int(text) < 1:
        raise CubeError(f"--cap {text}: expected the largest stake, such as 64, or none")
    return int(text)

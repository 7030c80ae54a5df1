"""`nardy moves POSITION --dice 31`: the legal plays, named."""

import argparse
from dataclasses import replace

from nardy_ai.cli.output import add_json_argument, add_language_argument, print_json
from nardy_ai.cli.positions import (
    Given,
    add_dice_argument,
    add_position_arguments,
    add_rules_argument,
    read_dice,
    read_positions,
)
from nardy_ai.errors import NardyError, NotationError
from nardy_ai.language import tr, tr_count
from nardy_ai.movegen.reference import Play, plays
from nardy_ai.notation import draw_board, format_play, write_position
from nardy_ai.rules import RuleSet, find_rules

Roll = tuple[int, int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_position_arguments(parser)
    add_dice_argument(parser)
    add_rules_argument(parser)
    parser.add_argument("--draw", action="store_true", help="draw the board above the plays")
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the plays of each position; nothing if one of them is wrong."""
    rules = find_rules(args.rules)
    answers = []
    for given in read_positions(args, rules):
        try:
            answers.append((given, *_roll_and_plays(args, given, rules)))
        except NardyError as error:
            raise type(error)(f"{given.where}{error}") from error
    if args.json:
        print_json([_as_data(given, roll, legal, rules) for given, roll, legal in answers])
        return 0
    for i, (given, roll, legal) in enumerate(answers):
        if i:
            print()
        if args.draw:
            print(draw_board(replace(given.position, dice=roll, offer="none"), rules))
        count = tr_count("{n} play", "{n} plays", len(legal))
        print(tr("{given}, roll {dice}: {plays}", given=given.text, dice=f"{roll[0]}-{roll[1]}", plays=count))
        for play in legal:
            print(f"  {format_play(play.moves)}")
    return 0


def _roll_and_plays(args: argparse.Namespace, given: Given, rules: RuleSet) -> tuple[Roll, list[Play]]:
    dice = read_dice(args, given)
    if dice is None:
        raise NotationError(f"{given.text!r} names no roll; give one with --dice, such as --dice 31")
    return (int(dice[0]), int(dice[1])), plays(given.position.board, dice, rules)


def _as_data(given: Given, roll: Roll, legal: list[Play], rules: RuleSet) -> dict[str, object]:
    """One position's answer for JSON: row 0 of `board` has played, the side named first in `after` rolls next."""
    return {
        "given": given.text,
        "position": write_position(given.position.board, rules),
        "rules": rules.name,
        "dice": list(roll),
        "plays": [
            {
                "play": format_play(play.moves),
                "board": play.board.tolist(),
                "after": write_position(play.afterstate, rules),
            }
            for play in legal
        ],
    }

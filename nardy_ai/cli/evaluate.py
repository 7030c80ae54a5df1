"""`nardy evaluate POSITION [--dice 31]`: how a game will end, and with a roll the plays ranked."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nardy_ai import __version__
from nardy_ai.boards import Boards, finished
from nardy_ai.bots import default_bot, load_bot
from nardy_ai.cli.chances import (
    WAYS,
    chance_cells,
    chance_header,
    chance_table,
    cumulative_chances,
    exclusive_chances,
    possible_ways,
    rounded,
    way_text,
)
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.cubes import (
    add_state_arguments,
    given_state_arguments,
    options_of,
    read_met,
    read_state,
    state_data,
    state_text,
)
from nardy_ai.cli.output import (
    add_json_argument,
    add_language_argument,
    add_picture_arguments,
    check_picture_arguments,
    heading,
    print_json,
    print_table,
    write_document,
)
from nardy_ai.cli.positions import (
    Given,
    add_dice_argument,
    add_position_arguments,
    add_rules_argument,
    read_dice,
    read_positions,
)
from nardy_ai.cube.met import MatchTable
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import cubeful_of
from nardy_ai.errors import BotError, CubeError, NardyError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.language import tr, tr_count
from nardy_ai.movegen.generate import Afterstates, afterstates
from nardy_ai.movegen.reference import plays
from nardy_ai.notation import Position, draw_board, format_play, parse_play, write_position, xgid_or_none
from nardy_ai.outcomes import class_names, equities, final_outcomes, swap
from nardy_ai.pruned import unpruned
from nardy_ai.rules import RuleSet, find_rules
from nardy_ai.search import Lookahead

if TYPE_CHECKING:
    from nardy_ai.reports.positions import Section


@dataclass(frozen=True)
class RankedPlay:
    """A play with its worth to the side that plays: points if the bot is an evaluator, per cube if the cube counts.

    loss: to the best play. outcomes: `float32[K]` of that side; None if the bot knows none. plies: how far ahead a bot
    with look-ahead judged this play, and so value and outcomes; None for one without.
    """

    text: str
    after: str
    value: float
    loss: float
    outcomes: NDArray[np.float32] | None
    plies: int | None


@dataclass(frozen=True)
class Answer:
    """What is said about one position: `outcomes` `float32[K]` of the side on roll, or `ranked` plays, best first.

    state: the cube and the score, if they were looked at; cubeful: the equity per cube then, before a roll.
    """

    position: Position
    outcomes: NDArray[np.float32] | None = None
    ranked: tuple[RankedPlay, ...] = ()
    state: CubeState | None = None
    cubeful: float | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_position_arguments(parser)
    add_dice_argument(parser)
    parser.add_argument(
        "--bot", metavar="BOT", help="a name that `nardy bots` lists, or a bot's file (default: the shipped one)"
    )
    add_rules_argument(parser, default_text="those of the bot")
    parser.add_argument("--top", type=int, metavar="N", help="list the best N plays only")
    parser.add_argument(
        "--cube", action="store_true", help="value and rank by the cube and the score that the position names"
    )
    add_state_arguments(parser)
    parser.add_argument("--draw", action="store_true", help="draw the board above the answer")
    add_picture_arguments(parser)
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print what the bot says about each position; nothing if one of them is wrong."""
    if args.top is not None and args.top < 1:
        raise NardyError(f"--top {args.top}: expected 1 or more")
    if not args.cube and given_state_arguments(args):
        raise CubeError(f"{given_state_arguments(args)[0]} is about cube and score, which count with --cube only")
    with compile_notice():
        bot = _find_bot(args.bot, args.rules)
        given = read_positions(args, bot.rules)
        check_picture_arguments(args, len(given))
        positions, where = [_asked_position(args, one) for one in given], [one.where for one in given]
        if args.top is not None and all(position.dice is None for position in positions):
            raise NardyError(f"--top {args.top} lists the best plays of a roll, but none is given; add --dice")
        if args.cube:
            answers = [
                evaluate_with_cube(bot, position, _state(args, one, bot), table=read_met(args), where=one.where)
                for position, one in zip(positions, given, strict=True)
            ]
        else:
            answers = evaluate(bot, positions, where=where)
    _write_pictures(args, answers, bot)
    if args.json:
        print_json([_as_data(one, answer, bot, args.top) for one, answer in zip(given, answers, strict=True)])
        return 0
    for i, answer in enumerate(answers):
        if i:
            print()
        _print_answer(answer, bot, draw=args.draw, top=args.top)
    return 0


def evaluate(bot: Bot, positions: list[Position], *, where: list[str]) -> list[Answer]:
    """Ask `bot` about all positions at once, those without dice before their roll.

    where: what to say in front of a complaint about a position. Finished games are settled by the rules.
    """
    rules = bot.rules
    boards = np.stack([position.board for position in positions])
    over = finished(boards)
    rolled = np.array([position.dice is not None for position in positions]) & ~over
    waiting = ~rolled & ~over
    answers = [Answer(position) for position in positions]
    for i, outcomes in zip(np.flatnonzero(over), final_outcomes(boards[over], rules), strict=True):
        answers[i] = Answer(Position(boards[i]), outcomes)
    if waiting.any():
        if not isinstance(bot, Evaluator):
            raise BotError(
                f"{where[int(np.argmax(waiting))]}bot {bot.name!r} is no evaluator: it ranks plays and knows no"
                " chances; give a roll with --dice, or another bot with --bot"
            )
        for i, outcomes in zip(np.flatnonzero(waiting), bot.outcomes(boards[waiting]), strict=True):
            answers[i] = Answer(positions[i], outcomes)
    if rolled.any():
        at = np.flatnonzero(rolled)
        for i, ranked in zip(at, _rank(bot, [positions[i] for i in at]), strict=True):
            answers[i] = Answer(positions[i], ranked=ranked)
    return answers


def evaluate_with_cube(
    bot: Bot, position: Position, state: CubeState, *, table: MatchTable | None, where: str
) -> Answer:
    """Ask `bot` about a position under a state of the cube, by `cubeful`. table: match equities of the user's own."""
    [answer] = evaluate(bot, [position], where=[where])
    if finished(position.board[None])[0]:
        return answer
    judge, states = cubeful_of(bot, state, table=table), CubeStates.of(state)
    if answer.outcomes is not None:
        best = judge.worth(position.board, states).best
        return replace(answer, state=state, cubeful=float(judge.model.per_cube(best, states)[0]))
    [ranked] = _rank(bot, [position], lambda boards, after: judge.play_values(boards, after, states))
    return replace(answer, state=state, ranked=ranked)


PlayValues = Callable[[Boards, Afterstates], NDArray[np.float32]]


def _rank(bot: Bot, positions: list[Position], play_values: PlayValues | None = None) -> list[tuple[RankedPlay, ...]]:
    """All plays of each position, best first; equal ones in the order of the move generator, as bots choose.

    play_values: what ranks them; None: the bot itself.
    """
    rules = bot.rules
    boards = np.stack([position.board for position in positions])
    after = afterstates(boards, np.array([position.dice for position in positions], dtype=np.uint8), rules)
    outcomes = depths = None
    if play_values is None and isinstance(bot, Lookahead):
        judged = bot.judge_plays(boards, after)
        values, outcomes, depths = judged.values, swap(judged.outcomes), judged.depths
    else:
        values = (play_values or unpruned(bot).play_values)(boards, after)
        outcomes = swap(settled_outcomes(bot, after.boards)) if isinstance(bot, Evaluator) else None
    found = []
    for i, position in enumerate(positions):
        assert position.dice is not None
        first, last = int(after.offsets[i]), int(after.offsets[i + 1])
        names = {play.afterstate.tobytes(): play for play in plays(position.board, position.dice, rules)}
        order = first + np.argsort(-values[first:last], kind="stable")
        ranked = []
        for m in order:
            play = names[after.boards[m].tobytes()]
            ranked.append(
                RankedPlay(
                    text=format_play(play.moves),
                    after=write_position(play.afterstate, rules),
                    value=float(values[m]),
                    loss=float(values[order[0]]) - float(values[m]),
                    outcomes=None if outcomes is None else outcomes[m],
                    plies=None if depths is None else int(depths[m]),
                )
            )
        found.append(tuple(ranked))
    return found


def _find_bot(name: str | None, rules_name: str | None) -> Bot:
    """The bot that was asked for, else the shipped one for the rules, else the one for short nardy."""
    rules = None if rules_name is None else find_rules(rules_name)
    if name is None:
        name = default_bot(rules or find_rules("short"))
    return load_bot(name, rules)


def _state(args: argparse.Namespace, given: Given, bot: Bot) -> CubeState:
    """The cube and the score that count. Raises CubeError."""
    try:
        return read_state(args, given, options_of(args.rules, bot.rules))
    except CubeError as error:
        raise CubeError(f"{given.where}{error}") from error


def _asked_position(args: argparse.Namespace, given: Given) -> Position:
    """The board and the roll, all that a cubeless evaluation looks at; cube and score besides if these count."""
    found = read_dice(args, given)
    dice = None if found is None else (int(found[0]), int(found[1]))
    if not args.cube:
        return Position(given.position.board, dice=dice)
    return replace(given.position, dice=dice, offer="none", resign_offered=0, ogid_state="")


def _print_answer(answer: Answer, bot: Bot, *, draw: bool, top: int | None) -> None:
    rules, position = bot.rules, answer.position
    print(_settings_line(answer, bot))
    if answer.state is not None:
        print(state_text(answer.state))
    if draw:
        print(draw_board(position, rules, cube=False))
    if answer.outcomes is None:
        print_plays(answer, bot, top)
    else:
        _print_told(*_told_outcomes(answer.outcomes, answer, rules))


def print_plays(answer: Answer, bot: Bot, top: int | None) -> None:
    """The ranked plays of an answer, the best `top` of them."""
    _print_told(*_told_plays(answer, bot, top))


def _print_told(line: str, table: list[list[str]], note: str) -> None:
    print(line)
    if table:
        print_table(table[1:], header=table[0], indent=2)
    if note:
        print(f"  {note}")


def _settings_line(answer: Answer, bot: Bot) -> str:
    """All that is needed to ask again."""
    rules, position = bot.rules, answer.position
    xgid = xgid_or_none(position, rules)
    asked = tr(
        'nardy {version}, bot {bot}, rules {rules}, position "{position}"',
        version=__version__,
        bot=bot.name,
        rules=rules.name,
        position=write_position(position, rules),
    )
    return f"{asked}, {xgid}" if xgid else asked


def _told_outcomes(outcomes: NDArray[np.float32], answer: Answer, rules: RuleSet) -> tuple[str, list[list[str]], str]:
    """A sentence, a table with its header, or none, and a note, or none."""
    equity = float(equities(outcomes, rules))
    if finished(answer.position.board[None])[0]:
        result, _, way = class_names(rules)[int(np.argmax(outcomes))].partition("_")
        if result == "win":
            line = tr("the game is over: the side on roll has won ({way}), {points} points")
        else:
            line = tr("the game is over: the side on roll has lost ({way}), {points} points")
        return line.format(way=way_text(way), points=f"{equity:+g}"), [], ""
    line = tr("before the roll: equity {equity} points a game, cubeless, for the side on roll", equity=f"{equity:+.4f}")
    note = ""
    if answer.cubeful is not None:
        note = tr(
            "with the cube: equity {equity} per cube if both decide rightly (nardy cube tells more)",
            equity=f"{answer.cubeful:+.4f}",
        )
    return line, chance_table(outcomes, rules), note


def _told_plays(answer: Answer, bot: Bot, top: int | None) -> tuple[str, list[list[str]], str]:
    """As `_told_outcomes`."""
    rules, dice, ranked = bot.rules, answer.position.dice, answer.ranked
    assert dice is not None
    shown = ranked[:top]
    count = tr_count("{n} play", "{n} plays", len(ranked))
    if len(shown) < len(ranked):
        count = tr("{plays}, the best {n}", plays=count, n=len(shown))
    numbers = [str(i) for i in range(1, len(shown) + 1)]
    values = {"dice": f"{dice[0]}-{dice[1]}", "plays": count}
    if ranked[0].outcomes is None:
        rows = [[n, play.text, f"{play.value:+12.4f}"] for n, play in zip(numbers, shown, strict=True)]
        values["bot"] = repr(bot.name)
        line = tr("roll {dice}: {plays}; the values of {bot} only rank plays, they are no points", **values)
        return line, [["", tr("play"), heading("value", 12)], *rows], ""
    looks_ahead = ranked[0].plies is not None
    rows = [
        [
            *(n, play.text, *[f"{play.plies!s:>3}"] * looks_ahead),
            *(f"{play.value:+8.4f}", f"{play.loss:7.4f}", *chance_cells(play.outcomes, rules)),
        ]
        for n, play in zip(numbers, shown, strict=True)
        if play.outcomes is not None
    ]
    if answer.state is None:
        line = tr("roll {dice}: {plays}; equity in points a game, cubeless, for the side that plays", **values)
    else:
        line = tr("roll {dice}: {plays}; equity in points per cube, with the cube, for the side that plays", **values)
    header = [
        "",
        tr("play"),
        *[tr("ply")] * looks_ahead,
        heading("equity", 8),
        heading("loss", 7),
        *chance_header(rules),
    ]
    notes = []
    if looks_ahead:
        notes.append(tr("ply: how far ahead a play was judged; one left behind counts less than those that went on"))
    if possible_ways(rules)[WAYS.index("koks")]:
        notes.append(tr("chances are cumulative: mars+ is mars or koks"))
    return line, [header, *rows], "\n  ".join(notes)


def _write_pictures(args: argparse.Namespace, answers: list[Answer], bot: Bot) -> None:
    """The files of `--svg` and `--html`, if asked for."""
    if args.svg is not None:
        write_document(args.svg, _picture(answers[0], bot, answers[0].ranked[:1]))
    if args.html is not None:
        from nardy_ai.reports.positions import positions_page

        sections = [_section(answer, bot, args.top) for answer in answers]
        write_document(args.html, positions_page("nardy evaluate", sections))


def _picture(answer: Answer, bot: Bot, ranked: Sequence[RankedPlay], *, style: bool = True) -> str:
    """The board as SVG with the plays that can be shown, of which the first is."""
    from nardy_ai.pictures import board_svg

    position, state = answer.position, answer.state
    if state is not None:
        position = replace(position, cube_value=state.value, cube_owner=state.owner)
    best, *others = [parse_play(play.text) for play in ranked] or [()]
    return board_svg(position, bot.rules, cube=state is not None, moves=best, others=others, style=style)


def _section(answer: Answer, bot: Bot, top: int | None) -> "Section":
    from nardy_ai.reports.positions import Section
    from nardy_ai.reports.tables import Table

    dice = answer.position.dice
    if answer.outcomes is None:
        line, table, note = _told_plays(answer, bot, top)
    else:
        line, table, note = _told_outcomes(answer.outcomes, answer, bot.rules)
    tables: list[Table] = []
    if table:
        has_plays = bool(answer.ranked)
        caption = tr("plays, the best first") if has_plays else tr("how games from here end")
        tables.append(Table.of_texts(caption, table[0], table[1:], play_column=1 if has_plays else None))
    return Section(
        heading=position_heading(bot.rules, dice),
        board=_picture(answer, bot, answer.ranked[:top], style=False),
        lines=(_settings_line(answer, bot), *([] if answer.state is None else [state_text(answer.state)]), line),
        tables=tuple(tables),
        notes=(note,) if note else (),
    )


def position_heading(rules: RuleSet, dice: tuple[int, int] | None) -> str:
    """What stands over a position on a page: the game, and the roll that is to be played."""
    if dice is None:
        return tr("{rules} nardy, on roll", rules=rules.name)
    return tr("{rules} nardy, to play {high}-{low}", rules=rules.name, high=dice[0], low=dice[1])


def _as_data(given: Given, answer: Answer, bot: Bot, top: int | None) -> dict[str, object]:
    """One position's answer for JSON. `outcomes` exclude each other; `cumulative` is the view of the tables."""
    rules, position = bot.rules, answer.position
    data: dict[str, object] = {
        "version": __version__,
        "bot": bot.name,
        "rules": rules.name,
        "given": given.text,
        "position": write_position(position, rules),
        "xgid": xgid_or_none(position, rules),
        "dice": None if position.dice is None else list(position.dice),
        "finished": bool(finished(position.board[None])[0]),
    }
    if answer.state is not None:
        data["state"] = state_data(answer.state)
    if answer.cubeful is not None:
        data["cubeful_equity"] = rounded(answer.cubeful)
    if answer.outcomes is not None:
        return data | {"equity": rounded(equities(answer.outcomes, rules))} | _chances_data(answer.outcomes, rules)
    return data | {
        "is_evaluator": isinstance(bot, Evaluator),
        "plays": [_play_data(play, rules) for play in answer.ranked[:top]],
    }


def _play_data(play: RankedPlay, rules: RuleSet) -> dict[str, object]:
    data: dict[str, object] = {"play": play.text, "after": play.after}
    if play.outcomes is None:
        return data | {"value": rounded(play.value)}
    if play.plies is not None:
        data["plies"] = play.plies
    return data | {"equity": rounded(play.value), "loss": rounded(play.loss)} | _chances_data(play.outcomes, rules)


def _chances_data(outcomes: NDArray[np.float32], rules: RuleSet) -> dict[str, object]:
    return {"outcomes": exclusive_chances(outcomes, rules), "cumulative": cumulative_chances(outcomes)}

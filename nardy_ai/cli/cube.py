"""`nardy cube POSITION`: whether to double, and whether to take."""

import argparse
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from nardy_ai import __version__
from nardy_ai.boards import Boards, finished, swap_sides
from nardy_ai.bots import default_bot, load_bot
from nardy_ai.cli.chances import chance_table, cumulative_chances, exclusive_chances, rounded
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.cubes import (
    add_state_arguments,
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
from nardy_ai.cli.positions import Given, add_position_arguments, add_rules_argument, read_positions
from nardy_ai.cube.decision import action_text
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.state import CubeState, CubeStates, swap_state
from nardy_ai.cube.windows import Window, gammon_value, window_of
from nardy_ai.cubeful import CubeDecision, MarketLosers, cubeful_of, decisions_of, market_losers
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import CubeError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.language import marked, tr, tr_count
from nardy_ai.notation import draw_board, write_position, xgid_or_none
from nardy_ai.outcomes import Outcomes, ever_possible, swap
from nardy_ai.rules import find_rules
from nardy_ai.search import MOST_PLIES

if TYPE_CHECKING:
    from nardy_ai.reports.positions import Section

DEAD, LIVE = 0.0, 1.0
MARS = 1
"""The class of a mars won, where there are six."""


@dataclass(frozen=True)
class Windows:
    """One side's doubling windows, with a dead and a live cube and as the formulas mix them, and its gammon values.

    gammon_values: at the present stake and after a double, None by rules without mars.
    """

    dead: Window
    live: Window
    mixed: Window
    gammon_values: tuple[float, float | None] | None


@dataclass(frozen=True)
class Answer:
    """What is said about one position. windows: of the side on roll and of the other."""

    given: Given
    decision: CubeDecision
    table: str | None
    windows: tuple[Windows, Windows]
    losers: MarketLosers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_position_arguments(parser)
    parser.add_argument(
        "--bot", metavar="BOT", help="a name that `nardy bots` lists, or a bot's file (default: the shipped one)"
    )
    add_rules_argument(parser, default_text="those of the bot")
    parser.add_argument(
        "--plies", type=int, metavar="N", help=f"look so far ahead, 0 to {MOST_PLIES} (default: as the bot's name says)"
    )
    add_state_arguments(parser)
    parser.add_argument("--draw", action="store_true", help="draw the board above the answer")
    add_picture_arguments(parser)
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print the decision in each position; nothing if one of them is wrong."""
    if args.plies is not None and not 0 <= args.plies <= MOST_PLIES:
        raise CubeError(f"--plies {args.plies}: expected 0 to {MOST_PLIES}")
    with compile_notice():
        rules = None if args.rules is None else find_rules(args.rules)
        bot = load_bot(args.bot or default_bot(rules or find_rules("short")), rules)
        positions = read_positions(args, bot.rules)
        check_picture_arguments(args, len(positions))
        answers = [_answer(args, bot, given) for given in positions]
    _write_pictures(args, answers, bot)
    if args.json:
        print_json([_data(answer, bot) for answer in answers])
        return 0
    for i, answer in enumerate(answers):
        if i:
            print()
        _print_answer(answer, bot, draw=args.draw)
    return 0


def _answer(args: argparse.Namespace, bot: Bot, given: Given) -> Answer:
    position = given.position
    board = position.board[None]
    try:
        state = read_state(args, given, options_of(args.rules, bot.rules))
        if finished(board)[0]:
            raise CubeError("the game is over; there is nothing to double")
        if position.dice is not None:
            high, low = position.dice
            raise CubeError(f"the position has rolled {high}-{low}; a double comes before the roll")
        judge = cubeful_of(bot, state, table=read_met(args), plies=args.plies)
    except CubeError as error:
        raise CubeError(f"{given.where}{error}") from error
    decision = decisions_of(judge, board, [state])[0]
    return Answer(
        given,
        decision,
        table=None if judge.model.table is None else judge.model.table.name,
        windows=(
            _windows(judge.model, state, decision.outcomes, board),
            _windows(judge.model, swap_state(state), swap(decision.outcomes), swap_sides(board)),
        ),
        losers=market_losers(judge, board, state),
    )


def _windows(model: CubeModel, state: CubeState, outcomes: Outcomes, board: Boards) -> Windows:
    """The windows of row 0, as if the cube were its own where it is the other's."""
    states = CubeStates.of(replace(state, owner=0) if state.owner == 1 else state)
    values = None
    if ever_possible(model.rules)[MARS]:
        may = bool(model.may_double(states)[0])
        values = (gammon_value(model, states), gammon_value(model, model.doubled(states)) if may else None)
    return Windows(
        window_of(model, states, outcomes, efficiency=DEAD),
        window_of(model, states, outcomes, efficiency=LIVE),
        window_of(model, states, outcomes, board=board[0]),
        values,
    )


def _print_answer(answer: Answer, bot: Bot, *, draw: bool) -> None:
    rules, decision = bot.rules, answer.decision
    print(_settings_line(answer, bot))
    print(state_text(decision.state, met=answer.table))
    if draw:
        print(draw_board(answer.given.position, rules))
    print(f"\n{_verdict_text(answer)}")
    header, *rows = chance_table(decision.outcomes, rules)
    print_table(_equity_rows(decision), header=_equity_header(decision), indent=2)
    mistakes = _mistakes(decision)
    if mistakes:
        print(tr("mistakes: {mistakes}", mistakes="; ".join(mistakes)))
    print(f"\n{tr(_CHANCES)}")
    print_table(rows, header=header, indent=2)
    print(f"\n{tr(_WINDOWS)}")
    print_table(_window_rows(answer.windows), header=_window_header(), indent=2)
    for line in _gammon_lines(answer.windows):
        print(f"  {line}")
    losers = _loser_lines(answer.losers)
    if losers:
        print(f"\n{losers[0]}\n  {losers[1]}")


_CHANCES = marked("cubeless chances, without look-ahead")
_WINDOWS = marked("chances to win at which the cube turns, mars as often as here")


def _settings_line(answer: Answer, bot: Bot) -> str:
    rules, position = bot.rules, answer.given.position
    xgid = xgid_or_none(position, rules)
    asked = tr(
        'nardy {version}, bot {bot}, {plies}, rules {rules}, position "{position}"',
        version=__version__,
        bot=bot.name,
        plies=tr_count("{n} plies of look-ahead", "{n} plies of look-ahead", answer.decision.plies),
        rules=rules.name,
        position=write_position(position, rules),
    )
    return f"{asked}, {xgid}" if xgid else asked


def _write_pictures(args: argparse.Namespace, answers: list[Answer], bot: Bot) -> None:
    """The files of `--svg` and `--html`, if asked for."""
    if args.svg is not None:
        write_document(args.svg, _picture(answers[0], bot))
    if args.html is not None:
        from nardy_ai.reports.positions import positions_page

        write_document(args.html, positions_page("nardy cube", [_section(answer, bot) for answer in answers]))


def _picture(answer: Answer, bot: Bot, *, style: bool = True) -> str:
    """The board as SVG, with the cube of the state that was judged."""
    from nardy_ai.pictures import board_svg

    state = answer.decision.state
    position = replace(answer.given.position, cube_value=state.value, cube_owner=state.owner)
    return board_svg(position, bot.rules, style=style)


def _section(answer: Answer, bot: Bot) -> "Section":
    from nardy_ai.reports.positions import Section
    from nardy_ai.reports.tables import Table

    decision = answer.decision
    header, *rows = chance_table(decision.outcomes, bot.rules)
    return Section(
        heading=tr("{rules} nardy: {what}", rules=bot.rules.name, what=_verdict_text(answer)),
        board=_picture(answer, bot, style=False),
        lines=(_settings_line(answer, bot), state_text(decision.state, met=answer.table)),
        tables=(
            Table.of_texts(tr("what the cube is worth"), _equity_header(decision), _equity_rows(decision)),
            Table.of_texts(tr(_CHANCES), header, rows),
            Table.of_texts(tr(_WINDOWS), _window_header(), _window_rows(answer.windows)),
        ),
        notes=(*_mistakes(decision), *_gammon_lines(answer.windows), *_loser_lines(answer.losers)),
    )


def _gammon_lines(windows: tuple[Windows, Windows]) -> list[str]:
    """Each side's gammon values in words; none by rules without mars."""
    lines = []
    texts = (tr("gammon value of the side on roll: {value}"), tr("gammon value of the other side: {value}"))
    for text, one in zip(texts, windows, strict=True):
        if one.gammon_values is not None:
            now, later = one.gammon_values
            value = f"{now:.3f}"
            if later is not None:
                value = tr("{now}, {later} after a double", now=value, later=f"{later:.3f}")
            lines.append(text.format(value=value))
    return lines


def _equity_header(decision: CubeDecision) -> list[str]:
    header = ["", heading("equity per cube", 15)]
    return header if decision.winning is None else [*header, heading("match winning chance", 20)]


def _equity_rows(decision: CubeDecision) -> list[list[str]]:
    """Each course of action with its equity."""
    word = "redouble" if decision.state.owner == 0 else "double"
    lines = [
        ("no_double", action_text(f"no {word}"), decision.no_double),
        ("double_take", action_text(f"{word}, take"), decision.double_take),
        ("double_pass", action_text(f"{word}, pass"), None if decision.double_take is None else decision.double_pass),
        ("beaver", action_text(f"{word}, beaver"), decision.beaver),
    ]
    rows = []
    for name, text, equity in lines:
        if equity is None:
            continue
        row = [text, f"{equity:+15.4f}"]
        if decision.winning is not None:
            row.append(f"{100 * decision.winning[name]:18.2f} %")
        rows.append(row)
    return rows


def _mistakes(decision: CubeDecision) -> list[str]:
    """What each wrong action costs the side that errs."""
    ruling = decision.verdict
    costs = {
        tr("not to double costs {cost}"): ruling.cost_no_double,
        tr("to double costs {cost}"): ruling.cost_double,
        tr("to take costs {cost}"): ruling.cost_take,
        tr("to pass costs {cost}"): ruling.cost_pass,
        tr("to beaver costs {cost}"): ruling.cost_beaver,
    }
    return [text.format(cost=f"{cost:.4f}") for text, cost in costs.items() if cost]


def _verdict_text(answer: Answer) -> str:
    """The right action, and what the side that must answer an offer should do."""
    offer, decision = answer.given.position.offer, answer.decision
    action = action_text(decision.action)
    if offer == "double" and decision.verdict.answer is not None:
        return tr("{action}; a double waits: {answer}", action=action, answer=action_text(decision.verdict.answer))
    if offer == "beaver" and decision.reply is not None:
        return tr("{action}; a beaver waits: {answer}", action=action, answer=action_text(decision.reply))
    if offer == "raccoon" and decision.last_answer is not None:
        return tr("{action}; a raccoon waits: {answer}", action=action, answer=action_text(decision.last_answer))
    return action


def _window_rows(windows: tuple[Windows, Windows]) -> list[list[str]]:
    rows = []
    kinds = {
        "dead": tr("{doubler}, dead cube"),
        "live": tr("{doubler}, live cube"),
        "mixed": tr("{doubler}, mixed cube"),
    }
    for name, one in zip((tr("side on roll"), tr("other side")), windows, strict=True):
        for kind, text in kinds.items():
            window: Window = getattr(one, kind)
            points = (window.take_point, window.double_point, window.cash_point, window.too_good_point)
            cells = ("      -" if p is None else f"{100 * p:6.2f} %" for p in points)
            rows.append([text.format(doubler=name), *cells])
    return rows


def _window_header() -> list[str]:
    return [tr("doubler"), tr("he takes from"), tr("doubles from"), tr("cash from"), tr("too good from")]


def _loser_lines(losers: MarketLosers) -> list[str]:
    """How many throws lose the market, and which; nothing if none does."""
    if not losers.share:
        return []
    words = []
    for roll, lost in zip(ROLLS, losers.lost, strict=True):
        share = float(ROLL_WEIGHTS @ lost)
        if share:
            words.append(f"{roll[0]}-{roll[1]}" + ("" if lost.all() else f" ({36 * share:.0f}/36)"))
    count = tr(
        "market losers: {n} of 1296 throws ({percent} %)",
        n=f"{1296 * losers.share:.0f}",
        percent=f"{100 * losers.share:.1f}",
    )
    return [count, ", ".join(words)]


def _data(answer: Answer, bot: Bot) -> dict[str, object]:
    """One position's answer for JSON. Sides are 0, on roll, and 1."""
    rules, position, decision = bot.rules, answer.given.position, answer.decision
    ruling = decision.verdict
    return {
        "version": __version__,
        "bot": bot.name,
        "plies": decision.plies,
        "rules": rules.name,
        "given": answer.given.text,
        "position": write_position(position, rules),
        "xgid": xgid_or_none(position, rules),
        "state": state_data(decision.state) | {"met": answer.table},
        "action": decision.action,
        "double": ruling.double,
        "too_good": ruling.too_good,
        "answer": ruling.answer,
        "reply_to_beaver": decision.reply,
        "answer_to_raccoon": decision.last_answer,
        "no_double": rounded(decision.no_double),
        "double_take": _or_null(decision.double_take),
        "double_pass": rounded(decision.double_pass),
        "beaver": _or_null(decision.beaver),
        "best": rounded(decision.best),
        "costs": {
            "no_double": rounded(ruling.cost_no_double),
            "double": rounded(ruling.cost_double),
            "take": rounded(ruling.cost_take),
            "pass": rounded(ruling.cost_pass),
            "beaver": rounded(ruling.cost_beaver),
        },
        "winning": None
        if decision.winning is None
        else {name: rounded(chance) for name, chance in decision.winning.items()},
        "outcomes": exclusive_chances(decision.outcomes, rules),
        "cumulative": cumulative_chances(decision.outcomes),
        "windows": [_windows_data(one) for one in answer.windows],
        "market_losers": {
            "share": rounded(answer.losers.share),
            "rolls": {
                f"{roll[0]}{roll[1]}": [f"{reply[0]}{reply[1]}" for reply in ROLLS[lost]]
                for roll, lost in zip(ROLLS, answer.losers.lost, strict=True)
                if lost.any()
            },
        },
    }


def _windows_data(windows: Windows) -> dict[str, object]:
    data: dict[str, object] = {
        kind: {entry.name: _or_null(getattr(getattr(windows, kind), entry.name)) for entry in fields(Window)}
        for kind in ("dead", "live", "mixed")
    }
    values = windows.gammon_values
    return data | {"gammon_values": None if values is None else [_or_null(value) for value in values]}


def _or_null(value: float | None) -> float | None:
    return None if value is None else rounded(value)

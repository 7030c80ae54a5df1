"""`nardy rollout POSITION [--dice 31]`: a position played to its end many times, or the plays of a roll compared."""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nardy_ai import __version__
from nardy_ai.boards import Boards, finished
from nardy_ai.bots import default_bot, load_bot
from nardy_ai.cli.arguments import add_workers_argument
from nardy_ai.cli.chances import (
    WAYS,
    chance_cells,
    chance_header,
    cumulative_chances,
    exclusive_chances,
    or_null,
    or_unknown,
    possible_ways,
    rounded,
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
from nardy_ai.cli.evaluate import position_heading
from nardy_ai.cli.output import (
    add_json_argument,
    add_language_argument,
    add_picture_arguments,
    check_targets,
    heading,
    print_json,
    print_table,
    write_document,
    writing,
)
from nardy_ai.cli.positions import Given, add_dice_argument, add_rules_argument, read_dice
from nardy_ai.cli.stopping import INTERRUPTED, stoppable
from nardy_ai.cube.decision import action_text
from nardy_ai.cube.state import CubeState
from nardy_ai.cube_policies import POLICIES
from nardy_ai.errors import CubeError, NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.language import marked, tr, tr_count
from nardy_ai.movegen.generate import afterstates
from nardy_ai.movegen.reference import play_named, plays
from nardy_ai.notation import Position, format_play, parse_play, read_position, write_position, xgid_or_none
from nardy_ai.outcomes import class_names
from nardy_ai.pruned import unpruned
from nardy_ai.rollouts import (
    CANDIDATES,
    CLEAR,
    CubeRollout,
    Line,
    RolloutReport,
    decide,
    read_rollout,
    rollout,
    save_rollout,
)
from nardy_ai.rules import find_rules
from nardy_ai.search import DEFAULT_FILTER, FILTERS

TOP = 5


@dataclass(frozen=True)
class Asked:
    """What is rolled out: the given position, or `names` of plays that lead to the boards.

    boards: `int8[P, 2, 26]`. dice: the roll that is played, None for a position before its roll. state: the cube and
    the score, None if they do not count.
    """

    given: Given
    boards: Boards
    names: tuple[str, ...]
    dice: tuple[int, int] | None
    state: CubeState | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "position", metavar="POSITION", help="start, an XGID, a GNU or OGID identifier, or text such as '20:1 / 12:2'"
    )
    add_dice_argument(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--plays", nargs="+", metavar="PLAY", help="compare these plays of the roll, such as '8/5 6/5'")
    which.add_argument(
        "--top", type=int, metavar="N", help=f"compare the N plays of the roll that the bot ranks best (default: {TOP})"
    )
    parser.add_argument(
        "--bot", metavar="BOT", help="who plays both sides: a name or a bot's file (default: the shipped one)"
    )
    add_rules_argument(parser, default_text="those of the bot")
    parser.add_argument(
        "--games", type=int, default=1296, metavar="N", help="games for each position (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the dice (default: %(default)s)")
    parser.add_argument(
        "--plies", type=int, default=0, metavar="N", help="how far ahead the bot looks in play (default: %(default)s)"
    )
    parser.add_argument(
        "--filter",
        default=DEFAULT_FILTER,
        metavar="NAME",
        help=f"which plays it looks at deeper: {', '.join(FILTERS)} (default: %(default)s)",
    )
    parser.add_argument("--truncate", type=int, metavar="N", help="let the bot judge games after N plies")
    parser.add_argument(
        "--no-bearoff", action="store_true", help="play on where the exact bearoff tables know the rest"
    )
    parser.add_argument("--until-error", type=float, metavar="E", help="stop when no standard error is above E")
    parser.add_argument(
        "--until-clear",
        type=float,
        nargs="?",
        const=CLEAR,
        metavar="Z",
        help="stop when the best play leads by Z standard errors of the difference (default: %(const)s)",
    )
    parser.add_argument("--control", metavar="BOT", help="who measures luck (default: the bot, without look-ahead)")
    parser.add_argument(
        "--candidates",
        type=_candidates,
        default=CANDIDATES,
        metavar="N",
        help="how many plays of a roll it judges for that, the likeliest, or all (default: %(default)s)",
    )
    parser.add_argument("--no-variance-reduction", action="store_true", help="leave luck in")
    add_workers_argument(parser)
    parser.add_argument("--cube", action="store_true", help="play with the cube; equities are per cube")
    parser.add_argument(
        "--cube-decision", action="store_true", help="with the cube: no double beside double and take, on the same dice"
    )
    parser.add_argument(
        "--policy", metavar="NAME", help=f"when both sides double and take: {', '.join(POLICIES)} (default: cubeful)"
    )
    add_state_arguments(parser)
    parser.add_argument("--save", metavar="FILE", help="write all games to FILE, to go on from later")
    parser.add_argument("--resume", metavar="FILE", help="add the games to those in FILE; the rest must be the same")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_picture_arguments(parser)
    add_json_argument(parser)
    add_language_argument(parser)


def _candidates(text: str) -> int | None:
    """A number of plays; None for `all`."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number or all")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Roll out and print what came of it; what there is by then if interrupted."""
    if args.no_variance_reduction and args.control is not None:
        raise NardyError("--control measures luck, which --no-variance-reduction leaves in; give one of them")
    if args.top is not None and args.top < 1:
        raise NardyError(f"--top {args.top}: expected 1 or more")
    with_cube = args.cube or args.cube_decision
    about_cube = [*given_state_arguments(args), *(["--policy"] if args.policy is not None else [])]
    if about_cube and not with_cube:
        raise CubeError(f"{about_cube[0]} is about cube and score, which count with --cube or --cube-decision only")
    check_targets(args.save, args.svg, args.html)
    with compile_notice():
        rules = None if args.rules is None else find_rules(args.rules)
        bot = load_bot(args.bot or default_bot(rules or find_rules("short")), rules)
        control = None if args.control is None else load_bot(args.control, bot.rules)
        earlier = None if args.resume is None else read_rollout(Path(args.resume))
        asked = _ask(args, bot)
        if with_cube:
            asked = replace(asked, state=read_state(args, asked.given, options_of(args.rules, bot.rules)))
        report = _roll_out(args, bot, control, asked, earlier)
    if args.save is not None and report.games:
        with writing(args.save) as path:
            save_rollout(path, report)
    interrupted = report.stopped == "interrupted"
    if not report.games:
        print(
            f"nardy: {tr('interrupted before the first games had ended (seed {seed})', seed=args.seed)}",
            file=sys.stderr,
        )
        return INTERRUPTED
    decided = decide(report, bot, table=read_met(args)) if args.cube_decision else None
    told = _told(asked, report) if decided is None else _told_decision(asked, decided)
    _write_pictures(args, asked, report, told)
    if args.json:
        data = _as_data(asked, report)
        print_json(data if decided is None else data | {"decision": _decision_data(decided)})
    else:
        _print_told(told)
    return INTERRUPTED if interrupted else 0


def _ask(args: argparse.Namespace, bot: Bot) -> Asked:
    """The position before its roll, or the plays of the roll. Raises NardyError."""
    rules = bot.rules
    given = Given("", args.position, read_position(args.position, rules))
    board, dice = given.position.board, read_dice(args, given)
    if finished(board[None])[0]:
        raise NardyError(f"{args.position!r}: the game is over; there is nothing to roll out")
    if dice is None:
        if args.plays is not None or args.top is not None:
            raise NardyError("--plays and --top compare the plays of a roll; give one with --dice")
        return Asked(given, board[None], (), None)
    roll = (int(dice[0]), int(dice[1]))
    if args.plays is not None:
        chosen = [play_named(board, dice, parse_play(text), rules) for text in args.plays]
        boards = np.stack([play.afterstate for play in chosen])
        if len({one.tobytes() for one in boards}) < len(boards):
            raise NardyError("--plays: two of the plays lead to the same board; name it once")
        return Asked(given, boards, tuple(format_play(play.moves) for play in chosen), roll)
    after = afterstates(board, dice, rules)
    order = np.argsort(-unpruned(bot).play_values(board[None], after), kind="stable")[: args.top or TOP]
    names = {play.afterstate.tobytes(): format_play(play.moves) for play in plays(board, dice, rules)}
    boards = after.boards[order]
    return Asked(given, boards, tuple(names[one.tobytes()] for one in boards), roll)


def _roll_out(
    args: argparse.Namespace, bot: Bot, control: Bot | None, asked: Asked, earlier: RolloutReport | None
) -> RolloutReport:
    before = 0 if earlier is None else earlier.games
    with (
        stoppable() as stop,
        tqdm(
            total=before + args.games, initial=before, unit=tr(" games"), disable=args.quiet, file=sys.stderr,
            dynamic_ncols=True,
        ) as bar,
    ):  # fmt: skip

        def progress(report: RolloutReport) -> None:
            bar.set_postfix_str(_estimate(report), refresh=False)
            bar.update(report.games - bar.n)

        return rollout(
            bot,
            asked.boards,
            games=args.games,
            seed=args.seed,
            plies=args.plies,
            filter=args.filter,
            truncate_after=args.truncate,
            variance_reduction=not args.no_variance_reduction,
            control=control,
            candidates=args.candidates,
            bearoff=not args.no_bearoff,
            after_play=asked.dice is not None,
            until_error=args.until_error,
            until_clear=args.until_clear if len(asked.boards) > 1 or args.cube_decision else None,
            state=asked.state,
            policy=args.policy,
            table=read_met(args),
            decision=args.cube_decision,
            workers=args.workers,
            earlier=earlier,
            progress=progress,
            stop=stop,
        )


def _estimate(report: RolloutReport) -> str:
    """The best line so far, and how surely it leads."""
    lines = sorted(report.lines, key=lambda line: -line.equity)
    text = f"{lines[0].equity:+.4f} +- {or_unknown(lines[0].standard_error)}"
    if len(lines) > 1:
        lead = f"{-lines[1].difference:.4f} +- {or_unknown(lines[1].difference_error)}"
        text += f", {tr('leads by {lead}', lead=lead)}"
    return text


_WHY = {
    "games": marked("all games were played"),
    "error": marked("stopped: the standard error wanted was reached"),
    "clear": marked("stopped: the best play is clear"),
    "interrupted": marked("interrupted: of the games that had been counted"),
}


def _settings_text(report: RolloutReport) -> str:
    """All that is needed to get the same numbers again, on one line."""
    one = report.settings
    parts = [
        tr("bot {bot}", bot=one.bot),
        tr("rules {rules}", rules=report.rules.name),
        tr_count("{n} games", "{n} games", report.games),
        tr("seed {seed}", seed=one.seed),
        tr("{n}-ply play", n=one.plies) + (f" ({one.filter})" if one.filter else ""),
    ]
    if one.truncate_after is None:
        parts.append(tr("to the end"))
    else:
        parts.append(tr_count("truncated after {n} plies", "truncated after {n} plies", one.truncate_after))
    if one.bearoff:
        parts.append(tr("or to the exact bearoff tables"))
    if one.state is not None:
        parts += [tr("cube policy {policy}", policy=one.policy), state_text(one.state, met=one.met)]
    judged = "" if one.candidates is None else f" ({tr('{n} plays a roll', n=one.candidates)})"
    parts.append(tr("luck left in") if one.control is None else tr("luck measured by {bot}", bot=one.control) + judged)
    return ", ".join(parts)


@dataclass(frozen=True)
class Told:
    """A report as people read it, the best line first: sentences, a table, errors below its cells, and notes."""

    lines: tuple[str, ...]
    header: list[str]
    rows: list[list[str]]
    errors: list[list[str]]
    notes: tuple[str, ...]


def _best_first(report: RolloutReport) -> list[int]:
    return sorted(range(len(report.lines)), key=lambda p: -report.lines[p].equity)


def _first_lines(asked: Asked, report: RolloutReport) -> list[str]:
    """What was asked, and all settings."""
    rules = report.rules
    text = write_position(asked.given.position, rules)
    xgid = xgid_or_none(asked.given.position, rules)
    return [
        tr('nardy {version}, position "{position}"', version=__version__, position=text)
        + (f", {xgid}" if xgid else ""),
        f"{_settings_text(report)}; {tr(_WHY[report.stopped])}",
    ]


_COUNTS = marked(
    "the columns of results say how games ended, luck and all, a pass as a single win: cubeless counts, which do not"
    " add up to the equity with the cube and are not to be compared between rows"
)


def _told(asked: Asked, report: RolloutReport) -> Told:
    rules = report.rules
    lines = _first_lines(asked, report)
    order = _best_first(report)
    if asked.dice is None:
        if asked.state is None:
            text = tr("before the roll; equity in points a game, cubeless, for the side on roll, +- its standard error")
        else:
            text = tr(
                "before the roll; equity in points per cube, with the cube, for the side on roll, which may double,"
                " +- its standard error"
            )
        lines.append(text)
        header, rows = [heading("equity", 8), "+-    "], [_equity_cells(report.lines[p]) for p in order]
    else:
        dice = "{}-{}".format(*asked.dice)
        if asked.state is None:
            text = tr("roll {dice}; equity in points a game, cubeless, for the side that plays;", dice=dice)
        else:
            text = tr("roll {dice}; equity in points per cube, with the cube, for the side that plays;", dice=dice)
        lines.append(text)
        lines.append(tr("+- are standard errors, that of a difference to the best play is made from the same dice"))
        header = ["", tr("play"), heading("equity", 8), "+-    ", tr("to best"), "+-    "]
        rows = [
            [str(i), asked.names[p], *_equity_cells(report.lines[p]), *_difference_cells(report.lines[p])]
            for i, p in enumerate(order, start=1)
        ]
    blank = [""] * len(header)
    errors = [[*blank, *_error_cells(p, report)] for p in order]
    rows = [[*row, *_chance_cells(report.lines[p], report)] for row, p in zip(rows, order, strict=True)]
    if possible_ways(rules)[WAYS.index("koks")]:
        notes = [tr("chances are cumulative (mars+ is mars or koks); below each its standard error")]
    else:
        notes = [tr("below each its standard error")]
    if asked.state is not None:
        notes.append(tr(_COUNTS))
    notes += [_cut_text(asked.names[p] if asked.names else None, report, p) for p in order if report.lines[p].cut]
    return Told(tuple(lines), [*header, *chance_header(rules)], rows, errors, tuple(notes))


def _cut_text(name: str | None, report: RolloutReport, line: int) -> str:
    """How many games of a line, a play's `name` or a position's, were too long."""
    cut, plies = report.lines[line].cut, report.settings.cut_after
    if name is None:
        return tr_count(
            "{n} games had not ended after {plies} plies: the bot judged them",
            "{n} games had not ended after {plies} plies: the bot judged them",
            cut,
            plies=plies,
        )
    return tr_count(
        "{n} games of {play} had not ended after {plies} plies: the bot judged them",
        "{n} games of {play} had not ended after {plies} plies: the bot judged them",
        cut,
        plies=plies,
        play=name,
    )


def _told_decision(asked: Asked, decided: CubeRollout) -> Told:
    """A cube decision, its lines in the order of the decision."""
    report, state = decided.report, asked.state
    assert state is not None
    word = "redouble" if state.owner == 0 else "double"
    names = [action_text(name) for name in (f"no {word}", f"{word}, take", f"{word}, beaver")]
    chances = [""] * len(chance_header(report.rules))
    rows, errors = [], []
    for p, line in enumerate(report.lines):
        rows.append([names[p], *_equity_cells(line), *_chance_cells(line, report)])
        errors.append(["", "", "", *_error_cells(p, report)])
    rows.insert(2, [action_text(f"{word}, pass"), f"{decided.double_pass:+8.4f}", "", *chances])
    errors.insert(2, ["", "", "", *chances])
    notes = [action_text(decided.verdict.action), *_lead_lines(decided)]
    if decided.winning is not None:
        shares = [f"{tr(_WINNING[name])} {100 * chance:.2f} %" for name, chance in decided.winning.items()]
        notes.append(tr("chances to win the match: {shares}", shares=", ".join(shares)))
    for line, name in zip(report.lines, names, strict=False):
        if line.cut:
            text = tr_count(
                "{n} games of {action} had not ended after {plies} plies",
                "{n} games of {action} had not ended after {plies} plies",
                line.cut,
                action=name,
                plies=report.settings.cut_after,
            )
            notes.append(text)
    lines = [
        *_first_lines(asked, report),
        tr("before the roll; equity in points per cube, with the cube, for the side on roll, +- its standard error"),
    ]
    header = ["", heading("equity", 8), "+-    ", *chance_header(report.rules)]
    return Told(tuple(lines), header, rows, errors, (*notes, tr(_COUNTS)))


_WINNING = {
    "no_double": marked("no double"),
    "double_take": marked("double take"),
    "double_pass": marked("double pass"),
}


def _lead_lines(decided: CubeRollout) -> list[str]:
    """By how much doubling or not doubling leads, and taking a pass, each with its error and significance."""
    lead = {
        "lead": f"{decided.lead:.4f} +- {or_unknown(decided.lead_error)}",
        "sureness": _sureness(decided.lead, decided.lead_error),
    }
    take = {
        "lead": f"{decided.take_lead:+.4f} +- {or_unknown(decided.take_lead_error)}",
        "sureness": _sureness(decided.take_lead, decided.take_lead_error),
    }
    if decided.verdict.double:
        first = tr("doubling leads by {lead} ({sureness})", **lead)
    else:
        first = tr("not doubling leads by {lead} ({sureness})", **lead)
    return [first, tr("taking is worth {lead} against a pass ({sureness})", **take)]


def _sureness(lead: float, error: float) -> str:
    """How many standard errors a difference is away from none."""
    if error == 0:
        return tr("sure")
    if not math.isfinite(error):
        return tr("unknown")
    return tr("{n} standard errors", n=f"{abs(lead) / error:.1f}")


def _decision_data(decided: CubeRollout) -> dict[str, object]:
    ruling = decided.verdict
    return {
        "action": ruling.action,
        "double": ruling.double,
        "too_good": ruling.too_good,
        "answer": ruling.answer,
        "no_double": rounded(decided.no_double.equity),
        "double_take": rounded(decided.double_take.equity),
        "double_pass": decided.double_pass,
        "beaver": None if decided.beaver is None else rounded(decided.beaver.equity),
        "lead": rounded(decided.lead),
        "lead_error": or_null(decided.lead_error),
        "take_lead": rounded(decided.take_lead),
        "take_lead_error": or_null(decided.take_lead_error),
        "winning": None
        if decided.winning is None
        else {name: rounded(chance) for name, chance in decided.winning.items()},
    }


def _print_told(told: Told) -> None:
    print("\n".join(told.lines))
    pairs = zip(told.rows, told.errors, strict=True)
    print_table([row for pair in pairs for row in pair], header=told.header, indent=2)
    for note in told.notes:
        print(f"  {note}")


def _write_pictures(args: argparse.Namespace, asked: Asked, report: RolloutReport, told: Told) -> None:
    """The files of `--svg` and `--html`, if asked for."""
    if args.svg is None and args.html is None:
        return
    from nardy_ai.pictures import board_svg

    rules = report.rules
    position = Position(asked.given.position.board, dice=asked.dice)
    plays_shown = [parse_play(asked.names[p]) for p in _best_first(report)] if asked.names else [()]
    if args.svg is not None:
        write_document(args.svg, board_svg(position, rules, cube=False, moves=plays_shown[0]))
    if args.html is not None:
        from nardy_ai.reports.positions import Section, positions_page
        from nardy_ai.reports.tables import Table

        caption = tr("plays, the best first") if asked.names else tr("how games from here end")
        play_column = 1 if asked.names else None
        table = Table.of_texts(caption, told.header, told.rows, below=told.errors, play_column=play_column)
        board = board_svg(position, rules, cube=False, moves=plays_shown[0], others=plays_shown[1:], style=False)
        section = Section(position_heading(rules, asked.dice), board, told.lines, (table,), told.notes)
        write_document(args.html, positions_page("nardy rollout", [section]))


def _equity_cells(line: Line) -> list[str]:
    return [f"{line.equity:+8.4f}", or_unknown(line.standard_error)]


def _difference_cells(line: Line) -> list[str]:
    if line.difference == 0:
        return ["", ""]
    return [f"{line.difference:+.4f}", or_unknown(line.difference_error)]


def _chance_cells(line: Line, report: RolloutReport) -> list[str]:
    return chance_cells(line.outcomes.astype(np.float32), report.rules)


def _error_cells(line: int, report: RolloutReport) -> list[str]:
    """The standard errors of the cells of `_chance_cells`."""
    _, mars, koks = possible_ways(report.rules)
    classes = len(class_names(report.rules))
    half = classes // 2
    columns = [
        (np.arange(classes) >= first) & (np.arange(classes) < last)
        for last in (half, classes)
        for first in (last - half, *[last - 2] * mars, *[last - 1] * koks)
    ]
    errors = report.errors_of(line, np.array(columns, dtype=np.float64).T)
    widths = [7, *[6] * (mars + koks)] * 2
    return [
        f"{100 * error:{width}.2f}" if math.isfinite(error) else "?".rjust(width)
        for error, width in zip(errors, widths, strict=True)
    ]


def _as_data(asked: Asked, report: RolloutReport) -> dict[str, object]:
    rules, position = report.rules, asked.given.position
    names: Sequence[str | None] = asked.names or [None] * len(report.lines)
    actions = ["no double", "double, take", "double, beaver"] if report.settings.decision else [None] * len(names)
    order = range(len(names)) if report.settings.decision else _best_first(report)
    return {
        "version": __version__,
        "rules": rules.name,
        "given": asked.given.text,
        "position": write_position(position, rules),
        "xgid": xgid_or_none(position, rules),
        "dice": None if asked.dice is None else list(asked.dice),
        **asdict(report.settings),
        "state": None if report.settings.state is None else state_data(report.settings.state),
        "games": report.games,
        "stopped": report.stopped,
        "complete": report.stopped != "interrupted",
        "outcomes_are": "chances" if asked.state is None else "cubeless counts of how games ended",
        "results": [
            {
                "play": names[p],
                "action": actions[p],
                "after": None if names[p] is None else write_position(line.board, rules),
                "equity": rounded(line.equity),
                "standard_error": or_null(line.standard_error),
                "difference": rounded(line.difference),
                "difference_error": or_null(line.difference_error),
                "cut": line.cut,
                "outcomes": exclusive_chances(line.outcomes.astype(np.float32), rules),
                "outcome_errors": {
                    key: or_null(error) for key, error in zip(class_names(rules), line.outcome_errors, strict=True)
                },
                "cumulative": cumulative_chances(line.outcomes.astype(np.float32)),
            }
            for p, line in ((p, report.lines[p]) for p in order)
        ],
    }

"""`nardy analyse FILE`: every decision of a written match against a bot's best, luck, and what each player lost."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from nardy_ai.analysis.judge import RolloutOptions
from nardy_ai.analysis.match import analyse
from nardy_ai.analysis.result import (
    CUBE,
    MARKS,
    PHASES,
    PR_DEFINITION,
    AnalysisSettings,
    Choice,
    CubeDecision,
    GameAnalysis,
    MatchAnalysis,
    PhaseTotal,
    PlayDecision,
    SideTotal,
    luck_word,
)
from nardy_ai.bots import default_bot, is_trained, load_bot
from nardy_ai.cli.arguments import add_workers_argument
from nardy_ai.cli.chances import chance_cells, chance_header, rounded
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.cubes import options_of
from nardy_ai.cli.main import DONE
from nardy_ai.cli.output import (
    add_json_argument,
    add_language_argument,
    check_targets,
    heading,
    print_json,
    print_table,
    write_document,
    writing,
)
from nardy_ai.cli.positions import add_rules_argument
from nardy_ai.cli.stopping import INTERRUPTED, stoppable
from nardy_ai.cube.decision import action_text
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.exact.cache import cache_folder
from nardy_ai.language import tr, tr_count
from nardy_ai.outcomes import class_names
from nardy_ai.records import MatchRecord, read_record, save_record
from nardy_ai.rules import RuleSet, find_rules
from nardy_ai.search import Lookahead

Decision = PlayDecision | CubeDecision

FAULTS_SHOWN = 10
CLOSE_PLAYS = 0.04


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="a match as .mat or .sgf, or positions, one a line")
    parser.add_argument(
        "--bot",
        metavar="BOT",
        help="who judges, such as short@2ply: a name or a bot's file (default: the shipped one of the rules)",
    )
    add_rules_argument(parser, default_text="those that the file names, else those of the bot, else short")
    parser.add_argument(
        "--cube",
        action=argparse.BooleanOptionalAction,
        help="judge with the doubling cube, or without (default: with, where one is in play)",
    )
    parser.add_argument(
        "--rollout", type=int, metavar="N", help="roll the plays of close decisions out, N games each (default: none)"
    )
    parser.add_argument(
        "--close",
        type=float,
        default=CLOSE_PLAYS,
        metavar="E",
        help="plays within E of the best are close (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the rollouts (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="list every decision, not only the dearest")
    parser.add_argument("--html", metavar="FILE", help="write the analysis with drawn boards as a page for a browser")
    parser.add_argument("--mat", metavar="FILE", help="write the match that was read to FILE, as .mat")
    parser.add_argument("--no-cache", action="store_true", help="judge anew what was judged before")
    add_workers_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Read, judge and print; what there is by then if interrupted."""
    if args.rollout is not None and args.rollout < 1:
        raise NardyError(f"--rollout {args.rollout}: expected 1 or more games")
    if args.workers < 1:
        raise NardyError(f"--workers {args.workers}: expected 1 or more")
    if not 0 <= args.close < 3:
        raise NardyError(f"--close {args.close}: expected points, 0 to 3")
    check_targets(args.mat, args.html)
    with compile_notice():
        record, bot = _record_and_bot(args)
        if args.mat is not None:
            with writing(args.mat) as path:
                save_record(path, record)
        analysis = _judged(args, record, bot)
    if args.html is not None:
        _write_page(args.html, analysis)
    if args.json:
        print_json(as_data(analysis))
    else:
        _print_analysis(analysis, show_all=args.all)
    return DONE if analysis.complete else INTERRUPTED


def _write_page(file: str, analysis: MatchAnalysis) -> None:
    from nardy_ai.reports.analysis import ChanceColumns, analysis_page

    def cells(outcomes: Sequence[float]) -> list[str]:
        return chance_cells(np.array(outcomes, dtype=np.float32), analysis.rules)

    columns = ChanceColumns(tuple(chance_header(analysis.rules)), cells)
    write_document(file, analysis_page(analysis, columns, settings=settings_line(analysis)))


def _record_and_bot(args: argparse.Namespace) -> tuple[MatchRecord, Bot]:
    """The match, and the bot that judges it by its rules. Raises NardyError."""
    rules = _asked_rules(args)
    record = read_record(Path(args.file), rules)
    if args.rules is None and record.rules is not None:
        rules = find_rules(record.rules)
    return record, load_bot(args.bot or default_bot(rules), rules)


def _asked_rules(args: argparse.Namespace) -> RuleSet:
    """The rules of `--rules`, else of the bot, else short."""
    if args.rules is not None:
        return find_rules(args.rules)
    if args.bot is not None and is_trained(args.bot):
        return load_bot(args.bot).rules
    return find_rules("short")


def _judged(args: argparse.Namespace, record: MatchRecord, bot: Bot) -> MatchAnalysis:
    rollouts = None if args.rollout is None else RolloutOptions(args.rollout, args.close, args.seed)
    is_slow = rollouts is not None or isinstance(bot, Lookahead)
    with (
        stoppable() as stop,
        tqdm(unit=tr(" decisions"), disable=args.quiet, file=sys.stderr, dynamic_ncols=True) as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return analyse(
            record,
            bot,
            source=args.file,
            options=options_of(args.rules or record.rules, bot.rules),
            cube=args.cube,
            rollouts=rollouts,
            cache=cache_folder() / "analysis.sqlite" if is_slow and not args.no_cache else None,
            workers=args.workers,
            progress=progress,
            stop=stop,
        )


def settings_line(analysis: MatchAnalysis) -> str:
    """All that is needed to get the same numbers again, on one line."""
    one = analysis.settings
    parts = [
        f"nardy {one.version}",
        tr("file {file}", file=analysis.source),
        tr("bot {bot}", bot=one.bot),
        tr("rules {rules}", rules=one.rules),
        tr("with the cube") if one.cube else tr("without a cube"),
    ]
    if one.rollout_games:
        games = tr_count("{n} games", "{n} games", one.rollout_games)
        within = f"{one.rollout_within:g}"
        parts.append(
            tr("{games} for each play within {within}, seed {seed}", games=games, within=within, seed=one.seed)
        )
    return ", ".join(parts)


def _print_analysis(analysis: MatchAnalysis, *, show_all: bool) -> None:
    print(settings_line(analysis))
    if not analysis.complete:
        print(tr("interrupted: only what was judged by then is here"))
    kind = tr("match to {length}", length=analysis.length) if analysis.length else tr("money play")
    games = tr_count("{n} games", "{n} games", len(analysis.games))
    first, second = analysis.names
    print(tr("{first} and {second}, {kind}, {games}", first=first, second=second, kind=kind, games=games))
    _print_faults(analysis.faults)
    if any(total.decisions for total in analysis.totals):
        print()
        _print_totals(analysis)
        print()
        _print_games(analysis)
    decisions = [decision for game in analysis.games for decision in game.decisions]
    nothing_known = not any(total.decisions for total in analysis.totals)
    if show_all or nothing_known:
        if analysis.settings.cube:
            said = tr(
                "every decision; equities per cube, of the side that decides (of a take: of the side that doubles)"
            )
        else:
            said = tr(
                "every decision; equities in points, of the side that decides (of a take: of the side that doubles)"
            )
        print(f"\n{said}")
        _print_decisions(analysis, decisions, ids=nothing_known)
    if analysis.worst:
        n = len(analysis.worst)
        if analysis.settings.cube:
            said = tr_count(
                "the dearest {n} decisions; equities per cube", "the dearest {n} decisions; equities per cube", n
            )
        else:
            said = tr_count(
                "the dearest {n} decisions; equities in points", "the dearest {n} decisions; equities in points", n
            )
        print(f"\n{said}")
        _print_decisions(analysis, analysis.worst, ids=True)


def _print_faults(faults: Sequence[str]) -> None:
    for fault in faults[:FAULTS_SHOWN]:
        print(f"  {tr('fault: {fault}', fault=fault)}")
    if len(faults) > FAULTS_SHOWN:
        more = tr_count(
            "and {n} more faults (--json has them all)",
            "and {n} more faults (--json has them all)",
            len(faults) - FAULTS_SHOWN,
        )
        print(f"  {more}")


def _print_totals(analysis: MatchAnalysis) -> None:
    totals = analysis.totals
    rows = [
        ["PR", *(_pr(total.pr) for total in totals)],
        *(
            [f"  {tr(phase)}", *(_phase_cell(total.phases[phase]) for total in totals)]
            for phase in (*PHASES, CUBE)
            if any(total.phases[phase].decisions for total in totals)
        ),
        [tr("equity lost"), *(f"{total.lost:8.3f}" for total in totals)],
        [tr("decisions"), *(f"{total.decisions:8}" for total in totals)],
        [tr("rolls, forced"), *(f"{total.turns:8}, {total.forced}" for total in totals)],
        *([tr(mark), *(f"{total.marks[mark]:8}" for total in totals)] for mark in MARKS[1:]),
        [tr("luck"), *(f"{total.luck:+8.3f}" for total in totals)],
    ]
    if any(total.winning_lost is not None for total in totals):
        rows.append([tr("match chances lost"), *(_percent(total.winning_lost) for total in totals)])
    print_table(rows, header=["", *analysis.names])
    print(tr("PR is {definition}", definition=tr(PR_DEFINITION)))


def _print_games(analysis: MatchAnalysis) -> None:
    rows = [
        [
            str(game.number),
            "-".join(map(str, game.scores)) + (f" {tr('Crawford')}" if game.crawford else ""),
            _ending(game, analysis),
            *(_pr(total.pr) for total in game.totals),
            *(f"{total.luck:+7.3f}" for total in game.totals),
        ]
        for game in analysis.games
    ]
    heads = [f"{what} {name}" for what in ("PR", tr("luck")) for name in analysis.names]
    print_table(rows, header=[tr("game"), tr("score"), tr("won by"), *heads])


def _ending(game: GameAnalysis, analysis: MatchAnalysis) -> str:
    if game.winner is None:
        return tr(game.ending, context="ending")
    return f"{analysis.names[game.winner]} {game.points} ({tr(game.ending, context='ending')})"


def _print_decisions(analysis: MatchAnalysis, decisions: Sequence[Decision], *, ids: bool) -> None:
    header = [tr("game"), tr("row"), tr("player"), "", tr("made"), tr("best")]
    header += [heading("equity", 7), heading("loss", 6), tr("mark"), heading("luck", 6)]
    rows = [[str(one.game), str(one.turn), analysis.names[one.side], *_decision_cells(one)] for one in decisions]
    if not ids:
        print_table(rows, header=header)
        return
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print("  ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True)).rstrip())
    for one, row in zip(decisions, rows, strict=True):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        print(f"    {one.position_id}{f', {one.xgid}' if one.xgid else ''}")


def _decision_cells(one: Decision) -> list[str]:
    if isinstance(one, CubeDecision):
        loss = f"{one.loss:6.3f}" if one.action else ""
        made, best = action_text(one.action), action_text(one.best)
        return [f"{action_text(one.kind)}?", made, best, f"{one.no_double:+7.3f}", loss, tr(one.mark), ""]
    made = one.played.play if one.played else tr("illegal") if one.note else ""
    luck = "" if one.luck is None else f"{one.luck:+6.3f} {tr(luck_word(one.luck))}".rstrip()
    loss = "" if one.loss is None else f"{one.loss:6.3f}"
    choice = one.choices[0]
    return ["{}-{}".format(*one.dice), made, choice.play, f"{choice.equity:+7.3f}", loss, tr(one.mark), luck]


def _pr(pr: float | None) -> str:
    return "       -" if pr is None else f"{pr:8.2f}"


def _phase_cell(total: PhaseTotal) -> str:
    return f"{_pr(total.pr)}  ({total.decisions})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:8.2f} %"


def as_data(analysis: MatchAnalysis) -> dict[str, object]:
    """The analysis for JSON. Sides are 0 and 1, the first and the second of `players`."""
    return {
        **_settings_data(analysis.settings),
        "file": analysis.source,
        "complete": analysis.complete,
        "players": list(analysis.names),
        "length": analysis.length,
        "pr_definition": PR_DEFINITION,
        "faults": list(analysis.faults),
        "totals": [_total_data(total) for total in analysis.totals],
        "games": [_game_data(game, analysis) for game in analysis.games],
        "worst": [_decision_data(decision, analysis.rules) for decision in analysis.worst],
    }


def _settings_data(one: AnalysisSettings) -> dict[str, object]:
    return {
        "version": one.version,
        "bot": one.bot,
        "rules": one.rules,
        "cube": one.cube,
        "rollout_games": one.rollout_games,
        "rollout_within": one.rollout_within,
        "seed": one.seed,
    }


def _game_data(game: GameAnalysis, analysis: MatchAnalysis) -> dict[str, object]:
    return {
        "number": game.number,
        "scores": list(game.scores),
        "crawford": game.crawford,
        "winner": game.winner,
        "points": game.points,
        "ending": game.ending,
        "totals": [_total_data(total) for total in game.totals],
        "decisions": [_decision_data(decision, analysis.rules) for decision in game.decisions],
    }


def _total_data(total: SideTotal) -> dict[str, object]:
    return {
        "name": total.name,
        "rolls": total.turns,
        "forced": total.forced,
        "decisions": total.decisions,
        "lost": rounded(total.lost),
        "pr": _number(total.pr),
        "phases": {
            phase: {"decisions": one.decisions, "lost": rounded(one.lost), "pr": _number(one.pr)}
            for phase, one in total.phases.items()
        },
        "marks": total.marks,
        "luck": rounded(total.luck),
        "match_chances_lost": _number(total.winning_lost),
    }


def _decision_data(one: Decision, rules: RuleSet) -> dict[str, object]:
    data: dict[str, object] = {
        "game": one.game,
        "row": one.turn,
        "line": one.line,
        "side": one.side,
        "position": one.position_id,
        "xgid": one.xgid,
    }
    if isinstance(one, CubeDecision):
        return data | {
            "kind": one.kind,
            "made": one.action or None,
            "best": one.best,
            "no_double": rounded(one.no_double),
            "double_take": rounded(one.double_take),
            "double_pass": rounded(one.double_pass),
            "beaver": _number(one.beaver),
            "loss": rounded(one.loss) if one.action else None,
            "match_chances_lost": _number(one.winning_loss),
            "mark": one.mark,
            "counts": one.counts,
        }
    return data | {
        "kind": "play",
        "dice": list(one.dice),
        "phase": one.phase,
        "legal": one.legal,
        "forced": one.forced,
        "made": None if one.played is None else _choice_data(one.played, rules),
        "rank": one.rank,
        "loss": _number(one.loss),
        "match_chances_lost": _number(one.winning_loss),
        "mark": one.mark,
        "counts": one.counts,
        "luck": _number(one.luck),
        "note": one.note,
        "comment": one.comment,
        "best": [_choice_data(choice, rules) for choice in one.choices],
    }


def _choice_data(choice: Choice, rules: RuleSet) -> dict[str, object]:
    return {
        "play": choice.play,
        "after": choice.after,
        "equity": rounded(choice.equity),
        "loss": rounded(choice.loss),
        "outcomes": {name: rounded(one) for name, one in zip(class_names(rules), choice.outcomes, strict=True)},
        "standard_error": _number(choice.error),
    }


def _number(value: float | None) -> float | None:
    return None if value is None else rounded(value)

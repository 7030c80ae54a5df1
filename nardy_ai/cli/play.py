"""`nardy play`: a game or a match against a bot at the terminal, or over a pipe.

Arguments, and the file that a match is begun in or resumed from; what happens at the prompt is `cli.table`'s business.
"""

import argparse
import io
import json
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nardy_ai.bots import default_bot, load_bot
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_language_argument, check_targets
from nardy_ai.cli.session_text import READER
from nardy_ai.cli.stopping import INTERRUPTED
from nardy_ai.cli.table import BOT, Leave, Table, export_match, play_on, save_table
from nardy_ai.errors import GameError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.language import tr
from nardy_ai.notation.position import MAX_POINTS
from nardy_ai.play.session import Session, Setup, begin, from_dict, is_over
from nardy_ai.rules import find_preset

DONE = 0
DEFAULT_FILE = "nardy-play.json"
TUTOR_STOPS_AT = 0.02


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--rules", metavar="NAME", help="a rule set, an alias or a .toml file (default: short)")
    parser.add_argument("--bot", metavar="BOT", help="the opponent (default: the shipped bot for the rules)")
    parser.add_argument("--length", type=int, metavar="N", help="points to win the match (default: those of the rules)")
    parser.add_argument("--games", type=int, metavar="N", help="games to play where there is no match (default: 1)")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="the dice: the same seed gives the same ones (default: new)"
    )
    parser.add_argument("--save", metavar="FILE", help=f"where every action is saved at once (default: {DEFAULT_FILE})")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=DEFAULT_FILE,
        metavar="FILE",
        help=f"go on with a saved match (default: {DEFAULT_FILE})",
    )
    parser.add_argument("--export", metavar="FILE", help="write the match as .mat at the end, finished or not")
    parser.add_argument(
        "--tutor",
        nargs="?",
        type=float,
        const=TUTOR_STOPS_AT,
        metavar="LOSS",
        help=f"say what each play loses, and ask again if it is LOSS points or more (default: {TUTOR_STOPS_AT})",
    )
    parser.add_argument("--adviser", metavar="BOT", help="who gives hints and judges plays (default: the opponent)")
    parser.add_argument("--no-board", action="store_true", help="draw boards only when asked to")
    add_language_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Play until the match is over or the player leaves."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    check_targets(args.export)
    with compile_notice():
        table = _resumed(args) if args.resume is not None else _begun(args)
        save_table(table)
        try:
            play_on(table)
            return DONE
        except EOFError:
            return _left(table, INTERRUPTED)
        except KeyboardInterrupt:
            print()
            return _left(table, INTERRUPTED)
        except Leave:
            return _left(table, DONE)
        finally:
            save_table(table)
            if args.export is not None:
                export_match(table, args.export)


def _begun(args: argparse.Namespace) -> Table:
    """A new session. Raises NardyError rather than write over an unfinished one."""
    preset = find_preset(args.rules or "short")
    if not 0 <= (args.length or 0) <= MAX_POINTS or (args.games is not None and args.games < 1):
        raise GameError(tr("--length is 0 (no match) to {most}, --games is 1 or more", most=MAX_POINTS))
    length = preset.match.length if args.length is None else args.length
    if length and args.games is not None:
        raise GameError(
            tr(
                "--games {games}: a match to {length} ends by its length; give --length or --games",
                games=args.games,
                length=length,
            )
        )
    path = Path(args.save or DEFAULT_FILE)
    if path.exists():
        old = _read(path)[0]
        if not is_over(old):
            raise GameError(
                tr(
                    "{file} holds an unfinished match; go on with --resume {file}, or name another --save FILE",
                    file=path,
                )
            )
    name = args.bot or default_bot(preset.rules)
    bot = load_bot(name, preset.rules)
    setup = Setup(
        rules=preset.rules,
        options=replace(preset.match, length=length),
        seed=secrets.randbelow(2**31) if args.seed is None else args.seed,
        players=(READER, name),
        games=args.games or 1,
    )
    return _table(args, begin(setup), bot, args.adviser, args.tutor, path)


def _resumed(args: argparse.Namespace) -> Table:
    path = Path(args.resume)
    for option in ("rules", "bot", "length", "games", "seed", "save"):
        if getattr(args, option) is not None:
            raise GameError(tr("--{option} belongs to a new match; {file} has its own", option=option, file=path))
    session, extra = _read(path)
    bot = load_bot(session.setup.players[BOT], session.setup.rules)
    adviser = args.adviser or extra["adviser"]
    tutor = extra["tutor"] if args.tutor is None else args.tutor
    return _table(args, session, bot, adviser, tutor, path)


def _table(
    args: argparse.Namespace, session: Session, bot: Bot, adviser: str | None, tutor: float | None, path: Path
) -> Table:
    if tutor is not None and not tutor >= 0:
        raise GameError(tr("--tutor {loss}: expected a loss of 0 points or more", loss=tutor))
    advises = bot if adviser is None else load_bot(adviser, session.setup.rules)
    if tutor is not None and not isinstance(advises, Evaluator):
        raise GameError(
            tr(
                "--tutor: bot {bot} knows no chances and cannot say what a play loses; name one with --adviser",
                bot=repr(advises.name),
            )
        )
    return Table(session, bot, advises, path, tutor, draw=not args.no_board)


def _read(path: Path) -> tuple[Session, dict[str, Any]]:
    """A saved session, and who advises (`adviser`, a name) and from which loss on (`tutor`). Raises GameError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GameError(tr("{file}: cannot be read: {why}", file=path, why=error.strerror)) from error
    except (ValueError, RecursionError) as error:
        raise GameError(tr("{file}: is no saved game: {why}", file=path, why=error)) from error
    try:
        session = from_dict(data)
    except GameError as error:
        raise GameError(f"{path}: {error}") from error
    adviser, tutor = data.get("adviser"), data.get("tutor")
    if not isinstance(adviser, str) or not (tutor is None or isinstance(tutor, int | float)):
        why = f"adviser {adviser!r}, tutor {tutor!r}"
        raise GameError(tr("{file}: the saved game is damaged: {why}", file=path, why=why))
    return session, {"adviser": adviser, "tutor": tutor}


def _left(table: Table, code: int) -> int:
    print(tr("saved: nardy play --resume {file} goes on from here", file=table.path), file=sys.stderr)
    return code

"""`nardy play`: a game or a match against a bot at the terminal, or over a pipe.

Prompts, words and pictures; the rules of a session are `play.session`'s, what a typed play means `notation.typed`'s,
what the bot does `play.opponent`'s.
"""

import argparse
import io
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nardy_ai import __version__
from nardy_ai.bots import default_bot, load_bot
from nardy_ai.cli.chances import chance_table
from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.evaluate import Answer, evaluate, evaluate_with_cube, print_plays
from nardy_ai.cli.line_input import ask
from nardy_ai.cli.output import print_table
from nardy_ai.cubeful import cube_decision
from nardy_ai.errors import GameError, NardyError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.files import replace_text
from nardy_ai.movegen.reference import plays, plays_with_ways
from nardy_ai.notation import Position, draw_board, format_play
from nardy_ai.notation.plays import PASS, PASS_WORDS
from nardy_ai.notation.typed import SLOT_WORDS, read_typed
from nardy_ai.outcomes import equities
from nardy_ai.play.opponent import cube_state, judges_cubes, respond
from nardy_ai.play.session import (
    Action,
    Session,
    Setup,
    act,
    allowed,
    begin,
    from_dict,
    is_over,
    loss_names,
    position,
    raised_stake,
    score,
    to_dict,
    undo,
)
from nardy_ai.play.session_record import match_record
from nardy_ai.records import save_record
from nardy_ai.rules import find_preset

YOU, BOT = 0, 1
DONE, INTERRUPTED = 0, 130
DEFAULT_FILE = "nardy-play.json"
TUTOR_STOPS_AT = 0.02
HINTS = 5
OPTIONS_SHOWN = 8

COMMANDS = {
    "roll": "roll the dice (so does an empty line)",
    "double": "offer the doubled stake",
    "take": "take a double",
    "drop": "refuse a double and lose the stake",
    "beaver": "take a double, double again and keep the cube",
    "hint": "the best plays, or the chances before the roll; hint 10 lists ten",
    "best": "play what the adviser would",
    "undo": "take back your last decision, before you roll again; or the moves typed so far",
    "board": "draw the board",
    "score": "the score, the stake and the seed",
    "resign": "offer to lose: resign, or resign mars",
    "export": "write the match as .mat: export FILE",
    "save": "write the match to another file too: save FILE (every action is saved anyway)",
    "help": "this list",
    "quit": "leave; the match is saved",
}
"""The commands at the prompt, each with its line of help."""

_ALIASES = {
    "?": "help",
    "r": "roll",
    "d": "double",
    "h": "hint",
    "q": "quit",
    "exit": "quit",
    "pass": "drop",
    "помощь": "help",
    "бросок": "roll",
    "удвоить": "double",
    "даве": "double",
    "взять": "take",
    "отказ": "drop",
    "бивер": "beaver",
    "совет": "hint",
    "лучший": "best",
    "назад": "undo",
    "доска": "board",
    "счет": "score",
    "счёт": "score",
    "сдаюсь": "resign",
    "выход": "quit",
}
"""Other words for them. Commands and these may be cut short as long as they stay distinct."""


class _Leave(Exception):
    """The player leaves the session."""


@dataclass
class _Table:
    """A session at the terminal. What changes is the session, what is half typed, and what has been drawn.

    opponent: who has the other seat. adviser: who is asked for hints. tutor: None, or the loss from which a play is
    asked for again. typed: words of a play that leaves dice open. questioned: a play that the tutor asks about.
    drawn: game, ply and offer of the last board that was drawn.
    """

    session: Session
    opponent: Bot
    adviser: Bot
    path: Path
    tutor: float | None
    draw: bool
    typed: str = ""
    questioned: str = ""
    drawn: tuple[int, int, str] | None = None

    @property
    def names(self) -> tuple[str, str]:
        """Of the seats."""
        return self.session.setup.players


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


def run(args: argparse.Namespace) -> int:
    """Play until the match is over or the player leaves."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with compile_notice():
        table = _resumed(args) if args.resume is not None else _begun(args)
        _save(table)
        try:
            return _play_on(table)
        except EOFError:
            return _left(table, INTERRUPTED)
        except KeyboardInterrupt:
            print()
            return _left(table, INTERRUPTED)
        except _Leave:
            return _left(table, DONE)
        finally:
            _save(table)
            if args.export is not None:
                _export(table, args.export)


def _begun(args: argparse.Namespace) -> _Table:
    """A new session. Raises NardyError rather than write over an unfinished one."""
    preset = find_preset(args.rules or "short")
    if (args.length or 0) < 0 or (args.games is not None and args.games < 1):
        raise GameError("--length is 0 (no match) or more, --games is 1 or more")
    length = preset.match.length if args.length is None else args.length
    if length and args.games is not None:
        raise GameError(f"--games {args.games}: a match to {length} ends by its length; give --length or --games")
    path = Path(args.save or DEFAULT_FILE)
    if path.exists():
        old = _read(path)[0]
        if not is_over(old):
            raise GameError(
                f"{path} holds an unfinished match; go on with --resume {path}, or name another --save FILE"
            )
    name = args.bot or default_bot(preset.rules)
    bot = load_bot(name, preset.rules)
    setup = Setup(
        rules=preset.rules,
        options=replace(preset.match, length=length),
        seed=secrets.randbelow(2**31) if args.seed is None else args.seed,
        players=("you", name),
        games=args.games or 1,
    )
    return _table(args, begin(setup), bot, args.adviser, args.tutor, path)


def _resumed(args: argparse.Namespace) -> _Table:
    path = Path(args.resume)
    for option in ("rules", "bot", "length", "games", "seed", "save"):
        if getattr(args, option) is not None:
            raise GameError(f"--{option} belongs to a new match; {path} has its own")
    session, extra = _read(path)
    bot = load_bot(session.setup.players[BOT], session.setup.rules)
    adviser = args.adviser or extra["adviser"]
    tutor = extra["tutor"] if args.tutor is None else args.tutor
    return _table(args, session, bot, adviser, tutor, path)


def _table(
    args: argparse.Namespace, session: Session, bot: Bot, adviser: str | None, tutor: float | None, path: Path
) -> _Table:
    if tutor is not None and not tutor >= 0:
        raise GameError(f"--tutor {tutor}: expected a loss of 0 points or more")
    advises = bot if adviser is None else load_bot(adviser, session.setup.rules)
    if tutor is not None and not isinstance(advises, Evaluator):
        raise GameError(
            f"--tutor: bot {advises.name!r} knows no chances and cannot say what a play loses; name one with --adviser"
        )
    return _Table(session, bot, advises, path, tutor, draw=not args.no_board)


def _play_on(table: _Table) -> int:
    """Go on until the match is over. Raises KeyboardInterrupt, EOFError, _Leave."""
    _greet(table)
    while True:
        session = table.session
        state = session.state
        if state.game_over:
            print(_result_text(session))
            if is_over(session):
                _print_end(table)
                return DONE
            _do(table, Action(YOU, "next"))
            _tell_opening(table)
        elif state.to_act == BOT:
            _bot_acts(table)
        else:
            _you_act(table)


def _greet(table: _Table) -> None:
    setup = table.session.setup
    games = "1 game" if setup.games == 1 else f"{setup.games} games"
    play = f"a match to {setup.options.length}" if setup.options.length else games
    print(f"nardy {__version__}, {setup.rules.name}, {play}, against {table.names[BOT]}, seed {setup.seed}")
    print(f"every action is saved in {table.path}; help lists what you can type")
    if table.session.actions:
        print(f"{len(table.session.actions)} actions are behind you; {_score_text(table.session)}")
    if not table.session.state.game_over:
        _tell_opening(table)


def _tell_opening(table: _Table) -> None:
    """Who starts and why, if nobody has played yet."""
    state = table.session.state
    if state.ply:
        return
    names = table.names
    thrown = ""
    if state.opening.throws:
        throws = [
            ", ".join(f"{name} {'-'.join(map(str, dice))}" for name, dice in zip(names, throw, strict=True))
            for throw in state.opening.throws
        ]
        thrown = f" thrown: {'; again: '.join(throws)};"
    verb = "start" if state.opening.starter == YOU else "starts"
    high, low = state.opening.dice
    print(f"\ngame {state.game + 1}:{thrown} {names[state.opening.starter]} {verb} with {high}-{low}")
    if state.crawford:
        print("this is the Crawford game: nobody may double")
    elif state.stake > 1:
        print(f"equal dice double the stake: it is {state.stake}")


def _bot_acts(table: _Table) -> None:
    session, name = table.session, table.names[BOT]
    action = respond(session, table.opponent)
    _do(table, action)
    state = session.state
    if action.kind == "play":
        assert state.dice is not None
        print("{} rolls {}-{}: {}".format(name, *state.dice, action.text))
    elif action.kind == "double":
        print(f"{name} doubles to {raised_stake(session.setup, state.stake)}")
    elif action.kind == "beaver":
        doubled = raised_stake(session.setup, state.stake)
        print(f"{name} takes and doubles again to {raised_stake(session.setup, doubled)}")
    elif action.kind == "take":
        print(f"{name} takes; the stake is {table.session.state.stake}")
    elif action.kind == "decline":
        assert state.resigning is not None
        print(f"{name} declines and plays on")


def _you_act(table: _Table) -> None:
    """Play what is forced, else ask once and do what is said."""
    session = table.session
    state = session.state
    names = []
    if state.dice is not None:
        names = [format_play(play.moves) for play in plays(state.board, state.dice, session.setup.rules)]
    _draw_if_new(table)
    if len(names) == 1:
        print("{}-{}: {}".format(*state.dice or (), _forced_text(names[0])))
        _do(table, Action(YOU, "play", names[0]))
        return
    line = ask(_prompt(table), [*names, *COMMANDS])
    try:
        _obey(table, line.strip())
    except NardyError as error:
        print(error)


def _forced_text(play: str) -> str:
    return "nothing can be played" if play == PASS else f"{play} is forced"


def _prompt(table: _Table) -> str:
    state, can = table.session.state, allowed(table.session, YOU)
    dice = "{}-{}: ".format(*state.dice) if state.dice else ""
    if table.questioned:
        return f"{dice}Enter keeps {table.questioned}, or something else> "
    if table.typed:
        return f"{dice}{table.typed} and> "
    if dice:
        return f"{dice[:-2]}> "
    return " or ".join(kind for kind in can if kind != "resign") + "> "


def _obey(table: _Table, line: str) -> None:
    """Do what a line says. Raises NardyError, which changes nothing; _Leave."""
    if line.startswith("#"):
        return
    can = allowed(table.session, YOU)
    command, rest = _command(line, can)
    if command is None:
        if "play" in can:
            _typed_play(table, line)
        elif not line and table.questioned:
            _decide(table, table.questioned)
        elif not line and "roll" in can:
            _decide(table, "roll")
        elif "take" in can:
            raise GameError(f"a double waits: {', '.join(can)}? (help lists what you can type)")
        else:
            raise GameError("roll first, by an empty line or roll; help lists what you can type")
    elif command in ("roll", "double", "take", "drop", "beaver"):
        _decide(table, command)
    elif command == "resign":
        _resign(table, rest)
    elif command == "best":
        _best(table)
    else:
        _SERVICES[command](table, rest)


def _decide(table: _Table, kind: str) -> None:
    """Roll, or act with the cube, unless the tutor has a question first. Raises GameError."""
    if table.tutor is not None and kind != table.questioned and kind in allowed(table.session, YOU):
        loss, right = _loss_by_cube(table, kind)
        table.questioned = ""
        if loss >= table.tutor:
            print(f"{kind} loses {loss:.3f} per cube; right is {right}")
            table.questioned = kind
            return
    _do(table, Action(YOU, kind))
    dice = table.session.state.dice
    if kind == "roll":
        assert dice is not None
        print("you roll {}-{}".format(*dice))
    elif kind in ("take", "beaver"):
        print(f"you {kind}")


def _command(line: str, can: Sequence[str]) -> tuple[str | None, str]:
    """The command that a line names and the rest of the line; None if it is empty or a play."""
    first, _, rest = line.partition(" ")
    word = first.casefold()
    if (
        not word
        or not (word.isalpha() or word == "?")
        or word in SLOT_WORDS
        or (word in PASS_WORDS and "take" not in can)
    ):
        return None, line
    meanings = COMMANDS.keys() | _ALIASES.keys()
    if word not in meanings:
        found = {_ALIASES.get(name, name) for name in meanings if name.startswith(word)}
        found |= {"a play" for name in SLOT_WORDS if name.startswith(word)}
        if len(found) > 1:
            raise GameError(f"{first!r} may be {', '.join(sorted(found))}")
        if not found and "play" not in can:
            raise GameError(f"{first!r} is no command; help lists what you can type")
        word = found.pop() if found else "a play"
    return (None, line) if word == "a play" else (_ALIASES.get(word, word), rest.strip())


def _typed_play(table: _Table, line: str) -> None:
    """Take a play, or the beginning of one, that was typed. Raises NotationError."""
    session = table.session
    state = session.state
    assert state.dice is not None
    if not line:
        if not table.questioned:
            raise GameError("type a play such as 8/5 6/5, or hint, or help")
        _do(table, Action(YOU, "play", table.questioned))
        return
    legal = plays_with_ways(state.board, state.dice, session.setup.rules)
    text = f"{table.typed} {line}".strip()
    reading = read_typed(text, state.board, [ways for _, ways in legal], state.dice)
    if reading.play is not None:
        _tutored_play(table, format_play(legal[reading.play][0].moves))
    elif reading.begun:
        table.typed, table.questioned = format_play(reading.begun), ""
        names = [format_play(legal[i][0].moves) for i in reading.plays]
        shown = f": {', '.join(names)}" if len(names) <= OPTIONS_SHOWN else ""
        print(f"{table.typed}, and {len(names)} ways to go on{shown} (undo begins again)")
    elif reading.meanings:
        more = ", ..." if len(reading.meanings) > OPTIONS_SHOWN else ""
        print(f"{text!r} may be {', '.join(reading.meanings[:OPTIONS_SHOWN])}{more}; which?")
    else:
        why = f" ({reading.reason})" if reading.reason else ""
        count = f"of {len(legal)} legal plays the nearest are" if len(legal) > len(reading.nearest) else "legal are"
        print(f"{text!r} is not legal{why}; {count} {', '.join(reading.nearest)}")


def _tutored_play(table: _Table, text: str) -> None:
    """Play, unless the tutor has a question first."""
    if table.tutor is not None and text != table.questioned:
        ranked = _answer(table).ranked
        played = next(play for play in ranked if play.text == text)
        table.typed = ""
        if played is ranked[0]:
            print(f"{text} is the best play, {played.value:+.3f}")
        else:
            best = ranked[0]
            print(f"{text} loses {played.loss:.3f}: {played.value:+.3f}; the best is {best.text}, {best.value:+.3f}")
            if played.loss >= table.tutor:
                table.questioned = text
                return
    _do(table, Action(YOU, "play", text))


def _best(table: _Table) -> None:
    action = respond(table.session, table.adviser)
    if action.kind != "play":
        table.questioned = action.kind
        _decide(table, action.kind)
        return
    print(f"you: {action.text}")
    _do(table, action)


def _resign(table: _Table, way: str) -> None:
    """Offer to lose; the bot answers. Raises GameError."""
    ways = loss_names(table.session)
    chosen = way.replace(" ", "_") or next(iter(ways))
    close = [name for name in ways if name.startswith(chosen)] if chosen not in ways else [chosen]
    if len(close) != 1:
        raise GameError(f"resign {way!r}: this game can still be lost as {', '.join(ways)}; name one of them")
    _do(table, Action(YOU, "resign", close[0]))
    points = ways[close[0]]
    print(f"you offer to lose {_way_text(close[0])}, {points} point{'s' * (points != 1)}")


def _hint(table: _Table, rest: str) -> None:
    if rest and not (rest.isascii() and rest.isdigit() and 0 < int(rest[:4])):
        raise GameError(f"hint {rest!r}: expected how many plays, such as hint 10")
    session, bot = table.session, table.adviser
    if session.state.dice is not None:
        print_plays(_answer(table), bot, int(rest[:4]) if rest else HINTS)
        return
    if not isinstance(bot, Evaluator):
        raise GameError(f"bot {bot.name!r} knows no chances before the roll; name another with --adviser")
    outcomes = _answer(table).outcomes
    assert outcomes is not None
    who = table.names[session.state.on_roll]
    print(f"before the roll of {who}: equity {float(equities(outcomes, bot.rules)):+.3f} points a game, cubeless")
    header, *rows = chance_table(outcomes, bot.rules)
    print_table(rows, header=header, indent=2)
    if judges_cubes(session, bot):
        decision = cube_decision(bot, session.state.board, cube_state(session))
        print(f"{decision.action}; equities per cube of {who}")
        worths: dict[str, float | None] = {"no double": decision.no_double}
        if decision.double_take is not None:
            worths |= {"double, take": decision.double_take, "double, drop": decision.double_pass}
        worths["beaver"] = decision.beaver
        rows = [[name, f"{worth:+.3f}"] for name, worth in worths.items() if worth is not None]
        print_table(rows, indent=2)


def _answer(table: _Table) -> Answer:
    """What the adviser says about the position, by the cube and the score where there is a cube."""
    session, bot = table.session, table.adviser
    asked = Position(session.state.board, dice=session.state.dice)
    if judges_cubes(session, bot):
        return evaluate_with_cube(bot, asked, cube_state(session), table=None, where="")
    return evaluate(bot, [asked], where=[""])[0]


def _loss_by_cube(table: _Table, kind: str) -> tuple[float, str]:
    """What a cube action loses, per cube, by the adviser, and the right action in words."""
    session, bot = table.session, table.adviser
    offered = session.state.offer == "beaver" or not {"double", "take"}.intersection(allowed(session, YOU))
    if offered or not judges_cubes(session, bot):
        return 0.0, ""
    verdict = cube_decision(bot, session.state.board, cube_state(session)).verdict
    costs = {
        "roll": verdict.cost_no_double,
        "double": verdict.cost_double,
        "take": verdict.cost_take,
        "drop": verdict.cost_pass,
        "beaver": verdict.cost_beaver,
    }
    return costs[kind], verdict.action


def _undo(table: _Table, rest: str) -> None:
    if table.typed or table.questioned:
        table.typed = table.questioned = ""
        return
    table.session = undo(table.session, YOU)
    table.drawn = None
    _save(table)
    print("taken back")


def _draw(table: _Table, rest: str) -> None:
    """The board, you at the bottom."""
    session = table.session
    state = session.state
    names = table.names
    print()
    print(
        draw_board(
            position(session),
            session.setup.rules,
            names=(names[state.on_roll], names[1 - state.on_roll]),
            cube=session.setup.options.cube != "none",
            bottom=int(state.on_roll != YOU),
        )
    )


def _draw_if_new(table: _Table) -> None:
    state = table.session.state
    now = (state.game, state.ply, state.offer)
    if table.draw and now != table.drawn:
        _draw(table, "")
    table.drawn = now


def _tell_score(table: _Table, rest: str) -> None:
    setup, state = table.session.setup, table.session.state
    print(f"{_score_text(table.session)}; the stake is {state.stake}; game {state.game + 1}, seed {setup.seed}")


def _save_as(table: _Table, rest: str) -> None:
    if not rest:
        print(f"every action is saved in {table.path}")
        return
    _write(Path(rest), _file_text(table))


def _export(table: _Table, rest: str) -> None:
    if not rest:
        raise GameError("export needs a file, such as export match.mat")
    try:
        save_record(Path(rest), match_record(table.session))
    except (OSError, ValueError) as error:
        raise GameError(f"{rest}: cannot be written: {error}") from error
    print(f"written: {rest}")


def _help(table: _Table, rest: str) -> None:
    print("a play: 8/5 6/5, 85 65, bar/22, 6/off, бар/22, 6/вб, 13/8(2), in the numbering of the side that plays;")
    print("a part of it where the rest is clear, or move by move")
    print_table(list(COMMANDS.items()), indent=2)


def _quit(table: _Table, rest: str) -> None:
    raise _Leave


_SERVICES: dict[str, Callable[[_Table, str], None]] = {
    "hint": _hint,
    "undo": _undo,
    "board": _draw,
    "score": _tell_score,
    "export": _export,
    "save": _save_as,
    "help": _help,
    "quit": _quit,
}


def _do(table: _Table, action: Action) -> None:
    """Act, and save at once. Raises GameError, which changes nothing."""
    table.session = act(table.session, action)
    table.typed = table.questioned = ""
    _save(table)


def _save(table: _Table) -> None:
    replace_text(table.path, _file_text(table))


def _file_text(table: _Table) -> str:
    data = to_dict(table.session) | {"adviser": table.adviser.name, "tutor": table.tutor}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """A file that the player has named. Raises GameError if that cannot be."""
    try:
        replace_text(path, text)
    except (OSError, ValueError) as error:
        raise GameError(f"{path}: cannot be written: {error}") from error
    print(f"written: {path}")


def _read(path: Path) -> tuple[Session, dict[str, Any]]:
    """A saved session, and who advises (`adviser`, a name) and from which loss on (`tutor`). Raises GameError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GameError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise GameError(f"{path}: is no saved game: {error}") from error
    try:
        session = from_dict(data)
    except GameError as error:
        raise GameError(f"{path}: {error}") from error
    adviser, tutor = data.get("adviser"), data.get("tutor")
    if not isinstance(adviser, str) or not (tutor is None or isinstance(tutor, int | float)):
        raise GameError(f"{path}: the saved game is damaged: adviser {adviser!r}, tutor {tutor!r}")
    return session, {"adviser": adviser, "tutor": tutor}


def _left(table: _Table, code: int) -> int:
    print(f"saved: nardy play --resume {table.path} goes on from here", file=sys.stderr)
    return code


def _way_text(way: str) -> str:
    return "a single game" if way == "single" else way.replace("_", " ")


def _result_text(session: Session) -> str:
    result = session.state.results[-1]
    winner = session.setup.players[result.winner]
    verb = "win" if result.winner == YOU else "wins"
    how = {
        "played": _way_text(result.way),
        "dropped": "by a refused double",
        "resigned": f"{_way_text(result.way)}, resigned",
    }
    points = f"{result.points} point{'s' * (result.points != 1)}"
    return f"{winner} {verb} {how[result.how]}: {points}; {_score_text(session)}"


def _score_text(session: Session) -> str:
    length = session.setup.options.length
    names, points = session.setup.players, score(session)
    return f"score {names[YOU]} {points[YOU]}, {names[BOT]} {points[BOT]}{f' of {length}' if length else ''}"


def _print_end(table: _Table) -> None:
    session = table.session
    won = [sum(result.winner == seat for result in session.state.results) for seat in (YOU, BOT)]
    print(f"the end: games {won[YOU]}-{won[BOT]}, points {'-'.join(map(str, score(session)))}")

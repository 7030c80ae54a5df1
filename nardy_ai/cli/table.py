"""A session at the terminal: prompts, the words that can be typed at them, and what is shown.

The rules of a session are `play.session`'s, what a typed play means `notation.typed`'s, what the bot does
`play.opponent`'s.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nardy_ai import __version__
from nardy_ai.cli import chances
from nardy_ai.cli.chances import chance_table
from nardy_ai.cli.evaluate import Answer, evaluate, evaluate_with_cube, print_plays
from nardy_ai.cli.line_input import ask
from nardy_ai.cli.output import print_table
from nardy_ai.cli.session_text import end_text, opening_text, result_text, score_text, seat_names, way_text
from nardy_ai.cube.decision import action_text
from nardy_ai.cubeful import cube_decision
from nardy_ai.errors import GameError, NardyError
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.files import replace_text
from nardy_ai.language import RUSSIAN, current_language, marked, tr, tr_count
from nardy_ai.movegen.reference import plays, plays_with_ways
from nardy_ai.notation import Position, draw_board, format_play
from nardy_ai.notation.plays import PASS, PASS_WORDS
from nardy_ai.notation.typed import SLOT_WORDS, read_typed
from nardy_ai.outcomes import equities
from nardy_ai.play.opponent import cube_state, judges_cubes, respond
from nardy_ai.play.session import (
    Action,
    Session,
    act,
    allowed,
    is_over,
    loss_names,
    offered_stake,
    position,
    raised_stake,
    to_dict,
    undo,
)
from nardy_ai.play.session_record import match_record
from nardy_ai.records import save_record

YOU, BOT = 0, 1
ACTIONS = {"roll", "double", "take", "drop", "beaver", "raccoon"}
HINTS = 5
OPTIONS_SHOWN = 8

COMMANDS = {
    "roll": marked("roll the dice (so does an empty line)"),
    "double": marked("offer the doubled stake"),
    "take": marked("take a double"),
    "drop": marked("refuse a double and lose the stake"),
    "beaver": marked("take a double, double again and keep the cube"),
    "raccoon": marked("answer a beaver by doubling once more; the cube stays with the other side"),
    "hint": marked("the best plays, or the chances before the roll; hint 10 lists ten"),
    "best": marked("play what the adviser would"),
    "undo": marked("take back your last decision, before you roll again; or the moves typed so far"),
    "board": marked("draw the board"),
    "score": marked("the score, the stake and the seed"),
    "resign": marked("offer to lose: resign, or resign mars"),
    "export": marked("write the match as .mat: export FILE"),
    "save": marked("write the match to another file too: save FILE (every action is saved anyway)"),
    "help": marked("this list"),
    "quit": marked("leave; the match is saved"),
}
"""The commands at the prompt, each with its line of help."""

_RUSSIAN_NAMES = {
    "roll": "бросок",
    "double": "удвоить",
    "take": "взять",
    "drop": "отказ",
    "beaver": "бивер",
    "raccoon": "ракун",
    "hint": "совет",
    "best": "лучший",
    "undo": "назад",
    "board": "доска",
    "score": "счёт",
    "resign": "сдаюсь",
    "export": "экспорт",
    "save": "сохранить",
    "help": "помощь",
    "quit": "выход",
}
"""What the commands are called in Russian; either name can be typed in either language."""

_ALIASES = {
    "?": "help",
    "r": "roll",
    "d": "double",
    "h": "hint",
    "q": "quit",
    "exit": "quit",
    "pass": "drop",
    "даве": "double",
    "счет": "score",
    **{russian: name for name, russian in _RUSSIAN_NAMES.items()},
}
"""Other words for them. Commands and these may be cut short as long as they stay distinct."""


_A_PLAY = marked("a play")


class Leave(Exception):
    """The player leaves the session."""


@dataclass
class Table:
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
        return seat_names(self.session)


def play_on(table: Table) -> None:
    """Go on until the match is over. Raises KeyboardInterrupt, EOFError, Leave."""
    _greet(table)
    while True:
        session = table.session
        state = session.state
        if state.game_over:
            print(result_text(session))
            if is_over(session):
                print(end_text(session))
                return
            _do(table, Action(YOU, "next"))
            print(f"\n{opening_text(table.session)}")
        elif state.to_act == BOT:
            _bot_acts(table)
        else:
            _you_act(table)


def _greet(table: Table) -> None:
    setup = table.session.setup
    games = tr_count("{n} game", "{n} games", setup.games)
    play = tr("a match to {length}", length=setup.options.length) if setup.options.length else games
    print(
        tr(
            "nardy {version}, {rules}, {play}, against {bot}, seed {seed}",
            version=__version__,
            rules=setup.rules.name,
            play=play,
            bot=table.names[BOT],
            seed=setup.seed,
        )
    )
    print(tr("every action is saved in {file}; help lists what you can type", file=table.path))
    if table.session.actions:
        behind = tr_count("{n} actions are behind you", "{n} actions are behind you", len(table.session.actions))
        print(f"{behind}; {score_text(table.session)}")
    if not table.session.state.game_over and not table.session.state.ply:
        print(f"\n{opening_text(table.session)}")


def _bot_acts(table: Table) -> None:
    session, name = table.session, table.names[BOT]
    action = respond(session, table.opponent)
    _do(table, action)
    state = session.state
    if action.kind == "play":
        assert state.dice is not None
        print(tr("{bot} rolls {dice}: {play}", bot=name, dice="{}-{}".format(*state.dice), play=action.text))
    elif action.kind == "double":
        print(tr("{bot} doubles to {stake}", bot=name, stake=raised_stake(session.setup, state.stake)))
    elif action.kind == "beaver":
        stake = offered_stake(session.setup, table.session.state)
        print(tr("{bot} takes and doubles again to {stake}", bot=name, stake=stake))
    elif action.kind == "raccoon":
        stake = offered_stake(session.setup, table.session.state)
        print(tr("{bot} doubles once more, to {stake}; the cube stays yours", bot=name, stake=stake))
    elif action.kind == "take":
        print(tr("{bot} takes; the stake is {stake}", bot=name, stake=table.session.state.stake))
    elif action.kind == "decline":
        assert state.resigning is not None
        print(tr("{bot} declines and plays on", bot=name))


def _you_act(table: Table) -> None:
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
    line = ask(_prompt(table), [*names, *map(command_name, COMMANDS)])
    try:
        _obey(table, line.strip())
    except NardyError as error:
        print(error)


def _forced_text(play: str) -> str:
    return tr("nothing can be played") if play == PASS else tr("{play} is forced", play=play)


def command_name(command: str) -> str:
    """What one of COMMANDS is called in the current language."""
    return _RUSSIAN_NAMES[command] if current_language() == RUSSIAN else command


def _prompt(table: Table) -> str:
    state, can = table.session.state, allowed(table.session, YOU)
    dice = "{}-{}: ".format(*state.dice) if state.dice else ""
    if table.questioned:
        kept = command_name(table.questioned) if table.questioned in ACTIONS else table.questioned
        return f"{dice}{tr('Enter keeps {action}, or something else', action=kept)}> "
    if table.typed:
        return f"{dice}{tr('{moves} and', moves=table.typed)}> "
    if dice:
        return f"{dice[:-2]}> "
    return tr(" or ").join(command_name(kind) for kind in can if kind != "resign") + "> "


def _obey(table: Table, line: str) -> None:
    """Do what a line says. Raises NardyError, which changes nothing; Leave."""
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
            answers = ", ".join(command_name(kind) for kind in can)
            raise GameError(tr("a double waits: {answers}? (help lists what you can type)", answers=answers))
        else:
            raise GameError(tr("roll first, by an empty line or roll; help lists what you can type"))
    elif command in ACTIONS:
        _decide(table, command)
    elif command == "resign":
        _resign(table, rest)
    elif command == "best":
        _best(table)
    else:
        _SERVICES[command](table, rest)


def _decide(table: Table, kind: str) -> None:
    """Roll, or act with the cube, unless the tutor has a question first. Raises GameError."""
    if table.tutor is not None and kind != table.questioned and kind in allowed(table.session, YOU):
        loss, right = _loss_by_cube(table, kind)
        table.questioned = ""
        if loss >= table.tutor:
            lost = {"action": command_name(kind), "loss": f"{loss:.3f}", "right": action_text(right)}
            print(tr("{action} loses {loss} per cube; right is {right}", **lost))
            table.questioned = kind
            return
    _do(table, Action(YOU, kind))
    dice = table.session.state.dice
    if kind == "roll":
        assert dice is not None
        print(tr("you roll {dice}", dice="{}-{}".format(*dice)))
    elif kind == "take":
        print(tr("you take"))
    elif kind == "beaver":
        print(tr("you beaver"))
    elif kind == "raccoon":
        print(tr("you raccoon"))


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
        found -= ACTIONS - set(can)
        found |= {_A_PLAY for name in SLOT_WORDS if name.startswith(word)}
        if len(found) > 1:
            names = [tr(name) if name == _A_PLAY else command_name(name) for name in sorted(found)]
            raise GameError(tr("{word} may be {meanings}", word=repr(first), meanings=", ".join(names)))
        if not found and "play" not in can:
            raise GameError(tr("{word} is no command; help lists what you can type", word=repr(first)))
        word = found.pop() if found else _A_PLAY
    return (None, line) if word == _A_PLAY else (_ALIASES.get(word, word), rest.strip())


def _typed_play(table: Table, line: str) -> None:
    """Take a play, or the beginning of one, that was typed. Raises NotationError."""
    session = table.session
    state = session.state
    assert state.dice is not None
    if not line:
        if not table.questioned:
            raise GameError(tr("type a play such as 8/5 6/5, or hint, or help"))
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
        ways = tr_count(
            "{moves}, and {n} ways to go on", "{moves}, and {n} ways to go on", len(names), moves=table.typed
        )
        shown = f": {', '.join(names)}" if len(names) <= OPTIONS_SHOWN else ""
        print(f"{ways}{shown} {tr('(undo begins again)')}")
    elif reading.meanings:
        meanings = ", ".join(reading.meanings[:OPTIONS_SHOWN])
        more = ", ..." if len(reading.meanings) > OPTIONS_SHOWN else ""
        print(tr("{text} may be {meanings}; which?", text=repr(text), meanings=f"{meanings}{more}"))
    else:
        wrong = tr("{text} is not legal", text=repr(text)) + (f" ({reading.reason})" if reading.reason else "")
        nearest = ", ".join(reading.nearest)
        if len(legal) > len(reading.nearest):
            print(
                tr_count(
                    "{wrong}; of {n} legal plays the nearest are {nearest}",
                    "{wrong}; of {n} legal plays the nearest are {nearest}",
                    len(legal),
                    wrong=wrong,
                    nearest=nearest,
                )
            )
        else:
            print(tr("{wrong}; legal are {nearest}", wrong=wrong, nearest=nearest))


def _tutored_play(table: Table, text: str) -> None:
    """Play, unless the tutor has a question first."""
    if table.tutor is not None and text != table.questioned:
        ranked = _answer(table).ranked
        played = next(play for play in ranked if play.text == text)
        table.typed = ""
        if played is ranked[0]:
            print(tr("{play} is the best play, {value}", play=text, value=f"{played.value:+.3f}"))
        else:
            best = ranked[0]
            print(
                tr(
                    "{play} loses {loss}: {value}; the best is {best}, {best_value}",
                    play=text,
                    loss=f"{played.loss:.3f}",
                    value=f"{played.value:+.3f}",
                    best=best.text,
                    best_value=f"{best.value:+.3f}",
                )
            )
            if played.loss >= table.tutor:
                table.questioned = text
                return
    _do(table, Action(YOU, "play", text))


def _best(table: Table) -> None:
    action = respond(table.session, table.adviser)
    if action.kind != "play":
        table.questioned = action.kind
        _decide(table, action.kind)
        return
    print(tr("you: {play}", play=action.text))
    _do(table, action)


def _resign(table: Table, way: str) -> None:
    """Offer to lose; the bot answers. Raises GameError."""
    ways = loss_names(table.session)
    texts = {name: chances.way_text(name) for name in ways}
    chosen = way.replace(" ", "_") or next(iter(ways))
    close = [name for name in ways if name.startswith(chosen) or texts[name].startswith(way or chosen)]
    if chosen in ways:
        close = [chosen]
    if len(close) != 1:
        still = ", ".join(ways if current_language() != RUSSIAN else texts.values())
        raise GameError(
            tr("resign {way}: this game can still be lost as {ways}; name one of them", way=repr(way), ways=still)
        )
    _do(table, Action(YOU, "resign", close[0]))
    points = ways[close[0]]
    lost = tr_count("{n} point", "{n} points", points)
    print(tr("you offer to lose {way}, {points}", way=way_text(close[0]), points=lost))


def _hint(table: Table, rest: str) -> None:
    if rest and not (rest.isascii() and rest.isdigit() and 0 < int(rest[:4])):
        raise GameError(tr("hint {text}: expected how many plays, such as hint 10", text=repr(rest)))
    session, bot = table.session, table.adviser
    if session.state.dice is not None:
        print_plays(_answer(table), bot, int(rest[:4]) if rest else HINTS)
        return
    if not isinstance(bot, Evaluator):
        raise GameError(
            tr("bot {bot} knows no chances before the roll; name another with --adviser", bot=repr(bot.name))
        )
    outcomes = _answer(table).outcomes
    assert outcomes is not None
    is_yours, who = session.state.on_roll == YOU, table.names[session.state.on_roll]
    equity = f"{float(equities(outcomes, bot.rules)):+.3f}"
    before = (
        tr("before the roll of you: equity {equity} points a game, cubeless")
        if is_yours
        else tr("before the roll of {bot}: equity {equity} points a game, cubeless")
    )
    print(before.format(bot=who, equity=equity))
    header, *rows = chance_table(outcomes, bot.rules)
    print_table(rows, header=header, indent=2)
    if judges_cubes(session, bot):
        decision = cube_decision(bot, session.state.board, cube_state(session))
        of_whom = tr("{action}; equities per cube of you") if is_yours else tr("{action}; equities per cube of {bot}")
        print(of_whom.format(action=action_text(decision.action), bot=who))
        worths: dict[str, float | None] = {"no double": decision.no_double}
        if decision.double_take is not None:
            worths |= {"double, take": decision.double_take, "double, drop": decision.double_pass}
        worths["beaver"] = decision.beaver
        rows = [[action_text(name), f"{worth:+.3f}"] for name, worth in worths.items() if worth is not None]
        print_table(rows, indent=2)


def _answer(table: Table) -> Answer:
    """What the adviser says about the position, by the cube and the score where there is a cube."""
    session, bot = table.session, table.adviser
    asked = Position(session.state.board, dice=session.state.dice)
    if judges_cubes(session, bot):
        return evaluate_with_cube(bot, asked, cube_state(session), table=None, where="")
    return evaluate(bot, [asked], where=[""])[0]


def _loss_by_cube(table: Table, kind: str) -> tuple[float, str]:
    """What a cube action loses, per cube, by the adviser, and the right action in words."""
    session, bot = table.session, table.adviser
    offered = session.state.offer in ("beaver", "raccoon") or not {"double", "take"}.intersection(allowed(session, YOU))
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


def _undo(table: Table, rest: str) -> None:
    if table.typed or table.questioned:
        table.typed = table.questioned = ""
        return
    table.session = undo(table.session, YOU)
    table.drawn = None
    save_table(table)
    print(tr("taken back"))


def _draw(table: Table, rest: str) -> None:
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


def _draw_if_new(table: Table) -> None:
    state = table.session.state
    now = (state.game, state.ply, state.offer)
    if table.draw and now != table.drawn:
        _draw(table, "")
    table.drawn = now


def _tell_score(table: Table, rest: str) -> None:
    setup, state = table.session.setup, table.session.state
    print(
        tr(
            "{score}; the stake is {stake}; game {n}, seed {seed}",
            score=score_text(table.session),
            stake=state.stake,
            n=state.game + 1,
            seed=setup.seed,
        )
    )


def _save_as(table: Table, rest: str) -> None:
    if not rest:
        print(tr("every action is saved in {file}", file=table.path))
        return
    _write(Path(rest), _file_text(table))


def export_match(table: Table, rest: str) -> None:
    if not rest:
        raise GameError(tr("export needs a file, such as export match.mat"))
    try:
        save_record(Path(rest), match_record(table.session))
    except (OSError, ValueError) as error:
        raise GameError(tr("{file}: cannot be written: {why}", file=rest, why=error)) from error
    print(tr("written: {file}", file=rest))


def _help(table: Table, rest: str) -> None:
    print(tr("a play: 8/5 6/5, 85 65, bar/22, 6/off, бар/22, 6/вб, 13/8(2), in the numbering of the side that plays;"))
    print(tr("a part of it where the rest is clear, or move by move"))
    print_table([(command_name(name), tr(text)) for name, text in COMMANDS.items()], indent=2)


def _quit(table: Table, rest: str) -> None:
    raise Leave


_SERVICES: dict[str, Callable[[Table, str], None]] = {
    "hint": _hint,
    "undo": _undo,
    "board": _draw,
    "score": _tell_score,
    "export": export_match,
    "save": _save_as,
    "help": _help,
    "quit": _quit,
}


def _do(table: Table, action: Action) -> None:
    """Act, and save at once. Raises GameError, which changes nothing."""
    table.session = act(table.session, action)
    table.typed = table.questioned = ""
    save_table(table)


def save_table(table: Table) -> None:
    replace_text(table.path, _file_text(table))


def _file_text(table: Table) -> str:
    data = to_dict(table.session) | {"adviser": table.adviser.name, "tutor": table.tutor}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """A file that the player has named. Raises GameError if that cannot be."""
    try:
        replace_text(path, text)
    except (OSError, ValueError) as error:
        raise GameError(tr("{file}: cannot be written: {why}", file=path, why=error)) from error
    print(tr("written: {file}", file=path))

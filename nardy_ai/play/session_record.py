"""A session as a written match, for `.mat` files and for analysis."""

from collections.abc import Iterator
from dataclasses import replace

from nardy_ai.notation import parse_play
from nardy_ai.outcomes import class_count
from nardy_ai.play.session import OFFERS, Session, offered_stake, position
from nardy_ai.records import Action, CubeAction, GameRecord, MatchRecord, Resignation, Setup, Turn

__all__ = ["match_record"]


def match_record(session: Session) -> MatchRecord:
    """All games of a session, the last perhaps unfinished. Seat 0 is the left column.

    A resignation that was declined is left out. Automatic doubles, which the format has no word for, are a set-up.
    """
    setup, last = session.setup, session.state
    money = not setup.options.length
    return MatchRecord(
        names=(_plain(setup.players[0]), _plain(setup.players[1])),
        length=setup.options.length,
        games=tuple(_game(session, game) for game in range(last.game + 1)),
        rules=setup.rules.name,
        crawford=setup.options.crawford,
        jacoby=setup.options.jacoby and money,
        beavers=setup.options.beavers and money,
        tags=(("Seed", str(setup.seed)),),
    )


def _game(session: Session, game: int) -> GameRecord:
    results = session.state.results
    points = [sum(result.points for result in results[:game] if result.winner == seat) for seat in (0, 1)]
    result = results[game] if len(results) > game else None
    return GameRecord(
        number=game + 1,
        scores=(points[0], points[1]),
        actions=tuple(_actions(session, game)),
        winner=None if result is None else result.winner,
        points=0 if result is None else result.points,
    )


def _actions(session: Session, game: int) -> Iterator[Action]:
    setup = session.setup
    taken = [i for i, state in enumerate(session.states) if state.game == game]
    first = session.states[taken[0]]
    if first.stake > 1:
        start = Session(setup, states=(replace(first, dice=None),))
        yield Setup(first.on_roll, position(start))
    for state, action in zip(session.states[taken[0] :], session.actions[taken[0] : taken[-1]], strict=False):
        if action.kind == "play":
            assert state.dice is not None
            yield Turn(action.seat, state.dice, parse_play(action.text))
        elif action.kind in OFFERS:
            yield CubeAction(action.seat, action.kind, offered_stake(setup, replace(state, offer=action.kind)))
        elif action.kind in ("take", "drop"):
            yield CubeAction(action.seat, "take" if action.kind == "take" else "pass")
        elif action.kind == "accept":
            assert state.resigning is not None
            yield Resignation(state.on_roll, state.resigning + 1 if class_count(setup.rules) == 6 else 0)
    last = session.states[taken[-1]]
    if last.dice is not None:
        yield Turn(last.on_roll, last.dice, None)


def _plain(name: str) -> str:
    """A name that a transcript can carry: single blanks, no colon."""
    return " ".join(name.replace(":", " ").split()) or "bot"

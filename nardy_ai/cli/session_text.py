"""What is said about a session in words: how a game began and ended, the score. Seat 0 is the reader.

Sentences about the reader are texts of their own: in Russian the verb changes with the person.
"""

from nardy_ai.cli import chances
from nardy_ai.language import tr, tr_count
from nardy_ai.play.session import Session, score

YOU, BOT = 0, 1
READER = "you"
"""What the reader's seat is called in a session and in its transcript."""


def opening_text(session: Session) -> str:
    """Who starts the game and why, and what is special about it."""
    state, names = session.state, seat_names(session)
    throws = [
        ", ".join(f"{name} {'-'.join(map(str, dice))}" for name, dice in zip(names, throw, strict=True))
        for throw in state.opening.throws
    ]
    starter = names[state.opening.starter]
    starts = tr("{you} start with {dice}") if state.opening.starter == YOU else tr("{bot} starts with {dice}")
    words = starts.format(you=starter, bot=starter, dice="{}-{}".format(*state.opening.dice))
    if throws:
        words = tr("thrown: {throws}; {start}", throws=tr("; again: ").join(throws), start=words)
    lines = [tr("game {n}: {start}", n=state.game + 1, start=words)]
    if state.crawford:
        lines.append(tr("this is the Crawford game: nobody may double"))
    elif state.stake > 1:
        lines.append(tr("equal dice double the stake: it is {stake}", stake=state.stake))
    return "\n".join(lines)


def way_text(way: str) -> str:
    """A class of results in words."""
    return tr("a single game") if way == "single" else chances.way_text(way)


def seat_names(session: Session) -> tuple[str, str]:
    """What the seats are called: the reader `you`, whatever language a saved session was begun in."""
    you, bot = session.setup.players
    return tr("you") if you == READER else you, bot


def result_text(session: Session) -> str:
    """How the last game ended, and the score."""
    result = session.state.results[-1]
    winner = seat_names(session)[result.winner]
    if result.how == "dropped":
        how = tr("by a refused double")
    elif result.how == "resigned":
        how = tr("{way}, resigned", way=way_text(result.way))
    else:
        how = way_text(result.way)
    won = (
        tr("{you} win {how}: {points}; {score}") if result.winner == YOU else tr("{bot} wins {how}: {points}; {score}")
    )
    points = tr_count("{n} point", "{n} points", result.points)
    return won.format(you=winner, bot=winner, how=how, points=points, score=score_text(session))


def score_text(session: Session) -> str:
    """The points of both, and how many win the match."""
    length = session.setup.options.length
    points = score(session)
    score_now = ", ".join(f"{name} {n}" for name, n in zip(seat_names(session), points, strict=True))
    return (
        tr("score {score} of {length}", score=score_now, length=length)
        if length
        else tr("score {score}", score=score_now)
    )


def end_text(session: Session) -> str:
    """Games and points of both when all is over."""
    won = [sum(result.winner == seat for result in session.state.results) for seat in (YOU, BOT)]
    points = "-".join(map(str, score(session)))
    return tr("the end: games {games}, points {points}", games=f"{won[YOU]}-{won[BOT]}", points=points)

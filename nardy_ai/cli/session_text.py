"""What is said about a session in words: how a game began and ended, the score. Seat 0 is the reader, called `you`."""

from nardy_ai.play.session import Session, score

YOU, BOT = 0, 1


def opening_text(session: Session) -> str:
    """Who starts the game and why, and what is special about it."""
    state, names = session.state, session.setup.players
    throws = [
        ", ".join(f"{name} {'-'.join(map(str, dice))}" for name, dice in zip(names, throw, strict=True))
        for throw in state.opening.throws
    ]
    thrown = f" thrown: {'; again: '.join(throws)};" if throws else ""
    verb = "start" if state.opening.starter == YOU else "starts"
    high, low = state.opening.dice
    lines = [f"game {state.game + 1}:{thrown} {names[state.opening.starter]} {verb} with {high}-{low}"]
    if state.crawford:
        lines.append("this is the Crawford game: nobody may double")
    elif state.stake > 1:
        lines.append(f"equal dice double the stake: it is {state.stake}")
    return "\n".join(lines)


def way_text(way: str) -> str:
    """A class of results in words."""
    return "a single game" if way == "single" else way.replace("_", " ")


def result_text(session: Session) -> str:
    """How the last game ended, and the score."""
    result = session.state.results[-1]
    winner = session.setup.players[result.winner]
    verb = "win" if result.winner == YOU else "wins"
    how = {
        "played": way_text(result.way),
        "dropped": "by a refused double",
        "resigned": f"{way_text(result.way)}, resigned",
    }
    points = f"{result.points} point{'s' * (result.points != 1)}"
    return f"{winner} {verb} {how[result.how]}: {points}; {score_text(session)}"


def score_text(session: Session) -> str:
    """The points of both, and how many win the match."""
    length = session.setup.options.length
    names, points = session.setup.players, score(session)
    return f"score {names[YOU]} {points[YOU]}, {names[BOT]} {points[BOT]}{f' of {length}' if length else ''}"


def end_text(session: Session) -> str:
    """Games and points of both when all is over."""
    won = [sum(result.winner == seat for result in session.state.results) for seat in (YOU, BOT)]
    return f"the end: games {won[YOU]}-{won[BOT]}, points {'-'.join(map(str, score(session)))}"

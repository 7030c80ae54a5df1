"""What a bot does in a session: its plays, and when it doubles, takes and accepts a resignation."""

import math
from dataclasses import replace

import numpy as np

from nardy_ai.boards import Boards
from nardy_ai.bots import best_afterstates
from nardy_ai.cube.state import CubeState, state_of_position
from nardy_ai.cubeful import CubeDecision, cube_decision
from nardy_ai.evaluators.protocol import Bot, Evaluator
from nardy_ai.evaluators.settle import settled_outcomes
from nardy_ai.movegen.reference import plays
from nardy_ai.notation import format_play
from nardy_ai.outcomes import Outcomes, class_names, swap
from nardy_ai.play.session import Action, Session, allowed, loss_names, loss_points, position, score

__all__ = ["best_play", "cube_state", "judges_cubes", "respond"]

CERTAIN = 1e-4
"""An evaluator's certainty comes no nearer to 1 than this."""

_ANSWERS = {"take": "take", "pass": "drop", "beaver": "beaver"}


def respond(session: Session, bot: Bot) -> Action:
    """What `bot` does in the seat that must act now, which is none when the game is over.

    With a cube a bot that knows chances plays and doubles by `cubeful`. One that knows none never doubles, takes every
    double and accepts only the largest loss that is possible.
    """
    seat = session.state.to_act
    assert seat is not None
    can = allowed(session, seat)
    if "play" in can:
        return Action(seat, "play", best_play(session, bot))
    if "accept" in can:
        return Action(seat, "accept" if _accepts(session, bot) else "decline")
    if "take" in can:
        return Action(seat, _answer(session, bot))
    doubles = "double" in can and judges_cubes(session, bot) and _decision(session, bot).verdict.double
    return Action(seat, "double" if doubles else "roll")


def judges_cubes(session: Session, bot: Bot) -> bool:
    """Whether there is a cube and `bot` knows chances."""
    return session.setup.options.cube != "none" and isinstance(bot, Evaluator)


def cube_state(session: Session) -> CubeState:
    """The cube and the score as the seat on roll sees them."""
    state = state_of_position(position(session), growth=session.setup.options.cube)
    return replace(state, raccoons=state.beavers and session.setup.options.raccoons)


def best_play(session: Session, bot: Bot) -> str:
    """The name of the play that `bot` chooses for the roll of the seat on roll."""
    state, rules = session.state, session.setup.rules
    assert state.dice is not None
    chosen = _best_afterstate(session, bot)
    named = {play.afterstate.tobytes(): play for play in plays(state.board, state.dice, rules)}
    return format_play(named[chosen.tobytes()].moves)


def _best_afterstate(session: Session, bot: Bot) -> Boards:
    """The board after the best play, swapped, `int8[2, 26]`."""
    state = session.state
    cube = cube_state(session) if judges_cubes(session, bot) else None
    dice = np.array([state.dice], dtype=np.uint8)
    after: Boards = best_afterstates(bot, state.board[None], dice, state=cube)[0][0]
    return after


def _decision(session: Session, bot: Bot) -> CubeDecision:
    return cube_decision(bot, session.state.board, cube_state(session))


def _answer(session: Session, bot: Bot) -> str:
    """The answer to a double, a beaver or a raccoon. A double that wins the doubler nothing costs nothing to take."""
    if not judges_cubes(session, bot):
        return "take"
    decision = _decision(session, bot)
    if session.state.offer == "beaver":
        return {"drop": "drop", "raccoon": "raccoon"}.get(decision.reply or "", "take")
    if session.state.offer == "raccoon":
        return "drop" if decision.last_answer == "drop" else "take"
    return _ANSWERS[decision.verdict.answer or "take"]


def _accepts(session: Session, bot: Bot) -> bool:
    """Whether the points that are offered are worth playing on, cubeless. In a match no more than are needed count."""
    setup, state = session.setup, session.state
    assert state.resigning is not None
    seat = 1 - state.on_roll
    offered = loss_points(setup, state, state.resigning)
    if not isinstance(bot, Evaluator):
        return offered >= max(loss_names(session).values())
    needed = [setup.options.length - points if setup.options.length else math.inf for points in score(session)]
    outcomes = _outcomes_of_acceptor(session, bot)
    half = len(class_names(setup.rules)) // 2
    points = [loss_points(setup, state, way) for way in range(half)]
    won = sum(float(outcomes[way]) * min(points[way], needed[seat]) for way in range(half))
    lost = sum(float(outcomes[half + way]) * min(points[way], needed[1 - seat]) for way in range(half))
    return min(offered, needed[seat]) >= won - lost - CERTAIN


def _outcomes_of_acceptor(session: Session, bot: Bot) -> Outcomes:
    """The chances of the seat that is not on roll, `float32[K]`, after the best play if there are dice."""
    assert isinstance(bot, Evaluator)
    state = session.state
    if state.dice is None:
        return swap(settled_outcomes(bot, state.board[None])[0])
    return settled_outcomes(bot, _best_afterstate(session, bot)[None])[0]

"""A game or a match between two seats, as a pure state machine: actions, whose turn, cube, score, undo, saving.

A session is its setup and the list of actions; states follow from them, since dice are a function of (seed, game,
ply). So a saved session is that list, and one that was interrupted goes on as if it had not been. Who chooses the
actions, how they are asked for and shown, is the business of others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nardy_ai.boards import BAR, FACING, OFF, Boards, swap_sides
from nardy_ai.dice import Opening, dice_at, opening_at
from nardy_ai.errors import GameError, NardyError
from nardy_ai.language import tr
from nardy_ai.movegen.generate import afterstates
from nardy_ai.notation import Move, Position, format_play, parse_play
from nardy_ai.notation.position import MAX_POINTS
from nardy_ai.outcomes import class_names, class_points, loss_classes, possible
from nardy_ai.rules import (
    MatchOptions,
    RuleSet,
    match_from_dict,
    match_to_dict,
    rules_from_dict,
    rules_to_dict,
    start_boards,
)

__all__ = [
    "Action",
    "Result",
    "Session",
    "Setup",
    "State",
    "act",
    "allowed",
    "begin",
    "from_dict",
    "is_over",
    "loss_names",
    "loss_points",
    "position",
    "offered_stake",
    "raised_stake",
    "score",
    "to_dict",
    "undo",
]

FORMAT = "nardy-play-1"
LARGEST_STAKE = 1024
"""No double goes beyond it: the limit that an XGID states by default."""

OFFERS = ("double", "beaver", "raccoon")
"""What may wait for an answer, in the order in which one follows the other."""

KINDS = ("roll", "play", "double", "take", "beaver", "raccoon", "drop", "resign", "accept", "decline", "next")
"""Every kind of action. `take` and `drop` also answer a beaver and a raccoon; `next` begins the next game, and is
anybody's.
"""


@dataclass(frozen=True)
class Setup:
    """What is fixed before the first roll. Seats are 0 and 1.

    players: what the seats are called. games: how many games are played for money; a match ends by its length.
    Raises GameError.
    """

    rules: RuleSet
    options: MatchOptions
    seed: int
    players: tuple[str, str] = ("0", "1")
    games: int = 1

    def __post_init__(self) -> None:
        if self.games < 1:
            raise GameError(f"games = {self.games}; expected 1 or more")


@dataclass(frozen=True)
class Action:
    """What a seat does: one of KINDS. text: the play (`8/5 6/5`), or the way a resigning seat loses (`mars`)."""

    seat: int
    kind: str
    text: str = ""


@dataclass(frozen=True)
class Result:
    """How a game ended. how: `played`, `dropped` or `resigned`. way: `single`, `mars`, ... ; points: with the stake."""

    winner: int
    how: str
    way: str
    points: int


@dataclass(frozen=True, eq=False)
class State:
    """Where a session stands.

    board: `int8[2, 26]`, row 0 is the seat `on_roll`'s. ply: rolls before this one. dice: to be played, larger first;
    None before the roll and when the game is over. stake: what the cube shows, automatic doubles included. owner: the
    seat that holds the cube; None while no double was taken. offer: one of OFFERS while one waits. resigning: the class
    in which the seat on roll offers to lose. results: of the games that are over, the last perhaps of this.
    """

    game: int
    opening: Opening
    board: Boards
    on_roll: int
    ply: int = 0
    dice: tuple[int, int] | None = None
    stake: int = 1
    owner: int | None = None
    offer: str = ""
    resigning: int | None = None
    crawford: bool = False
    crawford_is_past: bool = False
    results: tuple[Result, ...] = ()

    @property
    def game_over(self) -> bool:
        """Whether this game has its result."""
        return len(self.results) > self.game

    @property
    def to_act(self) -> int | None:
        """The seat that must act; None when the game is over."""
        if self.game_over:
            return None
        answers = self.resigning is not None or self.offer in ("double", "raccoon")
        return 1 - self.on_roll if answers else self.on_roll


@dataclass(frozen=True, eq=False)
class Session:
    """A setup, the actions so far and the states between them: `states[i]` is before `actions[i]`."""

    setup: Setup
    actions: tuple[Action, ...] = ()
    states: tuple[State, ...] = field(default=(), repr=False)

    @property
    def state(self) -> State:
        """Where it stands now."""
        return self.states[-1]


def begin(setup: Setup) -> Session:
    """A session before its first action. The first roll of a game is thrown with the opening: nobody doubles before."""
    return Session(setup, states=(_first_state(setup),))


def act(session: Session, action: Action) -> Session:
    """The session after `action`. Raises GameError if it is not allowed now, NotationError if its play cannot be read.

    A play is checked against the rules, whoever makes it.
    """
    state = session.state
    if action.kind not in KINDS:
        raise GameError(f"{action.kind!r} is no action; expected one of {', '.join(KINDS)}")
    if action.kind not in allowed(session, action.seat):
        can = ", ".join(tr(kind, context="action") for kind in allowed(session, action.seat)) or tr("nothing")
        kind = tr(action.kind, context="action")
        raise GameError(tr("you cannot {kind} now; you can {can}", kind=kind, can=can))
    following = _STEPS[action.kind](session.setup, state, action)
    return Session(session.setup, (*session.actions, action), (*session.states, following))


def allowed(session: Session, seat: int) -> tuple[str, ...]:
    """The kinds of action that a seat may do now."""
    setup, state = session.setup, session.state
    if state.game_over:
        return () if is_over(session) else ("next",)
    if seat != state.to_act:
        return ()
    if state.resigning is not None:
        return ("accept", "decline")
    if state.offer:
        raise_again = _may_raise_again(setup, state)
        return ("take", raise_again, "drop") if raise_again else ("take", "drop")
    if state.dice is not None:
        return ("play", "resign")
    return ("roll", "double", "resign") if _may_double(setup, state) else ("roll", "resign")


def score(session: Session) -> tuple[int, int]:
    """Points of both seats, over all games that have ended."""
    return _score(session.state.results)


def is_over(session: Session) -> bool:
    """Whether the match is won, or the last game for money is over."""
    setup, results = session.setup, session.state.results
    if setup.options.length:
        return max(_score(results)) >= setup.options.length
    return len(results) >= setup.games


def loss_names(session: Session) -> dict[str, int]:
    """The ways in which the seat on roll can still lose this game, mildest first, each with its points at stake."""
    setup, state = session.setup, session.state
    ways = class_names(setup.rules)[: len(class_names(setup.rules)) // 2]
    can = possible(state.board[None], setup.rules)[0, len(ways) :]
    return {
        name.removeprefix("win_"): loss_points(setup, state, way)
        for way, (name, is_possible) in enumerate(zip(ways, can, strict=True))
        if is_possible
    }


def loss_points(setup: Setup, state: State, way: int) -> int:
    """The points of a game that is lost in class `way` (0 = single) at the stake of `state`."""
    if setup.options.jacoby and not setup.options.length and state.owner is None:
        return state.stake
    return int(class_points(setup.rules)[way]) * state.stake


def raised_stake(setup: Setup, stake: int) -> int:
    """The stake after a double, 0 if that is beyond LARGEST_STAKE."""
    raised = stake + 1 if setup.options.cube == "arithmetic" else 2 * stake
    return raised if raised <= LARGEST_STAKE else 0


def offered_stake(setup: Setup, state: State) -> int:
    """The stake if the offer that waits is taken."""
    return _raised(setup, state.stake, OFFERS.index(state.offer) + 1)


def position(session: Session) -> Position:
    """The state as a position: row 0 is the seat on roll. No more points are shown than a position can hold."""
    setup, state = session.setup, session.state
    points = score(session)
    owner = None if state.owner is None else int(state.owner != state.on_roll)
    how = state.results[-1].how if state.game_over else ""
    return Position(
        board=state.board,
        dice=state.dice,
        cube_value=state.stake,
        cube_owner=owner,
        match_length=setup.options.length,
        scores=(min(points[state.on_roll], MAX_POINTS), min(points[1 - state.on_roll], MAX_POINTS)),
        crawford=state.crawford,
        jacoby=setup.options.jacoby and not setup.options.length,
        beavers=setup.options.beavers and not setup.options.length,
        offer=state.offer or "none",
        game_state={"": "playing", "played": "over", "dropped": "dropped", "resigned": "resigned"}[how],
        row0_player=1 - state.on_roll,
    )


def undo(session: Session, seat: int) -> Session:
    """The session before the last decision of `seat`, if it has not rolled since. Raises GameError.

    What the other seat did in answer is taken back too. Dice stay what they were.
    """
    for i in range(len(session.actions) - 1, -1, -1):
        action = session.actions[i]
        if action.kind == "next":
            raise GameError(tr("nothing to take back: you have decided nothing in this game"))
        if action.seat == seat:
            if action.kind == "roll":
                raise GameError(tr("nothing to take back: you have rolled since your last decision"))
            if action.kind == "play" and len(_results(session.setup, session.states[i])) == 1:
                raise GameError(tr("nothing to take back: your last play was forced"))
            return Session(session.setup, session.actions[:i], session.states[: i + 1])
    raise GameError(tr("nothing to take back: you have decided nothing yet"))


def to_dict(session: Session) -> dict[str, Any]:
    """The session as plain data for JSON; `from_dict` is the way back."""
    setup = session.setup
    return {
        "format": FORMAT,
        "rules": rules_to_dict(setup.rules),
        "match": match_to_dict(setup.options),
        "seed": setup.seed,
        "players": list(setup.players),
        "games": setup.games,
        "actions": [[action.seat, action.kind, action.text] for action in session.actions],
    }


def from_dict(data: Mapping[str, Any]) -> Session:
    """A session from what `to_dict` wrote, every action checked again. Raises GameError."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise GameError(tr("no saved game: expected an object whose format is {format}", format=repr(FORMAT)))
    try:
        setup = Setup(
            rules=rules_from_dict(data["rules"]),
            options=match_from_dict(data["match"]),
            seed=int(data["seed"]),
            players=(str(data["players"][0]), str(data["players"][1])),
            games=int(data["games"]),
        )
        actions = [Action(int(seat), str(kind), str(text)) for seat, kind, text in data["actions"]]
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as error:
        raise GameError(tr("the saved game is damaged: {why}", why=error)) from error
    session = begin(setup)
    for i, action in enumerate(actions):
        try:
            session = act(session, action)
        except NardyError as error:
            raise GameError(tr("the saved game is damaged: action {n}: {why}", n=i + 1, why=error)) from error
    return session


def _first_state(setup: Setup) -> State:
    return _opened(setup, _thrown(setup, 0), ())


def _thrown(setup: Setup, game: int) -> Opening:
    return opening_at(setup.seed, game, setup.options.opening)


def _opened(setup: Setup, opening: Opening, results: tuple[Result, ...], crawford_is_past: bool = False) -> State:
    """The first state of the game after `results`."""
    options = setup.options
    ties = max(len(opening.throws) - 1, 0)
    stake = 1 if options.length else 2 ** min(options.auto_doubles, ties)
    crawford = bool(
        options.length and options.crawford and not crawford_is_past and max(_score(results)) == options.length - 1
    )
    return State(
        game=len(results),
        opening=opening,
        board=start_boards(setup.rules)[0],
        on_roll=opening.starter,
        dice=opening.dice,
        stake=stake,
        crawford=crawford,
        crawford_is_past=crawford_is_past or crawford,
        results=results,
    )


def _next(setup: Setup, state: State, action: Action) -> State:
    game = len(state.results)
    opening = _thrown(setup, game)
    if setup.options.next_game_first == "winner":
        high, low = dice_at(setup.seed, game, 0)[0].tolist()
        opening = Opening(state.results[-1].winner, (high, low))
    return _opened(setup, opening, state.results, state.crawford_is_past)


def _roll(setup: Setup, state: State, action: Action) -> State:
    high, low = dice_at(setup.seed, state.game, state.ply)[0].tolist()
    return replace(state, dice=(high, low))


def _play(setup: Setup, state: State, action: Action) -> State:
    assert state.dice is not None
    moves = parse_play(action.text)
    after = swap_sides(_moved(state.board, moves, setup.rules))
    if not (_results(setup, state) == after).all(axis=(1, 2)).any():
        high, low = state.dice
        raise GameError(f"play {format_play(moves)!r} is not legal for {high}-{low}")
    following = replace(state, board=after, on_roll=1 - state.on_roll, ply=state.ply + 1, dice=None)
    if after[1, OFF] < setup.rules.checkers:
        return following
    return _ended(setup, following, state.on_roll, "played", int(loss_classes(after[:1], setup.rules)[0]))


def _results(setup: Setup, state: State) -> Boards:
    """Every result of the roll of `state`, `int8[M, 2, 26]`, swapped."""
    return afterstates(state.board[None], np.array([state.dice], dtype=np.uint8), setup.rules).boards


def _moved(board: Boards, moves: tuple[Move, ...], rules: RuleSet) -> Boards:
    """The board after moves that name every hit, row 0 still the side that has moved; legal or not."""
    moved = board.copy()
    for move in moves:
        moved[0, move.source] -= 1
        moved[0, move.target] += 1
        if move.hit:
            moved[1, FACING[rules.board][move.target]] -= 1
            moved[1, BAR] += 1
    return moved


def _double(setup: Setup, state: State, action: Action) -> State:
    return replace(state, offer="double")


def _beaver(setup: Setup, state: State, action: Action) -> State:
    """The double would be taken and doubled again by the taker; the doubler answers."""
    return replace(state, offer="beaver")


def _raccoon(setup: Setup, state: State, action: Action) -> State:
    """The beaver would be taken and the stake raised once more, the cube staying where it goes; the taker answers."""
    return replace(state, offer="raccoon")


def _take(setup: Setup, state: State, action: Action) -> State:
    """The seat that is not on roll owns the cube now, after a beaver and a raccoon too."""
    return replace(state, offer="", stake=offered_stake(setup, state), owner=1 - state.on_roll)


def _drop(setup: Setup, state: State, action: Action) -> State:
    """The stake is lost as it was before the offer; before a beaver it was the doubled one, before a raccoon that of
    the beaver.
    """
    stake = _raised(setup, state.stake, OFFERS.index(state.offer))
    return replace(state, offer="", results=(*state.results, Result(1 - action.seat, "dropped", "single", stake)))


def _resign(setup: Setup, state: State, action: Action) -> State:
    session = Session(setup, states=(state,))
    if action.text not in loss_names(session):
        raise GameError(
            f"cannot resign {action.text!r}; this game can still be lost as {', '.join(loss_names(session))}"
        )
    names = [name.removeprefix("win_") for name in class_names(setup.rules)]
    return replace(state, resigning=names.index(action.text))


def _accept(setup: Setup, state: State, action: Action) -> State:
    assert state.resigning is not None
    return _ended(setup, state, action.seat, "resigned", state.resigning)


def _decline(setup: Setup, state: State, action: Action) -> State:
    return replace(state, resigning=None)


def _ended(setup: Setup, state: State, winner: int, how: str, way: int) -> State:
    name = class_names(setup.rules)[way].removeprefix("win_")
    result = Result(winner, how, name, loss_points(setup, state, way))
    return replace(state, dice=None, resigning=None, results=(*state.results, result))


_STEPS = {
    "roll": _roll,
    "play": _play,
    "double": _double,
    "take": _take,
    "beaver": _beaver,
    "raccoon": _raccoon,
    "drop": _drop,
    "resign": _resign,
    "accept": _accept,
    "decline": _decline,
    "next": _next,
}


def _may_double(setup: Setup, state: State) -> bool:
    return (
        setup.options.cube != "none"
        and not state.crawford
        and state.owner in (None, state.on_roll)
        and raised_stake(setup, state.stake) > 0
    )


def _may_raise_again(setup: Setup, state: State) -> str:
    """With what the offer that waits may be answered besides `take` and `drop`; empty for nothing."""
    options = setup.options
    if options.length or not _raised(setup, state.stake, OFFERS.index(state.offer) + 2):
        return ""
    if state.offer == "double" and options.beavers:
        return "beaver"
    return "raccoon" if state.offer == "beaver" and options.raccoons else ""


def _raised(setup: Setup, stake: int, times: int) -> int:
    """The stake after so many doubles, 0 if that is beyond LARGEST_STAKE."""
    for _ in range(times):
        stake = raised_stake(setup, stake) if stake else 0
    return stake


def _score(results: tuple[Result, ...]) -> tuple[int, int]:
    points = [sum(result.points for result in results if result.winner == seat) for seat in (0, 1)]
    return points[0], points[1]

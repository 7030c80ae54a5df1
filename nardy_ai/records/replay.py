"""A written match on boards: the position of every action, and what is wrong with it by the rules.

A play that is not legal is reported with the legal ones nearest to it, and the game goes on from the board that its
moves lead to, if they can be carried out at all (the source has the checker, the target is not closed, the board can
exist); else from the nearest legal play. So what follows in the file is judged on the board its players had, where that
can be known. A play that is not written and not forced is taken to be the one that lets most of the turns after it be
legal, which is said with the number of plays that fit as well; if none fits, the replay of the game ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nardy_ai.boards import BAR, FACING, OFF, Boards, finished, swap_sides
from nardy_ai.errors import BoardError, NardyError, NotationError
from nardy_ai.movegen.reference import Play, nearest_plays, play_among, play_named, plays
from nardy_ai.notation import Move, Position, check_position, format_play
from nardy_ai.outcomes import class_points, points_won
from nardy_ai.records.game import (
    Action,
    CubeAction,
    Fault,
    GameRecord,
    MatchRecord,
    Resignation,
    Setup,
    Turn,
    row_numbers,
)
from nardy_ai.rules import RuleSet, start_boards

__all__ = ["Moment", "ReplayedGame", "replay_match"]


@dataclass(frozen=True, eq=False)
class Moment:
    """An action and the position in which it was taken; a position that is set up and then left is a moment as well.

    row: its row in the transcript, from 1. position: row 0 is the side on roll; of a turn with its dice, of an answer
    to a double with the doubler as row 0 and the offer. legal: of a turn, all its plays. play: the one that was made,
    None if it is not known or not legal. board: after it, `int8[2, 26]`, row 0 the side that played; None if not known.
    first: whether the roll opens a game that begins at the start. note: what is wrong with it.
    """

    action: Action
    row: int
    position: Position
    legal: tuple[Play, ...] = ()
    play: Play | None = None
    board: Boards | None = None
    first: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class ReplayedGame:
    """A game on boards. winner: None if it was broken off. ending: how it ended, in a word or two.

    from_start: whether it begins at the start of the rule set. final: the last board, side 0's row first.
    """

    record: GameRecord
    crawford: bool
    moments: tuple[Moment, ...]
    winner: int | None
    points: int
    ending: str
    from_start: bool
    final: Boards
    faults: tuple[Fault, ...]


def replay_match(record: MatchRecord, rules: RuleSet, *, arithmetic: bool = False) -> tuple[ReplayedGame, ...]:
    """Every game on boards, by `rules`. Never raises for what a file holds: faults are in the games.

    arithmetic: whether a double adds one to the stake, where the file does not say what the cube then shows.
    """
    games = []
    crawford_seen = False
    expected: tuple[int, int] | None = None
    for game in record.games:
        faults = []
        is_set_up = any(isinstance(action, Setup) for action in game.actions)
        if expected is not None and expected != game.scores and not is_set_up:
            faults.append(
                Fault(
                    game.line,
                    f"game {game.number} begins at {game.scores[0]}-{game.scores[1]}, the games before it make"
                    f" {expected[0]}-{expected[1]}",
                )
            )
        last_point = record.length > 1 and max(game.scores) == record.length - 1
        crawford = record.crawford and last_point and not crawford_seen
        replayed = _Table(record, game, rules, crawford=crawford, arithmetic=arithmetic).replay()
        crawford_seen |= last_point
        games.append(replace(replayed, faults=(*faults, *replayed.faults)))
        expected = None
        if replayed.winner is not None:
            won = [0, 0]
            won[replayed.winner] = replayed.points
            expected = (game.scores[0] + won[0], game.scores[1] + won[1])
    return tuple(games)


class _Table:
    """One game as it is replayed: board by side, cube, who is on roll."""

    def __init__(
        self, record: MatchRecord, game: GameRecord, rules: RuleSet, *, crawford: bool, arithmetic: bool
    ) -> None:
        self._game, self._rules = game, rules
        self._arithmetic = arithmetic
        self._names = record.names
        self._board = start_boards(rules)[0]  # rows by side, whoever is on roll
        self._cube, self._owner = 1, None  # type: tuple[int, int | None]
        self._offer: CubeAction | None = None
        self._offered = 1
        self._on_roll: int | None = None
        self._crawford = crawford
        self._jacoby = record.jacoby and not record.length
        self._beavers = record.beavers and not record.length
        self._length, self._scores = record.length, game.scores
        self._moments: list[Moment] = []
        self._faults: list[Fault] = []
        self._winner: int | None = None
        self._points, self._ending = 0, ""
        self._from_start = True
        if self._length and max(self._scores) >= self._length:
            self._fault(game.line, f"game {game.number} begins when the match is over; it is judged as money play")
            self._length, self._scores, self._crawford = 0, (0, 0), False

    def replay(self) -> ReplayedGame:
        """Take the actions one by one."""
        actions = self._game.actions
        for i, (row, action) in enumerate(zip(row_numbers(actions), actions, strict=True)):
            if self._winner is not None:
                self._fault(action.line, f"row {row} stands behind the end of the game and is left out")
                break
            try:
                if isinstance(action, Setup):
                    self._set_up(action)
                    if i == len(actions) - 1:
                        self._moments.append(Moment(action, row, action.position))
                elif isinstance(action, Turn):
                    if not self._turn(row, action, [later for later in actions[i + 1 :] if isinstance(later, Turn)]):
                        break
                elif isinstance(action, CubeAction):
                    self._cube_action(row, action)
                else:
                    self._resign(row, action)
            except NardyError as error:
                self._fault(action.line, f"row {row}: {error}; the rest of the game is left out")
                break
        self._settle()
        return ReplayedGame(
            record=self._game,
            crawford=self._crawford,
            moments=tuple(self._moments),
            winner=self._winner,
            points=self._points,
            ending=self._ending,
            from_start=self._from_start,
            final=self._board.copy(),
            faults=tuple(self._faults),
        )

    def _fault(self, line: int, text: str) -> None:
        self._faults.append(Fault(line, text))

    def _seen_by(self, side: int) -> Boards:
        return self._board.copy() if side == 0 else swap_sides(self._board)

    def _position(self, side: int, *, dice: tuple[int, int] | None = None, offer: str = "none") -> Position:
        return Position(
            board=self._seen_by(side),
            dice=dice,
            cube_value=self._cube,
            cube_owner=None if self._owner is None else int(self._owner != side),
            match_length=self._length,
            scores=(self._scores[side], self._scores[1 - side]),
            crawford=self._crawford,
            jacoby=self._jacoby,
            beavers=self._beavers,
            offer=offer,
            row0_player=side,
        )

    def _set_up(self, action: Setup) -> None:
        position, side = action.position, action.side
        self._board = position.board.copy() if side == 0 else swap_sides(position.board)
        self._cube, self._on_roll, self._offer = position.cube_value, side, None
        self._owner = None if position.cube_owner is None else side ^ position.cube_owner
        self._from_start = False
        if position.match_length or position.jacoby or position.beavers:
            self._length, self._crawford = position.match_length, position.crawford
            self._jacoby, self._beavers = position.jacoby, position.beavers
            self._scores = position.scores if side == 0 else position.scores[::-1]

    def _check_order(self, row: int, action: Turn | CubeAction | Resignation, side: int) -> None:
        """Say so if another side than `side` is on roll, and let it be on roll."""
        if self._on_roll is not None and self._on_roll != side:
            self._fault(action.line, f"row {row}: {self._names[side]} plays twice in a row; a turn is missing")
        self._on_roll = side

    def _turn(self, row: int, action: Turn, later: Sequence[Turn]) -> bool:
        """Whether the board after the turn is known, or no turn is to come. later: the turns to come."""
        side = action.side
        if self._offer is not None:
            self._fault(action.line, f"row {row}: the double before it has no answer; taken as a take")
            self._accept(1 - self._offer.side)
        self._check_order(row, action, side)
        position = self._position(side, dice=action.dice)
        legal = tuple(plays(position.board, np.array(action.dice, dtype=np.uint8), self._rules))
        play, board, note = self._played(action, position.board, legal)
        first = self._from_start and not any(isinstance(moment.action, Turn) for moment in self._moments)
        self._moments.append(Moment(action, row, position, legal, play, board, first, note))
        self._on_roll = 1 - side
        if note:
            self._fault(action.line, f"row {row}: {note}")
        if board is None:
            if not later:
                return False
            fitting = _fitting(legal, later, side, self._rules)
            if not fitting:
                self._fault(action.line, f"row {row}: the play is not written; the rest of the game is left out")
                return False
            taken = f"taken as {format_play(fitting[0].moves)!r}"
            more = "" if len(fitting) == 1 else f"; {len(fitting) - 1} more fit what follows"
            self._fault(action.line, f"row {row}: the play is not written; {taken}{more}")
            board = fitting[0].board
        self._board = board.copy() if side == 0 else swap_sides(board)
        if board[0, OFF] == self._rules.checkers:
            jacoby = self._jacoby and self._owner is None
            points = points_won(board[1:], self._rules, stake=self._cube, jacoby=jacoby)
            self._end(side, int(points[0]), "borne off")
        return True

    def _played(self, action: Turn, board: Boards, legal: Sequence[Play]) -> tuple[Play | None, Boards | None, str]:
        """The play of a turn, the board after it, and what is wrong with it."""
        if action.moves is None:
            return (legal[0], legal[0].board, "") if len(legal) == 1 else (None, None, "")
        dice = np.array(action.dice, dtype=np.uint8)
        try:
            play = play_among(legal, board, dice, action.moves, self._rules)
        except NotationError as error:
            after = _carried_out(board, action.moves, self._rules)
            if after is None:
                after = nearest_plays(legal, board, action.moves)[0].board
            return None, after, str(error)
        return play, play.board, ""

    def _cube_action(self, row: int, action: CubeAction) -> None:
        side = action.side
        if action.kind == "double":
            self._check_order(row, action, side)
            note = self._wrong_double(side)
            if note:
                self._fault(action.line, f"row {row}: {note}")
                self._owner = None if self._owner == 1 - side else self._owner
            self._moments.append(Moment(action, row, self._position(side), note=note))
            self._offer, self._offered = action, action.value or self._raised(self._cube)
            return
        if self._offer is None or self._offer.side == side:
            self._fault(action.line, f"row {row}: a {action.kind} answers no double of the other side; it is left out")
            return
        position = self._position(self._offer.side if self._offer.kind != "beaver" else side, offer=self._offer.kind)
        self._moments.append(Moment(action, row, position))
        if action.kind == "take":
            self._accept(side)
        elif action.kind == "pass":
            self._end(1 - side, self._cube, "pass")
        else:
            self._cube, self._offered = self._offered, action.value or self._raised(self._offered)
            self._offer = action

    def _raised(self, stake: int) -> int:
        return stake + 1 if self._arithmetic else 2 * stake

    def _wrong_double(self, side: int) -> str:
        if self._crawford:
            return "a double in the Crawford game"
        if self._owner == 1 - side:
            return f"{self._names[side]} doubles, but {self._names[1 - side]} owns the cube"
        return ""

    def _accept(self, side: int) -> None:
        """The offer that waits is accepted by `side`; who was doubled owns the cube."""
        assert self._offer is not None
        self._cube = self._offered
        self._owner = self._offer.side if self._offer.kind == "beaver" else side
        if self._offer.kind == "raccoon":
            self._owner = side
        self._offer = None

    def _resign(self, row: int, action: Resignation) -> None:
        side = self._on_roll if self._on_roll is not None else action.side
        self._moments.append(Moment(action, row, self._position(side)))
        self._end(1 - action.side, self._game.points or max(action.level, 1) * self._cube, "resigned")
        self._check_points()

    def _end(self, winner: int, points: int, ending: str) -> None:
        self._winner, self._points, self._ending = winner, points, ending

    def _settle(self) -> None:
        """Compare the end on the board with what is written: the board says who wins, and the file how much."""
        game = self._game
        if game.winner is None:
            if self._winner is None:
                self._ending = "broken off"
            return
        if self._winner is None:
            self._end(game.winner, game.points, "resigned" if self._moments else "")
            if self._moments:
                self._check_points()
            return
        most = self._length - self._scores[self._winner] if self._length else self._points
        if (game.winner, game.points) not in ((self._winner, self._points), (self._winner, min(self._points, most))):
            self._fault(
                game.line,
                f"game {game.number}: written is that {self._names[game.winner]} wins {game.points},"
                f" on the board {self._names[self._winner]} wins {self._points}",
            )
        self._end(self._winner, game.points, self._ending)

    def _check_points(self) -> None:
        """Say so if no game that the winner wins with the cube as it is can be worth what is written."""
        assert self._winner is not None
        worth = {int(of_class) * self._cube for of_class in class_points(self._rules) if of_class > 0}
        if self._length:
            worth |= {min(one, self._length - self._scores[self._winner]) for one in worth}
        if self._points not in worth:
            self._fault(
                self._game.line,
                f"game {self._game.number}: written is that {self._names[self._winner]} wins {self._points}, which no"
                f" game with the cube at {self._cube} is worth",
            )


def _fitting(legal: Sequence[Play], later: Sequence[Turn], side: int, rules: RuleSet) -> list[Play]:
    """Those of the legal plays of `side` after which most of the turns that are written are legal, one at least."""
    ahead = [_turns_that_fit(play, later, side, rules) for play in legal]
    return [play for play, fits in zip(legal, ahead, strict=True) if fits == max(ahead) > 0]


def _turns_that_fit(play: Play, later: Sequence[Turn], side: int, rules: RuleSet) -> int:
    """How many of the turns after a play are legal, up to the first that is not, or is not written."""
    board, on_roll = play.afterstate, 1 - side
    for fits, turn in enumerate(later):
        if turn.moves is None or turn.side != on_roll or finished(board[None])[0]:
            return fits
        try:
            board = play_named(board, turn.dice, turn.moves, rules).afterstate
        except NotationError:
            return fits
        on_roll = 1 - on_roll
    return len(later)


def _carried_out(board: Boards, moves: Sequence[Move], rules: RuleSet) -> Boards | None:
    """The board after moves that are not legal, if checkers can be moved so at all. board: `int8[2, 26]`."""
    after = board.copy()
    facing = FACING[rules.board]
    for move in moves:
        if not after[0, move.source]:
            return None
        after[0, move.source] -= 1
        if move.target > OFF:
            enemies = after[1, facing[move.target]]
            if enemies >= rules.closed_by:
                return None
            after[1, BAR] += enemies
            after[1, facing[move.target]] = 0
        after[0, move.target] += 1
    try:
        check_position(after, rules)
    except BoardError:
        return None
    return after

"""Games with the cube from given positions to their end, many at once, with the luck of their dice taken off.

The part of a rollout that knows the cube. Both sides double, answer and play by a `CubePlayer`. What a roll is worth is
measured with the cube where it is then: the luck of a roll is the worth of the best play with it, by a control, less
the mean over the 21 rolls. Its mean is zero whatever the control thinks, and decisions about the cube involve no
chance, so results less luck stay unbiased. docs/rollouts.md has the formulas.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import SLOTS, Boards, finished
from nardy_ai.cube.equity import swapped_utilities
from nardy_ai.cube.state import CubeStates
from nardy_ai.cube_policies import BEAVER, DROP, PASS, PLAY_ON, RACCOON, CubefulPlayer, CubePlayer
from nardy_ai.cubeful import Cubeful, distinct_questions
from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.outcomes import Outcomes, class_count, final_outcomes, swap
from nardy_ai.search import N_ROLLS, distinct_boards

__all__ = ["CubeGames", "PlayedGames", "play_cube_games"]

_CHUNK = 64
"""Questions whose replies are sought at once: their afterstates stay in the processor's cache."""

RollsAt = Callable[[NDArray[np.int64], int], NDArray[np.int64]]
"""Which of `dice.ROLLS` games throw, from their numbers and the ply."""


@dataclass(frozen=True)
class CubeGames:
    """What is played by whom.

    control: who measures luck, without look-ahead; None: nobody. judge: values games that are not played to their end.
    boards: `int8[P, 2, 26]`, not finished; states: as row 0 sees them. doubles_first: whether row 0 may double before
    its first roll. bearoff: games end where the judge's tables know the rest with the cube. truncate_after, cut_after:
    plies after which games end by what the judge says.
    """

    player: CubePlayer
    control: Cubeful | None
    judge: Cubeful
    boards: Boards
    states: CubeStates
    doubles_first: bool
    bearoff: bool
    truncate_after: int | None
    cut_after: int


@dataclass(frozen=True)
class PlayedGames:
    """For P positions and G games, all as row 0 of the position sees it.

    utilities: `float64[P, G]`, with luck taken off. outcomes: `float32[P, G, K]`, how they ended, luck and all; a game
    that ended by a pass counts as won once. cut: `bool[P, G]`.
    """

    utilities: NDArray[np.float64]
    outcomes: Outcomes
    cut: NDArray[np.bool_]


def play_cube_games(
    task: CubeGames, games: NDArray[np.int64], rolls_at: RollsAt, halted: Callable[[], bool]
) -> PlayedGames | None:
    """Play the games of these numbers from every board; None if halted before the last has ended."""
    p, n, k = len(task.boards), len(task.boards) * len(games), class_count(task.player.rules)
    utilities, outcomes, cut = np.zeros(n), np.zeros((n, k), dtype=np.float32), np.zeros(n, dtype=bool)
    lanes, numbers = np.arange(n), np.tile(games, p)
    boards, states = np.repeat(task.boards, len(games), axis=0), task.states.repeat(len(games))
    ply = 0
    while True:
        # Equal boards in equal states are one question, whose answer all its lanes share.
        at, which = distinct_questions(distinct_boards(boards)[1], states)
        asked, cubes = boards[at], states.take(at)
        free = np.full(len(at), task.doubles_first or ply > 0)
        over, worth, ends = _ended(task, asked, cubes, free)
        if ply in (task.truncate_after, task.cut_after):
            rest = ~over
            found = task.judge.worth(asked[rest], cubes.take(rest))
            worth[rest] = np.where(free[rest], found.best, found.no_double)
            ends[rest] = task.judge.outcomes(asked[rest])
            cut[lanes[~over[which]]] = ply != task.truncate_after
            over[:] = True
        cubes = _doubled(task, asked, cubes, free & ~over, over, worth, ends)
        done = over[which]
        utilities[lanes[done]] += _seen(worth[which[done]], ply)
        outcomes[lanes[done]] = (ends if ply % 2 == 0 else swap(ends))[which[done]]
        if done.all():
            break
        if halted():
            return None
        lanes, numbers, which = lanes[~done], numbers[~done], which[~done]
        open_at = np.flatnonzero(~over)
        pairs = (np.cumsum(~over) - 1)[which] * N_ROLLS + rolls_at(numbers, ply)
        asked, cubes = asked[open_at], cubes.take(open_at)
        plays_itself = isinstance(task.player, CubefulPlayer) and _is_control(task, task.player)
        if task.control is not None:
            replies, lucks = _replies(task.control, asked, cubes)
            utilities[lanes] -= _seen(lucks.ravel()[pairs], ply)
        if plays_itself:
            boards = replies.reshape(-1, 2, SLOTS)[pairs]
        else:
            boards = _played(task.player, asked, cubes, pairs)
        states = cubes.take(pairs // N_ROLLS).swapped()
        ply += 1
    return PlayedGames(utilities.reshape(p, -1), outcomes.reshape(p, -1, k), cut.reshape(p, -1))


def _is_control(task: CubeGames, player: CubefulPlayer) -> bool:
    """Whether the control's replies are what the player plays."""
    judge, control = player.judge, task.control
    return control is not None and judge.plies == 0 and judge.evaluator is control.evaluator


def _seen(utilities: NDArray[np.float64], ply: int) -> NDArray[np.float64]:
    """Utilities of the side on roll at `ply` as the side on roll at ply 0 sees them."""
    return utilities if ply % 2 == 0 else swapped_utilities(utilities)


def _ended(
    task: CubeGames, boards: Boards, states: CubeStates, free: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.float64], Outcomes]:
    """Where the rest is known, `bool[Q]`; there what it is worth, `float64[Q]`, and how it ends, `float32[Q, K]`."""
    model = task.judge.model
    over, worth = finished(boards), np.zeros(len(boards))
    ends = final_outcomes(boards, model.rules)
    worth[over] = model.final(boards[over], states.take(over))
    if task.bearoff:
        known = ~over & task.judge.is_known(boards, states)
        if known.any():
            found = task.judge.formula(boards[known], states.take(known))
            worth[known] = np.where(free[known], found.best, found.no_double)
            ends[known] = task.judge.outcomes(boards[known])
            over = over | known
    return over, worth, ends


def _doubled(
    task: CubeGames,
    boards: Boards,
    states: CubeStates,
    may: NDArray[np.bool_],
    over: NDArray[np.bool_],
    worth: NDArray[np.float64],
    ends: Outcomes,
) -> CubeStates:
    """The states after row 0 has doubled where it does; games that end by a pass or a drop are written down."""
    model, player = task.judge.model, task.player
    at = np.flatnonzero(may & model.may_double(states))
    if len(at):
        at = at[player.doubles(boards[at], states.take(at))]
    if not len(at):
        return states
    asked = states.take(at)
    answers = player.answers(boards[at], asked)
    passed, beavered = answers == PASS, (answers == BEAVER) & model.may_beaver(asked)
    replies, last = np.full(len(at), PLAY_ON), np.full(len(at), PLAY_ON)
    if beavered.any():
        replies[beavered] = player.replies(boards[at[beavered]], asked.take(beavered))
    raccooned = (replies == RACCOON) & beavered & model.may_raccoon(asked)
    if raccooned.any():
        last[raccooned] = player.last_answers(boards[at[raccooned]], asked.take(raccooned))
    dropped, given_up = beavered & (replies == DROP), raccooned & (last == DROP)
    taken, twice, thrice = (model.doubled(asked, times=times) for times in (1, 2, 3))
    for gone, result, won in ((passed, asked, True), (dropped, taken, False), (given_up, twice, True)):
        over[at[gone]] = True
        worth[at[gone]] = model.single(result, won=won)[gone]
        ends[at[gone]] = 0
        ends[at[gone], 0 if won else ends.shape[1] // 2] = 1
    stakes, owners = states.stakes.copy(), states.owners.copy()
    stakes[at] = np.select([raccooned, beavered], [thrice.stakes, twice.stakes], taken.stakes)
    owners[at] = taken.owners
    return CubeStates(stakes, owners, states.to_go, states.crawford)


def _replies(control: Cubeful, boards: Boards, states: CubeStates) -> tuple[Boards, NDArray[np.float64]]:
    """The boards after the best play with each roll, `int8[Q, 21, 2, 26]`, and the luck of each, `float64[Q, 21]`."""
    replies = np.empty((len(boards), N_ROLLS, 2, SLOTS), dtype=np.int8)
    worth = np.empty((len(boards), N_ROLLS))
    for start in range(0, len(boards), _CHUNK):
        part = slice(start, min(start + _CHUNK, len(boards)))
        first, which = distinct_boards(boards[part])
        rows = states.take(np.arange(part.start, part.stop))
        replies[part], theirs = control.best_replies(boards[part][first], which, rows)
        worth[part] = swapped_utilities(theirs)
    mean = np.zeros(len(boards))
    for roll, weight in enumerate(ROLL_WEIGHTS):  # roll by roll: the same to the last bit in every batch
        mean += weight * worth[:, roll]
    return replies, worth - mean[:, None]


def _played(player: CubePlayer, boards: Boards, states: CubeStates, pairs: NDArray[np.int64]) -> Boards:
    """The boards after `player` has played. pairs: `int64[L]`, question x 21 + roll; equal ones are played once."""
    needed, which = np.unique(pairs, return_inverse=True)
    parents = boards[needed // N_ROLLS]
    after = expand(parents, ROLLS[needed % N_ROLLS], player.rules)
    values = player.play_values(parents, after, states.take(needed // N_ROLLS))
    return after.boards[best_of_segments(values, after.offsets)][which]

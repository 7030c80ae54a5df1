"""Fit the efficiencies of the cube that docs/cube.md lists and nardy_ai/cube/efficiency.py holds.

    python scripts/fit_efficiencies.py races      # short races, by a search for the least loss in exact bear-offs
    python scripts/fit_efficiencies.py few        # few checkers in contact, by least squares to a solved game
    python scripts/fit_efficiencies.py centre     # a centred cube in contact, by the shipped match equities
    python scripts/fit_efficiencies.py contact    # contact, by least squares to rollouts of the bot's own positions

What is printed is what is to be written into the module. Positions are drawn by `--seed`; the measurements of
docs/cube.md are of other seeds.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nardy_ai.boards import Boards, is_race, pip_counts
from nardy_ai.bots import load_bot
from nardy_ai.cube.efficiency import CHANCES, LENGTHS, SHIPPED, Efficiencies, places
from nardy_ai.cube.equity import CubeModel
from nardy_ai.cube.met import BACKGAMMON_ENDS, computed_table, shipped_table
from nardy_ai.cube.state import CubeState, CubeStates
from nardy_ai.cubeful import Cubeful
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.exact.bearoff import bearoff_tables
from nardy_ai.exact.solve import few_checkers, load_cube_solution, load_solution
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.outcomes import Outcomes
from nardy_ai.play.cube_against_exact import (
    BearoffBot,
    BearoffCube,
    drawn_bearoffs,
    judge_cube,
    played_cube_games,
)
from nardy_ai.play.lockstep import new_lanes, roll, won
from nardy_ai.rollouts import rollout
from nardy_ai.rules import find_preset, find_rules

OWNERS = {"centre": -1, "own": 0, "the other's": 1}
START = 0.68
"""The number of every short race at the beginning of the search."""
STEPS = (0.10, 0.05, 0.02)
"""How far the search moves a number, coarse steps first."""
LEAST = 1e-7
"""A gain in stakes a decision that is none."""


def main(argv: Sequence[str] | None = None) -> None:
    """Fit what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("races", "few", "centre", "contact"))
    parser.add_argument("--seed", type=int, default=2024, help="of the positions (default: %(default)s)")
    parser.add_argument("--positions", type=int, help="bear-offs, or contact positions (default: 6000, 300)")
    parser.add_argument("--games", type=int, help="of the solved game, or of each rollout (default: 20000, 36)")
    parser.add_argument("--checkers", type=int, default=3, help="of the solved game (default: %(default)s)")
    args = parser.parse_args(argv)
    fits = {"races": fit_races, "few": fit_few, "centre": fit_centre, "contact": fit_contact}
    fits[args.what](args)


# Races


def fit_races(args: argparse.Namespace) -> None:
    """Coordinate search for the least loss of formulas on exact chances, without look-ahead and with one ply."""
    rules = find_rules("short")
    exact = BearoffCube(bearoff_tables(), rules)
    bot = BearoffBot(exact.tables, rules)
    sample = drawn_bearoffs(rules, n=args.positions or 6000, seed=args.seed)

    def loss(numbers: Efficiencies) -> float:
        model = CubeModel(rules, efficiency=numbers)
        judges = (Cubeful(bot, model, plies=plies, tables=False) for plies in (0, 1))
        return sum(judge_cube(judge, "", exact, sample, workers=2).total.loss for judge in judges) / 2

    numbers = replace(
        SHIPPED,
        race=tuple((START,) * (len(SHIPPED.race_lengths) - 1) + (row[-1],) for row in SHIPPED.race),
        lagging=(0.0, 2.0),
        lagging_centre=(0.9, 0.4, 0.6),
    )
    best = loss(numbers)
    print(f"begin: {best:.6f} stakes a decision")
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for change in tqdm(_changes(), desc=f"step {step}", leave=False):
                for move in (step, -step):
                    moved = change(numbers, move)
                    found = loss(moved) if moved is not None else best
                    while moved is not None and found < best - LEAST:
                        numbers, best, improved = moved, found, True
                        moved = change(numbers, move)
                        found = loss(moved) if moved is not None else best
        print(f"step {step}: {best:.6f} stakes a decision")
    print("race_lengths", numbers.race_lengths)
    for name, row in zip(OWNERS, numbers.race, strict=True):
        print(f"{name:12s}", " ".join(f"{x:.2f}" for x in row))
    print("lagging", _rounded(numbers.lagging), "lagging_centre", _rounded(numbers.lagging_centre))


Change = Callable[[Efficiencies, float], Efficiencies | None]


def _changes() -> list[Change]:
    """What the search may move: every number of races but those of 120 pips, and the two rules about who lags."""

    def race(owner: int, column: int) -> Change:
        def change(numbers: Efficiencies, by: float) -> Efficiencies | None:
            rows = [list(row) for row in numbers.race]
            rows[owner][column] = round(rows[owner][column] + by, 4)
            if not 0 <= rows[owner][column] <= 1:
                return None
            return replace(numbers, race=tuple(tuple(row) for row in rows))

        return change

    def rule(name: str, place: int, scale: float) -> Change:
        def change(numbers: Efficiencies, by: float) -> Efficiencies | None:
            values = list(getattr(numbers, name))
            values[place] = round(values[place] + scale * by, 4)
            if min(values) < 0 or (name == "lagging_centre" and not values[1] < values[2] <= 1):
                return None
            return replace(numbers, **{name: tuple(values)})

        return change

    changes = [race(owner, column) for owner in range(3) for column in range(len(SHIPPED.race_lengths) - 1)]
    changes += [rule("lagging", 0, 1), rule("lagging", 1, 5)]
    return changes + [rule("lagging_centre", place, 1) for place in range(3)]


# Few checkers


def fit_few(args: argparse.Namespace) -> None:
    """Least squares of the exact worth without a double to live and dead cubes, over positions of exact play."""
    preset = find_preset("hyper")
    rules = few_checkers(preset.rules, args.checkers)
    known = load_cube_solution(rules, jacoby=preset.match.jacoby, beavers=preset.match.beavers)
    chances = load_solution(rules)
    model = CubeModel(rules, jacoby=preset.match.jacoby, beavers=preset.match.beavers)
    sample = played_cube_games(known, model, games=args.games or 20_000, seed=args.seed, opening=preset.match.opening)
    boards = sample.boards[~is_race(sample.boards, rules.board)]
    outcomes, values = chances.outcomes(boards), known.values(boards).no_double.astype(np.float64)
    print(f"{len(boards)} positions in contact of {rules.name}")
    tables = []
    for owner, (name, cube) in enumerate(OWNERS.items()):
        live, dead = _live_and_dead(model, outcomes, cube)
        table, before, after = _fitted(boards, outcomes, live - dead, values[:, owner] - dead)
        print(f"{name}: root mean square error {before:.4f} with one number, {after:.4f} with the table")
        tables.append(table)
    _print_few(np.stack(tables))


def _live_and_dead(model: CubeModel, outcomes: Outcomes, owner: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What positions are worth without a double, `float64[N]`, with a live and with a dead cube."""
    states = CubeStates.of(CubeState(owner=None if owner < 0 else owner), len(outcomes))
    live, dead = (model.worth_at(outcomes, np.full((len(outcomes), 3), x), states).no_double for x in (1.0, 0.0))
    return live, dead


RIDGE = 1e-5
"""Of the mean square: what holds numbers of which positions say little at the one number of all."""


def _fitted(
    boards: Boards, outcomes: Outcomes, gains: NDArray[np.float64], wanted: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """The table `float64[CHANCES, LENGTHS]` of the least square error of `wanted` = efficiency x `gains`, and the root
    mean square errors of one number and of the table.
    """
    wins = outcomes[:, : outcomes.shape[1] // 2].sum(axis=1, dtype=np.float64)
    columns = _shares(wins, CHANCES)[:, :, None] * _shares(pip_counts(boards).min(axis=1), LENGTHS)[:, None, :]
    columns = columns.reshape(len(boards), -1)
    one = float(gains @ wanted / (gains @ gains))
    weighed, left = columns * gains[:, None], wanted - one * gains
    normal = weighed.T @ weighed + RIDGE * len(boards) * np.eye(columns.shape[1])
    table = np.clip(one + np.linalg.solve(normal, weighed.T @ left), 0, 1).round(2)
    errors = wanted - gains * (columns @ table)
    return (
        table.reshape(len(CHANCES), len(LENGTHS)),
        float(np.sqrt((left**2).mean())),
        float(np.sqrt((errors**2).mean())),
    )


def _shares(values: NDArray[np.float64], grid: tuple[float, ...]) -> NDArray[np.float64]:
    """What each point of a grid contributes to the line between two of them, `float64[N, G]`."""
    i, along = places(values.astype(np.float64), grid)
    weights = np.zeros((len(values), len(grid)))
    weights[np.arange(len(values)), i] = 1 - along
    weights[np.arange(len(values)), i + 1] = along
    return weights


def _print_few(tables: NDArray[np.float64]) -> None:
    for name, table in zip(OWNERS, tables, strict=True):
        print(f"# {name}")
        for row in table:
            print(f"({', '.join(f'{x:.2f}' for x in row)}),")


# Contact


def fit_centre(args: argparse.Namespace) -> None:
    """By which efficiency of a centred cube computed match equities come nearest to the shipped table's."""
    shipped = shipped_table()
    wanted, points = shipped.utilities[0, 1:, 1:], CubeModel(find_rules("short")).points
    print("winning chance apart from the shipped table, before the Crawford game: root mean square, most")
    for x in np.arange(0.60, 0.91, 0.02):
        numbers = (float(x), *SHIPPED.contact[1:])
        table = computed_table(shipped.length, BACKGAMMON_ENDS, points, efficiency=numbers)
        apart = (table.utilities[0, 1:, 1:] - wanted) / 2
        print(f"{x:.2f} {np.sqrt((apart**2).mean()):.5f} {np.abs(apart).max():.4f}")


def fit_contact(args: argparse.Namespace) -> None:
    """Least squares of rollouts with the cube to live and dead cubes on the chances of rollouts without, same dice."""
    bot, model = load_bot("short"), CubeModel(find_rules("short"))
    boards = _contact_positions(bot, args.positions or 300, args.seed)
    games = args.games or 36
    rows: list[tuple[float, float, float]] = []
    chances: list[NDArray[np.float64]] = []
    for i, board in enumerate(tqdm(boards, unit=" positions")):
        plain = rollout(bot, board, games=games, seed=args.seed + i)
        centred, owned = (
            rollout(
                bot, board, state=CubeState(owner=owner, jacoby=False), decision=True, games=games, seed=args.seed + i
            )
            for owner in (None, 0)
        )
        chances.append(plain.lines[0].outcomes)
        rows.append((centred.lines[0].equity, owned.lines[0].equity, centred.lines[1].equity / 2))
    outcomes = np.clip(np.array(chances), 0, None).astype(np.float32)
    print(f"{len(boards)} positions, {games} games a rollout")
    for (name, owner), values in zip(OWNERS.items(), np.array(rows).T, strict=True):
        live, dead = _live_and_dead(model, outcomes, owner)
        gains, wanted = live - dead, values - dead
        x = float(gains @ wanted / (gains @ gains))
        errors = wanted - x * gains
        error = float(np.sqrt(((gains * errors) ** 2).sum()) / (gains @ gains))
        print(f"{name:12s} {x:.3f} +- {error:.3f}; root mean square error {np.sqrt((errors**2).mean()):.3f}")


def _contact_positions(bot: Bot, n: int, seed: int) -> Boards:
    """One position in contact before its roll of each of `n` games of the bot against itself."""
    lanes = new_lanes(bot.rules, n)
    boards, games, ply = lanes.boards, lanes.games, 0
    seen: list[list[Boards]] = [[] for _ in range(n)]
    while len(boards):
        dice = roll(seed, games, np.full(len(games), ply), "use_dice")
        after = expand(boards, dice, bot.rules)
        boards = after.boards[best_of_segments(bot.play_values(boards, after), after.offsets)]
        going_on = ~won(boards, bot.rules)
        boards, games, ply = boards[going_on], games[going_on], ply + 1
        contact = ~is_race(boards, bot.rules.board)
        for game, board in zip(games[contact], boards[contact], strict=True):
            seen[game].append(board)
    rng = np.random.default_rng(seed)
    return np.stack([positions[rng.integers(len(positions))] for positions in seen])


def _rounded(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(value, 4) for value in values)


if __name__ == "__main__":
    main()

"""Recover pubeval's 244 numbers from gnubg-nn, which evaluates them but does not list them.

    python scripts/recover_pubeval.py                  # writes nardy_ai/evaluators/pubeval.json
    python scripts/recover_pubeval.py --check FILE     # recovers and compares with another file of that form

`gnubg_nn.pub_eval_score` is linear in pubeval's inputs: scores of enough boards determine the weights, and the
published weights have five decimals, so rounding removes the error of single precision. Needs the extra `peers`.
"""

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_ai.boards import BAR, CONTRARY, FACING, OFF, SLOTS, Boards, finished, is_race
from nardy_ai.evaluators.baselines import pubeval_inputs

TARGET = Path(__file__).parents[1] / "nardy_ai" / "evaluators" / "pubeval.json"
CHECKERS = 15
BOARDS = 1500
DECIMALS = 5
LARGEST_RESIDUAL = 2e-5  # scores reach 200 and come in single precision
LARGEST_ROUNDING = 2e-6  # a wrong fifth decimal would show as a distance near half of 1e-5


def random_boards(rng: np.random.Generator, n: int, *, highest: int) -> Boards:
    """Boards with checkers anywhere up to own slot `highest` and no point shared, `int8[n, 2, 26]`."""
    boards = np.zeros((n, 2, SLOTS), dtype=np.int8)
    each = np.arange(n)
    for _ in range(12):
        side = rng.integers(0, 2, size=n)
        slot = rng.integers(1, highest + 1, size=n)
        wanted = rng.integers(1, rng.choice([2, 3, 4, 10], size=n))
        free = (slot == BAR) | (boards[each, 1 - side, FACING[CONTRARY][slot]] == 0)
        left = CHECKERS - boards[each, side].sum(axis=1)
        boards[each, side, slot] += (free * np.minimum(wanted, left)).astype(np.int8)
    boards[:, :, OFF] = CHECKERS - boards.sum(axis=2)
    return boards


def lone_boards(rng: np.random.Generator, n: int) -> Boards:
    """Boards where the other side, row 0, has all checkers off: gnubg-nn scores the mover by the race weights."""
    boards = random_boards(rng, n, highest=24)
    boards[:, 0] = 0
    boards[:, 0, OFF] = CHECKERS
    return boards


def scores_of(boards: Boards) -> NDArray[np.float64]:
    """gnubg-nn's score for the side that has just played, row 1, `float64[N]`; its boards list that side first."""
    import gnubg_nn

    return np.array([gnubg_nn.pub_eval_score([board[1, 1:].tolist(), board[0, 1:].tolist()]) for board in boards])


def recovered(boards: Boards) -> tuple[NDArray[np.float64], list[int]]:
    """Weights `float64[122]` that explain gnubg-nn's scores of `boards`, and the inputs that none of them shows."""
    inputs = pubeval_inputs(boards).astype(np.float64)
    scores = scores_of(boards)
    shown = np.flatnonzero(inputs.any(axis=0))
    normal = inputs[:, shown].T @ inputs[:, shown]
    undetermined = len(shown) - int(np.linalg.matrix_rank(normal, hermitian=True))
    if undetermined:
        raise SystemExit(f"{undetermined} of {len(shown)} weights are not determined; take more boards")
    solution = np.linalg.solve(normal, inputs[:, shown].T @ scores)
    weights = np.zeros(inputs.shape[1])
    weights[shown] = solution.round(DECIMALS)
    rounding = float(np.abs(solution - weights[shown]).max())
    residual = float(np.abs(inputs @ weights - scores).max())
    print(
        f"{len(boards)} boards, {len(shown)} weights: rounded by at most {rounding:.1e},"
        f" largest residual {residual:.1e}",
        file=sys.stderr,
    )
    if rounding > LARGEST_ROUNDING or residual > LARGEST_RESIDUAL:
        raise SystemExit("the scores are not pubeval's: the weights do not have five decimals")
    return weights + 0.0, sorted(set(range(len(weights))) - set(shown.tolist()))


def recover() -> dict[str, object]:
    """The contents of `pubeval.json`."""
    rng = np.random.default_rng(1)
    contact_boards = random_boards(rng, BOARDS, highest=BAR)
    contact_boards = contact_boards[~is_race(contact_boards, CONTRARY) & ~finished(contact_boards)]
    contact, contact_hidden = recovered(contact_boards)

    parts = [lone_boards(rng, BOARDS)]
    for mine in range(1, 24):  # row 1 up to `mine`, row 0 up to 24 - mine: the sides have passed each other
        part = random_boards(rng, BOARDS // 10, highest=max(mine, 24 - mine))
        part[:, 1, mine + 1 :] = 0
        part[:, 0, 25 - mine :] = 0
        part[:, :, OFF] = 0
        part[:, :, OFF] = CHECKERS - part.sum(axis=2)
        parts.append(part)
    race_boards = np.concatenate(parts)
    race_boards = race_boards[is_race(race_boards, CONTRARY) & (race_boards[:, 1, OFF] < CHECKERS)]
    race, race_hidden = recovered(race_boards)

    if contact_hidden or race_hidden != [115, 120]:
        raise SystemExit(f"not shown: contact {contact_hidden}, race {race_hidden}; expected none and [115, 120]")
    return {
        "source": "pubeval, by Gerald Tesauro, IBM Research, 1993; public domain as OpenBSD's pubeval.c 1.3 says",
        "note": (
            f"Recovered by scripts/recover_pubeval.py from gnubg-nn {version('gnubg-nn')} (pub_eval_score)."
            " All 122 contact weights and 120 race weights are solved for. Two race weights can be shown by no"
            " board: race[115], an enemy blot on the own ace point, and race[120], an enemy checker on the bar, are"
            " never in a race while the mover has a checker left. They take no part in any play; their published"
            " value is 0, as OpenBSD's pubeval.c has it."
        ),
        "contact": contact.tolist(),
        "race": race.tolist(),
    }


def differences(ours: dict[str, object], path: Path) -> list[str]:
    """One line for each of the 244 numbers that differs from those of another file."""
    theirs = json.loads(path.read_text(encoding="utf-8"))
    lines = []
    for name in ("contact", "race"):
        one, other = np.asarray(ours[name]), np.asarray(theirs[name])
        if one.shape != other.shape:
            lines.append(f"{name}: {one.size} numbers against {other.size}")
            continue
        lines += [f"{name}[{i}]: {one[i]:.5f} against {other[i]:.5f}" for i in np.flatnonzero(one != other)]
    return lines


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Recover pubeval's 244 numbers from gnubg-nn.")
    parser.add_argument("--check", type=Path, metavar="FILE", help="compare with this file and write nothing")
    arguments = parser.parse_args(argv)
    table = recover()
    if arguments.check:
        lines = differences(table, arguments.check)
        print("\n".join(lines) if lines else f"all 244 numbers agree with {arguments.check}")
        return 1 if lines else 0
    temporary = TARGET.with_suffix(".tmp")
    temporary.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    temporary.replace(TARGET)
    print(f"wrote {TARGET}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

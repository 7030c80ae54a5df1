"""The compiled move kernel against its slow twin, and what a batch must keep whatever is in it."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from positions import invented_boards, random_rolls, reached_boards, results_by_reference

from nardy_ai.boards import BAR, FACING, OFF, SLOTS, Boards, finished
from nardy_ai.errors import BoardError
from nardy_ai.movegen import kernels
from nardy_ai.movegen.generate import Afterstates, afterstates, expand, kernel_rules
from nardy_ai.rules import CHOICES, RuleSet, find_rules, preset_names, start_boards

SHORT, LONG = find_rules("short"), find_rules("long")

BOARDS_PER_PRESET = 240
BOARDS_PER_ODD_RULES = 120
SLOW_BOARDS_PER_PRESET = 21_000
SLOW_BOARDS_PER_ODD_RULES = 3_000
CHUNK = 600


def _odd_rules() -> dict[str, RuleSet]:
    """Rule sets that no preset has, by what is odd about them: every value of every option, and crossed ones."""
    hider = replace(SHORT, hit_hide="no_hide", hit_hide_scope="board")
    head = replace(SHORT, start={24: 15}, head_limit=1)
    hits_in_long = replace(LONG, closed_by=2)
    odd = {f"long head {value}": replace(LONG, head_exception=value) for value in CHOICES["head_exception"]}
    odd |= {f"short head {value}": replace(head, head_exception=value) for value in CHOICES["head_exception"]}
    for block in ("ahead", "home", "never"):
        for check in CHOICES["six_block_check"]:
            changes = {"six_block": block, "six_block_check": check}
            odd[f"long block {block} {check}"] = replace(LONG, **changes)
            odd[f"short block {block} {check}"] = replace(SHORT, **changes)
            odd[f"long with hits, block {block} {check}"] = replace(hits_in_long, **changes)
    for scope in CHOICES["hit_hide_scope"]:
        odd[f"no_run {scope}"] = replace(SHORT, hit_hide="no_run", hit_hide_scope=scope)
        for check in CHOICES["hit_hide_check"]:
            odd[f"no_hide {scope} {check}"] = replace(hider, hit_hide_scope=scope, hit_hide_check=check)
    odd |= {f"{n} checkers": replace(SHORT, start={24: n}, checkers=n) for n in range(1, 16)}
    odd |= {
        "long without head rule": replace(LONG, head_limit=None, head_exception="none"),
        "short without hits": replace(SHORT, closed_by=1),
        "short without hits, block never step": replace(
            SHORT, closed_by=1, six_block="never", six_block_check="step"
        ),
        "long with hits, no_hide board final": replace(
            hits_in_long, hit_hide="no_hide", hit_hide_scope="board", hit_hide_check="final"
        ),
        "no_hide, block home step": replace(hider, six_block="home", six_block_check="step"),
        "no_hide final, block ahead step, head": replace(
            hider, six_block="ahead", six_block_check="step", hit_hide_check="final", head_limit=1
        ),
        "no_run board, block never final": replace(
            SHORT, hit_hide="no_run", hit_hide_scope="board", six_block="never"
        ),
        "long with hits, no_run board, block never step, if_blocked": replace(
            hits_in_long, hit_hide="no_run", hit_hide_scope="board", six_block="never", six_block_check="step",
            head_exception="if_blocked",
        ),
    }  # fmt: skip
    return {name: replace(rules, name=name) for name, rules in odd.items()}


ODD_RULES = _odd_rules()


def contested_boards(rules: RuleSet, n: int, seed: int) -> tuple[Boards, np.ndarray]:
    """`n` boards where the odd options decide, `int8[n, 2, 26]`, each with a roll `uint8[n, 2]`.

    Six own points in a row with gaps that one roll can fill, blots of the other side in reach, one or none of them past
    the block, checkers on the bar: what hardly ever comes together by chance.
    """
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, SLOTS), dtype=np.int8)
    for board in boards:
        while finished(board[None])[0]:
            board[:] = _contested_board(rules, rng)
    return boards, random_rolls(n, rng)


def _contested_board(rules: RuleSet, rng: np.random.Generator) -> Boards:
    facing = FACING[rules.board]
    own: list[int] = []
    lowest = int(rng.integers(1, 20))
    block = np.arange(lowest, lowest + 6)
    own += block[rng.random(6) < 0.75].tolist()
    behind = np.arange(lowest + 1, min(lowest + 12, 25))
    own += rng.choice(behind, size=rng.integers(1, 5)).tolist()
    if rules.closed_by == 2:
        own += [BAR] * int(rng.choice([0, 0, 0, 1, 2]))
    left = rules.checkers - len(own)
    own += rng.choice([OFF, own[0], own[-1]], size=max(left, 0)).tolist()
    mine = np.bincount(own[: rules.checkers], minlength=SLOTS)

    free = [q for q in range(1, 25) if not mine[facing[q]]]
    blots = rng.choice(free, size=min(int(rng.integers(0, 5)), rules.checkers, len(free)), replace=False)
    his = np.bincount(blots, minlength=SLOTS)
    rest = BAR if rules.closed_by == 2 and rng.random() < 0.5 else max(free)
    his[rest] += rules.checkers - len(blots)
    return np.stack((mine, his)).astype(np.int8)


@cache
def sample(rules: RuleSet, n: int, seed: int = 1) -> tuple[Boards, np.ndarray]:
    """Boards of three kinds, as many of each, with their rolls: reached, invented and contested."""
    kinds = [make(rules, n // 3, seed) for make in (reached_boards, invented_boards, contested_boards)]
    return np.concatenate([boards for boards, _ in kinds]), np.concatenate([rolls for _, rolls in kinds])


def assert_kernel_agrees(rules: RuleSet, boards: Boards, rolls: np.ndarray) -> None:
    """Kernel and reference give the same set on every board, the kernel no result twice."""
    after = afterstates(boards, rolls, rules)
    for i, (board, roll) in enumerate(zip(boards, rolls, strict=True)):
        found = [result.tobytes() for result in after.boards[after.offsets[i] : after.offsets[i + 1]]]
        dice = (int(roll[0]), int(roll[1]))
        wanted = results_by_reference(board, dice, rules)

        assert len(set(found)) == len(found), f"{rules} {dice} repeats a result on\n{board.tolist()}"
        assert set(found) == wanted, (
            f"{rules}\n{dice} on {board.tolist()}\n"
            f"too many: {[np.frombuffer(r, np.int8).reshape(2, 26).tolist() for r in set(found) - wanted]}\n"
            f"missing: {[np.frombuffer(r, np.int8).reshape(2, 26).tolist() for r in wanted - set(found)]}"
        )


@pytest.mark.parametrize("preset", preset_names())
def test_kernel_finds_what_the_reference_finds(preset: str):
    rules = find_rules(preset)

    assert_kernel_agrees(rules, *sample(rules, BOARDS_PER_PRESET))


@pytest.mark.parametrize("name", ODD_RULES)
def test_kernel_follows_options_that_no_preset_has(name: str):
    rules = ODD_RULES[name]

    assert_kernel_agrees(rules, *sample(rules, BOARDS_PER_ODD_RULES))


@pytest.mark.slow
@pytest.mark.parametrize("preset", preset_names())
def test_kernel_finds_what_the_reference_finds_on_many_boards(preset: str):
    rules = find_rules(preset)
    for seed in range(SLOW_BOARDS_PER_PRESET // CHUNK):
        assert_kernel_agrees(rules, *sample.__wrapped__(rules, CHUNK, 100 + seed))


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD_RULES)
def test_kernel_follows_odd_options_on_many_boards(name: str):
    rules = ODD_RULES[name]
    for seed in range(SLOW_BOARDS_PER_ODD_RULES // CHUNK):
        assert_kernel_agrees(rules, *sample.__wrapped__(rules, CHUNK, 100 + seed))


# Batches


def mixed_batch(rules: RuleSet) -> tuple[Boards, np.ndarray]:
    return sample(rules, BOARDS_PER_PRESET)


def assert_same(one: Afterstates, other: Afterstates) -> None:
    assert one.offsets.tolist() == other.offsets.tolist()
    assert one.boards.tobytes() == other.boards.tobytes()


@pytest.mark.parametrize("rules", [SHORT, LONG, ODD_RULES["no_hide board final"]], ids=lambda rules: rules.name)
def test_permuted_batch_has_permuted_results(rules: RuleSet):
    boards, rolls = mixed_batch(rules)
    order = np.random.default_rng(3).permutation(len(boards))
    whole = afterstates(boards, rolls, rules)

    permuted = afterstates(boards[order], rolls[order], rules)

    segments = [whole.boards[whole.offsets[i] : whole.offsets[i + 1]] for i in order]
    assert permuted.boards.tobytes() == np.concatenate(segments).tobytes()
    assert permuted.counts().tolist() == whole.counts()[order].tolist()


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=lambda rules: rules.name)
def test_split_batch_has_split_results(rules: RuleSet):
    boards, rolls = mixed_batch(rules)
    whole = afterstates(boards, rolls, rules)

    parts = [afterstates(boards[i : i + 7], rolls[i : i + 7], rules) for i in range(0, len(boards), 7)]

    assert np.concatenate([part.boards for part in parts]).tobytes() == whole.boards.tobytes()
    assert np.concatenate([part.counts() for part in parts]).tolist() == whole.counts().tolist()


def test_two_threads_find_what_one_finds():
    """The kernel runs without the GIL, each call in its own buffers."""
    boards, rolls = (np.tile(array, (20, *[1] * (array.ndim - 1))) for array in mixed_batch(SHORT))
    half = len(boards) // 2
    whole = afterstates(boards, rolls, SHORT)

    with ThreadPoolExecutor(2) as pool:
        parts = list(
            pool.map(lambda cut: afterstates(boards[cut], rolls[cut], SHORT), (slice(half), slice(half, None)))
        )

    assert np.concatenate([part.boards for part in parts]).tobytes() == whole.boards.tobytes()


def test_empty_batch_has_no_results():
    after = afterstates(start_boards(SHORT, 0), np.zeros((0, 2), dtype=np.uint8), SHORT)

    assert after.boards.shape == (0, 2, 26)
    assert after.offsets.tolist() == [0]


@pytest.mark.parametrize("row", [0, 1])
def test_finished_board_is_refused_by_its_number(row: int):
    boards = start_boards(SHORT, 3)
    boards[1, row] = 0
    boards[1, row, 0] = 15

    with pytest.raises(BoardError, match="board 1: the game is over"):
        afterstates(boards, (3, 1), SHORT)


def spread_board() -> Boards:
    """One checker on each of 24..10, all ways open: more results on 1-1 than the first buffer of one board holds."""
    board = start_boards(SHORT)
    board[0, 0] = 0
    board[0, 0, 10:25] = 1
    board[0, 1] = 0
    board[0, 1, [25, 24]] = 8, 7
    return board


def test_roll_with_more_results_than_the_first_buffer_holds():
    board = spread_board()

    after = afterstates(board, (1, 1), SHORT)

    assert len(after.boards) > 24 + 2 * kernels.MOST_OF_TWO_DICE
    assert {result.tobytes() for result in after.boards} == results_by_reference(board[0], (1, 1), SHORT)


def test_batch_with_more_results_than_the_first_buffer_holds():
    boards, rolls = mixed_batch(SHORT)
    counts = afterstates(boards, rolls, SHORT).counts()
    many = np.argsort(-counts)[:20].repeat(20)
    parts = [afterstates(boards[i : i + 1], rolls[i : i + 1], SHORT).boards for i in many]

    after = afterstates(boards[many], rolls[many], SHORT)

    assert len(after.boards) > 24 * len(many) + 2 * kernels.MOST_OF_TWO_DICE
    assert after.boards.tobytes() == np.concatenate(parts).tobytes()


def test_kernel_stops_where_room_ends_and_goes_on_from_there():
    """The double in the middle is begun again until all its results fit."""
    boards = np.concatenate((start_boards(SHORT), spread_board(), start_boards(SHORT)))
    rolls = np.array([(3, 1), (1, 1), (6, 5)], dtype=np.uint8)
    whole = expand(boards, rolls, SHORT)
    out = np.empty((len(whole.boards) + 2 * kernels.MOST_OF_TWO_DICE, 13), dtype=np.int32)
    offsets = np.zeros(4, dtype=np.int64)
    room, at, m = kernels.MOST_OF_TWO_DICE, 0, 0
    stops = []
    while at < len(boards):
        at, m = kernels.expand(boards, rolls, kernel_rules(SHORT), FACING[SHORT.board], at, 3, out, m, room, offsets)
        assert m == whole.offsets[at] <= room
        stops.append(at)
        room += 64

    assert stops.count(1) > (int(whole.offsets[2]) - kernels.MOST_OF_TWO_DICE) // 64
    assert out[:m].tobytes() == whole.boards.tobytes()
    assert offsets.tolist() == whole.offsets.tolist()


def test_kernel_runs_as_ordinary_python_with_compilation_off():
    """`NUMBA_DISABLE_JIT=1`: the same bytes, in the same order."""
    program = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_kernel_against_reference import digest_of_few\n"
        "print(digest_of_few())"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}

    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program, str(Path(__file__).parent)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest_of_few()


def digest_of_few() -> str:
    """The results on a few fixed positions, in one text."""
    digest = hashlib.sha256()
    for rules in (SHORT, LONG, ODD_RULES["no_hide, block home step"]):
        boards, rolls = invented_boards(rules, 12, seed=8)
        digest.update(expand(boards, rolls, rules).boards.tobytes())
    return digest.hexdigest()

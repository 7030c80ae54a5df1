"""Bearoff tables: known values, slow recursions over the reference generator, what is covered, and the cache file."""

from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from positions import board_of

from nardy_ai.dice import ROLL_WEIGHTS, ROLLS
from nardy_ai.errors import BoardError
from nardy_ai.exact import bearoff
from nardy_ai.exact.bearoff import Bearoff, bearoff_tables, exact_at, is_covered, nearly_exact_at
from nardy_ai.exact.cache import cache_folder, kept, read_tables, write_tables
from nardy_ai.exact.ranking import ranking
from nardy_ai.movegen import reference
from nardy_ai.outcomes import equities
from nardy_ai.rules import RuleSet, find_rules

SHORT = find_rules("short")
HYPER = find_rules("hyper")
Slots = tuple[int, ...]


@pytest.fixture(scope="module")
def tables() -> Bearoff:
    return bearoff_tables()


def home(mine: Slots, his: Slots, checkers: int = 15) -> np.ndarray:
    return board_of({p: mine.count(p) for p in mine}, {p: his.count(p) for p in his}, checkers)


@cache
def successors(slots: Slots) -> tuple[frozenset[Slots], ...]:
    """What a side at home can come to by each of the 21 rolls, by the reference; off checkers left out."""
    board = home(slots, (1,))
    return tuple(
        frozenset(
            tuple(p for p in range(1, 7) for _ in range(play.board[0, p]))
            for play in reference.plays(board, roll, SHORT)
        )
        for roll in ROLLS
    )


def sides(most: int) -> list[Slots]:
    return [side for n in range(1, most + 1) for side in combinations_with_replacement(range(1, 7), n)]


@cache
def slow_rolls(slots: Slots) -> tuple[float, ...]:
    """One side alone: the chances to be off after exactly n rolls, playing for the fewest on average."""
    if not slots:
        return (1.0,)
    answer = np.zeros(bearoff.MOST_ROLLS)
    for weight, after in zip(ROLL_WEIGHTS, successors(slots), strict=True):
        best = min((slow_rolls(s) for s in after), key=lambda c: sum(n * chance for n, chance in enumerate(c)))
        answer[1 : len(best) + 1] += weight * np.array(best[: len(answer) - 1])
    return tuple(answer)


@cache
def slow_first(slots: Slots) -> tuple[float, ...]:
    """The same for the first checker off."""
    answer = np.zeros(bearoff.MOST_ROLLS)
    for weight, after in zip(ROLL_WEIGHTS, successors(slots), strict=True):
        if any(len(s) < len(slots) for s in after):
            answer[1] += weight
        else:
            best = min((slow_first(s) for s in after), key=lambda c: sum(n * chance for n, chance in enumerate(c)))
            answer[1:] += weight * np.array(best[:-1])
    return tuple(answer)


@cache
def slow_win(mine: Slots, his: Slots) -> float:
    """The chance of the side on roll, cubeless."""
    return sum(
        weight * max(1.0 if not s else 1 - slow_win(his, s) for s in after)
        for weight, after in zip(ROLL_WEIGHTS, successors(mine), strict=True)
    )


@cache
def slow_cube(mine: Slots, his: Slots, owner: str) -> tuple[float, float]:
    """Rolled without an offer, and with the right decision. owner: nobody, me, him."""
    seen = {"nobody": "nobody", "me": "him", "him": "me"}[owner]
    rolled = sum(
        weight * max(1.0 if not s else -slow_cube(his, s, seen)[1] for s in after)
        for weight, after in zip(ROLL_WEIGHTS, successors(mine), strict=True)
    )
    if owner == "him":
        return rolled, rolled
    return rolled, max(rolled, min(1.0, 2 * slow_cube(mine, his, "him")[0]))


@pytest.mark.parametrize(
    ("mine", "wins"), [((5, 2), 19), ((6, 1), 15), ((4, 4), 11), ((6, 5), 6), ((6, 6), 4), ((1, 1), 36)]
)
def test_rolls_that_take_two_checkers_off_win_against_one_on_the_ace(mine, wins, tables):
    (win, *_), cube = tables.outcomes(home(mine, (1,)), SHORT)[0], tables.cube_values(home(mine, (1,)), SHORT)
    assert win == pytest.approx(wins / 36, abs=1e-7)
    rolled = 2 * wins / 36 - 1
    assert cube.no_double[0] == pytest.approx(rolled, abs=1e-6)
    assert cube.best[0, :2] == pytest.approx(max(rolled, min(1, 2 * rolled)), abs=1e-6)
    assert cube.best[0, 2] == pytest.approx(rolled, abs=1e-6)


def test_five_and_two_against_the_ace_double_and_take(tables):
    """No double +0.0556, double and take +0.1111."""
    cube = tables.cube_values(home((5, 2), (1,)), SHORT)
    assert cube.no_double[0, 0] == pytest.approx(0.0556, abs=5e-5)
    assert 2 * cube.no_double[0, 2] == pytest.approx(0.1111, abs=5e-5)


def test_one_sided_chances_are_those_of_the_slow_recursion(tables):
    for slots in sides(3):
        rank = ranking(15, 6).ranks(home(slots, (1,))[None], 0)[0]
        assert tables.off[rank] == pytest.approx(slow_rolls(slots), abs=1e-7), slots
        assert tables.first[rank] == pytest.approx(slow_first(slots), abs=1e-7), slots


def test_two_sided_values_are_those_of_the_slow_recursion(tables):
    pairs = [(mine, his) for mine in sides(2) for his in sides(2)]
    boards = np.array([home(*pair) for pair in pairs])
    assert tables.outcomes(boards, SHORT)[:, 0] == pytest.approx([slow_win(*pair) for pair in pairs], abs=1e-6)
    cube = tables.cube_values(boards, SHORT)
    for column, owner in enumerate(("nobody", "me", "him")):
        slow = np.array([slow_cube(*pair, owner) for pair in pairs])
        assert cube.no_double[:, column] == pytest.approx(slow[:, 0], abs=1e-6)
        assert cube.best[:, column] == pytest.approx(slow[:, 1], abs=1e-6)


def test_chances_sum_to_1_and_the_longest_way_off_fits(tables):
    assert tables.off.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert tables.first.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert tables.off[:, -1].max() == 0
    fifteen_on_six = ranking(15, 6).ranks(home((6,) * 15, (1,))[None], 0)[0]
    assert np.flatnonzero(tables.off[fifteen_on_six])[[0, -1]].tolist() == [4, 30]  # four 6-6, thirty 2-1


def test_one_sided_race_chances_are_near_the_exact_ones(tables):
    """Boards of up to six a side are off by less than 0.001 on average, by 0.013 at worst."""
    pairs = np.random.default_rng(1).integers(1, 924, size=(20_000, 2))
    boards = ranking(6, 6).rows[pairs].copy()
    boards[:, :, 0] += 9
    exact = tables.outcomes(boards, SHORT)[:, 0]
    near = tables.race_outcomes(boards, SHORT)[:, 0]
    assert np.abs(near - exact).max() < 0.015
    assert np.abs(near - exact).mean() < 0.001


def test_mars_is_lost_only_by_a_side_with_none_off(tables):
    """Against two checkers on the ace, which go with any roll: mars if all fifteen, on the six point, are still on.

    Row 1 there has had no roll, and with one off it loses a single game. Row 0 there rolls once before: one checker
    must be moved six pips exactly, by a 6, by 5-1, 4-2, 3-3 or three of 2-2; a larger number does not go from below.
    """
    boards = np.array([home((1, 1), (6,) * 15), home((1, 1), (6,) * 14), home((6,) * 15, (1, 1))])
    outcomes = tables.race_outcomes(boards, SHORT)
    assert outcomes[0] == pytest.approx([0, 1, 0, 0, 0, 0], abs=1e-6)
    assert outcomes[1] == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-6)
    takes_one_off = sum(
        weight
        for weight, (high, low) in zip(ROLL_WEIGHTS, ROLLS.tolist(), strict=True)
        if high == 6 or high + low == 6 or (high, low) == (2, 2)
    )
    assert outcomes[2, 4] == pytest.approx(1 - takes_one_off, abs=1e-6)
    assert outcomes[2, 3] == pytest.approx(takes_one_off, abs=1e-6)
    assert tables.race_outcomes(boards, find_rules("short-dave"))[:, [1, 4]].max() == 0


def slow_race(tables: Bearoff, boards: np.ndarray, rules: RuleSet) -> np.ndarray:
    """`Bearoff.race_outcomes` by sums over the rolls of each side: off with one's n-th, while the other has had ..."""
    answers = np.zeros((len(boards), 6))
    off = tables.roll_chances(boards, rules).astype(np.float64)
    sides = ranking(15, 6)
    for i, board in enumerate(boards):
        still_on = 1 - np.cumsum(off[i], axis=1)
        none_yet = np.zeros_like(still_on)
        for side in (0, 1):
            if board[side, 0] == 0 and rules.scoring != "oin":
                none_yet[side] = 1 - np.cumsum(tables.first[sides.ranks(board[None], side)[0]].astype(np.float64))
        for n in range(1, bearoff.MOST_ROLLS):
            answers[i, 0] += off[i, 0, n] * (still_on[1, n - 1] - none_yet[1, n - 1])
            answers[i, 1] += off[i, 0, n] * none_yet[1, n - 1]
            answers[i, 3] += off[i, 1, n] * (still_on[0, n] - none_yet[0, n])
            answers[i, 4] += off[i, 1, n] * none_yet[0, n]
    return answers


def races_at_home(n: int, seed: int, checkers: int = 15) -> np.ndarray:
    """Races at home: any number of checkers, few, and few against a side that has none off, in turns."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 2, 26), dtype=np.int8)
    for i in range(n):
        most = (checkers, min(8, checkers), min(3, checkers))[i % 3]
        for side in (0, 1):
            all_on = i % 6 == 2 + 3 * side  # far enough back for mars
            left = checkers if all_on else rng.integers(1, most + 1)
            boards[i, side] = np.bincount(rng.integers(6 if all_on else 1, 7, size=left), minlength=26)
            boards[i, side, 0] = checkers - left
    return boards


@pytest.mark.parametrize("rules", ["short", "short-dave", "long"])
def test_race_chances_are_those_of_the_slow_sums(rules, tables):
    """To 1e-6: single precision, and what is left of a race when it is taken to be over."""
    boards = races_at_home(300, seed=2)
    rules = find_rules(rules)
    right = slow_race(tables, boards, rules)
    assert ((right[:, [1, 4]] > 0.1).sum(axis=0) > 10).tolist() == [rules.scoring != "oin"] * 2
    assert tables.race_outcomes(boards, rules) == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("rules", ["short", "short-dave", "hyper"])
def test_look_up_answers_by_the_best_table_that_covers_a_board(rules, tables):
    rules = find_rules(rules)
    boards = races_at_home(300, seed=3, checkers=rules.checkers)
    boards[::5, 0, 7], boards[::5, 0, 6] = boards[::5, 0, 6], 0  # outside
    answers, values, covered = tables.look_up(boards, rules)
    assert np.array_equal(covered, nearly_exact_at(boards, rules))
    exact = exact_at(boards, rules)
    assert min(exact.sum(), (covered & ~exact).sum(), (~covered).sum()) > 10
    assert np.array_equal(answers[exact], tables.outcomes(boards[exact], rules))
    near = covered & ~exact
    assert np.array_equal(answers[near], tables.race_outcomes(boards[near], rules))
    assert values[covered] == pytest.approx(equities(answers[covered], rules), abs=1e-6)


@pytest.mark.parametrize("rules", ["long", "long-home-block", "nardgammon", "caucasian", "tavla"])
def test_a_race_is_the_same_in_every_rule_set(rules, tables):
    board = home((5, 5, 2), (6, 4, 1))
    assert np.array_equal(tables.outcomes(board, find_rules(rules)), tables.outcomes(board, SHORT))


def test_a_rule_set_with_few_checkers_reads_the_same_tables(tables):
    few = home((5, 2), (1,), checkers=3)
    assert np.array_equal(tables.outcomes(few, HYPER), tables.outcomes(home((5, 2), (1,)), SHORT))


@pytest.mark.parametrize(
    ("mine", "his", "rules", "exact", "near"),
    [
        ((6, 6), (1,), SHORT, True, True),
        ((1,) * 7, (1,), SHORT, False, True),  # more than six checkers
        ((7, 1), (1,), SHORT, False, False),  # outside
        ((25,), (1,), SHORT, False, False),  # on the bar
        ((1,) * 15, (1,), SHORT, False, True),
        ((1, 1, 1), (1,), HYPER, False, True),  # none off: mars can be lost
        ((1, 1, 1), (1,), replace(HYPER, scoring="oin"), True, True),  # no mars to lose
        ((1,), (1,), find_rules("long-left"), False, False),  # asks for the checkers left
        ((1,), (1,), replace(find_rules("long"), six_block="never"), False, False),  # a block at home is forbidden
        ((1,), (1,), replace(HYPER, six_block="never"), True, True),  # three checkers make no block
        ((), (1,), SHORT, False, False),  # over
    ],
)
def test_what_is_covered(mine, his, rules, exact, near, tables):
    boards = home(mine, his, rules.checkers)[None]
    assert exact_at(boards, rules).tolist() == [exact]
    assert nearly_exact_at(boards, rules).tolist() == [near]
    if not near:
        with pytest.raises(BoardError, match="one-sided tables"):
            tables.race_outcomes(boards, rules)
    if not exact:
        with pytest.raises(BoardError, match="two-sided tables"):
            tables.outcomes(boards, rules)


def test_a_forbidden_block_makes_a_race_another_game():
    """Why `never` is left out: it forbids six in a row at home, which `ahead` allows once they have passed."""
    never = replace(find_rules("long"), six_block="never")
    board = home((1, 2, 3, 3, 4, 6, 6), (1,))  # 6/5 3/1 makes the block
    assert not is_covered(never)
    roll = (2, 1)
    assert len(reference.plays(board, roll, never)) < len(reference.plays(board, roll, find_rules("long")))


@pytest.mark.parametrize(("checkers", "top"), [(1, 25), (3, 25), (6, 6), (15, 6)])
def test_ranks_number_all_sides_without_a_gap(checkers, top):
    numbering = ranking(checkers, top)
    boards = np.stack((numbering.rows, numbering.rows[::-1]), axis=1)
    everyone = np.arange(numbering.sides)
    assert np.array_equal(numbering.ranks(boards, 0), everyone)
    assert np.array_equal(numbering.boards(numbering.pairs(boards)), boards)
    assert (numbering.rows.sum(axis=1) == checkers).all()
    assert numbering.rows[0, 0] == checkers


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NARDY_CACHE", str(tmp_path))
    return tmp_path


ABOUT = {"game": "test", "size": 3}


def numbers() -> dict[str, np.ndarray]:
    return {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(0, dtype=np.int8)}


@pytest.mark.parametrize("compressed", [True, False])
def test_tables_are_made_once(compressed, folder):
    notes: list[str] = []
    first = kept("test", ABOUT, numbers, compressed=compressed, note=notes.append)
    again = kept("test", ABOUT, lambda: pytest.fail("made again"), compressed=compressed, note=notes.append)
    assert notes == ["making test (once) ..."]
    assert all(np.array_equal(first[key], again[key]) and first[key].dtype == again[key].dtype for key in first)
    assert [path.name for path in folder.iterdir()] == ["test.npz"]


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (lambda data: data[: len(data) // 2], "damaged"),
        (lambda data: b"", "damaged"),
        (lambda data: b"no archive at all", "damaged"),
    ],
)
def test_a_damaged_file_is_made_again_with_a_note(harm, reason, folder):
    kept("test", ABOUT, numbers)
    path = folder / "test.npz"
    path.write_bytes(harm(path.read_bytes()))
    notes: list[str] = []
    assert np.array_equal(kept("test", ABOUT, numbers, note=notes.append)["a"], numbers()["a"])
    assert len(notes) == 1
    assert reason in notes[0]
    assert str(path) in notes[0]
    read_tables(path, ABOUT)


def test_changed_numbers_are_found_by_the_checksum(folder, monkeypatch):
    path = folder / "test.npz"
    with monkeypatch.context() as patch:
        patch.setattr("nardy_ai.exact.cache._checksum", lambda tables: "0" * 64)
        write_tables(path, numbers(), ABOUT)
    with pytest.raises(ValueError, match="checksum"):
        read_tables(path, ABOUT)


def test_another_format_or_subject_is_made_again(folder, monkeypatch):
    path = folder / "test.npz"
    write_tables(path, numbers(), ABOUT)
    with pytest.raises(ValueError, match="something else"):
        read_tables(path, ABOUT | {"size": 4})
    monkeypatch.setattr("nardy_ai.exact.cache.FORMAT", 99)
    with pytest.raises(ValueError, match="format 99"):
        read_tables(path, ABOUT)


def test_a_folder_that_cannot_be_written_costs_a_note_only(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("NARDY_CACHE", str(file / "below"))
    notes: list[str] = []
    assert np.array_equal(kept("test", ABOUT, numbers, note=notes.append)["a"], numbers()["a"])
    assert "cannot be written" in notes[-1]


def test_the_cache_lies_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("NARDY_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "nardy_ai"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parts[-2:] == (".cache", "nardy_ai")
    monkeypatch.setenv("NARDY_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"

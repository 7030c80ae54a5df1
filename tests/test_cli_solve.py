"""`nardy solve` and `nardy benchmark --exact`: what is printed, what is kept, what is refused."""

import json

import pytest
from complaints import complaint

from nardy_ai import __version__
from nardy_ai.cli.main import main
from nardy_ai.exact.solve import few_checkers, solve, solve_cube
from nardy_ai.rules import find_rules, start_boards

ONE = few_checkers(find_rules("hyper"), 1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NARDY_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def rules_file(tmp_path) -> str:
    path = tmp_path / "one.toml"
    path.write_text('base = "hyper"\ncheckers = 1\nstart = { 24 = 1 }\n', encoding="utf-8")
    return str(path)


def test_solve_prints_the_start_and_how_sure_it_is(capsys):
    assert main(["solve", "hyper", "--checkers", "1"]) == 0
    captured = capsys.readouterr()
    solution = solve(ONE)
    assert captured.out.startswith(f"nardy {__version__}, rules hyper-1, 1 checkers a side, no cube\n")
    assert "positions    601" in captured.out
    assert f"{float(solution.equities(start_boards(ONE))[0]):+.6f} for the side on roll" in captured.out
    assert f"error bound  {solution.bound:.1e}" in captured.out
    assert "mars or more" in captured.out
    assert "making solution" in captured.err
    assert "sweep 1" in captured.err


def test_json_has_the_numbers_of_the_solution(capsys):
    assert main(["solve", "hyper", "--checkers", "1", "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    solution = solve(ONE)
    assert (found["rules"], found["positions"], found["sweeps"]) == ("hyper-1", 601, solution.effort.sweeps)
    assert found["start"]["equity"] == pytest.approx(float(solution.equities(start_boards(ONE))[0]), abs=1e-6)
    assert found["start"]["win"] == pytest.approx(sum(solution.outcomes(start_boards(ONE))[0, :3]), abs=1e-6)
    assert sum(found["start"]["outcomes"].values()) == pytest.approx(1, abs=1e-5)
    assert 0 < found["bound"] < 1e-6


def test_a_game_solved_before_is_read(capsys):
    assert main(["solve", "hyper", "--checkers", "1", "--quiet", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["solve", "hyper", "--checkers", "1", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert {**json.loads(captured.out), "seconds": 0} == {**first, "seconds": 0}


@pytest.mark.parametrize(
    ("options", "jacoby", "beavers"),
    [([], True, False), (["--no-jacoby"], False, False), (["--beavers"], True, True)],
)
def test_solve_with_the_cube_follows_the_match_options_unless_told_otherwise(options, jacoby, beavers, capsys):
    """Hyper nardy is played with Jacoby's rule and without beavers."""
    assert main(["solve", "hyper", "--checkers", "1", "--cube", "--quiet", "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    values = solve_cube(ONE, jacoby=jacoby, beavers=beavers).values(start_boards(ONE))
    assert found["cube"] == {"jacoby": jacoby, "beavers": beavers}
    for name, row in (("no_double", values.no_double[0]), ("best", values.best[0])):
        assert list(found["start"][name]) == ["centre", "mine", "his"]
        assert list(found["start"][name].values()) == pytest.approx(row.tolist(), abs=1e-6)


def test_the_cube_solution_is_printed_and_read_the_next_time(capsys):
    argv = ["solve", "hyper", "--checkers", "1", "--cube"]
    assert main(argv) == 0
    first = capsys.readouterr()
    start = solve_cube(ONE, jacoby=True, beavers=False).values(start_boards(ONE))
    assert "1 checkers a side, money cube, Jacoby\n" in first.out
    for value in (*start.no_double[0], *start.best[0]):
        assert f"{value:+.6f}" in first.out
    assert "making cube-" in first.err
    assert main(argv) == 0
    again = capsys.readouterr()
    assert again.err == ""
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["short", "--cube"], "up to 3 checkers a side are solved"),
        (["hyper", "--checkers", "1", "--jacoby"], "give --cube"),
        (["hyper", "--checkers", "1", "--no-beavers"], "give --cube"),
        (["short"], "up to 3 checkers a side are solved"),
        (["long", "--checkers", "4"], "4 checkers a side"),
        (["hyper", "--checkers", "0"], "expected 1 to 3"),
        (["hyper", "--checkers", "1", "--workers", "0"], "--workers 0"),
        (["hypr"], "did you mean 'hyper'"),
    ],
)
def test_what_cannot_be_solved_is_refused_in_one_line(argv, reason, capsys):
    assert reason in complaint(capsys, "solve", *argv)


def test_benchmark_exact_measures_bots_and_says_over_what(rules_file, capsys):
    argv = ["benchmark", "exact", "pips", "random", "--exact", "--rules", rules_file, "--pairs", "50", "--seed", "7"]
    assert main([*argv, "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    exact, pips, random = found["bots"]
    assert (found["games"], found["seed"], found["opening"]) == (100, 7, "use_dice")
    assert found["positions"] > found["decisions"] > 0
    assert exact["mean_loss"] == exact["worst_loss"] == 0
    assert exact["rms_error"] < 1e-6
    assert exact["best_share"] == 1
    assert pips["rms_error"] is None
    assert random["mean_loss"] > 0
    assert main([*argv, "--quiet"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"nardy {__version__}, rules one, {found['positions']:,} positions")
    assert "100 games of the exact bot against itself, seed 7" in text
    assert "mean loss a decision" in text


def test_one_trained_bot_is_measured_by_the_rules_it_plays(rules_file, capsys):
    """One bot is enough with --exact, as it is not without."""
    assert main(["benchmark", "random", "--exact", "--rules", rules_file, "--pairs", "5", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["benchmark", "random", "--rules", rules_file]) == 2
    assert "--exact" in capsys.readouterr().err


def test_the_exact_bot_plays_matches(rules_file, capsys):
    argv = ["benchmark", "exact", "random", "--rules", rules_file, "--pairs", "300", "--quiet", "--json"]
    assert main(argv) == 0
    (match,) = json.loads(capsys.readouterr().out)["matches"]
    assert match["points"] > 0


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["--rules", "short"], "up to 3 checkers"),
        (["--rules", "hyper", "--decisions", "file"], "different benchmarks"),
    ],
)
def test_exact_is_refused_where_there_is_no_solution(argv, reason, capsys):
    assert main(["benchmark", "pips", "--exact", *argv]) == 2
    assert reason in capsys.readouterr().err

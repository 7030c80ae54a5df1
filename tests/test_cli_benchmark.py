"""`nardy benchmark`: matches and decisions, what is printed of them, null controls, interruption, one line a fault."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from itertools import count

import numpy as np
import pytest
from complaints import complaint

from nardy_ai import __version__
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import NardyError
from nardy_ai.play import arena
from nardy_ai.play.arena import play_matrix, play_pairs
from nardy_ai.play.decisions import PR_SCALE, difference, read_decisions, score_decisions
from nardy_ai.rules import find_preset, find_rules

SHORT = find_rules("short")


def data(capsys, *argv: object) -> dict:
    """What `nardy benchmark ... --json` prints."""
    assert main(["benchmark", *map(str, argv), "--quiet", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(capsys, *argv: object) -> str:
    assert main(["benchmark", *map(str, argv), "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize("name", ["short", "long", "hyper", "long-left"])
def test_a_bot_against_itself_scores_exactly_0(name, bot_files, capsys):
    text = printed(capsys, bot_files[name], bot_files[name], "--pairs", 20)
    assert "+0.0000 +- 0.0000  +0.0000 to +0.0000" in text
    assert "50.0 %" in text
    (match,) = data(capsys, bot_files[name], bot_files[name], "--pairs", 20)["matches"]
    assert match["points"] == match["standard_error"] == 0
    assert match["first_rates"] == match["second_rates"]


def test_the_report_says_how_to_play_it_again(capsys):
    text = printed(capsys, "pips", "random", "--pairs", 5, "--seed", 7, "--rules", "кавказские")
    assert text.startswith(f"nardy {__version__}, rules caucasian, 5 pairs a match, seed 7, opening use_dice,")
    assert "duplicate dice, seats swapped" in text


def test_numbers_are_those_of_the_arena(capsys):
    preset = find_preset("hyper")
    expected = play_pairs(
        load_bot("pips", "hyper"), load_bot("random", "hyper"), preset.rules, preset.match, pairs=50, seed=3
    )
    found = data(capsys, "pips", "random", "--rules", "hyper", "--pairs", 50, "--seed", 3)
    (match,) = found["matches"]
    assert (found["rules"], found["seed"], found["pairs"], found["complete"]) == ("hyper", 3, 50, True)
    assert match["points"] == pytest.approx(expected.points, abs=1e-6)
    assert match["standard_error"] == pytest.approx(expected.standard_error, abs=1e-6)
    low, high = match["interval"]
    assert (low + high) / 2 == pytest.approx(expected.points, abs=1e-5)
    assert high - low == pytest.approx(2 * 1.96 * expected.standard_error, abs=1e-5)
    assert list(match["first_rates"].values()) == pytest.approx(expected.first_rates, abs=1e-6)
    assert sum(match["first_rates"].values()) == pytest.approx(match["first_won"], abs=1e-5)
    assert sum([*match["first_rates"].values(), *match["second_rates"].values()]) == pytest.approx(1, abs=1e-5)
    points = {"single": 1, "mars": 2, "koks": 3}
    by_rates = sum(points[way] * (match["first_rates"][way] - match["second_rates"][way]) for way in points)
    assert match["points"] == pytest.approx(by_rates, abs=1e-5)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_change_nothing(workers, capsys):
    argv = ("pips", "random", "--pairs", 30, "--rules", "hyper", "--workers")
    assert data(capsys, *argv, workers) == data(capsys, *argv, 2)


def test_three_bots_play_three_matches_and_make_a_matrix(capsys):
    found = data(capsys, "pips", "random", "heuristic", "--pairs", 20)
    assert [(match["first"], match["second"]) for match in found["matches"]] == [
        ("pips", "random"), ("pips", "heuristic"), ("random", "heuristic"),
    ]  # fmt: skip
    text = printed(capsys, "pips", "random", "heuristic", "--pairs", 20)
    matrix = [line.split() for line in text.splitlines()[-3:]]
    assert [row[0] for row in matrix] == ["pips", "random", "heuristic"]
    cells = np.array([[0 if cell == "-" else float(cell) for cell in row[1:]] for row in matrix])
    assert np.array_equal(cells, -cells.T)
    assert cells[0, 1] == pytest.approx(found["matches"][0]["points"], abs=1e-4)


def test_one_pair_has_no_standard_error(capsys):
    (match,) = data(capsys, "pips", "random", "--pairs", 1)["matches"]
    assert match["standard_error"] is None
    assert match["interval"] == [None, None]
    assert "+- unknown" in printed(capsys, "pips", "random", "--pairs", 1)


def test_rules_are_those_of_the_first_trained_bot(bot_files, capsys):
    assert data(capsys, "random", bot_files["long"], "--pairs", 2)["rules"] == "long"
    assert data(capsys, "random", bot_files["long"], "--pairs", 2)["opening"] == "reroll"
    assert data(capsys, "random", "pips", "--pairs", 2)["rules"] == "short"


def test_checkers_left_are_shown_as_single_wins_and_kept_apart_in_json(bot_files, capsys):
    text = printed(capsys, "pips", bot_files["long-left"], "--pairs", 10)
    assert "single    mars    koks" in text
    (match,) = data(capsys, "pips", bot_files["long-left"], "--pairs", 10)["matches"]
    assert list(match["first_rates"]) == [*(f"{n}_left" for n in range(1, 15)), "mars", "koks"]


def test_progress_goes_to_stderr(capsys):
    assert main(["benchmark", "pips", "random", "--pairs", "20", "--json"]) == 0
    captured = capsys.readouterr()
    assert "40/40" in captured.err
    assert "games/s" in captured.err
    assert json.loads(captured.out)["complete"]


@pytest.mark.parametrize("last_ply", range(100, 110))
def test_a_stopped_match_is_that_of_the_pairs_begun(last_ply, monkeypatch):
    """Games that have begun are played on, so the report is the one of a shorter match and not of short games."""
    monkeypatch.setattr(arena, "_LANES", 8)
    pips, random = load_bot("pips", "hyper"), load_bot("random", "hyper")
    preset = find_preset("hyper")
    asked, ended = count(), []
    stopped = play_pairs(
        pips,
        random,
        preset.rules,
        preset.match,
        pairs=500,
        seed=1,
        progress=ended.append,
        stop=lambda: next(asked) > last_ply,
    )
    assert 4 < stopped.pairs < 250
    assert sum(ended) == 2 * stopped.pairs
    assert stopped == play_pairs(pips, random, preset.rules, preset.match, pairs=stopped.pairs, seed=1)


def test_a_stopped_matrix_leaves_out_matches_that_have_not_begun():
    names = ["pips", "random", "pips"]
    preset = find_preset("hyper")
    players = [load_bot(name, "hyper") for name in names]
    reports = play_matrix(players, preset.rules, preset.match, pairs=10, seed=1, stop=lambda: True)
    assert [(one.first, one.second, one.pairs) for one in reports] == [("pips", "random", 10)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")
def test_interruption_prints_what_has_been_played():
    argv = ["benchmark", "pips", "pips", "random", "--pairs", "1000000", "--rules", "hyper", "--json"]
    command = [sys.executable, "-m", "nardy_ai.cli.main", *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        progress = b""
        while b" games/s" not in progress:
            progress += os.read(process.stderr.fileno(), 1000)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    found = json.loads(out)
    assert not found["complete"]
    (match,) = found["matches"]
    assert 0 < match["pairs"] < 1000000
    assert match["points"] == 0


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["pips"], "'pips' has no opponent"),
        ([], "BOT"),
        (["pips", "randm"], "did you mean 'random'"),
        (["pips", "pubeval", "--rules", "long"], "pubeval"),
        (["pips", "random", "--rules", "lnog"], "did you mean 'long'"),
        (["pips", "random", "--pairs", "0"], "--pairs 0"),
        (["pips", "random", "--pairs", "many"], "--pairs"),
        (["pips", "random", "--workers", "0"], "--workers 0"),
        (["pips", "--decisions", "absent.jsonl"], "absent.jsonl: cannot be read: No such file"),
    ],
)
def test_misuse_is_one_line_and_exit_code_2(argv, expected, capsys):
    assert expected in complaint(capsys, "benchmark", *argv)


def test_bots_of_different_games_are_refused(bot_files, capsys):
    assert "cannot play 'short'" in complaint(capsys, "benchmark", bot_files["short"], bot_files["long"])


# Each side has two checkers left: the mover on 6 and 4, the other side on the mover's 23.
BEFORE = [0] * 26
BEFORE[6] = BEFORE[4] = 1
BEFORE[23] = -2


def shifted(board: list[int], source: int, target: int) -> list[int]:
    """The board with one of the mover's checkers elsewhere; target 0 is off."""
    moved = board.copy()
    moved[source] -= 1
    moved[target] += target > 0
    return moved


BETTER, WORSE = shifted(BEFORE, 6, 0), shifted(BEFORE, 6, 5)
"""4 and 9 pips are left: `pips` plays the first, whatever the answers say."""


def decision(*, boards=(BETTER, WORSE), equities=(0.5, 0.2), plies=(4, 4), cls="race", before=BEFORE) -> dict:
    """One record of a decisions file."""
    candidates = [
        {"board": board, "equity": equity, "ply": ply}
        for board, equity, ply in zip(boards, equities, plies, strict=True)
    ]
    return {"board": before, "cls": cls, "cands": candidates}


def written(path, records):
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def some_decisions(path):
    """`pips` is right in the first, loses 0.1 in the second, nothing among equals in the third."""
    return written(
        path,
        [
            decision(),
            decision(boards=(WORSE, BETTER), equities=(0.3, 0.2), cls="contact"),
            decision(boards=(WORSE, BETTER), equities=(0.3, 0.3), cls="contact", plies=(2, 0)),
        ],
    )


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
def test_pr_is_500_times_the_mean_loss(name, tmp_path, capsys):
    found = data(capsys, "pips", "--decisions", some_decisions(tmp_path / name))
    assert (found["decisions"], found["rules"]) == (3, "short")
    (one,) = found["bots"]
    lost = np.array([0, 0.1, 0])
    assert one["pr"] == pytest.approx(PR_SCALE * lost.mean(), abs=1e-6)
    assert one["standard_error"] == pytest.approx(PR_SCALE * lost.std(ddof=1) / 3**0.5, abs=1e-6)
    assert one["best_share"] == pytest.approx(2 / 3, abs=1e-6)
    assert one["by_class"]["race"] == {"decisions": 1, "pr": 0, "standard_error": None, "best_share": 1}
    assert one["by_class"]["contact"]["pr"] == pytest.approx(25)
    assert one["rms_error"] is None


def test_a_bot_differs_from_itself_by_exactly_0_and_from_another_decision_by_decision(tmp_path, capsys):
    file = some_decisions(tmp_path / "some.jsonl")
    found = data(capsys, "pips", "pips", "random", "--decisions", file)["bots"]
    assert [one["difference"] for one in found[:2]] == [{"pr": 0, "standard_error": 0}] * 2
    decisions = read_decisions(file, SHORT)
    pips, random = (score_decisions(load_bot(name), decisions) for name in ("pips", "random"))
    apart = PR_SCALE * (random.lost - pips.lost)
    assert found[2]["difference"]["pr"] == pytest.approx(apart.mean(), abs=1e-5)
    assert found[2]["difference"]["standard_error"] == pytest.approx(apart.std(ddof=1) / 3**0.5, abs=1e-5)
    assert difference(random, pips).pr == pytest.approx(random.total.pr - pips.total.pr)


def test_rms_error_is_over_candidates_at_full_depth(tmp_path, bot_files, capsys):
    file = some_decisions(tmp_path / "some.jsonl")
    (one,) = data(capsys, bot_files["short"], "--decisions", file)["bots"]
    decisions = read_decisions(file, SHORT)
    values = load_bot(bot_files["short"]).play_values(decisions.boards, decisions.candidates)
    errors = values[:4] - np.array([0.5, 0.2, 0.3, 0.2])
    assert one["rms_error"] == pytest.approx(float(np.sqrt((errors**2).mean())), abs=1e-5)


def test_decisions_are_printed_as_tables(tmp_path, capsys):
    file = some_decisions(tmp_path / "some.jsonl")
    text = printed(capsys, "pips", "random", "--decisions", file)
    assert text.startswith(f"nardy {__version__}, rules short, 3 decisions of {file}\n")
    assert "16.667 +- 16.667   66.7 %" in text
    assert "PR minus that of pips" in text
    assert "\nrace             1   0.000 +- unknown" in text


def test_boards_of_decisions_are_read_by_the_geometry_of_the_rules(tmp_path):
    """The mover's 23 is the other side's 2 where they move against each other, and his 11 where not."""
    file = some_decisions(tmp_path / "some.jsonl")
    short, long = (read_decisions(file, find_rules(name)) for name in ("short", "long"))
    assert short.boards[0, 1].nonzero()[0].tolist() == [0, 2]
    assert long.boards[0, 1].nonzero()[0].tolist() == [0, 11]
    assert np.array_equal(short.candidates.boards[:, 1], long.candidates.boards[:, 1])
    assert short.candidates.boards[0, 1, :5].tolist() == [14, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "is no decision"),
        ({"cands": []}, "it lacks 'board'"),
        (decision(boards=(BETTER,), equities=(0.1,), plies=(4,)), "has 1 candidates; expected 2 or more"),
        (decision(before=BEFORE[1:]), "is not 26 whole numbers"),
        (decision(before=[*BEFORE[:25], 14]), "has 16 and 2 checkers"),
        (decision(before=[10**9, *BEFORE[1:]]), "checkers"),
        (decision(before=[-1, *BEFORE[1:]]), "on the bar"),
        (decision(equities=(0.1, "0.2")), "equity '0.2' is no number"),
        (decision(equities=(0.1, float("nan"))), "equity nan is no number"),
        ({"board": BEFORE, "cands": ["a", "b"]}, "is no decision"),
    ],
)
def test_a_fault_in_a_decisions_file_names_its_line(record, reason, tmp_path, capsys):
    file = written(tmp_path / "some.jsonl", [decision(), record])
    text = complaint(capsys, "benchmark", "pips", "--decisions", file)
    assert f"{file}:2: " in text
    assert reason in text


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "holds no decision"),
        (gzip.compress(json.dumps(decision()).encode(), mtime=0)[:-10], "cannot be read"),
        (b"no gzip at all", "cannot be read"),
        (gzip.compress(json.dumps(decision()).encode(), mtime=0)[:10] + b"\xff" * 50, "cannot be read"),
        (gzip.compress(b"\xff\xfe\xff", mtime=0), "cannot be read"),
    ],
)
def test_a_file_that_is_no_decisions_file_is_refused(contents, reason, tmp_path):
    file = tmp_path / "some.jsonl.gz"
    file.write_bytes(contents)
    with pytest.raises(NardyError, match=reason):
        read_decisions(file, SHORT)

"""`nardy cube`, `nardy evaluate --cube`, cube decisions with known answers: what is printed, and one line a fault."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from complaints import complaint

from nardy_ai import __version__
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.cube.state import CubeState
from nardy_ai.cubeful import cube_decision
from nardy_ai.errors import NardyError
from nardy_ai.notation import parse_position
from nardy_ai.play.cube_decisions import read_cube_decisions, score_chances, score_cube
from nardy_ai.rules import find_rules

SHORT = find_rules("short")
OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00"
BOXED_IN = "XGID=bBBBBBB--B-A-------dd-e---:0:0:1:00:0:0:{}:0:10"
LAST_ROLL = "XGID=--A--A------------------a-:0:0:1:00"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "cube.md"


def answers(capsys, *argv: object) -> list[dict]:
    """What `nardy cube ... --json` prints."""
    assert main(["cube", *map(str, argv), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(capsys, command: str, *argv: object) -> str:
    assert main([command, *map(str, argv)]) == 0
    return capsys.readouterr().out


def test_call_command_and_json_give_the_same_decision(capsys):
    """Entry 24 of what users ask."""
    (data,) = answers(capsys, f"{OPENING}:3:2:0:7:10", "--bot", "short@1ply")
    bot = load_bot("short@1ply")
    found = cube_decision(bot, parse_position("start", SHORT), CubeState(away=(4, 5), cap=1024))
    assert (data["version"], data["bot"], data["plies"]) == (__version__, "short@1ply", 1)
    assert data["action"] == found.action == "no double, take"
    for name in ("no_double", "double_take", "double_pass", "best"):
        assert data[name] == pytest.approx(getattr(found, name), abs=1e-6)
        assert data["winning"][name] == pytest.approx(found.winning[name], abs=1e-6)
    text = printed(capsys, "cube", f"{OPENING}:3:2:0:7:10", "--bot", "short@1ply")
    assert found.action in text.splitlines()
    assert f"{found.double_take:+.4f}" in text
    assert f"{100 * found.winning['double_take']:.2f} %" in text
    assert "match, 4 and 5 points away, cube 1 in the centre, match equities Kazaross XG2" in text


def keys(value: object) -> set[str]:
    """All names in a JSON document but those of rolls and outcomes."""
    if isinstance(value, list):
        return {name for entry in value for name in keys(entry)}
    if not isinstance(value, dict):
        return set()
    below = {
        name for key, entry in value.items() if key not in ("outcomes", "cumulative", "rolls") for name in keys(entry)
    }
    return set(value) | below


def test_every_documented_field_is_written_and_every_field_is_documented(capsys):
    section = PAGE.read_text(encoding="utf-8").partition("## JSON\n")[2]
    documented = set(re.findall(r"`(\w+)`", section)) - {"null"}
    (money,) = answers(capsys, "start", "--raccoons", "--plies", 0)
    (match,) = answers(capsys, "start", "--match", 5, "--plies", 0)
    assert keys(money) | keys(match) == documented


@pytest.mark.parametrize(
    ("position", "arguments", "action"),
    [
        (f"{OPENING}:0:0:0:0:10", [], "no double, take"),  # entry 17
        (BOXED_IN.format(0), [], "too good to double, pass"),  # entry 18
        (BOXED_IN.format(1), [], "double, pass"),
        (BOXED_IN.format(1), ["--stake", 2, "--owner", "own"], "too good to redouble, pass"),
        (BOXED_IN.format(1), ["--owner", "other"], "no cube action"),
        (f"{OPENING}:3:4:0:5:10", [], "double, pass"),  # entry 21
        (f"{OPENING}:3:4:1:5:10", [], "no cube action"),
        (f"{OPENING}:4:3:0:5:10", [], "no cube action"),
        (LAST_ROLL, [], "double, take"),  # entry 22
        ("start", ["--beavers"], "no double, beaver"),
        ("start", ["--cap", 1], "no cube action"),
        ("start", ["--rules", "short-money"], "no double, beaver"),
        ("start", ["--rules", "short-dave", "--growth", "arithmetic", "--stake", 3], "no double, take"),
    ],
)
def test_actions_that_users_ask_about(position, arguments, action, capsys):
    (data,) = answers(capsys, position, *arguments)
    assert data["action"] == action
    assert data["action"] in printed(capsys, "cube", position, *arguments)


def test_nardgammon_has_a_match_cube_of_its_own(capsys):
    """Long nardy knows no koks and fewer mars: its match equities are computed, and symmetric at equal scores."""
    (data,) = answers(capsys, "start", "--rules", "nardgammon", "--match", 5)
    assert (data["state"]["met"], data["xgid"]) == ("computed", None)
    assert data["winning"]["double_pass"] > 0.5
    assert data["answer"] == "take"


def test_exact_bearoff_is_exact_through_the_command(capsys):
    for plies in (0, 2):
        (data,) = answers(capsys, LAST_ROLL, "--plies", plies)
        assert (data["no_double"], data["double_take"]) == (0.055556, 0.111111)
        assert data["market_losers"]["share"] == pytest.approx(19 / 36, abs=1e-6)
        assert set(data["market_losers"]["rolls"]) >= {"65", "66", "52"}


def test_arguments_stand_in_place_of_what_the_position_says(capsys):
    (data,) = answers(
        capsys, f"{OPENING}:3:2:0:7:10", "--match", "9:1-4", "--stake", 4, "--owner", "own", "--cap", "none",
        "--plies", 0,
    )  # fmt: skip
    state = data["state"]
    assert (state["stake"], state["owner"], state["away"], state["cap"]) == (4, 0, [8, 5], None)
    (data,) = answers(capsys, f"{OPENING}:3:2:0:7:10", "--match", 0, "--no-jacoby", "--plies", 0)
    assert (data["state"]["away"], data["state"]["jacoby"]) == (None, False)


def test_crawford_may_be_said(capsys):
    (data,) = answers(capsys, "start", "--match", "5:4-2", "--crawford")
    assert data["state"]["crawford"]
    assert data["action"] == "no cube action"
    assert "Crawford game" in printed(capsys, "cube", "start", "--match", "5:4-2", "--crawford")


def test_match_equities_of_a_file_are_used(tmp_path, capsys):
    from test_match_equity import SMALL

    file = tmp_path / "small.xml"
    file.write_text(SMALL)
    (data,) = answers(capsys, "start", "--match", "2", "--met", file, "--plies", 0)
    assert data["state"]["met"] == "Small"
    assert data["winning"]["double_pass"] == pytest.approx(0.7)


def test_a_waiting_double_is_answered(capsys):
    text = printed(capsys, "cube", BOXED_IN.format(1).replace(":00:", ":D:"))
    assert "double, pass; a double waits: pass" in text
    beaver = printed(capsys, "cube", f"{OPENING}:0:0:3:0:10".replace(":00:", ":B:"))
    assert "a beaver waits: play on" in beaver


def test_a_wrong_beaver_is_raccooned_where_that_is_allowed(capsys):
    """34 of 36 rolls win: at the stake of the beaver 4 x 0.89, and 4 whole if the other side gives a raccoon up."""
    last = "3:1 1:1 / 1:1"
    (plain,), (raccoons,) = (answers(capsys, last, option) for option in ("--beavers", "--raccoons"))
    assert (plain["action"], plain["beaver"], plain["reply_to_beaver"]) == ("double, pass", 3.555556, "play on")
    assert plain["answer_to_raccoon"] is None
    assert (raccoons["action"], raccoons["beaver"], raccoons["reply_to_beaver"]) == ("double, pass", 4, "raccoon")
    assert raccoons["answer_to_raccoon"] == "drop"
    assert (raccoons["state"]["beavers"], raccoons["state"]["raccoons"]) == (True, True)


def test_a_waiting_raccoon_is_answered(capsys):
    """Who has an even game, or nearly, plays on; a position that says so needs no option."""
    text = printed(capsys, "cube", f"{OPENING}:0:0:3:0:10".replace(":00:", ":R:"))
    assert "a raccoon waits: play on" in text
    assert "beavers, raccoons" in text


def test_raccoons_need_beavers(capsys):
    assert main(["cube", "start", "--raccoons", "--no-beavers"]) == 2
    assert "raccoons answer beavers" in capsys.readouterr().err


def test_windows_of_single_results_are_the_known_ones(capsys):
    (data,) = answers(capsys, LAST_ROLL, "--plies", 0)
    mine = data["windows"][0]
    assert mine["dead"]["take_point"] == pytest.approx(0.25, abs=1e-6)
    assert mine["live"]["take_point"] == pytest.approx(0.2, abs=1e-6)
    assert mine["dead"]["double_point"] == pytest.approx(0.5, abs=1e-6)
    assert mine["gammon_values"] == [0.5, 0.5]
    assert mine["live"]["take_point"] < mine["mixed"]["take_point"] < mine["dead"]["take_point"]
    assert data["windows"][1]["live"]["cash_point"] == pytest.approx(0.8, abs=1e-6)


def test_several_positions_are_answered_in_their_order(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text(f"start\n{BOXED_IN.format(0)}\n")
    first, second = answers(capsys, "--file", file, "--plies", 0)
    assert (first["action"], second["action"]) == ("no double, take", "too good to double, pass")
    assert "cube 1 in the centre" in printed(capsys, "cube", "--file", file, "--draw", "--plies", 0)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["start", "--match", "x"], "--match x: expected a length such as 7"),
        (["start", "--match", "5:5-0"], "the match to 5 is over"),
        (["start", "--match", "0:1-0"], "money has no score"),
        (["start", "--crawford"], "only in a match"),
        (["start", "--match", 501], "1 to 500"),
        (["start", "--cap", "0"], "--cap 0: expected"),
        (["start", "--stake", 0], "cube shows 0"),
        (["start", "--plies", 4], "--plies 4"),
        (["start", "--met", "absent.xml", "--match", 3], "absent.xml: cannot be read"),
        (["start", "--bot", "pubeval"], "cannot judge a cube"),
        ([OPENING.replace(":00", ":31")], "has rolled 3-1"),
        (["off:15 / 1:1"], "the game is over"),
        (["evaluate"], "is no position"),
    ],
)
def test_misuse_is_one_line(arguments, fault, capsys):
    assert fault in complaint(capsys, "cube", *arguments)


def test_evaluate_counts_the_cube_only_when_asked(capsys):
    position = "XGID=-aBa--D-CB--cB---d-cB-ba--:1:-1:1:66:0:0:0:0:10"
    assert main(["evaluate", position, "--json"]) == 0
    (cubeless,) = json.loads(capsys.readouterr().out)
    assert main(["evaluate", position, "--cube", "--json"]) == 0
    (cubeful,) = json.loads(capsys.readouterr().out)
    assert "state" not in cubeless
    assert cubeful["state"]["owner"] == 1
    assert {play["play"] for play in cubeless["plays"]} == {play["play"] for play in cubeful["plays"]}
    assert cubeful["plays"][0]["equity"] < cubeless["plays"][0]["equity"]  # the other side's cube costs
    text = printed(capsys, "evaluate", position, "--cube")
    assert "money, cube 2 of the other side" in text
    assert "points per cube, with the cube" in text
    assert "--owner is about cube and score" in complaint(capsys, "evaluate", "start", "--owner", "own")


def test_evaluate_before_the_roll_tells_the_equity_with_the_cube(capsys):
    assert main(["evaluate", "start", "--cube", "--match", "5:3-4", "--json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)
    assert data["cubeful_equity"] == pytest.approx(1.0, abs=1e-3)  # double, pass
    assert data["state"]["away"] == [2, 1]
    assert "with the cube: equity" in printed(capsys, "evaluate", "start", "--cube")


RECORD = {
    "board": [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0],
    "length": 5,
    "score": [1, 0],
    "onroll": 1,
    "crawford": 0,
    "cube": 1,
    "owner": 3,
    "probs": [0.52, 0.15, 0.01, 0.13, 0.01],
    "nd": 0.09,
    "dt": -0.2,
    "dp": 1.0,
}


def records(path: Path, *changes: dict) -> Path:
    path.write_text("".join(json.dumps(RECORD | change) + "\n" for change in changes))
    return path


def test_cube_decisions_are_read_as_the_side_on_roll_sees_them(tmp_path):
    file = records(
        tmp_path / "cube.jsonl", {}, {"onroll": 0, "cube": 2, "owner": 1, "length": 0, "probs": RECORD["probs"]}
    )
    with pytest.raises(NardyError):  # a file may hold money or matches, not both
        score_cube(load_bot("short"), read_cube_decisions(file, SHORT))
    decisions = read_cube_decisions(records(tmp_path / "one.jsonl", {}, {"onroll": 0, "cube": 2, "owner": 1}), SHORT)
    assert decisions.states.to_go.tolist() == [[5, 4], [4, 5]]
    assert decisions.states.owners.tolist() == [-1, 1]
    assert decisions.classes == ("centred, contact", "owned, contact")
    assert decisions.outcomes[0] == pytest.approx([0.37, 0.14, 0.01, 0.35, 0.12, 0.01], abs=1e-6)
    assert np.array_equal(decisions.boards[0], parse_position("start", SHORT))


def test_wrong_doubles_and_takes_cost_what_the_labels_say(tmp_path):
    """The start is no double and a take; labels that say otherwise make both sides err by known amounts."""
    file = records(tmp_path / "cube.jsonl", {}, {"nd": 0.2, "dt": 0.5}, {"dt": 1.3, "nd": 0.9})
    report = score_cube(load_bot("short"), read_cube_decisions(file, SHORT))
    assert report.doubling == pytest.approx((0 + 0.3 + 0.1) / 3)
    assert report.taking == pytest.approx((0 + 0 + 0.3) / 3)
    assert (report.doubled_right, report.taken_right) == pytest.approx((1 / 3, 2 / 3))
    assert report.by_class == {"centred, contact": pytest.approx(0.7 / 3)}


def test_chances_of_the_file_go_through_the_formulas(tmp_path):
    decisions = read_cube_decisions(records(tmp_path / "cube.jsonl", {}, {}), SHORT)
    report = score_chances(decisions, SHORT)
    assert report.doubling == report.taking == 0
    assert max(report.errors) < 0.1


def test_benchmark_tells_cube_decisions_from_others(tmp_path, capsys):
    file = records(tmp_path / "cube.jsonl", {}, {"nd": 0.2, "dt": 0.5})
    text = printed(capsys, "benchmark", "short", "--decisions", file)
    assert "2 cube decisions of" in text
    assert "formulas on the file's chances" in text
    assert main(["benchmark", "short", "--decisions", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [one["bot"] for one in data["bots"]] == ["formulas on the file's chances", "short"]
    assert data["bots"][1]["doubling"]["loss"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"onroll": 2}, "onroll 2"),
        ({"score": [1]}, "score [1]"),
        ({"dt": "x"}, "equity 'x' is no number"),
        ({"probs": [0.5]}, "1 chances; expected 5"),
        ({"cube": 0}, "cube shows 0"),
        ({"score": [5, 0]}, "points away are"),
        ({"board": [1]}, "is not 26 whole numbers"),
    ],
)
def test_faulty_cube_decision_is_named(tmp_path, change, fault):
    file = records(tmp_path / "cube.jsonl", {}, change)
    with pytest.raises(NardyError, match=re.escape(fault)) as caught:
        read_cube_decisions(file, SHORT)
    assert f"{file}:2: " in str(caught.value)

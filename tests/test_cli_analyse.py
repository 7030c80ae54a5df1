"""`nardy analyse`: tables, JSON, files of every kind, Ctrl-C, and one line a fault."""

import json
import os
import signal

import pytest
from complaints import complaint

from nardy_ai.cli import analyse as command
from nardy_ai.cli.main import main
from nardy_ai.records import read_record
from nardy_ai.rules import find_rules

MATCH = """\
3 point match

 Game 1
 Ann : 0                          Bob : 0
  1) 31: 8/5 6/5                  52: 13/8 24/22
  2) 66: 24/18(2) 13/7(2)         21: 5/3 4/3
  3) Doubles => 2                 Drops
      Wins 1 point
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NARDY_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def match(tmp_path):
    path = tmp_path / "match.mat"
    path.write_text(MATCH)
    return path


def printed(capsys, *argv: object) -> str:
    assert main(["analyse", *map(str, argv), "--quiet"]) == 0
    return capsys.readouterr().out


def test_table_begins_with_what_is_needed_to_get_it_again(tmp_path, bot_files, capsys):
    path = tmp_path / "positions.txt"
    path.write_text("start dice=61\n")
    first = printed(capsys, path, "--bot", bot_files["hyper"], "--rollout", 36, "--seed", 9).splitlines()[0]

    for part in ("nardy 0.", f"file {path}", f"bot {bot_files['hyper']}", "rules hyper", "with the cube", "seed 9"):
        assert part in first
    assert "36 games for each play within 0.04" in first


def test_table_has_totals_games_faults_and_the_dearest(match, bot_files, capsys):
    text = printed(capsys, match, "--bot", bot_files["short"])

    assert "Ann and Bob, match to 3, 1 games" in text
    assert "  fault: line 6: row 2: play '5/3 4/3' is not legal for 2-1; of " in text
    assert "PR is 500 x mean equity lost per own unforced decision" in text
    assert "Ann 1 (pass)" in text
    assert "the dearest" in text
    # Each of the dearest names its position, as text and as XGID.
    dearest = text.split("the dearest")[1].splitlines()[2:]
    assert len(dearest) % 2 == 0
    assert all("length=3" in line and "XGID=" in line for line in dearest[1::2])


def test_json_has_every_decision(match, bot_files, capsys):
    data = json.loads(printed(capsys, match, "--bot", bot_files["short"], "--json"))

    (game,) = data["games"]
    assert (data["players"], data["length"], data["cube"], data["seed"]) == (["Ann", "Bob"], 3, True, None)
    assert (game["winner"], game["points"], game["ending"]) == (0, 1, "pass")
    plays = [one for one in game["decisions"] if one["kind"] == "play"]
    assert [one["made"] and one["made"]["play"] for one in plays[:3]] == ["8/5 6/5", "24/22 13/8", "24/18(2) 13/7(2)"]
    cubes = [(one["kind"], one["made"]) for one in game["decisions"] if one["kind"] != "play"]
    assert cubes[-2:] == [("double", "double"), ("take", "pass")]
    assert sum(plays[0]["best"][0]["outcomes"].values()) == pytest.approx(1, abs=1e-4)
    total = data["totals"][0]
    assert total["pr"] == pytest.approx(500 * total["lost"] / total["decisions"], rel=1e-3)
    assert data["worst"][0]["loss"] == max(one["loss"] for one in game["decisions"] if one["counts"])
    assert data["faults"][0].startswith("line 6: ")


def test_cube_can_be_left_out(match, bot_files, capsys):
    data = json.loads(printed(capsys, match, "--bot", bot_files["short"], "--no-cube", "--json"))

    assert data["cube"] is False
    assert {one["kind"] for one in data["games"][0]["decisions"]} == {"play"}


def test_all_lists_every_decision(match, bot_files, capsys):
    text = printed(capsys, match, "--bot", bot_files["short"], "--all")

    listed = text.split("every decision")[1].split("the dearest")[0]
    assert "24/18(2) 13/7(2)" in listed
    assert "double?" in listed
    assert "take?" in listed


def test_positions_are_answered_with_their_choices(tmp_path, bot_files, capsys):
    path = tmp_path / "positions.txt"
    path.write_text("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:7:10\nwhat\nstart\n")

    text = printed(capsys, path, "--bot", bot_files["short"])

    assert "fault: line 2: 'what' is no position" in text
    assert "3-1" in text
    assert "double?" in text


def test_rules_come_from_the_file(tmp_path, bot_files, capsys):
    path = tmp_path / "long.mat"
    path.write_text('; [Rules "long"]\n0 point match\nGame 1\nA : 0   B : 0\n1) 31: 24/20   64: 24/14\n')

    data = json.loads(printed(capsys, path, "--bot", bot_files["long"], "--json"))

    assert (data["rules"], data["cube"], data["faults"]) == ("long", False, [])
    assert [one["made"]["play"] for one in data["games"][0]["decisions"]] == ["24/20", "24/14"]


def test_the_match_that_was_read_is_written(match, tmp_path, bot_files, capsys):
    printed(capsys, match, "--bot", bot_files["short"], "--mat", tmp_path / "copy.mat")

    rules = find_rules("short")
    assert read_record(tmp_path / "copy.mat", rules) == read_record(match, rules)


def test_answers_of_slow_bots_are_kept(match, tmp_path, bot_files, capsys):
    bot = f"{bot_files['short']}@1ply"
    first = printed(capsys, match, "--bot", bot, "--json")
    assert (tmp_path / "cache" / "analysis.sqlite").exists()

    assert printed(capsys, match, "--bot", bot, "--json") == first
    assert printed(capsys, match, "--bot", bot, "--json", "--no-cache", "--workers", 1) == first


def test_bare_bot_keeps_nothing(match, tmp_path, bot_files, capsys):
    printed(capsys, match, "--bot", bot_files["short"])
    assert not (tmp_path / "cache" / "analysis.sqlite").exists()


def test_ctrl_c_prints_what_there_is(match, bot_files, capsys, monkeypatch):
    judged = command.analyse

    def pressed(record, bot, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return judged(record, bot, **options)

    monkeypatch.setattr(command, "analyse", pressed)

    assert main(["analyse", str(match), "--bot", str(bot_files["short"]), "--quiet", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["complete"] is False


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["missing.mat"], "missing.mat: cannot be read: No such file or directory"),
        (["MATCH", "--bot", "pips"], "bot 'pips' is no evaluator: it ranks plays and knows no equities"),
        (["MATCH", "--rollout", "0"], "--rollout 0: expected 1 or more games"),
        (["MATCH", "--close", "-1"], "--close -1.0: expected points, 0 to 3"),
        (["MATCH", "--workers", "0"], "--workers 0: expected 1 or more"),
        (["MATCH", "--rules", "shrot"], "unknown rules 'shrot'; did you mean 'short'?"),
        (["EMPTY"], "holds no game"),
    ],
)
def test_misuse_is_one_line(match, tmp_path, capsys, argv, message):
    empty = tmp_path / "empty.mat"
    empty.write_text("3 point match\n")
    named = {"MATCH": match, "EMPTY": empty}
    assert message in complaint(capsys, "analyse", "--quiet", *(named.get(word, word) for word in argv))

"""The command line: what is printed where, exit codes, JSON, and one line for every fault."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nardy_ai import __version__
from nardy_ai.cli import main as cli
from nardy_ai.cli.main import COMMANDS, main
from nardy_ai.rules import CHOICES, MatchOptions, RuleSet, preset_names, presets

NO_QUERIES = {"train", "play"}
OPENING_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def one_line(text: str) -> str:
    """The only line of `text`."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["rools"], "did you mean 'rules'"),
        (["--rules", "short"], "--rules"),
        (["rules", "lnog"], "did you mean 'long'"),
        (["rules", "кавказкие"], "did you mean 'кавказские'"),
        (["rules", "absent.toml"], "absent.toml: cannot be read"),
        (["rules", "long", "short"], "unrecognized arguments: short"),
        (["rules", "--jsno"], "--jsno"),
        (["moves", "start", "--dice", "37"], "dice '37'"),
        (["moves", "start", "--dice"], "--dice"),
        (["moves", "start"], "--dice"),
        (["moves", "--dice", "31"], "no position given"),
        (["moves", "nonsense", "--dice", "31"], "nonsense"),
        (["moves", "", "--dice", "31"], "position"),
        (["moves", "--file", "absent.txt", "--dice", "31"], "absent.txt: cannot be read"),
        (["moves", "start", "--rules", "shrot", "--dice", "31"], "did you mean 'short'"),
    ],
)
def test_misuse_is_one_line_on_stderr_and_exit_code_2(argv, expected, capsys):
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in one_line(captured.err)
    assert captured.err.startswith("nardy")


def test_no_command_shows_the_help_and_is_misuse(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "commands:" in captured.err


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_every_query_json(name, capsys):
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: nardy {name}")
    assert "--json" in out or name in NO_QUERIES


def test_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"nardy {__version__}\n"


def test_rules_lists_every_preset_with_its_aliases(capsys):
    assert main(["rules"]) == 0
    out = capsys.readouterr().out
    for name, preset in presets().items():
        assert name in out
        assert all(alias in out for alias in preset.aliases)


@pytest.mark.parametrize("name", preset_names())
def test_rules_prints_every_option_with_its_value_and_meaning(name, capsys):
    assert main(["rules", name]) == 0
    out = capsys.readouterr().out
    unwrapped = " ".join(out.split())
    preset = presets()[name]
    for record in (preset.rules, preset.match):
        for option in (set(RuleSet.__annotations__) | set(MatchOptions.__annotations__)) & set(vars(record)):
            if option != "name":
                assert f"  {option} " in out
            if option in CHOICES:
                assert CHOICES[option][getattr(record, option)] in unwrapped


@pytest.mark.parametrize(
    ("alias", "name"), [("Кавказские нарды", "caucasian"), ("ДЛИННЫЕ", "long"), ("backgammon", "short")]
)
def test_rules_are_found_by_russian_and_english_aliases(alias, name, capsys):
    assert main(["rules", alias]) == 0
    assert capsys.readouterr().out.startswith(f"{name}\n")


def test_rules_json_can_be_read_back(capsys):
    assert main(["rules", "long", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rules"]["start"] == {"24": 15}
    assert answer["match"]["opening"] == "reroll"
    points = {row["class"]: row["points"] for row in answer["outcomes"]}
    assert points == {
        "win_single": 1, "win_mars": 2, "win_koks": None, "lose_single": -1, "lose_mars": -2, "lose_koks": None,
    }  # fmt: skip


def test_rules_list_json_names_every_preset(capsys):
    assert main(["rules", "--json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == preset_names()


def test_rules_of_a_toml_file_are_printed(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text('base = "long"\nsix_block = "never"\n', encoding="utf-8")
    assert main(["rules", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rules"]["six_block"] == "never"


def test_contradictory_toml_file_is_refused_with_the_reason(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text('base = "short"\nclosed_by = 1\nhit_hide = "no_hide"\n', encoding="utf-8")
    assert main(["rules", str(file)]) == 2
    error = one_line(capsys.readouterr().err)
    assert str(file) in error
    assert "closed_by = 1 allows no hit" in error


def test_moves_of_the_opening_are_named(capsys):
    assert main(["moves", "start", "--dice", "31"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "8/5 6/5" in lines


def test_moves_take_the_roll_from_the_position(capsys):
    assert main(["moves", OPENING_XGID, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer[0]["dice"] == [3, 1]
    assert "8/5 6/5" in [play["play"] for play in answer[0]["plays"]]


def test_moves_json_holds_distinct_afterstates(capsys):
    assert main(["moves", "start", "--dice", "66", "--rules", "длинные", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    # Of four sixes two are played: point 12 is his head. RULES: "The head".
    assert [play["play"] for play in answer[0]["plays"]] == ["24/18(2)"]
    assert answer[0]["plays"][0]["board"][0][18] == 2


def test_moves_of_several_positions_keep_their_order(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text(f"# openings\n{OPENING_XGID}\n\nstart\n", encoding="utf-8")
    assert main(["moves", "--file", str(file), "--dice", "42", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [entry["given"] for entry in answer] == [OPENING_XGID, "start"]
    assert answer[0]["plays"] == answer[1]["plays"]


def test_fault_in_a_file_names_its_line_and_prints_nothing_else(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text("start\nnonsense\n", encoding="utf-8")
    assert main(["moves", "--file", str(file), "--dice", "42"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{file}:2: " in one_line(captured.err)


@pytest.mark.parametrize("rules", ["short", "long"])
def test_moves_draw_the_board(rules, capsys):
    assert main(["moves", "start", "--dice", "31", "--rules", rules, "--draw"]) == 0
    assert "13" in capsys.readouterr().out


def test_bots_list_baselines(capsys):
    assert main(["bots", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {"random", "pips", "heuristic", "pubeval"} <= {entry["name"] for entry in answer}
    assert all(entry["summary"] and "\n" not in entry["summary"] for entry in answer)


def test_interruption_is_one_line_and_exit_code_130(monkeypatch, capsys):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupt)
    assert main(["rules"]) == 130
    assert one_line(capsys.readouterr().err) == "nardy: interrupted"


def test_fault_of_the_program_is_not_hidden(monkeypatch):
    def fail(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "_dispatch", fail)
    with pytest.raises(ZeroDivisionError):
        main(["rules"])


def run_nardy(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "nardy_ai.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)


def test_positions_come_from_stdin():
    done = run_nardy("moves", "-", "--dice", "31", "--json", input=b"start\nstart\n")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 2


def test_output_that_cannot_be_encoded_is_escaped():
    done = run_nardy("rules", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert b"\\u043a" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise on Windows")
def test_reader_that_leaves_early_is_no_fault():
    command = f"{sys.executable} -m nardy_ai.cli.main rules; echo $? >&2"
    done = subprocess.run(["sh", "-c", f"({command}) | true"], capture_output=True, text=True, check=False)
    assert done.stderr in ("141\n", "0\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_one_line_and_exit_code_1():
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "nardy_ai.cli.main", "rules"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert one_line(done.stderr).startswith("nardy: ")

"""`nardy rollout`: tables and JSON, plays named or ranked, files to resume from, Ctrl-C, and one line a fault."""

import json
import os
import signal

import pytest
from complaints import complaint

from nardy_ai.cli import rollout as command
from nardy_ai.cli.main import main

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
QUICK = ("--games", 36, "--truncate", 4, "--quiet")


def printed(capsys, *argv: object) -> str:
    assert main(["rollout", *map(str, argv)]) == 0
    return capsys.readouterr().out


def answer(capsys, *argv: object) -> dict:
    return json.loads(printed(capsys, *argv, "--json"))


def test_position_before_its_roll(bot_files, capsys):
    data = answer(capsys, "start", "--bot", bot_files["short"], *QUICK)
    (result,) = data["results"]
    assert (data["games"], data["seed"], data["complete"], data["dice"]) == (36, 1, True, None)
    assert sum(result["outcomes"].values()) == pytest.approx(1, abs=1e-4)
    assert result["play"] is None
    assert result["standard_error"] > 0
    assert set(result["outcome_errors"]) == set(result["outcomes"])


def test_the_best_plays_of_a_roll(bot_files, capsys):
    data = answer(capsys, OPENING, "--bot", bot_files["short"], "--top", 3, *QUICK)
    equities = [result["equity"] for result in data["results"]]
    assert (len(equities), data["dice"], data["after_play"]) == (3, [3, 1], True)
    assert equities == sorted(equities, reverse=True)
    assert data["results"][0]["difference"] == 0
    assert all(result["difference_error"] > 0 for result in data["results"][1:])


def test_plays_that_are_named(bot_files, capsys):
    data = answer(
        capsys, "start", "--dice", 31, "--plays", "8/5 6/5", "13/10 24/23", "--bot", bot_files["short"], *QUICK
    )
    assert {result["play"] for result in data["results"]} == {"8/5 6/5", "24/23 13/10"}


def test_table_says_how_to_get_the_same_again(bot_files, capsys):
    text = printed(capsys, OPENING, "--bot", bot_files["short"], "--seed", 9, "--top", 2, *QUICK)
    for words in ("seed 9", "36 games", "truncated after 4 plies", str(bot_files["short"]), "XGID=", "roll 3-1", "+-"):
        assert words in text
    assert text == printed(capsys, OPENING, "--bot", bot_files["short"], "--seed", 9, "--top", 2, *QUICK)


@pytest.mark.parametrize("name", ["long", "hyper", "long-left"])
def test_other_games(name, bot_files, capsys):
    text = printed(capsys, "start", "--bot", bot_files[name], *QUICK)
    assert f"rules {name}" in text


def test_save_and_resume_add_games(bot_files, capsys, tmp_path):
    file = tmp_path / "games.npz"
    base = ("start", "--bot", bot_files["hyper"], "--truncate", 3, "--quiet")
    printed(capsys, *base, "--games", 72, "--save", file)
    resumed = answer(capsys, *base, "--games", 72, "--resume", file)
    assert resumed == answer(capsys, *base, "--games", 144)


def test_ctrl_c_prints_what_there_is(bot_files, capsys, monkeypatch):
    estimate = command._estimate

    def press(report):
        os.kill(os.getpid(), signal.SIGINT)
        return estimate(report)

    monkeypatch.setattr(command, "_estimate", press)
    handler = signal.getsignal(signal.SIGINT)
    argv = ["rollout", "start", "--bot", str(bot_files["hyper"]), "--games", "50000", "--truncate", "4", "--json"]
    assert main([*argv, "--workers", "1"]) == 130
    data = json.loads(capsys.readouterr().out)
    assert (data["stopped"], data["complete"]) == ("interrupted", False)
    assert 0 < data["games"] < 50_000
    assert signal.getsignal(signal.SIGINT) is handler


def test_interrupted_before_any_game_says_so(bot_files, capsys, monkeypatch):
    monkeypatch.setattr(command, "stoppable", _pressed_at_once)
    assert main(["rollout", "start", "--bot", str(bot_files["hyper"]), "--quiet"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "interrupted before the first games had ended (seed 1)" in captured.err


class _pressed_at_once:  # noqa: N801
    def __enter__(self):
        return lambda: True

    def __exit__(self, *error):
        return None


def test_games_cut_are_told(bot_files, capsys, monkeypatch):
    whole = command.rollout
    monkeypatch.setattr(command, "rollout", lambda *args, **options: whole(*args, cut_after=2, **options))
    text = printed(capsys, "start", "--bot", bot_files["hyper"], "--games", 36, "--quiet")
    assert "36 games had not ended after 2 plies: the bot judged them" in text


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("start", "--plays", "8/5 6/5"), "give one with --dice"),
        (("start", "--top", "2"), "give one with --dice"),
        (("start", "--dice", "31", "--plays", "8/4 6/2"), "not legal for 3-1"),
        (("start", "--dice", "31", "--plays", "8/5 6/5", "6/5 8/5"), "lead to the same board"),
        (("start", "--dice", "31", "--top", "0"), "expected 1 or more"),
        (("start", "--games", "0"), "expected 1 or more"),
        (("start", "--resume", "nowhere.npz"), "no such file"),
        (("start", "--plies", "7"), "expected 0"),
        (("start", "--control", "pips"), "no evaluator"),
        (("start", "--control", "pips", "--no-variance-reduction"), "give one of them"),
        (("/ 1:15",), "the game is over"),
        (("nonsense at all",), "is no position"),
    ],
)
def test_faults_are_one_line(argv, words, bot_files, capsys):
    assert words in complaint(capsys, "rollout", *argv, "--bot", bot_files["short"], "--quiet")


def test_bots_without_chances_are_told_what_to_do(capsys):
    assert "without variance reduction" in complaint(capsys, "rollout", "start", "--bot", "pubeval", "--quiet")
    assert "luck left in" in printed(
        capsys, "start", "--rules", "hyper", "--bot", "pips", "--games", 36, "--no-variance-reduction", "--quiet"
    )


@pytest.mark.parametrize("words", ["resign=mars", "game=dropped"])
def test_positions_that_no_xgid_holds_are_rolled_out(bot_files, capsys, words):
    position = f"start {words}"

    assert answer(capsys, position, "--bot", bot_files["short"], *QUICK)["xgid"] is None
    assert "XGID" not in printed(capsys, position, "--bot", bot_files["short"], *QUICK)


def test_a_stake_of_dave_that_no_xgid_holds_is_rolled_out_and_evaluated(bot_files, tmp_path, capsys):
    rules = tmp_path / "dave.toml"
    rules.write_text('base = "short-dave"\n[match]\ncube = "arithmetic"\n', encoding="utf-8")

    data = answer(capsys, "start cube=3", "--rules", rules, "--bot", bot_files["short"], "--cube", *QUICK)
    assert main(["evaluate", "start cube=3", "--cube", "--growth", "arithmetic", "--bot", str(bot_files["short"])]) == 0

    assert (data["xgid"], data["state"]["stake"]) == (None, 3)
    assert "cube 3" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--save", "--svg", "--html"])
@pytest.mark.parametrize("place", ["no-folder/x", ".", ""])
def test_a_file_that_cannot_be_written_is_refused_before_any_game(monkeypatch, tmp_path, capsys, option, place):
    (tmp_path / "no-folder").write_text("a file", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "_roll_out", lambda *_: pytest.fail("games were played"))

    line = complaint(capsys, "rollout", "start", option, place, *QUICK)
    assert line.startswith(f"nardy: {place}: cannot be written: ")
    assert [path.name for path in tmp_path.iterdir()] == ["no-folder"]

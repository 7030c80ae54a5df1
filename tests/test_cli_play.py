"""`nardy play` over a pipe: scripted games to the end, interruption and resuming, commands, the tutor, garbage."""

import io
import json
import os
import random
import re
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from complaints import the_line
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_ai.bots import load_bot
from nardy_ai.cli.line_input import completer
from nardy_ai.cli.main import main
from nardy_ai.movegen.reference import plays
from nardy_ai.play.opponent import respond
from nardy_ai.play.session import Action, Session, Setup, act, begin, is_over
from nardy_ai.play.session_record import match_record
from nardy_ai.records import read_record, replay_match
from nardy_ai.records.mat import write_mat
from nardy_ai.rules import find_preset

DONE, MISUSED, INTERRUPTED = 0, 2, 130
FILE = "nardy-play.json"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    """Each test by itself, and without waiting for the disk after every action."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def play(monkeypatch, lines: list[str] | str, *argv: str) -> int:
    """Run the command with these lines on stdin."""
    text = lines if isinstance(lines, str) else "".join(f"{line}\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return main(["play", *argv])


def saved(file: str = FILE) -> dict:
    return json.loads(Path(file).read_text(encoding="utf-8"))


@cache
def scripted(name: str, bot_name: str, *, seed: int = 6, length: int = 0) -> tuple[Session, list[str]]:
    """A game or match of a bot against itself, and what a player in seat 0 types to play it."""
    preset, rng = find_preset(name), random.Random(seed)
    bot = load_bot(bot_name, preset.rules)
    options = replace(preset.match, length=length)
    session = begin(Setup(preset.rules, options, seed, ("you", bot_name)))
    lines = []
    while not is_over(session):
        state = session.state
        if state.game_over:
            session = act(session, Action(0, "next"))
            continue
        action = respond(session, bot)
        session = act(session, action)
        if action.seat == 0:
            if action.kind != "play":
                lines.append({"roll": rng.choice(["", "roll", "r", "бросок"])}.get(action.kind, action.kind))
            elif len(plays(state.board, state.dice, preset.rules)) > 1:
                words = action.text.split()
                rng.shuffle(words)
                high, low = state.dice
                text = rng.choice([" ", ", "]).join(words).replace("bar", "бар").replace("off", "вб")
                lines.append(rng.choice(["", f"{high}{low}: "]) + text.replace("/", rng.choice("/-")))
    return session, lines


@pytest.mark.parametrize("name", ["short", "long", "hyper", "caucasian", "long-left"])
def test_scripted_game_is_played_to_its_end(monkeypatch, capsys, name):
    whole, lines = scripted(name, "heuristic")
    code = play(monkeypatch, lines, "--rules", name, "--bot", "heuristic", "--seed", "6")
    out = capsys.readouterr().out
    assert code == DONE, out[-2000:]
    assert saved()["actions"] == [[action.seat, action.kind, action.text] for action in whole.actions]
    (result,) = whole.state.results
    assert f"{'you win' if result.winner == 0 else 'heuristic wins'}" in out
    assert "the end: games" in out


@pytest.mark.parametrize("name", ["short", "long"])
def test_interrupted_and_resumed_game_is_the_uninterrupted_one(monkeypatch, capsys, name):
    whole, lines = scripted(name, "heuristic")
    start = ("--rules", name, "--bot", "heuristic", "--seed", "6", "--no-board")
    step = len(lines) // 3 + 1
    for i in range(0, len(lines), step):
        code = play(monkeypatch, lines[i : i + step], *(start if i == 0 else ("--resume", "--no-board")))
        assert code == (DONE if i + step >= len(lines) else INTERRUPTED)
        if code:
            assert "nardy play --resume nardy-play.json" in capsys.readouterr().err
    assert saved()["actions"] == [[action.seat, action.kind, action.text] for action in whole.actions]


def test_match_with_a_cube_is_played_to_its_length(monkeypatch, capsys):
    whole, lines = scripted("hyper", "hyper", seed=2, length=3)
    assert play(monkeypatch, lines, "--rules", "hyper", "--length", "3", "--seed", "2", "--no-board") == DONE
    assert saved()["actions"] == [[action.seat, action.kind, action.text] for action in whole.actions]
    assert any(action.kind == "double" for action in whole.actions)
    assert "of 3" in capsys.readouterr().out


def test_adviser_can_play_a_whole_game(monkeypatch, capsys):
    assert play(monkeypatch, ["best"] * 200, "--rules", "hyper", "--seed", "1", "--bot", "pips", "--no-board") == DONE
    assert "the end: games" in capsys.readouterr().out


def test_real_pipe_reads_like_a_session_and_its_end_is_told_by_the_exit_code(tmp_path):
    command = [sys.executable, "-m", "nardy_ai.cli.main", "play", "--bot", "pips", "--seed", "3"]
    script = "hint 3\n24/23 13/9\n\nкриво\n".encode() + b"\xff\xfe\n"
    done = subprocess.run(command, input=script, capture_output=True, cwd=tmp_path, check=False)
    out = done.stdout.decode()
    assert done.returncode == INTERRUPTED
    assert "4-1> 24/23 13/9" in out
    assert "pips rolls 5-4: " in out
    assert "Traceback" not in done.stderr.decode()
    assert len(saved(str(tmp_path / FILE))["actions"]) == 4


class InterruptedInput(io.StringIO):
    """Lines, and then Ctrl-C in place of the end."""

    def readline(self, size: int = -1) -> str:
        line = super().readline(size)
        if not line:
            raise KeyboardInterrupt
        return line


def test_interruption_is_told_by_the_exit_code_and_loses_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", InterruptedInput("24/23 13/9\n\n"))
    assert main(["play", "--bot", "pips", "--seed", "3"]) == INTERRUPTED
    assert "--resume nardy-play.json" in capsys.readouterr().err
    assert [kind for _, kind, _ in saved()["actions"]] == ["play", "roll", "play", "roll"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_control_c_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "nardy_ai.cli.main", "play", "--bot", "pips", "--seed", "3"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True
    ) as process:
        process.stdin.write("24/23 13/9\n\n")
        process.stdin.flush()
        while "you roll" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert "--resume nardy-play.json" in err
    assert [kind for _, kind, _ in saved(str(tmp_path / FILE))["actions"]] == ["play", "roll", "play", "roll"]


def test_unfinished_game_is_not_written_over(monkeypatch, capsys):
    play(monkeypatch, ["24/23 13/9"], "--bot", "pips", "--seed", "3")
    before = saved()
    assert play(monkeypatch, [], "--bot", "pips", "--seed", "4") == MISUSED
    assert "--resume nardy-play.json" in capsys.readouterr().err
    assert saved() == before
    assert play(monkeypatch, [], "--bot", "pips", "--save", "other.json") == INTERRUPTED
    assert saved() == before


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (("--resume", "none.json"), "none.json: cannot be read"),
        (("--resume", "bad.json"), "bad.json: is no saved game"),
        (("--resume", "list.json"), "list.json: no saved game"),
        (("--resume", "bad.json", "--seed", "3"), "--seed belongs to a new match"),
        (("--length", "-1"), "--length is 0"),
        (("--length", "32768"), "to 32767"),
        (("--games", "0"), "--games is 1 or more"),
        (("--length", "3", "--games", "3"), "ends by its length"),
        (("--bot", "pips", "--tutor"), "knows no chances"),
        (("--tutor=-1",), "expected a loss of 0 points or more"),
        (("--tutor", "nan"), "expected a loss of 0 points or more"),
        (("--bot", "nobody"), "unknown bot"),
    ],
)
def test_misuse_is_one_line(monkeypatch, capsys, argv, fault):
    Path("bad.json").write_text("{", encoding="utf-8")
    Path("list.json").write_text("[]", encoding="utf-8")
    assert play(monkeypatch, [], *argv) == MISUSED
    assert fault in the_line(capsys.readouterr().err)
    assert not Path(FILE).exists()


def said(monkeypatch, capsys, lines: list[str], *argv: str) -> str:
    play(monkeypatch, lines, *argv)
    return capsys.readouterr().out


def test_hint_ranks_the_plays_of_the_roll(monkeypatch, capsys):
    """Seed 3 begins with 4-1 for the player."""
    out = said(monkeypatch, capsys, ["hint 2"], "--seed", "3", "--no-board")
    assert "roll 4-1: 14 plays, the best 2" in out
    assert "  1  24/23 13/9" in out
    assert "  3  " not in out


def test_hint_before_the_roll_tells_the_chances(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["best", "hint"], "--seed", "3", "--no-board")
    assert "before the roll of you: equity" in out
    assert "mars or more" in out


def test_hint_of_a_bot_without_chances_says_so(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["hint", "best", "hint"], "--seed", "3", "--no-board", "--bot", "pips")
    assert "only rank plays" in out
    assert "'pips' knows no chances before the roll" in out


def test_tutor_names_the_loss_and_lets_a_play_be_taken_back(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["24/23 6/2", "24/23 13/9"], "--seed", "3", "--no-board", "--tutor")
    assert "24/23 6/2 loses 0." in out
    assert "the best is 24/23 13/9" in out
    assert "Enter keeps 24/23 6/2, or something else> 24/23 13/9" in out
    assert "24/23 13/9 is the best play" in out
    assert saved()["actions"][0] == [0, "play", "24/23 13/9"]


@pytest.mark.parametrize("answer", ["", "24/23 6/2"])
def test_questioned_play_is_kept_by_an_empty_line_or_when_it_is_typed_again(monkeypatch, capsys, answer):
    said(monkeypatch, capsys, ["24/23 6/2", answer], "--seed", "3", "--no-board", "--tutor")
    assert saved()["actions"][0] == [0, "play", "24/23 6/2"]


def test_questioned_play_is_not_played_when_the_input_ends(monkeypatch, capsys):
    said(monkeypatch, capsys, ["24/23 6/2"], "--seed", "3", "--no-board", "--tutor")
    assert saved()["actions"] == []


def test_tutor_lets_small_losses_pass_and_is_kept_in_the_file(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["13/8"], "--seed", "3", "--no-board", "--tutor", "0.5")
    assert "13/8 loses 0.0" in out
    assert saved()["actions"][0] == [0, "play", "13/8"]
    out = said(monkeypatch, capsys, ["", "best", "", "6/"], "--resume", "--no-board")
    assert saved()["tutor"] == 0.5


def test_adviser_judges_in_place_of_a_bot_without_chances(monkeypatch, capsys):
    out = said(
        monkeypatch,
        capsys,
        ["24/23 6/2"],
        "--seed",
        "3",
        "--no-board",
        "--bot",
        "pips",
        "--tutor",
        "--adviser",
        "short@1ply",
    )
    assert "24/23 6/2 loses 0." in out


def test_play_is_typed_move_by_move_and_begun_again(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["24/23", "undo", "13/9", "24/23"], "--seed", "3", "--no-board", "--bot", "pips")
    assert "24/23, and " in out
    assert "ways to go on" in out
    assert "4-1: 13/9 and> 24/23" in out
    assert saved()["actions"][0] == [0, "play", "24/23 13/9"]


def test_undo_before_rolling_takes_back_the_play(monkeypatch, capsys):
    out = said(
        monkeypatch,
        capsys,
        ["24/23 6/2", "undo", "24/23 13/9", "", "undo"],
        "--seed",
        "3",
        "--no-board",
        "--bot",
        "pips",
    )
    assert "taken back" in out
    assert "you have rolled since" in out
    assert saved()["actions"][0] == [0, "play", "24/23 13/9"]


def test_resignation_is_answered(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["resign koks"], "--seed", "3", "--no-board")
    assert "you offer to lose koks, 3 points" in out
    assert "short wins koks, resigned: 3 points; score you 0, short 3" in out
    assert "the end" in out


def test_resignation_to_nothing_possible_is_refused(monkeypatch, capsys):
    out = said(monkeypatch, capsys, ["resign mars"], "--rules", "short-dave", "--seed", "3", "--no-board")
    assert "can still be lost as single" in out


def until_the_bot_doubles() -> tuple[int, list[str]]:
    """The seed of a match of hyper in which the bot doubles, whatever bot is shipped, and what is typed until then."""
    for seed in range(1, 40):
        lines = scripted("hyper", "hyper", seed=seed, length=3)[1]
        for at, line in enumerate(lines):
            if line in ("take", "drop"):
                return seed, lines[:at]
    raise AssertionError("the bot never doubles")


def test_cube_waits_for_a_word(monkeypatch, capsys):
    """Neither an empty line nor a play answers a double."""
    seed, lines = until_the_bot_doubles()
    argv = ("--rules", "hyper", "--length", "3", "--seed", str(seed), "--no-board")
    out = said(monkeypatch, capsys, [*lines, "", "8/5", "roll", "pass"], *argv)
    assert out.count("a double waits: take, drop?") == 2
    assert "cannot roll now" in out
    assert "by a refused double" in out


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("frob", "'frob' is no command"),
        ("24/23", "roll first"),
        ("s", "'s' may be save, score"),
        ("hint many", "expected how many plays"),
        ("take", "cannot take now"),
        ("double", "cannot double now"),
        ("sco", "score you 0, pips 0"),
        ("?", "offer the doubled stake"),
        ("board", "+12-11-10--9--8--7-+"),
        ("save", "every action is saved in nardy-play.json"),
        ("save copy.json", "written: copy.json"),
        ("save .", "cannot be written"),
    ],
)
def test_answer_to_a_command_before_the_roll(monkeypatch, capsys, typed, answer):
    assert answer in said(
        monkeypatch, capsys, ["24/23 6/2", "# a remark", typed], "--seed", "3", "--no-board", "--bot", "pips"
    )


@pytest.mark.parametrize("name", ["hyper", "short", "long", "long-left", "caucasian"])
def test_exported_match_reads_back_and_replays_to_the_same_results(name):
    whole, _ = scripted(name, "hyper", seed=2, length=3) if name == "hyper" else scripted(name, "heuristic")
    record = match_record(whole)
    Path("match.mat").write_text(write_mat(record), encoding="utf-8")
    read = read_record(Path("match.mat"), whole.setup.rules)
    assert read.faults == ()
    assert (read.names, read.games) == (record.names, record.games)
    games = replay_match(read, whole.setup.rules)
    assert [game.faults for game in games] == [() for _ in whole.state.results]
    assert [(game.winner, game.points) for game in games] == [
        (result.winner, result.points) for result in whole.state.results
    ]


def test_export_that_cannot_be_written_is_refused_before_the_first_roll(monkeypatch, capsys):
    assert play(monkeypatch, ["quit"], "--bot", "pips", "--export", ".") == MISUSED
    captured = capsys.readouterr()
    assert ("cannot be written" in captured.err, captured.out) == (True, "")


def test_unfinished_match_is_exported_on_the_way_and_at_the_end(monkeypatch, capsys):
    lines = ["24/23 13/9", "export early.mat", "", "export", "export ."]
    out = said(monkeypatch, capsys, lines, "--seed", "3", "--bot", "pips", "--no-board", "--export", "late.mat")
    assert "export needs a file" in out
    assert ".: cannot be written" in out
    early, late = (read_record(Path(name), find_preset("short").rules).games[0] for name in ("early.mat", "late.mat"))
    assert early.actions == late.actions[:2]
    assert [action.dice for action in late.actions] == [(4, 1), (5, 4), (2, 2)]
    assert late.actions[-1].moves is None
    assert "; [Seed" in Path("late.mat").read_text(encoding="utf-8")


@pytest.mark.parametrize("stake", [1, 2])
def test_automatic_doubles_beavers_and_raccoons_are_exported(stake):
    """Seeds whose opening has no tie and one."""
    setup = Setup(find_preset("short-money").rules, find_preset("short-money").match, 0)
    seed = next(seed for seed in range(100) if begin(replace(setup, seed=seed)).state.stake == stake)
    session = begin(replace(setup, seed=seed))
    bot = load_bot("pips", "short")
    session = act(session, respond(session, bot))
    doubler = session.state.on_roll
    session = act(act(session, Action(doubler, "double")), Action(1 - doubler, "beaver"))
    raccooned = begin(replace(session.setup, options=replace(session.setup.options, raccoons=True)))
    for action in session.actions:
        raccooned = act(raccooned, action)
    raccooned = act(act(raccooned, Action(doubler, "raccoon")), Action(1 - doubler, "drop"))
    text = write_mat(match_record(raccooned))
    assert f"Raccoons => {8 * stake}" in text
    (game,) = replay_match(match_record(raccooned), setup.rules)
    assert (game.faults, game.winner, game.points) == ((), doubler, 4 * stake)
    for answer in ("take", "drop"):
        ended = act(session, Action(doubler, answer))
        text = write_mat(match_record(ended))
        assert f"Doubles => {2 * stake}" in text
        assert f"Beavers => {4 * stake}" in text
        (game,) = replay_match(match_record(ended), setup.rules)
        assert game.faults == ()
        if answer == "drop":
            assert (game.winner, game.points) == (1 - doubler, 2 * stake)


@pytest.mark.parametrize(
    ("way", "written", "points"), [("single", "Resigns single", 1), ("koks", "Resigns backgammon", 3)]
)
def test_accepted_resignation_is_exported_and_a_declined_one_is_not(way, written, points):
    preset = find_preset("short")
    session = begin(Setup(preset.rules, preset.match, 3))
    for action in (Action(0, "resign", "mars"), Action(1, "decline"), Action(0, "resign", way), Action(1, "accept")):
        session = act(session, action)
    record = match_record(session)
    assert write_mat(record).count("Resigns") == write_mat(record).count(written) == 1
    (game,) = replay_match(record, preset.rules)
    assert (game.faults, game.winner, game.points) == ((), 1, points)


@pytest.mark.slow
def test_analysis_of_an_exported_match_finds_no_fault_in_the_bot_that_played_it(monkeypatch, capsys):
    """The same bot in both seats, play and cube: every decision is the one it thinks best."""
    argv = ("--rules", "short-match", "--length", "5", "--seed", "5", "--no-board", "--export", "match.mat")
    assert play(monkeypatch, ["best"] * 1000, *argv) == DONE
    capsys.readouterr()
    assert main(["analyse", "match.mat", "--bot", "short", "--json"]) == DONE
    totals = json.loads(capsys.readouterr().out)["totals"]
    assert [player["pr"] for player in totals] == [0, 0]
    assert all(player["decisions"] > 20 for player in totals)


def test_tutor_judges_cube_actions(monkeypatch, capsys):
    """No double is right before anything has happened."""
    argv = ("--rules", "short-match", "--length", "7", "--seed", "3", "--no-board", "--tutor")
    out = said(monkeypatch, capsys, ["24/23 13/9", "double", "roll"], *argv)
    assert re.search("double loses 0[.][0-9]+ per cube; right is no double, take", out)
    assert "Enter keeps double, or something else> roll" in out
    assert [kind for _, kind, _ in saved()["actions"]] == ["play", "roll", "play", "roll"]


def test_hint_before_the_roll_tells_the_cube_decision(monkeypatch, capsys):
    argv = ("--rules", "short-match", "--length", "7", "--seed", "3", "--no-board")
    out = said(monkeypatch, capsys, ["24/23 13/9", "hint", "", "hint 1"], *argv)
    assert "no double, take; equities per cube of you" in out
    assert "points per cube, with the cube" in out


@pytest.mark.parametrize("damage", [{"tutor": "much"}, {"adviser": None}, {"players": ["you", "nobody"]}])
def test_damaged_save_is_refused_in_one_line(monkeypatch, capsys, damage):
    play(monkeypatch, [], "--bot", "pips")
    Path(FILE).write_text(json.dumps(saved() | damage), encoding="utf-8")
    capsys.readouterr()
    assert play(monkeypatch, [], "--resume") == MISUSED
    assert the_line(capsys.readouterr().err)


def test_tab_completes_what_can_be_typed():
    complete = completer(["24/23 13/9", "24/20", "hint", "Марс"])
    assert [complete("24", i) for i in range(3)] == ["24/23 13/9", "24/20", None]
    assert complete("H", 0) == "hint"
    assert complete("м", 0) == "Марс"


def test_quit_is_no_interruption(monkeypatch, capsys):
    assert play(monkeypatch, ["quit"], "--seed", "3", "--bot", "pips") == DONE
    assert "--resume" in capsys.readouterr().err


def test_finished_match_can_be_looked_at_and_another_begun(monkeypatch, capsys):
    assert play(monkeypatch, ["resign koks"], "--seed", "3", "--no-board", "--bot", "pips") == DONE
    assert play(monkeypatch, [], "--resume") == DONE
    assert "pips wins koks" in capsys.readouterr().out
    assert play(monkeypatch, [], "--seed", "3", "--bot", "pips") == INTERRUPTED


def test_board_is_the_players_also_when_the_bot_doubles(monkeypatch, capsys):
    seed, lines = until_the_bot_doubles()
    argv = ("--rules", "hyper", "--length", "3", "--seed", str(seed))
    board = said(monkeypatch, capsys, lines, *argv).rsplit("\n\n", 1)[1]
    assert "O hyper" in board.split("BAR")[0]
    assert "X you" in board.split("BAR")[1]
    assert re.search("cube [0-9]+, .*, O hyper doubles", board)


@given(
    st.lists(
        st.text(max_size=10)
        | st.text(alphabet="0123456789/-(),*: barof", max_size=10)
        | st.sampled_from(
            [
                "",
                "roll",
                "best",
                "hint",
                "undo",
                "double",
                "take",
                "drop",
                "resign",
                "resign mars",
                "board",
                "h 1",
                "beaver",
            ]
        ),
        max_size=25,
    )
)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_garbage_is_answered_and_never_a_fault(monkeypatch, tmp_path_factory, lines):
    monkeypatch.chdir(tmp_path_factory.mktemp("fuzz"))
    lines = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    lines = [line for line in lines if not line.casefold().startswith(("save", "sav", "sa", "ex", "export"))]
    code = play(monkeypatch, lines, "--rules", "hyper", "--bot", "hyper", "--seed", "3")
    assert code in (DONE, INTERRUPTED)
    assert saved()["format"] == "nardy-play-1"
    assert not list(Path().glob("*.part"))

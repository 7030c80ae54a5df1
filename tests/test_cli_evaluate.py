"""`nardy evaluate`: chances before the roll, plays ranked after it, finished games, batches, and one line a fault."""

import io
import json
import re
import subprocess
import sys
from itertools import pairwise

import numba
import numpy as np
import pytest
from complaints import complaint

from nardy_ai import __version__, bots
from nardy_ai.bots import best_afterstates, load_bot
from nardy_ai.cli.compile_notice import NOTICE, compile_notice
from nardy_ai.cli.main import main
from nardy_ai.notation import parse_position
from nardy_ai.outcomes import class_names, class_points, cumulative, equities, swap
from nardy_ai.rules import find_rules

OPENING_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
START = "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5"
SHORT = find_rules("short")
GAMES = ("short", "long", "hyper", "long-left")


def answers(capsys, *argv: object) -> list[dict]:
    """What `nardy evaluate ... --json` prints."""
    assert main(["evaluate", *map(str, argv), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(capsys, *argv: object) -> str:
    assert main(["evaluate", *map(str, argv)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", GAMES)
def test_chances_before_the_roll_are_those_of_the_bot(name, bot_files, capsys):
    bot = load_bot(bot_files[name])
    expected = bot.outcomes(parse_position("start", bot.rules)[None])[0]
    (answer,) = answers(capsys, "start", "--bot", bot_files[name])
    assert (answer["version"], answer["bot"], answer["rules"]) == (__version__, str(bot_files[name]), name)
    assert answer["dice"] is None
    assert "plays" not in answer
    assert list(answer["outcomes"]) == list(class_names(bot.rules))
    assert np.allclose(list(answer["outcomes"].values()), expected, rtol=0, atol=1e-6)
    assert answer["equity"] == pytest.approx(float(expected @ class_points(bot.rules)), abs=1e-5)


@pytest.mark.parametrize("name", ["short", "hyper"])
def test_cumulative_chances_are_the_view_of_the_six_classes(name, bot_files, capsys):
    (answer,) = answers(capsys, "start", "--bot", bot_files[name])
    view = {key: float(chance) for key, chance in cumulative(np.array(list(answer["outcomes"].values()))).items()}
    assert {key: answer["cumulative"][key] for key in view} == pytest.approx(view, abs=3e-6)
    assert answer["cumulative"]["win"] + answer["cumulative"]["lose"] == pytest.approx(1, abs=3e-6)


def test_cumulative_chances_of_checkers_left_are_six_numbers(bot_files, capsys):
    (answer,) = answers(capsys, "start", "--bot", bot_files["long-left"])
    chances = answer["outcomes"]
    assert len(chances) == 32
    assert answer["cumulative"]["win"] == pytest.approx(sum(list(chances.values())[:16]), abs=1e-5)
    assert answer["cumulative"]["win_mars"] == pytest.approx(chances["win_mars"] + chances["win_koks"], abs=1e-5)
    assert answer["cumulative"]["lose_koks"] == chances["lose_koks"]


@pytest.mark.parametrize("name", GAMES)
def test_plays_are_ranked_as_the_bot_chooses(name, bot_files, capsys):
    bot = load_bot(bot_files[name])
    chosen, worth = best_afterstates(bot, parse_position("start", bot.rules), (6, 5))
    (answer,) = answers(capsys, "start", "--dice", "65", "--bot", bot_files[name])
    ranked = answer["plays"]
    equities = [play["equity"] for play in ranked]
    assert answer["is_evaluator"]
    assert equities == sorted(equities, reverse=True)
    assert equities[0] == pytest.approx(float(worth[0]), abs=1e-5)
    assert np.array_equal(parse_position(ranked[0]["after"], bot.rules), chosen[0])
    assert ranked[0]["loss"] == 0
    assert [play["loss"] for play in ranked] == pytest.approx([equities[0] - e for e in equities], abs=2e-5)


def test_equity_and_chances_of_a_play_are_for_the_side_that_plays(bot_files, capsys):
    """The same board asked about before the other side's roll has the same chances with the sides changed."""
    (answer,) = answers(capsys, "start", "--dice", "31", "--bot", bot_files["short"], "--top", 1)
    best = answer["plays"][0]
    (after,) = answers(capsys, best["after"], "--bot", bot_files["short"])
    assert best["equity"] == pytest.approx(-after["equity"], abs=2e-6)
    assert best["outcomes"]["win_koks"] == after["outcomes"]["lose_koks"]
    assert best["cumulative"]["lose_mars"] == after["cumulative"]["win_mars"]


def test_chances_of_look_ahead_are_of_the_depth_at_which_a_play_was_judged(bot_files, capsys):
    """Plays left behind keep the bare bot's chances."""
    name = f"{bot_files['short']}@1ply"
    (answer,) = answers(capsys, "start", "--dice", "31", "--bot", name)
    judges = load_bot(bot_files["short"]), load_bot(name)
    for play in answer["plays"]:
        right = swap(judges[play["plies"]].outcomes(parse_position(play["after"], SHORT)))[0]
        assert list(play["outcomes"].values()) == pytest.approx(right.tolist(), abs=2e-6)
        assert play["equity"] <= float(equities(right, SHORT)) + 2e-6
    assert {play["plies"] for play in answer["plays"]} == {0, 1}
    text = printed(capsys, "start", "--dice", "31", "--bot", name)
    header, best = next(pair for pair in pairwise(text.splitlines()) if "  ply  " in pair[0])
    assert best[header.index("ply") : header.index("ply") + 3] == "  1"
    assert "ply" not in printed(capsys, "start", "--dice", "31", "--bot", bot_files["short"])


def test_pubeval_makes_its_five_point_and_gives_a_value_only(capsys):
    (answer,) = answers(capsys, "start", "--dice", "31", "--bot", "pubeval")
    assert not answer["is_evaluator"]
    assert [play["play"] for play in answer["plays"][:1]] == ["8/5 6/5"]
    assert set(answer["plays"][0]) == {"play", "after", "value"}
    assert "only rank plays" in printed(capsys, "start", "--dice", "31", "--bot", "pubeval")


def test_a_bot_without_chances_is_refused_before_the_roll(capsys):
    assert "'pubeval' is no evaluator" in complaint(capsys, "evaluate", "start", "--bot", "pubeval")


@pytest.mark.parametrize(
    ("rules", "board", "result", "equity"),
    [
        ("short", "5:3 / off:15", "lose_single", -1),
        ("short", "13:15 / off:15", "lose_mars", -2),
        ("short", "24:1 13:14 / off:15", "lose_koks", -3),
        ("short", "off:15 / 5:15", "win_mars", 2),
        ("long", "24:15 / off:15", "lose_mars", -2),
        ("long-left", "5:3 / off:15", "lose_3_left", -3),
        ("long-left", "5:15 / off:15", "lose_koks", -45),
    ],
)
@pytest.mark.parametrize("more", [[], ["--dice", "31"]])
def test_finished_games_are_answered_by_the_rules(rules, board, result, equity, more, capsys):
    (answer,) = answers(capsys, board, "--rules", rules, "--bot", "random", *more)
    assert answer["finished"]
    assert (answer["equity"], answer["dice"]) == (equity, None)
    assert [name for name, chance in answer["outcomes"].items() if chance] == [result]
    text = printed(capsys, board, "--rules", rules, "--bot", "random", *more)
    assert f"the game is over: the side on roll has {'won' if equity > 0 else 'lost'}" in text
    assert f"{equity:+d} points" in text


def test_every_answer_begins_with_what_reproduces_it(bot_files, capsys):
    text = printed(capsys, OPENING_XGID, "start", "--bot", bot_files["short"])
    lines = [line for line in text.splitlines() if line.startswith("nardy")]
    head = f"nardy {__version__}, bot {bot_files['short']}, rules short, position"
    assert lines == [
        f'{head} "{START} dice=31", {OPENING_XGID}',
        f'{head} "{START}", {OPENING_XGID.replace("31", "00")}',
    ]


def test_a_parallel_board_has_no_xgid(bot_files, capsys):
    assert "XGID" not in printed(capsys, "start", "--bot", bot_files["long"])
    assert answers(capsys, "start", "--bot", bot_files["long"])[0]["xgid"] is None


def test_the_printed_position_gives_the_same_answer_again(bot_files, capsys):
    (first,) = answers(capsys, OPENING_XGID, "--bot", bot_files["short"])
    (again,) = answers(capsys, first["position"], "--bot", bot_files["short"])
    assert first | {"given": ""} == again | {"given": ""}


@pytest.mark.parametrize(
    ("rules", "before_roll", "after_roll"),
    [
        ("short", ["any", "mars or more", "koks"], ["wins %", "mars+", "koks", "loses %", "mars+", "koks"]),
        ("long", ["any", "mars or more"], ["wins %", "mars", "loses %", "mars"]),
        ("short-dave", ["any"], ["wins %", "loses %"]),
        (
            "long-left",
            ["any", "mars or more", "koks", "points each"],
            ["wins %", "mars+", "koks", "loses %", "mars+", "koks"],
        ),
    ],
)
def test_tables_show_the_results_that_the_rules_know(rules, before_roll, after_roll, bot_files, capsys):
    bot = bot_files["short" if rules == "short-dave" else rules]
    before = printed(capsys, "start", "--bot", bot, "--rules", rules).splitlines()
    assert re.split(" {2,}", before[2].strip()) == ["cumulative", *before_roll]
    after = printed(capsys, "start", "--bot", bot, "--rules", rules, "--dice", "21").splitlines()
    assert re.split(" {2,}", after[2].strip()) == ["play", "equity", "loss", *after_roll]
    assert ("mars or koks" in after[-1]) == ("koks" in after_roll)


def test_top_limits_the_list_and_says_so(bot_files, capsys):
    text = printed(capsys, "start", "--dice", "31", "--bot", bot_files["short"], "--top", 3)
    assert "roll 3-1: 16 plays, the best 3;" in text
    assert "\n  3  " in text
    assert "\n  4  " not in text
    assert len(answers(capsys, "start", "--dice", "31", "--bot", bot_files["short"], "--top", 3)[0]["plays"]) == 3


def test_draw_draws_the_board(bot_files, capsys):
    assert "to play 3-1" in printed(capsys, OPENING_XGID, "--bot", bot_files["short"], "--draw")


def test_a_batch_of_all_kinds_keeps_its_order_and_its_numbers(bot_files, tmp_path, capsys):
    """Rolled, not rolled and finished positions in one file are each answered as if they were alone."""
    texts = ["start", OPENING_XGID, "off:15 / 5:15", "20:1 / 12:2", "20:1 / 12:2 dice=61"]
    file = tmp_path / "positions.txt"
    file.write_text("# some\n" + "\n\n".join(texts) + "\n", encoding="utf-8")
    together = answers(capsys, "--file", file, "--bot", bot_files["short"])
    assert [answer["given"] for answer in together] == texts
    alone = [answers(capsys, text, "--bot", bot_files["short"])[0] for text in texts]
    assert together == alone


def test_a_batch_costs_one_call_of_the_bot(bot_files, monkeypatch, capsys):
    bot = load_bot(bot_files["short"])
    sizes = []
    value_plays = bot.play_values

    def counted(boards, after):
        sizes.append(len(boards))
        return value_plays(boards, after)

    monkeypatch.setattr(bot, "play_values", counted)
    monkeypatch.setattr("nardy_ai.cli.evaluate.load_bot", lambda name, rules: bot)
    answers(capsys, *["start"] * 5, "--dice", "31", "--bot", "any")
    assert sizes == [5]


@pytest.mark.parametrize("argument", [["-"], ["--file", "-"]])
def test_positions_come_from_stdin(argument, bot_files, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("start\nstart dice=31\n"))
    found = answers(capsys, *argument, "--bot", bot_files["short"])
    assert [answer["dice"] for answer in found] == [None, [3, 1]]


def test_rules_are_named_in_russian(bot_files, capsys):
    (answer,) = answers(capsys, "start", "--rules", "короткие с даве", "--bot", bot_files["short"])
    assert answer["rules"] == "short-dave"
    assert answer["outcomes"]["win_mars"] == 0


def test_the_shipped_bot_of_the_rules_answers_unless_another_is_named(bot_files, monkeypatch, capsys):
    files = {"short": bot_files["short"], "long": bot_files["long"]}
    monkeypatch.setattr(bots, "checkpoint_names", lambda: sorted(files))
    monkeypatch.setattr(bots, "find_checkpoint", files.get)
    assert answers(capsys, "start")[0]["bot"] == "short"
    assert answers(capsys, "start", "--rules", "длинные")[0]["bot"] == "long"


def test_without_shipped_bots_the_default_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(bots, "checkpoint_names", list)
    assert "no bot is shipped that can play 'short'" in complaint(capsys, "evaluate", "start")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["start", "--bot", "pubevl"], "did you mean 'pubeval'"),
        (["start", "--bot", "absent.safetensors"], "absent.safetensors: no such file"),
        (["start", "--bot", "random", "--dice", "37"], "dice '37'"),
        (["start", "--bot", "random", "--rules", "lnog"], "did you mean 'long'"),
        (["start", "--bot", "pubeval", "--rules", "long"], "pubeval"),
        (["--bot", "random"], "no position given"),
        (["nonsense", "--bot", "random"], "nonsense"),
        (["20:1 / 5:1", "--bot", "random", "--dice", "31"], "both sides stand on one point"),
        (["start", "--bot", "random", "--dice", "31", "--top", "0"], "--top 0"),
        (["start", "--bot", "random", "--top", "3"], "--top 3 lists the best plays of a roll"),
        (["start", "--bot", "random", "--dice", "31", "--top", "x"], "--top"),
        (["--file", "absent.txt", "--bot", "random"], "absent.txt: cannot be read"),
        ([OPENING_XGID, "--rules", "long", "--bot", "random"], "Use the text form"),
    ],
)
def test_misuse_is_one_line_and_exit_code_2(argv, expected, capsys):
    assert expected in complaint(capsys, "evaluate", *argv)


def test_a_fault_in_a_file_names_its_line(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_text("start dice=31\n\nstart\n", encoding="utf-8")
    assert f"{file}:3: bot 'random'" in complaint(capsys, "evaluate", "--file", file, "--bot", "random")


def test_a_damaged_bot_is_one_line(tmp_path, bot_files, capsys):
    file = tmp_path / "damaged.safetensors"
    file.write_bytes(bot_files["short"].read_bytes()[:-1])
    assert str(file) in complaint(capsys, "evaluate", "start", "--bot", file)


def test_compiling_is_announced_once_and_only_when_it_happens(capsys):
    plain = [numba.njit(lambda x, k=k: x + k) for k in range(2)]
    with compile_notice():
        plain[0](1)
        plain[1](1)
        plain[0](2)
    assert capsys.readouterr().err == f"{NOTICE}\n"
    with compile_notice():
        plain[0](3)
    assert capsys.readouterr().err == ""


def test_evaluation_imports_nothing_that_it_does_not_need(bot_files):
    argv = ["evaluate", "start", "--dice", "31", "--bot", str(bot_files["short"]), "--json"]
    script = (
        f"import sys; from nardy_ai.cli.main import main; main({argv!r});"
        " print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "tqdm", "scipy"} & set(done.stderr.split())

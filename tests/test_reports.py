"""Pages of positions: well formed, self-contained, escaped, and the same numbers as in the terminal."""

import base64
import hashlib
import json
import re

import pytest

from nardy_ai.cli.main import main
from nardy_ai.reports.positions import Section, positions_page
from nardy_ai.reports.tables import Cell, Table
from tests.pages import having, read_page, table_rows, words

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
EVIL = '<img src="x" onerror="alert(1)">&\'</style></script>'


def page_of(tmp_path, *argv: object):
    """The page that a command writes, and its text."""
    file = tmp_path / "page.html"
    assert main([*map(str, argv), "--html", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    return read_page(text), text


def test_plays_of_a_roll_stand_beside_their_board(bot_files, tmp_path, capsys):
    page, _ = page_of(tmp_path, "evaluate", OPENING, "--bot", bot_files["short"], "--top", 4, "--json")
    [answer] = json.loads(capsys.readouterr().out)
    [table] = page.iter("table")
    rows = table_rows(table)
    assert [row[1] for row in rows] == [play["play"] for play in answer["plays"]]
    assert [float(row[2]) for row in rows] == pytest.approx([play["equity"] for play in answer["plays"]], abs=6e-5)
    settings = words(having(page, "settings")[0])
    assert answer["xgid"] in settings
    assert answer["position"] in settings
    assert str(bot_files["short"]) in settings
    assert "to play 3-1" in words(next(next(page.iter("svg")).iter("title")))


def test_each_play_has_its_arrows_and_the_best_is_shown(bot_files, tmp_path):
    page, _ = page_of(tmp_path, "evaluate", OPENING, "--bot", bot_files["short"], "--top", 4)
    arrows = {one.get("data-play"): one for one in having(page, "nb-play")}
    buttons = [one for one in page.iter("button") if one.get("class") == "play"]
    assert [button.get("data-play") for button in buttons] == list(arrows) == ["0", "1", "2", "3"]
    assert [button.get("aria-pressed") for button in buttons] == ["true", "false", "false", "false"]
    assert [one.get("display") for one in arrows.values()] == [None, "none", "none", "none"]
    assert all(len(having(one, "nb-move")) for one in arrows.values())


def test_chances_before_the_roll_finished_games_and_several_positions(bot_files, tmp_path):
    page, _ = page_of(tmp_path, "evaluate", "start", "off:15 / 3:2", "--bot", bot_files["short"])
    sections = having(page, "position")
    assert [len(list(section.iter("svg"))) for section in sections] == [1, 1]
    assert [row[0] for row in table_rows(next(sections[0].iter("table")))] == ["wins", "loses"]
    assert not list(sections[1].iter("table"))
    assert "the game is over" in words(sections[1])


@pytest.mark.parametrize("bot", ["pips", "heuristic"])
def test_bots_without_chances_and_parallel_boards(bot, tmp_path):
    page, _ = page_of(tmp_path, "evaluate", "start", "--dice", "63", "--rules", "long", "--bot", bot)
    assert "they are no points" in words(having(page, "position")[0])


def test_rollout_has_every_error_below_its_chance(tmp_path, capsys):
    argv = ("rollout", "start", "--dice", 31, "--rules", "hyper", "--bot", "pips", "--top", 5, "--games", 36)
    argv = (*argv, "--no-variance-reduction", "--quiet")
    page, _ = page_of(tmp_path, *argv, "--json")
    results = json.loads(capsys.readouterr().out)["results"]
    [table] = page.iter("table")
    cells = [list(row.iter("td")) for row in table.find("tbody")]
    assert [words(row[1]) for row in cells] == [one["play"] for one in results]
    assert [float(row[2].text) for row in cells] == pytest.approx([one["equity"] for one in results], abs=6e-5)
    assert words(next(page.iter("desc"))).endswith(f"Arrows show the play {results[0]['play']}.")
    wins = cells[0][6]
    assert float(wins.get("data-key")) == pytest.approx(100 * results[0]["cumulative"]["win"], abs=6e-3)
    share = results[0]["cumulative"]["win"]
    of_coins = 100 * (share * (1 - share) / 36) ** 0.5
    assert float(words(wins.find("small"))) == pytest.approx(of_coins, rel=0.4)  # games are not quite coins
    assert any("seed 1" in words(one) for one in page.iter("p"))


def test_rollout_before_the_roll_is_drawn_too(bot_files, tmp_path):
    argv = ("start", "--bot", bot_files["long"], "--games", 36, "--truncate", 2, "--quiet", "--svg", tmp_path / "b.svg")
    page, _ = page_of(tmp_path, "rollout", *argv)
    assert len(table_rows(next(page.iter("table")))) == 1
    assert not having(page, "play")
    assert (tmp_path / "b.svg").read_text(encoding="utf-8").startswith("<svg")


def test_svg_shows_the_best_play(bot_files, tmp_path, capsys):
    file = tmp_path / "board.svg"
    assert main(["evaluate", OPENING, "--bot", str(bot_files["short"]), "--json", "--svg", str(file)]) == 0
    best = json.loads(capsys.readouterr().out)[0]["plays"][0]["play"]
    svg = file.read_text(encoding="utf-8")
    assert f"Arrows show the play {best}." in svg
    assert "<style>" in svg


def test_svg_of_several_positions_is_refused_before_anything_is_written(bot_files, tmp_path, capsys):
    argv = ["evaluate", "start", "start", "--bot", str(bot_files["short"]), "--svg", str(tmp_path / "board.svg")]
    assert main(argv) == 2
    assert "--svg draws one position, but 2 are given" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.svg"))


def test_file_that_cannot_be_written_is_one_line(bot_files, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    argv = ["evaluate", "start", "--bot", str(bot_files["short"]), "--html", str(tmp_path / "folder")]
    assert main(argv) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_headings_are_buttons_and_columns_of_numbers_are_known():
    table = Table.of_texts(
        "plays", ["", "play", " equity "], [["1", "8/5 6/5", "+0.1"], ["2", "13/9", "-1,000.5"], ["3", "-", "-"]]
    )
    assert table.numeric == (True, False, True)
    page = read_page(positions_page("t", [Section("h", "", ("settings",), (table,))]))
    heads = list(next(page.iter("thead")).iter("th"))
    assert [head.get("aria-sort") for head in heads] == [None, "none", "none"]
    assert [words(head) for head in heads if head.find("button") is not None] == ["play", "equity"]


def test_texts_are_escaped():
    table = Table(EVIL, (EVIL,), ((Cell(EVIL, EVIL),),), play_column=0)
    text = positions_page(EVIL, [Section(EVIL, "", (EVIL, EVIL), (table,), (EVIL,))])
    page = read_page(text)
    assert not list(page.iter("img"))
    assert len(list(page.iter("script"))) == 1
    assert words(next(page.iter("h1"))) == EVIL


def test_names_of_files_in_other_encodings_do_not_break_the_page():
    assert "match?.mat" in positions_page("match\udcff.mat", [])


def test_page_lets_only_its_own_script_run():
    text = positions_page("t", [])
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    [policy] = [one.get("content") for one in read_page(text).iter("meta") if one.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


def test_same_answers_are_the_same_page():
    section = Section("h", "<svg></svg>", ("a",), (Table.of_texts("c", ["x"], [["1"]]),))
    assert positions_page("t", [section]) == positions_page("t", [section])


def test_cube_decision_is_drawn_with_its_cube(tmp_path, capsys):
    argv = ("cube", "6:10 5:5 / 6:10 5:5 cube=2 owner=own", "--json", "--svg", tmp_path / "board.svg")
    page, _ = page_of(tmp_path, *argv)
    [answer] = json.loads(capsys.readouterr().out)
    section = having(page, "position")[0]
    assert answer["action"] in words(section.find("h2"))
    rows = table_rows(next(section.iter("table")))
    assert [row[0] for row in rows][:3] == ["no redouble", "redouble, take", "redouble, pass"]
    assert float(rows[0][1]) == pytest.approx(answer["no_double"], abs=6e-5)
    [cube] = having(section, "nb-doubling")
    assert cube.get("data-owner") == "0"
    assert 'data-owner="0"' in (tmp_path / "board.svg").read_text(encoding="utf-8")


def test_cube_drawn_is_that_of_the_options(tmp_path):
    page, _ = page_of(tmp_path, "cube", "6:10 5:5 / 6:10 5:5", "start", "--stake", 4, "--owner", "own")
    assert [one.get("data-owner") for one in having(page, "nb-doubling")] == ["0", "0"]

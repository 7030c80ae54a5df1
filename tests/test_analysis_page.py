"""The page of an analysed match: everything the analysis holds is on it, and nothing of the file becomes markup."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nardy_ai.analysis.result import MatchAnalysis
from nardy_ai.cli.chances import chance_cells, chance_header
from nardy_ai.cli.main import main
from nardy_ai.reports.analysis import ChanceColumns, analysis_page
from tests.analyses import RULES, cube_decision, small_match
from tests.pages import having, read_page, table_rows, words

CHANCES = ChanceColumns(
    tuple(chance_header(RULES)), lambda outcomes: chance_cells(np.array(outcomes, dtype=np.float32), RULES)
)
SETTINGS = "nardy 0, bot <short>"
EVIL = '"><script>alert(1)</script>&'


def page_of(analysis: MatchAnalysis):
    return read_page(analysis_page(analysis, CHANCES, settings=SETTINGS))


@pytest.fixture(scope="module")
def page():
    return page_of(small_match(note="24/18 is not legal", comment="first\nsecond"))


def tables(root) -> dict[str, list[list[str]]]:
    """Every table's rows by its caption, those of the decisions aside."""
    return {words(table.find("caption")): table_rows(table) for table in root.iter("table")}


def test_summary_has_both_players_totals(page):
    rows = {row[0]: row[1:] for row in tables(page)["the match"]}
    assert rows["PR"] == ["21.67", "50.00"]
    assert rows["equity lost"] == ["0.130", "0.200"]
    assert (rows["blunders"], rows["doubtful"]) == (["1", "1"], ["1", "0"])
    assert (rows["turns"], rows["forced"]) == (["3", "2"], ["0", "1"])
    assert rows["luck"] == ["+0.750", "-0.500"]
    assert "chances of the match lost" not in rows


def test_chances_of_the_match_are_told_where_they_are_known():
    analysis = small_match()
    totals = (replace(analysis.totals[0], winning_lost=0.0325), analysis.totals[1])
    rows = {row[0]: row[1:] for row in tables(page_of(replace(analysis, totals=totals)))["the match"]}
    assert rows["chances of the match lost"] == ["3.25 %", ""]


def test_games_have_score_winner_and_both_prs(page):
    assert tables(page)["games"] == [
        ["1", "2-0 (Crawford)", "Boris", "1", "pass", "21.67", "+0.750", "50.00", "-0.500"]
    ]


def test_worst_decisions_lead_to_their_boards(page):
    rows = tables(page)["the 3 that cost most"]
    assert [(row[1], row[3], row[4], row[5]) for row in rows] == [
        ("Boris", "3-1: 13/9", "0.200", "blunder"),
        ("Anna", "pass", "0.100", "blunder"),
        ("Anna", "2-1: 6/3", "0.030", "doubtful"),
    ]
    worst = next(table for table in page.iter("table") if words(table.find("caption")).startswith("the 3"))
    targets = [link.get("href")[1:] for link in worst.iter("a")]
    details = {one.get("id"): words(one.find("summary")) for one in page.iter("details")}
    assert [details[key].endswith(end) for key, end in zip(targets, ("-0.500", "blunder", "doubtful"), strict=True)]
    assert ["13/9" in details[targets[0]], "pass" in details[targets[1]], "6/3" in details[targets[2]]] == [True] * 3


def test_worst_decisions_are_found_by_what_they_are(page):
    analysis = small_match(note="24/18 is not legal", comment="first\nsecond")
    copies = tuple(replace(one) for one in analysis.worst)
    assert tables(page_of(replace(analysis, worst=copies))) == tables(page)


def test_luck_names_the_extreme_rolls(page):
    found = tables(page)
    assert [(row[0], row[3]) for row in found["luckiest rolls"]] == [("Anna", "+0.750")]
    assert [(row[0], row[3]) for row in found["unluckiest rolls"]] == [("Boris", "-0.500")]


def test_every_decision_has_a_board_and_what_filters_need(page):
    details = list(page.iter("details"))
    assert len(details) == 7
    assert all(len(list(one.iter("svg"))) == 1 for one in details)
    told = [
        (one.get("data-side"), one.get("data-kind"), one.get("data-rank"), one.get("data-counts")) for one in details
    ]
    assert told == [
        ("0", "play", "0", "yes"),
        ("1", "play", "3", "yes"),
        ("0", "play", "1", "yes"),
        ("1", "play", "0", "no"),
        ("0", "play", "0", "no"),
        ("1", "cube", "0", "yes"),
        ("0", "cube", "3", "yes"),
    ]
    assert not any("open" in one.keys() for one in details)  # noqa: SIM118


def test_the_play_made_is_marked_and_its_arrows_are_shown(page):
    """It is the fourth best, and only three are listed by the analysis."""
    blunder = next(one for one in page.iter("details") if one.get("id") == "d2")
    rows = [list(row.iter("td")) for row in next(blunder.iter("tbody"))]
    assert [words(row[0]) for row in rows] == ["1", "2", "3", "4"]
    assert [words(row[1]) for row in rows] == ["8/5 6/5", "24/23 13/10", "24/20", "13/9played"]
    pressed = {row[1].find("button").get("aria-pressed"): row[1].find("button") for row in rows}
    assert (words(pressed["true"]), pressed["true"].get("data-play")) == ("13/9", "0")
    assert words(next(blunder.iter("desc"))).endswith("Arrows show the play 13/9.")
    assert [len(having(one, "nb-move")) for one in having(blunder, "nb-play")] == [1, 2, 2, 1]


def test_side_0_has_the_light_checkers_in_every_picture(page):
    """In the last decision Boris, on roll, has doubled, and Anna answers: his dark checkers are below."""
    players = ["Anna", "Boris", "Anna", "Boris", "Anna", "Boris", "Boris"]
    for one, below in zip(page.iter("details"), players, strict=True):
        mine = next(stack for stack in having(one, "nb-stack") if stack.get("data-side") == "0")
        assert ("nb-light" in mine.get("class")) == (below == "Anna")
        assert words(next(one.iter("desc"))).startswith(f"{below}, on roll")


def test_illegal_plays_comments_and_faults_are_told(page):
    assert words(next(one for one in page.iter("details") if one.get("id") == "d5")).count("24/18 is not legal") == 1
    assert [one.text for one in page.iter("blockquote")] == ["first\nsecond"]
    assert any(words(one) == "line 7: no play" for one in page.iter("li"))


def test_cube_decisions_list_the_courses(page):
    taken = next(one for one in page.iter("details") if one.get("id") == "d7")
    rows = table_rows(next(taken.iter("table")))
    assert rows == [["no double", "+0.7000"], ["double, take", "+0.9000"], ["double, pass", "+1.0000"]]
    assert "right is double, take" in words(taken)


def test_page_says_how_its_numbers_were_made(page):
    assert words(having(page, "settings")[0]) == SETTINGS


def test_phases_with_decisions_are_listed(page):
    assert tables(page)["by phase"] == [["opening", "3", "21.67", "2", "50.00"]]


def test_interrupted_analysis_says_so(page):
    assert "interrupted" not in words(next(page.iter("main")))
    assert "interrupted" in words(next(page_of(replace(small_match(), complete=False)).iter("main")))


def test_nothing_from_the_file_becomes_markup():
    analysis = replace(small_match((EVIL, EVIL + "2"), note=EVIL, comment=EVIL), source=EVIL, faults=(EVIL,))
    page = page_of(analysis)
    assert len(list(page.iter("script"))) == 1
    assert words(next(page.iter("h1"))) == f"{EVIL} – {EVIL}2"


def test_match_without_a_decision_is_a_page_too():
    analysis = small_match()
    empty = replace(analysis.games[0], decisions=())
    page = page_of(replace(analysis, games=(empty,), worst=()))
    assert not list(page.iter("details"))
    assert "No decision that counts cost anything." in words(next(page.iter("main")))


def test_analyse_writes_the_page_of_its_numbers(bot_files, tmp_path, capsys):
    match = tmp_path / "match.mat"
    rows = ["  1)                             31: 8/5 6/5", "  2) 62: 24/18 13/11             55: 8/3(2) 6/1(2)"]
    match.write_text("\n".join([" 3 point match", "", " Game 1", " Анна : 0               Bot : 0", *rows, ""]))
    page_file = tmp_path / "page.html"
    argv = ["analyse", str(match), "--bot", str(bot_files["short"]), "--quiet", "--json", "--html", str(page_file)]
    assert main(argv) == 0
    data = json.loads(capsys.readouterr().out)
    page = read_page(page_file.read_text(encoding="utf-8"))
    made = [one for game in data["games"] for one in game["decisions"]]
    details = list(page.iter("details"))
    assert len(details) == len(made) >= 3
    plays = [(one, shown) for one, shown in zip(made, details, strict=True) if one["kind"] == "play"]
    for one, shown in plays:
        assert one["made"]["play"] in words(shown.find("summary"))
        assert [row[1] for row in table_rows(next(shown.iter("table")))][:2] == [
            play["play"] + ("played" if play["play"] == one["made"]["play"] else "") for play in one["best"][:2]
        ]
    assert words(next(page.iter("h1"))) == "Анна – Bot"
    assert str(bot_files["short"]) in words(having(page, "settings")[0])


def test_no_dice_are_on_the_board_of_a_double_that_was_not_made():
    analysis = small_match()
    missed = cube_decision(2, 0, "double", "no double", 0.2)
    page = page_of(replace(analysis, games=(replace(analysis.games[0], decisions=(missed,)),), worst=(missed,)))
    assert missed.position.dice is not None
    assert not having(page, "nb-die")
    assert words(next(page.iter("summary"))) == "1.2 Anna no double -0.200 blunder"


def test_positions_that_nobody_played_are_all_listed(page):
    """The list begins with decisions that count; where none does, with all."""
    assert not any("selected" in one.keys() for one in page.iter("option"))  # noqa: SIM118
    analysis = small_match()
    asked = tuple(replace(one, played=None, rank=None, loss=None) for one in analysis.games[0].decisions[:2])
    unplayed = page_of(replace(analysis, games=(replace(analysis.games[0], decisions=asked),), worst=()))
    assert [one.get("value") for one in unplayed.iter("option") if "selected" in one.keys()] == ["all"]  # noqa: SIM118


def test_equities_of_rollouts_have_their_error_below():
    analysis = small_match()
    first = analysis.games[0].decisions[0]
    rolled = replace(first, choices=tuple(replace(one, error=0.0123) for one in first.choices))
    page = page_of(replace(analysis, games=(replace(analysis.games[0], decisions=(rolled,)),), worst=()))
    cell = list(next(next(page.iter("details")).iter("tbody")).iter("td"))[2]
    assert (cell.get("data-key"), words(cell.find("small"))) == ("+0.1500", "+- 0.0123")

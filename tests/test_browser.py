"""Reports as a person uses them, in a real browser: opened, filtered, sorted, by keyboard, in the dark, on paper.

Needs the extra `browser` and a Chromium, Playwright's own or one on the path.
"""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from nardy_ai.cli.chances import chance_cells, chance_header
from nardy_ai.cli.main import main
from nardy_ai.reports.analysis import ChanceColumns, analysis_page
from tests.analyses import RULES, small_match

pytestmark = pytest.mark.slow

INSTALLED = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
CHANCES = ChanceColumns(
    tuple(chance_header(RULES)), lambda outcomes: chance_cells(np.array(outcomes, dtype=np.float32), RULES)
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra: browser)")
    with playwright.sync_playwright() as library:
        paths = [None, *filter(None, map(shutil.which, INSTALLED))]
        for path in paths:
            try:
                found = library.chromium.launch(executable_path=path, args=["--no-sandbox"])
            except playwright.Error:
                continue
            yield found
            found.close()
            return
        pytest.skip("no Chromium: neither Playwright's own nor one on the path could be started")


@pytest.fixture
def opened(browser):
    """Opens a file and, at the end, holds the page to have loaded nothing else and to have logged nothing."""
    pages = []

    def open_file(file, **options):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, **options)
        heard = []
        page.on("request", lambda request: heard.append(request.url))
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.goto(file.as_uri())
        pages.append((page, heard, file.as_uri()))
        return page

    yield open_file
    for page, heard, uri in pages:
        assert heard == [uri]
        page.close()


@pytest.fixture(scope="module")
def match_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("pages") / "match.html"
    file.write_text(analysis_page(small_match(comment="<i>"), CHANCES, settings="s"), encoding="utf-8")
    return file


def listed(page) -> list[str]:
    return [one.get_attribute("id") for one in page.locator("details.decision:visible").all()]


def test_decisions_that_count_are_listed_first(opened, match_file):
    page = opened(match_file)
    assert listed(page) == ["d1", "d2", "d3", "d6", "d7"]
    assert page.locator("output").text_content() == "5 decisions"


def test_a_click_opens_a_decision_and_a_key_another(opened, match_file):
    page = opened(match_file)
    assert not page.locator("#d2 svg").is_visible()
    page.click("#d2 summary")
    assert page.locator("#d2 svg").is_visible()
    page.locator("#d3 summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#d3 svg").is_visible()
    assert page.get_by_role("img", name="short nardy: Boris to play 3-1").count() == 1


def test_filters_by_mark_player_and_kind_and_order_by_loss(opened, match_file):
    page = opened(match_file)
    page.select_option("select[name=least]", "3")
    assert listed(page) == ["d2", "d7"]
    assert page.locator("output").text_content() == "2 decisions"
    page.select_option("select[name=kind]", "cube")
    assert listed(page) == ["d7"]
    page.select_option("select[name=kind]", "")
    page.select_option("select[name=side]", "1")
    assert listed(page) == ["d2"]
    page.select_option("select[name=side]", "")
    page.select_option("select[name=least]", "all")
    page.select_option("select[name=order]", "loss")
    assert listed(page)[:3] == ["d2", "d7", "d3"]
    page.select_option("select[name=order]", "luck")
    assert (listed(page)[0], listed(page)[-1]) == ("d1", "d2")


def test_one_game_of_several_is_listed(opened, tmp_path):
    analysis = small_match()
    second = tuple(replace(one, game=2) for one in analysis.games[0].decisions[:2])
    games = (analysis.games[0], replace(analysis.games[0], number=2, decisions=second))
    file = tmp_path / "match.html"
    file.write_text(analysis_page(replace(analysis, games=games), CHANCES, settings="s"), encoding="utf-8")
    page = opened(file)
    assert len(listed(page)) == 7
    page.select_option("select[name=game]", "2")
    assert listed(page) == ["d8", "d9"]


def test_what_cost_most_leads_to_its_decision_even_if_it_is_not_listed(opened, match_file):
    page = opened(match_file)
    page.select_option("select[name=kind]", "cube")
    page.click("text=game 1, turn 1 >> nth=0")
    assert page.locator("#d2 svg").is_visible()
    page.click("#d2 summary")
    page.click("text=game 1, turn 1 >> nth=0")
    assert page.locator("#d2 svg").is_visible()


def test_all_that_is_listed_is_opened_and_closed(opened, match_file):
    page = opened(match_file)
    page.click("text=open all")
    assert page.locator("details[open]").count() == 5
    page.click("text=close all")
    assert page.locator("details[open]").count() == 0


def test_a_play_that_is_chosen_shows_its_arrows(opened, match_file):
    page = opened(match_file)
    page.click("#d2 summary")
    assert page.locator("#d2 .nb-play:visible .nb-move").count() == 1
    page.locator("#d2 button.play").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#d2 .nb-play:visible .nb-move").count() == 2
    assert page.locator("#d2 button[aria-pressed=true]").text_content() == "8/5 6/5"
    assert page.locator("#d2 svg desc").text_content().endswith("Arrows show the play 8/5 6/5.")


def test_tables_are_sorted_by_a_heading_and_back(opened, match_file):
    page = opened(match_file)
    table = page.locator("table", has_text="that cost most")
    losses = table.locator("tbody td:nth-child(5)")
    table.get_by_role("button", name="loss").click()
    assert losses.all_text_contents() == ["0.030", "0.100", "0.200"]
    assert table.locator("th[aria-sort=ascending]").text_content() == "loss"
    table.get_by_role("button", name="loss").press("Enter")
    assert losses.all_text_contents() == ["0.200", "0.100", "0.030"]
    assert table.locator("th[aria-sort=descending]").count() == 1


def test_colours_follow_the_reader_and_paper_is_white(opened, match_file):
    background = "getComputedStyle(document.body).backgroundColor"
    fill = "getComputedStyle(document.querySelector('.nb-page')).fill"
    seen = {}
    for scheme in ("light", "dark"):
        page = opened(match_file, color_scheme=scheme)
        seen[scheme] = (page.evaluate(background), page.evaluate(fill))
    assert seen["light"] != seen["dark"]
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert page.evaluate(fill) == seen["light"][1]
    assert not page.locator("form.controls").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_page_fits_a_narrow_screen(opened, match_file):
    page = opened(match_file)
    page.set_viewport_size({"width": 390, "height": 800})
    page.click("#d2 summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_evaluated_plays_are_sorted_by_their_numbers(opened, bot_files, tmp_path):
    file = tmp_path / "page.html"
    argv = ["evaluate", "start", "--dice", "31", "--bot", str(bot_files["short"]), "--html", str(file)]
    assert main(argv) == 0
    page = opened(file)
    page.get_by_role("button", name="equity").click()
    equities = [float(text) for text in page.locator("tbody td:nth-child(3)").all_text_contents()]
    assert equities == sorted(equities)
    assert len(equities) == 16


def test_rollouts_are_sorted_by_the_number_above_its_error(opened, tmp_path):
    file = tmp_path / "page.html"
    argv = ["rollout", "start", "--dice", "31", "--rules", "hyper", "--bot", "pips", "--games", "36", "--quiet"]
    assert main([*argv, "--no-variance-reduction", "--html", str(file)]) == 0
    page = opened(file)
    page.get_by_role("button", name="wins %").click()
    shares = [float(one.get_attribute("data-key")) for one in page.locator("tbody td:nth-child(7)").all()]
    assert shares == sorted(shares)
    assert len(set(shares)) > 1

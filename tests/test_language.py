"""Answers in Russian: every text has one, plural forms, columns, and that data and English stay what they were."""

import re
import string
import sys
import unicodedata
from dataclasses import fields
from io import StringIO

import pytest
from messages import messages

from nardy_ai.bots import BASELINES, PEERS, SOLVED
from nardy_ai.cli import bots as bots_command
from nardy_ai.cli.main import main
from nardy_ai.errors import NardyError
from nardy_ai.language import current_language, default_language, read_catalogue, speaking, tr, tr_count
from nardy_ai.play.session import KINDS
from nardy_ai.resources import checkpoint_names, checkpoint_summary
from nardy_ai.rules import CHOICES, MatchOptions, RuleSet, presets

NOTATION = {"XGID", "XG", "start", "BAR", "bar", "off", "dice", "Enter", "Kazaross", "point", "MET"}
"""Latin words that any Russian answer may have: notation, keys, a table's name."""


def latin_words(text: str) -> set[str]:
    """Words of two letters or more that are not in an XGID or a position's text."""
    return set(re.findall(r"(?<!\w)[A-Za-z][-A-Za-z]+(?!\w)", re.sub(r'XGID=\S+|"[^"]* / [^"]*"', "", text)))


def texts_of_data() -> set[str]:
    """Texts that are kept as data and shown in the current language: those of rules and bots."""
    found = {preset.summary for preset in presets().values()}
    found |= {text for choices in CHOICES.values() for text in choices.values()}
    found |= {str(entry.metadata["help"]) for record in (RuleSet, MatchOptions) for entry in fields(record)}
    return found | {entry.summary for table in (BASELINES, SOLVED, PEERS) for entry in table.values()}


def fields_in(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_in_the_sources_is_in_the_catalogue():
    catalogue = read_catalogue()
    missing = [
        one.where for one in messages() if one.many is None and not one.context and one.text not in catalogue.texts
    ]
    missing += [one.where for one in messages() if one.many is not None and one.text not in catalogue.counts]
    assert missing == []
    assert texts_of_data() <= catalogue.texts.keys()
    assert set(KINDS) == catalogue.contexts["action"].keys()
    for one in messages():
        assert not one.context or one.text in catalogue.contexts[one.context], one.where


def test_the_catalogue_has_no_text_that_nobody_uses():
    catalogue = read_catalogue()
    used = {one.text for one in messages()} | texts_of_data()
    assert catalogue.texts.keys() | catalogue.counts.keys() <= used


def test_translations_have_the_fields_of_their_texts():
    """A field may be left out of a plural form of 1 only where the sentence has no room for it."""
    catalogue = read_catalogue()
    for text, russian in catalogue.texts.items():
        assert fields_in(text) == fields_in(russian), text
    for text, forms in catalogue.counts.items():
        for form in forms[1:]:
            assert fields_in(form) == fields_in(text), text
        assert fields_in(forms[0]) <= fields_in(text), text


def test_russian_headings_are_no_wider_than_their_columns():
    headings = [one for one in messages() if one.width is not None]
    wide = [one.where for one in headings if len(read_catalogue().texts[one.text]) > one.width]
    assert len(headings) > 15
    assert wide == []


def test_the_catalogue_is_composed_text_of_one_column_a_letter():
    catalogue = read_catalogue()
    for russian in [*catalogue.texts.values(), *(form for forms in catalogue.counts.values() for form in forms)]:
        assert unicodedata.is_normalized("NFC", russian), russian


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0 ходов"), (1, "1 ход"), (2, "2 хода"), (4, "4 хода"), (5, "5 ходов"), (11, "11 ходов"), (12, "12 ходов"),
        (14, "14 ходов"), (20, "20 ходов"), (21, "21 ход"), (22, "22 хода"), (111, "111 ходов"), (1002, "1002 хода"),
    ],
)  # fmt: skip
def test_russian_plural_forms(n, words):
    with speaking("ru"):
        assert tr_count("{n} play", "{n} plays", n) == words


def test_english_plural_forms():
    assert [tr_count("{n} play", "{n} plays", n) for n in (0, 1, 2, 21)] == ["0 plays", "1 play", "2 plays", "21 plays"]


def test_speaking_ends_with_its_block():
    with speaking("ru"):
        assert (current_language(), tr("play")) == ("ru", "ход")
    assert (current_language(), tr("play")) == ("en", "play")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "ru_RU.UTF-8"}, "ru"),
        ({"LANG": "ru"}, "ru"),
        ({"LANG": "run"}, "en"),
        ({"LANG": "ru_RU.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANG": "ru_RU.UTF-8", "LC_ALL": ""}, "ru"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "ru_RU@x"}, "ru"),
        ({"LANG": "ru_RU.UTF-8", "NARDY_LANG": "en"}, "en"),
        ({"NARDY_LANG": "ru"}, "ru"),
    ],
)
def test_language_of_the_environment(environment, language):
    assert default_language(environment) == language


def test_unknown_language_in_nardy_lang_is_refused():
    with pytest.raises(NardyError, match="NARDY_LANG=de: expected en or ru"):
        default_language({"NARDY_LANG": "de"})


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) == 0
    return capsys.readouterr().out


def structure(text: str, path: object) -> str:
    """An answer with `#` for digits and `BOT` for the bot."""
    return re.sub(r"[0-9]", "#", text.replace(str(path), "BOT"))


GOLDEN = {
    "ru": (
        "nardy #.#.#, бот BOT, правила short, позиция",
        "выпало #-#: ## ходов, лучшие #; эквити в очках за партию, без куба, для того, кто ходит",
        ["", "ход", "эквити", "потеря", "выигр.%", "марс+", "кокс", "проигр%", "марс+", "кокс"],
        "  шансы нарастающие: марс+ значит марс или кокс",
    ),
    "en": (
        "nardy #.#.#, bot BOT, rules short, position",
        "roll #-#: ## plays, the best #; equity in points a game, cubeless, for the side that plays",
        ["", "play", "equity", "loss", "wins %", "mars+", "koks", "loses %", "mars+", "koks"],
        "  chances are cumulative: mars+ is mars or koks",
    ),
}


@pytest.mark.parametrize("language", GOLDEN)
def test_structure_of_the_answer_about_a_roll(language, bot_files, capsys):
    path = bot_files["short"]
    first, second, headings, last = GOLDEN[language]
    text = structure(
        answer(capsys, "evaluate", "start", "--dice", "31", "--top", "3", "--bot", str(path), "--lang", language), path
    )
    lines = text.splitlines()
    assert lines[0].startswith(f'{first} "##:# ##:# #:# #:# / ##:# ##:# #:# #:# dice=##", XGID=')
    assert lines[1] == second
    assert re.split(r" {2,}", lines[2].strip()) == headings[1:]
    assert len(lines) == 7
    assert lines[6] == last


def test_columns_of_numbers_end_under_their_russian_headings(bot_files, capsys):
    text = answer(
        capsys, "evaluate", "start", "--dice", "31", "--top", "3", "--bot", str(bot_files["short"]), "--lang", "ru"
    )
    heads, *rows = text.splitlines()[2:6]
    ends = [found.end() for found in re.finditer(r"\S+", heads)][1:]
    for row in rows:
        numbers = [found.end() for found in re.finditer(r"[-+]?\d+\.\d+", row)]
        assert numbers == ends, row


@pytest.mark.parametrize(
    "argv",
    [
        ["evaluate", "start", "--dice", "31", "--bot", "SHORT"],
        ["cube", "start", "--bot", "SHORT"],
        ["rollout", "5:1 2:1 / 1:1", "--bot", "SHORT", "--games", "2", "--quiet", "--cube-decision", "--match", "3"],
        ["moves", "start", "--dice", "31"],
        ["rules"],
        ["rules", "long"],
        ["bots"],
    ],
    ids=" ".join,
)
def test_json_is_the_same_in_every_language(argv, bot_files, capsys):
    argv = [str(bot_files["short"]) if one == "SHORT" else one for one in argv] + ["--json"]
    assert answer(capsys, *argv, "--lang", "ru") == answer(capsys, *argv, "--lang", "en")


@pytest.mark.parametrize(
    "argv",
    [
        ["evaluate", "start", "--dice", "31", "--bot", "SHORT", "--draw"],
        ["evaluate", "start", "--rules", "short-money", "--cube", "--bot", "SHORT", "--draw"],
        ["evaluate", "/ 4:3", "--bot", "SHORT"],
        ["cube", "start", "--bot", "SHORT", "--match", "7:6-2"],
        ["cube", "XGID=-b----E-C---eE---c-e----B-:1:1:1:00:0:0:0:0:10", "--bot", "SHORT", "--jacoby", "--draw"],
        [
            "rollout",
            "start",
            "--rules",
            "hyper",
            "--bot",
            "pips",
            "--games",
            "36",
            "--no-variance-reduction",
            "--no-bearoff",
            "--quiet",
        ],
        ["rollout", "5:1 2:1 / 1:1", "--bot", "SHORT", "--games", "36", "--quiet", "--cube-decision", "--match", "3"],
        ["rollout", "5:1 2:1 / 1:1", "--bot", "SHORT", "--games", "2", "--quiet", "--cube", "--stake", "2"],
        ["rollout", "5:1 2:1 / 1:1", "--bot", "SHORT", "--games", "2", "--quiet", "--cube", "--dice", "11"],
        ["moves", "start", "--dice", "31", "--draw"],
        ["moves", "start", "--dice", "33", "--rules", "long", "--draw"],
    ],
    ids=" ".join,
)
def test_russian_answers_are_russian_throughout(argv, bot_files, capsys):
    path = str(bot_files["short"])
    text = answer(capsys, *(path if one == "SHORT" else one for one in argv), "--lang", "ru").replace(path, "")
    assert latin_words(text) <= NOTATION | {
        "nardy",
        "cube",
        "short",
        "short-money",
        "hyper",
        "pips",
        "cubeful",
    }
    assert re.search("[а-я]", text)


MATCH = """3 point match
Game 1
Ann : 0   Bob : 0
 1) 31: 8/5 6/5                52: 13/8 24/22
 2) 64: 24/14                  Doubles => 2
 3) Drops
                               Wins 1 point
"""


def test_a_russian_analysis_is_russian_throughout(bot_files, tmp_path, monkeypatch, capsys):
    """The tables and the page, with what only screen readers and the script see."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "match.mat").write_text(MATCH, encoding="utf-8")
    path = str(bot_files["short"])
    argv = ("analyse", "match.mat", "--all", "--html", "page.html", "--quiet", "--bot", path, "--lang", "ru")
    names = {"nardy", "Ann", "Bob", "match", "mat", "short", "length", "offer", "double", "player", "PR"}
    assert latin_words(answer(capsys, *argv).replace(path, "")) <= NOTATION | names
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace(path, "")
    shown = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page)
    spoken = " ".join(re.findall(r'(?:title|aria-label|data-one|data-few|data-many)="([^"]*)"', shown))
    assert latin_words(re.sub(r"<[^>]*>", " ", shown) + spoken) <= NOTATION | names
    assert '<html lang="ru">' in page


def test_rules_and_bots_are_told_in_russian(capsys):
    """All but names, aliases and values of options."""
    text = " ".join(answer(capsys, "rules", "long", "--lang", "ru").split())
    assert "head_exception 33_44_66 когда с головы можно снять ещё одну" in text
    assert "выигрыш: марс" in text
    listed = answer(capsys, "rules", "--lang", "ru")
    assert "гипернарды: по три шашки" in listed
    assert "книжка новичка" in answer(capsys, "bots", "--lang", "ru")


def test_rules_fit_into_a_hundred_columns(capsys):
    for argv in ([], *([name] for name in presets())):
        for language in ("en", "ru"):
            text = answer(capsys, "rules", *argv, "--lang", language)
            assert max(map(len, text.splitlines())) <= 100, (argv, language)


def test_every_shipped_card_is_told_in_russian():
    with speaking("ru"):
        for name in checkpoint_names():
            assert bots_command.summary_text(checkpoint_summary(name)).startswith("Правила `"), name


def test_a_locale_of_russian_makes_answers_russian(monkeypatch, capsys):
    monkeypatch.delenv("NARDY_LANG")
    monkeypatch.setenv("LC_ALL", "ru_RU.UTF-8")
    assert "16 ходов" in answer(capsys, "moves", "start", "--dice", "31")
    assert "16 plays" in answer(capsys, "moves", "start", "--dice", "31", "--lang", "en")


def test_a_session_in_russian(monkeypatch, capsys, tmp_path, bot_files):
    """Commands by their Russian names; faults too are told in Russian."""
    lines = ["помощь", "совет 2", "13", "9/1", "ыы", "взять", "24/23 13/9", "назад", "счёт", "сдаюсь марс", "выход"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", StringIO("\n".join(lines) + "\n"))
    path = str(bot_files["short"])
    assert main(["play", "--seed", "3", "--rules", "short-match", "--length", "3", "--bot", path, "--lang", "ru"]) == 0
    said = capsys.readouterr()
    text = (said.out + said.err).replace(path, "BOT")
    assert "партия 1: брошено: вы 4, BOT 1; вы начинаете с 4-1" in text
    assert "'13' — не по правилам (пойти на 13 при этом броске нельзя)" in text
    assert "сейчас нельзя «взять»; можно: ход" in text
    assert "бросок или удвоить>" in text
    assert "взято назад" in text
    assert "счёт: вы 0, BOT 0, матч до 3; ставка 1; партия 1, зерно 3" in text
    assert "сохранено: nardy play --resume nardy-play.json продолжит отсюда" in text
    said_in_latin = latin_words(re.sub(r"nardy-play\.json|--\w+", "", text))
    assert said_in_latin <= NOTATION | {"nardy", "play", "BOT", "short-match", "mat"}


def test_a_row_of_a_board_is_a_line_of_json(capsys):
    text = answer(capsys, "moves", "start", "--dice", "66", "--json")
    assert len(re.findall(r"(?m)^ +\[\d+(?:, \d+){25}\],?$", text)) == 2 * text.count('"play":')
    assert '"dice": [6, 6]' in text

"""Rule sets as data: the presets of the rules document, their names, contradictions refused, users' own files."""

from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from nardy_ai.errors import RulesError
from nardy_ai.rules import (
    CHOICES,
    MatchOptions,
    RuleSet,
    find_match_options,
    find_preset,
    find_rules,
    match_options_of,
    preset_names,
    presets,
    rules_from_dict,
    rules_to_dict,
    same_game,
    start_boards,
)

SHORT = find_rules("short")
LONG = find_rules("long")

_SHORT_START: dict[str, Any] = {"start": {24: 2, 13: 5, 8: 3, 6: 5}}
_LONG: dict[str, Any] = {
    "board": "parallel",
    "start": {24: 15},
    "closed_by": 1,
    "head_limit": 1,
    "head_exception": "33_44_66",
    "six_block": "ahead",
    "scoring": "oin_mars",
}
_LONG_MATCH: dict[str, Any] = {"opening": "reroll", "next_game_first": "winner"}

# RULES section 4: what each preset changes in `RuleSet` and in `MatchOptions`.
TABLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "short": (_SHORT_START, {}),
    "short-match": (_SHORT_START, {"cube": "geometric", "crawford": True}),
    "short-money": (
        _SHORT_START,
        {"cube": "geometric", "jacoby": True, "beavers": True, "opening_tie": "auto_double", "auto_doubles": 1},
    ),
    "short-oin": (_SHORT_START | {"scoring": "oin_mars", "hit_hide": "no_hide", "hit_hide_scope": "board"}, {}),
    "short-dave": (
        _SHORT_START | {"scoring": "oin", "hit_hide": "no_hide", "hit_hide_scope": "board"},
        {"cube": "geometric"},
    ),
    "caucasian": (_SHORT_START | {"hit_hide": "no_hide"}, {}),
    "tavla": (_SHORT_START | {"hit_hide": "no_run", "scoring": "oin_mars"}, {"opening": "reroll"}),
    "hyper": ({"start": {24: 1, 23: 1, 22: 1}, "checkers": 3}, {"cube": "geometric", "jacoby": True}),
    "long": (_LONG, _LONG_MATCH),
    "long-home-block": (_LONG | {"six_block": "home"}, _LONG_MATCH),
    "long-fnr": (_LONG | {"six_block_check": "step"}, {}),
    "nardgammon": (_LONG | {"six_block_check": "step"}, {"cube": "geometric", "crawford": True}),
    "long-left": (_LONG | {"head_exception": "66", "scoring": "checkers_left"}, _LONG_MATCH),
}


def test_presets_are_those_of_the_rules_document() -> None:
    assert preset_names() == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_preset_differs_from_the_defaults_as_the_document_says(name: str) -> None:
    rules, match = TABLE[name]

    assert find_rules(name) == RuleSet(name=name, **rules)
    assert find_match_options(name) == MatchOptions(**match)


def test_match_options_go_with_the_rules_and_not_with_their_name():
    for name in preset_names():
        assert match_options_of(find_rules(name)) == find_match_options(name)
    mine = replace(find_rules("long"), closed_by=2)
    assert mine.name == "long"
    assert match_options_of(mine) == MatchOptions() != find_match_options("long")


@pytest.mark.parametrize("name", TABLE)
def test_start_is_the_same_for_both_sides(name: str) -> None:
    rules = find_rules(name)
    boards = start_boards(rules, 3)

    assert boards.shape == (3, 2, 26)
    assert (boards[:, 0] == boards[:, 1]).all()
    assert {int(point): int(boards[2, 1, point]) for point in boards[2, 1].nonzero()[0]} == dict(rules.start)


# Names


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("короткие нарды", "short"),
        ("Длинные Нарды", "long"),
        ("кавказские", "caucasian"),
        ("BACKGAMMON", "short"),
        ("даве", "short-dave"),
        ("hypergammon", "hyper"),
        ("тавла", "tavla"),
        ("long_fnr", "long-fnr"),
        (" Short ", "short"),
    ],
)
def test_preset_is_found_by_alias_in_any_letter_case(alias: str, name: str) -> None:
    assert find_preset(alias) is presets()[name]


def test_no_alias_means_two_presets() -> None:
    aliases = [alias for name, preset in presets().items() for alias in (name, *preset.aliases)]
    assert len(set(aliases)) == len(aliases)


@pytest.mark.parametrize(("given", "meant"), [("shrot", "short"), ("кавказкие", "кавказские"), ("long-fn", "long-fnr")])
def test_misspelt_name_is_answered_with_the_nearest(given: str, meant: str) -> None:
    with pytest.raises(RulesError, match=f"unknown rules '{given}'; did you mean '{meant}'"):
        find_rules(given)


def test_name_like_no_other_is_answered_with_all_presets() -> None:
    with pytest.raises(RulesError, match=r"unknown rules 'zzz' \(known: short, .*long-left, or a .toml file\)"):
        find_rules("zzz")


# Contradictions


@pytest.mark.parametrize(
    ("base", "changes", "reason"),
    [
        (LONG, {"hit_hide": "no_hide"}, "closed_by = 1 allows no hit"),
        (SHORT, {"hit_hide_scope": "board"}, "need hit_hide"),
        (SHORT, {"hit_hide_check": "final"}, "need hit_hide"),
        (SHORT, {"hit_hide": "no_run", "hit_hide_check": "final"}, "must stay 'step'"),
        (SHORT, {"head_exception": "66"}, "needs head_limit = 1"),
        (SHORT, {"head_limit": 2}, "head_limit = 2; expected 1"),
        (SHORT, {"head_limit": "one"}, "expected a whole number"),
        (SHORT, {"six_block_check": "step"}, "needs a six_block other than 'free'"),
        (LONG, {"scoring": "oin_mars_koks"}, "koks exists only on a contrary board"),
        (LONG, {"koks_needs_none_off": False}, "needs scoring = 'oin_mars_koks'"),
        (SHORT, {"closed_by": 3}, "closed_by = 3; expected 1 .* or 2"),
        (SHORT, {"closed_by": "2"}, "closed_by = '2'; expected int"),
        (SHORT, {"checkers": 14}, "start holds 15 checkers, but checkers = 14"),
        (SHORT, {"checkers": 16}, "checkers = 16; expected 1 to 15"),
        (SHORT, {"start": {25: 15}}, "expected own points 1 to 24"),
        (SHORT, {"start": {24: 0, 6: 15}}, "1 checker or more"),
        (SHORT, {"start": {24: 7, 1: 8}}, "both sides on one point: my 24 is his 1"),
        (LONG, {"start": {24: 7, 12: 8}}, "both sides on one point: my 24 is his 12"),
        (SHORT, {"start": [24, 2]}, "expected a table of point = count"),
        (SHORT, {"six_block": "always"}, "six_block = 'always'; expected one of free, ahead, home, never"),
        (SHORT, {"name": ""}, "expected a word"),
    ],
)
def test_contradictory_rules_are_refused_with_the_reason(base: RuleSet, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        replace(base, **changes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"jacoby": True}, "jacoby is a rule about the cube"),
        ({"beavers": True}, "beavers is a rule about the cube"),
        ({"cube": "geometric", "raccoons": True}, "raccoons answer beavers"),
        ({"crawford": True}, "crawford is a rule about the cube"),
        ({"auto_doubles": 1}, "auto_doubles needs opening_tie"),
        ({"opening_tie": "auto_double"}, "needs auto_doubles of 1 or more"),
        ({"length": -1}, "must be 0 or more"),
        ({"cube": "exponential"}, "expected one of none, geometric, arithmetic"),
        ({"crawford": 1, "cube": "geometric"}, "crawford = 1; expected bool"),
        ({"refuse": "fined"}, "expected one of lose_stake"),
    ],
)
def test_contradictory_match_options_are_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        replace(MatchOptions(), **changes)


def test_rules_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        SHORT.checkers = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        SHORT.start[24] = 3  # type: ignore[index]


def test_every_word_of_every_choice_is_explained() -> None:
    assert all(meaning for choice in CHOICES.values() for meaning in choice.values())
    known = {name for record in (RuleSet, MatchOptions) for name in record.__dataclass_fields__}
    assert set(CHOICES) <= known


# Users' own rules


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_may_start_from_a_preset(tmp_path: Path) -> None:
    path = write(tmp_path, 'base = "long"\nsix_block = "never"\n[match]\ncube = "geometric"\n')

    preset = find_preset(path)

    assert preset.rules == replace(LONG, name="mine", six_block="never")
    assert preset.match == replace(find_match_options("long"), cube="geometric")


def test_file_may_stand_alone_and_name_itself(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "nack"\nstart = { 24 = 2, 23 = 2, 13 = 4, 8 = 3, 6 = 4 }\n')

    assert find_rules(str(path)) == RuleSet(name="nack", start={24: 2, 23: 2, 13: 4, 8: 3, 6: 4})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('base = "long"\nsix_blok = "never"\n', "unknown key 'six_blok'; did you mean 'six_block'"),
        ('base = "long"\n[match]\ncubes = "none"\n', "unknown key 'match.cubes'; did you mean 'match.cube'"),
        ('base = "long"\nzzz = 1\n', r"unknown key 'zzz' \(known: start, board"),
        ('base = "lang"\n', "base: unknown rules 'lang'; did you mean 'long'"),
        ('scoring = "oin"\n', "neither base nor start is given"),
        ('base = "short"\nstart = { head = 15 }\n', "expected a table of point = count"),
        ('base = "short"\nmatch = 3\n', "match = 3; expected a table of match options"),
        ('base = "long"\nhit_hide = "no_hide"\n', "closed_by = 1 allows no hit"),
        ("base = \n", "is no TOML"),
    ],
)
def test_faulty_file_is_refused_with_its_name_and_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path, text)

    with pytest.raises(RulesError, match=reason) as caught:
        find_preset(path)
    assert str(caught.value).startswith(str(path))


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match=r"none\.toml: cannot be read: No such file"):
        find_preset(tmp_path / "none.toml")


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(RulesError, match="is no UTF-8 text"):
        find_preset(path)


# Plain data


@pytest.mark.parametrize("name", TABLE)
def test_rules_come_back_from_plain_data(name: str) -> None:
    assert rules_from_dict(rules_to_dict(find_rules(name))) == find_rules(name)


def test_rules_from_a_newer_file_are_refused_by_the_unknown_key() -> None:
    with pytest.raises(RulesError, match="unknown key 'pinning'"):
        rules_from_dict(rules_to_dict(SHORT) | {"pinning": True})


def test_same_game_looks_at_everything_but_the_name() -> None:
    assert same_game(SHORT, find_rules("short-money"))
    assert not same_game(SHORT, find_rules("caucasian"))
    assert not same_game(LONG, find_rules("long-fnr"))


def test_a_base_may_be_named_by_an_alias(tmp_path: Path) -> None:
    path = write(tmp_path, 'base = "Длинные нарды"\nsix_block = "never"\n')
    assert find_rules(path).board == "parallel"


def test_a_match_option_in_the_wrong_place_is_sent_to_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, 'base = "long"\ncube = "geometric"\n')
    with pytest.raises(RulesError, match=r"unknown key 'cube'; it is a match option and belongs under \[match\]"):
        find_rules(path)

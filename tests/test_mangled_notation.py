"""Mangled position texts: refused with an error of the package, or read as a board that comes back unchanged."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_ai.boards import CONTRARY
from nardy_ai.errors import NardyError
from nardy_ai.notation import FORMATS, parse_position, read_position, write_position
from nardy_ai.rules import RuleSet, find_rules

DATA = Path(__file__).parent / "data" / "formats"
RULES = [find_rules(name) for name in ("short", "hyper", "long")]
TEXTS = [
    "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5 dice=31 cube=2 owner=other length=7 score=3-2",
    "bar:1 20:1 / off:13 12:2 jacoby beavers offer=double maxcube=64 player=0 move=3 state=IW",
    "24:14 4:1 / 24:15 resign=mars game=over acted=other",
    "start length=5 score=4-0 crawford",
    "24:1 23:1 22:1 / 24:1 23:1 bar:1",
]
SPICE = st.characters(codec="utf-8") | st.sampled_from("0123456789:/-=+ aAoOpqNWBDRT\t\n\x00")


def vector_texts(name: str, key: str) -> list[str]:
    vectors = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
    return [vector[key] for vector in vectors]


SEEDS = [
    *TEXTS,
    *vector_texts("xgid", "xgid"),
    *vector_texts("gnubg-position-id", "position_id"),
    *(f"4HPwATDgc/ABMA:{text}" for text in vector_texts("gnubg-match-id", "match_id")),
    *vector_texts("ogid", "ogid"),
]


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """A good text with a few characters changed, taken out, put in or moved."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(start + 3, len(text))))
        middle = draw(st.sampled_from([text[start:stop] * 2, text[start:stop][::-1], ""]) | st.text(SPICE, max_size=2))
        text = text[:start] + middle + text[stop:]
    return text


@given(mangled() | st.text(max_size=30), st.sampled_from(RULES))
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_mangled_text_is_refused_or_names_a_board_that_comes_back(text: str, rules: RuleSet):
    try:
        position = read_position(text, rules)
    except NardyError:
        return
    assert read_position(write_position(position, rules), rules) == position
    for name in FORMATS if rules.board == CONTRARY else ("text",):
        written = write_position(position.board, rules, format=name)
        assert np.array_equal(parse_position(written, rules), position.board)


@pytest.mark.parametrize("text", SEEDS)
def test_unmangled_text_is_accepted_by_a_rule_set(text: str):
    accepted = 0
    for rules in RULES:
        try:
            accepted += bool(len(parse_position(text, rules)))
        except NardyError:
            continue
    assert accepted

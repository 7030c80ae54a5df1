"""Match equities: the shipped table, files of the same form, and cells that are computed."""

import re

import numpy as np
import pytest

from nardy_ai.cube.equity import match_table
from nardy_ai.cube.met import BACKGAMMON_ENDS, computed_table, read_table, shipped_table
from nardy_ai.errors import CubeError
from nardy_ai.rules import find_rules

SHORT, DAVE, HYPER = find_rules("short"), find_rules("short-dave"), find_rules("hyper")
POINTS = np.array([1, 2, 3, -1, -2, -3])
SMALL = """<?xml version="1.0"?>
<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">
<met><info><name>Small</name><description>d</description><length>2</length></info>
<pre-crawford-table type="explicit"><row><me>0.5</me><me>0.7</me></row><row><me>0.3</me><me>0.5</me></row>
</pre-crawford-table>
<post-crawford-table type="explicit" player="both"><row><me>0.5</me><me>0.48</me></row></post-crawford-table></met>
"""


def test_shipped_table_has_the_published_numbers():
    table = shipped_table()
    assert (table.name, table.length, table.read) == ("Kazaross XG2 25 point MET", 25, 25)
    assert table.chance(1, 2) == pytest.approx(0.67736)
    assert table.chance(2, 1) == pytest.approx(0.32264)
    assert table.chance(3, 5) == pytest.approx(0.64795)
    assert table.chance(2, 1, after_crawford=True) == pytest.approx(0.48803)
    assert table.chance(1, 2, after_crawford=True) == pytest.approx(1 - 0.48803)
    assert table.chance(0, 4) == 1
    assert table.chance(4, 0) == 0
    assert table.chance(7, 7) == 0.5


def test_chances_of_both_sides_add_up_and_grow_with_the_lead():
    table = match_table(SHORT, 40).utilities[0, 1:, 1:]
    assert np.abs(table + table.T).max() < 1e-3
    assert (np.diff(table, axis=1) > 0).all()


def test_table_is_continued_without_touching_what_was_read():
    longer = match_table(SHORT, 40)
    assert longer.length == 40
    assert longer.read == 25
    assert np.array_equal(longer.utilities[:, :26, :26], shipped_table().utilities)
    assert 0 < longer.chance(40, 25) < longer.chance(26, 25) < longer.chance(25, 25) == 0.5
    assert longer.chance(40, 1, after_crawford=True) < longer.chance(25, 1, after_crawford=True)


def test_computed_cells_are_close_to_published_ones():
    """docs/cube.md: 0.3 % on average, 1.5 % at most."""
    found = computed_table(25, BACKGAMMON_ENDS, POINTS).utilities[0, 1:, 1:]
    apart = np.abs(found - shipped_table().utilities[0, 1:, 1:]) / 2
    assert apart.mean() < 0.003
    assert apart.max() < 0.0155


def test_games_without_mars_have_the_table_that_can_be_worked_out_by_hand():
    """Single results: at 1-1 an even game; two away after Crawford both need one more: even; three away, double at
    once: win both of two even matches' games, a fourth and a little less for free passes that even games do not have.
    """
    ends = np.array([0.5, 0, 0, 0.5, 0, 0], dtype=np.float32)
    table = computed_table(6, ends, POINTS)
    assert [table.chance(n, 1, after_crawford=True) for n in (1, 2, 3, 4, 5)] == pytest.approx(
        [0.5, 0.5, 0.25, 0.25, 0.125], abs=1e-6
    )
    assert table.chance(2, 1) == pytest.approx(0.25, abs=1e-6)  # Crawford: win single, then even
    assert table.chance(2, 2) == 0.5


@pytest.mark.parametrize(
    ("rules", "growth", "name"),
    [
        (SHORT, "geometric", "Kazaross XG2 25 point MET"),
        (SHORT, "arithmetic", "computed"),
        (DAVE, "geometric", "computed"),
        (HYPER, "geometric", "computed"),
        (find_rules("nardgammon"), "geometric", "computed"),
    ],
)
def test_shipped_table_serves_the_game_it_was_made_for(rules, growth, name):
    assert match_table(rules, 5, growth=growth).name == name


def test_file_of_the_same_form_is_read_and_continued(tmp_path):
    path = tmp_path / "small.xml"
    path.write_text(SMALL)
    table = read_table(path)
    assert (table.name, table.length, table.chance(1, 2)) == ("Small", 2, pytest.approx(0.7))
    longer = match_table(SHORT, 5, base=table)
    assert longer.chance(1, 2) == pytest.approx(0.7)
    assert 0 < longer.chance(5, 1) < longer.chance(2, 1) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("0.7", "1.7", "no chances"),
        ("0.7", "0.6", "contradict each other"),
        ("0.7", "x", "could not convert"),
        ("<row><me>0.3</me><me>0.5</me></row>", "", "1 rows of"),
        ('<pre-crawford-table type="explicit">', '<pre-crawford-table type="zadeh">', "of type 'zadeh'"),
        ('player="both"', 'player="0"', "for both players"),
        ("<me>0.48</me>", "", "not one row of 2"),
        ("</met>", "", "no element found"),
        ("pre-crawford-table", "other-table", "no pre-crawford-table"),
    ],
)
def test_damaged_file_is_named_with_its_fault(tmp_path, before, after, fault):
    path = tmp_path / "bad.xml"
    path.write_text(SMALL.replace(before, after))
    with pytest.raises(CubeError, match=re.escape(fault)) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


def test_missing_file_and_scores_out_of_reach_are_refused(tmp_path):
    with pytest.raises(CubeError, match="cannot be read"):
        read_table(tmp_path / "none.xml")
    with pytest.raises(CubeError, match="1 to 500"):
        match_table(SHORT, 501)
    with pytest.raises(CubeError, match="expected 0 to 25"):
        shipped_table().chance(26, 2)

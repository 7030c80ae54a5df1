"""Phases of the game: which head judges a board."""

import numpy as np
import pytest
from positions import board_of, invented_boards, reached_boards

from nardy_ai.boards import is_race
from nardy_ai.errors import BotError
from nardy_ai.phases import PHASE_SETS, find_phases
from nardy_ai.rules import find_rules

SHORT, LONG = find_rules("short"), find_rules("long")


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=lambda rules: rules.name)
@pytest.mark.parametrize("phases", PHASE_SETS.values(), ids=lambda phases: phases.name)
def test_the_last_phase_is_the_race_and_no_other_is(phases, rules):
    boards = np.concatenate((reached_boards(rules, 500, seed=3)[0], invented_boards(rules, 500, seed=3)[0]))
    boards = boards[(boards[:, :, 1:] > 0).any(axis=2).all(axis=1)]

    found = phases.of(boards, rules.board)

    assert ((found == phases.count(rules.board) - 1) == is_race(boards, rules.board)).all()
    assert len(np.unique(found)) == phases.count(rules.board)


@pytest.mark.parametrize(
    ("own", "opponent", "name"),
    [
        ({24: 2, 6: 13}, {24: 2, 6: 13}, "2-2"),
        ({25: 1, 6: 14}, {18: 15}, "3-1"),
        ({6: 15}, {25: 1, 1: 14}, "0-3"),
        ({7: 15}, {18: 15}, "1-1"),
        ({6: 15}, {18: 15}, "race"),
    ],
)
def test_zones_are_where_the_rearmost_checkers_stand(own, opponent, name):
    zones = find_phases("zones-1")

    (phase,) = zones.of(board_of(own, opponent, 15)[None], SHORT.board)

    assert zones.names(SHORT.board)[phase] == name


@pytest.mark.parametrize(
    ("own", "opponent", "name"),
    [
        ({24: 15}, {24: 15}, "7-7"),
        ({24: 8, 18: 7}, {24: 9, 18: 6}, "6-7"),
        ({24: 6, 18: 9}, {24: 5, 18: 10}, "6-5"),
        ({24: 3, 18: 12}, {24: 2, 18: 13}, "5-4"),
        ({24: 1, 18: 14}, {23: 15}, "4-3"),
        ({24: 9, 6: 6}, {23: 15}, "7-6"),
        ({6: 15}, {18: 15}, "1-2"),
        ({6: 15}, {12: 15}, "race"),
    ],
)
def test_stages_of_long_nardy_count_the_head_and_are_at_most_one_apart(own, opponent, name):
    stages = find_phases("stages-1")

    (phase,) = stages.of(board_of(own, opponent, 15)[None], LONG.board)

    assert stages.names(LONG.board)[phase] == name


@pytest.mark.parametrize(
    ("own", "opponent", "name"),
    [
        ({24: 2, 6: 13}, {24: 1, 6: 14}, "3-2"),
        ({25: 1, 22: 1, 6: 13}, {24: 2, 22: 2, 6: 11}, "5-4"),
        ({25: 1, 22: 2, 6: 12}, {18: 15}, "6-1"),
        ({6: 15}, {25: 1, 1: 14}, "0-5"),
        ({19: 1, 6: 14}, {5: 15}, "race"),
    ],
)
def test_stages_where_sides_meet_count_the_checkers_behind(own, opponent, name):
    stages = find_phases("stages-1")

    (phase,) = stages.of(board_of(own, opponent, 15)[None], SHORT.board)

    assert stages.names(SHORT.board)[phase] == name


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=lambda rules: rules.name)
def test_a_phase_of_stages_takes_over_from_one_of_zones_that_judged_its_boards(rules):
    stages, zones = find_phases("stages-1"), find_phases("zones-1")
    boards = np.concatenate((reached_boards(rules, 2000, seed=5)[0], invented_boards(rules, 500, seed=5)[0]))
    if rules == LONG:  # boards whose stages are farther apart are judged with others
        homes = (boards[:, :, 7:] == 0).all(axis=2)
        outside = (boards[:, :, 13:] == 0).all(axis=2) & ~homes
        head = boards[:, :, 24] > 0
        boards = boards[~homes.any(axis=1) & ~outside.any(axis=1) & (head[:, 0] == head[:, 1])]

    taken = stages.within(zones, rules.board)[stages.of(boards, rules.board)]

    assert len(np.unique(stages.of(boards, rules.board))) > 12
    assert (taken == zones.of(boards, rules.board)).all()
    assert np.array_equal(zones.within(zones, rules.board), np.arange(zones.count(rules.board)))


@pytest.mark.parametrize(
    ("phase", "wanted"), [("1-2", "1-2"), ("2-3", "2-3"), ("3-4", "3-3"), ("7-6", "3-3"), ("race", "race")]
)
def test_a_phase_of_long_nardy_takes_over_from_the_boards_that_are_as_they_count(phase, wanted):
    stages, zones = find_phases("stages-1"), find_phases("zones-1")
    at = stages.names(LONG.board).index(phase)

    assert zones.names(LONG.board)[stages.within(zones, LONG.board)[at]] == wanted


def test_unknown_phases_are_refused_with_the_known_ones():
    with pytest.raises(BotError, match="unknown phases 'zones'; expected one of race-1, zones-1, stages-1"):
        find_phases("zones")

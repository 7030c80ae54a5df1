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


def test_unknown_phases_are_refused_with_the_known_ones():
    with pytest.raises(BotError, match="unknown phases 'zones'; expected one of race-1, zones-1"):
        find_phases("zones")

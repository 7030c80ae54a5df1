"""The check that learning works lets healthy learning pass and stops the faults it is there for."""

import numpy as np
import pytest

from nardy_ai.play import lockstep
from nardy_ai.train import loop, self_check, targets
from nardy_ai.train.config import TrainConfig


@pytest.mark.parametrize(
    ("mine", "rolls"),
    [
        pytest.param((1, 0), 36, id="a checker on the ace always gets off"),
        pytest.param((5, 2), 19, id="5 and 2"),
        pytest.param((4, 4), 11, id="4 and 4"),
        pytest.param((5, 5), 6, id="5 and 5: 6-6, 5-5, 4-4, 3-3 and 6-5"),
    ],
)
def test_exact_race_has_the_known_values(mine, rolls):
    """Against one checker on the ace all must be off at once: the rolls of 36 that do it."""
    boards, exact = self_check.exact_race()
    at = np.flatnonzero((boards == self_check._board(mine, (1, 0))).all(axis=(1, 2)))
    assert exact[at] == pytest.approx([rolls / 36])


def test_healthy_learning_passes(tmp_path):
    assert self_check.race_error(tmp_path, 1, device="cpu") < self_check.RACE_ERROR


FAULTS = {
    "targets not swapped": (targets.oc, "swap", lambda outcomes: outcomes),
    "rows shifted": (
        loop, "td_targets", lambda window, trace: np.roll(targets.td_targets(window, trace), 1, axis=1)
    ),
    "dice frozen": (lockstep, "dice_at", lambda seed, games, plies: np.tile(np.uint8([3, 1]), (len(games), 1))),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault, tmp_path, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    assert self_check.race_error(tmp_path, 1, device="cpu") > self_check.RACE_ERROR


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["short", "long", "caucasian", "hyper", "long-left", "tavla"])
def test_a_healthy_short_run_beats_random_play(rules, tmp_path):
    points, spread = self_check.random_margin(tmp_path, TrainConfig(rules=rules), device="cpu")
    assert points > self_check.RANDOM_MARGIN + 3 * spread


def test_warnings_are_in_plain_words(monkeypatch):
    monkeypatch.setattr(self_check, "race_error", lambda folder, seed, *, device: 0.5)
    monkeypatch.setattr(self_check, "random_margin", lambda folder, config, *, device: (-1.0, 0.1))
    faults = list(self_check.self_check(TrainConfig(), device="cpu"))
    assert len(faults) == 2
    assert all("learning looks broken" in fault for fault in faults)
    monkeypatch.setattr(self_check, "race_error", lambda folder, seed, *, device: 0.05)
    monkeypatch.setattr(self_check, "random_margin", lambda folder, config, *, device: (2.0, 0.1))
    assert not list(self_check.self_check(TrainConfig(), device="cpu"))

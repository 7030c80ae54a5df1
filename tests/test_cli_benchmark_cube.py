"""`nardy benchmark --cube` and `--match`: the options that decide the games, what is printed, one line a fault."""

import pytest
from complaints import complaint
from test_cli_benchmark import data, printed

from nardy_ai.bots import load_bot
from nardy_ai.cube.state import first_state
from nardy_ai.cube_policies import cube_player
from nardy_ai.play.matches import play_matches
from nardy_ai.rules import find_preset

THREE = ("--rules", "hyper", "--pairs", 3)


def test_numbers_are_those_of_the_matches_played(capsys, bot_files):
    preset = find_preset("hyper")
    bot = load_bot(bot_files["hyper"])
    state = first_state(preset.match, cap=8)
    players = cube_player(bot, "fixed:0.6:0.3", state), cube_player(bot, "never", state)
    report = play_matches(*players, preset.rules, preset.match, pairs=3, seed=5, games=2, cap=8)

    policies = ("--cube", "--policy", "fixed:0.6:0.3,never", "--games", 2, "--cap", 8, "--seed", 5)
    found = data(capsys, bot_files["hyper"], bot_files["hyper"], *policies, *THREE)

    (match,) = found["matches"]
    assert match["points"] == pytest.approx(report.points, abs=1e-6)
    assert match["standard_error"] == pytest.approx(report.points_error, abs=1e-6)
    assert match["games"] == report.games == 12
    assert match["matches_won"] is None
    assert match["first_cube"]["doubles"] == pytest.approx(report.first_cube.doubles, abs=1e-6) != 0
    assert found["options"]["cube"] == "geometric"
    assert found["options"]["jacoby"] is True
    assert found["complete"] is True


def test_match_against_itself_is_even(capsys, bot_files):
    text = printed(capsys, bot_files["hyper"], bot_files["hyper"], "--match", 2, "--policy", "fixed", *THREE)

    assert "matches to 2, 3 pairs, seed 1" in text
    assert " 50.0 +- 0.0 %  +0.0000 +- 0.0000" in text
    assert "doubler" in text


def test_rules_without_a_cube_get_one_with_the_crawford_game(capsys):
    arguments = ("pips", "random", "--rules", "long", "--pairs", 1, "--match", 1)

    with_cube, without = data(capsys, *arguments)["options"], data(capsys, *arguments, "--no-cube")["options"]

    assert (with_cube["cube"], with_cube["crawford"], with_cube["length"]) == ("geometric", True, 1)
    assert (without["cube"], without["crawford"], without["length"]) == ("none", False, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--policy", "fxed"), "did you mean 'fixed'"),
        (("--policy", "never,never,never"), "3 policies for 2 bots"),
        (("--policy", "fixed"), "knows no chances"),
        (("--no-cube", "--policy", "cubeful"), "without a cube"),
        (("--match", 3, "--games", 2), "ends by its length"),
        (("--games", 0), "expected 1 or more"),
        (("--match", -1), "expected 1 to"),
        (("--cube", "--cap", 0), "the largest stake is 0"),
        (("--match", "3", "--exact"), "knows --cube alone"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(options, words, capsys):
    assert words in complaint(capsys, "benchmark", "pips", "random", "--rules", "hyper", *options)

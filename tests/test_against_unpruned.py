"""A pruned bot against itself without pruning: against a slow twin, and the command."""

import json

import numpy as np
import pytest
from networks import network_of, pruned_network

from nardy_ai.boards import finished
from nardy_ai.bot_file import save_bot
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import NardyError
from nardy_ai.play import against_unpruned
from nardy_ai.play.against_unpruned import judge_pruning
from nardy_ai.play.sampling import turns_of
from nardy_ai.pruned import LEAST, Pruned
from nardy_ai.rules import find_match_options, find_rules, start_boards

SHORT, LONG = find_rules("short"), find_rules("long")
MATCH = find_match_options("short")


@pytest.mark.parametrize("awkward", [False, True])
def test_what_is_lost_is_what_the_play_of_the_pruned_bot_is_worth_less(awkward):
    """Against every decision by itself, chosen by `Pruned.play_values`."""
    network = pruned_network(SHORT)
    pruned = Pruned(network)

    report = judge_pruning(pruned, MATCH, games=12, seed=3, awkward=awkward)

    lost, games, plays = [], [], 0
    for turn in turns_of(
        network, MATCH, range(12), seed=3, wild_share=0.0, wild_plies=1, awkward_share=float(awkward)
    ):  # fmt: skip
        values = pruned.play_values(turn.boards, turn.after)
        for i, (low, high) in enumerate(zip(turn.after.offsets, turn.after.offsets[1:], strict=False)):
            if high - low > 1 and not finished(turn.boards[i : i + 1])[0]:
                chosen = low + values[low:high].argmax()
                lost.append(turn.values[low:high].max() - turn.values[chosen])
                games.append(turn.games[i])
                plays += high - low
    lost, games = np.array(lost, dtype=np.float64), np.array(games)
    assert report.decisions == len(lost) > 100
    assert report.plays == pytest.approx(plays / len(lost))
    assert LEAST - 3 < report.judged < report.plays
    assert report.other_share == pytest.approx((lost > 0).mean())
    assert report.pr == pytest.approx(500 * lost.mean(), rel=1e-5)
    assert report.pr > 0.1
    apart = np.array([(lost[games == game] - lost.mean()).sum() for game in np.unique(games)])
    n = len(apart)
    assert report.pr_error == pytest.approx(500 * np.sqrt(n / (n - 1) * (apart**2).sum()) / len(lost), rel=1e-5)
    assert (report.bot, report.games, report.awkward) == ("pruned@pruned", 12, awkward)


def test_stretches_are_the_same_games_and_stopping_reports_those_played(monkeypatch):
    pruned = Pruned(pruned_network(SHORT))
    whole = judge_pruning(pruned, MATCH, games=10, seed=3)
    monkeypatch.setattr(against_unpruned, "_STRETCH", 4)
    told = []
    assert judge_pruning(pruned, MATCH, games=10, seed=3, progress=told.append).pr == pytest.approx(whole.pr)
    assert told == [4, 4, 2]
    part = judge_pruning(pruned, MATCH, games=10, seed=3, stop=lambda: True)
    assert part.games == 4
    assert part == judge_pruning(pruned, MATCH, games=4, seed=3)


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(NardyError, match="games = 0; expected 1 or more"):
        judge_pruning(Pruned(pruned_network(SHORT)), MATCH, games=0, seed=1)
    with pytest.raises(NardyError, match="rules 'long' have no awkward boards to begin from"):
        judge_pruning(Pruned(pruned_network(LONG)), find_match_options("long"), games=1, seed=1, awkward=True)


def test_command(tmp_path, capsys):
    paths = []
    for rules in (SHORT, LONG):
        paths.append(tmp_path / f"{rules.name}.safetensors")
        save_bot(paths[-1], pruned_network(rules), golden=start_boards(rules), card={})
    asked = ["--pruning", "--pairs", "3", "--seed", "2", "--quiet"]
    short, long = (f"{path}@pruned" for path in paths)

    assert main(["benchmark", short, *asked, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(one["from"], one["games"]) for one in said["pruning"]] == [("start", 6), ("awkward", 6)]
    found = judge_pruning(load_bot(short), MATCH, games=6, seed=2)
    assert said["pruning"][0]["pr"] == pytest.approx(found.pr, abs=1e-6)
    assert said["complete"]

    assert main(["benchmark", long, *asked]) == 0
    shown = capsys.readouterr().out
    assert "the start" in shown
    assert "awkward" not in shown


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([], "does not prune; --pruning measures bots such as short@pruned"),
        (["--exact"], "--exact, --bearoffs, --decisions NAME and --pruning are different benchmarks"),
        (["--cube"], "--bearoffs, --decisions and --pruning do not"),
        (["--luck", "pips"], "--luck is taken off the points of games"),
        (["--pairs", "0"], "--pairs 0"),
    ],
)
def test_command_refuses(more, reason, tmp_path, capsys):
    path = tmp_path / "mine.safetensors"
    save_bot(path, network_of(SHORT), golden=start_boards(SHORT), card={})
    assert main(["benchmark", str(path), "--pruning", *more]) == 2
    assert reason in capsys.readouterr().err

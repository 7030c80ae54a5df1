"""Labels on disk: how positions are found, shards made once, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from networks import network_of

from nardy_ai.boards import BAR, FACING, finished
from nardy_ai.cli.main import main
from nardy_ai.dice import ROLLS
from nardy_ai.errors import ConfigError
from nardy_ai.movegen.generate import best_of_segments, expand
from nardy_ai.outcomes import equities
from nardy_ai.play.decisions import Decisions
from nardy_ai.play.kinds import kinds_of
from nardy_ai.play.sampling import awkward_boards, paths_of, sampled_positions, turns_of
from nardy_ai.rollouts import rollout
from nardy_ai.rules import MatchOptions, find_preset, find_rules
from nardy_ai.search import Lookahead, distinct_boards
from nardy_ai.train.labels import LabelRecipe, check_teacher, find_teacher, make_labels, read_labels

SHORT, HYPER, LONG = find_rules("short"), find_rules("hyper"), find_rules("long")
RECIPE = LabelRecipe(games=12, seed=4)
MATCH = find_preset("hyper").match
SHARES = {"wild_share": 0.3, "wild_plies": 10, "awkward_share": 0.3, "near_share": 0.5}


@pytest.mark.parametrize("rules", [SHORT, HYPER, LONG], ids=lambda rules: rules.name)
def test_sampled_positions_are_distinct_playable_and_always_the_same(rules):
    network = network_of(rules)

    boards = sampled_positions(network, MatchOptions(), range(5, 15), seed=3, **SHARES)

    assert len(distinct_boards(boards)[0]) == len(boards) > 100
    assert not finished(boards).any()
    assert (boards.sum(axis=2) == rules.checkers).all()
    points = boards[:, 0, 1:BAR] > 0
    assert not (points & (boards[:, 1, FACING[rules.board][1:BAR]] > 0)).any()
    again = sampled_positions(network, MatchOptions(), range(5, 15), seed=3, **SHARES)
    assert again.tobytes() == boards.tobytes()


def test_near_misses_come_on_top_of_the_plays_made():
    shares = SHARES | {"near_share": 0.0}
    without = sampled_positions(network_of(SHORT), MatchOptions(), range(8), seed=3, **shares)
    having = sampled_positions(network_of(SHORT), MatchOptions(), range(8), seed=3, **shares | {"near_share": 1.0})

    assert len(having) > 1.2 * len(without)
    assert {board.tobytes() for board in without} <= {board.tobytes() for board in having}


@pytest.mark.parametrize("rules", [SHORT, HYPER], ids=lambda rules: rules.name)
def test_awkward_boards_can_be_played_and_are_awkward(rules):
    boards = awkward_boards(rules, 300, seed=2)

    assert (boards.sum(axis=2) == rules.checkers).all()
    assert not ((boards[:, 0, 1:BAR] > 0) & (boards[:, 1, FACING["contrary"][1:BAR]] > 0)).any()
    playable = boards[~finished(boards)]
    assert len(playable) > 0.9 * len(boards)
    expand(playable, np.tile(np.array([[6, 5]], dtype=np.uint8), (len(playable), 1)), rules)
    assert (boards[:, 0, BAR] > 1).mean() > 0.05


@pytest.mark.parametrize("trace", [0.0, 1.0])
def test_kinds_named_are_not_labelled_and_the_others_are(tmp_path: Path, trace: float):
    teacher = Lookahead(network_of(HYPER), 1)
    recipe = replace(RECIPE, near_share=0.0, trace=trace)
    for name, without in (("all", ""), ("some", "race,mutual")):
        make_labels(tmp_path / name, teacher, MATCH, replace(recipe, without=without), shards=1)

    everything, some = (read_labels([tmp_path / name]) for name in ("all", "some"))

    kinds = np.array(kinds_of(everything.boards, HYPER))
    left = ~np.isin(kinds, ["race", "mutual"])
    assert {"race", "mutual"} < set(kinds)
    assert some.boards.tobytes() == everything.boards[left].tobytes()
    assert some.outcomes.tobytes() == everything.outcomes[left].tobytes()
    with pytest.raises(ConfigError, match="kinds of position 'races'; expected some of bearoff, race"):
        replace(RECIPE, without="races")


def holds_two_home_points(boards):
    """Whether one of the sides holds two points or more of the other's home, `bool[n]`."""
    return ((boards[:, :, 18:BAR] >= 2).sum(axis=2) >= 2).any(axis=1)


def test_the_share_of_back_games_among_awkward_boards_is_what_was_asked_for():
    without = awkward_boards(SHORT, 400, seed=2)
    half = awkward_boards(SHORT, 400, seed=2, backgame_share=0.5)

    assert holds_two_home_points(half)[:200].all()
    assert holds_two_home_points(half)[200:].mean() < holds_two_home_points(without).mean() + 0.1 < 0.7
    assert (half.sum(axis=2) == SHORT.checkers).all()


def test_labels_are_what_the_teacher_says_and_shards_are_made_once(tmp_path: Path):
    teacher = Lookahead(network_of(HYPER), 1)
    seen: list[int] = []

    assert make_labels(tmp_path, teacher, MATCH, RECIPE, shards=2, progress=lambda n, found: seen.append(n)) == 2
    first = (tmp_path / "00000.safetensors").stat().st_mtime_ns
    assert make_labels(tmp_path, teacher, MATCH, RECIPE, shards=3, workers=2) == 3

    assert (tmp_path / "00000.safetensors").stat().st_mtime_ns == first
    labels = read_labels([tmp_path])
    assert labels.outcomes.tobytes() == teacher.outcomes(labels.boards).tobytes()
    assert labels.sources[0]["teacher"] == teacher.name
    assert sorted(seen) == [0, 1]


def test_a_damaged_shard_is_made_again_to_the_last_bit(tmp_path: Path):
    teacher = network_of(HYPER)
    make_labels(tmp_path, teacher, MATCH, RECIPE, shards=1)
    path = tmp_path / "00000.safetensors"
    whole = read_labels([tmp_path])
    content = path.read_bytes()
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    with pytest.raises(ConfigError, match="damaged"):
        read_labels([tmp_path])

    make_labels(tmp_path, teacher, MATCH, RECIPE, shards=1)

    again = read_labels([tmp_path])
    assert again.boards.tobytes() == whole.boards.tobytes()
    assert again.outcomes.tobytes() == whole.outcomes.tobytes()


def test_a_folder_of_another_recipe_or_teacher_is_refused(tmp_path: Path):
    make_labels(tmp_path, network_of(HYPER), MATCH, RECIPE, shards=1)

    with pytest.raises(ConfigError, match="was made with recipe"):
        make_labels(tmp_path, network_of(HYPER), MATCH, replace(RECIPE, seed=5), shards=1)
    with pytest.raises(ConfigError, match="was made with answers"):
        make_labels(tmp_path, network_of(HYPER, seed=2), MATCH, RECIPE, shards=1)


def test_hard_positions_are_those_where_look_ahead_changes_the_net_most(tmp_path: Path):
    net = network_of(HYPER)
    make_labels(tmp_path / "all", Lookahead(net, 2), MATCH, RECIPE, shards=1)
    make_labels(tmp_path / "hard", Lookahead(net, 2), MATCH, replace(RECIPE, hard_share=0.25), shards=1)

    everything, hard = read_labels([tmp_path / "all"]), read_labels([tmp_path / "hard"])

    apart = np.abs(Lookahead(net, 1).equity(everything.boards) - net.equity(everything.boards))
    kept = {board.tobytes() for board in hard.boards}
    inside = np.array([board.tobytes() in kept for board in everything.boards])
    assert inside.sum() == len(hard.boards) == round(0.25 * len(everything.boards)) > 50
    assert apart[inside].min() >= apart[~inside].max()
    assert hard.outcomes.tobytes() == everything.outcomes[inside].tobytes()


def test_a_teacher_that_judges_likely_replies_only_says_nearly_the_same_and_never_more_for_the_replier(tmp_path: Path):
    """Replies that the sieve loses can only make him who replies worse off."""
    teacher = Lookahead(network_of(HYPER), 1)
    make_labels(tmp_path / "all", teacher, MATCH, RECIPE, shards=1)
    make_labels(tmp_path / "many", teacher, MATCH, replace(RECIPE, candidates=200), shards=1)
    make_labels(tmp_path / "few", teacher, MATCH, replace(RECIPE, candidates=4), shards=1)

    whole, many, few = (read_labels([tmp_path / name]) for name in ("all", "many", "few"))

    assert many.outcomes.tobytes() == whole.outcomes.tobytes()
    assert few.boards.tobytes() == whole.boards.tobytes()
    lost = equities(whole.outcomes, HYPER) - equities(few.outcomes, HYPER)
    assert lost.min() > -1e-6
    assert 0 < lost.mean() < 0.02
    assert few.sources[0]["teacher"] == whole.sources[0]["teacher"] == teacher.name
    assert few.sources[0]["recipe"]["candidates"] == 4


def test_the_last_folder_that_has_a_position_counts(tmp_path: Path):
    make_labels(tmp_path / "one", network_of(HYPER), MATCH, RECIPE, shards=1)
    make_labels(tmp_path / "two", network_of(HYPER, seed=2), MATCH, RECIPE, shards=1)

    both = read_labels([tmp_path / "one", tmp_path / "two"])

    last = read_labels([tmp_path / "two"])
    assert len(both.boards) > len(last.boards)
    found = {board.tobytes(): outcomes.tobytes() for board, outcomes in zip(both.boards, both.outcomes, strict=True)}
    assert len(found) == len(both.boards)
    for board, outcomes in zip(last.boards, last.outcomes, strict=True):
        assert found[board.tobytes()] == outcomes.tobytes()


def test_labels_of_other_rules_do_not_mix(tmp_path: Path):
    make_labels(tmp_path / "one", network_of(HYPER), MATCH, RECIPE, shards=1)
    make_labels(tmp_path / "two", network_of(SHORT), MATCH, replace(RECIPE, games=1), shards=1)

    with pytest.raises(ConfigError, match="is of rules 'hyper', others are of 'short'"):
        read_labels([tmp_path / "one", tmp_path / "two"])


def decisions_of(network, n: int = 60) -> Decisions:
    """Held-out decisions whose right answer is what `network` says."""
    boards = sampled_positions(network, MatchOptions(), range(6), seed=9, **SHARES)[:n]
    after = expand(boards, np.tile(np.array([[6, 2]], dtype=np.uint8), (len(boards), 1)), network.rules)
    values = network.play_values(boards, after).astype(np.float64)
    return Decisions(boards, after, values, np.ones(len(values), dtype=bool), ("all",) * len(boards))


def test_a_teacher_no_better_than_its_student_is_refused():
    right, wrong = network_of(SHORT), network_of(SHORT, seed=2)
    decisions = decisions_of(right)

    assert check_teacher(right, wrong, decisions).pr < 0
    with pytest.raises(ConfigError, match="is not better than student"):
        check_teacher(wrong, right, decisions)
    with pytest.raises(ConfigError, match="Take a deeper teacher"):
        check_teacher(right, right, decisions)


def test_label_command_fills_a_folder_and_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    arguments = [
        "label",
        "hyper",
        "--out",
        str(tmp_path / "labels"),
        "--shards",
        "2",
        "--games",
        "5",
        "--json",
        "--quiet",
    ]

    assert main(arguments) == 0

    answer = json.loads(capsys.readouterr().out)
    assert answer["shards"] == 2
    assert answer["positions"] >= len(read_labels([tmp_path / "labels"]).boards) > 30


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["pubeval", "--out", "x"], "knows no chances"),
        (["hyper", "--out", "x", "--shards", "0"], "expected 1 or more"),
        (["hyper", "--out", "x", "--near-share", "2"], "near_share = 2.0; expected 0 to 1"),
        (["hyper", "--out", "x", "--candidates", "-1"], "candidates = -1; expected 1 or more, or 0 for all"),
        (["hyper", "--out", "x", "--candidates", "5"], "does not look ahead"),
        (["hyper", "--out", "x", "--student", "random"], "give both"),
        (["hyper", "--out", "x", "--decisions", "own"], "teacher 'hyper' is not better than student 'hyper'"),
        (["hyper", "--out", "x", "--decisions", "huper"], "unknown set of decisions 'huper'"),
    ],
)
def test_label_refuses_what_makes_no_sense(arguments, reason, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    assert main(["label", *arguments]) == 2

    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_own_rules_can_be_labelled(tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('base = "hyper"\nhit_hide = "no_hide"\n[match]\nopening = "reroll"\n', encoding="utf-8")
    folder = tmp_path / "labels"

    assert main(["label", "hyper", "--rules", str(own), "--out", str(folder), "--shards", "1", "--games", "3"]) == 0

    assert read_labels([folder]).rules == find_rules(own)
    assert find_teacher("hyper", str(own))[1].opening == "reroll"


def test_paths_lead_by_the_best_play_to_the_end_of_each_game():
    network = network_of(HYPER)
    shares = {"wild_plies": 6, "awkward_share": 0.0}

    paths = paths_of(turns_of(network, MATCH, range(40), seed=3, wild_share=0.0, **shares))
    wild = paths_of(turns_of(network, MATCH, range(40), seed=3, wild_share=1.0, **shares))

    assert (paths.following < 0).sum() == 40  # one board of each game is its last
    assert (wild.following < 0).sum() > 60  # and what chance chose leads nowhere
    assert paths.starts[-1] == len(paths.boards)
    going = np.flatnonzero(paths.following >= 0)
    ply = np.searchsorted(paths.starts, np.arange(len(paths.boards)), side="right")
    assert (ply[paths.following[going]] == ply[going] + 1).all()
    for at in going[:100]:
        after = expand(np.repeat(paths.boards[at : at + 1], 21, axis=0), ROLLS, HYPER)
        values = network.play_values(np.repeat(paths.boards[at : at + 1], 21, axis=0), after)
        best = after.boards[best_of_segments(values, after.offsets)]
        assert (best == paths.boards[paths.following[at]]).all(axis=(1, 2)).any()


def test_labels_that_follow_games_say_how_games_of_the_player_end(tmp_path: Path):
    """The net is of random weights, so one ply of look-ahead is far from the truth, which rollouts to the end say."""
    network = network_of(HYPER)
    recipe = LabelRecipe(games=2000, seed=4, wild_share=0.0, awkward_share=0.0, near_share=0.0)
    paths = paths_of(turns_of(network, MATCH, range(2000), seed=4, wild_share=0.0, wild_plies=30, awkward_share=0.0))
    later = paths.boards[paths.starts[1] :]
    first, which = distinct_boards(later)
    often = later[first[np.argsort(-np.bincount(which))[:8]]]
    truth = np.array([line.equity for line in rollout(network, often, games=720, seed=5).lines])

    off = {}
    for trace in (0.0, 1.0):
        folder = tmp_path / f"{trace}"
        make_labels(folder, Lookahead(network, 1), MATCH, replace(recipe, trace=trace), shards=1)
        labels = read_labels([folder])
        places = [int(np.flatnonzero((labels.boards == board).all(axis=(1, 2)))[0]) for board in often]
        off[trace] = float(np.sqrt(((equities(labels.outcomes[places], HYPER) - truth) ** 2).mean()))

    assert off[0.0] > 1.0
    assert off[1.0] < 0.4  # the spread of some 150 games; with 20,000 games 0.05


def test_labels_that_follow_games_need_one_ply_and_no_other_positions(tmp_path: Path):
    network = network_of(HYPER)
    with pytest.raises(ConfigError, match="expected near_share = 0 and hard_share = 1"):
        LabelRecipe(trace=0.5)
    recipe = LabelRecipe(games=2, near_share=0.0, trace=0.5)
    for teacher in (network, Lookahead(network, 2)):
        with pytest.raises(ConfigError, match="take NAME@1ply"):
            make_labels(tmp_path, teacher, MATCH, recipe, shards=1)

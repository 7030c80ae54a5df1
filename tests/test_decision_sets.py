"""Sets of decisions made by the project: what is sampled, how it is labelled, files that are taken up and refused."""

import json
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from networks import network_of
from solved import two_checkers

from nardy_ai import resources
from nardy_ai.bots import load_bot
from nardy_ai.cli.main import main
from nardy_ai.errors import NardyError
from nardy_ai.evaluators.baselines import RandomBot
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.exact.solve import few_checkers
from nardy_ai.movegen.generate import Afterstates, afterstates, best_of_segments
from nardy_ai.notation import parse_position
from nardy_ai.play.decision_sets import (
    BEHIND,
    CLOSE,
    MOST_LISTED,
    REACH,
    SetRecipe,
    candidates,
    found_decisions,
    make_set,
)
from nardy_ai.play.decisions import (
    Decisions,
    Doubt,
    find_decisions_file,
    label_noise,
    read_decisions,
    read_records,
    score_decisions,
)
from nardy_ai.play.kinds import KINDS, kinds_of
from nardy_ai.rules import MatchOptions, find_rules
from nardy_ai.search import Lookahead

SHORT, LONG, HYPER = find_rules("short"), find_rules("long"), find_rules("hyper")
TWO = few_checkers(HYPER, 2)
MATCH = MatchOptions()
EXACT = SetRecipe(games=0)
ROLLED = SetRecipe(games=72, seed=5)


@pytest.fixture(scope="module")
def exact():
    return ExactBot(two_checkers())


@pytest.fixture(scope="module")
def exact_set(exact, tmp_path_factory):
    """150 decisions of a solved game."""
    path = tmp_path_factory.mktemp("exact") / "two.jsonl.gz"
    assert make_set(path, exact, MATCH, EXACT, count=150) == 150
    return path


@pytest.fixture(scope="module")
def rolled_set(tmp_path_factory):
    """20 decisions of the same game, rolled out by a network of random weights."""
    path = tmp_path_factory.mktemp("rolled") / "two.jsonl.gz"
    assert make_set(path, network_of(TWO), MATCH, ROLLED, count=20) == 20
    return path


@pytest.mark.slow
def test_pr_of_exact_is_0_on_exact_answers_and_that_of_random_is_large(exact, exact_set):
    decisions = read_decisions(exact_set, TWO)

    right, random = (score_decisions(bot, decisions) for bot in (exact, RandomBot(TWO)))

    assert right.total.pr < 1e-3
    assert right.rms_error < 1e-5
    assert random.total.pr > max(20, 4 * random.total.standard_error)
    noise = label_noise(decisions)
    assert (noise.error, noise.difference_error, noise.pr_about, noise.pr_at_most) == (0, 0, 0, 0)


def test_every_listed_play_is_legal_distinct_and_the_decision_is_close(exact_set, rolled_set):
    for path in (exact_set, rolled_set):
        decisions = read_decisions(path, TWO)
        for i, (_, record) in enumerate(read_records(path)[1:]):
            legal = {board.tobytes() for board in afterstates(decisions.boards[i], record["dice"], TWO).boards}
            plays = decisions.candidates.boards[slice(*decisions.candidates.offsets[i : i + 2])]
            listed = {board.tobytes() for board in plays}
            assert len(listed) == len(plays) >= 2
            assert listed <= legal
            assert listed == legal or path == rolled_set
            assert record["cls"] in KINDS
            equities = [one["equity"] for one in record["cands"]]
            assert equities == sorted(equities, reverse=True)
            assert path == rolled_set or equities[0] - equities[1] <= CLOSE + 1e-6
            assert all(sum(one["probs"]) == pytest.approx(1, abs=0.05) for one in record["cands"])
    records = [record for _, record in read_records(exact_set)[1:]]
    assert len({(str(record["board"]), str(record["dice"])) for record in records}) == len(records)
    assert max(np.bincount([record["game"] for record in records])) == 2


class RightPlays:
    """Plays without an error and judges by a network of random weights: rollouts have the solution as their mean."""

    def __init__(self, exact):
        self.name, self.rules, self.exact, self.network = "right plays", exact.rules, exact, network_of(exact.rules)

    def outcomes(self, boards):
        return self.network.outcomes(boards)

    def play_values(self, boards, after):
        return self.exact.play_values(boards, after)


@pytest.mark.slow
def test_rolled_labels_are_exact_within_their_standard_errors(exact, tmp_path):
    """Chi-square over the truly best play of each decision (that of the highest label is too high by choice).

    Dice differ from decision to decision. The bounds are 4 sigma.
    """
    path = tmp_path / "rolled.jsonl.gz"
    make_set(path, RightPlays(exact), MATCH, SetRecipe(games=72), count=60)

    decisions = read_decisions(path, TWO)

    true = exact.play_values(decisions.boards, decisions.candidates)
    first = best_of_segments(true, decisions.candidates.offsets)
    spread = decisions.doubt.errors[first]
    sure = spread < 1e-6  # a game that is all but over
    assert np.abs(true - decisions.equities)[first][sure].max(initial=0) < 1e-4
    z = (decisions.equities - true)[first][~sure] / spread[~sure]
    assert len(z) > 40
    assert abs(z.mean()) < 4 / len(z) ** 0.5
    assert abs((z**2).sum() - len(z)) < 4 * (2 * len(z)) ** 0.5
    assert decisions.doubt.halves.mean(axis=1) == pytest.approx(decisions.equities, abs=2e-6)


def test_a_set_that_was_stopped_is_taken_up_to_the_same_bytes(rolled_set, tmp_path):
    path, asked, stops = tmp_path / "set.jsonl.gz", count(), 0
    while True:
        last = next(asked) + 300
        done = make_set(
            path, network_of(TWO), MATCH, ROLLED, count=20, workers=3, stop=lambda last=last: next(asked) > last
        )
        if done == 20:
            break
        stops += 1
        assert not path.exists()
        with (tmp_path / "set.jsonl.gz.part").open("a") as part:
            part.write('{"board":[0,')  # a kill may leave half a line
    assert stops > 1
    assert path.read_bytes() == rolled_set.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["set.jsonl.gz"]


def test_plays_clearly_behind_after_the_first_games_are_rolled_out_no_further(tmp_path):
    """The others have the numbers of a set that rolls all out."""
    recipe, bot = SetRecipe(games=108, truncate=7), load_bot("hyper")
    sets = []
    for name, one in (
        ("sifted", replace(recipe, first=36)),
        ("whole", recipe),
        ("begun", replace(recipe, games=36)),
    ):
        make_set(tmp_path / f"{name}.jsonl.gz", bot, MATCH, one, count=20)
        sets.append([record for _, record in read_records(tmp_path / f"{name}.jsonl.gz")][1:])

    left = 0
    for sifted, whole, begun in zip(*sets, strict=True):
        mine, full, early = ({str(one["board"]): one for one in each["cands"]} for each in (sifted, whole, begun))
        assert mine.keys() == full.keys() == early.keys()
        best = begun["cands"][0]["equity"]
        behind = {board for board, one in early.items() if one["equity"] < best - BEHIND * one["difference_se"]}
        if len(behind) == len(early) - 1:
            behind = set(early)
        left += len(behind)
        for board, one in mine.items():
            if board in behind:
                assert one == early[board]
            else:
                assert (one["equity"], one["se"]) == (full[board]["equity"], full[board]["se"])
    assert 5 < left < sum(len(record["cands"]) for record in sets[0]) - 5


def test_games_of_the_kinds_named_are_played_to_the_end(tmp_path):
    """These have the answers of a set of more games without truncation, the others those of one with it."""
    kinds, bot, sets = ("mutual", "bearing-off"), load_bot("hyper"), []
    cut = SetRecipe(games=36, truncate=2)
    mixed = replace(cut, whole=",".join(kinds), whole_games=72)
    for name, recipe in (("mixed", mixed), ("played", SetRecipe(games=72)), ("cut", cut)):
        make_set(tmp_path / f"{name}.jsonl.gz", bot, MATCH, recipe, count=12)
        sets.append([record for _, record in read_records(tmp_path / f"{name}.jsonl.gz")][1:])

    answers = [(mine["cls"] in kinds, mine["cands"], *others) for mine, *others in zip(*sets, strict=True)]
    assert all(mine == (whole if named else early)["cands"] for named, mine, whole, early in answers)
    assert all(whole["cands"] != early["cands"] for _, _, whole, early in answers)
    assert {named for named, *_ in answers} == {True, False}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"whole": "backgame"}, "expected with truncate only"),
        ({"whole": "backgames", "truncate": 11}, "expected some of bearoff, race"),
    ],
)
def test_whole_kinds_are_known_ones_of_a_set_that_is_truncated(options, message):
    with pytest.raises(NardyError, match=message):
        SetRecipe(**options)


@pytest.mark.parametrize("options", [{"whole_games": 720}, {"whole": "backgame", "truncate": 11, "whole_games": 72}])
def test_kinds_played_to_the_end_are_given_more_games_and_not_fewer(options):
    with pytest.raises(NardyError, match="expected 576 or more, with whole kinds"):
        SetRecipe(**options)


def test_a_longer_set_begins_with_the_shorter_one(rolled_set, tmp_path):
    path, seen = tmp_path / "set.jsonl.gz", []
    make_set(path, network_of(TWO), MATCH, ROLLED, count=7)
    assert make_set(path, network_of(TWO), MATCH, ROLLED, count=20, progress=seen.append) == 20
    assert path.read_bytes() == rolled_set.read_bytes()
    assert seen == list(range(7, 21))
    with pytest.raises(NardyError, match="holds 20 decisions already"):
        make_set(path, network_of(TWO), MATCH, ROLLED, count=19)


@pytest.mark.parametrize(
    ("bot", "recipe", "reason"),
    [
        (network_of(TWO), SetRecipe(games=72, seed=6), "was made with recipe"),
        (network_of(TWO), replace(ROLLED, first=36), "was made with recipe"),
        (network_of(TWO, seed=2), ROLLED, "was made with probe"),
        (network_of(HYPER), ROLLED, "was made with rules"),
        (RandomBot(TWO), ROLLED, "knows no chances"),
        (Lookahead(network_of(TWO), 1), ROLLED, "looks ahead"),
        (network_of(TWO), EXACT, "labels by rollouts"),
    ],
)
def test_sets_of_another_making_and_bots_that_cannot_label_are_refused(bot, recipe, reason, rolled_set):
    before = rolled_set.read_bytes()
    with pytest.raises(NardyError, match=reason):
        make_set(rolled_set, bot, MATCH, recipe, count=21)
    assert rolled_set.read_bytes() == before


def test_a_set_is_read_for_its_own_rules_only(rolled_set):
    with pytest.raises(NardyError, match="was made for rules 'hyper-2', not for 'hyper'"):
        read_decisions(rolled_set, HYPER)


def test_a_set_without_decisions_or_rules_is_refused(tmp_path):
    file = tmp_path / "set.jsonl"
    for line, reason in (({"rules": {}}, "does not say"), ({}, "does not say"), ({"rules": 3}, "does not say")):
        file.write_text(json.dumps({"format": "nardy_ai decisions"} | line))
        with pytest.raises(NardyError, match=reason):
            read_decisions(file, SHORT)


def test_bare_choice_and_best_by_one_ply_are_listed():
    bot = network_of(SHORT)
    turns = list(islice(found_decisions(bot, MATCH, seed=1), 40))
    boards = np.stack([one.board for one in turns])
    after = afterstates(boards, np.array([one.dice for one in turns], dtype=np.uint8), SHORT)

    found = candidates(bot, boards, after)

    bare = bot.play_values(boards, after)
    deep = Lookahead(bot, 1, filter="wide").judge_plays(boards, after)
    assert found.close.all()
    differ = 0
    for i, turn in enumerate(turns):
        part = slice(after.offsets[i], after.offsets[i + 1])
        values = np.where(deep.depths[part] == 1, deep.values[part], -np.inf)
        listed = found.listed[part]
        assert listed[bare[part].argmax()]
        assert listed[values.argmax()]
        assert 2 <= listed.sum() <= MOST_LISTED
        assert (values.max() - values[listed] <= REACH).sum() >= listed.sum() - 1
        assert {board.tobytes() for board in after.boards[part][listed]} == {one.tobytes() for one in turn.plays}
        differ += int(bare[part].argmax() != values.argmax())
    assert differ > 3


def decisions_with_noise(rng):
    """4,000 decisions of three plays: true equities, and as Decisions what two halves of rollouts say."""
    true = rng.normal(0, 0.03, (4000, 3))
    halves = true[..., None] + rng.normal(0, 0.02, (4000, 3, 2))
    offsets = np.arange(0, 12001, 3)
    doubt = Doubt(np.full(12000, 0.014), np.full(12000, 0.02), halves.reshape(-1, 2))
    none = np.zeros((0, 2, 26), dtype=np.int8)
    return true, Decisions(
        none, Afterstates(none, offsets), halves.mean(axis=2).ravel(), np.ones(12000, bool), ("all",) * 4000, doubt
    )


def test_noise_of_labels_raises_every_loss_alike_by_about_the_estimate_and_by_no_more_than_the_bound():
    """Known truth: whoever chooses the truly best play seems to lose something, at most what the bound says."""
    true, decisions = decisions_with_noise(np.random.default_rng(3))
    equities = decisions.equities.reshape(-1, 3)

    noise = label_noise(decisions)

    choices = true.argmax(axis=1), np.zeros(4000, dtype=int)
    seeming = [500 * (equities.max(axis=1) - equities[np.arange(4000), one]).mean() for one in choices]
    losing = [500 * (true.max(axis=1) - true[np.arange(4000), one]).mean() for one in choices]
    raised = np.subtract(seeming, losing)
    assert losing[0] == 0
    assert 0.5 < raised[0] < noise.pr_at_most < 4 * raised[0]
    assert raised[0] == pytest.approx(noise.pr_about, rel=0.2)
    assert raised[1] == pytest.approx(raised[0], abs=4 * 500 * 0.02 / 4000**0.5)


def test_noise_of_labels_is_told_apart_by_class():
    _, decisions = decisions_with_noise(np.random.default_rng(3))
    exact = np.arange(len(decisions.equities)) // 3 < 1000
    flat = np.where(exact[:, None], decisions.equities[:, None], decisions.doubt.halves)
    classes = ("exact",) * 1000 + ("noisy",) * 3000

    noise = label_noise(replace(decisions, classes=classes, doubt=replace(decisions.doubt, halves=flat)))

    assert noise.about_by_class["exact"].pr == 0
    assert noise.about_by_class["noisy"].pr == pytest.approx(4000 / 3000 * noise.pr_about)


@pytest.mark.parametrize(
    ("text", "rules", "kind"),
    [
        ("start", SHORT, "mutual"),
        ("6:2 5:1 / 4:3", SHORT, "bearoff"),
        ("9:2 5:1 / 4:3", SHORT, "race"),
        ("6:2 5:5 / 24:1 4:3", SHORT, "bearing-off"),
        ("24:1 9:2 8:12 / 6:2 5:2 4:2 3:2 2:2", SHORT, "containing"),
        ("24:2 22:2 8:5 6:6 / 13:5 8:4 6:6", SHORT, "backgame"),
        ("13:5 8:4 6:6 / 24:2 22:2 8:5 6:6", SHORT, "against-backgame"),
        ("24:1 13:6 3:2 2:4 1:2 / 13:5 8:4 6:6", SHORT, "crashed"),
        ("13:5 8:2 7:2 6:3 5:3 / 24:2 13:5 6:8", SHORT, "priming"),
        ("24:2 13:5 6:8 / 13:5 8:2 7:2 6:3 5:3", SHORT, "primed"),
        ("24:1 13:6 6:8 / 13:5 8:4 6:6", SHORT, "escaping"),
        ("13:5 8:4 6:6 / 24:1 13:6 6:8", SHORT, "holding"),
        ("13:5 8:4 6:6 / 18:1 13:6 6:8", SHORT, "passing"),
        ("start", LONG, "opening"),
        ("24:5 18:5 10:5 / 24:9 14:6", LONG, "middle"),
        ("24:5 21:1 20:1 19:1 18:1 10:6 / 24:9 14:6", LONG, "priming"),
        ("6:9 3:6 / 12:9 3:6", LONG, "bearoff"),
    ],
)
def test_kinds_of_positions(text, rules, kind):
    assert kinds_of(parse_position(text, rules)[None], rules) == (kind,)


def test_a_set_is_made_and_used_from_the_command_line(bot_files, tmp_path, capsys):
    file = tmp_path / "hyper.jsonl.gz"
    argv = ["decisions", "hyper", "--bot", str(bot_files["hyper"]), "--out", str(file), "--games", "36", "--quiet"]
    assert main([*argv, "--count", "5", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["decisions"], made["finished"], sum(made["classes"].values())) == (5, True, 5)
    assert main([*argv, "--count", "6"]) == 0
    assert capsys.readouterr().out.startswith(f"{file}: 6 decisions, ")

    assert main(["benchmark", "pips", "random", "--rules", "hyper", "--decisions", str(file)]) == 0
    told = capsys.readouterr().out
    assert "differences of PR are not touched" in told
    assert "of which noise" in told
    assert main(["benchmark", "pips", "--rules", "hyper", "--decisions", str(file), "--json"]) == 0
    noise = json.loads(capsys.readouterr().out)["label_noise"]
    assert noise["standard_error"] > 0
    assert 0 < noise["pr_about"] < noise["pr_at_most"]
    assert noise["pr_about_error"] > 0
    assert noise["pr_at_most_error"] > 0
    assert set(noise["pr_about_by_class"]) == set(made["classes"])
    assert main(["benchmark", "pips", "--decisions", str(file)]) == 2
    assert "was made for rules 'hyper', not for 'short'" in capsys.readouterr().err
    assert main([*argv, "--count", "7", "--seed", "2"]) == 2
    assert "was made with recipe" in capsys.readouterr().err


def test_shipped_sets_are_found_by_name_and_by_rules(tmp_path, monkeypatch, exact_set):
    package = tmp_path / "nardy_ai"
    folder = package / "decisions"
    folder.mkdir(parents=True)
    for name in ("short", "hyper"):
        (folder / f"{name}.jsonl.gz").write_bytes(exact_set.read_bytes())
    monkeypatch.setattr(resources, "_PACKAGE", package)

    assert resources.decisions_names() == ["hyper", "short"]
    assert find_decisions_file("hyper", SHORT) == folder / "hyper.jsonl.gz"
    assert find_decisions_file("own", find_rules("short-match")) == folder / "short.jsonl.gz"
    assert find_decisions_file("some.jsonl", SHORT) == Path("some.jsonl")
    with pytest.raises(NardyError, match="no set of decisions is shipped for rules 'long'"):
        find_decisions_file("own", LONG)
    with pytest.raises(NardyError, match=r"unknown set of decisions 'shrot' \(known: own, hyper, short, or"):
        find_decisions_file("shrot", SHORT)

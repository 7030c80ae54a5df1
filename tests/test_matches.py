"""Matches and money games with the cube: null controls, games worked out by hand, and whole matches one by one."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from networks import network_of

from nardy_ai import outcomes as oc
from nardy_ai.boards import OFF, finished
from nardy_ai.cube.decision import BeaverWorth, verdict
from nardy_ai.cube.equity import CubeModel, CubeWorth
from nardy_ai.cube.state import CubeState, CubeStates, first_state
from nardy_ai.cube_policies import BEAVER, DROP, PASS, PLAY_ON, RACCOON, TAKE, actions_of, cube_player
from nardy_ai.cubeful import cubeful_of, decisions_of
from nardy_ai.dice import dice_at, opening_at, opening_dice_at, opening_ties_at, starters_at
from nardy_ai.errors import BotError, CubeError, NardyError
from nardy_ai.evaluators.baselines import HeuristicBot, PipsBot, RandomBot
from nardy_ai.movegen.generate import afterstates, best_of_segments
from nardy_ai.play import matches
from nardy_ai.play.arena import play_pairs
from nardy_ai.play.matches import MatchReport, play_matches, play_matches_of_all
from nardy_ai.rules import MatchOptions, RuleSet, find_rules, start_boards

HYPER = find_rules("hyper")
NET = network_of(HYPER)
MONEY = MatchOptions(
    cube="geometric", jacoby=True, beavers=True, opening_tie="auto_double", auto_doubles=1, next_game_first="winner"
)
MATCH = MatchOptions(cube="geometric", crawford=True, length=3)
THREE_ACES = RuleSet("three aces", {1: 3}, checkers=3)
"""The starter bears two off; then only a double, which bears all off, saves the other side. Nobody loses mars."""


def players_of(bots, options: MatchOptions, policies=(None, None)):
    state = first_state(options, cap=64)
    return [cube_player(bot, policy, state) for bot, policy in zip(bots, policies, strict=True)]


def hyper_report(options: MatchOptions = MATCH, **changes) -> MatchReport:
    arguments = {"pairs": 4, "seed": 3} | changes
    return play_matches(*players_of((NET, NET), options, ("cubeful", "fixed")), HYPER, options, **arguments)


@dataclass
class Scripted:
    """Doubles always or never, answers and replies as it is told, and remembers the states in which it was asked."""

    rules: RuleSet
    double: bool = False
    answer: int = TAKE
    reply: int = PLAY_ON
    last: int = PLAY_ON
    name: str = "scripted"
    asked: list[CubeStates] = field(default_factory=list)

    def play_values(self, boards, after, states):
        return after.boards[:, 1, OFF].astype(np.float32)

    def doubles(self, boards, states):
        self.asked.append(states)
        return np.full(len(boards), self.double, dtype=bool)

    def answers(self, boards, states):
        return np.full(len(boards), self.answer)

    def replies(self, boards, states):
        return np.full(len(boards), self.reply)

    def last_answers(self, boards, states):
        return np.full(len(boards), self.last)


# Null controls


@pytest.mark.parametrize("policy", ["cubeful", "fixed", "fixed:0.6:0.3", "never"])
@pytest.mark.parametrize("options", [MONEY, MATCH], ids=["money", "match"])
def test_bot_against_itself_scores_exactly_0(options: MatchOptions, policy: str):
    one, other = players_of((NET, NET), options, (policy, policy))

    report = play_matches(one, other, HYPER, options, pairs=2, seed=9, games=1 if options.length else 3)

    assert (report.points, report.points_error, report.games_won, report.cut) == (0, 0, 0.5, 0)
    assert report.matches_won == (0.5 if options.length else None)
    assert report.matches_error == (0 if options.length else None)
    assert report.first_cube == report.second_cube


@pytest.mark.parametrize("options", [MONEY, MATCH], ids=["money", "match"])
def test_exchanged_bots_negate_the_points_exactly(options: MatchOptions):
    players = players_of((NET, HeuristicBot(HYPER)), options)

    there = play_matches(*players, HYPER, options, pairs=3, seed=5)
    back = play_matches(*players[::-1], HYPER, options, pairs=3, seed=5)

    assert there.points == -back.points != 0
    assert there.points_error == back.points_error
    assert (there.first_cube, there.second_cube) == (back.second_cube, back.first_cube)
    assert there.games_won == pytest.approx(1 - back.games_won)
    if options.length:
        assert there.matches_won == pytest.approx(1 - back.matches_won)


def test_single_games_that_nobody_doubles_are_those_of_the_arena():
    options = MatchOptions(cube="geometric")
    bots = RandomBot(HYPER, seed=4), HeuristicBot(HYPER)

    found = play_matches(*players_of(bots, options), HYPER, options, pairs=30, seed=11)
    wanted = play_pairs(*bots, HYPER, options, pairs=30, seed=11)

    assert (found.points, found.games_won, found.plies) == (wanted.points, wanted.first_won, wanted.plies)
    assert found.points_error == pytest.approx(wanted.standard_error)


# However the work is cut


@pytest.mark.parametrize("workers", [2, 100])
def test_workers_change_nothing(workers: int):
    assert hyper_report(workers=workers) == hyper_report(workers=1)


def test_lanes_change_nothing(monkeypatch: pytest.MonkeyPatch):
    wanted = hyper_report()
    monkeypatch.setattr(matches, "_LANES", 3)

    assert hyper_report() == wanted


def test_stopped_contest_is_of_the_pairs_begun(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matches, "_LANES", 3)
    ended: list[int] = []

    report = hyper_report(stop=lambda: True, progress=ended.append)

    assert report == hyper_report(pairs=2)
    assert sum(ended) == 4


# Games by hand


def wins_at_once(pairs: int, seed: int) -> np.ndarray:
    """Whether the side that did not start throws a double in its first turn, `bool[P]`."""
    dice = dice_at(seed, np.arange(pairs), np.ones(pairs))
    return dice[:, 0] == dice[:, 1]


def by_hand(first: Scripted, second: Scripted, options=None, **changes) -> MatchReport:
    options = options or MatchOptions(cube="geometric", beavers=True)
    return play_matches(first, second, THREE_ACES, options, **({"pairs": 40, "seed": 2} | changes))


def test_points_of_doubles_that_are_taken():
    """The first bot doubles whenever it may. If it starts, that is at ply 2, when it has won; else at ply 1."""
    saved = wins_at_once(40, 2).mean()
    report = by_hand(Scripted(THREE_ACES, double=True), Scripted(THREE_ACES))

    assert report.points == pytest.approx((-saved + 2 * (1 - saved) + 2 * saved - 2 * (1 - saved)) / 2)
    assert report.first_cube.doubles == pytest.approx((2 - saved) / 2)
    assert (report.first_cube.taken, report.first_cube.beavered, report.second_cube.doubles) == (1, 0, 0)


def test_double_that_is_passed_wins_the_stake_as_it_was():
    saved = wins_at_once(40, 2).mean()
    report = by_hand(Scripted(THREE_ACES, double=True), Scripted(THREE_ACES, answer=PASS))

    assert report.points == pytest.approx((-saved + (1 - saved) + 1) / 2)
    assert (report.first_cube.taken, report.stake) == (0, 1)


def test_beaver_raises_the_stake_twice():
    saved = wins_at_once(40, 2).mean()
    report = by_hand(Scripted(THREE_ACES, double=True), Scripted(THREE_ACES, answer=BEAVER))

    assert report.points == pytest.approx((-saved + 4 * (1 - saved) + 4 * saved - 4 * (1 - saved)) / 2)
    assert report.first_cube.beavered == 1


def test_dropping_a_beaver_costs_the_doubled_stake():
    saved = wins_at_once(40, 2).mean()
    report = by_hand(Scripted(THREE_ACES, double=True, reply=DROP), Scripted(THREE_ACES, answer=BEAVER))

    assert report.points == pytest.approx((-saved - 2 * (1 - saved) - 2) / 2)


RACCOONS = MatchOptions(cube="geometric", beavers=True, raccoons=True)


def test_raccoon_raises_the_stake_three_times():
    saved = wins_at_once(40, 2).mean()
    report = by_hand(Scripted(THREE_ACES, double=True, reply=RACCOON), Scripted(THREE_ACES, answer=BEAVER), RACCOONS)

    assert report.points == pytest.approx((-saved + 8 * (1 - saved) + 8 * saved - 8 * (1 - saved)) / 2)
    assert report.first_cube.raccooned == 1


def test_dropping_a_raccoon_costs_the_stake_of_the_beaver():
    saved = wins_at_once(40, 2).mean()
    report = by_hand(
        Scripted(THREE_ACES, double=True, reply=RACCOON), Scripted(THREE_ACES, answer=BEAVER, last=DROP), RACCOONS
    )

    assert report.points == pytest.approx((-saved + 4 * (1 - saved) + 4) / 2)


def test_raccoon_counts_as_playing_on_where_there_is_none():
    doubler = Scripted(THREE_ACES, double=True, reply=RACCOON)

    found = by_hand(doubler, Scripted(THREE_ACES, answer=BEAVER), pairs=3)

    assert found == by_hand(Scripted(THREE_ACES, double=True), Scripted(THREE_ACES, answer=BEAVER), pairs=3)
    assert found.first_cube.raccooned == 0


def test_a_wrong_beaver_is_raccooned():
    """34 of 36 rolls win the doubler the game: the other side gives the beavered stake up rather than lose more."""
    state = CubeState(beavers=True, raccoons=True)
    boards, states = start_boards(HYPER, 1), CubeStates.of(state)
    boards[0] = 0
    boards[0, 0, [0, 1, 3]] = 1
    boards[0, 1, [0, 1]] = 2, 1
    player = cube_player(NET, "cubeful", state)
    assert player.replies(boards, states).tolist() == [RACCOON]
    assert player.last_answers(boards, states).tolist() == [DROP]


@pytest.mark.parametrize(
    "options", [MatchOptions(cube="geometric"), MatchOptions(cube="geometric", beavers=True, length=99)]
)
def test_beaver_counts_as_a_take_where_there_is_none(options: MatchOptions):
    doubler = Scripted(THREE_ACES, double=True)

    found = by_hand(doubler, Scripted(THREE_ACES, answer=BEAVER), options, pairs=3)

    assert found == by_hand(doubler, Scripted(THREE_ACES), options, pairs=3)
    assert found.first_cube.beavered == 0


def test_no_double_goes_beyond_the_cap():
    saved = wins_at_once(40, 2).mean()
    both = [Scripted(THREE_ACES, double=True) for _ in "12"]

    stakes = {cap: by_hand(*both, cap=cap).stake for cap in (1, 2, 3, 4, 1024)}

    assert (stakes[1], stakes[2], stakes[3]) == (1, 2, 2)
    assert stakes[4] == stakes[1024] == pytest.approx(2 * saved + 4 * (1 - saved))
    assert (by_hand(*both).points, by_hand(*both).points_error) == (0, 0)


def test_stakes_of_dave_grow_by_one():
    saved = wins_at_once(40, 2).mean()
    options = MatchOptions(cube="arithmetic")
    both = [Scripted(THREE_ACES, double=True) for _ in "12"]

    assert by_hand(*both, options).stake == pytest.approx(2 * saved + 3 * (1 - saved))


def test_jacoby_counts_once_until_the_cube_is_turned():
    """One checker each on the ace point: the starter wins mars at once, before anybody could double."""
    rules = RuleSet("one ace", {1: 1}, checkers=1)
    player = Scripted(rules)
    points = []
    for jacoby in (False, True):
        tally = matches._play_range(
            matches._Contest(
                (player, player), rules, MatchOptions(cube="geometric", jacoby=jacoby), 1,
                CubeModel(rules, jacoby=jacoby), 1,
            ),
            range(2), None, None,
        )  # fmt: skip
        points.append(tally.points.tolist())

    assert points == [[2, -2, 2, -2], [1, -1, 1, -1]]


@pytest.mark.parametrize("opening", ["use_dice", "reroll", "two_dice_each"])
def test_ties_and_starters_are_those_of_one_opening(opening: str):
    openings = [opening_at(4, game, opening) for game in range(200)]

    assert opening_ties_at(4, np.arange(200), opening).tolist() == [len(one.throws) - 1 for one in openings]
    assert starters_at(4, np.arange(200)).tolist() == [one.starter for one in openings]


def test_automatic_doubles_raise_the_first_stake_as_often_as_allowed():
    ties = opening_ties_at(2, np.arange(200), "use_dice")
    assert ties.max() >= 2
    for most in (1, 2):
        options = MatchOptions(cube="geometric", opening_tie="auto_double", auto_doubles=most)
        report = by_hand(Scripted(THREE_ACES), Scripted(THREE_ACES), options, pairs=200)
        assert report.stake == pytest.approx((2 ** np.minimum(ties, most)).mean())


def test_winner_who_starts_throws_no_opening_dice():
    """So nothing doubles by itself in the games that follow, and the second game of a pair has dice of its own."""
    options = MatchOptions(
        cube="geometric", opening_tie="auto_double", auto_doubles=3, next_game_first="winner", opening="use_dice"
    )
    first = 2 ** np.minimum(opening_ties_at(2, np.arange(200), "use_dice"), 3)

    report = by_hand(Scripted(THREE_ACES), Scripted(THREE_ACES), options, pairs=200, games=2)

    assert report.games == 800
    assert report.stake == pytest.approx((first.mean() + 1) / 2)


def test_nobody_is_asked_in_the_crawford_game():
    options = replace(MATCH, length=2)
    seen = []
    for crawford in (True, False):
        player = Scripted(THREE_ACES, double=False)
        by_hand(player, player, replace(options, crawford=crawford))
        states = CubeStates.join(player.asked)
        assert not states.crawford.any()
        seen.append(len(states))
        assert (states.to_go.min(axis=1) == 1).any() == (not crawford)
    assert seen[0] < seen[1]


def test_cube_is_back_after_the_crawford_game():
    """To 3 points, single games only: 2-0 is the Crawford game, at 2-1 the trailer may double again."""
    player = Scripted(THREE_ACES)
    by_hand(player, player, MATCH)
    scores = {tuple(row) for row in CubeStates.join(player.asked).to_go.tolist()}
    assert (2, 1) in scores and (3, 1) not in scores  # noqa: PT018


def test_match_without_doubles_is_a_race_for_points():
    """The first to two points, by the dice of its games; it takes two or three."""
    player = Scripted(THREE_ACES)
    options = MatchOptions(cube="geometric", length=2, next_game_first="winner")
    report = by_hand(player, Scripted(THREE_ACES, double=False), options, pairs=30)
    games = []
    for pair in range(30):
        scores, starter, n = [0, 0], 0, 0
        while max(scores) < 2:
            game = pair + (n << 32)
            first = dice_at(2, game, 0) if n else opening_dice_at(2, game, "use_dice")
            second = dice_at(2, game, 1)
            doubled = [dice[0][0] == dice[0][1] for dice in (first, second)]
            winner = starter if doubled[0] or not doubled[1] else 1 - starter
            scores[winner] += 1
            starter, n = winner, n + 1
        games.append(n)

    assert report.games == 2 * sum(games)
    assert report.plies > 1
    assert (report.points, report.matches_won) == (0, 0.5)


# Whole matches one by one


def plain_session(judges, swap: int, pair: int, options: MatchOptions, seed: int) -> tuple[int, int, list[int]]:
    """Points of the first bot, games, and scores by seat, by the functions that answer one question at a time."""
    scores, points, games, starter, crawford_played = [0, 0], 0, 0, 0, False
    while max(scores) < options.length:
        number = pair + (games << 32)
        ties = len(opening_at(seed, number, options.opening).throws) - 1
        mine = first_state(options, scores=tuple(scores), crawford_played=crawford_played, ties=ties, cap=64)
        crawford_played |= mine.crawford
        board, seat, ply = start_boards(HYPER)[0], starter, 0
        stake, owner, winner, ways = mine.value, None, None, 1
        while winner is None:
            away = tuple(options.length - scores[s] for s in (seat, 1 - seat))
            state = replace(mine, value=stake, owner=None if owner is None else owner ^ seat, away=away)
            if ply:
                if decisions_of(judges[seat ^ swap], board[None], [state])[0].verdict.double:
                    answer = decisions_of(judges[1 - seat ^ swap], board[None], [state])[0].verdict.answer
                    if answer == "pass":
                        winner = seat
                        break
                    stake, owner = 2 * stake, 1 - seat
                    state = replace(state, value=stake, owner=1)
            dice = dice_at(seed, number, ply) if ply else opening_dice_at(seed, number, options.opening)
            after = afterstates(board, dice, HYPER)
            values = judges[seat ^ swap].play_values(board[None], after, CubeStates.of(state))
            board = after.boards[best_of_segments(values, after.offsets)[0]]
            if finished(board[None])[0]:
                winner, ways = seat, int(oc.points_won(board[:1], HYPER)[0])
            seat, ply = 1 - seat, ply + 1
        scores[winner] += stake * ways
        points += stake * ways if winner == swap else -stake * ways
        games += 1
        starter = int(starters_at(seed, pair + (games << 32))[0])
    return points, games, scores


def test_matches_are_those_played_one_by_one():
    bots = NET, network_of(HYPER, seed=2)
    players = players_of(bots, MATCH)

    report = play_matches(*players, HYPER, MATCH, pairs=2, seed=6, cap=64)

    judges = [cubeful_of(bot, first_state(MATCH, cap=64)) for bot in bots]
    plain = [plain_session(judges, swap, pair, MATCH, 6) for pair in (0, 1) for swap in (0, 1)]
    games = sum(one[1] for one in plain)
    won = [scores[swap] > scores[1 - swap] for (_, _, scores), swap in zip(plain, (0, 1) * 2, strict=True)]
    assert report.games == games
    assert report.points == pytest.approx(sum(one[0] for one in plain) / games)
    assert report.matches_won == np.mean(won)
    assert report.first_cube.doubles + report.second_cube.doubles > 0


# What is right


@pytest.mark.parametrize(("beavers", "raccoons"), [(False, False), (True, False), (True, True)])
def test_actions_are_those_of_the_verdict(beavers: bool, raccoons: bool):
    rng = np.random.default_rng(1)
    n = 3000
    grid = np.round(rng.uniform(-2.5, 2.5, (3, n)) * 2) / 2  # many equal ones
    no_double, taken, beaver = grid
    beaver = np.where((taken < 0) & beavers, beaver, np.nan)
    taken[rng.random(n) < 0.1] = np.nan
    beaver[np.isnan(taken)] = np.nan
    raccoon = np.where(np.isnan(beaver) | ~raccoons, np.nan, np.round(rng.uniform(-4, 6, n)))
    states = CubeStates.of(CubeState(), n)
    best = np.full(n, np.nan)

    worths = CubeWorth(no_double, taken, np.ones(n), beaver, raccoon, best)
    found = actions_of(worths, CubeModel(HYPER, beavers=beavers, raccoons=raccoons), states)

    words = {"pass": PASS, "take": TAKE, "beaver": BEAVER}
    for i in range(n):
        higher = () if np.isnan(raccoon[i]) else (float(raccoon[i]), 4.0)
        worth = None if np.isnan(beaver[i]) else BeaverWorth(float(beaver[i]), -2.0, *higher)
        take = None if np.isnan(taken[i]) else float(taken[i])
        wanted = verdict(float(no_double[i]), take, 1.0, beaver=worth)
        assert found.double[i] == wanted.double
        if wanted.answer is not None:
            assert found.answer[i] == words[wanted.answer]


def test_fixed_policy_goes_by_the_chance_to_win():
    boards = start_boards(HYPER, 1)
    states = CubeStates.of(CubeState())
    chance = float(NET.outcomes(boards)[0, :3].sum())
    for shift in (-0.01, 0.01):
        policy = f"fixed:{chance + shift:.4f}:{1 - chance + shift:.4f}"
        player = cube_player(NET, policy, CubeState())
        assert player.doubles(boards, states)[0] == (shift < 0)
        assert player.answers(boards, states)[0] == (TAKE if shift < 0 else PASS)


@pytest.mark.parametrize("policy", ["fxed", "fixed:2:0.1", "fixed:1.0.0:0", "fixed:0.5", ""])
def test_unknown_policies_are_refused(policy: str):
    with pytest.raises(BotError, match="cube policy"):
        cube_player(NET, policy, CubeState())


def test_bot_that_knows_no_chances_never_doubles():
    assert cube_player(PipsBot(HYPER), None, CubeState()).name == "pips"
    with pytest.raises(BotError, match="knows no chances"):
        cube_player(PipsBot(HYPER), "fixed", CubeState())


# The rest


def test_game_that_never_ends_ends_its_session(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matches, "MOST_PLIES", 1)
    player = Scripted(HYPER)

    report = play_matches(player, player, HYPER, MATCH, pairs=3, seed=1)

    assert (report.cut, report.games, report.points, report.matches_won, report.matches_error) == (6, 6, 0, 0.5, 0)


def test_every_two_bots_meet_on_the_same_dice():
    players = [Scripted(THREE_ACES, double=double, answer=answer) for double, answer in ((0, 1), (1, 1), (1, 0))]
    options = MatchOptions(cube="geometric", length=3)

    found = play_matches_of_all(players, THREE_ACES, options, pairs=9, seed=3)

    assert found == [by_hand(players[i], players[j], options, pairs=9, seed=3) for i, j in ((0, 1), (0, 2), (1, 2))]


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"pairs": 0}, NardyError), ({"workers": 0}, NardyError), ({"games": 2}, NardyError), ({"cap": 0}, CubeError)],
)
def test_what_cannot_be_played_is_refused(changes: dict, error: type):
    with pytest.raises(error, match="expected"):
        hyper_report(**changes)

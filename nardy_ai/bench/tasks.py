"""The tasks of `nardy bench`, by name. Each checks how much work there is before it times it."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_ai.bench.contest import Contestant, Disagreement, Figure, Table, pinned, take_turns, usable_cores
from nardy_ai.bench.peers import GnubgNn, Peer
from nardy_ai.bench.positions import Pairs, reached_boards, shared_boards, with_all_rolls
from nardy_ai.bench.rollout_peers import ROLLING, Answer, after_31
from nardy_ai.boards import Boards, swap_sides
from nardy_ai.bots import best_afterstates, load_bot
from nardy_ai.errors import BotError
from nardy_ai.evaluators.baselines import RandomBot
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.evaluators.with_bearoff import Trained, bare
from nardy_ai.movegen.generate import Afterstates, afterstates
from nardy_ai.play.lockstep import new_lanes
from nardy_ai.play.selfplay import play_window
from nardy_ai.pruned import Pruned
from nardy_ai.rollouts import THROWS, rollout
from nardy_ai.rules import RuleSet, find_rules, match_options_of, same_game
from nardy_ai.search import Lookahead

SEED = 20261129
BATCH = 1024
"""(position, roll) pairs in one call of ours."""

DECISIONS = 4096
"""In one piece of the task: short enough that nobody meets a position again within a dozen runs, caches or not."""

LANES, PLIES, AGES = 512, 8, 16
"""Self-play: games side by side, plies a run, and how many ages games have at first, so that they end evenly."""

PEER_GAMES = 100
AHEAD_PLIES, AHEAD_DECISIONS, AHEAD_PIECES = 2, 16, 200
"""Look-ahead: plies, decisions a run, and how many runs are at hand before the first comes again."""

ROLLOUT_GAMES, PEER_ROLLOUT_GAMES = 1296, 324
"""Fewer of the others, who take a minute or more for 1,296. Time to an error does not depend on it."""

WANTED_ERROR = 0.005
NETS_DIFFER, SURELY = 0.03, 3.0
"""Points by which rollouts of two good nets may differ in truth, and standard errors beyond that."""

RECIPE = "short"
LEARNING_WARM, LEARNING_SECONDS = 20.0, 30.0
"""Seconds of learning before the figures begin (first games are long), and that figures are taken of."""

LEARNING_LIMIT = 600.0
"""Seconds after which a training that shows no progress is given up."""


class Work(NamedTuple):
    """(position, roll) pairs, distinct afterstates, and pairs without a legal move."""

    pairs: int
    afterstates: int
    passes: int

    def __str__(self) -> str:
        return (
            f"{self.pairs:,} (position, roll) pairs, {self.afterstates:,} distinct afterstates, {self.passes:,} passes"
        )


SHARED_WORK = Work(52_500, 997_254, 5_936)
"""Of the shared positions with all rolls, as gnubg-nn, bgsage and a slow reference count them."""


@dataclass(frozen=True)
class Setting:
    """What is measured. bots: by the names that they were given. peers: for what short nardy they know."""

    rounds: int
    bots: tuple[Trained, ...]
    peers: tuple[Peer, ...]


def movegen(setting: Setting) -> Iterator[Table]:
    """Distinct afterstates a second: beside the peers, other rules, two threads."""
    short = find_rules("short")
    pairs = with_all_rolls(shared_boards(), "shared positions")
    forms = [(peer, peer.items(pairs)) for peer in setting.peers]
    counts = _our_counts(pairs, short)
    _check_counts(counts, {peer.name: [peer.count(item) for item in items] for peer, items in forms})
    who = ", ".join(["nardy_ai", *(peer.name for peer in setting.peers)])
    work = f"{SHARED_WORK}, counted pair by pair by {who}"
    ours = Contestant(f"nardy_ai, batches of {BATCH}", _generator(pairs, short), SHARED_WORK.afterstates)
    with pinned(1):
        theirs = [Contestant(peer.name, _peer_generator(peer, items)) for peer, items in forms]
        yield Table(
            "movegen",
            "distinct afterstates, short nardy, one core",
            "afterstates/s",
            take_turns([*theirs, ours], rounds=setting.rounds),
            work,
        )
        others = [_in_other_rules(name, setting.bots) for name in ("caucasian", "long")]
        contestants = [replace(ours, name="short, shared positions"), *(contestant for contestant, _ in others)]
        yield Table(
            "movegen",
            "distinct afterstates by rule set, nardy_ai, one core",
            "afterstates/s",
            take_turns(contestants, rounds=setting.rounds),
            "; ".join(text for _, text in others),
        )
    if usable_cores() < 2:
        yield Table("movegen", "two threads over one", "afterstates/s", (), "not measured: this process has one core")
        return
    halves = [_generator(Pairs(pairs.boards[i::2], pairs.dice[i::2], pairs.about), short) for i in (0, 1)]
    with pinned(2), ThreadPoolExecutor(2) as pool:
        both = Contestant("two threads", lambda k: sum(pool.map(lambda run: run(k), halves)), ours.units, 2)
        figures = take_turns([replace(ours, name="one thread"), both], rounds=setting.rounds)
    yield Table("movegen", "two threads over one, short nardy, two cores", "afterstates/s", figures, work)


def decisions(setting: Setting) -> Iterator[Table]:
    """Whole decisions a second, generate, evaluate and choose: beside the peers, and in games that they do not know.

    A bot with a pruning net decides with and without it.
    """
    for bot in setting.bots:
        pairs, peers = _pairs_for(bot, setting.peers)
        pieces = [piece for piece in pairs.shuffled(seed=SEED).pieces(DECISIONS) if len(piece) == DECISIONS]
        theirs = [Contestant(peer.name, _peer_decider(peer, pieces), DECISIONS) for peer in peers]
        ours = [
            Contestant(f"nardy_ai {player.name}, batches of {BATCH}", _decider(player, pieces), DECISIONS)
            for player in _players(bot)
        ]
        with pinned(1):
            figures = take_turns([*theirs, *ours], rounds=setting.rounds)
        work = f"{DECISIONS:,} decisions a run, each run others of {len(pieces) * DECISIONS:,}; {pairs.about}"
        yield Table("decisions", f"whole decisions, {bot.rules.name}, one core", "decisions/s", figures, work)


def lookahead(setting: Setting) -> Iterator[Table]:
    """Whole decisions a second two plies ahead, as GNU Backgammon counts: beside gnubg-nn, whose filter is its own."""
    for bot in setting.bots:
        pairs, peers = _pairs_for(bot, setting.peers)
        pieces = pairs.shuffled(seed=SEED).pieces(AHEAD_DECISIONS)[:AHEAD_PIECES]
        ahead = [Lookahead(player, AHEAD_PLIES) for player in _players(bot)]
        theirs = [
            Contestant(f"{peer.name}, {AHEAD_PLIES}-ply", _peer_ahead(peer, pieces), AHEAD_DECISIONS)
            for peer in peers
            if isinstance(peer, GnubgNn)
        ]
        ours = [Contestant(f"nardy_ai {player.name}", _decider(player, pieces), AHEAD_DECISIONS) for player in ahead]
        with pinned(1):
            figures = take_turns([*theirs, *ours], rounds=setting.rounds)
        work = f"{AHEAD_DECISIONS} decisions a run, each run others of {len(pieces) * AHEAD_DECISIONS:,}; {pairs.about}"
        title = (
            f"whole decisions at {AHEAD_PLIES} plies, move filter {ahead[0].filter.name}, {bot.rules.name}, one core"
        )
        yield Table("lookahead", title, "decisions/s", figures, work)


def rollouts(setting: Setting) -> Iterator[Table]:
    """Time to a standard error of `WANTED_ERROR`, beside gnubg and bgsage; two workers over one."""
    bot = next((bot for bot in setting.bots if _peers_know(bot.rules)), None)
    if bot is None:
        raise BotError("no bot of short nardy is at hand; name one with --bot")
    board = after_31()
    others = [name for name, (_, installed) in ROLLING.items() if setting.peers and installed()]
    answers: dict[str, list[Answer]] = {name: [] for name in [*others, f"nardy_ai {bot.name}"]}
    with pinned(1):
        rollout(bot, board, games=THROWS)  # compiled code, tables, the sieve
        for seed in range(1, setting.rounds + 1):
            for name in others:
                answers[name].append(ROLLING[name][0](PEER_ROLLOUT_GAMES, seed))
            answers[f"nardy_ai {bot.name}"].append(_our_rollout(bot, board, seed))
    equities = {name: _weighted(found) for name, found in answers.items()}
    _check_agreement(equities)
    texts = [f"{name} {equity:+.4f} +- {error:.4f}" for name, (equity, error) in equities.items()]
    work = (
        f"after 31: 8/5 6/5, {ROLLOUT_GAMES} games of nardy_ai, {PEER_ROLLOUT_GAMES} of others, each with seeds 1 to"
        f" {setting.rounds}; seconds x (standard error / {WANTED_ERROR})^2; equities agree: {', '.join(texts)}"
    )
    figures = tuple(
        Figure(
            name,
            tuple(one.seconds * (one.standard_error / WANTED_ERROR) ** 2 for one in found),
            tuple(one.cpu_seconds / one.seconds for one in found),
        )
        for name, found in answers.items()
    )
    yield Table("rollouts", f"time to a standard error of {WANTED_ERROR}, cubeless, one core", "s", figures, work)
    if usable_cores() < 2:
        yield Table("rollouts", "two workers over one", "games/s", (), "not measured: this process has one core")
        return
    contestants = [
        Contestant(f"{workers} worker{'s' * (workers > 1)}", _roller(bot, board, workers), ROLLOUT_GAMES, workers)
        for workers in (1, 2)
    ]
    with pinned(2):
        figures = take_turns(contestants, rounds=setting.rounds)
    yield Table("rollouts", "two workers over one, two cores", "games/s", figures, f"{ROLLOUT_GAMES} games a run")


def selfplay(setting: Setting) -> Iterator[Table]:
    """Games of self-play a second without learning, cubeless."""
    for bot in setting.bots:
        theirs = []
        if _peers_know(bot.rules):
            theirs = [
                Contestant(f"{peer.name}, a loop in Python", _peer_player(peer), PEER_GAMES)
                for peer in setting.peers
                if isinstance(peer, GnubgNn)
            ]
        player = _Player(bot)
        ours = Contestant(f"nardy_ai {bot.name}, {LANES} games side by side", player.run)
        with pinned(1):
            figures = take_turns([*theirs, ours], rounds=setting.rounds)
        work = f"games of nardy_ai last {player.plies / max(player.games, 1):.1f} plies on average"
        yield Table("selfplay", f"self-play without learning, {bot.rules.name}, one core", "games/s", figures, work)


def learning(setting: Setting) -> Iterator[Table]:
    """Games of self-play a second with learning, by the recipe of the shipped short bot, and the memory it takes."""
    with tempfile.TemporaryDirectory(prefix="nardy-bench-") as folder, pinned(2):
        rows, peak = _train(Path(folder), LEARNING_WARM + LEARNING_SECONDS)
    rows = [row for row in rows if row["seconds"] > LEARNING_WARM]
    games, seconds = rows[-1]["games"], rows[-1]["seconds"]
    work = (
        f"stretches of some hundred games in the {LEARNING_SECONDS:.0f} s of learning after the first"
        f" {LEARNING_WARM:.0f} s; {games:,.0f} games in {seconds:.0f} s in all"
    )
    title = f"self-play with learning, recipe {Path(RECIPE).stem}, two cores"
    for unit, key in (
        ("games/s", "games_per_second"),
        ("positions/s", "positions_per_second"),
        ("evaluations/s", "evaluations_per_second"),
    ):
        yield Table("learning", title, unit, (Figure("nardy_ai", tuple(row[key] for row in rows)),), work)
    yield Table("learning", f"peak memory of nardy train {RECIPE}", "MiB", (Figure("nardy_ai", (peak,)),), work)


def memory(setting: Setting) -> Iterator[Table]:
    """Peak memory and time of a query in a process of its own."""
    bot = next((bot for bot in setting.bots if _peers_know(bot.rules)), setting.bots[0])
    command = ["evaluate", "start", "--dice", "31", "--bot", bot.name]
    peaks, times = [], []
    with tempfile.TemporaryDirectory(prefix="nardy-bench-") as folder:
        file = Path(folder) / "peak"
        for k in range(setting.rounds + 1):
            start = time.perf_counter()
            done = subprocess.run(  # noqa: S603 - this package itself
                [*_child(file), *command], check=False, capture_output=True, text=True
            )
            seconds = time.perf_counter() - start
            if done.returncode:
                raise BotError(f"nardy {' '.join(command)} failed: {done.stderr.strip()}")
            if k:  # the first fills the caches
                peaks.append(_peak_mib(file))
                times.append(seconds)
    text, work = f"nardy {' '.join(command)}", f"{setting.rounds} fresh processes, caches warm"
    yield Table("memory", f"peak memory of {text}", "MiB", (Figure("nardy_ai", tuple(peaks)),), work)
    yield Table("memory", f"time of {text}, start to end", "s", (Figure("nardy_ai", tuple(times)),), work)


def evaluation(setting: Setting) -> Iterator[Table]:
    """Evaluations a second of a bot alone, each board for itself and from its parent's sum."""
    for bot in setting.bots:
        pairs, _ = _pairs_for(bot, ())
        pieces = [
            (piece.boards, afterstates(piece.boards, piece.dice, bot.rules))
            for piece in pairs.shuffled(seed=SEED).pieces(BATCH)[:20]
        ]
        for boards, after in pieces:
            if not np.array_equal(bot.evaluate_plays(boards, after)[0], bot.outcomes(after.boards)):
                raise Disagreement(f"{bot.name} values boards otherwise from their parents' sums than by themselves")

        plain, incremental = _evaluators(bot, pieces)
        contestants = [Contestant("each board for itself", plain), Contestant("from the parent's sum", incremental)]
        with pinned(1):
            figures = take_turns(contestants, rounds=setting.rounds)
        total = sum(len(after.boards) for _, after in pieces)
        work = f"{total:,} afterstates of {pairs.about}; both ways agree to the last bit"
        yield Table("evaluation", f"evaluations, {bot.name}, one core", "evaluations/s", figures, work)


TASKS: Mapping[str, Callable[[Setting], Iterator[Table]]] = {
    task.__name__: task for task in (movegen, decisions, lookahead, rollouts, selfplay, learning, memory, evaluation)
}
NEED_A_BOT = frozenset({"decisions", "lookahead", "rollouts", "selfplay", "memory", "evaluation"})


def _our_counts(pairs: Pairs, rules: RuleSet) -> NDArray[np.int64]:
    """Distinct results of each pair, `int64[N]`; 0 for a pass."""
    after = afterstates(pairs.boards, pairs.dice, rules)
    unmoved = (after.boards[after.offsets[:-1]] == swap_sides(pairs.boards)).all(axis=(1, 2))
    return np.where(unmoved, 0, after.counts())


def _check_counts(ours: NDArray[np.int64], theirs: Mapping[str, list[int]]) -> None:
    """Everybody counts the known number of results, pair by pair. Raises Disagreement."""
    found = Work(len(ours), int(ours.sum()), int((ours == 0).sum()))
    if found != SHARED_WORK:
        raise Disagreement(f"nardy_ai makes {found} of the shared positions; expected {SHARED_WORK}")
    for name, counts in theirs.items():
        differing = np.flatnonzero(ours != np.array(counts))
        if len(differing):
            i = int(differing[0])
            raise Disagreement(f"{name} differs on {len(differing)} pairs; pair {i}: {counts[i]}, nardy_ai {ours[i]}")


def _in_other_rules(name: str, bots: Sequence[Trained]) -> tuple[Contestant, str]:
    """Our generator on positions that a bot reaches under other rules, and what work that is."""
    rules = find_rules(name)
    bot = _player_of(rules, bots)
    pairs = with_all_rolls(reached_boards(bot, seed=SEED), f"{bot.name}'s own games")
    counts = _our_counts(pairs, rules)
    work = Work(len(counts), int(counts.sum()), int((counts == 0).sum()))
    # A pass is an afterstate too in what the kernel writes, but none in the known counts of the shared positions.
    contestant = Contestant(f"{name}, {pairs.about}", _generator(pairs, rules), work.afterstates)
    return contestant, f"{name}: {work}"


def _player_of(rules: RuleSet, bots: Sequence[Trained]) -> Bot:
    """The first bot that can play these rules; chance if none can."""
    for bot in bots:
        try:
            return load_bot(bot.name, rules)
        except BotError:
            continue
    return RandomBot(rules, seed=SEED)


def _peers_know(rules: RuleSet) -> bool:
    return same_game(rules, find_rules("short"))


def _pairs_for(bot: Trained, peers: Sequence[Peer]) -> tuple[Pairs, Sequence[Peer]]:
    """What a bot is asked, and who else is: the shared positions where peers know the game, else its own games."""
    if _peers_know(bot.rules):
        return with_all_rolls(shared_boards(), "shared positions"), peers
    return with_all_rolls(reached_boards(bot, seed=SEED), f"positions of {bot.name}'s own games"), ()


def _generator(pairs: Pairs, rules: RuleSet) -> Callable[[int], int]:
    """All pairs in batches. Counts what the known counts count: results, a pass as none."""
    pieces = pairs.pieces(BATCH)
    passes = int((_our_counts(pairs, rules) == 0).sum())

    def run(k: int) -> int:
        return sum(len(afterstates(piece.boards, piece.dice, rules).boards) for piece in pieces) - passes

    return run


def _peer_generator(peer: Peer, items: Sequence[tuple[object, int, int]]) -> Callable[[int], int]:
    """All pairs one by one. Whatever way it lists passes, the work is the same."""
    listed = peer.generate(items)

    def run(k: int) -> int:
        if peer.generate(items) != listed:
            raise Disagreement(f"{peer.name} lists other results than before")
        return SHARED_WORK.afterstates

    return run


def _players(bot: Trained) -> tuple[Trained | Pruned, ...]:
    """The bot, and if it has a pruning net what it is with it."""
    return (bot,) if bare(bot).pruning is None else (bot, Pruned(bot))


def _decider(bot: Bot, pieces: Sequence[Pairs]) -> Callable[[int], int]:
    batches = [piece.pieces(BATCH) for piece in pieces]

    def run(k: int) -> int:
        return sum(len(best_afterstates(bot, some.boards, some.dice)[0]) for some in batches[k % len(batches)])

    return run


def _peer_decider(peer: Peer, pieces: Sequence[Pairs]) -> Callable[[int], int]:
    forms = [peer.items(piece) for piece in pieces]
    return lambda k: peer.decide(forms[k % len(forms)])


def _peer_ahead(peer: GnubgNn, pieces: Sequence[Pairs]) -> Callable[[int], int]:
    forms = [peer.items(piece) for piece in pieces]
    return lambda k: peer.decide_ahead(forms[k % len(forms)], AHEAD_PLIES)


def _our_rollout(bot: Bot, board: Boards, seed: int) -> Answer:
    began, cpu = time.perf_counter(), time.process_time()
    report = rollout(bot, board, games=ROLLOUT_GAMES, seed=seed)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    return Answer(report.equity, report.standard_error, seconds, cpu_seconds)


def _roller(bot: Bot, board: Boards, workers: int) -> Callable[[int], int]:
    """The k-th rollout, with a seed of its own; how many games that was."""
    return lambda k: rollout(bot, board, games=ROLLOUT_GAMES, seed=k, workers=workers).games


def _weighted(answers: Sequence[Answer]) -> tuple[float, float]:
    """The mean equity of rollouts of one engine, and its standard error."""
    errors = [one.standard_error for one in answers]
    return sum(one.equity for one in answers) / len(answers), sum(error**2 for error in errors) ** 0.5 / len(answers)


def _check_agreement(equities: Mapping[str, tuple[float, float]]) -> None:
    """Nobody is further from nardy_ai than chance and the difference of the nets can lead. Raises Disagreement."""
    name, (ours, our_error) = list(equities.items())[-1]
    for other, (equity, error) in equities.items():
        if abs(equity - ours) > NETS_DIFFER + SURELY * (error**2 + our_error**2) ** 0.5:
            raise Disagreement(
                f"{other} finds {equity:+.4f} +- {error:.4f} after 31: 8/5 6/5, {name} {ours:+.4f} +- {our_error:.4f}"
            )


def _peer_player(peer: GnubgNn) -> Callable[[int], int]:
    return lambda k: peer.play_games(PEER_GAMES, seed=SEED + k)


def _evaluators(
    bot: Trained, pieces: Sequence[tuple[Boards, Afterstates]]
) -> tuple[Callable[[int], int], Callable[[int], int]]:
    """The k-th piece evaluated without its parents and with them."""

    def plain(k: int) -> int:
        return len(bot.outcomes(pieces[k % len(pieces)][1].boards))

    def incremental(k: int) -> int:
        return len(bot.evaluate_plays(*pieces[k % len(pieces)])[0])

    return plain, incremental


class _Player:
    """Self-play of a bot that goes on where it stopped. games, plies: how many so far, since games end evenly."""

    def __init__(self, bot: Trained) -> None:
        self._bot = bare(bot)  # as in training
        self._opening = match_options_of(bot.rules).opening
        self._lanes = new_lanes(bot.rules, LANES)
        self.games = self.plies = 0
        self._scatter()

    def run(self, k: int) -> int:
        """One window; how many games ended in it."""
        ended = self._play()
        self.games += ended
        self.plies += PLIES * LANES
        return ended

    def _scatter(self) -> None:
        """Leave every lane at one of `AGES` ages: games that begin together go on ending together for long."""
        boards, games, plies = self._lanes.boards.copy(), self._lanes.games.copy(), self._lanes.plies.copy()
        for age in range(1, AGES):
            self._play()
            boards[age::AGES] = self._lanes.boards[age::AGES]
            games[age::AGES] = self._lanes.games[age::AGES]
            plies[age::AGES] = self._lanes.plies[age::AGES]
        self._lanes = replace(self._lanes, boards=boards, games=games, plies=plies)

    def _play(self) -> int:
        self._lanes, window = play_window(
            self._bot, self._lanes, plies=PLIES, seed=SEED, opening=self._opening, wild_share=0.0, wild_plies=1
        )
        return int(window.ended.sum())


def _child(file: Path) -> list[str]:
    """The start of a command line that runs `nardy` in a process of its own and writes its peak memory to `file`."""
    return [sys.executable, "-m", "nardy_ai.bench.child", str(file)]


def _peak_mib(file: Path) -> float:
    return int(file.read_text(encoding="utf-8")) / 1024


def _train(folder: Path, seconds: float) -> tuple[list[dict[str, float]], float]:
    """Train by the recipe until it has learned for `seconds`; its metrics by stretch, and its peak memory in MiB."""
    peak, run, log = folder / "peak", folder / "run", folder / "log"
    options = ["--quiet", "--self_check", "false", "--benchmark.every", "1.0"]
    with log.open("w") as output:
        process = subprocess.Popen(  # noqa: S603 - this package itself
            [*_child(peak), "train", RECIPE, "--run", str(run), *options], stdout=output, stderr=output
        )
    try:
        rows = _metrics_until(run / "metrics.jsonl", seconds, process)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LEARNING_LIMIT)
    finally:
        process.kill()
        process.wait()
    if not rows or rows[-1]["seconds"] < seconds:
        raise BotError(f"nardy train {RECIPE} ended early: {log.read_text(encoding='utf-8').strip()}")
    return rows, _peak_mib(peak)


def _metrics_until(path: Path, seconds: float, process: subprocess.Popen[bytes]) -> list[dict[str, float]]:
    """The rows of the metrics once they reach `seconds` of learning, or the process has ended or shows nothing new."""
    rows: list[dict[str, float]] = []
    last_news = time.monotonic()
    while process.poll() is None and time.monotonic() - last_news < LEARNING_LIMIT:
        time.sleep(0.2)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        found = [row for row in found if "games_per_second" in row]
        if len(found) > len(rows):
            last_news = time.monotonic()
        rows = found
        if rows and rows[-1]["seconds"] >= seconds:
            break
    return rows

"""Names to bots, and the one call that plays: baselines, shipped bots, files, outside engines, each with look-ahead.

The tables and the names cost nothing; numpy and the compiled kernels are imported when a bot is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from nardy_ai.errors import BotError
from nardy_ai.resources import CHECKPOINT_SUFFIX, checkpoint_names, find_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from nardy_ai.boards import Boards
    from nardy_ai.cube.state import CubeState
    from nardy_ai.evaluators.network import Network
    from nardy_ai.evaluators.protocol import Bot
    from nardy_ai.evaluators.with_bearoff import Trained
    from nardy_ai.rules import RuleSet

__all__ = [
    "BASELINES",
    "PEERS",
    "SOLVED",
    "Entry",
    "best_afterstates",
    "default_bot",
    "is_trained",
    "load_bot",
    "split_at",
]


@dataclass(frozen=True)
class Entry:
    """A bot that needs no file. module: the outside package it needs, if any."""

    summary: str
    make: Callable[[RuleSet], Bot]
    module: str | None = None


def _random(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.baselines import RandomBot

    return RandomBot(rules)


def _pips(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.baselines import PipsBot

    return PipsBot(rules)


def _heuristic(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.baselines import HeuristicBot

    return HeuristicBot(rules)


def _pubeval(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.baselines import PubevalBot

    return PubevalBot(rules)


def _gnubg(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.peers import GnubgBot

    return GnubgBot(rules)


def _gnubg_ahead(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.peers import GnubgBot

    return GnubgBot(rules, plies=1)


def _sage(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.peers import SageBot

    return SageBot(rules)


def _exact(rules: RuleSet) -> Bot:
    from nardy_ai.evaluators.exact_bot import ExactBot
    from nardy_ai.exact.solve import load_solution

    return ExactBot(load_solution(rules))


BASELINES = {
    "random": Entry("any distinct result of the roll, all equally likely; every rule set", _random),
    "pips": Entry("the greedy race: fewest own pips against his; every rule set", _pips),
    "heuristic": Entry("a beginner's book by hand-made weights; every rule set", _heuristic),
    "pubeval": Entry("Tesauro's public linear evaluator; fifteen checkers on a contrary board", _pubeval),
}
SOLVED = {
    "exact": Entry("plays without an error, by the solved game; three checkers a side or fewer, such as hyper", _exact),
}
PEERS = {
    "gnubg:0": Entry("GNU Backgammon's bare net (its 0-ply); short nardy", _gnubg, "gnubg_nn"),
    "gnubg:1": Entry("GNU Backgammon one ply ahead (its 1-ply), slow; short nardy", _gnubg_ahead, "gnubg_nn"),
    "sage:1": Entry("Sage's bare net (its 1-ply); short nardy", _sage, "bgsage"),
}


_DEPTH = re.compile(r"(\d+)-?ply(?::(.*))?")
"""What may stand behind the @ of a name: plies, and perhaps a move filter; or this:"""

_BARE, _PRUNED = "bare", "pruned"


def is_trained(name: str | Path) -> bool:
    """Whether `name` means a trained bot, shipped or in a file: one that has rules of its own."""
    text, behind = split_at(str(name))
    while behind is not None:
        text, behind = split_at(text)
    return text not in BASELINES | SOLVED | PEERS


def load_bot(name: str | Path, rules: RuleSet | str | None = None) -> Bot:
    """A bot by name: a baseline, the exact one, a shipped bot, an outside engine, or the file of a trained one.

    rules: what it shall play. None: a trained bot plays what it was trained for, others play `short`. A trained bot
    plays other rules too if the boards have the same form and no result is new to it. It looks races at home up in the
    bearoff tables; `NAME@bare` is the network alone, and `NAME@pruned` judges only
    the plays that its pruning net lets pass. `NAME@2ply` looks two plies ahead with an evaluator,
    `NAME@2ply:wide` with that move filter. Raises BotError, RulesError.
    """
    from nardy_ai.rules import find_rules

    text, behind = split_at(str(name))
    wanted = find_rules(rules) if isinstance(rules, str) else rules
    if behind == _BARE:
        return _bare(str(name), load_bot(text, wanted))
    if behind == _PRUNED:
        return _pruned(str(name), load_bot(text, wanted))
    if behind is not None:
        return _lookahead(str(name), load_bot(text, wanted), behind)
    entry = (BASELINES | SOLVED | PEERS).get(text)
    if entry is not None:
        return entry.make(wanted or find_rules("short"))
    network = _read_network(text)
    if wanted is not None and wanted != network.rules:
        _check_playable(network, wanted)
        network = replace(network, rules=wanted)
    from nardy_ai.evaluators.with_bearoff import WithBearoff
    from nardy_ai.exact.bearoff import is_covered

    return WithBearoff(network) if is_covered(network.rules) else network


def default_bot(rules: RuleSet) -> str:
    """The name of the shipped bot for a rule set: the one trained for rules that differ least. Raises BotError."""
    from nardy_ai.rules import presets, same_game

    shipped = checkpoint_names()
    for name in shipped:
        if name in presets() and same_game(presets()[name].rules, rules):
            return name
    differences = {}
    for name in shipped:
        network = _read_network(name)
        try:
            _check_playable(network, rules)
        except BotError:
            continue
        trained = network.rules
        differences[name] = sum(getattr(trained, entry.name) != getattr(rules, entry.name) for entry in fields(rules))
    if not differences:
        baselines = ", ".join(_baselines_of(rules))
        raise BotError(
            f"no bot is shipped that can play {rules.name!r}; train one (nardy train --help) and name its file, such as"
            f" runs/mine/bot{CHECKPOINT_SUFFIX}; to rank plays alone, name a baseline: {baselines}"
        )
    return min(differences, key=lambda name: (differences[name], name))


def _baselines_of(rules: RuleSet) -> list[str]:
    """The names of the baselines that can play `rules`."""
    able = []
    for name, entry in BASELINES.items():
        try:
            entry.make(rules)
        except BotError:
            continue
        able.append(name)
    return able


def best_afterstates(
    bot: Bot, boards: ArrayLike, dice: ArrayLike, *, state: CubeState | None = None
) -> tuple[Boards, NDArray[np.float32]]:
    """The play that `bot` chooses on each board.

    boards: `int8[N, 2, 26]`, row 0 on roll, not finished. dice: `uint8[N, 2]`, or one roll for all. Returns the boards
    after the plays, swapped (row 0 rolls next), `int8[N, 2, 26]`, and what each is worth to the side that played,
    `float32[N]`, in points if the bot is an evaluator. state: the cube and the score as the side that plays sees them;
    the worth is then cubeful, per cube, and the bot must be an evaluator. None: both count cubeless points.
    Raises BoardError, NotationError, BotError, CubeError.
    """
    import numpy as np

    from nardy_ai.movegen.generate import afterstates, best_of_segments

    after = afterstates(boards, dice, bot.rules)
    parents = np.ascontiguousarray(np.asarray(boards, dtype=np.int8).reshape(-1, 2, 26))
    if state is None:
        values = bot.play_values(parents, after)
    else:
        from nardy_ai.cube.state import CubeStates
        from nardy_ai.cubeful import cubeful_of

        values = cubeful_of(bot, state).play_values(parents, after, CubeStates.of(state, len(parents)))
    chosen = best_of_segments(values, after.offsets)
    return after.boards[chosen], values[chosen]


def split_at(name: str) -> tuple[str, str | None]:
    """The name and what stands behind its last @; None if there is none or it belongs to a path."""
    front, at, behind = name.rpartition("@")
    if not at or not front or "/" in behind or "\\" in behind or behind.endswith(CHECKPOINT_SUFFIX):
        return name, None
    return front, behind


def _bare(name: str, bot: Bot) -> Network:
    """The network in `bot`, called `name`. Raises BotError if there is none."""
    from nardy_ai.evaluators.with_bearoff import bare

    network = bare(_trained(name, bot, "@bare is the network of one"))
    network.name = name
    return network


def _pruned(name: str, bot: Bot) -> Bot:
    """`bot` with its pruning net, called `name`. Raises BotError if it has none."""
    from nardy_ai.pruned import Pruned

    pruned = Pruned(_trained(name, bot, "@pruned judges fewer plays of one"))
    pruned.name = name
    return pruned


def _trained(name: str, bot: Bot, use: str) -> Trained:
    """`bot`, if it is a trained one. Raises BotError, saying what it would be of use for, otherwise."""
    from nardy_ai.evaluators.with_bearoff import Trained

    if not isinstance(bot, Trained):
        raise BotError(f"bot {name!r}: {bot.name!r} is no trained bot; {use}")
    return bot


def _lookahead(name: str, bot: Bot, depth: str) -> Bot:
    """`bot` with the look-ahead that `depth` names, such as `2ply` or `2ply:wide`. Raises BotError."""
    from nardy_ai.search import DEFAULT_FILTER, Lookahead

    found = _DEPTH.fullmatch(depth)
    if found is None:
        digits = re.match(r"\d+", depth)
        meant = f"; did you mean '{name[: -len(depth)]}{digits[0]}ply'?" if digits else ""
        raise BotError(
            f"bot {name!r}: {depth!r} is no depth{meant} (expected such as @2ply, @2ply:wide, @bare or @pruned)"
        )
    try:
        lookahead = Lookahead(bot, int(found[1]), filter=DEFAULT_FILTER if found[2] is None else found[2])
    except BotError as error:
        raise BotError(f"bot {name!r}: {error}") from error
    lookahead.name = name
    return lookahead


def _read_network(name: str) -> Network:
    """The network of a shipped bot or of a file, called by the name it was asked for. Raises BotError."""
    path = find_checkpoint(name)
    if path is None:
        if not (name.endswith(CHECKPOINT_SUFFIX) or "/" in name or "\\" in name):
            known = [*checkpoint_names(), *BASELINES, *SOLVED, *PEERS]
            close = get_close_matches(name.casefold(), known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise BotError(f"unknown bot {name!r}{hint} (known: {', '.join(known)}, or a {CHECKPOINT_SUFFIX} file)")
        path = Path(name)
    from nardy_ai.bot_file import read_bot

    network = read_bot(path).network
    network.name = name
    return network


def _check_playable(network: Network, rules: RuleSet) -> None:
    """Refuse boards of another form, and rules by which a game can end as the network never saw one end."""
    from nardy_ai.outcomes import class_count, class_names, ever_possible

    trained = network.rules
    if (rules.board, rules.checkers) != (trained.board, trained.checkers):
        raise BotError(
            f"bot {network.name!r} was trained for {trained.name!r} ({trained.board} board, {trained.checkers}"
            f" checkers) and cannot play {rules.name!r} ({rules.board} board, {rules.checkers} checkers)"
        )
    known = {name for name, possible in zip(class_names(trained), ever_possible(trained), strict=True) if possible}
    new = [name for name, possible in zip(class_names(rules), ever_possible(rules), strict=True) if possible]
    new = [name for name in new if name not in known]
    if new or class_count(trained) != class_count(rules):
        raise BotError(
            f"bot {network.name!r} was trained for {trained.name!r} (scoring {trained.scoring}) and cannot play"
            f" {rules.name!r} (scoring {rules.scoring}), where games end in ways it does not know"
        )

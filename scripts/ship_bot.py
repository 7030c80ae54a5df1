"""Put the bot of a finished training or fit into checkpoints/ with a card of what it is and how strong, measured now.

    python scripts/ship_bot.py runs/short/fit-3 --name short --against random pubeval --pairs 10000 --decisions FILE

What made it comes from the bot's file; points a game from the arena (same dice for both, seats swapped, cubeless), the
last opponent in the card's first line; PR from decisions files, which are named and not copied; errors against the
exact solution where `--exact` asks for them; all with the bear-off tables, as commands play it. An opponent may have
pairs of its own: `--against pubeval gnubg:0*100000`. `--luck BOT` takes luck off all points, as `nardy benchmark` does.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nardy_ai import outcomes as oc
from nardy_ai.boards import Boards
from nardy_ai.bot_file import BotFile, read_bot, save_bot
from nardy_ai.bots import load_bot
from nardy_ai.evaluators.exact_bot import ExactBot
from nardy_ai.evaluators.network import Network
from nardy_ai.evaluators.protocol import Bot
from nardy_ai.exact.solve import load_solution
from nardy_ai.files import replace_text
from nardy_ai.play.against_exact import judge, sample_games
from nardy_ai.play.arena import ArenaReport, play_pairs
from nardy_ai.play.decisions import read_decisions, score_decisions
from nardy_ai.play.luck import luck_by
from nardy_ai.play.sampling import sampled_positions
from nardy_ai.resources import find_checkpoint
from nardy_ai.rules import find_match_options
from nardy_ai.train.loop import BOT_FILE

EXACT_GAMES = 4000
CHECKPOINTS = Path(__file__).resolve().parent.parent / "checkpoints"
DECISION_SETS = CHECKPOINTS.parent / "decisions"


def main() -> None:
    """Measure, then write the bot and its card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--name", help="default: the folder's name")
    parser.add_argument("--against", nargs="+", required=True)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--decisions", type=Path, nargs="+", default=[])
    parser.add_argument("--luck", help="the bot that measures luck")
    parser.add_argument("--exact", action="store_true", help="measure against the exact solution")
    args = parser.parse_args()
    name = args.name or args.run.name
    trained = read_bot(args.run / BOT_FILE)
    path = CHECKPOINTS / f"{name}.safetensors"
    save_bot(path, trained.network, golden=golden_of(trained.network), card=trained.card)
    bot = read_bot(path)
    rules, played = bot.network.rules, load_bot(path)
    luck = luck_by(load_bot(args.luck, rules), rules) if args.luck else None
    reports = []
    for entry in args.against:
        other, _, pairs = entry.partition("*")
        report = play_pairs(
            played,
            load_bot(other, rules),
            rules,
            find_match_options(rules.name),
            pairs=int(pairs or args.pairs),
            seed=args.seed,
            luck=luck,
            workers=2,
        )
        print(f"{other}: {report.points:+.4f} +- {report.standard_error:.4f}", flush=True)
        reports.append(report)
    text = card_text(name, bot, reports)
    for file in args.decisions:
        text += decisions_text(name, played, file)
    if args.exact:
        text += exact_text(name, played)
    replace_text(path.with_suffix(".md"), text)


def golden_of(network: Network) -> Boards:
    """Positions of one game by the network: contact and race."""
    match = find_match_options(network.rules.name)
    boards = sampled_positions(
        network, match, range(1), seed=1, wild_share=0.0, wild_plies=1, awkward_share=0.0, near_share=0.0
    )
    return boards[:: max(1, len(boards) // 16)][:16]


CARD = """# {name}

Rules `{rules}`; {best.points:+.4f} +- {best.standard_error:.4f} points a game against `{best.second}`.

## Trained

{descent}
- inputs `{features}`, phases `{phases}`, {units} shared units ({activation}), {hidden} a phase, {classes} outcomes
{pruning}

## Measured

As it is played without look-ahead, on {date}: checkers only, cubeless money points; the same dice for both
sides with seats swapped, standard error over pairs.{luck}

| against | points a game | standard error | games won | pairs | seed |
| --- | --- | --- | --- | --- | --- |
{rows}

{commands}
"""

DECISIONS = """
On the {total.decisions:,} decisions of `{file}` ({source}; never trained on):
PR {total.pr:.2f} (standard error {total.standard_error:.2f}), best listed play chosen
in {best_share:.1f} %, rms error of equity {rms_error:.4f}. By class: {classes}.

    nardy benchmark {name} --decisions {file}
"""


def descent(name: str, card: Any) -> str:
    """How a bot came to be, the last stage first."""
    minutes = f"{card['seconds'] / 60:.0f} minutes"
    where = f"on a machine that other work shared: {card['machine']}; the learner on {card['device']}"
    if "games" in card:
        seed = card["config"]["seed"]
        return (
            f"- `nardy train {name}` with `configs/{name}.toml`, nardy_ai {card['version']}, seed {seed}"
            f"\n- {card['games']:,} games, {minutes} of playing and learning, {where}"
        )
    lines = [f"- `nardy recipe {name}` with `configs/recipes/{name}.toml`, nardy_ai {card['version']}"]
    while "labels" in card:
        teachers = ", ".join(f"`{source['teacher']}` ({source['shards']} shards)" for source in card["sources"])
        lines.append(
            f"- fitted to {card['labels']:,} labels by {teachers}: {card['steps']:,} steps of"
            f" {card['config']['optim']['batch']:,}, {card['seconds'] / 60:.0f} minutes, {where}"
        )
        if "start" not in card:
            return "\n".join([*lines, "- which began by chance"])
        lines.append(f"- which began with `{card['start']['name']}`:")
        card = card["start"]["card"]
    if "games" in card:
        lines.append(f"- {card['games']:,} games of self-play, {card['seconds'] / 60:.0f} minutes")
    return "\n".join(lines)


def pruning_text(card: Any) -> str:
    """The line about the bot's pruning net."""
    if "pruning" not in card:
        return "- no pruning net"
    made = card["pruning"]
    return (
        f"- a pruning net of {made['units']} units, learned in {made['seconds'] / 60:.0f} minutes from"
        f" {made['games']:,} games of the bot: {made['steps']:,} steps"
    )


EXACT = """
Against the exact solution, {report.positions:,} positions of {report.games:,} games as best play reaches them: rms
error of equity {report.rms_error:.4f}, worst {report.worst_error:.3f}; lost in a decision {report.mean_loss:.5f} +-
{report.standard_error:.5f} points.

    nardy benchmark {name} --exact --pairs {pairs}
"""


def card_text(name: str, bot: BotFile, reports: list[ArenaReport]) -> str:
    """The card: one line that says it all, then how the bot was trained and how it was measured."""
    weights = bot.network.weights
    rows = [
        f"| `{one.second}` | {one.points:+.4f} | {one.standard_error:.4f} | {one.first_won:.1%} | {one.pairs:,} |"
        f" {one.seed} |"
        for one in reports
    ]
    under = f" --rules {bot.network.rules.name}"
    commands = [
        f"    nardy benchmark {name} {one.second}{under if find_checkpoint(one.second) else ''} --pairs {one.pairs}"
        f" --seed {one.seed}{f' --luck {one.luck}' if one.luck else ''}"
        for one in reports
    ]
    return CARD.format(
        name=name,
        rules=bot.network.rules.name,
        best=reports[-1],
        descent=descent(name, bot.card),
        phases=bot.network.phases.name,
        activation=bot.network.activation,
        features=bot.network.features.name,
        units=weights.first.shape[1],
        hidden=" and ".join(str(n) for n in (weights.second.shape[1], weights.middle.shape[1]) if n),
        classes=oc.class_count(bot.network.rules),
        pruning=pruning_text(bot.card),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        luck=f" Luck is taken off, as `{reports[0].luck}` sees it." if reports[0].luck else "",
        rows="\n".join(rows),
        commands="\n".join(commands),
    )


def decisions_text(name: str, bot: Bot, file: Path) -> str:
    """What the bot loses on decisions with known answers."""
    score = score_decisions(bot, read_decisions(file, bot.rules))
    source = "human matches, labelled by GNU Backgammon's 4-ply search, its\nnumbering"
    if file.resolve().parent == DECISION_SETS:
        source = "made by `nardy decisions`"
    return DECISIONS.format(
        source=source,
        name=name,
        file=file.name,
        total=score.total,
        best_share=100 * score.total.best_share,
        rms_error=score.rms_error,
        classes=", ".join(f"{kind} {part.pr:.2f}" for kind, part in score.by_class.items()),
    )


def exact_text(name: str, bot: Bot) -> str:
    """How far the bot is from the exact solution, over positions as right play reaches them."""
    rules = bot.rules
    exact = ExactBot(load_solution(rules))
    sample = sample_games(exact, find_match_options(rules.name), games=EXACT_GAMES, seed=1)
    return EXACT.format(name=name, report=judge(bot, exact, sample), pairs=EXACT_GAMES // 2)


if __name__ == "__main__":
    main()

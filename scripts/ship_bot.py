"""Put the bot of a finished run into checkpoints/ with a card of what it is and how strong, measured now.

    python scripts/ship_bot.py runs/short --against random pubeval heuristic --pairs 10000 --seed 7 --decisions FILE

Games, time, machine and config come from the bot's file; points a game from the arena (same dice for both, seats
swapped, cubeless); PR from a decisions file, if one is given, which is named and not copied.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nardy_ai import outcomes as oc
from nardy_ai.bot_file import BotFile, read_bot, save_bot
from nardy_ai.bots import load_bot
from nardy_ai.files import replace_text
from nardy_ai.play.arena import ArenaReport, play_pairs
from nardy_ai.play.decisions import read_decisions, score_decisions
from nardy_ai.rules import find_match_options
from nardy_ai.train.loop import BOT_FILE, Run

CHECKPOINTS = Path(__file__).parent.parent / "checkpoints"


def main() -> None:
    """Measure, then write the bot and its card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--name", help="default: the folder's name")
    parser.add_argument("--against", nargs="+", required=True)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--decisions", type=Path)
    args = parser.parse_args()
    name = args.name or args.run.name
    run = Run.resumed(args.run)
    if run.progress < 1:
        raise SystemExit(f"{args.run} is not finished: {run.games:,} of {run.config.games:,} games")
    trained = read_bot(args.run / BOT_FILE)
    path = CHECKPOINTS / f"{name}.safetensors"
    save_bot(path, trained.network, golden=run.lanes.boards[:16], card=trained.card)
    bot = read_bot(path)
    rules = bot.network.rules
    reports = []
    for other in args.against:
        report = play_pairs(
            bot.network,
            load_bot(other, rules),
            rules,
            find_match_options(rules.name),
            pairs=args.pairs,
            seed=args.seed,
            workers=2,
        )
        print(f"{other}: {report.points:+.4f} +- {report.standard_error:.4f}", flush=True)
        reports.append(report)
    replace_text(path.with_suffix(".md"), card_text(name, bot, reports, args.decisions))


CARD = """# {name}

Rules `{rules}`, {games:,} games; {best.points:+.3f} +- {best.standard_error:.3f} points a game against `{best.second}`.

## Trained

- `nardy train {name}` with `configs/{name}.toml`, nardy_ai {version}, seed {seed}
- {games:,} games, {minutes:.0f} minutes of playing and learning, on a machine that other work shared: {machine}; the
  learner on {device}
- inputs `{features}`, {units} shared units, {hidden} units for each of contact and race, {classes} outcome classes

## Measured

The bare network on {date}: checkers only, cubeless money points; the same dice for both sides with seats swapped,
standard error over pairs.

| against | points a game | standard error | games won | pairs | seed |
| --- | --- | --- | --- | --- | --- |
{rows}

{commands}
"""

DECISIONS = """
On the {total.decisions:,} decisions of `{file}` (human matches, labelled by GNU Backgammon's 4-ply search, its
numbering; never trained on): PR {total.pr:.2f} (standard error {total.standard_error:.2f}), best listed play chosen
in {best_share:.1f} %, rms error of equity {rms_error:.4f}. By class: {classes}.

    nardy benchmark {name} --decisions {file}
"""


def card_text(name: str, bot: BotFile, reports: list[ArenaReport], decisions: Path | None) -> str:
    """The card: one line that says it all, then how the bot was trained and how it was measured."""
    card: Any = bot.card
    weights = bot.network.weights
    rows = [
        f"| `{one.second}` | {one.points:+.4f} | {one.standard_error:.4f} | {one.first_won:.1%} | {one.pairs:,} |"
        f" {one.seed} |"
        for one in reports
    ]
    commands = [f"    nardy benchmark {name} {one.second} --pairs {one.pairs} --seed {one.seed}" for one in reports]
    text = CARD.format(
        name=name,
        rules=bot.network.rules.name,
        best=reports[-1],
        games=card["games"],
        minutes=card["seconds"] / 60,
        version=card["version"],
        seed=card["config"]["seed"],
        machine=card["machine"],
        device=card["device"],
        features=bot.network.features.name,
        units=weights.first.shape[1],
        hidden=weights.second.shape[1],
        classes=oc.class_count(bot.network.rules),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        rows="\n".join(rows),
        commands="\n".join(commands),
    )
    if decisions is not None:
        score = score_decisions(bot.network, read_decisions(decisions, bot.network.rules))
        text += DECISIONS.format(
            name=name,
            file=decisions.name,
            total=score.total,
            best_share=100 * score.total.best_share,
            rms_error=score.rms_error,
            classes=", ".join(f"{kind} {part.pr:.2f}" for kind, part in score.by_class.items()),
        )
    return text


if __name__ == "__main__":
    main()

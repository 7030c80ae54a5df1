"""`nardy label TEACHER --out FOLDER`: positions of self-play and what a teacher says of them, to fit a network to."""

import argparse
from dataclasses import fields
from pathlib import Path

from tqdm import tqdm

from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, print_json, say
from nardy_ai.cli.stopping import INTERRUPTED, Watch, interruptible
from nardy_ai.errors import ConfigError
from nardy_ai.train.labels import LabelRecipe, find_teacher, lead_over_student, make_labels

SHARDS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("teacher", metavar="TEACHER", help="who labels, such as short@1ply; its bare net plays")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the shards go; what is there stays")
    parser.add_argument("--rules", metavar="RULES", help="rule set (default: the teacher's own)")
    parser.add_argument(
        "--shards", type=int, default=SHARDS, metavar="N", help="how many shards there shall be (default: %(default)s)"
    )
    recipe = parser.add_argument_group("how positions are found")
    for entry in fields(LabelRecipe):
        recipe.add_argument(
            f"--{entry.name.replace('_', '-')}", type=type(entry.default), default=entry.default, metavar="VALUE",
            help=f"{entry.metadata['help']} (default: {str(entry.default) or 'none'})",
        )  # fmt: skip
    parser.add_argument(
        "--decisions", metavar="NAME", help="first check on held-out decisions (a shipped set, `own` for that of the"
        " rules, or a file) that the teacher is better than its student by three standard errors of PR"
    )  # fmt: skip
    parser.add_argument("--student", metavar="BOT", help="who shall learn (default: the teacher's bare net)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="threads (default: %(default)s)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Fill the folder, or what of it is missing."""
    if args.shards < 1 or args.workers < 1:
        raise ConfigError(f"--shards {args.shards}, --workers {args.workers}: expected 1 or more")
    recipe = LabelRecipe(**{entry.name: getattr(args, entry.name) for entry in fields(LabelRecipe)})
    teacher, match = find_teacher(args.teacher, args.rules or "")
    if args.student is not None and args.decisions is None:
        raise ConfigError("--student is who the teacher is compared with on --decisions; give both")
    with compile_notice():
        lead = None
        if args.decisions is not None:
            apart = lead_over_student(teacher, args.student or "", args.decisions)
            lead = {"pr": apart.pr, "standard_error": apart.standard_error}
            say(f"{teacher.name} is better than its student by {-apart.pr:.2f} +- {apart.standard_error:.2f} PR")
        positions, watch = 0, Watch()
        with interruptible(watch), tqdm(total=args.shards, unit=" shards", disable=args.quiet) as bar:

            def progress(shard: int, found: int) -> None:
                nonlocal positions
                positions += found
                bar.set_postfix_str(f"{positions:,} positions", refresh=False)
                bar.update()

            done = make_labels(
                Path(args.out), teacher, match, recipe, shards=args.shards, workers=args.workers, progress=progress,
                stop=lambda: watch.stop,
            )  # fmt: skip
    finished = done == args.shards
    if not finished:
        say(f"stopped; the same command goes on after {done} of {args.shards} shards")
    if args.json:
        print_json({"folder": args.out, "teacher": teacher.name, "rules": teacher.rules.name, "shards": done,
                    "positions": positions, "finished": finished, "lead": lead})  # fmt: skip
    else:
        print(
            f"{args.out}: {done} shards, {positions:,} positions labelled by {teacher.name}, rules {teacher.rules.name}"
        )
    return 0 if finished else INTERRUPTED

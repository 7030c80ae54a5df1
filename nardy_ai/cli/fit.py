"""`nardy fit --labels FOLDER --run FOLDER`: fit a network to labels; `nardy fit --resume FOLDER` takes it up."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.config_options import add_config_options, given_options
from nardy_ai.cli.output import add_json_argument, print_json, say
from nardy_ai.cli.stopping import INTERRUPTED, interruptible
from nardy_ai.errors import ConfigError
from nardy_ai.train.config import FitConfig, read_fit_config

if TYPE_CHECKING:
    from nardy_ai.train.fit import Fit, FitWatcher


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; every option of a config is a flag of its own."""
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="a TOML file with the options below")
    parser.add_argument("--run", metavar="FOLDER", help="where the fit's files go")
    parser.add_argument("--resume", metavar="FOLDER", help="take up the fit in FOLDER where its last state left it")
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="where the network learns (default: auto)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_json_argument(parser)
    add_config_options(parser, FitConfig())


def run(args: argparse.Namespace) -> int:
    """Fit to the end, or until interrupted; the state is saved either way."""
    overrides = given_options(args, FitConfig)
    if args.resume is not None:
        if args.config is not None or args.run is not None or overrides:
            raise ConfigError("--resume takes up a fit as it was; it goes with --device, --quiet and --json only")
        from nardy_ai.train.fit import Fit

        fit = Fit.resumed(Path(args.resume), device=args.device)
        say(f"resuming {args.resume} at {fit.steps:,} of {fit.config.steps:,} steps")
    else:
        if args.run is None:
            raise ConfigError("no folder given for the fit's files; name one with --run")
        config = read_fit_config(None if args.config is None else Path(args.config), overrides)
        if not config.labels:
            raise ConfigError("no labels given; name their folders with --labels, such as --labels labels/one")
        from nardy_ai.train.fit import Fit

        fit = Fit.begun(Path(args.run), config, device=args.device)
    from nardy_ai.train.fit import FitWatcher
    from nardy_ai.train.loop import BOT_FILE

    say(f"rules {fit.labels.rules.name}, {len(fit.learned):,} labels to learn, {len(fit.held_out):,} held out")
    watcher = FitWatcher()
    with compile_notice(), interruptible(watcher), _progress(fit, watcher, quiet=args.quiet) as latest:
        finished = fit.train(watcher)
    bot = fit.folder / BOT_FILE
    if not finished:
        say(f"stopped, resume with: nardy fit --resume {fit.folder}")
    if args.json:
        print_json({"bot": str(bot), "finished": finished, "steps": fit.steps, "seconds": fit.seconds, **latest})
    else:
        print(bot)
    return 0 if finished else INTERRUPTED


@contextmanager
def _progress(fit: "Fit", watcher: "FitWatcher", *, quiet: bool) -> Iterator[dict[str, Any]]:
    """A bar with the latest error on labels held out; yields the latest metrics."""
    latest: dict[str, Any] = {}
    with tqdm(
        total=fit.config.steps, initial=fit.steps, unit=" steps", disable=quiet, dynamic_ncols=True, file=sys.stderr
    ) as bar:

        def on_metrics(metrics: Mapping[str, Any]) -> None:
            latest.update(loss=metrics["loss"], held_out_rms=metrics["held_out_rms"])
            if metrics["held_out_rms"] is not None:
                bar.set_postfix_str(f"rms error of equity {metrics['held_out_rms']:.4f}")

        watcher.on_steps = lambda steps: bar.update(steps) and None
        watcher.on_metrics = on_metrics
        yield latest

"""`nardy train CONFIG --run FOLDER`: train a bot by self-play; `nardy train --resume FOLDER` takes up a stopped run."""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.config_options import add_config_options, given_options
from nardy_ai.cli.output import say
from nardy_ai.cli.stopping import INTERRUPTED, interruptible
from nardy_ai.errors import ConfigError
from nardy_ai.resources import config_names, find_config
from nardy_ai.train.config import TrainConfig, read_config

if TYPE_CHECKING:
    from nardy_ai.train.loop import Run, Watcher

LONG_RUN = 50_000
"""Games from which on a run begins with the check that learning works."""

PLOT_FILE = "curve.png"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; every option of a config is a flag of its own."""
    parser.add_argument(
        "config", nargs="?", metavar="CONFIG", help=f"a shipped config ({', '.join(config_names())}) or a TOML file"
    )
    parser.add_argument("--run", metavar="FOLDER", help="where the run's files go (default: runs/CONFIG)")
    parser.add_argument("--resume", metavar="FOLDER", help="take up the run in FOLDER where its last state left it")
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="where the network learns (default: auto)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_config_options(parser, TrainConfig())


def run(args: argparse.Namespace) -> int:
    """Train to the end, or until interrupted; the state is saved either way."""
    began = time.monotonic()
    overrides = given_options(args, TrainConfig)
    if args.resume is not None:
        if args.config is not None or args.run is not None or overrides:
            raise ConfigError("--resume takes up a run as it was; it goes with --device and --quiet only")
        from nardy_ai.train import loop

        training = loop.Run.resumed(Path(args.resume), device=args.device)
        say(f"resuming {args.resume} at {training.games:,} of {training.config.games:,} games")
    elif args.config is not None:
        config = _config(args.config, overrides)
        folder = Path(args.run or Path("runs") / Path(args.config).stem)
        # torch takes seconds to import: what is wrong with the config has been said by now.
        from nardy_ai.train import loop

        training = loop.start_run(folder, config, device=args.device)
    else:
        raise ConfigError(f"no config given; expected one of {', '.join(config_names())}, a TOML file, or --resume")
    config = training.config
    say(f"rules {training.rules.name}, {config.games:,} games, learner on {training.device.type}, seed {config.seed}")
    if config.self_check and config.games >= LONG_RUN and training.games == 0:
        _self_check(config, args.device)
    watcher = loop.Watcher()
    if training.progress >= 1:
        say(f"nothing left to do: {training.games:,} of {config.games:,} games are played")
    with compile_notice(), interruptible(watcher), _progress(training, watcher, quiet=args.quiet):
        result = training.train(watcher)
    _plot(training.folder)
    state = "done" if result.finished else f"stopped, resume with: nardy train --resume {training.folder}"
    rate = training.games / training.seconds if training.seconds else 0.0
    seconds = time.monotonic() - began
    say(f"{state}; {result.games:,} games, {rate:,.0f} a second with learning, {seconds:.0f} s in all")
    print(result.bot)
    return 0 if result.finished else INTERRUPTED


def _config(name: str, overrides: Mapping[str, object]) -> TrainConfig:
    path = Path(name) if name.endswith(".toml") or "/" in name or "\\" in name else find_config(name)
    return read_config(path, overrides)


def _self_check(config: TrainConfig, device: str) -> None:
    from nardy_ai.train.self_check import self_check

    began = time.monotonic()
    say("checking that learning works ...")
    with compile_notice():
        faults = list(self_check(config, device=device))
    for fault in faults:
        say(f"WARNING: {fault}")
    if not faults:
        say(f"learning works ({time.monotonic() - began:.0f} s)")


@contextmanager
def _progress(training: "Run", watcher: "Watcher", *, quiet: bool) -> Iterator[None]:
    """A bar with games a second and the latest benchmark."""
    from tqdm import tqdm

    bar = tqdm(
        total=training.config.games,
        initial=training.games,
        unit=" games",
        unit_scale=True,
        disable=quiet,
        dynamic_ncols=True,
        smoothing=0.05,
        file=sys.stderr,
    )

    def on_metrics(metrics: Mapping[str, Any]) -> None:
        results = metrics.get("benchmark")
        if results:
            bar.set_postfix_str(", ".join(f"{name} {result['points']:+.2f}" for name, result in results.items()))

    def on_games(games: int) -> None:
        bar.update(games)

    watcher.on_games = on_games
    watcher.on_metrics = on_metrics
    with bar:
        yield


def _plot(folder: Path) -> None:
    from nardy_ai.pictures.charts import TrainingRun, plot_runs, read_metrics
    from nardy_ai.train.loop import METRICS_FILE

    plot_runs([TrainingRun(folder.name, read_metrics(folder / METRICS_FILE))], folder / PLOT_FILE)

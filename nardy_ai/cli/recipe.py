"""`nardy recipe FILE --run FOLDER`: a chain of stages from nothing to a bot; the same command takes it up again."""

import argparse
from dataclasses import replace
from pathlib import Path

from nardy_ai.cli.compile_notice import compile_notice
from nardy_ai.cli.output import add_json_argument, print_json, say
from nardy_ai.cli.stopping import INTERRUPTED, Watch, interruptible
from nardy_ai.errors import ConfigError
from nardy_ai.resources import find_checkpoint, find_recipe, recipe_names
from nardy_ai.train.recipe import (
    FitStage,
    LabelStage,
    PruneStage,
    Recipe,
    Stage,
    TrainStage,
    read_recipe,
    run_label_stage,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "recipe", metavar="RECIPE", help=f"a shipped recipe ({', '.join(recipe_names())}) or a TOML file"
    )
    parser.add_argument("--run", metavar="FOLDER", help="a folder for each stage goes here (default: runs/RECIPE)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="threads that label (default: %(default)s)")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Do what is left of the stages, in order."""
    if args.workers < 1:
        raise ConfigError(f"--workers {args.workers}: expected 1 or more")
    path = Path(args.recipe) if args.recipe.endswith(".toml") else find_recipe(args.recipe)
    recipe = read_recipe(path)
    folder = Path(args.run or Path("runs") / path.stem)
    done: list[str] = []
    with compile_notice():
        for stage in recipe.stages:
            say(f"stage {stage.name}")
            if not _run_stage(recipe, stage, folder, args.workers):
                say("stopped; the same command goes on from here")
                break
            done.append(stage.name)
    if args.json:
        print_json({"folder": str(folder), "stages": [stage.name for stage in recipe.stages], "done": done})
    elif len(done) == len(recipe.stages):
        print(folder / done[-1])
    return 0 if len(done) == len(recipe.stages) else INTERRUPTED


def _run_stage(recipe: Recipe, stage: Stage, folder: Path, workers: int) -> bool:
    """Whether the stage came to its end."""
    if isinstance(stage, LabelStage):
        watch = Watch()
        with interruptible(watch):
            return run_label_stage(recipe, stage, folder, workers=workers, say=say, stop=lambda: watch.stop)
    if isinstance(stage, PruneStage):
        return _prune(recipe, stage, folder)
    return _train(stage, folder) if isinstance(stage, TrainStage) else _fit(recipe, stage, folder)


def _train(stage: TrainStage, folder: Path) -> bool:
    from nardy_ai.train.loop import STATE_FILE, Run, Watcher, start_run

    place = folder / stage.name
    training = Run.resumed(place) if (place / STATE_FILE).exists() else start_run(place, stage.config)
    watcher = Watcher()
    watcher.on_metrics = lambda metrics: say(f"{metrics['games']:,} games") if "benchmark" in metrics else None
    with interruptible(watcher):
        return training.train(watcher).finished


def _fit(recipe: Recipe, stage: FitStage, folder: Path) -> bool:
    from nardy_ai.train.fit import Fit, FitWatcher
    from nardy_ai.train.loop import STATE_FILE

    place = folder / stage.name
    if (place / STATE_FILE).exists():
        fit = Fit.resumed(place)
    else:
        labels = tuple(recipe.place(name, folder) for name in stage.config.labels)
        start = recipe.place(stage.config.start, folder) if stage.config.start else ""
        fit = Fit.begun(place, replace(stage.config, labels=labels, start=start))
    watcher = FitWatcher()
    watcher.on_metrics = lambda metrics: say(f"{metrics['steps']:,} steps, rms error {metrics['held_out_rms']}")
    with interruptible(watcher):
        return fit.train(watcher)


def _prune(recipe: Recipe, stage: PruneStage, folder: Path) -> bool:
    from nardy_ai.train.loop import BOT_FILE
    from nardy_ai.train.pruning import PruningWatcher, with_pruning

    target = folder / stage.name / BOT_FILE
    if target.exists():
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    watcher = PruningWatcher()
    source = recipe.place(stage.bot, folder)
    say(f"{stage.config.games:,} games of {stage.bot}, then {stage.config.steps:,} steps")
    with interruptible(watcher, saves=False):
        return with_pruning(find_checkpoint(source) or Path(source), target, stage.config, watcher) is not None

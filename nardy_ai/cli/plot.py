"""`nardy plot RUN ...`, `nardy plot BENCHMARK.json`: charts of learning and of benchmarks."""

import argparse
import sys
from pathlib import Path

from nardy_ai.cli.output import add_json_argument, print_json
from nardy_ai.errors import NardyError
from nardy_ai.pictures.charts import (
    FORMATS,
    KINDS,
    TrainingRun,
    check_chart_file,
    is_fit,
    plot_document,
    plot_fits,
    plot_runs,
    read_document,
    read_metrics,
)

METRICS_FILE = "metrics.jsonl"
CURVE_FILE = "curve.png"
STDIN = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="folders of training runs (or their metrics files), or one document of `nardy benchmark ... --json`"
        " (- reads it from stdin)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=f"the chart, {', '.join(f'.{one}' for one in FORMATS)} (default: {CURVE_FILE} in the run's folder, or a"
        " .png beside the document)",
    )
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the chart and print where it is."""
    sources = [Path(source) for source in args.sources]
    if all(source.is_dir() or source.suffix == ".jsonl" for source in sources):
        picture = _picture(args, sources[0] / CURVE_FILE if sources[0].is_dir() else sources[0].with_name(CURVE_FILE))
        said = _plot_runs(sources, picture)
    elif len(sources) > 1:
        raise NardyError(f"several sources must be training runs; {_first_other(sources)} is none")
    else:
        picture = _picture(args, None if args.sources[0] == STDIN else sources[0].with_suffix(".png"))
        said = _plot_document(args.sources[0], picture)
    if args.json:
        print_json({"picture": str(picture), **said})
    else:
        print(picture)
    return 0


def _first_other(sources: list[Path]) -> Path:
    return next(source for source in sources if not source.is_dir() and source.suffix != ".jsonl")


def _picture(args: argparse.Namespace, default: Path | None) -> Path:
    """The file to draw into. Raises NardyError, before anything is read."""
    if args.out is None and default is None:
        raise NardyError("a document from stdin has no place of its own; name the chart with --out FILE")
    picture = default if args.out is None else Path(args.out)
    assert picture is not None
    check_chart_file(picture)
    return picture


def _plot_runs(sources: list[Path], picture: Path) -> dict[str, object]:
    runs = []
    for source in sources:
        metrics = source / METRICS_FILE if source.is_dir() else source
        records = read_metrics(metrics)
        if not any("loss" in record for record in records):
            raise NardyError(f"{metrics}: nothing has been learned yet")
        runs.append(TrainingRun(metrics.resolve().parent.name, records))
    if all(is_fit(run) for run in runs):
        plot_fits(runs, picture)
        shown_fits = [{"run": one.name, **one.records[-1]} for one in runs]
        return {"shows": "fits", "runs": shown_fits}
    if any(is_fit(run) for run in runs):
        raise NardyError("trainings count games and fits count steps; draw them apart")
    plot_runs(runs, picture)
    shown = []
    for one in runs:
        latest = next((record["benchmark"] for record in reversed(one.records) if "benchmark" in record), None)
        shown.append({"run": one.name, "games": one.records[-1]["games"], "benchmark": latest})
    return {"shows": "training", "runs": shown}


def _plot_document(source: str, picture: Path) -> dict[str, object]:
    try:
        text = sys.stdin.read() if source == STDIN else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise NardyError(f"{source}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NardyError(f"{source}: is no UTF-8 text") from error
    document = read_document("stdin" if source == STDIN else source, text)
    plot_document(document, picture)
    return {"shows": KINDS[document.kind]}

"""Charts as PNG, SVG or PDF: how training runs went, and what benchmarks found.

A chart is made from a run's metrics file, or from the JSON document that `nardy benchmark --json` prints. The same
input gives the same file. matplotlib is imported when a chart is drawn.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nardy_ai.errors import ConfigError, NardyError
from nardy_ai.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "KINDS",
    "Document",
    "TrainingRun",
    "check_chart_file",
    "is_fit",
    "plot_document",
    "plot_fits",
    "plot_runs",
    "read_document",
    "read_metrics",
]

FORMATS = ("png", "svg", "pdf")
"""Suffixes of a chart's file."""

KINDS = {
    "matches": "points a game of each bot against each",
    "decisions": "PR by class",
    "cube": "equity lost by doubling and by taking",
    "exact": "equity against exact",
}
"""What documents of benchmarks hold, and what their chart shows."""

SURE = 1.96
"""Standard errors to either side of a 95 % interval."""

UNKNOWN = float("nan")
"""The standard error of what has none; no bar is drawn for it."""

FIT_ERROR = "held_out_rms"
"""What a record of a fit has."""

_MARKERS = "osD^vP*X"
_HATCHES = ("", "//", "..", "xx")
_SMOOTHED = 60
"""Points of a curve after smoothing: a loss of every stretch is a band, its running mean a line."""


@dataclass(frozen=True)
class TrainingRun:
    """A training run to draw: its name and the records of its metrics file."""

    name: str
    records: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Document:
    """A document of `nardy benchmark --json`. kind: one of KINDS."""

    name: str
    kind: str
    data: Mapping[str, Any]


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics file, a half-written last one aside. Raises ConfigError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            if number < len(lines):
                raise ConfigError(f"{path}:{number}: is no JSON") from error
            continue
        if not isinstance(record, dict) or ("games" not in record and FIT_ERROR not in record):
            raise ConfigError(f"{path}:{number}: is no record of a training run, which has 'games', nor of a fit")
        records.append(record)
    return records


def read_document(name: str, text: str) -> Document:
    """The document of a benchmark. name: what to call it in complaints. Raises NardyError."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NardyError(f"{name}: is no JSON; expected what `nardy benchmark ... --json` prints") from error
    if isinstance(data, dict):
        if isinstance(data.get("matches"), list) and data["matches"]:
            return Document(name, "matches", data)
        bots = data.get("bots")
        if isinstance(bots, list) and bots and all(isinstance(one, dict) for one in bots):
            if all("by_class" in one for one in bots):
                return Document(name, "cube" if "cube_decisions" in data else "decisions", data)
            if all("points" in one for one in bots):
                return Document(name, "exact", data)
    raise NardyError(f"{name}: is none of the documents that `nardy benchmark ... --json` prints")


def check_chart_file(file: Path) -> None:
    """Refuse the name of a file that is none of FORMATS. Raises NardyError."""
    if file.suffix.lower().removeprefix(".") not in FORMATS:
        raise NardyError(f"{file}: expected a name that ends in {', '.join(f'.{one}' for one in FORMATS)}")


def plot_runs(runs: Sequence[TrainingRun], picture: Path) -> None:
    """Draw loss, benchmarks and speed of runs over the games played, written whole or not at all. Raises NardyError."""

    def draw(figure: "Figure") -> None:
        loss, points, speed = figure.subplots(3, 1, sharex=True, height_ratios=(3, 4, 2))
        for i, run in enumerate(runs):
            _draw_run(run, f"C{i}", (loss, points, speed), several=len(runs) > 1)
        loss.set_ylabel("loss (cross entropy)")
        points.axhline(0, color="black", linewidth=0.5)
        points.set_ylabel("points a game\n(bars: 95 % intervals)")
        speed.set_ylabel("games a second")
        speed.set_xlabel("games")
        speed.set_ylim(bottom=0)
        figure.suptitle(", ".join(run.name for run in runs))
        for axes in (loss, points, speed):
            axes.grid(visible=True, alpha=0.3)
            if axes.get_legend_handles_labels()[1]:
                axes.legend(fontsize="small")

    _write(picture, draw, (9, 9), ", ".join(run.name for run in runs))


def is_fit(run: TrainingRun) -> bool:
    """Whether a run is a fit to labels, which counts steps and not games."""
    return any(FIT_ERROR in record for record in run.records)


def plot_fits(fits: Sequence[TrainingRun], picture: Path) -> None:
    """Draw error on labels held out, loss and rate of fits over their steps, written whole or not at all."""

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(3, 1, sharex=True, height_ratios=(4, 3, 2))
        keys = (FIT_ERROR, "loss", "lr")
        for i, fit in enumerate(fits):
            for axes, key in zip(panels, keys, strict=True):
                found = [(record["steps"], record[key]) for record in fit.records if record.get(key) is not None]
                axes.plot([at for at, _ in found], [value for _, value in found], color=f"C{i}", marker=_MARKERS[i % 8],
                          markersize=4, label=fit.name)  # fmt: skip
        for axes, label in zip(
            panels, ("rms error of equity,\nlabels held out", "loss (cross entropy)", "rate"), strict=True
        ):
            axes.set_ylabel(label)
            axes.grid(visible=True, alpha=0.3)
        panels[0].legend(fontsize="small")
        panels[2].set_xlabel("steps")
        figure.suptitle(", ".join(fit.name for fit in fits))

    _write(picture, draw, (9, 9), ", ".join(fit.name for fit in fits))


def plot_document(document: Document, picture: Path) -> None:
    """Draw a benchmark, written whole or not at all. Raises NardyError if the document lacks something."""
    draw, size = {
        "matches": (_draw_matches, (7.5, 6.5)),
        "decisions": (_draw_decisions, (9.0, 5.5)),
        "cube": (_draw_cube_decisions, (9.0, 5.5)),
        "exact": (_draw_exact, (7.0, 7.0)),
    }[document.kind]
    _write(picture, lambda figure: draw(document.data, figure), size, document.name)


def _write(picture: Path, draw: Callable[["Figure"], None], size: tuple[float, float], name: str) -> None:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_chart_file(picture)
    kind = picture.suffix.lower().removeprefix(".")
    with mpl.rc_context({"svg.hashsalt": "nardy_ai", "svg.fonttype": "none"}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        try:
            draw(figure)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise NardyError(f"{name}: cannot be drawn, something is missing or odd in it: {error!r}") from error
        date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        replace_file(picture, lambda part: figure.savefig(part, format=kind, dpi=110, metadata=date))


def _draw_run(run: TrainingRun, colour: str, panels: Sequence["Axes"], *, several: bool) -> None:
    loss, points, speed = panels
    steps = [record for record in run.records if "loss" in record]
    games = [record["games"] for record in steps]
    losses = [record["loss"] for record in steps]
    loss.plot(games, losses, color=colour, alpha=0.25, linewidth=0.8)
    loss.plot(games, _smoothed(losses), color=colour, linewidth=1.6, label=run.name if several else None)
    speed.plot(games, _smoothed([record["games_per_second"] for record in steps]), color=colour, linewidth=1.2)
    benchmarks = [record for record in run.records if "benchmark" in record]
    names = sorted({name for record in benchmarks for name in record["benchmark"]})
    for i, name in enumerate(names):
        found = [(record["games"], record["benchmark"][name]) for record in benchmarks if name in record["benchmark"]]
        points.errorbar(
            [at for at, _ in found],
            [result["points"] for _, result in found],
            yerr=[SURE * result["standard_error"] for _, result in found],
            label=f"{run.name} against {name}" if several else f"against {name}",
            color=colour if several else f"C{i}",
            marker=_MARKERS[i % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )


def _smoothed(values: Sequence[float]) -> list[float]:
    """The running mean over a window behind each value, so that a curve of any length has about _SMOOTHED of them."""
    window = max(1, len(values) // _SMOOTHED)
    means, total = [], 0.0
    for i, value in enumerate(values):
        total += value - (values[i - window] if i >= window else 0.0)
        means.append(total / min(i + 1, window))
    return means


def _draw_matches(data: Mapping[str, Any], figure: "Figure") -> None:
    """A matrix of points a game, the row's bot against the column's, each with its standard error."""
    names: list[str] = []
    for one in data["matches"]:
        names += [name for name in (one["first"], one["second"]) if name not in names]
    points = [[float("nan")] * len(names) for _ in names]
    axes = figure.subplots()
    most = max(abs(one["points"]) for one in data["matches"]) or 1.0
    for one in data["matches"]:
        first, second = names.index(one["first"]), names.index(one["second"])
        for row, column, sign in ((first, second, 1), (second, first, -1)):
            points[row][column] = sign * one["points"]
            error = one["standard_error"]
            text = f"{0 + sign * one['points']:+.3f}" + ("" if error is None else f"\n\u00b1 {error:.3f}")
            dark = abs(one["points"]) > 0.6 * most
            axes.text(column, row, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
    image = axes.imshow(points, cmap="PuOr", vmin=-most, vmax=most)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("against")
    axes.set_title(
        f"points a game, {data['rules']}, {data['pairs']} pairs a match, seed {data['seed']}\n\u00b1 one standard error"
    )
    figure.colorbar(image, ax=axes, shrink=0.8, label="points a game of the row's bot")


@dataclass(frozen=True)
class _Bars:
    """One bot's bars: its name in the legend, values, and standard errors, UNKNOWN where none is known."""

    label: str
    values: Sequence[float]
    errors: Sequence[float]


def _draw_decisions(data: Mapping[str, Any], figure: "Figure") -> None:
    """PR of every bot in every class and in all, with 95 % intervals."""
    classes = list(data["bots"][0]["by_class"])
    bars = []
    for bot in data["bots"]:
        scores = [bot, *(bot["by_class"][name] for name in classes)]
        errors = [score["standard_error"] or UNKNOWN for score in scores]
        bars.append(_Bars(f"{bot['bot']}: {bot['pr']:.2f}", [score["pr"] for score in scores], errors))
    counts = [data["decisions"], *(data["bots"][0]["by_class"][name]["decisions"] for name in classes)]
    axes = figure.subplots()
    _draw_bars(axes, [f"{name}\n{count}" for name, count in zip(["all", *classes], counts, strict=True)], bars)
    axes.set_ylabel("PR (500 x mean equity lost a decision)")
    axes.set_title(f"{data['rules']}, {data['decisions']} decisions; bars: 95 % intervals")
    axes.legend(title="PR of all")


def _draw_cube_decisions(data: Mapping[str, Any], figure: "Figure") -> None:
    """The equity that every bot loses by doubling and by taking, with 95 % intervals, and by both in every class."""
    kinds = ("doubling", "taking")
    classes = list(data["bots"][0]["by_class"])
    bars = [
        _Bars(
            bot["bot"],
            [*(bot[kind]["loss"] for kind in kinds), *(bot["by_class"][name] for name in classes)],
            [*(bot[kind]["standard_error"] or UNKNOWN for kind in kinds), *(UNKNOWN for _ in classes)],
        )
        for bot in data["bots"]
    ]
    axes = figure.subplots()
    _draw_bars(axes, [*kinds, *classes], bars)
    axes.set_ylabel("equity per cube lost a decision")
    axes.set_title(f"{data['rules']}, {data['cube_decisions']} cube decisions; bars: 95 % intervals")
    axes.legend()


def _draw_bars(axes: "Axes", labels: Sequence[str], bots: Sequence[_Bars]) -> None:
    """A group of bars for each label, one of every bot."""
    width = 0.8 / len(bots)
    for i, bot in enumerate(bots):
        axes.bar(
            [k + (i - (len(bots) - 1) / 2) * width for k in range(len(labels))],
            bot.values,
            width,
            yerr=[SURE * error for error in bot.errors],
            capsize=3,
            label=bot.label,
            hatch=_HATCHES[i % len(_HATCHES)],
            edgecolor="white",
            ecolor="black",
        )
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def _draw_exact(data: Mapping[str, Any], figure: "Figure") -> None:
    """The equity that each evaluator gives over the exact one; the nearer to the diagonal the better."""
    axes = figure.subplots()
    shown = [bot for bot in data["bots"] if bot["points"]]
    if not shown:
        raise ValueError("none of its bots knows equities")
    for i, bot in enumerate(shown):
        exact, found = zip(*bot["points"], strict=True)
        label = f"{bot['bot']}: rms error {bot['rms_error']:.4f}"
        axes.scatter(exact, found, s=9, alpha=0.5, marker=_MARKERS[i % len(_MARKERS)], label=label, linewidths=0)
    ends = [end for bot in shown for pair in bot["points"] for end in pair]
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color="black", linewidth=0.7)
    axes.set_aspect("equal")
    axes.set_xlabel("exact equity before the roll")
    axes.set_ylabel("equity by the bot")
    axes.set_title(f"{data['rules']}, {len(shown[0]['points'])} of {data['positions']} positions, seed {data['seed']}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()

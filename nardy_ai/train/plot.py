"""A picture of a training run: the loss and the benchmarks over the games played, from its metrics file."""

import json
from pathlib import Path
from typing import Any

from nardy_ai.errors import ConfigError
from nardy_ai.files import replace_file


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of a metrics file, a half-written last one aside. Raises ConfigError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            if number < len(lines):
                raise ConfigError(f"{path}:{number}: is no JSON") from error
    return records


def plot_run(metrics: Path, picture: Path) -> None:
    """Draw the learning curve of a metrics file as a PNG, written whole or not at all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    records = read_metrics(metrics)
    steps = [record for record in records if "loss" in record]
    benchmarks = [record for record in records if "benchmark" in record]
    figure = Figure(figsize=(9, 7), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot([record["games"] for record in steps], [record["loss"] for record in steps], color="tab:gray")
    upper.set_ylabel("loss (cross entropy)")
    upper.set_title(metrics.parent.name)
    for name in sorted({name for record in benchmarks for name in record["benchmark"]}):
        points = [(record["games"], record["benchmark"][name]) for record in benchmarks if name in record["benchmark"]]
        lower.errorbar(
            [games for games, _ in points],
            [result["points"] for _, result in points],
            yerr=[2 * result["standard_error"] for _, result in points],
            label=f"against {name}",
            marker="o",
            capsize=3,
        )
    lower.axhline(0, color="black", linewidth=0.5)
    lower.set_xlabel("games")
    lower.set_ylabel("points a game (bars: 2 standard errors)")
    if benchmarks:
        lower.legend()
    for axes in (upper, lower):
        axes.grid(visible=True, alpha=0.3)
    replace_file(picture, lambda part: figure.savefig(part, format="png", dpi=110))

"""`nardy plot`: what its charts show, the same every time, and one line a fault."""

import io
import json
import re
import sys

import pytest
from complaints import complaint

from nardy_ai.cli.main import main
from nardy_ai.errors import ConfigError, NardyError
from nardy_ai.pictures.charts import TrainingRun, plot_runs, read_document, read_metrics

PNG = b"\x89PNG"
MATCHES = {
    "rules": "long",
    "pairs": 10,
    "seed": 7,
    "matches": [
        {"first": "pips", "second": "random", "points": 0.5, "standard_error": 0.125},
        {"first": "pips", "second": "heuristic", "points": -0.25, "standard_error": None},
    ],
}
SCORE = {"decisions": 4, "pr": 2.5, "standard_error": 0.5}
DECISIONS = {"rules": "short", "decisions": 9, "bots": [{"bot": "pubeval", **SCORE, "by_class": {"race": SCORE}}]}


def run_folder(path, name: str, *, loss: float = 1.0):
    """A folder with the metrics of a short run."""
    folder = path / name
    folder.mkdir()
    steps = [{"games": 100 * i, "loss": loss, "games_per_second": 50.0 + i} for i in range(1, 5)]
    steps.append({"games": 400, "benchmark": {"pubeval": {"points": 0.25, "standard_error": 0.05}}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    return folder


def document(path, data: object):
    file = path / "found.json"
    file.write_text(json.dumps(data))
    return file


def plotted(capsys, *argv: object) -> str:
    assert main(["plot", *map(str, argv)]) == 0
    return capsys.readouterr().out


def texts(file) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", file.read_text(encoding="utf-8"))


def test_curve_of_a_run_lies_in_its_folder(tmp_path, capsys):
    folder = run_folder(tmp_path, "tiny")
    assert plotted(capsys, folder) == f"{folder / 'curve.png'}\n"
    assert (folder / "curve.png").read_bytes().startswith(PNG)


def test_several_runs_are_told_apart_by_name(tmp_path, capsys):
    one, other = run_folder(tmp_path, "one"), run_folder(tmp_path, "other", loss=0.5)
    said = json.loads(plotted(capsys, one, other / "metrics.jsonl", "--out", tmp_path / "both.svg", "--json"))
    assert [run["run"] for run in said["runs"]] == ["one", "other"]
    assert said["runs"][0]["benchmark"] == {"pubeval": {"points": 0.25, "standard_error": 0.05}}
    found = texts(tmp_path / "both.svg")
    assert {"one", "other", "one against pubeval", "other against pubeval", "loss (cross entropy)"} <= set(found)


def test_matrix_shows_every_match_from_both_sides(tmp_path, capsys):
    plotted(capsys, document(tmp_path, MATCHES), "--out", tmp_path / "matrix.svg")
    found = texts(tmp_path / "matrix.svg")
    assert {"+0.500", "-0.500", "-0.250", "+0.250", "± 0.125"} <= set(found)
    assert found.count("± 0.125") == 2
    assert any("10 pairs a match, seed 7" in text for text in found)


def test_decisions_are_shown_by_class_with_their_number(tmp_path, capsys):
    plotted(capsys, document(tmp_path, DECISIONS), "--out", tmp_path / "pr.svg")
    assert {"race", "all", "4", "9", "pubeval: 2.50"} <= set(texts(tmp_path / "pr.svg"))


def test_cube_decisions_are_shown_by_what_was_decided_and_by_class(tmp_path, capsys):
    loss = {"loss": 0.01, "standard_error": None}
    data = {"rules": "short", "cube_decisions": 17, "bots": [{"bot": "b", "doubling": loss, "taking": loss}]}
    data["bots"][0]["by_class"] = {"race": 0.02}
    plotted(capsys, document(tmp_path, data), "--out", tmp_path / "cube.svg")
    found = texts(tmp_path / "cube.svg")
    assert {"doubling", "taking", "race", "b"} <= set(found)
    assert any("17 cube decisions" in text for text in found)


def test_exact_benchmark_gives_the_points_of_its_chart(tmp_path, capsys):
    """The exact bot against itself lies on the diagonal; a bot that knows no equity has no points."""
    rules = tmp_path / "one.toml"
    rules.write_text('base = "hyper"\nname = "one"\ncheckers = 1\nstart = { 24 = 1 }\n')
    argv = ["benchmark", "exact", "pips", "--rules", str(rules), "--exact", "--pairs", "40", "--quiet", "--json"]
    assert main(argv) == 0
    data = json.loads(capsys.readouterr().out)
    exact, pips = data["bots"]
    assert len(exact["points"]) == min(1000, data["positions"])
    assert all(one == pytest.approx(other, abs=1e-5) for one, other in exact["points"])
    assert len({one for one, _ in exact["points"]}) > 20
    assert pips["points"] == []
    plotted(capsys, document(tmp_path, data), "--out", tmp_path / "exact.svg")
    found = texts(tmp_path / "exact.svg")
    assert any(text.startswith("exact: rms error 0.0000") for text in found)
    assert not any(text.startswith("pips") for text in found)


def test_document_is_read_from_stdin(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(DECISIONS)))
    assert plotted(capsys, "-", "--out", tmp_path / "pr.png") == f"{tmp_path / 'pr.png'}\n"
    assert "--out" in complaint(capsys, "plot", "-")


def test_same_metrics_are_the_same_file(tmp_path):
    runs = [TrainingRun("tiny", read_metrics(run_folder(tmp_path, "tiny") / "metrics.jsonl"))]
    for name in ("a", "b"):
        plot_runs(runs, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_loss_is_smoothed_over_a_window_behind(tmp_path):
    from nardy_ai.pictures.charts import _smoothed

    assert _smoothed([1.0, 3.0]) == [1.0, 3.0]
    assert _smoothed([1.0] * 60 + [4.0] * 60)[59:62] == [1.0, 2.5, 4.0]


def test_sources_that_cannot_be_drawn_are_one_line(tmp_path, capsys):
    folder = run_folder(tmp_path, "tiny")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "metrics.jsonl: cannot be read" in complaint(capsys, "plot", empty)
    (empty / "metrics.jsonl").write_text("")
    assert "nothing has been learned yet" in complaint(capsys, "plot", empty)
    (empty / "metrics.jsonl").write_text("[1]\n{}\n")
    assert "metrics.jsonl:1: is no record" in complaint(capsys, "plot", empty)
    assert "expected a name that ends in .png" in complaint(capsys, "plot", folder, "--out", tmp_path / "curve.gif")
    assert "must be training runs" in complaint(capsys, "plot", folder, document(tmp_path, MATCHES))
    assert "cannot be read" in complaint(capsys, "plot", tmp_path / "missing.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"matches": []}', '{"bots": [1]}', "[" * 100_000, "\x00"])
def test_other_documents_are_refused(text):
    with pytest.raises(NardyError, match=r"^found\.json: is n"):
        read_document("found.json", text)


def test_document_with_a_gap_is_named(tmp_path, capsys):
    data = {**MATCHES, "matches": [{"first": "a", "second": "b"}]}
    assert "found.json: cannot be drawn" in complaint(capsys, "plot", document(tmp_path, data))
    assert not list(tmp_path.glob("*.png"))


def test_metrics_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "metrics.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no UTF-8 text"):
        read_metrics(tmp_path / "metrics.jsonl")


def fit_records(folder):
    folder.mkdir()
    lines = [
        {"steps": at, "seconds": 1.0, "loss": None if at == 0 else 2.0 / at, "lr": 1e-3, "held_out_rms": 1 / (1 + at)}
        for at in (0, 10, 20)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_fits_are_drawn_over_their_steps(tmp_path, capsys):
    folder = fit_records(tmp_path / "fit")

    assert main(["plot", str(folder), "--out", str(tmp_path / "fit.svg"), "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["runs"][0]["steps"] == 20
    assert "labels held out" in (tmp_path / "fit.svg").read_text(encoding="utf-8")


def test_fits_and_trainings_are_not_drawn_together(tmp_path, capsys):
    fit = fit_records(tmp_path / "fit")
    training = run_folder(tmp_path, "tiny")

    assert main(["plot", str(training), str(fit), "--out", str(tmp_path / "both.svg")]) == 2

    assert "draw them apart" in capsys.readouterr().err

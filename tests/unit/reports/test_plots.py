"""Pictures that commands write: what they show, that they stand alone, and that the same figures give the same bytes."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hedgerow.errors import DataError, HedgerowError
from hedgerow.reports.charts.axes import Axis, Plane, log_ticks
from hedgerow.reports.charts.plots import association_plot, drift_plot, picture, risk_utility_plot

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>\" ' var(--chart-1, red) currentColor ]]> \u202e$x$"
POINTS = [
    {"method": method, "k": k, "risk": 1 / k, "utility": worth - k / 200}
    for method, worth in (("cluster", 0.8), ("lattice_$x$", 0.6))
    for k in (2, 5, 25)
]
VERSIONS = [
    {"version": number, "verb": verb, "scores": {"ntil": 0.2 + number / 50, "fresh_ntil": None if number == 2 else 0.2}}
    for number, verb in ((1, "create"), (2, "insert"), (3, "delete"))
]


def draw(folder: Path) -> list[Path]:
    return [
        risk_utility_plot(POINTS, folder / "risk.svg"),
        association_plot(["age", HOSTILE], [[1, 0.25], [0.25, 1]], [0.5, 0.5], folder / "association.svg"),
        drift_plot(VERSIONS, folder / "drift.svg"),
    ]


def texts(path: Path) -> list[str]:
    return [text.text or "" for text in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


def test_a_picture_stands_alone(tmp_path: Path) -> None:
    for path in draw(tmp_path):
        root = ElementTree.parse(path).getroot()
        assert root.tag == f"{SVG}svg"
        assert float(root.get("width", 0)) > 0 < float(root.get("height", 0))
        shown = (
            path.read_text()
            .replace("&#x27;", "'")
            .replace("&quot;", '"')
            .replace(HOSTILE.replace("<", "&lt;").replace(">", "&gt;"), "")
        )
        assert not re.search(r"var\(|currentColor|transparent|href|<script|url\(|@import|&nbsp;", shown)
        assert "prefers-color-scheme: dark" in shown


def test_labels_stay_as_they_are(tmp_path: Path) -> None:
    association_plot([HOSTILE[:24], "b"], [[1, 0], [0, 1]], [0.5, 0.5], tmp_path / "a.svg")
    assert texts(tmp_path / "a.svg").count(HOSTILE[:24]) == 2


def test_risk_and_utility_show_every_release(tmp_path: Path) -> None:
    risk, *_ = draw(tmp_path)
    shown = texts(risk)
    assert {
        "cluster",
        "lattice_$x$",
        "highest risk: 1 / smallest group (left is safer)",
        "research value (up is better)",
    } <= set(shown)
    assert all(shown.count(k) == 2 for k in ("2", "5", "25"))
    assert {"0.05", "0.1", "0.2", "0.5"} <= set(shown)  # far apart, so by factors
    root = ElementTree.parse(risk).getroot()
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    said = [title.text for title in root.iter(f"{SVG}title")]
    assert "cluster: 0.5, 0.79" in said


def test_association_shows_shares_and_weights(tmp_path: Path) -> None:
    shown = texts(draw(tmp_path)[1])
    assert (shown.count("0.25"), shown.count("1.00"), shown.count("0.500"), shown.count("age")) == (2, 2, 2, 2)


def test_drift_names_versions_and_leaves_out_what_is_not_known(tmp_path: Path) -> None:
    drift = draw(tmp_path)[2]
    shown = texts(drift)
    assert {"1", "create", "2", "insert", "3", "delete", "maintained", "made afresh (estimate)"} <= set(shown)
    lines = [line.get("points", "").split() for line in ElementTree.parse(drift).getroot().iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [3, 2]


def test_many_columns_have_names_that_do_not_cover_each_other(tmp_path: Path) -> None:
    names = [f"a rather long name of column {number}" for number in range(30)]
    association_plot(names, [[0.5] * 30] * 30, [1 / 30] * 30, tmp_path / "a.svg")
    turned = re.findall(r'font-size="([\d.]+)"[^>]*rotate\((-\d+) ([\d.]+)', (tmp_path / "a.svg").read_text())
    places = [float(place) for _, _, place in turned]
    assert {angle for _, angle, _ in turned} == {"-90"}
    assert all(after - before >= float(turned[0][0]) - 0.01 for before, after in itertools.pairwise(places))


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HedgerowError, match="no release to draw"):
        risk_utility_plot([], tmp_path / "a.svg")
    with pytest.raises(HedgerowError, match="no version to draw"):
        drift_plot([], tmp_path / "a.svg")
    with pytest.raises(HedgerowError, match="one row and one weight for each of 2"):
        association_plot(["a", "b"], [[1]], [1], tmp_path / "a.svg")
    with pytest.raises(DataError, match="does not exist"):
        risk_utility_plot(POINTS, tmp_path / "no folder" / "a.svg")
    for name in ("a.png", "a.jpg", "a"):
        with pytest.raises(DataError, match=r"(?s)written as SVG.*\.svg"):
            risk_utility_plot(POINTS, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_same_figures_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    here = [path.read_bytes() for path in draw(tmp_path)]
    code = (
        "import sys; from pathlib import Path; from tests.unit.reports.test_plots import draw; draw(Path(sys.argv[1]))"
    )
    other = tmp_path / "other"
    other.mkdir()
    given = {**os.environ, "PYTHONHASHSEED": "5", "PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run([sys.executable, "-c", code, str(other)], check=True, env=given)
    assert [(other / name).read_bytes() for name in ("risk.svg", "association.svg", "drift.svg")] == here


def test_a_logarithmic_axis_gives_every_factor_as_much_room() -> None:
    plane = Plane([(1, 1), (10, 10), (100, 100)], Axis("x", logarithmic=True), Axis("y", logarithmic=True))
    (ax, ay), (bx, by), (cx, cy) = (plane.place(value, value) for value in (1, 10, 100))
    assert bx - ax == pytest.approx(cx - bx)
    assert ay - by == pytest.approx(by - cy)
    assert log_ticks(5, 5) == [5, 10]
    assert log_ticks(1, 100) == [1, 10, 100]


def test_a_title_cannot_become_markup() -> None:
    assert "<script" not in picture(HOSTILE, [], 10)

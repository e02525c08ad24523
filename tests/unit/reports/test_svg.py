"""Charts as text: well formed, the same bytes for the same numbers, readable on any page, harmless whatever they are told."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.reports.charts import bar_chart, histogram, line_chart, scatter, size_bins
from hedgerow.reports.charts.parts import COLOURS, WARNING, WIDTH, number, shortened, text_width, ticks

HOSTILE = "<script>alert(\"1\")</script> & 'quoted' ]]>"
LABELS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)  # what XML can hold
NUMBERS = st.floats(-1e9, 1e9) | st.integers(0, 10**9)


def parsed(chart: str) -> ElementTree.Element:
    assert chart.startswith("<svg ")
    assert chart.endswith("</svg>")
    return ElementTree.fromstring(chart)


def charts(label: str = "a", value: float = 3.0) -> list[str]:
    return [
        bar_chart([(label, value), ("b", 2)], title=label, unit="%", most=100, highlight=(label,)),
        histogram([(label, 3), ("b", 2)], title=label, x=label, y=label),
        line_chart({label: [(1, value), (2, 2)], "b": [(1, 1)]}, title=label, x=label, y=label),
        scatter([{"x": value, "y": 1, "label": label, "series": label}], title=label, x=label, y=label),
    ]


@pytest.mark.parametrize("chart", charts())
def test_a_chart_is_one_picture_with_a_name(chart: str) -> None:
    root = parsed(chart)
    assert root.get("role") == "img"
    assert root.get("aria-label", "").startswith("a")
    assert root.get("width") == "100%"
    assert root[0].tag == "title"
    assert root.get("viewBox", "").startswith(f"0 0 {WIDTH:g} ")


@pytest.mark.parametrize("chart", charts(HOSTILE))
def test_labels_never_become_markup(chart: str) -> None:
    parsed(chart)
    assert "<script" not in chart
    assert not re.search(r"\bon\w+=|href|src=|http|url\(|<style|@import", chart)


@pytest.mark.parametrize("one", range(4))
def test_the_same_input_gives_the_same_bytes(one: int) -> None:
    assert charts()[one] == charts()[one]


def test_text_stays_text_in_the_colour_of_the_page() -> None:
    for chart in charts():
        root = parsed(chart)
        assert root.get("fill") == "currentColor"
        assert list(root.iter("text"))
        assert not [text for text in root.iter("text") if text.get("fill")]


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [*COLOURS, WARNING])
def test_colours_can_be_told_from_white_and_from_dark_pages(colour: str) -> None:
    assert 1.05 / (luminance(colour) + 0.05) >= 3
    assert (luminance(colour) + 0.05) / (luminance("#15191c") + 0.05) >= 3


def test_bars_show_their_values() -> None:
    root = parsed(bar_chart([("age", 25.0), ("zip", 50.0), ("sex", 0)], title="loss", unit="%", most=100))
    assert [text.text for text in root.iter("text")] == ["age", "25%", "zip", "50%", "sex", "0%"]
    widths = [float(bar.get("width", 0)) for bar in root.iter("rect")]
    assert widths[1] * 2 == pytest.approx(widths[3], abs=0.02)
    assert widths[0] == widths[2] == widths[4] == pytest.approx(widths[3] * 2, abs=0.02)
    assert widths[5] == 0


def test_a_highlighted_bar_has_another_colour() -> None:
    chart = bar_chart([("a", 1), ("b", 1)], title="t", highlight=("b",))
    assert chart.count("--chart-warning") == 1


def test_heights_of_a_histogram_are_counts() -> None:
    root = parsed(histogram([("5", 40), ("6", 10), ("7", 0)], title="t", x="size", y="groups"))
    heights = [float(bar.get("height", 0)) for bar in root.iter("rect")]
    assert heights[0] == pytest.approx(4 * heights[1])
    assert heights[2] == 0


@pytest.mark.parametrize(
    "chart",
    [
        bar_chart([], title="t"),
        bar_chart([("a", math.nan)], title="t"),
        histogram([], title="t", x="", y=""),
        line_chart({}, title="t", x="", y=""),
        line_chart({"a": [(math.inf, 1)]}, title="t", x="", y=""),
        scatter([], title="t", x="", y=""),
    ],
)
def test_nothing_is_drawn_as_nothing(chart: str) -> None:
    assert "nothing to show" in "".join(parsed(chart).itertext())


@given(st.lists(st.tuples(LABELS, NUMBERS), min_size=1, max_size=8), st.none() | st.floats(0, 1e6))
def test_any_bars(rows: list[tuple[str, float]], most: float | None) -> None:
    for bar in parsed(bar_chart(rows, title="t", most=most)).iter("rect"):
        assert 0 <= float(bar.get("x", -1)) + float(bar.get("width", -1)) <= WIDTH


@given(st.lists(st.tuples(LABELS, st.integers(0, 10**12)), min_size=1, max_size=40))
def test_any_histogram(bins: list[tuple[str, int]]) -> None:
    root = parsed(histogram(bins, title="t", x="x", y="y"))
    assert len(list(root.iter("rect"))) == len(bins)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8), LABELS)
def test_any_points(points: list[tuple[float, float]], label: str) -> None:
    for chart in (
        line_chart({label: points, label + "2": points[:1]}, title="t", x="x", y="y"),
        scatter([{"x": a, "y": b, "label": label} for a, b in points], title="t", x="x", y="y"),
    ):
        height = float(parsed(chart).get("viewBox", "").split()[3])
        for circle in parsed(chart).iter("circle"):
            assert 0 <= float(circle.get("cx", -1)) <= WIDTH
            assert 0 <= float(circle.get("cy", -1)) <= height


def test_axes_of_versions_show_whole_numbers() -> None:
    chart = line_chart({"a": [(1, 0.1), (2, 0.2), (3, 0.3)]}, title="t", x="version", y="loss")
    assert {"1", "2", "3"} <= set(re.findall(r">([^<>]+)</text>", chart))
    assert ">1.5</text>" not in chart


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.booleans())
def test_ticks_span_the_range_and_are_few(low: float, width: float, whole: bool) -> None:
    marks = ticks(low, low + width, whole=whole)
    assert 2 <= len(marks) <= 8
    hair = 1e-6 * max(1, abs(low), width)  # what nobody sees may stick out
    assert marks[0] <= low + hair
    assert marks[-1] >= low + width - hair
    assert marks == sorted(set(marks))


@given(st.dictionaries(st.integers(1, 10**9), st.integers(1, 50), min_size=1, max_size=60), st.integers(2, 30))
def test_bins_lose_no_group(by_size: dict[int, int], most: int) -> None:
    bins = size_bins(by_size, most)
    assert sum(count for _, count in bins) == sum(by_size.values())
    assert len(bins) <= most
    edges: list[Any] = [[int(end.replace(",", "")) for end in name.split("–")] for name, _ in bins]
    assert edges[0][0] == min(by_size)
    assert edges[-1][-1] == max(by_size)
    assert all(after[0] == before[-1] + 1 for before, after in itertools.pairwise(edges))


def test_texts_are_cut_and_numbers_short() -> None:
    assert text_width(shortened("x" * 1000, 80)) <= 80
    assert number(1234.5) == "1,234"
    assert number(0.1234) == "0.123"

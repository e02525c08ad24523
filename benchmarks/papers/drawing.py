"""Plots for the page: SVG with text as text, on white, the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.page import DOCS

WIDTH = 10
STYLES = ({"marker": "o"}, {"marker": "s", "linestyle": "--"}, {"marker": "^", "linestyle": ":"}, {"marker": "D"})


@dataclass(frozen=True)
class Curve:
    """One line of a plot."""

    label: str
    at: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One plot of a picture."""

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    ticks: Sequence[tuple[float, str]] = ()
    top: float | None = None
    legend: bool = True


def draw(name: str, panels: Sequence[Panel], columns: int) -> None:
    """Draw the panels in rows of so many columns, beside the page; the picture is as wide however many they are."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "hedgerow", "svg.fonttype": "none", "font.size": 10})
    import matplotlib.pyplot as plt

    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 3.2 * rows), squeeze=False)
    for panel, axis in zip(panels, axes.flat, strict=False):
        _plot(panel, axis)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_visible(False)
    figure.tight_layout()
    path = DOCS / f"{name}.svg"
    figure.savefig(path, facecolor="white", metadata={"Date": None})
    plt.close(figure)
    lines = (line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _plot(panel: Panel, axis: Any) -> None:
    for curve, style in zip(panel.curves, STYLES, strict=False):
        axis.plot(curve.at, curve.values, label=curve.label, markersize=4, linewidth=1.4, **style)
    axis.set_title(panel.title, fontsize=10)
    axis.set_xlabel(panel.across)
    axis.set_ylabel(panel.up)
    axis.set_ylim(0, panel.top)
    if panel.ticks:
        axis.set_xticks([at for at, _ in panel.ticks], [label for _, label in panel.ticks])
    axis.grid(alpha=0.3)
    if panel.legend:
        axis.legend(fontsize=8, framealpha=0.9)

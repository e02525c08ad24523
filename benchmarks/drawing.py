"""Pictures of figures, as SVG: the same bytes for the same figures, white behind, words as words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Points = Sequence[tuple[float, float]]
MARKS = "osD^vPX*<>"
COLOURS = ("#0b6e4f", "#1f4e9c", "#b3471d", "#7a3e9d", "#8a6d00", "#c2185b", "#00838f", "#5d4037", "#616161", "#33691e")


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "hedgerow", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}
    )
    import matplotlib.pyplot as plt

    return plt


def _save(figure: Any, path: Path) -> None:
    figure.set_layout_engine("constrained")
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    _pyplot().close(figure)
    lines = (line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def curves(path: Path, panels: Mapping[str, tuple[str, str, Mapping[str, Points]]], columns: int = 2) -> None:
    """Log-log curves: for every panel its title, the names of its axes, and points by the name of the curve."""
    plt = _pyplot()
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.4 * columns, 4.2 * rows), squeeze=False)
    names = list(dict.fromkeys(name for _, _, found in panels.values() for name in found))
    for axis, (title, (across, up, found)) in zip(axes.flat, panels.items(), strict=False):
        for name, points in found.items():
            at = names.index(name)
            style = "-" if name.startswith("Hedgerow") else "--"
            axis.plot(
                *zip(*points, strict=True), style, marker=MARKS[at % len(MARKS)], color=COLOURS[at % len(COLOURS)],
                markersize=5, linewidth=1.6, label=name,
            )  # fmt: skip
        axis.set(title=title, xlabel=across, ylabel=up, xscale="log", yscale="log")
        axis.grid(alpha=0.3, which="both", linewidth=0.5)
        _tick(axis.xaxis, [x for points in found.values() for x, _ in points])
        _tick(axis.yaxis, [y for points in found.values() for _, y in points])
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    marks = {label: mark for axis in axes.flat for mark, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    shown = [name for name in names if name in marks]
    figure.legend([marks[name] for name in shown], shown, loc="outside lower center", ncols=3, frameon=False)
    _save(figure, path)


def _tick(axis: Any, values: Sequence[float]) -> None:
    """Ticks at 1, 2 and 5 where an axis is short, so that it has several; plain numbers, and none between."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    short = bool(values) and max(values) < 40 * min(values)
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if short else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def scatter(path: Path, points: Sequence[tuple[str, float, float]], across: str, up: str) -> None:
    """Named points, both axes logarithmic; ours are filled. Names stand beside, so that none hides another."""
    plt = _pyplot()
    figure, axis = plt.subplots(figsize=(10, 4.8))
    for at, (name, x, y) in enumerate(points):
        colour = COLOURS[at % len(COLOURS)]
        filled = colour if name.startswith("Hedgerow") else "white"
        mark = MARKS[at % len(MARKS)]
        axis.plot(
            x,
            y,
            mark,
            color=colour,
            markersize=9,
            markerfacecolor=filled,
            markeredgewidth=1.6,
            linestyle="",
            label=name,
        )
    axis.set(xlabel=across, ylabel=up, xscale="log", yscale="log")
    axis.set_yticks([5, 10, 20, 50, 100], labels=["5", "10", "20", "50", "100"])
    axis.minorticks_off()
    axis.grid(alpha=0.3, linewidth=0.5)
    figure.legend(loc="outside right center", frameon=False)
    _save(figure, path)

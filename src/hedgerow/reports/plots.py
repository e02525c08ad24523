"""Plots for a page: risk against utility, how closely columns go together, how the loss of a release drifts.

They need matplotlib, which the extra ``report`` brings; it is loaded when a plot is drawn. The ending of the path says
the format, SVG or PNG, and the same facts give the same bytes of SVG with the same version of matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, HedgerowError, Problem, how_to_install
from hedgerow.outputs import new_file
from hedgerow.working_folder import import_library

PIXELS_PER_INCH = 100
WIDTH = 9.0  # inches: 900 pixels
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
)  # told apart by the colour-blind
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRID = "#d9d9d9"
MOST_TICKS = 12  # versions whose names fit under an axis
STYLE: dict[str, Any] = {
    "svg.hashsalt": "hedgerow",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "text.parse_math": False,  # a column may be named $cost$
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
}


def check_plot(path: str | Path) -> None:
    """Refuse a plot that cannot be drawn, before any work is done for it."""
    if Path(path).suffix.lower() not in (".svg", ".png"):
        message = "A plot is written as SVG or PNG, by the ending of its file."
        raise DataError(Problem("output", message, str(path), "let the name end in .svg or .png"))
    if not Path(path).absolute().parent.is_dir():
        raise DataError(Problem("no-file", "The folder for the plot does not exist.", str(path), "create it"))
    _load("matplotlib")


def risk_utility_plot(
    points: Sequence[Mapping[str, Any]],
    path: str | Path,
    risk: str = "highest risk: 1 / smallest group",
    utility: str = "research value",
) -> Path:
    """Draw what each release risks and what it is worth, one colour per method, its releases joined by rising k.

    Parameters
    ----------
    points
        One mapping per release: ``method``, ``k``, ``risk`` and ``utility``.
    path
        File to write, ending in ``.svg`` or ``.png``.
    risk, utility
        What the two are, for the axes.

    Returns
    -------
    Path
        The file written.
    """
    if not points:
        raise HedgerowError(Problem("usage", "There is no release to draw.", hint="give at least one point"))
    methods = list(dict.fromkeys(str(point["method"]) for point in points))
    with _Plot(path, height=5.4) as plot:
        axes = plot.figure.add_subplot()
        for number, method in enumerate(methods):
            line = sorted((p for p in points if str(p["method"]) == method), key=lambda p: (p["k"], p["risk"]))
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            at = [point["risk"] for point in line], [point["utility"] for point in line]
            axes.plot(*at, color=colour, marker=marker, markersize=7, linewidth=1.4, alpha=0.9, label=method)
            _label_ks(axes, line, colour)
        _spread_risks(axes, [float(point["risk"]) for point in points])
        axes.set_xlabel(f"{risk}  (left is safer)")
        axes.set_ylabel(f"{utility}  (up is better)")
        axes.margins(0.08, 0.10)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, title="method (numbers: k)", alignment="left"
        )
    return plot.path


def _label_ks(axes: Any, line: Sequence[Mapping[str, Any]], colour: str) -> None:
    """Write k above and left of every point, where a line that rises with the risk leaves room."""
    for point in line:
        at = (point["risk"], point["utility"])
        axes.annotate(
            str(point["k"]), at, xytext=(-5, 5), textcoords="offset points", ha="right", fontsize=9, color=colour
        )


def _spread_risks(axes: Any, risks: Sequence[float]) -> None:
    """Give small risks as much room as great ones where they differ by far."""
    if min(risks) <= 0 or max(risks) < 8 * min(risks):
        return
    ticker = _load("matplotlib.ticker")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda risk, _: f"{risk:g}"))
    axes.xaxis.set_minor_locator(ticker.NullLocator())


def association_plot(
    names: Sequence[str], matrix: Sequence[Sequence[float]], weights: Sequence[float], path: str | Path
) -> Path:
    """Draw how closely columns go together, and the weight that follows for each.

    Parameters
    ----------
    names
        The columns.
    matrix
        Association between 0 and 1 of every column (rows) with every other (columns).
    weights
        Weight of every column; they sum to 1.
    path
        File to write, ending in ``.svg`` or ``.png``.

    Returns
    -------
    Path
        The file written.
    """
    size = len(names)
    if not size or len(matrix) != size or any(len(row) != size for row in matrix) or len(weights) != size:
        message = f"The matrix and the weights must have one row and one weight for each of {size} columns."
        raise HedgerowError(Problem("usage", message, hint="give what 'associate' returns"))
    shown = [_short(name) for name in names]
    with _Plot(path, height=1.9 + (0.46 if size <= 12 else 0.3) * size) as plot:
        heat, bars = plot.figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
        heat.imshow([[float(cell) for cell in row] for row in matrix], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        letters = 10 if size <= 10 else max(5.5, 100 / size)
        for row in range(size):
            for column in range(size):
                value = float(matrix[row][column])
                ink = "white" if value > 0.6 else "#222222"
                heat.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=letters)
        names_size = 11 if size <= 12 else 8
        heat.set_xticks(range(size), shown, rotation=40, ha="right", rotation_mode="anchor", fontsize=names_size)
        heat.set_yticks(range(size), shown, fontsize=names_size)
        heat.tick_params(length=0)
        heat.set_title("association (0: none, 1: one tells the other)", fontsize=11, loc="left")
        for spine in heat.spines.values():
            spine.set_visible(False)
        numbers = [float(weight) for weight in weights]
        bars.barh(range(size), numbers, color=COLOURS[0], height=0.6)
        for row, weight in enumerate(numbers):
            at = (weight, row)
            bars.annotate(
                f"{weight:.3f}", at, xytext=(4, 0), textcoords="offset points", va="center", fontsize=names_size
            )
        bars.set_xlim(0, max(numbers) * 1.35 or 1)
        bars.set_title("weight", fontsize=11, loc="left")
        bars.tick_params(length=0, labelleft=False, labelbottom=False)
        for spine in bars.spines.values():
            spine.set_visible(False)
    return plot.path


def drift_plot(versions: Sequence[Mapping[str, Any]], path: str | Path) -> Path:
    """Draw what every version of a maintained release loses, beside what a release made afresh would.

    Parameters
    ----------
    versions
        One mapping per version, oldest first: ``version``, ``verb``, and ``scores`` with ``ntil`` and ``fresh_ntil``
        (None if there is no estimate).
    path
        File to write, ending in ``.svg`` or ``.png``.

    Returns
    -------
    Path
        The file written.
    """
    if not versions:
        raise HedgerowError(Problem("usage", "There is no version to draw.", hint="give at least one"))
    numbers = [int(row["version"]) for row in versions]
    lost = [float(row["scores"]["ntil"]) for row in versions]
    fresh = [row["scores"]["fresh_ntil"] for row in versions]
    estimates = [float("nan") if value is None else float(value) for value in fresh]
    with _Plot(path, height=4.6) as plot:
        axes = plot.figure.add_subplot()
        size = 6 if len(numbers) <= MOST_TICKS else 3
        axes.plot(numbers, lost, color=COLOURS[0], marker="o", markersize=size, linewidth=1.6, label="maintained")
        label = "made afresh (estimate)"
        axes.plot(
            numbers,
            estimates,
            color=COLOURS[1],
            marker="s",
            markersize=size,
            linewidth=1.4,
            linestyle="--",
            label=label,
        )
        ticks = _ticks(len(numbers))
        names = [f"{numbers[at]}\n{versions[at]['verb']}" for at in ticks]
        axes.set_xticks([numbers[at] for at in ticks], names, fontsize=9)
        axes.set_xlabel("version, and what made it")
        axes.set_ylabel("loss (NTIL)  (down is better)")
        axes.margins(0.06, 0.15)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    return plot.path


def _ticks(count: int) -> list[int]:
    """Which of many versions are named: the first, the last, and some between them, evenly."""
    if count <= MOST_TICKS:
        return list(range(count))
    return sorted({round(at * (count - 1) / (MOST_TICKS - 1)) for at in range(MOST_TICKS)})


class _Plot:
    """A figure that is written when the block ends; nothing is shared with other figures of the process."""

    def __init__(self, path: str | Path, height: float) -> None:
        check_plot(path)
        self.path = Path(path)
        self._format = self.path.suffix.lower().removeprefix(".")
        self._style = _load("matplotlib").rc_context(STYLE)
        self._size = (WIDTH, height)

    def __enter__(self) -> _Plot:
        self._style.__enter__()
        figure = _load("matplotlib.figure")
        self.figure = figure.Figure(figsize=self._size, dpi=PIXELS_PER_INCH, layout="constrained")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                nothing = {"svg": ("Date", "Creator"), "png": ("Software",)}[self._format]  # what differs by day
                metadata = dict.fromkeys(nothing)
                with new_file(self.path, "the plot", replace=True) as file:
                    self.figure.savefig(file.path, format=self._format, metadata=metadata, facecolor="white")
        finally:
            self._style.__exit__(kind, error, trace)


def _load(name: str) -> Any:
    try:
        return import_library(name)
    except ImportError:
        message = "Plots need matplotlib, which is not installed."
        raise HedgerowError(Problem("usage", message, hint=how_to_install("report"))) from None


def _short(text: str, most: int = 22) -> str:
    """Cut a long name in its middle: names often differ at their ends."""
    return text if len(text) <= most else text[: most // 2] + "…" + text[len(text) - most // 2 + 1 :]

"""Pictures that commands write: risk against utility, how closely columns go together, how a release drifts.

They are SVG, for browsers, Word and LaTeX alike: colours are written out, the paper is white, and dark where a
browser asks for it. The same facts give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.outputs import put_text
from hedgerow.reports.charts.axes import Axis, Plane
from hedgerow.reports.charts.heat import heat_map
from hedgerow.reports.charts.parts import FAMILY, FONT, at, colour, legend, text, written_out
from hedgerow.reports.charts.planes import curves, labels

WIDE, MARGIN, HEADING = 720.0, 20.0, 46.0
INK, PAPER = "#1c2421", "#ffffff"
DARK_INK, DARK_PAPER = "#e6ebe8", "#14191b"
FAR_APART = 8  # the greatest risk by the least, above which small risks get as much room as great ones
MOST_NAMED = 12  # versions whose names fit under an axis


def check_plot(path: str | Path) -> None:
    """Refuse a plot that cannot be drawn, before any work is done for it."""
    if Path(path).suffix.lower() != ".svg":
        message = "A plot is written as SVG, which browsers, Word and LaTeX take."
        raise DataError(Problem("output", message, str(path), "let the name end in .svg"))
    if not Path(path).absolute().parent.is_dir():
        raise DataError(Problem("no-file", "The folder for the plot does not exist.", str(path), "create it"))


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
        File to write, ending in ``.svg``.
    risk, utility
        What the two are, for the axes.

    Returns
    -------
    Path
        The file written.
    """
    if not points:
        raise HedgerowError(Problem("usage", "There is no release to draw.", hint="give at least one point"))
    lines: dict[str, list[tuple[float, float]]] = {}
    ks: list[str] = []
    for method in dict.fromkeys(str(point["method"]) for point in points):
        of = sorted((one for one in points if str(one["method"]) == method), key=lambda one: (one["k"], one["risk"]))
        lines[method] = [(float(one["risk"]), float(one["utility"])) for one in of]
        ks += [str(one["k"]) for one in of]
    risks = [a for line in lines.values() for a, _ in line]
    far = min(risks) > 0 and max(risks) >= FAR_APART * min(risks)
    named, high = legend(list(lines), 0, 2, WIDE)
    x, y = Axis(f"{risk} (left is safer)", logarithmic=far), Axis(f"{utility} (up is better)")
    plane = Plane([point for line in lines.values() for point in line], x, y, top=30 + high, wide=WIDE, high=320)
    placed = [[plane.place(*point) for point in line] for line in lines.values()]
    colours = [colour(place) for place, line in enumerate(placed) for _ in line]
    beside = labels(plane, [point for line in placed for point in line], ks, lines=placed, colours=colours)
    parts = [*named, *plane.axes(), *curves(plane, lines), *beside]
    title = "Risk and utility of each method; numbers beside points are k"
    return write_picture(path, title, parts, plane.height)


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
        File to write, ending in ``.svg``.

    Returns
    -------
    Path
        The file written.
    """
    size = len(names)
    if not size or len(matrix) != size or any(len(row) != size for row in matrix) or len(weights) != size:
        message = f"The matrix and the weights must have one row and one weight for each of {size} columns."
        raise HedgerowError(Problem("usage", message, hint="give what 'associate' returns"))
    parts, height = heat_map(names, matrix, weights, WIDE)
    return write_picture(path, "Association of columns: 0 is none, 1 is that one tells the other", parts, height)


def drift_plot(versions: Sequence[Mapping[str, Any]], path: str | Path) -> Path:
    """Draw what every version of a maintained release loses, beside what a release made afresh would.

    Parameters
    ----------
    versions
        One mapping per version, oldest first: ``version``, ``verb``, and ``scores`` with ``ntil`` and ``fresh_ntil``
        (None if there is no estimate).
    path
        File to write, ending in ``.svg``.

    Returns
    -------
    Path
        The file written.
    """
    if not versions:
        raise HedgerowError(Problem("usage", "There is no version to draw.", hint="give at least one"))
    lines = {
        name: [(float(row["version"]), float(row["scores"][key])) for row in versions if row["scores"][key] is not None]
        for name, key in (("maintained", "ntil"), ("made afresh (estimate)", "fresh_ntil"))
    }
    lines = {name: line for name, line in lines.items() if line}
    ticks = [(float(row["version"]), f"{row['version']}\n{row['verb']}") for row in _some(versions)]
    named, high = legend(list(lines), 0, 2, WIDE)
    x, y = Axis("version, and what made it", marks=ticks), Axis("loss (NTIL, of 1; down is better)")
    plane = Plane([point for line in lines.values() for point in line], x, y, top=30 + high, wide=WIDE, high=280)
    parts = [*named, *plane.axes(), *curves(plane, lines)]
    return write_picture(path, "Loss of every version", parts, plane.height)


def _some(versions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Which of many versions are named: the first, the last, and some between them, evenly."""
    if len(versions) <= MOST_NAMED:
        return list(versions)
    last = len(versions) - 1
    return [versions[round(at * last / (MOST_NAMED - 1))] for at in range(MOST_NAMED)]


def write_picture(path: str | Path, title: str, parts: Sequence[str], height: float, wide: float = WIDE) -> Path:
    """Write drawn parts as a picture that stands alone, with its title above it."""
    check_plot(path)
    put_text(path, picture(title, parts, height, wide), "the plot", replace=True)
    return Path(path)


def picture(title: str, parts: Sequence[str], height: float, wide: float = WIDE) -> str:
    """Return drawn parts as a picture that stands alone."""
    across, down = at(wide + 2 * MARGIN), at(height + HEADING + MARGIN)
    heading = text(MARGIN, 28, title, size=16, more='font-weight="600"')
    dark = f"svg{{fill:{DARK_INK}}}line{{stroke:{DARK_INK}}}.paper{{fill:{DARK_PAPER}}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}" '
        f'role="img" aria-label="{escape(title)}" font-family="{FAMILY}" font-size="{at(FONT)}" fill="{INK}">\n'
        f"<title>{escape(title)}</title>\n<style>@media (prefers-color-scheme: dark){{{dark}}}</style>\n"
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>\n{heading}\n'
        f'<g transform="translate({at(MARGIN)} {at(HEADING)})">\n'
        + "\n".join(written_out(part, INK) for part in parts)
        + "\n</g>\n</svg>\n"
    )

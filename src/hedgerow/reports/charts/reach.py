"""The picture of a simulation: the chance by number of records, and the records needed by number of attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError, Problem
from hedgerow.reports.charts.axes import Axis, Plane
from hedgerow.reports.charts.parts import at, colour, legend, mark, text
from hedgerow.reports.charts.planes import Points, curves
from hedgerow.reports.charts.plots import WIDE, write_picture

HIGH = 230.0
GAP = 26.0


def reach_plot(found: Mapping[str, Any], path: str | Path) -> Path:
    """Draw what ``hedgerow simulate`` found of made-up attributes.

    Parameters
    ----------
    found
        What ``Reach.to_dict`` returns, with ``growth``: mappings of ``attributes``, ``k`` and ``records``.
    path
        File to write, ending in ``.svg``.

    Returns
    -------
    Path
        The file written.
    """
    grown: dict[str, list[tuple[float, float]]] = {}
    for one in found["growth"]:
        if one["records"] is not None:
            grown.setdefault(f"k = {one['k']}", []).append((float(one["attributes"]), float(one["records"])))
    if not grown:
        message = "There is nothing to draw: every number of records needed is beyond 10^15."
        raise HedgerowError(Problem("usage", message, hint="ask for fewer attributes"))
    parts: list[str] = []
    top = 0.0
    if found["curve"]:
        top = _chances(found, parts)
    named, high = legend(list(grown), 0, top + 26, WIDE)
    heading = text(0, top + 14, f"Records needed for a chance of {found['chance']:.4g}", more='font-weight="600"')
    most = max(one["attributes"] for one in found["growth"])
    across = Axis("number of attributes", marks=[(float(n), str(n)) for n in range(1, most + 1)])
    points = [point for line in grown.values() for point in line]
    plane = Plane(points, across, Axis("records", logarithmic=True), top=top + 54 + high, wide=WIDE, high=HIGH)
    parts += [heading, *named, *plane.axes(), *curves(plane, grown)]
    return write_picture(path, _title(found), parts, plane.height)


def _chances(found: Mapping[str, Any], parts: list[str]) -> float:
    """Draw the chance by number of records, with what was drawn; returns how far down the picture is then."""
    computed: Points = [(float(records), float(chance)) for records, chance in found["curve"]]
    drawn = [
        (float(one["records"]), float(one["simulated"]["rate"]))
        for one in found["attempts"]
        if one["simulated"] is not None
    ]
    names = [f"computed, k = {found['k']}", *(["drawn"] if drawn else [])]
    named, high = legend(names, 0, 26, WIDE)
    plane = Plane(
        [*computed, *drawn],
        Axis("records"),
        Axis("chance that every combination has k records", least=0, most=1),
        top=54 + high,
        wide=WIDE,
        high=HIGH,
    )
    path = " ".join(f"{at(x)},{at(y)}" for x, y in (plane.place(*point) for point in computed))
    line = f'<polyline points="{path}" fill="none" stroke="{colour(0)}" stroke-width="2"/>'
    heading = text(0, 14, "Chance by number of records", more='font-weight="600"')
    marks = [mark(1, *plane.place(*point), f"drawn: {point[0]:,.0f}, {point[1]:.4g}") for point in drawn]
    parts += [heading, *named, *plane.axes(), line, *marks]
    return plane.height + GAP


def _title(found: Mapping[str, Any]) -> str:
    values: Sequence[int] = found["values"]
    attributes = "1 attribute" if len(values) == 1 else f"{len(values):,} attributes"
    likely = "equally likely values" if found["frequencies"] is None else "values of given frequencies"
    return f"Is k = {found['k']} within reach? {attributes} with {likely}"

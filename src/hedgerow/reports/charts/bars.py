"""Charts of bars: beside each other with their values, and upright for counts."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from html import escape

from hedgerow.reports.charts.axes import PLOT_HEIGHT, below, upright
from hedgerow.reports.charts.parts import (
    SMALL,
    WIDTH,
    at,
    colour,
    frame,
    line,
    nothing,
    number,
    shortened,
    spaced,
    text,
    text_width,
    ticks,
    warning,
)

ROW = 27.0


def bar_chart(
    rows: Sequence[tuple[str, float]],
    *,
    title: str,
    unit: str = "",
    most: float | None = None,
    highlight: Collection[str] = (),
) -> str:
    """Draw horizontal bars, each with its name before and its value behind it.

    Parameters
    ----------
    rows
        Name and value of every bar, from the top.
    title
        What the chart shows; read out, and shown when a pointer rests on it.
    unit
        Written behind every value, which is shown as it is given: 25 with ``%`` is 25%.
    most
        Value of a full bar, which is then drawn faintly behind each; by default the greatest value.
    highlight
        Names of bars that deserve a look.

    Examples
    --------
    >>> chart = bar_chart([("age", 25.0), ("<city>", 50.0)], title="loss", unit="%", most=100)
    >>> "&lt;city&gt;" in chart and "25%" in chart
    True
    """
    rows = [(name, value) for name, value in rows if math.isfinite(value)]
    if not rows:
        return nothing(title)
    values = [number(value, unit) for _, value in rows]
    left = min(170.0, max(text_width(name) for name, _ in rows)) + 8
    room = WIDTH - left - max(text_width(value) for value in values) - 9
    full = most if most is not None and most > 0 else max(value for _, value in rows) or 1.0
    parts = []
    for place, ((name, value), shown) in enumerate(zip(rows, values, strict=True)):
        y, wide = 4 + place * ROW, room * min(1.0, max(0.0, value / full))
        painted = warning() if name in highlight else colour(0)
        drawn = max(wide, 1.5) if value else 0.0  # a little can still be seen
        bars = f'<rect x="{at(left)}" y="{at(y)}" width="{at(drawn)}" height="18" rx="3" fill="{painted}"/>'
        if most is not None:
            bars = (
                f'<rect x="{at(left)}" y="{at(y)}" width="{at(room)}" height="18" rx="3" fill="currentColor" '
                f'fill-opacity="0.08"/>{bars}'
            )
        behind = room if most is not None else wide
        label = text(left - 8, y + 13.5, shortened(name, left - 8), anchor="end")
        after = text(left + behind + 7, y + 13.5, shown)
        parts.append(f"<g><title>{escape(name)}: {escape(shown)}</title>{label}{bars}{after}</g>")
    said = "; ".join(f"{name} {shown}" for (name, _), shown in zip(rows[:12], values, strict=False))
    return frame(parts, 4 + len(rows) * ROW, title, said)


def histogram(bins: Sequence[tuple[str, int]], *, title: str, x: str, y: str) -> str:
    """Draw vertical bars beside each other.

    Parameters
    ----------
    bins
        Name and count of every bar, from the left.
    title
        What the chart shows.
    x, y
        What the bins and the counts are.

    Examples
    --------
    >>> histogram([("5", 120), ("6", 80)], title="group sizes", x="records in a group", y="groups").count("<rect")
    2
    """
    if not bins:
        return nothing(title)
    top, bottom = 26.0, 26.0 + PLOT_HEIGHT
    marks = ticks(0, max(count for _, count in bins) or 1, 4, whole=True)
    left = max(text_width(number(value), SMALL) for value in marks) + 8
    parts = upright([(bottom - PLOT_HEIGHT * value / marks[-1], number(value)) for value in marks], left, top, y)
    step = (WIDTH - left - 2) / len(bins)
    wide = min(step * 0.86, 64.0)
    middles = [left + (place + 0.5) * step for place in range(len(bins))]
    counts = [number(count) for _, count in bins]
    all_fit = all(text_width(count, SMALL) <= step for count in counts)
    for middle, (name, count), shown in zip(middles, bins, counts, strict=True):
        high = PLOT_HEIGHT * count / marks[-1]
        high = max(high, 1.5) if count else 0.0  # a single group among thousands can still be seen
        bar = (
            f'<rect x="{at(middle - wide / 2)}" y="{at(bottom - high)}" width="{at(wide)}" height="{at(high)}" '
            f'fill="{colour(0)}"/>'
        )
        above = text(middle, bottom - high - 4, shown, anchor="middle", size=SMALL) if all_fit and count else ""
        parts.append(f"<g><title>{escape(name)}: {shown}</title>{bar}{above}</g>")
    names = [shortened(name, max(60.0, step), SMALL) for name, _ in bins]
    for place in spaced(middles, [text_width(name, SMALL) for name in names]):
        parts.append(text(middles[place], bottom + 15, names[place], anchor="middle", size=SMALL))
    parts += [line(left, bottom, WIDTH, bottom, 0.5), below(x, left, bottom)]
    said = "; ".join(f"{name}: {shown}" for (name, _), shown in zip(bins[:12], counts, strict=False))
    return frame(parts, bottom + 40, title, said)

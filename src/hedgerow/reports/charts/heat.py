"""A square of shares between columns, the darker the greater, with a bar for each column beside it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hedgerow.reports.charts.parts import SMALL, at, colour, text, text_width

BARS = 150.0  # room for the weights
NAME = 24  # letters of a name
NUMBER = 27.0  # a cell less wide than this shows no number; resting a pointer on it does


def heat_map(
    names: Sequence[str], matrix: Sequence[Sequence[float]], weights: Sequence[float], wide: float
) -> tuple[list[str], float]:
    """Draw shares between 0 and 1 of every column (rows) with every other, and their weights; return the height too."""
    shown = [_short(name) for name in names]
    high = 30.0 if len(names) <= 12 else 21.0
    left, top = max(text_width(name, SMALL) for name in shown) + 8, 26.0
    side = (wide - left - BARS - 16) / len(names)
    bottom, start = top + high * len(names), wide - BARS
    parts = [
        text(left, top - 10, "association", size=SMALL, faint=True),
        text(start, top - 10, "weight (all together 1)", size=SMALL, faint=True),
    ]
    heaviest = max(float(weight) for weight in weights) or 1.0
    for row, name in enumerate(shown):
        y = top + row * high
        middle = y + high / 2 + 4
        parts.append(text(left - 8, middle, name, anchor="end", size=SMALL))
        for column, share in enumerate(float(cell) for cell in matrix[row]):
            parts.append(_cell(left + column * side, y, side, high, share, f"{names[row]}, {names[column]}"))
        weight = float(weights[row])
        bar = (BARS - 46) * weight / heaviest
        box = f'x="{at(start)}" y="{at(y + 5)}" width="{at(bar)}" height="{at(high - 10)}"'
        parts.append(f'<rect {box} rx="2" fill="{colour(2)}"/>')
        parts.append(text(start + bar + 6, middle, f"{weight:.3f}", size=SMALL))
    angle, size = (-40, SMALL) if side >= 20 else (-90, min(SMALL, side))
    for column, name in enumerate(shown):
        x, y = left + (column + 0.5) * side + 4, bottom + 12
        parts.append(text(x, y, name, anchor="end", size=size, more=f'transform="rotate({angle} {at(x)} {at(y)})"'))
    longest = max(text_width(name, size) for name in shown)
    return parts, bottom + 20 + longest * (0.65 if angle == -40 else 1)


def _cell(x: float, y: float, wide: float, high: float, share: float, said: str) -> str:
    box = f'x="{at(x + 0.5)}" y="{at(y + 0.5)}" width="{at(wide - 1)}" height="{at(high - 1)}"'
    filled = f'fill="{colour(2)}" fill-opacity="{at(0.06 + 0.94 * share)}"'
    ink = ' fill="#ffffff"' if share > 0.85 else ""
    number = (
        f'<text x="{at(x + wide / 2)}" y="{at(y + high / 2 + 4)}" text-anchor="middle" font-size="{at(SMALL)}"{ink}>'
        f"{share:.2f}</text>"
        if wide >= NUMBER
        else ""
    )
    return f"<g><title>{escape(said)}: {share:.2f}</title><rect {box} {filled}/>{number}</g>"


def _short(text: str) -> str:
    """Cut a long name in its middle: names often differ at their ends."""
    return text if len(text) <= NAME else text[: NAME // 2] + "…" + text[len(text) - NAME // 2 + 1 :]

"""Pieces of charts: numbers as text, ticks of an axis, how wide a text is, colours and marks.

Text stays text and takes the colour of the page around it; what is drawn takes ``--chart-1`` to ``--chart-7`` of the
page's style, or else colours that can be told from a white and from a black page alike.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

WIDTH = 480.0  # units; a chart is shown between about 350 and 700 pixels wide, so its text stays readable
FONT = 13.0
SMALL = 11.5
CHARACTER = 0.63  # of the size of the font: what a letter takes on average, rather more than less
COLOURS = ("#2e8b6f", "#c9631a", "#3b7dc4", "#a05fb4", "#9a7b00", "#cc4c73", "#7a7a7a")
WARNING = "#d04a3a"
FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def colour(number: int) -> str:
    """Return the colour of a series: the page's, or else our own."""
    place = number % len(COLOURS)
    return f"var(--chart-{place + 1}, {COLOURS[place]})"


def warning() -> str:
    """Return the colour of what deserves a look."""
    return f"var(--chart-warning, {WARNING})"


def frame(parts: Sequence[str], height: float, title: str, said: str = "") -> str:
    """Put drawn parts into one picture, for a page, with a name that can be read out."""
    name = escape(f"{title}. {said}" if said else title)
    return (
        f'<svg class="chart" viewBox="0 0 {at(WIDTH)} {at(height)}" width="100%" '
        f'role="img" aria-label="{name}" font-family="{FAMILY}" font-size="{at(FONT)}" fill="currentColor">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def written_out(part: str, ink: str) -> str:
    """Return a drawn part for a picture that stands alone, where there is no page to take colours from.

    Word and LaTeX know neither variables nor the colour of a page. Labels cannot be mistaken: their quotes are escaped.

    Examples
    --------
    >>> written_out('<line stroke="currentColor"/><circle fill="var(--chart-1, #2e8b6f)"/>', "#000000")
    '<line stroke="#000000"/><circle fill="#2e8b6f"/>'
    """
    plain = re.sub(r'="var\(--[a-z0-9-]+, ([#a-z0-9]+)\)"', r'="\1"', part)
    return plain.replace('="transparent"', '="none"').replace('="currentColor"', f'="{ink}"')


def nothing(title: str) -> str:
    """Draw a chart of nothing, which says so."""
    return frame([text(WIDTH / 2, 28, "nothing to show", anchor="middle", faint=True)], 48, title, "nothing to show")


def at(number: float) -> str:
    """Write a coordinate: two decimals at most, so that the same chart has the same bytes."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def text(
    x: float, y: float, shown: str, *, anchor: str = "start", size: float = FONT, faint: bool = False, more: str = ""
) -> str:
    """Draw a line of text."""
    faintness = ' fill-opacity="0.72"' if faint else ""
    sized = "" if size == FONT else f' font-size="{at(size)}"'
    turned = f" {more}" if more else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{at(x)}" y="{at(y)}"{anchored}{sized}{faintness}{turned}>{escape(shown)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, strength: float = 0.16) -> str:
    """Draw a thin line in the colour of the text, for axes and grids."""
    ends = f'x1="{at(x1)}" y1="{at(y1)}" x2="{at(x2)}" y2="{at(y2)}"'
    return f'<line {ends} stroke="currentColor" stroke-opacity="{at(strength)}"/>'


def text_width(shown: str, size: float = FONT) -> float:
    """Estimate how wide a text is.

    Examples
    --------
    >>> text_width("age") < text_width("occupation") < text_width("職業職業職業職業職業")
    True
    """
    full = sum(
        1.0 if letter in "%MW@" or unicodedata.east_asian_width(letter) in "WF" else CHARACTER for letter in shown
    )
    return full * size


def shortened(shown: str, most: float, size: float = FONT) -> str:
    """Cut a text that is too wide.

    Examples
    --------
    >>> shortened("a very long name of a column", 100)
    'a very long…'
    """
    if text_width(shown, size) <= most + 0.01:  # sums of widths are not exact
        return shown
    shown = shown[: int(most / size / CHARACTER) + 1]
    while shown and text_width(shown + "…", size) > most:
        shown = shown[:-1]
    return shown.rstrip() + "…"


def number(value: float, unit: str = "") -> str:
    """Write a number for a person.

    Examples
    --------
    >>> number(1234567.0), number(0.25), number(12.345, "%"), number(0.00012), number(-0.0)
    ('1,234,567', '0.25', '12.3%', '0.00012', '0')
    """
    value = value + 0.0
    if value == int(value):
        shown = f"{int(value):,}"
    elif abs(value) >= 1000:
        shown = f"{value:,.0f}"
    elif abs(value) >= 10:
        shown = f"{value:.1f}"
    elif abs(value) >= 0.001:
        shown = f"{value:.3f}".rstrip("0").rstrip(".")
    else:
        shown = f"{value:.2g}"
    return shown + (unit if unit in ("", "%") else f" {unit}")


def ticks(low: float, high: float, most: int = 5, whole: bool = False) -> list[float]:
    """Return round numbers that span a range.

    Examples
    --------
    >>> ticks(0, 97), ticks(0.12, 0.2), ticks(1, 4, whole=True)
    ([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [0.12, 0.14, 0.16, 0.18, 0.2], [1.0, 2.0, 3.0, 4.0])
    """
    if high - low <= 1e-9 * max(1e-3, abs(low), abs(high)):  # as good as a single number
        room = 1.0 if whole else max(abs(low) * 0.1, 0.001)
        low, high = low - room if low < 0 or not whole else low, high + room
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * times for times in (1, 2, 5, 10, 20) if (high - low) / (size * times) <= most)
    step = max(1.0, step) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 15) for place in range(first, max(last, first + 1) + 1)]


def mark(number: int, x: float, y: float, said: str = "") -> str:
    """Draw a point: series differ in shape as well as in colour."""
    r, told = 4.5, f"<title>{escape(said)}</title>" if said else ""
    filled = f'fill="{colour(number)}" stroke="var(--chart-paper, transparent)" stroke-width="1"'
    shape = number % 4
    if shape == 0:
        return f'<circle cx="{at(x)}" cy="{at(y)}" r="{at(r)}" {filled}>{told}</circle>'
    corners = {
        1: ((-r, -r), (r, -r), (r, r), (-r, r)),
        2: ((0, -r * 1.2), (r * 1.1, r), (-r * 1.1, r)),
        3: ((0, -r * 1.25), (r * 1.25, 0), (0, r * 1.25), (-r * 1.25, 0)),
    }[shape]
    points = " ".join(f"{at(x + dx)},{at(y + dy)}" for dx, dy in corners)
    return f'<polygon points="{points}" {filled}>{told}</polygon>'


def legend(names: Sequence[str], left: float, top: float, room: float = WIDTH) -> tuple[list[str], float]:
    """Name the series, in as many lines as they need; returns what is drawn and how high it is."""
    parts: list[str] = []
    x, y = left, top
    for place, name in enumerate(names):
        shown = shortened(name, room - left - 40, SMALL)
        wide = text_width(shown, SMALL) + 30
        if x > left and x + wide > room:
            x, y = left, y + 18
        parts += [mark(place, x + 5, y + 6), text(x + 15, y + 10, shown, size=SMALL)]
        x += wide
    return parts, y - top + 22 if names else 0.0


def spaced(places: Sequence[float], widths: Sequence[float], gap: float = 6.0) -> Iterator[int]:
    """Yield which of several texts beside each other can be shown without touching, the first and every n-th."""
    every = 1
    while every < len(places):
        shown = range(0, len(places), every)
        pairs = itertools.pairwise(shown)
        if all(places[b] - places[a] >= (widths[a] + widths[b]) / 2 + gap for a, b in pairs):
            break
        every += 1
    yield from range(0, len(places), every)

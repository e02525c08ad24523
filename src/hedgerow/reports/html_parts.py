"""Pieces of a page: text made harmless, numbers that say which fact they are, tables that do not grow without end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from hedgerow.verification.stated import is_number

MOST_ROWS = 60
MOST_BARS = 24
MOST_TEXT = 160
MOST_NAME = 48
UNKNOWN = '<span class="unknown">unknown</span>'


@dataclass(frozen=True)
class Facts:
    """Facts as they were read, of which nothing is taken for granted: a broken release has a report too.

    Examples
    --------
    >>> facts = Facts({"records": 10, "ntil": "a lot"})
    >>> facts.number("records"), facts.number("ntil"), facts.shown("records")
    (10, None, '<data value="10" data-fact="records">10</data>')
    """

    said: Mapping[str, Any]

    def get(self, *path: str) -> Any:
        """Return what is said at a path, or None."""
        found: Any = self.said
        for step in path:
            if not isinstance(found, Mapping) or step not in found:
                return None
            found = found[step]
        return found

    def number(self, *path: str) -> int | float | None:
        """Return a number, or None if there is none."""
        found = self.get(*path)
        return found if is_number(found) else None

    def count(self, *path: str) -> int:
        """Return a whole number, 0 if there is none."""
        found = self.number(*path)
        return found if isinstance(found, int) else 0

    def text(self, *path: str) -> str:
        """Return a text, empty if there is none."""
        found = self.get(*path)
        return found if isinstance(found, str) else ""

    def numbers(self, *path: str) -> dict[str, int | float]:
        """Return the numbers of a mapping, by name."""
        found = self.get(*path)
        if not isinstance(found, Mapping):
            return {}
        kept = {str(name): self.number(*path, name) for name in found}
        return {name: number for name, number in kept.items() if number is not None}

    def sizes(self, name: str) -> dict[int, int]:
        """Return counts by size, ascending."""
        found = {
            int(size): count
            for size, count in self.numbers(name).items()
            if size.isascii() and size.isdigit() and len(size) < 19 and int(size) and isinstance(count, int)
        }
        return {size: found[size] for size in sorted(found) if found[size] > 0}

    def entries(self, name: str) -> list[Mapping[str, Any]]:
        """Return the mappings of a list."""
        found = self.get(name)
        return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []

    def shown(self, *path: str, form: str = ",") -> str:
        """Write a number, with which fact it is for a machine to compare; ``form`` is Python's format.

        Examples
        --------
        >>> Facts({"a": 0.00001, "b": 0.5}).shown("a", form=".1%")
        '<data value="1e-05" data-fact="a">&lt;0.1%</data>'
        """
        found = self.number(*path)
        if found is None:
            return UNKNOWN
        if form == "," and isinstance(found, float):
            form = ".4f"
        shown = f"{found:{form}}"
        if found > 0 and not any("1" <= letter <= "9" for letter in shown):
            shown = "<" + shown[: shown.rindex("0")] + "1" + shown[shown.rindex("0") + 1 :]  # never 0 for a little
        return marked(shown, found, path)


def marked(shown: str, value: Any, path: Sequence[str]) -> str:
    """Write something that is a fact so that a machine can compare it; the path is written as a JSON pointer."""
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in path)
    if len(pointer) > 2 * MOST_NAME:
        return escape(shown)
    told = value if isinstance(value, str) else json.dumps(value)
    return f'<data value="{escape(told)}" data-fact="{escape(pointer)}">{escape(shown)}</data>'


def name(text: str) -> str:
    """Write the name of a column, short enough for a table."""
    return f'<span class="name">{escape(shorten(text, MOST_NAME))}</span>'


def words(text: str, most: int = MOST_TEXT) -> str:
    """Write a text, cut if it is endless."""
    return escape(shorten(text, most))


def shorten(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` letters.

    Examples
    --------
    >>> shorten("California, Kansas, Midwest", 12)
    'California,…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Write names in a sentence, the first of them if they are many."""
    given = list(names)
    shown = ", ".join(name(one) for one in given[:most])
    return shown + (f" and {len(given) - most:,} more" if len(given) > most else "")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0, more: str = "") -> str:
    """Draw a table of cells that are markup already.

    Parameters
    ----------
    head
        Names of the columns.
    rows
        Cells; only the first rows are shown if they are many.
    numbers
        How many of the last columns hold numbers.
    more
        What the rows are, for the line that says how many more there are.
    """
    given = list(rows)
    first = len(head) - numbers
    kinds = ["" if place < first else ' class="number"' for place in range(len(head))]
    tops = "".join(f'<th scope="col"{kind}>{title}</th>' for title, kind in zip(head, kinds, strict=True))
    lines = []
    for row in given[:MOST_ROWS]:
        cells = "".join(
            f'<td data-label="{title}"{kind}><div>{cell}</div></td>'
            for cell, kind, title in zip(row, kinds, head, strict=True)
        )
        lines.append(f"<tr>{cells}</tr>")
    left = len(given) - MOST_ROWS
    note = f'<p class="note">… and {left:,} more {more or "rows"}; facts.json has all.</p>' if left > 0 else ""
    return f'<div class="wide"><table><thead><tr>{tops}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>{note}'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Draw names with what they are."""
    return "<dl>" + "".join(f"<div><dt>{title}</dt><dd>{what}</dd></div>" for title, what in rows) + "</dl>"


def items(points: Iterable[str]) -> str:
    """Draw a list of points."""
    return "<ul>" + "".join(f"<li>{point}</li>" for point in points) + "</ul>"


def section(key: str, title: str, *parts: str) -> str:
    """Draw a section with a heading that the contents can lead to."""
    return f'<section id="{key}"><h2>{title}</h2>{"".join(parts)}</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Draw a paragraph."""
    return f'<p class="{kind}">{text}</p>' if kind else f"<p>{text}</p>"


def figure(chart: str, caption: str) -> str:
    """Draw a chart with a caption."""
    return f"<figure>{chart}<figcaption>{caption}</figcaption></figure>"


def percent(share: float) -> str:
    """Write a share as a percentage: never 0% for what is not nothing, nor 100% for what is not all.

    Examples
    --------
    >>> percent(0.5), percent(0.0095), percent(0.00001), percent(0.999999), percent(0), percent(1)
    ('50%', '0.95%', '<0.01%', '>99.99%', '0%', '100%')
    """
    if 0 < share < 0.0001:
        return "<0.01%"
    if 0.9999 < share < 1:
        return ">99.99%"
    shown = f"{share * 100:.2f}" if share < 0.1 else f"{share * 100:.1f}"
    return shown.rstrip("0").rstrip(".") + "%" if "." in shown else shown + "%"


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "record"), counted(2000, "record"), counted(2, "is", "are")
    ('1 record', '2,000 records', '2 are')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"

"""Pieces of a page that are markup: numbers that say which fact they are, names of columns, states, pictures.

Whatever they are given is escaped by MarkupSafe, as Jinja2 escapes what templates are given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from hedgerow.reports.reading import Facts
from hedgerow.reports.wording import shorten, written

MOST_NAME = 48
UNKNOWN = Markup('<span class="unknown">unknown</span>')


def fact(facts: Facts, *path: str, form: str = ",") -> Markup:
    """Write a number, with which fact it is for a machine to compare; ``form`` is Python's format.

    Examples
    --------
    >>> print(fact(Facts({"a": 0.00001}), "a", form=".1%"))
    <data value="1e-05" data-fact="a">&lt;0.1%</data>
    """
    found = facts.number(*path)
    return UNKNOWN if found is None else marked(written(found, form), found, path)


def marked(shown: str, value: Any, path: Sequence[str]) -> Markup:
    """Write something that is a fact so that a machine can compare it; the path is written as a JSON pointer."""
    pointer = "/".join(step.replace("~", "~0").replace("/", "~1") for step in path)
    if len(pointer) > 2 * MOST_NAME:
        return Markup.escape(shown)
    told = value if isinstance(value, str) else json.dumps(value)
    return Markup('<data value="{}" data-fact="{}">{}</data>').format(told, pointer, shown)


def name(text: str) -> Markup:
    """Write the name of a column, short enough for a table."""
    return Markup('<span class="name">{}</span>').format(shorten(text, MOST_NAME))


def names(texts: Iterable[str], most: int = 12) -> Markup:
    """Write names of columns in a sentence, the first of them if they are many."""
    given = list(texts)
    left = len(given) - most
    return Markup(", ").join(map(name, given[:most])) + (f" and {left:,} more" if left > 0 else "")


def state(kind: str, text: str) -> Markup:
    """Write how something stands; ``kind`` is ``kept``, ``above`` or ``broken``."""
    return Markup('<span class="{}">{}</span>').format(kind, text)


def code(text: str) -> Markup:
    """Write something to be read letter by letter."""
    return Markup("<code>{}</code>").format(text)


def picture(svg: str) -> Markup:
    """Take a chart for markup; nothing but what :mod:`hedgerow.reports.charts` draws may come here."""
    return Markup(svg)


KEPT = state("kept", "✓ kept")
BROKEN = state("broken", "✗ broken")
ABOVE = state("above", "! above")
WITHIN = state("kept", "✓ within")

"""A table whose cells may carry a mark of ours: what is good or bad is told by a word or sign, and by colour too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from nicegui import ui

KEPT = '<span class="chip good">✓ kept</span>'
BROKEN = '<span class="chip bad">✗ broken</span>'


def said(text: object, kind: str = "") -> str:
    """Make a text harmless, and give it a class of the theme.

    Examples
    --------
    >>> said("<b>"), said("7", "bad")
    ('&lt;b&gt;', '<span class="bad">7</span>')
    """
    shown = escape(str(text))
    return f'<span class="{kind}">{shown}</span>' if kind else shown


def cell(value: str | None) -> str:
    """Write a value, or that it is missing."""
    return '<span class="muted">missing</span>' if value is None else said(value)


def marked_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    numbers: Iterable[int] = (),
    wraps: Iterable[int] = (),
    kind: str = "",
    testid: str = "",
) -> None:
    """Show a table of cells that are HTML of ours already; see :func:`said`."""
    right, long = set(numbers), set(wraps)

    def wrapped(tag: str, place: int, html: str) -> str:
        kinds = " ".join(kind for kind, places in (("number", right), ("wraps", long)) if place in places)
        return f'<{tag} class="{kinds}">{html}</{tag}>' if kinds else f"<{tag}>{html}</{tag}>"

    top = "".join(wrapped("th", place, escape(name)) for place, name in enumerate(head))
    body = "".join("<tr>" + "".join(wrapped("td", at, html) for at, html in enumerate(row)) + "</tr>" for row in rows)
    html = f'<table class="studio-table {kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    box = (
        ui.html(html, sanitize=False)
        .classes("studio-scroll")
        .props(f'tabindex=0 role=region aria-label="{escape(label)}"')
    )
    if testid:
        box.props(f"data-testid={testid}")

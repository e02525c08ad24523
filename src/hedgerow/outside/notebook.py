"""How results show themselves in notebooks: a line, and a plain table below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MOST_ROWS = 20
"""Rows of a table that are shown; it is said how many more there are."""


def html_table(above: str, head: Sequence[str], rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> str:
    """Draw a line and a table; numbers get separators, what is missing stays empty, and all text is escaped.

    Examples
    --------
    >>> html_table("1 run", ["k", "groups"], [["<5>", 1234]])
    '<p>1 run</p><table><tr><th>k</th><th>groups</th></tr><tr><td>&lt;5&gt;</td><td>1,234</td></tr></table>'
    """
    listed = list(rows)
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(_written(cell))}</td>' for cell in row)}</tr>" for row in listed[:most])
    more = f"<p>… and {len(listed) - most:,} more</p>" if len(listed) > most else ""
    return f"<p>{escape(above)}</p><table><tr>{titles}</tr>{body}</table>{more}"


def _written(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "✓" if cell else ""
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)

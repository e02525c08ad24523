"""Pieces of summaries: tables with their title above them, bars, and the line that says how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text


def titled(title: str, *words: str, numbers: Sequence[str] = (), room: int = 2) -> Table:
    """Return a table without lines: columns of words, then of numbers; more can be added."""
    table = Table(*words, title=title, title_justify="left", box=None, padding=(0, room))
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def bar(share: float, wide: int, *, style: str = "green", behind: bool = False) -> Text:
    """Draw a share as a bar, over what is missing to the whole if that is wanted."""
    full = round(wide * share)
    return Text("█" * full, style=style) + Text("░" * (wide - full if behind else 0), style="dim")


def and_more(left: int, where: str = "--json lists all") -> list[Text]:
    """Say how many are not shown; nothing if all are."""
    return [Text(f"  … and {left:,} more ({where})", style="dim")] if left > 0 else []

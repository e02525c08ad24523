"""Which columns could be left out, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from hedgerow.reports.terminal.parts import titled


def leaving_out_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show columns that others tell of, and what the other columns lose with and without each."""
    if not found["columns"]:
        return Text(f"\nNo two columns go together closely ({found['strong']} or more): there is none to leave out.")
    names = ("closely", "loses", "others lose", "without it", "saves", "withheld")
    title = "\nleaving out a column that another tells of: mean share lost of the others"
    table = titled(title, "column", "told by", numbers=names, room=1)
    for column in found["columns"]:
        first = (column["column"], column["told_by"], f"{column['association']:.2f}", f"{column['share_lost']:.1%}")
        if "problem" in column:
            table.add_row(*first, Text(column["problem"], style="dim"))
            continue
        lose, gone = column["others_lose"], column["withheld"]
        withheld = f"{gone['with']:,} → {gone['without']:,}"
        table.add_row(*first, f"{lose['with']:.2%}", f"{lose['without']:.2%}", f"{column['saves']:.2%}", withheld)
    note = f"Tried with {found['tried']:,} of {found['records']:,} records, one column at a time."
    return Group(table, Text(note, style="dim"))

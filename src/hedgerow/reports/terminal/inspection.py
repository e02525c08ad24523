"""How a file is read, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import titled


def inspection_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what is assumed with its reasons, what is odd about columns, and what to do next."""
    columns = found["columns"]
    head = Text(f"{found['records']:,} records, {len(columns):,} columns")
    read = titled("how it is read", "", "taken as", "because")
    for one in found["assumptions"]:
        mark = Text("" if one["sure"] else "check", style="bold yellow")
        read.add_row(mark, Text.assemble((f"{one['title']}: ", "bold"), one["shown"]), Text(one["why"], style="dim"))
    seen = titled("columns", "column", "holds", "to know")
    for column in columns:
        seen.add_row(column["name"], column["kind"], Text("\n".join(column["remarks"]), style="yellow"))
    parts: list[RenderableType] = [head, Text(), read, Text(), seen]
    if found["repeats"]:
        people = Table.grid()
        for repeat in found["repeats"]:
            people.add_row(Text(f"People, not rows: {repeat['sentence']}", style="yellow"))
        parts += [Text(), people]
    said = "To say that something is otherwise: --read KEY=VALUE, for example --read decimal=comma. Then: plan draft."
    return Group(*parts, Text(), Text(said, style="dim"))

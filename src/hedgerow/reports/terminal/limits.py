"""Proposed limits, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import titled


def limits_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show proposed limits with what they keep and cost, and what they come to together."""
    records, withheld = found["records"], found["withheld"]
    share = f" ({100 * withheld / records:.2f}%)" if records else ""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("may be withheld", f"{found['allowed']:,} of {records:,} records ({found['at_most']})")
    more = "; others may fit no group" if found["others_may_not_fit"] else ""
    lines.add_row("must be withheld", f"{withheld:,} records{share} with all limits of the plan{more}")
    lines.add_row("loss at most", f"{found['most_loss']:.4f} of 1 (NTIL); {found['most_loss_before']:.4f} without them")
    table = titled("proposed limits", "attribute", "limit")
    for each in found["limits"]:
        table.add_row(each["attribute"], limit_words(each["limit"]))
        table.add_row("", Text(each["note"].removeprefix("none, for "), style="dim"))
    return Group(lines, Text(), table)


def limit_words(limit: Mapping[str, Any] | None) -> str:
    """Say a limit in a few words.

    Examples
    --------
    >>> limit_words({"nodes": ["30-39", "40-49"]}), limit_words({"cuts": [65], "width": 20}), limit_words({"level": 2})
    ('30-39, 40-49', 'cuts 65; width 20', 'level 2')
    """
    if limit is None:
        return "none"
    if "level" in limit:
        return f"level {limit['level']}"
    if "nodes" in limit:
        return ", ".join(limit["nodes"])
    parts = [f"cuts {', '.join(map(str, limit['cuts']))}"] if limit.get("cuts") else []
    return "; ".join(parts + ([f"width {limit['width']}"] if limit.get("width") is not None else []))

"""The lattice, drawn for a terminal: how many nodes satisfy a plan at each height, and a list to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import bar, titled

LISTS = {
    "notable": "minimal nodes, and the best by each objective",
    "minimal": "minimal nodes",
    "best": "the best node by each objective",
    "all": "nodes that satisfy the plan",
}
SHOWN = ("loss", "ncp", "granularity")
"""Objectives with a column of their own; the others are in ``--json``."""


def lattice_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show the lattice: a bar for every height, and the nodes that are listed."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("columns", ", ".join(found["columns"]))
    lines.add_row("nodes", f"{found['nodes']:,}; {found['checked']:,} looked at to know all")
    lines.add_row("satisfying", f"{found['satisfying']:,}, of which {found['minimal_nodes']:,} minimal")
    lines.add_row("may be withheld", f"{found['budget']:,} of {found['records']:,} records")
    lines.add_row("binary search", _binary_search(found["samarati"]))
    for condition in found["conditions"]:
        limits = f"maxP {condition['max_p']:,}, maxGroups {condition['max_groups']:,}"
        lines.add_row(f"p = {condition['p']}", f"{limits} for {', '.join(condition['columns'])}")
    parts: list[RenderableType] = [lines, Text(), _height_bars(found["heights"])]
    if found["listed"]:
        parts += [Text(), _list(found), *_left_out(found), *_legend(found["listed"])]
    return Group(*parts)


def _binary_search(low: Mapping[str, Any] | None) -> str:
    if low is None:
        return "not done: there are too many nodes for it"
    at = "none" if low["levels"] is None else _levels(low["levels"])
    skipped = f", {low['skipped']:,} skipped by Condition 2" if low["skipped"] else ""
    return f"{at}  ({low['checked']:,} looked at{skipped})"


def _height_bars(heights: list[Mapping[str, Any]]) -> Table:
    table = titled("nodes by height: satisfying of all", "height", numbers=("nodes", "satisfying", "minimal"))
    table.add_column("")
    most = max(height["nodes"] for height in heights)
    for height in reversed(heights):
        full = max(1, round(30 * height["nodes"] / most))
        good = bar(height["satisfying"] / height["nodes"], full, behind=True)
        numbers = (f"{height[name]:,}" for name in ("nodes", "satisfying", "minimal"))
        table.add_row(str(height["height"]), *numbers, good)
    return table


def _list(found: Mapping[str, Any]) -> Table:
    table = titled(f"{LISTS[found['which']]}, by {found['sort']}", room=1)
    for name in ("", "levels", "withheld", "groups", "smallest", *SHOWN, "value"):
        table.add_column(name, justify="left" if name == "levels" else "right", no_wrap=True)
    table.add_column("")
    for node in found["listed"]:
        numbers = (f"{node[name]:,}" for name in ("withheld", "groups", "smallest"))
        scores = (f"{node['scores'][name]:.4f}" for name in SHOWN)
        levels = _levels(node["levels"]) + ("*" if node["chosen"] else "")
        row = (str(node["number"]), levels, *numbers, *scores, f"{node['value']:.4f}")
        table.add_row(*row, "m" if node["minimal"] else "")
    return table


def _legend(listed: list[Mapping[str, Any]]) -> list[Text]:
    """Say which nodes of the list are best, and what the marks mean."""
    parts = [f"{node['number']} is best by {', '.join(node['best_for'])}" for node in listed if node["best_for"]]
    parts += ["m: minimal"] if any(node["minimal"] for node in listed) else []
    parts += ["*: chosen by the plan"] if any(node["chosen"] for node in listed) else []
    return [Text("  " + "; ".join(parts), style="dim")] if parts else []


def _left_out(found: Mapping[str, Any]) -> list[Text]:
    """Say how many nodes are not listed, and whether those that are come first for certain."""
    if not found["left_out"]:
        return []
    certain = "" if found["in_order"] else f"; some of them may come before these by {found['sort']}"
    return [Text(f"  … and {found['left_out']:,} more (--most N lists N){certain}", style="dim")]


def _levels(levels: Mapping[str, int]) -> str:
    """Write a node as its levels, in the order of the columns shown above it."""
    return "⟨" + ",".join(str(level) for level in levels.values()) + "⟩"

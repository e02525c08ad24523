"""Decision trees, drawn for a terminal: splits, records, and how pure each node is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import bar
from hedgerow.reports.wording import LEFT_OUT, shorten

BAR = 8


def tree_view(tree: Mapping[str, Any], title: str = "") -> RenderableType:
    """Show a tree, given as :meth:`hedgerow.evaluation.patterns.DecisionTree.to_dict` writes it.

    Every line is a node: the condition that leads to it, its records, its most frequent class and that class's share.
    Where ranges were cut, the records that may lie on either side are counted too.
    """
    rows = list(_rows(tree["root"], "all records", "", ""))
    unsure = any(overlap for *_, overlap in rows)
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column(tree["target"], overflow="fold")
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("most are", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    if unsure:
        table.add_column("unsure", justify="right", no_wrap=True)
    for condition, node, overlap in rows:
        cells: list[RenderableType] = [
            condition,
            f"{node['size']:,}",
            shorten(node["majority"], 24),
            f"{node['purity']:.1%}",
            bar(node["purity"], BAR, style="dim" if "split" in node else "green", behind=True),
        ]
        table.add_row(*cells, *([f"{overlap:,}" if overlap else ""] if unsure else []))
    parts: list[RenderableType] = [Text(title, style="bold")] if title else []
    parts.append(table)
    parts += [Text(line, style="dim") for line in _left_out(tree)]
    if unsure:
        parts.append(Text("unsure: records whose range lies across the node's cut", style="dim"))
    return Group(*parts)


def trees_side_by_side(original: Mapping[str, Any], released: Mapping[str, Any]) -> RenderableType:
    """Show the tree of the original records beside that of the release, or above it where there is no room."""
    views = [tree_view(original, "original records"), tree_view(released, "release")]
    return Columns([Padding(view, (0, 2, 1, 0)) for view in views])


def _rows(
    node: Mapping[str, Any], condition: str, first: str, rest: str
) -> Iterator[tuple[Text, Mapping[str, Any], int]]:
    """Yield the lines of a node and of what is below it; ``first`` and ``rest`` are the branches drawn before them."""
    split = node.get("split")
    yield Text(first, style="dim") + Text(condition), node, split["overlap"] if split else 0
    if split is None:
        return
    sides = [(node["yes"], split["yes"]), (node["no"], split["no"])]
    if split.get("end") == "to":  # greater numbers first, so that two trees are easier to compare
        sides.reverse()
    (upper, above), (lower, below) = sides
    yield from _rows(upper, above, rest + "├─ ", rest + "│  ")
    yield from _rows(lower, below, rest + "└─ ", rest + "   ")


def _left_out(tree: Mapping[str, Any]) -> list[str]:
    counted = [f"{count:,} {LEFT_OUT[reason]}" for reason, count in tree["left_out"].items() if count]
    return [f"left out: {', '.join(counted)}"] if counted else []

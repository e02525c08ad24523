"""Decision trees of the original and of a release, drawn side by side as nested lists."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from nicegui import ui

from hedgerow.reports.wording import LEFT_OUT
from hedgerow.studio import theme


def accuracy(tree: Mapping[str, Any]) -> float:
    """Return the share of records whose class the tree says rightly.

    Examples
    --------
    >>> accuracy({"records": 100, "leaves": [{"size": 40, "purity": 1.0}, {"size": 60, "purity": 0.5}]})
    0.7
    """
    right = sum(leaf["size"] * leaf["purity"] for leaf in tree["leaves"])
    return right / tree["records"] if tree["records"] else 0.0


def show_trees(comparison: Mapping[str, Any]) -> None:
    """Show both trees, and what each gets right; the argument is what a comparison writes as plain data."""
    original, released = comparison["original"], comparison["runs"][0]["tree"]
    before, after = accuracy(original), accuracy(released)
    if not released["records"]:
        theme.note(
            f"{original['target']!r} is coarsened in every released record, so nothing tells it.",
            "warn",
            testid="tree-accuracy",
        )
    else:
        said = (
            f"{original['target']!r} is told rightly for {after:.1%} of {released['records']:,} released records, and "
            f"for {before:.1%} of {original['records']:,} original ones. Always the most frequent value would be "
            f"right for {original['root']['purity']:.1%}."
        )
        theme.note(said, testid="tree-accuracy")
    with ui.element("div").classes("studio-halves").props("data-testid=trees"):
        for title, tree, share in (("Original records", original, before), ("Release", released, after)):
            with ui.column().classes("w-full gap-1"):
                with ui.row().classes("items-center gap-2"):
                    ui.label(title).classes("font-bold")
                    ui.label(f"{share:.1%} right").classes("chip")
                ui.html(tree_html(tree, title), sanitize=False).classes("studio-scroll")


def tree_html(tree: Mapping[str, Any], title: str) -> str:
    """Write a tree as nested lists: every node with its condition, its records and its most frequent class.

    Examples
    --------
    >>> leaf = {"size": 9, "majority": "<flu>", "purity": 1.0}
    >>> "&lt;flu&gt;" in tree_html({"root": leaf, "left_out": {}}, "Release")
    True
    """
    left = [f"{count:,} {LEFT_OUT[reason]}" for reason, count in tree["left_out"].items() if count]
    below = f'<p class="muted small">Left out: {escape(", ".join(left))}.</p>' if left else ""
    return f'<ul class="tree" aria-label="{escape(title)}">{_node(tree["root"], "all records")}</ul>{below}'


def _node(node: Mapping[str, Any], condition: str) -> str:
    split, share = node.get("split"), node["purity"]
    below = ""
    if split is not None:
        sides = [(node["yes"], split["yes"]), (node["no"], split["no"])]
        if split.get("end") == "to":  # greater numbers first, so that two trees are easier to compare
            sides.reverse()
        below = f"<ul>{''.join(_node(side, words) for side, words in sides)}</ul>"
    unsure = (
        f'<span class="muted"> · {split["overlap"]:,} may lie on either side of the cut</span>'
        if split and split["overlap"]
        else ""
    )
    kind = "node" if split is not None else "node leaf"
    counted = f"{share:.0%} {escape(node['majority'])} · {node['size']:,} records{unsure}"
    return (
        f'<li><div class="{kind}"><span class="condition">{escape(condition)}</span>'
        f'<span class="share" aria-hidden="true"><span style="width:{100 * share:.1f}%"></span></span>'
        f'<span class="small">{counted}</span></div>{below}</li>'
    )

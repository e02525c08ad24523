"""Facts, explanations and checks, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

WITHHELD_BECAUSE = {
    "failing_cell": "in cells that are too small or too uniform",
    "fits_no_group": "that fit no group",
    "no_leaf": "with a value that has no leaf",
}


def facts_summary(facts: Mapping[str, Any]) -> RenderableType:
    """Show what a release came to."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("released", f"{facts['released']:,} of {facts['records']:,} records")
    lines.add_row("withheld", _withheld(facts))
    smallest = f"{facts['smallest_group']:,}"
    if "smallest_group_persons" in facts:
        smallest += f" records, {facts['smallest_group_persons']:,} persons"
    lines.add_row("groups", f"{facts['groups']:,}, the smallest of {smallest} (k = {facts['k']})")
    lines.add_row("loss", f"{facts['ntil']:.4f} of 1 (NTIL); NCP {facts['ncp']:.4f}")
    if facts["limits"] == "ignored":
        lines.add_row(
            "limits", Text(f"ignored as asked: {facts['limits_broken']:,} cells go beyond them", style="yellow")
        )
    else:
        lines.add_row("limits", "none broken" if not facts["limits_broken"] else f"{facts['limits_broken']:,} broken")
    disclosed = facts["attribute_disclosures"]
    if disclosed["by_attribute"]:
        text = f"{disclosed['count']:,} times a group shares one sensitive value"
        lines.add_row("disclosures", Text(text, style="yellow") if disclosed["count"] else text)
    exact = sum(facts["exact_end_points"].values())
    if exact:
        lines.add_row("end points", f"{exact:,} cells show the exact value of their record; 'snap' would blur them")
    if facts["columns_not_released"]:
        lines.add_row("left out", ", ".join(facts["columns_not_released"]))
    return Group(lines, Text(), _loss_bars(facts))


def _withheld(facts: Mapping[str, Any]) -> str:
    text = f"{facts['withheld']:,} records"
    if facts["withheld"]:
        because = [
            f"{count:,} {WITHHELD_BECAUSE[reason]}" for reason, count in facts["withheld_because"].items() if count
        ]
        text += f" ({'; '.join(because)})"
    if facts["withheld_is_least"]:
        text += ", the fewest possible within the limits"
    return text


def _loss_bars(facts: Mapping[str, Any]) -> Table:
    """Show the loss of each attribute as a bar: the share of what it could lose."""
    table = Table(title="loss by attribute", title_justify="left", box=None, padding=(0, 2))
    table.add_column("attribute")
    table.add_column("share lost", justify="right")
    table.add_column("")
    worst = max(facts["loss_by_attribute"].values(), default=0) or 1
    for name, loss in facts["loss_by_attribute"].items():
        table.add_row(name, f"{loss / facts['records']:.3f}", Text("█" * round(24 * loss / worst), style="green"))
    return table


def explanation_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what the limits cost before any run."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("records", f"{found['records']:,} ({found['profiles']:,} different profiles)")
    if found["people"] != found["records"] - found["withheld_unknown"]:
        lines.add_row("persons", f"{found['people']:,}")
    lines.add_row(
        "cells", f"{found['cells']:,}; {found['cells_withheld']:,} are too small (k = {found['k']}) or too uniform"
    )
    share = found["withheld"] / found["records"]
    least = "the fewest possible within the limits" if found["proven"] else "few, but not proven the fewest"
    lines.add_row("must be withheld", f"{found['withheld']:,} records ({share:.2%}), {least}")
    if found["withheld_unknown"]:
        lines.add_row("", f"{found['withheld_unknown']:,} of them because a value has no leaf")
    for condition in found["conditions"]:
        lines.add_row(
            f"p = {condition['p']}",
            f"the table allows up to {condition['max_p']:,} different values in every group, "
            f"and with {condition['p']} at most {condition['max_groups']:,} groups",
        )
    parts: list[RenderableType] = [lines]
    if found["causes"]:
        table = Table(
            "attribute", "limit", box=None, padding=(0, 2), title="what each limit costs", title_justify="left"
        )
        table.add_column("without it, fewer withheld", justify="right")
        table.add_column("alone it withholds", justify="right")
        for cause in found["causes"]:
            table.add_row(cause["attribute"], _short(cause["limit"]), f"{cause['saves']:,}", f"{cause['alone']:,}")
        parts += [Text(), table]
    if found["lifts"]:
        table = Table(
            "attribute", "change", box=None, padding=(0, 2), title="single changes that help", title_justify="left"
        )
        table.add_column("saves", justify="right")
        table.add_column("loosens", justify="right")
        for lift in found["lifts"][:12]:
            table.add_row(lift["attribute"], lift["change"], f"{lift['saves']:,}", f"{lift['loosens']:,} records")
        parts += [Text(), table]
        if len(found["lifts"]) > 12:
            parts.append(Text(f"  … and {len(found['lifts']) - 12:,} more (--json lists all)", style="dim"))
    elif found["withheld"]:
        parts += [Text(), Text("No single change saves a record; lower k, or lift several limits together.")]
    return Group(*parts)


def verification_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show which promises are kept."""
    table = Table("", "promise", "asked", "found", box=None, padding=(0, 2))
    for promise in found["promises"]:
        mark = Text("✓", style="green") if promise["kept"] else Text("✗", style="bold red")
        table.add_row(mark, promise["name"], str(promise["asked"]), str(promise["found"]))
    verdict = Text("every promise is kept", style="green") if found["kept"] else Text("BROKEN", style="bold red")
    return Group(table, Text(), verdict)


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"

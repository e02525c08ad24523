"""An assessment, drawn for a terminal: who is unique, by which columns, and what already holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.assessed import (
    columns_text,
    demand_text,
    failing_text,
    headline,
    held,
    notes,
    people_word,
    sample_rows,
    share_text,
    special_text,
    telling,
    uniqueness_rows,
)
from hedgerow.reports.terminal.parts import and_more, titled
from hedgerow.reports.terminal.report import attackers

MOST_COMBINATIONS = 8
MOST_COLUMNS = 15


def assessment_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show an assessment, given as :meth:`hedgerow.evaluation.assessing.Assessment.to_dict` writes it."""
    parts: list[RenderableType] = [Text(headline(found), style="bold yellow" if found["unique"] else "bold")]
    parts += [Text(line, style="dim") for line in notes(found)]
    parts += [Text(), _columns(found)]
    parts += and_more(len(found["parts"]) - MOST_COLUMNS)
    listed = telling(found)
    if listed:
        parts += [Text(), _combinations(found, listed)]
        parts += and_more(len(listed) - MOST_COMBINATIONS)
    if special := special_text(found):
        parts += [Text(), Text(special)]
    parts += [Text(), attackers(found["risks"])]
    if found["sample"] is not None:
        parts += [Text(), _sample(found["sample"], found["risks"]["threshold"])]
    if found["uniqueness"] is not None:
        parts += [Text(), _uniqueness(found["uniqueness"])]
    if found["sensitive"]:
        parts += [Text(), _sensitive(found)]
    if found["demands"]:
        parts += [Text(), _demands(found["demands"])]
    return Group(*parts)


def _columns(found: Mapping[str, Any]) -> Table:
    among = f" among {found['size']}" if found["size"] > 1 else ""
    title = f"{people_word(found)} that are unique by a column alone, that need it{among}, and that are without it"
    table = titled(title, "column", numbers=("values", "by it alone", "need it", "without it", "of scores"))
    for part in found["parts"][:MOST_COLUMNS]:
        numbers = (part["values"], part["unique_alone"], part["needed"], part["unique_without"])
        table.add_row(part["column"], *(f"{number:,}" for number in numbers), share_text(part["share_of_scores"]))
    return table


def _sample(sample: Mapping[str, Any], threshold: float) -> Table:
    table = titled(f"as a sample, estimated by the weights in {sample['weight']}", "", numbers=("",))
    table.show_header = False
    for row in sample_rows(sample, threshold):
        table.add_row(*row)
    return table


def _uniqueness(found: Mapping[str, Any]) -> Table:
    table = titled(f"people who are unique among the {found['population']:,} of the population, estimated", "", "")
    table.show_header = False
    for row in uniqueness_rows(found):
        table.add_row(*row)
    return table


def _combinations(found: Mapping[str, Any], listed: Sequence[Mapping[str, Any]]) -> Table:
    some = f"{found['singled_out']:,} {people_word(found)}"
    title = f"combinations of up to {found['size']} columns that are enough to single out {some}"
    table = titled(title, "columns", numbers=("singles out", "of whom no fewer do"))
    for one in listed[:MOST_COMBINATIONS]:
        table.add_row(columns_text(one["columns"]), f"{one['unique']:,}", f"{one['smallest_of']:,}")
    return table


def _sensitive(found: Mapping[str, Any]) -> Table:
    numbers = ("groups with one value", "records in them")
    table = titled("sensitive columns, as they are in groups", "column", "holds of every group", numbers=numbers)
    for one in found["disclosures"]:
        said = "  ".join(held(found["holds"][one["column"]]))
        table.add_row(one["column"], said, f"{one['groups']:,}", f"{one['records']:,}")
    return table


def _demands(demands: Sequence[Mapping[str, Any]]) -> Table:
    table = titled("required", "", "", "")
    table.show_header = False
    for demand in demands:
        state = Text("✓ holds", style="green") if demand["kept"] else Text("✗ does not hold", style="bold red")
        table.add_row(demand_text(demand), state, failing_text(demand))
    return table

"""How much the table gives away as it stands, before anything is done: who is unique, and by which columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.workbench import Workbench

AT_ONCE = 100_000
"""Records up to which a table is assessed without being asked."""
MOST_COMBINATIONS = 8


def show_assessment_card(bench: Workbench) -> None:
    """Show the card; a large table is assessed when somebody opens it."""
    source, plan = bench.source, bench.plan
    assert source is not None
    if plan is None or not plan.quasi_identifiers:
        return
    at_once = source.records <= AT_ONCE
    card = theme.fold("How much it gives away as it stands", "assessment", at_once, icon="policy")
    with card.classes("studio-card"):
        body = ui.column().classes("w-full gap-2")
    begun = False

    async def fill() -> None:
        nonlocal begun
        if begun:
            return
        begun = True
        with body:
            waiting = theme.note("Counting who is unique, by which columns …")
        try:
            found = await aside(bench.assessment)
        except HedgerowError as error:
            if not body.is_deleted:
                body.clear()
                with body:
                    theme.problem_list(error.problems)
            return
        if not body.is_deleted:
            waiting.delete()
            with body:
                _show(found)

    card.on_value_change(theme.safely(lambda event: fill() if event.value else None))
    if card.value:
        ui.timer(0.05, fill, once=True)


def _show(found: Mapping[str, Any]) -> None:
    people, unique = found["people"], found["unique"]
    share = unique / people if people else 0.0
    theme.note(
        f"{unique:,} of {people:,} people ({share:.0%}) are the only ones with their values in the"
        f" {len(found['columns'])} quasi-identifiers; the smallest group has {found['k']:,} (k = {found['k']:,})."
        " Values are compared as they are written.",
        "warn" if found["k"] == 1 else "good",
        testid="assessment-verdict",
    )
    for told in found["disclosures"]:
        if told["groups"]:
            counts = f"{told['groups']:,} groups with {told['records']:,} records have one value only"
            ui.label(f"{told['column']}: {counts}: who knows that somebody is in them learns it.").classes("small")
    if not unique and not found["telling"]:
        return
    with theme.fold("By which columns, and how few of them are enough", "assessment-by-columns").props("dense"):
        if unique:
            rows = [
                (part["column"], f"{part['values']:,}", f"{part['unique_alone']:,}", f"{part['unique_without']:,}")
                for part in found["parts"]
            ]
            head = ["column", "values", "unique by it alone", "unique without it"]
            theme.table(head, rows, numbers=(1, 2, 3), testid="assessment-columns")
        if found["telling"]:
            ui.label("Combinations that are enough to single somebody out, smallest first").classes("muted")
            combinations = [
                (", ".join(one["columns"]), f"{one['unique']:,}", f"{one['smallest_of']:,}")
                for one in found["telling"][:MOST_COMBINATIONS]
            ]
            head = ["columns", "singles out", "of whom no fewer columns do"]
            theme.table(head, combinations, numbers=(1, 2), testid="assessment-combinations")

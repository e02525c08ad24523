"""Roles of columns: what they mean, and the question that a sensitive column raises at once."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from hedgerow.plan.audiences import USUAL
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.demands import with_role
from hedgerow.studio.views import ColumnView
from hedgerow.studio.workbench import Workbench

ROLES = {
    "identifier": "identifier: left out",
    "quasi-identifier": "quasi-identifier: coarsened",
    "sensitive": "sensitive: published as it is",
    "other": "other: published as it is",
}
ABOUT_ROLES = (
    "An identifier names a person and is left out. A quasi-identifier could be known from elsewhere, such as age or "
    "place: it is coarsened until k people look alike. A sensitive column is what nobody should learn of a person: "
    "it is published as it is, and you say how many different values every group must have. Other columns are "
    "published as they are, and nothing is promised about them."
)
EXAMPLES = 3


async def give_role(bench: Workbench, columns: Sequence[ColumnView], role: str) -> None:
    """Give columns a role; of sensitive ones ask how many different values every group must have."""
    assert bench.plan is not None
    values: int | None = None
    if role == "sensitive":
        fresh = [column for column in columns if bench.plan.attributes.get(column.name, None) is None
                 or bench.plan.attributes[column.name].role != role]  # fmt: skip
        if fresh:
            answer = await _ask_values(fresh)
            if answer is None:
                return
            values = answer or None
    theme.refuse(await aside(lambda: bench.change(**with_role(bench.plan, columns, role, values))))  # type: ignore[arg-type]


async def _ask_values(columns: Sequence[ColumnView]) -> int | None:
    """Ask for the number of different values; 0 is none in particular, None is never mind."""
    names = columns[0].name if len(columns) == 1 else f"each of {len(columns)} columns"
    with ui.dialog() as dialog, ui.card().props("data-testid=ask-values"):
        theme.heading(f"How many different values of {names} must every group have?")
        ui.label(
            "It is published as it is. In a group with one single value everybody knows it of everybody in the group, "
            "though nobody was found."
        )
        seen = [label for label, _ in columns[0].bars if columns[0].kind == "categories"][:EXAMPLES]
        if len(columns) == 1 and seen:
            ui.label(f"For example: {', '.join(seen)}.").classes("muted small")
        field = ui.number("Different values at least", value=USUAL.values, min=2, step=1, precision=0)
        field.classes("w-full").props("outlined dense autofocus data-testid=ask-values-number")
        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
            ui.button("Promise nothing", on_click=lambda: dialog.submit(0)).props("flat data-testid=ask-values-none")
            ui.button("Promise it", on_click=lambda: dialog.submit(int(field.value or 0))).props(
                "unelevated data-testid=ask-values-ok"
            )
    found: int | None = await dialog
    dialog.delete()
    return found

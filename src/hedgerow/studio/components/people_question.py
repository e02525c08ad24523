"""The question that comes first where identifiers repeat: which column names people who have several rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.workbench import Workbench

MOST = 4


def show_people_question(bench: Workbench, answered: Callable[[], Awaitable[None] | None]) -> None:
    """Ask which column names the person, unless that was answered."""
    plan = bench.plan
    assert plan is not None
    repeats = bench.people_to_ask_about[:MOST]
    if not repeats:
        return

    async def person(column: str) -> None:
        attributes = {**plan.to_dict()["attributes"], column: {"role": "identifier"}}
        theme.refuse(await aside(lambda: bench.change(person=column, attributes=attributes)))
        answered()

    def rows() -> None:
        bench.rows_are_people = True
        answered()

    with ui.column().classes("note warn gap-2").props("role=status data-testid=people-question"):
        first = repeats[0]
        ui.label(f"{first.people:,} people in {first.rows:,} rows? Which column names the person?").classes("font-bold")
        ui.label(
            "Until you say, groups are counted in rows. If people have several rows, one person may fill a whole "
            "group, and be found."
        )
        with ui.row().classes("gap-2"):
            for repeat in repeats:
                text = f"{repeat.column}: {repeat.people:,} people"
                button = ui.button(text, on_click=theme.safely(partial(person, repeat.column)))
                theme.mark(button.props("unelevated no-caps"), f"person-{repeat.column}")
            ui.button("None: every row is another person", on_click=theme.safely(rows)).props(
                "outline no-caps data-testid=person-none"
            )

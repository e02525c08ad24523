"""The first screen: a table is opened and looked at, and every column gets its role."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.outside.server import is_server
from hedgerow.plan.formats import format_titles, table_endings
from hedgerow.reports.charts import bar_chart, histogram
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.files import StoredFile
from hedgerow.studio.sessions import Session
from hedgerow.studio.views import ColumnView

PATH = "/data"
ROLES = {
    "identifier": "identifier: left out",
    "quasi-identifier": "quasi-identifier: coarsened",
    "sensitive": "sensitive: kept, and kept diverse",
    "other": "other: kept as it is",
}
ABOUT_ROLES = (
    "An identifier names a person and is left out. A quasi-identifier could be known from elsewhere, such as age or "
    "place: it is coarsened until k people look alike. A sensitive column is what nobody should learn of a person; "
    "it is published as it is, and every group must be diverse in it. Other columns are published as they are."
)
MOST_CARDS = 150
AT_ONCE, FEW = 24, 4
"""Columns that a page is built with, and how many follow at a time."""


async def show() -> None:
    """Show the screen."""
    with theme.frame("data") as session:
        body = ui.column().classes("w-full gap-4")
    if session.opening is not None:
        place, plan = session.opening
        session.opening = None
        with body:
            ui.spinner(size="lg")
            ui.label("Reading the table …").props("role=status")
        await ui.context.client.connected()
        await theme.safely(lambda: _open(session, body, place, plan=plan))()
    if session.bench.source is None:
        _show_opening(session, body)
    else:
        _show_table(session, body)


# -- opening -----------------------------------------------------------------------------------------------------------


def _show_opening(session: Session, body: ui.column) -> None:
    """Show the ways to a table."""

    async def taken(stored: StoredFile) -> None:
        try:
            await _open(session, body, str(stored.path), stored.name)
        except HedgerowError:
            session.files.remove(stored.id)
            raise
        _show_table(session, body)

    async def chosen(place: str, name: str | None = None) -> None:
        await _open(session, body, session.settings.check_place(place), name)
        _show_table(session, body)

    async def connect(address: str) -> None:
        if not is_server(address):
            hint = "for example postgresql://user@host/database?table=schema.patients"
            raise DataError(Problem("table-address", "This is not the address of a table on a server.", hint=hint))
        await chosen(address)

    async def made_up() -> None:
        folder = session.folder / "made-up"
        folder.mkdir(exist_ok=True)
        data, plan = await aside(lambda: write_demo(folder, clinic()))
        await _open(session, body, str(data), "made-up patients", plan)
        _show_table(session, body)

    body.clear()
    with body:
        theme.next_step()
        theme.title(
            "Open a table", f"One line for each record about a person: {format_titles()}. It stays on this machine."
        )
        with ui.element("div").classes("studio-halves"):
            with theme.card():
                theme.heading("Upload a file")
                DropZone("A table", taken, accept=",".join(table_endings()), testid="upload")
                limit = session.settings.upload_bytes
                ui.label(f"Up to {limit / (1 << 20):,.0f} MB. Removed when the studio ends.").classes("muted small")
            with theme.card():
                theme.heading("Or just try it")
                ui.label("2,000 made-up patients with a plan that has limits: no data needed.").classes("muted")
                ui.button("Use made-up patients", icon="science", on_click=theme.safely(made_up)).props(
                    "unelevated data-testid=made-up"
                )
            _show_folder(session, chosen)
            if session.settings.databases:
                with theme.card():
                    theme.heading("Connect a database")
                    ui.label("A table on a PostgreSQL server. Records stay there: only counts come out.").classes(
                        "muted"
                    )
                    address = ui.input("Address", placeholder="postgresql://user@host/database?table=schema.patients")
                    address.classes("w-full").props(
                        'outlined dense data-testid=address autocomplete=off input-style="font-family: monospace"'
                    )
                    ui.button(
                        "Connect", icon="storage", on_click=theme.safely(lambda: connect(address.value.strip()))
                    ).props("unelevated data-testid=connect")


def _show_folder(session: Session, chosen: Any) -> None:
    """Offer the files of the studio's folder, and, for one person, any path."""
    files = session.settings.offered()
    if session.settings.team and not files:
        return
    with theme.card():
        theme.heading("Pick a file on this machine")
        if files:
            with ui.column().classes("w-full gap-1").style("max-height: 14rem; overflow: auto"):
                for path in files:
                    ui.button(
                        path.name, icon="table_chart", on_click=theme.safely(lambda path=path: chosen(str(path)))
                    ).props("flat dense align=left no-caps").classes("w-full")
        if not session.settings.team:
            typed = ui.input("Path", placeholder="/data/patients.csv").classes("w-full")
            typed.props("outlined dense data-testid=path")
            ui.button("Open", on_click=theme.safely(lambda: chosen(typed.value.strip()))).props(
                "unelevated data-testid=open-path"
            )


async def _open(
    session: Session, body: ui.column, place: str, name: str | None = None, plan: Path | None = None
) -> None:
    """Read a table; if that fails, the ways to a table stay."""
    if not place:
        raise DataError(Problem("no-file", "No file is named.", hint="write a path or an address"))
    with body:
        waiting = theme.note("Looking at every column …", testid="reading")
    before = session.bench.source
    try:
        await aside(session.bench.open, place, name, plan)
    finally:
        waiting.delete()
    if before is not None and before.place != place and not session.bench.uses(before.place):
        session.files.remove_at(before.place)
    source = session.bench.source
    assert source is not None
    session.log.write("opened", session, table=source.name, records=source.records, columns=len(source.columns))


# -- the table ---------------------------------------------------------------------------------------------------------


def _show_table(session: Session, body: ui.column) -> None:
    bench = session.bench
    assert bench.source is not None
    assert bench.plan is not None
    source, plan = bench.source, bench.plan
    body.clear()
    with body:
        with ui.row().classes("w-full items-center justify-between"):
            theme.title(
                source.name, "Look at every column and decide what it is. Then say how far values may be coarsened."
            )
            ui.button("Open another table", icon="folder_open", on_click=lambda: _show_opening(session, body)).props(
                "flat data-testid=another"
            )
        with ui.element("div").classes("tiles"):
            theme.tile("records", f"{source.records:,}", "records")
            theme.tile("columns", f"{len(source.columns):,}", "columns")
            theme.tile("quasi-identifiers", f"{len(plan.quasi_identifiers):,}", "quasi-identifiers")
            theme.tile("sensitive", f"{len(plan.columns('sensitive')):,}", "sensitive-columns")
        if not plan.columns("sensitive"):
            theme.note(
                "No column is sensitive yet. If the table holds what nobody should learn of a person, mark it below.",
                "warn",
            )
        with (
            ui.expansion("First records", icon="visibility").classes("w-full studio-card").props("data-testid=preview")
        ):
            theme.table([column.name for column in source.columns], source.preview, testid="preview-table")
        with ui.expansion("What do the roles mean?", icon="help").classes("w-full studio-card"):
            ui.label(ABOUT_ROLES)
        with ui.element("div").classes("studio-grid") as grid:
            for column in source.columns[:AT_ONCE]:
                _show_column(session, body, column)
        if len(source.columns) > AT_ONCE:
            ui.timer(0.01, lambda: _show_more(session, body, grid, source.columns[AT_ONCE:MOST_CARDS]), once=True)
        if len(source.columns) > MOST_CARDS:
            more = f"{len(source.columns) - MOST_CARDS:,} more columns"
            theme.note(f"{more} are in the plan as drafted: change them in a plan file.", "warn")
        _show_keys(session, body)
        _show_plan_file(session, body)
        theme.next_step("Next: limits", "/limits")


async def _show_more(session: Session, body: ui.column, grid: ui.element, columns: Sequence[ColumnView]) -> None:
    """Show more columns, a few at a time: a wide table must not keep the pages of others waiting."""
    for first in range(0, len(columns), FEW):
        if grid.is_deleted:
            return
        with grid:
            for column in columns[first : first + FEW]:
                _show_column(session, body, column)
        await asyncio.sleep(0.01)


def _show_column(session: Session, body: ui.column, column: ColumnView) -> None:
    """Show what a column holds, what is proposed for it and why; its role can be changed."""
    plan = session.bench.plan
    assert plan is not None
    role = plan.attributes[column.name].role if column.name in plan.attributes else None

    async def changed(event: Any) -> None:
        try:
            await aside(_set_role, session, column, event.value)
        finally:
            _show_table(session, body)

    with theme.mark(theme.card(), f"column-{column.name}"):
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            theme.heading(column.name)
            if column.nearly_unique:
                ui.label("nearly unique").classes("chip warn")
        ui.label(column.seen).classes("muted small")
        _show_values(column)
        choice = ui.select(ROLES, value=role, label="Role", on_change=theme.safely(changed)).classes("w-full")
        theme.mark(choice.props("outlined dense"), f"role-{column.name}")
        if role is None:
            ui.label("The plan does not name it, so it is left out.").classes("small")
        if column.nearly_unique and role in ("sensitive", "other"):
            theme.note("Nearly every record has a value of its own, published as it is: it may name people.", "warn")
        if column.role == "quasi-identifier":
            text = "Proposed: quasi-identifier, because others may know it of a person; in doubt it is coarsened."
            ui.label(text).classes("small muted")
        for remark in column.notes:
            ui.label(remark).classes("small muted")


def _set_role(session: Session, column: ColumnView, role: str) -> None:
    """Give a column a role; as a quasi-identifier it gets the hierarchy that was proposed for it."""
    keys: dict[str, Any] = {"role": role}
    if role == "quasi-identifier" and column.role == role:
        if column.rule:
            keys["hierarchy"] = column.rule
        if column.unknown:
            keys["unknown"] = column.unknown
    theme.refuse(session.bench.change_attribute(column.name, **keys))


def _show_values(column: ColumnView) -> None:
    """Draw the distribution of a column."""
    if not column.kind:
        ui.label("Nothing to draw." if column.readable else "Its values cannot be read.").classes("muted small")
        return
    if column.kind == "names":
        ui.label("Its values would fill the screen with single people, so they are not drawn.").classes("muted small")
    elif column.kind == "numbers":
        theme.chart(histogram(column.bars, title=f"records by {column.name}", x=column.name, y="records"))
    else:
        theme.chart(
            bar_chart([(label, float(count)) for label, count in column.bars], title=f"records by {column.name}")
        )


def _show_keys(session: Session, body: ui.column) -> None:
    """Let the owner name the columns that tell records and persons apart."""
    plan = session.bench.plan
    assert plan is not None
    assert session.bench.source is not None
    names = {"": "none", **{column.name: column.name for column in session.bench.source.columns}}

    async def changed(key: str, value: str) -> None:
        keys: dict[str, Any] = {key: value or None}
        attributes = plan.to_dict()["attributes"]
        if value and value not in attributes:
            keys["attributes"] = {**attributes, value: {"role": "identifier"}}
        theme.refuse(await aside(session.bench.change, **keys))
        _show_table(session, body)

    with theme.card():
        theme.heading("Records and persons")
        with ui.element("div").classes("studio-halves"):
            for key, text in (
                ("key", "Names a record (needed to keep a release current)"),
                ("person", "Names a person: k then counts persons"),
            ):
                select = ui.select(names, value=getattr(plan, key) or "", label=text).classes("w-full")
                select.on_value_change(theme.safely(lambda event, key=key: changed(key, event.value)))
                select.props(f"outlined dense data-testid={key}")


def _show_plan_file(session: Session, body: ui.column) -> None:
    """Let a plan that is there already be used."""

    async def taken(stored: StoredFile) -> None:
        try:
            plan = await aside(session.bench.read_plan, stored.path, stored.name)
        finally:
            session.files.remove(stored.id)
        await aside(session.bench.take_plan, plan)
        session.log.write("plan taken", session, plan=plan.digest())
        _show_table(session, body)

    with ui.expansion("Use a plan file", icon="upload_file").classes("w-full studio-card"):
        ui.label(
            "Roles, hierarchies, limits and promises of a plan that you have. It must hold its hierarchies itself."
        ).classes("muted small")
        DropZone("A plan", taken, accept=".yaml,.yml", testid="upload-plan")

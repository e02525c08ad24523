"""The first screen: a table is opened and looked at, and every column gets its role."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.outside.server import is_server
from hedgerow.plan.formats import format_titles, table_endings
from hedgerow.reports.charts import bar_chart, histogram
from hedgerow.studio import theme
from hedgerow.studio.advice import Advice, advice_on, remarks_on
from hedgerow.studio.background import aside
from hedgerow.studio.components.assessment_card import show_assessment_card
from hedgerow.studio.components.column_table import ColumnTable
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.components.people_question import show_people_question
from hedgerow.studio.components.reading_card import show_reading_card
from hedgerow.studio.components.roles import ABOUT_ROLES, ROLES, give_role
from hedgerow.studio.components.treatment_fields import show_treatment_fields
from hedgerow.studio.files import StoredFile
from hedgerow.studio.sessions import Session
from hedgerow.studio.views import ColumnView

PATH = "/data"
MOST_CARDS = 150
VIEWS = {"cards": "Cards", "table": "Table"}
MANY = 12
"""With more columns than this the table is shown first."""
AT_ONCE, FEW = 24, 4
"""Columns that a page is built with, and how many follow at a time."""


async def show(another: bool = False) -> None:
    """Show the screen; ``another``: the ways to a table, although there is one."""
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
    if session.bench.source is None or another:
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
            hint = (
                "for example postgresql://user@host/database?table=schema.patients"
                " or mariadb://user@host/database?table=patients"
            )
            raise DataError(Problem("table-address", "This is not the address of a table on a server.", hint=hint))
        await chosen(address)

    async def tour() -> None:
        await open_made_up()
        session.touring = True
        ui.navigate.to(PATH)  # the frame shows its first step

    async def made_up() -> None:
        await open_made_up()
        _show_table(session, body)

    async def open_made_up() -> None:
        folder = session.folder / "made-up"
        folder.mkdir(exist_ok=True)
        data, plan = await aside(lambda: write_demo(folder, clinic()))
        await _open(session, body, str(data), "made-up patients", plan)

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
                theme.heading("New here?")
                ui.label(
                    "2,000 made-up patients with a plan that has limits: no data needed. The tour leads you through "
                    "them in five steps, and you can leave it at any time."
                ).classes("muted")
                ui.button("Take the tour", icon="explore", on_click=theme.safely(tour)).props(
                    "unelevated data-testid=tour"
                )
                ui.button("Use made-up patients", icon="science", on_click=theme.safely(made_up)).props(
                    "outline data-testid=made-up"
                )
            _show_folder(session, chosen)
            if session.settings.databases:
                with theme.card():
                    theme.heading("Connect a database")
                    ui.label(
                        "A table on a PostgreSQL or MariaDB server. Records stay there: only counts come out."
                    ).classes("muted")
                    address = ui.input(
                        "Address", placeholder="postgresql://… or mariadb://user@host/database?table=patients"
                    )
                    address.classes("w-full").props(
                        'outlined dense data-testid=address autocomplete=off input-style="font-family: monospace"'
                    )
                    ui.button(
                        "Connect",
                        icon="storage",
                        on_click=theme.safely_at(address, lambda: connect(address.value.strip())),
                    ).props("unelevated data-testid=connect")


def _show_folder(session: Session, chosen: Any) -> None:
    """Offer the files of the studio's folder, and, for one person, any path."""
    files = session.settings.offered()
    if session.settings.team and not files:
        return
    with theme.card():
        theme.heading("Choose a file on this machine")
        if files:
            with ui.column().classes("w-full gap-1").style("max-height: 14rem; overflow: auto"):
                for path in files:
                    ui.button(
                        path.name, icon="table_chart", on_click=theme.safely(lambda path=path: chosen(str(path)))
                    ).props("flat dense align=left no-caps").classes("w-full")
        if not session.settings.team:
            typed = ui.input("Path", placeholder="/data/patients.csv").classes("w-full")
            typed.props("outlined dense data-testid=path")
            ui.button("Open", on_click=theme.safely_at(typed, lambda: chosen(typed.value.strip()))).props(
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
        show_people_question(bench, lambda: _show_table(session, body))
        show_reading_card(bench, lambda: _show_table(session, body))
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
        show_assessment_card(bench)
        with theme.fold("First records", "preview", icon="visibility").classes("studio-card"):
            theme.table([column.name for column in source.columns], source.preview, testid="preview-table")
        with theme.fold("What do the roles mean?", "about-roles", icon="help").classes("studio-card"):
            ui.label(ABOUT_ROLES)
        _show_columns(session, body)
        _show_keys(session, body)
        _show_plan_file(session, body)
        theme.next_step("Next: limits", "/limits")


def _show_columns(session: Session, body: ui.column) -> None:
    """Show all columns, as cards or in one table."""
    bench = session.bench
    assert bench.source is not None
    assert bench.plan is not None
    columns = bench.source.columns
    view = session.kept.data_view or ("table" if len(columns) > MANY else "cards")

    async def give(some: Sequence[ColumnView], role: str) -> None:
        try:
            await give_role(bench, some, role)
        finally:
            _show_table(session, body)

    def turn(event: Any) -> None:
        session.kept.data_view = event.value
        _show_table(session, body)

    with ui.row().classes("w-full items-center justify-between"):
        theme.heading("Columns")
        choice = ui.toggle(VIEWS, value=view, on_change=theme.safely(turn))
        choice.props('no-caps unelevated toggle-text-color=white data-testid=view aria-label="How columns are shown"')
    if view == "table":
        ColumnTable(columns, bench.plan, give, lambda column, advice: _follow(session, body, column, advice))
        return
    with ui.element("div").classes("studio-grid") as grid:
        for column in columns[:AT_ONCE]:
            _show_column(session, body, column)
    if len(columns) > AT_ONCE:
        ui.timer(0.01, lambda: _show_more(session, body, grid, columns[AT_ONCE:MOST_CARDS]), once=True)
    if len(columns) > MOST_CARDS:
        theme.note(f"{len(columns) - MOST_CARDS:,} more columns are in the table.", "warn")


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

    async def give(role: str) -> None:
        try:
            await give_role(session.bench, [column], role)
        finally:
            _show_table(session, body)

    with theme.mark(theme.card(), f"column-{column.name}"):
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            theme.heading(column.name)
            if column.nearly_unique:
                ui.label("nearly unique").classes("chip warn")
        ui.label(column.seen).classes("muted small")
        _show_values(column)
        choice = ui.select(
            ROLES, value=role, label="Role", on_change=theme.safely(lambda event: give(event.value))
        ).classes("w-full")
        theme.mark(choice.props("outlined dense"), f"role-{column.name}")
        if role is None:
            ui.label("The plan does not name it, so it is left out.").classes("small")
        elif role != "identifier":
            _show_title(session, column)
            if not column.seen.startswith(("text", "long text")):
                show_treatment_fields(session, column)
        if column.nearly_unique and role in ("sensitive", "other"):
            theme.note("Nearly every record has a value of its own, published as it is: it may name people.", "warn")
        for number, advice in enumerate(advice_on(column, plan)):
            with ui.column().classes("note gap-1"):
                ui.label(advice.text).classes("small")
                button = ui.button(
                    advice.button, on_click=theme.safely(partial(_follow, session, body, column, advice))
                )
                theme.mark(button.props("outline dense no-caps padding='xs sm'"), f"advice-{column.name}-{number}")
        for remark in remarks_on(column):
            ui.label(remark).classes("small muted")


async def _follow(session: Session, body: ui.column, column: ColumnView, advice: Advice) -> None:
    """Do what is advised about a column."""
    if advice.where:
        ui.navigate.to(advice.where)
        return
    try:
        if advice.keys is None:
            await give_role(session.bench, [column], "sensitive")
        else:
            theme.refuse(await aside(lambda: session.bench.change_attribute(column.name, **dict(advice.keys or {}))))
    finally:
        _show_table(session, body)


def _show_title(session: Session, column: ColumnView) -> None:
    """Let a column have the title that reports and files of other programs call it by."""
    assert session.bench.plan is not None
    taken = [session.bench.plan.attributes[column.name].title or ""]
    field = ui.input("Title (optional)", value=taken[0]).classes("w-full")
    theme.mark(field.props("outlined dense autocomplete=off"), f"title-{column.name}")

    async def left(_: Any) -> None:
        title = (field.value or "").strip()
        if title == taken[0]:
            return
        keys = {"title": title or None}
        if await theme.taken_at(field, lambda: aside(lambda: session.bench.change_attribute(column.name, **keys))):
            taken[0] = title

    field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))


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
            _show_unit(session, body, names)


def _show_unit(session: Session, body: ui.column, names: dict[str, str]) -> None:
    """Let the owner name what is published linked, and the columns that are the same in it."""
    plan = session.bench.plan
    assert plan is not None
    unit = plan.unit

    async def changed(**parts: Any) -> None:
        given = {**({} if unit is None else unit.model_dump()), **parts}
        asked: dict[str, Any] = {"unit": given if given.get("column") else None}
        attributes = plan.to_dict()["attributes"]
        if given.get("column"):
            asked["attributes"] = {**attributes, given["column"]: {"role": "identifier"}}
        theme.refuse(await aside(session.bench.change, **asked))
        _show_table(session, body)

    text = "Links rows in the release, as a household number does: the whole unit is then one of k"
    select = ui.select(names, value="" if unit is None else unit.column, label=text).classes("w-full")
    select.on_value_change(theme.safely(lambda event: changed(column=event.value)))
    select.props("outlined dense data-testid=unit")
    if unit is None:
        return
    columns = [name for name in plan.released_columns if name != unit.column]
    text = "Columns that all rows of a unit have the same, such as the region"
    shared = ui.select(columns, value=list(unit.same), label=text, multiple=True).classes("w-full")
    order = [name for name in unit.order if name not in unit.same]
    shared.on_value_change(
        theme.safely(lambda event: changed(same=event.value, order=[name for name in order if name not in event.value]))
    )
    shared.props("outlined dense use-chips data-testid=unit-same")
    matched = [name for name in plan.quasi_identifiers if name not in unit.same and name != unit.column]
    text = "Match the rows of two units first by (empty: all, in the order of the plan)"
    first = ui.select(matched, value=order, label=text, multiple=True).classes("w-full")
    first.on_value_change(theme.safely(lambda event: changed(order=event.value)))
    first.props("outlined dense use-chips data-testid=unit-order")


def _show_plan_file(session: Session, body: ui.column) -> None:
    """Let a plan that is there already be used."""

    async def taken(stored: StoredFile) -> None:
        try:
            plan, file = await aside(session.bench.read_plan, stored.path, stored.name)
        finally:
            session.files.remove(stored.id)
        await aside(session.bench.take_plan, plan, file)
        session.log.write("plan taken", session, plan=plan.digest())
        _show_table(session, body)

    with theme.fold("Use a plan file", "use-plan", icon="upload_file").classes("studio-card"):
        ui.label(
            "Roles, hierarchies, limits and promises of a plan that you have. It must hold its hierarchies itself."
        ).classes("muted small")
        DropZone("A plan", taken, accept=".yaml,.yml", testid="upload-plan")

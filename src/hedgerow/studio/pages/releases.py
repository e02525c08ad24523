"""The screen of maintained releases: a release that stays current, its history, changes from files, and the audit."""

from __future__ import annotations

import inspect
import secrets
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.server import is_server
from hedgerow.plan.formats import format_titles, table_endings
from hedgerow.reports.versions import AS_IT_IS
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components import release_views
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.components.export_card import send_release
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.files import StoredFile
from hedgerow.studio.jobs import Job
from hedgerow.studio.pages.result import CSS
from hedgerow.studio.sessions import Session
from hedgerow.studio.stores import StoreView, offered_stores, shown_store

PATH = "/releases"
ABOUT = (
    "A release that stays current: people come, leave and change, and every version keeps the promises of its plan. "
    "Its history lies in a store, private to you. Open one, or begin one from the table at work."
)
CHANGES = {
    "insert": ("People who come", "Records with new keys."),
    "delete": ("People who leave", "A table with the key column; other columns are not looked at."),
    "update": ("People who change", "Whole records, with keys that are known."),
}


async def show() -> None:
    """Show the screen."""
    with theme.frame("releases") as session:
        ui.add_css(CSS)
        body = ui.column().classes("w-full gap-4")
    screen = _Screen(session, body)
    await ui.context.client.connected()
    await theme.safely(screen.refresh)()


class _Screen:
    """The store that is open, if one is, and the work on it."""

    def __init__(self, session: Session, body: ui.column) -> None:
        self._session, self._bench, self._body = session, session.bench, body
        self._message: tuple[str, str] | None = None
        self._audit: dict[str, Any] | None = None
        self._brought: StoredFile | None = None

    async def refresh(self) -> None:
        """Show the store anew, or the ways to one."""
        view: StoreView | None = None
        problems: tuple[Problem, ...] = ()
        if self._bench.store is not None:
            try:
                view = await aside(self._bench.look_at_store, self._bench.store)
            except HedgerowError as error:
                self._bench.store, problems = None, error.problems
        self._body.clear()
        with self._body:
            if view is None:
                self._show_opening(problems)
            else:
                self._show_store(view)
        if self._bench.store_job is not None and self._bench.store_job.running:
            self._watch(self._bench.store_job)

    # -- opening -------------------------------------------------------------------------------------------------------

    def _show_opening(self, problems: tuple[Problem, ...]) -> None:
        theme.title("Releases", "Keep a release current while its table changes.")
        theme.empty(ABOUT)
        with theme.card():
            theme.heading("Open a store, or begin one")
            theme.problem_list(problems)
            for path in offered_stores(self._session.settings, self._session.user):
                ui.button(path.name, icon="history", on_click=self._here(partial(self._open, str(path)))).props(
                    "flat dense align=left no-caps"
                )
            place = ui.input("Where its history lies", placeholder="clinic.store").classes("w-full")
            place.props("outlined dense autocomplete=off data-testid=store-path")
            hint = "A file" + (
                ", or postgresql://user@host/database?schema=name" if self._session.settings.databases else ""
            )
            ui.label(f"{hint}.").classes("muted small")
            with ui.row().classes("gap-3"):
                ui.button("Open", icon="folder_open", on_click=self._here(lambda: self._open(place.value))).props(
                    "unelevated data-testid=open-store"
                )
                create = ui.button(
                    "Begin a new one", icon="add", on_click=self._here(lambda: self._create(place.value))
                )
                create.props("outline data-testid=create-store").set_enabled(self._can_create())
            self._say_what_is_missing()
            self._progress = ui.column().classes("w-full")

    def _can_create(self) -> bool:
        return self._bench.plan is not None and self._bench.plan.key is not None

    def _say_what_is_missing(self) -> None:
        plan, source = self._bench.plan, self._bench.source
        if plan is None or source is None:
            with ui.row().classes("gap-1 small items-center"):
                ui.label("To begin a new one,")
                ui.link("open a table first.", "/data")
        elif plan.key is None:
            with ui.row().classes("gap-1 small items-center"):
                ui.label("To begin a new one, the plan must name the key of its records:")
                ui.link("choose it at the end of Data.", "/data").props("data-testid=choose-key")
        else:
            ui.label(
                f"A new one is begun from {source.name} and the plan as it is now; {plan.key} names its records."
            ).classes("small muted")

    def _place(self, typed: str) -> str:
        if not typed.strip():
            raise DataError(
                Problem("no-file", "No store is named.", hint="write the path of a file, such as clinic.store")
            )
        return self._session.settings.check_store(typed.strip(), self._session.user)

    async def _open(self, typed: str) -> None:
        place = self._place(typed)
        await aside(self._bench.look_at_store, place)
        self._bench.store = place
        self._session.log.write("store opened", self._session, store=shown_store(place))
        await self.refresh()

    def _create(self, typed: str) -> None:
        assert self._bench.source is not None
        place = self._place(typed)
        plan = self._session.files.write("plan.yaml", self._bench.plan_yaml().encode())
        self._begin("create", plan, store=place, data=self._bench.source.place, plan=str(plan.path))

    # -- the store -----------------------------------------------------------------------------------------------------

    def _show_store(self, view: StoreView) -> None:
        with ui.row().classes("w-full items-end justify-between gap-3"):
            with ui.column().classes("gap-1"):
                theme.title("Releases", f"Every version meets {', '.join(view.demands)} under its plan's assumptions.")
                ui.label(view.name).classes("told muted").props("data-testid=store-name")
            ui.button("Another store", icon="folder_open", on_click=self._here(self._close)).props(
                "flat data-testid=another-store"
            )
        self._progress = ui.column().classes("w-full")
        if self._message is not None:
            with self._progress:
                theme.note(*self._message, testid="store-message")
            self._message = None
        release_views.show_newest(view)
        release_views.show_advice(view)
        self._actions = ui.column().classes("w-full gap-4")
        with self._actions:
            self._show_changes(view)
            with ui.element("div").classes("studio-halves"):
                self._show_regrouping(view)
                self._show_export(view)
            self._show_audit()
        release_views.show_history(view)
        release_views.show_drift(view)

    def _show_changes(self, view: StoreView) -> None:
        with theme.card():
            theme.heading("Change it from a file")
            text = f"{format_titles()}; {view.key} names the records. Each file makes one new version."
            ui.label(text).classes("muted small")
            with ui.element("div").classes("studio-grid"):
                for verb, (title, text) in CHANGES.items():
                    with ui.column().classes("gap-1 w-full"):
                        DropZone(title, partial(self._change, verb), accept=",".join(table_endings()), testid=verb)
                        ui.label(text).classes("muted small")
            if self._session.settings.databases:
                self._show_server()

    def _show_server(self) -> None:
        """Let a change come from a table on a server."""
        with ui.row().classes("w-full gap-3 items-center"):
            place = ui.input(
                "Or a table on a server", placeholder="postgresql://… or mariadb://user@host/database?table=name"
            )
            place.classes("grow").props("outlined dense autocomplete=off data-testid=change-address")
            verbs = {verb: title for verb, (title, _) in CHANGES.items()}
            verb = ui.select(verbs, value="insert").props("outlined dense data-testid=change-verb")
            ui.button(
                "Take it", icon="storage", on_click=self._here(lambda: self._change_by_table(verb.value, place.value))
            ).props("outline data-testid=change-by-table")

    def _show_regrouping(self, view: StoreView) -> None:
        with theme.card():
            theme.heading("Group people anew")
            can = view.republish in ("free", "gated")
            if not can:
                ui.label(f"The plan says 'republish: {view.republish}', so people may not be grouped anew.").classes(
                    "small"
                )
            ui.label("Optimize moves and swaps some people between groups, so that less is lost.").classes(
                "muted small"
            )
            ui.button("Optimize", icon="tune", on_click=self._here(lambda: self._begin("optimize"))).props(
                "outline data-testid=optimize"
            ).set_enabled(can)
            ui.label(
                "Restart groups everybody as if the release were begun now. Readers of earlier versions learn most "
                "from that: look at the audit afterwards."
            ).classes("muted small")
            ui.button("Restart", icon="restart_alt", on_click=self._here(lambda: self._begin("restart"))).props(
                "outline data-testid=restart"
            ).set_enabled(can)

    def _show_export(self, view: StoreView) -> None:
        numbers = {row.number: f"version {row.number}, by {row.verb}" for row in reversed(view.versions)}
        with theme.card():
            theme.heading("Take a version away")
            ui.label(
                "Data, plan.yaml and facts.json in one file, made anew from the store and checked once more."
            ).classes("muted small")
            choice = ui.select(numbers, value=view.newest.number, label="Version").classes("w-full")
            choice.props("outlined dense data-testid=export-choice")
            ui.button(
                "Release (zip)", icon="folder_zip", on_click=self._here(lambda: self._export(int(choice.value)))
            ).props("unelevated data-testid=export-version")

    def _show_audit(self) -> None:
        with theme.card():
            theme.heading("Audit")
            ui.label(
                "What could somebody learn who holds all versions, knows a person's quasi-identifiers, and knows in "
                "which versions the person is?"
            ).classes("muted small")
            ui.button("Audit all versions", icon="policy", on_click=self._here(lambda: self._begin("audit"))).props(
                "unelevated data-testid=audit"
            )
            if self._audit is not None:
                release_views.show_audit(self._audit)

    async def _close(self) -> None:
        self._bench.store, self._audit = None, None
        await self.refresh()

    # -- work ----------------------------------------------------------------------------------------------------------

    async def _change(self, verb: str, stored: StoredFile) -> None:
        await self._here(lambda: self._begin(verb, stored, data=str(stored.path)))()

    def _change_by_table(self, verb: str, typed: str) -> None:
        if not is_server(typed.strip()):
            hint = "such as postgresql://user@host/database?table=schema.name; a file is dropped above"
            raise DataError(Problem("table-address", "This is not the address of a table on a server.", hint=hint))
        self._begin(verb, data=self._session.settings.check_place(typed.strip()))

    def _export(self, version: int) -> None:
        self._begin("export", version=version, output=str(self._session.folder / f"export-{secrets.token_hex(8)}"))

    def _here(self, work: Callable[[], Any]) -> Callable[..., Any]:
        """Wrap a handler: what is wrong is shown in place."""

        async def handler() -> None:
            try:
                found = work()
                if inspect.isawaitable(found):
                    await found
            except HedgerowError as error:
                self._progress.clear()
                with self._progress:
                    theme.problem_list(error.problems)

        return theme.safely(lambda *_: handler())

    def _begin(self, verb: str, brought: StoredFile | None = None, **more: Any) -> None:
        """Begin some work on the store, one at a time; a file that was brought for it is removed in the end."""
        if self._bench.store_job is not None and self._bench.store_job.running:
            raise HedgerowError(
                Problem("usage", "Something is at work on the store already.", hint="wait, or cancel it")
            )
        job = self._bench.begin({"task": "maintain", "verb": verb, "store": self._bench.store, **more})
        self._bench.store_job, self._brought = job, brought
        self._session.log.write("store", self._session, verb=verb)
        self._watch(job)

    def _watch(self, job: Job) -> None:
        if self._bench.store is not None:
            self._actions.set_visibility(False)
        self._progress.clear()
        with self._progress:
            JobView(job, self._done, "store", always=self._ended)

    def _ended(self) -> None:
        if self._brought is not None:
            self._session.files.remove(self._brought.id)
        if self._bench.store is not None:
            self._actions.set_visibility(True)

    async def _done(self, job: Job) -> None:
        found = job.result
        verb, version = found["verb"], int(found.get("version", 0))
        if verb == "audit":
            self._audit = found
        elif verb == "export":
            await self._hand_out(version, Path(found["output"]))
            self._message = (f"Version {version} is on its way to your downloads.", "good")
        else:
            self._bench.store = found.get("store", self._bench.store)
            self._audit = None
            self._message = (
                (f"Version {version} was made, and every promise is kept.", "good")
                if found["changed"]
                else (f"Nothing to change: {AS_IT_IS[verb]}. Version {version} stays the newest.", "")
            )
        await self.refresh()

    async def _hand_out(self, version: int, folder: Path) -> None:
        """Pack an exported version, let the browser download it, and remove the folder."""
        try:
            await send_release(self._session, folder, f"version-{version}.zip")
        finally:
            await aside(shutil.rmtree, folder, ignore_errors=True)
        self._session.log.write("exported", self._session, kind="version", version=version)

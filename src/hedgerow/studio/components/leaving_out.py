"""Columns that could be left out because others tell of them: tried on request, and left out with one click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.jobs import Job
from hedgerow.studio.workbench import Workbench

HEAD = ("column", "told by", "how closely", "loses itself", "others lose", "without it", "saves", "withheld", "")
FIRST_NUMBER = 2


class LeavingOutCard:
    """Tries what leaving out each column that goes closely with another would save the others."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        folded = theme.fold("Columns that could be left out", "leave-out", icon="playlist_remove")
        with folded.classes("studio-card"):
            ui.label(
                "Where one column tells of another, releasing both costs all the others detail. Each such column is "
                "left out in turn, and what the others lose with and without it is measured on the original records: "
                "for your eyes only."
            ).classes("muted small")
            self._button = ui.button("Try it", icon="science", on_click=theme.safely(self._try))
            self._button.props("outline data-testid=leave-out-try")
            self._place = ui.column().classes("w-full gap-3").props("aria-live=polite")

    def _try(self) -> None:
        job = self._bench.try_leaving_out()
        self._button.set_enabled(False)
        self._place.clear()
        with self._place:
            JobView(job, self._show, "leave-out", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        found = job.result
        self._place.clear()
        with self._place:
            if not found["columns"]:
                theme.note(
                    f"No two columns go together closely ({found['strong']} or more): there is none to leave out."
                )
                return
            with ui.element("div").classes("studio-scroll"), ui.element("table").classes("limits-table"):
                with ui.element("thead"), ui.element("tr"):
                    for place, title in enumerate(HEAD):
                        with ui.element("th").classes("number" if place >= FIRST_NUMBER else ""):
                            ui.label(title)
                with ui.element("tbody").props("data-testid=leave-out-found"):
                    for column in found["columns"]:
                        self._row(column)
            ui.label(f"Tried with {found['tried']:,} of {found['records']:,} records, one column at a time.").classes(
                "muted small"
            )

    def _row(self, column: Mapping[str, Any]) -> None:
        name = column["column"]
        first = (name, column["told_by"], f"{column['association']:.2f}", f"{column['share_lost']:.1%}")
        with ui.element("tr"):
            for place, text in enumerate((*first, *_saved(column))):
                with ui.element("td").classes("number" if place >= FIRST_NUMBER else ""):
                    ui.label(text)
            with ui.element("td"):
                if "problem" in column:
                    ui.label(column["problem"]).classes("muted small")
                else:
                    button = ui.button("Leave it out", on_click=theme.safely(lambda: self._leave_out(name)))
                    button.props("flat dense no-caps")
                    button.props["data-testid"] = f"leave-out-{name}"

    async def _leave_out(self, name: str) -> None:
        theme.refuse(await aside(self._bench.leave_out, name))
        ui.navigate.to("/limits")


def _saved(column: Mapping[str, Any]) -> tuple[str, ...]:
    if "problem" in column:
        return ("–",) * 4
    lose, gone = column["others_lose"], column["withheld"]
    withheld = f"{gone['with']:,} → {gone['without']:,}"
    return f"{lose['with']:.2%}", f"{lose['without']:.2%}", f"{column['saves']:.2%}", withheld

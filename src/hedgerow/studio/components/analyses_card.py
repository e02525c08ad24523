"""Shows on the screen of a result whether analyses still come out: figures and regressions, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.reports.analysed import (
    COEFFICIENTS_HEAD,
    FIGURES_HEAD,
    coefficient_rows,
    counted_by,
    figure_rows,
    regression_title,
)
from hedgerow.studio import theme
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run


class AnalysesCard:
    """Compares analyses of the original and of the release of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        if not Path(run.data).is_file():  # a table on a server is not fetched
            return
        with theme.card():
            theme.heading("Do analyses still come out?")
            ui.label(
                "Means, correlations, tables and, if you name them, regressions, from the original and from the "
                "release. For your eyes only."
            ).classes("muted small")
            columns = list(run.plan.released_columns)
            with ui.row().classes("w-full items-center gap-3"):
                self._outcome = ui.select(columns, label="Explain this column (optional)", clearable=True)
                self._outcome.classes("grow").props("outlined dense data-testid=analyses-outcome")
                self._by = ui.select(columns, label="by these", multiple=True, value=[])
                self._by.classes("grow").props("outlined dense use-chips data-testid=analyses-by")
                self._button = ui.button("Compare", icon="query_stats", on_click=theme.safely(self._compare))
                self._button.props("unelevated data-testid=analyses")
            self._place = ui.column().classes("w-full gap-3")
        if run.analyses is not None and run.analyses.running:
            self._watch(run.analyses)
        elif run.analyses is not None and run.analyses.result:
            self._show(run.analyses)

    def _compare(self) -> None:
        outcome, by = self._outcome.value, [name for name in self._by.value if name != self._outcome.value]
        self._watch(self._run.compare_analyses([f"{outcome} ~ {' + '.join(by)}"] if outcome and by else []))

    def _watch(self, job: Job) -> None:
        self._button.set_enabled(False)
        self._place.clear()
        with self._place:
            JobView(job, self._show, "analyses", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        self._place.clear()
        with self._place:
            show_analyses(job.result)


def show_analyses(found: Mapping[str, Any]) -> None:
    """Show what analyses came to, given as plain data."""
    with ui.column().classes("gap-1").props("data-testid=analyses-sentences"):
        for sentence in found["sentences"]:
            ui.label(f"• {sentence}")
    ui.label(counted_by(found)).classes("muted small")
    theme.table(list(FIGURES_HEAD), [list(row) for row in figure_rows(found)], testid="analyses-figures")
    for regression in found["regressions"]:
        ui.label(regression_title(regression)).classes("studio-heading")
        theme.table(list(COEFFICIENTS_HEAD), [list(row) for row in coefficient_rows(regression)])

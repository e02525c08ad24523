"""Lets somebody attack a release on the screen of its result: what an attacker may know, and how often it is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.reports.attacked import baseline_text, confidence_text, guess_rows, headline, linkage_rows, notes
from hedgerow.studio import theme
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run


class AttackCard:
    """Attacks the release of a run with the columns that are chosen."""

    def __init__(self, run: Run) -> None:
        self._run = run
        if not Path(run.data).is_file():  # of a table on a server records have no numbers
            return
        columns = list(run.plan.quasi_identifiers)
        with theme.card():
            theme.heading("Attack it")
            ui.label(
                "Somebody who knows these columns of people in the original looks for them in the release. How often "
                "are they found? For your eyes only."
            ).classes("muted small")
            with ui.row().classes("w-full items-center gap-3"):
                self._columns = ui.select(columns, value=columns, multiple=True, label="What the attacker knows")
                self._columns.classes("grow").props("outlined dense use-chips data-testid=attack-columns")
                self._button = ui.button("Attack", icon="policy", on_click=theme.safely(self._attack))
                self._button.props("unelevated data-testid=attack")
            self._place = ui.column().classes("w-full gap-3")
        if run.attack is not None and run.attack.running:
            self._watch(run.attack)
        elif run.attack is not None and run.attack.result:
            self._show(run.attack)

    def _attack(self) -> None:
        self._watch(self._run.attack_it(list(self._columns.value)))

    def _watch(self, job: Job) -> None:
        self._button.set_enabled(False)
        self._place.clear()
        with self._place:
            JobView(job, self._show, "attack", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        self._place.clear()
        with self._place:
            show_attack(job.result)


def show_attack(found: Mapping[str, Any]) -> None:
    """Show what attacks came to, given as plain data."""
    theme.note(headline(found), "bad" if found["beaten"] else "good", testid="attack-headline")
    for line in notes(found):
        ui.label(line).classes("muted small")
    head = ["picks", "right", "rate", "promised", "fewest left", ""]
    theme.table(head, [list(row) for row in linkage_rows(found)], testid="attack-linkage")
    if found["guesses"]:
        head = ["guesses", "with the release", "without it", "gained"]
        theme.table(head, [list(row) for row in guess_rows(found)], testid="attack-guesses")
        ui.label(baseline_text(found)).classes("muted small")
    ui.label(confidence_text(found)).classes("muted small")

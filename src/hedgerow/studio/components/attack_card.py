"""Lets somebody attack a release on the screen of its result: what an attacker may know, and how often it is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.plan.formats import table_endings
from hedgerow.reports.attacked import baseline_text, confidence_text, guess_rows, headline, linkage_rows, notes
from hedgerow.studio import theme
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.files import StoredFile
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
            self._knowledge = RegisterChoice(run)
            self._place = ui.column().classes("w-full gap-3")
        if run.attack is not None and run.attack.running:
            self._watch(run.attack)
        elif run.attack is not None and run.attack.result:
            self._show(run.attack)

    def _attack(self) -> None:
        columns = list(self._columns.value)
        every = set(columns) == set(self._run.plan.quasi_identifiers)
        known = self._knowledge
        if known.register is None:
            self._watch(self._run.attack_it(columns))
        else:  # of all columns those that it has
            self._watch(self._run.attack_it(None if every else columns, str(known.register.path), known.key))

    def _watch(self, job: Job) -> None:
        self._button.set_enabled(False)
        self._place.clear()
        with self._place:
            JobView(job, self._show, "attack", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        self._place.clear()
        with self._place:
            show_attack(job.result)


class RegisterChoice:
    """What the attacker knows: what the original says, or a register that is brought."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.register: StoredFile | None = None
        self.key: str | None = None
        self._session = theme.the_session()
        with theme.fold("The attacker has a register of its own", "attack-register").classes("w-full"):
            ui.label(
                "With more people than the table, other columns, and errors. It says who is who by a column that the "
                "table has too, such as a number of the person; that column is for counting, not for the attacker. "
                "Columns are found by their names."
            ).classes("muted small")
            self._place = ui.column().classes("w-full gap-2")
        self._build()

    def _build(self) -> None:
        self._place.clear()
        plan = self._run.plan
        with self._place:
            if self.register is None:
                DropZone("A register", self._brought, accept=",".join(table_endings()), testid="upload-register")
                return
            with ui.row().classes("w-full items-center gap-3"):
                ui.label(self.register.name).classes("studio-heading").props("data-testid=register-name")
                named = [plan.key, plan.person, *plan.columns("identifier")]
                options = list(dict.fromkeys(name for name in named if name is not None))
                self.key = self.key or next(iter(options), None)
                select = ui.select(options, value=self.key, label="Who is who is said by").classes("grow")
                select.props("outlined dense data-testid=register-key")
                select.on_value_change(lambda event: setattr(self, "key", event.value))
                ui.button("Without it", icon="close", on_click=theme.safely(self._drop)).props(
                    "flat dense data-testid=register-none"
                )

    async def _brought(self, stored: StoredFile) -> None:
        self.register = stored
        self._build()

    def _drop(self) -> None:
        if self.register is not None:
            self._session.files.remove(self.register.id)
        self.register = None
        self._build()


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

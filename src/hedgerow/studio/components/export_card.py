"""The card from which release, plan and report are taken away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.archives import pack
from hedgerow.studio.background import aside
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.components.result_cards import thresholds
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run
from hedgerow.studio.sessions import Session


async def send_release(session: Session, folder: Path, name: str) -> None:
    """Let the browser download a release folder as an archive."""
    stored = session.files.new(name)
    await aside(pack, folder, stored.path)
    ui.download.from_url(f"/files/{stored.id}")


class ExportCard:
    """Buttons for release and plan, and a form for the report."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session, self._run = session, run
        with ui.element("div").classes("studio-halves"):
            with theme.card():
                theme.heading("Take it away")
                kept = run.verification["kept"]
                text = "Data, plan.yaml and facts.json in one file. Whoever gets it can check it."
                ui.label(text if kept else "A release that breaks its promises is not given out.").classes(
                    "muted small"
                )
                button = ui.button("Release (zip)", icon="folder_zip", on_click=theme.safely(self._release))
                button.props("unelevated data-testid=export-release").set_enabled(kept)
                ui.label("The plan alone: on the command line it gives the same release.").classes("muted small")
                ui.button("Plan", icon="description", on_click=theme.safely(self._plan)).props(
                    "outline data-testid=export-plan"
                )
            with theme.card():
                theme.heading("Report")
                ui.label(
                    "One page to read, print and sign; it needs no network. What is left empty is filled in by hand."
                ).classes("muted small")
                self._form()
                self._progress = ui.column().classes("w-full")

    def _form(self) -> None:
        with ui.element("div").classes("fields"):
            self._purpose = self._field("Purpose", "report-purpose")
            self._recipients = self._field("Recipients", "report-recipients")
            self._approver = self._field("Approver", "report-approver")
            self._role = self._field("The approver's role", "report-role")
            self._review = self._field("Date by which to review the release", "report-review").props("type=date")
        self._assume = theme.keep(ui.textarea("Further assumptions, one a line"), self._session, "report-assume")
        self._assume.classes("w-full").props("outlined dense autogrow data-testid=report-assume")
        self._threshold = ui.select(
            thresholds(self._run.plan), value=self._run.plan.accepted, label="A risk that is just acceptable"
        ).classes("w-full")
        self._threshold.props("outlined dense data-testid=report-threshold")
        self._original = ui.checkbox("Check against the original, and measure on it what each limit cost", value=False)
        self._original.props("data-testid=report-original")
        ui.label(
            "What was measured on the original is for its owner: leave it out of a report that is passed on."
        ).classes("muted small")
        self._button = ui.button("Report", icon="article", on_click=theme.safely(self._report)).props(
            "unelevated data-testid=export-report"
        )

    async def _release(self) -> None:
        await send_release(self._session, self._run.release, f"release-{self._run.number}.zip")
        self._note("release")

    def _plan(self) -> None:
        theme.send(self._session, "plan.yaml", (self._run.folder / "plan.yaml").read_bytes())
        self._note("plan")

    def _report(self) -> None:
        stored = self._session.files.new(f"report-{self._run.number}.html")
        task: dict[str, Any] = {
            "task": "report",
            "release": str(self._run.release),
            "data": self._run.data if self._original.value else None,
            "output": str(stored.path),
            "threshold": float(self._threshold.value),
            "sign_off": {
                "purpose": self._purpose.value.strip(),
                "recipients": self._recipients.value.strip(),
                "approver": self._approver.value.strip(),
                "role": self._role.value.strip(),
                "review_by": (self._review.value or "").strip(),
                "assumptions": [line.strip() for line in (self._assume.value or "").splitlines() if line.strip()],
            },
        }
        job = self._session.bench.begin(task)
        self._button.set_enabled(False)

        def done(_: Job) -> None:
            stored.path.chmod(0o600)
            ui.download.from_url(f"/files/{stored.id}")
            self._note("report")

        self._progress.clear()
        with self._progress:
            JobView(job, done, "report", always=lambda: self._button.set_enabled(True))

    def _note(self, kind: str) -> None:
        self._session.log.write("exported", self._session, kind=kind, plan=self._run.plan.digest())

    def _field(self, label: str, testid: str) -> ui.input:
        field = theme.keep(ui.input(label), self._session, testid)
        return field.classes("w-full").props(f"outlined dense placeholder=none data-testid={testid}")

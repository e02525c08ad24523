"""The card from which release, plan and report are taken away."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.archives import pack
from hedgerow.studio.background import aside
from hedgerow.studio.components.report_card import ReportCard
from hedgerow.studio.runs import Run
from hedgerow.studio.sessions import Session


async def send_release(session: Session, folder: Path, name: str) -> None:
    """Let the browser download a release folder as an archive."""
    stored = session.files.new(name)
    await aside(pack, folder, stored.path)
    ui.download.from_url(f"/files/{stored.id}")


class ExportCard:
    """Buttons for release and plan, and below them the form of the report."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session, self._run = session, run
        kept = run.verification["kept"]
        with theme.card():
            theme.heading("Take it away")
            with ui.element("div").classes("studio-halves"):
                with ui.row().classes("items-center gap-3 no-wrap"):
                    button = ui.button("Release (zip)", icon="folder_zip", on_click=theme.safely(self._release))
                    button.props("unelevated no-wrap data-testid=export-release").set_enabled(kept)
                    text = "Data, plan.yaml and facts.json in one file. Whoever gets it can check it."
                    ui.label(text if kept else "A release that breaks its promises is not given out.").classes(
                        "muted small"
                    )
                with ui.row().classes("items-center gap-3 no-wrap"):
                    ui.button("Plan", icon="description", on_click=theme.safely(self._plan)).props(
                        "outline no-wrap data-testid=export-plan"
                    )
                    ui.label("The plan alone: on the command line it gives the same release.").classes("muted small")
        ReportCard(session, run)

    async def _release(self) -> None:
        await send_release(self._session, self._run.release, f"release-{self._run.number}.zip")
        self._note("release")

    def _plan(self) -> None:
        theme.send(self._session, "plan.yaml", (self._run.folder / "plan.yaml").read_bytes())
        self._note("plan")

    def _note(self, kind: str) -> None:
        self._session.log.write("exported", self._session, kind=kind, plan=self._run.plan.digest())

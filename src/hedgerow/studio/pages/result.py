"""The screen of a result: whether the promises are kept, what it cost, and release, plan and report to take away."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.components import result_cards, result_overview
from hedgerow.studio.components.analyses_card import AnalysesCard
from hedgerow.studio.components.attack_card import AttackCard
from hedgerow.studio.components.decision_tree import show_trees
from hedgerow.studio.components.export_card import ExportCard
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run
from hedgerow.studio.sessions import Session

PATH = "/result"
CSS = (Path(__file__).parent.parent / "result.css").read_text(encoding="utf-8")


def show(run: str = "") -> None:
    """Show the screen; ``run`` is the number of a run, else it is the newest one that was done."""
    with theme.frame("result") as session:
        ui.add_css(CSS)
        made = [one for one in session.bench.runs if one.state == "done" and one.facts]
        wished = run or str(session.kept.run)
        chosen = next((one for one in made if str(one.number) == wished), made[-1] if made else None)
        if chosen is None:
            theme.title("Result", "What a release came to, and what can be taken away.")
            _show_nothing(session)
            return
        session.kept.run = chosen.number
        _show_result(session, chosen, made)


def _show_nothing(session: Session) -> None:
    if session.bench.plan is None:
        theme.empty("There is no table yet.", "Open one", "/data")
    elif session.bench.busy:
        theme.empty("A run is going on. Its result will be here.", "Look how far it is", "/run")
    else:
        theme.empty("There is no result yet: make a release first.", "Make a release", "/run")


def _show_result(session: Session, run: Run, made: list[Run]) -> None:
    with ui.row().classes("w-full items-end justify-between gap-4"):
        with ui.column().classes("gap-1"):
            theme.title("Result", f"{run.number}. {run.title} · {run.data_name}")
        if len(made) > 1:
            names = {one.number: f"{one.number}. {one.title}" for one in made}
            choice = ui.select(names, value=run.number, label="Run").props("outlined dense data-testid=run-choice")
            choice.classes("w-full sm:w-80").on_value_change(lambda event: ui.navigate.to(f"{PATH}?run={event.value}"))
    result_overview.show_verdict(run)
    result_overview.show_tiles(run)
    result_overview.show_lost(run)
    ExportCard(session, run)
    result_overview.show_before_after(run)
    with ui.element("div").classes("studio-halves"):
        result_cards.show_groups(run)
        result_cards.show_losses(run)
    result_cards.show_limits(run)
    with ui.element("div").classes("studio-halves"):
        result_cards.show_withheld(run)
        result_cards.show_disclosures(run)
    with ui.element("div").classes("studio-halves"):
        result_cards.show_risks(run)
        result_cards.show_runs(made, run)
    _TreesCard(run)
    AnalysesCard(run)
    AttackCard(run)
    result_cards.show_promises(run)


class _TreesCard:
    """Lets somebody see whether a pattern of the original survives in the release."""

    def __init__(self, run: Run) -> None:
        self._run = run
        columns = list(run.plan.released_columns)
        first = next(iter(run.plan.columns("sensitive")), columns[-1])
        with theme.card():
            theme.heading("Does a pattern survive?")
            ui.label(
                "A decision tree is grown on the original, and one on the release: do they split alike? "
                "For your eyes only."
            ).classes("muted small")
            with ui.row().classes("w-full items-center gap-3"):
                self._target = ui.select(columns, value=first, label="Column to tell from the quasi-identifiers")
                self._target.classes("grow").props("outlined dense data-testid=target")
                self._button = ui.button("Grow trees", icon="account_tree", on_click=theme.safely(self._grow))
                self._button.props("unelevated data-testid=grow-trees")
            self._place = ui.column().classes("w-full gap-3")
        if run.patterns is not None and run.patterns.running:
            self._watch(run.patterns)
        elif run.patterns is not None and run.patterns.result:
            self._show(run.patterns)

    def _grow(self) -> None:
        self._watch(self._run.look_for_patterns(str(self._target.value)))

    def _watch(self, job: Job) -> None:
        self._button.set_enabled(False)
        self._place.clear()
        with self._place:
            JobView(job, self._show, "trees", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        self._place.clear()
        with self._place:
            show_trees(job.result)

"""The screen where releases are made: method, progress, cancel, and all runs side by side."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.evaluation.comparison import name_of_method, variants
from hedgerow.plan.concepts import METHODS
from hedgerow.reports.wording import solved_exactly, worths_mark, worths_note
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.job_view import ProgressLine
from hedgerow.studio.components.node_chooser import ChosenLevels, NodeChooser
from hedgerow.studio.components.outlook_bar import OutlookBar
from hedgerow.studio.components.result_cards import show_runs
from hedgerow.studio.runs import Run
from hedgerow.studio.sessions import Session

PATH = "/run"
REFRESH_SECONDS = 0.3
SURE = {
    "": "not at all",
    "10s": "10 seconds' effort",
    "30s": "30 seconds' effort",
    "120s": "2 minutes' effort",
    "600s": "10 minutes' effort",
}
STATES = {"running": "", "done": "good", "cancelled": "warn", "failed": "bad"}


async def show() -> None:
    """Show the screen."""
    with theme.frame("run") as session:
        theme.title(
            "Run", "Make a release by the plan as it is now. Runs are kept side by side: change the plan and run again."
        )
        if session.bench.plan is None:
            theme.empty("There is no table yet.", "Open one", "/data")
            return
        start = ui.column().classes("w-full gap-3")
        nodes = ui.column().classes("w-full gap-3")
        listed = ui.column().classes("w-full gap-3")
        bar = OutlookBar(session.bench)
        levels = ChosenLevels(session)

        def start_chosen() -> None:
            levels.refresh()
            _start(session)

        with nodes:
            chooser = NodeChooser(session, start_chosen)
        with start:
            _show_start(session, bar, chooser, levels)
        _RunList(session, listed)
    await ui.context.client.connected()
    await bar.refresh()


def offered() -> dict[str, str]:
    """Return the methods that can be chosen, by name, with what each does."""
    return {one.name: f"{one.name} — {one.help}" for method in METHODS for one in method.variants}


def _start(session: Session, title: str = "") -> None:
    """Make a release by the plan as it is now."""
    plan = session.bench.plan
    assert plan is not None
    run = session.bench.start(title, lambda job: session.log.write("run ended", session, state=job.state))
    session.log.write("run started", session, run=run.number, plan=plan.digest())


def _show_start(session: Session, bar: OutlookBar, chooser: NodeChooser, levels: ChosenLevels) -> None:
    plan = session.bench.plan
    assert plan is not None
    current = name_of_method(plan)
    names = offered()
    if current not in names:
        names = {current: f"{current} — as the plan says", **names}

    async def chosen(event: Any) -> None:
        if event.value in variants():
            try:
                theme.refuse(await aside(_choose, session, event.value))
            except HedgerowError:
                method.value = current
                raise
            chooser.refresh()
            levels.refresh()
            assert session.bench.plan is not None
            sure.value = session.bench.plan.method.certify or ""
            await bar.refresh()

    async def certified(event: Any) -> None:
        plan = session.bench.plan
        assert plan is not None
        if (plan.method.certify or "") == event.value:
            return
        method = {name: part for name, part in plan.to_dict().get("method", {}).items() if name != "certify"}
        if event.value:
            method["certify"] = event.value
        wrong = await aside(lambda: session.bench.change(method=method))
        if wrong:
            sure.value = plan.method.certify or ""
        theme.refuse(wrong)

    def start() -> None:
        _start(session, title.value.strip())
        title.value = ""
        button.disable()  # a double click is one wish
        ui.timer(1.5, button.enable, once=True)

    with theme.card():
        method = ui.select(names, value=current, label="Method", on_change=theme.safely(chosen)).classes("w-full")
        method.props("outlined dense data-testid=method")
        levels.show()
        efforts = {**SURE, **({asked: asked} if (asked := plan.method.certify or "") not in SURE else {})}
        sure = ui.select(efforts, value=asked, label="Look for a bound on what any release loses", on_change=certified)
        sure.classes("w-full").props("outlined dense data-testid=certify")
        title = ui.input("Name of this run (optional)").classes("w-full").props("outlined dense data-testid=run-title")
        button = ui.button("Make a release", icon="play_arrow", on_click=theme.safely(start)).props(
            "unelevated size=lg data-testid=start"
        )


def _choose(session: Session, name: str) -> tuple[Any, ...]:
    """Take another method into the plan."""
    plan = session.bench.plan
    assert plan is not None
    limits = plan.method.limits
    method = {**variants()[name], "limits": "keep" if limits == "whole-levels" else limits}
    keys: dict[str, Any] = {"method": method}
    if method.get("suppress"):
        keys["missing"] = "matches-any"
    elif plan.method.suppress:  # it came with the method
        keys["missing"] = None
    if plan.method.certify is not None:  # stays, where the new method can have it
        kept = {**method, "certify": plan.method.certify}
        if not session.bench.change(**{**keys, "method": kept}):
            return ()
    return session.bench.change(**keys)


class _RunList:
    """All runs, newest first, kept current by a timer."""

    def __init__(self, session: Session, listed: ui.column) -> None:
        self._session, self._listed = session, listed
        self._shown: list[tuple[int, str]] = []
        self._moving: dict[int, ProgressLine] = {}
        self._refresh()
        ui.timer(REFRESH_SECONDS, self._refresh)

    def _refresh(self) -> None:
        runs = self._session.bench.runs
        now: list[tuple[int, str]] = [(run.number, run.state) for run in runs]
        if now != self._shown or not self._listed.default_slot.children:
            self._shown = now
            self._build(runs)
        for run in runs:
            if run.number in self._moving:
                self._moving[run.number].move(run.job)

    def _build(self, runs: list[Run]) -> None:
        self._listed.clear()
        self._moving = {}
        with self._listed:
            if not runs:
                theme.empty("No run yet. The first one also compiles the fast parts, which takes half a minute.")
                return
            for run in reversed(runs):
                self._show(run)
            made = [run for run in runs if run.facts]
            if made:  # only runs of one table can be compared
                _compare([run for run in made if run.data == made[-1].data])

    def _show(self, run: Run) -> None:
        with theme.card().props(f"data-testid=run-{run.number}"):
            with ui.row().classes("w-full items-center justify-between"):
                theme.heading(f"{run.number}. {run.title} · {run.data_name}")
                ui.label(run.state).classes(f"chip {STATES[run.state]}").props(
                    f"data-testid=run-{run.number}-state role=status"
                )
            if run.running:
                self._moving[run.number] = ProgressLine(f"progress of run {run.number}")
                ui.button("Cancel", icon="stop", on_click=run.cancel).props(f"outline data-testid=cancel-{run.number}")
                return
            if run.facts:
                facts = run.facts
                text = f"{facts['released']:,} of {facts['records']:,} records in {facts['groups']:,} groups"
                solved = facts.get("solved_exactly")
                best = "" if solved is None else f"; {solved_exactly(solved['records'], facts['released'])}"
                ui.label(
                    f"{text}; loss {facts['ntil']:.4f}{best}; {run.job.seconds:.1f} s. Every promise is checked."
                ).classes("muted")
            theme.problem_list(run.problems)
            if run.state == "cancelled":
                ui.label("Nothing was written.").classes("muted")
            with ui.row():
                if run.facts:
                    ui.button(
                        "Look at the result",
                        icon="insights",
                        on_click=lambda: ui.navigate.to(f"/result?run={run.number}"),
                    ).props(f"unelevated data-testid=result-{run.number}")
                ui.button("Remove", icon="delete", on_click=lambda: self._session.bench.forget(run)).props("flat")


def _compare(runs: list[Run]) -> None:
    """Show all runs in one table and one picture."""
    with theme.card():
        theme.heading("Side by side")
        head = [
            "run",
            "method",
            "k",
            "released",
            "withheld",
            "groups",
            "loss (NTIL)",
            "research value",
            "highest risk",
            "seconds",
        ]
        rows = [
            [
                f"{run.number}. {run.title}",
                run.plan.method.name,
                str(run.plan.privacy.k),
                f"{run.facts['released']:,}",
                f"{run.facts['withheld']:,}",
                f"{run.facts['groups']:,}",
                f"{run.facts['ntil']:.4f}",
                f"{run.facts['research_value']:.4f}{worths_mark(run.facts)}",
                f"{1 / run.facts['smallest_group']:.3f}" if run.facts["smallest_group"] else "0",
                f"{run.job.seconds:.1f}",
            ]
            for run in runs
        ]
        theme.table(head, rows, numbers=range(2, 10), testid="side-by-side")
        note = worths_note([run.facts for run in runs])
        if note:
            ui.label(note).classes("muted small").props("data-testid=worths-given")
    if len(runs) > 1:
        show_runs(runs)

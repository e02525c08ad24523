"""The screen where releases are made: method, progress, cancel, and all runs side by side."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hedgerow.evaluation.comparison import name_of_method, variants
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, Variant
from hedgerow.reports.wording import solved_exactly, worths_mark, worths_note
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.job_view import ProgressLine
from hedgerow.studio.components.marked_table import marked_table, said
from hedgerow.studio.components.method_options import MethodOptions
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
        bar = OutlookBar(session.bench, lambda reason: starter.judged(reason))
        levels = ChosenLevels(session)

        def start_chosen() -> None:
            levels.refresh()
            _start(session)

        with nodes:
            chooser = NodeChooser(session, start_chosen)
        with start:
            starter = _Starter(session, bar, chooser, levels)
        _RunList(session, listed)
    await ui.context.client.connected()
    await bar.refresh()


def offered() -> dict[str, str]:
    """Return the methods that can be chosen, by name, with what each does."""
    return {one.name: f"{one.name} — {one.help}" for method in METHODS for one in method.variants}


def recommended() -> dict[str, Variant]:
    """Return the methods that are recommended, the fastest first."""
    order = ("Fast", "Balanced", "Least loss")
    found = [one for method in METHODS for one in method.variants if one.recommended]
    return {one.name: one for one in sorted(found, key=lambda one: order.index(one.recommended))}


def _start(session: Session, title: str = "") -> None:
    """Make a release by the plan as it is now."""
    plan = session.bench.plan
    assert plan is not None
    session.kept.run = None  # the newest is looked at, as soon as it is there
    run = session.bench.start(title, lambda job: session.log.write("run ended", session, state=job.state))
    session.log.write("run started", session, run=run.number, plan=plan.digest())


class _Starter:
    """The card from which runs are begun: method, options, name."""

    def __init__(self, session: Session, bar: OutlookBar, chooser: NodeChooser, levels: ChosenLevels) -> None:
        self._session, self._bar, self._chooser, self._levels = session, bar, chooser, levels
        self._reason = ""
        with theme.card():
            theme.heading("Method")
            self._cards = ui.element("div").classes("studio-grid").props('role=group aria-label="Recommended methods"')
            with theme.fold("More methods and options", "more-methods", self._beyond).props("dense"):
                self._method = (
                    ui.select({}, label="Method").classes("w-full").props("outlined dense data-testid=method")
                )
                self._method.on_value_change(theme.safely(lambda event: self._choose(event.value)))
                self._sure = ui.select({}, label="Look for a bound on what any release loses")
                self._sure.classes("w-full").props("outlined dense data-testid=certify")
                self._sure.on_value_change(theme.safely(self._certify))
                self._options = MethodOptions(session.bench, self._changed)
            levels.show()
            title = (
                ui.input("Name of this run (optional)").classes("w-full").props("outlined dense data-testid=run-title")
            )
            self._title = theme.keep(title, session, "run-title")
            if session.bench.people_to_ask_about:
                with ui.column().classes("note warn gap-1").props("role=status data-testid=still-open"):
                    ui.label(session.bench.people_to_ask_about[0].sentence)
                    ui.link("Say which column names the person", "/data").classes("small")
            self._button = ui.button("Make a release", icon="play_arrow", on_click=theme.safely(self._start))
            self._button.props("unelevated size=lg data-testid=start")
            self._why = ui.label("").classes("note bad").props("role=status data-testid=why-not")
            self._why.set_visibility(False)
        self._show()

    @property
    def _plan(self) -> Plan:
        assert self._session.bench.plan is not None
        return self._session.bench.plan

    @property
    def _beyond(self) -> bool:
        """Whether the plan's method is none of those that are recommended."""
        return name_of_method(self._plan) not in recommended()

    def judged(self, reason: str) -> None:
        """Let a release be begun, or say why none can be made."""
        self._reason = reason
        self._button.set_enabled(not reason)
        self._why.text = f"No release can be made: {reason}" if reason else ""
        self._why.set_visibility(bool(reason))

    def _show(self) -> None:
        """Show what the plan says."""
        current, names = name_of_method(self._plan), offered()
        if current not in names:
            names = {current: f"{current} — as the plan says", **names}
        self._method.set_options(names, value=current)
        asked = self._plan.method.certify or ""
        self._sure.set_options({**SURE, **({} if asked in SURE else {asked: asked})}, value=asked)
        self._cards.clear()
        with self._cards:
            for name, variant in recommended().items():
                chosen = name == current
                with theme.card().classes("audience chosen" if chosen else "audience"):
                    ui.label(variant.recommended).classes("font-bold")
                    ui.label(f"{variant.help}.").classes("small")
                    button = ui.button("Chosen" if chosen else "Choose", on_click=self._choosing(name))
                    button.props(f"{'flat' if chosen else 'outline'} no-caps data-testid=method-{name}")
                    button.props["aria-pressed"] = "true" if chosen else "false"
                    button.props["aria-label"] = f"{'Chosen' if chosen else 'Choose'}: {variant.recommended}"

    def _choosing(self, name: str) -> Any:
        return theme.safely(lambda: self._choose(name))

    async def _choose(self, name: str) -> None:
        if name == name_of_method(self._plan) or name not in variants():
            return
        try:
            theme.refuse(await aside(_choose, self._session, name))
        finally:
            self._options.refresh()
            await self._changed()

    async def _changed(self) -> None:
        self._show()
        self._chooser.refresh()
        self._levels.refresh()
        await self._bar.refresh()

    async def _certify(self, event: Any) -> None:
        if (self._plan.method.certify or "") == event.value:
            return
        method = {name: part for name, part in self._plan.to_dict().get("method", {}).items() if name != "certify"}
        if event.value:
            method["certify"] = event.value
        wrong = await aside(lambda: self._session.bench.change(method=method))
        if wrong:
            self._sure.value = self._plan.method.certify or ""
        theme.refuse(wrong)

    def _start(self) -> None:
        if self._reason:
            return
        _start(self._session, (self._title.value or "").strip())
        self._title.value = ""
        self._button.disable()  # a double click is one wish
        ui.timer(1.5, lambda: self._button.set_enabled(not self._reason), once=True)


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


def _beside(cell: str, first: str) -> str:
    """Write a cell, marked if it differs from that of the first run."""
    return said(cell) if cell == first else f"<b>{said(cell)}</b>"


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
        told = [[_beside(cell, rows[0][place]) for place, cell in enumerate(row)] for row in rows]
        marked_table(head, told, label="runs side by side", numbers=range(2, 10), wraps=[0], testid="side-by-side")
        if len(rows) > 1:
            ui.label("Bold: what differs from the first run here.").classes("muted small")
        note = worths_note([run.facts for run in runs])
        if note:
            ui.label(note).classes("muted small").props("data-testid=worths-given")
    if len(runs) > 1:
        show_runs(runs)

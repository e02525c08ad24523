"""What would help: what each limit costs, and single changes that would save records, ready to be applied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from nicegui import ui

from hedgerow.anonymization.explanation import Explanation, Lift
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.limit_changes import change_words, in_short
from hedgerow.studio.workbench import Workbench

MOST_LIFTS = 15


class LimitHelp:
    """Works out on request what would help; ``lift`` is called with the change that a person wants."""

    def __init__(self, bench: Workbench, lift: Callable[[Lift], Awaitable[None]]) -> None:
        self._bench, self._lift = bench, lift
        with theme.fold("What would help?", "help", icon="lightbulb").classes("studio-card"):
            ui.label(
                "Which limit makes how many records be withheld, and which single change would save most. "
                "With many limits this takes a while."
            ).classes("muted small")
            self._button = ui.button("Work it out", on_click=theme.safely(self._work)).props(
                "outline data-testid=explain"
            )
            self._place = ui.column().classes("w-full gap-3").props("aria-live=polite")

    async def _work(self) -> None:
        self._button.props("loading")
        try:
            found, examples = await aside(lambda: (self._bench.explanation(), self._bench.examples()))
        finally:
            self._button.props(remove="loading")
        self._place.clear()
        with self._place:
            self._show(found, examples)

    def _show(self, found: Explanation, examples: Mapping[str, Sequence[str]]) -> None:
        plan = self._bench.plan
        assert plan is not None
        if not found.causes:
            theme.note("No column has a limit, so no record is withheld because of one.", "good")
            return
        theme.heading("What each column's limits cost")
        rows = []
        for cause in found.causes:
            limit = in_short(plan.attributes[cause.attribute], examples.get(cause.attribute, ()))
            rows.append([cause.attribute, limit, f"{cause.saves:,}", f"{cause.alone:,}"])
        head = ["column", "limit", "fewer withheld without it", "withheld if it were the only one"]
        theme.table(head, rows, numbers=(2, 3), testid="causes")
        theme.heading("Single changes that would save records")
        if not found.lifts:
            text = "Nothing is withheld." if not found.withheld else "No single change would save a record."
            theme.note(text, "good" if not found.withheld else "")
            return
        with ui.element("div").classes("studio-scroll"), ui.element("table").classes("limits-table"):
            with ui.element("thead"), ui.element("tr"):
                for title in ("", "column", "change", "records saved", "records with a looser limit"):
                    with ui.element("th").classes("number" if title.startswith("records") else ""):
                        ui.label(title)
            with ui.element("tbody").props("data-testid=lifts"):
                for number, lift in enumerate(found.lifts[:MOST_LIFTS]):
                    words = change_words(plan.attributes[lift.attribute], lift.change, examples.get(lift.attribute, ()))
                    self._show_lift(number, lift, words)
        if len(found.lifts) > MOST_LIFTS:
            ui.label(f"And {len(found.lifts) - MOST_LIFTS:,} more.").classes("muted small")

    def _show_lift(self, number: int, lift: Lift, words: str) -> None:
        with ui.element("tr"):
            with ui.element("td"):
                button = ui.button("Apply", on_click=theme.safely(lambda: self._apply(lift, words)))
                button.props(f"outline dense padding='xs sm' data-testid=apply-{number}")
                button.props["aria-label"] = f"Apply: {lift.attribute}, {words}"
            for text in (lift.attribute, words):
                with ui.element("td"):
                    ui.label(text)
            for count in (lift.saves, lift.loosens):
                with ui.element("td").classes("number"):
                    ui.label(f"{count:,}")

    async def _apply(self, lift: Lift, words: str) -> None:
        self._place.clear()
        with self._place:
            theme.note(f"{lift.attribute}: {words}. Work it out again to see what would help next.")
        await self._lift(lift)

"""Limits proposed from the data: worked out on request, shown with what they keep and cost, taken one by one or all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from hedgerow.plan import Limit
from hedgerow.reports.level_words import level_words
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.limit_changes import in_short
from hedgerow.studio.workbench import Workbench

USUAL = "5%"
LEVELS = ", none above level"
"""Where a proposal goes on in steps of a hierarchy, which people do not count here."""
SCOPES = {"open": "columns that have no limit", "all": "all columns, whatever limits they have"}


class LimitProposals:
    """Proposes limits; ``use`` is called with those that a person takes, by column.

    Where none is proposed, the limit that a column has goes with it: the others were worked out without it.
    """

    def __init__(self, bench: Workbench, use: Callable[[Mapping[str, Any]], Awaitable[None]]) -> None:
        self._bench, self._use = bench, use
        self._taken: dict[str, ui.checkbox] = {}
        self._examples: Mapping[str, Sequence[str]] = {}
        limited = bench.plan is not None and any(part.limit for part in bench.plan.attributes.values())
        folded = theme.fold("Propose limits", "propose", not limited, icon="auto_fix_high")  # the first thing to do
        with folded.classes("studio-card"):
            ui.label(
                "Limits as tight as the records allow, so that no more than this must be withheld with all of them "
                "together. Take those you want, and change them in the tree."
            ).classes("muted small")
            with ui.row().classes("items-center gap-2"):
                plan = bench.plan
                usual = USUAL if plan is None or plan.withhold is None else plan.withhold.at_most
                self._share = ui.input("May be withheld", value=usual).props("outlined dense data-testid=propose-share")
                self._scope = ui.select(SCOPES, value="open", label="For").props(
                    "outlined dense data-testid=propose-scope"
                )
                self._button = ui.button("Work it out", on_click=theme.safely(self._work)).props(
                    "outline data-testid=propose-work"
                )
            self._place = ui.column().classes("w-full gap-3").props("aria-live=polite")

    async def _work(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        asked = list(plan.quasi_identifiers) if self._scope.value == "all" else None
        share = str(self._share.value or "").strip() or None
        self._button.props("loading")
        try:
            found = await aside(self._bench.proposed_limits, share, asked)
            self._examples = await aside(self._bench.examples)
        finally:
            self._button.props(remove="loading")
        self._place.clear()
        with self._place:
            self._show(found)

    def _show(self, found: Mapping[str, Any]) -> None:
        self._taken = {}
        if not found["limits"]:
            theme.note("Every column has a limit already. Propose for all columns to see others.")
            return
        proposed = [each for each in found["limits"] if each["limit"] is not None]
        if not proposed:
            theme.note(f"No limit is proposed: {found['limits'][0]['keeps']}.", "warn")
            return
        more = " Others may fit no group." if found["others_may_not_fit"] else ""
        text = f"All limits together withhold {found['withheld']:,} of {found['records']:,} records"
        theme.note(f"{text} ({found['allowed']:,} may be).{more}", "good")
        with ui.element("div").classes("studio-scroll"), ui.element("table").classes("limits-table"):
            with ui.element("thead"), ui.element("tr"):
                for title in ("", "column", "limit", "what it keeps, or why there is none", "withheld if alone"):
                    with ui.element("th").classes("number" if title.startswith("withheld") else ""):
                        ui.label(title)
            with ui.element("tbody").props("data-testid=proposals"):
                for each in found["limits"]:
                    self._row(each)
        every = {each["attribute"]: each["limit"] for each in found["limits"]}
        ui.button("Use these", on_click=theme.safely(lambda: self._take(every))).props(
            "unelevated data-testid=propose-use"
        )

    def _row(self, each: Mapping[str, Any]) -> None:
        name, limit = each["attribute"], each["limit"]
        with ui.element("tr"):
            with ui.element("td"):
                if limit is not None:
                    box = ui.checkbox(value=True).props("dense")
                    box.props["aria-label"] = f"Take the limit of {name}"
                    box.props["data-testid"] = f"propose-take-{name}"
                    self._taken[name] = box
            for text in (name, self._in_words(name, limit)):
                with ui.element("td"):
                    ui.label(text)
            with ui.element("td"):
                ui.label(each["keeps"].partition(LEVELS)[0])
                if limit is None:
                    self._offer_first(name)
            with ui.element("td").classes("number"):
                ui.label("" if limit is None else f"{each['alone']:,}")

    def _in_words(self, name: str, limit: Any) -> str:
        assert self._bench.plan is not None
        given = None if limit is None else Limit.model_validate(limit)
        attribute = self._bench.plan.attributes[name].model_copy(update={"limit": given})
        return in_short(attribute, self._examples.get(name, ()))

    def _offer_first(self, name: str) -> None:
        """Offer to keep the least of a column before limits are proposed for the others: it has first claim then."""
        assert self._bench.plan is not None
        level = len(self._examples.get(name, ())) - 2
        if level < 1 or self._bench.plan.attributes[name].limit is not None:
            return
        words = level_words(self._bench.plan.attributes[name], level, self._examples[name])
        button = ui.button(f"Keep this first: {words}", on_click=theme.safely(lambda: self._keep_first(name, level)))
        theme.mark(button.props("outline dense no-caps padding='xs sm'"), f"propose-first-{name}")

    async def _keep_first(self, name: str, level: int) -> None:
        await self._use({name: {"level": level}})
        await self._work()

    async def _take(self, proposed: Mapping[str, Any]) -> None:
        ticked = [name for name, box in self._taken.items() if box.value]
        if not ticked:
            ui.notify("Nothing is ticked.")
            return
        await self._use({name: limit for name, limit in proposed.items() if limit is None or name in ticked})
        self._place.clear()
        with self._place:
            many = "1 limit is" if len(ticked) == 1 else f"{len(ticked)} limits are"
            theme.note(f"{many} set. Undo takes them back; every one can be changed above.", "good")

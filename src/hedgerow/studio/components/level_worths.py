"""What each level of a column is worth, as the owner says it, in place of the research value that is computed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan import Plan
from hedgerow.plan.check_levels import MOST_WORTH, too_few
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.reports.level_words import level_words
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.workbench import Workbench


class LevelWorths:
    """A field for each column with levels, which are listed in words beside it.

    Parameters
    ----------
    bench
        Whose plan it changes.
    changed
        Called after a change.
    """

    def __init__(self, bench: Workbench, changed: Callable[[], Awaitable[object]]) -> None:
        self._bench, self._changed = bench, changed
        self._folded = theme.fold("", "worths", bool(self._plan.research_value.levels)).props("dense")
        self._title()
        with self._folded as opened:
            text = f"From 0 to {MOST_WORTH}, the values themselves first; a higher level may never be worth more. "
            ui.label(f"{text}Leave it empty, and the worth of each level is computed.").classes("muted small")
            self._place = ui.column().classes("w-full gap-2")
        opened.on_value_change(theme.safely(lambda event: self.load() if event.value else None))
        if opened.value:
            ui.timer(0.05, theme.safely(self.load), once=True)

    @property
    def _plan(self) -> Plan:
        assert self._bench.plan is not None
        return self._bench.plan

    def _title(self) -> None:
        given = self._plan.research_value.levels or {}
        self._folded.text = f"What each level is worth{': said for ' if given else ''}{', '.join(given)}"

    async def load(self) -> None:
        """Find out what the levels are, which needs the table, and show the fields."""
        self.show(await aside(self._bench.examples))

    def show(self, examples: dict[str, Sequence[str]]) -> None:
        """Show a field for every column whose levels are known."""
        if self._place.is_deleted:
            return
        self._place.clear()
        with self._place:
            for name in self._plan.quasi_identifiers:
                if examples.get(name):
                    self._field(name, examples[name])

    def _field(self, name: str, examples: Sequence[str]) -> None:
        worths = (self._plan.research_value.levels or {}).get(name, ())
        shown = ", ".join(map(number_label, worths))
        field = ui.input(name, value=shown).classes("w-full").props("outlined dense placeholder=computed")
        theme.mark(field, f"worths-{name}")
        words = [level_words(self._plan.attributes[name], level, examples) for level in range(len(examples))]
        ui.label(f"{len(words)} numbers, for: {'; '.join(words)}.").classes("muted small")
        taken = [shown]

        async def left(_: Any) -> None:
            typed = (field.value or "").strip()
            if typed == taken[0]:
                return
            if await theme.taken_at(field, partial(self._take, name, typed, len(examples) - 1)):
                taken[0] = typed
                self._title()
                await self._changed()

        field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

    async def _take(self, name: str, typed: str, height: int) -> tuple[Problem, ...]:
        numbers = typed.replace(",", " ").replace(";", " ").split()
        if numbers and len(numbers) != height + 1:
            raise HedgerowError(too_few(name, len(numbers), height))
        asked = dict(self._plan.to_dict().get("research_value", {}))
        levels = {column: worths for column, worths in (asked.pop("levels", None) or {}).items() if column != name}
        if numbers:
            levels[name] = numbers
        if levels:
            asked["levels"] = levels
        return await aside(lambda: self._bench.change(research_value=asked or None))

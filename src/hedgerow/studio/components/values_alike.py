"""Which values of a sensitive column count as one: its hierarchy, the level that is looked at, and what it weighs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nicegui import ui

from hedgerow.errors import Problem
from hedgerow.plan import Attribute
from hedgerow.plan.hierarchy import Hierarchy
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.reports.level_words import level_words
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.hierarchy_builder import HierarchyBuilder
from hedgerow.studio.sessions import Session

FINEST = 0


class ValuesAlike:
    """A part of a form about one sensitive column.

    Parameters
    ----------
    session, column
        Whose plan it changes, and of which column.
    changed
        Called after a change.
    """

    def __init__(self, session: Session, column: str, changed: Callable[[], Awaitable[object]]) -> None:
        self._session, self._bench, self._column, self._changed = session, session.bench, column, changed
        ui.label(
            "Some values may count as one, such as all codes with the same beginning: give the column a hierarchy."
        ).classes("muted small")
        with ui.row().classes("w-full items-center gap-2"):
            self._level = ui.select({}, label="Values count as different by").classes("grow")
            theme.mark(self._level.props("outlined dense"), f"alike-level-{column}")
            button = ui.button("Hierarchy…", icon="account_tree", on_click=theme.safely(self._open))
            theme.mark(button.props("outline dense padding='xs sm'"), f"alike-hierarchy-{column}")
        self._show(())
        self._level.on_value_change(theme.safely(self._chosen))
        self._ask_weight()
        if self._attribute.hierarchy is not None:
            ui.timer(0.05, theme.safely(self._look), once=True)

    @property
    def _attribute(self) -> Attribute:
        assert self._bench.plan is not None
        return self._bench.plan.attributes[self._column]

    # -- the level -----------------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Name every level by what a value is there."""
        if self._attribute.hierarchy is None:
            self._show(())
            return
        self._show(await aside(self._bench.levels, self._column))

    def _show(self, examples: Sequence[str]) -> None:
        attribute = self._attribute
        now = attribute.level or FINEST
        levels = range(max(len(examples) - 1, now + 1))  # at the root all values would be one
        options = {level: level_words(attribute, level, examples) for level in levels}
        if not self._level.is_deleted:
            self._level.set_options(options, value=now)

    async def _chosen(self, event: Any) -> None:
        if event.value is not None and event.value != (self._attribute.level or FINEST):
            await self._take(level=event.value or None)

    # -- the hierarchy -------------------------------------------------------------------------------------------------

    async def _open(self) -> None:
        """Ask which values are alike."""
        first = await aside(self._bench.first_wish, self._column)
        page = ui.context.client.content
        with page:
            HierarchyBuilder(self._session, self._column, first, None, self._use, coarsened=False)

    async def _use(self, keys: dict[str, Any], tree: Hierarchy | None) -> tuple[Problem, ...]:
        kept = {name: part for name, part in keys.items() if name in ("hierarchy", "unknown")}
        if kept.get("unknown") == "error":
            kept["unknown"] = None
        height = 0 if tree is None else tree.height
        level = self._attribute.level
        kept["level"] = level if level is not None and level < height else None
        problems = await aside(lambda: self._bench.change_attribute(self._column, **kept))
        if not problems:
            await self._look()
            await self._changed()
        return problems

    # -- the weight ----------------------------------------------------------------------------------------------------

    def _ask_weight(self) -> None:
        shown = "" if self._attribute.weight is None else number_label(self._attribute.weight)
        label = "How much its diversity counts (empty: the less the more values it has)"
        field = ui.input(label, value=shown).classes("w-full").props("outlined dense placeholder=none")
        theme.mark(field, f"alike-weight-{self._column}")
        taken = [shown]

        async def left(_: Any) -> None:
            typed = (field.value or "").strip()
            if typed == taken[0]:
                return
            keys = {"weight": typed or None}
            if await theme.taken_at(field, lambda: aside(lambda: self._bench.change_attribute(self._column, **keys))):
                taken[0] = typed
                await self._changed()

        field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

    async def _take(self, **keys: Any) -> None:
        theme.refuse(await aside(lambda: self._bench.change_attribute(self._column, **keys)))
        await self._changed()

"""The screen of hierarchies and limits: a tree with a line drawn across it, and at once what the line costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.anonymization.explanation import Lift
from hedgerow.errors import HedgerowError, PlanError, Problem
from hedgerow.plan import Attribute, Plan
from hedgerow.plan.hierarchy import Hierarchy, editing, write_hierarchy
from hedgerow.plan.hierarchy.numbers import Number, parse_number
from hedgerow.reports.level_words import level_words
from hedgerow.studio import limit_changes, theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.cut_line import CutLine
from hedgerow.studio.components.hierarchy_builder import HierarchyBuilder
from hedgerow.studio.components.leaving_out import LeavingOutCard
from hedgerow.studio.components.limit_help import LimitHelp
from hedgerow.studio.components.limit_proposals import LimitProposals
from hedgerow.studio.components.limit_tree import LimitTree
from hedgerow.studio.components.outlook_bar import OutlookBar
from hedgerow.studio.sessions import Session
from hedgerow.studio.views import NumbersView, TreeView
from hedgerow.studio.workbench import Workbench

PATH = "/limits"
LEAD = (
    "How coarse may a value become at most? Set a limit at a node of its tree: values below may become that node, and "
    "nothing coarser. The bar below says at once what it costs."
)
POLL_SECONDS = 1.0
ANYTHING = "anything, up to nothing at all (no limit)"
NODE_BY_NODE = -1
CSS = (Path(__file__).parent / "limits.css").read_text(encoding="utf-8")


async def show(column: str = "", group: bool = False) -> None:
    """Show the screen; ``column`` is looked at first, and with ``group`` asked how its values are grouped."""
    with theme.frame("limits") as session:
        ui.add_css(CSS)
        theme.title("Limits", LEAD)
        if session.bench.plan is None:
            theme.empty("There is no table yet.", "Open one", "/data")
            return
        board = _Board(session, session.bench.plan, column)
    await ui.context.client.connected()
    await theme.safely(board.refresh)()
    if group:
        await theme.safely(board.open_builder)()


class _Board:
    """The screen at work. The plan is changed click by click, in order; what is shown of it is always the latest."""

    def __init__(self, session: Session, plan: Plan, column: str) -> None:
        self._session = session
        self._bench: Workbench = session.bench
        wished = column or session.kept.column
        self._column = wished if wished in plan.quasi_identifiers else plan.quasi_identifiers[0]
        self._seen = -1
        self._in_order = asyncio.Lock()
        self._busy = self._again = False
        self._tree: LimitTree | None = None
        self._line: CutLine | None = None
        self._shown: Hierarchy | None = None
        self._sizes: dict[str, str] = {}
        self._examples: dict[str, Sequence[str]] = {}
        self._showing = False  # what changes in the form is not what somebody chose
        self._items: dict[str, tuple[ui.element, ui.label, ui.label]] = {}
        with ui.element("div").classes("studio-halves"):
            self._help = LimitHelp(self._bench, self.lift)
            self._proposals = LimitProposals(self._bench, self.use)
            LeavingOutCard(self._bench)
        with ui.element("div").classes("limits-grid"):
            self._list = ui.element("nav").classes("limits-list").props('aria-label="Quasi-identifiers"')
            with theme.card():
                self._build_head()
                self._panel = ui.column().classes("w-full gap-2")
        self._bar = OutlookBar(self._bench)
        theme.next_step("Next: promise", "/promise")
        self._build_panel("Reading the table …")
        self._show_plan()
        ui.timer(POLL_SECONDS, self._poll)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _build_head(self) -> None:
        with ui.row().classes("w-full items-center justify-between gap-2"):
            with ui.column().classes("gap-0"):
                self._title = (
                    ui.label("").classes("studio-heading").props("role=heading aria-level=2 data-testid=column")
                )
                self._limit_text = ui.label("").classes("muted small").props("data-testid=limit-text role=status")
            with ui.row().classes("items-center gap-1"):
                self._undo = _button("undo", "Undo", theme.safely(lambda: self._step(self._bench.undo)), "undo")
                self._redo = _button("redo", "Redo", theme.safely(lambda: self._step(self._bench.redo)), "redo")
                ui.button("Hierarchy…", icon="account_tree", on_click=theme.safely(self.open_builder)).props(
                    "outline dense padding='xs sm' data-testid=hierarchy"
                )
                self._export = ui.button("Export", icon="download", on_click=theme.safely(self._send_tree)).props(
                    "flat dense padding='xs sm' data-testid=export-hierarchy"
                )
        with ui.element("div").classes("limits-controls") as self._controls:
            with ui.column().classes("w-full gap-0"):
                taken = theme.safely(self._level_chosen)
                self._level = ui.select({}, label="Every value may become at most").classes("w-full")
                self._level.props("outlined dense data-testid=level")
                self._level.on_value_change(lambda event: None if self._showing else taken(event))
            ui.button("No limit", on_click=theme.safely(lambda: self.change(limit=None))).props(
                "outline dense padding='xs sm' data-testid=no-limit"
            )

    def _show_list(self, plan: Plan) -> None:
        """Show the columns in short; items stay while the columns do, so that the focus does."""
        if list(self._items) != list(plan.quasi_identifiers):
            self._list.clear()
            with self._list:
                self._items = {name: self._item(name) for name in plan.quasi_identifiers}
        for name, (item, limit, size) in self._items.items():
            limit.text = limit_changes.in_short(plan.attributes[name], self._examples.get(name, ()))
            size.text = self._sizes.get(name, "")
            current = "true" if name == self._column else "false"
            if item.props["aria-current"] != current:
                item.props["aria-current"] = current
                item.update()

    def _item(self, name: str) -> tuple[ui.element, ui.label, ui.label]:
        item = ui.element("button").classes("limits-item")
        item.props["type"] = "button"
        item.props["data-testid"] = f"attribute-{name}"
        item.props["aria-current"] = "false"
        item.on("click", theme.safely(lambda: self.choose(name)), args=[])
        with item:
            ui.label(name).classes("name")
            return item, ui.label("").classes("small"), ui.label("").classes("muted small")

    def _build_panel(self, waiting: str = "") -> None:
        self._tree = self._line = self._shown = None
        self._panel.clear()
        if waiting:
            with self._panel, ui.row().classes("items-center"):
                ui.spinner()
                ui.label(waiting).props("role=status")

    # -- showing -------------------------------------------------------------------------------------------------------

    def _show_plan(self) -> None:
        """Show what the plan says, which is known at once."""
        plan = self._bench.plan
        assert plan is not None
        if self._column not in plan.quasi_identifiers:
            self._column = plan.quasi_identifiers[0]
            self._build_panel("One moment …")
        self._session.kept.column = self._column
        self._show_list(plan)
        self._title.text = self._column
        examples = self._examples.get(self._column, ())
        self._limit_text.text = limit_changes.in_short(plan.attributes[self._column], examples)
        self._undo.set_enabled(self._bench.can_undo)
        self._redo.set_enabled(self._bench.can_redo)
        if self._shown is not None:
            self._show_levels(plan.attributes[self._column], self._shown.height, examples)

    def _show_levels(self, attribute: Attribute, height: int, examples: Sequence[str]) -> None:
        """Name every level by what a value is there, and say which of them is the limit."""
        names = {level: level_words(attribute, level, examples) for level in range(height)}
        options: dict[int, str] = {**names, height: ANYTHING}
        limit = attribute.limit
        if limit is None:
            value = height
        elif limit.values is not None:
            options[NODE_BY_NODE], value = limit_changes.in_short(attribute), NODE_BY_NODE
        elif limit.level is None:
            options[NODE_BY_NODE], value = "limits are set node by node", NODE_BY_NODE
        else:
            value = min(limit.level, height)
        if self._level.is_deleted or (self._level.options, self._level.value) == (options, value):
            return  # the page is gone, or nothing is new
        self._showing = True
        self._level.set_options(options, value=value)
        self._showing = False

    async def refresh(self) -> None:
        """Show the state of the plan and what it comes to; asked for while at work, it begins again afterwards."""
        self._again = True
        if self._busy:
            return
        self._busy = True
        try:
            while self._again:
                self._again = False
                await self._show_once()
        finally:
            self._busy = False

    async def _show_once(self) -> None:
        self._seen = self._bench.version
        self._show_plan()
        outlook = await self._bar.refresh()
        column = self._column
        if outlook is None:
            if not self._again:
                self._build_panel()
                with self._panel:
                    theme.note("The table does not fit this hierarchy. Choose another one, or undo.", "warn")
            return
        try:
            look = await aside(self._bench.look, column)
        except HedgerowError as error:
            if column == self._column and not self._again:
                self._build_panel()
                with self._panel:
                    theme.problem_list(error.problems)
            return
        if column != self._column or self._again:
            return
        self._sizes, self._examples = dict(look.sizes), dict(look.examples)
        if look.tree is not None:
            self._show_tree(look.tree)
        elif look.numbers is not None:
            self._show_numbers(look.numbers, look.step)
        self._show_plan()

    def _show_tree(self, view: TreeView) -> None:
        self._controls.set_visibility(True)
        self._export.set_visibility(True)
        names, parents = view.hierarchy.names, view.hierarchy.parents
        if self._tree is not None and self._shown == view.hierarchy:
            self._tree.refresh(view.marked, view.withheld.tolist())
        elif self._tree is not None:
            self._tree.show(names, parents, view.counts.tolist(), view.withheld.tolist(), view.marked)
        else:
            self._build_panel()
            with self._panel:
                self._tree = LimitTree(
                    names,
                    parents,
                    view.counts.tolist(),
                    view.withheld.tolist(),
                    view.marked,
                    label=f"Values of {self._column}",
                    height="page",
                    opened=self._session.kept.open_nodes(self._column, len(names)),
                    on_open=theme.safely(partial(self._session.kept.note_open_nodes, self._column, len(names))),
                    on_limit=theme.safely(self._toggle),
                    on_move=theme.safely(self._move),
                    on_group=theme.safely(self._group),
                    on_rename=theme.safely(self._rename),
                    on_dissolve=theme.safely(self._dissolve),
                )
        self._shown = view.hierarchy

    def _show_numbers(self, view: NumbersView, step: Number) -> None:
        self._controls.set_visibility(False)
        self._export.set_visibility(False)
        if self._line is not None:
            self._line.refresh(view.cuts, view.width)
            return
        self._build_panel()
        with self._panel:
            if not view.bins:
                theme.note("There is no number in this column.", "warn")
                return
            self._line = CutLine(
                view.bins,
                view.cuts,
                view.width,
                step,
                label=self._column,
                on_cuts=theme.safely(self._cut),
                on_width=theme.safely(self._widen),
            )
            if view.missing:
                ui.label(f"{view.missing:,} records have no number; they stay among themselves.").classes("muted small")

    async def _poll(self) -> None:
        if self._bench.version != self._seen and self._bench.plan is not None:
            await theme.safely(self.refresh)()

    # -- changing ------------------------------------------------------------------------------------------------------

    async def choose(self, column: str) -> None:
        """Look at another column."""
        if column != self._column:
            self._column = column
            self._build_panel("One moment …")
        await self.refresh()

    async def apply(self, work: Callable[[], tuple[Problem, ...]]) -> tuple[Problem, ...]:
        """Change the plan, after what was asked before, and show what comes of it."""
        async with self._in_order:
            problems = await aside(work)
        await self.refresh()
        return problems

    async def change(self, **keys: Any) -> None:
        """Change keys of the column."""
        column = self._column
        theme.refuse(await self.apply(lambda: self._bench.change_attribute(column, **keys)))

    async def _step(self, way: Callable[[], bool]) -> None:
        async with self._in_order:
            before = self._bench.plan
            way()
            changed = limit_changes.changed_parts(before, self._bench.plan)
        if changed:
            ui.notify(f"{'Undone' if way == self._bench.undo else 'Done again'}: {changed}")
        await self.refresh()

    async def _level_chosen(self, event: Any) -> None:
        if self._shown is None or event.value in (None, NODE_BY_NODE):
            return
        level, height = int(event.value), self._shown.height
        await self.change(limit={"level": level} if level < height else None)

    async def _toggle(self, node: int) -> None:
        column, tree = self._column, self._shown
        if tree is None:
            return

        def work() -> tuple[Problem, ...]:
            limit = self._limit_now(column)
            return self._bench.change_attribute(column, limit=limit_changes.toggled(limit, tree, node))

        theme.refuse(await self.apply(work))

    async def _cut(self, cuts: list[Number]) -> None:
        limit = self._limit_now(self._column)
        await self.change(limit=limit_changes.of_numbers(cuts, None if limit is None else limit.width))

    async def _widen(self, width: Number | None) -> None:
        limit = self._limit_now(self._column)
        await self.change(limit=limit_changes.of_numbers((limit and limit.cuts) or (), width))

    def _limit_now(self, column: str) -> Any:
        assert self._bench.plan is not None
        return self._bench.plan.attributes[column].limit

    async def lift(self, lift: Lift) -> None:
        """Apply a change that an explanation proposed."""

        def work() -> tuple[Problem, ...]:
            known, limit = self._bench.lifted(lift)
            if not known:
                return (Problem("usage", "The limit has changed since.", hint="work it out again"),)
            return self._bench.change_attribute(lift.attribute, limit=limit)

        if self._column != lift.attribute:
            self._column = lift.attribute
            self._build_panel("One moment …")
        theme.refuse(await self.apply(work))

    async def use(self, limits: Mapping[str, Any]) -> None:
        """Set limits that were proposed, in one change."""
        theme.refuse(await self.apply(lambda: self._bench.change_limits(limits)))

    # -- regrouping ----------------------------------------------------------------------------------------------------

    async def _move(self, nodes: list[int], parent: int) -> None:
        if self._shown is not None and all(self._shown.parents[node] == parent for node in nodes):
            return  # they lie there already
        await self._regroup(lambda tree: editing.move(tree, nodes, parent))

    async def _group(self, nodes: list[int], rest: bool) -> None:
        name = await _ask("Name of the new group", "other" if rest else "")
        if name is not None:
            await self._regroup(lambda tree: editing.group(tree, nodes, name))

    async def _rename(self, node: int) -> None:
        assert self._shown is not None
        name = await _ask("New name of the group", self._shown.names[node])
        if name is not None:
            await self._regroup(lambda tree: editing.rename(tree, node, name))

    async def _dissolve(self, node: int) -> None:
        await self._regroup(lambda tree: editing.dissolve(tree, node))

    async def _regroup(self, make: Callable[[Hierarchy], Hierarchy]) -> None:
        column, shown = self._column, self._shown
        assert shown is not None
        assert self._bench.plan is not None
        before = editing.of_plan(shown)
        attribute = self._bench.plan.attributes[column]

        def work() -> tuple[Problem, ...]:
            try:
                after = make(before)
            except PlanError as error:
                return error.problems
            limit = limit_changes.carried(self._limit_now(column), before, after)
            numbers = attribute.in_numbers and all(parse_number(leaf) is not None for leaf in after.leaves)
            keys = {"hierarchy": {"tree": after.tree()}, "limit": limit, "numeric": numbers or None}
            return self._unless_unfit(lambda: self._bench.change_attribute(column, **keys))

        theme.refuse(await self.apply(work))

    def _unless_unfit(self, change: Callable[[], tuple[Problem, ...]]) -> tuple[Problem, ...]:
        """Change the plan, but not so that a table which could be read by it cannot be any more."""
        version = self._bench.version
        problems = change()
        if problems or self._bench.version == version:
            return problems
        wrong = self._bench.unfit()
        if not wrong:
            return ()
        self._bench.undo()
        if self._bench.unfit():  # it did not fit before either: a step on the way out
            self._bench.redo()
            return ()
        return wrong

    # -- hierarchies ---------------------------------------------------------------------------------------------------

    async def open_builder(self) -> None:
        """Ask how the values of the column are coarsened."""
        column, bench = self._column, self._bench
        page = ui.context.client.content
        first = await aside(bench.first_wish, column)
        current = None if self._shown is None else editing.of_plan(self._shown)

        async def use(keys: dict[str, Any], tree: Hierarchy | None) -> tuple[Problem, ...]:
            limit = limit_changes.carried(self._limit_now(column), current, tree)
            lost = self._limit_now(column) is not None and limit is None
            problems = await self.apply(
                lambda: self._unless_unfit(lambda: bench.change_attribute(column, **keys, limit=limit))
            )
            if lost and not problems:
                text = "The limit did not fit the new hierarchy and is gone: set it anew."
                ui.notify(text, color="warning", textColor="white", timeout=8000)
            return problems

        with page:
            HierarchyBuilder(self._session, column, first, current, use)

    async def _send_tree(self) -> None:
        if self._shown is None:
            return
        stored = self._session.files.write(f"{self._column}.csv", b"")
        await aside(write_hierarchy, editing.of_plan(self._shown), stored.path)
        ui.download.from_url(f"/files/{stored.id}")


def _button(icon: str, label: str, work: Any, testid: str) -> ui.button:
    button = ui.button(icon=icon, on_click=work).props(f"flat dense round data-testid={testid}").tooltip(label)
    button.props["aria-label"] = label
    return button


async def _ask(label: str, value: str = "") -> str | None:
    """Ask for a name; None if the person would rather not."""
    with ui.dialog() as dialog, ui.card():
        field = ui.input(label, value=value).props("outlined autofocus data-testid=ask-name").classes("w-full")
        field.on("keydown.enter", lambda: dialog.submit(field.value))
        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
            ui.button("OK", on_click=lambda: dialog.submit(field.value)).props("unelevated data-testid=ask-ok")
    found: str | None = await dialog
    dialog.delete()
    return found

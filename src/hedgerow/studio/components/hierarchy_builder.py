"""A dialog to choose how the values of a column are coarsened, with a preview of the tree that comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan.hierarchy import Hierarchy
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS, Field
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.components.limit_tree import LimitTree
from hedgerow.studio.files import StoredFile
from hedgerow.studio.sessions import Session
from hedgerow.studio.views import FirstWish, HierarchyWish, SuggestedWish

UNKNOWN = {
    "error": "say so and stop",
    "withhold": "withhold the record",
    "own-leaf-under-root": "put the value directly under the root",
}
COUNTS = {
    "": "what its kind of hierarchy says",
    "numbers": "numbers, of which spans count",
    "words": "words, each for itself",
}
MOST_PREVIEWED = 2_000
PUBLISHED = {"": "nothing is told (*)", "set": "all of them are told, such as a|b"}
FIGURES = {"": "from the least to the greatest number", "mean": "the mean of its numbers", "median": "their median"}
"""What groups are published as, of a column without a tree and of one of free intervals, with words for each."""
"""Rows of a tree that a preview shows; the dialog has no room for more."""

Apply = Callable[[dict[str, Any], Hierarchy | None], Awaitable[tuple[Problem, ...]]]


def kinds(coarsened: bool = True) -> dict[str, str]:
    """Return the ways to coarsen a column, with words for each: by a rule, or by none.

    A column that is published as it is (``coarsened`` is false) has a tree only to tell which values are alike.
    """
    rules = {kind.name: kind.rule.choice for kind in HIERARCHY_KINDS if kind.rule is not None}
    free = {"free": "free intervals: numbers from – to, no tree"} if coarsened else {}
    return {
        "flat": "flat: each value, or nothing" if coarsened else "none: every value is another one",
        **rules,
        **free,
        "tree": "a file or a spreadsheet: one line per value, from the value to the root",
    }


class HierarchyBuilder:
    """The dialog.

    Parameters
    ----------
    column
        The column that it is about.
    first
        How it is coarsened now, and what to begin with.
    current
        Its tree as it is.
    apply
        Called with the keys of the plan and the tree; returns what is wrong with that, which is then shown in place.
    coarsened
        Whether its values are coarsened; else the tree only says which of them are alike.
    """

    def __init__(
        self,
        session: Session,
        column: str,
        first: FirstWish,
        current: Hierarchy | None,
        apply: Apply,
        coarsened: bool = True,
    ) -> None:
        self._session, self._bench, self._column, self._apply = session, session.bench, column, apply
        self._coarsened = coarsened
        self._kind, self._typed, self._unlisted = first.kind, dict(first.typed), first.unlisted
        self._given = current if self._kind == "tree" else None
        self._asked = 0
        self._found: HierarchyWish | None = None
        with ui.dialog(value=True) as self._dialog, ui.card().classes("w-full").props("data-testid=builder"):
            theme.heading(f"How “{column}” is coarsened" if coarsened else f"Which values of “{column}” are alike")
            self._suggest(first.suggestions)
            with ui.column().classes("w-full gap-3"):
                kind = self._kinds = ui.select(
                    kinds(coarsened), value=self._kind, label="Kind of hierarchy", on_change=self._chosen
                )
                kind.classes("w-full").props("outlined dense data-testid=builder-kind")
                self._fields = ui.column().classes("w-full gap-3")
                rest = ui.select(UNKNOWN, value=self._typed["unknown"], label="If a value has no place in it")
                rest.classes("w-full").props("outlined dense data-testid=builder-unknown")
                rest.on_value_change(lambda event: self._type("unknown", event.value))
                if coarsened:
                    self._ask_numeric()
                self._problems = ui.column().classes("w-full gap-2").props("aria-live=polite")
                self._preview = ui.column().classes("w-full gap-2")
            with ui.row().classes("w-full justify-end"):
                ui.button("Cancel", on_click=self._dialog.close).props("flat")
                self._button = ui.button("Use it", on_click=theme.safely(self._take))
                self._button.props("unelevated data-testid=builder-apply")
        self._dialog.on("hide", self._dialog.delete)
        self._build_fields()
        ui.timer(0.05, self._look, once=True)

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _suggest(self, found: Sequence[SuggestedWish]) -> None:
        """Offer what the values of the column suggest."""
        if not found:
            return
        with ui.column().classes("w-full gap-1"):
            ui.label("Its values suggest:").classes("muted small")
            with ui.row().classes("w-full gap-2"):
                for number, one in enumerate(found):
                    button = ui.button(one.title, on_click=theme.safely(partial(self._take_suggestion, one)))
                    button.props(f"outline dense no-caps padding='xs sm' data-testid=suggest-{number}")

    def _ask_numeric(self) -> None:
        counts = ui.select(COUNTS, value=self._typed["numeric"], label="For rules and research value it holds")
        counts.classes("w-full").props("outlined dense data-testid=builder-numeric")
        counts.on_value_change(lambda event: self._type("numeric", event.value))

    async def _take_suggestion(self, one: SuggestedWish) -> None:
        self._typed |= one.typed
        if one.given is not None:
            self._given = one.given
        if self._kinds.value == one.kind:
            self._build_fields()
            await self._look()
        else:
            self._kinds.value = one.kind  # which shows its fields and looks

    async def _chosen(self, event: Any) -> None:
        self._kind = event.value
        self._build_fields()
        await self._look()

    async def _type(self, name: str, value: Any) -> None:
        self._typed[name] = value
        await self._look()

    def _build_fields(self) -> None:
        self._fields.clear()
        with self._fields:
            rule = HIERARCHY_KINDS[self._kind].rule if self._kind in HIERARCHY_KINDS else None
            for field in rule.fields if rule is not None else ():
                self._field(field)
            if self._kind == "free":
                ui.label("A group has a range of numbers. Limits of it are cuts and a width.")
                self._ask_published(FIGURES, "Each group is published as")
                self._text("decimals", "Decimal places of a mean or median", "if empty, one")
                note = "if empty, both ends are exact values of people"
                self._text("snap", "Move published ends out to multiples of", note)
            elif self._kind == "tree":
                ui.label("A CSV file as ARX writes it: value;group;…;root in every line.").classes("muted small")
                DropZone("A hierarchy", self._taken, accept=".csv,.txt", testid="upload-hierarchy")
                pasted = ui.textarea("Or paste rows from a spreadsheet: value, group, larger group")
                pasted.classes("w-full").props("outlined dense autogrow debounce=250 data-testid=builder-pasted")
                pasted.on_value_change(theme.safely(lambda event: self._pasted(event.value or "")))
            elif rule is None and self._coarsened:
                self._ask_published(PUBLISHED, "Where a group has several values")
                note = "of sets only; if empty, any number"
                self._text("values", "At most so many values in a set", note)
            elif rule is None:
                ui.label("Every value is different.").classes("muted")

    def _ask_published(self, ways: dict[str, str], label: str) -> None:
        now = self._typed["publish"]
        shown = ui.select(ways, value=now if now in ways else "", label=label)
        shown.classes("w-full").props("outlined dense data-testid=builder-publish")
        shown.on_value_change(lambda event: self._type("publish", event.value))

    def _field(self, field: Field) -> None:
        if not field.choices:
            self._text(field.name, field.label, field.hint, field.lines)
            return
        some = ui.select(list(field.choices), value=self._typed[field.name], label=field.label, multiple=True)
        some.classes("w-full").props(f"outlined dense use-chips data-testid=builder-{field.name}")
        some.on_value_change(lambda event: self._type(field.name, event.value))

    def _text(self, name: str, label: str, hint: str, lines: bool = False) -> None:
        field = (ui.textarea if lines else ui.input)(label, value=self._typed[name])
        field.classes("w-full").props(f"outlined dense debounce=250 autocomplete=off data-testid=builder-{name}")
        field.props["hint"] = hint
        field.on_value_change(lambda event: self._type(name, event.value))

    async def _pasted(self, text: str) -> None:
        if text.strip():
            await self._taken(self._session.files.write("pasted.csv", text.encode()), pasted=True)

    async def _taken(self, stored: StoredFile, pasted: bool = False) -> None:
        try:
            self._given = await aside(self._bench.read_hierarchy, stored.path, pasted)
        except HedgerowError as error:
            self._given = None
            await self._look()
            self._show_problems(error.problems)
            return
        finally:
            self._session.files.remove(stored.id)
        await self._look()

    # -- preview -------------------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Build what is typed and show it; of several at a time only the last."""
        self._asked += 1
        mine = self._asked
        try:
            found = await aside(self._bench.wish, self._column, self._kind, dict(self._typed), self._given)
            problems: tuple[Problem, ...] = ()
        except HedgerowError as error:
            found, problems = None, error.problems if self._kind != "tree" or self._given is not None else ()
        if mine != self._asked or self._dialog.is_deleted:
            return
        self._found = found
        self._button.set_enabled(found is not None)
        self._show_problems(problems)
        self._preview.clear()
        if found is not None and found.tree is not None:
            with self._preview:
                self._show_tree(found.tree, found)

    def _show_problems(self, problems: tuple[Problem, ...]) -> None:
        self._problems.clear()
        with self._problems:
            theme.problem_list(problems)

    def _show_tree(self, tree: Hierarchy, found: HierarchyWish) -> None:
        text = f"{len(tree.leaf_nodes):,} values, {tree.height} levels above them"
        if self._unlisted:
            text += f"; {self._unlisted:,} rarer values are not looked at here"
        ui.label(text).classes("muted small").props("data-testid=builder-summary")
        if found.unplaced:
            text = f"{found.unplaced:,} different values, in {found.unplaced_records:,} records, have no place in it."
            theme.note(text, "warn", testid="builder-unplaced")
        shown = slice(0, MOST_PREVIEWED)
        LimitTree(
            tree.names[shown],
            tree.parents[shown],
            found.counts[shown],
            [0] * len(tree.names[shown]),
            label="Preview of the tree",
            editable=False,
            limitable=False,
            height="min(38vh, 340px)",
        )
        if len(tree.names) > MOST_PREVIEWED:
            ui.label(f"The first {MOST_PREVIEWED:,} of {len(tree.names):,} rows.").classes("muted small")

    async def _take(self) -> None:
        self._button.props("loading")
        try:
            await self._look()  # what was typed last may not have been looked at yet
            if self._found is None:
                return
            problems = await self._apply(self._found.keys, self._found.tree)
        finally:
            self._button.props(remove="loading")
        if problems:
            self._show_problems(problems)
        else:
            self._dialog.close()

"""A dialog to choose how the values of a column are coarsened, with a preview of the tree that comes of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from nicegui import run, ui

from hedgerow.drafting.column import Column
from hedgerow.errors import HedgerowError, PlanError, Problem
from hedgerow.hierarchy import Hierarchy, builders, read_hierarchy
from hedgerow.hierarchy.numbers import Number, number_label, parse_number
from hedgerow.plan import Attribute
from hedgerow.studio import theme
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.components.limit_tree import LimitTree
from hedgerow.studio.files import StoredFile
from hedgerow.studio.sessions import Session

KINDS = {
    "flat": "flat: each value, or nothing",
    "bands": "bands: numbers in bands of growing width",
    "cuts": "cuts: numbers between points that you choose",
    "prefix": "prefixes: the first characters, such as of zip codes",
    "dates": "dates: days, months, quarters, years, decades",
    "free": "free intervals: numbers from – to, no tree",
    "tree": "a file: one line per value, from the value to the root",
}
UNKNOWN = {
    "error": "say so and stop",
    "withhold": "withhold the record",
    "own-leaf-under-root": "put the value directly under the root",
}
MOST_PREVIEWED = 2_000
"""Rows of a tree that a preview shows; the dialog has no room for more."""

Apply = Callable[[dict[str, Any], Hierarchy | None], Awaitable[tuple[Problem, ...]]]


@dataclass(frozen=True)
class Wanted:
    """What a person has chosen.

    Attributes
    ----------
    keys
        What would stand in the plan for the column.
    built
        The tree over the values that occur; None for free intervals.
    """

    keys: dict[str, Any]
    built: builders.Built | None


def wanted(kind: str, typed: dict[str, Any], labels: list[str], given: Hierarchy | None = None) -> Wanted:
    """Read what a person typed and build the tree of it.

    Raises
    ------
    PlanError
        Saying what is wrong with it.

    Examples
    --------
    >>> found = wanted("bands", {"bands": "5, 20", "unknown": "error"}, ["37", "41"])
    >>> found.keys["hierarchy"], found.built.hierarchy.paths()[0]
    ({'bands': [5, 20]}, ('37', '35-39', '20-39', '*'))
    """
    unknown = typed.get("unknown", "error")
    keys: dict[str, Any] = {"intervals": None, "snap": None, "numeric": None, "hierarchy": None, "unknown": unknown}
    if kind == "free":
        snap = _numbers(typed.get("snap", ""))
        if len(snap) > 1:
            raise PlanError(Problem("wrong-value", "This must be one number.", hint="write decimals with a point"))
        fits = unknown if unknown != "own-leaf-under-root" else "error"
        return Wanted(keys | {"intervals": "free", "snap": snap[0] if snap else None, "unknown": fits}, None)
    if kind == "flat":
        return Wanted(keys, builders.flat(sorted(labels)))
    if kind == "tree":
        if given is None:
            raise PlanError(Problem("hierarchy-file", "No file has been given yet.", hint="drop one above"))
        return Wanted(keys | {"hierarchy": {"tree": given.tree()}}, builders.place_in(given, labels))
    if kind == "bands":
        widths = _numbers(typed["bands"])
        return Wanted(keys | {"hierarchy": {"bands": widths}}, builders.bands(labels, widths))
    if kind == "cuts":
        lists = [_numbers(line) for line in str(typed["cuts"]).splitlines() if line.strip()]
        return Wanted(keys | {"hierarchy": {"cuts": lists}}, builders.cuts(labels, lists))
    if kind == "prefix":
        kept = [int(number) for number in _numbers(typed["prefix"])]
        length = typed.get("length")
        rule: dict[str, Any] = {"prefix": kept} | ({"length": length} if length else {})
        return Wanted(keys | {"hierarchy": rule}, builders.prefixes(labels, kept, length))
    levels = [level for level in builders.DATE_LEVELS if level in (typed.get("dates") or ())]
    form = str(typed.get("form") or "").strip() or None
    spec: dict[str, Any] = {"dates": levels} | ({"form": form} if form else {})
    return Wanted(keys | {"hierarchy": spec}, builders.dates(labels, levels, form))


def _numbers(text: Any) -> list[Number]:
    parts = str(text or "").replace(";", ",").replace(",", " ").split()
    found = [parse_number(part) for part in parts]
    if None in found:
        message = "This must be a list of numbers."
        raise PlanError(
            Problem(
                "wrong-value", message, hint="put commas between them, and points before decimals, such as 2.5, 5, 10"
            )
        )
    return [number for number in found if number is not None]


def first_choice(column: Column, attribute: Attribute) -> tuple[str, dict[str, Any]]:
    """Return how a column is coarsened now, and for every other way something to begin with."""
    numbers = sorted(column.numbers)
    low, high = (numbers[0], numbers[-1]) if numbers else (0, 100)
    width = _round_width(high - low)
    start = int(low // width) * width
    points = [start + width * step for step in range(int((high - start) // width) + 2)]
    longest = max(column.longest, 2)
    typed: dict[str, Any] = {
        "bands": f"{width}, {2 * width}, {4 * width}",
        "cuts": ", ".join(map(str, points)),
        "prefix": ", ".join(map(str, sorted({longest - 1, longest // 2}, reverse=True))),
        "dates": ["month", "year"],
        "form": "",
        "snap": "" if attribute.snap is None else number_label(attribute.snap),
        "unknown": attribute.unknown,
    }
    spec = attribute.hierarchy
    if attribute.free:
        return "free", typed
    if spec is None:
        return "flat", typed
    if spec.bands is not None:
        typed["bands"] = ", ".join(map(number_label, spec.bands))
    elif spec.cuts is not None:
        typed["cuts"] = "\n".join(", ".join(map(number_label, points)) for points in spec.cuts)
    elif spec.prefix is not None:
        typed |= {"prefix": ", ".join(map(str, spec.prefix)), "length": spec.length}
    elif spec.dates is not None:
        typed |= {"dates": list(spec.dates), "form": spec.form or ""}
    return spec.kind, typed


def _round_width(span: Number) -> int:
    """Return a round width that makes some ten bands of a span.

    Examples
    --------
    >>> _round_width(73), _round_width(99_000), _round_width(3)
    (5, 10000, 1)
    """
    tens = 1
    while span > 15 * 5 * tens:
        tens *= 10
    return next(width for width in (tens, 2 * tens, 5 * tens) if span <= 15 * width)


class HierarchyBuilder:
    """The dialog.

    Parameters
    ----------
    apply
        Called with the keys of the plan and the tree; returns what is wrong with that, which is then shown in place.
    """

    def __init__(
        self, session: Session, column: Column, attribute: Attribute, current: Hierarchy | None, apply: Apply
    ) -> None:
        self._session, self._column, self._apply = session, column, apply
        self._labels = sorted(column.counts)
        self._kind, self._typed = first_choice(column, attribute)
        self._given = current if self._kind == "tree" else None
        self._asked = 0
        self._found: Wanted | None = None
        with ui.dialog(value=True) as self._dialog, ui.card().classes("w-full").props("data-testid=builder"):
            theme.heading(f"How “{column.name}” is coarsened")
            with ui.column().classes("w-full gap-3"):
                kind = ui.select(KINDS, value=self._kind, label="Kind of hierarchy", on_change=self._chosen)
                kind.classes("w-full").props("outlined dense data-testid=builder-kind")
                self._fields = ui.column().classes("w-full gap-3")
                rest = ui.select(UNKNOWN, value=self._typed["unknown"], label="If a value has no place in it")
                rest.classes("w-full").props("outlined dense data-testid=builder-unknown")
                rest.on_value_change(lambda event: self._type("unknown", event.value))
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
            if self._kind == "bands":
                self._text("bands", "Widths, narrow to wide", "each a multiple of the one before: 5, 10, 20")
            elif self._kind == "cuts":
                hint = "one list per line, the finest first; every list starts and ends at the same points"
                self._text("cuts", "Points between which numbers fall", hint, lines=True)
            elif self._kind == "prefix":
                self._text("prefix", "Characters kept at each level", "falling: 4, 2")
            elif self._kind == "dates":
                levels = ui.select(
                    list(builders.DATE_LEVELS), value=self._typed["dates"], label="Levels", multiple=True
                )
                levels.classes("w-full").props("outlined dense use-chips data-testid=builder-dates")
                levels.on_value_change(lambda event: self._type("dates", event.value))
                today = f"only if days are not written like {dt.date(2024, 2, 29)}; for example %d.%m.%Y"
                self._text("form", "How days are written", today)
            elif self._kind == "free":
                ui.label("Each group is published as the range of its numbers. Limits are cuts and a width.")
                self._text("snap", "Move published ends out to multiples of", "if empty, ends are exact values")
            elif self._kind == "tree":
                ui.label("A CSV file as ARX writes it: value;group;…;root in every line.").classes("muted small")
                DropZone("A hierarchy", self._taken, accept=".csv,.txt", testid="upload-hierarchy")
            else:
                ui.label("A value is published as it is, or not at all (*).").classes("muted")

    def _text(self, name: str, label: str, hint: str, lines: bool = False) -> None:
        field = (ui.textarea if lines else ui.input)(label, value=self._typed[name])
        field.classes("w-full").props(f"outlined dense debounce=250 autocomplete=off data-testid=builder-{name}")
        field.props["hint"] = hint
        field.on_value_change(lambda event: self._type(name, event.value))

    async def _taken(self, stored: StoredFile) -> None:
        try:
            self._given = await run.io_bound(read_hierarchy, stored.path)
        except PlanError as error:
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
            found = await run.io_bound(wanted, self._kind, dict(self._typed), self._labels, self._given)
            problems: tuple[Problem, ...] = ()
        except HedgerowError as error:
            found, problems = None, error.problems if self._kind != "tree" or self._given is not None else ()
        if mine != self._asked or self._dialog.is_deleted:
            return
        self._found = found
        self._button.set_enabled(found is not None)
        self._show_problems(problems)
        self._preview.clear()
        if found is not None and found.built is not None:
            with self._preview:
                self._show_tree(found.built)

    def _show_problems(self, problems: tuple[Problem, ...]) -> None:
        self._problems.clear()
        with self._problems:
            theme.problem_list(problems)

    def _show_tree(self, built: builders.Built) -> None:
        tree = built.hierarchy
        counts = records_under(tree, built.leaf_of, self._column.counts)
        text = f"{len(tree.leaf_nodes):,} values, {tree.height} levels above them"
        if self._column.unlisted:
            text += f"; {self._column.unlisted:,} rarer values are not looked at here"
        ui.label(text).classes("muted small").props("data-testid=builder-summary")
        if built.unplaced:
            records = sum(self._column.counts[label] for label in built.unplaced)
            text = f"{len(built.unplaced):,} different values, in {records:,} records, have no place in it."
            theme.note(text, "warn", testid="builder-unplaced")
        shown = slice(0, MOST_PREVIEWED)
        LimitTree(
            tree.names[shown],
            tree.parents[shown],
            counts[shown],
            [0] * len(tree.names[shown]),
            label="Preview of the tree",
            editable=False,
            limitable=False,
            height="min(38vh, 340px)",
        )
        if len(tree.names) > MOST_PREVIEWED:
            ui.label(f"The first {MOST_PREVIEWED:,} of {len(tree.names):,} rows.").classes("muted small")

    async def _take(self) -> None:
        if self._found is None:
            return
        self._button.props("loading")
        tree = None if self._found.built is None else self._found.built.hierarchy
        try:
            problems = await self._apply(self._found.keys, tree)
        finally:
            self._button.props(remove="loading")
        if problems:
            self._show_problems(problems)
        else:
            self._dialog.close()


def records_under(tree: Hierarchy, leaf_of: dict[str, str], counts: Any) -> list[int]:
    """Count the records under every node of a tree.

    Examples
    --------
    >>> records_under(Hierarchy.flat(["F", "M"]), {"F": "F", "M": "M"}, {"F": 3, "M": 4})
    [7, 3, 4]
    """
    by_leaf = np.zeros(len(tree.leaf_nodes), np.int64)
    for label, leaf in leaf_of.items():
        by_leaf[tree.code_of[leaf]] += counts[label]
    upto = np.concatenate([[0], np.cumsum(by_leaf)])
    return [int(count) for count in upto[tree.last_leaf + 1] - upto[tree.first_leaf]]

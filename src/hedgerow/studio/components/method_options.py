"""The options of the plan's method, each with the words of the plan's grammar: nothing needs a plan file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args, get_origin

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.grammar import part_of_grammar
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.level_worths import LevelWorths
from hedgerow.studio.workbench import Workbench

ELSEWHERE = {"levels", "certify"}
"""Options that have a control of their own."""
TITLES = {
    "limits": "Limits",
    "objective": "What is sought",
    "improve": "Search for groups that lose less",
    "search": "Search of the lattice",
    "block": "Columns in a block",
    "suppress": "Single cells may be released as missing",
    "overlap": "Published values of a column that have values in common",
    "join": "Who is left over joins the group",
    "split": "Partition first, where a block has more different combinations than",
}
"""What options are called; the grammar of plans says what they mean."""
Changed = Callable[[], Any]


class MethodOptions:
    """A part of a form: options of the method, and how research value is made up.

    Parameters
    ----------
    bench
        Whose plan they change.
    changed
        Called after a change.
    """

    def __init__(self, bench: Workbench, changed: Changed) -> None:
        self._bench, self._changed = bench, changed
        self._place = ui.column().classes("w-full gap-3")
        self.refresh()

    def refresh(self) -> None:
        """Show the options of the method that the plan has now."""
        plan = self._bench.plan
        assert plan is not None
        grammar = part_of_grammar("method").model_fields
        names = ["limits", *sorted(METHODS[plan.method.name].options - ELSEWHERE)]
        self._place.clear()
        with self._place:
            for name in names:
                if name in grammar:
                    self._option(name, grammar[name], getattr(plan.method, name))
            value = plan.research_value
            label = "Research value: share that is granularity, the rest rules (lambda; empty: their product)"
            self._typed(label, value.lambda_, "lambda", partial(self._research_value, "lambda"))
            label = "Research value that stays when every rule is broken (base)"
            self._typed(label, value.base or None, "base", partial(self._research_value, "base"))
            if "levels" in METHODS[plan.method.name].options:
                LevelWorths(self._bench, self._changed)

    def _option(self, name: str, field: Any, value: Any) -> None:
        label, title = f"{name}: {field.description}", TITLES.get(name, name)
        words = words_of(field.annotation)
        if words:
            element: Any = ui.select(list(words), value=value, label=title)
            element.props("outlined dense").classes("w-full")
        elif field.annotation is bool:
            element = ui.switch(title, value=value)
        else:
            self._typed(title, value, name, partial(self._method, name))
            ui.label(label).classes("muted small")
            return
        theme.mark(element, f"option-{name}")
        element.on_value_change(theme.safely(lambda event: self._take(self._method(name, event.value), element, value)))
        ui.label(label).classes("muted small")

    def _typed(self, label: str, value: Any, name: str, keys: Callable[[Any], dict[str, Any]]) -> None:
        shown = "" if value is None else number_label(value)
        element = ui.input(label, value=shown).classes("w-full").props("outlined dense placeholder=none")
        theme.mark(element, f"option-{name}")

        taken = [shown]

        async def left(_: Any) -> None:
            if (element.value or "") == taken[0]:
                element.error = None
                return
            asked = keys((element.value or "").strip() or None)
            if await theme.taken_at(element, lambda: aside(lambda: self._bench.change(**asked))):
                taken[0] = element.value or ""
                await self._changed()

        element.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

    def _method(self, name: str, value: Any) -> dict[str, Any]:
        assert self._bench.plan is not None
        method = {**self._bench.plan.to_dict().get("method", {}), "name": self._bench.plan.method.name, name: value}
        return {"method": {key: part for key, part in method.items() if part is not None}}

    def _research_value(self, name: str, value: Any) -> dict[str, Any]:
        assert self._bench.plan is not None
        asked = {**self._bench.plan.to_dict().get("research_value", {}), name: value}
        return {"research_value": {key: part for key, part in asked.items() if part is not None} or None}

    async def _take(self, keys: dict[str, Any], element: Any, before: Any) -> None:
        try:
            theme.refuse(await aside(lambda: self._bench.change(**keys)))
        except HedgerowError:
            element.value = before
            raise
        await self._changed()


def words_of(annotation: Any) -> tuple[Any, ...]:
    """Return the words that may stand there, if only some may.

    Examples
    --------
    >>> words_of(Literal["keep", "ignore"]), words_of(Literal["equal"] | None), words_of(int)
    (('keep', 'ignore'), ('equal',), ())
    """
    parts = (annotation,) if get_origin(annotation) is Literal else get_args(annotation)
    return tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))

"""What becomes of every value of a column before anything else: fields under its role."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.sessions import Session
from hedgerow.studio.treatment_wishes import DATES, treat_of, typed_of
from hedgerow.studio.views import ColumnView

FIELDS = {
    "top": ("Publish as one value from … up", "a number such as 90, or 10 people, or 1 %"),
    "bottom": ("Publish as one value down from …", "a number such as 17, or 10 people, or 1 %"),
    "round": ("Round to multiples of …", "such as 100"),
}


def show_treatment_fields(session: Session, column: ColumnView) -> None:
    """Let a person treat the values of a published column: points, rounding, months."""
    plan = session.bench.plan
    assert plan is not None
    taken = typed_of(plan.attributes[column.name])
    typed: dict[str, Any] = dict(taken)
    title = "Treat its values" + (" (treated)" if any(taken.values()) else "")
    with theme.mark(ui.expansion(title).props("dense").classes("w-full"), f"treat-{column.name}"):
        for key, (label, hint) in FIELDS.items():
            field = ui.input(label, value=taken[key]).props(f'outlined dense autocomplete=off hint="{hint}"')
            theme.mark(field.classes("w-full"), f"treat-{key}-{column.name}")
            _wire(session, column, key, field, typed, taken)
        choice = ui.select(DATES, value=taken["dates"], label="Publish days as").props("outlined dense")
        theme.mark(choice.classes("w-full"), f"treat-dates-{column.name}")
        _wire(session, column, "dates", choice, typed, taken)


def _wire(
    session: Session, column: ColumnView, key: str, field: Any, typed: dict[str, Any], taken: dict[str, str]
) -> None:
    """Have a field change the plan when it is left, or chosen from; where that cannot be, it says why."""

    async def left(_: Any) -> None:
        value = str(field.value or "").strip()
        if value == taken[key]:
            return
        before, typed[key] = typed[key], value  # at once: the next field may be left before this change is made

        async def change() -> Any:
            treat = treat_of(typed)
            return await aside(lambda: session.bench.change_attribute(column.name, treat=treat))

        if await theme.taken_at(field, change):
            taken[key] = value
        else:
            typed[key] = before

    if key == "dates":
        field.on_value_change(theme.safely(left))
    else:
        field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

"""How the file is read: what was assumed of it and why, each with a control that says otherwise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from hedgerow.evaluation.drafting.assumptions import DELIMITERS, QUOTES
from hedgerow.microdata.parsing.sniffing import FIRST, LIKELY, plain_name
from hedgerow.outside.server import is_server
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.workbench import Workbench

BETWEEN = " | "
NONE = ""
ENCODINGS = tuple(
    dict.fromkeys(("utf-8", "utf-8-sig", "utf-16", *(name for name, _ in FIRST), "latin-1", "iso8859-15", *LIKELY))
)
CHOICES: Mapping[str, Mapping[Any, str]] = {
    "delimiter": {sign: name.capitalize() for sign, name in DELIMITERS.items()},
    "quote": {sign: name.capitalize() for sign, name in QUOTES.items()},
    "encoding": {name: plain_name(name) for name in ENCODINGS},
    "header": {True: "The first line names the columns", False: "No names: the first line is a record"},
    "decimal": {".": "Point: 72.5", ",": "Comma: 72,5"},
    "thousands": {NONE: "Nothing: 1234", ".": "Point: 1.234", ",": "Comma: 1,234", " ": "Blank: 1 234", "'": "1'234"},
    "labels": {"publish": "Labels become the values", "keep-codes": "Codes stay codes, labels become a level"},
    "output": {
        NONE: "As the file: same delimiter, encoding and decimal sign",
        "standard": "Standard: commas, UTF-8, decimal points",
    },
}
FEW = 4
TITLES = {
    "labels": "Value labels",
    "output": "A release as CSV is written",
    "dates": "Days",
    "missing_in": "Missing in one column",
}
UNFOUND = ("dates", "missing_in")
"""What can be said of a file in which nothing of the kind was found."""


def show_reading_card(bench: Workbench, changed: Callable[[], Awaitable[None] | None]) -> None:
    """Show how the table is read; what is said here holds, and the rest is found out again."""
    source, plan = bench.source, bench.plan
    assert source is not None
    assert plan is not None
    unsure = source.read.to_check
    state = "1 thing to check" if unsure == 1 else f"{unsure} things to check" if unsure else "nothing to check"
    opened = bool(unsure) if bench.reading_shown is None else bench.reading_shown

    def keep(event: Any) -> None:
        bench.reading_shown = bool(event.value)

    with (
        ui.expansion("How the file is read", caption=state, icon="description", value=opened, on_value_change=keep)
        .classes("w-full studio-card")
        .props("data-testid=how-it-is-read")
    ):
        ui.label("Found out from the file. If something is wrong, say so here: everything else is looked at again.")
        doubtful = [one for one in source.read.assumptions if not one["sure"]]
        for one in doubtful:
            _show(bench, one, changed)
        sure = [one for one in source.read.assumptions if one["sure"]]
        found = {one["key"] for one in source.read.assumptions}
        if not is_server(source.place):
            sure += [_unfound(key) for key in UNFOUND if key not in found]
        if source.read.labelled:
            sure.append(_plain("labels", plan.data.labels))
        if plan.data.delimiter is not None:
            sure.append(_plain("output", plan.data.output or NONE))
        with theme.fold(_rest(sure), "read-rest").props("dense") if doubtful else ui.column().classes("w-full gap-0"):
            for one in sure:
                _show(bench, one, changed)


def _rest(sure: Sequence[Mapping[str, Any]]) -> str:
    """Say what is not shown at once: what there is no doubt about."""
    said = [one["title"].lower() for one in sure[:FEW]]
    return f"{len(sure)} more, without doubt: {', '.join(said)}{' …' if len(sure) > FEW else ''}"


def _plain(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "title": TITLES[key], "value": value, "shown": "", "why": "", "sure": True}


def _unfound(key: str) -> dict[str, Any]:
    return {"key": key, "title": TITLES[key], "value": None, "shown": "", "why": "none was found", "sure": True}


def _show(bench: Workbench, one: Mapping[str, Any], changed: Callable[[], Awaitable[None] | None]) -> None:
    """Show one thing that is assumed."""
    key = one["key"]

    chosen = key in CHOICES or key == "sheet"
    known = None if chosen else _written(key, one["value"])

    async def say(event: Any) -> None:
        nonlocal known
        typed = event if isinstance(event, str) else event.value
        if isinstance(event, str) and typed.strip() == known:  # a field that was left as it was
            return
        known = typed
        value = _said(key, typed)
        with row:
            ui.spinner(size="sm")
            ui.label("Reading again …").classes("small").props("role=status data-testid=reading-again")
        try:
            if key == "output":
                data = {**(bench.plan.to_dict().get("data", {}) if bench.plan else {}), "output": value}
                data = {name: part for name, part in data.items() if part is not None}
                theme.refuse(await aside(lambda: bench.change(data=data)))
            else:
                await aside(lambda: bench.read_otherwise({key: value}, _no_longer(bench, key, value)))
        finally:
            if (again := changed()) is not None:
                await again

    with ui.row().classes("w-full items-center gap-3 reading-row") as row:
        if chosen:
            _choice(bench, one, say)
        else:
            field = ui.input(one["title"], value=known).classes("reading-control")
            field.props(f'outlined dense data-testid=read-{key} placeholder="{PLACEHOLDERS.get(key, "")}"')
            field.on("keydown.enter", theme.safely(lambda: say(field.value)))
            field.on("blur", theme.safely(lambda: say(field.value)))
        with ui.column().classes("gap-0 col"):
            if key not in CHOICES and one["shown"]:
                ui.label(one["shown"]).classes("small")
            ui.label(one["why"]).classes("small muted")
        if not one["sure"]:
            ui.label("check").classes("chip warn")


def _no_longer(bench: Workbench, key: str, value: Any) -> tuple[str, ...]:
    """Return what is found out again where something is said: of the two signs in numbers the one that is the same."""
    other = {"decimal": "thousands", "thousands": "decimal"}.get(key)
    if value is None and key in ("dates", "sheet"):
        return (key,)
    if other is None or bench.plan is None or getattr(bench.plan.data, other) != value:
        return ()
    return (other,)


PLACEHOLDERS = {
    "missing": "k.A. | n/a",
    "missing_in": "height: 999; weight: 0 | 999",
    "dates": "%d.%m.%Y | %Y-%m-%d",
}


def _choice(bench: Workbench, one: Mapping[str, Any], say: Callable[[Any], Awaitable[None]]) -> None:
    key = one["key"]
    value = NONE if one["value"] is None else one["value"]
    if key == "sheet":
        options: dict[Any, str] = {name: name for name in (bench.source.read.sheets if bench.source else ())}
    else:
        options = dict(CHOICES[key])
    options.setdefault(value, str(value))
    choice = ui.select(options, value=value, label=one["title"], on_change=theme.safely(say)).classes("reading-control")
    choice.props(f"outlined dense data-testid=read-{key}")


def _written(key: str, value: Any) -> str:
    """Write a value in a field.

    Examples
    --------
    >>> _written("missing", ["", "n/a", "-"]), _written("missing_in", {"height": ["999"]})
    ('n/a | -', 'height: 999')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {BETWEEN.join(cells)}" for name, cells in value.items())
    return value if isinstance(value, str) else BETWEEN.join(part for part in value if part)


def _said(key: str, value: Any) -> Any:
    """Read what somebody has chosen or typed; None is what is found out.

    Examples
    --------
    >>> _said("missing", "n/a | -"), _said("missing_in", "height: 999 | 998; kg: 0"), _said("dates", "")
    (['', 'n/a', '-'], {'height': ['999', '998'], 'kg': ['0']}, None)
    """
    if key in ("missing", "dates"):
        parts = [part.strip() for part in value.split("|") if part.strip()]
        return ["", *parts] if key == "missing" else parts or None
    if key == "missing_in":
        columns = [part.rpartition(":") for part in value.split(";") if ":" in part]
        return {name.strip(): [cell.strip() for cell in cells.split("|")] for name, _, cells in columns}
    return None if value == NONE and key in ("thousands", "output") else value

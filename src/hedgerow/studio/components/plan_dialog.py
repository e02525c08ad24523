"""The plan file that stands for everything done on screens: shown, downloaded, and saved to a file."""

from __future__ import annotations

import shlex
from html import escape
from pathlib import Path
from typing import Any

from nicegui import ui

from hedgerow.errors import DataError, HedgerowError
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.sessions import Session


async def show_plan(session: Session) -> None:
    """Show the plan file that stands for everything done so far."""
    text = await aside(session.bench.plan_text) if session.bench.plan is not None else ""
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full"):
        theme.heading("The plan")
        if not text:
            ui.label("There is no plan yet: open a table first.")
        else:
            _tell(session, text)
        with ui.row():
            if text:
                ui.button(
                    "Download", icon="download", on_click=lambda: theme.send(session, "plan.yaml", text.encode())
                ).props("outline data-testid=download-plan")
            ui.button("Close", on_click=dialog.close).props("flat autofocus")


def _tell(session: Session, text: str) -> None:
    data = session.bench.source.name if session.bench.source else "DATA"
    about = (
        f"The plan for {data} as it is now: everything done here is in it. On the command line it gives the "
        "same release. A run that was made keeps the plan of its time: take that from its result."
    )
    ui.label(about).classes("muted")
    if not session.settings.team:
        _offer_saving(session)
    command = escape(f"hedgerow anonymize {shlex.quote(data)} plan.yaml -o release/")
    ui.html(f'<pre class="yaml" tabindex="0">{command}</pre>', sanitize=False)
    ui.html(f'<pre class="yaml" tabindex="0" data-testid="plan-text">{escape(text)}</pre>', sanitize=False)


def _offer_saving(session: Session) -> None:
    """Let one person, whose machine this is, save the plan to a file."""
    refused: list[str] = []  # the place that was refused a moment ago: who asks again means it
    with ui.row().classes("w-full items-start gap-2"):
        place = ui.input("File", value=str(_usual_place(session))).classes("grow")
        place.props("outlined dense autocomplete=off data-testid=plan-place")
        saved = ui.button("Save", icon="save").props("unelevated data-testid=save-plan")
    told = ui.label("").classes("note good").props("role=status data-testid=plan-saved")
    told.set_visibility(False)

    async def save(_: Any) -> None:
        typed = (place.value or "").strip()
        told.set_visibility(False)
        place.error = None
        if not typed:
            place.error = "Name a file, such as plan.yaml."
            return
        path = Path(session.settings.check_place(typed))
        try:
            await aside(session.bench.save_plan, path, over=typed in refused)
        except DataError as error:
            refused[:] = [typed] if error.problems[0].code == "output-in-use" else []
            theme.say_at(place, error)
            return
        except HedgerowError as error:
            theme.say_at(place, error)
            return
        refused.clear()
        session.log.write("plan saved", session)
        told.text = f"Saved as {path}."
        told.set_visibility(True)

    saved.on_click(theme.safely(save))
    place.on("keydown.enter", theme.safely(save))


def _usual_place(session: Session) -> Path:
    """Return the file that the plan comes from, or one beside the table's that is free for it."""
    bench = session.bench
    own = bench.plan_file.place
    if own is not None and not own.is_relative_to(session.folder):
        return own
    name = Path(bench.source.name).stem if bench.source is not None else "table"
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    return (session.settings.folder or Path.cwd()) / f"{plain}-plan.yaml"

"""A tour of five steps over made-up patients: a note at the top of each screen, which can be left at any time."""

from __future__ import annotations

from dataclasses import dataclass

from nicegui import ui

from hedgerow.studio.sessions import Session


@dataclass(frozen=True)
class TourStep:
    """A step: the screen it is on, what there is to see, and what to try."""

    screen: str
    see: str
    do: str


STEPS = (
    TourStep(
        "data",
        "Every column has a role. What others may know of a person is a quasi-identifier and gets coarser; what nobody "
        "should learn is sensitive; names are left out.",
        "Look at the columns below. All roles are set already.",
    ),
    TourStep(
        "limits",
        "A limit is the coarsest that a value may become. Every row of the tree is a value or a group of values.",
        "Press a little hedge at the end of a row, and see in the bar below how many records that costs.",
    ),
    TourStep(
        "promise",
        "Who gets the release decides how large groups must be, and how different their sensitive values.",
        "Press “Use these numbers” for the research partners. Everything can be changed below.",
    ),
    TourStep(
        "run",
        "A run groups people within the limits, and checks the release before it is given out.",
        "Press “Make a release”, wait a few seconds, and look at the result.",
    ),
    TourStep(
        "result",
        "The banner says whether every promise is kept, and what remains for you to weigh.",
        "Take away the release, and a report to sign. Then open a table of your own.",
    ),
)


def show_tour(session: Session, screen: str) -> None:
    """Show the step of a screen, if the tour is on."""
    number = next((at for at, step in enumerate(STEPS, start=1) if step.screen == screen), None)
    if not session.touring or number is None:
        return
    step = STEPS[number - 1]
    with ui.column().classes("note gap-1").props(f'role=region aria-label="Tour" data-testid=tour-{number}') as note:
        ui.label(f"Tour, step {number} of {len(STEPS)}").classes("font-bold")
        ui.label(step.see)
        ui.label(step.do)

        def leave(where: str = "") -> None:
            session.touring = False
            note.delete()
            if where:
                ui.navigate.to(where)

        with ui.row().classes("gap-2"):
            if number < len(STEPS):
                following = STEPS[number].screen
                go = ui.button(f"Next: {following}", on_click=lambda: ui.navigate.to(f"/{following}"))
                go.props("outline dense no-caps padding='xs sm' data-testid=tour-next")
                ui.button("Leave the tour", on_click=lambda: leave()).props(
                    "flat dense no-caps padding='xs sm' data-testid=tour-leave"
                )
            else:
                go = ui.button("Open your own table", on_click=lambda: leave("/data?another=1"))
                go.props("outline dense no-caps padding='xs sm' data-testid=tour-end")
                ui.button("End the tour", on_click=lambda: leave()).props(
                    "flat dense no-caps padding='xs sm' data-testid=tour-leave"
                )

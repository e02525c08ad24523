"""What every screen shares: the frame around it, small parts, and how problems are shown."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from nicegui import Client, ui

from hedgerow.errors import HedgerowError, Problem, kind_and_place
from hedgerow.studio.components.marked_table import cell, marked_table
from hedgerow.studio.components.tour import show_tour
from hedgerow.studio.sessions import Session

SCREENS = {
    "data": "Data",
    "limits": "Limits",
    "promise": "Promise",
    "run": "Run",
    "result": "Result",
    "releases": "Releases",
}
"""The screens in the order in which a newcomer needs them."""

MOST_PAGES = 20
"""Pages that one session may have open."""
CSS = (Path(__file__).parent / "theme.css").read_text(encoding="utf-8")
for _field in (ui.input, ui.number, ui.select, ui.textarea):
    _field.default_props("stack-label")  # a label inside an empty field looks like what stands in it
Marked = TypeVar("Marked", bound=ui.element)
log = logging.getLogger("hedgerow.studio")
_shown_over: WeakKeyDictionary[Client, ui.dialog] = WeakKeyDictionary()
_bars: WeakKeyDictionary[Client, ui.element] = WeakKeyDictionary()


def the_session() -> Session:
    """Return the session of the page that is being built or used."""
    request = ui.context.client.request
    session: Session = request.state.session
    return session


@contextlib.contextmanager
def frame(current: str) -> Iterator[Session]:
    """Put a page into the frame of the studio."""
    session, client = the_session(), ui.context.client
    _note_page(session, client)
    ui.add_css(CSS)
    ui.colors(
        primary="#2b6b3f",
        secondary="#566055",
        accent="#2b5f9e",
        positive="#256b38",
        negative="#a3231f",
        warning="#8a5300",
    )
    ui.page_title(f"{SCREENS[current]} · Hedgerow")
    ui.run_javascript("document.documentElement.lang = 'en'")
    dark = ui.dark_mode(session.dark)
    ui.link("Skip to content", "#content").classes("skip")
    with ui.element("header").classes("studio-header w-full"):
        ui.link("Hedgerow", "/data").classes("studio-brand")
        with ui.element("nav").classes("studio-nav").props('aria-label="Screens"'):
            for name, title in SCREENS.items():
                link = ui.link(title, f"/{name}").props(f"data-testid=nav-{name}")
                if name == current:
                    link.props("aria-current=page")
                elif session.bench.plan is None and name not in ("data", "releases"):
                    link.classes("later")
        ui.button("Show plan", icon="description", on_click=_show_plan).props("flat dense data-testid=show-plan")
        ui.button(icon="contrast", on_click=functools.partial(_turn, session, dark)).props(
            'flat dense round aria-label="Light or dark" data-testid=dark'
        )
        if session.settings.team:
            button = f'<button class="link">Sign out {escape(session.user)}</button>'
            ui.html(f'<form method="post" action="/sign-out">{button}</form>', sanitize=False)
    with ui.element("main").classes("w-full").props("id=content tabindex=-1"):
        body = ui.column().classes("studio-main")
    _bars[client] = ui.element("footer").classes("studio-bar")
    with body:
        show_tour(session, current)
        yield session


def bar() -> ui.element:
    """Return the bar at the bottom of the page: it stays in view, and nothing of the page ends under it."""
    return _bars[ui.context.client]


def next_step(text: str = "", where: str = "") -> None:
    """Put the way to the next screen at the end of the bar, in place of another; no text: there is none."""
    for before in [element for element in bar().default_slot.children if "next" in element.classes]:
        before.delete()
    if not text:
        return
    with bar():
        ui.button(text, on_click=lambda: ui.navigate.to(where)).props(
            "unelevated icon-right=arrow_forward data-testid=next"
        ).classes("next")


def _note_page(session: Session, client: Client) -> None:
    """Note a page of a session; of more than one can look at, the oldest is closed: each takes memory of all."""
    session.clients.add(client.id)
    session.pages.append(client.id)
    client.on_delete(lambda: session.clients.discard(client.id))
    while len(session.clients) > MOST_PAGES:
        oldest = Client.instances.get(session.pages.popleft())
        if oldest is not None and oldest is not client:
            oldest.delete()


async def _show_plan() -> None:
    from hedgerow.studio.components.plan_dialog import show_plan  # which takes its parts from here

    await safely(lambda: show_plan(the_session()))()


async def _turn(session: Session, dark: Any) -> None:
    """Switch between light and dark, from what the page is now: until the first press the system decides that."""
    now = await ui.run_javascript("document.body.classList.contains('body--dark')")
    session.dark = dark.value = not now


def mark(element: Marked, name: str) -> Marked:
    """Give an element a name for tests. Set as it is: a column's name must not be read as properties."""
    element.props["data-testid"] = name
    return element


# -- parts -------------------------------------------------------------------------------------------------------------


def title(text: str, lead: str = "") -> None:
    """Write the heading of a screen, and what it is for."""
    with ui.column().classes("gap-1"):
        with ui.element("h1").classes("studio-title"):
            ui.html(escape(text), sanitize=False)
        if lead:
            ui.label(lead).classes("studio-lead")


def heading(text: str) -> None:
    """Write the heading of a part."""
    with ui.element("h2").classes("studio-heading"):
        ui.html(escape(text), sanitize=False)


def card() -> ui.column:
    """Open a card."""
    return ui.column().classes("studio-card")


def empty(text: str, action: str = "", where: str = "") -> None:
    """Say that there is nothing yet, and what to do."""
    with ui.column().classes("studio-empty").props("data-testid=empty"):
        ui.icon("eco", size="2.5rem").props("aria-hidden=true")
        ui.label(text)
        if action:
            ui.button(action, on_click=lambda: ui.navigate.to(where)).props("unelevated")


def note(text: str, kind: str = "", testid: str = "") -> ui.label:
    """Write a remark that stands out; kind is one of good, warn, bad."""
    role = "alert" if kind == "bad" else "status"
    return ui.label(text).classes(f"note {kind}").props(f"role={role}" + (f" data-testid={testid}" if testid else ""))


def tile(what: str, value: str, testid: str = "", beside: str = "") -> None:
    """Show a number."""
    with ui.element("div").classes("tile"):
        ui.label(what).classes("what")
        ui.label(value).classes("value").props(f"data-testid={testid}" if testid else "")
        if beside:
            ui.label(beside).classes("muted small")


def chart(svg: str) -> None:
    """Show a chart of ours; its labels are escaped already."""
    ui.html(svg, sanitize=False).classes("chart")


def table(
    head: Sequence[str], rows: Iterable[Sequence[str | None]], numbers: Iterable[int] = (), testid: str = ""
) -> None:
    """Show a plain table; cells are shown as text, a missing one as such."""
    shown = ([cell(value) for value in row] for row in rows)
    marked_table(head, shown, label=testid or "table", numbers=numbers, testid=testid)


# -- problems ----------------------------------------------------------------------------------------------------------


def show_problems(problems: Iterable[Problem]) -> None:
    """Show what is wrong and what to do, over the page; only what was wrong last stays."""
    client = ui.context.client
    before = _shown_over.get(client)
    if before is not None and not before.is_deleted:
        before.delete()
    with ui.dialog(value=True) as dialog, ui.card().props("role=alertdialog data-testid=problems"):
        _shown_over[client] = dialog
        heading("That does not work")
        problem_list(problems)
        ui.button("Close", on_click=dialog.close).props("unelevated autofocus data-testid=close-problems")


def problem_list(problems: Iterable[Problem]) -> None:
    """Show what is wrong and what to do, in place."""
    for problem in problems:
        with ui.column().classes("note bad gap-1").props("role=alert data-testid=problem"):
            ui.label(problem.message)
            if problem.hint:
                ui.label(f"What to do: {problem.hint}").classes("small")


def keep(field: Marked, session: Session, name: str) -> Marked:
    """Keep what is typed into a field, over changes of screens and reloads."""
    typed = session.kept.typed
    field.value = typed.get(name, field.value)  # type: ignore[attr-defined]
    field.on_value_change(lambda event: typed.__setitem__(name, event.value or ""))  # type: ignore[attr-defined]
    return field


def fold(text: str, name: str, opened: bool = False, **look: Any) -> ui.expansion:
    """Make a part that can be opened and closed, and stays so over changes of screens and reloads.

    ``name`` tells it from others; ``opened``: whether it is so until somebody has said.
    """
    unfolded = the_session().kept.unfolded
    made = ui.expansion(text, value=unfolded.get(name, opened), **look).classes("w-full")
    made.on_value_change(lambda event: unfolded.__setitem__(name, bool(event.value)))
    return mark(made, name)


def say_at(field: Any, error: HedgerowError) -> None:
    """Say at a field why what stands in it cannot be so."""
    problem = error.problems[0]
    hint = problem.hint or ""
    field.error = f"{problem.message} {hint[:1].upper()}{hint[1:]}".strip()


def safely_at(field: Any, work: Callable[[], Any]) -> Callable[..., Any]:
    """Wrap a handler as :func:`safely` does; what is wrong is said at the field that asks for it."""

    async def handler(*_: Any) -> None:
        field.error = None
        try:
            found = work()
            if inspect.isawaitable(found):
                await found
        except HedgerowError as error:
            if field.is_deleted:
                raise
            say_at(field, error)
            the_session().log.write("refused", the_session(), reason=sorted({one.code for one in error.problems}))

    return safely(handler)


async def taken_at(field: Any, change: Callable[[], Awaitable[Sequence[Problem]]]) -> bool:
    """Make a change of the plan that a field asks for; if it cannot be, what was typed stays and the field says why."""
    try:
        refuse(await change())
    except HedgerowError as error:
        say_at(field, error)
        return False
    field.error = None
    return True


def refuse(problems: Sequence[Problem]) -> None:
    """Raise what is wrong with a change of the plan, if anything is."""
    if problems:
        raise HedgerowError(problems)


def safely(work: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a handler: problems are shown, and what was not foreseen is told without any value of the data."""
    page, session = ui.context.client.content, the_session()  # what the handler belongs to may be gone when it is done

    @functools.wraps(work)
    async def handler(*arguments: Any) -> None:
        if session.ended:
            ui.navigate.to("/data")
            return
        try:
            found = work(*arguments)
            if inspect.isawaitable(found):
                await found
            return
        except HedgerowError as error:
            problems = error.problems
            session.log.write("refused", session, reason=sorted({problem.code for problem in problems}))
        except Exception as error:
            place = kind_and_place(error)
            log.error("%s", place)
            problems = (Problem("internal", f"Internal error ({place}).", hint="please report this line"),)
        with page:
            show_problems(problems)

    return handler


def send(session: Session, name: str, content: bytes) -> None:
    """Let the browser download something."""
    ui.download.from_url(f"/files/{session.files.write(name, content).id}")

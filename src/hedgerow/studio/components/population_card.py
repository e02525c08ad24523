"""The people whom the records were drawn from: their table, by what they are looked up, and what is asked of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan import Plan
from hedgerow.plan.formats import table_endings
from hedgerow.plan.hierarchy.numbers import number_label, parse_number
from hedgerow.reports.wording import counted, percent
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.drop_zone import DropZone
from hedgerow.studio.files import StoredFile
from hedgerow.studio.sessions import Session
from hedgerow.studio.workbench import PeopleSource

NOT_THERE = ""
"""Stands for a quasi-identifier that the population has not, or rows that are one person each."""


class PopulationCard:
    """A card of a form.

    Parameters
    ----------
    session
        Whose plan it changes.
    changed
        Called after a change.
    """

    def __init__(self, session: Session, changed: Callable[[], Awaitable[object]]) -> None:
        self._session, self._bench, self._changed = session, session.bench, changed
        self._place = theme.card()
        self._build()

    @property
    def _plan(self) -> Plan:
        assert self._bench.plan is not None
        return self._bench.plan

    def _build(self) -> None:
        self._place.clear()
        people, plan = self._bench.people, self._plan
        with self._place:
            theme.heading("Population")
            text = "A table of all the people whom the records were drawn from, such as a register. They are counted: "
            ui.label(text + "how many fit what is published of a record. Nothing of it is released.").classes(
                "muted small"
            )
            if plan.population is None or people is None:
                if plan.population is not None:
                    theme.note("The plan counts people in a population. Say where its table is.", "warn")
                self._ask_for_it()
                return
            with ui.row().classes("w-full items-center justify-between"):
                ui.label(people.name).classes("studio-heading").props("data-testid=population-name")
                ui.button("Take it away", icon="close", on_click=theme.safely(self._take_away)).props(
                    "flat dense data-testid=population-none"
                )
            self._columns(plan, people)
            self._said = ui.column().classes("w-full gap-1").props("data-testid=population-fits")
            self._demands(plan)
        ui.timer(0.05, theme.safely(self._look), once=True)

    # -- the table -----------------------------------------------------------------------------------------------------

    def _ask_for_it(self) -> None:
        """Offer the ways to a table: bring a file, take one of the folder, or name one, or a table on a server."""

        async def brought(stored: StoredFile) -> None:
            try:
                await self._count_in(str(stored.path), stored.name, own=False)
            except HedgerowError:
                self._session.files.remove(stored.id)
                raise

        settings = self._session.settings
        DropZone("A table of the population", brought, accept=",".join(table_endings()), testid="upload-population")
        for path in settings.offered():
            take = theme.safely(lambda path=path: self._count_in(str(path), path.name))
            ui.button(path.name, icon="table_chart", on_click=take).props("flat dense align=left no-caps")
        if settings.team and not settings.databases:
            return
        label = "Path, or address of a table on a server" if settings.databases else "Path"
        label = "Address of a table on a server" if settings.team else label
        with ui.row().classes("w-full items-center gap-2"):
            typed = ui.input(label, placeholder="register.csv, postgresql://…").classes("grow")
            typed.props("outlined dense autocomplete=off data-testid=population-place")
            named = theme.safely_at(typed, lambda: self._count_in(settings.check_place((typed.value or "").strip())))
            ui.button("Count in it", on_click=named).props("outline data-testid=population-open")

    async def _count_in(self, place: str, name: str | None = None, own: bool = True) -> None:
        theme.refuse(await aside(self._bench.count_in, place, name, own))
        self._build()
        await self._changed()

    async def _take_away(self) -> None:
        before = self._bench.people
        theme.refuse(await aside(self._bench.count_nowhere))
        if before is not None and not self._bench.uses(before.place):
            self._session.files.remove_at(before.place)
        self._build()
        await self._changed()

    # -- by what people are looked up ----------------------------------------------------------------------------------

    def _columns(self, plan: Plan, people: PeopleSource) -> None:
        """Ask what the population calls every quasi-identifier, and which column counts people."""
        asked = plan.population
        assert asked is not None
        known = asked.columns
        if known is None:
            known = {name: name for name in plan.quasi_identifiers if name in people.columns}
        there = {NOT_THERE: "not there", **{name: name for name in people.columns}}
        self._by: dict[str, Any] = {}
        with ui.element("div").classes("studio-halves"):
            for name in plan.quasi_identifiers:
                select = ui.select(there, value=_among(known.get(name), people), label=f"{name} is called")
                self._by[name] = theme.mark(select.props("outlined dense").classes("w-full"), f"population-by-{name}")
                select.on_value_change(theme.safely(self._take_columns))
            rows = {**there, NOT_THERE: "one: a row for each"}
            self._count = ui.select(rows, value=_among(asked.count, people), label="People that a row stands for")
            self._count.props("outlined dense data-testid=population-count").classes("w-full")
            self._count.on_value_change(theme.safely(self._take_columns))

    async def _take_columns(self, _: Any) -> None:
        columns = {name: select.value for name, select in self._by.items() if select.value != NOT_THERE}
        asked: dict[str, Any] = {"columns": columns} if columns else {}
        if self._count.value != NOT_THERE:
            asked["count"] = self._count.value
        theme.refuse(self._bench.change(population=asked))
        await self._look()
        await self._changed()

    async def _look(self) -> None:
        """Say how many people there are, and how many of them the records fit as they are."""
        said = self._said
        said.clear()
        with said:
            waiting = ui.label("Counting …").props("role=status")
        try:
            found = await aside(self._bench.fitting)
        except HedgerowError as error:
            if not said.is_deleted:
                said.clear()
                with said:
                    theme.problem_list(error.problems)
            return
        if said.is_deleted:
            return
        waiting.delete()
        with said:
            for line in lines_of(found):
                ui.label(line).classes("small")

    # -- what is asked -------------------------------------------------------------------------------------------------

    def _demands(self, plan: Plan) -> None:
        """Ask for k-map and δ-presence."""
        least, most = ("", "") if plan.privacy.presence is None else _shares(plan)
        with ui.element("div").classes("studio-halves"):
            k_map = "" if plan.privacy.k_map is None else str(plan.privacy.k_map)
            self._field(
                "k-map: people whom every published combination fits, at least", k_map, "k-map", self._take_k_map
            )
            self._field(
                "δ-presence: greatest share of them in the release, such as 0.2", most, "presence-most",
                lambda value: self._take_presence(None, value),
            )  # fmt: skip
            self._field(
                "δ-presence: least share of them in the release", least, "presence-least",
                lambda value: self._take_presence(value, None),
            )  # fmt: skip

    def _field(self, label: str, value: str, testid: str, change: Callable[[str], tuple[Problem, ...]]) -> None:
        field = ui.input(label, value=value).classes("w-full")
        field.props(f"outlined dense placeholder=none data-testid={testid}")
        taken = [value]

        async def left(_: Any) -> None:
            now = (field.value or "").strip()
            if now == taken[0] or not await theme.taken_at(field, lambda: aside(change, now)):
                return
            taken[0] = now
            await self._changed()

        field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

    def _take_k_map(self, value: str) -> tuple[Problem, ...]:
        return self._ask(k_map=value or None)

    def _take_presence(self, least: str | None, most: str | None) -> tuple[Problem, ...]:
        now = dict(zip(("least", "most"), _shares(self._plan), strict=True)) if self._plan.privacy.presence else {}
        low = now.get("least", "") if least is None else least
        high = now.get("most", "") if most is None else most
        return self._ask(presence=[low or 0, high or 1] if low or high else None)

    def _ask(self, **keys: Any) -> tuple[Problem, ...]:
        asked = {**self._plan.to_dict()["privacy"], **keys}
        return self._bench.change(privacy={name: part for name, part in asked.items() if part is not None})


def lines_of(found: Mapping[str, Any]) -> list[str]:
    """Say what a count of the population found.

    Examples
    --------
    >>> found = {"people": 9000, "columns": ["age", "sex"], "left_out": 3, "records": 500, "fewest": 1, "alone": 20}
    >>> lines_of(found)[0]
    '9,000 people, looked up by age and sex. 3 of them have a value that no hierarchy has, and fit nothing.'
    >>> lines_of(found)[1]
    '20 of 500 records (4%) fit one person alone as they are: 1 in 1 for whoever has the register.'
    """
    columns = " and ".join(filter(None, [", ".join(found["columns"][:-1]), found["columns"][-1]]))
    first = f"{counted(found['people'], 'person', 'people')}, looked up by {columns}."
    if found["left_out"]:
        have = counted(found["left_out"], "of them has", "of them have")
        first += f" {have} a value that no hierarchy has, and {'fits' if found['left_out'] == 1 else 'fit'} nothing."
    if found["alone"]:
        share = percent(found["alone"] / found["records"])
        some = f"{found['alone']:,} of {counted(found['records'], 'record')} ({share})"
        return [first, f"{some} fit one person alone as they are: 1 in 1 for whoever has the register."]
    return [first, f"As they are, every record fits {found['fewest']:,} people at least."]


def _among(name: str | None, people: PeopleSource) -> str:
    return name if name is not None and name in people.columns else NOT_THERE


def _shares(plan: Plan) -> tuple[str, str]:
    presence = plan.privacy.presence
    assert presence is not None
    least, most = (number_label(parse_number(str(share)) or 0) for share in (presence.at_least, presence.at_most))
    return ("" if least == "0" else least), ("" if most == "1" else most)

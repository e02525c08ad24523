"""The workbench of a session: a table, a plan for it, and runs. No screen and no server here.

The plan is always a valid one: a change that would break it is refused with the reasons, and the plan stays as it was.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from hedgerow.anonymization.explanation import Explanation, Lift, Outlook
from hedgerow.errors import DataError, HedgerowError, PlanError, Problem
from hedgerow.evaluation.leaving_out import without_column
from hedgerow.evaluation.people import Repeat
from hedgerow.outside.outputs.file import put_text
from hedgerow.outside.server import is_server, shown
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.hierarchy import Hierarchy
from hedgerow.studio.differences import in_short_words
from hedgerow.studio.jobs import Job
from hedgerow.studio.reader import TableReader
from hedgerow.studio.runs import Run, RunData
from hedgerow.studio.stores import StoreView, store_of
from hedgerow.studio.views import (
    ColumnView,
    FirstWish,
    HierarchyWish,
    HowRead,
    Look,
    NumbersView,
    TreeView,
    explanation_of,
    outlook_of,
    tree_of,
)

MOST_STEPS = 200
"""Changes that can be undone."""
MOST_RUNNING = 3
"""Processes that one session may have at work."""


@dataclass(frozen=True)
class TableSource:
    """The table at work.

    Attributes
    ----------
    place
        What the verbs are given: a path, or the address of a table, which may hold a password.
    name
        What a person calls it; shows no password.
    form
        How it was said to be written when it was looked at; None if nothing was said.
    records, columns, preview, repeats
        What was seen in it: how many records, its columns, some of its first rows, and identifiers that repeat.
    read
        How it is read: what is assumed, and why.
    """

    place: str = field(repr=False)
    name: str
    form: Mapping[str, Any] | None
    records: int
    columns: tuple[ColumnView, ...] = field(repr=False)
    preview: tuple[tuple[str | None, ...], ...] = field(repr=False)
    repeats: tuple[Repeat, ...] = ()
    read: HowRead = field(default_factory=HowRead)

    def seen_anew(self, raw: Mapping[str, Any]) -> TableSource:
        """Return the table with what a reader saw in it."""
        columns = tuple(ColumnView.of(column) for column in raw["columns"])
        preview = tuple(map(tuple, raw["preview"]))
        repeats = tuple(Repeat(**repeat) for repeat in raw["repeats"])
        records = int(raw["records"])
        read = HowRead.of(raw["read"])
        return TableSource(self.place, self.name, raw["form"], records, columns, preview, repeats, read)


@dataclass(frozen=True)
class PeopleSource:
    """The table of the people whom the records were drawn from.

    Attributes
    ----------
    place, name
        As those of a table.
    columns
        Its columns.
    own
        Whether a plan file may name it: it is no copy that was brought here.
    """

    place: str = field(repr=False)
    name: str
    columns: tuple[str, ...] = field(repr=False)
    own: bool = False


@dataclass(frozen=True)
class PlanFile:
    """The file that a plan comes from.

    Attributes
    ----------
    text
        What stood in it; None: the plan comes from no file.
    place
        Where it lies, if it is the owner's own.
    """

    text: str | None = field(repr=False)
    place: Path | None


class Workbench:
    """What a session works on."""

    def __init__(self, folder: Path, reader: TableReader | None = None) -> None:
        self._folder, self._reader = folder, reader or TableReader(folder)
        self.source: TableSource | None = None
        self.people: PeopleSource | None = None
        self.plan: Plan | None = None
        self.plan_file = PlanFile(None, None)
        self.runs: list[Run] = []
        self.version = 0
        self.store: str | None = None
        self.store_job: Job | None = None  # a change of the maintained release, or a look at it
        self.jobs: list[Job] = []  # all work besides runs: reports, and the above
        self.rows_are_people = False  # somebody has said so
        self.reading_shown: bool | None = None  # whether somebody has opened or closed how the file is read
        self._drafted: Plan | None = None  # as the draft was, before anybody changed it
        self._past: list[Plan] = []
        self._future: list[Plan] = []
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._outlook: tuple[str, Outlook] | None = None
        self._assessment: tuple[str, dict[str, Any]] | None = None
        self._nodes: tuple[str, Job] | None = None  # a list of nodes of the lattice, and what it was made of

    # -- the table -----------------------------------------------------------------------------------------------------

    def open(self, place: str | Path, name: str | None = None, plan: str | Path | None = None) -> None:
        """Take a table to work on, with a plan that is given, or else drafted."""
        place = str(place) if is_server(place) else str(Path(place).absolute())
        file = None if plan is None else str(Path(plan).absolute())
        found = self._reader.ask("examine", place, plan_file=file, form=None, draft=True)
        named = found["plan"].get("population", {}).pop("file", None)  # the owner's own plan may name one
        taken = Plan.from_dict(found["plan"], base=None)
        people = None if named is None else self._people_at(named, taken, own=True)
        name = name or (shown(place) if is_server(place) else Path(place).name)
        source = TableSource(place, name, None, 0, (), ()).seen_anew(found)
        with self._lock:
            self.source, self.people = source, people
            self.rows_are_people = False
            self.plan_file = PlanFile(found["text"], None if file is None else Path(file))
            self._drafted = taken if plan is None else None
            self.reading_shown = None
            self._begin(taken)

    def read_otherwise(self, said: Mapping[str, Any], forget: Sequence[str] = ()) -> None:
        """Read the table in another way than was assumed: what is said of it holds, the rest is found out anew.

        Columns that somebody has decided about stay as they are; what was only drafted is drafted again. ``forget``:
        what was said before, and is to be found out again.
        """
        with self._reading:  # what is said while the table is read counts too
            source, plan = self.source, self.plan
            assert source is not None
            assert plan is not None
            form = {key: value for key, value in {**(source.form or {}), **said}.items() if key not in forget}
            found = self._reader.ask("examine", source.place, plan_file=None, form=form, draft=True)
            drafted = Plan.from_dict(found["plan"], base=None)
            with self._lock:
                before, self._drafted = self._drafted, drafted
                self.source = source.seen_anew(found)
                self._begin(_redrafted(self.plan or plan, before, drafted))

    def read_plan(self, path: Path, name: str) -> tuple[Plan, PlanFile]:
        """Read a plan that somebody brought, which names no files."""
        found = self._reader.ask("plan", path=str(path), name=name)
        return Plan.from_dict(found["plan"], base=None), PlanFile(found["text"], None)

    def take_plan(self, plan: Plan, file: PlanFile | None = None) -> None:
        """Take another plan for the table, which must have the columns that it names; ``file``: where it is from."""
        assert self.source is not None
        there = {column.name for column in self.source.columns}
        absent = [name for name in plan.attributes if name not in there]
        if absent:
            message = f"The plan names columns that the table does not have: {', '.join(absent[:10])}."
            raise PlanError(Problem("missing-column", message, hint="open the table that the plan is for"))
        source = self.source
        if plan.data != (DataFormat() if self.plan is None else self.plan.data):  # its cells are read in another way
            form = plan.data.model_dump(mode="json", exclude_unset=True)
            source = source.seen_anew(self._reader.ask("examine", source.place, form=form))
        with self._lock:
            self.source = source
            self.plan_file = file or PlanFile(None, None)
            self._begin(plan)

    def _begin(self, plan: Plan) -> None:
        self.plan = plan
        self._past, self._future = [], []
        self._outlook = self._assessment = None
        self.version += 1

    @property
    def people_to_ask_about(self) -> tuple[Repeat, ...]:
        """Columns that seem to name people who have several rows, while nobody has said whether they do."""
        if self.source is None or self.plan is None or self.plan.person or self.plan.unit or self.rows_are_people:
            return ()
        return self.source.repeats

    # -- the plan ------------------------------------------------------------------------------------------------------

    def change(self, **keys: Any) -> tuple[Problem, ...]:
        """Replace top keys of the plan, or leave them out (None); returns what is wrong with that, if anything."""
        if self.plan is None:
            return (Problem("usage", "There is no table yet.", hint="open one first"),)
        raw = {name: part for name, part in {**self.plan.to_dict(), **keys}.items() if part is not None}
        try:
            new = Plan.from_dict(raw, base=None)
        except PlanError as error:
            return error.problems
        with self._lock:
            if new != self.plan:
                self._past = [*self._past, self.plan][-MOST_STEPS:]
                self._future = []
                self.plan = new
                self.version += 1
        return ()

    def change_attribute(self, column: str, **keys: Any) -> tuple[Problem, ...]:
        """Replace keys of one column, or leave them out (None). A new role or hierarchy drops what does not fit it."""
        if self.plan is None:
            return self.change()
        attributes = self.plan.to_dict()["attributes"]
        old = {} if "role" in keys and keys["role"] != attributes[column]["role"] else attributes[column]
        if {"hierarchy", "intervals"} & set(keys) and "limit" not in keys:
            keys = {**keys, "limit": None}
        if {"hierarchy", "intervals"} & set(keys):
            keys = {"publish": None, "decimals": None, **keys}
        new = {name: part for name, part in {**old, **keys}.items() if part is not None}
        return self.change(attributes={**attributes, column: new})

    def change_limits(self, limits: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Replace the limits of some columns, in one change."""
        if self.plan is None:
            return self.change()
        attributes = self.plan.to_dict()["attributes"]
        changed = {name: {**attributes[name], "limit": limit} for name, limit in limits.items() if name in attributes}
        return self.change(attributes={**attributes, **changed})

    def undo(self) -> bool:
        """Go one change back."""
        return self._step(self._past, self._future)

    def redo(self) -> bool:
        """Take one change that was undone again."""
        return self._step(self._future, self._past)

    def _step(self, there: list[Plan], here: list[Plan]) -> bool:
        with self._lock:
            if not there or self.plan is None:
                return False
            here.append(self.plan)
            self.plan = there.pop()
            self.version += 1
            return True

    @property
    def can_undo(self) -> bool:
        """Tell whether there is a change to undo."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Tell whether there is a change to take again."""
        return bool(self._future)

    def plan_yaml(self) -> str:
        """The plan as a file that needs no other."""
        return "" if self.plan is None else self.plan.to_yaml()

    def plan_text(self, folder: Path | None = None) -> str:
        """The plan as a file: that which it comes from, with its comments, where it comes from one.

        ``folder`` is where it will lie; None: it may name no other files.
        """
        plan, file = self._planned(), self.plan_file
        if file.text is None:
            return plan.to_yaml()
        asked = {"plan": _plain(plan.to_dict()), "text": file.text, "folder": None if folder is None else str(folder)}
        if folder is not None and self.people is not None and self.people.own:
            asked["population"] = self._population
        return str(self._reader.ask("written", **asked)["text"])

    def save_plan(self, place: Path, over: bool = False) -> None:
        """Write the plan to a file of its owner; ``over``: in place of another, or of what others made of it since.

        Raises
        ------
        DataError
            There is such a file, and it is not the one that the plan comes from as it was read.
        """
        text = self.plan_text(place.parent)
        mine = self.plan_file.place == place and place.is_file() and _text_of(place) == self.plan_file.text
        if not (over or mine) and os.path.lexists(place):
            message = "There is such a file already, and it is another one."
            raise DataError(Problem("output-in-use", message, hint="save again to replace it, or give another name"))
        put_text(place, text, "The plan", replace=True)
        with self._lock:
            self.plan_file = PlanFile(text, place)

    # -- what the plan comes to ----------------------------------------------------------------------------------------

    def outlook(self) -> Outlook:
        """What the limits come to; it says nothing of single profiles."""
        plan = self._planned()
        key = plan.digest()
        if self._outlook is None or self._outlook[0] != key:
            self._outlook = key, outlook_of(self._ask("outlook", plan))
        return self._outlook[1]

    def explanation(self) -> Explanation:
        """What each limit costs and which single changes would help; takes longer than the outlook."""
        return explanation_of(self._ask("explanation", self._planned()))

    def assessment(self) -> dict[str, Any]:
        """How much the table gives away as it stands, by the columns of the plan; see ``Assessment.to_dict``."""
        plan = self._planned()
        key = plan.digest()
        if self._assessment is None or self._assessment[0] != key:
            self._assessment = key, self._ask("assessment", plan)
        return self._assessment[1]

    def proposed_limits(self, withhold: str | None, columns: Sequence[str] | None) -> dict[str, Any]:
        """Limits proposed from the data for some columns, or for those without one: see ``ProposedLimits.to_dict``."""
        return self._ask("proposed_limits", self._planned(), withhold=withhold, columns=columns)

    def look(self, column: str) -> Look:
        """What is known of a column, and of all others in short."""
        return Look.of(self._ask("look", self._planned(), column=column))

    def examples(self) -> dict[str, Sequence[str]]:
        """What a value of every quasi-identifier with a hierarchy is on each level."""
        return self._ask("examples", self._planned())

    def levels(self, column: str) -> tuple[str, ...]:
        """What a value of a column is on each level of its hierarchy, whatever its role; empty if it has none."""
        assert self.source is not None
        found = self._ask("levels", self._planned(), column=column, form=self.source.form)
        return tuple(map(str, found["examples"]))

    def tree(self, column: str) -> TreeView | None:
        """The hierarchy of a column with counts; None if it has free intervals."""
        return self.look(column).tree

    def numbers(self, column: str) -> NumbersView | None:
        """The numbers of a column with free intervals; None if it has a hierarchy."""
        return self.look(column).numbers

    def unfit(self) -> tuple[Problem, ...]:
        """Say why the table cannot be read by the plan, if it cannot."""
        try:
            self._ask("fits", self._planned())
        except HedgerowError as error:
            return error.problems
        return ()

    def lifted(self, lift: Lift) -> tuple[bool, Any]:
        """Find the limit that a change of an explanation would leave, and whether the change is still one of it."""
        found = self._ask("lifted", self._planned(), column=lift.attribute, change=lift.change)
        return bool(found["known"]), found["limit"]

    def _ask(self, question: str, plan: Plan, **more: Any) -> dict[str, Any]:
        assert self.source is not None
        more = {"population": self._population, **more}
        return self._reader.ask(question, self.source.place, plan=_plain(plan.to_dict()), **more)

    def _planned(self) -> Plan:
        if self.plan is None:
            raise HedgerowError(Problem("usage", "There is no table yet.", hint="open one first"))
        return self.plan

    # -- nodes of the lattice ------------------------------------------------------------------------------------------

    def look_at_nodes(self, which: str, sort: str, most: int) -> Job:
        """List nodes of the lattice of the plan, whatever levels it chooses."""
        plan = self._planned()
        assert self.source is not None
        if self._nodes is not None:
            self._nodes[1].cancel()
        asked = {"which": which, "sort": sort, "most": most}
        job = self.begin({"task": "nodes", **self._task(plan), **asked})
        self._nodes = self._nodes_of(plan), job
        return job

    def nodes_job(self) -> Job | None:
        """Return the list of nodes, if it is one of the plan and the table as they are."""
        known = self._nodes is not None and self.plan is not None and self._nodes[0] == self._nodes_of(self.plan)
        return self._nodes[1] if known and self._nodes is not None else None

    def _nodes_of(self, plan: Plan) -> str:
        """Tell the lattices of plans apart: what levels a plan chooses of it makes no difference."""
        method = plan.method.model_copy(update={"levels": None})
        place = "" if self.source is None else self.source.place
        return f"{plan.model_copy(update={'method': method}).digest()} {place}"

    def choose_levels(self, levels: Mapping[str, int]) -> tuple[Problem, ...]:
        """Let the plan choose a node; returns what is wrong with that, if anything."""
        try:
            method = self._planned().with_levels(levels).to_dict()["method"]
        except PlanError as error:
            return error.problems
        return self.change(method=method)

    # -- columns that others tell of -----------------------------------------------------------------------------------

    def try_leaving_out(self) -> Job:
        """Try what leaving out each column that another tells of would save."""
        plan = self._planned()
        assert self.source is not None
        return self.begin({"task": "leaving-out", **self._task(plan)})

    def _task(self, plan: Plan) -> dict[str, Any]:
        """Return what work in a process of its own is given: table, plan and population."""
        assert self.source is not None
        return {"data": self.source.place, "plan": _plain(plan.to_dict()), "population": self._population}

    def leave_out(self, column: str) -> tuple[Problem, ...]:
        """Take a quasi-identifier out of the release, with its rules and weight; returns what is wrong with that."""
        try:
            raw = without_column(self._planned(), column).to_dict()
        except PlanError as error:
            return error.problems
        return self.change(**{name: raw.get(name) for name in ("attributes", "rules", "weights")})

    # -- the population ------------------------------------------------------------------------------------------------

    def count_in(self, place: str, name: str | None = None, own: bool = False) -> tuple[Problem, ...]:
        """Count people in a table; by which of its columns is for the plan to say, and else by all that both have."""
        people = self._people_at(place, self._planned(), name, own)
        problems = self.change(population={})
        if not problems:
            self.people = people
        return problems

    def count_nowhere(self) -> tuple[Problem, ...]:
        """Take the population away, and what is asked of it."""
        plan = self._planned().model_copy(update={"weight": None}).counting_in(None)
        problems = self.change(population=None, privacy=plan.to_dict()["privacy"])
        if not problems:
            self.people = None
        return problems

    def fitting(self) -> dict[str, Any]:
        """How many people the records fit as they are: see ``TableReading.population``."""
        return self._ask("population", self._planned())

    def _people_at(self, place: str, plan: Plan, name: str | None = None, own: bool = False) -> PeopleSource:
        asked = {"plan": _plain(plan.to_dict()), "population": place}
        found = self._reader.ask("population_columns", place, **asked)
        shown_name = name or (shown(place) if is_server(place) else Path(place).name)
        return PeopleSource(place, shown_name, tuple(found["columns"]), own)

    @property
    def _population(self) -> str | None:
        """Where the table of the population is, for whoever makes releases."""
        plan = self.plan
        return None if self.people is None or plan is None or plan.population is None else self.people.place

    # -- hierarchies and stores ----------------------------------------------------------------------------------------

    def read_hierarchy(self, path: Path, pasted: bool = False) -> Hierarchy:
        """Read a hierarchy file that somebody brought, or rows that were pasted from a spreadsheet."""
        return tree_of(self._reader.ask("hierarchy", path=str(path), pasted=pasted))

    def first_wish(self, column: str) -> FirstWish:
        """How a column is coarsened now, and what to begin with for every other way."""
        assert self.source is not None
        return FirstWish.of(self._ask("first_wish", self._planned(), column=column, form=self.source.form))

    def wish(self, column: str, kind: str, typed: Mapping[str, Any], given: Hierarchy | None) -> HierarchyWish:
        """Build the tree that somebody wishes for a column."""
        assert self.source is not None
        tree = None if given is None else {"names": given.names, "parents": given.parents}
        asked = {"form": self.source.form, "column": column, "kind": kind, "typed": typed, "given": tree}
        return HierarchyWish.of(self._reader.ask("wish", self.source.place, **asked))

    def look_at_store(self, place: str) -> StoreView:
        """Look at the history of a maintained release."""
        return store_of(self._reader.ask("store", store=place))

    # -- runs ----------------------------------------------------------------------------------------------------------

    def start(self, title: str = "", ended: Callable[[Job], None] | None = None) -> Run:
        """Make a release by the plan as it is now; ``ended`` is called when it is over."""
        self._check_room()
        if self.source is None or self.plan is None:
            raise HedgerowError(Problem("usage", "There is no table yet.", hint="open one first"))
        with self._lock:
            number = max((run.number for run in self.runs), default=0) + 1
            title = title or self._what_differs()
            data = RunData(self.source.place, self.source.name, self._population)
            run = Run.start(number, title, data, self.plan, self._folder, ended)
            run.repeats = self.people_to_ask_about
            self.runs.append(run)
            self.version += 1
        return run

    def _what_differs(self) -> str:
        """Name a run by what differs from the one before it; empty for the first of a table."""
        assert self.source is not None
        assert self.plan is not None
        before = next((run for run in reversed(self.runs) if run.data == self.source.place), None)
        return "" if before is None else in_short_words(before.plan, self.plan) or f"{before.number} again"

    def uses(self, place: str) -> bool:
        """Tell whether a table is at work, or a run was made of it, which may look at it again."""
        at_work = {one.place for one in (self.source, self.people) if one is not None}
        return place in at_work or any(place in (run.data, run.population) for run in self.runs)

    def forget(self, run: Run) -> None:
        """Remove a run and what it made."""
        run.close()
        with self._lock:
            self.runs = [other for other in self.runs if other is not run]
            self.version += 1

    def begin(self, task: Mapping[str, Any]) -> Job:
        """Do other work in a process of its own, such as a report; it ends with the session at the latest."""
        self._check_room()
        job = Job(task, folder=self._folder)
        with self._lock:
            self.jobs = [*(other for other in self.jobs if other.running), job]
        return job

    def _check_room(self) -> None:
        running = sum(run.running for run in self.runs) + sum(job.running for job in self.jobs)
        if running >= MOST_RUNNING:
            message = f"{running} runs are going on, which is as many as may."
            raise HedgerowError(Problem("usage", message, hint="wait for one, or cancel it"))

    @property
    def busy(self) -> bool:
        """Tell whether a run is going on."""
        return any(run.running for run in self.runs) or any(job.running for job in self.jobs)

    def close(self) -> None:
        """Stop everything."""
        self._reader.close()
        for job in self.jobs:
            job.cancel()
            job.wait(10)
        for run in self.runs:
            run.close()
        self.runs = []


def _text_of(place: Path) -> str | None:
    """Return what stands in a file of the owner's, if that is text."""
    try:
        return place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _plain(raw: Any) -> Any:
    """Return a plan as JSON has it: exact numbers become text, as they may stand in a plan."""
    if isinstance(raw, Mapping):
        return {name: _plain(part) for name, part in raw.items()}
    if isinstance(raw, list | tuple):
        return [_plain(part) for part in raw]
    return str(raw) if isinstance(raw, Decimal) else raw


def _redrafted(plan: Plan, before: Plan | None, drafted: Plan) -> Plan:
    """Return a plan for a table that is read in another way: what somebody has decided, and else the new draft."""
    mine, new = plan.to_dict(), drafted.to_dict()
    old = {} if before is None else before.to_dict()["attributes"]
    attributes = {
        name: mine["attributes"][name]
        if name in mine["attributes"] and mine["attributes"][name] != old.get(name)
        else part
        for name, part in new["attributes"].items()
    }
    kept = {key: part for key, part in mine.items() if key not in ("data", "attributes")}
    kept = {key: part for key, part in kept.items() if key not in ("key", "person") or part in attributes}
    if kept.get("weight", {}).get("column") not in attributes:
        kept.pop("weight", None)
    if set(mine["attributes"]) - set(attributes):  # of columns that are not there any more nothing can be asked
        kept = {key: part for key, part in kept.items() if key not in ("rules", "weights", "research_value")}
    return Plan.from_dict({**new, **kept, "data": new.get("data", {}), "attributes": attributes}, base=None)

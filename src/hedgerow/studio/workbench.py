"""The workbench of a session: a table, a plan for it, and runs. No screen and no server here.

The plan is always a valid one: a change that would break it is refused with the reasons, and the plan stays as it was.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hedgerow.drafting.column import Column
from hedgerow.drafting.examination import Examination
from hedgerow.errors import HedgerowError, PlanError, Problem
from hedgerow.examining import examine
from hedgerow.explanation import Explanation, Outlook, explain_limits, look_ahead
from hedgerow.microdata import Microdata
from hedgerow.plan import DataFormat, Plan
from hedgerow.progress import Progress
from hedgerow.server import is_server, shown
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run
from hedgerow.studio.views import NumbersView, TreeView, numbers_view, tree_view
from hedgerow.workflow import read_microdata

MOST_STEPS = 200
"""Changes that can be undone."""
MOST_RUNNING = 3
"""Processes that one session may have at work."""


@dataclass(frozen=True)
class Source:
    """The table at work.

    Attributes
    ----------
    place
        What the verbs are given: a path, or the address of a table, which may hold a password.
    name
        What a person calls it; shows no password.
    seen
        What was seen in it.
    """

    place: str = field(repr=False)
    name: str
    seen: Examination = field(repr=False)

    @property
    def records(self) -> int:
        """Number of records."""
        return self.seen.records

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns, with counts of their values."""
        return self.seen.columns


class Workbench:
    """What a session works on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.source: Source | None = None
        self.plan: Plan | None = None
        self.runs: list[Run] = []
        self.version = 0
        self.store: str | None = None
        self.store_job: Job | None = None  # a change of the maintained release, or a look at it
        self.jobs: list[Job] = []  # all work besides runs: reports, and the above
        self._past: list[Plan] = []
        self._future: list[Plan] = []
        self._lock = threading.RLock()
        self._encoded: tuple[str, Microdata] | None = None
        self._outlook: tuple[str, Outlook] | None = None

    # -- the table -----------------------------------------------------------------------------------------------------

    def open(
        self,
        place: str | Path,
        name: str | None = None,
        plan: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Take a table to work on, with a plan that is given, or else drafted."""
        given = None if plan is None else Plan.load(plan)
        seen = examine(place, None if given is None else given.data, progress, trust_names=given is not None)
        drafted = given or Plan.loads(seen.to_yaml(), file="draft")
        with self._lock:
            self.source = Source(str(place), name or (shown(place) if is_server(place) else Path(place).name), seen)
            self._begin(drafted)

    def take_plan(self, plan: Plan) -> None:
        """Take another plan for the table, which must have the columns that it names."""
        assert self.source is not None
        there = {column.name for column in self.source.columns}
        absent = [name for name in plan.attributes if name not in there]
        if absent:
            message = f"The plan names columns that the table does not have: {', '.join(absent[:10])}."
            raise PlanError(Problem("missing-column", message, hint="open the table that the plan is for"))
        seen = self.source.seen
        if plan.data != (DataFormat() if self.plan is None else self.plan.data):  # its cells are read in another way
            seen = examine(self.source.place, plan.data, trust_names=True)
        with self._lock:
            self.source = replace(self.source, seen=seen)
            self._begin(plan)

    def _begin(self, plan: Plan) -> None:
        self.plan = plan
        self._past, self._future = [], []
        self._encoded = self._outlook = None
        self.version += 1

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
        new = {name: part for name, part in {**old, **keys}.items() if part is not None}
        return self.change(attributes={**attributes, column: new})

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

    # -- what the plan comes to ----------------------------------------------------------------------------------------

    def microdata(self) -> Microdata:
        """The encoded table under the plan's limits; encoded anew only if more than limits and promises changed."""
        plan = self._settled()
        bare, key = _without_limits(plan)
        with self._lock:
            if self._encoded is None or self._encoded[0] != key:
                assert self.source is not None
                self._encoded = key, read_microdata(self.source.place, bare)[0]
            return self._encoded[1].under(plan)

    def outlook(self) -> Outlook:
        """What the limits come to."""
        key = self._settled().digest()
        with self._lock:
            if self._outlook is None or self._outlook[0] != key:
                self._outlook = key, look_ahead(self.microdata(), self._settled())
            return self._outlook[1]

    def explanation(self) -> Explanation:
        """What each limit costs and which single changes would help; takes longer than the outlook."""
        return explain_limits(self.microdata(), self._settled())

    def tree(self, column: str) -> TreeView | None:
        """The hierarchy of a column with counts; None if it has free intervals."""
        return tree_view(self.microdata(), self.outlook(), column)

    def numbers(self, column: str) -> NumbersView | None:
        """The numbers of a column with free intervals; None if it has a hierarchy."""
        return numbers_view(self.microdata(), column)

    def _settled(self) -> Plan:
        if self.plan is None:
            raise HedgerowError(Problem("usage", "There is no table yet.", hint="open one first"))
        return self.plan.settled()

    # -- runs ----------------------------------------------------------------------------------------------------------

    def start(self, title: str = "", ended: Callable[[Job], None] | None = None) -> Run:
        """Make a release by the plan as it is now; ``ended`` is called when it is over."""
        self._check_room()
        if self.source is None or self.plan is None:
            raise HedgerowError(Problem("usage", "There is no table yet.", hint="open one first"))
        with self._lock:
            number = max((run.number for run in self.runs), default=0) + 1
            run = Run.start(number, title, self.source.place, self.source.name, self.plan, self._folder, ended)
            self.runs.append(run)
            self.version += 1
        return run

    def forget(self, run: Run) -> None:
        """Remove a run and what it made."""
        run.close()
        with self._lock:
            self.runs = [other for other in self.runs if other is not run]
            self.version += 1

    def begin(self, task: Mapping[str, Any]) -> Job:
        """Do other work in a process of its own, such as a report; it ends with the session at the latest."""
        self._check_room()
        job = Job(task)
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
        for job in self.jobs:
            job.cancel()
            job.wait(10)
        for run in self.runs:
            run.close()
        self.runs = []


def _without_limits(plan: Plan) -> tuple[Plan, str]:
    """Return a plan without its limits, and a key that is the same for plans which encode a table in the same way."""
    attributes = {name: part.model_copy(update={"limit": None}) for name, part in plan.attributes.items()}
    bare = plan.model_copy(update={"attributes": attributes})
    raw: Mapping[str, Any] = bare.to_dict()
    parts = {name: raw.get(name) for name in ("data", "person", "attributes", "weights", "missing")}
    return bare, json.dumps(parts, sort_keys=True, default=str)

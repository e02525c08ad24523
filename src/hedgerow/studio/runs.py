"""Runs: releases made in the studio, kept side by side, each with the plan it was made by."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.errors import Problem
from hedgerow.evaluation.comparison import name_of_method
from hedgerow.evaluation.people import Repeat
from hedgerow.plan import Plan
from hedgerow.reports.level_words import levels_in_words
from hedgerow.reports.reading import Facts
from hedgerow.reports.verdict import risks_of_facts
from hedgerow.studio.jobs import Job, State


@dataclass(frozen=True)
class RunData:
    """What a release is made from: where the table is, what it is called, where the population is, if there is one."""

    place: str = field(repr=False)
    name: str
    population: str | None = field(default=None, repr=False)


@dataclass(eq=False)
class Run:
    """A release being made, or made.

    Attributes
    ----------
    number, title
        What it is called.
    folder
        Where its plan and its release lie.
    patterns
        Decision trees of the original and the release, once somebody asked for them.
    attack
        Attacks on the release, likewise.
    analyses
        Analyses of the original and the release, likewise.
    repeats
        Columns that seem to name people who have several rows, of which nobody had said so when it was begun.
    """

    number: int
    title: str
    data: str = field(repr=False)
    data_name: str
    plan: Plan
    folder: Path
    job: Job
    patterns: Job | None = None
    attack: Job | None = None
    analyses: Job | None = None
    population: str | None = field(default=None, repr=False)
    repeats: tuple[Repeat, ...] = ()

    @classmethod
    def start(
        cls,
        number: int,
        title: str,
        data: RunData,
        plan: Plan,
        folder: Path,
        ended: Callable[[Job], None] | None = None,
    ) -> Run:
        """Begin a run in a process of its own; ``ended`` is called when it is over."""
        own = folder / f"run-{number}"
        own.mkdir(mode=0o700)
        (own / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
        files = {"plan": str(own / "plan.yaml"), "output": str(own / "release")}
        task = {"task": "release", "data": data.place, "population": data.population, **files}
        job = Job(task, ended, own)
        return cls(number, title or _title(plan), data.place, data.name, plan, own, job, population=data.population)

    @property
    def release(self) -> Path:
        """The folder of its release."""
        return self.folder / "release"

    @property
    def state(self) -> State:
        """How it stands."""
        return self.job.state

    @property
    def running(self) -> bool:
        """Tell whether it is going on."""
        return self.job.running

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why it failed."""
        return self.job.problems

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of its release; empty if there is none."""
        found: dict[str, Any] = self.job.result.get("facts", {})
        return found

    @property
    def verification(self) -> dict[str, Any]:
        """What the independent check found."""
        found: dict[str, Any] = self.job.result.get("verification", {})
        return found

    @property
    def before_after(self) -> dict[str, Any]:
        """Some records and what became of them; see :func:`hedgerow.studio.before_after.before_and_after`."""
        found: dict[str, Any] = self.job.result.get("before_after", {})
        return found

    def risks(self, threshold: float) -> dict[str, Any] | None:
        """Risks of the three attackers, as the report has them; None if the facts do not say enough."""
        return risks_of_facts(Facts(self.facts), threshold)

    def cancel(self) -> None:
        """Stop it."""
        self.job.cancel()

    def look_for_patterns(self, target: str) -> Job:
        """Measure how well the released table still tells a column from the others."""
        if self.patterns is not None:
            self.patterns.cancel()
        plan = str(self.folder / "plan.yaml")
        task = {"task": "patterns", "data": self.data, "plan": plan, "population": self.population, "target": target}
        self.patterns = Job(task, folder=self.folder)
        return self.patterns

    def attack_it(self, columns: Sequence[str] | None, knowledge: str | None = None, key: str | None = None) -> Job:
        """Attack the release with what somebody may know who knows these columns, or what a register says of them."""
        if self.attack is not None:
            self.attack.cancel()
        known = {"columns": None if columns is None else list(columns), "knowledge": knowledge, "key": key}
        task = {"task": "attack", "data": self.data, "release": str(self.release), **known}
        self.attack = Job(task, folder=self.folder)
        return self.attack

    def compare_analyses(self, regress: Sequence[str]) -> Job:
        """Work out from the original and from the release what analysts would."""
        if self.analyses is not None:
            self.analyses.cancel()
        task = {"task": "analyses", "data": self.data, "release": str(self.release), "regress": list(regress)}
        self.analyses = Job(task, folder=self.folder)
        return self.analyses

    def close(self) -> None:
        """Stop it and remove what it made."""
        for job in (self.job, self.patterns, self.attack, self.analyses):
            if job is not None and job.running:
                job.cancel()
                job.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)


def _title(plan: Plan) -> str:
    limited = sum(1 for name in plan.quasi_identifiers if plan.attributes[name].limit is not None)
    limits = f"{limited} limit" + ("" if limited == 1 else "s") if limited else "no limits"
    asked = ", ".join(f"{name} = {value}" for name, value in plan.short()["privacy"].items())
    chosen = levels_in_words(plan, plan.method.levels or {})
    method = f"{plan.method.name} at {chosen}" if chosen else name_of_method(plan)
    return f"{method}, {asked}, {limits}"

"""Which columns an assessment looks at: those of a plan, those that are named, or those that a draft would propose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hedgerow.errors import HedgerowError, PlanError, Problem
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.plan import DataFormat, Plan
from hedgerow.types import Progress

Chosen = Literal["plan", "named", "proposed"]
HINT = "for example --columns age,sex,city --sensitive diagnosis; in Python columns=['age', 'sex', 'city']"


@dataclass(frozen=True)
class KeyColumns:
    """What is looked at, and how it came to be chosen.

    Attributes
    ----------
    plan
        A plan under which the columns are read as they stand: it coarsens nothing.
    chosen
        Whether a plan says which, whoever asks, or nobody.
    weight, household
        The column that says how many people of the population a record stands for, and the one that names
        households. They are read like sensitive columns, so that an engine that collapses a table keeps them apart.
    """

    plan: Plan
    chosen: Chosen
    weight: str | None = None
    household: str | None = None

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that nobody should learn of a person."""
        return tuple(name for name in self.plan.columns("sensitive") if name not in (self.weight, self.household))

    def also(self, weight: str | None, household: str | None) -> KeyColumns:
        """Return the same columns, with those of a sample."""
        named = [name for name in (weight, household) if name is not None]
        attributes: dict[str, Any] = {**self.plan.to_dict()["attributes"]}
        taken = [name for name in named if attributes.get(name, {}).get("role") == "quasi-identifier"]
        taken += [name for name in named if name == self.plan.person or named.count(name) > 1]
        if taken:
            message = f"Column {taken[0]!r} cannot be two things at once."
            raise HedgerowError(Problem("usage", message, hint="give every column one part"))
        attributes |= {name: {"role": "sensitive"} for name in named}
        reading = _reading(attributes, self.plan.person, self.plan.data) if named else self.plan
        return replace(self, plan=reading, weight=weight, household=household)

    @property
    def settled_format(self) -> bool:
        """Whether it is known how the table is written."""
        return self.chosen != "named"


def of_plan(plan: Plan) -> KeyColumns:
    """Choose what a plan names, without its hierarchies: the table may be coarsened already."""
    asked = plan.to_dict()
    attributes: dict[str, Any] = dict.fromkeys(plan.quasi_identifiers, "quasi-identifier")
    attributes |= {name: asked["attributes"][name] for name in plan.columns("sensitive")}
    return KeyColumns(_reading(attributes, plan.person, plan.data), "plan")


def of_names(columns: Sequence[str], sensitive: Sequence[str], person: str | None) -> KeyColumns:
    """Choose columns by their names."""
    names = [*columns, *sensitive, *(() if person is None else (person,))]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise HedgerowError(Problem("usage", f"Column {twice!r} is named twice.", hint="give every column one part"))
    roles = dict.fromkeys(columns, "quasi-identifier") | dict.fromkeys(sensitive, "sensitive")
    return KeyColumns(_reading(roles, person, DataFormat()), "named")


def of_draft(
    data: Any, sensitive: Sequence[str], person: str | None, besides: Sequence[str | None], tell: Progress
) -> KeyColumns:
    """Choose all columns that a draft would coarsen, but those that are named as something else."""
    seen = examine(data, progress=tell, rows=0)
    others = {*sensitive, person, *besides}
    columns = [
        column.name
        for column, proposal in zip(seen.columns, seen.proposals, strict=True)
        if proposal.role == "quasi-identifier" and column.name not in others
    ]
    if not columns:
        raise HedgerowError(Problem("usage", "No column is left to look at.", hint=HINT))
    roles = dict.fromkeys(columns, "quasi-identifier") | dict.fromkeys(sensitive, "sensitive")
    return KeyColumns(_reading(roles, person, seen.format), "proposed")


def _reading(attributes: Mapping[str, Any], person: str | None, form: DataFormat) -> Plan:
    asked: dict[str, Any] = {"data": form.model_dump(exclude_none=True), "attributes": attributes, "privacy": {"k": 2}}
    if person is not None:
        asked["person"] = person
    try:
        return Plan.from_dict(asked)
    except PlanError as error:
        raise HedgerowError([Problem("usage", problem.message, hint=HINT) for problem in error.problems]) from None

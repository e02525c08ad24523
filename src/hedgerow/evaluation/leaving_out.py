"""Which columns could be left out because others tell of them, and what that would save.

Morton 2013 names it for tables of many columns: of columns that go together closely, all but one can be removed. So
every quasi-identifier that goes closely with another is left out in turn, and the others are released without it, by
the plan's own method. What is measured is how much the *other* columns lose with it and without it.

Measured on original records, and so for the owner's eyes; nothing is published. Of a large table a part is taken, the
same one each time, and the exact search of the lattice ends early, so that it stays quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.anonymization.lattice import Patience
from hedgerow.anonymization.resolving import resolve
from hedgerow.anonymization.withholding import part_of
from hedgerow.errors import NoSolution, PlanError
from hedgerow.evaluation.limit_effects import Outcome, outcome
from hedgerow.measures.association import Association, associate
from hedgerow.microdata import Microdata, Table
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.types import Progress, silent

STRONG = 0.5
"""Association from which on a column is looked at."""
MOST_COLUMNS = 5
MOST_RECORDS = 10_000
CHECKS = 2_000  # of an exact search
DECIMALS = 6


@dataclass(frozen=True)
class LeftOut:
    """A column that could be left out.

    Attributes
    ----------
    column
        Its name.
    told_by, association
        The column that it goes with most closely, and how closely, from 0 to 1.
    kept, without
        What a release came to with it and without it; None if there is none without it.
    problem
        Why there is none.
    """

    column: str
    told_by: str
    association: float
    kept: Outcome
    without: Outcome | None = None
    problem: str = ""

    @property
    def saves(self) -> float:
        """How much less the other columns lose without it, as a mean share; 0 if there is no release without it."""
        if self.without is None:
            return 0.0
        return round(lost_by_others(self.kept, self.column) - lost_by_others(self.without, self.column), DECIMALS)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        found = {
            "column": self.column,
            "told_by": self.told_by,
            "association": round(self.association, DECIMALS),
            "share_lost": round(self.kept.share_lost[self.column], DECIMALS),
        }
        if self.without is None:
            return {**found, "problem": self.problem}
        lost = lost_by_others(self.kept, self.column), lost_by_others(self.without, self.column)
        return {
            **found,
            "others_lose": {"with": lost[0], "without": lost[1]},
            "withheld": {"with": self.kept.withheld, "without": self.without.withheld},
            "saves": self.saves,
        }


@dataclass(frozen=True)
class LeavingOut:
    """Columns that could be left out, those first without which the others lose least.

    Attributes
    ----------
    association
        How closely the quasi-identifiers go together, in the whole table.
    records, tried
        Records of the table, and those with which leaving out was tried.
    columns
        The columns; none if no two go together closely.
    """

    association: Association
    records: int
    tried: int
    columns: tuple[LeftOut, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "strong": STRONG,
            "records": self.records,
            "tried": self.tried,
            "columns": [column.to_dict() for column in self.columns],
        }

    def __repr__(self) -> str:
        names = ", ".join(column.column for column in self.columns) or "none"
        return f"LeavingOut({names}; tried with {self.tried:,} of {self.records:,} records)"

    def _repr_html_(self) -> str:
        head = ("column", "told by", "association", "the others lose less", "")
        rows = ((one.column, one.told_by, one.association, one.saves, one.problem) for one in self.columns)
        return html_table(repr(self), head, rows)


def leave_out(table: Table, asked: Plan, tell: Progress = silent) -> LeavingOut:
    """Try what leaving out each column that goes closely with another would save.

    Raises
    ------
    NoSolution
        If there is no release with all columns.
    """
    microdata, plan = resolve(table, asked)
    association = associate(microdata, plan)
    chosen = closest(association)
    part, tried = _part(table, microdata)
    if not chosen:
        return LeavingOut(association, microdata.records, tried, ())
    tell("with all columns", 0, len(chosen) + 1)
    kept = _outcome(part, asked)
    found = []
    for number, (name, told_by, close) in enumerate(chosen):
        tell(f"without {name}", number + 1, len(chosen) + 1)
        try:
            found.append(LeftOut(name, told_by, close, kept, _outcome(part, without_column(asked, name))))
        except (NoSolution, PlanError) as error:
            problem = " ".join(problem.message for problem in error.problems)
            found.append(LeftOut(name, told_by, close, kept, problem=problem))
    found.sort(key=lambda column: (column.without is None, -column.saves))
    return LeavingOut(association, microdata.records, tried, tuple(found))


def lost_by_others(outcome: Outcome, name: str) -> float:
    """Mean share lost of all columns but one.

    Examples
    --------
    >>> lost_by_others(Outcome(0, 0.2, {"ward": 0.5, "sex": 0.1, "age": 0.3}), "ward")
    0.2
    """
    others = [share for other, share in outcome.share_lost.items() if other != name]
    return round(sum(others) / len(others), DECIMALS)


def closest(association: Association) -> list[tuple[str, str, float]]:
    """Columns that go closely with another, that one, and how closely; the closest first.

    Examples
    --------
    >>> matrix = np.array([[1, 0.9, 0.1], [0.9, 1, 0.6], [0.1, 0.6, 1]])
    >>> closest(Association(("ward", "city", "sex"), (False,) * 3, matrix, (0.3, 0.3, 0.4)))
    [('ward', 'city', 0.9), ('city', 'ward', 0.9), ('sex', 'city', 0.6)]
    """
    matrix = association.matrix - np.eye(len(association.names))
    told_by = matrix.argmax(axis=1)
    close = matrix.max(axis=1)
    order = sorted(range(len(close)), key=lambda place: (-close[place], place))
    return [
        (association.names[place], association.names[told_by[place]], float(close[place]))
        for place in order
        if close[place] >= STRONG
    ][:MOST_COLUMNS]


def without_column(plan: Plan, name: str) -> Plan:
    """Return the plan without one of its quasi-identifiers, which is then not released.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": dict.fromkeys(["sex", "ward"], "quasi-identifier"), "privacy": {"k": 2}})
    >>> without_column(plan, "ward")
    Plan(k=2, quasi-identifiers: sex)
    >>> without_column(plan.replace(unit={"column": "house", "same": ["ward"]}), "ward").unit.same
    ()
    """
    asked = plan.to_dict()
    changes: dict[str, Any] = {"attributes": {**asked["attributes"], name: "identifier"}}
    if plan.unit is not None:
        named = {part: [one for one in getattr(plan.unit, part) if one != name] for part in ("same", "order")}
        changes["unit"] = {**asked["unit"], **named}
    if plan.population is not None and plan.population.columns is not None and name in plan.population.columns:
        columns = {own: theirs for own, theirs in plan.population.columns.items() if own != name}
        changes["population"] = {**asked["population"], "columns": columns or None}
    if asked.get("rules"):
        changes["rules"] = [rule for rule in asked["rules"] if rule["attribute"] != name]
    if isinstance(asked.get("weights"), dict):
        changes["weights"] = {column: weight for column, weight in asked["weights"].items() if column != name} or None
    return plan.replace(**changes)


def _part(table: Table, microdata: Microdata) -> tuple[Table, int]:
    """Return a table of no more than so many records, spread over their canonical order."""
    units = len(microdata.record_of)
    if units <= MOST_RECORDS:
        return table, microdata.records
    chosen = microdata.record_of[np.arange(MOST_RECORDS) * units // MOST_RECORDS]
    rows = table.records if table.counts is None else len(table.counts)
    return part_of(table, np.bincount(chosen, minlength=rows)), MOST_RECORDS


def _outcome(table: Table, asked: Plan) -> Outcome:
    return outcome(*resolve(table, asked, strict=False), Patience(checks=CHECKS))

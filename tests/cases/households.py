"""Tables of households with limits and k, as the product and the references take them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hedgerow.plan import Plan
from tests.cases.records import Case, cases

UNIT = "household"


@dataclass(frozen=True)
class Linked:
    """A case whose rows are in households; the first column may be the same in each."""

    case: Case
    household_of: list[int]
    same: tuple[str, ...]
    order: tuple[str, ...]
    p: int
    values: list[str]

    def plan(self, **more: Any) -> Plan:
        unit = {"column": UNIT, "same": list(self.same), "order": list(self.order)}
        attributes = {**self.case.attributes, "illness": "sensitive"}
        privacy = {"k": self.case.k} | ({"p": self.p} if self.p > 1 else {})
        return Plan.from_dict(
            {"unit": unit, "attributes": attributes, "privacy": privacy, "seed": self.case.seed, **more}
        )

    def table(self) -> pa.Table:
        return pa.table({UNIT: [f"h{n}" for n in self.household_of], **self.case.rows, "illness": self.values})


@st.composite
def linked_cases(draw: st.DrawFn, sensitive: bool = False, widths: bool = False, at_most: int = 40) -> Linked:
    """Small tables with many ties, some of whose columns are the same in each household."""
    case = draw(cases(widths=widths, at_most=at_most))
    rows = len(next(iter(case.rows.values())))
    household_of = sorted(draw(st.lists(st.integers(0, max(rows // 2, 1)), min_size=rows, max_size=rows)))
    same: tuple[str, ...] = ()
    if len(case.rows) > 1 and draw(st.booleans()):
        same = ("c0",)
        first = dict(zip(household_of[::-1], case.rows["c0"][::-1], strict=True))
        case.rows["c0"] = [first[household] for household in household_of]
    left = [name for name in case.rows if name not in same]
    order = tuple(draw(st.lists(st.sampled_from(left), max_size=2, unique=True)))
    values = draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    return Linked(case, household_of, same, order, draw(st.integers(1, 2)) if sensitive else 1, values)


def weight_of(case: Case, name: str) -> Fraction:
    return Fraction(str(case.attributes[name]["weight"]))

"""Generated tables for the lattice, for the fast code and for the naive reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from tests.cases.research_value import ValueCase
from tests.cases.sensitive import codes_of, naive_demands
from tests.naive.lattice import Task
from tests.naive.research_value import Column


def task_of(case: ValueCase, plan: Plan, budget: int) -> tuple[Microdata, list[Column], Task]:
    """The table for both, under a plan of the lattice whose values stop at their limits."""
    microdata = case.encode(plan)
    columns = [case.naive_column(column) for column in microdata.columns]
    records = [
        tuple(column.code(case.rows[name][i]) for column, name in zip(columns, case.attributes, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(case.given)
    demands = naive_demands(case.given, codes)
    attributes: Any = [column.attribute for column in columns]
    return microdata, columns, Task(attributes, records, plan.privacy.k, codes, demands, budget, "value",
                                    case.given.case.persons)  # fmt: skip


@st.composite
def printed_lines(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """A hierarchy as a paper could print it: few labels, which come again on other levels, and values among them."""
    values = draw(st.lists(st.sampled_from("ABCDEFG"), min_size=2, max_size=7, unique=True))
    columns: list[Sequence[str]] = [values]
    group_of = list(range(len(values)))
    for _ in range(draw(st.integers(1, 3))):
        parents = {group: draw(st.integers(0, 2)) for group in sorted(set(group_of))}
        group_of = [parents[group] for group in group_of]
        labels = draw(st.permutations("ABCDEFG"))
        kept = draw(st.booleans())  # a group of one value keeps its label where that is free
        names: dict[int, str] = {}
        for group in sorted(set(group_of)):
            before = {columns[-1][at] for at in range(len(values)) if group_of[at] == group}
            own = next(iter(before)) if kept and len(before) == 1 else ""
            free = [name for name in (own, *labels) if name and name not in names.values()]
            names[group] = free[0]
        columns.append([names[group] for group in group_of])
    columns.append(["*"] * len(values))
    return [tuple(column[at] for column in columns) for at in range(len(values))]

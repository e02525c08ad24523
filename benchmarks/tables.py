"""Tables of any size, number of columns and distinctness, written with their plans for processes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import adult
from hedgerow.errors import PlanError
from hedgerow.evaluation.synthetic import Synthetic, census, deaths, write_demo
from hedgerow.plan import Plan

Method = Mapping[str, Any]

FAST: dict[str, Method] = {
    "cluster": {"name": "cluster", "objective": "ncp"},
    "cluster, improve: quick": {"name": "cluster", "objective": "ncp", "improve": "quick"},
    "partition": {"name": "partition"},
    "lattice": {"name": "lattice", "objective": "ncp"},
}
"""The methods that the documentation calls fast, all of them for the same aim."""


def known(methods: Mapping[str, Method]) -> dict[str, Method]:
    """Those that this version of Hedgerow can be asked for; an aim that it does not know is left out."""
    found: dict[str, Method] = {}
    for name, method in methods.items():
        for asked in (method, {key: value for key, value in method.items() if key != "objective"}):
            try:
                adult.public_plan(10, dict(asked))
            except PlanError:
                continue
            found[name] = asked
            break
    return found


def write_plan(folder: Path, name: str, plan: Plan, k: int, method: Method) -> str:
    """Write a plan with another k and method, hierarchies in it; returns its path."""
    path = folder / f"{name}.yaml"
    path.write_text(plan.replace(privacy={"k": k}, method=dict(method)).settled().to_yaml(), encoding="utf-8")
    return str(path)


def write_table(folder: Path, name: str, table: pa.Table) -> str:
    """Write a table as Parquet; returns its path."""
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return str(path)


def made_up(made: Synthetic, folder: Path) -> tuple[pa.Table, Plan]:
    """A made-up table, with its plan; the hierarchies that it names stay in the folder."""
    _, path = write_demo(folder / f"{made.kind}-{len(made.columns)}", made)
    return pa.table(made.columns), Plan.load(path)


def census_table(folder: Path, records: int, attributes: int = 9) -> tuple[pa.Table, Plan]:
    """The census with eight quasi-identifiers, most people alone in their profile; limits in its plan."""
    table, plan = made_up(census(records, attributes=attributes), folder)
    return table, plan.replace(withhold="1%")  # within the limits, the lattice cannot do without


def deaths_table(folder: Path, records: int, quasi_identifiers: int) -> tuple[pa.Table, Plan]:
    """Death certificates with so many quasi-identifiers, without limits."""
    return made_up(deaths(records, attributes=quasi_identifiers + 1), folder)


def repeated(table: pa.Table, share: float, seed: int = 0) -> pa.Table:
    """A table of the same size in which only about this share of the rows are different."""
    if share >= 1:
        return table
    draw = np.random.default_rng(seed)
    few = draw.choice(table.num_rows, max(1, round(share * table.num_rows)), replace=False)
    rest = draw.choice(few, table.num_rows - len(few))
    return table.take(pa.array(np.concatenate([few, rest])))

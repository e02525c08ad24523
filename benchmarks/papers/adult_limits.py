"""Adult with the limits of CKA and CPKA: what the two papers share.

The papers' figures of hierarchies are lost. The limits are those that give CPKA's Table 6 to the record (the tests hold
it); heights are as the papers print them; what lies above the limits, and which marital states count as married, are
ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from benchmarks import adult
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from tests.cases.papers import COUNTRIES, COUNTRY_LIMITS

Rows = Sequence[Sequence[str]]
MARRIED = ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"]
SINGLE = ["Never-married", "Divorced", "Separated", "Widowed"]
AGES = [[0, 20, 30, 40, 50, 60, 70, 100], [0, 20, 60, 100]]

HIERARCHIES: dict[str, dict[str, Any]] = {
    "age": {"hierarchy": {"cuts": AGES}},
    "education-num": {"hierarchy": {"bands": [2, 4, 8]}},
    "marital-status": {"hierarchy": {"tree": {"*": {"married": MARRIED, "single": SINGLE}}}},
    "native-country": {"hierarchy": {"tree": COUNTRIES}},
}
LIMITS: dict[str, dict[str, Any]] = {
    "age": {"limit": {"level": 1}},
    "native-country": {"limits": COUNTRY_LIMITS},
}


def plan_of(columns: Sequence[str], limited: Sequence[str], sensitive: Mapping[str, str] | None = None) -> Plan:
    """A plan over columns of Adult, some of them limited; sensitive columns have weights of diversity."""
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", **HIERARCHIES.get(name, {}), **(LIMITS[name] if name in limited else {})}
        for name in columns
    }
    attributes |= {name: {"role": "sensitive", "weight": weight} for name, weight in (sensitive or {}).items()}
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})


def encode(rows: Rows, plan: Plan) -> Microdata:
    """The plan's columns of rows of Adult."""
    columns = {name: [row[adult.COLUMNS.index(name)] for row in rows] for name in plan.attributes}
    return encode_table(read_table(pa.table(columns), plan), plan)

"""Adult (30,162 complete records, eight quasi-identifiers) and a resampled million, from public data."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from hedgerow.plan import Plan

FOLDER = Path(os.environ.get("HEDGEROW_DATA", ""))
COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours", "native-country", "income",
]  # fmt: skip
REGIONS = {
    "EU": "England Germany Greece Italy Poland Portugal Ireland France Hungary Scotland Yugoslavia Holand-Netherlands",
    "LA": "Mexico Puerto-Rico Cuba Honduras Jamaica Dominican-Republic Ecuador Haiti Columbia Guatemala Nicaragua "
    "El-Salvador Trinadad&Tobago Peru",
    "NA": "United-States Canada Outlying-US(Guam-USVI-etc)",
    "AS": "Cambodia China Hong India Iran Japan Laos Philippines South Taiwan Thailand Vietnam",
}


def plan(k: int) -> Plan:
    """The eight attributes that the pages about clustering and engines measure."""

    def qi(**more: object) -> dict[str, object]:
        return {"role": "quasi-identifier", **more}

    married = ["Married-civ-spouse", "Married-spouse-absent", "Married-AF-spouse"]
    single = ["Never-married", "Divorced", "Separated", "Widowed"]
    regions = {region: countries.split() for region, countries in REGIONS.items()}
    return Plan.from_dict(
        {
            "attributes": {
                "age": qi(hierarchy={"bands": [5, 10, 20]}),
                "education-num": qi(hierarchy={"bands": [2, 4, 8]}),
                "workclass": qi(),
                "marital-status": qi(hierarchy={"tree": {"*": {"married": married, "single": single}}}),
                "occupation": qi(),
                "race": qi(),
                "sex": qi(),
                "native-country": qi(hierarchy={"tree": {"*": regions}}),
            },
            "privacy": {"k": k},
        }
    )


def complete_rows(*files: str) -> list[list[str]]:
    """The complete rows of UCI files, cells stripped; raises FileNotFoundError where the data is not there."""
    rows = []
    for file in files:
        for line in (FOLDER / file).read_text().splitlines():
            cells = [cell.strip().rstrip(".") for cell in line.split(",")]
            if len(cells) == len(COLUMNS) and "?" not in cells:
                rows.append(cells)
    return rows


@cache
def records() -> pa.Table:
    """The complete records of adult.data, quasi-identifiers only."""
    rows = complete_rows("adult.data")
    return pa.table({name: [row[COLUMNS.index(name)] for row in rows] for name in plan(2).quasi_identifiers})


def resampled(table: pa.Table, size: int, redrawn: float = 0.15, seed: int = 0) -> pa.Table:
    """Draw records with replacement and redraw a share of the values, column by column."""
    draw = np.random.default_rng(seed)
    base = draw.integers(0, table.num_rows, size)
    columns = {}
    for name in table.column_names:
        encoded = table.column(name).combine_chunks().dictionary_encode()
        indices = encoded.indices.to_numpy()
        values = indices[base]
        again = draw.random(size) < redrawn
        values[again] = indices[draw.integers(0, table.num_rows, int(again.sum()))]
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(values), encoded.dictionary)
    return pa.table(columns)


# ---- as the public Python tools have it ----------------------------------------------------------------------

PUBLIC_TREES: dict[str, dict[str, list[str]]] = {
    "workclass": {
        "private": ["Private"],
        "self-employed": ["Self-emp-not-inc", "Self-emp-inc"],
        "government": ["Federal-gov", "Local-gov", "State-gov"],
        "not working": ["Without-pay", "Never-worked"],
    },
    "marital-status": {
        "never": ["Never-married"],
        "married": ["Married-civ-spouse", "Married-AF-spouse"],
        "left": ["Divorced", "Separated"],
        "alone": ["Widowed", "Married-spouse-absent"],
    },
}
"""The trees of those tools for Adult; all their other categories are flat, and age and education are numbers."""


PUBLIC_BANDS = {"age": [5, 10, 20, 40], "education-num": [2, 4, 8]}
"""Levels of the numbers, which only tools with levels use; ours."""


def public_paths() -> dict[str, list[tuple[str, ...]]]:
    """Paths from leaf to root of the categories."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for name in records().column_names:
        if name in PUBLIC_TREES:
            found[name] = [(leaf, node, "*") for node, leaves in PUBLIC_TREES[name].items() for leaf in leaves]
        elif name not in PUBLIC_BANDS:
            found[name] = [(value, "*") for value in sorted(set(records().column(name).to_pylist()))]
    return found


def public_plan(k: int, method: dict[str, object] | None = None) -> Plan:
    """Adult's eight attributes with those trees; the bands of the numbers are for the lattice only."""

    attributes: dict[str, object] = dict.fromkeys(plan(2).quasi_identifiers, "quasi-identifier")
    for name, bands in PUBLIC_BANDS.items():
        attributes[name] = {"role": "quasi-identifier", "hierarchy": {"bands": bands}, "intervals": "free"}
    for name, tree in PUBLIC_TREES.items():
        attributes[name] = {"role": "quasi-identifier", "hierarchy": {"tree": {"*": tree}}}
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": k}, "method": method or {"name": "cluster"}})

"""Adult (30,162 complete records, eight quasi-identifiers) and a resampled million, from the shared public data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from hedgerow.plan import Plan

FOLDER = Path(os.environ.get("HEDGEROW_DATA") or Path(__file__).parent.parent.parent / "shared" / "data")
COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours", "native-country", "income",
]  # fmt: skip
REGIONS = {  # as the prototype of the architecture page groups them
    "EU": "England Germany Greece Italy Poland Portugal Ireland France Hungary Scotland Yugoslavia Holand-Netherlands",
    "LA": "Mexico Puerto-Rico Cuba Honduras Jamaica Dominican-Republic Ecuador Haiti Columbia Guatemala Nicaragua "
    "El-Salvador Trinadad&Tobago Peru",
    "NA": "United-States Canada Outlying-US(Guam-USVI-etc)",
    "AS": "Cambodia China Hong India Iran Japan Laos Philippines South Taiwan Thailand Vietnam",
}


def plan(k: int) -> Plan:
    """The eight attributes of the prototype that the architecture page measures."""

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

"""The papers' own numbers, through our code (SPEC §2–4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.measures import ntil, total_loss
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.recoding import Recoding

PATIENTS = {
    "Name": ["Alice", "Bob", "Charley", "Dave", "Eva", "John", "Casey"],
    "Age": [32, 30, 42, 30, 35, 20, 25],
    "Location": ["San Diego", "Los Angeles", "Wichita", "Kansas City", "Lincoln", "Lincoln", "Wichita"],
    "Sex": ["M", "M", "M", "M", "F", "M", "F"],
    "Race": ["W", "W", "W", "W", "W", "B", "B"],
    "Diagnosis": ["AIDS", "Asthma", "Asthma", "Asthma", "Diabetes", "Asthma", "Diabetes"],
}
TREE = {
    "United States": {
        "West Coast": {"California": ["San Diego", "Los Angeles"]},
        "Midwest": {"Kansas": ["Wichita", "Kansas City"], "Nebraska": ["Lincoln"]},
    }
}


def cka_plan(k: int, **more: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {
                "Name": "identifier",
                "Age": {"role": "quasi-identifier", "intervals": "free"},
                "Location": {
                    "role": "quasi-identifier",
                    "hierarchy": {"tree": TREE},
                    "limits": ["California", "Kansas", "Midwest"],
                },
                "Sex": "quasi-identifier",
                "Race": "quasi-identifier",
                "Diagnosis": "sensitive",
            },
            "privacy": {"k": k},
            **more,
        }
    )


def test_cka_figure_4_constrained() -> None:
    release = hr.anonymize(pa.table(PATIENTS), cka_plan(2))
    rows = sorted((r["Age"], r["Location"], r["Sex"], r["Race"]) for r in release.data.to_pylist())
    assert rows == sorted(
        [("30-32", "California", "M", "W")] * 2
        + [("25-42", "Kansas", "*", "*")] * 3
        + [("20-35", "Lincoln", "*", "*")] * 2
    )
    assert release.withheld == 0
    assert release.facts["limits_broken"] == 0


@pytest.mark.parametrize(("k", "withheld"), [(2, 0), (3, 4)])
def test_cka_records_that_must_be_withheld(k: int, withheld: int) -> None:
    found = hr.explain(pa.table(PATIENTS), cka_plan(k))
    assert (found.cells, found.withheld, found.proven) == (3, withheld, True)
    assert hr.anonymize(pa.table(PATIENTS), cka_plan(k)).withheld == withheld


def test_cka_where_limits_withhold_everything() -> None:
    with pytest.raises(hr.NoSolution, match=r"'Location'.*alone withholds 7") as caught:
        hr.anonymize(pa.table(PATIENTS), cka_plan(4))
    assert caught.value.problems[0].code == "all-withheld"


def test_unconstrained_clustering_reports_the_limits_it_breaks() -> None:
    plan = cka_plan(3, method={"name": "cluster", "limits": "ignore"})
    release = hr.anonymize(pa.table(PATIENTS), plan)
    broken = release.facts["limits_broken_by_attribute"]
    assert release.withheld == 0
    assert release.facts["limits_broken"] == broken["Location"] > 0
    assert {name: count for name, count in broken.items() if count and name != "Location"} == {}


INC = {
    "Age": [25, 40, 35, 55, 33, 42, 38],
    "Zip": ["41076", "41935", "12345", "33333", "41733", "41076", "41933"],
    "Gender": ["Male", "Female", "Male", "Male", "Female", "Male", "Male"],
}


def inc_microdata() -> Microdata:
    plan = hr.Plan.from_dict(
        {
            "attributes": {
                "Age": {"role": "quasi-identifier", "intervals": "free"},
                "Zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [4, 3, 2, 1, 0]}},
                "Gender": "quasi-identifier",
            },
            "privacy": {"k": 2},
        }
    )
    return encode_table(read_table(pa.table(INC), plan), plan)


def recoding_of(microdata: Microdata, groups: list[list[int]]) -> Recoding:
    unit_of = {int(record): unit for unit, record in enumerate(microdata.record_of)}
    group_of = np.full(microdata.records, -1)
    codes = microdata.profiles[microdata.profile_of_unit].astype(np.int64)
    at = [microdata.index_order.index(position) for position in range(len(microdata.columns))]
    lo, hi = [], []
    for number, members in enumerate(groups):
        units = [unit_of[member] for member in members]
        group_of[units] = number
        lo.append(codes[units].min(axis=0)[at])
        hi.append(codes[units].max(axis=0)[at])
    return Recoding.of_boxes(microdata, group_of, np.array(lo), np.array(hi))


@pytest.mark.parametrize(
    ("groups", "loss"),
    [
        ([[0, 1], [2, 3], [4, 5, 6]], 13.233333333333333),
        ([[0, 1, 4, 6], [2, 3, 5]], 13.4),
        ([[0, 1, 4], [2, 3, 5, 6]], 12.966666666666667),
    ],
)
def test_inc_example(groups: list[list[int]], loss: float) -> None:
    microdata = inc_microdata()
    recoding = recoding_of(microdata, groups)
    assert float(total_loss(microdata, recoding)) == pytest.approx(loss, abs=1e-12)
    assert float(ntil(microdata, recoding)) == pytest.approx(loss / 21, abs=1e-12)


COUNTRIES = {
    "Country": {
        "America": {
            "North_America": ["United-States", "Canada", "Mexico", "Outlying-US(Guam-USVI-etc)"],
            "Central_America": [
                "El-Salvador", "Guatemala", "Honduras", "Nicaragua", "Cuba", "Dominican-Republic", "Haiti", "Jamaica",
                "Puerto-Rico", "Trinadad&Tobago",
            ],
            "South_America": ["Columbia", "Ecuador", "Peru"],
        },
        "Europe": {
            "West_Europe": [
                "England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands", "Italy", "Portugal",
            ],
            "East_Europe": ["Greece", "Hungary", "Poland", "Yugoslavia"],
        },
        "Asia": {
            "East_Asia": [
                "Cambodia", "Laos", "Vietnam", "Thailand", "Philippines", "China", "Hong", "Taiwan", "Japan", "India",
            ],
            "West_Asia": ["Iran"],
        },
        "Africa": {"South_Africa_region": ["South"]},
    }
}  # fmt: skip
COUNTRY_LIMITS = [
    "North_America", "Central_America", "South_America", "West_Europe", "East_Europe", "East_Asia", "West_Asia", "Africa",
]  # fmt: skip


def table6_plan(k: int) -> hr.Plan:
    """The limits of CPKA Table 6 as ``spec/hierarchies`` has them."""
    return hr.Plan.from_dict(
        {
            "attributes": {
                "age": {
                    "role": "quasi-identifier",
                    "hierarchy": {"cuts": [[0, 20, 30, 40, 50, 60, 70, 100], [0, 20, 60, 100]]},
                    "limit": {"level": 1},
                },
                "workclass": "quasi-identifier",
                "marital_status": "quasi-identifier",
                "race": "quasi-identifier",
                "sex": "quasi-identifier",
                "native_country": {
                    "role": "quasi-identifier",
                    "hierarchy": {"tree": COUNTRIES},
                    "limits": COUNTRY_LIMITS,
                },
            },
            "privacy": {"k": k},
        }
    )


@pytest.mark.parametrize(("k", "withheld"), [(4, 11), (8, 42), (10, 51), (20, 162)])
def test_cpka_table_6_cka_column(adult_rows: list[list[str]], k: int, withheld: int) -> None:
    at = {"age": 0, "workclass": 1, "marital_status": 5, "race": 8, "sex": 9, "native_country": 13}
    table = pa.table({name: [row[i] for row in adult_rows] for name, i in at.items()})
    assert table.num_rows == 45222
    assert hr.explain(table, table6_plan(k)).withheld == withheld
    release = hr.anonymize(table, table6_plan(k))
    assert release.withheld == withheld
    assert release.private["withheld_is_least"]
    assert release.facts["smallest_group"] >= k
    assert release.facts["limits_broken"] == 0

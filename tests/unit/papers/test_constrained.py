"""Numbers of Miller, Campan and Truta 2008 and of Truta and Campan 2007, through our code: limits, cells, losses."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.measures import ntil, total_loss
from hedgerow.microdata import Microdata, encode_table, read_table
from tests.cases.papers import recoding_of, table6_plan

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
    assert (found.blocks, found.withheld, found.proven) == (3, withheld, True)
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

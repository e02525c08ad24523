"""Numbers of Truta and Vinay 2006, of Campan, Truta and Cooper 2010 and of ARX, through our code: p, limits, the lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.lattice import find_minimal, find_optimum, make_space, samarati
from hedgerow.anonymization.lattice.checker import make_checker
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import PSensitive, Requirement, cumulative_frequencies, holds_for, max_groups, max_p
from tests.cases.data import data
from tests.cases.papers import TABLE_6, recoding_of, table6_plan

FIGURE_3 = {
    "Sex": list("MFMMFMMFMM"),
    "Zip": ["41076", "41099", "41099", "41076", "43102", "43102", "43102", "43103", "48202", "48201"],
}


def encode(table: dict[str, Any], plan: hr.Plan) -> tuple[Microdata, Requirement]:
    microdata = encode_table(read_table(pa.table(table), plan), plan)
    return microdata, Requirement.of_plan(plan, microdata)


def figure_3() -> tuple[Microdata, Requirement]:
    plan = hr.Plan.from_dict(
        {
            "attributes": {
                "Sex": "quasi-identifier",
                "Zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3, 0]}},
            },
            "privacy": {"k": 3},
            "method": "lattice",
        }
    )
    return encode(FIGURE_3, plan)


def test_ps_figure_3_records_that_fail_at_every_node() -> None:
    microdata, requirement = figure_3()
    checker = make_checker(make_space(microdata), requirement, "loss")
    failing = {node: checker.check(checker.base(), node).withheld for node in np.ndindex(2, 3)}
    assert failing == {(0, 0): 10, (0, 1): 7, (0, 2): 0, (1, 0): 7, (1, 1): 2, (1, 2): 0}


@pytest.mark.parametrize("budget", range(11))
def test_ps_table_4_minimal_nodes(budget: int) -> None:
    microdata, requirement = figure_3()
    expected = (
        {(0, 2)} if budget <= 1 else {(0, 2), (1, 1)} if budget <= 6 else {(1, 0), (0, 1)} if budget <= 9 else {(0, 0)}
    )
    space = make_space(microdata)
    assert set(find_minimal(space, requirement, budget).minimal) == expected
    found = samarati(space, requirement, budget).node
    assert found in expected
    assert found is not None
    assert sum(found) == min(map(sum, expected))


FREQUENCIES = [
    np.array([300, 300, 200, 100, 100]),
    np.array([500, 300, 100, 40, 35, 25]),
    np.array([700, 200, 50, 10, 10, 10, 10, 5, 3, 2]),
]


def test_ps_tables_5_and_6() -> None:
    assert max_p(FREQUENCIES) == 5
    assert cumulative_frequencies(FREQUENCIES) == [700, 900, 950, 960, 1000]
    assert [max_groups(FREQUENCIES, 1000, p) for p in (2, 3, 4, 5)] == [300, 100, 50, 25]
    assert max_groups(FREQUENCIES, 1000, 6) == 0


def test_ps_example_of_ten_groups() -> None:
    assert max_groups([np.array([900, 90, 5, 3, 2])], 1000, 3) == 10


def test_ps_tables_1_and_3() -> None:
    groups = [["Colon Cancer", "Heart Disease"], ["Breast Cancer", "HIV"], ["Diabetes", "Diabetes"]]
    assert [holds_for(PSensitive(2), group) for group in groups] == [True, True, False]
    incomes = [[50000, 50000, 50000], [30000, 40000, 30000, 40000]]
    assert [holds_for(PSensitive(2), group) for group in incomes] == [False, True]
    assert holds_for(PSensitive(2), [40000, 50000, 50000])


PATIENTS = {
    "Marital": ["Married", "Married", "Married", "Single", "Single", "Single", "Single", "Married", "Divorced"],
    "Gender": ["Male", "Female", "Male", "Female", "Male", "Female", "Female", "Male", "Female"],
    "Age": [37, 30, 36, 43, 45, 37, 32, 30, 41],
    "Diagnosis": ["Cancer", "Flu", "HIV", "Cancer", "Flu", "Flu", "Flu", "Diabetes", "Diabetes"],
}


def cpka_plan(k: int, p: int) -> hr.Plan:
    age = {"20-59": {"30-39": [str(a) for a in range(30, 40)], "40-49": [str(a) for a in range(40, 50)]}}
    return hr.Plan.from_dict(
        {
            "attributes": {
                "Marital": "quasi-identifier",
                "Gender": "quasi-identifier",
                "Age": {"role": "quasi-identifier", "hierarchy": {"tree": age}, "limits": ["30-39", "40-49"]},
                "Diagnosis": "sensitive",
            },
            "privacy": {"k": k, "p": p},
        }
    )


@pytest.mark.parametrize(
    ("groups", "sensitive", "breaks"),
    [
        ([[0, 2, 7], [1, 5, 6], [3, 4, 8]], False, 0),
        ([[0, 2, 7], [3, 4, 5], [1, 6, 8]], True, 6),
        ([[0, 1, 7], [2, 5, 6], [3, 4, 8]], True, 0),
    ],
)
def test_cpka_tables_2_to_4(groups: list[list[int]], sensitive: bool, breaks: int) -> None:
    microdata, requirement = encode(PATIENTS, cpka_plan(3, 2))
    recoding: Recoding = recoding_of(microdata, groups)
    assert (not requirement.fails(microdata, recoding.group_of, 3).any()) == sensitive
    assert sum(recoding.breaks_by_column(microdata).values()) == breaks


@pytest.mark.parametrize(("k", "p", "withheld"), [(3, 2, 0), (3, 3, 0), (4, 4, 3), (4, 2, 3)])
def test_cpka_records_that_must_be_withheld(k: int, p: int, withheld: int) -> None:
    release = hr.anonymize(pa.table(PATIENTS), cpka_plan(k, p))
    assert release.withheld == withheld
    assert release.private["withheld_is_least"]
    assert hr.explain(pa.table(PATIENTS), cpka_plan(k, p)).withheld == withheld


def test_cpka_where_everything_must_be_withheld() -> None:
    with pytest.raises(hr.NoSolution):
        hr.anonymize(pa.table(PATIENTS), cpka_plan(7, 2))


def test_cpka_table_6_all_25_numbers(adult_rows: list[list[str]]) -> None:
    at = {
        "age": 0, "workclass": 1, "marital_status": 5, "race": 8, "sex": 9, "native_country": 13,
        "education_num": 4, "education": 3, "occupation": 6,
    }  # fmt: skip
    table = pa.table({name: [row[i] for row in adult_rows] for name, i in at.items()})
    raw = table6_plan(4).to_dict()
    raw["attributes"].update(dict.fromkeys(("education_num", "education", "occupation"), "sensitive"))
    plan = hr.Plan.from_dict(raw)
    microdata = encode_table(read_table(table, plan), plan)
    found = {
        k: {
            p: find_cells(microdata, Requirement(k, tuple((column, PSensitive(p)) for column in range(3)))).withheld
            for p in row
        }
        for k, row in TABLE_6.items()
    }
    assert found == TABLE_6
    assert sum(len(row) for row in found.values()) == 25
    release = hr.anonymize(table, hr.Plan.from_dict({**raw, "privacy": {"k": 20, "p": 13}}))
    assert release.withheld == 1593
    assert release.facts["attribute_disclosures"]["count"] == 0


ARX_COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "node", "withheld", "loss"),
    [
        ("a", (0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 0.635544),
        ("b", (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346, 0.269635),
        ("c", (0, 3, 0, 0, 2, 1, 1, 0), 1400, 0.179877),
    ],
)
def test_the_same_optimum_as_arx(case: str, node: tuple[int, ...], withheld: int, loss: float) -> None:
    (folder,) = data("arx-adult")
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": {"file": f"adult_hierarchy_{name}.csv"}} for name in ARX_COLUMNS
    }
    privacy: dict[str, Any] = {"k": 5}
    if case == "c":
        attributes["occupation"] = "sensitive"
        privacy["l"] = {"distinct": 3}
    raw = {
        "attributes": attributes,
        "privacy": privacy,
        "method": {"name": "lattice", "objective": "granularity"},
        **({} if case == "a" else {"withhold": "5%"}),
    }
    release = hr.anonymize(folder / "adult.csv", hr.Plan.from_dict(raw, base=folder))
    assert tuple(release.facts["levels"].values()) == node
    assert release.withheld == withheld
    assert release.facts["score"] == pytest.approx(loss, abs=5e-7)
    assert release.facts["granularity"] == pytest.approx(loss, abs=5e-7)
    assert release.facts["lattice"]["nodes"] == (4320 if case == "c" else 12960)


@pytest.mark.parametrize("objective", ["loss", "ncp", "granularity", "discernibility", "group-size"])
def test_ps_figure_3_best_nodes(objective: str) -> None:
    microdata, requirement = figure_3()
    found = find_optimum(make_space(microdata), requirement, 2, objective)  # type: ignore[arg-type]
    assert found is not None
    assert found.node in {(0, 2), (1, 1)}

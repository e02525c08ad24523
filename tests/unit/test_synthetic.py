"""Made-up tables: seeded, realistic where it matters, and released by the plan that goes with them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from hedgerow.errors import DataError, HedgerowError
from hedgerow.hierarchy import read_hierarchy
from hedgerow.plan import Plan
from hedgerow.synthetic import Synthetic, clinic, write_demo
from hedgerow.workflow import anonymize, explain


@pytest.fixture(scope="module")
def patients() -> Synthetic:
    return clinic()


@pytest.fixture(scope="module")
def demo(patients: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_demo(tmp_path_factory.mktemp("demo"), patients)


# -- the table -------------------------------------------------------------------------------------------------------


def test_a_seed_always_means_the_same_table() -> None:
    assert clinic(300, seed=7) == clinic(300, seed=7)
    assert clinic(300, seed=7).columns != clinic(300, seed=8).columns


def test_the_first_patient_of_seed_0_stays_the_same(patients: Synthetic) -> None:
    """Tutorials and screenshots show these patients; whoever changes them changes those too."""
    assert {name: cells[0] for name, cells in patients.columns.items()} == {
        "name": "Singh, Jack Y.",
        "patient_number": "P1001913",
        "age": "64",
        "sex": "male",
        "city": "Wichita",
        "zip": "67201",
        "admitted": "2024-07-27",
        "income": "37500",
        "diagnosis": "prostate cancer",
        "satisfaction": "4",
    }


def test_every_column_has_a_text_per_record(patients: Synthetic) -> None:
    assert patients.records == 2000
    assert {len(cells) for cells in patients.columns.values()} == {2000}
    assert all(isinstance(cell, str) for cells in patients.columns.values() for cell in cells)


def test_identifiers_name_records_and_need_quotes(patients: Synthetic) -> None:
    assert len(set(patients.columns["patient_number"])) == 2000
    assert len(set(patients.columns["name"])) > 1900
    assert all("," in name for name in patients.columns["name"])
    assert any('"' in name for name in patients.columns["name"])
    assert any(not name.isascii() for name in patients.columns["name"])


def test_only_zip_codes_are_missing_and_only_a_few(patients: Synthetic) -> None:
    missing = {name: cells.count("") for name, cells in patients.columns.items() if "" in cells}
    assert set(missing) == {"zip"}
    assert 0.005 < missing["zip"] / 2000 < 0.05


def test_values_are_skewed(patients: Synthetic) -> None:
    cities = Counter(patients.columns["city"]).most_common()
    assert cities[0][1] > 20 * cities[-1][1]
    incomes = sorted(map(int, patients.columns["income"]))
    assert sum(incomes) / len(incomes) > 1.05 * incomes[len(incomes) // 2]


def test_columns_depend_on_each_other(patients: Synthetic) -> None:
    columns = patients.columns
    by_illness: dict[str, Counter[str]] = {}
    ages: dict[str, list[int]] = {}
    for illness, sex, age in zip(columns["diagnosis"], columns["sex"], columns["age"], strict=True):
        by_illness.setdefault(illness, Counter())[sex] += 1
        ages.setdefault(illness, []).append(int(age))
    assert by_illness["prostate cancer"]["female"] == 0
    assert by_illness["complication of pregnancy"]["male"] == 0
    assert by_illness["migraine"]["female"] > by_illness["migraine"]["male"]
    mean = {illness: sum(known) / len(known) for illness, known in ages.items()}
    assert mean["asthma"] + 20 < mean["coronary heart disease"]
    city_of = {}
    for code, city in zip(columns["zip"], columns["city"], strict=True):
        assert code == "" or city_of.setdefault(code, city) == city


@pytest.mark.parametrize(("records", "seed"), [(0, 0), (-5, 0), (10, -1)])
def test_impossible_wishes_are_refused(records: int, seed: int) -> None:
    with pytest.raises(HedgerowError, match="must be at least") as caught:
        clinic(records, seed)
    assert caught.value.problems[0].code == "usage"


@pytest.mark.parametrize("records", [1, 2, 17])
def test_any_number_of_records_can_be_made(records: int) -> None:
    assert clinic(records).records == records


def test_repr_does_not_print_the_table(patients: Synthetic) -> None:
    assert repr(patients) == "Synthetic(clinic: 2,000 records × 10 columns)"


# -- the files -------------------------------------------------------------------------------------------------------


def test_the_csv_file_holds_what_the_columns_hold(patients: Synthetic, demo: tuple[Path, Path]) -> None:
    with demo[0].open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(patients.columns)
    assert [list(cells) for cells in zip(*rows, strict=True)] == list(patients.columns.values())


def test_the_hierarchy_covers_every_city_at_different_depths(patients: Synthetic, demo: tuple[Path, Path]) -> None:
    assert [path.name for path in demo] == ["patients.csv", "plan.yaml"]
    tree = read_hierarchy(demo[0].parent / "location.csv")
    assert set(patients.columns["city"]) <= set(tree.code_of)
    assert {len(path) for path in tree.paths()} == {2, 3, 4}


def test_the_same_seed_writes_the_same_bytes(patients: Synthetic, demo: tuple[Path, Path], tmp_path: Path) -> None:
    write_demo(tmp_path, clinic())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        file.name: file.read_bytes() for file in demo[0].parent.iterdir()
    }


def test_a_place_that_cannot_be_written_to_is_named(patients: Synthetic, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"file.*cannot be written"):
        write_demo(tmp_path / "file", patients)


# -- the plan --------------------------------------------------------------------------------------------------------


def test_the_plan_knows_every_column_and_every_role(patients: Synthetic, demo: tuple[Path, Path]) -> None:
    plan = Plan.load(demo[1])
    assert list(plan.attributes) == list(patients.columns)
    assert plan.columns("identifier") == ("name", "patient_number")
    assert plan.columns("sensitive") == ("diagnosis",)
    assert plan.columns("other") == ("satisfaction",)
    assert plan.privacy.k == 5


@pytest.mark.parametrize("seed", range(4))
def test_the_limits_cost_a_handful_of_records(seed: int, tmp_path: Path) -> None:
    found = explain(*write_demo(tmp_path, clinic(seed=seed)))
    assert 0 < found.withheld < 0.05 * found.records
    assert found.proven
    assert {cause.attribute for cause in found.causes if cause.saves} >= {"age", "city", "income"}
    assert found.lifts


def test_the_plan_releases_nearly_everyone(demo: tuple[Path, Path]) -> None:
    release = anonymize(*demo)
    assert release.facts["released"] > 0.95 * 2000
    assert release.facts["withheld"] > 0
    assert release.facts["limits_broken"] == 0

"""Made-up tables: seeded, realistic where it matters, and released by the plan that goes with them."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer

import hedgerow as hr
from hedgerow.api import anonymize, explain
from hedgerow.cli.demo import KINDS, DemoWish, run_demo
from hedgerow.errors import DataError, HedgerowError
from hedgerow.evaluation.synthetic import Synthetic, census, clinic, deaths, write_demo
from hedgerow.evaluation.synthetic.trees import NestedNames
from hedgerow.microdata.columns import TreeColumn
from hedgerow.microdata.microdata import Microdata, encode_table
from hedgerow.microdata.read import read_table
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy import read_hierarchy


@pytest.fixture(scope="module")
def patients() -> Synthetic:
    return clinic()


@pytest.fixture(scope="module")
def demo(patients: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_demo(tmp_path_factory.mktemp("demo"), patients)


def digest(folder: Path) -> str:
    """Fingerprint of the files in a folder, names and all."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


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


@pytest.mark.parametrize(
    ("records", "seed", "expected"),
    [
        (2000, 0, "45c5bd7fde33c67abe23ed76d5fb6624bcc6be667a02ed8235500cce28e92077"),
        (300, 7, "82bd0ffb5e811e5c9c6934144700ffb82d906c448fcb82a3b31e052adde076aa"),
    ],
)
def test_the_clinic_is_the_same_to_the_byte_in_every_version(
    records: int, seed: int, expected: str, tmp_path: Path
) -> None:
    write_demo(tmp_path, clinic(records, seed))
    assert digest(tmp_path) == expected


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


# -- death certificates and a census ---------------------------------------------------------------------------------

Maker = Callable[..., Synthetic]
BOTH = pytest.mark.parametrize(("make", "most"), [(deaths, 36), (census, 13)], ids=["deaths", "census"])


@pytest.fixture(scope="module")
def certificates() -> Synthetic:
    return deaths(20_000)


@pytest.fixture(scope="module")
def persons() -> Synthetic:
    return census(10_000)


def encoded(folder: Path, data: Synthetic) -> Microdata:
    table, path = write_demo(folder, data)
    plan = Plan.load(path)
    return encode_table(read_table(str(table), plan), plan)


def pairs(data: Synthetic, one: str, other: str) -> Iterable[tuple[str, str]]:
    return zip(data.columns[one], data.columns[other], strict=True)


@BOTH
def test_a_seed_means_one_table(make: Maker, most: int) -> None:
    assert make(300, seed=7) == make(300, seed=7)
    assert make(300, seed=7).columns != make(300, seed=8).columns
    assert make(300).records == 300
    assert {len(cells) for cells in make(300).columns.values()} == {300}
    assert len(make(300).columns) == most


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (deaths, "1b26f62474ccfb561da2bef148ef823def143e12dcac5f7993cc5f8e8f97163e"),
        (census, "a6db818825a1c379f1b21f97e40e86baa0951800f32144406614b745bd6c4934"),
    ],
)
def test_cells_stay_the_same(make: Maker, expected: str) -> None:
    """Benchmarks name figures of these tables; whoever changes them changes those too."""
    assert hashlib.sha256(repr(make(1000, 3).columns).encode()).hexdigest() == expected


def test_defaults_are_those_of_the_thesis_and_of_a_census() -> None:
    assert repr(deaths()) == "Synthetic(deaths: 216,000 records × 36 columns)"
    assert repr(census()) == "Synthetic(census: 50,000 records × 13 columns)"


@BOTH
def test_fewer_attributes_are_the_first_of_all(make: Maker, most: int) -> None:
    full = make(200, seed=5)
    for count in (3, 4, 10, most):
        part = make(200, seed=5, attributes=count)
        assert list(part.columns.items()) == list(full.columns.items())[:count]
        assert part.hierarchies.items() <= full.hierarchies.items()
        assert all(f"{{file: {name}}}" in part.plan for name in part.hierarchies)
        assert part.plan.count("{file: ") == len(part.hierarchies)


@BOTH
@pytest.mark.parametrize("wrong", [-1, 2, 37])
def test_numbers_of_attributes_that_cannot_be_are_refused(make: Maker, most: int, wrong: int) -> None:
    with pytest.raises(HedgerowError, match=f"from 3 to {most}. Got {wrong}") as caught:
        make(10, attributes=wrong)
    assert caught.value.problems[0].code == "usage"


@BOTH
@pytest.mark.parametrize("records", [1, 3, 17])
def test_tables_may_be_tiny(make: Maker, most: int, records: int) -> None:
    assert make(records).records == records


@BOTH
def test_every_plan_loads_and_names_one_sensitive_column(make: Maker, most: int, tmp_path: Path) -> None:
    for count in range(3, most + 1):
        data = make(50, attributes=count)
        plan = Plan.load(write_demo(tmp_path, data)[1])
        assert list(plan.attributes) == list(data.columns)
        assert len(plan.columns("sensitive")) == 1
        assert len(plan.columns("quasi-identifier")) == count - 1
        assert {rule.attribute for rule in plan.rules} <= set(data.columns)
        assert plan.privacy.k == 5


def test_the_plans_ask_what_they_are_for(tmp_path: Path) -> None:
    plan = Plan.load(write_demo(tmp_path / "deaths", deaths(50))[1])
    assert (plan.method.name, plan.method.objective) == ("lattice", "research-value")
    assert {"age: 64 | 65": 25, "race: White | Black": 20, "education: high school | college": 20}.items() <= {
        rule.title: rule.importance for rule in plan.rules
    }.items()
    assert all(part.limit is None for part in plan.attributes.values())
    plan = Plan.load(write_demo(tmp_path / "census", census(50))[1])
    assert plan.method.name == "cluster"
    assert [name for name, part in plan.attributes.items() if part.limit is not None] == [
        "age",
        "location",
        "education",
    ]


def test_every_death_has_a_leaf_in_hierarchies_of_two_to_six_levels(certificates: Synthetic, tmp_path: Path) -> None:
    found = encoded(tmp_path, certificates)
    assert len(found.unknown) == 0
    heights = {c.name: c.hierarchy.height for c in found.columns if isinstance(c, TreeColumn)}
    assert len(heights) == 35
    assert set(heights.values()) == {1, 2, 3, 4, 5}
    for name, paths in certificates.hierarchies.items():
        column = name.removeprefix("hierarchies/").removesuffix(".csv")
        assert set(certificates.columns[column]) <= {path[0] for path in paths} | {""}


def test_every_person_of_the_census_has_a_leaf(persons: Synthetic, tmp_path: Path) -> None:
    found = encoded(tmp_path, persons)
    assert len(found.unknown) == 0
    assert len(found.columns) == 12
    assert set(persons.columns["location"]) == {path[0] for path in persons.hierarchies["hierarchies/location.csv"]}


def test_some_cells_are_missing(certificates: Synthetic, persons: Synthetic) -> None:
    for data, columns in (
        (certificates, {"industry", "census_tract", "city_of_birth", "time_of_death"}),
        (persons, {"education", "country_of_birth"}),
    ):
        for column in columns:
            assert 0 < data.columns[column].count("") < 0.06 * data.records
        assert "" not in data.columns["age"] + data.columns["sex"]


def test_values_are_common_or_rare(certificates: Synthetic, persons: Synthetic) -> None:
    for data, columns in (
        (certificates, ["race", "education", "manner_of_death", "zip_code", "state_of_birth", "cause_of_death"]),
        (persons, ["location", "occupation", "country_of_birth", "household_size", "benefits"]),
    ):
        for column in columns:
            counts = [count for value, count in Counter(data.columns[column]).most_common() if value]
            assert counts[0] > 10 * counts[-1], column


def test_certificates_do_not_contradict_themselves(certificates: Synthetic) -> None:
    hurt = {"accident", "suicide", "homicide"}
    for manner, day in pairs(certificates, "manner_of_death", "injury_date"):
        assert (manner in hurt) == (day != "")
    for manner, county in pairs(certificates, "manner_of_death", "injury_county"):
        assert (manner in hurt) == (county != "not applicable")
    for sex, pregnant in pairs(certificates, "sex", "pregnant"):
        assert sex == "female" or pregnant == "not applicable"
    for sex, cause in pairs(certificates, "sex", "cause_of_death"):
        assert (sex, cause) not in {("female", "prostate cancer"), ("male", "complication of pregnancy")}
    for cause, vehicle in pairs(certificates, "cause_of_death", "motor_vehicle_accident"):
        assert (cause == "motor vehicle accident") == (vehicle != "no vehicle")
    for veteran, service in pairs(certificates, "us_veteran", "military"):
        assert (veteran == "yes") == (service != "none")
    for age, status in pairs(certificates, "age", "marital_status"):
        assert int(age) >= 18 or status == "never married"
    days = ("date_of_birth", "date_of_death")
    for age, born, died in zip(certificates.columns["age"], *(certificates.columns[d] for d in days), strict=True):
        birth, death = date.fromisoformat(born), date.fromisoformat(died)
        assert int(age) == death.year - birth.year - ((death.month, death.day) < (birth.month, birth.day))
    for injured, died in pairs(certificates, "injury_date", "date_of_death"):
        assert injured <= died


def test_places_of_a_certificate_go_together(certificates: Synthetic) -> None:
    city_of: dict[str, str] = {}
    for code, city in pairs(certificates, "death_zip", "death_city"):
        assert city_of.setdefault(code, city) == city
    usual: dict[str, Counter[str]] = defaultdict(Counter)
    for code, tract in pairs(certificates, "zip_code", "census_tract"):
        if tract:
            usual[code[:4]][tract[:2]] += 1
    agree = sum(counts.most_common(1)[0][1] for counts in usual.values())
    assert agree > 0.95 * certificates.records
    assert len({counts.most_common(1)[0][0] for counts in usual.values()}) == len(usual)


def test_columns_of_certificates_depend_on_each_other(certificates: Synthetic) -> None:
    ages: dict[str, list[int]] = defaultdict(list)
    for status, age in pairs(certificates, "marital_status", "age"):
        ages[status].append(int(age))
    mean = {status: sum(known) / len(known) for status, known in ages.items()}
    assert mean["never married"] + 20 < mean["married"] < mean["widowed"]
    informants = Counter(pairs(certificates, "marital_status", "informant"))
    assert informants["married", "spouse"] > 10 * informants["married", "child"]
    autopsies = Counter(pairs(certificates, "manner_of_death", "autopsy"))
    assert autopsies["natural", "no"] > 5 * autopsies["natural", "yes"]
    assert autopsies["homicide", "yes"] > 5 * autopsies["homicide", "no"]


def test_columns_of_the_census_depend_on_each_other(persons: Synthetic) -> None:
    for age, benefit in pairs(persons, "age", "benefits"):
        assert int(age) >= 25 or benefit != "pension"
    for hours, occupation in pairs(persons, "hours", "occupation"):
        assert (hours == "0") == (occupation == "")
    incomes: dict[str, list[int]] = defaultdict(list)
    for code, income in pairs(persons, "occupation", "income"):
        incomes[code[:1]].append(int(income))
    mean = {group: sum(known) / len(known) for group, known in incomes.items()}
    assert mean["1"] > 1.5 * mean["9"] > mean[""]
    for relationship, status in pairs(persons, "relationship", "marital_status"):
        assert relationship != "spouse" or status == "married"
    for relationship, size in pairs(persons, "relationship", "household_size"):
        assert int(size) > 1 or relationship == "head"


def test_a_release_of_certificates_keeps_some_of_everything(tmp_path: Path) -> None:
    """Neither nothing nor all of it survives: the search has something to find."""
    found = encoded(tmp_path, deaths(attributes=13))
    tops = {c.name: c.hierarchy.height for c in found.columns if isinstance(c, TreeColumn)}
    levels = anonymize(tmp_path / "deaths.csv", tmp_path / "plan.yaml").facts["levels"]
    assert sum(level == 0 for level in levels.values()) >= 2
    assert sum(0 < level < tops[name] for name, level in levels.items()) >= 2
    assert sum(level == tops[name] for name, level in levels.items()) >= 2


def test_the_census_is_released_within_its_limits(persons: Synthetic, tmp_path: Path) -> None:
    facts = anonymize(*write_demo(tmp_path, persons)).facts
    assert facts["limits_broken"] == 0
    assert 0 < facts["withheld"] < 0.02 * persons.records


# -- trees -----------------------------------------------------------------------------------------------------------


def test_leaves_given_higher_up_repeat_their_name() -> None:
    tree = NestedNames({"a": {"b": {"c": 1}}, "d": 2}, root="all")
    assert tree.paths == [("c", "b", "a", "all"), ("d", "d", "d", "all")]


def test_codes_become_a_tree_by_prefix() -> None:
    tree = NestedNames.by_prefix({"21": 1, "11": 1, "12": 3}, [1])
    assert tree.paths == [("11", "1", "any"), ("12", "1", "any"), ("21", "2", "any")]


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"kind": "hospital"}, "must be one of clinic, census, deaths"),
        ({"kind": "clinic", "attributes": 5}, "is not for clinic"),
        ({"kind": "census", "attributes": 14}, "from 3 to 13 for census"),
        ({"kind": "deaths", "attributes": 2}, "from 3 to 36 for deaths"),
    ],
)
def test_wishes_that_cannot_be_met_are_wrong_options(wish: dict[str, object], message: str) -> None:
    with pytest.raises(typer.BadParameter, match=message):
        DemoWish(**wish)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_the_demo_knows_what_it_writes(kind: str, tmp_path: Path) -> None:
    write_demo(tmp_path, DemoWish(kind, records=100).make())
    assert {path.name for path in tmp_path.iterdir()} == {*KINDS[kind].files, "plan.yaml"}


@pytest.mark.parametrize("kind", ["census", "deaths"])
def test_the_demo_of_other_kinds(kind: str, tmp_path: Path, hedgerow: Callable[..., CompletedProcess[str]]) -> None:
    words = ("demo", "--kind", kind, "--records", "400", "--attributes", "6", "-o", tmp_path / "demo")
    done = hedgerow(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"hedgerow anonymize {tmp_path / 'demo' / kind}.csv" in done.stdout.replace("\n", "")
    assert "Every promise is kept" in done.stdout
    assert hedgerow(*words).returncode == 2
    assert hedgerow(*words, "--replace").returncode == 0
    wrong = hedgerow("demo", "--attributes", "6", "-o", tmp_path / "clinic")
    assert wrong.returncode == 2
    assert "--attributes" in wrong.stderr
    assert not (tmp_path / "clinic").exists()


def test_a_demo_whose_release_was_damaged_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def verify(folder: Path, original: Path) -> hr.Verification:
        (folder / "data.csv").write_text("damaged")
        return hr.verify(folder, original=original)

    monkeypatch.setattr("hedgerow.cli.demo.verify", verify)
    with pytest.raises(hr.BrokenPromise, match="broken-promise"):
        run_demo(tmp_path / "demo", DemoWish(records=100), replace=False, progress=lambda *_: None)
    assert list(tmp_path.iterdir()) == []

"""The check in counted form: the same verdicts as row by row, from tables in a database or in files."""

from __future__ import annotations

import datetime as dt
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.plan import Plan
from hedgerow.verification import (
    InDatabase,
    InFile,
    Verification,
    verify_release,
    verify_release_in_place,
)
from tests.cases.counted_releases import (
    ATTRIBUTES,
    PLANS,
    Duck,
    Rows,
    make,
    original,
    parts_of,
)

# -- releases --------------------------------------------------------------------------------------------------------


def verdicts(found: Verification) -> dict[str, tuple[bool, str]]:
    """What was found, without row numbers; a table has no files."""
    shown = {promise.name: re.sub(", first in row [0-9]+", "", str(promise.found)) for promise in found}
    return {name: (found[name].kept, text) for name, text in shown.items() if name != "files"}


@pytest.mark.parametrize("name", PLANS)
def test_counted_and_row_form_find_the_same(name: str) -> None:
    case = make(name)
    for link, source in ((True, True), (False, True), (False, False)):
        counted = case.verify(link, source)
        assert counted.kept, counted
        assert verdicts(counted) == verdicts(case.verify_rows(link, source))
    assert not any('"name"' in query for query in case.duck.asked) or case.plan.person


@pytest.mark.parametrize("name", ["persons", "persons-p"])
def test_of_persons_only_numbers_leave_the_database(name: str) -> None:
    case = make(name)
    assert case.verify()["k"].found == f"{case.facts['smallest_group_persons']} persons"
    for query in case.duck.asked:
        assert "P1" not in str(case.duck.connection.sql(query).to_arrow_table().to_pydict())
    case.edit("profiles", lambda rows: [row.update(person=row["person"] % 9 + 1) for row in rows])
    assert not case.verify()["truthful"].kept


@pytest.mark.parametrize("name", ["cluster", "lattice", "limits", "persons", "suppress", "t", "rules"])
def test_what_is_wrong_in_the_facts_is_found_alike(name: str) -> None:
    made = make(name)
    for key, value in made.facts.items():
        if isinstance(value, int) and not isinstance(value, bool):
            case = make(name)
            case.facts[key] = value + 1
            assert verdicts(case.verify()) == verdicts(case.verify_rows()), key
    if "attribute_disclosures" in made.facts and made.facts["attribute_disclosures"]["listed"]:
        case = make(name)
        case.facts["attribute_disclosures"]["listed"].pop()
        assert case.verify()["disclosures"].found == "facts.json does not list 1"
    for key in ("group_risk_sizes", "largest_share_of_one_value"):
        for place in list(made.facts[key])[:1]:
            case = make(name)
            case.facts[key][place] = case.facts[key][place] * 2 + 1
            assert not case.verify()["risks"].kept
            assert verdicts(case.verify()) == verdicts(case.verify_rows())
        case = make(name)
        case.facts[key] = None
        assert case.verify()["risks"].kept == (key == "largest_share_of_one_value" and not made.facts[key])


@pytest.mark.parametrize("name", ["cluster", "free", "persons", "suppress", "t"])
@pytest.mark.parametrize("column", ["age", 'se"x', "school", "illness", "income", "ward; DROP", "since"])
def test_an_exchanged_or_changed_cell_is_refused(name: str, column: str) -> None:
    case = make(name)
    rows = case.released.to_pylist()
    other = next(
        number for number, row in enumerate(rows)
        if row[column] != rows[0][column] and any(row[name] != rows[0][name] for name in ("illness", "income"))
    )  # fmt: skip
    case.change(0, column, rows[other][column])
    found = case.verify()["truthful"]
    assert not found.kept
    assert not re.search(r"\brow\b", str(found.found))
    case.change(other, column, rows[0][column])
    assert not case.verify()["truthful"].kept


def test_without_a_link_values_that_belong_together_are_compared_together() -> None:
    case = make("cluster")
    assert case.verify(link=False)["unchanged"].kept
    case.change(0, "since", dt.date(1999, 1, 1))
    found = case.verify(link=False)["unchanged"]
    assert found.found == "illness, income, ward; DROP, since: 1 rows too many with the same values"


# -- a link that lies ------------------------------------------------------------------------------------------------


def test_a_dropped_row_is_refused() -> None:
    case = make("cluster")
    case.released = case.released.slice(1)
    found = case.verify()
    assert {promise.name for promise in found.broken} >= {"counts", "truthful"}
    assert (
        found["truthful"].found
        == "0 rows of the release are not those of the link, and 1 rows of the link are not there"
    )


def _exchange_labels(rows: Rows) -> None:
    rows[0]["g"], rows[1]["g"] = rows[1]["g"], rows[0]["g"]


def _one_more(rows: Rows) -> None:
    rows[0]["n"] += 1


def _more_from_another(rows: Rows) -> None:
    """Take a record from one class and publish one more of another; the labels' counts stay."""
    same = [row for row in rows[1:] if row["g"] == rows[0]["g"] and row["class"] != rows[0]["class"]]
    rows[0]["n"] += 1
    same[0]["n"] -= 1
    if not same[0]["n"]:
        rows.remove(same[0])


@pytest.mark.parametrize(
    ("part", "change", "fault"),
    [
        ("labels", _exchange_labels, "rows of the release are not those of the link"),
        ("labels", lambda rows: rows.append(rows[0]), "1 groups of the link have labels more than once"),
        ("labels", lambda rows: rows.pop(), "parts of the link have no profiles, no labels or no records"),
        ("parts", _one_more, "more records than the original"),
        ("parts", _more_from_another, ""),
        ("parts", lambda rows: rows.pop(), "rows of the release are not those of the link"),
        ("parts", lambda rows: rows.append({**rows[0], "n": 0}), "1 parts of the link have no profiles"),
        ("parts", lambda rows: rows.append({**rows[0], "n": -1}), "1 parts of the link have no profiles"),
        ("parts", lambda rows: rows[0].update({"class": 1}), "1 parts of the link have no profiles"),
        ("profiles", lambda rows: rows[0].update(age="1999"), "1 profiles of the link are not in the original"),
        ("profiles", lambda rows: rows[0].update({"class": rows[0]["class"] + 1}), "no profiles"),
    ],
)  # fmt: skip
def test_a_link_that_lies_is_refused(part: str, change: Callable[[Rows], Any], fault: str) -> None:
    case = make("cluster")
    case.edit(part, change)
    found = case.verify()["truthful"]
    assert not found.kept
    assert fault in str(found.found)


def test_a_class_that_mixes_sensitive_values_is_refused() -> None:
    case = make("cluster")
    rows = case.link.profiles.to_pylist()
    one, other = next(
        (one, other) for one in rows for other in rows
        if one["class"] != other["class"] and one["illness"] != other["illness"] and one["income"] == other["income"]
    )  # fmt: skip
    moved = {other["class"]: one["class"]}
    case.edit("profiles", lambda rows: [row.update({"class": moved.get(row["class"], row["class"])}) for row in rows])
    case.edit("parts", lambda rows: [row.update({"class": moved.get(row["class"], row["class"])}) for row in rows])
    assert case.verify()["truthful"].found == "1 classes of the link mix sensitive values or persons"


def test_a_profile_in_two_classes_is_refused() -> None:
    case = make("cluster")
    case.edit("profiles", lambda rows: rows.append({**rows[0], "class": 1}))
    assert case.verify()["truthful"].found == "1 profiles of the link are in more than one class"


def test_each_profile_of_a_class_must_be_covered_wherever_the_class_is_published() -> None:
    case = make("cluster")
    labels = {row["g"]: row["age"] for row in case.link.labels.to_pylist()}
    groups = {row["class"]: row["g"] for row in case.link.parts.to_pylist()}
    rows = case.link.profiles.to_pylist()
    one, other = next(
        (one["class"], other["class"]) for one in rows for other in rows
        if all(case.clean(one[name]) == case.clean(other[name]) for name in ("illness", "income"))
        and {labels[groups[one["class"]]], labels[groups[other["class"]]]} == {"20-39", "60-79"}
    )  # fmt: skip

    def merge(rows: Rows) -> None:
        for row in rows:
            row["class"] = one if row["class"] == other else row["class"]

    case.edit("profiles", merge)
    case.edit("parts", merge)
    found = case.verify()["truthful"]
    assert not found.kept
    assert re.match("age: [0-9]+ cells", str(found.found))


def test_a_value_beyond_its_limit_is_counted() -> None:
    case = make("limits")
    row = next(number for number, row in enumerate(case.released.to_pylist()) if row["school"] != "all")
    before = dict(case.released.to_pylist()[row])
    cells = [number for number, other in enumerate(case.released.to_pylist())
             if all(other[name] == before[name] for name in case.plan.quasi_identifiers)]  # fmt: skip
    for number in cells:
        case.change(number, "school", "all")
    case.link = case.true_link()
    found = case.verify()["limits"]
    assert not found.kept
    assert found.found == f"{len(cells)}: school: {len(cells)} cells; but facts.json says 0" or "school" in str(
        found.found
    )
    assert verdicts(case.verify())["limits"] == verdicts(case.verify_rows())["limits"]


def test_a_link_of_the_wrong_shape_is_an_error() -> None:
    case = make("cluster")
    case.link = replace(case.link, parts=case.link.parts.drop_columns(["n"]))
    with pytest.raises(DataError, match="A counted link must have"):
        case.verify()
    case = make("cluster")
    case.link = replace(
        case.link, labels=case.link.labels.set_column(0, "g", case.link.labels.column("g").cast("string"))
    )
    with pytest.raises(DataError, match="A counted link must have"):
        case.verify()
    with pytest.raises(DataError, match="only together with the original"):
        case.verify(original=False)


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cluster", "lattice", "suppress", "persons", "utility"])
def test_files_are_checked_alike(name: str, tmp_path: Path) -> None:
    case = make(name)
    pq.write_table(case.original, tmp_path / "original.parquet", row_group_size=30)
    source = InFile(tmp_path / "original.parquet")
    rows = verdicts(case.verify_rows())
    csv_release = tmp_path / "csv"
    hr.anonymize(case.original, case.plan, output=csv_release)
    for folder in (case.write(tmp_path / "one"), parts_of(case, tmp_path / "many", 3), csv_release):
        for where in (source, case.duck.put("source", case.original)):
            found = verify_release_in_place(folder, where, case.link)
            assert found.kept, found
            assert verdicts(found) == rows
        assert verify_release_in_place(folder).kept
        assert verify_release(folder, case.original).kept
    assert "'=A" in (csv_release / "data.csv").read_text(encoding="utf-8")


def test_groups_in_files_have_numbers(tmp_path: Path) -> None:
    case = make("cluster")
    listed = case.facts["attribute_disclosures"]["listed"]
    assert listed
    group, column = listed[0]
    free = next(number for number in range(case.facts["groups"]) if [number, column] not in listed)
    case.facts["attribute_disclosures"]["listed"][0] = [free, column]
    assert case.verify()["disclosures"].kept  # a table has no order
    for folder in (case.write(tmp_path / "one"), parts_of(case, tmp_path / "many", 4)):
        found = verify_release_in_place(folder)["disclosures"]
        assert found == verify_release(folder)["disclosures"]
        assert found.found == "facts.json does not list 1; facts.json lists 1 that are none"
    case.facts["attribute_disclosures"]["listed"][0] = [group, column]
    assert verify_release_in_place(case.write(tmp_path / "one")).kept


def test_other_columns_of_files_are_compared(tmp_path: Path) -> None:
    case = make("cluster")
    pq.write_table(case.original, tmp_path / "original.parquet")
    case.change(3, "since", dt.date(1999, 1, 1))
    for where in (InFile(tmp_path / "original.parquet"), case.duck.put("source", case.original)):
        found = verify_release_in_place(case.write(tmp_path / "one"), where, case.link)
        assert [promise.name for promise in found.broken] == ["truthful"]
        assert found["truthful"].found == "illness, income, ward; DROP, since: 1 rows too many with the same values"


def test_a_csv_file_as_the_original(tmp_path: Path) -> None:
    table = original().drop_columns(["since", "income"])
    rows = [
        "\t".join('"' + str(cell or "").replace('"', '""') + '"' for cell in row)
        for row in zip(*table.to_pydict().values(), strict=True)
    ]
    header = "\t".join('"' + name.replace('"', '""') + '"' for name in table.column_names)
    (tmp_path / "original.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    attributes = {name: ATTRIBUTES[name] for name in table.column_names}
    plan = Plan.from_dict({"data": {"missing": ["", "?"]}, "attributes": attributes, "privacy": {"k": 3}})
    hr.anonymize(tmp_path / "original.csv", plan, output=tmp_path / "release")
    for where in (InFile(tmp_path / "original.csv"), InFile(str(tmp_path / "original.csv"))):
        found = verify_release_in_place(tmp_path / "release", where)
        assert found.kept
        assert verdicts(found) == verdicts(verify_release(tmp_path / "release", tmp_path / "original.csv"))


def test_a_file_that_is_no_table_breaks_a_promise(tmp_path: Path) -> None:
    case = make("cluster")
    folder = case.write(tmp_path / "release", "csv")
    (folder / "data.parquet").unlink(missing_ok=True)
    data = (folder / "data.csv").read_bytes()
    for damaged in (data + b"1,2\n", data + b'"', data.replace(b"flu", b"fl\xff", 1)):
        (folder / "data.csv").write_bytes(damaged)
        found = verify_release_in_place(folder)
        assert [promise.name for promise in found] == ["files", "readable"]
        assert found.promises == verify_release(folder).promises
    folder = parts_of(case, tmp_path / "many", 2)
    part = next((folder / "data.parquet").glob("part-00001*"))
    pq.write_table(pq.read_table(part).drop_columns(["since"]), part)
    for found in (verify_release_in_place(folder), verify_release(folder)):
        assert found["readable"].found == "The files of the folder do not have the same columns."
    part.write_bytes(b"PAR1")
    assert not verify_release_in_place(folder)["readable"].kept
    shutil.rmtree(folder / "data.parquet")
    (folder / "data.parquet").mkdir()
    for found in (verify_release_in_place(folder), verify_release(folder)):
        assert found["readable"].found == "The folder holds no Parquet file."


def test_an_original_that_is_not_there_or_another_is_an_error(tmp_path: Path) -> None:
    case = make("cluster")
    folder = case.write(tmp_path / "release")
    with pytest.raises(DataError, match="does not exist"):
        verify_release_in_place(folder, InFile(tmp_path / "nothing.parquet"))
    with pytest.raises(DataError, match="no column 'age'"):
        verify_release_in_place(folder, case.duck.put("other", case.original.drop_columns(["age"])))


def test_a_table_with_other_columns_is_refused() -> None:
    case = make("cluster")
    case.released = case.released.append_column("name", case.released.column("age"))
    found = case.verify()
    assert [promise.name for promise in found.broken] == ["roles"]
    case.released = case.released.drop_columns(["name", "age"])
    assert not case.verify()["roles"].kept
    case = make("cluster")
    case.released = case.released.drop_columns(["illness"])
    assert not case.verify()["roles"].kept


def test_an_empty_release() -> None:
    case = make("cluster")
    case.released = case.released.slice(0, 0)
    case.link = replace(case.link, parts=case.link.parts.slice(0, 0))
    case.facts |= {"released": 0, "withheld": case.original.num_rows, "groups": 0, "smallest_group": 0}
    case.facts |= {"largest_group": 0, "attribute_disclosures": {"count": 0, "by_attribute": {}, "listed": []}}
    shares = dict.fromkeys(case.facts["largest_share_of_one_value"], 0.0)
    case.facts |= {"group_risk_sizes": {}, "group_sizes": {}, "largest_share_of_one_value": shares}
    case.facts |= {"discernibility": case.original.num_rows**2, "normalized_average_group_size": None}
    case.facts["blocks"] = 0
    found = case.verify()
    assert found.kept, found


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


class Postgres(Duck):
    """A server that hands decimals over as text, and does not compare text by its bytes unless told to."""

    text_type = "TEXT"
    binary = ' COLLATE "C"'

    def __init__(self, address: str) -> None:
        adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
        self.server = adbc.connect(address, autocommit=True)
        self.asked = []

    def ask(self, query: str) -> pa.Table:
        self.asked.append(query)
        with self.server.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    def put(self, name: str, table: pa.Table) -> InDatabase:
        kinds = dict(Duck().put(name, table).columns)
        with self.server.cursor() as cursor:
            types = {"decimal": "numeric", "date": "date"}
            columns = ", ".join(f"{self.quote(column)} {types.get(kind, 'text')}" for column, kind in kinds.items())
            cursor.execute(f"DROP TABLE IF EXISTS {self.quote(name)}")
            cursor.execute(f"CREATE TABLE {self.quote(name)} ({columns})")
            rows = [
                "(" + ", ".join("NULL" if cell is None else self.literal(str(cell)) for cell in row.values()) + ")"
                for row in table.to_pylist()
            ]
            cursor.execute(f"INSERT INTO {self.quote(name)} VALUES {', '.join(rows)}")
        return InDatabase(self, self.quote(name), tuple(kinds.items()))


@pytest.mark.parametrize("name", ["cluster", "persons", "own-names"])
def test_the_same_statements_run_in_postgresql(name: str, postgres: str) -> None:
    case = make(name)
    expected = verdicts(case.verify_rows())
    case.duck = Postgres(postgres)
    assert verdicts(case.verify()) == expected
    case.change(0, "since", dt.date(1999, 1, 1))
    assert not case.verify()["truthful"].kept
    assert not case.verify(link=False)["unchanged"].kept
    case.duck.server.close()

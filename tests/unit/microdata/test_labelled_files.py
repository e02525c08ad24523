"""Files of Excel, SPSS, Stata and SAS are read as what is beside them says, released, and written back with their labels."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter

import hedgerow as hr
from hedgerow.errors import how_to_install
from hedgerow.evaluation.drafting.draft import reading_plan
from hedgerow.microdata.notes import notes_of
from hedgerow.microdata.read import file_schema, read_table
from hedgerow.plan import DataFormat
from hedgerow.verification.reading.formats import open_original
from tests.cases.data import data


def cells(path: Path, form: DataFormat | None = None) -> dict[str, list[Any]]:
    form = form or DataFormat()
    names = file_schema(path, form).names
    found = {name: column.to_pylist() for name, column in read_table(path, reading_plan(names, form)).columns.items()}
    opened = open_original(path, form)  # the verifier must see the same
    seen = opened.table(range(len(opened.header)))
    assert list(opened.header) == names
    assert {name: seen.column(at).to_pylist() for at, name in enumerate(names)} == found
    return found


def people(**columns: str) -> hr.Plan:
    return hr.Plan.from_dict({"attributes": columns, "privacy": {"k": 2}})


def write_sav(path: Path, columns: Mapping[str, list[Any]], **more: Any) -> Path:
    pyreadstat.write_sav(pd.DataFrame(columns), path, **more)
    return path


def sheet(path: Path, *sheets: tuple[str, list[list[Any]]], hidden: str = "") -> Path:
    with xlsxwriter.Workbook(path) as book:
        days = book.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets:
            made = book.add_worksheet(name)
            if name == hidden:
                made.hide()
            for row, line in enumerate(rows):
                for at, cell in enumerate(line):
                    if isinstance(cell, dt.date):
                        made.write_datetime(row, at, cell, days)
                    elif isinstance(cell, str):
                        made.write_string(row, at, cell)
                    elif cell is not None:
                        made.write(row, at, cell)
        if hidden:
            book.worksheets()[1].activate()
            book.worksheets()[1].set_first_sheet()
    return path


# -- the files that R wrote --------------------------------------------------------------------------------------------


def test_files_of_r_have_the_labels_kinds_and_dates_that_the_note_beside_them_says() -> None:
    sav, dta, xpt, xlsx = data(*(f"formats/testdata.{ending}" for ending in ("sav", "dta", "xpt", "xlsx")))
    spss, stata, sas, excel = cells(sav), cells(dta), cells(xpt), cells(xlsx)
    assert {len(column) for column in (*spss.values(), *stata.values(), *sas.values())} == {1000}
    assert {len(column) for column in excel.values()} == {500}
    codes = {"urbrur": {"1": "urban", "2": "rural"}, "sex": {"1": "male", "0": "female"}}
    for name, labels in codes.items():
        assert spss[name] == stata[name] == [labels.get(code, code) for code in sas[name]]
    assert [row for row, why in enumerate(spss["income (missing)"], 1) if why == "refused"] == [3, 77]
    assert [row for row, cell in enumerate(spss["income"], 1) if cell is None] == [3, 77]
    assert stata["income"][2] == sas["income"][76] == "-9"
    same = set(sas) - {"urbrur", "sex", "income"}
    assert all(spss[name] == stata[name] == sas[name] for name in same)
    assert excel["age"] == sas["age"][:500]
    assert excel["date"] == [str(dt.date(2024, 1, 1) + dt.timedelta(days=row % 400)) for row in range(1, 501)]
    assert len(cells(xlsx, DataFormat(sheet="notes"))) == 1
    titles = {"urbrur": "Area of residence", "sex": "Sex of household member", "age": "Age in years"}
    for path in (sav, dta, xpt):
        notes = notes_of(file_schema(path, DataFormat()))
        assert {name: notes[name].title for name in titles} == titles
        assert notes["income"].title == "Income, local currency"
    assert cells(sav, DataFormat(labels="keep-codes"))["sex"] == sas["sex"]


@pytest.mark.parametrize("ending", ["sav", "dta", "xlsx"])
def test_a_release_of_such_a_file_is_written_in_its_format_and_read_alike_by_others(
    ending: str, tmp_path: Path
) -> None:
    (path,) = data(f"formats/testdata.{ending}")
    roles = {"urbrur": "quasi-identifier", "sex": "sensitive", "income": "sensitive", "savings": "other"}
    more = {"sav": {"income (missing)": "other"}, "xlsx": {"date": "other"}}.get(ending, {})
    made = hr.anonymize(path, people(**roles, **more), tmp_path / "made")
    written = tmp_path / "made" / f"data.{ending}"
    assert made.verification is not None
    hr.verify(tmp_path / "made", path).raise_if_broken()
    hr.anonymize(path, people(**roles, **more), tmp_path / "csv", format="csv")
    expected = pd.read_csv(tmp_path / "csv" / "data.csv", dtype=str, keep_default_na=False)
    if ending == "xlsx":
        found = pd.read_excel(written, engine="calamine")
        assert found["date"].dt.strftime("%Y-%m-%d").tolist() == expected["date"].tolist()
        assert found["savings"].tolist() == expected["savings"].astype(float).tolist()
        return
    read = pd.read_spss if ending == "sav" else pd.read_stata
    found = read(written)
    for name in ("urbrur", "sex"):
        shown = [str(int(cell)) if isinstance(cell, float) else str(cell) for cell in found[name]]
        assert shown == expected[name].tolist()
    plain, about = (pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta)(
        written, output_format="dict", user_missing=True
    )
    original = {"urban": 1, "rural": 2, "male": 1, "female": 0}
    assert plain["urbrur"] == [original.get(cell, 101) for cell in expected["urbrur"]]
    assert {about.variable_value_labels["sex"][code] for code in about.variable_value_labels["sex"]} <= {
        "male",
        "female",
    }
    assert about.column_names_to_labels["income"] == "Income, local currency"
    if ending == "sav":
        assert about.missing_ranges == {"income": [{"lo": -9.0, "hi": -9.0}]}
        assert about.variable_value_labels["income"] == {-9.0: "refused"}
        whys = expected["income (missing)"].tolist()
        assert [why == "refused" for why in whys] == [cell == -9 for cell in plain["income"]]
        assert cells(written)["income (missing)"] == [why or None for why in whys]


# -- traps -------------------------------------------------------------------------------------------------------------


def test_labels_and_missing_values_of_text_are_read_too(tmp_path: Path) -> None:
    ward = {"a": "Ward A", "b": "Ward B", "-": "not told"}
    columns = {"ward": ["a", "b", "-", "long enough"] * 2, "age": [1.5, 2, None, 4] * 2}
    labels = {"ward": {**ward, "long enough": "Ward C"}}
    path = write_sav(tmp_path / "a.sav", columns, variable_value_labels=labels, missing_ranges={"ward": ["-"]})
    found = cells(path)
    assert found["ward"] == ["Ward A", "Ward B", None, "Ward C"] * 2
    assert found["ward (missing)"] == [None, None, "not told", None] * 2
    assert found["age"] == ["1.5", "2", None, "4"] * 2
    hr.anonymize(path, people(ward="quasi-identifier", age="other"), tmp_path / "made")
    assert pyreadstat.read_sav(tmp_path / "made" / "data.sav")[0]["ward"].tolist() == sorted(
        ["Ward A", "", "Ward B", "Ward C"] * 2
    )


def test_many_kinds_of_missing_values_come_back(tmp_path: Path) -> None:
    labels = {"pay": {-1: "refused", -2: "unknown", -3: "not asked", -4: "illegible", 5: "five"}}
    columns = {"pay": [5, -1, -2, -3, -4, 7, None, 5], "ward": list("aabbaabb")}
    ranges = {"pay": [{"lo": -4, "hi": -1}]}
    path = write_sav(tmp_path / "a.sav", columns, variable_value_labels=labels, missing_ranges=ranges)
    whys = [None, "refused", "unknown", "not asked", "illegible", None, None, None]
    assert cells(path)["pay (missing)"] == whys
    asked = people(**{"ward": "quasi-identifier", "pay": "sensitive", "pay (missing)": "sensitive"})
    for form, ending in (("spss", "sav"), ("stata", "dta")):
        made = hr.anonymize(path, asked, tmp_path / form, format=form)
        assert cells(tmp_path / form / f"data.{ending}") == made.table.to_pydict()


def test_kinds_of_missing_values_in_stata(tmp_path: Path) -> None:
    frame = pd.DataFrame({"pay": [1, "a", "b", float("nan"), 1, "a"], "ward": list("aabbaa")})
    labels = {"pay": {"a": "refused", 1: "one"}}
    pyreadstat.write_dta(
        frame, tmp_path / "a.dta", variable_value_labels=labels, missing_user_values={"pay": ["a", "b"]}
    )
    found = cells(tmp_path / "a.dta")
    assert found["pay"] == ["one", None, None, None, "one", None]
    assert found["pay (missing)"] == [None, "refused", "b", None, None, "refused"]


def test_days_and_moments_keep_what_they_say(tmp_path: Path) -> None:
    days, moments = [dt.date(1850, 2, 3), dt.date(2024, 2, 29)] * 2, [dt.datetime(2024, 1, 2, 3, 4, 5), None] * 2
    frame = pd.DataFrame(
        {"day": pd.Series(days, dtype=object), "at": pd.Series(moments, dtype=object), "ward": list("aabb")}
    )
    for ending, write in (("sav", pyreadstat.write_sav), ("dta", pyreadstat.write_dta)):
        path = tmp_path / f"a.{ending}"
        write(frame, path)
        found = cells(path)
        assert found["day"] == [str(day) for day in days]
        assert found["at"] == ["2024-01-02 03:04:05", None] * 2
        for form, to in (("spss", "sav"), ("excel", "xlsx")) if ending == "sav" else (("stata", "dta"),):
            made = hr.anonymize(
                path, people(ward="quasi-identifier", day="other", at="other"), tmp_path / f"{ending}{to}", format=form
            )
            assert cells(tmp_path / f"{ending}{to}" / f"data.{to}") == made.table.to_pydict()


def test_cells_of_excel_are_as_typed_whatever_else_is_in_their_column(tmp_path: Path) -> None:
    rows = [
        ["zip", "stored", "day", "mixed", "old", None],
        ["01234", "12", dt.date(1900, 3, 1), 1.5, "1899-12-31"],
        ["99999", 13, dt.date(2024, 2, 29), "k.A.", "1850-01-01"],
        [],
        ["00001", "14.50", dt.date(2024, 3, 1), True, None],
        ["01234", 12.0, dt.date(2024, 3, 1), 0.1, None],
    ]
    path = sheet(
        tmp_path / "a.xlsx", ("secret", [["hidden"], [1]]), ("people", rows), ("more", [["x"], [7]]), hidden="secret"
    )
    found = cells(path)
    assert found == {
        "zip": ["01234", "99999", "00001", "01234"],
        "stored": ["12", "13", "14.50", "12"],
        "day": ["1900-03-01", "2024-02-29", "2024-03-01", "2024-03-01"],
        "mixed": ["1.5", "k.A.", "true", "0.1"],
        "old": ["1899-12-31", "1850-01-01", None, None],
    }
    assert cells(path, DataFormat(sheet="more")) == {"x": ["7"]}
    with pytest.raises(hr.DataError, match="no sheet 'people '"):
        file_schema(path, DataFormat(sheet="people "))
    made = hr.anonymize(path, people(**{**dict.fromkeys(found, "other"), "zip": "quasi-identifier"}), tmp_path / "made")
    assert cells(tmp_path / "made" / "data.xlsx") == made.table.to_pydict()
    others = pd.read_excel(tmp_path / "made" / "data.xlsx", engine="calamine", dtype=object)
    assert sorted(others["old"].dropna()) == ["1850-01-01", "1899-12-31"]
    assert sorted(others["zip"]) == ["*", "*", "01234", "01234"]


def test_when_a_file_was_written_does_not_show(tmp_path: Path) -> None:
    table = pa.table({"ward": list("aabb"), "age": [1, 2, 3, 4]})
    made = hr.anonymize(table, people(ward="quasi-identifier", age="other"))
    year = str(dt.date.today().year).encode()
    short = dt.date.today().strftime("%b %y").encode()
    for form, ending in (("spss", "sav"), ("stata", "dta"), ("excel", "xlsx")):
        hr.save(made, tmp_path / form, form)
        raw = (tmp_path / form / f"data.{ending}").read_bytes()
        assert short not in raw
        assert ending == "xlsx" or year not in raw


def test_names_and_texts_that_a_program_does_not_take_are_said(tmp_path: Path) -> None:
    table = pa.table({"a ward": list("aabb")})
    with pytest.raises(hr.DataError, match="'a ward' has a name that SPSS does not take"):
        hr.anonymize(table, people(**{"a ward": "quasi-identifier"}), tmp_path / "one", format="spss")
    twice = pa.table({"ward": list("aabb"), "WARD": list("aabb")})
    with pytest.raises(hr.DataError, match="does not tell apart"):
        hr.anonymize(twice, people(ward="quasi-identifier", WARD="other"), tmp_path / "one", format="stata")
    assert not (tmp_path / "one").exists()


def test_the_check_refuses_labels_and_titles_that_say_more_than_the_release(tmp_path: Path) -> None:
    columns = {"ward": [1.0, 1, 2, 2], "ill": [1.0, 2, 1, 2]}
    labels: dict[str, Any] = {"ward": {1: "North", 2: "South"}, "ill": {1: "flu", 2: "cold"}}
    path = write_sav(tmp_path / "a.sav", columns, variable_value_labels=labels, column_labels={"ill": "Illness"})
    hr.anonymize(path, people(ward="quasi-identifier", ill="sensitive"), tmp_path / "made")
    hr.verify(tmp_path / "made").raise_if_broken()
    data_file = tmp_path / "made" / "data.sav"
    frame, about = pyreadstat.read_sav(data_file)
    labels = dict(about.variable_value_labels)
    titles = about.column_names_to_labels
    write_sav(
        data_file, frame, variable_value_labels=labels | {"ill": {**labels["ill"], 3: "rare"}}, column_labels=titles
    )
    assert "label for a code that no row has" in str(hr.verify(tmp_path / "made").broken[0])
    write_sav(data_file, frame, variable_value_labels=labels, column_labels={"ill": "Illness of Ann"})
    assert "title that the plan does not give" in str(hr.verify(tmp_path / "made").broken[0])


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("a.sav", "a.xlsx"):
        with pytest.raises(hr.HedgerowError, match="not installed") as caught:
            file_schema(tmp_path / name, DataFormat())
        assert caught.value.problems[0].hint == how_to_install("formats")

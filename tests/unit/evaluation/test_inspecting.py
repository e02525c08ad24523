"""How a file is read: what is found out, what is said of it, and what somebody says instead."""

# ruff: noqa: RUF001 - letters of other alphabets are what this is about

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.evaluation.drafting.days import days_of
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.microdata.parsing.sniffing import encoding_of
from hedgerow.plan import DataFormat
from tests.cases.messy_export import NO_DAYS, messy_rows, write_messy_export

LANGUAGES = {
    "de": "name;ort\nMüller;Köln\nJäger;Größe über alles\nWeiß;Öztürk-Straße\n",
    "fr": "nom;ville\nLefèvre;Orléans\nFrançois;Besançon\nHélène;à côté\n",
    "pl": "imię;miasto\nŁukasz;Kraków\nŻaneta;Łódź\nŚwięty;Gdańsk\nJędrzej;Poznań\n",
    "cs": "jméno;město\nJiří;Plzeň\nŘehoř;Třebíč\nŠárka;Děčín\n",
    "tr": "ad;şehir\nIşıl;İstanbul\nGökçe;Eskişehir\nYağmur;Muğla\n",
    "ru": "имя;город\nИван;Москва\nОльга;Казань\nПётр;Санкт-Петербург\n",
    "el": "όνομα;πόλη\nΓιώργος;Αθήνα\nΜαρία;Θεσσαλονίκη\n",
    "ja": "名前;市\n山田太郎;東京都\n佐藤花子;大阪市\n",
    "zh": "姓名;城市\n王伟;北京市\n李娜;上海市浦东新区\n",
}


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_messy_export(tmp_path_factory.mktemp("export") / "export.csv")


def told(found: hr.Inspection) -> dict[str, Any]:
    return {one.key: one for one in found.assumptions}


def test_a_messy_export_is_read_right_and_everything_assumed_is_said(export: Path) -> None:
    found = hr.inspect(export)
    assert found.form == {
        "delimiter": ";",
        "encoding": "cp1252",
        "decimal": ",",
        "thousands": ".",
        "missing": ["", "-", "n/a", "k.A."],
        "missing_in": {"Größe (cm)": ["999"]},
    }
    said = told(found)
    assert {key for key, one in said.items() if not one.sure} == {"encoding", "missing", "missing_in"}
    assert all(one.why for one in found.assumptions)
    assert said["dates"].value == ("%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d")
    remarks = {column.name: " ".join(column.remarks) for column in found.columns}
    assert f"2 cells are no days: records {', '.join(map(str, NO_DAYS))}" in remarks["Geburtsdatum"]
    assert "leading zeros" in remarks["PLZ"]
    assert "leading zeros" in remarks["Patientennummer"]
    assert "free text" in remarks["Bemerkung"]
    assert "one value everywhere" in remarks["Mandant"]
    assert [(one.column, one.rows) for one in found.repeats] == [("Patientennummer", 900)]


def test_a_draft_says_why_and_can_be_released_as_it_is(export: Path, tmp_path: Path) -> None:
    text = hr.draft_plan(export)
    for line in ('decimal: ","   # ', 'thousands: "."   # ', 'missing_in: {"Größe (cm)": ["999"]}   # Check: '):
        assert line in text
    assert not any(day in text for day in NO_DAYS.values())
    plan = hr.Plan.loads(text)
    release = hr.anonymize(export, plan, tmp_path / "out")
    assert release.facts["withheld"] == len(NO_DAYS)
    written = (tmp_path / "out" / "data.csv").read_bytes().decode("cp1252")
    assert written.startswith("Geburtsdatum;Aufnahme;")
    assert hr.verify(tmp_path / "out", export).kept


def test_a_byte_order_mark_and_utf_16_come_back(tmp_path: Path) -> None:
    for encoding, mark in (("utf-8-sig", b"\xef\xbb\xbf"), ("utf-16", b"\xff\xfe")):
        path = write_messy_export(tmp_path / f"{encoding}.csv", encoding, records=200)
        hr.anonymize(path, hr.Plan.loads(hr.draft_plan(path)).replace(withhold="100%"), tmp_path / encoding)
        assert (tmp_path / encoding / "data.csv").read_bytes().startswith(mark)
        assert hr.verify(tmp_path / encoding, path).kept


@pytest.mark.parametrize("wish", ["standard", "parquet"])
def test_the_dialect_may_be_left(wish: str, export: Path, tmp_path: Path) -> None:
    plan = hr.Plan.loads(hr.draft_plan(export))
    if wish == "standard":
        plan = plan.replace(data=plan.data.model_copy(update={"output": "standard"}))
    hr.anonymize(export, plan, tmp_path / "out", format="csv" if wish == "standard" else wish)
    assert hr.verify(tmp_path / "out", export).kept
    if wish == "standard":
        first = (tmp_path / "out" / "data.csv").read_text("utf-8").splitlines()[0]
        assert first.startswith('"Geburtsdatum","Aufnahme"')


def test_characters_that_the_encoding_lacks_are_said(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("größe;kg\nklein;1,5\nklein;1,5\n".encode("cp1252"))
    tree = {"role": "quasi-identifier", "hierarchy": {"tree": {"≥": {"≤": ["klein", "groß"]}}}}
    data = {"encoding": "cp1252", "decimal": ","}
    raw = {"data": data, "attributes": {"größe": tree, "kg": "other"}, "privacy": {"k": 2}}
    method = {"name": "lattice", "levels": {"größe": 1}}
    with pytest.raises(hr.DataError, match="characters that cp1252"):
        hr.anonymize(path, hr.Plan.from_dict(raw | {"method": method}), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    raw["data"] = data | {"output": "standard"}
    hr.anonymize(path, hr.Plan.from_dict(raw | {"method": method}), tmp_path / "out")


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *[("de", one) for one in ("cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "mac-roman", "cp850")],
        *[("fr", "cp1252"), ("pl", "cp1250"), ("pl", "iso8859-2"), ("cs", "cp1250"), ("tr", "cp1254")],
        *[("ru", "cp1251"), ("ru", "koi8-r"), ("ru", "utf-16-le"), ("ru", "utf-16-be"), ("el", "cp1253")],
        *[("ja", "shift_jis"), ("ja", "euc_jp"), ("zh", "gb18030"), ("zh", "utf-8")],
    ],
)
def test_encodings_are_found_out(language: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(LANGUAGES[language].encode(encoding))
    found = encoding_of(path)
    assert path.read_bytes().decode(found.value).removeprefix("\ufeff") == LANGUAGES[language]


def test_days_in_several_forms_and_the_order_of_day_and_month() -> None:
    def seen(*values: str, month_first: bool = True) -> Any:
        return days_of(dict.fromkeys(values, 5), month_first)

    assert seen("2024-02-29", "2023-01-01").forms == ()
    assert seen("31/12/1984", "2/5/1984").forms == ("%d/%m/%Y",)
    assert seen("12/31/1984", "2/5/1984").forms == ("%m/%d/%Y",)
    assert seen("2/5/1984").ambiguous == seen("2/5/1984").forms == ("%m/%d/%Y",)
    assert seen("2/5/1984", month_first=False).forms == ("%d/%m/%Y",)
    assert seen("2/5/1984", "31.12.1984").forms[0] in ("%d/%m/%Y", "%d.%m.%Y")
    assert "%m/%d/%Y" not in seen("2/5/1984", "31.12.1984").forms
    assert seen("02.05.84", "31.12.99").two_digits
    assert seen("2024-02-29 10:30", "29.02.2024 10:30").forms == ("%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M")
    assert seen("J18.9", "I10") is None
    assert seen("1.5.2", "2.0") is None


def test_what_could_be_read_in_two_ways_is_said() -> None:
    table = pa.table({"cost": [f"{i}.{i + 100:03}" for i in range(10, 60)]})
    said = told(hr.inspect(table))["decimal"]
    assert (said.value, said.sure) == (".", False)
    assert "cost" in said.why
    mixed = {
        "a": [f"{i},5" for i in range(90)],
        "b": [f"{i},25" for i in range(90)],
        "c": [f"{i}.5" for i in range(90)],
    }
    path_like = hr.inspect(pa.table(mixed))
    assert told(path_like)["decimal"].value == "."  # numbers that are no text are never read otherwise


def test_a_column_that_another_sign_makes_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    rows = [f"{i},5;{i},25;{i}.5" for i in range(90)]
    path.write_text("\n".join(["a;b;c", *rows]), encoding="utf-8")
    said = told(hr.inspect(path))["decimal"]
    assert (said.value, said.sure) == (",", False)
    assert "c would be numbers" in said.why


def test_a_number_that_stands_out_is_missing_in_its_column_only(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{999 if i % 9 == 0 else 150 + i % 40},{i % 7 + 995}" for i in range(180)]
    path.write_text("\n".join(["height,steps", *rows]), encoding="utf-8")
    plan = hr.Plan.loads(hr.draft_plan(path))
    assert plan.data.missing_in == {"height": ("999",)}
    release = hr.anonymize(path, plan, tmp_path / "out")
    assert hr.verify(tmp_path / "out", path).kept
    assert release.facts["released"] == 180


def test_a_file_without_names_is_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\n".join(f"Smith{i % 7},{i % 50 + 20},a" for i in range(100)), encoding="utf-8")
    with pytest.raises(hr.DataError, match="seems to be a record"):
        hr.draft_plan(path)
    found = hr.inspect(path)
    assert not told(found)["header"].value
    assert (found.records, [column.name for column in found.columns]) == (100, ["column 1", "column 2", "column 3"])
    plan = hr.Plan.loads(hr.draft_plan(path, DataFormat(header=False)))
    release = hr.anonymize(path, plan, tmp_path / "out")
    assert release.facts["released"] == 100
    assert hr.verify(tmp_path / "out", path).kept


def test_sheets_of_a_workbook_are_named(tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "people.xlsx") as book:
        for name in ("people", "notes"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["age", "kg"])
            for row in range(1, 40):
                sheet.write_row(row, 0, [row, f"{row},5" if row % 3 else row + 0.5])
    found = hr.inspect(tmp_path / "people.xlsx", DataFormat(decimal=","))
    assert found.sheets == ("people", "notes")
    assert told(found)["sheet"].sure is False
    seen = examine(tmp_path / "people.xlsx", DataFormat(decimal=","))
    assert seen.columns[1].numeric_share == 1  # numbers stored as text beside numbers
    raw = {"data": {"decimal": ","}, "attributes": {"kg": {"role": "quasi-identifier", "intervals": "free", "snap": 5}}}
    plan = hr.Plan.from_dict({**raw, "privacy": {"k": 3}})
    hr.anonymize(tmp_path / "people.xlsx", plan, tmp_path / "out")
    assert hr.verify(tmp_path / "out", tmp_path / "people.xlsx").kept


def test_on_the_command_line_from_the_file_to_the_release(
    export: Path, tmp_path: Path, hedgerow: Callable[..., CompletedProcess[str]]
) -> None:
    """From a messy file to a signed report, with no YAML written by hand."""
    pytest.importorskip("cryptography")
    looked = hedgerow("inspect", export)
    assert (looked.returncode, looked.stderr) == (0, "")
    assert "semicolon" in looked.stdout
    assert "999" in looked.stdout
    decided = ("--person", "Patientennummer", "--sensitive", "Diagnose,Kosten", "--leave-out", "Nachname,Mandant")
    plan, release = tmp_path / "plan.yaml", tmp_path / "release"
    steps = [
        ("plan", "draft", export, *decided, "--audience", "inside", "-o", plan),
        ("plan", "check", plan, "--data", export),
        ("anonymize", export, plan, "-o", release),
        ("verify", release, "--original", export),
        ("sign", "--make-key", tmp_path / "me.key"),
        ("sign", release, "--key", tmp_path / "me.key"),
        ("report", release, "-o", tmp_path / "report.html", "--key", f"{tmp_path / 'me.key'}.pub"),
    ]
    for words in steps:
        done = hedgerow(*words)
        assert (done.returncode, done.stderr) == (0, ""), words
    loaded = hr.Plan.load(plan)
    assert loaded.person == "Patientennummer"
    assert loaded.columns("sensitive") == ("Kosten", "Diagnose")
    assert (loaded.privacy.k, loaded.accepted) == (3, 0.33)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert not any(row[1] in page for row in messy_rows()[:5] if len(row[1]) > 4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["decimal"], "KEY=VALUE"),
        (["colour=red"], "KEY is one of"),
        (["decimal=x"], "--read"),
        (["header=maybe"], "--read"),
        (["decimal=comma", "--read", "thousands=comma"], "different signs"),
    ],
)
def test_wrong_words_of_how_a_file_is_read(
    given: list[str], said: str, export: Path, hedgerow: Callable[..., CompletedProcess[str]]
) -> None:
    done = hedgerow("inspect", export, "--read", *given)
    assert done.returncode == 2
    assert said in done.stderr


def test_columns_and_audiences_that_there_are_not(export: Path, hedgerow: Callable[..., CompletedProcess[str]]) -> None:
    done = hedgerow("plan", "draft", export, "--sensitive", "Kostn", "--audience", "all")
    assert done.returncode == 2
    assert "no column 'Kostn'" in done.stderr
    assert "no audience 'all'" in done.stderr


def test_signs_of_numbers_are_for_text_and_columns_must_be_there(tmp_path: Path) -> None:
    pandas, pyreadstat = pytest.importorskip("pandas"), pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(pandas.DataFrame({"kg": [1.5, 2.5]}), tmp_path / "people.sav")
    free = {"kg": {"role": "quasi-identifier", "intervals": "free"}}
    plan = hr.Plan.from_dict({"data": {"decimal": ","}, "attributes": free, "privacy": {"k": 2}})
    for source in (tmp_path / "people.sav", pa.table({"kg": [1.5, 2.5]})):
        with pytest.raises(hr.DataError, match=r"data\.decimal and data\.thousands say how text is read"):
            hr.anonymize(source, plan)
    hr.anonymize(pa.table({"kg": ["1,5", "2,5"]}), plan)
    with pytest.raises(hr.PlanError, match="names 'kgs', which is not a column"):
        hr.Plan.from_dict({"data": {"missing_in": {"kgs": "99"}}, "attributes": free, "privacy": {"k": 2}})


def test_numbers_of_the_other_notation_are_named_by_their_records(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("kg;s\n" + "".join(f"{70 + i},5;a\n" for i in range(9)) + "72.5;b\nabout 70;b\n")
    raw: dict[str, Any] = {"data": {"decimal": ","}, "privacy": {"k": 2}}
    kg = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}, "unknown": "own-leaf-under-root"}
    plan = hr.Plan.from_dict(raw | {"attributes": {"kg": kg, "s": "other"}})
    with pytest.raises(hr.DataError) as caught:  # 72.5 published beside 72,5 would be taken for the same
        hr.anonymize(path, plan)
    assert "record 10" in str(caught.value)
    assert "72.5" not in str(caught.value)
    kg["unknown"] = "withhold"
    plan = hr.Plan.from_dict(raw | {"attributes": {"kg": kg, "s": "other"}})
    release = hr.anonymize(path, plan, tmp_path / "out")
    assert release.facts["withheld"] == 2
    assert hr.verify(tmp_path / "out", path).kept

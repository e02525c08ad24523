"""Addresses of tables: read, shown without what is secret, refused in plain words; and which engine reads what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.engines.opening import is_local
from hedgerow.engines.place import read_place
from hedgerow.outside.server import is_server, shown
from hedgerow.plan import Plan

PEOPLE = pa.table({"ward": ["a", "b", "a", "b"], "ill": ["x", "y", "x", "z"]})
PLAN = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "ill": "other"}, "privacy": {"k": 2}})


@pytest.mark.parametrize(
    ("given", "schema", "table"),
    [
        ("people", None, "people"),
        ("clinic.people", "clinic", "people"),
        ("Clinic.PEOPLE", "Clinic", "PEOPLE"),
        ("%22a.b%22.%22c%22%22d%22", "a.b", 'c"d'),
        ('"odd.schema"."pa""tients"', "odd.schema", 'pa"tients'),
        ("%22%3B%20DROP%20TABLE%20x%3B%20--%22", None, "; DROP TABLE x; --"),
        ("gro%C3%9F.%F0%9F%98%80", "groß", "😀"),
        ("a%20b.c+d", "a b", "c+d"),
        ("%2541", None, "%41"),
        ("x" * 63 + "." + "y" * 63, "x" * 63, "y" * 63),
        ("é" * 31, None, "é" * 31),
        ('" "', None, " "),
        ("a=b", None, "a=b"),
    ],
)
def test_names_are_taken_as_they_are(given: str, schema: str | None, table: str) -> None:
    place = read_place(f"postgresql://h/db?sslmode=require&table={given}")
    assert (place.schema, place.table) == (schema, table)
    assert place.url == "postgresql://h/db?sslmode=require&connect_timeout=10"
    assert place.sql.count(".") >= (schema is not None)


@pytest.mark.parametrize(
    "given",
    ["", "a.b.c", ".a", "a.", '"a', 'a"b', '"a"b', '""', "a%00b", "x" * 64, "é" * 32, "a&table=b", "%FF%00", "\ud800",
     'a."b".c', "a..b"],
)  # fmt: skip
def test_names_that_cannot_be(given: str) -> None:
    with pytest.raises(hr.DataError) as caught:
        read_place(f"postgresql://ann:hunter2@h/db?table={given}")
    assert [problem.code for problem in caught.value.problems] == ["table-address"]
    assert "hunter2" not in str(caught.value)


def test_an_address_without_a_table() -> None:
    for address in ("postgresql://ann:hunter2@h/db", "postgresql://ann:hunter2@h/db?schema=x", "postgresql://"):
        with pytest.raises(hr.DataError, match="does not name a table") as caught:
            hr.anonymize(address, PLAN)
        assert "hunter2" not in str(caught.value)
        with pytest.raises(hr.DataError, match="does not name a table"):
            hr.anonymize(PEOPLE, PLAN, address)
        with pytest.raises(hr.DataError, match="does not name a table"):
            hr.verify(address)


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("postgresql://ann:hunter2@h:5433/db?table=a.b", "postgresql://ann@h:5433/db?table=a.b"),
        ("postgres://h/db?table=a.b&password=hunter2", "postgresql://h/db?table=a.b"),
        ("postgresql://ann:hun@ter2@h/db?table=a", "postgresql://…?table=a"),
        ("postgresql://ann:hun/ter2@h/db?table=a", "postgresql://…?table=a"),
        ("postgresql:///db?host=/tmp&table=%22a%26b%22", "postgresql:///db?table=%22a%26b%22"),
        ("postgresql://u@[::1]:5/db?table=x", "postgresql://u@[::1]:5/db?table=x"),
        ("patients.csv", "patients.csv"),
    ],
)
def test_what_is_shown(address: str, wanted: str) -> None:
    assert shown(address) == wanted
    if is_server(address):
        place = read_place(address)
        assert place.shown == wanted
        assert "ter2" not in repr(place)


@pytest.mark.parametrize(
    "address",
    ["mysql://ann:hunter2@h/db", "Postgresql://ann:hunter2@h/db?table=x", "postgresql+psycopg2://ann:hunter2@h/db",
     "jdbc:postgresql://h/db?user=ann&password=hunter2", "https://ann:hunter2@h/people.csv"],
)  # fmt: skip
def test_addresses_of_something_else(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for data, output in ((address, None), (PEOPLE, address)):
        with pytest.raises(hr.DataError) as caught:
            hr.anonymize(data, PLAN, output)
        assert [problem.code for problem in caught.value.problems] == ["table-address"]
        assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


# ---- which engine reads what -----------------------------------------------------------------------------------------


class Frame:
    """Looks like a frame of Spark's."""

    __module__ = "pyspark.sql.dataframe"


SERVER = "postgresql://ann:hunter2@localhost:1/db?table=people"


@pytest.mark.parametrize(
    ("data", "engine"),
    [(SERVER, "local"), (SERVER, "duckdb"), (SERVER, "spark"), (Frame(), "local"), (Frame(), "duckdb")],
    ids=lambda value: value if isinstance(value, str) and "/" not in value else "data",
)
def test_engines_that_do_not_read_this(data: Any, engine: str) -> None:
    for verb in (hr.anonymize, hr.explain, hr.weights):
        with pytest.raises(hr.HedgerowError, match=f"The {engine} engine does not read this kind of data") as caught:
            verb(data, PLAN, engine=engine)
        assert [problem.code for problem in caught.value.problems] == ["usage"]
        assert "hunter2" not in str(caught.value)


def test_an_engine_that_is_none() -> None:
    with pytest.raises(hr.HedgerowError, match=r"no engine 'oracle'") as caught:
        hr.anonymize(PEOPLE, PLAN, engine="oracle")
    assert "auto, local, duckdb, spark" in str(caught.value)


def test_local_data() -> None:
    assert is_local(PEOPLE)
    assert is_local("a.csv")
    assert is_local(Path("a.csv"))
    assert not is_local(SERVER)
    assert not is_local(Frame())


@pytest.mark.parametrize("data", [SERVER, Frame(), PEOPLE])
def test_a_link_needs_the_local_engine(data: Any, tmp_path: Path) -> None:
    engine = "duckdb" if data is PEOPLE else "auto"
    with pytest.raises(hr.HedgerowError, match="only the local engine knows"):
        hr.anonymize(data, PLAN, tmp_path / "out", link=tmp_path / "link.csv", engine=engine)
    assert list(tmp_path.iterdir()) == []
    release = hr.anonymize(PEOPLE, PLAN, tmp_path / "out", link=tmp_path / "link.csv")
    assert len(release.record_of_row) == 4


def test_records_have_no_numbers_elsewhere() -> None:
    with pytest.raises(hr.HedgerowError, match="Records have no numbers"):
        _ = hr.anonymize(PEOPLE, PLAN, engine="duckdb").record_of_row


def test_the_local_engine_does_not_write_to_a_server(postgres: str) -> None:
    for more in ({"engine": "local"}, {"link": "/tmp/hedgerow-no-link.csv"}):
        with pytest.raises(hr.HedgerowError) as caught:
            hr.anonymize(PEOPLE, PLAN, f"{postgres}&table=never", **more)
        assert [problem.code for problem in caught.value.problems] == ["usage"]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_parts_are_for_spark(engine: str, tmp_path: Path) -> None:
    with pytest.raises(hr.HedgerowError) as caught:
        hr.anonymize(PEOPLE, PLAN, tmp_path / "out", format="parts", engine=engine)
    assert [problem.code for problem in caught.value.problems] == ["usage"]
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there() -> None:
    for verb in (hr.explain, hr.anonymize, hr.lattice):
        with pytest.raises(hr.DataError, match="no server is listening") as caught:
            verb(SERVER, PLAN)
        assert "postgresql://ann@localhost:1/db?table=people: " in str(caught.value)

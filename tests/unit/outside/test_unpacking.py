"""Compressed files and workbooks: one file inside, and never more than its size allows."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.evaluation.drafting.draft import reading_plan
from hedgerow.microdata.read import file_schema, read_table
from hedgerow.plan import DataFormat
from hedgerow.verification.reading.formats import open_original
from tests.cases.workbooks import workbook

CSV = b"ward,age\na,31\na,37\nb,45\nb,44\n"
PLAN = hr.Plan.from_dict({"attributes": {"ward": "quasi-identifier", "age": "other"}, "privacy": {"k": 2}})


def zipped(*files: tuple[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return held.getvalue()


def zstd(content: bytes) -> bytes:
    held = pa.BufferOutputStream()
    with pa.CompressedOutputStream(held, "zstd") as stream:
        stream.write(content)
    return held.getvalue().to_pybytes()


def parquet() -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.table({"ward": list("aabb"), "age": ["31", "37", "45", "44"]}), held)
    return held.getvalue()


def refusals(path: Path) -> set[str]:
    """Return the problems that maker and verifier find; the two agree."""
    readers: list[Callable[[], object]] = [
        lambda: read_table(path, reading_plan(file_schema(path, DataFormat()).names, DataFormat())),
        lambda: (opened := open_original(path, DataFormat())).table(range(len(opened.header))),
    ]
    found = set()
    for reader in readers:
        with pytest.raises(hr.DataError) as caught:
            reader()
        assert {problem.place for problem in caught.value.problems} == {str(path)}
        found |= {problem.code for problem in caught.value.problems}
    return found


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("people.csv.gz", gzip.compress(CSV)),
        ("people.csv.GZ", gzip.compress(CSV[:10]) + gzip.compress(CSV[10:])),
        ("people.gz", gzip.compress(CSV)),
        ("people.csv.zst", zstd(CSV)),
        ("people.zip", zipped(("some/where/people.csv", CSV), ("__MACOSX/people.csv", b"x"), ("some/.DS_Store", b"x"))),
        ("people.parquet.gz", gzip.compress(parquet())),
        ("people.zip", zipped(("people.parquet", parquet()))),
        ("people.xlsx", workbook(4)),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_compressed_file_is_read_released_and_checked(name: str, packed: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(packed)
    made = hr.anonymize(tmp_path / name, PLAN, tmp_path / "made", format="csv")
    assert made.table.num_rows == 4
    hr.verify(tmp_path / "made", tmp_path / name).raise_if_broken()
    assert {path.name for path in tmp_path.iterdir()} == {name, "made"}  # nothing lies about


def lying(packed: bytes) -> bytes:
    """Say, in both headers of the only file of an archive, that it holds three bytes."""
    at, central = packed.index(b"PK\3\4"), packed.index(b"PK\1\2")
    said = bytearray(packed)
    said[at + 22 : at + 26] = said[central + 24 : central + 28] = struct.pack("<I", 3)
    return bytes(said)


@pytest.mark.parametrize(
    ("name", "packed", "code"),
    [
        ("a.csv.gz", gzip.compress(CSV)[:-9], "format"),
        ("a.csv.gz", CSV, "format"),
        ("a.csv.zst", zstd(CSV)[:-3], "format"),
        ("a.zip", zipped(("people.csv", CSV))[:-30], "format"),
        ("a.zip", zipped(("one.csv", CSV), ("two.csv", CSV)), "format"),
        ("a.zip", zipped(), "format"),
        ("a.zip", lying(zipped(("people.csv", CSV))), "format"),
        ("a.csv.gz", gzip.compress(b"ward,age\n" + b"a,31\n" * 16_000_000, 9), "too-much"),
        ("a.csv.zst", zstd(b"ward,age\n" + b"a,31\n" * 16_000_000), "too-much"),
        ("a.zip", zipped(("people.csv", b"ward,age\n" + b"a,31\n" * 16_000_000)), "too-much"),
        ("a.xlsx", b"PK\3\4 not really", "format"),
        ("a.xlsx", zipped(("people.csv", CSV)), "format"),
        ("a.xlsx", workbook(5)[:-40], "format"),
        ("a.xlsx", workbook(5, padding=b" " * 80_000_000), "too-much"),
        ("a.xlsx", workbook(5, cell="XFD1048576"), "too-much"),
        ("a.sav", b"$FL2" + bytes(400), "format"),
        ("a.dta", b"<stata_dta><header><release>118</release>", "format"),
        ("a.sas7bdat", bytes(4096), "format"),
        ("a.xpt", b"HEADER RECORD*******LIBRARY" + bytes(200), "format"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_hostile_and_damaged_files_are_refused(name: str, packed: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(packed)
    assert refusals(tmp_path / name) <= {code, "unreadable-file"}

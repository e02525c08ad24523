"""The verifier's reader of CSV, that of the maker, and a naive one say the same of every text."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.formats import csv as maker
from hedgerow.verification.reading import delimited as verifier
from hedgerow.verification.reading.delimited import Dialect
from tests.naive.delimited import parse

Columns = list[list[str | None]]
SIGNS = st.sampled_from(
    ['"', '"', '""', ",", ",", "\n", "\r", "\r\n", "a", "b", " ", "'", "\\", "\0", "é", "\ufeff", "\u2028", "\x1a"]
)
WILD = st.lists(SIGNS, max_size=24).map("".join)
CELLS = st.sampled_from(["", '""', "x", "é y", '"a,b"', '"a\nb"', '"say ""so"""', 'five"six', '"x"y', '"\r\n"', "\0"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Texts that are tables, but perhaps for one row."""
    width, end = draw(st.integers(1, 4)), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    row = st.lists(CELLS, min_size=width, max_size=width).map(",".join)
    odd = st.lists(CELLS, max_size=5).map(",".join)
    rows = [",".join("abcd"[:width]), *draw(st.lists(row, max_size=8)), *draw(st.lists(odd, max_size=1))]
    return end.join(rows) + draw(st.sampled_from(["", end, end * 2]))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "data.csv"


def by_verifier(path: Path, dialect: Dialect) -> tuple[list[str], Columns] | None:
    asked: dict[str, Any] = {"place": "here", "dialect": asdict(dialect)}
    try:
        header = verifier.csv_header(asked, [str(path)]).facts["cells"]
        found = verifier.csv_rows({**asked, "columns": list(range(len(header))), "width": len(header)}, [str(path)])
        columns: Columns = [[] for _ in header]
        for batch in found.batches:
            batch.validate(full=True)
            for cells, column in zip(columns, batch.columns, strict=True):
                cells += column.to_pylist()
    except DataError:
        return None
    return header, columns


def by_maker(path: Path, dialect: Dialect) -> tuple[list[str], Columns] | None:
    form = Form("here", "csv", dialect.delimiter, dialect.encoding, dialect.quote, ())
    try:
        header = maker.header(path, form)
        names = [f"c{number}" for number in range(len(header))]
        table = maker.read(path, form, names, names)
    except DataError:
        return None
    return header, [column.to_pylist() for column in table.columns]


def naively(text: str, dialect: Dialect) -> tuple[list[str], Columns] | None:
    rows = parse(text.removeprefix("\ufeff"), dialect.delimiter, dialect.quote)
    if dialect.empty_is_missing:
        if rows[:1] == [[]]:
            return None  # an empty line is no header
        width = max(map(len, rows[:1]), default=0)
        rows = [row or [("", False)] * width for row in rows]
    rows = [row for row in rows if row]
    if len({len(row) for row in rows}) != 1:
        return None
    cells = [
        [None if dialect.empty_is_missing and cell == ("", False) else cell[0] for cell in row] for row in rows[1:]
    ]
    return [name for name, _ in rows[0]], [[row[at] for row in cells] for at in range(len(rows[0]))]


def assert_same(path: Path, dialect: Dialect) -> None:
    """The maker trims names, has no use for a file without records, and may refuse what holds a NUL."""
    found, made = by_verifier(path, dialect), by_maker(path, dialect)
    if made is None and "\0" in path.read_bytes().decode(dialect.encoding, "ignore"):
        return
    if found is not None:
        found = None if not found[1][0] else ([name.strip() for name in found[0]], found[1])
    if made is not None and not made[1][0]:
        made = None
    assert found == made


@settings(max_examples=400)
@given(text=WILD | tables(), missing=st.booleans())
def test_the_verifier_reads_a_csv_file_as_a_naive_parser_does(path: Path, text: str, missing: bool) -> None:
    path.write_bytes(text.encode())
    for swap in ({}, {",": ";", ";": ",", '"': "'", "'": '"'}):
        written = text.translate(str.maketrans(swap)) if swap else text
        path.write_bytes(written.encode())
        dialect = Dialect(";" if swap else ",", "'" if swap else '"', empty_is_missing=missing)
        assert by_verifier(path, dialect) == naively(written, dialect)


@settings(max_examples=400)
@given(text=WILD | tables(), encoding=st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16"]))
def test_the_verifier_reads_a_csv_file_as_the_maker_does(path: Path, text: str, encoding: str) -> None:
    path.write_bytes(text.encode(encoding, "replace"))
    dialect = Dialect(encoding=encoding)
    assert_same(path, dialect)


@settings(max_examples=200)
@given(
    content=st.binary(max_size=40) | st.builds(lambda text, more: text.encode() + more, tables(), st.binary(max_size=9))
)
@example(content=b"a,b\n1,\xed\xa0\x80\n")
@example(content=b"a,b\n1,\xc0\xaf\n")
@example(content=b"a,b\n1,\xf4\x90\x80\x80\n")
def test_both_refuse_bytes_that_are_no_text(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert_same(path, Dialect())

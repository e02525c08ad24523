"""Whatever the encoding and the dialect of a file, it is read as it was written, and a release comes back in the same."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.engines.export import read_back, write
from hedgerow.engines.release_dialect import ReleaseDialect
from hedgerow.engines.rows import Rows
from hedgerow.evaluation.drafting.draft import reading_plan
from hedgerow.microdata.read import read_table
from hedgerow.plan import DataFormat
from hedgerow.verification.reading.formats import open_original, open_released
from tests.naive.notation import read_number

ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "iso8859-15", "cp1250", "cp1251", "mac-roman", "shift_jis"),
)
DIALECTS = ((",", '"'), (";", '"'), ("\t", '"'), ("|", "'"), (";", "'"))


def texts(encoding: str) -> st.SearchStrategy[str]:
    """Texts that an encoding has bytes for, and that Hedgerow does not trim."""
    signs = "abc,;|\t'\"= -.0123456789\n" + "".join(sign for sign in "äöüßéłžшя語€£" if _has(encoding, sign))
    return st.text(st.sampled_from(signs), max_size=8).map(str.strip).filter(bool)


def _has(encoding: str, sign: str) -> bool:
    try:
        return sign.encode(encoding).decode(encoding) == sign
    except UnicodeError:
        return False


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_what_is_written_is_read_back(encoding: str, drawn: st.DataObject, tmp_path: Path) -> None:
    delimiter, quote = drawn.draw(st.sampled_from(DIALECTS))
    cells = drawn.draw(st.lists(st.tuples(texts(encoding), texts(encoding)), min_size=1, max_size=8))
    held = io.StringIO(newline="")
    writer = csv.writer(held, delimiter=delimiter, quotechar=quote, lineterminator="\r\n")
    writer.writerows([("one", "two"), *cells])
    path = tmp_path / "people.csv"
    path.write_bytes(held.getvalue().encode(encoding))
    form = DataFormat(delimiter=delimiter, quote=quote, encoding=encoding)
    read = read_table(path, reading_plan(["one", "two"], form))
    assert list(zip(*(read.columns[name].to_pylist() for name in ("one", "two")), strict=True)) == cells
    seen = open_original(path, form)  # by the verifier's own reader
    assert [tuple(row.values()) for row in seen.table([0, 1]).to_pylist()] == cells
    if delimiter in "".join(map("".join, cells)) or quote in "".join(map("".join, cells)):
        return  # a file so small may be cut in several ways
    found = hr.inspect(path, DataFormat(encoding=encoding, quote=quote, header=True))
    assert found.form["delimiter"] == delimiter


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_a_release_is_written_in_the_dialect_that_came_in(encoding: str, drawn: st.DataObject, tmp_path: Path) -> None:
    import pyarrow as pa

    delimiter, quote = drawn.draw(st.sampled_from(DIALECTS))
    decimal = drawn.draw(st.sampled_from(".,"))
    spans = drawn.draw(st.lists(st.sampled_from(["72.5", "[70.5, 80)", "[-2, -1.25]", "70-79", "*", None]), min_size=1))
    words = [drawn.draw(st.none() | texts(encoding)) for _ in spans]
    plan = hr.Plan.from_dict(
        {
            "data": {
                "delimiter": delimiter,
                "quote": quote,
                "encoding": encoding,
                "decimal": decimal,
                "output": "as-read",
            },
            "attributes": {"kg": {"role": "quasi-identifier", "intervals": "free"}, "word": "other"},
            "privacy": {"k": 2},
        }
    )
    table = pa.table({"kg": pa.array(spans, pa.string()), "word": pa.array(words, pa.string())})
    name = write(Rows.of_table(table), tmp_path, "csv", ReleaseDialect.of(plan))
    again = read_back(tmp_path / name, plan)
    assert pa.Table.from_batches(again.batches(), again.schema).to_pydict() == table.to_pydict()
    opened = open_released(tmp_path / name, plan)
    seen = [opened.meant(column, opened.table([at]).column(0)).to_pylist() for at, column in enumerate(opened.header)]
    assert seen == [spans, words]


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(st.sampled_from("0123456789.,'_ eE+-\u00a0x"), max_size=9),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from([None, ".", ",", " ", "'", "_"]),
)
def test_numbers_are_read_alike_by_maker_verifier_and_reference(text: str, decimal: str, thousands: str | None) -> None:
    from decimal import Decimal

    from hedgerow.plan.hierarchy.numbers import parse_number
    from hedgerow.plan.notation import Notation
    from hedgerow.verification.values.notation import usual
    from hedgerow.verification.values.numbers import read_number as verified

    if decimal == thousands:
        return
    expected = read_number(text, decimal, thousands)
    made = parse_number(Notation(decimal, thousands).meant(text))
    checked = verified(usual(text, decimal, thousands))
    assert (None if made is None else Decimal(made)) == expected
    assert (checked is None) == (expected is None)
    assert checked is None or checked == expected

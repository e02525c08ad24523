"""What a child is asked for: the columns of a file, its rows cleaned, or its rows piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.parsing import delimited
from hedgerow.parsing.cleaning import clean
from hedgerow.parsing.columnar import Columnar, open_columnar
from hedgerow.parsing.form import Form
from hedgerow.sandbox.task import Found


def describe(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return the columns of a file with their types, those of a CSV file being text; no rows."""
    import pyarrow as pa

    path, form = Path(files[0]), Form.of(request)
    if form.kind == "csv":
        form = delimited.resolved(path, form)
        schema = pa.schema([(name, pa.string()) for name in delimited.header(path, form)])
        return Found(_facts(schema.names, form), schema)
    opened = open_columnar(path, form)
    told = {"rows": opened.rows, "unpacked": opened.unpacked}
    return Found(_facts(opened.schema.names, form) | told, opened.schema)


def read(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return columns of a file whole and cleaned; no rows if it does not have them all, once each."""
    import pyarrow as pa

    path, form, names, opened = _open(request, files)
    wanted = request["wanted"]
    if not _has(names, wanted):
        return Found(_facts(names, form))
    table = delimited.read(path, form, names, wanted) if opened is None else opened.read(wanted)
    cleaned = pa.table({name: clean(table.column(name), form.missing) for name in wanted})
    return Found(_facts(names, form), cleaned.schema, cleaned.combine_chunks().to_batches())


def stream(request: Mapping[str, Any], files: Sequence[str]) -> Found:
    """Return columns of a file piece by piece, as they are written."""
    import pyarrow as pa

    path, form, names, opened = _open(request, files)
    wanted = request["wanted"]
    if not _has(names, wanted):
        return Found(_facts(names, form))
    if opened is None:
        schema = pa.schema([(name, pa.string()) for name in wanted])
        return Found(_facts(names, form), schema, delimited.stream(path, form, names, wanted))
    schema = pa.schema([opened.schema.field(name) for name in wanted])
    return Found(_facts(names, form), schema, opened.batches(wanted))


def _open(request: Mapping[str, Any], files: Sequence[str]) -> tuple[Path, Form, list[str], Columnar | None]:
    path, form = Path(files[0]), Form.of(request)
    if form.kind == "csv":
        form = delimited.resolved(path, form)
        return path, form, delimited.header(path, form), None
    opened = open_columnar(path, form)
    return path, form, list(opened.schema.names), opened


def _has(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(set(names)) == len(names) and set(wanted) <= set(names)


def _facts(names: Sequence[str], form: Form) -> dict[str, Any]:
    return {"names": list(names), "delimiter": form.delimiter}

"""What a child is asked for: the columns of a file, its rows cleaned, or its rows piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hedgerow.microdata.parsing import sniffing
from hedgerow.microdata.parsing.cleaning import clean
from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.formats.excel import sheet_names
from hedgerow.microdata.parsing.opened import Opened
from hedgerow.outside.sandbox.task import TaskResult
from hedgerow.plan.formats import FILE_FORMATS, found_by_name

READERS = FILE_FORMATS.all
"""Loaded with this module, once, in the process that children are forked from."""


def describe(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the columns of a file with their types, those of a CSV file being text; no rows."""
    opened = _open(request, files)
    told = {"rows": opened.rows, "unpacked": opened.unpacked}
    return TaskResult(_facts(opened) | told, opened.schema)


def read(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return columns of a file whole and cleaned; no rows if it does not have them all, once each."""
    import pyarrow as pa

    opened, wanted = _open(request, files), request["wanted"]
    if not _has(opened.schema.names, wanted):
        return TaskResult(_facts(opened))
    table = opened.read(wanted)
    cleaned = pa.table({name: clean(table.column(name), opened.form.markers(name)) for name in wanted})
    noted = [field.with_metadata(opened.schema.field(field.name).metadata) for field in cleaned.schema]
    cleaned = cleaned.cast(pa.schema(noted))
    return TaskResult(_facts(opened), cleaned.schema, cleaned.combine_chunks().to_batches())


def stream(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return columns of a file piece by piece, as they are written."""
    import pyarrow as pa

    opened, wanted = _open(request, files), request["wanted"]
    if not _has(opened.schema.names, wanted):
        return TaskResult(_facts(opened))
    schema = pa.schema([opened.schema.field(name) for name in wanted])
    return TaskResult(_facts(opened), schema, opened.batches(wanted))


def sniff(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return how a file of text is written, with the reasons."""
    found = sniffing.sniff(Path(files[0]), Form.of(request), request["wanted"])
    return TaskResult({key: asdict(guess) for key, guess in found.items()})


def sheets(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the names of the sheets of a workbook."""
    return TaskResult({"sheets": sheet_names(Path(files[0]), Form.of(request))})


def _open(request: Mapping[str, Any], files: Sequence[str]) -> Opened:
    """Open the file with the reader that is asked for by name: the asker may know one more than are found here."""
    opened: Opened = found_by_name(request["reader"])(Path(files[0]), Form.of(request))
    return opened


def _has(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(set(names)) == len(names) and set(wanted) <= set(names)


def _facts(opened: Opened) -> dict[str, Any]:
    return {"names": list(opened.schema.names), "delimiter": opened.form.delimiter}

"""Reading a table: files, and anything that hands over an Arrow stream (pandas, polars, pyarrow).

Only the columns that the plan needs are read: identifiers never enter the process's tables. Files are parsed in a
child process: a damaged one cannot end this one. Messages name columns of the plan and row numbers, never what a cell
holds, nor names of columns that only the data has.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, HedgerowError, Problem, how_to_install
from hedgerow.microdata.frames import warn_of_lost_zeros
from hedgerow.microdata.header import first_record
from hedgerow.microdata.notes import ColumnNote, notes_of
from hedgerow.microdata.parsing.cleaning import clean, dictionary_encoded
from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.treating import treated_columns, weights_as_read
from hedgerow.outside import sandbox
from hedgerow.outside.sandbox.limits import MOST_COLUMNS, Limits, room
from hedgerow.outside.server import check_path, is_server, shown
from hedgerow.outside.unpacking import unpacked
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.formats import FILE_FORMATS, FormatDescriptor, by_name, format_titles, is_packed
from hedgerow.plan.model import Treatment

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Batches",
    "Extent",
    "Reason",
    "Table",
    "check_columns",
    "check_file",
    "check_types",
    "clean",
    "column_names",
    "dictionary_encoded",
    "file_extent",
    "file_format",
    "file_schema",
    "gather",
    "needed_columns",
    "place_of",
    "read_batches",
    "read_gathered",
    "read_table",
    "sheet_names",
    "sniffed",
    "stream_table",
]

NOT_READ = frozenset({".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz", ".xlsb", ".json", ".rds", ".rdata", ".sas7bcat"})
"""Endings of files that are no text, or no table: nobody means them to be taken for CSV."""


@dataclass(frozen=True)
class Table:
    """A table as it was read.

    Attributes
    ----------
    columns
        The columns that were read, by name; text is dictionary-encoded, trimmed, and null where missing.
    records
        Number of records.
    not_released
        Columns of the source that stay behind.
    format
        How the source is written, with everything found out filled in.
    counts
        How many records each row stands for, where an engine has collapsed the table; None: one each.
    notes
        What the source says of its columns beside their cells.
    treatments
        By column, the treatments whose points were found in the data.
    untreated
        These columns as they were read, where every record is at hand.
    weights
        The sampling weights as they were read, where those of their column are treated.
    """

    columns: dict[str, pa.ChunkedArray]
    records: int
    not_released: tuple[str, ...]
    format: DataFormat
    counts: npt.NDArray[np.int64] | None = None
    notes: Mapping[str, ColumnNote] = dataclasses.field(default_factory=dict)
    treatments: Mapping[str, Treatment] = dataclasses.field(default_factory=dict)
    untreated: Mapping[str, pa.ChunkedArray] = dataclasses.field(default_factory=dict)
    weights: pa.ChunkedArray | None = None


def read_table(source: Any, plan: Plan, key: bool = False) -> Table:
    """Read the columns a plan needs from a path or a table in memory; the record key only if it is asked for.

    Columns that the plan treats come treated.
    """
    check_file(source)
    wanted = list(needed_columns(plan, key))
    if isinstance(source, str | Path):
        table, names, form = _read_file(Path(source), plan, wanted)
        columns = {name: table.column(name) for name in wanted}
    else:
        table, names = _read_stream(source, wanted, plan)
        form = plan.data
        columns = {name: clean(table.column(name), form.markers(name)) for name in wanted}
    if table.num_rows == 0:
        raise DataError(Problem("empty", "The table has no records.", place_of(source), "give a table with records"))
    released = set(plan.published_columns)
    stay = tuple(name for name in names if name not in released)
    return _treated(Table(columns, table.num_rows, stay, form, notes=notes_of(table.schema)), plan)


def _treated(table: Table, plan: Plan) -> Table:
    """Return a table with its columns treated as a plan says; points are found in all of its records."""
    asked = {name: part.treat for name, part in plan.attributes.items() if part.treat is not None}
    if not asked:
        return table
    from hedgerow.microdata.points import points_of, treated_by

    there = {name: table.columns[name] for name, treat in asked.items() if not treat.found}
    weights = weights_as_read(table.columns, plan)
    table = replace(table, columns=treated_columns(table.columns, plan), untreated=there, weights=weights)
    return treated_by(table, plan, points_of(table, plan)) if there else table


@dataclass(frozen=True)
class Batches:
    """A table that is read piece by piece.

    Attributes
    ----------
    names
        All columns of the source, in order.
    schema
        Those that the plan needs.
    batches
        The rows, once.
    format
        How the source is written, with everything found out filled in.
    """

    names: tuple[str, ...]
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    format: DataFormat


def read_batches(source: Any, plan: Plan, key: bool = False) -> Batches:
    """Read the columns a plan needs piece by piece, as they are written: text is not cleaned yet."""
    wanted = list(needed_columns(plan, key))
    if not isinstance(source, str | Path):
        table, names = _read_stream(source, wanted, plan)
        check_types(table.schema, place_of(source))
        return Batches(names, table.schema, iter(table.to_batches()), plan.data)
    answer = _ask("stream", Path(source), plan.data, wanted)
    try:
        names, form = _checked_names(answer, plan, str(source))
        check_types(answer.schema, str(source))
        return Batches(names, answer.schema, _closing(answer), form)
    except BaseException:
        answer.close()
        raise


def needed_columns(plan: Plan, key: bool = False) -> tuple[str, ...]:
    """Return the columns that a plan needs: released ones, person or unit, weight, and the record key if asked for."""
    weight = None if plan.weight is None else plan.weight.column
    unit = None if plan.unit is None else plan.unit.column
    also = (plan.person, unit, plan.key if key else None, weight)
    return tuple(dict.fromkeys([*plan.released_columns, *(name for name in also if name is not None)]))


def read_gathered(source: Any, plan: Plan) -> Table:
    """Read the columns a plan needs and the record key, never more than a piece of the source at a time.

    What comes out is as :func:`read_table` has it.
    """
    read = read_batches(source, plan, key=True)
    gathered = gather(read.schema, read.batches)
    if not gathered.num_rows:
        raise DataError(Problem("empty", "The table has no records.", place_of(source), "give a table with records"))
    columns = {name: clean(gathered.column(name), read.format.markers(name)) for name in read.schema.names}
    released = set(plan.published_columns)
    stay = tuple(name for name in read.names if name not in released)
    return _treated(Table(columns, gathered.num_rows, stay, read.format, notes=notes_of(read.schema)), plan)


def gather(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """Gather rows column by column, text as whole numbers that point into its distinct values."""
    import pyarrow as pa

    chunks: dict[str, list[pa.Array]] = {name: [] for name in schema.names}
    for batch in batches:
        for name, column in zip(schema.names, batch.columns, strict=True):
            text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
            chunks[name].append(column.dictionary_encode() if text else column)
    columns = {}
    for field in schema:  # one after the other, so that only one is there twice
        gathered = chunks.pop(field.name)
        columns[field.name] = _compact(pa.chunked_array(gathered)) if gathered else pa.array([], field.type)
    return pa.table(columns)


def _compact(column: pa.ChunkedArray) -> pa.Array:
    """Put a column into one piece, with as few bytes for each value as its number of distinct values needs."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    whole = dictionary_encoded(column)
    size = len(whole.dictionary)
    kind = pa.int8() if size < 1 << 7 else pa.int16() if size < 1 << 15 else pa.int32()
    return pa.DictionaryArray.from_arrays(whole.indices.cast(kind), whole.dictionary)


def _closing(answer: sandbox.Answer) -> Iterator[pa.RecordBatch]:
    with answer:
        yield from answer.batches()


def column_names(source: Any, form: DataFormat) -> tuple[str, ...]:
    """Return the column names of a source without reading its rows."""
    check_file(source)
    if not isinstance(source, str | Path):
        return tuple(stream_table(source).column_names)
    return tuple(file_schema(Path(source), form).names)


def file_schema(path: Path, form: DataFormat) -> pa.Schema:
    """Return the columns of a file with their types, without reading its rows; those of a CSV file are text."""
    with _ask("describe", path, form) as answer:
        return answer.schema


def file_batches(path: Path, form: DataFormat) -> tuple[pa.Schema, Callable[[], Iterator[pa.RecordBatch]]]:
    """Return the columns of a file, and what starts its rows; all of them, as they are written."""
    schema = file_schema(path, form)
    return schema, lambda: _closing(_ask("stream", path, form, schema.names))


@dataclass(frozen=True)
class Extent:
    """What a file says of itself: its rows (None: it does not say), its columns, and its bytes when unpacked."""

    rows: int | None
    columns: int
    unpacked: int


def file_extent(path: Path, form: DataFormat) -> Extent:
    """Return how much a file says it holds."""
    with _ask("describe", path, form) as answer:
        told = answer.facts
        return Extent(told.get("rows"), len(told["names"]), told.get("unpacked", 0))


@dataclass(frozen=True)
class Reason:
    """Why a file is taken to be written in some way, and whether that is beyond doubt."""

    why: str
    sure: bool = True


def sniffed(source: Any, form: DataFormat) -> tuple[DataFormat, Mapping[str, Reason]]:
    """Find out how a file of text is written, as far as that is not stated; other tables say it themselves.

    Returns how it is written, and for each key of ``data`` that was found out, why.
    """
    if not isinstance(source, str | Path) or is_server(source) or not Path(source).is_file():
        return form, {}
    written = file_format(Path(source), form)
    asked = [key for key in ("encoding", "delimiter", "quote") if key in written.options]
    wanted = [key for key in asked if key not in form.model_fields_set]
    if not wanted or "delimiter" not in asked:
        return form, {}
    with _ask("sniff", Path(source), form, wanted) as answer:
        found = answer.facts
    values = {key: told["value"] for key, told in found.items()}
    return form.model_copy(update=values), {key: Reason(told["why"], told["sure"]) for key, told in found.items()}


def sheet_names(path: Path, form: DataFormat) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook that can be seen; nothing of other files."""
    if "sheet" not in file_format(path, form).options:
        return ()
    with _ask("sheets", path, form) as answer:
        return tuple(answer.facts["sheets"])


def check_file(source: Any) -> None:
    """Refuse the address of a server where a file is read: as a path it would be shown, with its password."""
    check_path(source)
    if is_server(source):
        message = "This reads files and tables in memory, not a table on a server."
        raise DataError(Problem("usage", message, shown(source), "export the table to a file first"))


# -- files -----------------------------------------------------------------------------------------------------------


def _ask(task: str, path: Path, form: DataFormat, wanted: Sequence[str] = ()) -> sandbox.Answer:
    """Have a file parsed in a child."""
    if is_packed(path.name):
        with unpacked(path) as (inner, name):
            return _ask_for(task, inner, name, path, form, wanted)
    return _ask_for(task, path, path.name, path, form, wanted)


def _ask_for(task: str, file: Path, name: str, path: Path, form: DataFormat, wanted: Sequence[str]) -> sandbox.Answer:
    """Have a file parsed that has this name, and that messages know by its path."""
    written = file_format(path, form, name)
    check_extra(written)
    if not form.notation.usual and "decimal" not in written.options:
        message = f"{written.title} files hold numbers; data.decimal and data.thousands say how text is read."
        raise DataError(Problem("format", message, str(path), "leave both out of the plan"))
    given = form.model_dump(include=set(Form.KEYS))
    open_ = written.settings.keys() - form.model_fields_set
    request = {
        "place": str(path),
        "title": written.title,
        "reader": written.reader,
        "form": given | {key: written.settings[key] for key in open_},
        "wanted": list(wanted),
        "room": room(),
    }
    limits = None
    if written.density > 1 and file.is_file():
        limits = Limits.of_size(written.density * file.stat().st_size)
    return sandbox.run(f"hedgerow.microdata.parsing.tasks:{task}", request, [file], place=str(path), limits=limits)


def _read_file(path: Path, plan: Plan, wanted: list[str]) -> tuple[pa.Table, tuple[str, ...], DataFormat]:
    with closing(_ask("read", path, plan.data, wanted)) as answer:
        names, form = _checked_names(answer, plan, str(path))
        return answer.table(), names, form


def _checked_names(answer: sandbox.Answer, plan: Plan, place: str) -> tuple[tuple[str, ...], DataFormat]:
    """Return all columns of a file, and how it is written; refuse one without a column that the plan names."""
    names, delimiter = tuple(answer.facts["names"]), answer.facts["delimiter"]
    check_columns(names, plan, place, delimiter)
    return names, plan.data if delimiter is None else _as_read(plan.data, delimiter, place)


def _as_read(form: DataFormat, delimiter: str, place: str) -> DataFormat:
    """Fill in how a file is written, and that a release of it is written alike unless the plan says otherwise."""
    usual, written = DataFormat(), file_format(Path(place), form)
    if not written.writer or "delimiter" not in written.options:
        return form.model_copy(update={"delimiter": delimiter})
    odd = delimiter != "," or any(getattr(form, key) != getattr(usual, key) for key in ("encoding", "quote", "decimal"))
    asked = {"delimiter": delimiter} | ({"output": "as-read"} if odd and form.output is None else {})
    return form.model_copy(update=asked)


def file_format(path: Path, form: DataFormat, name: str | None = None) -> FormatDescriptor:
    """Return the format of a file: what the plan says, or else by its name, or that of the file inside."""
    if form.format is not None:
        if form.format not in FILE_FORMATS:
            message = f"There is no file format {form.format!r}."
            raise DataError(Problem("format", message, str(path), f"one of {', '.join(FILE_FORMATS.names)}"))
        return FILE_FORMATS[form.format]
    found = by_name(name or path.name)
    if found is None and path.suffix.lower() in NOT_READ:
        message = f"Files ending in {path.suffix} are not read."
        raise DataError(Problem("format", message, str(path), f"give {format_titles()}"))
    return found or next(one for one in FILE_FORMATS if one.any_ending)


def check_extra(written: FormatDescriptor) -> None:
    """Refuse a format whose library is not installed."""
    lacking = [name for name in written.needs if importlib.util.find_spec(name) is None]
    if lacking:
        message = f"{written.title} files need {' and '.join(lacking)}, which is not installed."
        raise HedgerowError(Problem("usage", message, hint=how_to_install("formats")))


# -- tables in memory ------------------------------------------------------------------------------------------------


def _read_stream(source: Any, wanted: list[str], plan: Plan) -> tuple[pa.Table, tuple[str, ...]]:
    table = stream_table(source)
    names = tuple(table.column_names)
    check_columns(names, plan, place_of(source))
    warn_of_lost_zeros(table, plan)
    return table.select(wanted), names


def stream_table(source: Any) -> pa.Table:
    """Take a table in memory as an Arrow table."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
        return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
    message = f"Data of type {type(source).__name__} is not read."
    hint = "give a path, or a pandas, polars or pyarrow table"
    raise DataError(Problem("format", message, hint=hint))


def place_of(source: Any) -> str:
    """How messages name a source."""
    return str(source) if isinstance(source, str | Path) else "data"


# -- columns ---------------------------------------------------------------------------------------------------------


def check_columns(names: tuple[str, ...], plan: Plan, place: str, delimiter: str | None = None) -> None:
    """Refuse a table that lacks a column which the plan names, or has two of one name."""
    asked = plan.named_columns
    missing = [name for name in asked if name not in names]
    if len(names) > MOST_COLUMNS:
        raise DataError(Problem("format", f"The table has more than {MOST_COLUMNS:,} columns.", place))
    problems = [*duplicates(names, asked, place), *_missing(missing, asked, names, place)]
    if missing and delimiter is not None and len(names) == 1:
        hint = f"the header has one column only when split at {delimiter!r}: set data.delimiter in the plan"
        raise DataError([*problems[:-1], replace(problems[-1], hint=hint)])
    record = first_record(names, place) if missing else None
    if record is not None:
        raise DataError(record)
    if problems:
        raise DataError(problems)


def duplicates(names: Sequence[str], asked: Sequence[str], place: str) -> list[Problem]:
    """Say which columns have the same name; it is shown only if it is asked for: else it is the data's own."""
    found = []
    for name, count in Counter(names).items():
        if count == 1:
            continue
        first, second = [number for number, other in enumerate(names, 1) if other == name][:2]
        called = f"named {name!r}" if name in asked else "of one name, which no plan names"
        message = f"{count} columns are {called}: the first are columns {first} and {second}."
        found.append(Problem("duplicate-column", message, place, "rename them apart"))
    return found


def _missing(missing: list[str], asked: Sequence[str], names: tuple[str, ...], place: str) -> list[Problem]:
    """Say which columns of the plan are not there; those that are there instead are counted."""
    if len(missing) == len(asked) > 1:
        message = f"The data has none of the {len(asked):,} columns that the plan names."
        hint = "check that this is the table of the plan, and that its first line holds the names of the columns"
        return [Problem("missing-column", message, place, hint)]
    others = [number for number, name in enumerate(names, 1) if name not in asked]
    found = []
    for name in missing:
        near = difflib.get_close_matches(name.casefold(), [names[number - 1].casefold() for number in others], n=1)
        hint = (
            f"it has {len(asked) - len(missing):,} of the {len(asked):,} that the plan names, and {len(others):,} more"
        )
        if near:
            at = next(number for number in others if names[number - 1].casefold() == near[0])
            hint = f"column {at} has nearly this name: compare the two"
        message = f"The data has no column {name!r}, which the plan names."
        found.append(Problem("missing-column", message, place, hint))
    return found


def check_types(schema: pa.Schema, place: str) -> None:
    """Refuse columns of values that have no one way of being written."""
    import pyarrow as pa

    is_a = pa.types
    refused = {
        "lists or records": is_a.is_nested,
        "bytes": lambda kind: is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_fixed_size_binary(kind),
        "lengths of time": lambda kind: is_a.is_duration(kind) or is_a.is_interval(kind),
        "numbers of 16 bits": is_a.is_float16,
    }
    problems = []
    for field in schema:
        kind = field.type.value_type if is_a.is_dictionary(field.type) else field.type
        for what, holds in refused.items():
            if holds(kind):
                message = f"Column {field.name!r} holds {what}, which cannot be released."
                problems.append(Problem("format", message, place, "turn it into text or numbers, or leave it out"))
    if problems:
        raise DataError(problems)

"""Rows on their way between MariaDB and Arrow: what the server sends as text, and what it is sent in statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.engines.place import quoted
from hedgerow.errors import DataError, Problem

if TYPE_CHECKING:
    import pyarrow as pa

MOST_DIGITS = 38
"""Digits of a decimal number that has a form here; one of more is text."""
VARCHAR_SIGNS, ROW_SIGNS = 2_000, 12_000
"""Characters up to which a column holds its text in the row, and all columns of a row together."""
KEY_PARTS, KEY_SIGNS = 16, 700
"""Columns of an index, and characters of text in it."""
UNSIGNED = 32
INTEGERS = {1: "8", 2: "16", 3: "32", 8: "64", 9: "32", 13: "16"}
FLOAT, DOUBLE, TIMESTAMP, DATE, DATETIME, DECIMAL = 4, 5, 7, (10, 14), 12, (0, 246)
TYPES = {
    "bool": "TINYINT(1)",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "uint8": "TINYINT UNSIGNED",
    "uint16": "SMALLINT UNSIGNED",
    "uint32": "INT UNSIGNED",
    "uint64": "BIGINT UNSIGNED",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "date64[ms]": "DATE",
}


def literal(text: str) -> str:
    """Write a text for a connection on which a backslash means itself.

    Examples
    --------
    >>> print(literal("O'Neil"))
    'O''Neil'
    """
    return "'" + text.replace("'", "''") + "'"


# -- what comes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SentColumn:
    """A column of an answer: its name, the type in which it is handed on, and that of its text if it is none."""

    name: str
    type: pa.DataType


def fields_of(cursor: Any) -> list[SentColumn]:
    """Say what the columns of an answer are."""
    return [SentColumn(one.name, _type(one)) for one in cursor._result.fields]


def schema_of(fields: Sequence[SentColumn]) -> pa.Schema:
    """Return the columns of an answer."""
    import pyarrow as pa

    return pa.schema([pa.field(one.name, one.type) for one in fields])


def batch_of(fields: Sequence[SentColumn], rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Turn rows of texts into columns of their types.

    Raises
    ------
    pa.ArrowInvalid
        For a date without a day, and the like.
    """
    import pyarrow as pa

    columns = [
        _read(pa.array(cells, pa.string()), field.type)
        for field, cells in zip(fields, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema_of(fields))


def _type(field: Any) -> pa.DataType:
    import pyarrow as pa

    kind, unsigned = field.type_code, bool(field.flags & UNSIGNED)
    if kind in INTEGERS:
        return pa.type_for_alias(("uint" if unsigned else "int") + INTEGERS[kind])
    if kind in DECIMAL:
        digits = field.length - (field.scale > 0) - (not unsigned)
        return pa.decimal128(digits, field.scale) if digits <= MOST_DIGITS else pa.string()
    if kind == FLOAT:
        return pa.float32()
    if kind == DOUBLE:
        return pa.float64()
    if kind in DATE:
        return pa.date32()
    if kind in (DATETIME, TIMESTAMP):
        return pa.timestamp("us", "UTC" if kind == TIMESTAMP else None)
    return pa.string()


def _read(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pc.assume_timezone(texts.cast(pa.timestamp("us")), kind.tz)
    return texts if pa.types.is_string(kind) else texts.cast(kind)


# -- what goes -------------------------------------------------------------------------------------------------------


def types_of(rows: pa.Table) -> dict[str, str]:
    """Say what type the columns of a temporary table have, by the values that they hold."""
    import pyarrow.compute as pc

    found, left = {}, ROW_SIGNS
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        kind = type_name(column.type)
        if kind == "LONGTEXT":
            signs = max(pc.max(pc.utf8_length(_texts(column))).as_py() or 0, 1)
            if signs <= min(VARCHAR_SIGNS, left):
                kind, left = f"VARCHAR({signs})", left - signs
        found[name] = kind
    return found


def type_name(kind: pa.DataType) -> str:
    """Return the type that a column of some Arrow type gets on the server.

    Examples
    --------
    >>> import pyarrow as pa
    >>> type_name(pa.uint64()), type_name(pa.decimal128(9, 2)), type_name(pa.time32("s"))
    ('BIGINT UNSIGNED', 'DECIMAL(9, 2)', 'LONGTEXT')
    """
    import pyarrow as pa

    if pa.types.is_decimal128(kind):
        return f"DECIMAL({kind.precision}, {max(kind.scale, 0)})"
    if pa.types.is_timestamp(kind):
        return "DATETIME(6)" if kind.tz is None else "TIMESTAMP(6)"
    return TYPES.get(str(kind), "LONGTEXT")


def key_of(rows: pa.Table, types: Mapping[str, str]) -> list[str]:
    """Say what an index of a temporary table is made of, in the order of its columns: as much as one takes.

    If the first column tells all rows apart, it is enough.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names, first = list(types)[:KEY_PARTS], rows.column(0)
    if pa.types.is_integer(first.type) and pc.count_distinct(first).as_py() == rows.num_rows:
        names = names[:1]
    texts = sum(types[name].startswith(("VARCHAR", "LONGTEXT")) for name in names)
    parts = []
    for name in names:
        kind, most = types[name], KEY_SIGNS // max(texts, 1)
        signs = int(kind[8:-1]) if kind.startswith("VARCHAR") else None
        cut = kind == "LONGTEXT" or (signs is not None and signs > most)
        parts.append(f"{quoted(name)}({most})" if cut else quoted(name))
    return parts


def inserts(there: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch], most: int, place: str) -> Iterator[str]:
    """Write statements that insert rows, none of many more than ``most`` characters."""
    begin = f"INSERT INTO {there} VALUES "
    pending: list[str] = []
    length = 0
    for batch in batches:
        for row in _values(schema, batch, place):
            pending.append(row)
            length += len(row)
            if length > most // 4:  # a character takes four bytes at most
                yield begin + ",".join(pending)
                pending, length = [], 0
    if pending:
        yield begin + ",".join(pending)


def _values(schema: pa.Schema, batch: pa.RecordBatch, place: str) -> list[str]:
    """Write every row as it stands behind VALUES."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = []
    for field, column in zip(schema, batch.columns, strict=True):
        kind = field.type
        plain = pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind)
        if pa.types.is_boolean(kind):
            texts, plain = pc.if_else(column, "1", "0"), True
        elif pa.types.is_floating(kind):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
            if pc.any(pc.is_inf(column)).as_py():
                message = "A number is infinite, which the server cannot keep."
                raise DataError(Problem("format", message, place, "write to a folder, or leave the column out"))
            texts = column.cast(pa.string())
        elif pa.types.is_timestamp(kind):
            whole = column.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64())
            texts = whole.cast(pa.timestamp("us")).cast(pa.string())
        else:
            texts = _texts(column)
        if not plain:
            texts = pc.binary_join_element_wise("'", pc.replace_substring(texts, "'", "''"), "'", "")
        cells.append(pc.fill_null(texts, "NULL"))
    joined = pc.binary_join_element_wise(*cells, ",")
    return list(pc.binary_join_element_wise("(", joined, ")", "").to_pylist())


def _texts(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())

"""Rows on their way into a store: of the right kinds, in the order of their keys, of text that any database keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.maintenance.store.schema import NUMBER, StoredTable

if TYPE_CHECKING:
    import pyarrow as pa


def rows_of(table: StoredTable, given: pa.Table, version: int) -> pa.Table:
    """Bring the rows of a version into the form of their table, in the order of their keys.

    Raises
    ------
    DataError
        ``store-text`` if a text holds what a database cannot keep.
    ValueError
        If the columns are not those of the table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [name for name in table.names if name != "version"]
    if sorted(given.column_names) != sorted(names):
        raise ValueError(f"the columns of {table.name!r} must be {names}. Got {given.column_names} instead.")
    # Offsets of 64 bits, because all text of a column together may be longer than 32 bits can count.
    kinds = [pa.int64() if kind == NUMBER else pa.large_string() for name, kind in table.columns if name in names]
    rows = given.select(names).cast(pa.schema(list(zip(names, kinds, strict=True))))
    _check(table, rows)
    rows = rows.take(pc.sort_indices(rows[table.key[-1]].combine_chunks()))
    return rows.add_column(0, "version", pa.repeat(pa.scalar(version, pa.int64()), rows.num_rows))


def few_rows(table: StoredTable, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Make a table of a few rows of plain Python values.

    Raises
    ------
    DataError
        ``store-text`` if a text holds what a database cannot keep.
    """
    import pyarrow as pa

    try:
        made = pa.Table.from_pylist([dict(row) for row in rows], schema=table.arrow)
    except UnicodeEncodeError:
        raise unkeepable(table.name) from None
    _check(table, made)
    return made


def unkeepable(where: str) -> DataError:
    """Say that a text cannot be kept; where it is, not what."""
    message = f"A text in {where!r} holds a NUL or half a character, which a database cannot keep. Nothing was changed."
    return DataError(
        Problem("store-text", message, hint="clean the data: no NUL characters, and text that is valid Unicode")
    )


def _check(table: StoredTable, rows: pa.Table) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if column.null_count and name not in table.optional:
            raise ValueError(f"column {name!r} of {table.name!r} must not be empty anywhere")
        if pa.types.is_int64(column.type) or pa.types.is_binary(column.type):
            continue
        try:
            column.validate(full=True)
            keepable = not pc.any(pc.match_substring(column, "\0")).as_py()
        except pa.ArrowInvalid:
            keepable = False
        if not keepable:
            raise unkeepable(f"{table.name}.{name}")

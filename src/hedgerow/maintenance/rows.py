"""Records as a store keeps them: a key, and the other cells as one JSON array of texts; and back to a table.

The kinds of the columns are those of the table that the release was created from; what comes later is brought to them.
"""

from __future__ import annotations

import base64
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.microdata import Table
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_ROW = 1 << 26


def stored_columns(plan: Plan) -> tuple[str, ...]:
    """Columns that a store keeps of every record beside its key: those released, and the person."""
    person = (plan.person,) if plan.person not in (None, plan.key) else ()
    return tuple(name for name in (*plan.released_columns, *person) if name is not None)


def kinds_of(table: Table, plan: Plan) -> str:
    """Write down the kinds of the stored columns, for a store to keep.

    Raises
    ------
    DataError
        If a column holds something that does not come back from its text as it was.
    """
    import pyarrow as pa

    fields = []
    for name in stored_columns(plan):
        column = table.columns[name]
        kind = column.type
        if pa.types.is_dictionary(kind) or pa.types.is_null(kind) or pa.types.is_large_string(kind):
            kind = pa.string()
        elif not _survives(column):
            message = f"Column {name!r} holds {kind}, which a store does not keep."
            raise DataError(Problem("format", message, hint="give text, whole or decimal numbers, or dates"))
        fields.append(pa.field(name, kind))
    return base64.b64encode(pa.schema(fields).serialize().to_pybytes()).decode()


def _survives(column: pa.ChunkedArray) -> bool:
    """Tell whether a column comes back from its text as it was."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type) or pa.types.is_float16(column.type):
        return False
    if pa.types.is_floating(column.type):
        column = column.filter(pc.invert(pc.is_nan(column).fill_null(False)))  # which never equals itself
    try:
        return bool(column.cast(pa.string()).cast(column.type).equals(column))
    except pa.ArrowException:
        return False


def keys_of(table: Table, plan: Plan, place: str, numbered: bool = True) -> pa.Array:
    """Return the keys of a table's records as text; ``numbered``: whether messages may name records by number.

    Raises
    ------
    DataError
        If a record has no key, or two have the same. No key is in the message.
    """
    keys = _as_keys(table.columns[plan.key or ""])
    absent = np.flatnonzero(keys.is_null().to_numpy(zero_copy_only=False))
    if len(absent):
        one = f"; the first is record {int(absent[0]) + 1:,}" if numbered else ""
        message = f"{len(absent):,} records have no key in {plan.key!r}{one}."
        raise DataError(Problem("no-key", message, place, "every record needs a key of its own"))
    encoded = keys.dictionary_encode()
    numbers = encoded.indices.to_numpy()
    first = np.full(len(encoded.dictionary), len(numbers), np.int64)
    np.minimum.at(first, numbers, np.arange(len(numbers)))
    again = np.flatnonzero(first[numbers] != np.arange(len(numbers)))
    if len(again):
        one = f"; the first such is record {int(again[0]) + 1:,}" if numbered else ""
        message = f"{len(again):,} records repeat the key of another in {plan.key!r}{one}."
        raise DataError(Problem("duplicate-key", message, place, "a key names one record only"))
    return keys


def _as_keys(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as text without white space at its ends; text that has none is not looked at one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        encoded = dictionary_encoded(column)
        texts = encoded.dictionary.cast(pa.string())
        if not pc.any(pc.match_substring_regex(texts, r"^[\s\x1c-\x1f\x{85}\pZ]|[\s\x1c-\x1f\x{85}\pZ]$")).as_py():
            return texts.take(encoded.indices)
    labels, indices = distinct_labels(column)
    stripped = [None if label is None else label.strip() for label in labels]
    return pa.array(stripped, pa.string()).take(pa.array(indices))


def to_rows(table: Table, keys: pa.Array, kinds: str, place: str) -> pa.Table:
    """Turn a table into rows of a store, in the order of their keys; cells are brought to the store's kinds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = [_as_json(_of_kind(table.columns[field.name], field, place)) for field in schema_of(kinds)]
    content = pc.binary_join_element_wise("[", pc.binary_join_element_wise(*cells, ","), "]", "")
    return pa.table({"key": keys, "content": content}).sort_by("key")


def to_table(rows: pa.Table, plan: Plan, kinds: str, not_released: tuple[str, ...]) -> Table:
    """Turn rows of a store, which must be in the order of their keys, back into a table; its key column is text."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json as arrow_json

    schema = schema_of(kinds)
    columns: dict[str, pa.ChunkedArray] = {str(plan.key): pa.chunked_array([rows.column("key").combine_chunks()])}
    if rows.num_rows:
        lines = pc.binary_join_element_wise('{"c":', rows.column("content"), "}", "").to_pylist()
        listed = arrow_json.read_json(
            io.BytesIO("\n".join(lines).encode()),
            read_options=arrow_json.ReadOptions(block_size=LONGEST_ROW),
            parse_options=arrow_json.ParseOptions(explicit_schema=pa.schema([("c", pa.list_(pa.string()))])),
        )
        cells = [pc.list_element(listed.column("c"), position) for position in range(len(schema))]
    else:
        cells = [pa.chunked_array([pa.array([], pa.string())]) for _ in schema]
    for field, column in zip(schema, cells, strict=True):
        text = pa.types.is_string(field.type)
        columns[field.name] = pa.chunked_array([dictionary_encoded(column)]) if text else column.cast(field.type)
    return Table(columns, rows.num_rows, not_released, plan.data)


def plain_table(table: Table) -> pa.Table:
    """The table as verification reads an original."""
    import pyarrow as pa

    return pa.table(dict(table.columns))


def schema_of(kinds: str) -> Any:
    """The names and kinds of the stored columns, as a store keeps them."""
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(kinds)))


def _of_kind(column: pa.ChunkedArray, field: Any, place: str) -> pa.ChunkedArray:
    """Bring a column to the kind that the store has."""
    import pyarrow as pa

    if pa.types.is_string(field.type):
        labels, indices = distinct_labels(column)
        return pa.chunked_array([pa.array(labels, pa.string()).take(pa.array(indices))])
    try:
        plain = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        return plain.cast(field.type)
    except pa.ArrowInvalid:  # its text may hold cells
        message = f"Column {field.name!r} has cells that are not {field.type}, as the release was created with."
        raise DataError(Problem("format", message, place, "give the same kind of values as before")) from None
    except pa.ArrowNotImplementedError:
        message = f"Column {field.name!r} holds {column.type}, but the release was created with {field.type}."
        raise DataError(Problem("format", message, place, "give the same kind of values as before")) from None


def _as_json(column: pa.ChunkedArray) -> pa.Array:
    """Write every cell as JSON text; each distinct value is looked at once."""
    import pyarrow as pa

    encoded = dictionary_encoded(column)
    texts = encoded.dictionary.cast(pa.string()).to_pylist()
    written = [*("null" if text is None else json.dumps(text) for text in texts), "null"]
    return pa.array(written, pa.string()).take(encoded.indices.fill_null(len(texts)))

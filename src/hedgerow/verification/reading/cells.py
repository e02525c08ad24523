"""The cells of a column as text, the same for equal values of different types."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.values.numbers import exact, name_number, read_number

if TYPE_CHECKING:
    import pyarrow as pa

GUARDED = "^'+[=+@\t\r＝＋－＠-]"  # noqa: RUF001 - spreadsheets run the wide signs too
Kind = Literal["text", "number", "float", "float32", "truth", "date", "moment", "other"]


def kind_of(column: pa.ChunkedArray) -> Kind:
    """Tell what a column holds."""
    import pyarrow as pa

    is_a = pa.types
    kind = column.type.value_type if is_a.is_dictionary(column.type) else column.type
    if is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind):
        return "text"
    if is_a.is_integer(kind) or is_a.is_decimal(kind):
        return "number"
    if is_a.is_floating(kind):
        return "float" if is_a.is_float64(kind) else "float32"
    if is_a.is_boolean(kind):
        return "truth"
    if is_a.is_date(kind):
        return "date"
    return "moment" if is_a.is_timestamp(kind) else "other"


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write the cells of a column as text, the same for equal values of different types; NaN is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = decoded(column)
    if pa.types.is_timestamp(column.type):  # Python knows no nanoseconds
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    if pa.types.is_time(column.type):  # nor of a time of day
        return map_distinct(column.cast(pa.string()), _without_zeros)
    if kind_of(column) == "text":
        return column.cast(pa.string())
    if pa.types.is_nested(column.type):
        return pa.chunked_array([pa.array(map(_write, column.to_pylist()), pa.string())])
    return map_distinct(column, _write)


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo dictionary encoding; a cast does not do it for views of text, as polars has them."""
    import pyarrow as pa

    kind = pa.string() if pa.types.is_string_view(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], kind)


def _without_zeros(time: str | None) -> str | None:
    """Drop zeros at the end of a fraction of a second: how many there are is up to the type.

    Examples
    --------
    >>> _without_zeros("22:30:00.500"), _without_zeros("22:30:00"), _without_zeros("22:30:00.000")
    ('22:30:00.5', '22:30:00', '22:30:00')
    """
    return time.rstrip("0").rstrip(".") if time is not None and "." in time else time


def _write(value: Any) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return name_number(exact(value))
    if isinstance(value, float):
        return repr(value) if math.isinf(value) else name_number(exact(Decimal(repr(value))))
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value).strip()


def read_as(kind: Kind) -> Callable[[str], str | None]:
    """Return how a cell of text is brought to the form in which a value of some kind is written.

    Examples
    --------
    >>> read_as("number")("17000.00"), read_as("float")("1e3"), read_as("date")("20240229")
    ('17000', '1000', '2024-02-29')
    """

    def read(text: str) -> str | None:
        text = text.strip()
        try:
            if kind == "number":
                number = read_number(text)
                return text if number is None else name_number(number)
            if kind == "float":
                return _write(float(text))
            if kind == "float32":
                return _write(float(np.float32(float(text))))
            if kind == "truth":
                return {"1": "true", "0": "false"}.get(text, text.lower())
            if kind == "date":
                return dt.date.fromisoformat(text).isoformat()
            return _write(dt.datetime.fromisoformat(text)) if kind == "moment" else text
        except (ValueError, OverflowError):
            return text

    return read


def map_distinct(column: pa.ChunkedArray, change: Callable[[Any], str | None]) -> pa.ChunkedArray:
    """Change every distinct value of a column once."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: map_distinct(labels, change))
    encoded = column.dictionary_encode().unify_dictionaries()
    chunks = []
    labels = None
    for chunk in encoded.chunks:
        if labels is None:
            labels = pa.array([None if v is None else change(v) for v in chunk.dictionary.to_pylist()], pa.string())
        chunks.append(labels.take(chunk.indices))
    return pa.chunked_array(chunks, pa.string())


def distinct_cells(column: pa.ChunkedArray) -> tuple[list[str], IntArray]:
    """Return the distinct cells of a text column and, row by row, which one it has; −1 is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> distinct_cells(pa.chunked_array([["a", None], ["b", "a"]]))
    (['a', 'b'], array([ 0, -1,  1,  0]))
    """
    encoded = column.dictionary_encode().unify_dictionaries()
    if encoded.num_chunks == 0:
        return [], np.zeros(0, np.int64)
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) for chunk in encoded.chunks]
    return encoded.chunk(0).dictionary.to_pylist(), np.concatenate(parts)


def trim(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Cut white space around the cells of a text column, and empty those that mean a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: trim(labels, missing))
    column = pc.utf8_trim_whitespace(column)
    return without(column, missing) if missing else pa.chunked_array(column.chunks, pa.string())


def without(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Empty the cells of a text column that hold one of some texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return on_labels(column, lambda labels: without(labels, missing))
    marked = pc.is_in(column, value_set=pa.array(list(missing), pa.string()))
    return pc.if_else(marked, pa.scalar(None, pa.string()), column)


def on_labels(column: pa.ChunkedArray, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.ChunkedArray:
    """Change a dictionary-encoded column of text by its distinct cells; those that become the same are one then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = pa.chunked_array([pa.array(["a", " a", "-", None]).dictionary_encode()])
    >>> changed = on_labels(column, lambda labels: trim(labels, ["-"]))
    >>> changed.to_pylist(), len(changed.chunk(0).dictionary)
    (['a', 'a', None, None], 1)
    """
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # a column without chunks
        whole = pa.array([], column.type)
    labels = change(pa.chunked_array([whole.dictionary])).combine_chunks().dictionary_encode()
    kind = pa.from_numpy_dtype(narrowest(len(labels.dictionary)))
    indices = labels.indices.cast(kind).take(whole.indices)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, labels.dictionary)])


def narrowest(labels: int) -> np.dtype[Any]:
    """Return the narrowest type that numbers so many labels, with one number to spare: rows are many, labels are few.

    Examples
    --------
    >>> [str(narrowest(labels)) for labels in (2, 127, 128, 100_000)]
    ['int8', 'int8', 'int16', 'int32']
    """
    return np.min_scalar_type(-labels - 1) if labels else np.dtype(np.int8)


# -- guards against spreadsheets -------------------------------------------------------------------------------------


def unguard(text: str) -> str:
    """Undo what keeps a spreadsheet from running a cell as a formula: take one apostrophe away.

    A cell is guarded where it begins, after any apostrophes, with a sign that starts a formula, unless it is a plain
    number. So a cell with apostrophes before such a sign was always given one, and −5 never was.

    Examples
    --------
    >>> unguard("'=SUM(A1)"), unguard("''=x"), unguard("-5"), unguard("'tis")
    ('=SUM(A1)', "'=x", '-5', "'tis")
    """
    return text[1:] if re.match(GUARDED, text) else text


def unguarded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Undo the guards of a whole column of text."""
    import pyarrow.compute as pc

    return pc.if_else(pc.match_substring_regex(column, GUARDED), pc.utf8_slice_codeunits(column, 1), column)

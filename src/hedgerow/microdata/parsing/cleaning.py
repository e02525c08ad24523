"""Bringing columns to one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def clean(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Bring a column to one form: text trimmed and dictionary-encoded, missing markers null, and so is NaN.

    Times of day become text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_time(column.type):
        column = _times(column)
    if not pa.types.is_dictionary(column.type) and not _is_text(column.type):
        return _numbers(column)
    if pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        decoded = (chunk.dictionary_decode() for chunk in column.chunks)  # of lists and records there is no other way
        return _numbers(pa.chunked_array(decoded, column.type.value_type))
    encoded = dictionary_encoded(column)
    labels, indices = encoded.dictionary, encoded.indices
    labels = pc.utf8_trim_whitespace(labels.cast(pa.string()))
    if missing:
        labels = pc.if_else(
            pc.is_in(labels, pa.array(list(missing), pa.string())), pa.scalar(None, pa.string()), labels
        )
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, labels)])


def dictionary_encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column as one array of distinct values and, per record, which one it has."""
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.chunk(0) if encoded.num_chunks == 1 else encoded.unify_dictionaries().combine_chunks()


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make NaN null, and take the sign of zero away, which does not tell numbers apart."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_float32(column.type) or pa.types.is_float64(column.type)):
        return column
    zero = pa.scalar(0, column.type)
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), pc.add(column, zero))


def _times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write times of day as databases do, without zeros at the end of a fraction: not all know all units of them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> _times(pa.chunked_array([pa.array([81_000_500, 81_000_000], pa.time32("ms"))])).to_pylist()
    ['22:30:00.5', '22:30:00']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    written = column.cast(pa.string())
    return written if column.type.unit == "s" else pc.replace_substring_regex(written, r"\.?0+$", "")


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))

"""What cells of text mean where the plan says how numbers are written: 1.234,50 is the number 1234.50."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.parsing.cleaning import dictionary_encoded
from hedgerow.plan import Attribute, DataFormat
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS

if TYPE_CHECKING:
    import pyarrow as pa


def meant(name: str, attribute: Attribute, values: pa.ChunkedArray, data: DataFormat) -> pa.ChunkedArray:
    """Return a column with its numbers in the usual notation; columns whose values are names stay as they are.

    Raises
    ------
    DataError
        If the column holds numbers with fractions that are no text: the notation says nothing of these.
    """
    import pyarrow as pa

    notation = data.notation
    if notation.usual or not _of_numbers(attribute):
        return values
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        message = f"Column {name!r} holds numbers, and data.decimal and data.thousands say how text is read."
        raise DataError(Problem("format", message, hint="leave data.decimal and data.thousands out of the plan"))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return values
    encoded = dictionary_encoded(values)
    labels = [None if label is None else notation.meant(label) for label in encoded.dictionary.to_pylist()]
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, pa.array(labels, pa.string()))])


def _of_numbers(attribute: Attribute) -> bool:
    """Tell whether values of a column are looked at as numbers; sensitive ones without a hierarchy may be some."""
    if attribute.hierarchy is not None and not attribute.free:
        return HIERARCHY_KINDS[attribute.hierarchy.kind].as_numbers
    return attribute.free or attribute.role == "sensitive"

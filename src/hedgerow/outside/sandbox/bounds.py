"""What may leave a child: valid columns, of cells that have a form; checked for every batch, whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox.limits import LONGEST_CELL

if TYPE_CHECKING:
    import pyarrow as pa

DAY = 86_400
FIRST, LAST = -719_162 * DAY, 2_932_897 * DAY
"""Seconds from 1970 to the start of year 1 and of year 10000: what Python, and we, can write."""
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def check_batch(batch: pa.RecordBatch, place: str) -> None:
    """Refuse what is not valid, text that is too long, and dates that have no form; columns go by their number.

    Valid means in full: offsets, lengths, indices into dictionaries, the dictionaries themselves, UTF-8.
    """
    import pyarrow as pa

    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        message = "The file is damaged: a column does not hold what it says."
        raise DataError(Problem("unreadable-file", message, place, "check that the file is whole")) from None
    for number, column in enumerate(batch.columns, start=1):
        values = column
        while pa.types.is_dictionary(values.type):
            values = values.dictionary
        if _is_long(values.type):
            _check_lengths(values, number, place)
        elif pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
            _check_dates(values, number, place)


def _is_long(kind: Any) -> bool:
    import pyarrow as pa

    is_a = pa.types
    kinds = (is_a.is_string, is_a.is_large_string, is_a.is_string_view, is_a.is_binary, is_a.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _check_lengths(values: pa.Array, number: int, place: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    longest = pc.max(pc.binary_length(values)).as_py() or 0
    if longest > LONGEST_CELL:
        message = f"A cell of column {number:,} of those read has more than {LONGEST_CELL >> 20} MiB."
        hint = "check the quotes of the file, or leave the column out of it"
        raise DataError(Problem("too-much", message, place, hint))


def _check_dates(values: pa.Array, number: int, place: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    unit = 1 / DAY if pa.types.is_date32(kind) else 1000 if pa.types.is_date64(kind) else UNITS[kind.unit]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        _check_zone(kind.tz, number, place)
    numbers = values.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is not None and not (FIRST * unit <= ends["min"] and ends["max"] < LAST * unit):
        message = f"Column {number:,} of those read holds dates outside of the years 1 to 9999."
        raise DataError(Problem("format", message, place, "correct them, or turn the column into text"))


def _check_zone(zone: str, number: int, place: str) -> None:
    import pyarrow as pa

    try:
        pa.lib.string_to_tzinfo(zone)
    except Exception:  # whatever it raises, its text may be the file's
        message = f"Column {number:,} of those read has times in a zone that is not known here."
        raise DataError(Problem("format", message, place, "turn them into UTC, or into text")) from None

"""What every reader refuses in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox.limits import LONGEST_NAME, MOST_COLUMNS


def check_names(names: Sequence[str], place: str) -> None:
    """Refuse more columns, or longer names, than any table about people has."""
    if len(names) > MOST_COLUMNS or any(len(name) > LONGEST_NAME for name in names):
        message = f"The file has more than {MOST_COLUMNS:,} columns, or one whose name is longer than {LONGEST_NAME:,}."
        raise DataError(Problem("too-much", message, place, "check the delimiter and the quotes"))


def not_there(place: str, error: OSError) -> DataError:
    """Return the problem that a file cannot be opened."""
    message = f"The file cannot be opened: {error.strerror or 'unreadable'}."
    return DataError(Problem("no-file", message, place, "check the path"))

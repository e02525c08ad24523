"""How a file is written, and the bounds on what it may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import is_text_encoding
from hedgerow.outside.sandbox.limits import LONGEST_NAME, MOST_COLUMNS


@dataclass(frozen=True)
class Form:
    """How a file is written.

    Attributes
    ----------
    place
        How messages name it.
    title
        What its format is called.
    room
        What bounds on its contents are multiplied by.
    """

    place: str
    title: str
    delimiter: str | None
    encoding: str
    quote: str
    missing: tuple[str, ...]
    missing_in: Mapping[str, Sequence[str]] = field(default_factory=dict)
    room: float = 1.0
    sheet: str | None = None
    labels: str = "publish"
    header: bool = True
    decimal: str = "."

    KEYS: ClassVar = ("delimiter", "encoding", "quote", "missing", "missing_in", "sheet", "labels", "header", "decimal")
    """Keys of ``data`` in a plan that are of use where a file is parsed."""

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Form:
        """Read it from a request."""
        given = {key: request["form"][key] for key in cls.KEYS}
        given["missing"] = tuple(given["missing"])
        return cls(place=request["place"], title=request["title"], room=request["room"], **given)

    def markers(self, column: str) -> tuple[str, ...]:
        """Return the cells that mean a missing value in a column."""
        return (*self.missing, *self.missing_in.get(column, ()))

    def numbered(self, columns: int) -> list[str]:
        """Name the columns of a file without a header."""
        return [f"column {number}" for number in range(1, columns + 1)]

    def written(self, number: str) -> str:
        """Write a number as cells of text have it in this file."""
        return number.replace(".", self.decimal)

    @property
    def codec(self) -> str:
        """The encoding, such that a byte order mark is skipped."""
        return "utf-8-sig" if self.is_utf8 else self.encoding

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8."""
        return self.encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")

    def unreadable(self) -> DataError:
        """Return the problem that the file is not what it should be."""
        hint = "check that the file is whole, or set data.format in the plan"
        return DataError(Problem("format", f"The file cannot be read as {self.title}.", self.place, hint))

    def too_much(self, message: str, hint: str) -> DataError:
        """Return the problem that something is larger than is allowed."""
        return DataError(Problem("too-much", message, self.place, hint))

    def check_encoding(self) -> None:
        """Refuse an encoding that is not one of text."""
        if not is_text_encoding(self.encoding):
            message = f"Encoding {self.encoding!r} is not known, or is not one of text."
            raise DataError(Problem("encoding", message, self.place, "use utf-8, latin-1, cp1252, …"))

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse more columns, or longer names, than any table about people has."""
        if len(names) > MOST_COLUMNS:
            message = f"The table has {len(names):,} columns, more than {MOST_COLUMNS:,}."
            raise self.too_much(message, "give a table with fewer columns, or check the delimiter")
        if any(len(name) > LONGEST_NAME for name in names):
            message = f"The name of a column has more than {LONGEST_NAME:,} characters."
            raise self.too_much(message, "check the delimiter and the quotes of the first line")

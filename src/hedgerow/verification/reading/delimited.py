"""CSV files, parsed by Python's own reader.

What makes a release parses with Arrow's reader; a mistake there must not be repeated here. Both mean the same by CSV: a
cell is quoted if it begins with a quotation mark, a doubled mark inside it is one, whatever follows the closing mark
belongs to the cell, and lines end with LF, CR or both. Run in a child process.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import is_text_encoding
from hedgerow.outside.sandbox import TaskResult
from hedgerow.outside.sandbox.limits import MOST_HEADER
from hedgerow.verification.reading.refusals import check_names, not_there

if TYPE_CHECKING:
    import pyarrow as pa

Row = Sequence[str | None]
NO_CSV = "The file cannot be read as CSV."
LONGEST = 1 << 24
"""Characters of a cell."""
PIECE, MOST_OF_PIECE = 256, 1 << 28
"""Rows that are taken from the parser at once, few enough for the processor's cache; characters of their lines."""
BATCH = 64
"""Pieces that leave together."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    empty_is_missing
        Whether a cell that is empty and not quoted is read as missing, and an empty line as a row of such.
    header
        Whether the first row names the columns; else they are called column 1, column 2 and so on.
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    empty_is_missing: bool = False
    header: bool = True

    @property
    def codec(self) -> str:
        """The encoding, such that a byte order mark is skipped."""
        return "utf-8-sig" if codecs.lookup(self.encoding).name == "utf-8" else self.encoding

    @property
    def errors(self) -> str:
        """What becomes of bytes that are no text: in UTF-8 they count only in columns that are wanted."""
        return "surrogateescape" if self.codec == "utf-8-sig" else "strict"

    @cached_property
    def cell(self) -> re.Pattern[str]:
        """What a cell looks like in a row; its first group is there if the cell is quoted."""
        mark, between = re.escape(self.quote), re.escape(self.delimiter)
        quoted = f"{mark}[^{mark}]*(?:{mark}{mark}[^{mark}]*)*{mark}?"
        return re.compile(rf"(?:\A|{between})({quoted})?[^{between}\r\n]*")

    def parse(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cut lines into rows of cells; an empty line has none."""
        return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote)


# -- what is asked for -----------------------------------------------------------------------------------------------


def csv_header(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the cells of the first row that is not empty."""
    path, place, dialect = Path(files[0]), request["place"], Dialect(**request["dialect"])
    for part in (dialect.delimiter, dialect.quote):
        if not part.isascii():
            message = "The delimiter and the quotation mark of a CSV file must be ASCII characters."
            raise DataError(Problem("format", message, place, "change data.delimiter or data.quote"))
    if not is_text_encoding(dialect.encoding):
        message = f"Encoding {dialect.encoding!r} is not known, or is not one of text."
        raise DataError(Problem("encoding", message, place, "use utf-8, latin-1, cp1252, …"))
    with _opened(path, place, dialect, "The first row of the file is not CSV.") as file:
        rows = dialect.parse(_Lines(file, MOST_HEADER, "The first row of the file has", place))
        while row := _take(rows, 1):
            if row[0]:
                "".join(row[0]).encode()  # finds bytes that are no text
                names = row[0] if dialect.header else [f"column {at + 1}" for at, _ in enumerate(row[0])]
                check_names(names, place)
                return TaskResult({"cells": names})
    raise DataError(Problem("empty", "The file is empty.", place, "it must have a header line"))


def csv_rows(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return some columns, by position, as text, without the first row."""
    import pyarrow as pa

    schema = pa.schema([(f"f{position}", pa.string()) for position in request["columns"]])
    return TaskResult({}, schema, _batches(request, Path(files[0]), schema))


def _batches(request: Mapping[str, Any], path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    place, dialect = request["place"], Dialect(**request["dialect"])
    with _opened(path, place, dialect, NO_CSV) as file:
        lines = _Lines(file, MOST_OF_PIECE, f"{PIECE} rows of the file have", place)
        arrays = (_arrays(rows, request["columns"]) for rows in _pieces(lines, dialect, request["width"]) if rows)
        while some := list(islice(arrays, BATCH)):
            columns = [pa.concat_arrays(parts) for parts in zip(*some, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _arrays(rows: Sequence[Row], wanted: Sequence[int]) -> list[pa.Array]:
    """Turn rows into columns at once, while they are in the processor's cache."""
    import pyarrow as pa

    columns = list(zip(*rows, strict=True))
    return [pa.array(columns[position], pa.string()) for position in wanted]


# -- from lines to cells ---------------------------------------------------------------------------------------------


class _Lines:
    """The lines of a file, no more than so many characters at once."""

    def __init__(self, file: TextIO, most: int, what: str = "", place: str = "") -> None:
        self.file, self.most, self.what, self.place = file, most, what, place
        self._taken: list[str] = []
        self._left = most

    def __iter__(self) -> Iterator[str]:
        while line := self.file.readline(self._left + 1):
            self._left -= len(line)
            if self._left < 0:
                message = f"{self.what} more than {self.most:,} characters."
                raise DataError(Problem("too-much", message, self.place, "check that it is a table, and its quotes"))
            self._taken.append(line)
            yield line

    def taken(self) -> str:
        """Return the text of the rows that were parsed since it was last asked for."""
        text = "".join(self._taken)
        self._taken.clear()
        self._left = self.most
        return text


def _take(rows: Iterator[list[str]], many: int) -> list[list[str]]:
    """Parse some rows; how long a cell may be is a setting of the whole process, so it is put back."""
    before = csv.field_size_limit(LONGEST)
    try:
        return list(islice(rows, many))
    finally:
        csv.field_size_limit(before)


def _pieces(lines: _Lines, dialect: Dialect, width: int) -> Iterator[list[Row]]:
    """Give the rows after the first, some at a time, each with as many cells as the first."""
    parsed = dialect.parse(lines)
    number = 0
    while rows := _take(parsed, PIECE):
        text = lines.taken()
        if not dialect.empty_is_missing:
            found: list[Row] = [row for row in rows if row]
        elif rows[0] or number:
            found = list(_with_missing(rows, text, dialect, width))
        else:
            raise ValueError  # an empty line is no header
        if set(map(len, found)) - {width}:
            raise _ragged(found, number, width, lines.place)
        yield found if number or not dialect.header else found[1:]
        number += len(found)


def _with_missing(rows: Iterable[list[str]], text: str, dialect: Dialect, width: int) -> Iterator[Row]:
    """Put None for cells that are empty and not quoted: the parser does not tell them apart, but the text does."""
    if dialect.quote * 2 not in text:
        for row in rows:
            yield [cell or None for cell in row] or [None] * width
        return
    lines = _Lines(io.StringIO(text, newline=""), len(text))
    for row in rows:
        _take(dialect.parse(lines), 1)
        if "" in row:
            quoted = [match[1] is not None for match in dialect.cell.finditer(lines.taken())]
            yield [cell if cell or is_quoted else None for cell, is_quoted in zip(row, quoted, strict=True)]
        else:
            lines.taken()
            yield row or [None] * width


def _ragged(rows: Sequence[Row], before: int, width: int, place: str) -> DataError:
    number, cells = next((number, len(row)) for number, row in enumerate(rows, before + 1) if len(row) != width)
    if number == 1:  # not the header that was asked for
        return DataError(Problem("format", NO_CSV, place))
    message = f"Row {number} (the header is row 1) has {cells} cells. The header has {width}."
    return DataError(Problem("ragged", message, place, "check the delimiter and the quotes"))


# -- what goes wrong -------------------------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path, place: str, dialect: Dialect, otherwise: str) -> Iterator[TextIO]:
    """Open a file, and say in our words why it cannot be read: those of a parser may quote cells."""
    import pyarrow as pa

    try:
        with path.open(encoding=dialect.codec, errors=dialect.errors, newline="") as file:
            yield file
    except OSError as error:
        raise not_there(place, error) from None
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except csv.Error:
        message = f"A cell of the file has more than {LONGEST:,} characters."
        raise DataError(Problem("too-much", message, place, "check the quotes of the file")) from None
    except UnicodeError:
        line = _first_line_that_is_no_text(path, dialect)
        message = f"Line {line} is not text in {dialect.encoding}."
        raise DataError(Problem("encoding", message, f"{place}:{line}", "check data.encoding")) from None
    except (ValueError, TypeError, pa.ArrowException):
        raise DataError(Problem("format", otherwise, place)) from None


def _first_line_that_is_no_text(path: Path, dialect: Dialect) -> int:
    decoder = codecs.getincrementaldecoder(dialect.codec)()
    number = 1
    with path.open("rb") as file, suppress(UnicodeError):
        for line in file:
            decoder.decode(line)
            number += 1
        decoder.decode(b"", final=True)
    return number

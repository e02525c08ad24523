"""CSV files."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.parsing.form import Form
from hedgerow.outside.sandbox.limits import MOST_HEADER
from hedgerow.plan.formats import FormatDescriptor

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS = (",", ";", "\t", "|")
CSV_BLOCK = 1 << 24


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose header was read: it says neither how many rows it has nor what they take."""

    path: Path
    form: Form
    names: tuple[str, ...]
    rows: None = None
    unpacked: int = 0

    @property
    def schema(self) -> pa.Schema:
        """All columns are text."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.names])

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole; text is dictionary-encoded."""
        return read(self.path, self.form, self.names, wanted)

    def batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns piece by piece, as text."""
        return stream(self.path, self.form, self.names, wanted)


def open_csv(path: Path, form: Form) -> CsvFile:
    """Open a file: find out its delimiter, and read its header."""
    form = resolved(path, form)
    return CsvFile(path, form, tuple(header(path, form)))


def resolved(path: Path, form: Form) -> Form:
    """Fill in the delimiter: the one of , ; tab | that stands most often in the header, outside quotes."""
    form.check_encoding()
    if form.delimiter is not None:
        return form
    outside = "".join(_first_line(path, form).split(form.quote)[::2])
    counts = {delimiter: outside.count(delimiter) for delimiter in DELIMITERS}
    return replace(form, delimiter=max(DELIMITERS, key=lambda d: counts[d]))


def _first_line(path: Path, form: Form) -> str:
    with _decoding(path, form), path.open(encoding=form.codec, newline="") as file:
        while line := file.readline(MOST_HEADER):
            if line.strip():
                return line.rstrip("\r\n")
    raise _empty(form)


def header(path: Path, form: Form) -> list[str]:
    """Return the names of the columns."""
    with _decoding(path, form), path.open(encoding=form.codec, newline="") as file:
        for row in csv.reader(_lines(file, form), delimiter=form.delimiter or ",", quotechar=form.quote):
            if row:
                names = [name.strip() for name in row] if form.header else form.numbered(len(row))
                form.check_names(names)
                return names
    raise _empty(form)


def _lines(file: Any, form: Form) -> Iterator[str]:
    """Give the lines of a file, up to so many characters: its header ends before."""
    left = MOST_HEADER
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            message = f"The first line of the file has more than {MOST_HEADER:,} characters."
            raise form.too_much(message, "check that it is a table, and its quotes")
        yield line


@contextmanager
def _decoding(path: Path, form: Form) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"The data cannot be opened: {error.strerror or 'unreadable'}."
        raise DataError(Problem("no-file", message, form.place)) from None
    except UnicodeError:
        raise undecodable(path, form) from None
    except (csv.Error, ValueError, TypeError):  # csv.reader refuses some delimiters and quotation marks together
        raise form.unreadable() from None


def _empty(form: Form) -> DataError:
    return DataError(Problem("empty", "The file is empty.", form.place, "give a table with a header line"))


def read(path: Path, form: Form, names: Sequence[str], wanted: Sequence[str]) -> pa.Table:
    """Read some columns whole; text is dictionary-encoded."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    ragged: list[int] = []
    text = pa.dictionary(pa.int32(), pa.string())
    with _in_our_words(path, form):
        table = arrow_csv.read_csv(path, **_options(path, form, names, wanted, text, ragged))
    _refuse_ragged(path, form, names, wanted, ragged)
    return table


def stream(path: Path, form: Form, names: Sequence[str], wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read some columns piece by piece, as text."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    ragged: list[int] = []
    with _in_our_words(path, form):
        options = _options(path, form, names, wanted, pa.string(), ragged)
        options["read_options"].block_size = CSV_BLOCK
        yield from arrow_csv.open_csv(path, **options)
    _refuse_ragged(path, form, names, wanted, ragged)


def _empty_lines(path: Path, form: Form) -> int:
    """Count the empty lines before the header, which Arrow would take for it."""
    with _decoding(path, form), path.open(encoding=form.codec, newline="") as file:
        return sum(
            1 for _ in takewhile(lambda line: not line.strip("\r\n"), iter(partial(file.readline, MOST_HEADER), ""))
        )


def _options(
    path: Path,
    form: Form,
    names: Sequence[str],
    wanted: Sequence[str],
    text: Any,
    ragged: list[int],
    threads: bool = True,
) -> dict[str, Any]:
    """How to read a CSV file; rows with too few or too many cells are noted."""
    import pyarrow.csv as arrow_csv

    def note(row: Any) -> str:
        ragged.append(row.number or 0)
        return "skip"

    return {
        "read_options": arrow_csv.ReadOptions(
            encoding="utf8" if form.is_utf8 else form.encoding,
            column_names=list(names),
            skip_rows=_empty_lines(path, form),
            skip_rows_after_names=int(form.header),
            use_threads=threads,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=form.delimiter, quote_char=form.quote, newlines_in_values=True, invalid_row_handler=note
        ),
        "convert_options": arrow_csv.ConvertOptions(
            include_columns=list(wanted),
            column_types=dict.fromkeys(wanted, text),
            null_values=[],
            strings_can_be_null=False,
        ),
    }


@contextmanager
def _in_our_words(path: Path, form: Form) -> Iterator[None]:
    """Say why a file could not be read; the parser's own words may quote cells."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowMemoryError:
        raise MemoryError from None
    except pa.ArrowInvalid as error:
        if "straddl" in str(error):
            message = "A row of the file takes more than a megabyte, or a quotation mark is not closed."
            raise form.too_much(message, "check the quotes of the file") from None
        if "UTF8" in str(error) or "decod" in str(error).lower() or "Cannot" in str(error):
            raise undecodable(path, form) from None
        raise form.unreadable() from None
    except (UnicodeError, OSError):
        raise undecodable(path, form) from None
    except (pa.ArrowException, ValueError, TypeError):
        raise form.unreadable() from None


def _refuse_ragged(path: Path, form: Form, names: Sequence[str], wanted: Sequence[str], ragged: list[int]) -> None:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    if not ragged:
        return
    ragged.clear()
    text = pa.dictionary(pa.int32(), pa.string())
    with _in_our_words(path, form):  # row numbers are known only in a single thread
        arrow_csv.read_csv(path, **_options(path, form, names, wanted, text, ragged, threads=False))
    shown = ", ".join(str(number - form.header) for number in ragged[:3])
    message = (
        f"{len(ragged):,} rows do not have the {len(names)} cells of the header (first: record {shown}). "
        "Nothing was read."
    )
    raise DataError(Problem("ragged", message, form.place, "check the delimiter and the quotes of these rows"))


def undecodable(path: Path, form: Form) -> DataError:
    """Name the line at which the bytes stop being text in the stated encoding."""
    decoder = codecs.getincrementaldecoder(form.encoding)()
    number = 1
    try:
        with path.open("rb") as file:
            for line in file:
                decoder.decode(line)
                number += 1
            decoder.decode(b"", final=True)
    except (UnicodeError, OSError):
        pass
    message = f"Line {number} is not text in {form.encoding}."
    hint = "set data.encoding in the plan, for example to latin-1 or cp1252"
    return DataError(Problem("encoding", message, f"{form.place}:{number}", hint))


DESCRIPTOR = FormatDescriptor(
    name="csv",
    title="CSV",
    help="header line required; quotes may be doubled; cells may hold line breaks; empty lines are skipped",
    order=10,
    endings=(".csv", ".tsv", ".txt"),
    opened=open_csv,
    options=("delimiter", "encoding", "quote", "header", "decimal", "thousands"),
    any_ending=True,
    writer="hedgerow.engines.export:CSV",
)

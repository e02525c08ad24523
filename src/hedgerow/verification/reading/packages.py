"""Files of SPSS, Stata and SAS as the check reads them; run in a child process.

The bytes are taken apart by pyreadstat, as for the maker: no other reader is kept as well. What a cell then means
(its label, whether it is missing, how a number or a day is written) is worked out here, anew.
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox import TaskResult
from hedgerow.outside.sandbox.limits import ROOM, most_cells
from hedgerow.verification.reading.refusals import check_names
from hedgerow.verification.values.numbers import exact, name_number

if TYPE_CHECKING:
    import pyarrow as pa

KINDS_OF = " (missing)"
ROWS = 1 << 16


def package_header(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the names of the columns: the variables, each that is missing in several ways followed by the ways."""
    found = _File(files[0], request)
    if request.get("all_used"):
        found.check_labels()
    return TaskResult({"header": found.header, "titles": found.titles})


def package_rows(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return columns by position, as text."""
    import pyarrow as pa

    found = _File(files[0], request)
    schema = pa.schema([pa.field(f"f{at}", pa.string()) for at in request["columns"]])
    return TaskResult({}, schema, found.rows(request["columns"], schema))


class _File:
    """A file that is open."""

    def __init__(self, path: str, request: Mapping[str, Any]) -> None:
        self._path, self._request, self._place = path, request, request["place"]
        self._read, self._given = _reader(path, request["package"])
        about = self._call(metadataonly=True)[1]
        self._about = about
        check_names(list(about.column_names), self._place)
        self._most = most_cells(Path(path).stat().st_size, request["room"])
        self._bound(max(about.number_rows or 0, 0) * len(about.column_names))
        self._columns: list[tuple[str, bool]] = []
        for name in about.column_names:
            self._columns.append((name, False))
            if self._ways(name) and name + KINDS_OF not in about.column_names:
                self._columns.append((name, True))
        self.header = [name + KINDS_OF if why else name for name, why in self._columns]

    @property
    def titles(self) -> list[str]:
        """What the file calls the columns."""
        labels = self._about.column_names_to_labels
        return ["" if why else str(labels.get(name) or "") for name, why in self._columns]

    def check_labels(self) -> None:
        """Refuse a label of a code that no row has: a release says nothing of values that are not in it."""
        cells, _ = self._call()
        for name, labels in (self._about.variable_value_labels or {}).items():
            there = {_bare(cell) for cell in cells.get(name, ())}
            if any(_bare(code) not in there for code in labels):
                message = "The file has a label for a code that no row has."
                raise DataError(Problem("format", message, self._place))

    def rows(self, at: Sequence[int], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Give some columns, piece by piece."""
        import pyarrow as pa

        wanted = [self._columns[position] for position in at]
        cells, _ = self._call(usecols=list(dict.fromkeys(name for name, _ in wanted)))
        self._bound(sum(map(len, cells.values())))
        written = [self._written(name, why, cells[name]) for name, why in wanted]
        yield from pa.table([pa.array(column, pa.string()) for column in written], schema=schema).to_batches(ROWS)

    def _written(self, name: str, why: bool, cells: Sequence[Any]) -> list[str | None]:
        kind = str(self._about.readstat_variable_types[name])
        labels = {
            _bare(code): str(label) for code, label in (self._about.variable_value_labels or {}).get(name, {}).items()
        }
        ways = self._ways(name)
        shown = why or self._request["labels"] == "publish"
        known: dict[Any, str | None] = {}
        found = []
        for cell in cells:
            key = (type(cell), cell)
            if key not in known:
                known[key] = None
                if _is_one_of(cell, ways, kind) == why:
                    label = labels.get(_bare(cell)) if shown else None
                    known[key] = label.strip() if label is not None and label.strip() else _text(cell, kind)
            found.append(known[key])
        return found

    def _ways(self, name: str) -> list[tuple[Any, Any]]:
        """Return the ranges of codes that mean a missing value; a letter, in Stata and SAS, is a range of its own."""
        about = self._about
        ways = [(_bare(one["lo"]), _bare(one["hi"])) for one in (about.missing_ranges or {}).get(name, [])]
        letters = set((about.missing_user_values or {}).get(name, []))
        if str(about.readstat_variable_types[name]) != "string":
            letters |= {code for code in (about.variable_value_labels or {}).get(name, {}) if isinstance(code, str)}
        return ways + [(letter, letter) for letter in sorted(letters)]

    def _call(self, **more: Any) -> Any:
        try:
            return self._read(self._path, output_format="dict", **self._given, **more)
        except MemoryError:
            raise
        except Exception:  # its words may hold cells
            message = "The file cannot be read as one of SPSS, Stata or SAS."
            raise DataError(Problem("format", message, self._place, "check that the file is whole")) from None

    def _bound(self, cells: int) -> None:
        if cells > self._most:
            message = f"The file unpacks to more than {self._most:,} cells, too many for its size."
            hint = f"if you trust it, set {ROOM}=10 in the environment"
            raise DataError(Problem("too-much", message, self._place, hint))


def _reader(path: str, package: str) -> tuple[Any, dict[str, Any]]:
    import pyreadstat

    with Path(path).open("rb") as file:
        start = file.read(20)
    if package == "stata":
        return pyreadstat.read_dta, {"user_missing": True}
    if package == "spss":
        if start.startswith((b"$FL2", b"$FL3")):
            return pyreadstat.read_sav, {"user_missing": True}
        return pyreadstat.read_por, {}
    if start == b"HEADER RECORD*******":
        return pyreadstat.read_xport, {}
    return pyreadstat.read_sas7bdat, {"user_missing": True}


def _bare(code: Any) -> Any:
    return code.rstrip() if isinstance(code, str) else code


def _is_one_of(cell: Any, ways: Sequence[tuple[Any, Any]], kind: str) -> bool:
    """Tell whether a cell is a code that means a missing value."""
    if isinstance(cell, str):
        return kind != "string" or any(_bare(cell) == low for low, _ in ways)  # a letter among numbers: .a to .z
    if not isinstance(cell, int | float):
        return False
    return any(low <= cell <= high for low, high in ways if not isinstance(low, str))


def _text(cell: Any, kind: str) -> str | None:
    """Write a cell; nothing, NaN and an empty text are missing."""
    if cell is None or cell != cell or cell == "":
        return None
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and kind == "float":  # four bytes: the shortest number that is the same in four bytes
        cell = next(short for digits in range(1, 18) if _four(short := float(f"{cell:.{digits}g}")) == _four(cell))
    if isinstance(cell, float):
        return repr(cell) if cell in (float("inf"), float("-inf")) else name_number(exact(Decimal(repr(cell))))
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, dt.timedelta):
        sign, span = ("-", -cell) if cell.days < 0 else ("", cell)
        whole, rest = divmod(span, dt.timedelta(seconds=1))
        part = f".{rest.microseconds:06}".rstrip("0") if rest else ""
        return f"{sign}{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}{part}"
    return cell.isoformat(" ") if isinstance(cell, dt.datetime) else str(cell.isoformat())


def _four(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return b"too large"

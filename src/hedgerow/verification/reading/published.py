"""Reading a release as it was written: the plan, the facts, and the data with its guards undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import MOST_JSON_BYTES, read_bytes, read_json
from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.reading.cells import Kind, as_text, kind_of
from hedgerow.verification.reading.formats import open_released
from hedgerow.verification.reading.listing import DATA, Listing
from hedgerow.verification.reading.stated import read_facts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Published:
    """A release.

    Attributes
    ----------
    facts
        What facts.json states, as far as it is what it must be.
    fact_faults
        What of it is not.
    header
        The names of all columns of the data file, in order.
    columns
        The cells, as text, of those columns that the plan names.
    kinds
        What these columns hold in the file.
    rows
        Number of rows of the data file.
    counts
        In counted form, how many rows each row of ``columns`` stands for; None: one each.
    first
        In counted form, the first of these rows, where rows have an order.
    """

    plan: Plan
    facts: Mapping[str, Any]
    fact_faults: tuple[str, ...]
    header: tuple[str, ...]
    columns: Mapping[str, pa.ChunkedArray]
    kinds: Mapping[str, Kind]
    rows: int
    counts: IntArray | None = None
    first: IntArray | None = None

    @property
    def entries(self) -> int:
        """Length of the columns: the number of rows, or in counted form of distinct rows."""
        return self.rows if self.counts is None else len(self.counts)

    @property
    def in_order(self) -> bool:
        """Tell whether the order of the rows is known."""
        return self.counts is None or self.first is not None

    def fact(self, name: str) -> int | None:
        """Return a number that facts.json states, or None if it does not."""
        number = self.facts.get(name)
        return number if type(number) is int else None

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that the data file has."""
        return tuple(name for name in self.plan.quasi_identifiers if name in self.columns)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns of the data file whose cells are those of records, treated or not: all but means of weights."""
        return tuple(name for name in self.plan.as_they_are if name in self.header)


class Unreadable(Exception):
    """The data file of a release is not a table; holds why."""


def read_release(folder: Path) -> Published:
    """Read a release folder.

    Raises
    ------
    DataError
        If the folder is not a release.
    PlanError
        If its plan cannot be understood.
    Unreadable
        If its data file is not a table: this breaks a promise.
    """
    plan, facts, data = open_release(folder)
    try:
        header, columns, kinds, rows = _read_data(data, plan)
    except DataError as error:
        raise Unreadable(error.problems[0].message) from None
    sound, faults = read_facts(facts, plan)
    return Published(plan, sound, tuple(faults), header, columns, kinds, rows)


def _read_data(path: Path, plan: Plan) -> tuple[tuple[str, ...], dict[str, pa.ChunkedArray], dict[str, Kind], int]:
    """Return the names of all columns, cells and kinds of those that the plan names, and the number of rows."""
    opened = open_released(path, plan)
    header, table = opened.header, opened.table(range(len(opened.header)))
    named = {*plan.attributes, *plan.published_columns}
    known = {name: table.column(header.index(name)) for name in header if name in named}
    kinds = {name: kind_of(column) for name, column in known.items()}
    columns = {
        name: opened.meant(name, column) if opened.guarded else as_text(column) for name, column in known.items()
    }
    return header, columns, kinds, table.num_rows


def list_release(folder: Path) -> Listing:
    """List what lies in a release folder; it may lack something."""
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise DataError(Problem("no-file", f"The release {what}.", str(folder), "name a release folder"))
    return Listing.of(folder)


def open_release(folder: Path) -> tuple[Plan, Mapping[str, Any], Path]:
    """Read the plan and the facts of a release folder, and find its data: a file, or a folder of Parquet files."""
    unsafe = list_release(folder).unsafe
    if unsafe:
        message = f"The folder is not opened: {unsafe[0]} is, or holds, a link or something else that is no plain file."
        raise DataError(Problem("not-a-release", message, str(folder), "name the folder that anonymize wrote"))
    data = [folder / name for name in DATA if (folder / name).is_file() or (folder / name / ".").is_dir()]
    lacking = [name for name in ("plan.yaml", "facts.json") if not (folder / name).is_file()]
    if lacking or len(data) != 1:
        known = f"{', '.join(DATA[:-1])} or {DATA[-1]}"
        lacks = "more than one data file" if len(data) > 1 else "no " + (lacking or [known])[0]
        hint = "name the folder that anonymize wrote"
        raise DataError(Problem("not-a-release", f"The folder is not a release: it has {lacks}.", str(folder), hint))
    return Plan.load(folder / "plan.yaml", files=False), _read_facts(folder / "facts.json"), data[0]


def _read_facts(path: Path) -> Mapping[str, Any]:
    try:
        facts = read_json(read_bytes(path, MOST_JSON_BYTES, "The file of facts"))
    except ValueError as error:
        message = f"The facts of the release are not readable as JSON: {error}."
        raise DataError(Problem("not-a-release", message, str(path))) from None
    if not isinstance(facts, dict):
        raise DataError(Problem("not-a-release", "The facts of the release are not readable as JSON.", str(path)))
    return facts

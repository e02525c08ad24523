"""Looking at any table before there is a plan for it: in memory, in a file larger than that, or on a server.

What is larger than memory is counted column by column where it lies, and only values with their counts come here. Of a
column with very many values those come that most records have, and some of the others; the draft says so.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.engines import opening
from hedgerow.engines.counting import CountedValues, CountingSession, count_values, first_rows
from hedgerow.engines.place import read_place
from hedgerow.engines.servers import open_server
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.drafting.column import SeenColumn, is_plain
from hedgerow.evaluation.drafting.draft import (
    LOOKING,
    check_header,
    check_names,
    check_some,
    examine_here,
    preview_of,
    reading_plan,
)
from hedgerow.evaluation.drafting.examination import PREVIEW, Examination, Preview
from hedgerow.evaluation.drafting.wishes import Wishes
from hedgerow.evaluation.tightening import propose_for
from hedgerow.microdata.frames import taken_over
from hedgerow.microdata.read import clean, file_schema, read_batches, sniffed
from hedgerow.outside.server import check_path, is_server
from hedgerow.plan import DataFormat, Plan
from hedgerow.types import Progress, silent

if TYPE_CHECKING:
    import pyarrow as pa

USUAL_SIZE = 3
MOST_COLUMNS_SCORED = 20
MOST_SCORING = 20_000_000
"""Records times combinations of columns that a draft looks at, to say which columns to coarsen first."""
MOST_VALUES = 100_000
"""Values of a column that come here, at most, from a table that is not in memory."""
UNREADABLE = {"format", "not-a-number"}
"""What an engine says of a column whose values have no form here."""


def draft_plan(
    source: Any,
    form: DataFormat | None = None,
    trust_names: bool = False,
    limits: bool = False,
    withhold: str | int | None = None,
    progress: Progress | None = None,
    wishes: Wishes | None = None,
) -> str:
    """Propose a plan for a table, as commented YAML that a person must review. It shows no value of a record.

    Parameters
    ----------
    source, form, trust_names, progress
        As for :func:`examine`.
    wishes
        What is decided beforehand: roles, the column that names a person, who gets the release.
    limits, withhold
        Whether limits are proposed too, and what may be withheld with all of them: see
        :func:`hedgerow.propose_limits`.

    Raises
    ------
    DataError
        If the table cannot be read, has no records, or seems to have no header line.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ages, sexes = [str(20 + i % 60) for i in range(300)], ["f", "m", "m"] * 100
    >>> draft = draft_plan(pa.table({"no": list(map(str, range(300))), "age": ages, "sex": sexes}))
    >>> print(draft[draft.index("attributes:") : draft.index("# What must")].rstrip())
    attributes:
    <BLANKLINE>
      # whole numbers, nearly every record has its own, none missing
      # Proposed: left out, because by its name it names a person or a record.
      "no": identifier
    <BLANKLINE>
      # whole numbers, about 60 different, none missing
      # Decide: how wide a band is still of use? limit: {level: 2} leaves bands of 10 or less.
      # Or, instead of the hierarchy, intervals: free, snap: 5: intervals that fit the data. Never without snap:
      # both ends of an interval are then exact values of people.
      age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
    <BLANKLINE>
      # text, 2 different, none missing
      # Decide: may it become *? If not, limit: {level: 0} leaves it as it is.
      sex: {role: quasi-identifier}
    >>> Plan.loads(draft)
    Plan(k=5, quasi-identifiers: age, sex)
    """
    source = taken_over(source)
    seen = examine(source, form, progress, rows=0, trust_names=trust_names)
    if wishes is not None:
        seen = seen.decided(wishes)
    plan = Plan.loads(seen.to_yaml(), file="draft")
    seen = replace(seen, telling=_telling(source, seen, plan))
    if not limits:
        return seen.to_yaml()
    return seen.to_yaml(propose_for(*opening.read_microdata(source, plan.settled()), plan, withhold, progress=progress))


def _telling(source: Any, seen: Examination, plan: Plan) -> tuple[tuple[str, float], ...]:
    """Say which columns make people special uniques most: each with its share of all scores, the greatest first.

    Nothing for a table that is large or on a server, or has a single quasi-identifier: that takes long, or tells
    nothing. It is a hint: where the table cannot be read as the draft says, there is none.
    """
    from hedgerow.evaluation.assessing.assessing import assess  # it looks at drafts for its columns

    names = plan.quasi_identifiers
    if is_server(source) or opening.is_large_file(source) or not 2 <= len(names) <= MOST_COLUMNS_SCORED:
        return ()
    sizes = range(1, min(USUAL_SIZE, len(names)) + 1)
    work = [sum(math.comb(len(names), length) for length in range(1, size + 1)) * seen.records for size in sizes]
    size = sum(one <= MOST_SCORING for one in work)
    if not size:
        return ()
    try:
        shares = assess(source, plan, size=size).parts
    except HedgerowError:
        return ()
    found = [(part.column, part.share_of_scores) for part in shares if part.share_of_scores]
    return tuple(sorted(found, key=lambda one: -one[1]))


def examine(
    source: Any,
    form: DataFormat | None = None,
    progress: Progress | None = None,
    rows: int = PREVIEW,
    trust_names: bool = False,
) -> Examination:
    """Look at a table: its columns with their counts, what is proposed for each, and some rows.

    Parameters
    ----------
    source
        A path (CSV, Parquet, Arrow), a pandas, polars or pyarrow table, or the address of a table on a
        server (``postgresql://user@host/database?table=schema.patients``).
    form
        How a file is written; what it leaves out is found out.
    progress
        Called with ``"looking at columns"``, how many are done, and how many there are; with ``"reading"`` and the
        number of rows while a large file is read.
    rows
        Rows to show in the preview. With 0 no row of a table on a server is fetched.
    trust_names
        Take the names of the columns for names, though some are numbers or dates, or stand among their values.

    Raises
    ------
    DataError
        If the table cannot be read, has no records, or seems to have no header line.

    Examples
    --------
    >>> import pyarrow as pa
    >>> seen = examine(pa.table({"sex": ["f", "m", "m"] * 30, "ward": ["a", None, "b"] * 30}))
    >>> seen.records, [column.filled for column in seen.columns], seen.preview[0]
    (90, [90, 60], ('f', 'a'))
    """
    source = taken_over(source)
    check_path(source)
    if is_server(source):
        return _on_server(source, form, progress or silent, rows, trust_names)
    if opening.is_large_file(source):
        given = form or DataFormat()
        likely, reasons = sniffed(source, given)
        columns, found, first = _in_large_file(Path(source), likely, progress or silent, rows, trust_names)
        if not trust_names and likely.header:
            check_header(columns, str(source))
        return Examination.of(columns, found, form, first, reasons=reasons)
    return examine_here(source, form, progress, rows, trust_names)


# -- files larger than memory ----------------------------------------------------------------------------------------


def _in_large_file(
    path: Path, form: DataFormat, tell: Progress, rows: int, trust_names: bool
) -> tuple[list[SeenColumn], DataFormat, Preview]:
    from hedgerow.engines.duckdb import DuckDBSession

    schema = file_schema(path, form)
    check_some(schema.names)
    check_names(schema.names, str(path), trust_names or not form.header)
    plain = [field.name for field in schema if is_plain(field.type)]
    if not plain:
        return [SeenColumn(name, 0, {}, readable=False) for name in schema.names], form, ()
    plan = reading_plan(plain, form)
    first = preview_of(_first_records(path, plan, rows), schema.names)
    session = DuckDBSession(path, plan, "pyarrow", lambda done: tell("reading", done, 0))
    with contextlib.closing(session):
        unplain = {name: SeenColumn(name, 0, {}, readable=False) for name in schema.names if name not in plain}
        columns = _counted(session, schema.names, unplain, form, tell)
    return columns, session.format or form, first


def _first_records(path: Path, plan: Plan, rows: int) -> dict[str, pa.ChunkedArray]:
    """Read the first records of a file, which a database would not give in their order."""
    import pyarrow as pa

    found = read_batches(path, plan)
    batches: list[pa.RecordBatch] = []
    for batch in found.batches if rows else ():
        batches.append(batch)
        if sum(map(len, batches)) >= rows:
            break
    table = pa.Table.from_batches(batches, found.schema).slice(0, rows)
    return {name: clean(table.column(name), plan.data.markers(name)) for name in table.column_names}


# -- tables on a server ----------------------------------------------------------------------------------------------


def _on_server(address: str, form: DataFormat | None, tell: Progress, rows: int, trust_names: bool) -> Examination:
    """Count on the server, in one transaction that sees one state of the table and can change nothing."""
    given = form or DataFormat()
    with contextlib.closing(open_server(read_place(address))) as session:
        session.read_only()
        names = [column.name for column in session.columns()]
        check_names(names, session.place, trust_names)
        withheld = session.withheld()
        if all(withheld.get(name) == "right" for name in names):
            message = "The role has no right to read any column of this table."
            raise DataError(Problem("no-right", message, session.place, "ask for SELECT on it, or on some columns"))
        skipped = {name: SeenColumn(name, 0, {}, False, allowed=why != "right") for name, why in withheld.items()}
        columns = _counted(session, names, skipped, given, tell)
        read = [column.name for column in columns if column.readable]
        first: Mapping[str, pa.ChunkedArray] = {}
        if rows and read:
            with _unless_unreadable():
                first = first_rows(session, reading_plan(read, given), rows)
    return Examination.of(columns, given, form, preview_of(first, names))


# -- both ------------------------------------------------------------------------------------------------------------


def _counted(
    session: CountingSession, names: Sequence[str], skipped: Mapping[str, SeenColumn], form: DataFormat, tell: Progress
) -> list[SeenColumn]:
    """Count the columns one after the other; one that holds what has no form here is not readable."""
    columns, records = [], 0
    for done, name in enumerate(names):
        tell(LOOKING, done, len(names))
        column = skipped.get(name, SeenColumn(name, 0, {}, readable=False))
        if name not in skipped:
            with _unless_unreadable():
                counted = count_values(session, reading_plan([name], form), MOST_VALUES)
                records = counted.records
                column = _column(name, counted)
        columns.append(column)
    return [replace(column, records=records) for column in columns]


def _column(name: str, counted: CountedValues) -> SeenColumn:
    import pyarrow as pa

    column = SeenColumn.of(name, counted.values, counted.records, counted.counts)
    if not counted.unlisted:
        return column
    drawn = SeenColumn.of(name, counted.values.filter(pa.array(counted.drawn)), counted.records)
    return replace(
        column,
        unlisted=counted.unlisted,
        unlisted_records=counted.unlisted_records,
        drawn=frozenset(drawn.counts),
    )


@contextlib.contextmanager
def _unless_unreadable() -> Iterator[None]:
    """Go on without values that have no form here."""
    try:
        yield
    except DataError as error:
        if not {problem.code for problem in error.problems} <= UNREADABLE:
            raise

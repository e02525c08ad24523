"""Drafting a plan: what a table's columns look like, and what a person must decide about them.

A draft is a starting point. It proposes the safe choice: what looks like the name or number of a person is left out,
and everything else is coarsened. It never calls a column sensitive or harmless, because
nothing in a table shows what people outside know; where a column's name raises the question, the draft asks it.

A draft shows types, rounded counts and round band widths, but no value of any record, not even the smallest.
"""

from __future__ import annotations

import codecs
import re
import textwrap
from pathlib import Path
from typing import Any

from hedgerow.drafting.column import Column
from hedgerow.drafting.propose import Proposal, about, propose, with_a_quasi_identifier
from hedgerow.errors import DataError, Problem
from hedgerow.microdata import Table, column_names, read_table
from hedgerow.microdata.read import check_file
from hedgerow.plan import DataFormat, Plan

MISSING_MARKERS = ("?", "*", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "(null)")
"""Cells that usually mean a missing value."""

_WIDTH = 108


def draft_plan(source: Any, form: DataFormat | None = None) -> str:
    """Propose a plan for a table, as commented YAML that a person must review.

    Parameters
    ----------
    source
        A path (CSV, Parquet, Arrow) or a pandas, polars or pyarrow table.
    form
        How a file is written; what it leaves out is found out.

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
      age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
    <BLANKLINE>
      # text, 2 different, none missing
      # Decide: may it become *? If not, limit: {level: 0} leaves it as it is.
      sex: {role: quasi-identifier}
    >>> Plan.loads(draft)
    Plan(k=5, quasi-identifiers: age, sex)
    """
    table = _read(source, form or DataFormat())
    asked = form is not None and "missing" in form.model_fields_set
    columns = [Column.of(name, values, table.records) for name, values in table.columns.items()]
    if isinstance(source, str | Path) and table.format.delimiter is not None:
        _check_header(columns, str(source))
    markers = () if asked else tuple(m for m in MISSING_MARKERS if any(m in column.counts for column in columns))
    columns = [column.without(markers) for column in columns]
    missing = (*table.format.missing, *markers)
    proposals = with_a_quasi_identifier(columns, [propose(column) for column in columns])
    parts = [
        _head(table.records, len(columns)),
        _data(table.format, form or DataFormat(), missing, markers, len(columns)),
        "attributes:\n",
        *(_attribute(column, proposal) for column, proposal in zip(columns, proposals, strict=True)),
        _foot(sum(proposal.role == "quasi-identifier" for proposal in proposals)),
    ]
    return "\n".join(part for part in parts if part)


# -- reading ---------------------------------------------------------------------------------------------------------


def _read(source: Any, form: DataFormat) -> Table:
    """Read every column; a CSV file that is not UTF-8 is tried in the encodings it is likely to have."""
    if "encoding" in form.model_fields_set or not isinstance(source, str | Path):
        return _read_all(source, form)
    try:
        return _read_all(source, form)
    except DataError as error:
        if {problem.code for problem in error.problems} != {"encoding"}:
            raise
    with Path(source).open("rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not marked:
        try:
            return _read_all(source, form.model_copy(update={"encoding": "cp1252"}))
        except DataError:
            pass  # it has bytes that no Windows text has
    return _read_all(source, form.model_copy(update={"encoding": "utf-16" if marked else "latin-1"}))


def _read_all(source: Any, form: DataFormat) -> Table:
    """Read a table as under a plan that releases every column."""
    check_file(source)
    if isinstance(source, str | Path) and not Path(source).is_file():
        message = "The data file does not exist, or is a folder."
        raise DataError(Problem("no-file", message, str(source), "check the path"))
    names = column_names(source, form)
    if not names:
        raise DataError(Problem("empty", "The table has no columns.", hint="give a table with columns"))
    everything = dict.fromkeys(names, "quasi-identifier")
    return read_table(source, Plan.from_dict({"data": form, "attributes": everything, "privacy": {"k": 2}}))


def _check_header(columns: list[Column], place: str) -> None:
    """Refuse a file whose first line is a record: its cells would stand in the draft as column names."""
    suspicious = sum(column.name in column.counts for column in columns)
    if 2 * suspicious > len(columns):
        message = "The first line seems to be a record, not the names of the columns: its cells are values below it."
        raise DataError(Problem("format", message, place, "add a first line with the column names"))


# -- writing ---------------------------------------------------------------------------------------------------------


def _head(records: int, columns: int) -> str:
    return f"""\
# DRAFT — review every line. Hedgerow has looked at the table; only you know what people outside could know.
# Seen: {about(records)} records, {columns:,} columns. No value of a record stands in this file.
#
#   identifier         names a person or a record: left out of the release
#   quasi-identifier   could be known from elsewhere, such as age or place: coarsened until k people look alike
#   sensitive          nobody should learn it of a person: published as it is
#   other              neither: published as it is
#
# A limit says how far a value may be coarsened; without one it may go all the way to *.
# When you have decided: hedgerow plan check PLAN, then hedgerow explain DATA PLAN.
"""


def _data(
    found: DataFormat, given: DataFormat, missing: tuple[str, ...], markers: tuple[str, ...], columns: int
) -> str:
    lines = []
    if found.delimiter is not None:
        delimiter = "tab" if found.delimiter == "\t" else _quoted(found.delimiter)
        check = "   # Check: the header has one column only when split at this" if columns == 1 else ""
        lines.append(f"  delimiter: {delimiter}{check}")
    if found.encoding != DataFormat().encoding:
        check = "" if "encoding" in given.model_fields_set else "   # Check: not UTF-8, so this is a guess"
        lines.append(f"  encoding: {found.encoding}{check}")
    if found.quote != DataFormat().quote:
        lines.append(f"  quote: {_quoted(found.quote)}")
    if missing != DataFormat().missing:
        check = "   # Check: does each of these mean a missing value in every column?" if markers else ""
        lines.append(f"  missing: [{', '.join(map(_quoted, missing))}]{check}")
    if given.format is not None:
        lines.append(f"  format: {given.format}")
    return "data:\n" + "\n".join(lines) + "\n" if lines else ""


def _attribute(column: Column, proposal: Proposal) -> str:
    lines = [wrapped for note in (proposal.seen, *proposal.notes) for wrapped in textwrap.wrap(note, _WIDTH - 4)]
    value = proposal.role
    if value == "quasi-identifier":
        parts = {"role": value, "hierarchy": proposal.rule, "unknown": proposal.unknown}
        value = "{" + ", ".join(f"{key}: {part}" for key, part in parts.items() if part) + "}"
    key = _key(column.name)
    entry = f"  {key}: {value}" if len(key) < 1000 else f"  ? {key}\n  : {value}"  # YAML wants long keys announced
    return "\n".join([*(f"  # {line}" for line in lines), entry, ""])


def _foot(quasi_identifiers: int) -> str:
    many = (
        f"# All {quasi_identifiers} quasi-identifiers count together: each one fewer leaves the others finer.\n"
        if quasi_identifiers > 5
        else ""
    )
    return (
        "# What must hold: everyone in the release looks like at least k - 1 others in all quasi-identifiers.\n"
        f"{many}privacy: {{k: 5}}\n\nmethod: cluster\n"
    )


def _key(name: str) -> str:
    """Write a column name so that every reader of YAML takes it for text, on one line."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*", name)
    reserved = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
    return name if plain and name.casefold() not in reserved else _quoted(name)


def _quoted(text: str) -> str:
    import yaml

    return str(yaml.dump(text, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=True, width=1 << 30)).strip()

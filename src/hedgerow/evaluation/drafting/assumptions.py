"""How a table is read: what is assumed of its file, each with the reason, and what is odd about its columns.

Nothing here is silent: what was found out stands in the draft, in ``hedgerow inspect`` and in the studio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hedgerow.evaluation.drafting.notations import SIGNS
from hedgerow.evaluation.drafting.propose import about
from hedgerow.microdata.parsing.sniffing import plain_name

if TYPE_CHECKING:
    from hedgerow.evaluation.drafting.column import SeenColumn
    from hedgerow.evaluation.drafting.examination import Examination

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
QUOTES = {'"': 'double quotation mark "', "'": "apostrophe '"}
STATED = "as you said"
FREE_TEXT = 40
"""Characters on average from which on values are taken for sentences."""


@dataclass(frozen=True)
class Assumption:
    """Something that is assumed of how a table is written.

    Attributes
    ----------
    key, value
        The key below ``data`` in a plan that says it, and its value.
    title, shown
        What it is called, and the value in words.
    why
        What speaks for it.
    sure
        Whether a person need not look at it.
    """

    key: str
    title: str
    value: Any
    shown: str
    why: str
    sure: bool = True

    @property
    def comment(self) -> str:
        """What a draft says beside it."""
        return self.why if self.sure else f"Check: {self.why}"


@dataclass(frozen=True)
class ColumnRemarks:
    """What is odd about a column.

    Attributes
    ----------
    kind
        What it holds, with rounded counts.
    remarks
        What a person should know of it.
    """

    name: str
    kind: str
    role: str
    remarks: tuple[str, ...] = field(default=())


def assumptions_of(seen: Examination) -> list[Assumption]:
    """Return what is assumed of how a table is written."""
    return [*_of_file(seen), *_of_numbers(seen), *_of_days(seen), *_of_missing(seen)]


def _of_file(seen: Examination) -> Iterator[Assumption]:
    form = seen.form
    if form.delimiter is not None:
        for key, title, names in (("delimiter", "Delimiter", DELIMITERS), ("quote", "Quotation mark", QUOTES)):
            value = getattr(form, key)
            yield _told(seen, key, title, names.get(value, repr(value)))
        yield _told(seen, "encoding", "Encoding", plain_name(form.encoding))
    if form.delimiter is not None or form.sheet is not None or "header" in seen.stated:
        said = "the first line names the columns" if form.header else "none: columns are called column 1, column 2, …"
        why = STATED if "header" in seen.stated else "none of its cells looks like a value of a record"
        yield Assumption("header", "Names of columns", form.header, said, why)
    if form.sheet is not None:
        yield Assumption("sheet", "Sheet", form.sheet, form.sheet, STATED)


def _told(seen: Examination, key: str, title: str, shown: str) -> Assumption:
    value = getattr(seen.form, key)
    if key in seen.stated:
        return Assumption(key, title, value, shown, STATED)
    reason = seen.reasons.get(key)
    if reason is None:
        return Assumption(key, title, value, shown, "the usual one")
    return Assumption(key, title, value, shown, reason.why, reason.sure)


def _of_numbers(seen: Examination) -> Iterator[Assumption]:
    found, form = seen.notation, seen.form
    stated = bool(seen.stated & {"decimal", "thousands"})
    sure = not found.ambiguous and not found.others
    if stated:
        why = STATED
    elif found.columns:
        why = f"{_columns(found.columns)} {'is' if len(found.columns) == 1 else 'are'} numbers only so"
    else:
        why = "no column is numbers only with another sign"
    if found.ambiguous and not stated:
        why += f"; of {_columns(found.ambiguous)} nothing tells decimal signs from signs between thousands"
    if found.others:
        why += f"; {_columns(found.others)} would be numbers with decimal points, and is read as text"
    yield Assumption("decimal", "Decimal sign", form.decimal, SIGNS[form.decimal], why, sure or stated)
    yield Assumption("thousands", "Between thousands", form.thousands, SIGNS[form.thousands], why, sure or stated)


def _of_days(seen: Examination) -> Iterator[Assumption]:
    columns = [(column, days) for column in seen.columns if (days := column.days) is not None]
    forms = tuple(dict.fromkeys(form for _, days in columns for form in days.forms))
    if not columns:
        return
    said = [f"{column.name}: {', '.join(days.forms) or 'year-month-day'}" for column, days in columns]
    unsure = [column.name for column, days in columns if (days.ambiguous or days.two_digits)]
    why = STATED if "dates" in seen.stated else "by the values of these columns"
    if unsure:
        why += f"; in {_columns(unsure)} nothing tells the day from the month, or years have two digits"
    yield Assumption("dates", "Days", forms or None, "; ".join(said), why, not unsure)


def _of_missing(seen: Examination) -> Iterator[Assumption]:
    words = [text for text in seen.form.missing if text]
    said = ", ".join(["empty cells", *(f"“{text}”" for text in words)])
    why = STATED if "missing" in seen.stated else "empty cells are missing values"
    if seen.markers:
        why = "does each of these mean a missing value in every column?"
    yield Assumption("missing", "Missing values", seen.form.missing, said, why, not seen.markers)
    if seen.form.missing_in:
        said = "; ".join(f"{name}: {', '.join(cells)}" for name, cells in seen.form.missing_in.items())
        numbers = [f"{about(sum(counts.values()))} records" for counts in seen.missing_in.values()]
        why = f"far from all other numbers of the column ({', '.join(numbers)})" if seen.missing_in else STATED
        yield Assumption(
            "missing_in", "Missing in one column", dict(seen.form.missing_in), said, why, not seen.missing_in
        )


def _columns(names: Sequence[str], most: int = 3) -> str:
    """Name some columns.

    Examples
    --------
    >>> _columns(["a"]), _columns(["a", "b", "c", "d", "e"])
    ('a', 'a, b, c and 2 more')
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


# -- columns -----------------------------------------------------------------------------------------------------------


def remarks_on(seen: Examination) -> list[ColumnRemarks]:
    """Return what is odd about each column."""
    return [
        ColumnRemarks(column.name, proposal.seen, proposal.role, tuple(_remarks(seen, column)))
        for column, proposal in zip(seen.columns, seen.proposals, strict=True)
    ]


def _remarks(seen: Examination, column: SeenColumn) -> Iterator[str]:
    if not column.counts:
        return
    if column.distinct == 1:
        yield "one value everywhere"
    if is_free_text(column):
        yield "free text: it may name people"
    if column.zeros_first and column.days is None:
        yield "codes with leading zeros: read as text, so that none is lost"
    if column.name in seen.notation.columns:
        yield "numbers with decimal commas or signs between thousands"
    if column.days is not None:
        if len(column.days.forms) > 1:
            yield f"days in {len(column.days.forms)} forms: {', '.join(column.days.forms)}"
        if column.days.ambiguous:
            yield f"nothing in it tells day from month: read as {' and '.join(column.days.ambiguous)}"
        if column.days.misfits:
            many = sum(column.days.misfits.values())
            rows = ", ".join(f"{row:,}" for row in column.misfit_rows)
            more = ", …" if 0 < len(column.misfit_rows) < many else ""
            yield f"{many:,} cells are no days" + (f": records {rows}{more}" if rows else "")
    if column.name in seen.missing_in:
        many = sum(seen.missing_in[column.name].values())
        yield f"{', '.join(seen.missing_in[column.name])} taken as missing in {about(many)} records"


def is_free_text(column: SeenColumn) -> bool:
    """Tell whether a column holds sentences rather than names or codes."""
    records = sum(column.weights.values())
    length = sum(len(label) * count for label, count in column.weights.items()) / records
    return length > FREE_TEXT and column.variety > 0.5

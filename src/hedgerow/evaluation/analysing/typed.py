"""A release with typed columns: what is published as 30-39 is from 30 to 39, 2024-03 is March, Midwest is of level 1.

Only the release is looked at, with the reader that checks it. Where a published value tells no ends (``*``, or a label
of a hierarchy that is no number), they are not known, and stay so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.analysing.estimating import Estimate, Shares, mean_between, proportion_of
from hedgerow.microdata.instead import SEPARATOR, USUAL_DECIMALS
from hedgerow.plan import Attribute, Plan
from hedgerow.release import Release
from hedgerow.types import IntArray
from hedgerow.verification.reading.published import Unreadable
from hedgerow.verification.reading.published import read_release as read_published
from hedgerow.verification.values.columns import ladder_of
from hedgerow.verification.values.dates import period_of
from hedgerow.verification.values.numbers import Span, read_span
from hedgerow.verification.values.trees import ROOT

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["number", "date", "text"]
NEEDLESS_ZERO = re.compile(r"[+-]?0\d")
NO_LEVEL = -1


@dataclass(frozen=True, eq=False)
class Figure:
    """A mean or a median of groups: which of the two, the numbers, and by how much they may be rounded."""

    name: str
    numbers: Shares
    rounded: float


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column of a release.

    Attributes
    ----------
    name, role
        Its name, and what it is in the plan.
    kind
        What its values are: numbers or intervals of them, days or periods, or texts.
    labels
        The values as they are published.
    low, high
        For numbers and days, the least and the greatest value that each may stand for, both within: days as numbers of
        days since 1970-01-01. NaN where nothing says.
    end
        Where the next interval would begin: 40 for 30-39 and for [30, 40). For shares of an interval.
    level
        How far each value is coarsened: 0 for one that is exact; −1 where the plan does not tell. 1 for a set.
    sets
        Whether labels are sets of values, such as ``Private|State-gov``.
    figure
        What each value is of its group, if it is a mean or a median: ``low`` and ``high`` then are as far as the
        limit of the column lets its numbers lie, NaN without one.
    """

    name: str
    role: str
    kind: Kind
    labels: pa.Array
    low: Shares | None
    high: Shares | None
    end: Shares | None
    level: IntArray
    sets: bool = False
    figure: Figure | None = None

    @property
    def exact(self) -> bool:
        """Whether no value is coarsened."""
        return bool((self.level == 0).all())

    @property
    def middle(self) -> Shares | None:
        """The middle of each value; the figure itself, of a column of means or medians."""
        if self.figure is not None:
            return self.figure.numbers
        return None if self.low is None or self.high is None else (self.low + self.high) / 2

    def shares(self, low: Any, high: Any) -> Shares:
        """What share of each value lies from ``low`` to ``high``, both within, if it spreads evenly; NaN if unknown."""
        if self.low is None or self.high is None or self.end is None:
            message = f"Column {self.name!r} is not of numbers or dates, so nothing lies between two of its values."
            raise DataError(Problem("usage", message, hint="ask for values: release.proportion(column, values=[…])"))
        first, last = _number(low), _number(high)
        width = self.end - self.low
        step = np.where((self.end > self.high) | (width == 0), 1.0, 0.0)  # whole numbers, days: the last counts whole
        inside = np.minimum(self.end, last + step) - np.maximum(self.low, first)
        wide = np.where(width == 0, 1.0, width)
        alone = np.where((self.low >= first) & (self.low <= last), 1.0, 0.0)
        shares = np.where(width == 0, alone, np.clip(inside / wide, 0.0, 1.0))
        return np.where(np.isnan(self.low), np.nan, shares)


@dataclass(frozen=True, eq=False)
class TypedRelease:
    """A release as an analyst takes it.

    Attributes
    ----------
    plan, facts
        What was asked, and what is said of it.
    columns
        The columns, by name, in the order of the file.
    group
        The group of every row: rows that agree in every quasi-identifier.

    Examples
    --------
    >>> import tempfile, hedgerow as hr, pyarrow as pa
    >>> people = pa.table({"age": [31, 34, 38, 52, 55, 58], "ill": ["flu", "flu", "gout", "flu", "gout", "gout"]})
    >>> age = {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}}
    >>> plan = hr.Plan.from_dict({"attributes": {"age": age, "ill": "sensitive"}, "privacy": {"k": 3}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = hr.anonymize(people, plan, folder + "/release")
    ...     release = hr.read_release(folder + "/release")
    >>> print(release.mean("age"))
    44.5, between 40 and 49
    >>> print(release.proportion("age", 50, 54))
    0.25, between 0 and 0.5
    >>> print(release.proportion("ill", values=["flu"]))
    0.5, between 0.5 and 0.5
    """

    plan: Plan
    facts: Mapping[str, Any]
    columns: Mapping[str, TypedColumn]
    group: IntArray

    def __getitem__(self, name: str) -> TypedColumn:
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise DataError(Problem("usage", f"The release has no column {name!r}.", hint=f"it has {known}"))
        return self.columns[name]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.group)

    def mean(self, column: str) -> Estimate:
        """Estimate the mean of a column of numbers; of one of means it is known but for rounding."""
        found = self[column]
        if found.figure is not None and found.figure.name == "mean":
            near = found.figure.rounded
            return mean_between(found.figure.numbers - near, found.figure.numbers + near)
        if found.kind != "number" or found.low is None or found.high is None:
            raise DataError(Problem("usage", f"Column {column!r} is not of numbers.", hint="ask for a proportion"))
        return mean_between(found.low, found.high)

    def proportion(self, column: str, low: Any = None, high: Any = None, *, values: Collection[str] = ()) -> Estimate:
        """Estimate what share of the records has a value in a range, both ends within, or one of some values.

        Of values, a row counts whole if it is published as one of them, and not at all if it is published as another
        exact value; what a coarser one may stand for is not known. A row that is published as a set counts whole if all
        of its values are asked for, and not at all if none is.
        """
        found = self[column]
        if values and found.sets:
            return proportion_of(_shares_of_sets(found.labels.to_pylist(), frozenset(values)))
        if values:
            asked = np.array([label in set(values) for label in found.labels.to_pylist()], bool)
            unknown = (found.level != 0) & ~asked
            return proportion_of(np.where(unknown, np.nan, asked.astype(np.float64)))
        if low is None or high is None:
            raise DataError(Problem("usage", "A proportion is of a range, or of values.", hint="give low and high"))
        return proportion_of(found.shares(low, high))

    def to_arrow(self) -> pa.Table:
        """All columns as they are published, and beside each that is coarsened its ends, middle and level.

        ``age`` is followed by ``age_low``, ``age_high``, ``age_middle`` and ``age_level``; exact numbers and days are
        numbers and days. ``group`` and ``group_size`` stand last.
        """
        import pyarrow as pa

        found: dict[str, Any] = {}
        for column in self.columns.values():
            if column.figure is not None:
                found[column.name] = _as_numbers(column.figure.numbers)
                continue
            if column.low is None or column.high is None:
                found[column.name] = column.labels
                if not column.exact:
                    found[f"{column.name}_level"] = column.level
                continue
            typed = _as_days if column.kind == "date" else _as_numbers
            if column.exact:
                found[column.name] = typed(column.low)
                continue
            found[column.name] = column.labels
            found[f"{column.name}_low"] = typed(column.low)
            found[f"{column.name}_high"] = typed(column.high)
            if column.kind == "number":
                found[f"{column.name}_middle"] = _as_numbers(column.low / 2 + column.high / 2)
            found[f"{column.name}_level"] = column.level
        sizes = np.bincount(self.group, minlength=1)
        return pa.table({**found, "group": self.group, "group_size": sizes[self.group]})

    def to_pandas(self) -> Any:
        """The same as a data frame, in which coarsened numbers are pandas intervals and texts categories."""
        import pandas as pd

        frame = self.to_arrow().to_pandas()
        for column in self.columns.values():
            if column.kind == "number" and not column.exact and column.figure is None:
                ends = pd.arrays.IntervalArray.from_arrays(column.low, column.high, closed="both")
                frame[column.name] = ends
            elif column.kind == "text":
                frame[column.name] = frame[column.name].astype("category")
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the typed columns to any library that takes Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        coarse = sum(not column.exact for column in self.columns.values())
        groups = int(self.group.max(initial=-1)) + 1
        return (
            f"TypedRelease({self.rows:,} rows in {groups:,} groups; {coarse} of {len(self.columns)} columns coarsened)"
        )


def read_release(folder: str | Path) -> TypedRelease:
    """Read a release for analysis: columns with their ends, levels and groups. It is not checked: ``verify`` does that.

    Raises
    ------
    DataError
        If the folder is not a release, or its data cannot be read.
    """
    try:
        published = read_published(Path(folder))
    except Unreadable as error:
        raise DataError(Problem("format", str(error), str(folder), "run hedgerow verify on it")) from None
    return _typed_table(published.plan, published.facts, published.columns)


def typed_release(release: Release) -> TypedRelease:
    """Take a release in memory for analysis."""
    table = release.table
    return _typed_table(release.plan, release.facts, {name: table.column(name) for name in table.column_names})


def _typed_table(plan: Plan, facts: Mapping[str, Any], table: Mapping[str, pa.ChunkedArray]) -> TypedRelease:
    columns = {}
    for name in table:
        linked = plan.unit is not None and name == plan.unit.column  # its numbers are this release's own
        attribute = Attribute(role="other") if linked else plan.attributes[name]
        labels = table[name].combine_chunks().cast("string")
        missing_is_exact = attribute.role != "quasi-identifier" or plan.missing != "matches-any"
        columns[name] = _typed(name, attribute, labels, missing_is_exact)
    quasi = [columns[name].labels for name in plan.quasi_identifiers]
    rows = len(next(iter(columns.values())).labels)
    return TypedRelease(plan, facts, columns, _groups(quasi, rows))


def _groups(columns: list[pa.Array], rows: int) -> IntArray:
    """Number rows that agree, in the order in which they first occur."""
    number: IntArray = np.zeros(rows, np.int64)
    for column in columns:
        codes = column.dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        _, number = np.unique(np.stack([number, codes]), axis=1, return_inverse=True)
        number = number.reshape(-1)
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found: IntArray = rank[number.reshape(-1)]
    return found


def _typed(name: str, attribute: Attribute, labels: pa.Array, missing_is_exact: bool) -> TypedColumn:
    encoded = labels.dictionary_encode()
    distinct: list[str] = encoded.dictionary.to_pylist()
    at = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    of_missing = 0 if missing_is_exact else NO_LEVEL
    levels = np.array([*(_level(attribute, label) for label in distinct), of_missing], np.int64)
    kind, ends = _ends(attribute, distinct)
    low = high = end = None
    if ends is not None:
        table = np.array([*ends, (np.nan, np.nan, np.nan)], np.float64).reshape(-1, 3)
        low, high, end = (table[at, column] for column in range(3))
    sets, figure = attribute.publish == "set", None
    if attribute.publish in ("mean", "median") and low is not None:
        places = USUAL_DECIMALS if attribute.decimals is None else attribute.decimals
        figure = Figure(attribute.publish, low, 0.5 / 10**places)
        limit = attribute.limit
        reach = np.nan if limit is None or limit.width is None else float(limit.width) + figure.rounded
        low, high, end = low - reach, low + reach, low + reach
    return TypedColumn(name, str(attribute.role), kind, labels, low, high, end, levels[at], sets, figure)


def _shares_of_sets(labels: list[str | None], asked: frozenset[str]) -> Shares:
    """What share of the values of each set is asked for."""
    share: dict[str | None, float] = {None: 0.0}
    for label in set(labels) - {None}:
        members = frozenset(str(label).split(SEPARATOR))
        share[label] = len(members & asked) / len(members)
    return np.array([share[label] for label in labels], np.float64)


def _level(attribute: Attribute, label: str) -> int:
    """How far a label is coarsened, as far as the plan tells."""
    if attribute.role != "quasi-identifier":
        return 0
    if attribute.publish == "set":
        return int(SEPARATOR in label)
    if attribute.publish is not None:
        return 1
    if attribute.free:
        span = read_span(label)
        return NO_LEVEL if span is None else int(span.style != "number")
    ladder = ladder_of(attribute.hierarchy, None, (), len(label))
    if not ladder.knows(label):
        return 0 if attribute.hierarchy is None and label != ladder.root else NO_LEVEL
    found = {line.labels.index(label) for line in ladder.witnesses(label) if label in line.labels}
    return found.pop() if len(found) == 1 else NO_LEVEL


def _ends(attribute: Attribute, labels: list[str]) -> tuple[Kind, list[tuple[float, float, float]] | None]:
    """What the labels of a column are, and the least, the greatest and the next value of each."""
    if attribute.publish == "set":
        return "text", None
    unknown = (np.nan, np.nan, np.nan)
    if attribute.hierarchy is not None and attribute.hierarchy.kind == "dates":
        periods = [period_of(label) for label in labels]
        if all(period is not None or label == ROOT for period, label in zip(periods, labels, strict=True)):
            since = dt.date(1970, 1, 1).toordinal()
            return "date", [
                unknown if period is None else (period[0] - since, period[1] - 1 - since, period[1] - since)
                for period in periods
            ]
    spans = [None if NEEDLESS_ZERO.match(label) else read_span(label) for label in labels]
    if any(spans) and all(span is not None or label == ROOT for span, label in zip(spans, labels, strict=True)):
        whole = all(span is None or (isinstance(span.low, int) and isinstance(span.high, int)) for span in spans)
        return "number", [unknown if span is None else _ends_of(span, whole) for span in spans]
    return "text", None


def _ends_of(span: Span, whole: bool) -> tuple[float, float, float]:
    low, high = float(span.low), float(span.high)
    if span.style == "half-open":
        return low, high, high
    return low, high, high + 1 if whole and span.style != "closed" else high


def _number(value: Any) -> float:
    if isinstance(value, dt.date):
        return float(value.toordinal() - dt.date(1970, 1, 1).toordinal())
    return float(value)


def _as_numbers(values: Shares) -> pa.Array:
    import pyarrow as pa

    known = values[~np.isnan(values)]
    if (known == np.rint(known)).all() and (np.abs(known) < 1 << 53).all():
        whole: npt.NDArray[np.int64] = np.nan_to_num(values).astype(np.int64)
        return pa.array(whole, mask=np.isnan(values))
    return pa.array(values, mask=np.isnan(values))


def _as_days(values: Shares) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.nan_to_num(values).astype(np.int32), mask=np.isnan(values)).cast(pa.date32())

"""Counting queries: how wrong an analyst's counts are when they are made on the release instead of the records.

A query counts the records in a range of numbers and under a node of a tree, of one to three quasi-identifiers at a
time. On the release the analyst does what can be done: take the records of a published value to be spread evenly over
what it covers (LeFevre et al. 2006; Xu et al. 2006). Withheld records are missing from the release, so they are
missing from its counts too.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, Problem
from hedgerow.evaluation.patterns.covering import Scale, scale_of
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, TreeColumn
from hedgerow.microdata.columns import MISSING
from hedgerow.microdata.recoding import Recoding
from hedgerow.types import IntArray

Floats = npt.NDArray[np.float64]
LEAST_SHARE, GREATEST_SHARE = Fraction(1, 10), Fraction(3, 10)
SANITY = Fraction(1, 1000)


@dataclass(frozen=True, eq=False)
class AskedQueries:
    """What a query asks of one quasi-identifier.

    Attributes
    ----------
    position
        Position of the quasi-identifier in the plan's order.
    wanted
        Which codes are asked for; never that of a missing value.
    low, high
        Of free intervals: the least and the greatest number asked for, scaled.
    """

    position: int
    wanted: npt.NDArray[np.bool_]
    low: int = 0
    high: int = 0


Query = tuple[AskedQueries, ...]
Asker = Callable[[int], AskedQueries]


@dataclass(frozen=True)
class QueryError:
    """How wrong counts made on a release are.

    Attributes
    ----------
    queries
        How many were asked.
    mean, median, percentile_90
        Of |estimate − true count| / the true count, or / one record of 1,000 where that is more.
    records, released
        True counts are of all records, estimates of those released.
    """

    queries: int
    mean: float
    median: float
    percentile_90: float
    records: int
    released: int

    def to_dict(self) -> dict[str, Any]:
        """Return the errors as plain data for JSON."""
        return {
            "queries": self.queries,
            "mean": round(self.mean, 9),
            "median": round(self.median, 9),
            "percentile_90": round(self.percentile_90, 9),
            "records": self.records,
            "released": self.released,
        }


def query_error(
    microdata: Microdata, recoding: Recoding, queries: int = 1000, columns: tuple[int, int] = (1, 3), seed: int = 0
) -> QueryError:
    """Ask the same random queries of the records and of a release, and compare.

    Parameters
    ----------
    microdata, recoding
        The records and the release.
    queries
        How many to ask.
    columns
        Fewest and most quasi-identifiers in a query.
    seed
        Same seed and same columns, same queries, whatever the release.

    Notes
    -----
    Records whose value has no leaf are in neither count. A query that no record answers is asked too: its error is
    measured against one record of 1,000.
    """
    asked = draw_queries(microdata, queries, columns, seed)
    true = true_counts(microdata, asked)
    errors = relative_errors(true, estimates(microdata, recoding, asked), microdata.records)
    ordered = sorted(errors.tolist())
    rank = -(-9 * len(ordered) // 10)  # the least number of errors that are nine of ten
    return QueryError(
        len(ordered),
        float(np.mean(errors)),
        float(statistics.median(ordered)),
        float(ordered[rank - 1]),
        microdata.records,
        recoding.released,
    )


def relative_errors(true: IntArray, estimated: Floats, records: int) -> Floats:
    """|estimate − true| / max(true, one record of 1,000), query by query."""
    errors: Floats = np.abs(estimated - true) / np.maximum(true, float(SANITY * records))
    return errors


# -- asking ----------------------------------------------------------------------------------------------------------


def true_counts(microdata: Microdata, queries: list[Query]) -> IntArray:
    """Count the records that each query asks for."""
    codes = [np.ascontiguousarray(microdata.codes(position)) for position in range(len(microdata.columns))]
    counts = microdata.counts
    found = np.zeros(len(queries), np.int64)
    for number, query in enumerate(queries):
        inside = [asked.wanted[codes[asked.position]] for asked in query]
        found[number] = counts[np.logical_and.reduce(inside)].sum()
    return found


def estimates(microdata: Microdata, recoding: Recoding, queries: list[Query]) -> Floats:
    """Estimate what each query asks for from the release alone."""
    published = [_Published.of(microdata, recoding, position) for position in range(len(microdata.columns))]
    counts = recoding.sizes.astype(np.float64)
    found = np.zeros(len(queries))
    for number, query in enumerate(queries):
        expected = counts
        for asked in query:
            expected = expected * published[asked.position].share_asked_for(asked)
        found[number] = expected.sum()
    return found


@dataclass(frozen=True, eq=False)
class _Published:
    """The different published values of one column and which of them each group has.

    ``low`` and ``high`` are numbers of free intervals, within; codes of leaves for a tree; ``low`` above ``high``
    where nothing is covered, as by a missing value. ``members``: which codes each value stands for, if those are no
    range.
    """

    of_group: IntArray
    low: IntArray
    high: IntArray
    numbers: bool
    members: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, microdata: Microdata, recoding: Recoding, position: int) -> _Published:
        column, shown = microdata.columns[position], recoding.shown(position)
        if shown.told is not None and isinstance(column, TreeColumn):
            groups = np.arange(recoding.groups)
            return cls(groups, shown.lo, shown.hi, False, column.members(shown))
        if isinstance(column, FreeColumn):
            scale = scale_of(column)
            shown = column.as_read(shown)
            low, high, whole = _free_ends(column, scale, shown.lo, shown.hi)
        else:
            hierarchy = column.hierarchy
            low, high = hierarchy.first_leaf[shown.node], hierarchy.last_leaf[shown.node]
            whole = (0, column.domain_size - 1)
        shows = recoding.shows(position)
        low, high = np.where(shows, low, whole[0]), np.where(shows, high, whole[1])
        lows, of_low = np.unique(low, return_inverse=True)
        highs, of_high = np.unique(high, return_inverse=True)
        pairs, of_group = np.unique(of_low * len(highs) + of_high, return_inverse=True)
        return cls(
            of_group,
            lows[pairs // max(len(highs), 1)],
            highs[pairs % max(len(highs), 1)],
            isinstance(column, FreeColumn),
        )

    def share_asked_for(self, asked: AskedQueries) -> Floats:
        """Share of every group's published value that a query asks for."""
        if self.members is not None:
            found: Floats = (self.members @ asked.wanted.astype(np.int64)) / self.members.sum(axis=1)
            return found
        if self.numbers:
            inside = np.minimum(self.high, asked.high) - np.maximum(self.low, asked.low) + 1
        else:
            before = np.concatenate([[0], np.cumsum(asked.wanted)])
            inside = before[self.high + 1] - before[self.low]
        share = np.maximum(inside, 0) / np.maximum(self.high - self.low + 1, 1)
        of_groups: Floats = share[self.of_group]
        return of_groups


def _free_ends(
    column: FreeColumn, scale: Scale | None, lo: IntArray, hi: IntArray
) -> tuple[IntArray, IntArray, tuple[int, int]]:
    """Return the numbers that published intervals cover, and those of the whole column."""
    if scale is None:
        return np.zeros(len(lo), np.int64), np.full(len(lo), -1), (0, -1)
    missing = hi == column.missing_code
    low, high = scale.low[lo], np.where(missing, scale.low[lo] - 1, scale.high[hi])
    return low, high, (scale.least, scale.greatest)


# -- drawing ---------------------------------------------------------------------------------------------------------


def draw_queries(
    microdata: Microdata, queries: int = 1000, columns: tuple[int, int] = (1, 3), seed: int = 0
) -> list[Query]:
    """Draw random queries.

    Of an ordered column a query asks for a run of one to three tenths of its values; of another for what lies under
    an inner node of its hierarchy, or for up to half of its values if it has no inner node below the root.

    Random numbers are made from raw bits, whose stream NumPy promises not to change, one stream for every column and
    one for which columns to ask: another hierarchy for one column does not change what is asked of the others.
    """
    fewest, most = columns
    if queries < 1 or seed < 0 or not 1 <= fewest <= most:
        message = "Queries must be at least 1, the seed at least 0, and columns two numbers from 1 up, in order."
        raise HedgerowError(Problem("usage", message, hint="leave them out for the defaults"))
    width = len(microdata.columns)
    uniform = _uniform((seed, 0), queries, width + 1)
    wanted = np.minimum(fewest + _below(uniform[:, 0], most - fewest + 1), width)
    order = np.argsort(uniform[:, 1:], axis=1, kind="stable")
    ask = [_asker(column, place, queries, (seed, 1 + place)) for place, column in enumerate(microdata.columns)]
    return [
        tuple(ask[place](number) for place in sorted(order[number, : wanted[number]].tolist()))
        for number in range(queries)
    ]


def _uniform(seed: tuple[int, int], rows: int, columns: int) -> Floats:
    raw = np.asarray(np.random.PCG64(list(seed)).random_raw(rows * columns), np.uint64)
    return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(rows, columns)


def _below(uniform: Floats, bound: int | IntArray) -> IntArray:
    """Turn numbers from 0 up to 1 into whole numbers from 0 up to, but without, a bound."""
    numbers: IntArray = np.floor(uniform * bound).astype(np.int64)
    return numbers


def _asker(column: QuasiIdentifier, position: int, queries: int, seed: tuple[int, int]) -> Asker:
    """Draw what every query could ask of a column, and return how to ask it."""
    scale = scale_of(column)
    if scale is not None:
        return _asker_of_ranges(column, scale, position, _uniform(seed, queries, 2))
    if not isinstance(column, TreeColumn):  # free intervals without a single number
        return lambda number: AskedQueries(position, np.zeros(column.domain_size, bool), 0, -1)
    hierarchy = column.hierarchy
    inner = np.flatnonzero((hierarchy.heights > 0) & (hierarchy.depths > 0))
    if len(inner):
        return _asker_of_nodes(column, position, inner[_below(_uniform(seed, queries, 1)[:, 0], len(inner))])
    labels = np.flatnonzero([leaf != MISSING for leaf in hierarchy.leaves])
    return _asker_of_labels(column, position, labels, _uniform(seed, queries, len(labels) + 1))


def _asker_of_ranges(column: QuasiIdentifier, scale: Scale, position: int, uniform: Floats) -> Asker:
    values = len(scale.values)
    least = max(1, -(-values * LEAST_SHARE.numerator // LEAST_SHARE.denominator))
    most = max(least, values * GREATEST_SHARE.numerator // GREATEST_SHARE.denominator)
    lengths = least + _below(uniform[:, 0], most - least + 1)
    starts = _below(uniform[:, 1], values - lengths + 1)

    def ask(number: int) -> AskedQueries:
        codes = scale.values[starts[number] : starts[number] + lengths[number]]
        wanted = _only(codes, column.domain_size)
        if isinstance(column, TreeColumn):
            return AskedQueries(position, wanted)
        return AskedQueries(position, wanted, int(scale.low[codes[0]]), int(scale.high[codes[-1]]))

    return ask


def _asker_of_nodes(column: TreeColumn, position: int, nodes: IntArray) -> Asker:
    first, last = column.hierarchy.first_leaf[nodes], column.hierarchy.last_leaf[nodes]

    def ask(number: int) -> AskedQueries:
        return AskedQueries(position, _only(np.arange(first[number], last[number] + 1), column.domain_size))

    return ask


def _asker_of_labels(column: TreeColumn, position: int, labels: IntArray, uniform: Floats) -> Asker:
    sizes = 1 + _below(uniform[:, 0], max(1, len(labels) // 2))

    def ask(number: int) -> AskedQueries:
        order = np.argsort(uniform[number, 1:], kind="stable")
        return AskedQueries(position, _only(labels[order[: sizes[number]]], column.domain_size))

    return ask


def _only(codes: IntArray, size: int) -> npt.NDArray[np.bool_]:
    wanted = np.zeros(size, bool)
    wanted[codes] = True
    return wanted

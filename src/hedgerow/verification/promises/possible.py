"""Whether every row could have been made from a record of its own, where no link says from which.

A row *could be* made from a record if each of its labels covers the record's value, within its limit if limits are kept
and at the level of its column on the lattice, and if its sensitive and other values are the record's. Whether all rows
can have one record each, no record twice, is a matching of equal rows with equal records, and decided exactly.

Where that would take too much memory or effort, less is asked: under every label there are as many records as rows that
must lie under it. What was found says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.bipartite import Bipartite, TooMuch
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.fits import MOST_CELLS, Fits, fits_of
from hedgerow.verification.counting.numbering import Codes, number_cells, number_rows
from hedgerow.verification.counting.tabulation import encoded
from hedgerow.verification.reading.cells import distinct_cells
from hedgerow.verification.reading.original import Original
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell

MOST_EDGES = 6_000_000
MOST_PAIRS = 10_000_000_000
SMALL = 1 << 12
CHUNK = 1 << 21


# -- rows and records ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Distinct rows of a table.

    Attributes
    ----------
    key
        Which values they have in the columns that are released as they are, by a number that both tables share.
    codes
        Which values they have in the quasi-identifiers: a column each.
    count
        How many rows each stands for.
    """

    key: IntArray
    codes: IntArray
    count: IntArray

    @classmethod
    def of(cls, key: IntArray, codes: Sequence[IntArray], count: IntArray | None) -> DistinctRows:
        """Collapse rows, ordered by key."""
        none = np.zeros(0, np.int64)
        number, _, size = number_rows([(key, none), *((column, none) for column in codes)], len(key), 0)
        first = np.full(size, len(key), np.int64)
        np.minimum.at(first, number, np.arange(len(key)))
        total = np.bincount(number, minlength=size) if count is None else sums(number, count, size)
        order = np.argsort(key[first], kind="stable")
        first = first[order]
        table = np.stack([column[first] for column in codes], axis=1) if codes else np.zeros((size, 0), np.int64)
        return cls(key[first], table, total[order].astype(np.int64))


def check_possible(evidence: Evidence, original: Original) -> Promise:
    """Check that all rows can have a record of the original each that they could have been made from."""
    asked = "a record of the original for every row, one each"
    try:
        if evidence.only_sums:
            raise TooMuch
        short = _without_record(evidence, original)
    except TooMuch:
        return _by_labels(evidence, original, asked)
    found = f"so for all {evidence.published.rows} rows"
    if short:
        found = f"{short} rows can have no record of their own"
    return Promise("possible", asked, found, kept=not short)


def _without_record(evidence: Evidence, original: Original) -> int:
    rows, records, fits = _collapse(evidence, original)
    seeker, holder = _edges(rows, records, fits)
    return Bipartite(rows.count, records.count, seeker, holder).unmatched()


def _collapse(evidence: Evidence, original: Original) -> tuple[DistinctRows, DistinctRows, list[Fits]]:
    published = evidence.published
    shared = [name for name in published.unchanged if name in published.columns and name in original.columns]

    def both() -> Iterator[tuple[Codes, Codes]]:
        for name in shared:
            yield number_cells(encoded(evidence.as_original(name, original)), encoded(original.columns[name]))

    entries = original.records if original.counts is None else len(original.counts)
    row_key, record_key, _ = number_rows(both(), published.entries, entries)
    row_codes, record_codes, fits = [], [], []
    for name, column in evidence.cells.items():
        labels, of_row = distinct_cells(column)
        values, of_record = distinct_cells(original.columns[name])
        row_codes.append(of_row)
        record_codes.append(of_record)
        fits.append(_fits(evidence, name, [*values, None], [*labels, None]))
    rows = DistinctRows.of(row_key, row_codes, published.counts)
    return rows, DistinctRows.of(record_key, record_codes, original.counts), fits


def _fits(evidence: Evidence, name: str, values: Sequence[Cell], labels: Sequence[Cell]) -> Fits:
    plan = evidence.plan
    level = None
    if plan.method.name == "lattice":
        stated = evidence.published.facts.get("levels", {})
        level = stated.get(name)
    return fits_of(evidence.judges[name], values, labels, plan.keeps_limits, level, plan.method.limits == "keep")


def _edges(rows: DistinctRows, records: DistinctRows, fits: Sequence[Fits]) -> tuple[IntArray, IntArray]:
    """Return every pair of rows and records of which the one could have been made from the other, by rows."""
    first, last = np.searchsorted(records.key, rows.key), np.searchsorted(records.key, rows.key, "right")
    pairs = last - first
    if int(pairs.sum()) > MOST_PAIRS:
        raise TooMuch
    found: list[tuple[IntArray, IntArray]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    edges = 0
    for seeker, holder in chain(
        _of_small_blocks(rows, records, fits, first, pairs), _of_large_blocks(rows, records, fits, first, pairs)
    ):
        edges += len(seeker)
        if edges > MOST_EDGES:
            raise TooMuch
        found.append((seeker, holder))
    seekers, holders = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(seekers, kind="stable")
    return seekers[order], holders[order]


def _of_small_blocks(
    rows: DistinctRows, records: DistinctRows, fits: Sequence[Fits], first: IntArray, pairs: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Return pairs that fit, of rows that agree with few records in what is released as it is: pair by pair."""
    small = np.flatnonzero((pairs > 0) & (pairs <= SMALL))
    chunk = np.cumsum(pairs[small]) // CHUNK
    for part in np.split(small, np.flatnonzero(np.diff(chunk)) + 1):
        lengths = pairs[part]
        shift = np.repeat(first[part] - (np.cumsum(lengths) - lengths), lengths)
        seeker, holder = np.repeat(part, lengths), shift + np.arange(len(shift))
        for position, fit in enumerate(fits):
            kept = fit.test(records.codes[holder, position], rows.codes[seeker, position])
            seeker, holder = seeker[kept], holder[kept]
        yield seeker, holder


def _of_large_blocks(
    rows: DistinctRows, records: DistinctRows, fits: Sequence[Fits], first: IntArray, pairs: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """Return pairs that fit, of rows that agree with many records in what is released as it is: row by row."""
    large = np.flatnonzero(pairs > SMALL)
    for start in np.unique(first[large]).tolist():
        block = large[first[large] == start]
        for seeker, fitting in _in_block(rows, records, fits, block, np.arange(start, start + int(pairs[block[0]]))):
            yield np.full(len(fitting), seeker), fitting


def _in_block(
    rows: DistinctRows, records: DistinctRows, fits: Sequence[Fits], seekers: IntArray, holders: IntArray
) -> Iterator[tuple[int, IntArray]]:
    """Return the records of one block that fit each row, by bits: one for every record under every label."""
    bits: list[Mapping[int, npt.NDArray[np.uint8]]] = []
    room = 0
    for position, fit in enumerate(fits):
        stands_for = fit.under(records.codes[holders, position])
        of_label = {}
        for label in np.unique(rows.codes[seekers, position]).tolist():
            of_label[label] = np.packbits(stands_for(label))
            room += of_label[label].nbytes
            if room > MOST_CELLS * 4:
                raise TooMuch
        bits.append(of_label)
    every = np.packbits(np.ones(len(holders), bool))
    for seeker in seekers.tolist():
        found = every
        for position, label in enumerate(rows.codes[seeker].tolist()):
            found = found & bits[position][label]
        yield seeker, holders[np.unpackbits(found, count=len(holders)).view(bool)]


# -- where that is too much ------------------------------------------------------------------------------------------


def _by_labels(evidence: Evidence, original: Original, asked: str) -> Promise:
    """Check what must be so whoever is matched with whom: as many records as rows under every label."""
    faults = []
    for name in evidence.cells:
        lacking = _lacking_under_labels(evidence, original, name)
        if lacking:
            faults.append(f"{name}: {lacking} rows more than there are records under a label")
    found = (
        "not decided, since rows and records can be matched in too many ways; under every label there are at least as "
        "many records as rows"
    )
    return Promise("possible", asked, "; ".join(faults) or found, kept=not faults)


def _lacking_under_labels(evidence: Evidence, original: Original, name: str) -> int:
    """Return by how many rows a label of a column has more than the original has records that it may stand for."""
    rows, records = evidence.labels[name], original.tally(name)
    labels, values = [label for label, _, _ in rows], [value for value, _ in records]
    known, there = [value for value in values if value is not None], [label for label in labels if label is not None]
    try:
        fits = _fits(evidence, name, [*known, None], [*there, None])
    except TooMuch:
        return 0
    place = {value: at for at, value in enumerate(known)}
    count = np.zeros(len(known) + 1, np.int64)
    for value, number in records:
        count[-1 if value is None else place[value]] += number
    of_label = {label: at for at, label in enumerate(there)}
    worst = 0
    for label, number, _ in rows:
        code = len(there) if label is None else of_label[label]
        fitting = fits.test(np.arange(len(known) + 1), np.full(len(known) + 1, code))
        worst = max(worst, int(number - count[fitting].sum()))
    return worst

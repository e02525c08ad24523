"""All that is at hand to judge a release by: what was published, the original and the link, brought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.plan import Plan
from hedgerow.verification.columns import Cell, Column, column_of
from hedgerow.verification.combinations import Combinations
from hedgerow.verification.histograms import Histograms
from hedgerow.verification.matching import Matches
from hedgerow.verification.original import IntArray, Link, Original
from hedgerow.verification.published import Published
from hedgerow.verification.sensitive import Place, Reader, Way
from hedgerow.verification.tables import distinct_cells, map_distinct, read_as, trim, without
from hedgerow.verification.tallies import Groups, Tallies

if TYPE_CHECKING:
    import pyarrow as pa

Spot = tuple[int, int]
"""How many cells of a column are concerned, and the first row of the release that has one."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A sensitive column, counted.

    Attributes
    ----------
    reader
        What tells which class a value counts as.
    ways
        The classes that occur, each named by its way up, in the order of the column.
    in_order
        Whether that order means something: there is a hierarchy, or all values are numbers.
    histograms
        How often each class occurs in each group.
    overall
        How often it occurs in the original, or in the release if that is all there is.
    strays
        Published values that the plan gives no leaf.
    matches
        Which groups match, where a missing cell matches anything and some are missing.
    """

    reader: Reader
    ways: tuple[Way, ...]
    in_order: bool
    histograms: Histograms
    overall: IntArray
    strays: Spot
    matches: Matches | None = None

    def fewest_matching(self, asked: int) -> int:
        """Return the fewest different values among the rows that a row matches, counted no further than ``asked``."""
        counts = self.histograms.distinct if self.matches is None else self.matches.values(self.histograms, asked)
        return min(int(counts.min()), asked)


@dataclass(frozen=True)
class Evidence:
    """All that is at hand to judge a release by."""

    published: Published
    original: Original | None
    link: Link | None
    tallies: Tallies
    _counted: dict[str, Counted] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """The plan of the release."""
        return self.published.plan

    # -- who is who ------------------------------------------------------------------------------------------------

    @cached_property
    def _order(self) -> tuple[IntArray | None, str]:
        if self.original is None or self.link is None:
            return None, ""
        return self.link.order(self.published.rows, self.original.records)

    @property
    def order(self) -> IntArray | None:
        """The record behind every row, where a sound link table tells."""
        return self._order[0]

    @property
    def link_fault(self) -> str:
        """What is wrong with the link table."""
        return self._order[1]

    def behind(self, name: str) -> pa.ChunkedArray:
        """Return the original cells of a column in the order of the release's rows."""
        import pyarrow as pa

        assert self.original is not None
        column = self.original.columns[name].cast(pa.large_string()).combine_chunks()
        return pa.chunked_array([column.take(pa.array(self.order))])

    # -- columns ---------------------------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> Mapping[str, pa.ChunkedArray]:
        """Published quasi-identifiers; an empty text is a missing value where the plan takes it for one."""
        empty = [text for text in self.plan.data.missing if not text]
        return {
            name: without(self.published.columns[name], empty) if empty else self.published.columns[name]
            for name in self.published.quasi_identifiers
        }

    def as_original(self, name: str, original: Original) -> pa.ChunkedArray:
        """Published cells of a column that is released as it is, written as the original's are."""
        empty = [text for text in self.plan.data.missing if not text]
        kind = original.kinds[name]
        column = self.published.columns[name]
        if self.published.kinds[name] != "text":
            return column
        column = trim(column, empty)
        return column if kind == "text" else map_distinct(column, read_as(kind))

    @cached_property
    def labels(self) -> Mapping[str, list[tuple[Cell, int, int]]]:
        """Every distinct published cell of every quasi-identifier with its count and its first row."""
        return {name: self.tallies.labels(column) for name, column in self.cells.items()}

    @cached_property
    def judges(self) -> Mapping[str, Column]:
        """What knows, for every quasi-identifier, what may be published."""
        judges = {}
        for name, labels in self.labels.items():
            known = None
            if self.original is not None:
                known = self.original.columns[name].unique().to_pylist()
            judges[name] = column_of(self.plan, name, [label for label, _, _ in labels], known)
        return judges

    @cached_property
    def persons(self) -> pa.ChunkedArray | None:
        """The person behind every row, where the plan names persons and the link is sound."""
        return None if self.plan.person is None or self.order is None else self.behind(self.plan.person)

    @cached_property
    def groups(self) -> Groups:
        """The groups of the release: rows that agree in every quasi-identifier, missing being a value of its own."""
        return self.tallies.groups(list(self.cells.values()), self.published.rows, self.persons)

    @cached_property
    def group_of(self) -> IntArray:
        """The group of every row, numbered from 0 in the order in which they first appear."""
        return self.tallies.group_of(list(self.cells.values()), self.published.rows)

    @cached_property
    def combinations(self) -> Combinations:
        """The cells of every group."""
        return Combinations.of(self.cells, self.group_of)

    @cached_property
    def matches(self) -> Matches | None:
        """Which groups match; None if a row counts with those of its group only."""
        lacking = any(column.null_count for column in self.cells.values())
        if self.plan.missing != "matches-any" or not lacking:
            return None
        return Matches(self.combinations.codes, self.combinations.sizes)

    @cached_property
    def smallest(self) -> int:
        """Rows of the smallest group; or the least number of rows that a row matches, itself included."""
        return self.groups.smallest if self.matches is None else self.matches.fewest_rows(self.plan.privacy.k)

    @cached_property
    def pairs(self) -> Mapping[str, list[tuple[Cell, Cell, int, int]]]:
        """Every distinct pair of an original and a published cell with its count and its first row."""
        return {name: self.tallies.pairs(self.behind(name), column) for name, column in self.cells.items()}

    # -- sensitive columns -----------------------------------------------------------------------------------------

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that the data file has."""
        return tuple(name for name in self.plan.columns("sensitive") if name in self.published.columns)

    def counted(self, name: str) -> Counted:
        """Count a sensitive column, once."""
        if name not in self._counted:
            self._counted[name] = self._count(name)
        return self._counted[name]

    def _count(self, name: str) -> Counted:
        labels, indices = distinct_cells(self._sensitive_cells(name))
        known, known_indices = labels, indices
        if self.original is not None:
            known, known_indices = distinct_cells(self.original.columns[name])
        reader = Reader.of(self.plan.attributes[name], known)
        readings = {text: reader.read(text) for text in dict.fromkeys([*labels, *known])}
        places: dict[Way, Place] = {}
        for reading in readings.values():
            if reading is not None:
                places[reading.way] = min(reading.place, places.get(reading.way, reading.place))
        ways = tuple(sorted(places, key=places.__getitem__))
        code_of = {way: code for code, way in enumerate(ways)}

        def codes(texts: list[str], at: IntArray) -> IntArray:
            found = [readings[text] for text in texts]
            lookup = [-1 if reading is None else code_of[reading.way] for reading in found]
            return np.array([*lookup, -1], np.int64)[at]

        stray = np.array([*(readings[text] is None for text in labels), False], bool)[indices]
        released = codes(labels, indices)
        overall = codes(known, known_indices)
        return Counted(
            reader,
            ways,
            reader.has_hierarchy or all(place[0] == 0 for place in places.values()),
            Histograms.of(self.group_of, released, self.groups.groups, len(ways)),
            np.bincount(overall[overall >= 0], minlength=len(ways)).astype(np.int64),
            (int(stray.sum()), int(np.argmax(stray)) + 1) if stray.any() else (0, 0),
            self.matches,
        )

    def _sensitive_cells(self, name: str) -> pa.ChunkedArray:
        """Published cells of a sensitive column; whatever the plan takes for a missing value is one."""
        column = self.published.columns[name]
        if self.original is not None:
            column = self.as_original(name, self.original)
            if self.original.kinds[name] != "text":
                return column
        return trim(column, self.plan.data.missing) if self.published.kinds[name] == "text" else column

"""All that is at hand to judge a release by: what was published, the original and the link, brought together.

There are two kinds of evidence: row by row (``row_evidence``), where the link names the record behind every row, and
counted (``counted_evidence``), where equal rows are one with a count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.combinations import Combinations
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.counting.matching import Matches
from hedgerow.verification.counting.pairs import Pair, PairSums
from hedgerow.verification.counting.readings import Readings
from hedgerow.verification.counting.spots import Spot
from hedgerow.verification.counting.tabulation import RowGroups, count_groups, count_labels, find_groups
from hedgerow.verification.counting.units import LinkedRows
from hedgerow.verification.reading.cells import distinct_cells, map_distinct, read_as, trim, without
from hedgerow.verification.reading.original import Original
from hedgerow.verification.reading.published import Published
from hedgerow.verification.values.columns import Cell, Column, column_of, one_level
from hedgerow.verification.values.notation import in_notation, usual
from hedgerow.verification.values.sensitive import Reader, Way

if TYPE_CHECKING:
    import pyarrow as pa


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
        How often it occurs in the release.
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
class Evidence(ABC):
    """All that is at hand to judge a release by."""

    published: Published
    original: Original | None
    _counted: dict[str, Counted] = field(default_factory=dict, kw_only=True)
    _judged: dict[str, PairSums] = field(default_factory=dict, kw_only=True)

    @property
    def plan(self) -> Plan:
        """The plan of the release."""
        return self.published.plan

    # -- what the link tells ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def has_link(self) -> bool:
        """Whether a link was given."""

    @property
    @abstractmethod
    def link_fault(self) -> str:
        """What is wrong with the link; empty if it is sound."""

    @property
    def only_sums(self) -> bool:
        """Whether rows and records cannot be matched one by one, since they are not here."""
        return False

    @property
    def linked(self) -> bool:
        """Whether a sound link tells what lies behind the rows."""
        return self.has_link and not self.link_fault

    @property
    @abstractmethod
    def pairs(self) -> Mapping[str, Sequence[Pair]]:
        """Every distinct pair of an original and a published cell of every quasi-identifier; needs a sound link."""

    @cached_property
    def groups(self) -> RowGroups:
        """The groups of the release: rows that agree in every quasi-identifier, missing being a value of its own.

        Their persons are counted where the plan names persons and the link is sound.
        """
        groups = count_groups(self.sizes)
        if self.plan.person is None or not self.linked:
            return groups
        return replace(groups, fewest_persons=self._fewest_persons(self.plan.person, groups.groups))

    @abstractmethod
    def _fewest_persons(self, key: str, groups: int) -> int:
        """Count the persons of the group with fewest; needs a sound link."""

    @abstractmethod
    def behind_groups(self, name: str) -> Sequence[tuple[int, tuple[Cell, ...], int]]:
        """Return every distinct pair of a group and the original cells behind a row of it, with its count.

        Of several original cells it is one, and nobody can tell which; needs a sound link.
        """

    @abstractmethod
    def changed(self, original: Original) -> str:
        """Say which columns that are released as they are differ from what lies behind; needs a sound link."""

    @abstractmethod
    def surplus(self, original: Original) -> str:
        """Say which columns that are released as they are hold something more often than the original."""

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
        return {name: count_labels(column, self.published.counts) for name, column in self.cells.items()}

    def tally(self, name: str) -> list[tuple[Cell, int, int]]:
        """Every distinct published cell of a column that is not coarsened, with its count and its first row."""
        empty = [text for text in self.plan.data.missing if not text]
        column = self.published.columns[name]
        return count_labels(without(column, empty) if empty else column, self.published.counts)

    @cached_property
    def judges(self) -> Mapping[str, Column]:
        """What knows, for every quasi-identifier, what may be published."""
        judges = {}
        for name, labels in self.labels.items():
            known = None
            if self.original is not None:
                known = self.original.distinct(name)
            level = one_level(self.plan, self.published.facts.get("levels"), name)
            judges[name] = column_of(self.plan, name, [label for label, _, _ in labels], known, level)
        return judges

    @cached_property
    def group_of(self) -> IntArray:
        """The group of every row, numbered from 0 in the order in which they first appear."""
        return find_groups(list(self.cells.values()), self.published.entries, self.published.first)

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of every group."""
        counts = self.published.counts
        if counts is None:
            return np.bincount(self.group_of).astype(np.int64)
        return sums(self.group_of, counts, int(self.group_of.max(initial=-1)) + 1)

    @cached_property
    def size_counts(self) -> tuple[IntArray, IntArray]:
        """The sizes that groups have, ascending, and how many have each."""
        values, counts = np.unique(self.sizes, return_counts=True)
        return values, counts.astype(np.int64)

    def groups_by_label(self, name: str) -> Sequence[tuple[str, int]]:
        """Count the groups that have each published value of a quasi-identifier, but for missing ones."""
        return self.combinations.groups_by_label(name)

    @cached_property
    def combinations(self) -> Combinations:
        """The cells of every group."""
        return Combinations.of(self.cells, self.group_of, self.published.counts)

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

    def judged_pairs(self, name: str) -> PairSums:
        """Judge the published cells of a quasi-identifier by what lies behind them, once; needs a sound link."""
        if name not in self._judged:
            self._judged[name] = self._judge_pairs(name)
        return self._judged[name]

    def _judge_pairs(self, name: str) -> PairSums:
        return PairSums.of(self.judges[name], self.pairs[name])

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

    @cached_property
    def units(self) -> LinkedRows | None:
        """The units that rows make, where the plan publishes them linked and their numbers are there."""
        unit = self.plan.unit
        if unit is None or unit.column not in self.published.columns or self.published.counts is not None:
            return None
        texts, unit_of = distinct_cells(self.published.columns[unit.column])
        return LinkedRows.of(unit_of, self.group_of, texts)

    def counted_by(self, name: str, group_of: IntArray, groups: int) -> Counted:
        """Count a sensitive column by groups other than those of rows that agree."""
        return self._count(name, group_of, groups)

    def single_valued(self, name: str) -> Collection[int]:
        """Return the groups that have exactly one value of a sensitive column."""
        found: list[int] = (self.counted(name).histograms.distinct == 1).nonzero()[0].tolist()
        return found

    def largest_share(self, name: str) -> float:
        """Return the greatest share that one value of a sensitive column has in any group."""
        found = self.counted(name).histograms
        there = found.totals > 0
        return float((found.greatest[there] / found.totals[there]).max(initial=0))

    def strays(self, name: str) -> Spot:
        """Return the published values of a sensitive column that the plan gives no leaf."""
        return self.counted(name).strays

    def judged(self, demand: Any, name: str) -> Any:
        """Have a demand on a sensitive column judge all groups."""
        return demand.judge(self.counted(name))

    def _count(self, name: str, group_of: IntArray | None = None, groups: int | None = None) -> Counted:
        labels, indices = distinct_cells(self._sensitive_cells(name))
        form = self.plan.data
        own = in_notation(self.plan, name, "sensitive")
        meant = {text: usual(text, form.decimal, form.thousands) if own else text for text in labels}
        known = Readings.of(self.plan.attributes[name], list(meant.values()))
        codes = [known.code_of[meant[text]] for text in labels]
        stray = np.array([*(code < 0 for code in codes), False], bool)[indices]
        released = np.array([*codes, -1], np.int64)[indices]
        counts = self.published.counts
        return Counted(
            known.reader,
            known.ways,
            known.in_order,
            Histograms.of(
                self.group_of if group_of is None else group_of,
                released,
                self.groups.groups if groups is None else groups,
                len(known.ways),
                counts,
            ),
            _count_codes(released, len(known.ways), counts),
            _strays(stray, counts),
            self.matches if group_of is None else None,
        )

    def _sensitive_cells(self, name: str) -> pa.ChunkedArray:
        """Published cells of a sensitive column; whatever the plan takes for a missing value is one."""
        column = self.published.columns[name]
        if self.original is not None:
            column = self.as_original(name, self.original)
            if self.original.kinds[name] != "text":
                return column
        return trim(column, self.plan.data.markers(name)) if self.published.kinds[name] == "text" else column


def _count_codes(codes: IntArray, size: int, counts: IntArray | None) -> IntArray:
    there = codes >= 0
    if counts is None:
        return np.bincount(codes[there], minlength=size).astype(np.int64)
    return sums(codes[there], counts[there], size)


def _strays(stray: npt.NDArray[np.bool_], counts: IntArray | None) -> Spot:
    if not stray.any():
        return 0, 0
    return (int(stray.sum()), int(np.argmax(stray)) + 1) if counts is None else (int(counts[stray].sum()), 0)

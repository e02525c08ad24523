"""Evidence in sums: a release whose rows, original and claim stay where they lie, of which only sums come here.

What is asked of groups is judged in tasks, each of which has all rows of its groups, by the code that judges them here;
the worst of what tasks find is what is found. What became of the records is compared by statements that count what does
not agree. Pairs of original and published cells are judged in tasks as well.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.counting import statements
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.judging import (
    GroupSums,
    GroupWork,
    PairWork,
    count_alike,
    count_cells,
    judge_groups,
    judge_pairs,
)
from hedgerow.verification.counting.pairs import Pair, PairSums
from hedgerow.verification.counting.readings import Readings
from hedgerow.verification.counting.spots import Spot
from hedgerow.verification.counting.tabulation import RowGroups
from hedgerow.verification.reading.original import Original, positions
from hedgerow.verification.reading.places import InDatabase, PlacedClaim
from hedgerow.verification.reading.published import Published
from hedgerow.verification.reading.stated import read_facts
from hedgerow.verification.values.columns import Cell

if TYPE_CHECKING:
    pass

ROWS_OF_TASK = 500_000
Tally = list[tuple[Cell, int]]
"""Distinct cells of a column, and how many rows have each."""
NO_PAIRS = PairSums((0, 0), (0, 0), 0, 0)


@dataclass(frozen=True)
class ClaimSums:
    """What is found of claimed records: parts of no records, and by quasi-identifier what is wrong with its cells."""

    lost: int
    pairs: Mapping[str, PairSums]


@dataclass(frozen=True)
class PlacedOriginal(Original):
    """An original of which only the cells of each column by itself are known, and how often they occur."""

    tallies: Mapping[str, Tally] = field(default_factory=dict)

    def distinct(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column."""
        return [cell for cell, _ in self.tallies[name]]

    def missing(self, name: str) -> int:
        """Return how many records have no value in a column."""
        return sum(count for cell, count in self.tallies[name] if cell is None)

    def tally(self, name: str) -> Tally:
        """Return the distinct cells of a column, and how many records have each."""
        return self.tallies[name]


@dataclass(frozen=True)
class PlacedEvidence(Evidence):
    """All that is at hand to judge a release by, where it lies.

    Attributes
    ----------
    released, source
        Where the release and the original lie: with the same lender, whose tasks do the work.
    claim
        What became of the records.
    demands
        What is asked of sensitive columns, one after the other: the column, and what judges it.
    """

    released: InDatabase
    source: InDatabase | None = None
    claim: PlacedClaim | None = None
    demands: tuple[tuple[str, Any], ...] = ()

    @property
    def has_link(self) -> bool:
        """Whether a claim was given."""
        return self.claim is not None

    @property
    def only_sums(self) -> bool:
        """Whether rows and records cannot be matched one by one: they are not here."""
        return True

    def behind_groups(self, name: str) -> Sequence[tuple[int, tuple[Cell, ...], int]]:
        """Groups are not here, and no release that needs this is made where they are not."""
        raise NotImplementedError

    @property
    def pairs(self) -> Mapping[str, Sequence[Pair]]:
        """They are judged where they lie."""
        raise NotImplementedError

    # -- the claim -------------------------------------------------------------------------------------------------

    @cached_property
    def link_fault(self) -> str:
        """What is wrong with the claim."""
        if self.claim is None or self.source is None:
            return ""
        return next(self._faults(self.claim.relation, self.source), "")

    def _faults(self, claim: str, source: InDatabase) -> Iterator[str]:
        plan = self.plan
        lost = self._claimed.lost
        if lost:
            yield f"{lost} parts of the link have no records"
        foreign = self._ask(statements.count_foreign(source, claim, plan))
        if foreign:
            yield f"{foreign} records of the link are not in the original, or not so often"
        more, fewer = self._two(statements.compare_rows(self.released, source, claim, plan))
        if more or fewer:
            yield f"{more} rows of the release are not those of the link, and {fewer} rows of the link are not there"

    def _ask(self, query: str) -> int:
        return int(self.released.lender.ask(query).column(0)[0].as_py() or 0)

    def _two(self, query: str) -> tuple[int, int]:
        found = self.released.lender.ask(query)
        return int(found.column(0)[0].as_py() or 0), int(found.column(1)[0].as_py() or 0)

    def _judge_pairs(self, name: str) -> PairSums:
        return self._claimed.pairs[name]

    @cached_property
    def _claimed(self) -> ClaimSums:
        """What tasks found of the claimed records, in one reading."""
        assert self.claim is not None
        assert self.source is not None
        crew: Any = self.released.lender
        names = self.plan.quasi_identifiers
        kinds = tuple(dict(self.source.columns)[name] for name in names)
        missing = tuple(
            self.plan.data.markers(name) if kind in statements.TEXT else ()
            for name, kind in zip(names, kinds, strict=True)
        )
        work = PairWork(tuple(self.judges[name] for name in names), kinds, missing, self._empty)
        told = ("j", "untrue", "broken", "exact", "maybe", "lost")
        query = statements.read_pairs(self.claim.relation, len(names))
        view = crew.in_tasks("pairs", query, partial(judge_pairs, work), [(one, crew.whole_number) for one in told])
        added = ", ".join(f"CAST(SUM({one}) AS BIGINT) AS {one}" for one in told[1:])
        rows = crew.ask(f"SELECT j, {added} FROM {view} GROUP BY j").to_pylist()
        pairs = {
            names[row["j"]]: PairSums((row["untrue"], 0), (row["broken"], 0), row["exact"], row["maybe"])
            for row in rows
        }
        return ClaimSums(sum(row["lost"] for row in rows), {name: pairs.get(name, NO_PAIRS) for name in names})

    def _fewest_persons(self, key: str, groups: int) -> int:
        assert self.claim is not None
        return self._ask(statements.fewest_persons(self.claim.relation, len(self.plan.quasi_identifiers)))

    def changed(self, original: Original) -> str:
        """Say how many rows have values in other columns that no record with their sensitive values has."""
        kept = [name for name in self.published.unchanged if name in self.plan.columns("other")]
        return self.surplus(original) if kept else ""

    def surplus(self, original: Original) -> str:
        """Say how many rows have values in columns released as they are which the original has not as often."""
        names = self.published.unchanged
        if not names or self.source is None:
            return ""
        query = statements.count_surplus(self.released, self.source, names, self.plan.data)
        count = self._ask(query)
        return f"{', '.join(names)}: {count} rows too many with the same values" if count else ""

    # -- the release -----------------------------------------------------------------------------------------------

    @cached_property
    def _tallies(self) -> Mapping[str, Tally]:
        """The cells of every published column that counts, in one reading."""
        kinds = dict(self.source.columns) if self.source is not None else dict(self.released.columns)
        asked = dict.fromkeys(self.published.quasi_identifiers, ("text", self._empty))
        asked |= {name: (kinds[name], self._missing(name)) for name in self.sensitive}
        return tallies_of(self.released, asked, "shown")

    @cached_property
    def labels(self) -> Mapping[str, list[tuple[Cell, int, int]]]:
        """Every distinct published cell of every quasi-identifier with its count."""
        return {
            name: [(cell, count, 0) for cell, count in self._tallies[name]] for name in self.published.quasi_identifiers
        }

    @cached_property
    def _readings(self) -> Mapping[str, tuple[Readings, Tally]]:
        found = {}
        for name in self.sensitive:
            tally = self._tallies[name]
            texts = [cell for cell, _ in tally if cell is not None]
            found[name] = Readings.of(self.plan.attributes[name], texts), tally
        return found

    @property
    def _empty(self) -> tuple[str, ...]:
        """Published texts that stand for a missing quasi-identifier."""
        return tuple(text for text in self.plan.data.missing if not text)

    def _missing(self, name: str) -> tuple[str, ...]:
        is_text = dict(self.released.columns)[name] in statements.TEXT
        return self.plan.data.markers(name) if is_text else ()

    @cached_property
    def _sums(self) -> GroupSums:
        crew: Any = self.released.lender
        names, plan = self.published.quasi_identifiers, self.plan
        overall = {}
        for name, (known, tally) in self._readings.items():
            total = np.zeros(len(known.ways), np.int64)
            for cell, count in tally:
                if cell is not None and known.code_of[cell] >= 0:
                    total[known.code_of[cell]] += count
            overall[name] = total
        kinds = dict(self.released.columns)
        work = GroupWork(
            names,
            {name: known for name, (known, _) in self._readings.items()},
            tuple(kinds[name] for name in (*names, *self.sensitive)),
            self._empty,
            overall,
            frozenset(rule.attribute for rule in plan.rules),
            tuple(one for one in self.demands if one[0] in self.sensitive),
            {name: self._missing(name) for name in self.sensitive},
        )
        number = max(2 * crew.cores, -(-self.published.rows // ROWS_OF_TASK))
        fetched = statements.fetch_rows(self.released, [*names, *self.sensitive])
        columns = [*crew.types(fetched).items()]
        alike = crew.in_tasks("alike", fetched, count_alike, [*columns, ("n", crew.whole_number)])
        query = statements.deal_groups(self.released, len(columns), len(names), alike, number)
        view = crew.in_tasks("judged", query, partial(judge_groups, work), [("said", crew.bytes)], number)
        found = GroupSums()
        for said in crew.ask(f"SELECT said FROM {view}").column("said").to_pylist():
            found.add(pickle.loads(said))
        return found

    @cached_property
    def size_counts(self) -> tuple[IntArray, IntArray]:
        """The sizes that groups have, ascending, and how many have each."""
        pairs = sorted(self._sums.sizes.items())
        return np.array([size for size, _ in pairs], np.int64), np.array([groups for _, groups in pairs], np.int64)

    @cached_property
    def groups(self) -> RowGroups:
        """The groups of the release."""
        sizes = self._sums.sizes
        groups = RowGroups(sum(sizes.values()), min(sizes, default=0), max(sizes, default=0))
        if self.plan.person is None or not self.linked:
            return groups
        return replace(groups, fewest_persons=self._fewest_persons(self.plan.person, groups.groups))

    @property
    def matches(self) -> None:
        """A row counts with those of its group only."""

    def groups_by_label(self, name: str) -> Sequence[tuple[str, int]]:
        """Count the groups that have each published value of a quasi-identifier."""
        return sorted(self._sums.labels.get(name, Counter()).items())

    def single_valued(self, name: str) -> Collection[int]:
        """Stand for the groups that have exactly one value of a sensitive column: only their number is known."""
        return range(self._sums.single[name])

    def largest_share(self, name: str) -> float:
        """Return the greatest share that one value of a sensitive column has in any group."""
        return self._sums.shares.get(name, 0.0)

    def strays(self, name: str) -> Spot:
        """Return the published values of a sensitive column that the plan gives no leaf."""
        known, tally = self._readings[name]
        return sum(count for cell, count in tally if cell is not None and known.code_of[cell] < 0), 0

    def judged(self, demand: Any, name: str) -> Any:
        """Return what tasks found of a demand."""
        number = [one for one in self.demands if one[0] in self.sensitive].index((name, demand))
        return self._sums.verdicts[name, number]


# -- reading -----------------------------------------------------------------------------------------------------------


def tallies_of(place: InDatabase, asked: Mapping[str, tuple[str, Sequence[str]]], name: str) -> Mapping[str, Tally]:
    """Count the cells of some columns, each by itself, given what each holds and which texts mean a missing value."""
    if not asked:
        return {}
    crew: Any = place.lender
    kinds, missing = zip(*asked.values(), strict=True)
    columns = [("j", crew.whole_number), ("cell", crew.text), ("n", crew.whole_number)]
    query = statements.fetch_rows(place, [*asked])
    view = crew.in_tasks(f"cells_{name}", query, partial(count_cells, kinds, missing), columns)
    found: list[Tally] = [[] for _ in asked]
    for batch in crew.stream(f"SELECT j, cell, CAST(SUM(n) AS BIGINT) AS n FROM {view} GROUP BY j, cell"):
        for j, cell, count in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found[j].append((cell, count))
    return dict(zip(asked, found, strict=True))


def read_placed(released: InDatabase, plan: Plan, facts: Mapping[str, Any]) -> Published:
    """Read what is known of a release without its rows."""
    import pyarrow as pa

    header = tuple(name for name, _ in released.columns)
    rows = int(released.lender.ask(statements.count_rows(released, [])).column(0)[0].as_py())
    sound, faults = read_facts(facts, plan)
    nothing = pa.chunked_array([pa.array([], pa.string())])
    columns = {name: nothing for name in header if name in plan.attributes}
    return Published(
        plan, sound, tuple(faults), header, columns, dict.fromkeys(columns, "text"), rows, np.zeros(0, np.int64)
    )


def read_placed_original(source: InDatabase, plan: Plan) -> PlacedOriginal:
    """Read what is known of an original without its records."""
    header = [name for name, _ in source.columns]
    needed = dict.fromkeys([*plan.released_columns, *([plan.person] if plan.person is not None else [])])
    positions(header, list(needed), source.relation)
    kinds = dict(source.columns)
    asked = {
        name: (kinds[name], plan.data.markers(name) if kinds[name] in statements.TEXT else ())
        for name in plan.quasi_identifiers
    }
    tallies = tallies_of(source, asked, "original")
    records = int(source.lender.ask(statements.count_rows(source, [])).column(0)[0].as_py())
    return PlacedOriginal({}, {}, records, tallies=tallies)

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
from hedgerow.verification.counting.distinct_rows import text_of
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.judging import GroupSums, GroupWork, freed, judge_groups, judge_pairs
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
        lost = self._ask(statements.count_lost(claim))
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
        assert self.claim is not None
        assert self.source is not None
        at = self.plan.quasi_identifiers.index(name)
        crew: Any = self.released.lender
        kinds = (dict(self.source.columns)[name], "text")
        is_text = kinds[0] in statements.TEXT
        empty = tuple(text for text in self.plan.data.missing if not text)
        work = partial(judge_pairs, self.judges[name], kinds, (self.plan.data.markers(name) if is_text else (), empty))
        columns = [(letter, crew.whole_number) for letter in "ubem"]
        view = crew.in_tasks(f"pairs_{at}", statements.count_pairs(self.claim.relation, at), work, columns)
        total = crew.ask(
            "SELECT " + ", ".join(f"CAST(SUM({letter}) AS BIGINT) AS {letter}" for letter in "ubem") + f" FROM {view}"
        )
        untrue, broken, exact, maybe = (int(total.column(letter)[0].as_py() or 0) for letter in "ubem")
        return PairSums((untrue, 0), (broken, 0), exact, maybe)

    def _fewest_persons(self, key: str, groups: int) -> int:
        assert self.claim is not None
        return self._ask(statements.fewest_persons(self.claim.relation, len(self.plan.quasi_identifiers)))

    def changed(self, original: Original) -> str:
        """Say how many rows have values in other columns that no record with their sensitive values has."""
        kept = [name for name in self.plan.columns("other") if name in self.published.header]
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
    def labels(self) -> Mapping[str, list[tuple[Cell, int, int]]]:
        """Every distinct published cell of every quasi-identifier with its count."""
        empty = tuple(text for text in self.plan.data.missing if not text)
        found = {}
        for name in self.published.quasi_identifiers:
            tally = tally_of(self.released, name, empty, as_text=True)
            found[name] = [(cell, count, 0) for cell, count in tally]
        return found

    @cached_property
    def _readings(self) -> Mapping[str, tuple[Readings, Tally]]:
        found = {}
        for name in self.sensitive:
            kind = dict(self.source.columns)[name] if self.source is not None else dict(self.released.columns)[name]
            tally = tally_of(self.released, name, self._missing(name), kind=kind)
            texts = [cell for cell, _ in tally if cell is not None]
            found[name] = Readings.of(self.plan.attributes[name], texts), tally
        return found

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
            tuple(text for text in plan.data.missing if not text),
            overall,
            frozenset(rule.attribute for rule in plan.rules),
            tuple(one for one in self.demands if one[0] in self.sensitive),
            {name: self._missing(name) for name in self.sensitive},
        )
        number = max(2 * crew.cores, -(-self.published.rows // ROWS_OF_TASK))
        query = statements.deal_groups(self.released, names, self.sensitive, number)
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


def tally_of(
    place: InDatabase, name: str, missing: Sequence[str], kind: str | None = None, as_text: bool = False
) -> Tally:
    """Count the cells of one column."""
    held = kind or dict(place.columns)[name]
    total: Counter[Cell] = Counter()
    for batch in place.lender.stream(statements.count_rows(place, [name])):
        column, _ = text_of(batch.column(0), "text" if as_text else held)
        cells = freed(column, missing).to_pylist()
        for cell, count in zip(cells, batch.column(1).to_pylist(), strict=True):
            total[cell] += count
    return list(total.items())


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
    tallies = {}
    for name in plan.quasi_identifiers:
        missing = plan.data.markers(name) if kinds[name] in statements.TEXT else ()
        tallies[name] = tally_of(source, name, missing)
    records = int(source.lender.ask(statements.count_rows(source, [])).column(0)[0].as_py())
    return PlacedOriginal({}, {}, records, tallies=tallies)

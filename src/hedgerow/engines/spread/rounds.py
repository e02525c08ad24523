"""Making a release of a table whose records stay on the executors of Spark.

What the driver holds are the values of every column by themselves, blocks that fail and those that are large, and sums.
The rounds are those of :mod:`hedgerow.anonymization.withholding`: what is left is encoded as if there had never been
other records. The kernels, the statements and the facts are those of all engines, so the release is the same.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hedgerow.anonymization.clustering import (
    ConstrainedKMember,
    DiverseClustering,
    Improved,
    MergeSmall,
    Partition,
    Runs,
)
from hedgerow.anonymization.clustering.cells import has_width
from hedgerow.anonymization.counts import Counts
from hedgerow.anonymization.resolving import filled, refuse_levels
from hedgerow.anonymization.solving import Solution, clustering_of, facts_of_splitting, refuse_the_impossible
from hedgerow.anonymization.withholding import PATIENT_TURNS
from hedgerow.engines.in_place import Values
from hedgerow.engines.rows import Rows, Selected
from hedgerow.engines.spark_cells import alone
from hedgerow.engines.spread import blocks, groups, rows, tasks
from hedgerow.engines.spread.blocks import AskedOfBlocks, Bundles, LimitKeys
from hedgerow.engines.spread.book import Book, SummedMicrodata
from hedgerow.engines.spread.coded import PERSON, Sent, encode_rows, find_values, gathered, values_of
from hedgerow.engines.spread.session import TaskSession
from hedgerow.engines.spread.summed import SummedRecoding, counts_of, published_values
from hedgerow.engines.sql import SqlSource
from hedgerow.engines.sql import gathered as fetched
from hedgerow.errors import DataError, Problem
from hedgerow.measures.research_value import column_values, rules_fit
from hedgerow.microdata import Table
from hedgerow.microdata.columns import QuasiIdentifier, without_limit
from hedgerow.microdata.read import check_columns
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, objectives
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Progress, silent

BUNDLE = 250_000
"""Rows that a task clusters, or counts the groups of, at most, where blocks are not larger."""
TASKS_PER_CORE = 2
MOST_BLOCKS = 2_000_000
"""Failing and large blocks that the driver may hold."""


@dataclass(frozen=True, eq=False)
class SpreadRelease:
    """A release of which only sums are here.

    Attributes
    ----------
    plan, table
        The plan as it is published; of the table, all but its records.
    counts, solution
        What facts are made of; how the groups came about.
    by_limits
        Private: what each limit costs, by column.
    rows
        The rows, where they lie.
    """

    plan: Plan
    table: Table
    counts: Counts
    solution: Solution
    by_limits: dict[str, dict[str, Any]]
    rows: Rows


class NotInTasks(Exception):
    """Something is not as the flow needs it; the table is worked on as others are, which says what is wrong."""


def is_for(plan: Plan) -> bool:
    """Tell whether what a plan asks is done block by block, so that records can stay where they are."""
    method = plan.method
    return (
        not METHODS[method.name].needs_levels
        and method.overlap == "allowed"
        and not method.suppress
        and plan.missing != "matches-any"
        and plan.weights != "association"
        and method.certify is None
        and not objectives()[method.goes_by].squared
        and plan.population is None
        and plan.weight is None
        and plan.unit is None
        and not plan.publishes_instead
        and plan.data.decimal == "."
        and plan.data.thousands is None
        and all(part.treat is None for part in plan.attributes.values())
    )


def by_blocks(clustering: Any) -> bool:
    """Tell whether a clustering treats every block by itself."""
    if isinstance(clustering, Improved):
        return by_blocks(clustering.clustering)
    return isinstance(clustering, ConstrainedKMember | DiverseClustering | MergeSmall | Runs | Partition)


def make_in_tasks(session: TaskSession, plan: Plan, tell: Progress = silent) -> SpreadRelease | None:
    """Make a release whose records never come here; None where that cannot be done, or where it blocks.

    Whoever gets None works on the table as on others, which also says what blocks.
    """
    plan = plan.settled()
    if not is_for(plan):
        return None
    try:
        return _Rounds(session, plan, tell).run()
    except NotInTasks:
        return None


class _Rounds:
    """The state of one release."""

    def __init__(self, session: TaskSession, plan: Plan, tell: Progress) -> None:
        self.session, self.plan, self.tell = session, plan, tell
        self.source = SqlSource(session, plan)
        check_columns(tuple(self.source.kinds), plan, session.place)
        self.cache = os.environ.get("HEDGEROW_CACHE")
        self.names = self.source.names()
        self.quasi = [alias for alias in self.names if alias.startswith("c")]
        self.sensitive = [alias for alias in self.names if alias.startswith("s")]
        self.number = 0

    # ---- the rounds --------------------------------------------------------------------------------------------------

    def run(self) -> SpreadRelease:
        """Go through the rounds."""
        tell, session = self.tell, self.session
        tell("reading", 0, 0)
        values = self._found_values()
        if not values or not len(values[0].counts):
            raise DataError(Problem("empty", "The table has no records.", session.place, "give a table with records"))
        self.records = int(values[0].counts.sum())
        self._check_persons()
        tell("encoding", 0, 0)
        table = self._table()
        book = Book.of(
            self.plan,
            self.source.kinds,
            [_without_dictionary(v.raw) for v in values],
            [v.counts for v in values],
            strict=True,
        )
        known = SummedMicrodata.of(book, self.records, 0, 0)
        refuse_levels(self.plan, known)
        settled = filled(self.plan, table, known)
        if self.plan.rules:
            rules_fit(column_values(known, settled))
        coded = self._code(book)
        left, because = coded, Counter[str]()
        if any(without.any() for without in book.without_leaf()):
            left, book, settled, known = self._again(book, f"SELECT * FROM {coded}", table)
            because["no_leaf"] = self.records - known.left
        else:
            known = replace(known, persons=self._persons(coded))
        first_book, first_settled, first = book, settled, left
        turns, blocks_withheld, least, failing_first = 0, 0, None, 0
        while True:
            requirement = Requirement.of_plan(settled, known)
            self._possible(known, requirement, because)
            failing = self._failing(book, settled, requirement, left)
            if least is None:
                proven = requirement.survives_growth and self._is_simple(book, settled, requirement)
                least = because["no_leaf"] + failing.records if proven else -1
                failing_first = failing.records
                gone_first = failing
            blocks_withheld += failing.number
            if failing.records:
                because["failing_block"] += failing.records
                self._allowed(because)
                left, book, settled, known = self._again(book, failing.others, table)
                continue
            turns += 1
            answer, told = self._cluster(book, settled, requirement, left, turns <= PATIENT_TURNS, failing)
            if not told.over:
                break
            because["fits_no_group"] += told.over
            self._allowed(because)
            kept = f"SELECT {', '.join([*Sent(book, self._has_person, None).names, 'n'])} FROM {answer}"
            keep = f"{kept} WHERE what = {tasks.ROW:d} AND {book.keys[0]} >= 0"
            left, book, settled, known = self._again(book, keep, table)
        tell("measuring", 0, 0)
        counted, columns, sums = self._count(book, answer, told.samples)
        counts = counts_of(settled, known, columns, sums, sums.numbered())
        recoding = counts.measured.recoding
        assert isinstance(recoding, SummedRecoding)
        withheld = self.records - recoding.released
        details: dict[str, Any] = {"blocks": told.blocks}
        if settled.method.split is not None:
            ratio = None if told.siblings is None else told.siblings[1]
            details["split"] = facts_of_splitting(settled, told.split, told.parts, ratio)
        if told.solved is not None:
            details["solved_exactly"] = dict(zip(("blocks", "records"), told.solved, strict=True))
        reasons = {name: because[name] for name in ("failing_block", "fits_no_group", "no_leaf")}
        solution = Solution(recoding, reasons, least == withheld, details, blocks_withheld)
        by_limits = self._by_limits(first_book, first_settled, first, failing_first, gone_first)
        return SpreadRelease(settled, table, counts, solution, by_limits, self._rows(book, answer, counted, values))

    def _is_simple(self, book: Book, plan: Plan, requirement: Requirement) -> bool:
        widths = [column for column in book.columns if plan.keeps_limits and has_width(column)]
        return not widths or (len(widths) == 1 and not self._has_person and not requirement.models)

    def _possible(self, known: SummedMicrodata, requirement: Requirement, because: Counter[str]) -> None:
        """Refuse what cannot be; what blocks in later rounds is said by those who can tell why."""
        refuse_the_impossible(known, requirement)

    def _allowed(self, because: Counter[str]) -> None:
        """Leave it to others to say what blocks, if too many records must be withheld."""
        gone = because.total()
        allowed = None if self.plan.withhold is None else self.plan.withhold.records(self.records)
        if gone == self.records or (allowed is not None and gone > allowed):
            raise NotInTasks

    def _again(self, book: Book, query: str, table: Table) -> tuple[str, Book, Plan, SummedMicrodata]:
        """Encode what is left as if there had been nothing else; a value may have lost its leaf then."""
        while True:
            left = self._kept("left", query)
            counts = self._values(book, left)
            found = Book.of(self.plan, self.source.kinds, book.values, counts, strict=False)
            records = int(counts[0].sum())
            lost = found.without_leaf()
            if not any((without & (count > 0)).any() for without, count in zip(lost, counts, strict=True)):
                break
            query = self._tasks(
                "leafy", f"SELECT * FROM {left}", partial(_without_leaf, self._sent(found)), self._coded_columns(found)
            )
            query = f"SELECT * FROM {query}"
        known = SummedMicrodata.of(found, records, self._persons(left), self.records - records)
        return left, found, filled(self.plan, table, known), known

    # ---- the steps ---------------------------------------------------------------------------------------------------

    @property
    def _has_person(self) -> bool:
        return self.plan.person is not None

    def _sent(self, book: Book) -> Sent:
        return Sent(book, self._has_person, self.cache)

    def _found_values(self) -> list[Values]:
        """Read the values of all columns, and how many records have each."""
        names, types = [*self.quasi, *self.sensitive], self.session.types(self.source.keyed())
        columns = [("j", self.session.number), *((name, types[name]) for name in names)]
        columns.append(("n", self.session.whole_number))
        query = f"SELECT {', '.join(names)} FROM ({self.source.keyed()}) AS t"
        view = self._tasks("found", query, find_values, columns)
        listed = ", ".join(["j", *names])
        summed = f"SELECT {listed}, CAST(SUM(n) AS BIGINT) AS n FROM {view} GROUP BY {listed}"
        return Values.by_column(fetched(self.session, summed), names)

    def _check_persons(self) -> None:
        if not self._has_person:
            return
        query = f"SELECT COUNT(*) AS n FROM ({self.source.keyed()}) AS t WHERE {PERSON} IS NULL"
        missing = int(self.session.ask(query).column("n")[0].as_py())
        if missing:
            message = f"Column {self.plan.person!r}: {missing:,} records have no person key."
            raise DataError(Problem("no-person", message, hint="fill the keys, or leave 'person' out of the plan"))

    def _table(self) -> Table:
        released = set(self.plan.released_columns)
        stay = tuple(name for name in self.source.kinds if name not in released)
        return Table({}, self.records, stay, self.session.format or self.plan.data)

    def _persons(self, left: str) -> int:
        counted = f"COUNT(DISTINCT {PERSON})" if self._has_person else "SUM(n)"
        return int(self.session.ask(f"SELECT CAST({counted} AS BIGINT) AS n FROM {left}").column("n")[0].as_py() or 0)

    def _code(self, book: Book) -> str:
        """Have the values of all records numbered; returns how statements name that."""
        query = self.source.keyed()
        return self._tasks("coded", query, partial(encode_rows, self._sent(book)), self._coded_columns(book), keep=True)

    def _coded_columns(self, book: Book) -> list[tuple[str, Any]]:
        types = self._types(book)
        return [*((name, types[name]) for name in self._sent(book).names), ("n", self.session.whole_number)]

    def _types(self, book: Book) -> dict[str, Any]:
        types = dict.fromkeys(book.words, self.session.whole_number)
        if self._has_person:
            types[PERSON] = self.session.types(self.source.keyed())[PERSON]
        return types

    def _values(self, book: Book, left: str) -> list[IntArray]:
        """Count how many of the records that are left have each value."""
        long = self.session.whole_number
        view = self._tasks(
            "values",
            f"SELECT * FROM {left}",
            partial(blocks.count_values, self._sent(book)),
            [("j", self.session.number), ("v", long), ("n", long)],
        )
        found = self.session.ask(f"SELECT j, v, CAST(SUM(n) AS BIGINT) AS n FROM {view} GROUP BY j, v")
        j, v, n = (found.column(name).to_numpy() for name in ("j", "v", "n"))
        counts = [np.zeros(size, np.int64) for size in book.sizes]
        for at, count in enumerate(counts):
            count[v[j == at]] = n[j == at]
        return counts

    def _kept(self, name: str, query: str) -> str:
        return self.session.keep_on_disk(self._name(name), query)

    def _name(self, name: str) -> str:
        self.number += 1
        return f"{name}_{self.number}"

    def _tasks(
        self,
        name: str,
        query: str,
        work: Callable[..., Any],
        columns: Sequence[tuple[str, Any]],
        dealt: int | None = None,
        keep: bool = False,
    ) -> str:
        return self.session.in_tasks(self._name(name), query, work, columns, dealt, keep)

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def _limits(self, book: Book, plan: Plan, columns: Sequence[QuasiIdentifier] | None = None) -> LimitKeys:
        found = LimitKeys.of(columns or book.columns, book.codes, not plan.keeps_limits)
        if found is None:
            raise NotInTasks
        return found

    def _failing(self, book: Book, plan: Plan, requirement: Requirement, left: str) -> _Failing:
        """Find the records of blocks that must be withheld."""
        limits = self._limits(book, plan)
        if plan.keeps_limits and any(map(has_width, book.columns)):
            found = self._failing_by_width(book, plan, requirement, left, limits)
            self.large = self._count_blocks(book, [limits], requirement, left)[1]
            return found
        bad, self.large = self._count_blocks(book, [limits], requirement, left)
        failing = np.array(sorted(block for _, block, _ in bad), np.int64)
        keep = partial(blocks.keep_blocks, self._sent(book), limits, failing)
        columns = self._coded_columns(book)
        query = f"SELECT * FROM {left}"
        others = self._tasks("others", query, partial(keep, True), columns) if len(failing) else left
        gone = self._tasks("gone", query, partial(keep, False), columns) if len(failing) else ""
        records = sum(n for _, _, n in bad)
        return _Failing(len(failing), records, f"SELECT * FROM {others}", gone, limits)

    def _count_blocks(
        self, book: Book, variants: Sequence[LimitKeys], requirement: Requirement, left: str
    ) -> tuple[list[tuple[int, int, int]], tuple[IntArray, IntArray]]:
        """Return the failing blocks under each of some limits, with their records; and the large ones of the first."""
        asked = AskedOfBlocks.of(requirement, len(book.sensitive))
        small, long = self.session.number, self.session.whole_number
        columns = [("variant", small), ("block", long), ("what", small), ("code", long), ("n", long)]
        if self._has_person:
            columns.append((PERSON, self._types(book)[PERSON]))
        work = partial(blocks.count_blocks, self._sent(book), variants, asked)
        counted = asked.counted(self._tasks("counted", f"SELECT * FROM {left}", work, columns), self._has_person)
        fails, large = asked.fails(self._has_person), f"variant = 0 AND n >= {BUNDLE // 8:d}"
        found = self.session.ask(
            f"SELECT variant, block, n, {fails} AS failing FROM ({counted}) AS t WHERE {fails} OR ({large})"
            f" LIMIT {MOST_BLOCKS + 1:d}"
        )
        if found.num_rows > MOST_BLOCKS:
            raise NotInTasks
        variant, block, n, bad = (found.column(name).to_numpy() for name in ("variant", "block", "n", "failing"))
        failing = list(zip(*(column[bad].tolist() for column in (variant, block, n)), strict=True))
        is_large = (variant == 0) & (n >= BUNDLE // 8)
        return failing, (block[is_large], n[is_large])

    def _failing_by_width(
        self, book: Book, plan: Plan, requirement: Requirement, left: str, limits: LimitKeys,
        columns: tuple[QuasiIdentifier, ...] | None = None,
    ) -> _Failing:  # fmt: skip
        """The same where a width is limited: tasks look at the records of whole blocks."""
        bundles = self._bundles(left, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
        sent, layout = self._sent(book), self._coded_columns(book)
        dealt = self._tasks(
            "dealt",
            f"SELECT * FROM {left}",
            partial(blocks.deal_out, sent, limits, bundles),
            [*layout, ("task", self.session.number)],
        )
        work = partial(tasks.find_failing, sent, plan, columns or book.columns)
        found = self._tasks(
            "failing",
            f"SELECT * FROM {dealt}",
            work,
            [*layout, ("cell", self.session.whole_number), ("task", self.session.number)],
            bundles.number,
            keep=True,
        )
        counted = self.session.ask(
            f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n, (SELECT COUNT(*) FROM (SELECT task, cell FROM {found}"
            f" GROUP BY task, cell) AS c) AS cells FROM {found}"
        )
        names = sent.names
        same = " AND ".join(f"t.{name} = f.{name}" for name in names)
        all_of = ", ".join([*names, "n"])
        summed = f"SELECT {', '.join(names)}, CAST(SUM(n) AS BIGINT) AS n FROM {left} GROUP BY {', '.join(names)}"
        others = f"SELECT {all_of} FROM ({summed}) AS t WHERE NOT EXISTS (SELECT 1 FROM {found} AS f WHERE {same})"
        number, records = int(counted.column("cells")[0].as_py()), int(counted.column("n")[0].as_py())
        return _Failing(number, records, others, found, limits)

    def _bundles(self, left: str, large: tuple[IntArray, IntArray]) -> Bundles:
        total = int(self.session.ask(f"SELECT COUNT(*) AS n FROM {left}").column("n")[0].as_py())
        number = max(TASKS_PER_CORE * self.session.cores, -(-total // BUNDLE))
        return Bundles.of(*large, max(self.records, 1), number)

    # ---- clustering --------------------------------------------------------------------------------------------------

    def _cluster(
        self, book: Book, plan: Plan, requirement: Requirement, left: str, patient: bool, failing: _Failing
    ) -> tuple[str, tasks.Told]:
        """Cluster what is left, all of whose blocks can be released; returns the answers of all tasks."""
        self.tell("clustering", 0, 0)
        known = SummedMicrodata.of(book, self.records, 0, 0)
        clustering = clustering_of(known, plan, requirement, 1)
        if not by_blocks(clustering) or self.large[1].max(initial=0) > self.session.most_in_task:
            raise NotInTasks
        sent, layout = self._sent(book), self._coded_columns(book)
        bundles = self._bundles(left, self.large)
        small, long = self.session.number, self.session.whole_number
        dealt = self._tasks(
            "dealt",
            f"SELECT * FROM {left}",
            partial(blocks.deal_out, sent, failing.limits, bundles),
            [*layout, ("task", small)],
        )
        others = bool(plan.columns("other"))
        job = tasks.BlockJob(plan, requirement, alone(clustering), others, patient)
        columns = tasks.layout(sent, self._types(book), long, small, self.session.bytes)
        answer = self._tasks(
            "answer", f"SELECT * FROM {dealt}", partial(tasks.cluster, sent, job), columns, bundles.number, keep=True
        )
        said = self.session.ask(f"SELECT said FROM {answer} WHERE what = {tasks.SAID:d}")
        told = tasks.Told()
        for one in said.column("said").to_pylist():
            told = told.and_(pickle.loads(one))
        return answer, told

    # ---- counting ----------------------------------------------------------------------------------------------------

    def _released(self, book: Book, answer: str) -> str:
        names = ", ".join([*self._sent(book).names, "n", *book.keys])
        return f"SELECT {names} FROM {answer} WHERE what = {tasks.ROW:d} AND {book.keys[0]} >= 0"

    def _count(
        self, book: Book, answer: str, samples: Sequence[tuple[tuple[int, ...], int]]
    ) -> tuple[str, Any, groups.Sums]:
        """Count the groups, and put them in order; returns how statements name what tasks gave."""
        sent, long, small = self._sent(book), self.session.whole_number, self.session.number
        columns = [*self._coded_columns(book), *((name, long) for name in book.keys)]
        number = max(TASKS_PER_CORE * self.session.cores, -(-self.records // BUNDLE))
        deal = partial(groups.deal_ranges, book.keys, groups.bounds_of(samples, number))
        dealt = self._tasks("grouped", self._released(book, answer), deal, [*columns, ("task", small)])
        layout = [*((name, long) for name in groups.GroupLayout(book).names), ("said", self.session.bytes)]
        work = partial(groups.count_groups, sent, not self.plan.columns("other"))
        counted = self._tasks("sums", f"SELECT * FROM {dealt}", work, layout, number, keep=True)
        by = ", ".join(groups.COLUMNS[:6])
        found = self.session.ask(
            f"SELECT {by}, CAST(SUM(groups) AS BIGINT) AS groups, CAST(SUM(records) AS BIGINT) AS records"
            f" FROM {counted} WHERE what < {groups.SAID:d} GROUP BY {by}"
        )
        sums = groups.Sums()
        said = self.session.ask(f"SELECT said FROM {counted} WHERE what = {groups.SAID:d}")
        for one in sorted(said.column("said").to_pylist()):  # sums of fractions depend on their order
            sums.add(pickle.loads(one))
        return counted, published_values(book, found), sums

    def _by_limits(
        self, book: Book, plan: Plan, left: str, withheld: int, failing: _Failing
    ) -> dict[str, dict[str, Any]]:
        """Say what each limit costs: of all records, those that would not have to be withheld without it."""
        limited = [column for column in book.columns if plan.attributes[column.name].limit is not None]
        if not plan.keeps_limits or not limited:
            return {}
        bare = tuple(without_limit(column) for column in book.columns)
        variants: list[tuple[QuasiIdentifier, ...]] = []
        for column in limited:
            variants.append(tuple(without_limit(one) if one is column else one for one in book.columns))
            variants.append(
                tuple(one if one.name == column.name else other for one, other in zip(book.columns, bare, strict=True))
            )
        numbers = self._withheld_under(book, plan, left, variants, withheld)
        pairs = zip(limited, numbers[::2], numbers[1::2], strict=True)
        found = {column.name: {"withholds": withheld - lifted, "alone": alone} for column, lifted, alone in pairs}
        order = sorted(found, key=lambda name: (-found[name]["withholds"], -found[name]["alone"], name))
        return {name: found[name] for name in order}

    def _withheld_under(
        self, book: Book, plan: Plan, left: str, variants: Sequence[tuple[QuasiIdentifier, ...]], withheld: int
    ) -> list[int]:
        """Count the records that would have to be withheld under other limits."""
        requirement = Requirement.of_plan(plan, SummedMicrodata.of(book, self.records, 0, 0))
        if any(has_width(column) for column in book.columns):
            return [
                self._failing_by_width(
                    book, plan, requirement, left, self._limits(book, plan, columns), columns
                ).records
                for columns in variants
            ]
        if not withheld:  # with fewer limits no more are
            return [0] * len(variants)
        limits = [self._limits(book, plan, columns) for columns in variants]
        bad, _ = self._count_blocks(book, limits, requirement, left)
        numbers = [0] * len(variants)
        for variant, _, n in bad:
            numbers[variant] += n
        return numbers

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _rows(self, book: Book, answer: str, counted: str, values: Sequence[Any]) -> Rows:
        """Return the rows; they are written out when they are asked for."""
        session, sent = self.session, self._sent(book)
        types = session.types(self.source.keyed())
        claimed = [(alias, types[alias]) for alias in self.names]
        claimed += [(f"l{at}", session.text) for at in range(len(self.quasi))] + [("n", session.whole_number)]
        claim = self._tasks("claim", self._released(book, answer), partial(rows.claim_rows, sent), claimed)

        def select() -> Selected:
            query = self._ordered(book, answer, counted)
            return Selected(session.schema_of(query), lambda: session.stream(query), query)

        return Rows(select, rows.SpreadLink(claim, self.source))

    def _ordered(self, book: Book, answer: str, counted: str) -> str:
        """Return the statement of the rows, in order."""
        session, plan, sent = self.session, self.plan, self._sent(book)
        small = session.number
        kept = plan.columns("sensitive", "other")
        others = plan.columns("other")
        alias_of = {name: f"r{at}" for at, name in enumerate(plan.columns("sensitive"))}
        alias_of |= {name: f"o{at}" for at, name in enumerate(others)}
        alias_of |= {name: f"l{at}" for at, name in enumerate(plan.quasi_identifiers)}
        places = [(f"r{at}", small) for at in range(len(self.sensitive))]
        shown, shown_types = [], {}
        for at, alias in enumerate(self.sensitive):
            array, kind = session.shown_values(self.source.shown_values(alias), book.values[len(self.quasi) + at])
            rank, size = book.ranks[at]
            by_place = np.zeros(size, np.int64)
            there = book.counts[len(self.quasi) + at] > 0
            by_place[rank[there]] = np.flatnonzero(there)
            shown.append(array.take(_array(by_place)))
            shown_types[f"r{at}"] = kind
        if not others:
            found = ", ".join([*book.keys, *(name for name, _ in places), "n"])
            query = f"SELECT {found} FROM {counted} WHERE what = {groups.ROWS:d}"  # tasks have put them in order
            other_types: dict[str, Any] = {}
        else:
            query, other_types = self._numbered(book, answer, places, [alias_of[name] for name in kept])
        columns = [
            (alias, session.text if alias.startswith("l") else {**shown_types, **other_types}[alias])
            for alias in (alias_of[name] for name in plan.released_columns)
        ]
        work = partial(rows.publish_rows, sent, shown, [(alias, "") for alias, _ in columns])
        view = self._tasks("rows", query, work, columns)
        named = ", ".join(f"{alias_of[name]} AS {session.quote(name)}" for name in plan.released_columns)
        return f"SELECT {named} FROM {view}"

    def _numbered(
        self, book: Book, answer: str, places: list[tuple[str, Any]], order: list[str]
    ) -> tuple[str, dict[str, Any]]:
        """Return the statement of rows with other columns: the records of a class are numbered by these."""
        session, sent = self.session, self._sent(book)
        query = self.source.keyed(others=True)
        types = session.types(query)
        others = [(name, kind) for name, kind in types.items() if name.startswith("o")]
        coded = self._coded_columns(book)[:-1]
        every = self._tasks("every", query, partial(rows.encode_others, sent, len(others)), [*coded, *places, *others])
        same = " AND ".join(f"t.{name} = c.{name}" for name in sent.names)
        by = ", ".join(f"t.{name} NULLS LAST" for name, _ in others)
        kept = ", ".join(f"t.{name}" for name, _ in (*places, *others))
        classes = f"SELECT {', '.join(sent.names)}, class FROM {answer} WHERE what = {tasks.CLASS:d}"
        parts = f"SELECT class, first, last, {', '.join(book.keys)} FROM {answer} WHERE what = {tasks.PART:d}"
        numbered = (
            f"SELECT c.class, {kept}, ROW_NUMBER() OVER (PARTITION BY c.class ORDER BY {by}) AS number"
            f" FROM {every} AS t JOIN ({classes}) AS c ON {same}"
        )
        keys = ", ".join(f"a.{name}" for name in book.keys)
        named = ", ".join(f"r.{name}" for name, _ in (*places, *others))
        last = ", ".join([*(f"a.{name}" for name in book.keys), *(f"r.{name} NULLS LAST" for name in order)])
        return (
            f"SELECT {keys}, {named} FROM ({numbered}) AS r JOIN ({parts}) AS a"
            f" ON a.class = r.class AND r.number BETWEEN a.first AND a.last ORDER BY {last}"
        ), dict(others)


@dataclass(frozen=True, eq=False)
class _Failing:
    """Blocks that must be withheld: how many, their records, the statement of all other records, and their view."""

    number: int
    records: int
    others: str
    gone: str
    limits: LimitKeys


def _without_dictionary(values: Any) -> Any:
    """Return values without a dictionary."""
    import pyarrow as pa

    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _array(numbers: IntArray) -> Any:
    import pyarrow as pa

    return pa.array(numbers)


def _without_leaf(sent: Sent, batches: Any) -> Any:
    """Give the records all of whose values have a leaf."""
    import pyarrow as pa

    lost = sent.book.without_leaf()
    for table in gathered(batches):
        gone = np.zeros(table.num_rows, bool)
        for of_row, without in zip(values_of(sent.book, table), lost, strict=True):
            gone |= without[of_row]
        yield from table.filter(pa.array(~gone)).to_batches()

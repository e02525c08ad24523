"""Microdata: the encoded table, collapsed to profiles with counts.

Records that agree on every quasi-identifier are interchangeable to the algorithms, which therefore see *profiles*:
distinct code vectors with counts. The canonical order of records — by codes, then person, then sensitive columns, then
the other released ones — is what makes results independent of the order of rows: the records of a profile are its
*units*, in that order, and ties go to the first. Sensitive columns come before the others because an engine that
collapses a table where it lies counts by them, and orders the records by the others there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.microdata.columns import (
    Encoded,
    KeptEnds,
    QuasiIdentifier,
    TreeColumn,
    distinct_labels,
    encode,
    in_records,
    with_limit,
)
from hedgerow.microdata.households import Households, check_same
from hedgerow.microdata.meaning import meant
from hedgerow.microdata.ordering import number_rows, order_by, pack, starts_of_runs
from hedgerow.microdata.population import Population, populate
from hedgerow.microdata.read import Table, dictionary_encoded
from hedgerow.microdata.sensitive import SensitiveColumn, encode_sensitive
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.model import Unit
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MILLION = 1_000_000
MOST_WEIGHT = 10_000_000


@dataclass(frozen=True, eq=False)
class Microdata:
    """An encoded table.

    Attributes
    ----------
    columns
        The quasi-identifiers, in the plan's order.
    index_order
        Positions of the columns in the order in which profiles are sorted and searched.
    profiles
        Distinct code vectors, columns in ``index_order``, sorted.
    unit_start
        First unit of every profile, and the number of units.
    record_of
        Row of the table (from 0, as read) of every unit, in canonical order: its record, or the row that stands for it.
    person_of
        Person number of every unit, or None if every record is a person of its own.
    unknown
        Row of every record of which nothing is known here but that it is withheld: a value has no leaf, or others than
        those released were left out.
    sensitive
        The sensitive columns, in the plan's order.
    sensitive_of
        Value code of every unit (rows) in every sensitive column (columns); −1 is missing.
    population
        The people whom the records were drawn from, where the plan names a table of them.
    weight_of
        Millionths of people whom every unit stands for, where the plan names a column of weights: sums are exact.
    households
        Which units are published linked; None if none are.
    """

    columns: tuple[QuasiIdentifier, ...]
    index_order: tuple[int, ...]
    profiles: npt.NDArray[Any]
    unit_start: IntArray
    record_of: IntArray
    person_of: IntArray | None
    unknown: IntArray
    sensitive: tuple[SensitiveColumn, ...] = ()
    sensitive_of: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    population: Population | None = None
    weight_of: IntArray | None = None
    households: Households | None = None

    @property
    def records(self) -> int:
        """Number of records, with those that must be withheld."""
        return len(self.record_of) + len(self.unknown)

    @property
    def counts(self) -> IntArray:
        """Number of records of every profile."""
        return np.diff(self.unit_start)

    @property
    def indexed_columns(self) -> tuple[QuasiIdentifier, ...]:
        """The quasi-identifiers in the order of the profiles' columns."""
        return tuple(self.columns[position] for position in self.index_order)

    @cached_property
    def profile_of_unit(self) -> IntArray:
        """Profile of every unit."""
        return np.repeat(np.arange(len(self.profiles)), self.counts)

    @property
    def planned_profiles(self) -> IntArray:
        """The profiles with columns in the plan's order."""
        return self.profiles[:, np.argsort(self.index_order)].astype(np.int64)

    def codes(self, position: int) -> npt.NDArray[Any]:
        """Code of every profile in one quasi-identifier, by its position in the plan's order."""
        return self.profiles[:, self.index_order.index(position)]

    def records_by_code(self, position: int) -> IntArray:
        """Count the records of every code of a quasi-identifier, by its position in the plan's order."""
        domain = self.columns[position].domain_size
        return np.bincount(self.codes(position), weights=self.counts, minlength=domain).astype(np.int64)

    def with_columns(self, columns: tuple[QuasiIdentifier, ...]) -> Microdata:
        """Return the same records under columns of the same domains with other limits."""
        return replace(self, columns=columns)

    def under(self, plan: Plan) -> Microdata:
        """Return the same records under the limits of a plan that differs in nothing else that was encoded."""
        return self.with_columns(tuple(with_limit(column, plan.attributes[column.name]) for column in self.columns))

    def of_units(self, units: IntArray) -> Microdata:
        """Return some of the records, given as ascending units, under the same columns."""
        profile = self.profile_of_unit[units]
        starts = starts_of_runs([profile.astype(np.uint64)])
        return replace(
            self,
            profiles=self.profiles[profile[starts]],
            unit_start=np.append(starts, len(units)).astype(np.int64),
            record_of=self.record_of[units],
            person_of=None if self.person_of is None else self.person_of[units],
            unknown=np.zeros(0, np.int64),
            sensitive_of=self.sensitive_of[units],
            weight_of=None if self.weight_of is None else self.weight_of[units],
            households=None if self.households is None else self.households.of_units(units),
        )

    def people(self) -> int:
        """Return the number of households if they are linked; else of persons, or records if no person key is named."""
        if self.households is not None:
            return self.households.count
        return len(self.record_of) if self.person_of is None else len(np.unique(self.person_of))

    def __repr__(self) -> str:
        sizes = f"{self.records:,} records, {len(self.profiles):,} profiles, {len(self.columns)} quasi-identifiers"
        return f"Microdata({sizes})"


def encode_table(
    table: Table,
    plan: Plan,
    in_order: bool = False,
    strict: bool = True,
    ends: Mapping[str, KeptEnds] | None = None,
) -> Microdata:
    """Encode the quasi-identifiers and sensitive columns of a table and collapse it to profiles.

    ``in_order``: records that agree in all that is released keep the order of the table; else they stand in any.
    ``strict``: whether a limit of a flat column must name a value that occurs; a part of a table need not hold it.
    ``ends``: by column of free intervals, what must be possible there besides what its records have.
    """
    encoded, sensitive = encode_columns(table, plan, strict, ends)
    tied = [name for name in (*plan.columns("sensitive"), *plan.columns("other")) if name in table.columns]
    if plan.weight is not None and plan.weight.column not in tied:
        tied.append(plan.weight.column)  # or who is withheld of those who agree would be up to the order of rows
    ties = [ranks(table.columns[name]) for name in tied]
    if in_order:
        ties.append((np.arange(table.records), table.records))
    person = None if plan.person is None else person_codes(plan.person, table)
    microdata = collapse(encoded, sensitive, person, ties, table.counts)
    if plan.weight is not None:
        microdata = replace(microdata, weight_of=encode_weights(plan.weight.column, table)[microdata.record_of])
    if plan.unit is not None:
        microdata = replace(microdata, households=_households(plan.unit, table, microdata, ties))
    return _with_population(microdata, plan)


def encode_weights(name: str, table: Table) -> IntArray:
    """Return how many millionths of people every record stands for; each must stand for some."""
    if table.counts is not None:
        message = "Sampling weights are read by the local engine only."
        raise DataError(Problem("usage", message, hint="use --engine local"))
    return _weights(name, table.columns[name], rounded=table.weights is not None)


def mean_weights(microdata: Microdata, group_of: IntArray, groups: int) -> IntArray:
    """Return the mean weight of every group, in millionths of a person: what its records show of their weights."""
    assert microdata.weight_of is not None
    inside = group_of >= 0
    records = np.bincount(group_of[inside], minlength=groups)
    total = np.zeros(groups, np.int64)
    np.add.at(total, group_of[inside], microdata.weight_of[inside])
    found = [
        round(Fraction(sum_of, max(count, 1))) for sum_of, count in zip(total.tolist(), records.tolist(), strict=True)
    ]
    return np.array(found, np.int64)


def weights_as_read(name: str, table: Table) -> IntArray:
    """Return how many millionths of people every record stands for, as they were read."""
    return _weights(name, table.columns[name] if table.weights is None else table.weights)


def _weights(name: str, values: pa.ChunkedArray, rounded: bool = False) -> IntArray:
    labels, indices = distinct_labels(values)
    numbers = [None if label is None else parse_number(label) for label in labels]
    wrong = np.array([number is None or not 0 < number <= MOST_WEIGHT for number in numbers], bool)[indices]
    if wrong.any():
        message = f"Column {name!r}: {in_records(wrong, None, f' have no weight above 0, {MOST_WEIGHT:,} at most')}."
        hint = "round to a smaller step" if rounded else "give every record the number of people it stands for"
        raise DataError(Problem("not-a-number", message, hint=hint))
    return np.array([round(Decimal(number or 0) * MILLION) for number in numbers], np.int64)[indices]


def _with_population(microdata: Microdata, plan: Plan) -> Microdata:
    """Put the population that a plan names beside the records, each of which must be of somebody in it."""
    population = populate(plan, microdata.columns)
    if population is None:
        return microdata
    absent = population.as_they_are(microdata.columns, microdata.planned_profiles) == 0
    if absent.any():
        records = int(microdata.counts[absent].sum())
        message = (
            f"{records:,} of {microdata.records:,} records are of nobody in the population: no one there has their "
        )
        message += f"values of {', '.join(repr(microdata.columns[at].name) for at in population.positions)}."
        hint = "are both of the same time, coded alike? Look people up by fewer columns: population: {columns: […]}"
        raise DataError(Problem("no-population", message, hint=hint))
    return replace(microdata, population=population)


def collapse(
    encoded: list[Encoded],
    sensitive: list[tuple[SensitiveColumn, IntArray, IntArray]],
    person: tuple[IntArray, int] | None = None,
    ties: Sequence[tuple[IntArray, int]] = (),
    counts: IntArray | None = None,
    index_order: tuple[int, ...] | None = None,
) -> Microdata:
    """Collapse encoded columns to profiles with counts.

    ``person`` and ``ties`` are ranks of the records, with how many there are: they order the records of a profile.
    ``counts`` says how many records each row stands for; ``index_order`` is that of a whole of which this is a part.
    """
    columns = tuple(part.column for part in encoded)
    unknown = np.zeros(len(encoded[0].codes), bool)
    for part in encoded:
        if part.unknown is not None:
            unknown |= part.unknown
    for _, _, without_leaf in sensitive:
        unknown[without_leaf] = True
    if index_order is None:
        index_order = order_of_columns(columns, [_distinct(part.codes) for part in encoded])
    codes = [encoded[position].codes for position in index_order]
    sizes = [columns[position].domain_size for position in index_order]
    kept = np.flatnonzero(~unknown)
    within = [*(() if person is None else (person,)), *ties]
    words = pack([rank[kept] for rank, _ in within], [size for _, size in within])
    keys = pack([column[kept] for column in codes], sizes)
    order = order_by(keys + words)
    starts = starts_of_runs([word[order] for word in keys])
    rows = kept[order]
    matrix = np.stack([column[rows[starts]] for column in codes], axis=1)
    record_of, unit_start = rows, np.append(starts, len(rows)).astype(np.int64)
    if counts is not None:
        record_of = np.repeat(rows, counts[rows])
        unit_start = np.concatenate([[0], np.cumsum(counts[rows])])[unit_start]
    values = [values[record_of] for _, values, _ in sensitive]
    withheld = np.flatnonzero(unknown)
    return Microdata(
        columns,
        index_order,
        np.ascontiguousarray(matrix, np.uint32),  # one type for the kernels, which are compiled per type
        unit_start,
        record_of,
        None if person is None else person[0][record_of],
        withheld if counts is None else np.repeat(withheld, counts[withheld]),
        tuple(column for column, _, _ in sensitive),
        np.stack(values, axis=1) if values else np.zeros((len(record_of), 0), np.int64),
    )


def encode_columns(
    table: Table, plan: Plan, strict: bool = True, ends: Mapping[str, KeptEnds] | None = None
) -> tuple[list[Encoded], list[tuple[SensitiveColumn, IntArray, IntArray]]]:
    """Encode all columns, and report the problems of all of them together."""
    encoded: list[Encoded] = []
    sensitive: list[tuple[SensitiveColumn, IntArray, IntArray]] = []
    problems: list[Problem] = []
    for name in plan.columns("quasi-identifier", "sensitive"):
        attribute = plan.attributes[name]
        try:
            values = meant(name, attribute, table.columns[name], plan.data)
            if attribute.role == "sensitive":
                sensitive.append(encode_sensitive(name, attribute, values, table.counts))
            else:
                kept = None if ends is None else ends.get(name)
                encoded.append(encode(name, attribute, values, table.counts, strict, kept))
        except HedgerowError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    return encoded, sensitive


def ranks(values: pa.ChunkedArray) -> tuple[IntArray, int]:
    """Return the rank of every value among the distinct values of a column, missing last, and their number."""
    import pyarrow.compute as pc

    array = dictionary_encoded(values)
    labels = array.dictionary
    distinct = labels.dictionary_encode()  # trimming may have made labels equal, or null
    order = pc.array_sort_indices(distinct.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = len(order)
    of_label = rank[distinct.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)]
    of_label = np.append(of_label, len(order))
    indices = array.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    return of_label[indices], len(order) + 1


def _households(unit: Unit, table: Table, microdata: Microdata, ties: Sequence[tuple[IntArray, int]]) -> Households:
    """Tell which units belong together, and check what must be the same in each household."""
    household, _ = _keys(unit.column, table, "unit", "no-unit")
    for name in unit.same:
        check_same(name, ranks(table.columns[name])[0], household)
    rows = microdata.record_of
    rest = number_rows([rank[rows] for rank, _ in ties])[0] if ties else np.zeros(len(rows), np.int64)
    of = np.unique(household[rows], return_inverse=True)[1].reshape(-1)
    return Households(of, rest, frozenset(unit.same), unit.order)


def person_codes(name: str, table: Table) -> tuple[IntArray, int]:
    """Return the number of every record's person, and how many there are; each record must have one."""
    return _keys(name, table, "person", "no-person")


def _keys(name: str, table: Table, key: str, code: str) -> tuple[IntArray, int]:
    ranked, size = ranks(table.columns[name])
    missing = ranked == size - 1
    if missing.any():
        message = f"Column {name!r}: {in_records(missing, table.counts, f' have no {key} key')}."
        raise DataError(Problem(code, message, hint=f"fill the keys, or leave {key!r} out of the plan"))
    return ranked, size


def order_of_columns(columns: tuple[QuasiIdentifier, ...], distinct: Sequence[int]) -> tuple[int, ...]:
    """Order the columns for the search index: steep costs first, then few values that occur, then as in the plan.

    A search prunes early where the first difference is already dear, so a flat hierarchy goes before a tall one.
    """

    def key(position: int) -> tuple[Fraction, int, int]:
        column = columns[position]
        steps = column.hierarchy.height if isinstance(column, TreeColumn) else column.domain_size
        return (-Fraction(column.weight) / max(steps, 1), distinct[position], position)

    return tuple(sorted(range(len(columns)), key=key))


def _distinct(codes: npt.NDArray[Any]) -> int:
    return int((np.bincount(codes) > 0).sum()) if len(codes) else 0

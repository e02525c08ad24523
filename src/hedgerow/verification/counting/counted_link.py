"""A counted link, checked and brought together with the original and the release.

It is *sound* if

- every profile is a row of the original, and of one class only;
- the profiles of a class agree in their sensitive values and their person;
- no more records of a class are published than the original has of its profiles;
- with every group published as its labels say and sensitive values as they are, this gives the rows of the release.

Then there are records behind the rows, one each, that have the sensitive values of their rows. Which record of a class
is behind which of its rows is not told, so what is asked of quasi-identifiers is asked of all profiles of the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import distinct, find, numbered, places, sums
from hedgerow.verification.counting.distinct_rows import Encoder
from hedgerow.verification.counting.numbering import Codes, number_cells, number_rows
from hedgerow.verification.reading.cells import Kind, map_distinct, read_as
from hedgerow.verification.reading.original import Original, settled
from hedgerow.verification.reading.places import LinkClaim
from hedgerow.verification.values.columns import Cell

if TYPE_CHECKING:
    import pyarrow as pa

Columns = Mapping[str, "pa.ChunkedArray"]


@dataclass(frozen=True, eq=False)
class Ties:
    """A counted link as it was read.

    Attributes
    ----------
    profiles, sensitive, persons
        The quasi-identifiers, the sensitive values and the person of every profile, written as the original's are.
    class_of
        The class of every profile, from 0.
    example
        One profile of every class.
    labels, groups
        The quasi-identifiers of every group as they are published, and the number that the link gives it.
    part_class, part_group, part_count
        For every part its class, its group (a row of ``labels``) and how many records it has; −1: not there.
    """

    profiles: Columns
    sensitive: Columns
    persons: IntArray | None
    class_of: Codes
    example: Codes
    labels: Columns
    groups: IntArray
    part_class: Codes
    part_group: Codes
    part_count: IntArray

    @classmethod
    def read(cls, link: LinkClaim, plan: Plan, original: Original) -> Ties:
        """Read the tables of a link.

        Raises
        ------
        DataError
            ``format``, if a column is not there or does not hold whole numbers.
        """

        def profile(name: str) -> pa.ChunkedArray:
            column, kind = _text(link.profiles.column(_position(link.profiles, name)))
            if kind != "text":
                return column
            wanted = original.kinds[name]
            return settled(column, name, plan) if wanted == "text" else map_distinct(column, read_as(wanted))

        classes, example, class_of = numbered(_whole(link.profiles, "class", last=True))
        groups = _whole(link.labels, "g")
        order = np.argsort(groups, kind="stable")
        part_class, part_group, part_count = (_whole(link.parts, name) for name in ("class", "g", "n"))
        return cls(
            {name: profile(name) for name in plan.quasi_identifiers},
            {name: profile(name) for name in plan.columns("sensitive")},
            None if plan.person is None else _whole(link.profiles, "person", last=True),
            class_of,
            example,
            {
                name: _text(link.labels.column(_position(link.labels, name, last=True)))[0].take(order)
                for name in plan.quasi_identifiers
            },
            groups[order],
            places(find(classes, part_class)),
            places(find(groups[order], part_group)),
            part_count,
        )

    # -- is it sound? ----------------------------------------------------------------------------------------------

    def faults(self, original: Original, cells: Columns, sensitive: Columns, counts: IntArray) -> Iterator[str]:
        """Say what is wrong; what comes after the first fault means nothing.

        Parameters
        ----------
        original
            The original in counted form.
        cells, sensitive, counts
            The quasi-identifiers of the release, its sensitive columns written as the original's are, and how many rows
            have them.
        """
        lost = int(((self.part_class < 0) | (self.part_group < 0) | (self.part_count < 1)).sum())
        if lost:
            yield f"{lost} parts of the link have no profiles, no labels or no records"
        doubled = len(self.groups) - len(distinct(self.groups))
        if doubled:
            yield f"{doubled} groups of the link have labels more than once"
        yield from self._faults_with_original(original)
        yield from self._faults_with_release(cells, sensitive, counts)

    def _faults_with_original(self, original: Original) -> Iterator[str]:
        assert original.counts is not None
        known, ours, rows = number_rows(self._with(original), len(original.counts), len(self.class_of))
        had = sums(known, original.counts, rows)
        del known
        foreign = int((had[ours] == 0).sum())
        if foreign:
            yield f"{foreign} profiles of the link are not in the original"
        classes = max(len(self.example), 1)
        held = distinct(ours * classes + self.class_of)
        shared = len(held) - len(distinct(held // classes))
        if shared:
            yield f"{shared} profiles of the link are in more than one class"
        example = self.example[self.class_of]
        mixed = np.zeros(len(self.class_of), bool)
        for codes in self._fixed():
            mixed |= codes != codes[example]
        if mixed.any():
            yield f"{len(distinct(self.class_of[mixed]))} classes of the link mix sensitive values or persons"
        there = sums(held % classes, had[held // classes], classes)
        over = int((sums(self.part_class, self.part_count, classes) > there).sum())
        if over:
            yield f"{over} classes of the link have more records than the original"

    def _with(self, original: Original) -> Iterator[tuple[Codes, Codes]]:
        """Number the columns of the original and of the profiles alike, one after the other."""
        for name, column in {**self.profiles, **self.sensitive}.items():
            yield number_cells(original.columns[name], column)
        if self.persons is not None and original.persons is not None:
            yield original.persons, self.persons

    def _fixed(self) -> Iterator[Codes]:
        """Number, column by column, what the profiles of a class must agree in."""
        for column in self.sensitive.values():
            yield number_cells(column, column.slice(0, 0))[0]
        if self.persons is not None:
            yield self.persons

    def _faults_with_release(self, cells: Columns, sensitive: Columns, counts: IntArray) -> Iterator[str]:
        def both() -> Iterator[tuple[Codes, Codes]]:
            for name, column in cells.items():
                shown, told = number_cells(column, self.labels[name])
                yield shown, told[self.part_group]
            for name, column in sensitive.items():
                shown, told = number_cells(column, self.sensitive[name])
                yield shown, told[self.example[self.part_class]]

        released, linked, rows = number_rows(both(), len(counts), len(self.part_count))
        difference = sums(released, counts, rows) - sums(linked, self.part_count, rows)
        more, fewer = int(np.maximum(difference, 0).sum()), int(np.maximum(-difference, 0).sum())
        if more or fewer:
            yield f"{more} rows of the release are not those of the link, and {fewer} rows of the link are not there"

    # -- what it tells, if it is -----------------------------------------------------------------------------------

    def pairs(self, name: str) -> list[tuple[tuple[Cell, ...], Cell, int]]:
        """Return what lies behind the cells of a quasi-identifier, what they are published as, and how many there are.

        What lies behind are all the cells that the profiles of a class have.
        """
        values, value_of = _texts(self.profiles[name])
        sets, set_of_class = self._sets(value_of, len(values))
        labels, label_of = _texts(self.labels[name])
        keys = set_of_class[self.part_class]
        keys *= len(labels)
        keys += label_of[self.part_group]
        if len(sets) * len(labels) <= len(keys):  # each may be there
            every = sums(keys, self.part_count, len(sets) * len(labels))
            found = np.flatnonzero(every)
            counts = every[found]
        else:
            found, part_of = np.unique(keys, return_inverse=True)
            counts = sums(part_of, self.part_count, len(found))
        return [
            (tuple(values[value] for value in sets[key // len(labels)]), labels[key % len(labels)], count)
            for key, count in zip(found.tolist(), counts.tolist(), strict=True)
        ]

    def _sets(self, value_of: IntArray, values: int) -> tuple[list[tuple[int, ...]], IntArray]:
        """Return the distinct sets of values that the profiles of a class have, and which one each class has."""
        of_example = value_of[self.example]
        others = value_of != of_example[self.class_of]
        if not others.any():
            return [(value,) for value in range(values)], of_example
        sets = [(value,) for value in range(values)]
        set_of = of_example.copy()
        held: dict[int, set[int]] = {}
        for place, value in zip(self.class_of[others].tolist(), value_of[others].tolist(), strict=True):
            held.setdefault(place, {int(of_example[place])}).add(value)
        numbers: dict[tuple[int, ...], int] = {}
        for place, some in held.items():
            set_of[place] = numbers.setdefault(tuple(sorted(some)), len(sets) + len(numbers))
        return [*sets, *numbers], set_of

    def behind_groups(self, name: str, cells: Columns, group_of: IntArray) -> list[tuple[int, tuple[Cell, ...], int]]:
        """Return every pair of a group of the release's rows ``cells`` and what lies behind a part of it, counted.

        What lies behind are all the cells that the profiles of a class have.
        """
        values, value_of = _texts(self.profiles[name])
        sets, set_of_class = self._sets(value_of, len(values))
        group = self._group_of_labels(cells, group_of)[self.part_group]
        keys, part_of = np.unique(group * len(sets) + set_of_class[self.part_class], return_inverse=True)
        counts = sums(part_of.reshape(-1), self.part_count, len(keys))
        return [
            (key // len(sets), tuple(values[value] for value in sets[key % len(sets)]), count)
            for key, count in zip(keys.tolist(), counts.tolist(), strict=True)
        ]

    def _group_of_labels(self, cells: Columns, group_of: IntArray) -> IntArray:
        """Return which group of the release's rows each row of the link's labels is."""
        both = [number_cells(column, self.labels[name]) for name, column in cells.items()]
        released, linked, rows = number_rows(both, len(group_of), len(self.groups))
        group_of_row = np.zeros(rows, np.int64)
        group_of_row[released] = group_of
        return group_of_row[linked]

    def fewest_persons(self, cells: Columns, group_of: IntArray, groups: int) -> int:
        """Return the persons of the group that has fewest; groups are those of the release's rows ``cells``."""
        if self.persons is None or not groups:
            return 0
        group = self._group_of_labels(cells, group_of)[self.part_group]
        persons = self.persons[self.example[self.part_class]]
        there, width = persons >= 0, int(persons.max(initial=0)) + 1
        found = distinct((group * width + persons)[there])
        return int(np.bincount(found // width, minlength=groups).min())


# -- reading ---------------------------------------------------------------------------------------------------------


def _text(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Kind]:
    encoder = Encoder()
    return encoder.read(column.chunks), encoder.kind


def _texts(column: pa.ChunkedArray) -> tuple[list[Cell], IntArray]:
    """Return the distinct cells of a column, the last being missing, and which one each row has."""
    whole = column.unify_dictionaries().combine_chunks()
    labels = [*whole.dictionary.to_pylist(), None]
    return labels, np.asarray(whole.indices.fill_null(len(labels) - 1).to_numpy(zero_copy_only=False), np.int64)


def _whole(table: pa.Table, name: str, last: bool = False) -> IntArray:
    import pyarrow as pa

    column = table.column(_position(table, name, last))
    if not pa.types.is_integer(column.type) or (column.null_count and name != "person"):
        raise _no_link()
    return np.asarray(column.cast(pa.int64()).fill_null(-1).to_numpy(), np.int64)


def _position(table: pa.Table, name: str, last: bool = False) -> int:
    found = [number for number, other in enumerate(table.column_names) if other == name]
    if not found:
        raise _no_link()
    return found[-1 if last else 0]


def _no_link() -> DataError:
    message = "A counted link must have profiles, parts with the whole numbers 'class', 'g' and 'n', and labels."
    return DataError(Problem("format", message, "link"))

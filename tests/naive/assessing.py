"""Assessing a table by brute force: every combination of columns, every person, with plain loops.

A table is a list of records, tuples of values; ``person`` says whose each is, by default everybody is somebody else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from math import exp, log

Record = Sequence[Hashable]


def groups(records: Sequence[Record], columns: Iterable[int]) -> dict[tuple[Hashable, ...], list[int]]:
    """Numbers of the records that agree in these columns."""
    chosen = tuple(columns)
    found = defaultdict(list)
    for number, record in enumerate(records):
        found[tuple(record[column] for column in chosen)].append(number)
    return dict(found)


def people_of(numbers: Iterable[int], person: Sequence[Hashable] | None) -> set[Hashable]:
    """Who these records are of."""
    return set(numbers) if person is None else {person[number] for number in numbers}


def singled_out(
    records: Sequence[Record], columns: Iterable[int], person: Sequence[Hashable] | None = None
) -> set[tuple[Hashable, ...]]:
    """The combinations of values that only one person has."""
    return {key for key, of in groups(records, columns).items() if len(people_of(of, person)) == 1}


def smallest(
    records: Sequence[Record], size: int, person: Sequence[Hashable] | None = None
) -> dict[tuple[int, ...], set[tuple[Hashable, ...]]]:
    """By combination of columns: values in it that single a person out, of which none can be left out."""
    width = len(records[0])
    found = {}
    for length in range(1, size + 1):
        for columns in combinations(range(width), length):
            keep = set()
            for key in singled_out(records, columns, person):
                parts = [part for shorter in range(1, length) for part in combinations(range(length), shorter)]
                if not any(
                    tuple(key[at] for at in part) in singled_out(records, [columns[at] for at in part], person)
                    for part in parts
                ):
                    keep.add(key)
            found[columns] = keep
    return found


def needed(records: Sequence[Record], size: int, person: Sequence[Hashable] | None = None) -> tuple[list[int], int]:
    """By column the number of people of whom a smallest combination has it; and the people whom any singles out."""
    by_column: list[set[Hashable]] = [set() for _ in records[0]]
    everybody: set[Hashable] = set()
    for columns, keys in smallest(records, size, person).items():
        for number, record in enumerate(records):
            if tuple(record[column] for column in columns) in keys:
                who = people_of([number], person)
                everybody |= who
                for column in columns:
                    by_column[column] |= who
    return [len(who) for who in by_column], len(everybody)


def entropy_l(values: Iterable[Hashable]) -> float:
    """The l of entropy l-diversity that a group meets."""
    counts = Counter(values)
    total = sum(counts.values())
    return exp(-sum(count / total * log(count / total) for count in counts.values()))


def equal_distance(values: Sequence[Hashable], whole: Sequence[Hashable]) -> float:
    """Earth mover's distance of a group from the whole table if all values are equally far from each other."""
    own, all_of = Counter(values), Counter(whole)
    return sum(abs(own[value] / len(values) - count / len(whole)) for value, count in all_of.items()) / 2

"""Cells and OUT: what limits force apart, and what they force out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .attributes import Attribute, Record


def cell_key(attributes: Sequence[Attribute], record: Record) -> tuple[Hashable, ...]:
    """The record's row of MAM: its limit, or its segment between cuts, in every attribute."""
    return tuple(attribute.cell(code) for attribute, code in zip(attributes, record, strict=True))


def cells(attributes: Sequence[Attribute], records: Sequence[Record]) -> list[list[int]]:
    """Record numbers cell by cell, in order of first appearance and ascending; widths play no part."""
    found: dict[tuple[Hashable, ...], list[int]] = {}
    for number, record in enumerate(records):
        found.setdefault(cell_key(attributes, record), []).append(number)
    return list(found.values())


def is_large_enough(cell: Sequence[int], k: int, persons: Sequence[int] | None = None) -> bool:
    """Whether the cell has k records, or k distinct persons if persons are given."""
    return len(cell if persons is None else {persons[number] for number in cell}) >= k


def out_records(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    k: int,
    persons: Sequence[int] | None = None,
) -> list[int]:
    """OUT: numbers of the records whose cell is too small, ascending."""
    small = [cell for cell in cells(attributes, records) if not is_large_enough(cell, k, persons)]
    return sorted(number for cell in small for number in cell)

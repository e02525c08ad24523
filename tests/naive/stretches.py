"""Stretches: where a huge block is cut, along the order of its codes and around groups."""

from __future__ import annotations

from collections.abc import Sequence

from .attributes import Record


def count(profiles: int, longest: int, together: int = 4) -> int:
    """How many stretches: none longer than ``longest`` profiles, and a multiple of ``together``; few profiles stay."""
    if profiles < 2 * longest:
        return 1
    stretches = together
    while stretches * longest < profiles:
        stretches += together
    return stretches


def stretch_of(cell: Sequence[Record], group_of: Sequence[int], stretches: int) -> list[int]:
    """Stretch of every record of a cell: by the place of its codes among those that occur, of a group by the mean."""
    places = {codes: place for place, codes in enumerate(sorted(set(cell)))}
    found = []
    for codes, group in zip(cell, group_of, strict=True):
        place = places[codes]
        if group >= 0:
            members = [places[other] for other, its in zip(cell, group_of, strict=True) if its == group]
            place = sum(members) // len(members)
        found.append(place * stretches // len(places))
    return found

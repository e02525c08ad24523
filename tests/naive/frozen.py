"""Records of a new table in the groups that an earlier release published, by plain loops.

A group is the tuple of its published values. How a value lies within a published one is asked of ``within``, by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Cell = str | None
Row = tuple[Cell, ...]
Within = Callable[[Cell, Cell], bool]


def in_ways(ways: dict[str, Sequence[str]]) -> Within:
    """Of a tree, given as the way from every value to the root: a value lies within every node on its way."""
    return lambda value, shown: shown == value if value is None or shown is None else shown in ways[value]


def in_interval(value: Cell, shown: Cell) -> bool:
    """Of whole numbers: 37 lies within 30-42, and within 37."""
    if value is None or shown is None:
        return value is shown
    low, _, high = shown.partition("-")
    return int(low) <= int(value) <= int(high or low)


def placed(
    records: Sequence[Row],
    groups: Sequence[Row],
    within: Sequence[Within],
    loss: Callable[[Row], object],
    meets: Callable[[list[int]], bool],
) -> list[Row | None]:
    """What every record is published as, None if it is withheld; ``meets`` judges the records of a group."""
    left = sorted(groups, key=loss)  # type: ignore[arg-type]
    kept = set(range(len(records)))
    while True:
        found = _dissolving(records, kept, left, within, meets)
        gone = {number for number in kept if found[number] is None}
        if not gone:
            return found
        kept -= gone  # the others are looked at as if these had never been there


def _dissolving(
    records: Sequence[Row],
    kept: set[int],
    groups: Sequence[Row],
    within: Sequence[Within],
    meets: Callable[[list[int]], bool],
) -> list[Row | None]:
    live = list(groups)
    while True:
        found: list[Row | None] = [None] * len(records)
        members: dict[Row, list[int]] = {group: [] for group in live}
        for number in sorted(kept):
            for group in live:
                if all(fits(*pair) for fits, *pair in zip(within, records[number], group, strict=True)):
                    found[number] = group
                    members[group].append(number)
                    break
        failing = [group for group in live if not meets(members[group])]
        if not failing:
            return found
        fewest = min(len(members[group]) for group in failing)
        live = [group for group in live if group not in failing or len(members[group]) > fewest]

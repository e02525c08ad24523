"""Sizes of groups before anything else: what is least, by looking at all sizes there can be; and how records are moved.

Average group size is least where there are most groups, discernibility (Σ size²) where sizes are many and even.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .maintenance import Task, with_record, without_record

Groups = list[list[int]]


def all_sizes(records: int, k: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut a number of records into groups of k or more, as ascending sizes."""

    def cut(left: int, least: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for size in range(least, left + 1):
            for more in cut(left - size, size):
                yield (size, *more)

    yield from cut(records, k)


def most_groups(records: int, k: int) -> int:
    """Groups of k or more that so many records can form."""
    return max(len(sizes) for sizes in all_sizes(records, k))


def least_squares(records: int, k: int) -> int:
    """Least sum of squared sizes of groups of k or more."""
    return min(sum(size * size for size in sizes) for sizes in all_sizes(records, k))


def level(task: Task, groups: Sequence[Sequence[int]]) -> Groups:
    """Move records to groups of their cell that are smaller by two or more, until none can be moved.

    Cell by cell, round by round, group by group: those records go first without which their group loses least, ties to
    the first record; each goes where the loss grows least, ties to the first group. Both groups must hold afterwards.
    """
    found = [list(group) for group in groups]
    cells = dict.fromkeys(task.cell(group[0]) for group in found)
    for cell in cells:
        here = [number for number, group in enumerate(found) if task.cell(group[0]) == cell]
        moved = True
        while moved:
            moved = sum(shrink(task, found, here, number) for number in here) > 0
    return found


def shrink(task: Task, groups: Groups, here: Sequence[int], number: int) -> int:
    """Move records from a group as long as they can be; return how many were."""
    moved = 0
    own = sorted(groups[number])
    for record in sorted(own, key=lambda one: (task.loss(without_record(own, one)), one)):
        ways = []
        for other in here:
            theirs = with_record(groups[other], record)
            if len(theirs) < len(groups[number]) and task.holds(theirs) and task.is_allowed(theirs):
                ways.append((task.loss(theirs) - task.loss(groups[other]), other))
        if ways and task.holds(without_record(groups[number], record)):
            groups[number].remove(record)
            groups[min(ways)[1]].append(record)
            moved += 1
    return moved

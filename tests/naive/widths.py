"""Releasing most records when one free attribute has a greatest width (a limit of our own).

Inside a cell, every group must have k records and span at most the width. Some best solution consists of
runs of the value-sorted records: of two groups whose ranges overlap, either one lies within the other's
range and they merge, or their records can be dealt out again in order, the lower ones to the lower group,
and neither span grows. So a programme over runs releases as many records as any partition can.

Which of several best answers is taken:

1. most records covered;
2. then fewest runs;
3. then, going from the right end to the left, at each step: leave the last record uncovered if an answer
   that is best by 1 and 2 does so; otherwise close the longest run that ends there in such an answer.

In other words: written from right to left, with infinity for an uncovered record and its length for a
run, the lexicographically greatest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .attributes import Exact

Score = tuple[int, int]
"""(records covered, minus the number of runs): greater is better."""


def width_runs(values: Sequence[Exact], k: int, width: Exact) -> list[range]:
    """Runs over ascending values, left to right, each as a range of positions; the rest is uncovered."""
    best = best_scores(values, k, width)
    runs: list[range] = []
    end = len(values)
    while end > 0:
        if best[end] == best[end - 1]:
            end -= 1
            continue
        start = next(s for s in run_starts(values, end, k, width) if with_run(best[s], end - s) == best[end])
        runs.append(range(start, end))
        end = start
    return runs[::-1]


def best_scores(values: Sequence[Exact], k: int, width: Exact) -> list[Score]:
    """Best score of every prefix, by its length."""
    best: list[Score] = [(0, 0)]
    for end in range(1, len(values) + 1):
        closed = (with_run(best[start], end - start) for start in run_starts(values, end, k, width))
        best.append(max([best[end - 1], *closed]))
    return best


def with_run(score: Score, length: int) -> Score:
    """The score after one more run."""
    return score[0] + length, score[1] - 1


def run_starts(values: Sequence[Exact], end: int, k: int, width: Exact) -> Iterator[int]:
    """Starts of the allowed runs ``values[start:end]``, the longest run first."""
    return (start for start in range(end - k + 1) if values[end - 1] - values[start] <= width)


def most_released(values: Sequence[Exact], k: int, width: Exact) -> int:
    """Most records that any partition into groups can release. Exponential: for a handful of records."""
    return max(
        sum(len(block) for block in blocks if len(block) >= k and max(block) - min(block) <= width)
        for blocks in partitions(list(values))
    )


def partitions(items: list[Exact]) -> Iterator[list[list[Exact]]]:
    """All partitions of the items into blocks."""
    if not items:
        yield []
        return
    first, *rest = items
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]

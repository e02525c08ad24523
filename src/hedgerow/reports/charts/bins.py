"""Sizes of groups in few bins, for a histogram."""

from __future__ import annotations

from collections.abc import Mapping

MOST_BINS = 16


def size_bins(by_size: Mapping[int, int], most: int = MOST_BINS) -> list[tuple[str, int]]:
    """Gather counts by size into bins: each size its own where they are few, else ever wider ranges.

    Parameters
    ----------
    by_size
        How many groups have a size.
    most
        Bins at most.

    Returns
    -------
    list
        Name and count of every bin, from the smallest size; they add up to all.

    Examples
    --------
    >>> size_bins({5: 10, 6: 4, 8: 1})
    [('5', 10), ('6', 4), ('7', 0), ('8', 1)]
    >>> size_bins({5: 10, 6: 4, 900: 1}, most=4)
    [('5', 10), ('6–14', 4), ('15–100', 0), ('101–900', 1)]
    """
    sizes = sorted(size for size, count in by_size.items() if count)
    if not sizes:
        return []
    least, greatest = sizes[0], sizes[-1]
    ends = list(range(least, greatest + 1)) if greatest - least < most else _ends(least, greatest, most)
    bins, first = [], least
    for last in ends:
        count = sum(by_size[size] for size in sizes if first <= size <= last)
        bins.append((f"{first:,}" if first == last else f"{first:,}–{last:,}", count))
        first = last + 1
    return bins


def _ends(least: int, greatest: int, most: int) -> list[int]:
    """Return the last size of every bin: their widths grow by the same factor."""
    low, high = 1.0, float(greatest)
    for _ in range(60):  # the smallest factor that suffices
        factor = (low + high) / 2
        low, high = (low, factor) if len(_grown(least, greatest, factor)) <= most else (factor, high)
    return _grown(least, greatest, high)


def _grown(least: int, greatest: int, factor: float) -> list[int]:
    ends: list[int] = []
    last, width = least - 1, 1.0
    while last < greatest and len(ends) < 10_000:
        last = min(greatest, last + max(1, round(width)))
        ends.append(last)
        width *= factor
    return ends

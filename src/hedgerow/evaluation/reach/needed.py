"""The least number of records that reach k with a given chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from hedgerow.evaluation.reach.cells import CellProbabilities, usage, whole_number
from hedgerow.evaluation.reach.chance import MOST_RECORDS, log_chance
from hedgerow.evaluation.reach.poisson import GoodCounts, log_at_least


def records_needed(
    cells: int | Sequence[float] | CellProbabilities, k: int, chance: float = 0.95, *, empty_allowed: bool = False
) -> int | None:
    """Find the least number of records that reach k in every cell with a given chance; None if beyond 10¹⁵.

    Every chance looked at is computed as by :func:`chance_of_reaching`. More records never lower the chance that
    *every* cell has k. They may if empty cells are allowed, and so few records that most cells are empty may do by
    luck: the number is then found by halving down from where *every* cell has k.

    Examples
    --------
    >>> records_needed(2**3, 3), records_needed(2**12, 5), records_needed(2**12, 5, chance=0.5)
    (69, 83437, 70090)
    """
    among = CellProbabilities.of(cells)
    whole_number("k", k, 1)
    if not 0 < chance < 1:
        raise usage(f"'chance' must be above 0 and below 1. Got {chance} instead.")
    wanted = math.log(chance)
    if empty_allowed and k == 1:
        return 0

    def enough(records: int) -> bool:
        return log_chance(among, records, GoodCounts(k, False), wanted)[0] >= wanted

    least = among.number * k
    if least > MOST_RECORDS:
        return None
    start = max(least, _poisson_guess(among, k, wanted))
    found = None if start > MOST_RECORDS else _first(enough, least - 1, start, MOST_RECORDS)
    if found is None or not empty_allowed:
        return found

    def enough_or_none(records: int) -> bool:
        return log_chance(among, records, GoodCounts(k, True), wanted)[0] >= wanted

    low = found
    while low >= k and enough_or_none(low):
        found, low = low, low // 2
    return _bisect(enough_or_none, low, found)


def _poisson_guess(cells: CellProbabilities, k: int, wanted: float) -> int:
    """Guess the records needed as if cells were independent."""

    def enough(records: int) -> bool:
        return cells.total(log_at_least(k, records * cells.shares)) >= wanted

    high = cells.number * k
    while high <= MOST_RECORDS and not enough(high):
        high *= 2
    return _bisect(enough, high // 2, high) if high <= MOST_RECORDS else high


def _first(enough: Callable[[int], bool], low: int, start: int, most: int) -> int | None:
    """Find the first number above ``low`` that is enough, near a guess; None if beyond ``most``."""
    step = max(1, start // 10_000)
    if enough(start):
        high = start
        while high - step > low and enough(high - step):
            high, step = high - step, 2 * step
        return _bisect(enough, max(low, high - step), high)
    low = start
    while not enough(low + step):
        low, step = low + step, 2 * step
        if low + step > most:
            return None
    return _bisect(enough, low, low + step)


def _bisect(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Return the number above ``low``, which is not enough, at which it becomes enough; ``high`` is."""
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high

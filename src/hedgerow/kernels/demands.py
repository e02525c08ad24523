"""What is asked of a group beside k records: k persons, different sensitive values, models; asked of lists of units.

``asked`` is a tuple: k, what is asked beside it (NOTHING … EVERYTHING), person (of every unit; empty if there is no
key), stamp, sensitive, value_start, overall, models, trees (as in ``diverse.py``), wanted (different values by column),
histogram, tally (of a growing group: PEOPLE, then different values by column), lasts (whether a group that holds still
does with any unit added). Stamp, histogram and tally are scratch space; the histogram is empty between calls.
"""

from __future__ import annotations

import numpy as np

from hedgerow.kernels.compiling import inner
from hedgerow.kernels.diverse import total_lack

NOTHING, VALUES, EVERYTHING = 0, 1, 2
PEOPLE = 0
HISTOGRAM, TALLY, LASTS = 10, 11, 12


@inner
def holds(units, many, asked):
    """Tell whether the first units of a list meet k and every model as a group."""
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, _ = asked
    if many < k:
        return False
    if what == NOTHING:
        return True
    for i in range(many):
        take(units[i], asked, i == 0)
    met = _met(k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally)
    clear(units, np.int64(0), many, asked)
    return met


@inner
def take(unit, asked, anew):
    """Count the person and the values of a unit that a growing group takes; ``anew``: as its first."""
    _, _, person, stamp, sensitive, value_start, _, _, _, _, histogram, tally, _ = asked
    if anew:
        tally[:] = 0
        stamp[-1] += 1
    if person.size == 0:
        tally[PEOPLE] += 1
    elif stamp[person[unit]] != stamp[-1]:
        stamp[person[unit]] = stamp[-1]
        tally[PEOPLE] += 1
    for column in range(sensitive.shape[1]):
        v = sensitive[unit, column]
        if v >= 0:
            if histogram[value_start[column] + v] == 0:
                tally[1 + column] += 1
            histogram[value_start[column] + v] += 1


@inner
def met(asked):
    """Tell whether the growing group has all that is asked."""
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, _ = asked
    return _met(k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally)


@inner
def _met(k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally):
    if tally[PEOPLE] < k:
        return False
    for column in range(wanted.size):
        if tally[1 + column] < wanted[column]:
            return False
    return what != EVERYTHING or total_lack(histogram, value_start, overall, models, trees) == 0


@inner
def clear(units, first, last, asked):
    """Empty the histogram of the values of some units."""
    sensitive, value_start, histogram = asked[4], asked[5], asked[HISTOGRAM]
    for i in range(first, last):
        for column in range(sensitive.shape[1]):
            if sensitive[units[i], column] >= 0:
                histogram[value_start[column] + sensitive[units[i], column]] = 0


@inner
def most_wanted(units, key, first, last, coming, asked):
    """Of some units, the one of least key that a growing group can do with; −1 if there is none.

    As long as it lacks persons, only those of new ones will do; once no more units are to come (``coming``) than
    values are missing, only those with a new value. A group that has enough of both, but does not meet a model, takes
    a unit that leaves it lacking least.
    """
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, _ = asked
    column, missing = -1, 0
    for i in range(wanted.size):
        if wanted[i] - tally[1 + i] > missing:
            column, missing = i, wanted[i] - tally[1 + i]
    new_person = person.size > 0 and tally[PEOPLE] < k
    new_value = missing > 0 and coming <= missing
    by_lack = what == EVERYTHING and coming <= 0 and not new_person and not new_value
    found, best, least = np.int64(-1), np.int64(1 << 62), np.int64(1 << 62)
    for y in range(first, last):
        r = units[y]
        if new_person and stamp[person[r]] == stamp[-1]:
            continue
        if new_value and (sensitive[r, column] < 0 or histogram[value_start[column] + sensitive[r, column]] > 0):
            continue
        lack = np.int64(0)
        if by_lack:
            for i in range(sensitive.shape[1]):
                if sensitive[r, i] >= 0:
                    histogram[value_start[i] + sensitive[r, i]] += 1
            lack = total_lack(histogram, value_start, overall, models, trees)
            for i in range(sensitive.shape[1]):
                if sensitive[r, i] >= 0:
                    histogram[value_start[i] + sensitive[r, i]] -= 1
        if lack < least or (lack == least and key[y] < best):
            found, best, least = np.int64(y), np.int64(key[y]), lack
    return found

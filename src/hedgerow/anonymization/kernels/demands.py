"""What is asked of a group beside k records: k persons, different sensitive values, models; asked of lists of units.

``asked`` are :class:`Demands` of ``tuples/``. Their stamp, histogram and tally are scratch space, in which one group
is counted at a time: a growing group takes unit after unit, and clears the histogram when it is done. What is asked
for every unit is a part of its caller: handing over all arrays of ``asked`` would take longer than the counting.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import EVERYTHING, NOTHING
from hedgerow.anonymization.kernels.compiling import inner, part
from hedgerow.anonymization.kernels.diverse import total_lack

PEOPLE = 0  # in the tally; then different values by column


@inner
def holds(units, many, asked):
    """Tell whether the first units of a list meet k and every model as a group."""
    if many < asked.k:
        return False
    if asked.what == NOTHING:
        return True
    for i in range(many):
        take(units[i], asked, i == 0)
    enough = met(asked)
    clear(units, np.int64(0), many, asked)
    return enough


@part
def take(unit, asked, anew):
    """Count the person and the values of a unit that a growing group takes; ``anew``: as its first."""
    person, stamp, tally = asked.person, asked.stamp, asked.tally
    sensitive, value_start, histogram = asked.sensitive, asked.value_start, asked.histogram
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


@part
def met(asked):
    """Tell whether the growing group has all that is asked."""
    wanted, tally = asked.wanted, asked.tally
    if tally[PEOPLE] < asked.k:
        return False
    for column in range(wanted.size):
        if tally[1 + column] < wanted[column]:
            return False
    if asked.what != EVERYTHING:
        return True
    return total_lack(asked.histogram, asked.value_start, asked.overall, asked.models, asked.trees) == 0


@part
def clear(units, first, last, asked):
    """Empty the histogram of the values of some units."""
    sensitive, value_start, histogram = asked.sensitive, asked.value_start, asked.histogram
    for i in range(first, last):
        for column in range(sensitive.shape[1]):
            if sensitive[units[i], column] >= 0:
                histogram[value_start[column] + sensitive[units[i], column]] = 0


@part
def is_choosy(coming, asked):
    """Tell whether a growing group, to which so many units are to come for it to have k, may not take just any next."""
    wanted, tally = asked.wanted, asked.tally
    missing = np.int64(0)
    for i in range(wanted.size):
        missing = max(missing, wanted[i] - tally[1 + i])
    people = asked.person.size > 0 and tally[PEOPLE] < asked.k
    return people or (missing > 0 and coming <= missing) or (asked.what == EVERYTHING and coming <= 0)


@inner
def most_wanted(units, key, first, last, coming, asked):
    """Of some units, the one of least key that a growing group can do with; −1 if there is none.

    As long as it lacks persons, only those of new ones will do; once no more units are to come (``coming``) than
    values are missing, only those with a new value. A group that has enough of both, but does not meet a model, takes
    a unit that leaves it lacking least.
    """
    person, stamp, wanted, tally = asked.person, asked.stamp, asked.wanted, asked.tally
    sensitive, value_start, histogram = asked.sensitive, asked.value_start, asked.histogram
    column, missing = -1, 0
    for i in range(wanted.size):
        if wanted[i] - tally[1 + i] > missing:
            column, missing = i, wanted[i] - tally[1 + i]
    new_person = person.size > 0 and tally[PEOPLE] < asked.k
    new_value = missing > 0 and coming <= missing
    by_lack = asked.what == EVERYTHING and coming <= 0 and not new_person and not new_value
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
            lack = total_lack(histogram, value_start, asked.overall, asked.models, asked.trees)
            for i in range(sensitive.shape[1]):
                if sensitive[r, i] >= 0:
                    histogram[value_start[i] + sensitive[r, i]] -= 1
        if lack < least or (lack == least and key[y] < best):
            found, best, least = np.int64(y), np.int64(key[y]), lack
    return found

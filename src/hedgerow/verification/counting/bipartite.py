"""Whether many can have one each: rows that want records of their own, of those that each could have been made from.

A row with its equals is a *seeker* that wants so many; a record with its equals is a *holder* of so many. The most that
can be matched is a maximum flow. It is found by phases (Hopcroft and Karp's idea, with a forest instead of layers): one
breadth-first search from all seekers that still want grows trees that share no node; each tree that meets a holder with
something left gives one path, and all paths are used at once. A phase that finds none proves that there is no better
matching. Every step is arithmetic on whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums


class TooMuch(Exception):
    """The answer would take more effort than was allowed."""


@dataclass(eq=False)
class Bipartite:
    """Seekers, holders, and who may have something of whom.

    Attributes
    ----------
    wants, has
        How many each seeker wants, and each holder has.
    seeker, holder
        The two ends of every edge, by seeker.
    effort
        How many edges may be looked at, all together, before it is too much.

    Examples
    --------
    Two that want the only one of the first holder, and a second holder whom only the first may ask.

    >>> edges = np.array([0, 0, 1]), np.array([0, 1, 0])
    >>> Bipartite(np.array([1, 1]), np.array([1, 1]), *edges).unmatched()
    0
    >>> Bipartite(np.array([2, 1]), np.array([1, 1]), *edges).unmatched()
    1
    """

    wants: IntArray
    has: IntArray
    seeker: IntArray
    holder: IntArray
    effort: int = 200_000_000
    given: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.wants, self.has = self.wants.copy(), self.has.copy()
        self.given = np.zeros(len(self.seeker), np.int64)
        self._first = np.searchsorted(self.seeker, np.arange(len(self.wants) + 1))
        self._by_holder = np.argsort(self.holder, kind="stable")
        self._first_of_holder = np.searchsorted(self.holder[self._by_holder], np.arange(len(self.has) + 1))

    def unmatched(self) -> int:
        """Return how many of all that is wanted cannot be had, whoever gets what.

        Raises
        ------
        TooMuch
            If that takes more effort than allowed.
        """
        self._give_at_once()
        while self.wants.any() and self._phase():
            pass
        return int(self.wants.sum())

    def _spend(self, edges: int) -> None:
        self.effort -= edges + 1
        if self.effort < 0:
            raise TooMuch

    def _give_at_once(self) -> None:
        """Give, round by round, what is left to seekers that still want, those with the fewest holders first."""
        options = np.diff(self._first)
        order = np.lexsort((options[self.seeker], self.holder))
        while True:
            order = order[(self.wants[self.seeker[order]] > 0) & (self.has[self.holder[order]] > 0)]
            self._spend(len(order))
            if not len(order):
                return
            holder = self.holder[order]
            chosen = order[np.append(True, holder[1:] != holder[:-1])]  # one seeker for every holder
            chosen = chosen[np.argsort(self.seeker[chosen], kind="stable")]
            offered = self.has[self.holder[chosen]]
            seeker = self.seeker[chosen]
            before = np.cumsum(offered) - offered
            start = np.append(True, seeker[1:] != seeker[:-1])
            before -= np.maximum.accumulate(np.where(start, before, 0))
            taken = np.clip(self.wants[seeker] - before, 0, offered)
            self.given[chosen] += taken
            self.has[self.holder[chosen]] -= taken
            self.wants -= sums(seeker, taken, len(self.wants))

    def _phase(self) -> bool:
        """Use one path in every tree of a forest; tell whether there was any."""
        root_of = np.full(len(self.wants), -1, np.int64)
        into_seeker = np.full(len(self.wants), -1, np.int64)  # the edge by which a seeker was reached
        into_holder = np.full(len(self.has), -1, np.int64)
        frontier = np.flatnonzero(self.wants)
        root_of[frontier] = frontier
        done = np.zeros(len(self.wants), bool)  # roots that have met a holder with something left
        ends: list[IntArray] = []
        while len(frontier):
            frontier = frontier[~done[root_of[frontier]]]
            edges = _ranges(self._first[frontier], self._first[frontier + 1])
            self._spend(len(edges))
            edges = edges[into_holder[self.holder[edges]] < 0]
            into_holder[self.holder[edges]] = edges  # of several the last one wins, and only that
            edges = edges[into_holder[self.holder[edges]] == edges]
            reached = self.holder[edges]
            root = root_of[self.seeker[edges]]
            free = self.has[reached] > 0
            if free.any():
                roots, first = np.unique(root[free], return_index=True)
                ends.append(reached[free][first])
                done[roots] = True
            onward = reached[~free & ~done[root]]
            back = self._by_holder[_ranges(self._first_of_holder[onward], self._first_of_holder[onward + 1])]
            self._spend(len(back))
            back = back[(self.given[back] > 0) & (root_of[self.seeker[back]] < 0)]
            into_seeker[self.seeker[back]] = back
            back = back[into_seeker[self.seeker[back]] == back]
            frontier = self.seeker[back]
            root_of[frontier] = root_of[self.seeker[into_holder[self.holder[back]]]]
        if not ends:
            return False
        self._use(np.concatenate(ends), into_seeker, into_holder)
        return True

    def _use(self, ends: IntArray, into_seeker: IntArray, into_holder: IntArray) -> None:
        """Shift along the paths that end in some holders, each by as much as it bears."""
        most = self.has[ends].copy()
        steps: list[tuple[IntArray, IntArray, IntArray]] = []  # which paths, the edge forth, and the edge back or −1
        paths, holder = np.arange(len(ends)), ends
        while len(paths):
            forth = into_holder[holder]
            seeker = self.seeker[forth]
            back = into_seeker[seeker]
            at_root = back < 0
            most[paths[at_root]] = np.minimum(most[paths[at_root]], self.wants[seeker[at_root]])
            most[paths[~at_root]] = np.minimum(most[paths[~at_root]], self.given[back[~at_root]])
            steps.append((paths, forth, back))
            paths, holder = paths[~at_root], self.holder[back[~at_root]]
        for paths, forth, back in steps:
            self.given[forth] += most[paths]
            onward = back >= 0
            self.given[back[onward]] -= most[paths[onward]]
            self.wants[self.seeker[forth[~onward]]] -= most[paths[~onward]]
        self.has[ends] -= most


def _ranges(start: IntArray, stop: IntArray) -> IntArray:
    lengths = stop - start
    ends = np.cumsum(lengths)
    shifts: IntArray = np.repeat(start - (ends - lengths), lengths)
    return shifts + np.arange(len(shifts))

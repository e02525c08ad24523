"""What a reader of all versions learns about each person, by plain sets and by trying everything.

A history is a list of versions. A version has groups, each with a region and rows, and places: the group and the
sensitive vector of everybody who is in it. A row is a sensitive vector, one cell per sensitive column, None if missing;
rows of people who were erased are still there, but nobody has a place at them. A region has one entry per
quasi-identifier: None (missing), ``("interval", low, high)``, or ``("node", node, parent, ..., root)``.

Newcomers are judged by every way in which each old row can be a new row of the same vector in a region that overlaps;
a maximum flow must come to the same (:func:`hidden`). Everything else is sets and sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Key = Hashable
Vector = tuple[Any, ...]
Region = tuple[Any, ...]


@dataclass(frozen=True)
class Version:
    regions: dict[int, Region]
    rows: dict[int, list[Vector]]
    places: dict[Key, tuple[int, Vector]]


History = Sequence[Version]


def overlap(one: Region, other: Region) -> bool:
    """Whether some person could be in both regions."""
    return all(map(_overlap, one, other))


def _overlap(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if one[0] == "interval":
        return bool(one[1] <= other[2] and other[1] <= one[2])
    above, below = sorted([one[1:], other[1:]], key=len)
    return bool(below[len(below) - len(above) :] == above)


def people(history: History) -> set[Key]:
    return {key for version in history for key in version.places}


def columns(history: History) -> int:
    return next((len(vector) for version in history for rows in version.rows.values() for vector in rows), 0)


# ---- intersecting a person's groups ----------------------------------------------------------------------


def episodes(history: History, key: Key) -> list[list[Version]]:
    """Runs of the versions with the person in which the vector is the same."""
    runs: list[list[Version]] = []
    last = None
    for version in history:
        if key in version.places:
            vector = version.places[key][1]
            if not runs or vector != last:
                runs.append([])
            runs[-1].append(version)
            last = vector
    return runs


def surviving(episode: Sequence[Version], key: Key) -> Counter[Vector]:
    """Vectors that all groups of the person have, each as often as in the group where it is rarest."""
    groups = [Counter(version.rows[version.places[key][0]]) for version in episode]
    return Counter({vector: min(group[vector] for group in groups) for vector in groups[0]}) + Counter()


def values_left(history: History, key: Key, column: int) -> int:
    return min(
        len({vector[column] for vector in surviving(episode, key)} - {None}) for episode in episodes(history, key)
    )


def people_left(history: History, key: Key) -> int:
    return min(surviving(episode, key).total() for episode in episodes(history, key))


def confidence(history: History, key: Key, column: int) -> Fraction:
    worst = Fraction(0)
    for episode in episodes(history, key):
        left = surviving(episode, key)
        for value in {vector[column] for vector in left} - {None}:
            with_value = sum(count for vector, count in left.items() if vector[column] == value)
            worst = max(worst, Fraction(with_value, left.total()))
    return worst


# ---- history classes -------------------------------------------------------------------------------------


def path(history: History, key: Key) -> tuple[int | None, ...]:
    return tuple(version.places[key][0] if key in version.places else None for version in history)


def history_class(history: History, key: Key) -> set[Key]:
    return {other for other in people(history) if path(history, other) == path(history, key)}


def class_values(history: History, key: Key, column: int) -> int:
    same = history_class(history, key)
    return min(
        len({version.places[other][1][column] for other in same} - {None})
        for version in history
        if key in version.places
    )


# ---- newcomers and leavers -------------------------------------------------------------------------------


def only_came(old: Version, new: Version) -> bool:
    """Whether everybody of the old version is in the new one, as far as anybody can tell with the same values."""
    stayed = all(key in new.places and new.places[key][1] == place[1] for key, place in old.places.items())
    return stayed and len(new.places) > len(old.places) and assumption_holds(old, new)


def assumption_holds(old: Version, new: Version) -> bool:
    """Whether people are where they could have been before, and the old rows could all be among the new ones."""
    met = all(overlap(old.regions[place[0]], new.regions[new.places[key][0]]) for key, place in old.places.items())
    return met and all(any(True for _ in assignments(old, new, vector)) for vector in _vectors(old))


def _vectors(version: Version) -> list[Vector]:
    return sorted({vector for rows in version.rows.values() for vector in rows}, key=repr)


def _groups_of_rows(version: Version, vector: Vector) -> list[int]:
    return [number for number, rows in sorted(version.rows.items()) for row in rows if row == vector]


def assignments(old: Version, new: Version, vector: Vector) -> Iterator[list[tuple[int, int]]]:
    """Every way to take each old row of a vector for a different new row of it, as pairs of their groups.

    Rows of one group and vector are alike, so it is enough to say to which groups the old rows go.
    """
    old_rows, room = _groups_of_rows(old, vector), Counter(_groups_of_rows(new, vector))
    chosen: list[tuple[int, int]] = []

    def extend() -> Iterator[list[tuple[int, int]]]:
        if len(chosen) == len(old_rows):
            yield list(chosen)
            return
        group = old_rows[len(chosen)]
        for other in sorted(room):
            swapped = bool(chosen) and chosen[-1][0] == group and other < chosen[-1][1]
            if room[other] and not swapped and overlap(old.regions[group], new.regions[other]):
                chosen.append((group, other))
                room[other] -= 1
                yield from extend()
                room[other] += 1
                chosen.pop()

    return extend()


def hidden(old: Version, new: Version, group: int) -> Counter[Vector]:
    """Rows of a new group that may be new, by vector: those that some assignment leaves without an old row."""
    counts = Counter(new.rows[group])
    return (
        Counter(
            {
                vector: count
                - min(sum(at == group for _, at in assignment) for assignment in assignments(old, new, vector))
                for vector, count in counts.items()
            }
        )
        + Counter()
    )


def enough(left: Counter[Vector], k: int, p: Sequence[int]) -> bool:
    return left.total() >= k and all(len({vector[j] for vector in left} - {None}) >= p[j] for j in range(len(p)))


def newcomers(old: Version, new: Version, k: int, p: Sequence[int]) -> tuple[set[Key], int | None]:
    """Newcomers with too few rows or values to hide among, and the least number of rows of any, at most k."""
    if not only_came(old, new):
        return set(), None
    failing, least = set(), []
    for key in new.places.keys() - old.places.keys():
        left = hidden(old, new, new.places[key][0])
        least.append(min(left.total(), k))
        if not enough(left, k, p):
            failing.add(key)
    return failing, min(least)


def leavers(old: Version, new: Version, k: int, p: Sequence[int]) -> tuple[set[Key], int | None]:
    return newcomers(new, old, k, p)


# ---- difference ------------------------------------------------------------------------------------------


def components(old: Version, new: Version) -> list[set[tuple[str, int]]]:
    """Components of the graph of groups of two versions that overlap."""
    parts = [{("old", number)} for number in old.regions] + [{("new", number)} for number in new.regions]
    for one in old.regions:
        for other in new.regions:
            if overlap(old.regions[one], new.regions[other]):
                joined = [part for part in parts if ("old", one) in part or ("new", other) in part]
                parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return parts


def difference(old: Version, new: Version, k: int, p: Sequence[int]) -> tuple[set[Key], int, set[int]]:
    """People who came to or left failing components, failing components with no such people, and changed groups there."""
    failing, unknown, groups = set(), 0, set()
    for part in components(old, new):
        delta: Counter[Vector] = Counter()
        for number in new.regions:
            if ("new", number) in part:
                delta.update(new.rows[number])
        for number in old.regions:
            if ("old", number) in part:
                delta.subtract(old.rows[number])
        changed = {vector for vector, count in delta.items() if count}
        few = any(len({vector[j] for vector in changed} - {None}) < p[j] for j in range(len(p)))
        if delta.total() == 0 or (abs(delta.total()) >= k and not few):
            continue
        before = {key for key, place in old.places.items() if ("old", place[0]) in part}
        after = {key for key, place in new.places.items() if ("new", place[0]) in part}
        failing |= before ^ after
        unknown += before == after
        groups |= {number for side, number in part if side == "new" and changed_group(old, new, number)}
    return failing, unknown, groups


def changed_group(old: Version, new: Version, number: int) -> bool:
    """Whether a new group was not published before, or with other rows."""
    return number not in old.rows or Counter(old.rows[number]) != Counter(new.rows[number])


# ---- possible worlds -------------------------------------------------------------------------------------


def together(old: Version, new: Version, key: Key) -> Counter[Vector]:
    """Rows that can be in both groups of a person at once, by vector, for a reader who knows that nobody left.

    The number of people the person can be one of, by trying every assignment of old rows to new rows.
    """
    pair = (old.places[key][0], new.places[key][0])
    vectors = set(old.rows[pair[0]]) & set(new.rows[pair[1]])
    return (
        Counter(
            {
                vector: max(sum(link == pair for link in assignment) for assignment in assignments(old, new, vector))
                for vector in vectors
            }
        )
        + Counter()
    )

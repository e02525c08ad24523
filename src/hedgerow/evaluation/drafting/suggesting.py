"""Ways to coarsen a column that its values suggest: a person chooses among them, or makes another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.propose import FEW_NUMBERS, band_widths, names_ages, propose
from hedgerow.plan import HierarchySpec
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import number_label

AGES = ((0, 18, 30, 45, 65, 120), (0, 18, 65, 120))
"""Groups of ages that offices of statistics use, narrow and wide."""
LONGEST_CODE = 12
FEWER = 0.9
"""Share of the groups of one level that the next may have at most."""
MOST_LEVELS = 3
MOST_COMPARED = 300
"""Different values that are compared with each other, letter by letter."""
SHORT, LONG = 5, 9
"""Letters from which one, and two, may differ in values that are taken for alike."""


@dataclass(frozen=True)
class Suggestion:
    """A way to coarsen a column.

    Attributes
    ----------
    title
        What it does, in words.
    rule
        What would stand under ``hierarchy`` in a plan.
    """

    title: str
    rule: Mapping[str, Any] = field(repr=False)


def suggestions(column: SeenColumn) -> tuple[Suggestion, ...]:
    """Suggest ways to coarsen a column, those that fit best first; none for values that suggest none.

    Examples
    --------
    >>> ages = SeenColumn("age", 900, {str(age): 10 for age in range(90)})
    >>> [found.title for found in suggestions(ages)]
    ['age groups: 0-17, 18-29, 30-44, 45-64, 65 and above', 'bands of 5, 10, 20']
    >>> codes = SeenColumn(
    ...     "ward", 60, {f"{part}{number}.{n}": 1 for part in "AB" for number in (11, 12) for n in range(9)}
    ... )
    >>> [found.title for found in suggestions(codes)]
    ['the first 3 characters, then 1']
    """
    if not column.counts:
        return ()
    return tuple(_dates(column) or _numbers(column) or [*_codes(column), *_alike(column)])


def _dates(column: SeenColumn) -> list[Suggestion]:
    rule = yaml.safe_load(propose(column).rule or "{}")  # what a draft would write
    if "dates" not in rule:
        return []
    periods = [level for level in rule["dates"] if level != "month"]
    ways = [rule["dates"], *([periods] if "decade" in periods else [])]
    steps = HIERARCHY_KINDS["dates"].steps
    return [Suggestion(", then ".join(steps(HierarchySpec(dates=way))), {**rule, "dates": way}) for way in ways]


def _numbers(column: SeenColumn) -> list[Suggestion]:
    if column.numeric_share < 0.9 or len(column.numbers) <= FEW_NUMBERS or _of_one_length(column):
        return []
    found = []
    if names_ages(column) and column.whole and min(column.numbers) >= 0 and max(column.numbers) < AGES[0][-1]:
        names = ", ".join(f"{low}-{high - 1}" for low, high in zip(AGES[0][:-2], AGES[0][1:-1], strict=True))
        found.append(Suggestion(f"age groups: {names}, 65 and above", {"cuts": [list(points) for points in AGES]}))
    widths = band_widths(column.numbers)
    return [*found, Suggestion(f"bands of {', '.join(map(number_label, widths))}", {"bands": list(widths)})]


def _of_one_length(column: SeenColumn) -> bool:
    """Tell digits that are codes from numbers: some begin with 0, and all are as long."""
    return len(set(map(len, column.counts))) == 1 and any(label.startswith("0") for label in column.counts)


def _codes(column: SeenColumn) -> Iterator[Suggestion]:
    """Suggest the beginnings of codes: most values are short and hold digits, and many begin alike."""
    labels = sorted(column.counts)
    like_codes = sum(bool(re.fullmatch(r"[^\W_]+(?:[-. /]?[^\W_]+)*", label)) and any(map(str.isdigit, label))
                     for label in labels)  # fmt: skip
    shortest, longest = min(map(len, labels)), max(map(len, labels))
    if len(labels) < 4 or like_codes < 0.8 * len(labels) or not 2 <= longest <= LONGEST_CODE:
        return
    shortest_with = {
        len({label[:length] for label in labels}): length for length in range(min(shortest, longest - 1), 0, -1)
    }
    kept: list[int] = []
    groups = len(labels)
    for now, length in shortest_with.items():  # falling: a longer beginning that groups alike says nothing more
        if 2 <= now <= FEWER * groups:
            kept.append(length)
            groups = now
    if not kept:
        return
    kept = [kept[0], *kept[1:][-(MOST_LEVELS - 1) :]]
    first = "the first character" if kept[0] == 1 else f"the first {kept[0]} characters"
    yield Suggestion(", then ".join([first, *map(str, kept[1:])]), {"prefix": kept, "length": longest})


def _alike(column: SeenColumn) -> Iterator[Suggestion]:
    """Suggest groups of values that are spelled nearly alike, each called after the one that most records have."""
    if not 3 <= len(column.counts) <= MOST_COMPARED or column.numeric_share > 0.5:
        return
    groups = groups_alike(column.counts)
    joined = [group for group in groups if len(group) > 1]
    if not joined or len(groups) < 2:
        return
    tree = {group[0] if len(group) == 1 else f"like {group[0]}": list(group) for group in groups}
    if len(tree) < len(groups) or set(tree) & {label for group in joined for label in group} or "*" in tree:
        return
    many = sum(map(len, joined))
    title = f"values spelled nearly alike: {many} values in {len(joined)} " + (
        "group" if len(joined) == 1 else "groups"
    )
    yield Suggestion(title, {"tree": {"*": tree}})


def groups_alike(counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Group values that are spelled nearly alike: those with most records first, in the groups and of the groups.

    Accents, case and signs do not count; of :data:`SHORT` letters and more one may differ, of :data:`LONG` two. Values
    in which digits differ are never alike.

    Examples
    --------
    >>> groups_alike({"Koln": 2, "Köln": 9, "Wuppertal": 5, "Wupertal": 1, "Bonn": 3, "Ward 1": 1, "Ward 2": 1})
    [('Köln', 'Koln'), ('Wuppertal', 'Wupertal'), ('Bonn',), ('Ward 1',), ('Ward 2',)]
    """
    labels = sorted(counts, key=lambda label: (-counts[label], label))
    plain = [_plain(label) for label in labels]
    first = list(range(len(labels)))  # the first of its group, by value

    def find(place: int) -> int:
        while first[place] != place:
            place = first[place]
        return place

    for later in range(len(labels)):
        for earlier in range(later):
            if find(earlier) != find(later) and _are_alike(plain[earlier], plain[later]):
                low, high = sorted((find(earlier), find(later)))
                first[high] = low
    groups: dict[int, list[str]] = {}
    for place, label in enumerate(labels):
        groups.setdefault(find(place), []).append(label)
    return [tuple(group) for group in groups.values()]


def _plain(label: str) -> str:
    """Return the letters and digits of a value, without accents."""
    apart = unicodedata.normalize("NFKD", label.casefold())
    return "".join(letter for letter in apart if letter.isalnum())


def _are_alike(first: str, second: str) -> bool:
    if first == second:
        return first != ""
    if _digits(first) != _digits(second):
        return False
    shorter = min(len(first), len(second))
    most = 2 if shorter >= LONG else 1 if shorter >= SHORT else 0
    return bool(most) and within(first, second, most)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def within(first: Sequence[str], second: Sequence[str], most: int) -> bool:
    """Tell whether two texts differ by so many letters at most: put in, left out, or others (Levenshtein 1966).

    Examples
    --------
    >>> within("kitten", "sitting", 2), within("kitten", "sitting", 3)
    (False, True)
    """
    if abs(len(first) - len(second)) > most:
        return False
    line = list(range(len(second) + 1))
    for row, letter in enumerate(first, start=1):
        diagonal, line[0] = line[0], row
        for column, other in enumerate(second, start=1):
            diagonal, line[column] = (
                line[column],
                min(line[column] + 1, line[column - 1] + 1, diagonal + (letter != other)),
            )
        if min(line) > most:
            return False
    return line[-1] <= most

"""Values that are spelled nearly alike, as plainly as can be: the whole table of distances, and groups that are joined."""

from __future__ import annotations

import unicodedata
from functools import cache


def distance(first: str, second: str) -> int:
    """How many letters are put in, left out or others (Levenshtein 1966), by its definition."""

    @cache
    def of(i: int, j: int) -> int:
        if min(i, j) == 0:
            return max(i, j)
        change = of(i - 1, j - 1) + (first[i - 1] != second[j - 1])
        return min(change, of(i - 1, j) + 1, of(i, j - 1) + 1)

    return of(len(first), len(second))


def plain(label: str) -> str:
    """Letters and digits of a value, without accents and case."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", label.casefold()) if letter.isalnum())


def alike(one: str, other: str) -> bool:
    """Whether two values are spelled nearly alike."""
    one, other = plain(one), plain(other)
    if one == other:
        return one != ""
    if [letter for letter in one if letter.isdigit()] != [letter for letter in other if letter.isdigit()]:
        return False
    shorter = min(len(one), len(other))
    allowed = 0 if shorter < 5 else 1 if shorter < 9 else 2
    return distance(one, other) <= allowed


def groups(labels: list[str]) -> set[frozenset[str]]:
    """Join groups as long as some value of one is like some value of another."""
    found = [frozenset([label]) for label in labels]
    while True:
        pair = next(
            (
                (one, other)
                for one in found
                for other in found
                if one is not other and any(alike(a, b) for a in one for b in other)
            ),
            None,
        )
        if pair is None:
            return set(found)
        found = [group for group in found if group not in pair] + [pair[0] | pair[1]]

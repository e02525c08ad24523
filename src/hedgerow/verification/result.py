"""What a check found: one promise after the other, asked and found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from hedgerow.errors import BrokenPromise, Problem
from hedgerow.plan.concepts import PRIVACY_MODELS


class Meanings(dict[str, str]):
    """What promises mean, by their names; that of a model which is not among them is what its descriptor says."""

    def __missing__(self, name: str) -> str:
        return PRIVACY_MODELS[name].help


MEANINGS = Meanings(
    {
        "files": "the folder holds the files of a release, as plain files, and nothing else",
        "readable": "the data file is a table",
        "plan": "facts.json names this very plan, and says the same as it",
        "facts": "facts.json states every fact that a release with this plan has, each of its kind, and no other",
        "roles": "the release has exactly the columns that the plan releases",
        "hierarchy": "every published quasi-identifier is a node of its hierarchy, or an interval of its kind; every "
        "published sensitive value has a leaf in its",
        "k": "every group is at least k strong; with missing: matches-any, every row matches at least k",
        "p": "every group, or the rows that a row matches, has at least p different values of a sensitive column",
        "l": "the values of a sensitive column are l-diverse in every group",
        "t": "the values of a sensitive column in every group are close to those of the whole table",
        "alpha": "no value of a sensitive column has more than a share alpha of any group",
        "beta": "no value of a sensitive column is much more frequent in a group than in the whole release",
        "delta": "every value of a sensitive column is about as frequent in every group as in the whole release",
        "k_map": "every published combination fits at least so many people of the population, or is estimated to",
        "weights": "facts.json estimates from the sampling weights what follows from them",
        "presence": "of the people who fit a published combination, the release has a share within the bounds",
        "population": "facts.json counts the people who fit what is published as they are",
        "units": "every unit that is published linked is one of at least k that are published alike, with all its "
        "records and as many",
        "members": "what is asked of sensitive values in groups holds too of the records that are published alike in "
        "units that are",
        "unit-counts": "facts.json counts units, by their records and by how many are alike, as they are",
        "linked": "a number links the rows of one unit, all of them and no others, and tells nothing else",
        "treated": "a column that the plan treats holds nothing but what its treatment makes: nothing beyond a point, "
        "round numbers, periods of days",
        "limits": "no value is published coarser than its limit",
        "group-values": "what a group is published as comes of its values: a set has each of them and no others, a "
        "mean or median is that of its numbers, which lie within their limit",
        "suppressed": "cells were made missing only where the plan allows it, and as often as facts.json says",
        "overlap": "no two different published values of a column have a value in common",
        "levels": "every column is published at one level of its hierarchy",
        "only-coarser": "no record is published narrower than in an earlier version of the release",
        "rules": "facts.json says which rules are kept, and how many groups break the others",
        "counts": "facts.json counts what is there, and what it counts adds up",
        "disclosures": "facts.json counts every group with only one value of a sensitive column, and lists the first",
        "risks": "facts.json counts rows by how many are alike, the share of one sensitive value, and exact ends, as "
        "they are",
        "truthful": "every published cell is true of the record behind it",
        "unchanged": "released sensitive and other values occur in the original at least as often",
        "possible": "every row could have been made from a record of the original of its own, within the limits",
        "signature": "the holder of the key signed exactly these files",
    }
)
"""Every promise that a check may name, in the order in which they are checked."""


@dataclass(frozen=True)
class Promise:
    """One promise of a release: what was asked, what was found, and whether the two agree.

    Neither ``asked`` nor ``found`` ever holds a value of a record: only numbers, rules, columns of the plan, rows.

    Examples
    --------
    >>> print(Promise("k", 5, 3, kept=False))
    broken  k: asked 5, found 3
    """

    name: str
    asked: int | str
    found: int | str
    kept: bool

    def __post_init__(self) -> None:
        if self.name not in MEANINGS and self.name not in PRIVACY_MODELS:
            raise ValueError(f"undocumented promise {self.name!r}")

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'broken':7} {self.name}: asked {self.asked}, found {self.found}"

    def to_dict(self) -> dict[str, Any]:
        """Return the promise as plain data."""
        return {"name": self.name, "asked": self.asked, "found": self.found, "kept": self.kept}


@dataclass(frozen=True)
class Verification:
    """The outcome of a check of one release.

    Attributes
    ----------
    promises
        Every promise that could be checked with what was given.
    place
        The release folder.
    recounted, makers_word
        Facts of facts.json that were found again in the plan, the rows or the original; and those that nothing at hand
        can prove, so that they are the maker's word.
    notes
        What else there is to know.

    Examples
    --------
    >>> found = Verification((Promise("k", 5, 3, kept=False), Promise("counts", "as in facts.json", "agrees", True)))
    >>> found.kept, [promise.name for promise in found.broken]
    (False, ['k'])
    """

    promises: tuple[Promise, ...]
    place: str = ""
    recounted: tuple[str, ...] = ()
    makers_word: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Tell whether every promise is kept."""
        return not self.broken

    @property
    def broken(self) -> tuple[Promise, ...]:
        """Promises that are not kept."""
        return tuple(promise for promise in self.promises if not promise.kept)

    def __iter__(self) -> Iterator[Promise]:
        return iter(self.promises)

    def __getitem__(self, name: str) -> Promise:
        """Return the promise with this name."""
        for promise in self.promises:
            if promise.name == name:
                return promise
        raise KeyError(name)

    def raise_if_broken(self) -> None:
        """Raise :class:`~hedgerow.errors.BrokenPromise`, with one problem per broken promise, if there is one."""
        if self.broken:
            raise BrokenPromise(
                Problem(
                    "broken-promise",
                    f"The promise {promise.name!r} ({MEANINGS[promise.name]}) is broken: "
                    f"asked {promise.asked}, found {promise.found}.",
                    self.place,
                    "do not publish this release",
                )
                for promise in self.broken
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "kept": self.kept,
            "promises": [promise.to_dict() for promise in self.promises],
            "recounted": list(self.recounted),
            "makers_word": list(self.makers_word),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        verdict = "kept" if self.kept else f"{len(self.broken)} of {len(self.promises)} promises broken"
        lines = [f"Verification({verdict})", *(f"  {promise}" for promise in self.promises)]
        if self.makers_word:
            lines.append(f"  on the maker's word: {', '.join(self.makers_word)}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(str(cell))}</td>"
                for cell in ("✓" if promise.kept else "✗", promise.name, promise.asked, promise.found)
            )
            + "</tr>"
            for promise in self.promises
        )
        head = "<tr><th></th><th>promise</th><th>asked</th><th>found</th></tr>"
        verdict = "Every promise is kept" if self.kept else f"{len(self.broken)} promises are broken"
        word = f"<p>On the maker’s word: {', '.join(self.makers_word)}</p>" if self.makers_word else ""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<p>{verdict}</p><table>{head}{rows}</table>{word}{notes}"


def by_meaning_of_missing(matching: int | str, strictly: int | str) -> int | str:
    """Say what was found where a missing cell matches anything; and if it did not, where that makes a difference.

    Examples
    --------
    >>> by_meaning_of_missing(5, 5), by_meaning_of_missing("5 persons", "1 persons")
    (5, '5 persons where a missing cell matches anything, 1 persons where it is a value of its own')
    """
    if matching == strictly:
        return matching
    return f"{matching} where a missing cell matches anything, {strictly} where it is a value of its own"

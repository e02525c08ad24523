"""What the values of a sensitive column count as: equal labels once, and relatives once where the plan says so.

A value counts as a *class*: itself after trimming, Unicode normalization and case folding; or, where the column has a
hierarchy, its leaf or the node that the plan's ``level`` takes the leaf to.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hedgerow.plan import Attribute
from hedgerow.verification.values.bands import Bands
from hedgerow.verification.values.columns import ladder_of
from hedgerow.verification.values.dates import Dates
from hedgerow.verification.values.numbers import Exact, read_number, read_open
from hedgerow.verification.values.trees import ROOT, Ladder, leaves_in_order

Way = tuple[str, ...]
"""The labels from a class up to the root; without a hierarchy the value alone. It tells classes apart."""
Place = tuple[int, Exact, str]
"""Where a value stands in the order of its column: known before unknown, then by number, then by text."""


@dataclass(frozen=True)
class Reading:
    """What one value counts as, and where it stands in the order of the values."""

    way: Way
    place: Place


@dataclass(frozen=True)
class Reader:
    """Reads the values of one sensitive column.

    Attributes
    ----------
    leaves
        For a tree: what its leaves count as, by their folded labels. Of leaves with one label the first counts.
    ladder
        For a hierarchy by rule: the rule.
    level
        How many steps above its leaf a value counts, but not above the root.
    own_leaf
        Whether a value without a leaf is one itself, directly under the root.
    root
        Label of the root.
    ways
        For a tree: the ways up from all classes that it has, whether or not they occur.
    open_ends
        Without a hierarchy: whether 90+ and 10 or less have a place among numbers, since the plan makes such values.

    Examples
    --------
    >>> tree = {"any": {"cancer": ["Lung cancer", "Throat cancer"], "flu": None}}
    >>> reader = Reader.of(Attribute(role="sensitive", hierarchy={"tree": tree}, level=1), [])
    >>> [reader.read(value).way for value in ("LUNG cancer ", "throat cancer", "Flu")]
    [('cancer', 'any'), ('cancer', 'any'), ('any',)]
    """

    leaves: Mapping[str, Reading] | None = None
    ladder: Ladder | None = None
    level: int = 0
    own_leaf: bool = False
    root: str = ROOT
    ways: frozenset[Way] = frozenset()
    open_ends: bool = False

    @classmethod
    def of(cls, attribute: Attribute, texts: Collection[str]) -> Reader:
        """Make the reader of a column; ``texts`` are its distinct values, those of the original where it is at hand."""
        spec, level = attribute.hierarchy, attribute.level or 0
        own_leaf = attribute.unknown == "own-leaf-under-root"
        if spec is None:
            treat = attribute.treat
            return cls(open_ends=treat is not None and (treat.top is not None or treat.bottom is not None))
        if spec.tree is None:
            folded = [_plain(text).casefold() for text in texts]
            ladder = ladder_of(spec, None, folded, max(map(len, folded), default=1))
            return cls(None, ladder, level, own_leaf)
        leaves: dict[str, Reading] = {}
        first: dict[Way, int] = {}
        for number, way in enumerate(leaves_in_order(spec.tree)):
            cut = _cut(way, level)
            place: Place = (0, first.setdefault(cut, number), "")
            leaves.setdefault(_plain(way[0]).casefold(), Reading(cut, place))
        return cls(leaves, None, level, own_leaf, next(iter(spec.tree)), frozenset(first))

    @property
    def has_hierarchy(self) -> bool:
        """Tell whether the column has a hierarchy."""
        return self.leaves is not None or self.ladder is not None

    def read(self, text: str) -> Reading | None:
        """Read one value; None if the plan gives it no leaf."""
        label = _plain(text)
        folded = label.casefold()
        if not self.has_hierarchy:
            number = read_number(folded)
            if number is None and self.open_ends and (ends := read_open(folded)) is not None:
                return Reading((folded,), (0, ends[0], folded if ends[1] else ""))
            return Reading((folded,), (1, 0, folded) if number is None else (0, number, folded))
        if self.leaves is not None and folded in self.leaves:
            return self.leaves[folded]
        found = None if self.ladder is None else _by_rule(self.ladder, label, folded)
        if found is None and self.own_leaf:
            found = Reading((folded, self.root), (1, 0, folded))
        return None if found is None else Reading(_cut(found.way, self.level), found.place)


def _plain(text: str) -> str:
    """Return a label as it is compared, but for its case."""
    return unicodedata.normalize("NFKC", text).strip()


def _cut(way: Way, level: int) -> Way:
    return way[min(level, len(way) - 1) :]


def _by_rule(ladder: Ladder, label: str, folded: str) -> Reading | None:
    lines = ladder.lines(label if isinstance(ladder, Dates) else folded)  # a day may be written with signs like Z
    if not lines:
        return None
    way = tuple(str(step) for step in lines[-1].labels)  # bands: the way to write them that fractions have too
    number = read_number(way[0]) if isinstance(ladder, Bands) else None
    return Reading(way, (0, 0, way[0]) if number is None else (0, number, ""))

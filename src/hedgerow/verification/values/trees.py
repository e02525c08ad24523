"""The way up from a value to the root, built anew from what the plan says.

A :class:`Ladder` knows one kind of hierarchy. It answers three questions: which labels stand on the way up from a
value, whether a label can be published at all, and which ways up decide what may lie behind a published label.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hedgerow.plan import Limit
from hedgerow.verification.values.numbers import Exact

ROOT = "*"
Way = tuple[str, ...]
ANYTHING = "\ue000"  # stands for a character of a value that nobody has marked


@dataclass(frozen=True)
class Line:
    """The labels from a value (None: missing) up to the root.

    Attributes
    ----------
    labels
        The labels, the value first.
    limit
        Where on it the limit stands.
    at
        Where on it the value is published, if its column is published at one level and has a label on several.
    """

    labels: tuple[str | None, ...]
    limit: int
    at: int | None = None

    @property
    def published(self) -> tuple[str | None, ...]:
        """The labels that the value may be published as, for all that is known."""
        return self.labels if self.at is None else (self.labels[self.at],)

    def breaks(self, label: str | None) -> bool:
        """Tell whether a label of the line is a proper ancestor of the limit.

        A label that is repeated up a chain means one set of values, so its lowest place counts, unless the place is
        known.
        """
        return (self.labels.index(label) if self.at is None else self.at) > self.limit

    def at_level(self, level: OneLevel | None) -> Line:
        """Return the line of a column that is published at one level."""
        if level is None:
            return self
        stop = self.limit if level.within_limits else level.number
        return replace(self, at=min(level.number, len(self.labels) - 1, stop))


@dataclass(frozen=True)
class OneLevel:
    """The level at which a whole column is published, and whether every value stops at its own limit."""

    number: int
    within_limits: bool


@dataclass(frozen=True)
class Marks:
    """Where the owner set limits in a tree: at a level, at named nodes, or nowhere."""

    level: int | None = None
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, limit: Limit | None) -> Marks:
        """Read the marks of a plan's limit."""
        return cls() if limit is None else cls(limit.level, frozenset(limit.nodes or ()))

    def line(self, labels: tuple[str | None, ...]) -> Line:
        """Find the limit on a way up: the first marked label, the root if there is none."""
        top = len(labels) - 1
        if self.level is not None:
            return Line(labels, min(self.level, top))
        return Line(labels, next((i for i, label in enumerate(labels) if label in self.names), top))

    def stray_line(self, label: str | None, root: str) -> Line:
        """Return the line of a missing or unknown value: a leaf of its own, unmarked, directly under the root."""
        return Line((label, root), 1 if self.level is None else min(self.level, 1))


class Ladder(ABC):
    """One kind of hierarchy with its limits."""

    root: str = ROOT
    marks: Marks

    def stray(self, label: str | None) -> Line:
        """Return the line of a missing or unknown value."""
        return self.marks.stray_line(label, self.root)

    @abstractmethod
    def lines(self, value: str) -> tuple[Line, ...]:
        """Return the line of a value, once for every way to write its labels; empty if the value has no leaf."""

    @abstractmethod
    def knows(self, label: str) -> bool:
        """Tell whether a label can be a node, for all that the plan alone says."""

    @abstractmethod
    def witnesses(self, label: str) -> Iterable[Line]:
        """Return lines such that what is true of all or none of them is true of all or none under a known label."""


@dataclass(frozen=True)
class NamedTree(Ladder):
    """A tree given leaf by leaf.

    Attributes
    ----------
    marks, root
        Its limits, and the label of its root.
    line_of
        The line of every leaf.
    under
        The lines of all leaves that may be published as a label.
    level
        The level at which the column is published, if it has a label on several levels for different values.
    twofold
        Labels that would be published for two different groups of values.
    """

    marks: Marks
    line_of: Mapping[str, Line]
    under: Mapping[str, Sequence[Line]]
    root: str = ROOT
    level: OneLevel | None = None
    twofold: frozenset[str] = frozenset()

    @classmethod
    def of(cls, nested: Mapping[str, Any], marks: Marks, level: OneLevel | None = None) -> NamedTree:
        """Walk a nested mapping in which a leaf maps to nothing; ``level`` is that of the whole column, if it has one.

        Examples
        --------
        >>> NamedTree.of({"US": {"Kansas": {"Wichita": {}}}}, Marks()).line_of["Wichita"].labels
        ('Wichita', 'Kansas', 'US')
        >>> printed = {"*": {"Other": {"Other": {"Asian": {}}, "Black": {"Black": {}}}}}
        >>> tree = NamedTree.of(printed, Marks(), OneLevel(1, within_limits=False))
        >>> [line.labels[0] for line in tree.witnesses("Other")], tree.twofold
        (['Asian'], frozenset())
        """
        ways = list(leaves_in_order(nested))
        spans = _spans(nested, ways)
        if not any(len(set(group.values())) > 1 for group in spans.values()):
            level = None  # a label says enough
        marked: set[Way] = (
            set()
        )  # leaves may lie at different depths: a node marked for one of them limits all under it
        if marks.level is not None:
            marked = {labels[min(marks.level, len(labels) - 1) :] for labels in ways}
        line_of: dict[str, Line] = {}
        under: dict[str, list[Line]] = {}
        published: dict[str, set[tuple[int, int]]] = {}
        for labels in ways:
            line = marks.line(labels)
            if marks.level is not None:
                line = Line(labels, next(at for at in range(len(labels)) if labels[at:] in marked))
            line = line.at_level(level)
            if line.at is not None:  # a label that is repeated up a chain means one thing: its lowest place counts
                while line.at > 0 and labels[line.at - 1] == labels[line.at] and _alike(spans, labels, line.at):
                    line = replace(line, at=line.at - 1)
            line_of[labels[0]] = line
            for label in dict.fromkeys(line.published):
                under.setdefault(str(label), []).append(line)
            if line.at is not None and labels[line.at] in spans:
                published.setdefault(labels[line.at], set()).add(spans[labels[line.at]][labels[line.at :]])
        twofold = frozenset(label for label, group in published.items() if len(group) > 1)
        return cls(marks, line_of, under, next(iter(nested)), level, twofold)

    def stray(self, label: str | None) -> Line:
        """Return the line of a missing or unknown value."""
        return self.marks.stray_line(label, self.root).at_level(self.level)

    def lines(self, value: str) -> tuple[Line, ...]:
        """Return the line of a leaf."""
        return (self.line_of[value],) if value in self.line_of else ()

    def knows(self, label: str) -> bool:
        """Tell whether the tree has a node of this label that may be published."""
        return label in self.under or (self.level is not None and label == self.root)

    def witnesses(self, label: str) -> Iterable[Line]:
        """Return the lines of all leaves under a node."""
        return self.under.get(label, ())


def _spans(nested: Mapping[str, Any], ways: Sequence[Way]) -> dict[str, dict[Way, tuple[int, int]]]:
    """Return first and last leaf of all nodes of every label that several nodes have, each told by its way up."""
    names: list[str] = []
    waiting: list[Mapping[str, Any]] = [nested]
    while waiting:
        below = waiting.pop()
        names += below
        waiting += [deeper for deeper in below.values() if deeper]
    again = {name for name, count in Counter(names).items() if count > 1} if len(set(names)) < len(names) else set()
    spans: dict[str, dict[Way, tuple[int, int]]] = {name: {} for name in again}
    for number, labels in enumerate(ways) if again else ():
        for start, label in enumerate(labels):
            if label in again:
                first = spans[label].get(labels[start:], (number, number))[0]
                spans[label][labels[start:]] = (first, number)
    return spans


def _alike(spans: Mapping[str, Mapping[Way, tuple[int, int]]], labels: Way, at: int) -> bool:
    """Tell whether the label at a place of a line, and the same label below it, stand for the same values."""
    known = spans[labels[at]]
    return known[labels[at:]] == known[labels[at - 1 :]]


def leaves_in_order(nested: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Return the way up from every leaf, depth first, as given.

    Examples
    --------
    >>> [way[0] for way in leaves_in_order({"US": {"Kansas": {"Wichita": {}}, "Ohio": {}, "Iowa": {"Ames": {}}}})]
    ['Wichita', 'Ohio', 'Ames']
    """
    waiting: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(nested, ())]
    while waiting:
        below, above = waiting.pop()
        if not below:
            yield above
        waiting.extend((deeper, (name, *above)) for name, deeper in reversed(list(below.items())))


@dataclass(frozen=True)
class Flat(Ladder):
    """Value → ``*``."""

    marks: Marks

    def lines(self, value: str) -> tuple[Line, ...]:
        """Return value and root."""
        return (self.marks.line((value, ROOT)),)

    def knows(self, label: str) -> bool:
        """Tell that any label may be a value."""
        return True

    def witnesses(self, label: str) -> Iterable[Line]:
        """Return the line of the value itself, or for the root those of the marked values and of another."""
        candidates = (ANYTHING, *self.marks.names) if label == ROOT else (label,)
        return [line for value in candidates for line in self.lines(value)]


@dataclass(frozen=True)
class Prefixes(Ladder):
    """Text of which the first characters are kept.

    Attributes
    ----------
    kept
        How many characters each level keeps.
    length
        Characters of a full value.
    masked
        Names of groups of other values; a value that is written like one has no leaf.
    """

    marks: Marks
    kept: tuple[int, ...]
    length: int
    masked: frozenset[str] = frozenset()

    @classmethod
    def of(cls, kept: Iterable[int], length: int, marks: Marks, values: Iterable[str] = ()) -> Prefixes:
        """Make the ladder; ``values`` are those of the original, where it is at hand.

        Examples
        --------
        >>> Prefixes.of([5, 3, 0], 5, Marks()).lines("43102")[0].labels
        ('43102', '431**', '*')
        """
        ladder = cls(marks, tuple(count for count in kept if 0 < count < length), length)
        texts = set(values)
        starred = {text for text in texts if text.endswith("*")}
        masked = {name for text in texts if starred for name in ladder.names(text) if name != text}
        return cls(marks, ladder.kept, length, frozenset(masked & starred))

    def names(self, value: str) -> tuple[str, ...]:
        """Return the names of the groups of a value, without the root; a short value has each of them once."""
        return tuple(dict.fromkeys(value[:count].ljust(self.length, "*") for count in self.kept))

    def lines(self, value: str) -> tuple[Line, ...]:
        """Return the value, its ever shorter beginnings, and the root."""
        if not 0 < len(value) <= self.length or value in self.masked:
            return ()
        return (self.marks.line((value, *self.names(value), ROOT)),)

    def knows(self, label: str) -> bool:
        """Tell whether a label is short enough to be a value or a group; values may themselves end in asterisks."""
        return label == ROOT or (len(label) <= self.length and label.strip("*") != "")

    def witnesses(self, label: str) -> Iterable[Line]:
        """Return the lines of values of every length that a name with asterisks may stand for.

        Names are the label itself and the marks. (A value that itself ends in asterisks is not thought of: if it were,
        nothing could be said of any label.)
        """
        candidates = []
        for name in (label, *self.marks.names):
            begin = name.rstrip("*")
            lengths = range(max(len(begin), 1), self.length + 1)
            candidates += [name] if begin == name else [begin.ljust(length, ANYTHING) for length in lengths]
        return [line for text in candidates for line in self.lines(text) if label in line.labels]


def pieces(low: Exact, end: Exact, marked: Iterable[tuple[Exact, Exact]]) -> Iterable[tuple[Exact, Exact]]:
    """Cut a span where a marked one begins or ends."""
    bounds = {bound for mark in marked for bound in mark if low < bound < end}
    return itertools.pairwise([*sorted({low, *bounds}), end])

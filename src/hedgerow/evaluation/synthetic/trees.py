"""Hierarchies of made-up values, with how often each value occurs, and straying from an expected value within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow.evaluation.synthetic.draw import Draw, Indices


class NestedNames:
    """A hierarchy all of whose leaves lie at the same depth; a leaf that was given higher up repeats its name.

    Attributes
    ----------
    leaves
        Names of the values.
    paths
        Names from every leaf to the root.

    Examples
    --------
    >>> tree = NestedNames({"hospital": {"inpatient": 9, "emergency room": 2}, "home": 5})
    >>> tree.paths
    [('inpatient', 'hospital', 'any'), ('emergency room', 'hospital', 'any'), ('home', 'home', 'any')]
    """

    def __init__(self, below: Mapping[str, Any], root: str = "any") -> None:
        ragged, weights = zip(*_walk(below, (root,)), strict=True)
        depth = max(map(len, ragged))
        self.paths: list[tuple[str, ...]] = [(*(path[0],) * (depth - len(path)), *path) for path in ragged]
        self.leaves = [path[0] for path in self.paths]
        self._code_of = {leaf: code for code, leaf in enumerate(self.leaves)}
        self._steps = np.cumsum([0.0, *weights])
        self._first, self._last = _runs(self.paths)

    @classmethod
    def by_prefix(cls, weights: Mapping[str, float], kept: Sequence[int]) -> NestedNames:
        """Make a tree of codes, such as zip codes, from how many characters each level keeps."""
        below: dict[str, Any] = {}
        for code, weight in sorted(weights.items()):
            node = below
            for count in reversed(kept):
                node = node.setdefault(code[:count], {})
            node[code] = weight
        return cls(below)

    def code(self, leaf: str) -> int:
        """Position of a value."""
        return self._code_of[leaf]

    def codes(self, leaves: Sequence[str]) -> Indices:
        """Positions of several values."""
        return np.array([self._code_of[leaf] for leaf in leaves], np.int64)

    def draw(self, draw: Draw) -> Indices:
        """Draw a value per record, as often as the weights say."""
        return draw.choice(np.diff(self._steps).tolist())

    def stray(self, draw: Draw, expected: Indices, chances: Sequence[float]) -> Indices:
        """Replace some expected values by others nearby.

        Parameters
        ----------
        expected
            Value of every record.
        chances
            How likely a value is drawn anew among those that share its node at level 1, 2, …: the farther, the rarer.
        """
        level = (np.searchsorted(np.cumsum(chances), draw.uniform(), side="right") + 1) % (len(chances) + 1)
        low, high = self._steps[self._first[expected, level]], self._steps[self._last[expected, level] + 1]
        drawn = np.searchsorted(self._steps, low + draw.uniform() * (high - low), side="right") - 1
        found: Indices = np.where(level > 0, np.minimum(drawn, self._last[expected, level]), expected)
        return found


def _walk(below: Mapping[str, Any], above: tuple[str, ...]) -> list[tuple[tuple[str, ...], float]]:
    found: list[tuple[tuple[str, ...], float]] = []
    for name, inside in below.items():
        if isinstance(inside, Mapping):
            found += _walk(inside, (name, *above))
        else:
            found.append(((name, *above), float(inside)))
    return found


def _runs(paths: Sequence[Sequence[str]]) -> tuple[Indices, Indices]:
    """First and last leaf that have the same node as a leaf, by leaf and level."""
    first, last = np.zeros((2, len(paths), len(paths[0])), np.int64)
    for level in range(len(paths[0])):
        start = 0
        for leaf, path in enumerate(paths):
            if path[level] != paths[start][level]:
                start = leaf
            first[leaf, level] = start
            last[start : leaf + 1, level] = leaf
    return first, last

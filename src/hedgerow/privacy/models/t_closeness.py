"""t-closeness: the values of every group are distributed nearly as in the whole table (Li et al. 2007).

The distance is the earth mover's: what must be moved, times how far. How far two values are apart is 1 (equal), the
number of ranks between them (ordered), or the height of their lowest common ancestor (hierarchical), each out of 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from hedgerow.errors import DataError, Problem
from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Frozen, Share
from hedgerow.privacy.codes import EQUAL, HIERARCHICAL, ORDERED, SLACK
from hedgerow.privacy.model import DECIMALS
from hedgerow.privacy.tally import Tally
from hedgerow.types import FloatArray

Distance = Literal["equal", "ordered", "hierarchical"]
CHUNK = 1 << 22


@dataclass(frozen=True)
class TCloseness:
    """Distance from the whole table at most ``t``; a group without values holds.

    Examples
    --------
    >>> TCloseness(0.25).holds(Tally.of_values("aab", overall="aaabbb")).tolist()
    [True]
    >>> TCloseness(0.1).holds(Tally.of_values("aab", overall="aaabbb")).tolist()
    [False]
    """

    t: float
    distance: Distance = "equal"
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether it is near enough."""
        met: npt.NDArray[np.bool_] = self.distances(tally) <= self.t + SLACK
        return met

    def distances(self, tally: Tally) -> FloatArray:
        """Distance of every group from the whole table; 0 for a group without values."""
        found = np.zeros(tally.groups)
        step = max(1, CHUNK // max(tally.values, 1))
        whole = tally.overall / max(int(tally.overall.sum()), 1)
        for first in range(0, tally.groups, step):
            last = min(first + step, tally.groups)
            total = tally.total[first:last]
            extra = tally.dense(first, last) / np.maximum(total, 1)[:, None] - whole
            found[first:last] = np.where(total > 0, self._moved(extra, tally), 0.0)
        return found

    def _moved(self, extra: FloatArray, tally: Tally) -> FloatArray:
        if self.distance == "equal":
            return np.asarray(0.5 * np.abs(extra).sum(axis=1))
        if self.distance == "ordered":
            steps = np.abs(np.cumsum(extra, axis=1)[:, :-1]).sum(axis=1)
            return np.asarray(steps / max(tally.values - 1, 1))
        assert tally.tree is not None
        tree = tally.tree
        if not tree.height:
            return np.zeros(len(extra))
        at = np.zeros((len(extra), len(tree.names)))
        at[:, tally.leaf_node] = extra
        surplus, lacking = np.zeros_like(at), np.zeros_like(at)
        moved = np.zeros(len(extra))
        for node in range(len(tree.names) - 1, -1, -1):
            if tree.heights[node]:
                moved += tree.heights[node] / tree.height * np.minimum(surplus[:, node], lacking[:, node])
            if node:
                above = tree.parents[node]
                if tree.heights[node]:
                    at[:, node] = surplus[:, node] - lacking[:, node]
                surplus[:, above] += np.maximum(at[:, node], 0)
                lacking[:, above] += np.maximum(-at[:, node], 0)
        return moved

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return {"equal": EQUAL, "ordered": ORDERED, "hierarchical": HIERARCHICAL}[self.distance], self.t, 0.0, 1.0

    def __str__(self) -> str:
        return f"distance at most {self.t:g} ({self.distance})"


# -- how a plan asks for it ------------------------------------------------------------------------------------------


class Closeness(Frozen):
    """How far the values of a group may be from those of the whole table."""

    at_most: Share
    distance: Literal["equal", "ordered", "hierarchical"] | None = Field(
        default=None, description="between two values; hierarchical if the column has a hierarchy, else equal"
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Closeness) else {"at_most": value}


def _make(asked: Closeness, column: Any) -> TCloseness:
    distance: Distance = asked.distance or ("hierarchical" if column.tree is not None else "equal")
    if distance == "ordered" and not column.in_order:
        message = f"Column {column.name!r}: an ordered distance needs numbers, or a hierarchy that orders the values."
        raise DataError(Problem("not-a-number", message, hint="use distance: equal, or give it a hierarchy"))
    return TCloseness(float(asked.at_most), distance)


def _reached(tally: Tally, column: Any) -> dict[str, float]:
    """Say how far the group that is farthest is, by every distance that the column has."""
    has: dict[Distance, bool] = {"equal": True, "ordered": column.in_order, "hierarchical": column.tree is not None}
    return {
        name: round(float(TCloseness(1.0, name).distances(tally).max(initial=0)), DECIMALS)
        for name, there in has.items()
        if there
    }


def _conflicts(column: str, attribute: Any, asked: Closeness) -> Iterator[tuple[str, str]]:
    if asked.distance == "hierarchical" and attribute.hierarchy is None:
        message = f"'privacy.t' asks for a hierarchical distance, but column {column!r} has no hierarchy."
        yield message, "give it one, or use 'equal'"


DESCRIPTOR = ModelDescriptor(
    name="t",
    title="t-closeness",
    meaning="The spread of sensitive values in every group is at most t away from that in the whole release: "
    "knowing the group teaches little.",
    help="t-closeness: greatest distance of a group's values from the whole table's",
    order=30,
    form=Closeness,
    keys=frozenset(Closeness.model_fields),
    short={"$ref": "#/$defs/Closeness"},
    make=_make,
    said=lambda asked: f"t = {asked.at_most}",
    conflicts=_conflicts,
    reached=_reached,
    compares_with_all=True,
    ask="distance from the whole table at most",
    in_words="Distance of a group from the whole table, at most",
    step=0.05,
)

"""Requirement: everything a plan asks of every group, k and models together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.privacy.codes import DISTINCT
from hedgerow.privacy.model import Model
from hedgerow.privacy.tally import Tally
from hedgerow.types import IntArray


@dataclass(frozen=True)
class Requirement:
    """What must hold of every group.

    Attributes
    ----------
    k
        Persons (records without a person key) that every group must have.
    models
        Pairs of a sensitive column's position in the microdata and a model that its values must meet.
    """

    k: int
    models: tuple[tuple[int, Model], ...] = ()

    @classmethod
    def of_plan(cls, plan: Plan, microdata: Microdata) -> Requirement:
        """Collect what a plan asks."""
        models = [
            (position, model)
            for position in range(len(microdata.sensitive))
            for model in _models(plan, microdata, position)
        ]
        return cls(plan.privacy.k, tuple(models))

    @property
    def survives_growth(self) -> bool:
        """Whether a group that meets everything still does with any record added."""
        return all(model.survives_growth for _, model in self.models)

    def distinct_wanted(self, columns: int) -> IntArray:
        """How many different values are asked of every sensitive column, by the models that count."""
        wanted = np.zeros(columns, np.int64)
        for position, model in self.models:
            kind, least, *_ = model.kernel_code()
            if kind == DISTINCT:
                wanted[position] = max(wanted[position], int(least))
        return wanted

    def fails(
        self, microdata: Microdata, group_of: IntArray, groups: int, only_if_it_stays_so: bool = False
    ) -> npt.NDArray[np.bool_]:
        """Tell which groups of units fail; optionally only by what no part of the group could meet either."""
        failing = people_by_group(microdata, group_of, groups) < self.k
        for position, model in self.models:
            if model.survives_growth or not only_if_it_stays_so:
                failing |= ~model.holds(tally_of(microdata, position, group_of, groups))
        return failing


def tally_of(microdata: Microdata, position: int, group_of: IntArray, groups: int) -> Tally:
    """Count the values of one sensitive column by group."""
    column = microdata.sensitive[position]
    codes = microdata.sensitive_of[:, position]
    return Tally.of_codes(group_of, codes, groups, column.counts, column.tree, column.leaf_node)


def people_by_group(microdata: Microdata, group_of: IntArray, groups: int) -> IntArray:
    """Count the persons (records without a person key) of every group."""
    inside = group_of >= 0
    if microdata.person_of is None:
        return np.bincount(group_of[inside], minlength=groups)
    persons = int(microdata.person_of.max(initial=0)) + 1
    pairs = np.unique(group_of[inside] * persons + microdata.person_of[inside])
    return np.bincount(pairs // persons, minlength=groups)


def _models(plan: Plan, microdata: Microdata, position: int) -> Iterator[Model]:
    column = microdata.sensitive[position]
    for name, asked in plan.privacy.demands(column.name).items():
        yield PRIVACY_MODELS[name].make(asked, column)

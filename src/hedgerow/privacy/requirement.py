"""Requirement: everything a plan asks of every group, k and models together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.microdata import MILLION
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
    k_map
        People of the population whom what a group is published as must fit; 0: nothing is asked.
    presence
        Least and greatest share of them that the records of the group may be; None: nothing is asked.
    within_limits
        Whether limits are kept, so that people beyond theirs do not fit.
    """

    k: int
    models: tuple[tuple[int, Model], ...] = ()
    k_map: int = 0
    presence: tuple[Fraction, Fraction] | None = None
    within_limits: bool = True

    @classmethod
    def of_plan(cls, plan: Plan, microdata: Microdata) -> Requirement:
        """Collect what a plan asks."""
        models = [
            (position, model)
            for position in range(len(microdata.sensitive))
            for model in _models(plan, microdata, position)
        ]
        privacy = plan.privacy
        presence = None
        if privacy.presence is not None:
            presence = Fraction(privacy.presence.at_least), Fraction(privacy.presence.at_most)
        return cls(privacy.k, tuple(models), privacy.k_map or 0, presence, plan.keeps_limits)

    @property
    def of_population(self) -> bool:
        """Whether people of the population must be counted."""
        return self.k_map > 0 or self.presence is not None

    @property
    def of_records(self) -> Requirement:
        """The same without what is asked of the population."""
        return replace(self, k_map=0, presence=None)

    def holds_for_people(self, records: IntArray, fitting: IntArray) -> npt.NDArray[np.bool_]:
        """Tell which groups, of so many records, fit enough people, and are a share of them that may be released."""
        enough: npt.NDArray[np.bool_] = fitting >= self.k_map
        return enough if self.presence is None else enough & _in_bounds(records, fitting, *self.presence)

    @property
    def survives_growth(self) -> bool:
        """Whether a group that meets everything still does with any record added."""
        return self.presence is None and all(model.survives_growth for _, model in self.models)

    @property
    def survives_union(self) -> bool:
        """Whether two groups that meet everything meet it together."""
        return self.presence is None

    def distinct_wanted(self, columns: int) -> IntArray:
        """How many different values are asked of every sensitive column, by the models that count."""
        wanted = np.zeros(columns, np.int64)
        for position, model in self.models:
            kind, least, *_ = model.kernel_code()
            if kind == DISTINCT:
                wanted[position] = max(wanted[position], int(least))
        return wanted

    def fails(
        self,
        microdata: Microdata,
        group_of: IntArray,
        groups: int,
        only_if_it_stays_so: bool = False,
        fitting: IntArray | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Tell which groups of units fail; optionally only by what no part of the group could meet either.

        ``fitting``: how many people of the population fit each group, where it is not published as the least that is
        true of its records.
        """
        failing = people_by_group(microdata, group_of, groups) < self.k
        if self.of_population:
            if fitting is None:
                fitting = people_fitting(microdata, group_of, groups, self.within_limits)
            asked = replace(self, presence=None) if only_if_it_stays_so else self
            failing |= ~asked.holds_for_people(np.bincount(group_of[group_of >= 0], minlength=groups), fitting)
        for position, model in self.models:
            if model.survives_growth or not only_if_it_stays_so:
                failing |= ~model.holds(tally_of(microdata, position, group_of, groups))
        return failing


def people_fitting(microdata: Microdata, group_of: IntArray, groups: int, within_limits: bool = True) -> IntArray:
    """Count the people of the population who fit each group, published as the least that is true of its records.

    Without a population, the people whom the records of a group stand for are taken for them.
    """
    if microdata.population is None:
        return weight_by_group(microdata, group_of, groups) // MILLION
    found = np.zeros(groups, np.int64)
    inside = np.flatnonzero(group_of >= 0)
    if not len(inside):
        return found
    pairs = np.unique(group_of[inside] * len(microdata.profiles) + microdata.profile_of_unit[inside])
    group, profile = pairs // len(microdata.profiles), pairs % len(microdata.profiles)
    starts = np.flatnonzero(np.append(True, np.diff(group) > 0))
    shown = []
    for position, column in enumerate(microdata.columns):
        codes = microdata.codes(position)[profile].astype(np.int64)
        lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        shown.append(Shown(lo, hi, column.hierarchy.lca_of_ranges(lo, hi) if isinstance(column, TreeColumn) else lo))
    found[group[starts]] = microdata.population.fitting(microdata.columns, shown, within_limits)
    return found


def weight_by_group(microdata: Microdata, group_of: IntArray, groups: int) -> IntArray:
    """Add up the weights of every group, in millionths of people."""
    assert microdata.weight_of is not None
    found, inside = np.zeros(groups, np.int64), group_of >= 0
    np.add.at(found, group_of[inside], microdata.weight_of[inside])
    return found


def _in_bounds(records: IntArray, people: IntArray, least: Fraction, most: Fraction) -> npt.NDArray[np.bool_]:
    """Tell where records are a share of people from ``least`` to ``most``; whole numbers: exact."""
    pairs = zip(records.tolist(), people.tolist(), strict=True)
    return np.array(
        [
            count * least.denominator >= least.numerator * fit and count * most.denominator <= most.numerator * fit
            for count, fit in pairs
        ],
        bool,
    )


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

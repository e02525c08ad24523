"""What a requirement asks of groups, as the kernels that improve and solve take it."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.clustering.diverse import model_tables, value_tables
from hedgerow.anonymization.clustering.layout import Layout
from hedgerow.anonymization.kernels.codes import EVERYTHING, NOTHING, VALUES
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray


def demands_of(microdata: Microdata, layout: Layout, requirement: Requirement) -> Demands:
    """What is asked of every group, as the kernels take it, for units in the order of the layout; no scratch space."""
    what = NOTHING if not layout.persons and not requirement.models else EVERYTHING
    if what and requirement.survives_growth:
        what = VALUES
    sensitive = (
        microdata.sensitive_of[layout.units] if requirement.models else np.zeros((len(layout.units), 0), np.int64)
    )
    value_start, overall = value_tables(microdata)
    models, trees = model_tables(requirement, microdata)
    nothing = np.zeros(0, np.int64)
    return Demands(
        k=requirement.k,
        what=what,
        person=layout.person,
        stamp=nothing,
        sensitive=np.ascontiguousarray(sensitive),
        value_start=value_start,
        overall=overall,
        models=models,
        trees=trees,
        wanted=requirement.distinct_wanted(sensitive.shape[1]),
        histogram=nothing,
        tally=nothing,
        lasts=requirement.survives_growth,
    )


def with_scratch(asked: Demands, units: slice | IntArray, persons: int) -> Demands:
    """What is asked of some of the units, with scratch space of its own."""
    return asked._replace(
        person=asked.person[units] if persons else asked.person,
        stamp=np.zeros(persons + 1, np.int64),
        sensitive=asked.sensitive[units],
        histogram=np.zeros_like(asked.overall),
        tally=np.zeros(len(asked.wanted) + 1, np.int64),
    )

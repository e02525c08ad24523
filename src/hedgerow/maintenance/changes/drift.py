"""How much more a maintained release loses than a fresh one would: the sign that starting over is worth a thought.

A table of up to SAMPLE records is released afresh. Of a larger one, a sample is: every so-and-so-many-th record in
canonical order. What the sample loses now, against what it lost when the release was last made afresh, says how the
data changed; how loss falls with the number of records is read off a sample of half the size.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow import measures
from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.solving import cluster, solve
from hedgerow.errors import NoSolution
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.privacy import Requirement

SAMPLE = 20_000


def sample_losses(microdata: Microdata, plan: Plan, threads: int | None = None) -> dict[str, float]:
    """Loss (NTIL) of a fresh release of the table, or of two samples of it if it is large."""
    records = len(microdata.record_of)
    if records <= SAMPLE:
        return {"fresh": _fresh_ntil(microdata, plan, records, threads)}
    return {
        "sample": _fresh_ntil(microdata, plan, SAMPLE, threads),
        "half_sample": _fresh_ntil(microdata, plan, SAMPLE // 2, threads),
    }


def drift_of(ntil: float, records: int, now: Mapping[str, float], base: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the loss of a maintained release with an estimate for a fresh one.

    Parameters
    ----------
    ntil, records
        Loss and number of records of the maintained release.
    now
        What :func:`sample_losses` gives for it.
    base
        ``ntil``, ``records`` and ``samples`` of the version that was last made afresh.

    Examples
    --------
    >>> drift_of(0.22, 100, {"fresh": 0.2}, {})["drift"]
    0.1
    >>> drift_of(0.22, 100, {"fresh": 0.0}, {})["drift"] is None  # of nothing there is no share
    True
    >>> base = {"ntil": 0.2, "records": 50_000, "samples": {"sample": 0.3, "half_sample": 0.33}}
    >>> drift_of(0.2, 50_000, {"sample": 0.3, "half_sample": 0.33}, base)["drift"]
    0.0
    """
    samples = base.get("samples", {})
    if "fresh" in now:
        estimate, exact = now["fresh"], True
    elif "sample" in samples and samples["sample"] > 0 and samples["half_sample"] > 0:
        falls = math.log2(samples["half_sample"] / samples["sample"])
        scale = (records / base["records"]) ** -falls
        estimate, exact = base["ntil"] * now["sample"] / samples["sample"] * scale, False
    else:
        return {"fresh_ntil": None, "exact": False, "drift": None}
    drift = round(ntil / estimate - 1, 9) if estimate > 0 else 0.0 if ntil <= 0 else None
    return {"fresh_ntil": round(estimate, 9), "exact": exact, "drift": drift}


def _fresh_ntil(microdata: Microdata, plan: Plan, size: int, threads: int | None) -> float:
    records = len(microdata.record_of)
    part = microdata.of_units(np.arange(size) * records // size)
    part = replace(part, unknown=microdata.unknown[: len(microdata.unknown) * size // records])  # they lose everything
    if METHODS[plan.method.name].needs_levels:
        try:
            return round(float(measures.ntil(part, solve(part, plan).recoding)), 9)
        except NoSolution:
            return 1.0
    requirement = Requirement.of_plan(plan, part)
    cells = find_cells(part, requirement, ignore_limits=not plan.keeps_limits)
    if cells.failing.all():
        return 1.0
    made = cluster(part, plan, requirement, cells, threads or os.cpu_count() or 1, None)
    return round(float(measures.ntil(part, made)), 9)

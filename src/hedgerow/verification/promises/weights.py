"""What a release of a weighted sample says of the population that its weights stand for, estimated again.

The chance that a match with a record is right is the mean of 1/F, where F people of the population agree with it; given
f records of a group and the sum of their weights, F is taken to be negative binomial with success chance f / sum. It is
worked out here as an integral, and by whoever made the release as a series or a recurrence.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.reading.cells import distinct_cells
from hedgerow.verification.result import Promise
from hedgerow.verification.values.numbers import read_number

if TYPE_CHECKING:
    import pyarrow as pa

CLOSE = 1e-6
"""By how much, out of itself, an estimate may miss the one stated; weights may be known to six places only."""
ROUNDED = 1e-6
"""By how much a mean that is written to six places may miss the exact one."""
FACT = "estimated_risk"
PANELS = 24
POINTS = 40
"""Of Gauss and Legendre, on each panel."""
Floats = npt.NDArray[np.float64]


def check_weights(evidence: Evidence) -> Iterator[Promise]:
    """Check what is estimated from weights, where these are at hand: published, or behind the rows."""
    plan, facts = evidence.plan, evidence.published.facts
    stated = facts.get(FACT)
    told = stated if isinstance(stated, Mapping) else {}
    weights = _weights(evidence)
    if plan.estimates_k_map:
        asked = f"{plan.privacy.k_map} people, estimated by weights"
        assert plan.privacy.k_map is not None
        fewest: Any = told.get("fewest_people")
        found = f"facts.json says {fewest}; not added up, since the weights are not at hand"
        kept = type(fewest) in (int, float) and fewest + CLOSE >= plan.privacy.k_map
        if weights is not None:
            least = float(_sums(evidence.group_of, weights, evidence.groups.groups).min(initial=math.inf))
            found, kept = f"{least:.6g} people, estimated by weights", least + CLOSE >= plan.privacy.k_map
        yield Promise("k_map", asked, found, kept)
    if weights is None:
        return
    right = _estimate(evidence.group_of, weights, evidence.groups.groups)
    shown = _published(evidence)
    right["people"] = math.fsum((weights if shown is None else shown).tolist())
    if shown is not None:
        _, number, shared = np.unique(shown, return_inverse=True, return_counts=True)
        right["weights_of_few"] = float((shared[number.reshape(-1)] < plan.privacy.k).sum())
    wrong = [name for name, value in right.items() if not _close(told.get(name), value)]
    before = _before(evidence, weights)
    if before is not None:
        said = told.get("before")
        wrong += [f"before: {name}" for name, value in before.items()
                  if not (isinstance(said, Mapping) and _close(said.get(name), value))]  # fmt: skip
    found = f"{right['expected']:.6g} of {len(weights)} rows expected to be found, estimated"
    faults = [f"facts.json estimates otherwise: {', '.join(wrong)}"] if wrong else []
    if plan.means_of_weights is not None:
        others = _not_means(evidence.group_of, weights, shown, evidence.groups.groups)
        faults += [f"{others} rows show no mean of the weights of their group"] if others else []
    yield Promise("weights", "as facts.json says", "; ".join(faults) or found, kept=not faults)


def _not_means(group_of: IntArray, weights: Floats, shown: Floats | None, groups: int) -> int:
    """Count the rows that do not show the mean of the weights of their group, to six places."""
    if shown is None:
        return len(weights)
    means = _sums(group_of, weights, groups) / np.maximum(np.bincount(group_of, minlength=groups), 1)
    return int((np.abs(shown - means[group_of]) > ROUNDED).sum())


def _published(evidence: Evidence) -> Floats | None:
    """Return the weight that every row shows; None: weights are not published."""
    plan = evidence.plan
    assert plan.weight is not None
    if not plan.publishes_weights or plan.weight.column not in evidence.published.columns:
        return None
    cells = evidence.published.columns[plan.weight.column]
    if evidence.original is not None:
        cells = evidence.as_original(plan.weight.column, evidence.original)
    return _numbers(cells)


def _weights(evidence: Evidence) -> Floats | None:
    """Return the weight of every row, as it was published, or else as it is behind the row; None: not known."""
    plan = evidence.plan
    assert plan.weight is not None
    if not isinstance(evidence, RowEvidence) or evidence.published.counts is not None:
        return None
    if evidence.linked:
        return _numbers(evidence.behind(plan.weight.column))
    return _published(evidence)


def _numbers(cells: pa.ChunkedArray) -> Floats | None:
    """Read weights, to six places; None: some are no numbers."""
    labels, indices = distinct_cells(cells)
    numbers = [read_number(label) for label in labels]
    known = np.array([math.nan if number is None else round(float(number), 6) for number in numbers] + [math.nan])
    found: Floats = known[indices]
    return None if np.isnan(found).any() else found


def _before(evidence: Evidence, weights: Floats) -> dict[str, float] | None:
    """Estimate the same of the released records as they were."""
    if not isinstance(evidence, RowEvidence) or not evidence.linked:
        return None
    codes = []
    for name in evidence.cells:
        labels, indices = distinct_cells(evidence.behind(name))
        codes.append(np.where(indices < 0, len(labels), indices))
    rows, group = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    found = _estimate(group.reshape(-1), weights, len(rows))
    assert evidence.original is not None
    as_they_were = None if evidence.original.weights is None else _numbers(evidence.original.weights)
    if as_they_were is None:
        return found
    return {**found, "people": math.fsum(as_they_were[evidence.record_of_row].tolist())}


def _estimate(group_of: IntArray, weights: Floats, groups: int) -> dict[str, float]:
    people, records = _sums(group_of, weights, groups), np.bincount(group_of, minlength=groups)
    different, number = np.unique(np.stack([records, people], axis=1), axis=0, return_inverse=True)
    risk = np.array([_risk(int(own), float(all_of_them)) for own, all_of_them in different])[number.reshape(-1)]
    expected = math.fsum((risk * records).tolist())
    return {
        "fewest_people": float(people.min(initial=math.inf)),
        "highest": float(risk.max(initial=0.0)),
        "average": expected / max(len(weights), 1),
        "expected": expected,
    }


def _sums(group_of: IntArray, weights: Floats, groups: int) -> Floats:
    return np.bincount(group_of, weights=weights, minlength=groups).astype(np.float64)


def _risk(records: int, people: float) -> float:
    """Return the mean of 1/F: the integral of u^(records − 1)·share / (share + (1 − share)·u) over u from 0 to 1.

    With s = ln(share + (1 − share)·u) the denominator is gone, and what is left is smooth; towards s = 0, where a power
    of u rises, the pieces get shorter.

    Examples
    --------
    >>> round(_risk(1, 100.0), 12), _risk(4, 4.0)
    (0.046516870566, 0.25)
    """
    share = min(1.0, records / people)
    if share > 1 - 1e-9:
        return 1.0 / records
    start = math.log(share)
    ends = [start * 2.0**-panel for panel in range(PANELS)] + [0.0]
    total = []
    nodes, weights = _points()
    for low, high in itertools.pairwise(ends):
        at = low + (high - low) * (nodes + 1) / 2
        u = (np.exp(at) - share) / (1 - share)
        total.append((high - low) / 2 * float(np.dot(weights, np.maximum(u, 0.0) ** (records - 1))))
    return share / (1 - share) * math.fsum(total)


@functools.cache
def _points() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    return nodes, weights


def _close(stated: Any, right: float) -> bool:
    return type(stated) in (int, float) and abs(stated - right) <= CLOSE * max(1e-6, abs(right))

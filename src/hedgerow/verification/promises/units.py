"""Units that are published linked: the whole of each is one of k, with its size and the values of all its members.

Counted here by code of its own: households as lists of what their rows publish.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hedgerow.plan.model import Unit
from hedgerow.types import IntArray
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.numbering import number_cells
from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.counting.tabulation import encoded
from hedgerow.verification.counting.units import LinkedRows
from hedgerow.verification.reading.cells import distinct_cells
from hedgerow.verification.reading.original import Original
from hedgerow.verification.result import Promise

UNITS = "units"
FEW = 50
"""Units below which numbers in the order of the original may be chance."""
FAR = 6.0
"""Standard deviations by which a rank correlation must be off: by chance once in five hundred million releases."""
WORDS = frozenset({"ntil_not_linked"})
"""What facts.json says of units that nobody can count again."""


def check_units(evidence: Evidence) -> Iterator[Promise]:
    """Check that every unit is one of k as a whole, and that its number says nothing else."""
    unit = evidence.plan.unit
    assert unit is not None
    asked = f"{evidence.plan.privacy.k} units alike, with all their records"
    rows = evidence.units
    if rows is None:
        yield Promise(UNITS, asked, "the column of units cannot be read", kept=False)
        return
    yield _check_k(evidence, rows, asked)
    yield _check_facts(evidence, rows)
    yield _check_linked(evidence, unit, rows)


def _check_k(evidence: Evidence, rows: LinkedRows, asked: str) -> Promise:
    smallest = int(rows.alike.min(initial=rows.units))
    kept = smallest >= evidence.plan.privacy.k or not rows.units
    return Promise(UNITS, asked, f"{smallest} units" if rows.units else "no units", kept)


def _check_facts(evidence: Evidence, rows: LinkedRows) -> Promise:
    asked = "as facts.json says"
    stated = evidence.published.facts.get(UNITS)
    if not isinstance(stated, Mapping):
        return Promise("unit-counts", asked, "facts.json does not count units", kept=False)
    there: dict[str, Any] = {
        "units": rows.units,
        "records_of_units": _histogram(rows.sizes),
        "groups": len(rows.kinds),
        "smallest_group": int(rows.kinds.min(initial=rows.units)),
        "largest_group": int(rows.kinds.max(initial=0)),
        "group_sizes": _histogram(rows.kinds),
        "disclosures": {
            name: int((evidence.counted_by(name, rows.member_of, rows.members).histograms.distinct == 1).sum())
            for name in evidence.sensitive
        },
    }
    faults = [f"{name} is another than facts.json says" for name, found in there.items() if stated.get(name) != found]
    strange = set(stated) - set(there) - WORDS
    if strange:
        faults.append(f"{len(strange)} facts of units that there are not")
    lost = stated.get("ntil_not_linked")
    if lost is not None and (isinstance(lost, bool) or not isinstance(lost, int | float) or not 0 <= lost <= 1):
        faults.append("ntil_not_linked cannot be right")
    found = f"{rows.units} units in {len(rows.kinds)} groups"
    return Promise("unit-counts", asked, "; ".join(faults) or found, kept=not faults)


def _histogram(sizes: IntArray) -> dict[str, int]:
    return {str(size): count for size, count in sorted(Counter(sizes.tolist()).items())}


def _check_linked(evidence: Evidence, unit: Unit, rows: LinkedRows) -> Promise:
    """Check the numbers: 1 to as many as there are; columns that are the same in a unit; and whose rows are linked."""
    asked = "rows of one unit of the original, all of it, under a number that tells nothing"
    faults = [] if rows.numbered else [f"the numbers are not 1 to {rows.units}"]
    faults += [
        f"{name}: {count} units publish different values of it"
        for name in unit.same
        if name in evidence.published.columns
        and (count := rows.differing(distinct_cells(evidence.published.columns[name])[1]))
    ]
    original = evidence.original
    found = "each with one value where it must have one"
    if original is not None and isinstance(evidence, RowEvidence) and unit.column in original.columns:
        behind = distinct_cells(original.columns[unit.column])[1]
        if evidence.linked:
            faults += _against_link(rows, behind, evidence.record_of_row)
            found = "exactly the units of the original"
        else:
            faults += _against_original(evidence, original, rows, behind)
            found = "no unit that the original does not have as often, as far as it is released as it is"
    return Promise("linked", asked, "; ".join(faults) or found, kept=not faults)


def _against_link(rows: LinkedRows, unit_of_record: IntArray, record_of_row: IntArray) -> Iterator[str]:
    """Say what is wrong with units, knowing the record behind every row."""
    behind = unit_of_record[record_of_row]
    pairs = np.unique(np.stack([rows.unit_of, behind]), axis=1)
    mixed = len(pairs[0]) - len(np.unique(pairs[0]))
    parted = len(pairs[1]) - len(np.unique(pairs[1]))
    if mixed:
        yield f"{mixed} times a number links rows of different units"
    if parted:
        yield f"{parted} times a unit has more than one number"
    there = np.bincount(unit_of_record[unit_of_record >= 0])
    lacking = int((rows.sizes[pairs[0]] < there[pairs[1]]).sum())
    if lacking and not mixed and not parted:
        yield f"{lacking} units lack records"
    if mixed or parted or rows.units < FEW:
        return
    number = rows.numbers[pairs[0]]
    first = np.full(len(there), len(unit_of_record))
    np.minimum.at(first, unit_of_record, np.arange(len(unit_of_record)))
    for what, order in (("the rows", first[pairs[1]]), ("the units' own keys", pairs[1])):
        if _correlation(number, order) > FAR / np.sqrt(rows.units - 1):
            yield f"the numbers follow the order of {what} of the original"


def _correlation(one: IntArray, other: IntArray) -> float:
    """Return how far the order of one goes with that of the other, or its reverse: 0 not at all, 1 it is the same."""
    ranks = [np.argsort(np.argsort(numbers, kind="stable"), kind="stable").astype(float) for numbers in (one, other)]
    return abs(float(np.corrcoef(ranks)[0, 1]))


def _against_original(
    evidence: RowEvidence, original: Original, rows: LinkedRows, unit_of_record: IntArray
) -> Iterator[str]:
    """Say which units the original does not have as often, by their size and what is released as it is."""
    there = unit_of_record >= 0
    published, held = [], []
    for name in evidence.published.unchanged:
        here, origin = number_cells(encoded(evidence.as_original(name, original)), encoded(original.columns[name]))
        published.append(here.astype(np.int64))
        held.append(origin.astype(np.int64)[there])
    records = LinkedRows.of(unit_of_record[there], np.zeros(int(there.sum()), np.int64))
    surplus = sum((Counter(rows.contents(published)) - Counter(records.contents(held))).values())
    if surplus:
        yield f"{surplus} units that the original does not have"

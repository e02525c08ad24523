"""Versions of a release that may only get coarser: no cell of a record is narrower than it was shown before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.counting.spots import spot, where
from hedgerow.verification.result import Promise

if TYPE_CHECKING:
    import pyarrow as pa


def check_only_coarser(evidence: RowEvidence, before: pa.Table) -> Promise:
    """Check that every cell holds what its record was last published as.

    As long as that is true of the record, and within its limit: the value may have changed.
    """
    asked = "no cell narrower than its record was published before"
    if not evidence.linked:
        return Promise("only-coarser", asked, evidence.link_fault, kept=False)
    faults = {
        name: spot(
            (shown.count, shown.row)
            for shown in evidence.shown_before(name, before)
            if evidence.judges[name].covers(shown.value, shown.before)
            and not (evidence.plan.keeps_limits and evidence.judges[name].breaks(shown.value, shown.before))
            and not evidence.judges[name].holds(shown.value, shown.before, shown.label)
        )
        for name in evidence.cells
    }
    found = where(faults)
    return Promise("only-coarser", asked, found or f"so for {before.num_rows} records", kept=not found)

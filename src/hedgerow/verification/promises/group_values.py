"""What groups are published as in place of a node or an interval, held against the values that they have."""

from __future__ import annotations

from collections import defaultdict

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell
from hedgerow.verification.values.sets import SetJudge


def check_group_values(evidence: Evidence) -> Promise:
    """Check, group by group, that a set has the values of its records: each of them, and no others.

    That every row's value is in its set is part of what makes cells true. Here it is asked that nothing else is. That
    can be told only by a sound link.
    """
    names = evidence.plan.publishes_instead
    asked = "what the values of each group come to"
    faults = []
    for name in names:
        judge, wrong = evidence.judges[name], 0
        assert isinstance(judge, SetJudge)
        values = defaultdict[int, set[Cell]](set)
        for group, behind, _ in evidence.behind_groups(name):
            values[group].update(behind)
        for group, label in enumerate(evidence.combinations.labels_of_groups(name)):
            members = {None} if label is None else set(judge.members(label))
            wrong += members != values[group]
        if wrong:
            faults.append(f"{name}: {wrong} groups are published as sets that are not theirs")
    return Promise("group-values", asked, "; ".join(faults) or f"so in {len(names)} columns", kept=not faults)

"""Columns and cells: the right ones, labels that there are, true of the records behind them."""

from __future__ import annotations

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.spots import spot, where
from hedgerow.verification.reading.original import Original
from hedgerow.verification.reading.published import Published
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import TreeJudge
from hedgerow.verification.values.trees import NamedTree


def check_roles(published: Published) -> Promise:
    """Check that the columns are those that the plan releases, in its order.

    A column that the plan does not know is counted, not named: a file without its header has values there.
    """
    plan, header = published.plan, published.header
    expected = plan.published_columns
    asked = f"{len(expected)} columns: {', '.join(expected)}"
    if header == expected:
        return Promise("roles", asked, "exactly these", kept=True)
    weight = None if plan.weight is None or plan.publishes_weights else plan.weight.column
    private = {*plan.columns("identifier"), plan.key, plan.person, weight} - {*expected}
    faults = []
    shown = [name for name in dict.fromkeys(header) if name in private]
    lacking = [name for name in expected if name not in header]
    foreign = sum(name not in private and name not in expected for name in header)
    doubled = len(header) - len(set(header))
    if shown:
        faults.append("columns that must never be released: " + ", ".join(shown))
    if lacking:
        faults.append("missing columns: " + ", ".join(lacking))
    if foreign:
        faults.append(f"{foreign} columns that the plan does not name")
    if doubled:
        faults.append(f"{doubled} repeated columns")
    return Promise("roles", asked, "; ".join(faults) or "these columns in another order", kept=False)


def check_hierarchy(evidence: Evidence) -> Promise:
    """Check that every published quasi-identifier is a node, an interval or missing.

    No label stands for two groups, where a hierarchy has it on several levels. And every sensitive value whose column
    has a hierarchy has a leaf there, or is one itself where the plan says so.
    """
    asked = "nodes of the hierarchies"
    if evidence.original is not None:
        asked += " that values of the original lie under"
    faults = {
        name: spot((count, row) for label, count, row in labels if not evidence.judges[name].knows(label))
        for name, labels in evidence.labels.items()
    }
    for name in evidence.sensitive:
        if evidence.plan.attributes[name].hierarchy is not None:
            faults[name] = evidence.strays(name)
    twofold = [
        f"{name}: a label stands for two different groups of values at the level stated"
        for name, judge in evidence.judges.items()
        if isinstance(judge, TreeJudge) and isinstance(judge.ladder, NamedTree) and judge.ladder.twofold
    ]
    found = "; ".join([*twofold, *([where(faults)] if where(faults) else [])])
    return Promise("hierarchy", asked, found or "only such", kept=not found)


def check_truthful(evidence: Evidence, original: Original) -> Promise:
    """Check every cell against the record behind it."""
    asked = "every cell true of its record, one record behind every row"
    if not evidence.linked:
        return Promise("truthful", asked, evidence.link_fault, kept=False)
    faults = {name: evidence.judged_pairs(name).untrue for name in evidence.cells}
    found = "; ".join(filter(None, (where(faults), evidence.changed(original))))
    return Promise("truthful", asked, found or f"all cells of {evidence.published.rows} rows", kept=not found)


def check_unchanged(evidence: Evidence, original: Original) -> Promise:
    """Check that columns that are released as they are hold nothing that the original does not hold as often."""
    asked = "no value more often than in the original"
    found = evidence.surplus(original)
    return Promise("unchanged", asked, found or f"so in {len(evidence.published.unchanged)} columns", kept=not found)

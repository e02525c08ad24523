"""Treated columns: nothing beyond a point, round numbers, periods of days. Without the original, as far as that shows.

With the original, its values are treated anew before anything is compared (``reading.original``), so that every cell
is the treatment of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from hedgerow.plan import Attribute
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.spots import spot, where
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell
from hedgerow.verification.values.notation import in_notation
from hedgerow.verification.values.numbers import read_number
from hedgerow.verification.values.treatments import rules_of
from hedgerow.verification.values.trees import ROOT, leaves_in_order


def check_treated(evidence: Evidence) -> Promise:
    """Check that treated columns hold nothing but what their treatment makes.

    A quasi-identifier may be coarsened beyond that: there, single numbers are judged, and what a hierarchy makes of
    treated values is up to the promise ``hierarchy``.
    """
    plan = evidence.plan
    rules = rules_of(plan, plan.attributes)
    faults, cells, few = {}, 0, list[str]()
    for name, rule in rules.items():
        quasi = name in plan.quasi_identifiers
        if name not in evidence.published.header:
            continue
        signs = quasi and in_notation(plan, name)
        labels = evidence.labels[name] if quasi else evidence.tally(name)
        cells += sum(count for label, count, _ in labels if label is not None)
        judged = _is_value(plan.attributes[name]) if quasi else _every
        faults[name] = spot(
            (count, row)
            for label, count, row in labels
            if label is not None and judged(label) and not rule.makes(label, signs)
        )
        few += [name for beyond in rule.beyond if _too_few(evidence, name, labels, *beyond)]
    asked = f"nothing in {len(rules)} columns but what their treatment makes"
    found = where(faults)
    if few:
        asked += ", and as many beyond a point as the plan says"
        found = "; ".join(filter(None, [found, f"fewer beyond a point than the plan says: {', '.join(few)}"]))
    return Promise("treated", asked, found or f"so in {cells} cells", kept=not found)


def _too_few(
    evidence: Evidence,
    name: str,
    labels: Sequence[tuple[Cell, int, int]],
    open_name: str,
    fewest: int | None,
    share: Fraction | None,
) -> bool:
    """Tell whether fewer rows than promised have a value beyond a point; of quasi-identifiers only the link tells."""
    if name in evidence.plan.quasi_identifiers:
        if not open_name or not evidence.linked or evidence.only_sums:
            return not open_name
        tally = [(pair.values[0], pair.count) for pair in evidence.pairs[name]]
    else:
        sign = evidence.plan.data.decimal
        open_name = open_name if any(label == open_name for label, _, _ in labels) else open_name.replace(".", sign)
        tally = [(label, count) for label, count, _ in labels]
    there = sum(count for label, count in tally if label is not None)
    beyond = sum(count for label, count in tally if label == open_name)
    return beyond < (fewest or 0) or (share is not None and beyond < share * there)


def _every(label: str) -> bool:
    return True


def _is_value(attribute: Attribute) -> Callable[[str], bool]:
    """Return what tells whether a published quasi-identifier is a treated value as it is, and not a coarsened one."""
    spec = attribute.hierarchy
    if spec is not None and spec.tree is not None:
        return frozenset(way[0] for way in leaves_in_order(spec.tree)).__contains__
    if attribute.snap is not None:
        return lambda label: False
    if spec is not None or attribute.free:
        return lambda label: read_number(label) is not None
    return lambda label: label != ROOT

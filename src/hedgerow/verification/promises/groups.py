"""Groups: how strong they are, and which disclose a sensitive value because all of them share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise, by_meaning_of_missing

DISCLOSURES = "attribute_disclosures"
LISTED = 1000
"""Most disclosures that facts.json lists, those of the first groups; it counts all of them."""


def check_k(evidence: Evidence) -> Promise:
    """Check the smallest group; or, where a missing cell matches anything, the least number of rows that a row matches.

    Where the plan names persons and they cannot be counted, rows are: too few rows are too few persons for certain,
    enough rows are taken as kept unless the facts admit fewer persons, and what was found says so.
    """
    k, groups, smallest = evidence.plan.privacy.k, evidence.groups, evidence.smallest
    fewest = groups.fewest_persons  # a person key does not go with missing cells that match anything
    if groups.groups == 0:
        return Promise("k", k, "no groups", kept=True)
    if evidence.plan.person is None:
        return Promise("k", k, by_meaning_of_missing(smallest, groups.smallest), smallest >= k)
    asked = f"{k} persons"
    if fewest is not None:
        return Promise("k", asked, f"{fewest} persons", fewest >= k)
    stated = evidence.published.fact("smallest_group_persons")
    found = f"{smallest} records; persons could not be counted without the original and a sound link table"
    if stated is not None:
        found += f", facts.json says {stated}"
    return Promise("k", asked, found, smallest >= k and (stated is None or stated >= k))


def check_disclosures(evidence: Evidence) -> Promise:
    """Check that facts.json counts every group that has exactly one value of a sensitive column, and lists the first.

    Groups are numbered from 0 in the order in which they first appear in the data file. In a table without an order
    their numbers cannot be told, so it is checked only that there are as many of each column.
    """
    asked = "as facts.json says"
    there = {name: evidence.single_valued(name) for name in evidence.sensitive}
    count = sum(map(len, there.values()))
    stated = evidence.published.facts.get(DISCLOSURES)
    if not isinstance(stated, dict):
        return Promise("disclosures", asked, f"facts.json does not say; there are {count}", kept=False)
    faults = []
    if not _is_count(stated.get("count"), count):
        faults.append(f"there are {count}, facts.json counts others")
    by = stated.get("by_attribute")
    by = by if isinstance(by, dict) else {}
    wrong = [name for name, groups in there.items() if not _is_count(by.get(name, 0), len(groups))]
    faults += [f"there are {len(there[name])} of {name}, facts.json counts others" for name in wrong]
    if any(name not in there for name in by):
        faults.append("facts.json counts other columns")
    listed = stated.get("listed")
    items = [_pair(item) for item in listed] if isinstance(listed, list) else []
    faults += _wrongly_listed(items, there, evidence.published.in_order)
    shown = ", ".join(f"{len(groups)} of {name}" for name, groups in there.items())
    return Promise("disclosures", asked, "; ".join(faults) or f"{count}: {shown}", kept=not faults)


def _wrongly_listed(
    items: list[tuple[int, str] | None], there: Mapping[str, Collection[int]], in_order: bool
) -> Iterable[str]:
    wanted = min(sum(map(len, there.values())), LISTED)
    if in_order:
        right = set(sorted((group, name) for name, groups in there.items() for group in groups)[:LISTED])
        fitting = len(right & set(items))
    else:
        listed = Counter(item[1] for item in set(items) if item is not None)
        fitting = min(sum(min(len(groups), listed[name]) for name, groups in there.items()), wanted)
    lacking, strange = wanted - fitting, len(items) - fitting
    if lacking:
        yield f"facts.json does not list {lacking}"
    if strange:
        yield f"facts.json lists {strange} that are none"


def _is_count(stated: Any, count: int) -> bool:
    return isinstance(stated, int) and not isinstance(stated, bool) and stated == count


def _pair(item: Any) -> tuple[int, str] | None:
    """Read a group and a column; None if it is something else."""
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], str) and type(item[0]) is int:
        return item[0], item[1]
    return None

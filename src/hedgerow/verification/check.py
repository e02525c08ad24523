"""The check itself: one function per promise, over the release as it was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem
from hedgerow.verification.agreement import check_facts, check_plan
from hedgerow.verification.columns import TreeColumn
from hedgerow.verification.counts import check_counts
from hedgerow.verification.evidence import Evidence
from hedgerow.verification.models import check_models
from hedgerow.verification.original import Original, read_link, read_original
from hedgerow.verification.overlap import check_overlap
from hedgerow.verification.possible import check_possible
from hedgerow.verification.published import Published, Unreadable, list_release, read_release
from hedgerow.verification.result import Promise, Verification, by_meaning_of_missing
from hedgerow.verification.risks import check_risks
from hedgerow.verification.row_evidence import RowEvidence
from hedgerow.verification.rules import check_rules
from hedgerow.verification.spots import Spot, spot, where
from hedgerow.verification.stated import FACTS, is_proven
from hedgerow.verification.suppression import check_suppressed

DISCLOSURES = "attribute_disclosures"
LISTED = 1000
"""Most disclosures that facts.json lists, those of the first groups; it counts all of them."""


def verify_release(folder: Path | str, original: Any = None, link: Any = None) -> Verification:
    """Check a release against its own plan and facts, and against the original where that is given.

    Parameters
    ----------
    folder
        The release: ``data.csv`` or ``data.parquet``, ``plan.yaml`` and ``facts.json``.
    original
        The data it was made from: a path, or anything that hands over an Arrow stream.
    link
        The private link table: a path to a CSV file ``record,row``, a table, or a pair of arrays (record, row).
        Needs the original.

    Returns
    -------
    Verification
        Every promise that can be checked with what is given. A data file that is no table (a row with too few cells,
        bytes that are no text) is a broken promise, ``readable``, and the last one then. Where a name of the release
        is a link or no plain file, nothing is opened, and ``files`` is the only promise.

    Raises
    ------
    DataError
        If the folder is not a release, or the original or the link table cannot be read.
    PlanError
        If the plan of the release cannot be understood.
    """
    folder = Path(folder)
    if link is not None and original is None:
        message = "A link table can be used only together with the original."
        raise DataError(Problem("usage", message, hint="give the original too"))
    listing = list_release(folder)
    if listing.unsafe:
        return Verification((listing.promise,), str(folder))
    try:
        published = read_release(folder)
    except Unreadable as error:
        return Verification((listing.promise, Promise("readable", "a table", str(error), kept=False)), str(folder))
    source = None if original is None else read_original(original, published.plan)
    evidence = RowEvidence(published, source, None if link is None else read_link(link))
    found = conclude(evidence, str(folder))
    return replace(found, promises=(listing.promise, *found.promises))


def conclude(evidence: Evidence, place: str) -> Verification:
    """Check every promise, and say which facts were found again and which are the maker's word."""
    found = tuple(promises(evidence))
    stated = [fact for fact in FACTS if fact.name in evidence.published.facts]
    proven = [is_proven(fact, evidence.plan, evidence.original is not None, evidence.linked) for fact in stated]
    return Verification(
        found,
        place,
        tuple(fact.name for fact, known in zip(stated, proven, strict=True) if known),
        tuple(fact.name for fact, known in zip(stated, proven, strict=True) if not known),
    )


def promises(evidence: Evidence) -> Iterable[Promise]:
    """Check one promise after the other."""
    yield check_plan(evidence.published)
    yield check_facts(evidence.published)
    yield check_roles(evidence.published)
    yield check_hierarchy(evidence)
    yield check_k(evidence)
    yield from check_models(evidence)
    yield check_limits(evidence)
    if evidence.plan.method.suppress:
        yield check_suppressed(evidence)
    if evidence.plan.method.overlap == "forbidden":
        yield check_overlap(evidence)
    if evidence.plan.method.name == "lattice" and evidence.linked:
        yield check_levels(evidence)
    if evidence.plan.rules:
        yield check_rules(evidence)
    yield check_counts(evidence)
    yield check_disclosures(evidence)
    yield check_risks(evidence)
    if evidence.original is not None:
        if evidence.has_link:
            yield check_truthful(evidence, evidence.original)
        else:
            yield check_unchanged(evidence, evidence.original)
            yield check_possible(evidence, evidence.original)


# -- the promises ----------------------------------------------------------------------------------------------------


def check_roles(published: Published) -> Promise:
    """Check that the columns are those that the plan releases, in its order.

    A column that the plan does not know is counted, not named: a file without its header has values there.
    """
    plan, header = published.plan, published.header
    expected = plan.released_columns
    asked = f"{len(expected)} columns: {', '.join(expected)}"
    if header == expected:
        return Promise("roles", asked, "exactly these", kept=True)
    private = {*plan.columns("identifier"), plan.key, plan.person}
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

    And that every sensitive value whose column has a hierarchy has a leaf there, or is one itself where the plan says
    so.
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
            faults[name] = evidence.counted(name).strays
    found = where(faults)
    return Promise("hierarchy", asked, found or "only such", kept=not found)


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


def check_limits(evidence: Evidence) -> Promise:
    """Count the cells that break a limit: exactly with the original and the link, else those that do for certain."""
    stated, keeps = evidence.published.fact("limits_broken"), evidence.plan.keeps_limits
    asked: int | str = 0 if keeps else "reported"
    broken, possible = _broken_limits(evidence)
    total = sum(count for count, _ in broken.values())
    open_cells = sum(possible.values())
    agrees = stated is not None and total <= stated <= total + open_cells
    found: int | str = total
    if total and keeps:
        found = f"{total}: {where(broken)}"
    if open_cells:
        found = f"{found} for certain; {open_cells} more cells can be judged only with the original and the link table"
    if not agrees:
        found = f"{found}; but facts.json says {'nothing' if stated is None else stated}"
    wrong = _wrong_by_column(evidence, broken, possible) if agrees else ""
    if wrong:
        found = f"{found}; but {wrong}"
    return Promise("limits", asked, found, agrees and not wrong and (not keeps or (total == 0 and stated == 0)))


def _wrong_by_column(evidence: Evidence, broken: Mapping[str, Spot], possible: Mapping[str, int]) -> str:
    """Say what is wrong with the cells beyond a limit that facts.json counts by column."""
    by = evidence.published.facts.get("limits_broken_by_attribute", {})
    wrong = [
        name
        for name, count in by.items()
        if name in broken and not broken[name][0] <= count <= broken[name][0] + possible[name]
    ]
    if wrong:
        return f"facts.json counts others of {', '.join(wrong)}"
    if by and sum(by.values()) != evidence.published.fact("limits_broken"):
        return "what facts.json counts by column does not add up"
    return ""


def _broken_limits(evidence: Evidence) -> tuple[dict[str, Spot], dict[str, int]]:
    """Return, by column, the cells that break a limit for certain, and how many more may."""
    if evidence.linked:
        broken = {
            name: spot(
                (pair.count, pair.row)
                for pair in pairs
                if any(evidence.judges[name].breaks(value, pair.label) for value in pair.values)
            )
            for name, pairs in evidence.pairs.items()
        }
        return broken, dict.fromkeys(broken, 0)
    risks = {
        name: [(evidence.judges[name].risk(label), count, row) for label, count, row in labels]
        for name, labels in evidence.labels.items()
    }
    sure = {name: spot((count, row) for risk, count, row in cells if risk == "sure") for name, cells in risks.items()}
    return sure, {name: sum(count for risk, count, _ in cells if risk == "some") for name, cells in risks.items()}


def check_levels(evidence: Evidence) -> Promise:
    """Check that every record is published where the level of its column takes it.

    That is the ancestor so many steps up, the root at most, and where every value stops at its own limit, that at
    most. A missing value is a leaf directly under the root.
    """
    asked = "one level per column"
    stated = evidence.published.facts.get("levels")
    levels = dict(stated) if isinstance(stated, dict) else {}
    sound = [name for name in evidence.pairs if type(levels.get(name)) is int and levels[name] >= 0]
    faults = [f"facts.json has no level of {name}" for name in evidence.pairs if name not in sound]
    if any(name not in evidence.plan.quasi_identifiers for name in levels):
        faults.append("facts.json has levels of other columns")
    within_limits = evidence.plan.method.limits == "keep"
    spots = {}
    for name in sound:
        judge = evidence.judges[name]
        assert isinstance(judge, TreeColumn)  # a plan with free intervals has no lattice
        spots[name] = spot(
            (pair.count, pair.row)
            for pair in evidence.pairs[name]
            if any(pair.label not in judge.at_level(value, levels[name], within_limits) for value in pair.values)
        )
    found = "; ".join([*faults, *([where(spots)] if where(spots) else [])])
    agrees = ", ".join(f"{name} {levels[name]}" for name in sound)
    return Promise("levels", asked, found or agrees, kept=not found)


def check_disclosures(evidence: Evidence) -> Promise:
    """Check that facts.json counts every group that has exactly one value of a sensitive column, and lists the first.

    Groups are numbered from 0 in the order in which they first appear in the data file. In a table without an order
    their numbers cannot be told, so it is checked only that there are as many of each column.
    """
    asked = "as facts.json says"
    there = {
        name: {int(group) for group in (evidence.counted(name).histograms.distinct == 1).nonzero()[0]}
        for name in evidence.sensitive
    }
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
    items: list[tuple[int, str] | None], there: Mapping[str, set[int]], in_order: bool
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


def check_truthful(evidence: Evidence, original: Original) -> Promise:
    """Check every cell against the record behind it."""
    asked = "every cell true of its record, one record behind every row"
    if not evidence.linked:
        return Promise("truthful", asked, evidence.link_fault, kept=False)
    faults = {
        name: spot(
            (pair.count, pair.row)
            for pair in pairs
            if any(not evidence.judges[name].covers(value, pair.label) for value in pair.values)
        )
        for name, pairs in evidence.pairs.items()
    }
    found = "; ".join(filter(None, (where(faults), evidence.changed(original))))
    return Promise("truthful", asked, found or f"all cells of {evidence.published.rows} rows", kept=not found)


def check_unchanged(evidence: Evidence, original: Original) -> Promise:
    """Check that columns that are released as they are hold nothing that the original does not hold as often."""
    asked = "no value more often than in the original"
    found = evidence.surplus(original)
    return Promise("unchanged", asked, found or f"so in {len(evidence.published.unchanged)} columns", kept=not found)


def _is_count(stated: Any, count: int) -> bool:
    return isinstance(stated, int) and not isinstance(stated, bool) and stated == count


def _pair(item: Any) -> tuple[int, str] | None:
    """Read a group and a column; None if it is something else."""
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], str) and type(item[0]) is int:
        return item[0], item[1]
    return None

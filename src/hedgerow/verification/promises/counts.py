"""What facts.json counts, counted again; and what must add up, whoever counted it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise

CLOSE = 1e-9


def check_counts(evidence: Evidence) -> Promise:
    """Check that facts.json counts what is there, and that not more was withheld than the plan allows."""
    published, groups = evidence.published, evidence.groups
    there: dict[str, int] = {
        "released": published.rows,
        "groups": groups.groups,
        "smallest_group": evidence.smallest,
        "largest_group": groups.largest,
    }
    if evidence.original is not None:
        there["records"] = evidence.original.records
    if evidence.groups.fewest_persons is not None:
        there["smallest_group_persons"] = evidence.groups.fewest_persons
    named = dict.fromkeys([*there, "records", "withheld"])
    faults = [f"facts.json has no number {name!r}" for name in named if published.fact(name) is None]
    for name, number in there.items():
        stated = published.fact(name)
        if stated is not None and stated != number:
            faults.append(f"{name} is {number}, facts.json says {stated}")
    faults += [*_of_sizes(evidence), *_of_withheld(evidence), *_out_of_bounds(evidence)]
    asked = "as facts.json says"
    if evidence.plan.withhold is not None:
        asked += f", at most {evidence.plan.withhold.at_most} withheld"
    agrees = f"{published.rows} rows in {groups.groups} groups of {groups.smallest} to {groups.largest}"
    return Promise("counts", asked, "; ".join(faults) or agrees, kept=not faults)


def _of_sizes(evidence: Evidence) -> Iterator[str]:
    """Say which facts that follow from the sizes of groups are wrong."""
    published = evidence.published
    facts, (values, counts) = published.facts, evidence.size_counts
    there = {str(size): count for size, count in zip(values.tolist(), counts.tolist(), strict=True)}
    if "group_sizes" in facts and facts["group_sizes"] != there:
        yield "facts.json counts other groups by their size"
    records, withheld = published.fact("records"), published.fact("withheld")
    if records is None or withheld is None:
        return
    squares = sum(size * size * count for size, count in zip(values.tolist(), counts.tolist(), strict=True))
    if "discernibility" in facts and facts["discernibility"] != squares + records * withheld:
        yield "discernibility is not that of these groups and records"
    if "normalized_average_group_size" in facts:
        stated, k = facts["normalized_average_group_size"], evidence.plan.privacy.k
        average = None if not len(values) else float(Fraction(records, int(counts.sum()) * k))
        right = stated is None if average is None else stated is not None and abs(stated - average) <= CLOSE * average
        if not right:
            yield "normalized_average_group_size is not that of these groups and records"


def _of_withheld(evidence: Evidence) -> Iterator[str]:
    """Say what does not add up about withheld records."""
    published, plan = evidence.published, evidence.plan
    records, released, withheld = (published.fact(name) for name in ("records", "released", "withheld"))
    if records is None or released is None or withheld is None:
        return
    if released + withheld != records:
        yield f"{released} released and {withheld} withheld are not {records} records"
    if plan.withhold is not None and withheld > plan.withhold.records(records):
        yield f"{withheld} of {records} records are withheld"


def _out_of_bounds(evidence: Evidence) -> Iterator[str]:
    """Say which numbers that cannot be counted again cannot be right."""
    fact = evidence.published.fact
    bounds = {
        "blocks": (0, fact("released")),
        "least_rows_for_a_known_person": (0, evidence.published.rows),
        "persons": (fact("smallest_group_persons") if evidence.groups.groups else 0, fact("records")),
    }
    for name, (least, most) in bounds.items():
        stated = fact(name)
        if stated is not None and ((least is not None and stated < least) or (most is not None and stated > most)):
            yield f"{name} cannot be {stated}"
    solved = evidence.published.facts.get("solved_exactly")
    if solved is not None and not _may_be_solved(solved, fact("blocks"), fact("released")):
        yield "solved_exactly cannot be right"


def _may_be_solved(solved: Mapping[str, int], blocks: int | None, released: int | None) -> bool:
    """Tell whether so many blocks, with so many records, can be solved exactly."""
    if set(solved) != {"blocks", "records"} or solved["blocks"] > solved["records"]:
        return False
    return (blocks is None or solved["blocks"] <= blocks) and (released is None or solved["records"] <= released)

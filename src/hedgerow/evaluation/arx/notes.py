"""What a project of ARX asks for that has no counterpart here, or is done differently; a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow.evaluation.arx.criteria import ROLES, factors_of, objective_of, privacy_of

INCLUSION = "Inclusion"


def notes_on(told: Mapping[str, Any]) -> Iterator[str]:
    """Say what has no counterpart, or is done differently."""
    asked = privacy_of(told["criteria"])
    for criterion in asked.without:
        if criterion == INCLUSION:
            yield (
                "A research subset is chosen, and it lies in a Java object, which is not read: "
                "here all records are released, so groups are larger and other levels may be best."
            )
        else:
            yield f"Privacy model {criterion!r} has no counterpart and is left out."
    if "k" not in asked.privacy:
        yield "The project asks for no k-anonymity; the plan asks for k = 2, the least there is."
    if "delta" in asked.privacy:
        yield (
            "δ-disclosure privacy: ARX takes logarithms to base 2, here they are natural, so delta is smaller. "
            "ARX passes over values that a group lacks; here, as in the paper, every group must have every value."
        )
    objective, differs = objective_of(told["metric"])
    if differs:
        yield f"Quality model {told['metric']!r}: {differs}. The plan goes by {objective}."
    factors = factors_of(told["metric"])
    if factors is not None and factors[0] != factors[1]:
        yield (
            f"ARX counts the loss of a withheld record {factors[1] / factors[0]:g} times; here it always counts once, "
            "so fewer records are withheld, and columns are coarsened more."
        )
    for column in told["columns"]:
        yield from _column_notes(column)
    if told["practical"]:
        yield "ARX assumed practical monotonicity, which may miss the best levels; here nothing is assumed."
    if told["serialized"]:
        yield (
            f"{len(told['serialized'])} Java objects were not read ({', '.join(told['serialized'][:3])}, …): subsets, "
            "populations and expert settings may lie in them."
        )


def notes_on_levels(chosen: bool, kept: bool, too_many: bool) -> Iterator[str]:
    """Say whether the levels that ARX chose are kept, and why."""
    if too_many and not kept:
        then = "keeps the levels that ARX found" if chosen else "clusters instead of choosing levels"
        yield f"There are too many combinations of levels to search them all, so the plan {then}."
    elif chosen and not kept:
        yield "The levels that ARX chose are listed; the plan searches for the best anew. To keep them, take --levels."


def _column_notes(column: Mapping[str, Any]) -> Iterator[str]:
    name, role = column["name"], ROLES.get(column["type"])
    if role is None:
        yield f"Column {name!r} is of a kind that is not known here, and is left out."
    if column["aggregated"] is not None and role == "quasi-identifier":
        yield (
            f"Column {name!r} is microaggregated by ARX ({column['aggregated']}); here it is coarsened like "
            "the others, so its values also count for who is alike."
        )
    if role == "quasi-identifier" and column["min"].isdigit() and column["min"] != "0":
        yield f"Column {name!r} has a least level of {column['min']}, which cannot be asked for here."
    if role == "quasi-identifier" and column["hierarchy"] is None:
        yield f"Column {name!r} has no hierarchy, so it stays as it is."

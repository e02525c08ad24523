"""The second part of a report: groups, what was lost and what is left, what was withheld, which rules are kept."""

from __future__ import annotations

from typing import Any

from hedgerow.reports.charts import bar_chart, histogram, size_bins
from hedgerow.reports.html.markup import KEPT, MOST_NAME, UNKNOWN, fact, name, state
from hedgerow.reports.material import Material
from hedgerow.reports.wording import NONE, WITHHELD_BECAUSE, first_of, hardly_left, near_the_best, percent, shorten

MOST_BARS = 24
MOST_GONE = 6


def groups(material: Material) -> dict[str, Any]:
    """How large groups are."""
    sizes = material.facts.sizes("group_sizes")
    return {
        "chart": histogram(size_bins(sizes), title="Groups by size", x="records in a group", y="groups"),
        "smallest_alike": min(sizes, default=0),
        "exactly_k": sizes.get(material.plan.privacy.k, 0),
    }


def losses(material: Material) -> dict[str, Any]:
    """What each column lost, and what it is still worth to research."""
    facts = material.facts
    lost = facts.numbers("share_lost_by_attribute")
    worth = facts.numbers("research_value_by_attribute")
    bars = [(shorten(column, MOST_NAME), round(100 * share, 1)) for column, share in list(lost.items())[:MOST_BARS]]
    rows = [
        (
            name(column),
            fact(facts, "share_lost_by_attribute", column, form=".1%"),
            fact(facts, "loss_by_attribute", column, form=",.1f"),
            fact(facts, "research_value_by_attribute", column, form=".4f") if column in worth else NONE,
        )
        for column in lost
    ]
    chart = bar_chart(bars, title="Share of each column that was lost", unit="%", most=100)
    found = {"chart": chart, "rows": rows, "left": len(lost) - MOST_BARS}
    gone = first_of([shorten(column, MOST_NAME) for column in hardly_left(lost)], MOST_GONE)
    return {**found, "near_the_best": near_the_best(facts.get("optimality")), "gone": gone}


def withheld(material: Material) -> dict[str, Any]:
    """How many records were withheld; why, only if the facts do say, as those of older versions did."""
    facts = material.facts
    records = max(facts.count("records"), 1)
    rows = [
        (
            WITHHELD_BECAUSE.get(reason, shorten(reason, 60)),
            fact(facts, "withheld_because", reason),
            percent(number / records),
        )
        for reason, number in facts.numbers("withheld_because").items()
        if number
    ]
    return {"share": facts.count("withheld") / records, "rows": rows}


def rules(material: Material) -> dict[str, Any] | None:
    """Which distinctions that were wished for are kept; those that deserve a look come first."""
    if not material.plan.rules:
        return None
    rows = []
    for rule in sorted(material.facts.entries("rules"), key=lambda rule: rule.get("kept") is True):
        breaking = rule.get("groups_breaking")
        rows.append(
            (
                KEPT if rule.get("kept") is True else state("above", "! broken"),
                shorten(str(rule.get("name", "")), 90),
                name(str(rule.get("attribute", ""))),
                shorten(str(rule.get("importance", "")), 20),
                f"{breaking:,}" if isinstance(breaking, int) else UNKNOWN,
            )
        )
    return {"rows": rows}

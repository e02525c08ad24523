"""The second part of a report: groups, what was lost and what is left, what was withheld, which rules are kept."""

from __future__ import annotations

from hedgerow.reports.html_asked import is_least
from hedgerow.reports.html_parts import (
    MOST_BARS,
    MOST_NAME,
    UNKNOWN,
    counted,
    figure,
    name,
    pairs,
    paragraph,
    percent,
    section,
    shorten,
    table,
    words,
)
from hedgerow.reports.material import Material
from hedgerow.reports.size_bins import size_bins
from hedgerow.reports.svg import bar_chart, histogram
from hedgerow.reports.terminal import WITHHELD_BECAUSE


def groups(material: Material) -> str:
    """Show how large groups are."""
    facts = material.facts
    sizes = facts.sizes("group_sizes")
    chart = histogram(size_bins(sizes), title="Groups by size", x="records in a group", y="groups")
    alike = material.plan.missing != "matches-any"
    least = facts.shown("smallest_group") if alike else f"{min(sizes, default=0):,}"
    facts_of_groups = [
        ("groups", facts.shown("groups")),
        ("smallest", f"{least} records" + _persons(material)),
        ("largest", f"{facts.shown('largest_group')} records"),
        ("at the asked size", f"{counted(sizes.get(material.plan.privacy.k, 0), 'group')} of exactly k records"),
    ]
    if alike:
        facts_of_groups.append(("average size", _average(material)))
    return section(
        "groups",
        "Group sizes",
        paragraph(
            "A group is all rows that agree in every quasi-identifier: readers cannot tell its members apart by these."
        ),
        '<div class="two">',
        figure(chart, "How many groups have how many records."),
        pairs(facts_of_groups),
        "</div>",
        _matching(material),
    )


def _matching(material: Material) -> str:
    """Warn that groups may be smaller than k where missing cells match anything."""
    if material.plan.missing != "matches-any":
        return ""
    text = (
        "The plan lets a missing cell match any value. Groups in the chart are of rows that are published alike, and "
        "may be smaller than k; k counts rows that do not contradict each other, "
        f"{material.facts.shown('smallest_group')} at the least."
    )
    return paragraph(text, "warning")


def _persons(material: Material) -> str:
    if "smallest_group_persons" not in material.facts.said:
        return ""
    return f"; the least of persons is {material.facts.shown('smallest_group_persons')}"


def _average(material: Material) -> str:
    shown = material.facts.shown("normalized_average_group_size", form=".2f")
    return shown + ("" if shown == UNKNOWN else " times the least possible")


def losses(material: Material) -> str:
    """Show what each column lost, and what it is still worth to research."""
    facts = material.facts
    lost = facts.numbers("share_lost_by_attribute")
    worth = facts.numbers("research_value_by_attribute")
    bars = [(shorten(column, MOST_NAME), round(100 * share, 1)) for column, share in list(lost.items())[:MOST_BARS]]
    chart = bar_chart(bars, title="Share of each column that was lost", unit="%", most=100)
    rows = [
        (
            name(column),
            facts.shown("share_lost_by_attribute", column, form=".1%"),
            facts.shown("loss_by_attribute", column, form=",.1f"),
            facts.shown("research_value_by_attribute", column, form=".4f") if column in worth else "–",
        )
        for column in lost
    ]
    bound = facts.number("most_loss")
    return section(
        "loss",
        "What was lost, and what is left",
        paragraph(
            "Loss is how far values were coarsened: 0% is every value as it was, 100% is a column of which nothing "
            "is left. "
            "A withheld record counts as lost in full."
        ),
        '<div class="two">',
        figure(chart, "Share of each column that was lost." + _more(len(lost) - MOST_BARS, "columns")),
        pairs(
            (
                (
                    "all columns together",
                    f"{facts.shown('ntil', form='.4f')} of 1 (NTIL)"
                    + (
                        "" if bound is None else f"; at most {facts.shown('most_loss', form='.4f')} within these limits"
                    ),
                ),
                ("certainty penalty", f"{facts.shown('ncp', form='.4f')} (NCP)"),
                ("granularity", facts.shown("granularity", form=".4f")),
                ("discernibility", facts.shown("discernibility")),
                ("research value", f"{facts.shown('research_value', form='.4f')} of 1, the sum over columns"),
                ("mean value of groups", f"{facts.shown('mean_group_value', form='.4f')} of 1"),
            )
        ),
        "</div>",
        table(("column", "share lost", "loss", "research value"), rows, numbers=3, more="columns"),
    )


def withheld(material: Material) -> str:
    """Say how many records were withheld; why, only if the facts do, which those of older versions did."""
    facts = material.facts
    count, records = facts.count("withheld"), max(facts.count("records"), 1)
    if not count:
        return section(
            "withheld", "Records withheld", paragraph(f"None ({facts.shown('withheld')}): all are released.")
        )
    reasons = facts.numbers("withheld_because")
    rows = [
        (
            WITHHELD_BECAUSE.get(reason, words(reason, 60)),
            facts.shown("withheld_because", reason),
            percent(number / records),
        )
        for reason, number in reasons.items()
        if number
    ]
    least = "It is proven that no release within the limits withholds fewer." if is_least(material) else ""
    return section(
        "withheld",
        "Records withheld",
        paragraph(
            f"{facts.shown('withheld')} of {facts.shown('records')} records ({percent(count / records)}) stay "
            f"behind. {least}"
        ),
        table(("records", "number", "share of all"), rows, numbers=2, more="reasons") if rows else "",
        paragraph(
            "Whoever is withheld is rare in something: conclusions about such people cannot be drawn from the release. "
            "Nothing else is said about them: nothing in the release depends on their values.",
            "note",
        ),
    )


def rules(material: Material) -> str:
    """Show which distinctions that were wished for are kept."""
    facts = material.facts
    if not material.plan.rules:
        return ""
    rows = []
    for rule in facts.entries("rules"):
        kept = rule.get("kept") is True
        breaking = rule.get("groups_breaking")
        state = '<span class="kept">✓ kept</span>' if kept else '<span class="above">! broken</span>'
        rows.append(
            (
                state,
                words(str(rule.get("name", "")), 90),
                name(str(rule.get("attribute", ""))),
                words(str(rule.get("importance", "")), 20),
                f"{breaking:,}" if isinstance(breaking, int) else UNKNOWN,
            )
        )
    rows.sort(key=lambda row: "✓" in row[0])  # what deserves a look comes first
    return section(
        "rules",
        "Distinctions wished for",
        paragraph(
            "A rule names two values that no published value should mix. A rule is a wish: a broken one breaks no "
            "promise."
        ),
        table(("", "rule", "column", "importance", "groups that break it"), rows, numbers=2, more="rules"),
    )


def _more(left: int, what: str) -> str:
    return f" {left:,} more {what} are in the table or in facts.json." if left > 0 else ""

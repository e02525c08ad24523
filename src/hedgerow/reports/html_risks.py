"""The third part of a report: what groups give away, how likely people are found, what is not protected against."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from hedgerow.privacy.risks import COMMON_THRESHOLDS, accepted_risk
from hedgerow.reports.html_parts import (
    UNKNOWN,
    counted,
    figure,
    items,
    listed,
    name,
    paragraph,
    percent,
    section,
    table,
)
from hedgerow.reports.material import Material
from hedgerow.reports.svg import bar_chart

MOST_LISTED = 60
ATTACKERS = (
    ("prosecutor", "Somebody who knows that a certain person is in the data, and looks for that person"),
    ("journalist", "Somebody who does not know whether a certain person is in it, and looks for anybody"),
    ("marketer", "Somebody who matches many people in bulk, and wants to be right as often as can be"),
)


def disclosures(material: Material) -> str:
    """Say which sensitive values can be read off a group, or nearly so."""
    facts, sensitive = material.facts, material.plan.columns("sensitive")
    if not sensitive:
        text = (
            "The plan names no sensitive column, so there is no value that a group could give away by having only one."
        )
        return section("disclosures", "What a group gives away", paragraph(text))
    rows = [
        (
            name(column),
            facts.shown("attribute_disclosures", "by_attribute", column),
            facts.shown("largest_share_of_one_value", column, form=".1%"),
        )
        for column in sensitive
    ]
    found = facts.get("attribute_disclosures", "listed")
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []
    shown = ", ".join(
        f"{pair[0]:,} ({name(pair[1])})"
        for pair in pairs[:MOST_LISTED]
        if isinstance(pair[0], int) and isinstance(pair[1], str)
    )
    left = max(facts.count("attribute_disclosures", "count") or 0, len(pairs)) - MOST_LISTED  # not all are listed
    which = f"Groups, numbered from 0 as they stand in the data: {shown}" + (
        f" … and {left:,} more." if left > 0 else "."
    )
    return section(
        "disclosures",
        "What a group gives away",
        paragraph(
            "If all members of a group share one sensitive value, that value is known of each of them, though nobody "
            "was found. "
            "If most share it, a guess is right that often."
        ),
        table(
            ("sensitive column", "groups with a single value", "largest share of one value in a group"), rows, numbers=2
        ),
        paragraph(which, "note") if pairs else "",
    )


def risks(material: Material) -> str:
    """Show how likely people are found, by three attackers, against a threshold."""
    threshold = material.extras.threshold
    found = material.risks()
    if found is None:
        text = "The facts do not say, or contradict each other on, how many people are alike: the risks are unknown."
        return section("risks", "Risk of being found", paragraph(text, "warning"))
    risk = accepted_risk(threshold)
    needed = -(-risk.denominator // risk.numerator) if risk else None
    rows = []
    for attacker, who in ATTACKERS:
        of = found[attacker]
        rows.append(
            (
                who,
                _risk(threshold, attacker, "highest", of.get("highest")),
                _risk(threshold, attacker, "average", of.get("average")),
                _risk(threshold, attacker, "share_above_threshold", of.get("share_above_threshold"), share=True),
            )
        )
    above = found["prosecutor"]["share_above_threshold"]
    size = "" if needed is None else f", the risk in a group of {needed:,}"
    said = (
        f"<b>{percent(above)}</b> of the released records are above the threshold of {threshold:g}{size}."
        if above
        else f"No released record is above the threshold of {threshold:g}{size}."
    )
    return section(
        "risks",
        "Risk of being found",
        paragraph(
            f"The risk of a record is 1 divided by the number of {material.people} that it cannot be told from. "
            "Withheld records cannot be found, and are in no average."
        ),
        paragraph(said, "warning" if above else ""),
        table(("attacker", "highest", "average", f"records above {threshold:g}"), rows, numbers=3),
        paragraph(
            "For the second attacker the table itself is taken as the population, as if everybody were in it: the "
            "true risk is at "
            "most this. Nothing here counts what attackers gain by other releases, or by more knowledge than assumed.",
            "note",
        ),
        _thresholds(material, threshold),
    )


def _risk(threshold: float, attacker: str, what: str, value: float | None, share: bool = False) -> str:
    """Write a risk with where it comes from, for a machine to compare."""
    if value is None:
        return "–"
    shown = percent(value) if share else f"{value:.4f}"
    return f'<data value="{value!r}" data-risk="{threshold:g}/{attacker}/{what}">{escape(shown)}</data>'


def _thresholds(material: Material, chosen: float) -> str:
    """Show the share of records above the thresholds that are in use."""
    rows, bars = [], []
    for threshold in sorted({*COMMON_THRESHOLDS, chosen}, reverse=True):
        found, risk = material.risks(threshold), accepted_risk(threshold)
        if found is None:
            continue
        above = found["prosecutor"]["share_above_threshold"]
        size = -(-risk.denominator // risk.numerator) if risk else None
        shown = f"<b>{threshold:g}</b> (chosen)" if threshold == chosen else f"{threshold:g}"
        rows.append(
            (
                shown,
                UNKNOWN if size is None else f"{size:,}",
                _risk(threshold, "prosecutor", "share_above_threshold", above, True),
            )
        )
        bars.append((f"threshold {threshold:g}", round(100 * above, 2)))
    chart = bar_chart(
        bars, title="Records above common thresholds", unit="%", most=100, highlight=(f"threshold {chosen:g}",)
    )
    return (
        "<h3>Against common thresholds</h3>"
        '<div class="two">'
        + figure(chart, "Share of released records whose risk is above each threshold.")
        + table(("threshold", "group size it asks for", "records above it"), rows, numbers=2)
        + "</div>"
        + paragraph(
            "0.09 (1 in 11) is what EMA Policy 0070 and Health Canada use for clinical data that anybody may read.",
            "note",
        )
    )


def not_protected(material: Material) -> str:
    """Say in plain words what the promise does not cover, as far as can be with this release’s own numbers."""
    return section(
        "not-protected",
        "What this does not protect against",
        paragraph(
            "k answers one question: which row is this person’s? It does not make a release safe by itself. Before "
            "you sign, read "
            "what remains:"
        ),
        items(_remaining(material)),
        paragraph(
            "Contracts, access control, fewer columns, older data and asking the people concerned are other means, "
            "and often needed "
            "besides.",
            "note",
        ),
    )


def _remaining(material: Material) -> Iterator[str]:
    facts, plan = material.facts, material.plan
    sensitive, others = plan.columns("sensitive"), plan.columns("other")
    if sensitive:
        yield _same_value(material)
        yield (
            "<b>Guessing and ruling out.</b> What is frequent in a group is likely of each member, and a reader may "
            "rule out values "
            f"by what they know of a person. {_shares(material)}"
        )
    if others:
        yield (
            f"<b>Columns called harmless.</b> {listed(others)} {'is' if len(others) == 1 else 'are'} released "
            "exactly, and not looked "
            "at. If somebody can know one of them, it tells people apart as if it had never been coarsened."
        )
    yield (
        "<b>More knowledge than assumed.</b> k counts only the quasi-identifiers. Whoever knows another released "
        "column of a person, "
        "or knows the other members of the group, may be left with one row."
    )
    yield _several(material)
    yield (
        "<b>Being in the data.</b> The release does not hide who is in the table. If being in it is the secret, k "
        "does not keep it."
    )
    yield (
        "<b>Inference.</b> What the release teaches about people like somebody (the young, the inhabitants of a "
        "region) is learned "
        "about that person too, in the data or not. That is what research is for; it can still do harm."
    )
    yield (
        "<b>Knowing the method.</b> Groups are formed by a fixed rule and published as finely as it allows. Whoever "
        "knows the rule and some of the records can sometimes narrow down others: where demands on sensitive columns "
        "shaped the groups, also which value is whose. Of those who are withheld nothing but their number shows."
    )
    exact = sum(int(number) for number in facts.numbers("exact_end_points").values())
    if exact:
        yield (
            f"<b>Exact end points.</b> {counted(exact, 'released cell shows', 'released cells show')} the exact "
            "value of a record as the end of a range: both ends of a free interval are values of two people. "
            "<code>snap</code> in the plan would blur them."
        )
    if facts.get("suppressed_cells") is not None:
        yield _suppressed(material)
    if plan.person is None:
        yield (
            "<b>Rows, not people.</b> The plan names no person key, so k counts rows. If a person has several, a "
            "group may hold fewer "
            "people than rows."
        )
    withheld = facts.count("withheld")
    if withheld:
        yield (
            "<b>Who is missing.</b> It can be read in facts.json that "
            f"{counted(withheld, 'record was', 'records were')} withheld. "
            "Somebody who is known to be in the data but fits no row is among them, and so is rare in something."
        )


def _same_value(material: Material) -> str:
    count = material.facts.count("attribute_disclosures", "count")
    asked = any(material.plan.privacy.demands(column) for column in material.plan.columns("sensitive"))
    if count:
        groups = counted(count, "time a group has", "times a group has")
        return (
            f"<b>What a group has in common.</b> In this release it happens: {groups} a single value of a sensitive "
            "column, so that "
            "value is known of every member."
        )
    luck = "" if asked else " That is luck: the plan does not ask for different values (p, l, t, alpha)."
    return (
        f"<b>What a group has in common.</b> No group of this release has a single value of a sensitive column.{luck}"
    )


def _shares(material: Material) -> str:
    shares = material.facts.numbers("largest_share_of_one_value")
    told = ", ".join(f"{percent(share)} of {name(column)}" for column, share in list(shares.items())[:6])
    return f"The most that one value makes up of a group here: {told}." if told else ""


def _several(material: Material) -> str:
    start = (
        "<b>Several releases.</b> k holds for one. If the same people are in two, comparing them may single some out. "
    )
    if material.plan.republish == "free":
        return (
            start
            + "Nothing in this plan binds a second one of the same table: publish one, or keep it current and audit it."
        )
    rule = escape(material.plan.republish)
    return (
        start
        + f"The plan binds later versions of this release (republish: {rule}), but no other release about these people."
    )


def _suppressed(material: Material) -> str:
    facts = material.facts
    cells = sum(int(number) for number in facts.numbers("suppressed_cells").values())
    least = facts.number("least_rows_for_a_known_person")
    said = (
        f"<b>Cells released as missing.</b> {counted(cells, 'cell is', 'cells are')} empty, and k counts an empty "
        "cell as "
        "matching anything. "
    )
    if least is None:
        return said + "How few rows are left to somebody who knows a person’s values was too much to count."
    few = ", <b>fewer than k</b>" if least < material.plan.privacy.k else ""
    return said + f"Somebody who knows a person’s values is left with {counted(int(least), 'row')} at least{few}."

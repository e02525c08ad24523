"""The third part of a report: what groups give away, how likely people are found, what is not protected against."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from hedgerow.privacy.risks import COMMON_THRESHOLDS, accepted_risk
from hedgerow.reports.charts import bar_chart
from hedgerow.reports.html.markup import KEPT, UNKNOWN, fact, name, state
from hedgerow.reports.material import Material
from hedgerow.reports.reading import Facts
from hedgerow.reports.versions import audit_checks
from hedgerow.reports.wording import ATTACKERS, NONE, percent, shorten

MOST_LISTED = 60


def disclosures(material: Material) -> dict[str, Any]:
    """Which sensitive values can be read off a group, or nearly so."""
    facts = material.facts
    rows = [
        (
            name(column),
            fact(facts, "attribute_disclosures", "by_attribute", column),
            fact(facts, "largest_share_of_one_value", column, form=".1%"),
        )
        for column in material.plan.columns("sensitive")
    ]
    found = facts.get("attribute_disclosures", "listed")
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []
    listed = [pair for pair in pairs[:MOST_LISTED] if isinstance(pair[0], int) and isinstance(pair[1], str)]
    left = max(facts.count("attribute_disclosures", "count"), len(pairs)) - MOST_LISTED  # not all are listed
    shown = Markup(", ").join(Markup("{:,} ({})").format(group, name(column)) for group, column in listed)
    return {"rows": rows, "any": bool(pairs), "shown": shown, "left": left}


def risks(material: Material) -> dict[str, Any]:
    """How likely people are found, by three attackers, against a threshold."""
    threshold, found, facts = material.extras.threshold, material.risks(), material.facts
    if found is None:
        return {"found": None}
    rows = []
    for attacker, who in ATTACKERS.items():
        risk = {what: found[attacker].get(what) for what in ("highest", "average", "share_above_threshold")}
        rows.append((who, *(_risk(threshold, attacker, what, value) for what, value in risk.items())))
    return {
        "found": found,
        "above": found["prosecutor"]["share_above_threshold"],
        "threshold": f"{threshold:g}",
        "size": _size(threshold),
        "rows": rows,
        "population": facts.number("population"),
        "estimated": _estimated(facts),
        **_thresholds(material, threshold),
    }


def _estimated(facts: Facts) -> list[tuple[Any, ...]]:
    """What weights tell of the records as they were, and as they are published."""
    if not isinstance(facts.get("estimated_risk"), dict):
        return []
    rows = (
        ("people whom all records stand for", "people", ",.10g"),
        ("people whom the smallest group stands for", "fewest_people", ",.6g"),
        ("highest chance that a match is right", "highest", ".4f"),
        ("average over the records", "average", ".4f"),
        ("records expected to be found if all are matched", "expected", ",.4g"),
    )
    return [
        (text, fact(facts, "estimated_risk", "before", key, form=form), fact(facts, "estimated_risk", key, form=form))
        for text, key, form in rows
    ]


def _size(threshold: float) -> int | None:
    """Return the size of the smallest group whose risk is not above a threshold."""
    risk = accepted_risk(threshold)
    return -(-risk.denominator // risk.numerator) if risk else None


def _risk(threshold: float, attacker: str, what: str, value: float | None) -> str:
    """Write a risk with where it comes from, for a machine to compare."""
    if value is None:
        return NONE
    shown = percent(value) if what == "share_above_threshold" else f"{value:.4f}"
    source = f"{threshold:g}/{attacker}/{what}"
    return Markup('<data value="{!r}" data-risk="{}">{}</data>').format(value, source, shown)


def _thresholds(material: Material, chosen: float) -> dict[str, Any]:
    """The share of records above the thresholds that are in use."""
    rows, bars = [], []
    for threshold in sorted({*COMMON_THRESHOLDS, chosen}, reverse=True):
        found = material.risks(threshold)
        if found is None:
            continue
        above, size = found["prosecutor"]["share_above_threshold"], _size(threshold)
        rows.append(
            (
                Markup("<b>{:g}</b> (chosen)").format(threshold) if threshold == chosen else f"{threshold:g}",
                UNKNOWN if size is None else f"{size:,}",
                _risk(threshold, "prosecutor", "share_above_threshold", above),
            )
        )
        bars.append((f"threshold {threshold:g}", round(100 * above, 2)))
    title, highlight = "Records above common thresholds", (f"threshold {chosen:g}",)
    chart = bar_chart(bars, title=title, unit="%", most=100, highlight=highlight)
    return {"chart": chart, "thresholds": rows}


def versions(material: Material) -> dict[str, Any] | None:
    """What somebody who holds all versions could learn; nothing for a release without a store."""
    audit = material.extras.audit
    if audit is None:
        return None
    rows = []
    for title, asked, worst, failing, meaning in audit_checks(audit):
        told = state("broken", f"✗ fails for {failing:,}") if failing else "" if failing is None else KEPT
        rows.append((shorten(title, 160), shorten(asked, 160), shorten(worst, 160), told, shorten(meaning, 400)))
    return {"audit": audit, "rows": rows}


def not_protected(material: Material) -> dict[str, Any]:
    """What the promise does not cover, as far as can be with this release’s own numbers."""
    facts, plan = material.facts, material.plan
    sensitive = plan.columns("sensitive")
    return {
        "sensitive": sensitive,
        "others": plan.columns("other"),
        "disclosed": facts.count("attribute_disclosures", "count"),
        "asked": any(plan.privacy.demands(column) for column in sensitive),
        "shares": list(facts.numbers("largest_share_of_one_value").items())[:6],
        "exact": sum(int(number) for number in facts.numbers("exact_end_points").values()),
        "suppresses": facts.get("suppressed_cells") is not None,
        "suppressed": sum(int(number) for number in facts.numbers("suppressed_cells").values()),
        "least": facts.number("least_rows_for_a_known_person"),
        "withheld": facts.count("withheld"),
    }

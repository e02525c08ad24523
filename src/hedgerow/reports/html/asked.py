"""The first part of a report: what was asked and achieved, for whom, under which assumptions, of which columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.privacy.risks import accepted_risk
from hedgerow.reports.column_words import WHY, coarsened
from hedgerow.reports.html.markup import ABOVE, BROKEN, KEPT, WITHIN, fact, name, state
from hedgerow.reports.level_words import limit_words
from hedgerow.reports.material import Material
from hedgerow.reports.wording import NONE, counted, percent, shorten, solved_exactly
from hedgerow.verification import MEANINGS

MOST_TEXT = 160


def summary(material: Material) -> dict[str, Any]:
    """The main numbers, and what was asked beside what was achieved."""
    facts, found = material.facts, material.risks()
    return {
        "share": facts.count("withheld") / max(facts.count("records"), 1),
        "least": "smallest_group_persons" if "smallest_group_persons" in facts.said else "smallest_group",
        "highest": f"{found['prosecutor']['highest']:.3f}" if found else "unknown",
        "rows": list(_asked(material)),
    }


def _asked(material: Material) -> Iterator[tuple[str, str, str, str]]:
    """Yield what was asked and what was achieved."""
    facts, plan = material.facts, material.plan
    for promise in material.promises:
        kept = KEPT if promise["kept"] else BROKEN
        asked, found = (shorten(str(said), MOST_TEXT) for said in (promise["asked"], promise["found"]))
        if promise["name"] == "k":
            yield "every group", f"at least {plan.privacy.k} {material.people}", found, kept
        elif promise["name"] == "units":
            yield "every linked unit", f"at least {plan.privacy.k} units alike, whole", found, kept
        elif promise["name"] in PRIVACY_MODELS.names:
            yield f"sensitive values: {promise['name']}", asked, found, kept
    audit = material.extras.audit
    if audit is not None:
        exposed = "some people are exposed" if audit["leaks"] else "nobody is exposed"
        told = state("above", "! see versions") if audit["leaks"] else KEPT
        yield "holders of all versions", "nobody exposed", exposed, told
    if material.limited:
        asked = f"kept, on {counted(len(material.limited), 'column')}" if plan.keeps_limits else "ignored"
        as_asked = state("above", "! broken as asked") if facts.count("limits_broken") else KEPT
        broken = "limits" in material.broken
        cells = fact(facts, "limits_broken") + " cells beyond their limit"
        yield "limits", asked, cells, BROKEN if broken else as_asked
    if plan.rules:
        kept_rules = sum(rule.get("kept") is True for rule in facts.entries("rules"))
        yield "rules", f"{len(plan.rules):,} wished for", f"{kept_rules:,} kept", ""
    if facts.number("solved_exactly", "records") is not None:
        solved = solved_exactly(facts.count("solved_exactly", "records"), facts.count("released"))
        yield "groups", "as little loss as a search can find", solved, ""
    price = facts.number("units", "ntil_not_linked")
    if price is not None:
        lost = f"{price:.4f} (NTIL) if the same records were not linked, {facts.number('ntil') or 0:.4f} as they are"
        yield "price of the link", "as little as a search can find", lost, ""
    allowed = (
        f"at most {shorten(plan.withhold.at_most, MOST_TEXT)}" if plan.withhold is not None else "as few as possible"
    )
    least = ", the fewest possible within the limits" if material.is_least else ""
    yield "records withheld", allowed, fact(facts, "withheld") + least, ""
    risks, threshold = material.risks(), material.extras.threshold
    if risks is not None:
        highest = risks["prosecutor"]["highest"]
        above = accepted_risk(threshold) < highest - 1e-12
        said = f"{highest:.3f}; {percent(risks['prosecutor']['share_above_threshold'])} of records above"
        yield "risk of being found", f"threshold {threshold:g}", said, ABOVE if above else WITHIN


def assumptions(material: Material) -> dict[str, Any]:
    """What attackers are taken not to know."""
    return {"unknown": material.plan.columns("sensitive", "other")}


def columns(material: Material) -> dict[str, Any]:
    """Every column, what it is taken to be, and what happens to it."""
    plan = material.plan
    roles = {attribute.role for attribute in plan.attributes.values()}
    rows: list[tuple[str, str, str, str]] = [
        (
            name(column),
            state("role", attribute.role),
            coarsened(attribute),
            shorten(limit_words(attribute), 90) if attribute.limit else NONE,
        )
        for column, attribute in plan.attributes.items()
    ]
    if plan.unit is not None:
        drawn = "numbers drawn anew, which link the rows of a unit"
        rows.insert(0, (name(plan.unit.column), "unit", drawn, NONE))
    others = _not_in_plan(material)
    if others:
        rows.append((counted(others, "other column"), "not in the plan", "not released", NONE))
    return {"roles": {role: why for role, why in WHY.items() if role in roles}, "rows": rows}


def _not_in_plan(material: Material) -> int:
    """Count the columns that the plan does not name; their names come from the data, and are not shown."""
    left = material.facts.get("columns_not_released")
    listed = left if isinstance(left, list) else []  # earlier versions listed them too
    unnamed = sum(one not in material.plan.named_columns for one in listed if isinstance(one, str))
    return material.facts.count("columns_not_in_plan") + unnamed


def promises(material: Material) -> dict[str, Any]:
    """Every promise as the check found it."""
    meant = Markup("<b>{}</b><br><small>{}</small>")
    rows = [
        (
            KEPT if promise["kept"] else BROKEN,
            meant.format(promise["name"], shorten(MEANINGS[promise["name"]], 240)),
            shorten(str(promise["asked"]), 240),
            shorten(str(promise["found"]), 300),
        )
        for promise in material.promises
    ]
    told = {name: material.verification.get(name, ()) for name in ("makers_word", "notes")}
    return {"rows": rows, **told}

"""The first part of a report: what was asked and achieved, for whom, under which assumptions, of which columns."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from hedgerow.plan import Attribute
from hedgerow.privacy.risks import accepted_risk
from hedgerow.reports.html_parts import (
    counted,
    items,
    listed,
    name,
    pairs,
    paragraph,
    percent,
    section,
    table,
    words,
)
from hedgerow.reports.material import Material
from hedgerow.verification.result import MEANINGS

KEPT = '<span class="kept">✓ kept</span>'
BROKEN = '<span class="broken">✗ broken</span>'
ABOVE = '<span class="above">! above</span>'
WITHIN = '<span class="kept">✓ within</span>'
MODELS = ("p", "l", "t", "alpha")
WHY = {
    "identifier": "names a person, or could: never read and never released",
    "quasi-identifier": "others may know it of a person: coarsened until groups are large enough",
    "sensitive": "others do not know it and would learn it: released as it is, its spread in groups is looked at",
    "other": "taken to be harmless and unknown to others: released as it is, and not looked at",
}


def verdict(material: Material) -> str:
    """Say first of all whether the promises are kept."""
    demands = words(", ".join(material.demands()), 400)
    broken = len(material.verification.broken)
    if broken:
        names = ", ".join(dict.fromkeys(promise.name for promise in material.verification.broken))
        return (
            '<div class="verdict bad" role="status"><p class="big">BROKEN</p>'
            f"<p>This release does not keep what its plan promises ({demands}): "
            f"{counted(broken, 'promise is', 'promises are')} broken ({words(names)}). "
            "<strong>Do not share it.</strong> Numbers below are what the release says of itself, and may be "
            "wrong.</p></div>"
        )
    ignored = "" if material.plan.keeps_limits else " The limits of the plan were ignored, as it asks."
    return (
        '<div class="verdict good" role="status">'
        f'<p class="big">This release meets {demands} under these assumptions</p>'
        f'<p>An independent check found every promise kept. The <a href="#assumptions">assumptions</a>, and '
        '<a href="#not-protected">what this does not protect against</a>, are part of that '
        f"sentence.{ignored}</p></div>"
    )


def summary(material: Material) -> str:
    """Show the main numbers, and what was asked beside what was achieved."""
    facts, found = material.facts, material.risks()
    share = facts.count("withheld") / max(facts.count("records"), 1)
    persons = "smallest_group_persons" in facts.said
    tiles = [
        (facts.shown("released"), f"records released, of {facts.shown('records')}"),
        (facts.shown("withheld"), f"records withheld ({percent(share)})"),
        (facts.shown("groups"), "groups that readers can tell apart"),
        (
            facts.shown("smallest_group_persons" if persons else "smallest_group"),
            f"{material.people} in the smallest group",
        ),
        (facts.shown("ntil", form=".3f"), "lost, of 1 (NTIL)"),
        (f"{found['prosecutor']['highest']:.3f}" if found else "unknown", "highest risk of being found"),
    ]
    shown = "".join(f'<div class="tile"><b>{number}</b><span>{what}</span></div>' for number, what in tiles)
    return section(
        "summary",
        "Summary",
        f'<div class="tiles">{shown}</div>',
        table(("what", "asked", "achieved", ""), list(_asked(material))),
    )


def _asked(material: Material) -> Iterator[tuple[str, str, str, str]]:
    """Yield what was asked and what was achieved."""
    facts, plan = material.facts, material.plan
    for promise in material.verification.promises:
        if promise.name == "k":
            asked, what = f"at least {plan.privacy.k} {material.people}", "every group"
            yield what, asked, words(str(promise.found)), KEPT if promise.kept else BROKEN
        elif promise.name in MODELS:
            yield (
                f"sensitive values: {promise.name}",
                words(str(promise.asked)),
                words(str(promise.found)),
                KEPT if promise.kept else BROKEN,
            )
    audit = material.extras.audit
    if audit is not None:
        state = '<span class="above">! see versions</span>' if audit["leaks"] else KEPT
        exposed = "some people are exposed" if audit["leaks"] else "nobody is exposed"
        yield "holders of all versions", "nobody exposed", exposed, state
    limited = [column for column in plan.quasi_identifiers if plan.attributes[column].limit is not None]
    if limited:
        asked = f"kept, on {counted(len(limited), 'column')}" if plan.keeps_limits else "ignored"
        cells = facts.shown("limits_broken") + " cells beyond their limit"
        as_asked = KEPT if not facts.count("limits_broken") else '<span class="above">! broken as asked</span>'
        broken = any(promise.name == "limits" for promise in material.verification.broken)
        yield "limits", asked, cells, BROKEN if broken else as_asked
    if plan.rules:
        rules = facts.entries("rules")
        kept = sum(rule.get("kept") is True for rule in rules)
        yield "rules", f"{len(plan.rules):,} wished for", f"{kept:,} kept", ""
    allowed = f"at most {words(plan.withhold.at_most)}" if plan.withhold is not None else "as few as possible"
    least = ", the fewest possible within the limits" if is_least(material) else ""
    yield "records withheld", allowed, facts.shown("withheld") + least, ""
    found = material.risks()
    threshold = material.extras.threshold
    if found is not None:
        highest = found["prosecutor"]["highest"]
        above = accepted_risk(threshold) < highest - 1e-12
        said = f"{highest:.3f}; {percent(found['prosecutor']['share_above_threshold'])} of records above"
        yield "risk of being found", f"threshold {threshold:g}", said, ABOVE if above else WITHIN


def is_least(material: Material) -> bool:
    """Tell whether the facts say that no release within the limits withholds fewer records."""
    facts = material.facts
    return facts.get("withheld_is_least") is True and facts.count("withheld") > 0 and material.plan.keeps_limits


def assumptions(material: Material) -> str:
    """Say what the release is for, who gets it, and what attackers are taken to know."""
    sign_off = material.sign_off
    blank = '<span class="unknown">not stated: see the approval page</span>'
    given = [f"{escape(text)} <em>(added by the owner)</em>" for text in sign_off.assumptions]
    return section(
        "assumptions",
        "Purpose, recipients and assumptions",
        pairs(
            (
                ("Purpose", escape(sign_off.purpose) or blank),
                ("Recipients", escape(sign_off.recipients) or blank),
            )
        ),
        paragraph("The promise holds for attackers of whom all of this is true:"),
        items([*_assumed(material), *given]),
    )


def _assumed(material: Material) -> Iterator[str]:
    plan = material.plan
    yield f"They know at most these columns of a person: {listed(plan.quasi_identifiers)}."
    unknown = plan.columns("sensitive", "other")
    if unknown:
        yield f"They do not know the person’s {listed(unknown)}. If they do, these tell people apart as well."
    if plan.person is None:
        yield "Every record is a person of its own. If a person has several records, k counts that person as often."
    else:
        yield f"Records with the same {name(plan.person)} are the same person, and no others are."
    yield (
        "They hold this release only. With another release about the same people, groups can be compared."
        if plan.republish == "free"
        else f"They may hold every version of this release (republish: {plan.republish}), but no other of these people."
    )
    if plan.missing == "matches-any":
        yield "A missing cell stands for any value, to them as to us."
    yield "They may know that a person is in the data; that is not hidden."


def columns(material: Material) -> str:
    """Show every column, what it is taken to be, and what happens to it."""
    plan = material.plan
    roles = list(dict.fromkeys(attribute.role for attribute in plan.attributes.values()))
    others = _not_in_plan(material)
    rows: list[tuple[str, str, str, str]] = [
        (
            name(column),
            f'<span class="role">{attribute.role}</span>',
            _coarsened(attribute),
            words(attribute.limit.describe(), 90) if attribute.limit else "–",
        )
        for column, attribute in plan.attributes.items()
    ]
    if others:
        many = "1 other column" if others == 1 else f"{others:,} other columns"
        rows.append((many, "not in the plan", "not released", "–"))
    return section(
        "columns",
        "Columns and their roles",
        paragraph("Roles are the owner’s judgement. The promise is only as good as they are."),
        pairs((role, WHY[role]) for role in WHY if role in roles),
        table(("column", "role", "what happens to it", "limit"), rows, more="columns"),
    )


def _not_in_plan(material: Material) -> int:
    """Count the columns that the plan does not name; their names come from the data, and are not shown."""
    left = material.facts.get("columns_not_released")
    listed = left if isinstance(left, list) else []  # earlier versions listed them too
    unnamed = sum(one not in material.plan.named_columns for one in listed if isinstance(one, str))
    return material.facts.count("columns_not_in_plan") + unnamed


def _coarsened(attribute: Attribute) -> str:
    if attribute.role == "identifier":
        return "not released"
    if attribute.role != "quasi-identifier":
        return "released as it is"
    if attribute.free:
        return "ranges of numbers" + (
            f", ends moved to a grid of {words(str(attribute.snap))}" if attribute.snap else ""
        )
    if attribute.hierarchy is None:
        return "its value, or *"
    spec = attribute.hierarchy
    ways = {"tree": "a tree of values", "bands": "bands", "cuts": "ranges between cuts", "prefix": "shorter codes"}
    steps = getattr(spec, spec.kind)
    said = ways.get(spec.kind, "longer periods" if spec.kind == "dates" else spec.kind)
    if spec.kind in ("bands", "prefix", "dates"):
        said += f" ({words(', '.join(map(str, steps)), 60)})"
    return said


def promises(material: Material) -> str:
    """Show every promise as the check found it."""
    rows = [
        (
            KEPT if promise.kept else BROKEN,
            f"<b>{promise.name}</b><br><small>{words(MEANINGS[promise.name], 240)}</small>",
            words(str(promise.asked), 240),
            words(str(promise.found), 300),
        )
        for promise in material.verification.promises
    ]
    with_what = (
        "It had the original table, too, so counts and unchanged values are checked against it."
        if material.extras.compared_with_original
        else "It had the release alone: what only the original can tell was not checked."
    )
    return section(
        "promises",
        "Promises, as the verifier found them",
        paragraph(
            "The verifier shares no code with what made the release. It read the published rows, the plan and the "
            "facts "
            f"again and counted for itself. {with_what}"
        ),
        table(("", "promise", "asked", "found"), rows, more="promises"),
        _makers_word(material),
        *(paragraph(words(note, 300), "note") for note in material.verification.notes),
    )


def _makers_word(material: Material) -> str:
    """Name the facts on this page that nobody but the maker can vouch for."""
    word = material.verification.makers_word
    if not word:
        return ""
    names = ", ".join(f"<code>{escape(name)}</code>" for name in word)
    return paragraph(
        "The maker’s word: these facts, wherever this page shows them, could not be counted again with what the check "
        f"had. {names}.",
        "note",
    )

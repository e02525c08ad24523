"""What two frameworks ask of a release, answered from its facts, or left open for the person who signs.

The three criteria are those of Opinion 05/2014 on anonymisation techniques of the Article 29 Working Party (WP216). The
steps are those of ISO/IEC 27559:2022, the framework for privacy-enhancing data de-identification. Neither is met by
numbers alone: what numbers cannot say is left open, with a box to tick by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hedgerow.privacy.risks import accepted_risk
from hedgerow.reports.html.markup import state
from hedgerow.reports.material import Material
from hedgerow.reports.wording import counted, first_of, percent, shorten

MOST_NAMED = 6
LONGEST = 40
ANSWERED = state("kept", "✓ answered")
LOOK = state("above", "! look")
OPEN = state("open", "☐ yours")
BROKEN = state("broken", "✗ broken")

Row = tuple[str, str, str]


def checklist(material: Material) -> dict[str, Any]:
    """Answer both frameworks as far as facts do."""
    return {"criteria": list(_criteria(material)), "steps": list(_steps(material))}


def _criteria(material: Material) -> Iterator[Row]:
    facts, plan = material.facts, material.plan
    if material.broken:
        for criterion in ("Singling out", "Linkability", "Inference"):
            yield BROKEN, criterion, "A promise of this release is broken: nothing can be said."
        return
    exact = [shorten(column, LONGEST) for column in plan.columns("other", "sensitive")]
    k, people = plan.privacy.k, material.people
    single = f"No row differs from all others in the quasi-identifiers: every group has {k:,} {people} or more."
    if plan.unit is not None:
        single += f" Nor does any linked unit from all others, with all its rows: {k:,} or more are alike."
    if plan.columns("other"):
        others = first_of([shorten(column, LONGEST) for column in plan.columns("other")], MOST_NAMED)
        yield LOOK, "Singling out", f"{single} But whoever knows {others} of a person can do so, as these are exact."
    else:
        yield ANSWERED, "Singling out", single
    linked = (
        f"Joined by its quasi-identifiers, a record of another source meets {k:,} {people} or more here, never one."
    )
    if material.extras.audit is not None:
        leaks = material.extras.audit["leaks"]
        told = "Some people are exposed" if leaks else "Nobody is exposed"
        yield LOOK if leaks else ANSWERED, "Linkability", f"{linked} {told} to holders of all versions."
    else:
        which = f" Joined by {first_of(exact, MOST_NAMED)}, which are exact, it may meet one." if exact else ""
        rest = " Which other data about these people the recipients hold, only you can say."
        yield OPEN, "Linkability", linked + which + rest
    yield _inference(material, facts.count("attribute_disclosures", "count"))


def _inference(material: Material, single: int) -> Row:
    facts, plan = material.facts, material.plan
    sensitive = plan.columns("sensitive")
    if not sensitive:
        return OPEN, "Inference", "The plan calls no column sensitive: whether none is, only you can say."
    shares = facts.numbers("largest_share_of_one_value")
    most = f" The likeliest value is right for at most {percent(max(shares.values()))} of a group." if shares else ""
    if single:
        return (
            LOOK,
            "Inference",
            f"{counted(single, 'group tells', 'groups tell')} a sensitive value for certain.{most}",
        )
    asked = [column for column in sensitive if plan.privacy.demands(column)]
    if len(asked) == len(sensitive):
        promised = ", ".join(material.demands()[1:])
        return ANSWERED, "Inference", f"No group has a single sensitive value, as is promised ({promised}).{most}"
    return LOOK, "Inference", f"No group has a single sensitive value, but the plan does not promise it.{most}"


def _steps(material: Material) -> Iterator[Row]:
    sign_off, plan, facts = material.sign_off, material.plan, material.facts
    risks, threshold = material.risks(), material.extras.threshold
    yield _given("Context: recipients", sign_off.recipients, "Who gets it, and how well they guard it?")
    yield _given(
        "Context: purpose and legal basis",
        _joined(sign_off.purpose, sign_off.legal_basis),
        "What for, and on what legal basis?",
    )
    assumed = (
        f"What attackers are taken to know stands in this report ({counted(len(plan.quasi_identifiers), 'column')})."
    )
    yield OPEN, "Context: threats", f"{assumed} Whether that is true of these recipients, only you can say."
    yield OPEN, "Context: transparency", "Have the people concerned been told, and what could it mean for them?"
    roles = [
        f"{number:,} {role}"
        for role in ("identifier", "quasi-identifier", "sensitive", "other")
        if (number := len(plan.columns(role)))
    ]
    kind = f"Columns by role: {', '.join(roles)}."
    yield (
        ANSWERED,
        "Data: features",
        f"{kind} {counted(facts.count('records'), 'record')} before, {facts.count('released'):,} released.",
    )
    if risks is None or material.broken:
        yield LOOK, "Identifiability: measured", "The risks are unknown."
    else:
        highest = risks["prosecutor"]["highest"]
        above = risks["prosecutor"]["share_above_threshold"]
        told = f"Highest risk {highest:.3f}, threshold {threshold:g}; {percent(above)} of the records are above it."
        beyond = accepted_risk(threshold) < highest - 1e-12
        yield LOOK if beyond else ANSWERED, "Identifiability: measured", told
    promised = "not every promise is kept" if material.broken else "checked independently"
    yield BROKEN if material.broken else ANSWERED, "Mitigation", f"{', '.join(material.demands())}; {promised}."
    who = _joined(sign_off.approver, sign_off.role)
    yield _given("Governance: who answers for it", who, "Who approves, in what role?")
    yield _given("Governance: review", sign_off.review_by, "When is the next review?")
    yield OPEN, "Governance: incidents", "What is done if somebody is re-identified anyway?"


def _given(step: str, text: str, question: str) -> Row:
    return (ANSWERED, step, shorten(text, 200)) if text else (OPEN, step, question)


def _joined(*texts: str) -> str:
    """Join texts if all of them are given."""
    return "; ".join(texts) if all(texts) else ""

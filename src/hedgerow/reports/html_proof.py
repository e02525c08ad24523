"""The last part of a report: fingerprints of what it is about, and the page to be signed."""

from __future__ import annotations

from html import escape

from hedgerow.reports.html_parts import counted, marked, pairs, paragraph, section, table, words
from hedgerow.reports.material import Material
from hedgerow.version import __version__

CHECKLIST = (
    "The roles of the columns are right: nothing else in the release is known to others about a person.",
    "The recipients, and who they may pass it on to, are as stated.",
    "No other release about the same people is held by the recipients, or that was considered.",
    "The remaining risks in this report are acceptable for the purpose.",
    "The original, and the private link table if there is one, stay where they are.",
)


def evidence(material: Material) -> str:
    """Show what exactly the report is about: fingerprints, version, method, seed."""
    facts, plan = material.facts, material.plan
    stated = facts.text("plan")
    same = stated == plan.digest()
    agrees = "as facts.json says" if same else '<span class="broken">not what facts.json says</span>'
    digest = marked(stated, stated, ("plan",)) if same else words(plan.digest(), 90)
    about = [
        ("plan, hierarchies included", f"<code>{digest}</code> ({agrees})"),
        (
            "method",
            f"{marked(facts.text('method'), facts.text('method'), ('method',))}, seed {facts.shown('seed', form='d')}",
        ),
        ("made with", f"Hedgerow {words(facts.text('version') or 'of unknown version', 40)}"),
        ("checked and reported with", f"Hedgerow {__version__}"),
    ]
    digests = list(material.extras.digests)
    rows = [(f"<code>{words(one.name, 80)}</code>", f"{one.size:,}", f"<code>{one.sha256}</code>") for one in digests]
    return section(
        "evidence",
        "Fingerprints",
        paragraph("This report is about exactly these files. If a fingerprint differs, it is about something else."),
        pairs(about),
        table(("file", "bytes", "SHA-256"), rows, more="files")
        if rows
        else paragraph("The rows are not in a file.", "note"),
    )


def approval(material: Material) -> str:
    """Draw the page that somebody signs."""
    sign_off, facts = material.sign_off, material.facts
    if material.verification.kept:
        text = (
            f"The release “{words(material.extras.name, 80)}”, {counted(facts.count('released'), 'record')}, meets "
            f"{words(', '.join(material.demands()), 300)} under the assumptions in this report. It was checked "
            "independently, and every "
            "promise was found kept."
        )
    else:
        text = '<strong class="broken">BROKEN.</strong> Not every promise is kept. This release must not be approved.'
    data = next((one for one in material.extras.digests if one.name.startswith("data.")), None)
    fields = (
        ("Purpose", sign_off.purpose),
        ("Recipients", sign_off.recipients),
        ("Approver", sign_off.approver),
        ("Role", sign_off.role),
        ("Date", sign_off.date),
        ("Review by", sign_off.review_by),
        ("Signature", ""),
    )
    lines = "".join(
        f'<div class="field"><span>{title}</span><span class="line">{escape(value)}</span></div>'
        for title, value in fields
    )
    checks = "".join(f"<li>{point}</li>" for point in CHECKLIST)
    proof = f'<p class="note">Plan <code>{words(material.plan.digest(), 90)}</code>'
    proof += f"<br>{words(data.name, 80)} <code>sha256:{data.sha256}</code></p>" if data else "</p>"
    return section(
        "approval",
        "Approval",
        paragraph(text),
        f'<ul class="checklist">{checks}</ul>',
        f'<div class="fields">{lines}</div>',
        proof,
    )

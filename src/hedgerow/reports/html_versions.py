"""The part of a report about versions: what somebody who holds them all could learn."""

from __future__ import annotations

from hedgerow.reports.html_parts import counted, paragraph, section, table, words
from hedgerow.reports.material import Material
from hedgerow.reports.release_terminal import audit_checks


def versions(material: Material) -> str:
    """Show the audit of all versions of a maintained release; nothing for a release without a store."""
    audit = material.extras.audit
    if audit is None:
        return ""
    rows = []
    for title, asked, worst, failing, meaning in audit_checks(audit):
        state = "" if failing is None else '<span class="kept">✓ kept</span>'
        if failing:
            state = f'<span class="broken">✗ fails for {failing:,}</span>'
        rows.append((words(title), words(asked), words(worst), state, words(meaning, 400)))
    there = counted(audit["versions"], "version")
    about = f"This is version {audit['version']:,} of {there} of a release that is kept current."
    verdict = (
        "Nobody is exposed by holding all of them."
        if not audit["leaks"]
        else "Some people are exposed to whoever holds all of them."
    )
    return section(
        "versions",
        "All versions together",
        paragraph(
            f"{about} Everybody is assumed to hold every version. {verdict}", "" if not audit["leaks"] else "broken"
        ),
        table(("what", "asked", "the least or worst found", "", "what it means"), rows),
    )

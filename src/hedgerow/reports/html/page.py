"""A release, told on one page that needs nothing else: to be read, printed and signed.

Everything on it is computed from the facts, the plan and the check of a release, and from what its owner adds. It holds
no script and fetches nothing. What is endless is cut, so the page stays below a megabyte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from hedgerow.plan import Plan
from hedgerow.reports.html import analyses, asked, checklist, glossary, limits, lost, proof, risks
from hedgerow.reports.html.rendering import render
from hedgerow.reports.material import Extras, Material
from hedgerow.reports.reading import Facts
from hedgerow.reports.sign_off import SignOff
from hedgerow.reports.wording import shorten
from hedgerow.version import __version__

SECTIONS: dict[str, tuple[str, Callable[[Material], dict[str, Any] | None]]] = {
    "summary": ("Summary", asked.summary),
    "assumptions": ("Assumptions", asked.assumptions),
    "columns": ("Columns", asked.columns),
    "promises": ("Promises", asked.promises),
    "groups": ("Group sizes", lost.groups),
    "loss": ("Loss and value", lost.losses),
    "analyses": ("Analyses", analyses.analyses),
    "limits": ("Limits", limits.limits),
    "withheld": ("Withheld", lost.withheld),
    "rules": ("Rules", lost.rules),
    "disclosures": ("Disclosures", risks.disclosures),
    "risks": ("Risks", risks.risks),
    "versions": ("Versions", risks.versions),
    "not-protected": ("Not protected", risks.not_protected),
    "checklist": ("Checklist", checklist.checklist),
    "glossary": ("Words and measures", glossary.glossary),
    "evidence": ("Fingerprints", proof.evidence),
    "approval": ("Approval", proof.approval),
}
"""By key, which is also the name of its template: the title in the contents, and what tells what the template needs."""


def report_html(
    facts: Mapping[str, Any],
    plan: Plan,
    verification: Mapping[str, Any],
    sign_off: SignOff | None = None,
    extras: Extras | None = None,
) -> str:
    """Write the report of a release as one HTML page.

    Parameters
    ----------
    facts
        As in ``facts.json``.
    plan
        The plan that the release was made with.
    verification
        What the check of the release found, as :meth:`hedgerow.verification.Verification.to_dict` writes it.
    sign_off
        What the page to be signed says.
    extras
        Name, threshold, fingerprints and what was measured beside.

    Returns
    -------
    str
        The page. Numbers that are facts are ``<data value="…" data-fact="…">``, by JSON pointer.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> page = report_html({"records": 4}, plan, {"promises": [{"name": "k", "asked": 2, "found": 2, "kept": True}]})
    >>> '<data value="4" data-fact="records">4</data>' in page
    True
    """
    material = Material(Facts(facts), plan, verification, sign_off or SignOff(), extras or Extras())
    drawn = {key: section_html(key, material) for key in SECTIONS}
    more = {
        "contents": [(key, SECTIONS[key][0]) for key in SECTIONS if drawn[key]],
        "sections": [section for section in drawn.values() if section],
        "style": Markup(files("hedgerow.reports.html").joinpath("report.css").read_text(encoding="utf-8")),
        "foot": Markup(_foot(material)),
        "about": proof.about(material),
        "version": __version__,
    }
    return str(render("page", material, more)) + "\n"


def section_html(key: str, material: Material) -> Markup:
    """Draw one section of a report; nothing if this release has none of it."""
    more = SECTIONS[key][1](material)
    return Markup() if more is None else render(key, material, more)


def _foot(material: Material) -> str:
    """Write what stands at the foot of every printed page: what the report is about, and its fingerprint."""
    text = f"{shorten(material.title, 60)} · {material.fingerprint[:23]}…"
    return f'@page {{ @bottom-left {{ content: "{_css_text(text)}"; }} }}'


def _css_text(text: str) -> str:
    r"""Write a text for a string of CSS: whatever is not a plain letter, digit or space as its number.

    Examples
    --------
    >>> _css_text('a 1"</style>')
    'a 1\\22 \\3c \\2f style\\3e '
    """
    return "".join(one if one == " " or (one.isascii() and one.isalnum()) else f"\\{ord(one):x} " for one in text)

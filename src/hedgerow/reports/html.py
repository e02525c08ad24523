"""A release, told on one page that needs nothing else: to be read, printed and signed.

Everything on it is computed from the facts, the plan and the check of a release, and from what its owner adds. It holds
no script and fetches nothing. What is endless is cut, so the page stays below a megabyte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from hedgerow.plan import Plan
from hedgerow.reports import html_asked, html_limits, html_lost, html_proof, html_risks, html_versions
from hedgerow.reports.html_parts import Facts, shorten
from hedgerow.reports.material import Extras, Material, SignOff
from hedgerow.verification import Verification
from hedgerow.version import __version__

SECTIONS: tuple[tuple[str, str, Callable[[Material], str]], ...] = (
    ("summary", "Summary", html_asked.summary),
    ("assumptions", "Assumptions", html_asked.assumptions),
    ("columns", "Columns", html_asked.columns),
    ("promises", "Promises", html_asked.promises),
    ("groups", "Group sizes", html_lost.groups),
    ("loss", "Loss and value", html_lost.losses),
    ("limits", "Limits", html_limits.limits),
    ("withheld", "Withheld", html_lost.withheld),
    ("rules", "Rules", html_lost.rules),
    ("disclosures", "Disclosures", html_risks.disclosures),
    ("risks", "Risks", html_risks.risks),
    ("versions", "Versions", html_versions.versions),
    ("not-protected", "Not protected", html_risks.not_protected),
    ("evidence", "Fingerprints", html_proof.evidence),
    ("approval", "Approval", html_proof.approval),
)


def report_html(
    facts: Mapping[str, Any],
    plan: Plan,
    verification: Verification,
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
        What the check of the release found.
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
    >>> from hedgerow.verification.result import Promise
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> page = report_html({"records": 4}, plan, Verification((Promise("k", 2, 2, kept=True),)))
    >>> '<data value="4" data-fact="records">4</data>' in page
    True
    """
    material = Material(Facts(facts), plan, verification, sign_off or SignOff(), extras or Extras())
    drawn = [(key, title, draw(material)) for key, title, draw in SECTIONS]
    contents = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title, body in drawn if body)
    private = "; but what was measured on the original is for its owner" if material.extras.limit_effects else ""
    title = f"Report of {shorten(material.extras.name, 80)}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{style()}</style></head>\n"
        f'<body><header><p class="kind">Release report</p><h1>{escape(shorten(material.extras.name, 80))}</h1>'
        f'{html_asked.verdict(material)}<nav aria-label="Contents"><ol>{contents}</ol></nav></header>\n'
        f"<main>{chr(10).join(body for _, _, body in drawn if body)}</main>\n"
        f"<footer><p>Written by Hedgerow {escape(__version__)} from facts.json, plan.yaml and a check of the "
        "release. It holds no "
        "values of records"
        f"{private}.</p></footer>"
        "</body></html>\n"
    )


def style() -> str:
    """Return the style of the page."""
    return files("hedgerow.reports").joinpath("report.css").read_text(encoding="utf-8")

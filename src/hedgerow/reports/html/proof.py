"""The last part of a report: fingerprints of what it is about, and the page to be signed."""

from __future__ import annotations

from typing import Any

from hedgerow.reports.html.markup import code, marked
from hedgerow.reports.material import Material
from hedgerow.reports.wording import shorten
from hedgerow.version import __version__


def evidence(material: Material) -> dict[str, Any]:
    """What exactly the report is about: fingerprints, version, method, seed."""
    facts, plan = material.facts, material.plan
    stated, method = facts.text("plan"), facts.text("method")
    same = stated == plan.digest()
    return {
        "same": same,
        "digest": marked(stated, stated, ("plan",)) if same else shorten(plan.digest(), 90),
        "method": marked(method, method, ("method",)),
        "made_with": facts.text("version") or "of unknown version",
        "version": __version__,
        "rows": [(code(shorten(one.name, 80)), f"{one.size:,}", code(one.sha256)) for one in material.extras.digests],
    }


def approval(material: Material) -> dict[str, Any]:
    """The page that somebody signs."""
    sign_off = material.sign_off
    return {
        "data": material.data,
        "fields": {
            "Purpose": sign_off.purpose,
            "Legal basis": sign_off.legal_basis,
            "Recipients": sign_off.recipients,
            "Approver": sign_off.approver,
            "Role": sign_off.role,
            "Date": sign_off.date,
            "Review by": sign_off.review_by,
            "Signature": "",
        },
    }


def about(material: Material) -> list[tuple[str, str]]:
    """What the release is and whose, as far as it was told."""
    sign_off = material.sign_off
    told = {
        "Organisation": sign_off.organisation,
        "Made from": sign_off.source,
        "Time covered": " to ".join(sign_off.covers or ()),
        "Version": sign_off.version,
        "Date": sign_off.date,
        "Contact": sign_off.contact,
    }
    return [(title, text) for title, text in told.items() if text]

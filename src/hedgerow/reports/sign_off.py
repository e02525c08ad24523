"""What people add to a report: what it is about, what for, on what ground, who approves, how catalogues describe it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from hedgerow.errors import HedgerowError, Problem

MOST_ASSUMPTIONS = 30
MOST_LETTERS = 1000
DAY = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
CODE = re.compile(r"[A-Za-z0-9_-]{1,60}")
ACCESS = ("public", "restricted", "non-public")
CATALOGUE = {
    "access": "who may have it: public, restricted or non-public",
    "access-url": "web address where it can be had or asked for",
    "legislation": "web address of the law it is held under, such as http://data.europa.eu/eli/reg/2025/327/oj",
    "licence": "web address of the licence",
    "theme": "code of the EU data theme, such as HEAL",
    "health-category": "code of the category of the European Health Data Space, such as EHRS",
    "access-body": "name of the health data access body",
    "access-body-contact": "its e-mail or web address",
}
"""What catalogues want to know of a release that neither its facts nor its plan say."""


@dataclass(frozen=True)
class SignOff:
    """What people add to a report; whatever is left out is a blank line on the page.

    Attributes
    ----------
    purpose, recipients
        What the release is for, and who gets it.
    approver, role
        Who approves of it, and as what.
    date, review_by
        Days, as 2026-11-15: of the approval, and until which it must be looked at again.
    assumptions
        What is assumed about attackers, beyond what follows from the plan.
    title, organisation, source, version
        What the release is called, who releases it, which table it was made from, and its version.
    period
        What time the records cover, as 2019/2023 or 2019-01-01/2023-12-31.
    legal_basis
        On what legal ground it is released.
    contact
        E-mail or web address for questions.
    catalogue
        What catalogues want to know besides, by the keys of ``CATALOGUE``.

    Examples
    --------
    >>> SignOff(purpose="teaching", review_by="2027-01-31").review_by
    '2027-01-31'
    """

    purpose: str = ""
    recipients: str = ""
    approver: str = ""
    role: str = ""
    date: str = ""
    review_by: str = ""
    assumptions: Sequence[str] = ()
    title: str = ""
    organisation: str = ""
    source: str = ""
    period: str = ""
    version: str = ""
    legal_basis: str = ""
    contact: str = ""
    catalogue: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = [*self.assumptions, *self.catalogue.values()]
        texts += [value for value in vars(self).values() if isinstance(value, str)]
        if len(self.assumptions) > MOST_ASSUMPTIONS or any(len(text) > MOST_LETTERS for text in texts):
            message = (
                f"A sign-off has at most {MOST_ASSUMPTIONS} assumptions, and no text above {MOST_LETTERS} letters."
            )
            raise HedgerowError(Problem("usage", message, hint="name a document that says more"))
        for name in ("date", "review_by"):
            day = getattr(self, name)
            try:
                if day:
                    object.__setattr__(self, name, date.fromisoformat(str(day)).isoformat())
            except ValueError:
                raise _refused(name, "must be a day", str(day), "write it as 2026-11-15") from None
        first, slash, last = self.period.partition("/")
        if self.period and not (slash and DAY.fullmatch(first) and DAY.fullmatch(last) and first <= last):
            raise _refused("period", "must be two dates, the earlier one first", self.period, "write it as 2019/2023")
        if self.contact and not (address(self.contact)):
            raise _refused("contact", "must be an e-mail or web address", self.contact, "write it as data@example.org")
        for name, text in self.catalogue.items():
            _check_catalogue(name, text)

    @property
    def covers(self) -> tuple[str, str] | None:
        """The first and the last day, month or year that the records cover."""
        first, slash, last = self.period.partition("/")
        return (first, last) if slash else None


def address(text: str) -> str:
    """Return an e-mail or web address as a link; empty if it is none.

    Examples
    --------
    >>> address("data@example.org"), address("https://example.org/ask"), address("ask Ann")
    ('mailto:data@example.org', 'https://example.org/ask', '')
    """
    if re.fullmatch(r"[^\s@<>\"]+@[^\s@<>\"]+", text):
        return f"mailto:{text}"
    return text if WEB.fullmatch(text) else ""


def _check_catalogue(name: str, text: str) -> None:
    if name not in CATALOGUE:
        hint = "one of " + ", ".join(CATALOGUE)
        raise HedgerowError(Problem("usage", f"Catalogues are not told of {name[:40]!r}.", hint=hint))
    if name == "access" and text not in ACCESS:
        raise _refused(name, "must be public, restricted or non-public", text, "choose one of the three")
    if name in ("access-url", "legislation", "licence") and not WEB.fullmatch(text):
        raise _refused(name, "must be a web address", text, "write it as https://example.org/…")
    if name in ("theme", "health-category") and not (CODE.fullmatch(text) or WEB.fullmatch(text)):
        raise _refused(name, "must be a code or a web address", text, CATALOGUE[name])
    if name == "access-body-contact" and not address(text):
        raise _refused(name, "must be an e-mail or web address", text, "write it as data@example.org")


def _refused(name: str, what: str, text: str, hint: str) -> HedgerowError:
    shown = name.replace("_", "-")
    return HedgerowError(
        Problem("usage", f"The {shown!r} of the sign-off {what}. Got {text[:40]!r} instead.", hint=hint)
    )

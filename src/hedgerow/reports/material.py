"""What a report is made of: facts, plan and check of a release; what its owner adds; what was measured beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hedgerow.plan import Plan
from hedgerow.plan.audiences import USUAL
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.reports.reading import Facts
from hedgerow.reports.sign_off import SignOff
from hedgerow.reports.verdict import Verdict, risks_of_facts, verdict_of

USUAL_THRESHOLD = USUAL.threshold
Audience = Literal["public", "internal"]
"""Who a report is for: whoever holds the release, or its owner, who may see what was measured on the original."""


@dataclass(frozen=True)
class Digest:
    """A fingerprint (SHA-256) of a file that the report is about."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Extras:
    """What is neither in the facts nor in the plan.

    Attributes
    ----------
    name
        What the release is called.
    threshold
        The risk that is just acceptable.
    digests
        Fingerprints of the files of the release.
    limit_effects
        What releases without each limit came to, as :class:`~hedgerow.evaluation.limit_effects.LimitEffect` writes it;
        private.
    compared_with_original
        Whether the check had the original.
    audit
        What holders of all versions could learn, as :class:`hedgerow.maintenance.audit.audit.Audit` writes it, with the
        number of this ``version`` and how many ``versions`` there are; None for a release that is not from a store.
    analyses
        What analyses come to before and after, as :class:`hedgerow.evaluation.analysing.Utility` writes it; private.
    audience
        Who the report is for.
    """

    name: str = "release"
    threshold: float = USUAL_THRESHOLD
    digests: Sequence[Digest] = ()
    limit_effects: Sequence[Mapping[str, Any]] = ()
    compared_with_original: bool = False
    audit: Mapping[str, Any] | None = None
    analyses: Mapping[str, Any] | None = None
    audience: Audience = "public"


@dataclass(frozen=True)
class Material:
    """Everything that the sections of a report draw from; ``verification`` as plain data."""

    facts: Facts
    plan: Plan
    verification: Mapping[str, Any]
    sign_off: SignOff = field(default_factory=SignOff)
    extras: Extras = field(default_factory=Extras)

    @property
    def people(self) -> str:
        """What k counts."""
        return "records" if self.plan.person is None else "persons"

    @property
    def title(self) -> str:
        """What the release is called."""
        return self.sign_off.title or self.extras.name

    @property
    def data(self) -> Digest | None:
        """The fingerprint of the rows, if they are in a file or folder."""
        return next((one for one in self.extras.digests if one.name.startswith("data.")), None)

    @property
    def fingerprint(self) -> str:
        """What tells this release from every other: that of its rows, or of its plan where these are in no file."""
        return self.plan.digest() if self.data is None else f"sha256:{self.data.sha256}"

    @property
    def promises(self) -> list[Mapping[str, Any]]:
        """Every promise as the check found it."""
        return list(self.verification["promises"])

    @property
    def broken(self) -> list[str]:
        """The names of the promises that are not kept, in the order of the check; a name may stand there twice."""
        return [promise["name"] for promise in self.promises if not promise["kept"]]

    @property
    def limited(self) -> list[str]:
        """The columns with a limit."""
        return [column for column in self.plan.quasi_identifiers if self.plan.attributes[column].limit is not None]

    @property
    def is_least(self) -> bool:
        """Whether the facts say that no release within the limits withholds fewer records."""
        said = self.facts.get("withheld_is_least") is True and self.facts.count("withheld") > 0
        return said and self.plan.keeps_limits

    def risks(self, threshold: float | None = None) -> dict[str, Any] | None:
        """Return the risks of the three attackers, or None if the facts do not say enough."""
        return risks_of_facts(self.facts, self.extras.threshold if threshold is None else threshold)

    def demands(self) -> list[str]:
        """What is promised of every group, as short as can be."""
        return demands_of(self.plan)

    @property
    def verdict(self) -> Verdict:
        """Whether the promises are kept, and what remains."""
        return verdict_of(self.facts, self.plan, self.broken, self.extras.threshold)


def demands_of(plan: Plan) -> list[str]:
    """Say what a plan asks of every group, as short as can be.

    Examples
    --------
    >>> attributes = {"sex": "quasi-identifier", "illness": "sensitive"}
    >>> demands_of(Plan.from_dict({"attributes": attributes, "privacy": {"k": 5, "p": 2, "alpha": {"illness": 0.5}}}))
    ['k = 5', 'p = 2', 'alpha = 0.5 for illness']
    >>> demands_of(Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 3, "k_map": 20}}))
    ['k = 3', 'k_map = 20']
    """
    found = [f"k = {plan.privacy.k}"]
    for model in PRIVACY_MODELS:
        for column, demand in plan.privacy.asked.get(model.name, {}).items():
            said = model.said(demand)
            if said:
                found.append(said if column == "*" else f"{said} for {column}")
    privacy = plan.privacy
    if privacy.k_map is not None:
        found.append(f"k_map = {privacy.k_map}" + (" estimated by weights" if plan.estimates_k_map else ""))
    if privacy.presence is not None:
        found.append(f"presence from {privacy.presence.at_least} to {privacy.presence.at_most}")
    return found

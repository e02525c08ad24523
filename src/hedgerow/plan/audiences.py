"""Who a release is for, and what is usually promised to them: numbers to begin with, each with where it comes from.

A preset is no key of a plan: it fills in ``privacy``, ``withhold`` and ``threshold``, all of which can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.plan.plan import Plan


@dataclass(frozen=True)
class Audience:
    """People who get a release.

    Attributes
    ----------
    name, title, who
        What it is called in code and on a screen, and who belongs to it.
    k
        People in a group at least.
    values
        Different sensitive values in a group at least.
    threshold
        Risk of being found that is just acceptable: 1 / k, as its source writes it.
    withhold
        Share of records that may be withheld. No source gives one: it is our suggestion.
    source
        Where k and the threshold come from.
    """

    name: str
    title: str
    who: str
    k: int
    values: int
    threshold: float
    withhold: str
    source: str

    def keys(self, plan: Plan) -> dict[str, Any]:
        """Return the keys of a plan that are for this audience; demands of other kinds stay as they are."""
        privacy = {name: part for name, part in plan.to_dict()["privacy"].items() if name != "p"}
        diverse = {"p": self.values} if plan.columns("sensitive") else {}
        return {
            "privacy": {**privacy, "k": self.k, **diverse},
            "withhold": self.withhold,
            "threshold": str(self.threshold),
        }

    def is_for(self, plan: Plan) -> bool:
        """Tell whether a plan asks exactly what this preset does."""
        asked = {column: plan.privacy.demands(column) for column in plan.columns("sensitive")}
        return (
            plan.privacy.k == self.k
            and all(demands.get("p") == self.values for demands in asked.values())
            and plan.withhold is not None
            and plan.withhold.at_most == self.withhold
            and plan.accepted == self.threshold
        )


AUDIENCES: Mapping[str, Audience] = {
    audience.name: audience
    for audience in (
        Audience(
            "inside",
            "Inside the organisation",
            "Colleagues who are bound to secrecy and work where access is controlled and logged.",
            3,
            2,
            0.33,
            "10%",
            "Statistical offices publish no cell of fewer than 3 to 10 people; 3 is the least that is in use "
            "(Hundepool et al., Statistical Disclosure Control, 2012).",
        ),
        Audience(
            "partners",
            "Research partners under contract",
            "Named people outside who have signed that they will not look for anybody, nor pass the table on.",
            5,
            2,
            0.2,
            "5%",
            "0.2, groups of 5, is what experts commonly accept under HIPAA where a contract forbids re-identification "
            "(El Emam and Arbuckle, Anonymizing Health Data, 2013).",
        ),
        Audience(
            "public",
            "Public",
            "Anybody: the table can be downloaded, and never be called back.",
            11,
            3,
            0.09,
            "5%",
            "0.09, groups of 11, is what EMA Policy 0070 and Health Canada ask of clinical data that anybody may read.",
        ),
    )
}
USUAL = AUDIENCES["partners"]
"""Whom a draft is for, and whose threshold holds where a plan names none: so the usual k and threshold agree."""

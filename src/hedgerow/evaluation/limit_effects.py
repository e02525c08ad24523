"""What each limit did: the same table released with all limits, and without each of them.

Measured on the original records, and so for the owner's eyes. Nothing is published, and nothing need be verified: only
what is lost and withheld is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow import measures
from hedgerow.anonymization.lattice import Patience
from hedgerow.anonymization.solving import solve
from hedgerow.errors import NoSolution
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.types import Progress, silent


@dataclass(frozen=True)
class Outcome:
    """What a release came to.

    Attributes
    ----------
    withheld
        Records withheld.
    loss
        Total loss (NTIL).
    share_lost
        Share of each column that was lost.
    """

    withheld: int
    loss: float
    share_lost: dict[str, float]


@dataclass(frozen=True)
class LimitEffect:
    """What the limits of one attribute did.

    Attributes
    ----------
    attribute, limit
        The column and its limit, in words.
    kept, lifted
        What the release came to with all limits, and without this one.
    problem
        Why there is no release without it, if there is none.
    """

    attribute: str
    limit: str
    kept: Outcome
    lifted: Outcome | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: ``withheld``, ``loss`` and the column's ``share_lost``, each ``with`` and ``without``."""
        found: dict[str, Any] = {"attribute": self.attribute, "limit": self.limit}
        if self.lifted is None:
            return {**found, "problem": self.problem}
        kept, lifted, name = self.kept, self.lifted, self.attribute
        return {
            **found,
            "withheld": {"with": kept.withheld, "without": lifted.withheld},
            "loss": {"with": kept.loss, "without": lifted.loss},
            "share_lost": {"with": kept.share_lost[name], "without": lifted.share_lost[name]},
        }


def measure_limits(microdata: Microdata, plan: Plan, tell: Progress = silent) -> tuple[LimitEffect, ...]:
    """Find releases with all limits and without those of each attribute, in the plan's order.

    Parameters
    ----------
    microdata, plan
        The encoded table, under the plan that it is released with.
    tell
        Called before each release, with what is done.

    Returns
    -------
    tuple of LimitEffect
        One for each quasi-identifier with a limit; none if the plan ignores limits.

    Raises
    ------
    NoSolution
        If there is no release with all limits.
    """
    limited = [name for name in plan.quasi_identifiers if plan.attributes[name].limit is not None]
    if not limited or not plan.keeps_limits:
        return ()
    tell("measuring limits", 0, len(limited) + 1)
    kept = outcome(microdata, plan)
    effects = []
    for number, name in enumerate(limited):
        tell(f"without the limit of {name}", number + 1, len(limited) + 1)
        limit = plan.attributes[name].limit
        assert limit is not None
        lifted = without_limit_of(plan, name)
        try:
            effects.append(LimitEffect(name, limit.describe(), kept, outcome(microdata.under(lifted), lifted)))
        except NoSolution as error:
            problem = " ".join(problem.message for problem in error.problems)
            effects.append(LimitEffect(name, limit.describe(), kept, problem=problem))
    return tuple(effects)


def without_limit_of(plan: Plan, name: str) -> Plan:
    """Return the plan without the limit of one column.

    Examples
    --------
    >>> age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 1}}
    >>> plan = Plan.from_dict({"attributes": {"age": age}, "privacy": {"k": 5}})
    >>> without_limit_of(plan, "age")
    Plan(k=5, quasi-identifiers: age)
    """
    lifted = plan.attributes[name].model_copy(update={"limit": None})
    return plan.model_copy(update={"attributes": {**plan.attributes, name: lifted}})


def outcome(microdata: Microdata, plan: Plan, patience: Patience | None = None) -> Outcome:
    """Find a release, and say what it came to."""
    recoding = solve(microdata, plan, patience=patience).recoding
    losses = measures.loss_by_attribute(microdata, recoding)
    exact = measures.share_lost_by_attribute(microdata, losses)
    shares = {name: round(float(share), 12) for name, share in exact.items()}
    ntil = round(float(measures.ntil(microdata, recoding)), 12)
    return Outcome(microdata.records - recoding.released, ntil, shares)

"""What the owner sees of proposed limits: the limits, what they keep, and what they cost, alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from hedgerow.anonymization.explanation import find_causes, look_ahead
from hedgerow.errors import HedgerowError, Problem, did_you_mean
from hedgerow.evaluation.tightening.columns import Classes, NumberClasses, TreeClasses, classes_of
from hedgerow.evaluation.tightening.search import tighten
from hedgerow.microdata import Microdata
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Limit, Plan, Withhold
from hedgerow.plan.hierarchy.numbers import Number, number_label
from hedgerow.privacy import Requirement
from hedgerow.types import Progress, silent

USUAL_SHARE = "5%"
"""Records that may be withheld if nobody says how many."""
PROPOSING = "proposing limits"
MOST_TOLD = 4
"""Cuts that the words list one by one."""


@dataclass(frozen=True)
class ProposedLimit:
    """The limit proposed for one attribute.

    Attributes
    ----------
    limit
        The limit; None if every one there is would withhold too many, or would not pay.
    keeps
        What it keeps apart, in words; or why there is none.
    alone
        Records that it withholds by itself.
    saves
        Records fewer that all limits together would withhold without it.
    """

    attribute: str
    limit: Limit | None
    keeps: str
    alone: int = 0
    saves: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        limit = None if self.limit is None else self.limit.model_dump(mode="json", exclude_none=True)
        return {**self.__dict__, "limit": limit}


@dataclass(frozen=True)
class ProposedLimits:
    """Limits that together withhold no more than asked.

    Attributes
    ----------
    plan
        The plan with these limits, and with what may be withheld.
    limits
        One for each attribute for which one was to be proposed, in the plan's order.
    records, allowed, withheld
        Records in all, those that may be withheld, and those that must be with all limits of the plan.
    at_most
        What may be withheld as it was asked: a share or a number.
    proven
        Whether that is provably the least that any release within these limits withholds.
    others_may_not_fit
        Whether more may be withheld because they fit no group: models other than counting values are asked for.
    most_loss, most_loss_before
        No release within the limits loses more (NTIL); and without those that are proposed.
    """

    plan: Plan
    limits: tuple[ProposedLimit, ...]
    records: int
    allowed: int
    withheld: int
    at_most: str
    proven: bool
    others_may_not_fit: bool
    most_loss: float
    most_loss_before: float
    _by_name: dict[str, ProposedLimit] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {limit.attribute: limit for limit in self.limits})

    def of(self, attribute: str) -> ProposedLimit | None:
        """Return what is proposed for an attribute, if anything was to be."""
        return self._by_name.get(attribute)

    @property
    def together(self) -> str:
        """The records withheld, as a share in words."""
        return share_text(self.withheld, self.records)

    def note(self, attribute: str) -> str:
        """Say in a line what the limit of an attribute keeps and costs.

        Examples
        --------
        >>> age = ProposedLimit("age", Limit(cuts=(65,)), "keeps 64 | 65 apart", alone=1)
        >>> sex = ProposedLimit("sex", Limit(level=0), "keeps every value as it is")
        >>> plan = Plan.from_dict({"attributes": {"age": "quasi-identifier"}, "privacy": {"k": 2}})
        >>> ProposedLimits(plan, (age, sex), 250, 12, 3, "5%", True, False, 0.5, 1.0).note("age")
        'keeps 64 | 65 apart; withholds 0.40 % alone, 1.2 % together with the others'
        """
        proposed = self._by_name[attribute]
        if proposed.limit is None:
            return f"none, for {proposed.keeps}"
        alone = share_text(proposed.alone, self.records)
        if not self.withheld or sum(limit.limit is not None for limit in self.limits) == 1:
            return f"{proposed.keeps}; withholds {self.together}"
        return f"{proposed.keeps}; withholds {alone} alone, {self.together} together with the others"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the plan."""
        names = (*("records", "allowed", "withheld", "at_most", "proven", "others_may_not_fit"), "most_loss")
        found = {name: getattr(self, name) for name in (*names, "most_loss_before")}
        return {**found, "limits": [{**each.to_dict(), "note": self.note(each.attribute)} for each in self.limits]}

    def __repr__(self) -> str:
        said = "; ".join(
            f"{each.attribute}: {'no limit' if each.limit is None else each.limit.describe()}" for each in self.limits
        )
        return f"ProposedLimits({said}; withholds {self.withheld:,} of {self.records:,} records)"

    def _repr_html_(self) -> str:
        head = ("column", "limit", "what it keeps and costs", "withholds alone")
        rows = (
            (one.attribute, None if one.limit is None else one.limit.describe(), self.note(one.attribute), one.alone)
            for one in self.limits
        )
        return html_table(f"{self.withheld:,} of {self.records:,} records withheld", head, rows)


def propose_for(
    microdata: Microdata,
    settled: Plan,
    plan: Plan,
    withhold: str | int | None = None,
    attributes: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> ProposedLimits:
    """Propose limits for microdata.

    Parameters
    ----------
    microdata, settled
        The encoded table, and the plan as it is meant for that table.
    plan
        The plan as the owner wrote it, which gets the limits.
    withhold
        What may be withheld: a share such as ``5%`` or a number of records; by default what the plan says, else 5%.
    attributes
        For which limits are proposed; what limits they have is forgotten. By default those that have none.
    progress
        Called after every step.

    Raises
    ------
    HedgerowError
        If an attribute is no quasi-identifier of the plan, or the plan ignores limits.
    """
    if plan.unit is not None:
        message = "Limits are proposed by what they cost records, and the plan links units, which cost more."
        raise HedgerowError(Problem("usage", message, hint="set limits by hand, and look at what explain says of them"))
    names = _asked(plan, attributes)
    at_most = _at_most(plan, withhold)
    bare = _with_limits(settled, dict.fromkeys(names))
    under = microdata.under(bare)
    requirement = Requirement.of_plan(bare, under)
    allowed = at_most.records(microdata.records)
    tell = progress or silent
    classes = [
        classes_of(column, np.bincount(under.codes(at), under.counts, column.domain_size).astype(np.int64), plan.rules)
        for at, column in enumerate(under.columns)
    ]
    places = [at for at, column in enumerate(under.columns) if column.name in names]
    before = look_ahead(under, bare)
    found = classes
    if before.withheld <= allowed:
        room = allowed - len(microdata.unknown)
        found = tighten(under, requirement, classes, places, room, lambda done: tell(PROPOSING, done, 0))
    proposed = {found[at].column.name: found[at].limit() for at in places}
    limited = _with_limits(settled, proposed)
    outlook = look_ahead(microdata.under(limited), limited)
    in_blocks = outlook.withheld - outlook.withheld_unknown
    causes = {cause.attribute: cause for cause in find_causes(microdata.under(limited), limited, in_blocks)}
    limits = []
    for at in places:
        name = found[at].column.name
        keeps = _keeps(found[at]) if proposed[name] is not None else _why_none(before.withheld, allowed, at_most)
        cause = causes.get(name)
        limits.append(
            ProposedLimit(name, proposed[name], keeps, cause.alone if cause else 0, cause.saves if cause else 0)
        )
    raw = _with_limits(plan, proposed).to_dict()
    return ProposedLimits(
        Plan.from_dict({**raw, "withhold": {"at_most": at_most.at_most}}),
        tuple(limits),
        microdata.records,
        allowed,
        outlook.withheld,
        at_most.at_most,
        outlook.proven,
        outlook.others_may_not_fit,
        outlook.most_loss,
        before.most_loss,
    )


def _asked(plan: Plan, attributes: Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes for which limits are proposed, in the plan's order."""
    if not plan.keeps_limits:
        message = "The plan ignores limits, so none are proposed."
        raise HedgerowError(Problem("usage", message, hint="leave limits: ignore out of its method"))
    if attributes is None:
        return tuple(name for name in plan.quasi_identifiers if plan.attributes[name].limit is None)
    for name in attributes:
        if name not in plan.quasi_identifiers:
            message = f"{name!r} is not a quasi-identifier of the plan."
            raise HedgerowError(Problem("usage", message, hint=did_you_mean(name, plan.quasi_identifiers)))
    return tuple(name for name in plan.quasi_identifiers if name in attributes)


def _at_most(plan: Plan, withhold: str | int | None) -> Withhold:
    if withhold is None:
        return plan.withhold or Withhold(at_most=USUAL_SHARE)
    try:
        return Withhold(at_most=str(withhold))
    except ValueError:
        message = "What may be withheld must be a share or a number of records."
        raise HedgerowError(Problem("usage", message, hint="write it like 5% or 100")) from None


def _with_limits(plan: Plan, limits: dict[str, Limit | None]) -> Plan:
    attributes = {
        name: each.model_copy(update={"limit": limits[name]}) if name in limits else each
        for name, each in plan.attributes.items()
    }
    return plan.model_copy(update={"attributes": attributes})


# -- words -----------------------------------------------------------------------------------------------------------


def _why_none(withheld: int, allowed: int, at_most: Withhold) -> str:
    if withheld > allowed:
        return f"without any, more than {at_most.at_most} must be withheld already"
    return f"any limit would withhold more than {at_most.at_most}, or cost more than it keeps"


def _keeps(classes: Classes) -> str:
    limit = classes.limit()
    assert limit is not None
    if isinstance(classes, NumberClasses):
        return _keeps_numbers(classes)
    assert isinstance(classes, TreeClasses)
    if limit.level == 0:
        return "keeps every value as it is"
    number = len(np.unique(classes.keys))
    level = f"level {limit.level}" if limit.level is not None else f"level {int(classes.shares.max())}"
    return f"nothing coarser than {level}" if number == 1 else f"keeps {number:,} classes apart, none above {level}"


def _keeps_numbers(classes: NumberClasses) -> str:
    ones = classes.column.intervals.whole and classes.unit == 1
    parts = []
    if classes.column.cuts:
        cuts = classes.column.cuts
        told = [_apart(cut) if ones else number_label(cut) for cut in cuts[:MOST_TOLD]]
        told += [f"{len(cuts) - MOST_TOLD} more"] if len(cuts) > MOST_TOLD else []
        listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
        parts.append(f"keeps {listed} apart" if ones else f"keeps both sides of {listed} apart")
    if classes.column.width is not None:
        parts.append(f"no interval wider than {number_label(classes.column.width)}")
    return "; ".join(parts)


def _apart(cut: Number) -> str:
    """Name the whole numbers that a cut keeps apart.

    Examples
    --------
    >>> _apart(65)
    '64 | 65'
    """
    return f"{number_label(Decimal(cut) - 1)} | {number_label(cut)}"


def share_text(part: int, whole: int) -> str:
    """Write a share with two digits.

    Examples
    --------
    >>> share_text(0, 30), share_text(1, 30), share_text(1, 300), share_text(1, 3_000_000), share_text(30, 30)
    ('nobody', '3.3 %', '0.33 %', 'under 0.01 %', '100 %')
    """
    if not part:
        return "nobody"
    share = Decimal(100 * part) / whole
    if share < Decimal("0.01"):
        return "under 0.01 %"
    step = Decimal(1 if share >= 10 else "0.1" if share >= 1 else "0.01")
    return f"{share.quantize(step, ROUND_HALF_UP)} %"

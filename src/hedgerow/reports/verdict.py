"""The verdict on a release: whether every promise is kept, and what remains although it is. Every face draws this one.

It is worked out from what a release says and the check has counted again, and from nothing of the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hedgerow.engines.place import read_place
from hedgerow.evaluation.people import Repeat
from hedgerow.outside.server import is_server
from hedgerow.outside.stores import is_in_spark, local_path
from hedgerow.plan import Plan
from hedgerow.privacy import journalist_among, risks_of_sizes
from hedgerow.privacy.risks import accepted_risk
from hedgerow.release import Release, read_in_spark, read_table
from hedgerow.reports.reading import Facts
from hedgerow.reports.wording import counted, first_of, percent, shorten
from hedgerow.verification import Verification, open_release

State = Literal["clear", "remains", "broken"]
MOST_NAMED = 6
LONGEST_NAME = 60


CLOSE = 0.01
"""By how much, out of itself, the sum of published weights may miss that of the original without a word of warning."""


@dataclass(frozen=True)
class Remark:
    """One thing that was looked at.

    Attributes
    ----------
    code
        What it is about: ``rows``, ``risk``, ``single-value``, ``exact-columns``, ``exact-ends``, ``limits``.
    text
        It in a sentence.
    remains
        Whether somebody must weigh it; else it is well.
    """

    code: str
    text: str
    remains: bool


@dataclass(frozen=True)
class Verdict:
    """Whether the promises are kept, and what remains.

    Attributes
    ----------
    broken
        Names of the promises that are not kept.
    remarks
        What was looked at besides; none if a promise is broken, as what a broken release says may be anything.
    threshold
        The risk that is just acceptable.
    """

    broken: tuple[str, ...]
    remarks: tuple[Remark, ...]
    threshold: float

    def where_people_repeat(self, repeats: Sequence[Repeat]) -> Verdict:
        """Return the verdict with what remains where k counted rows, though columns that name people repeat."""
        if self.broken or not repeats:
            return self
        return replace(self, remarks=(Remark("rows", repeats[0].sentence, True), *self.remarks))

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return not self.broken

    @property
    def remains(self) -> tuple[Remark, ...]:
        """What somebody must weigh before the release is shared."""
        return tuple(remark for remark in self.remarks if remark.remains)

    @property
    def state(self) -> State:
        """Green, amber or red."""
        return "broken" if self.broken else "remains" if self.remains else "clear"

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, the same in the terminal, the studio, the report and JSON.

        Examples
        --------
        >>> print(Verdict((), (Remark("risk", "…", True),), 0.2).sentence)
        Every promise is kept, but 1 risk remains for you to weigh.
        """
        if self.broken:
            names = first_of(list(dict.fromkeys(self.broken)), MOST_NAMED)
            many = counted(len(self.broken), "promise is", "promises are")
            return f"BROKEN: {many} not kept ({names}). Do not share this release."
        if self.remains:
            number = len(self.remains)
            return f"Every promise is kept, but {counted(number, 'risk remains', 'risks remain')} for you to weigh."
        return "Every promise is kept, and no risk above your threshold was found."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        remarks = [asdict(remark) for remark in self.remarks]
        return {"state": self.state, "sentence": self.sentence, "threshold": self.threshold, "remarks": remarks}


def verdict_of(
    facts: Facts | Mapping[str, Any], plan: Plan, broken: Sequence[str] = (), threshold: float | None = None
) -> Verdict:
    r"""Judge a release.

    Parameters
    ----------
    facts, plan
        What it says of itself, and what was asked.
    broken
        The promises that its check found broken.
    threshold
        A risk that is just acceptable; that of the plan by default.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> facts = {"released": 4, "groups": 2, "smallest_group": 2, "group_risk_sizes": {"2": 4}}
    >>> found = verdict_of(facts, plan)
    >>> print(found.sentence, found.remains[0].text, sep="\n")
    Every promise is kept, but 1 risk remains for you to weigh.
    The highest risk of being found is 1 in 2, above the threshold of 1 in 5 (0.2): so it is for 100% of the records.
    >>> verdict_of(facts, plan, threshold=0.5).state
    'clear'
    """
    accepted = plan.accepted if threshold is None else threshold
    if broken:
        return Verdict(tuple(broken), (), accepted)
    said = facts if isinstance(facts, Facts) else Facts(facts)
    return Verdict((), tuple(_remarks(said, plan, accepted)), accepted)


def verdict_on(
    release: Release | str | Path, verification: Verification | None = None, threshold: float | None = None
) -> Verdict:
    """Judge a release that lies somewhere, after its check; one that was just made was checked when it was written."""
    broken = () if verification is None else tuple(promise.name for promise in verification.broken)
    if isinstance(release, Release):
        return verdict_of(release.facts, release.plan, broken, threshold)
    if broken:  # its plan may not even be readable
        return Verdict(broken, (), threshold or 0.0)
    if is_server(release):
        kept, said = read_table(read_place(str(release)))
        return verdict_of(said, kept, broken, threshold)
    if is_in_spark(release):
        kept, there = read_in_spark(str(release))
        return verdict_of(there, kept, broken, threshold)
    plan, facts, _ = open_release(Path(local_path(release)))
    return verdict_of(facts, plan, broken, threshold)


# -- what is looked at -------------------------------------------------------------------------------------------------


def _remarks(facts: Facts, plan: Plan, accepted: float) -> Iterator[Remark]:
    if facts.number("released") == 0:
        return
    yield _risk(facts, accepted)
    yield from _diversity(facts, plan)
    as_they_are = {name: plan.attributes[name].treat for name in plan.columns("other") if name in plan.as_they_are}
    exact = [name for name, treat in as_they_are.items() if treat is None]
    others = [shorten(column, LONGEST_NAME) for column in exact]
    if others:
        text = f"Published exactly as in the original, with no protection: {first_of(others, MOST_NAMED)}."
        yield Remark("exact-columns", text, True)
    below = [
        shorten(name, LONGEST_NAME)
        for name, treat in as_they_are.items()
        if treat is not None and treat.round is None and treat.dates is None
    ]
    if below:
        text = "Published exactly as in the original up to a point, with no protection within it: "
        yield Remark("exact-columns", f"{text}{first_of(below, MOST_NAMED)}.", True)
    few = facts.get("estimated_risk", "weights_of_few")
    if plan.publishes_weights and isinstance(few, int) and few:
        rows = counted(few, "row has a sampling weight", "rows have a sampling weight")
        text = f"{rows} that fewer than k = {plan.privacy.k} rows share, which tells them apart: round them (treat: "
        yield Remark("weights", text + "{round: 10} in the plan), or publish means of groups (publish: mean).", True)
    yield from _weights(facts, plan)
    ends = sum(int(number) for number in facts.numbers("exact_end_points").values())
    if ends:
        cells = counted(ends, "cell shows", "cells show")
        yield Remark("exact-ends", f"{cells} the exact value of a record, as an end of its interval.", True)
    if not plan.keeps_limits and facts.count("limits_broken"):
        cells = counted(facts.count("limits_broken"), "cell goes", "cells go")
        yield Remark("limits", f"The limits were ignored, as the plan asks: {cells} beyond them.", True)


def _risk(facts: Facts, accepted: float) -> Remark:
    found = risks_of_facts(facts, accepted)
    if found is None:
        text = "How likely somebody is found cannot be told: the facts do not say how many people are alike."
        return Remark("risk", text, True)
    of = found["prosecutor"]
    highest, share, limit = of["highest"], of["share_above_threshold"], accepted_risk(accepted)
    asked = f"the threshold of {_chance(float(limit))} ({accepted:g})"
    if limit >= highest - 1e-12:
        return Remark("risk", f"The highest risk of being found is {_chance(highest)}, within {asked}.", False)
    whom = f"so it is for {percent(share)} of the records" if share else "for who knows a person's values"
    return Remark("risk", f"The highest risk of being found is {_chance(highest)}, above {asked}: {whom}.", True)


def _chance(risk: float) -> str:
    """Write a risk as people say it.

    Examples
    --------
    >>> _chance(0.2), _chance(1 / 11), _chance(0.15)
    ('1 in 5', '1 in 11', '15%')
    """
    people = 1 / risk if risk else 0
    return f"1 in {round(people):,}" if people and abs(people - round(people)) < 1e-6 else percent(risk)


def _weights(facts: Facts, plan: Plan) -> Iterator[Remark]:
    """Say what published weights add up to, where they are not those of the original."""
    now, were = facts.number("estimated_risk", "people"), facts.number("estimated_risk", "before", "people")
    if not plan.changes_weights or now is None or were is None:
        return
    how = "means of groups" if plan.means_of_weights is not None else "rounded"
    sums = f"they add up to {now:,.10g} people, {were:,.10g} as they were"
    yield Remark("weights-changed", f"Sampling weights are published as {how}: {sums}.", abs(now - were) > CLOSE * were)


def _diversity(facts: Facts, plan: Plan) -> Iterator[Remark]:
    single = facts.numbers("attribute_disclosures", "by_attribute")
    groups = counted(facts.count("groups"), "group")
    telling = [column for column in plan.columns("sensitive") if single.get(column)]
    for column in telling[:MOST_NAMED]:
        name = shorten(column, LONGEST_NAME)
        asked = "" if plan.privacy.demands(column) else " The plan asks for no different values in a group."
        text = f"{single[column]:,} of {groups} have a single value of {name}: it is known of everybody in them.{asked}"
        yield Remark("single-value", text, True)
    if len(telling) > MOST_NAMED:
        more = counted(len(telling) - MOST_NAMED, "more sensitive column")
        yield Remark("single-value", f"Groups have a single value of {more}.", True)
    by_unit = facts.numbers("units", "disclosures")
    for column in [name for name in plan.columns("sensitive") if by_unit.get(name) and not single.get(name)][
        :MOST_NAMED
    ]:
        name = shorten(column, LONGEST_NAME)
        cases = counted(int(by_unit[column]), "case")
        text = f"Who knows a whole unit knows the {name} of one of its members, in {cases}."
        yield Remark("single-value-in-unit", text, True)
    well = [shorten(column, LONGEST_NAME) for column in plan.columns("sensitive") if not single.get(column)]
    if well:
        yield Remark("single-value", f"No group has a single value of {first_of(well, MOST_NAMED)}.", False)


# -- risks -------------------------------------------------------------------------------------------------------------


def risks_of_facts(facts: Facts, threshold: float) -> dict[str, Any] | None:
    """Return the risks of the three attackers from the facts of a release; None if these do not say, or not alike."""
    sizes = facts.sizes("group_risk_sizes")
    if not sizes or not _agree(facts, sizes):
        return None
    found = risks_of_sizes(sizes, threshold, facts.count("withheld"))
    people = facts.sizes("population_risk_sizes")
    if people and sum(people.values()) == facts.number("released") and min(people) == facts.number("fewest_people"):
        found["journalist"] = journalist_among(people, threshold, facts.count("population"))
    else:
        highest, average = (facts.number("estimated_risk", name) for name in ("highest", "average"))
        if highest is not None and average is not None:  # how many are above a threshold is not told
            found["journalist"] = {"highest": highest, "average": average, "population": "estimated from weights"}
    least = facts.number("least_rows_for_a_known_person")
    if least is not None:  # whoever knows a person's values may be left with fewer rows than cannot be told apart
        for attacker in ("prosecutor", "journalist"):
            found[attacker]["highest"] = max(found[attacker]["highest"], round(1 / max(least, 1), 12))
    return found


def _agree(facts: Facts, sizes: Mapping[int, int]) -> bool:
    """Tell whether the sizes agree with what the check counts for itself; a risk that does not is unknown."""
    matching, persons = facts.get("missing") == "matches-any", facts.number("smallest_group_persons")
    least = facts.number("smallest_group") if matching or persons is None else persons
    groups = facts.number("groups") if not matching and persons is None else None
    if facts.get("units") is not None:
        least, groups = facts.number("units", "smallest_group"), None
    return (
        facts.number("released") in (None, sum(sizes.values()))
        and least in (None, min(sizes))
        and (groups is None or groups == sum(records // size for size, records in sizes.items()))
        and (groups is None or not any(records % size for size, records in sizes.items()))
    )

"""Whether what somebody requires of a table holds of it: k, and the privacy models, as a plan would ask for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import HedgerowError, PlanError, Problem
from hedgerow.microdata.sensitive import SensitiveColumn
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.model import Privacy
from hedgerow.privacy.tally import Tally
from hedgerow.privacy.uniqueness import PopulationUniqueness
from hedgerow.types import IntArray

LEAST_K = 2
UNIQUE = "population_unique"
"""Requires that at most such a share of the population is unique in it, as estimated; unknown is not enough."""


@dataclass(frozen=True)
class Required:
    """One thing that is required.

    Attributes
    ----------
    said, column
        What, as ``k = 5``, and of which sensitive column; None for k.
    kept
        Whether it holds of every group.
    failing
        Groups of which it does not hold.
    records
        Records in these.
    note
        What is to be said instead of groups that fail.
    """

    said: str
    column: str | None
    kept: bool
    failing: int
    records: int
    note: str = ""


def read_demands(required: str) -> dict[str, str]:
    """Read what is required, as it is typed.

    Examples
    --------
    >>> read_demands("k=5, p=2,t=0.3")
    {'k': '5', 'p': '2', 't': '0.3'}
    """
    known = ("k", *PRIVACY_MODELS.names, UNIQUE)
    found: dict[str, str] = {}
    for part in required.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in known or not equals or not value or name in found:
            message = "What is required must be NAME=VALUE, separated by commas, each NAME once."
            hint = f"such as k=5,p=2; NAME is one of {', '.join(known)}"
            raise HedgerowError(Problem("usage", message, "require", hint))
        found[name] = value
    return found


def checked(required: str | Mapping[str, Any], sensitive: Sequence[str]) -> tuple[Privacy, tuple[str, ...]]:
    """Check what is required as the privacy of a plan is checked; returns it, and the names of what is required.

    Without a k, that of the result means nothing.
    """
    asked = read_demands(required) if isinstance(required, str) else dict(required)
    _unique_asked(asked.pop(UNIQUE, None))
    roles = {"\0": "quasi-identifier"} | dict.fromkeys(sensitive, "sensitive")
    if not sensitive and set(asked) - {"k"}:
        message = "Only k can be required where no sensitive column is named."
        raise HedgerowError(Problem("usage", message, "require", "name them, as in --sensitive diagnosis"))
    try:
        privacy = Plan.from_dict({"attributes": roles, "privacy": {"k": LEAST_K, **asked}}).privacy
    except PlanError as error:
        raise HedgerowError([dataclasses.replace(problem, place="require") for problem in error.problems]) from None
    return privacy, tuple(asked)


def _unique_asked(asked: Any) -> float | None:
    number = None if asked is None else parse_number(str(asked))
    if asked is not None and (number is None or not 0 <= number <= 1):
        message = f"The share of people who may be unique in the population must be from 0 to 1. Got {asked!r} instead."
        raise HedgerowError(Problem("usage", message, "require", f"such as {UNIQUE}=0.01"))
    return None if number is None else float(number)


def unique_required(required: str | Mapping[str, Any] | None) -> float | None:
    """Return the share of the population that may be unique in it at most, if that is required."""
    asked = read_demands(required) if isinstance(required, str) and required != "plan" else required
    return _unique_asked(asked.get(UNIQUE)) if isinstance(asked, Mapping) else None


def judged_unique(most: float, found: PopulationUniqueness | None) -> Required:
    """Judge how many are unique in the population; what is unknown does not hold."""
    said = f"{UNIQUE} = {most:g}"
    if found is None or found.share is None:
        why = "no size of the population is known" if found is None else "no estimate can be relied on"
        return Required(said, None, False, 0, 0, f"unknown: {why}")
    return Required(said, None, found.share <= most, 0, 0, f"estimated: {found.share:.4g}")


def judged(
    privacy: Privacy,
    names: Sequence[str],
    people: IntArray,
    records: IntArray,
    tallies: Sequence[tuple[SensitiveColumn, Tally]],
) -> tuple[Required, ...]:
    """Judge every group by what is required; ``people`` and ``records`` are those of each."""
    found = []
    if "k" in names:
        found.append(_demand(f"k = {privacy.k}", None, people < privacy.k, records))
    for column, tally in tallies:
        for name, asked in privacy.demands(column.name).items():
            model = PRIVACY_MODELS[name]
            fails = ~model.make(asked, column).holds(tally)
            found.append(_demand(model.said(asked), column.name, fails, records))
    return tuple(found)


def _demand(said: str, column: str | None, fails: Any, records: IntArray) -> Required:
    failing = int(fails.sum())
    return Required(said, column, not failing, failing, int(records[fails].sum()))

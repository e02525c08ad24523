"""What the privacy models and quality models of ARX are called here, by the texts in which ARX writes them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
FOR = r"(?: for attribute '(?P<column>.*)')?"
ROLES = {
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
    "IDENTIFYING_ATTRIBUTE": "identifier",
}
OBJECTIVES = (
    (r"(non-uniform |normalized )*entropy.*", "entropy", ""),
    (r"(precision|height|.*degree.*).*", "loss", ""),
    (r"(discernab|discernib|ambiguity).*", "discernibility", ""),
    (r"(aecs|average.*class.*)", "group-size", ""),
    (r"loss.*", "granularity", "ARX may weigh columns by rank or geometric mean, here the mean counts"),
)
"""What a quality model begins with, in small letters; the objective here; how they differ."""


@dataclass
class Criteria:
    """What the criteria of a project ask for, in terms of a plan, and those that have no counterpart."""

    privacy: dict[str, Any] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)


def privacy_of(criteria: list[str]) -> Criteria:
    """Translate criteria.

    Examples
    --------
    >>> asked = privacy_of(["5-anonymity", "distinct-3-diversity for attribute 'ill'", "(0.1)-avg-risk"])
    >>> asked.privacy, asked.without
    ({'k': 5, 'l': {'ill': {'distinct': 3}}}, ['(0.1)-avg-risk'])
    >>> privacy_of(["enhanced-2.0-likeness for attribute 'ill'", "1.0-disclosure privacy for attribute 'ill'"]).privacy
    {'beta': {'ill': {'at_most': 2, 'enhanced': True}}, 'delta': {'ill': 0.69314718056}}
    """
    asked = Criteria()
    for criterion in criteria:
        if not _translated(criterion.strip(), asked.privacy):
            asked.without.append(criterion.strip())
    return asked


def _translated(criterion: str, privacy: dict[str, Any]) -> bool:
    if found := re.fullmatch(rf"(?:k=)?{NUMBER}-anonymity", criterion):
        privacy["k"] = max(int(float(found[1])), privacy.get("k", 0))
        return float(found[1]) >= 2
    for form, key, value in (
        (rf"distinct-{NUMBER}-diversity{FOR}", "l", lambda one: {"distinct": int(float(one[1]))}),
        (rf"(?:shannon-)?entropy-{NUMBER}-diversity{FOR}", "l", lambda one: {"entropy": _plain(one[1])}),
        (rf"recursive-\({NUMBER}, ?{NUMBER}\)-diversity{FOR}", "l", lambda one: _recursive(one)),
        (rf"(?P<enhanced>enhanced-)?(?:basic-)?{NUMBER}-likeness{FOR}", "beta", lambda one: _likeness(one)),
        (rf"{NUMBER}-disclosure privacy{FOR}", "delta", lambda one: round(float(one[1]) * math.log(2), 12)),
        (rf"{NUMBER}-closeness(?: with (?P<distance>equal|ordered|hierarchical)[- ].*?)?{FOR}", "t", _closeness),
    ):
        found = re.fullmatch(form, criterion)
        if found and found["column"] is not None:
            privacy.setdefault(key, {})[found["column"]] = value(found)
            return True
    return False


def _likeness(found: re.Match[str]) -> dict[str, Any]:
    return {"at_most": _plain(found[2]), "enhanced": found["enhanced"] is not None}


def _recursive(found: re.Match[str]) -> dict[str, Any]:
    return {"recursive": [_plain(found[1]), int(float(found[2]))]}


def _closeness(found: re.Match[str]) -> dict[str, Any]:
    return {"at_most": _plain(found[1]), "distance": found["distance"] or "equal"}


def _plain(number: str) -> int | float:
    value = float(number)
    return int(value) if value == int(value) else value


def objective_of(metric: str) -> tuple[str, str]:
    """Return the objective that comes nearest to a quality model, and how they differ.

    Examples
    --------
    >>> objective_of("Precision"), objective_of("KL-Divergence")
    (('loss', ''), ('loss', 'there is no counterpart'))
    """
    for form, objective, differs in OBJECTIVES:
        if re.fullmatch(form, metric.strip().lower()):
            return objective, differs
    return "loss", "there is no counterpart"


def factors_of(metric: str) -> tuple[float, float] | None:
    """Return what ARX multiplies the loss of released and of withheld records by, where the quality model says it.

    Examples
    --------
    >>> factors_of("Loss (0.007/1.0/0.014)"), factors_of("Precision")
    ((1.0, 0.014), None)
    """
    found = re.search(rf"\({NUMBER}/{NUMBER}/{NUMBER}\)", metric)
    return None if found is None else (float(found[2]), float(found[3]))

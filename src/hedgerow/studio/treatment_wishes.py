"""What a person wishes to become of the values of a column, as it is typed, and as a plan says it. No screen here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hedgerow.errors import PlanError, Problem
from hedgerow.plan import Attribute
from hedgerow.plan.hierarchy.numbers import number_label, parse_number
from hedgerow.plan.model import Point

DATES = {"": "as they are", "month": "their month", "quarter": "their quarter", "year": "their year"}
_SHARE = re.compile(r"(\d{1,2}(?:\.\d{1,6})?)\s*%")
_PEOPLE = re.compile(r"(\d{1,9})\s*(?:people|persons|records)?", re.IGNORECASE)


def treat_of(typed: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a plan says of what was typed; None where nothing was.

    Examples
    --------
    >>> treat_of({"top": "90000", "bottom": "10 people", "round": "500", "dates": ""})
    {'top': 90000, 'bottom': {'fewest': 10}, 'round': 500}
    >>> treat_of({"top": "1 %", "bottom": "", "round": "", "dates": ""})
    {'top': {'quantile': Decimal('0.99')}}
    >>> treat_of({"top": " ", "bottom": "", "round": "", "dates": ""}) is None
    True
    """
    found: dict[str, Any] = {}
    for end in ("top", "bottom"):
        text = str(typed.get(end) or "").strip()
        if text:
            found[end] = _point(text, end)
    text = str(typed.get("round") or "").strip()
    if text:
        number = parse_number(text)
        if number is None:
            raise PlanError(Problem("wrong-value", "Round to a number.", hint="such as 100, or 0.5"))
        found["round"] = number
    if typed.get("dates"):
        found["dates"] = str(typed["dates"])
    return found or None


def _point(text: str, end: str) -> Any:
    number = parse_number(text)
    if number is not None:
        return number
    share = _SHARE.fullmatch(text)
    if share is not None:
        part = Decimal(share[1]) / 100
        return {"quantile": 1 - part if end == "top" else part}
    people = _PEOPLE.fullmatch(text)
    if people is None:
        raise PlanError(
            Problem("wrong-value", "This is no point.", hint="write a number such as 90, or 10 people, or 1 %")
        )
    return {"fewest": int(people[1])}


def typed_of(attribute: Attribute) -> dict[str, str]:
    """Return what would be typed for what a plan says of a column.

    Examples
    --------
    >>> typed_of(Attribute(role="other", treat={"top": {"fewest": 10}, "round": 500}))
    {'top': '10 people', 'bottom': '', 'round': '500', 'dates': ''}
    """
    treat = attribute.treat
    if treat is None:
        return dict.fromkeys(("top", "bottom", "round", "dates"), "")
    return {
        "top": _said(treat.top, "top"),
        "bottom": _said(treat.bottom, "bottom"),
        "round": "" if treat.round is None else number_label(treat.round),
        "dates": treat.dates or "",
    }


def _said(point: Point | None, end: str) -> str:
    if point is None:
        return ""
    if point.fewest is not None:
        return f"{point.fewest} people"
    if point.quantile is not None:
        share = Decimal(point.quantile)
        return f"{number_label((1 - share if end == 'top' else share) * 100)} %"
    return "" if point.at is None else number_label(point.at)

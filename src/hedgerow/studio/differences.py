"""In what two plans differ, in a few words: so runs are named. No screen here."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.evaluation.comparison import name_of_method
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.reports.wording import first_of, shorten
from hedgerow.studio.limit_changes import in_short

MOST = 3
LONGEST = 40


def differences(before: Plan, after: Plan) -> list[str]:
    """Say in what a plan differs from another, the most important first.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 5}})
    >>> other = plan.replace(privacy={"k": 7}, method={"name": "cluster", "improve": "quick"}, seed=3)
    >>> differences(plan, other), differences(plan, plan)
    (['k 5 → 7', 'method cluster → quick', 'seed 0 → 3'], [])
    """
    return list(_differences(before, after))


def in_short_words(before: Plan, after: Plan) -> str:
    """Say it in one line; empty if they do not differ."""
    return first_of(differences(before, after), MOST)


def _differences(before: Plan, after: Plan) -> Iterator[str]:
    if before.privacy.k != after.privacy.k:
        yield f"k {before.privacy.k} → {after.privacy.k}"
    if before.person != after.person:
        yield f"people {before.person or 'not told apart'} → {after.person or 'not told apart'}"
    if before.unit != after.unit:
        old_unit, new_unit = (None if plan.unit is None else plan.unit.column for plan in (before, after))
        said = f"{old_unit or 'nothing'} → {new_unit or 'nothing'}"
        yield f"linked {said}" if old_unit != new_unit else f"how units of {new_unit} are matched"
    for model in PRIVACY_MODELS.names:
        old, new = before.privacy.asked.get(model), after.privacy.asked.get(model)
        if old != new:
            yield f"{_said(model, old)} → {_said(model, new)}"
    old_name, new_name = name_of_method(before), name_of_method(after)
    if before.method != after.method:
        yield f"method {old_name} → {new_name}" if old_name != new_name else f"options of {new_name}"
    for column, part in after.attributes.items():
        old_part = before.attributes.get(column)
        if old_part == part:
            continue
        if old_part is None or old_part.role != part.role:
            yield f"{column} {'new' if old_part is None else old_part.role} → {part.role}"
        elif old_part.limit != part.limit:
            yield f"{column}: {shorten(in_short(old_part), LONGEST)} → {shorten(in_short(part), LONGEST)}"
        else:
            yield f"{column} coarsened otherwise"
    yield from (f"{column} left out" for column in before.attributes if column not in after.attributes)
    allowed = [plan.withhold.at_most if plan.withhold else "no cap" for plan in (before, after)]
    if allowed[0] != allowed[1]:
        yield f"withheld {allowed[0]} → {allowed[1]}"
    if before.seed != after.seed:
        yield f"seed {before.seed} → {after.seed}"
    raw = before.to_dict(), after.to_dict()
    for key in ("rules", "weights", "research_value", "missing", "threshold", "republish", "drift", "data", "key"):
        if raw[0].get(key) != raw[1].get(key):
            yield f"{key.replace('_', ' ')} changed"


def _said(model: str, asked: object) -> str:
    if not isinstance(asked, dict) or not asked:
        return f"no {model}"
    return ", ".join(dict.fromkeys(PRIVACY_MODELS[model].said(demand) or "1" for demand in asked.values()))

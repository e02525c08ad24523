"""Days in months, quarters, years, decades, and twenty or forty years."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.plan.hierarchy import builders
from hedgerow.plan.hierarchy.kind import Field, HierarchyRule, KindDescriptor

SPANS = {"20-years": "20 years", "40-years": "40 years"}
NODE = re.compile(r"\d{4}(-\d\d(-\d\d)?|-Q[1-4]|s|-\d{4})?")


def _check(spec: Any, folder: Path) -> None:
    builders.check_dates(spec.dates)


def _build(spec: Any, labels: Sequence[str]) -> builders.Built:
    return builders.dates(labels, spec.dates, spec.form)


def _read(typed: Mapping[str, Any]) -> dict[str, Any]:
    levels = [level for level in builders.DATE_LEVELS if level in (typed.get("dates") or ())]
    forms = [form.strip() for form in str(typed.get("form") or "").split("|") if form.strip()]
    return {"dates": levels} | ({"form": forms[0] if len(forms) == 1 else forms} if forms else {})


def _written(form: Any) -> str:
    return form if isinstance(form, str) else " | ".join(form or ())


DESCRIPTOR = KindDescriptor(
    name="dates",
    title="longer periods",
    help="some of `month`, `quarter`, `year`, `decade`, `20-years`, `40-years`, in this order",
    example="`[month, year, decade, 20-years]`: 1959-02-01 → 1959-02 → 1959 → 1950s → 1940-1959 → *",
    order=60,
    check=_check,
    build=_build,
    beside=("form",),
    of_numbers=False,
    height=lambda spec: len(spec.dates) + 1,
    could_be_node=lambda spec, name: bool(NODE.fullmatch(name)),
    node_names="nodes are named like 2024-02, 2024-Q1, 2024, 2020s or 2000-2019",
    shows_steps=True,
    steps=lambda spec: [SPANS.get(period, f"the {period}") for period in spec.dates],
    rule=HierarchyRule(
        choice="dates: days, months, quarters, years, decades and more",
        fields=(
            Field("dates", "Levels", choices=builders.DATE_LEVELS),
            Field(
                "form",
                "How days are written",
                "only if days are not written like 2024-02-29; for example %d.%m.%Y, or several: %Y-%m-%d | %d.%m.%Y",
            ),
        ),
        begin=lambda numbers, longest: {"dates": ["month", "year"], "form": ""},
        read=_read,
        typed=lambda spec: {"dates": list(spec.dates), "form": _written(spec.form)},
    ),
)

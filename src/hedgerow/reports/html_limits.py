"""The part of a report that says what each limit saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow.reports.html_parts import MOST_NAME, marked, name, paragraph, section, table, words
from hedgerow.reports.material import Material


def limits(material: Material) -> str:
    """Show what each limit saved."""
    facts, plan = material.facts, material.plan
    said = facts.get("limits_by_attribute")
    limited = [column for column in plan.quasi_identifiers if plan.attributes[column].limit is not None]
    if not limited:
        return section(
            "limits", "Limits", paragraph("The plan sets none: a value may be coarsened until nothing is left.")
        )
    if not plan.keeps_limits:
        broken = facts.shown("limits_broken")
        text = f"The plan asks for them to be ignored: {broken} cells are coarser than their limit."
        return section("limits", "Limits", paragraph(text, "warning"))
    parts = [
        paragraph(
            "A limit says how far a value may be coarsened. It costs records, which must be withheld where nobody "
            "else is near enough; how many each limit costs says something about them, so only their owner is told. "
            "And it saves detail: without it, nothing keeps a column from being lost in full (100%)."
        )
    ]
    if not isinstance(said, Mapping):
        parts.append(
            paragraph("The facts of this release do not say what each limit saved: an older version wrote them.")
        )
    else:
        parts.append(
            table(
                (
                    "column",
                    "limit",
                    "may lose at most",
                    "did lose",
                ),
                list(_limit_rows(material, [column for column in limited if column in said])),
                numbers=2,
                more="limits",
            )
        )
        parts.append(
            paragraph(
                "<b>May lose</b>: if every released value were as coarse as its limit lets it be.",
                "note",
            )
        )
    return section("limits", "Limits: what each saved", *parts, _effects(material))


def _limit_rows(material: Material, columns: list[str]) -> Iterator[tuple[str, ...]]:
    facts = material.facts
    for column in columns:
        at = ("limits_by_attribute", column)
        limit = facts.text(*at, "limit")
        yield (
            name(column),
            marked(limit, limit, (*at, "limit")) if len(limit) <= MOST_NAME else words(limit, 120),
            facts.shown(*at, "may_lose", form=".1%") if not material.plan.method.suppress else "–",
            facts.shown("share_lost_by_attribute", column, form=".1%"),
        )


def _effects(material: Material) -> str:
    """Show what releases without each limit came to, if they were made."""
    effects = list(material.extras.limit_effects)
    if not effects:
        return ""
    rows = []
    for effect in effects:
        if effect.get("problem"):
            rows.append((name(effect["attribute"]), words(effect["problem"], 200), "", "", ""))
            continue
        before, after = effect["withheld"], effect["loss"]
        share = effect["share_lost"]
        rows.append(
            (
                name(effect["attribute"]),
                words(effect["limit"], 90),
                _both(before, "{:,}"),
                _both(after, "{:.4f}"),
                _both(share, "{:.1%}"),
            )
        )
    return (
        "<h3>Measured: the same release without each limit</h3>"
        + paragraph(
            "For each column with a limit, a release was made in memory without that limit. Shown is with → without. "
            "This was "
            "measured on the original records."
        )
        + table(
            ("column", "limit", "withheld", "total loss (NTIL)", "lost of the column"), rows, numbers=3, more="limits"
        )
    )


def _both(pair: Mapping[str, Any], form: str) -> str:
    with_it, without = pair["with"], pair["without"]
    return f"{form.format(with_it)} → <b>{form.format(without)}</b>"

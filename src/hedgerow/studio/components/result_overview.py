"""The top of the result: whether the promises are kept, the main numbers, records before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from nicegui import ui

from hedgerow.reports.html.page import section_html
from hedgerow.reports.material import Extras, Material, demands_of
from hedgerow.reports.reading import Facts
from hedgerow.reports.wording import columns_left_out, counted, first_of, hardly_left, near_the_best
from hedgerow.studio import theme
from hedgerow.studio.components.marked_table import cell, marked_table, said
from hedgerow.studio.runs import Run


def material_of(run: Run) -> Material:
    """Gather what reports are made of, from a run."""
    return Material(Facts(run.facts), run.plan, run.verification, extras=Extras(threshold=run.plan.accepted))


MOST_LOST = 6
REMEDIES = {
    "rows": ("Say which column names the person, and make it again", "/data"),
    "risk": ("Choose a larger k, or the threshold that fits your audience", "/promise"),
    "single-value": ("Ask for different values in every group", "/promise"),
    "exact-columns": ("Change what these columns are", "/data"),
    "exact-ends": ("Let published ends move out to round numbers", "/limits"),
}
"""What somebody may do about a remark: words, and the screen that has the control."""


def show_verdict(run: Run) -> None:
    """Say first of all whether the promises are kept, and what remains."""
    verdict = material_of(run).verdict.where_people_repeat(run.repeats)
    with ui.column().classes(f"verdict {verdict.state}").props("role=status data-testid=verdict"):
        ui.label(verdict.sentence).classes("big")
        for remark in sorted(verdict.remarks, key=lambda remark: not remark.remains):
            with ui.row().classes("no-wrap gap-2 items-start"):
                ui.icon("priority_high" if remark.remains else "check").props("aria-hidden=true").classes("mark")
                ui.label(remark.text).classes("" if remark.remains else "muted")
            if remark.remains and remark.code in REMEDIES:
                ui.link(*REMEDIES[remark.code]).classes("small remedy")
        if not verdict.kept:
            return
        ui.label(f"This release meets {', '.join(demands_of(run.plan))} under these assumptions.").classes("small")
        with theme.fold("The assumptions, and what this does not protect against", "assumptions").props("dense"):
            _show_assumptions(run)


def _show_assumptions(run: Run) -> None:
    plan = run.plan
    unknown = plan.columns("sensitive", "other")
    assumed = [f"Others know at most these columns of a person: {', '.join(plan.quasi_identifiers)}."]
    if unknown:
        assumed.append(f"They do not know the person's {', '.join(unknown)}.")
    assumed.append(
        f"Records with the same {plan.person} are the same person, and no others are."
        if plan.person
        else "Each record is a different person."
    )
    if plan.unit is not None:
        assumed.append(f"They may know all records of a unit of {plan.unit.column}, and no more than that.")
    assumed.append("They hold no other release about the same people.")
    listed = "".join(f"<li>{said(text)}</li>" for text in assumed)
    below = section_html("not-protected", material_of(run))
    ui.html(f"<h2>What is assumed</h2><ul>{listed}</ul>{below}", sanitize=False).classes("report-part")


def show_tiles(run: Run) -> None:
    """Show the main numbers."""
    facts, plan = run.facts, run.plan
    records = max(facts["records"], 1)
    persons = facts.get("smallest_group_persons")
    most = facts.get("most_loss")
    with ui.element("div").classes("tiles"):
        theme.tile("released", f"{facts['released']:,}", "released", f"of {facts['records']:,} records")
        least = (
            "the fewest possible" if facts["withheld"] and facts.get("withheld_is_least") and plan.keeps_limits else ""
        )
        share = f"{facts['withheld'] / records:.2%}"
        theme.tile("withheld", f"{facts['withheld']:,}", "withheld", f"{share}, {least}" if least else share)
        theme.tile("groups", f"{facts['groups']:,}", "groups")
        who = "records" if persons is None else "persons"
        theme.tile(
            "smallest group",
            f"{facts['smallest_group'] if persons is None else persons:,}",
            "smallest-group",
            f"{who}; asked: {plan.privacy.k}",
        )
        units = facts.get("units")
        if units is not None:
            theme.tile(
                "units",
                f"{units['units']:,}",
                "units",
                f"linked, in {counted(units['groups'], 'group')} of units alike",
            )
            theme.tile(
                "units alike", f"{units['smallest_group']:,}", "units-alike", f"at least; asked: {plan.privacy.k}"
            )
            if units["ntil_not_linked"] is not None:
                text = "NTIL if the same records were not linked"
                theme.tile("loss without the link", f"{units['ntil_not_linked']:.4f}", "loss-not-linked", text)
        bound = "of 1 (NTIL)" if most is None else f"NTIL; {most:.4f} at most" if plan.keeps_limits else "NTIL"
        theme.tile("loss", f"{facts['ntil']:.4f}", "loss", bound)
        if "estimated_risk" in facts:
            risk = facts["estimated_risk"]
            before = f"estimated by weights; {risk['before']['expected']:,.4g} as they were"
            theme.tile("would be found", f"{risk['expected']:,.4g}", "expected", before)
        if "fewest_people" in facts:
            asked = "" if plan.privacy.k_map is None else f"; asked: {plan.privacy.k_map:,}"
            text = f"of {facts['population']:,} fit every published combination{asked}"
            theme.tile("people at least", f"{facts['fewest_people']:,}", "fewest-people", text)
        good = near_the_best(facts.get("optimality"))
        if good:
            theme.tile("at least", f"{facts['optimality']['at_least']:.4f}", "optimality", good)
        most = "by the plan's worths" if "worths_given" in facts else "of 1"
        theme.tile("research value", f"{facts['research_value']:.4f}", "research-value", f"{most}; up is better")
        theme.tile("limits broken", f"{facts['limits_broken']:,}", "limits-broken", "cells beyond their limit")


def show_lost(run: Run) -> None:
    """Say of which columns hardly anything is left, and what keeps some of them."""
    lost = hardly_left(run.facts["share_lost_by_attribute"])
    if not lost:
        return
    with ui.column().classes("note warn gap-1").props("role=status data-testid=hardly-left"):
        ui.label(f"Hardly anything is left of {first_of(lost, MOST_LOST)}: most values became as coarse as can be.")
        ui.label(
            "A limit keeps some of a column: others become coarser then, or more records are withheld. A column that "
            "serves nobody like this is better left out, which leaves more of all others."
        ).classes("small")
        with ui.row().classes("gap-x-4 gap-y-1"):
            for name in lost[:MOST_LOST]:
                ui.link(f"Keep some of {name}", f"/limits?column={quote(name)}").classes("small")


def show_before_after(run: Run) -> None:
    """Show some records as they were, and what they became."""
    found = run.before_after
    if not found or not found["rows"]:
        return
    columns: list[str] = found["columns"]
    with theme.card():
        theme.heading("Before and after")
        if found["linked"]:
            ui.label(
                "What was coarsened is green, the original value in small letters above it; a line parts the groups. "
                "For your eyes only: this is not part of the release."
            ).classes("muted small")
        else:
            ui.label(
                "The first released rows. Here the records lie in a database, or are very many, and have no numbers: "
                "so their originals are not shown beside them."
            ).classes("muted small")
        left_out = columns_left_out(run.facts)
        if left_out:
            ui.label(f"Left out altogether: {left_out}.").classes("small")
        rows = list(_pairs(found["rows"], columns, found["sizes"]))
        marked_table(["", *columns], rows, label="records before and after", kind="pairs", testid="before-after")


def _pairs(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], sizes: Sequence[tuple[int, bool]]
) -> Iterator[list[str]]:
    """Write every record as cells: what was in small letters, what is released below it, if it differs."""
    shown: set[object] = set()
    listed = Counter(row["group"] for row in rows)
    for row in rows:
        before, after, group = row["before"], row["after"], row["group"]
        begins = "" if group in shown else " begins"
        shown.add(group)
        if after is None:
            yield [
                f'<span class="chip warn{begins}">withheld</span>',
                *(f'<span class="was">{cell(was)}</span>' for was in before),
            ]
            continue
        mark = ""
        if begins and group is not None:
            size, more = sizes[group]
            of = f"{listed[group]} of {size:,}{' or more' if more else ''}"
            mark = f'<span class="chip{begins}">group {"ABCDEFGH"[group]}: {of}</span>'
        yield [
            mark,
            *(
                _both(None if before is None else before[place], after[place], before is None)
                for place in range(len(columns))
            ),
        ]


def _both(was: str | None, now: str | None, unknown: bool) -> str:
    if unknown or was == now:
        return f'<span class="is">{cell(now)}</span>'
    return f'<span class="was">{cell(was)}</span><span class="is coarser">{cell(now)}</span>'

"""A maintained release, drawn: its newest version in numbers, its history, its drift, and what an audit found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hedgerow.maintenance.store import VersionRow
from hedgerow.reports.charts import line_chart
from hedgerow.reports.versions import ADVICE, audit_checks, kept_wide
from hedgerow.studio import theme
from hedgerow.studio.components.marked_table import marked_table, said
from hedgerow.studio.stores import StoreView

NONE = "–"
STRICT = ("gated", "cohorts")
"""Rules under which nothing may be learned from several versions."""


def held_back(row: VersionRow) -> int:
    """Count the records of a version that are not released."""
    return sum(int(row.counts[name]) for name in ("held_back", "withdrawn", "withheld"))


def show_newest(view: StoreView) -> None:
    """Show the newest version in numbers."""
    row = view.newest
    counts, left = row.counts, row.audit.get("people_left", {})
    with ui.element("div").classes("tiles"):
        theme.tile("newest version", f"{row.number:,}", "version", f"by {row.verb}, {_when(row)} UTC")
        theme.tile("released", f"{counts['released']:,}", "released", f"of {counts['records']:,} records")
        theme.tile("held back", f"{held_back(row):,}", "withheld", "until they can be hidden")
        theme.tile("groups", f"{counts['groups']:,}", "groups", f"of {view.k:,} or more")
        theme.tile("loss", f"{row.scores['ntil']:.4f}", "loss", _drift(row))
        least = left.get("least")
        beside = "audit to know" if least is None else f"at least, over all versions; asked: {view.k:,}"
        theme.tile("people left", NONE if least is None else f"{least:,}", "people-left", beside)


def show_advice(view: StoreView) -> None:
    """Say whether too much could be learned from all versions, and whether the plan advises to start over."""
    leaks = view.newest.audit.get("leaks")
    if leaks:
        who = "1 person" if leaks == 1 else f"{leaks:,} people"
        text = f"Whoever holds all versions could learn too much about {who}: see the audit before you hand it out."
        theme.note(text, "bad" if view.republish in STRICT else "warn", testid="leaks")
    if wide := kept_wide(view.newest.scores):
        theme.note(f"The loss would be {wide}.", testid="kept-wide")
    drift = view.newest.scores["drift"]
    if view.advise_above is None or drift is None or drift <= view.advise_above:
        return
    text = f"The loss is more than {view.advise_above:.1%} above that of a release made afresh; the plan warns of that."
    can = view.republish in ("free", "gated")
    theme.note(
        f"{text} {'Restart would lower it.' if can else 'Its plan lets nobody be grouped anew.'}",
        "warn",
        testid="drift-advice",
    )


def show_history(view: StoreView) -> None:
    """Show every version in a row, the newest first."""
    rows = []
    for row in reversed(view.versions):
        counts, audit, drift = row.counts, row.audit, row.scores["drift"]
        people, leaks = audit.get("people_left", {}).get("least"), audit.get("leaks")
        values = [part["least"] for part in audit.get("values_left", {}).values() if part["least"] is not None]
        far = view.advise_above is not None and drift is not None and drift > view.advise_above
        rows.append(
            [
                f"<b>{row.number}</b>",
                said(row.verb),
                said(_when(row)),
                f"{counts['records']:,}",
                *(f"{counts[name]:,}" if counts[name] else "" for name in ("inserted", "deleted", "updated")),
                f"{counts['released']:,}",
                f"{held_back(row):,}",
                f"{counts['groups']:,}",
                f"{row.scores['ntil']:.4f}",
                said(_signed(drift), "warned" if far else ""),
                said(NONE if people is None else people, "bad" if people is not None and people < view.k else ""),
                f"{min(values)}" if values else NONE,
                said(NONE if leaks is None else f"{leaks:,}", "bad" if leaks else ""),
            ]
        )
    head = ["version", "by", "made (UTC)", "records", "came", "left", "changed", "released", "held back", "groups"]
    head += ["loss (NTIL)", "drift", "people left", "values left", "leaks"]
    with theme.card():
        theme.heading("History")
        marked_table(head, rows, label="history", numbers=(0, *range(3, 15)), testid="history")
        ui.label(
            "Drift: loss against a release made afresh. People and values left: of how many people a person can be "
            "one, and how many sensitive values remain possible, to somebody who holds all versions up to this one; "
            f"the least of all. Leaks: people for whom that is too few. {NONE}: not audited."
        ).classes("muted small")


def show_drift(view: StoreView) -> None:
    """Draw the loss of every version beside that of a release made afresh."""
    with theme.card():
        theme.heading("Drift")
        if len(view.versions) == 1:
            ui.label(
                "With a second version, this shows how far the loss is from that of a release made afresh."
            ).classes("muted")
            return
        series = {
            "maintained": [(row.number, row.scores["ntil"]) for row in view.versions],
            "made afresh": [
                (row.number, row.scores["fresh_ntil"]) for row in view.versions if row.scores["fresh_ntil"] is not None
            ],
        }
        theme.chart(line_chart(series, title="Loss by version", x="version", y="loss (NTIL)"))


def show_audit(found: Mapping[str, Any]) -> None:
    """Show what holders of all versions could learn, check by check."""
    versions = {1: "the only version", 2: "both versions"}.get(found["versions"], f"all {found['versions']:,} versions")
    leaks, people = found["leaks"], found["people"]
    if leaks:
        who = "1 person" if leaks == 1 else f"{leaks:,} people"
        share = min(leaks / people, 1) if people else 1
        text = f"Whoever holds {versions} could learn too much about {who} ({share:.1%} of {people:,})."
        if found["republish"] in STRICT:
            text += " The plan forbids that: do not hand out the newest version."
        theme.note(text, "bad", testid="audit-verdict")
    else:
        text = f"Whoever holds {versions} learns too much about nobody, of {people:,} people who were published."
        theme.note(text, "good", testid="audit-verdict")
    rows = []
    for name, asked, worst, failing, meaning in audit_checks(found):
        mark = (
            ""
            if failing is None
            else '<span class="chip bad">✗ fails</span>'
            if failing
            else '<span class="chip good">✓ holds</span>'
        )
        count = NONE if failing is None else said(f"{failing:,}", "bad" if failing else "")
        rows.append(
            [
                mark,
                f'<b>{said(name)}</b><br><span class="muted small">{said(meaning)}</span>',
                said(asked),
                said(worst),
                count,
            ]
        )
    head = ["", "check", "asked", "worst", "people who fail"]
    marked_table(head, rows, label="audit", numbers=[2, 3, 4], wraps=[1], testid="audit-table")
    if leaks and found["republish"] not in STRICT:
        ui.label("What to do").classes("font-bold")
        for text in ADVICE:
            ui.label(f"• {text}").classes("small")


def _when(row: VersionRow) -> str:
    return row.made_at[:16].replace("T", " ")


def _drift(row: VersionRow) -> str:
    drift = row.scores["drift"]
    if drift is None:
        return "drift not known at this size"
    if row.verb in ("create", "restart"):
        return "just made afresh"
    return f"{'' if row.scores['exact'] else 'about '}{_signed(drift)} against a fresh one"


def _signed(share: float | None) -> str:
    if share is None:
        return NONE
    return f"{share:+.1%}" if round(share, 3) else "0.0%"

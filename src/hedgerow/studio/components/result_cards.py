"""Cards of the result: groups, losses, limits, risks and promises of a release, all of it from its facts."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from hedgerow.plan import Plan
from hedgerow.privacy.risks import accepted_risk
from hedgerow.reports.charts import bar_chart, histogram, scatter, size_bins
from hedgerow.reports.level_words import limit_words
from hedgerow.reports.material import Material
from hedgerow.reports.wording import ATTACKERS, WITHHELD_BECAUSE, worths_mark
from hedgerow.studio import theme
from hedgerow.studio.components.marked_table import BROKEN, KEPT, marked_table, said
from hedgerow.studio.components.result_overview import material_of
from hedgerow.studio.runs import Run
from hedgerow.verification import MEANINGS

THRESHOLDS = {
    0.33: "0.33: 1 in 3, groups of 3",
    0.2: "0.2: 1 in 5, groups of 5",
    0.09: "0.09: 1 in 11, what EMA asks of clinical data that anybody may read",
    0.05: "0.05: 1 in 20, groups of 20",
}


def thresholds(plan: Plan) -> dict[float, str]:
    """Return the thresholds to choose from: those in use, and that of the plan."""
    return {plan.accepted: f"{plan.accepted:g}: as the plan says", **THRESHOLDS}


def show_groups(run: Run) -> None:
    """Show how large groups are."""
    sizes = {int(size): count for size, count in run.facts["group_sizes"].items()}
    with theme.card():
        theme.heading("Group sizes")
        ui.label(
            "A group is all rows that agree in every quasi-identifier: nobody can tell its members apart by these."
            + (
                " A missing cell counts as any value here, so rows are alike with those of other groups too."
                if run.plan.missing == "matches-any"
                else ""
            )
        ).classes("muted small")
        theme.chart(histogram(size_bins(sizes), title="Groups by size", x="records in a group", y="groups"))


def show_losses(run: Run) -> None:
    """Show what every column lost, and what it is still worth."""
    lost, worth = run.facts["share_lost_by_attribute"], run.facts["research_value_by_attribute"]
    with theme.card():
        theme.heading("Loss by attribute")
        ui.label("Share of each column's detail that is gone.").classes("muted small")
        bars = [(name, round(100 * share, 1)) for name, share in lost.items()]
        theme.chart(bar_chart(bars, title="Share of each column that was lost", unit="%", most=100))
    with theme.card():
        theme.heading("Research value by attribute")
        ui.label(
            "How much distinctions that the plan weighs are still worth; together, the research value above."
        ).classes("muted small")
        theme.chart(
            bar_chart([(name, round(value, 4)) for name, value in worth.items()], title="Research value by attribute")
        )


def show_limits(run: Run) -> None:
    """Show every limit, that it is kept, and what it costs."""
    plan, facts = run.plan, run.facts
    limited = {name: limit for name in plan.quasi_identifiers if (limit := plan.attributes[name].limit) is not None}
    with theme.card():
        theme.heading("Limits")
        if not limited:
            ui.label("The plan sets no limit: any value may be coarsened until nothing is left of it.")
            ui.link("Set limits", "/limits")
            return
        told = facts.get("limits_by_attribute") or {}
        rows = []
        for name in limited:
            broken = facts["limits_broken_by_attribute"].get(name, 0)
            found = told.get(name, {})
            rows.append(
                [
                    said(name),
                    said(limit_words(plan.attributes[name])),
                    f"{broken:,}" if not broken else said(f"{broken:,}", "bad"),
                    _count(found.get("withholds")),
                    _count(found.get("alone")),
                    "–" if found.get("may_lose") is None else f"{found['may_lose']:.1%}",
                    f"{facts['share_lost_by_attribute'][name]:.1%}",
                ]
            )
        head = ["column", "limit", "broken", "withheld because of it", "withheld by it alone", "may lose", "lost"]
        marked_table(head, rows, label="limits", numbers=range(2, 7), wraps=[1], testid="limits-table")
        ui.label("Withheld because of it: how many fewer records would be withheld without this one limit.").classes(
            "muted small"
        )


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def show_withheld(run: Run) -> None:
    """Say how many records were withheld, and why; and which rules are kept."""
    facts = run.facts
    with theme.card():
        theme.heading("Withheld, and why")
        if not facts["withheld"]:
            ui.label("No record was withheld.")
        for reason, count in facts.get("withheld_because", {}).items():
            if count:
                ui.label(f"{count:,} {'record' if count == 1 else 'records'} {WITHHELD_BECAUSE.get(reason, reason)}")
        if facts["withheld"] and facts.get("withheld_is_least") and run.plan.keeps_limits:
            ui.label("No release within the limits withholds fewer.").classes("muted small")
        theme.heading("Rules")
        if not facts.get("rules"):
            ui.label("The plan asks for no distinction between values.").classes("muted")
            return
        rows = [
            [
                KEPT if rule["kept"] else '<span class="chip warn">✗ broken</span>',
                said(rule["name"]),
                said(rule["attribute"]),
                _count(rule.get("groups_breaking")),
            ]
            for rule in sorted(facts["rules"], key=lambda rule: rule["kept"])
        ]
        marked_table(["", "rule", "column", "groups that break it"], rows, label="rules", numbers=[3], testid="rules")
        ui.label("A rule is a wish: a broken one breaks no promise.").classes("muted small")


def show_disclosures(run: Run) -> None:
    """Say what groups give away of sensitive columns."""
    facts, sensitive = run.facts, run.plan.columns("sensitive")
    with theme.card():
        theme.heading("What groups give away")
        if not sensitive:
            ui.label("The plan names no sensitive column.").classes("muted")
            return
        ui.label(
            "Where all of a group share one sensitive value, it is known of each of them, though nobody was found."
        ).classes("muted small")
        alone = facts["attribute_disclosures"]["by_attribute"]
        share = facts.get("largest_share_of_one_value") or {}
        rows = [
            [
                said(name),
                said(f"{alone.get(name, 0):,}", "warned" if alone.get(name) else ""),
                "–" if name not in share else f"{share[name]:.0%}",
            ]
            for name in sensitive
        ]
        head = ["sensitive column", "groups with one value", "largest share of one value"]
        marked_table(head, rows, label="attribute disclosures", numbers=[1, 2], testid="disclosures")
        if any(alone.get(name) for name in sensitive) and not run.plan.privacy.asked:
            ui.link("Ask for p different values in every group", "/promise").classes("small")


def show_risks(run: Run) -> None:
    """Show how likely three attackers find somebody, against a threshold that can be chosen."""
    material = material_of(run)
    with theme.card():
        theme.heading("Risk of being found")
        choice = ui.select(
            thresholds(run.plan), value=run.plan.accepted, label="A risk that is just acceptable"
        ).classes("w-full")
        choice.classes("w-full").props("outlined dense data-testid=threshold")
        place = ui.column().classes("w-full gap-2").props("aria-live=polite data-testid=risks")

    def draw() -> None:
        place.clear()
        with place:
            _draw_risks(material, float(choice.value))

    choice.on_value_change(theme.safely(draw))
    draw()


def _draw_risks(material: Material, threshold: float) -> None:
    found = material.risks(threshold)
    if found is None:
        ui.label("The facts of this release do not say.")
        return
    above = found["prosecutor"]["share_above_threshold"]
    size = -(-accepted_risk(threshold).denominator // accepted_risk(threshold).numerator)
    if above:
        theme.note(
            f"{above:.1%} of the released records are above it: their groups have fewer than {size} {material.people}.",
            "warn",
            testid="risk-verdict",
        )
    else:
        theme.note(
            f"No released record is above it: each is one of {size} {material.people} or more.",
            "good",
            testid="risk-verdict",
        )
    rows = []
    for attacker, who in ATTACKERS.items():
        of = found[attacker]
        shares = [
            "–" if of.get(name) is None else f"{of[name]:.1%}"
            for name in ("highest", "average", "share_above_threshold")
        ]
        rows.append([said(who), *shares])
    head = ["somebody who …", "at worst right", "on average right", "records above"]
    rows = [[row[0].replace("Somebody who ", "… ", 1), *row[1:]] for row in rows]
    marked_table(head, rows, label="risks of three attackers", numbers=[1, 2, 3], wraps=[0], testid="risk-table")


def show_promises(run: Run) -> None:
    """Show every promise as the check found it."""
    with theme.card():
        theme.heading("Promises, as the check found them")
        ui.label(
            "The check shares no code with what made the release: it read the files again and counted for itself."
        ).classes("muted small")
        rows = [
            [
                KEPT if promise["kept"] else BROKEN,
                f'<b>{said(promise["name"])}</b><br><span class="muted small">{said(MEANINGS[promise["name"]])}</span>',
                said(_short(promise["asked"])),
                said(_short(promise["found"])),
            ]
            for promise in run.verification["promises"]
        ]
        marked_table(["", "promise", "asked", "found"], rows, label="promises", wraps=[1, 2, 3], testid="promises")


def _short(text: object, most: int = 200) -> str:
    shown = f"{text:,}" if isinstance(text, int) else str(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def show_runs(runs: Sequence[Run], current: Run | None = None) -> None:
    """Show what all runs risk, and what they are worth."""
    with theme.card():
        theme.heading("Risk and utility of all runs")
        if len(runs) == 1:
            ui.label("One run so far. Change a limit, k or the method and run again, to see what it costs.").classes(
                "muted small"
            )
        points = [
            {
                "x": risks["prosecutor"]["average"],
                "y": run.facts["research_value"],
                "label": f"run {run.number}, k = {run.plan.privacy.k}" + (" (this)" if run is current else ""),
                "series": run.plan.method.name + worths_mark(run.facts),
            }
            for run in runs
            if (risks := run.risks(run.plan.accepted)) is not None
        ]
        theme.chart(
            scatter(
                points,
                title="Risk and utility of all runs",
                x="average risk (left is safer)",
                y="research value (up is better)",
            )
        )

"""A report, drawn for a terminal: facts, promises, risks, what the limits did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.privacy.risks import COMMON_THRESHOLDS
from hedgerow.reports.reading import Facts
from hedgerow.reports.terminal.maintained import audit_summary
from hedgerow.reports.terminal.parts import titled
from hedgerow.reports.terminal.release import facts_summary, verification_summary
from hedgerow.reports.verdict import risks_of_facts
from hedgerow.reports.wording import ATTACKERS_IN_SHORT, NONE, percent


def report_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show a report, given as :meth:`hedgerow.reports.reporting.Report.to_dict` writes it."""
    parts: list[RenderableType] = []
    if found["verification"]["kept"]:  # facts of a broken release may be anything
        parts += [facts_summary(found["facts"]), Text()]
    parts += [verification_summary(found["verification"], found["verdict"]), Text()]
    parts += [risk_summary(found["facts"], found["risks"])]
    if found["limit_effects"]:
        parts += [Text(), _effects(found["limit_effects"])]
    if found["audit"] is not None:
        parts += [Text(), audit_summary(found["audit"])]
    return Group(*parts)


def risk_summary(facts: Mapping[str, Any], risks: Mapping[str, Any] | None) -> RenderableType:
    """Show the risks of the three attackers, and against the thresholds that are in use."""
    if risks is None:
        return Text("risks: unknown, the facts do not say how many people each record cannot be told from", "yellow")
    shares = []
    for threshold in COMMON_THRESHOLDS:
        at = risks_of_facts(Facts(facts), threshold)
        if at is not None:
            shares.append(f"{threshold:g}: {percent(at['prosecutor']['share_above_threshold'])}")
    return Group(
        attackers(risks), Text(), Text(f"  records above common thresholds  {'   '.join(shares)}", style="dim")
    )


def attackers(risks: Mapping[str, Any]) -> Table:
    """Show the risks of the three attackers, against one threshold."""
    title = f"risk of being found (threshold {risks['threshold']:g})"
    table = titled(title, "by somebody", numbers=("highest", "average", "records above"))
    for attacker, who in ATTACKERS_IN_SHORT.items():
        of = risks[attacker]
        above = of.get("share_above_threshold")
        table.add_row(
            who,
            f"{of['highest']:.4f}" if "highest" in of else NONE,
            f"{of['average']:.4f}",
            NONE if above is None else Text(percent(above), style="yellow" if above else "green"),
        )
    return table


def _effects(effects: Sequence[Mapping[str, Any]]) -> Table:
    title = "each limit, with it → without it (for the owner's eyes)"
    table = titled(title, "attribute", numbers=("withheld", "loss (NTIL)", "lost of the column"))
    for effect in effects:
        if "problem" in effect:
            table.add_row(effect["attribute"], Text("none without it", style="yellow"))
            continue
        withheld, loss, share = effect["withheld"], effect["loss"], effect["share_lost"]
        table.add_row(
            effect["attribute"],
            f"{withheld['with']:,} → {withheld['without']:,}",
            f"{loss['with']:.4f} → {loss['without']:.4f}",
            f"{share['with']:.1%} → {share['without']:.1%}",
        )
    return table

"""An assessment, told on one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from hedgerow.reports.assessed import (
    demand_text,
    failing_text,
    headline,
    held,
    notes,
    people_word,
    sample_rows,
    share_text,
    special_text,
    telling,
    uniqueness_rows,
)
from hedgerow.reports.charts import bar_chart
from hedgerow.reports.html.markup import name, state
from hedgerow.reports.html.rendering import environment
from hedgerow.reports.wording import ATTACKERS, NONE, percent
from hedgerow.version import __version__

MOST_BARS = 20


def assessment_html(found: Mapping[str, Any], of: str = "a table") -> str:
    """Write an assessment as one HTML page.

    Parameters
    ----------
    found
        As :meth:`hedgerow.evaluation.assessing.Assessment.to_dict` writes it.
    of
        What the table is called.
    """
    given = {
        "of": of,
        "found": found,
        "headline": headline(found),
        "notes": list(notes(found)),
        "people": people_word(found),
        "demands": [_demand(demand) for demand in found["demands"]],
        "chart": _chart(found),
        "parts": [_part(part) for part in found["parts"]],
        "combinations": [
            (Markup(" + ").join(map(name, one["columns"])), f"{one['unique']:,}", f"{one['smallest_of']:,}")
            for one in telling(found)
        ],
        "risks": [_risk(found["risks"][attacker], who) for attacker, who in ATTACKERS.items()],
        "special": special_text(found),
        "sample": None if found["sample"] is None else sample_rows(found["sample"], found["risks"]["threshold"]),
        "uniqueness": None if found["uniqueness"] is None else uniqueness_rows(found["uniqueness"]),
        "threshold": f"{found['risks']['threshold']:g}",
        "sensitive": [_sensitive(one, found["holds"][one["column"]]) for one in found["disclosures"]],
        "style": Markup(files("hedgerow.reports.html").joinpath("report.css").read_text(encoding="utf-8")),
        "version": __version__,
    }
    return environment().get_template("assessment.html.j2").render(given) + "\n"


def _demand(demand: Mapping[str, Any]) -> tuple[str, Markup, str]:
    holds = state("kept", "✓ holds") if demand["kept"] else state("broken", "✗ does not hold")
    return demand_text(demand), holds, failing_text(demand)


def _chart(found: Mapping[str, Any]) -> str:
    """Draw how many stay unique without each column."""
    bars = [
        (part["column"], round(100 * part["unique_without"] / found["people"], 2))
        for part in found["parts"][:MOST_BARS]
    ]
    return bar_chart(bars, title=f"{people_word(found)} that are unique without each column", unit="%", most=100)


def _part(part: Mapping[str, Any]) -> tuple[Markup, str, str, str, str, str]:
    return (
        name(part["column"]),
        f"{part['values']:,}",
        f"{part['unique_alone']:,}",
        f"{part['needed']:,}",
        f"{part['unique_without']:,}",
        share_text(part["share_of_scores"]),
    )


def _risk(risk: Mapping[str, Any], who: str) -> tuple[str, str, str, str]:
    above = risk.get("share_above_threshold")
    highest = f"{risk['highest']:.4f}" if "highest" in risk else NONE
    return who, highest, f"{risk['average']:.4f}", NONE if above is None else percent(above)


def _sensitive(one: Mapping[str, Any], holds: Mapping[str, Any]) -> tuple[Markup, str, str, str, str]:
    said = ", ".join(held(holds))
    return name(one["column"]), said, f"{one['groups']:,}", f"{one['records']:,}", percent(one["largest_share"])

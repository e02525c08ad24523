"""Attacks on a release, told on one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from hedgerow.reports.attacked import (
    ATTACKS,
    baseline_text,
    confidence_text,
    guess_rows,
    headline,
    left_text,
    linkage_rows,
    notes,
)
from hedgerow.reports.charts import bar_chart
from hedgerow.reports.html.markup import state
from hedgerow.reports.html.rendering import environment
from hedgerow.version import __version__


def attack_html(found: Mapping[str, Any], of: str = "a release") -> str:
    """Write attacks as one HTML page.

    Parameters
    ----------
    found
        As :meth:`hedgerow.evaluation.attacking.Attack.to_dict` writes them.
    of
        What the release is called.
    """
    given = {
        "of": of,
        "headline": headline(found),
        "notes": [*notes(found), confidence_text(found)],
        "linkage": [
            (*cells, state("broken" if word.startswith("✗") else "kept", word)) for *cells, word in linkage_rows(found)
        ],
        "left": left_text(found),
        "chart": _chart(found),
        "guesses": list(guess_rows(found)),
        "baseline": baseline_text(found),
        "style": Markup(files("hedgerow.reports.html").joinpath("report.css").read_text(encoding="utf-8")),
        "version": __version__,
    }
    return environment().get_template("attacked.html.j2").render(given) + "\n"


def _chart(found: Mapping[str, Any]) -> str:
    """Draw how often each attack is right beside what is promised."""
    bars = [(text, round(100 * found[name]["rate"], 2)) for name, text in ATTACKS.items() if found[name] is not None]
    bars.append((f"promised: 1 in {found['k']}", round(100 / found["k"], 2)))
    return bar_chart(bars, title="how often the attacker is right", unit="%", most=100)

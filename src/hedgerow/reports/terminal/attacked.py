"""Attacks on a release, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from hedgerow.reports.attacked import (
    baseline_text,
    confidence_text,
    guess_rows,
    headline,
    left_text,
    linkage_rows,
    notes,
)
from hedgerow.reports.terminal.parts import titled


def attack_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show attacks, given as :meth:`hedgerow.evaluation.attacking.Attack.to_dict` writes them."""
    parts: list[RenderableType] = [Text(headline(found), style="bold red" if found["beaten"] else "bold green")]
    parts += [Text(line, style="dim") for line in notes(found)]
    table = titled("how often the attacker is right", "picks", numbers=("right", "rate", "promised", "left"))
    table.add_column("")
    for *cells, state in linkage_rows(found):
        table.add_row(*cells, Text(state, style="bold red" if state.startswith("✗") else "green"))
    parts += [Text(), table]
    if found["guesses"]:
        guessed = titled("how often sensitive values are guessed", "column", numbers=("with it", "without", "gained"))
        for row in guess_rows(found):
            guessed.add_row(*row)
        parts += [Text(), guessed, Text(baseline_text(found), style="dim")]
    left = left_text(found)
    return Group(*parts, Text(left, style="dim"), Text(confidence_text(found), style="dim"))

"""Analyses before and after, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from hedgerow.reports.analysed import (
    COEFFICIENTS_HEAD,
    FIGURES_HEAD,
    coefficient_rows,
    counted_by,
    figure_rows,
    regression_title,
)
from hedgerow.reports.terminal.parts import titled


def utility_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what :meth:`hedgerow.evaluation.analysing.Utility.to_dict` writes."""
    parts: list[RenderableType] = [Text(f"• {sentence}") for sentence in found["sentences"]]
    parts.append(Text(counted_by(found), style="dim"))
    rows = list(figure_rows(found))
    if rows:
        first, second, *numbers = FIGURES_HEAD
        table = titled("columns of numbers", first, second, numbers=tuple(numbers))
        for row in rows:
            table.add_row(*row)
        parts += [Text(), table]
    for regression in found["regressions"]:
        first, *numbers = COEFFICIENTS_HEAD
        table = titled(regression_title(regression), first, numbers=tuple(numbers))
        for row in coefficient_rows(regression):
            table.add_row(*row)
        parts += [Text(), table]
    parts.append(Text("\nThis tells about the original records: keep it to yourself.", style="dim"))
    return Group(*parts)

"""The part of an internal report that says whether analyses still come out; measured on the original."""

from __future__ import annotations

from typing import Any

from hedgerow.reports.analysed import FIGURES_HEAD, counted_by, figure_rows
from hedgerow.reports.material import Material
from hedgerow.reports.wording import shorten


def analyses(material: Material) -> dict[str, Any] | None:
    """Say it in sentences, and of every column of numbers in figures; None if nothing was measured."""
    found = material.extras.analyses
    if found is None:
        return None
    return {
        "sentences": [shorten(sentence, 400) for sentence in found["sentences"]],
        "counted_by": counted_by(found),
        "head": list(FIGURES_HEAD),
        "rows": [[shorten(cell, 60) for cell in row] for row in figure_rows(found)],
    }

"""Comparing what was seen in tables."""

from __future__ import annotations

from typing import Any

from hedgerow.evaluation.drafting import Examination


def seen_of(examination: Examination) -> tuple[Any, ...]:
    """Everything of an examination but how the source is written."""
    return (
        examination.records,
        examination.columns,
        examination.proposals,
        examination.missing,
        examination.preview,
    )

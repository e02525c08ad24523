"""Analysing a release: its columns as numbers, intervals and days, and what can be estimated from them, with bounds."""

from hedgerow.evaluation.analysing.comparing import utility
from hedgerow.evaluation.analysing.estimating import Estimate
from hedgerow.evaluation.analysing.side_by_side import Utility
from hedgerow.evaluation.analysing.typed import TypedColumn, TypedRelease, read_release

__all__ = ["Estimate", "TypedColumn", "TypedRelease", "Utility", "read_release", "utility"]

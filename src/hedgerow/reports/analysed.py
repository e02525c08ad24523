"""What analyses come to before and after, in words: the same in a report, on a terminal and in the studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MOST_ROWS = 40
FIGURES_HEAD = ("column", "figure", "original", "release", "moved by")
COEFFICIENTS_HEAD = ("coefficient", "original", "release", "intervals overlap")


def counted_by(found: Mapping[str, Any]) -> str:
    """Say what every record counts."""
    if found["weighted"] is None:
        return "Every record counts once. A coarse number counts as the middle of what it stands for."
    return (
        f"Records count by their weights in {found['weighted']}. A coarse number counts as the middle of its interval."
    )


def figure_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield means and spreads of columns of numbers, and how far they moved, in standard deviations of the original."""
    for one in found["figures"][: 7 * MOST_ROWS]:
        if one["figure"] in ("mean", "standard deviation", "quantile 0.5"):
            figure = one["figure"].replace("quantile 0.5", "median")
            yield one["column"], figure, _number(one["original"]), _number(one["released"]), f"{one['shift']:+.3f} sd"


def coefficient_rows(regression: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the coefficients of a regression before and after."""
    for one in regression["coefficients"][:MOST_ROWS]:
        yield one["name"], _number(one["original"]), _number(one["released"]), f"{one['overlap']:.0%}"


def regression_title(regression: Mapping[str, Any]) -> str:
    """Say which regression it is, and how much of it is left."""
    return (
        f"{regression['formula']} ({regression['kind']}): intervals overlap by {regression['overlap']:.0%} on average"
    )


def _number(value: float) -> str:
    """Write four digits: a median is somebody's value, and need not be told to the last."""
    shown = float(f"{value:.4g}")
    return f"{shown:,.4g}" if abs(shown) < 1000 else f"{shown:,.0f}"

"""How far the values of a column have moved: the original distribution against what a release shows of it.

On the release every published value is spread evenly over what it covers among the values of the domain, and a
suppressed cell over all of them. Withheld records are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.patterns.covering import scale_of
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.recoding import Recoding

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DistributionDistance:
    """How far one column has moved.

    Attributes
    ----------
    total_variation
        Share of the records that would have to change their value, from 0 to 1.
    earth_movers
        Of an ordered column: how far each record would have to move on average, as a share of the way from the least
        value to the greatest, every step to the next value being as long as the others (as in t-closeness with
        ordered distance). Missing values are left out. None if the column has no order.
    """

    total_variation: float
    earth_movers: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the distances as plain data for JSON."""
        moved = None if self.earth_movers is None else round(self.earth_movers, 9)
        return {"total_variation": round(self.total_variation, 9), "earth_movers": moved}


def distances(microdata: Microdata, recoding: Recoding) -> dict[str, DistributionDistance]:
    """Measure, by quasi-identifier, how far the released values are from the original ones; 1 if none is released."""
    found = {}
    for position, column in enumerate(microdata.columns):
        raw = np.bincount(microdata.codes(position), microdata.counts, column.domain_size).astype(np.float64)
        released = _spread(microdata, recoding, position)
        scale = scale_of(column)
        moved = None if scale is None else _earth_movers(raw[scale.values], released[scale.values])
        found[column.name] = DistributionDistance(_total_variation(raw, released), moved)
    return found


def _spread(microdata: Microdata, recoding: Recoding, position: int) -> Floats:
    """Expected number of released records of every code."""
    column, shown = microdata.columns[position], recoding.shown(position)
    if shown.told is not None and isinstance(column, TreeColumn):
        spread: Floats = (recoding.sizes / column.values_of(shown)) @ column.members(shown)
        return spread
    if isinstance(column, FreeColumn):
        shown = column.as_read(shown)
        low, high, all_codes = shown.lo, shown.hi, len(column.intervals.scaled) or column.domain_size
    else:
        hierarchy = column.hierarchy
        low, high, all_codes = hierarchy.first_leaf[shown.node], hierarchy.last_leaf[shown.node], column.domain_size
    shows = recoding.shows(position)
    low, high = np.where(shows, low, 0), np.where(shows, high, all_codes - 1)
    share = recoding.sizes / (high - low + 1)
    steps = np.bincount(low, share, column.domain_size + 1) - np.bincount(high + 1, share, column.domain_size + 1)
    return np.cumsum(steps)[:-1]


def _total_variation(raw: Floats, released: Floats) -> float:
    if not raw.sum() or not released.sum():
        return float(raw.sum() != released.sum())
    return float(np.abs(raw / raw.sum() - released / released.sum()).sum() / 2)


def _earth_movers(raw: Floats, released: Floats) -> float | None:
    """Mass that crosses every step between neighbouring values, over the number of steps."""
    if not raw.sum() or not released.sum():
        return None
    moved = np.abs(np.cumsum(raw / raw.sum() - released / released.sum())[:-1])
    return float(moved.mean()) if len(moved) else 0.0

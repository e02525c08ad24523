"""How many cells of free intervals show an exact value: the ends of [min, max] are values of group members."""

from __future__ import annotations

from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.microdata.recoding import Recoding


def exact_end_points(microdata: Microdata, recoding: Recoding) -> dict[str, int]:
    """Count, by free attribute, the released records whose value is a published end; 0 where ends are snapped."""
    in_group = recoding.group_of >= 0
    group = recoding.group_of[in_group]
    profile = microdata.profile_of_unit[in_group]
    counts = {}
    for position, column in enumerate(microdata.columns):
        if isinstance(column, FreeColumn) and column.instead is None:
            codes = microdata.codes(position)[profile]
            shown = (codes == recoding.lo[group, position]) | (codes == recoding.hi[group, position])
            numbers = codes < len(column.intervals.scaled)
            counts[column.name] = (
                0
                if column.intervals.snap is not None
                else int((shown & numbers & recoding.shows(position)[group]).sum())
            )
    return counts

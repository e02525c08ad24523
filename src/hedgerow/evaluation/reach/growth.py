"""How the records that k needs grow with the number of attributes: the question of Morton 2013, Figure 23."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.evaluation.reach.cells import CellProbabilities
from hedgerow.evaluation.reach.needed import records_needed

USUAL_K = (3, 5, 10)


@dataclass(frozen=True)
class Growth:
    """Records needed for some attributes.

    Attributes
    ----------
    attributes
        How many: the first of them.
    k, records
        What every combination needs, and how many records it takes for the chance asked; None if more than 10¹⁵.
    """

    attributes: int
    k: int
    records: int | None


def growth(
    combinations: Sequence[CellProbabilities], ks: Sequence[int], chance: float, *, empty_allowed: bool = False
) -> tuple[Growth, ...]:
    """Find the records needed for the first attribute, the first two, and so on, and for each k.

    Examples
    --------
    >>> two = [CellProbabilities.of(2), CellProbabilities.of(4)]
    >>> [found.records for found in growth(two, [5], 0.95)]
    [17, 42]
    """
    return tuple(
        Growth(number, k, records_needed(cells, k, chance, empty_allowed=empty_allowed))
        for k in sorted(set(ks))
        for number, cells in enumerate(combinations, 1)
    )

"""Special uniques: people whom few columns single out, scored (SUDA2: Manning, Haglin and Keane 2008).

A score says how special somebody is, a *DIS score* how likely a match is right: the chance that a unique match is
right at all, found from the uniques and pairs of the sample (Skinner and Elliot 2002), shared out by the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.assessing.subsets import MOST_SCORED, Subsets
from hedgerow.types import IntArray

Floats = npt.NDArray[np.float64]
USUAL_FRACTION = 0.01


@dataclass(frozen=True)
class SpecialUniques:
    """How special the unique people are.

    Attributes
    ----------
    fraction
        The share of the population that is taken to be in the table.
    unique_match_is_right
        The chance that somebody of the population who matches one record alone is the person in it.
    records
        Records with a score: some few columns single them out.
    highest, average
        The greatest DIS score, and the mean of those records.
    above
        Records with a DIS score above the threshold.
    """

    fraction: float
    unique_match_is_right: float
    records: int
    highest: float
    average: float
    above: int


def special_uniques(
    score: Floats, records: IntArray, sizes: IntArray, columns: int, fraction: float, threshold: float
) -> SpecialUniques | None:
    """Sum up the scores of units that stand for so many records, in a table whose groups have these sizes.

    None where there are too many columns for scores to mean anything.
    """
    if columns > MOST_SCORED:
        return None
    dis, right = dis_scores(score, records, sizes, columns, fraction)
    scored = score > 0
    number = int(records[scored].sum())
    mean = math.fsum((dis * records)[scored]) / number if number else 0.0
    return SpecialUniques(
        fraction,
        round(right, 12),
        number,
        round(float(dis.max(initial=0.0)), 12),
        round(mean, 12),
        int(records[dis > threshold].sum()),
    )


def dis_scores(
    score: Floats, records: IntArray, sizes: IntArray, columns: int, fraction: float
) -> tuple[Floats, float]:
    """Return the DIS score of every unit, and the chance that a unique match is right.

    Examples
    --------
    >>> score, records = np.array([2.0, 0.0, 1.0]), np.array([1, 2, 1])
    >>> dis, right = dis_scores(score, records, np.array([1, 2, 1]), columns=3, fraction=0.5)
    >>> dis.round(3).tolist(), right
    ([0.628, 0.0, 0.415], 0.5)
    """
    unique, in_pairs = int((sizes == 1).sum()), 2 * int((sizes == 2).sum())
    dis = np.zeros(len(score))
    if not unique:
        return dis, 0.0
    right = unique * fraction / (unique * fraction + in_pairs * (1.0 - fraction))
    scored = score > 0
    if right == 1.0:
        dis[scored] = 1.0
    elif right > 0.0:
        power = 1.0 + (8.0 - columns) / 20.0
        special = score[scored] ** power
        whole = math.fsum(records[scored] / special)
        dis[scored] = 1.0 / (1.0 + unique * (1.0 / right - 1.0) / (special * whole))
    return dis, right


def shares_of_score(looked: Subsets) -> tuple[float | None, ...]:
    """Return, by column, the share of all scores that is of combinations which have it; None where nobody has one."""
    # Every combination counts with each of its columns, so the shares do not add up to 1.
    whole = looked.whole_score
    return tuple(round(part / whole, 12) if whole else None for part in looked.part_of_score)

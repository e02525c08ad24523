"""What groups are published as in place of a node or an interval, held against the values that they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell
from hedgerow.verification.values.figures import FigureJudge
from hedgerow.verification.values.numbers import read_number
from hedgerow.verification.values.sets import SetJudge

Behind = Mapping[tuple[Cell, ...], int]
"""The original cells behind a group, and how many rows each is behind; of several cells it is one of them."""


def check_group_values(evidence: Evidence) -> Promise:
    """Check, group by group, that what is published comes of the values of its records. Needs a sound link.

    A set has each of their values, and no others: that every row's value is in its set is part of what makes cells
    true. A mean or median is that of their numbers, rounded, and they lie within the limit of the column.
    """
    names = evidence.plan.publishes_instead
    asked = "what the values of each group come to"
    faults = []
    for name in names:
        judge, behind = evidence.judges[name], dict[int, Counter[tuple[Cell, ...]]]()
        for group, cells, count in evidence.behind_groups(name):
            behind.setdefault(group, Counter())[cells] += count
        wrong = far = 0
        for group, label in enumerate(evidence.combinations.labels_of_groups(name)):
            here = behind.get(group, Counter())
            if isinstance(judge, FigureJudge):
                wrong += not _is_figure(judge, label, here)
                far += evidence.plan.keeps_limits and _is_far(judge, here)
            else:
                assert isinstance(judge, SetJudge)
                members = {None} if label is None else set(judge.members(label))
                wrong += members != {cell for some in here for cell in some}
        if wrong:
            faults.append(f"{name}: {wrong} groups are published as what is not theirs")
        if far:
            faults.append(f"{name}: {far} groups have values beyond its limit")
    return Promise("group-values", asked, "; ".join(faults) or f"so in {len(names)} columns", kept=not faults)


def _is_figure(judge: FigureJudge, label: Cell, behind: Behind) -> bool:
    """Tell whether a cell is the mean or the median of numbers; where none is there, it is missing."""
    numbers = [(None if cells[0] is None else read_number(cells[0]), count) for cells, count in behind.items()]
    known = [(number, count) for number, count in numbers if number is not None]
    if label is None:
        return not known
    return len(known) == len(numbers) > 0 and judge.figure(known) == read_number(label)


def _is_far(judge: FigureJudge, behind: Behind) -> bool:
    numbers = [number for cells in behind for cell in cells if cell and (number := read_number(cell)) is not None]
    return bool(numbers) and judge.too_far(numbers)

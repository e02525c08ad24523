"""What a check of a node finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Checked:
    """What a check of a node found.

    Attributes
    ----------
    withheld
        Records in groups that fail.
    surely_withheld
        Those of them that every node below withholds too.
    excess
        What withholding them costs beyond generalizing them, in units of one record and the whole weight.
    groups, squares
        Number of groups that hold, and the sum of their squared sizes.
    """

    withheld: int
    surely_withheld: int
    excess: float
    groups: int
    squares: float

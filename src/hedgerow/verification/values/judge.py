"""What is asked of whoever judges the cells of a quasi-identifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

Cell = str | None
"""A cell as text; None is a missing value."""
Risk = Literal["none", "some", "sure"]
"""Whether a published cell breaks a limit, as far as that can be told without the value behind it."""


class Column(ABC):
    """Judge of one quasi-identifier column."""

    @abstractmethod
    def knows(self, label: Cell) -> bool:
        """Tell whether a cell may be published in this column at all."""

    @abstractmethod
    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell is true of an original one: an ancestor of it, or the same."""

    @abstractmethod
    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether one published cell of an original one is the same as another, or holds it."""

    @abstractmethod
    def breaks(self, value: Cell, label: Cell) -> bool:
        """Tell whether a published cell that covers the original one breaks its limit."""

    @abstractmethod
    def risk(self, label: Cell) -> Risk:
        """Tell whether a published cell breaks a limit, when the value behind it is not known."""

"""What every model of attribute disclosure says of itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hedgerow.privacy.tally import Tally

DECIMALS = 12
"""To which shares, distances and entropies are rounded where they are told."""


@runtime_checkable
class Model(Protocol):
    """A demand on the values of one sensitive column in every group.

    Attributes
    ----------
    survives_growth
        Whether a group that meets the demand still does with any record added. If so, withholding the cells that fail
        it is exact and least, and what must be withheld on the lattice shrinks upward. All models are closed under
        union: two groups that meet a demand meet it together; so without withholding each is monotone on the lattice.
    """

    survives_growth: ClassVar[bool]

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether it meets the demand."""
        ...

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it: its kind, as in ``codes.py``, and three parameters."""
        ...


def holds_for(
    model: Model, values: Iterable[Hashable | None], overall: Iterable[Hashable | None] | None = None
) -> bool:
    """Tell whether one group of values meets a demand; ``overall`` are those of the whole table.

    Examples
    --------
    >>> from hedgerow.privacy import PSensitive
    >>> holds_for(PSensitive(p=2), ["flu", "cold", None]), holds_for(PSensitive(p=2), ["flu", "flu", None])
    (True, False)
    """
    return bool(model.holds(Tally.of_values(values, overall))[0])

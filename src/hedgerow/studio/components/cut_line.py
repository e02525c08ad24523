"""The numbers of a column with free intervals: a histogram with cut lines that can be moved, and a greatest width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from hedgerow.plan.hierarchy.numbers import Number, number_label, parse_number


class CutLine(Element, component="cut_line.js"):
    """A histogram with the points that no interval may cross.

    Parameters
    ----------
    bins
        Start, end and records of every bin, in ascending order.
    cuts, width
        Limits as they are; no width is None.
    step
        Grid that cuts lie on: that of ``snap``, or one unit of the last decimal place.
    on_cuts, on_width
        Called with the points, and with the width or None, when a person has changed them.
    """

    def __init__(
        self,
        bins: Sequence[tuple[float, float, int]],
        cuts: Sequence[Number],
        width: Number | None,
        step: Number,
        *,
        label: str,
        on_cuts: Callable[[list[Number]], Any],
        on_width: Callable[[Number | None], Any],
    ) -> None:
        super().__init__()
        self._props["bins"] = [list(bin_) for bin_ in bins]
        self._props["label"] = label
        self._props["step"] = float(step)
        self._props["decimals"] = decimals(step)
        self._tell(cuts, width)

        def moved(event: GenericEventArguments) -> Any:
            found = [parse_number(str(cut)) for cut in event.args["cuts"]]
            return on_cuts([cut for cut in found if cut is not None])

        def widened(event: GenericEventArguments) -> Any:
            return on_width(parse_number(str(event.args["width"])))

        self.on("cuts", moved)
        self.on("width", widened)

    def _tell(self, cuts: Sequence[Number], width: Number | None) -> None:
        self._props["cuts"] = [number_label(cut) for cut in cuts]
        self._props["width"] = "" if width is None else number_label(width)

    def refresh(self, cuts: Sequence[Number], width: Number | None) -> None:
        """Show other limits."""
        self._tell(cuts, width)
        self.update()


def decimals(step: Number) -> int:
    """Count the decimal places of a step.

    Examples
    --------
    >>> from decimal import Decimal
    >>> decimals(5), decimals(Decimal("0.25"))
    (0, 2)
    """
    text = number_label(step)
    return len(text.partition(".")[2])

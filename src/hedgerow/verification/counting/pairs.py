"""Pairs of an original and a published cell, judged: what is untrue, beyond a limit, or shows an exact value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.verification.counting.spots import Spot, spot
from hedgerow.verification.values.columns import Cell, Column
from hedgerow.verification.values.numbers import Span, read_number, read_span


@dataclass(frozen=True, slots=True)
class Pair:
    """What lies behind cells of the release, and what they were published as.

    Attributes
    ----------
    values
        The original cell. More than one where the link does not tell records with different cells apart: then what is
        asked must be so for each.
    label
        The published cell.
    count, row
        How many cells, and the first row of the release that has one; 0: rows have no numbers.
    """

    values: tuple[Cell, ...]
    label: Cell
    count: int
    row: int


@dataclass(frozen=True)
class PairSums:
    """What is wrong with the published cells of a quasi-identifier, and what they tell, given what lies behind them.

    Attributes
    ----------
    untrue
        Cells that are not true of what lies behind them.
    broken
        Cells beyond their limit.
    exact, maybe_exact
        Cells that show an end which is, or may be, the value behind them.
    """

    untrue: Spot
    broken: Spot
    exact: int
    maybe_exact: int

    @classmethod
    def of(cls, judge: Column, pairs: Sequence[Pair]) -> PairSums:
        """Judge pairs of cells."""
        spans = {pair.label: None if pair.label is None else read_span(pair.label) for pair in pairs}
        shown = [(pair.count, [_shows(spans[pair.label], value) for value in pair.values]) for pair in pairs]
        return cls(
            spot((one.count, one.row) for one in pairs if any(not judge.covers(v, one.label) for v in one.values)),
            spot((one.count, one.row) for one in pairs if any(judge.breaks(v, one.label) for v in one.values)),
            sum(count for count, ends in shown if all(ends)),
            sum(count for count, ends in shown if any(ends)),
        )


def _shows(span: Span | None, value: Cell) -> bool:
    number = None if value is None else read_number(value)
    return span is not None and number is not None and number in (span.low, span.high)

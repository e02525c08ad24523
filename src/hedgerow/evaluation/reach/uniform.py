"""Attributes whose values are independent, equally likely or not: the question of Morton 2013, Table 12."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.evaluation.reach.cells import CellProbabilities, usage, whole_number
from hedgerow.evaluation.reach.chance import Chance, chance_of_reaching
from hedgerow.evaluation.reach.frequencies import Shares, combined, rounds, shares_of
from hedgerow.evaluation.reach.growth import USUAL_K, Growth, growth
from hedgerow.evaluation.reach.needed import records_needed
from hedgerow.evaluation.reach.simulation import Simulated, simulate_chance
from hedgerow.outside.notebook import html_table

USUAL_CHANCES = (0.05, 0.5, 0.95, 0.999)
CURVE_POINTS = 40


@dataclass(frozen=True)
class Needed:
    """How many records are needed for a chance; None if more than 10¹⁵."""

    chance: float
    records: int | None


@dataclass(frozen=True)
class Attempt:
    """What becomes of a number of records.

    Attributes
    ----------
    chance
        The chance, computed; None if that is too much to compute.
    simulated
        The same by trying, if repetitions were asked for.
    """

    records: int
    chance: Chance | None
    simulated: Simulated | None


@dataclass(frozen=True)
class Reach:
    """Whether k is within reach of records over made-up attributes.

    Attributes
    ----------
    values
        Number of values of every attribute.
    frequencies
        Share of every value of every attribute; None if they are equally likely.
    cells
        Number of combinations of values.
    attempts
        The numbers of records asked about.
    needed
        Records needed for a small, an even, a good and a near-certain chance, and for the one asked for.
    curve
        Numbers of records, evenly spaced, and their chances, from hardly any to near certain.
    """

    values: tuple[int, ...]
    cells: int
    k: int
    empty_allowed: bool
    chance: float
    attempts: tuple[Attempt, ...]
    needed: tuple[Needed, ...]
    curve: tuple[tuple[int, float], ...]
    frequencies: tuple[tuple[float, ...], ...] | None = None

    @property
    def records_needed(self) -> int | None:
        """Records needed for the chance that was asked for; None if more than 10¹⁵."""
        return next(needed.records for needed in self.needed if needed.chance == self.chance)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**asdict(self), "attributes": len(self.values), "records_needed": self.records_needed}

    def growth(self) -> tuple[Growth, ...]:
        """Find the records needed for the first attribute, the first two, and so on, for this k and 3, 5 and 10."""
        numbers = range(1, len(self.values) + 1)
        combinations: Iterable[CellProbabilities] = (
            CellProbabilities.of(math.prod(self.values[:number])) for number in numbers
        )
        if self.frequencies is not None:
            combinations = rounds([shares_of(each) for each in self.frequencies])
        return growth(list(combinations), [self.k, *USUAL_K], self.chance, empty_allowed=self.empty_allowed)

    def __repr__(self) -> str:
        needed = "more than 10^15" if self.records_needed is None else f"{self.records_needed:,}"
        return f"Reach({self.cells:,} combinations, k = {self.k}: {needed} records for a chance of {self.chance:g})"

    def _repr_html_(self) -> str:
        rows = ((needed.chance, needed.records) for needed in self.needed)
        return html_table(repr(self), ("chance", "records needed"), rows)


def simulate(
    attributes: int | None = None,
    values: int | Sequence[int] = 2,
    *,
    k: int,
    records: int | Sequence[int] = (),
    repetitions: int | None = None,
    seed: int = 0,
    chance: float = 0.95,
    empty_allowed: bool = False,
    frequencies: Sequence[Sequence[float | str]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reach:
    """Tell whether k is within reach at all: the chance that records over some attributes have k in every combination.

    Parameters
    ----------
    attributes
        How many attributes there are; not needed if ``values`` lists them.
    values
        How many values every attribute has, or how many each has. All are equally likely.
    k
        How many records every combination needs.
    records
        Numbers of records to look at.
    repetitions
        Also draw the records so many times and count; without it chances are only computed.
    seed
        Of the draws.
    chance
        The chance to find the needed number of records for.
    empty_allowed
        Whether a combination that no record has is good too.
    frequencies
        How often every value of every attribute occurs, as shares or counts, in the stead of ``values``. One list
        stands for all ``attributes``.
    progress
        Called with how many repetitions are done, and of how many.

    Examples
    --------
    >>> found = simulate(12, k=5, records=100_000)
    >>> found
    Reach(4,096 combinations, k = 5: 83,437 records for a chance of 0.95)
    >>> round(found.attempts[0].chance.probability, 6)
    0.998212
    >>> simulate(values=[2, 2, 5], k=5).records_needed
    266
    >>> simulate(3, frequencies=[[0.9, 0.1]], k=5)
    Reach(8 combinations, k = 5: 9,151 records for a chance of 0.95)
    """
    cells: int | CellProbabilities
    likely = None if frequencies is None else _likely(attributes, frequencies)
    if likely is None:
        sizes = _sizes(attributes, values)
        cells = math.prod(sizes)
    else:
        sizes = tuple(map(len, likely))
        cells = combined(likely)
    asked = (records,) if isinstance(records, int) else tuple(records)
    for number in asked:
        whole_number("records", number, 1)
    whole_number("seed", seed, 0)
    if repetitions is not None:
        whole_number("repetitions", repetitions, 1)
    chances = sorted({*USUAL_CHANCES, chance})
    needed = tuple(Needed(wanted, records_needed(cells, k, wanted, empty_allowed=empty_allowed)) for wanted in chances)
    attempts = []
    for position, number in enumerate(asked):
        tell = None
        if progress is not None:
            tell = _shifted(progress, position, len(asked))
        attempts.append(_attempt(cells, number, k, repetitions, seed, empty_allowed, tell))
    curve = _curve(cells, k, empty_allowed, [one.records for one in needed if one.records is not None])
    told = None if likely is None else tuple(tuple(map(float, shares)) for shares in likely)
    return Reach(sizes, math.prod(sizes), k, empty_allowed, chance, tuple(attempts), needed, curve, told)


def _likely(attributes: int | None, frequencies: Sequence[Sequence[float | str]]) -> tuple[Shares, ...]:
    """Return the shares of the values of every attribute."""
    found = tuple(map(shares_of, frequencies))
    if not found:
        raise usage("'frequencies' must list those of at least one attribute.")
    if attributes is None:
        return found
    whole_number("attributes", attributes, 1, 1000)
    if len(found) not in (1, attributes):
        raise usage(f"'attributes' is {attributes}, but 'frequencies' lists {len(found)}.", "leave 'attributes' out")
    return found * attributes if len(found) == 1 else found


def _sizes(attributes: int | None, values: int | Sequence[int]) -> tuple[int, ...]:
    if not isinstance(values, int):
        sizes = tuple(values)
        if not sizes:
            raise usage("'values' must list the number of values of at least one attribute.")
        if attributes not in (None, len(sizes)):
            raise usage(f"'attributes' is {attributes}, but 'values' lists {len(sizes)}.", "leave 'attributes' out")
    elif attributes is None:
        raise usage("'attributes' is missing.", "say how many attributes there are, or list 'values' of each")
    else:
        whole_number("attributes", attributes, 1, 1000)
        sizes = (values,) * attributes
    for size in sizes:
        whole_number("values", size, 1)
    return sizes


def _attempt(
    cells: int | CellProbabilities,
    records: int,
    k: int,
    repetitions: int | None,
    seed: int,
    empty_allowed: bool,
    progress: Callable[[int, int], None] | None,
) -> Attempt:
    simulated = None
    if repetitions is not None:
        simulated = simulate_chance(
            cells, records, k, repetitions, seed=seed, empty_allowed=empty_allowed, progress=progress
        )
    try:
        computed = chance_of_reaching(cells, records, k, empty_allowed=empty_allowed)
    except HedgerowError:
        if simulated is None:
            raise
        computed = None
    return Attempt(records, computed, simulated)


def _curve(
    cells: int | CellProbabilities, k: int, empty_allowed: bool, needed: list[int]
) -> tuple[tuple[int, float], ...]:
    """Sample the chance between the smallest number of records needed and the largest, and somewhat below."""
    if len(needed) < 2 or needed[-1] <= needed[0]:
        return ()
    low = max(1, needed[0] - (needed[-1] - needed[0]) // 4)
    numbers = sorted({low + (needed[-1] - low) * step // (CURVE_POINTS - 1) for step in range(CURVE_POINTS)})
    return tuple((n, chance_of_reaching(cells, n, k, empty_allowed=empty_allowed).probability) for n in numbers)


def _shifted(progress: Callable[[int, int], None], position: int, parts: int) -> Callable[[int, int], None]:
    return lambda done, total: progress(position * total + done, parts * total)

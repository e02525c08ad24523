"""The probability that counts, each of which is good, sum to the number of records.

By convolution where that is quick; else by characteristic functions on a grid so fine that what wraps around is below
rounding; with very many records by a normal law, corrected, whose further corrections are.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.evaluation.reach.cells import CellProbabilities, usage
from hedgerow.evaluation.reach.poisson import GoodCounts, Law
from hedgerow.types import FloatArray

ComplexArray = npt.NDArray[np.complex128]

CONVOLUTION = "exact convolution"
CHARACTERISTIC_FUNCTION = "characteristic function"
SADDLEPOINT = "saddlepoint"

QUICK_PRODUCTS = 30_000_000  # of a convolution, some hundredths of a second
MOST_PRODUCTS = 5_000_000_000
MOST_GRID = 1 << 22
MOST_GRID_WORK = 1 << 27  # grid points times different probabilities, some seconds
MOST_DIFFERENT = 100_000
LEAST_CORRECTION = 1e-7  # of a saddlepoint: its square is below rounding
LEAST_MASS = 1e-9  # below, the rounding of the characteristic function shows


def mass_of_sum(cells: CellProbabilities, records: int, good: GoodCounts, rates: FloatArray) -> tuple[float, str]:
    """Return the probability that good counts with these rates sum to the records."""
    if len(rates) > MOST_DIFFERENT:
        raise _too_much(f"There are {len(rates):,} different probabilities, more than {MOST_DIFFERENT:,}.")
    spare = records - (0 if good.empty_allowed else good.k * cells.number)
    products = (spare + 1) ** 2 * sum(2 * times.bit_length() for times in cells.times)
    if products <= QUICK_PRODUCTS:
        return _by_convolution(cells, rates, good, spare), CONVOLUTION
    laws = [good.law(rate) for rate in rates.tolist()]
    smooth = not good.empty_allowed or float(rates.min()) >= 2 * good.k  # else sums may keep to multiples of k
    height = _by_saddlepoint(cells, laws, records) if smooth else None
    if height is not None:
        return height, SADDLEPOINT
    grid = _grid(cells, laws, records)
    if grid is None or grid * len(laws) > MOST_GRID_WORK:
        raise _too_much("The exact way cannot cope: there are too many records, or different probabilities.")
    mass = _by_characteristic_function(cells, laws, records, grid)
    if mass >= LEAST_MASS:
        return mass, CHARACTERISTIC_FUNCTION
    if products > MOST_PRODUCTS:
        raise _too_much("The exact way cannot cope: so few records can only just be good.")
    return _by_convolution(cells, rates, good, spare), CONVOLUTION


def _by_convolution(cells: CellProbabilities, rates: FloatArray, good: GoodCounts, spare: int) -> float:
    """Multiply the laws out as polynomials; only positive numbers are added, so nothing cancels.

    ``spare`` is how many records there are beyond those that every cell must have, so the greatest power needed.
    """
    base = 0 if good.empty_allowed else good.k
    total = np.ones(1)
    for times, rate in zip(cells.times, rates.tolist(), strict=True):
        law = good.law(rate, up_to=base + spare)
        kept = law.counts - base <= spare
        factor = np.zeros(int((law.counts[kept] - base).max(initial=0)) + 1)
        factor[law.counts[kept] - base] = law.shares[kept]
        while times:
            if times & 1:
                total = np.convolve(total, factor)[: spare + 1]
            times >>= 1
            if times:
                factor = np.convolve(factor, factor)[: spare + 1]
    if len(total) <= spare or not total[spare] > 0:
        raise _too_much("The exact way cannot cope: so few records can only just be good.")
    return float(total[spare])


def _by_saddlepoint(cells: CellProbabilities, laws: list[Law], records: int) -> float | None:
    """Return the height of the nearly normal law of the sum, corrected once; None if the correction is not minute.

    What remains is about the square of the correction, so below rounding.
    """
    mean, variance, third, fourth = np.array(cells.times, np.float64) @ np.array([law.cumulants for law in laws])
    skew, excess = third / variance**1.5, fourth / variance**2
    if abs(excess) + skew**2 > LEAST_CORRECTION:
        return None
    x = (records - mean) / math.sqrt(variance)  # nearly 0, by the choice of the rates
    third_order = skew / 6 * (x**3 - 3 * x)
    fourth_order = excess / 24 * (x**4 - 6 * x**2 + 3) + skew**2 / 72 * (x**6 - 15 * x**4 + 45 * x**2 - 15)
    normal = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi * variance)
    return float(normal * (1 + third_order + fourth_order))


def _grid(cells: CellProbabilities, laws: list[Law], records: int) -> int | None:
    """Return how many points make sums that wrap around improbable; None if these are too many."""
    off = records - sum(times * law.likeliest for times, law in zip(cells.times, laws, strict=True))
    deviation = math.sqrt(sum(times * law.cumulants[1] for times, law in zip(cells.times, laws, strict=True)))
    grid = 64
    while grid < 9 * deviation:
        grid *= 2
    while grid <= MOST_GRID:
        slope = grid / deviation**2
        tails = [  # Chernoff's bound for sums at least a grid away on either side, at the best of some slopes
            min(
                sum(times * law.log_moment(sign * part) for times, law in zip(cells.times, laws, strict=True))
                - sign * part * (off + sign * grid)
                for part in (slope, slope / 2, slope / 4, min(slope, 1.0))
            )
            for sign in (1, -1)
        ]
        if max(tails) < -42 - math.log(deviation + 1):
            return grid
        grid *= 2
    return None


def _by_characteristic_function(cells: CellProbabilities, laws: list[Law], records: int, grid: int) -> float:
    """Multiply characteristic functions on a grid of angles, and turn the product back."""
    total = np.zeros(grid // 2 + 1, np.complex128)
    off = records
    for times, law in zip(cells.times, laws, strict=True):
        centre = law.likeliest
        off -= times * centre
        others = law.counts != centre
        shares = np.bincount((law.counts[others] - centre) % grid, law.shares[others], minlength=grid)
        # Minus one and then log1p: with very many cells each is nearly surely at its likeliest count.
        total += times * _log1p(np.fft.rfft(shares) - law.shares[others].sum())
    return float(np.fft.irfft(np.exp(total), grid)[off % grid])


def _log1p(values: ComplexArray) -> ComplexArray:
    real, imaginary = values.real, values.imag
    square = np.maximum((1 + real) ** 2 + imaginary**2, 1e-300)
    near_one = np.abs(square - 1) < 0.5
    smaller = np.where(near_one, real * (2 + real) + imaginary**2, 0.0)
    logs = np.where(near_one, np.log1p(smaller), np.log(square))
    return np.asarray(0.5 * logs + 1j * np.arctan2(imaginary, 1 + real), np.complex128)


def _too_much(message: str) -> HedgerowError:
    return usage(message, "simulate it: ask for repetitions, or use simulate_chance")

"""How many people of a population are unique in it, estimated from a sample without weights.

Four estimators that are in use, each a model of how large the groups of the population are. Each fits the sample under
conditions only. One whose equations have no solution, or whose answer the sample contradicts, gives *unknown*, never 0.

- Zayatz (1991): the groups of the population are as large as those of the sample. For large samples.
- Poisson–gamma (Bethlehem, Keller and Pannekoek 1990): sizes are Poisson with gamma means.
- Slide negative binomial (Chen and Keller-McNulty 1998): sizes less one are negative binomial.
- Pitman (Hoshino 2001): the partition of the people is Pitman's. For small samples.

Which of them to believe goes by Dankar and others (2012): Pitman up to a tenth of the population, else the slide
negative binomial unless Zayatz is lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

SMALL = 0.1
"""Share of the population up to which a sample counts as small."""
STEPS = 200
NAMES = {"pitman": "Pitman", "snb": "slide negative binomial", "zayatz": "Zayatz", "poisson_gamma": "Poisson–gamma"}


@dataclass(frozen=True)
class PopulationUniqueness:
    """How many people of the population are unique in it.

    Attributes
    ----------
    population, fraction
        People of the population, and the share of them in the sample.
    estimates
        By estimator: unique people of the population, or None where it is unknown.
    chosen
        The estimator that such a sample calls for; whether it succeeded or not.
    unique, share
        What it says, and that out of the population; None: unknown.
    """

    population: int
    fraction: float
    estimates: Mapping[str, float | None]
    chosen: str
    unique: float | None
    share: float | None


def population_uniqueness(groups_by_size: Mapping[int, int], population: int) -> PopulationUniqueness:
    """Estimate from how many groups of the sample have how many people.

    Examples
    --------
    >>> found = population_uniqueness({1: 400, 2: 100, 3: 50, 10: 25}, 50_000)
    >>> found.chosen, round(found.unique)
    ('pitman', 3359)
    >>> population_uniqueness({2: 500}, 50_000).unique is None
    True
    """
    sizes = {size: count for size, count in sorted(groups_by_size.items()) if count}
    people = sum(size * count for size, count in sizes.items())
    if people >= population:
        counted = float(sizes.get(1, 0))
        share = counted / max(people, 1)
        return PopulationUniqueness(people, 1.0, dict.fromkeys(NAMES, counted), "zayatz", counted, share)
    sample = _Sample(sizes, people, sum(sizes.values()), sizes.get(1, 0), population)
    found = {name: sample.believable(ESTIMATORS[name](sample)) for name in NAMES}
    chosen = "pitman"
    if sample.fraction > SMALL:
        snb, zayatz = found["snb"], found["zayatz"]
        chosen = "zayatz" if snb is None or (zayatz is not None and zayatz < snb) else "snb"
    unique = found[chosen]
    rounded = {name: None if value is None else round(value, 6) for name, value in found.items()}
    part = None if unique is None else round(unique / population, 12)
    return PopulationUniqueness(population, round(sample.fraction, 12), rounded, chosen, rounded[chosen], part)


@dataclass(frozen=True)
class _Sample:
    sizes: Mapping[int, int]
    people: int
    groups: int
    unique: int
    population: int

    @property
    def fraction(self) -> float:
        return self.people / self.population

    def believable(self, estimate: float | None) -> float | None:
        """Take an estimate that the sample does not contradict: no more are unique there than in the sample."""
        if estimate is None or not math.isfinite(estimate) or not self.unique:
            return None
        expected = estimate * self.fraction
        return estimate if 0 < estimate <= self.population and expected <= self.unique * (1 + 1e-9) else None


def _zayatz(sample: _Sample) -> float | None:
    n, whole = sample.people, sample.population

    def alone(size: int) -> float:
        """The chance that one, and only one, of so many people is in the sample."""
        if whole - size < n - 1:
            return 0.0
        logs = _log_choose(whole - size, n - 1) - _log_choose(whole, n)
        return size * math.exp(logs)

    total = math.fsum(count * alone(size) for size, count in sample.sizes.items())
    return sample.unique * (sample.unique * alone(1) / total) / sample.fraction if total else None


def _poisson_gamma(sample: _Sample) -> float | None:
    n, u, f = sample.people, sample.groups, sample.unique
    if not 0 < f < n:
        return None

    def shape(scale: float) -> float:
        return math.log(n / f) / math.log1p(scale) - 1

    def excess(scale: float) -> float:
        alpha = shape(scale)
        return -math.expm1(-alpha * math.log1p(scale)) / (alpha * scale) - u / n

    scale = _root(excess, 1e-9, (n / f - 1) * (1 - 1e-9))
    if scale is None:
        return None
    return sample.population * math.exp(-(shape(scale) + 1) * math.log1p(scale / sample.fraction))


def _slide_negative_binomial(sample: _Sample) -> float | None:
    share, left_out = sample.fraction, 1 - sample.fraction
    groups, unique = sample.groups / sample.population, sample.unique / sample.population

    def mean(alpha: float, beta: float) -> float:
        return 1 + alpha * (1 - beta) / beta

    def absent(alpha: float, beta: float) -> float:
        """The chance that nobody of a group is in the sample: its generating function where people are left out."""
        return left_out * math.exp(alpha * (math.log(beta) - math.log1p(-(1 - beta) * left_out)))

    def shape(beta: float) -> float | None:
        return _root(lambda alpha: (1 - absent(alpha, beta)) / mean(alpha, beta) - groups, 1e-9, 1e6)

    def excess(beta: float) -> float:
        alpha = shape(beta)
        if alpha is None:
            return math.nan
        slope = absent(alpha, beta) / left_out * (1 + left_out * alpha * (1 - beta) / (1 - (1 - beta) * left_out))
        return share * slope / mean(alpha, beta) - unique

    beta = _scanned_root(excess, [1 / (1 + math.exp(-place / 4)) for place in range(-60, 40)])
    alpha = None if beta is None else shape(beta)
    if beta is None or alpha is None:
        return None
    return sample.population / mean(alpha, beta) * math.exp(alpha * math.log(beta))


def _pitman(sample: _Sample) -> float | None:
    n, u = sample.people, sample.groups

    def mass(alpha: float) -> float | None:
        def slope(theta: float) -> float:
            ratio = theta / alpha
            return (_digamma(ratio + u) - _digamma(ratio + 1)) / alpha - _digamma(theta + n) + _digamma(theta + 1)

        return _root(slope, -alpha * (1 - 1e-9), 1e3 * n)

    def excess(alpha: float) -> float:
        theta = mass(alpha)
        if theta is None:
            return math.nan
        ratio = theta / alpha
        sums = (_digamma(ratio + u) - _digamma(ratio + 1)) / alpha
        below = math.fsum(
            count * (_digamma(size - alpha) - _digamma(1 - alpha)) for size, count in sample.sizes.items() if size > 1
        )
        return (u - 1 - theta * sums) / alpha - below

    if u < 2 or not 0 < sample.unique < n:
        return None
    alpha = _scanned_root(excess, [place / 100 for place in range(1, 100)])
    theta = None if alpha is None else mass(alpha)
    if alpha is None or theta is None:
        return None
    whole = sample.population
    logs = math.lgamma(theta + 1) + math.lgamma(theta + alpha + whole - 1)
    return whole * math.exp(logs - math.lgamma(theta + alpha) - math.lgamma(theta + whole))


ESTIMATORS: dict[str, Callable[[_Sample], float | None]] = {
    "pitman": _pitman,
    "snb": _slide_negative_binomial,
    "zayatz": _zayatz,
    "poisson_gamma": _poisson_gamma,
}


def _scanned_root(of: Callable[[float], float], places: list[float]) -> float | None:
    """Find where a function crosses 0 between two of some places, the first such; None if it does nowhere."""
    before = None
    for place in places:
        value = of(place)
        if before is not None and before[1] * value <= 0:
            return _root(of, before[0], place)
        before = (place, value) if math.isfinite(value) else None
    return None


def _root(of: Callable[[float], float], low: float, high: float) -> float | None:
    """Find where a function crosses 0 by halving; None if it does not cross."""
    at_low, at_high = of(low), of(high)
    if not (math.isfinite(at_low) and math.isfinite(at_high)) or at_low * at_high > 0:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        value = of(middle)
        if not math.isfinite(value):
            return None
        if (value > 0) == (at_low > 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _digamma(x: float) -> float:
    """The derivative of ln Γ, for x above 0."""
    found = 0.0
    while x < 12:
        found -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return found + math.log(x) - 0.5 / x - series


def _log_choose(whole: int, part: int) -> float:
    return math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)

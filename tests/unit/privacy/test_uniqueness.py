"""How many are unique in a population: estimates fit their own equations, are near the truth, and know when they fail."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import HedgerowError
from hedgerow.privacy.uniqueness import NAMES, population_uniqueness

PEOPLE = 20_000


def population() -> list[int]:
    """Made-up people in groups of very different sizes, many of them alone."""
    rng = np.random.default_rng(5)
    found: list[int] = (rng.zipf(1.35, PEOPLE) % 1_000_003).tolist()
    return found


def sample(fraction: float) -> dict[int, int]:
    drawn = np.random.default_rng(6).permutation(population())[: int(fraction * PEOPLE)]
    return dict(Counter(Counter(drawn.tolist()).values()))


def naive_zayatz(sizes: dict[int, int], whole: int) -> float:
    """By whole numbers: the chance that a unique of the sample is one of the population, times the uniques, blown up."""
    n, groups = sum(size * count for size, count in sizes.items()), sum(sizes.values())
    chance = Fraction(0)
    for size, count in sizes.items():
        alone = Fraction(math.comb(size, 1) * math.comb(whole - size, n - 1), math.comb(whole, n))
        chance += Fraction(count, groups) * alone
    right = Fraction(sizes[1], groups) * Fraction(n, whole) / chance
    return float(sizes[1] * right * Fraction(whole, n))


def test_zayatz_is_that_of_whole_numbers() -> None:
    sizes = {1: 30, 2: 12, 3: 5, 7: 2}
    found = population_uniqueness(sizes, 400)
    assert found.estimates["zayatz"] == pytest.approx(naive_zayatz(sizes, 400), abs=1e-5)


@pytest.mark.parametrize("fraction", [0.02, 0.08, 0.3, 0.6])
def test_the_one_that_is_chosen_is_near_the_truth(fraction: float) -> None:
    truth = list(Counter(population()).values()).count(1)
    found = population_uniqueness(sample(fraction), PEOPLE)
    assert found.chosen == ("pitman" if fraction <= 0.1 else "zayatz")
    assert found.unique is not None
    assert found.unique == pytest.approx(truth, rel=0.15)
    assert found.share == pytest.approx(found.unique / PEOPLE, rel=1e-6)


def test_pitman_is_likeliest_where_it_says() -> None:
    """No other parameters near by make the sample likelier: so its expected number is that of the estimate."""
    sizes = sample(0.05)
    n, u = sum(size * count for size, count in sizes.items()), sum(sizes.values())
    found = population_uniqueness(sizes, PEOPLE).estimates["pitman"]
    assert found is not None

    def likelihood(theta: float, alpha: float) -> float:
        ups = u * math.log(alpha) + math.lgamma(theta / alpha + u) - math.lgamma(theta / alpha)
        total = ups - math.lgamma(theta + n) + math.lgamma(theta)
        for size, count in sizes.items():
            total += count * (math.lgamma(size - alpha) - math.lgamma(1 - alpha))
        return total

    best = max(
        (
            (theta, alpha)
            for theta in np.geomspace(0.5, 400, 160).tolist()
            for alpha in np.linspace(0.2, 0.98, 157).tolist()
        ),
        key=lambda place: likelihood(*place),
    )
    theta, alpha = best
    logs = math.lgamma(theta + 1) + math.lgamma(theta + alpha + PEOPLE - 1)
    expected = PEOPLE * math.exp(logs - math.lgamma(theta + alpha) - math.lgamma(theta + PEOPLE))
    assert found == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("sizes", [{2: 50}, {1: 80}, {3: 9, 40: 2}])
def test_what_cannot_be_estimated_is_unknown_never_0(sizes: dict[int, int]) -> None:
    found = population_uniqueness(sizes, 10_000)
    assert found.estimates["pitman"] is None
    assert (found.unique, found.share) == (None, None)
    assert set(found.estimates) == set(NAMES)
    assert 0 not in found.estimates.values()


def test_no_estimate_says_more_than_the_sample_allows() -> None:
    for fraction in (0.02, 0.3, 0.9):
        sizes = sample(fraction)
        found = population_uniqueness(sizes, PEOPLE)
        for unique in found.estimates.values():
            assert unique is None or 0 < unique * found.fraction <= sizes[1] * (1 + 1e-6)


def test_of_everybody_it_is_counted() -> None:
    found = population_uniqueness({1: 7, 5: 3}, 22)
    assert (found.unique, found.fraction) == (7.0, 1.0)
    assert population_uniqueness({5: 3}, 15).unique == 0.0  # counted, not estimated


def test_a_gate_is_not_passed_by_what_is_unknown() -> None:
    pairs = pa.table({"a": [str(number // 2) for number in range(100)]})
    found = hedgerow.assess(pairs, columns=["a"], population_size=5000, require="population_unique=0.5")
    assert (found.met, found.demands[0].note) == (False, "unknown: no estimate can be relied on")
    without = hedgerow.assess(pairs, columns=["a"], require="k=2,population_unique=0.5")
    assert [demand.kept for demand in without.demands] == [True, False]
    drawn = pa.table({"a": list(map(str, np.random.default_rng(6).permutation(population())[:1000]))})
    rich = hedgerow.assess(drawn, columns=["a"], population_size=PEOPLE, require="population_unique=0.5")
    assert rich.met
    assert not hedgerow.assess(drawn, columns=["a"], fraction=0.05, require={"population_unique": "0.01"}).met
    with pytest.raises(HedgerowError, match="fewer than the 100"):
        hedgerow.assess(pairs, columns=["a"], population_size=99)
    with pytest.raises(HedgerowError, match="from 0 to 1"):
        hedgerow.assess(pairs, columns=["a"], require="population_unique=2")

"""What is promised of the population: that each published combination fits enough people, and how many are released.

Somebody fits a combination if it is true of them in every column that the population has and breaks none of their
limits; of a release of whole levels, if they would be published so. A missing cell fits everybody.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.population import PeopleRead
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell, Column, FreeJudge, TreeJudge, one_level
from hedgerow.verification.values.numbers import read_number, read_span
from hedgerow.verification.values.trees import OneLevel

CLOSE = 1e-9


def check_population(evidence: Evidence, people: PeopleRead | None) -> Iterator[Promise]:
    """Check what is asked of the population, and what facts.json says of it."""
    plan, facts = evidence.plan, evidence.published.facts
    if people is None:
        yield from _by_the_facts(plan, facts)
        return
    lacking = [name for name in people.values if name not in evidence.cells]
    if lacking:
        yield Promise("population", "as facts.json says", f"missing columns: {', '.join(lacking)}", kept=False)
        return
    fitting, sizes = count_fitting(evidence, people), evidence.combinations.sizes
    shares = [Fraction(size, count) for size, count in zip(sizes.tolist(), fitting.tolist(), strict=True) if count]
    strangers = int(sizes[fitting == 0].sum())
    total = int(people.counts.sum())
    fewest = int(fitting.min(initial=total))
    bounds = [min(shares, default=Fraction(0)), max(shares, default=Fraction(0))]
    if plan.privacy.k_map is not None:
        yield Promise("k_map", f"{plan.privacy.k_map} people", f"{fewest} people", fewest >= plan.privacy.k_map)
    asked = plan.privacy.presence
    if asked is not None:
        kept = Fraction(asked.at_least) <= bounds[0] and bounds[1] <= Fraction(asked.at_most) and not strangers
        found = f"{_written(bounds[0])} to {_written(bounds[1])}"
        if strangers:
            found += f"; {strangers} rows fit nobody"
        yield Promise("presence", f"{_written(asked.at_least)} to {_written(asked.at_most)}", found, kept)
    values, number = np.unique(fitting, return_inverse=True)
    rows = np.zeros(len(values), np.int64)
    np.add.at(rows, number.reshape(-1), sizes)
    there: dict[str, Any] = {
        "population": total,
        "fewest_people": fewest,
        "population_risk_sizes": {str(one): count for one, count in zip(values.tolist(), rows.tolist(), strict=True)},
    }
    faults = [f"facts.json says otherwise on {name}" for name, right in there.items() if facts.get(name) != right]
    if not _same_bounds(facts.get("presence"), bounds):
        faults.append("facts.json says otherwise on presence")
    found = f"{total} people, who fit {len(sizes)} combinations"
    yield Promise("population", "as facts.json says", "; ".join(faults) or found, kept=not faults)


def _by_the_facts(plan: Plan, facts: Mapping[str, Any]) -> Iterator[Promise]:
    """Hold the facts against the plan where the population is not at hand: what they admit is so for certain."""
    word = "facts.json says {}; not counted, since the population was not given"
    if plan.privacy.k_map is not None:
        stated = facts.get("fewest_people")
        kept = type(stated) is int and stated >= plan.privacy.k_map
        yield Promise("k_map", f"{plan.privacy.k_map} people", word.format(stated), kept)
    asked = plan.privacy.presence
    if asked is not None:
        bounds, said, kept = _bounds(facts.get("presence")), "nothing", False
        if bounds is not None:
            kept = float(asked.at_least) <= bounds[0] + CLOSE and bounds[1] <= float(asked.at_most) + CLOSE
            said = f"{bounds[0]:.6g} to {bounds[1]:.6g}"
        yield Promise("presence", f"{_written(asked.at_least)} to {_written(asked.at_most)}", word.format(said), kept)


def count_fitting(evidence: Evidence, people: PeopleRead) -> IntArray:
    """Count the people who fit each published combination."""
    combinations, plan = evidence.combinations, evidence.plan
    places = [list(combinations.labels).index(name) for name in people.values]
    known = np.ones(len(people.codes), bool)
    behind: list[list[IntArray]] = []
    for at, (name, values) in enumerate(people.values.items()):
        level = one_level(plan, evidence.published.facts.get("levels"), name)
        there, by_label = _behind(evidence.judges[name], values, combinations.labels[name], level, plan.keeps_limits)
        known &= there[people.codes[:, at]]
        behind.append(by_label)
    codes, counts = people.codes[known], people.counts[known]
    found = np.zeros(len(combinations.codes), np.int64)
    shown = combinations.codes[:, places]
    fits: list[IntArray] = [np.arange(len(codes))]  # the people left after each column, of the combination before
    last: list[int] = []
    for group in np.lexsort(shown.T[::-1]).tolist():
        cells = shown[group].tolist()
        same = next((at for at, (one, other) in enumerate(zip(cells, last, strict=False)) if one != other), len(last))
        del fits[same + 1 :]
        for at in range(same, len(cells)):
            left = fits[-1]
            if cells[at] >= 0:
                inside = np.zeros(len(people.values[list(people.values)[at]]), bool)
                inside[behind[at][cells[at]]] = True
                left = left[inside[codes[left, at]]]
            fits.append(left)
        last = cells
        found[group] = int(counts[fits[-1]].sum())
    return found


def _behind(
    judge: Column, values: Sequence[Cell], labels: Sequence[str], level: OneLevel | None, within_limits: bool
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], list[IntArray]]:
    """Say which values can be published at all, and for each label which of them may be published as it."""
    place = {label: at for at, label in enumerate(labels)}
    by_label: list[list[int]] = [[] for _ in labels]
    there = np.zeros(len(values), bool)
    if isinstance(judge, FreeJudge):
        numbers = sorted((number, at) for at, value in enumerate(values) if (number := _number(value)) is not None)
        there[[at for _, at in numbers]] = True
        there[[at for at, value in enumerate(values) if value is None]] = True
        for label, at in place.items():
            span = read_span(label)
            if span is not None:
                first = bisect.bisect_left(numbers, (span.low, -1))
                by_label[at] = [who for number, who in numbers[first:] if span.holds(number)]
        return there, [np.array(found, np.int64) for found in by_label]
    assert isinstance(judge, TreeJudge)
    for at, value in enumerate(values):
        lines = judge.lines(value)
        there[at] = bool(lines)
        shown: set[Cell] = {
            label for line in lines for label in line.published if not (within_limits and line.breaks(label))
        }
        if level is not None:
            shown = judge.at_level(value, level.number, level.within_limits)
        for cell in shown:
            if cell is not None and cell in place:
                by_label[place[cell]].append(at)
    return there, [np.array(found, np.int64) for found in by_label]


def _number(value: Cell) -> Any:
    return None if value is None else read_number(value)


def _bounds(stated: Any) -> tuple[float, float] | None:
    """Read two numbers as facts.json states them."""
    if not isinstance(stated, list) or len(stated) != 2 or any(type(one) not in (int, float) for one in stated):
        return None
    return float(stated[0]), float(stated[1])


def _same_bounds(stated: Any, bounds: Sequence[Fraction]) -> bool:
    found = _bounds(stated)
    return found is not None and all(abs(one - right) < CLOSE for one, right in zip(found, bounds, strict=True))


def _written(share: Any) -> str:
    return f"{float(share):.6g}"

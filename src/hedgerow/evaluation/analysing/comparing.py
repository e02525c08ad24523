"""Whether analyses still come out: figures that analysts work out, from the original and from its release.

Numbers that are coarsened count as the middle of their interval, texts in equal parts as all values that they may stand
for. Measures: means, spreads and quantiles; correlations and the eigenvalues of their matrix; tables of two columns
(total variation); regressions with the overlap of their confidence intervals (Karr et al. 2006); and the mean-squared
error of propensity scores (Snoke et al. 2018): how well a model tells rows of the release from rows of the original.

The original is looked at, so what comes out is for its owner.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.analysing.regressions import Fit, Floats, chances, linear, logistic, overlaps
from hedgerow.evaluation.analysing.side_by_side import Coefficient, Moved, Propensity, Regression, TwoColumns, Utility
from hedgerow.evaluation.analysing.spread import Spread, spread_numbers, spread_texts
from hedgerow.evaluation.analysing.typed import TypedRelease, read_release, typed_release
from hedgerow.microdata import read_table
from hedgerow.release import Release
from hedgerow.types import IntArray
from hedgerow.verification.reading.link import read_link

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MOST_CATEGORIES = 50
"""A column of more categories takes no part in tables, regressions and the propensity score."""


def utility(
    release: str | Path | TypedRelease | Release,
    original: Any,
    *,
    regress: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    link: Any = None,
) -> Utility:
    """Work out what analysts would from an original and from its release, side by side.

    Where the plan has sampling weights and the release publishes them, everything counts by them.

    Parameters
    ----------
    release
        A release, its folder, or what :func:`hedgerow.read_release` returned.
    original
        The table that it was made from.
    regress
        Regressions, such as ``"income ~ age + sex"``: logistic if the outcome has two values, else linear.
    columns
        Which columns to look at; by default all that are released.
    link
        The private link table, for how far each number is from what it was (IL1s); a release in memory has it.

    Examples
    --------
    >>> import tempfile, hedgerow as hr, pyarrow as pa
    >>> ages = list(range(20, 80))
    >>> people = pa.table({"age": ages, "pay": [1000 + 10 * age + age % 7 for age in ages]})
    >>> age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}}
    >>> plan = hr.Plan.from_dict({"attributes": {"age": age, "pay": "sensitive"}, "privacy": {"k": 5}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = hr.anonymize(people, plan, folder + "/release")
    ...     found = hr.utility(folder + "/release", people, regress=["pay ~ age"])
    >>> print(found.figures[0])
    the mean of age moves from 49.5 to 49.5
    >>> round(found.regressions[0].coefficients[1].original, 2), round(found.regressions[0].coefficients[1].released, 1)
    (10.0, 10.0)
    """
    made = _typed(release)
    for name in columns or ():
        made[name]  # refuses a column that is not there
    names = [name for name in made.columns if columns is None or name in columns]
    table = read_table(original, made.plan.untreated())
    pairs = None
    if link is not None:
        told = read_link(link)
        pairs = told.record - 1, told.row - 1
    elif isinstance(release, Release) and isinstance(release.rows.link, np.ndarray):
        pairs = release.rows.link, np.arange(len(release.rows.link))
    return _side_by_side(_Both.of(made, table.columns, names), regress, pairs)


def _typed(release: str | Path | TypedRelease | Release) -> TypedRelease:
    if isinstance(release, TypedRelease):
        return release
    return typed_release(release) if isinstance(release, Release) else read_release(release)


def _side_by_side(both: _Both, regress: Sequence[str], pairs: tuple[IntArray, IntArray] | None) -> Utility:
    return Utility(
        tuple(_figures(both)),
        tuple(_correlations(both)),
        _eigenvalues(both),
        tuple(_tables(both)),
        tuple(_regression(formula, both) for formula in regress),
        propensity(_features(both, released=False), _features(both, released=True), *both.weights),
        both.weighted,
        None if pairs is None else _il1s(both, *pairs),
    )


@dataclass
class _Both:
    """The columns of an original and its release: numbers, shares of categories, and what every row counts."""

    weights: tuple[Floats, Floats]
    weighted: str | None = None
    numbers: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    spreads: dict[str, tuple[Spread, Spread]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, made: TypedRelease, table: Mapping[str, Any], names: Sequence[str]) -> _Both:
        weights, weighted = _weights(made, table)
        found = cls(weights, weighted)
        for name in names:
            column, attribute = made[name], made.plan.attributes.get(name)
            if attribute is None or name == weighted:  # a number of the unit, drawn anew; and what all is counted by
                continue
            before = table[name].combine_chunks().cast("string")
            middle = column.middle
            numbers = _as_numbers(before) if column.kind == "number" else None
            if numbers is not None and middle is not None:
                found.numbers[name] = numbers, middle
                found.spreads[name] = spread_numbers(numbers, column)
            elif column.kind != "date":
                spreads = spread_texts(attribute, before, column.labels)
                if len(spreads[0].categories) <= MOST_CATEGORIES:
                    found.spreads[name] = spreads
                    found.texts.add(name)
        return found


def _weights(made: TypedRelease, table: Mapping[str, Any]) -> tuple[tuple[Floats, Floats], str | None]:
    """Return what every record and every row counts: its weight if there is one on both sides, else once."""
    rows = len(next(iter(table.values())))
    name = made.plan.weight.column if made.plan.weight is not None else None
    if name is not None and name in made.columns and made[name].middle is not None:
        before, after = _as_numbers(table[name].combine_chunks().cast("string")), made[name].middle
        if before is not None and after is not None and np.isfinite(before).all() and np.isfinite(after).all():
            return (before, after), name
    return (np.ones(rows), np.ones(made.rows)), None


def _as_numbers(texts: Any) -> Floats | None:
    import pyarrow as pa

    try:
        found: Floats = texts.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
    except pa.ArrowInvalid:
        return None
    return found


def _figures(both: _Both) -> list[Moved]:
    found = []
    for name, columns in both.numbers.items():
        known = [~np.isnan(column) for column in columns]
        if not all(rows.any() for rows in known):
            continue
        sides = zip(columns, known, both.weights, strict=True)
        before, after = (_of_column(column[rows], weights[rows], both.weighted) for column, rows, weights in sides)
        spread = before["standard deviation"] or 1.0
        found += [Moved(name, one, before[one], after[one], (after[one] - before[one]) / spread) for one in before]
    return found


def _of_column(numbers: Floats, weights: Floats, weighted: str | None) -> dict[str, float]:
    """Mean, spread and quantiles of numbers; weighted quantiles are values that occur."""
    mean = float(np.average(numbers, weights=weights))
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights)))
    if weighted is None:
        quantiles = np.quantile(numbers, QUANTILES)
    else:
        quantiles = np.quantile(numbers, QUANTILES, weights=weights, method="inverted_cdf")
    told = {f"quantile {share}": float(one) for share, one in zip(QUANTILES, quantiles, strict=True)}
    return {"mean": mean, "standard deviation": spread, **told}


def _matrix(columns: list[Floats], weights: Floats) -> Floats:
    """Correlations of the rows in which all columns are known; 0 with a column that is the same everywhere."""
    table = np.stack(columns)
    known = ~np.isnan(table).any(axis=0)
    table, weights = table[:, known], weights[known]
    if not table.shape[1]:
        return np.eye(len(table))
    apart = table - np.average(table, axis=1, weights=weights)[:, None]
    spread = np.sqrt(np.average(apart**2, axis=1, weights=weights))
    scaled = apart / np.where(spread > 0, spread, 1)[:, None]
    matrix: Floats = (scaled * weights) @ scaled.T / weights.sum()
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _matrices(both: _Both) -> tuple[Floats, Floats]:
    before, after = zip(*both.numbers.values(), strict=True)
    return _matrix(list(before), both.weights[0]), _matrix(list(after), both.weights[1])


def _il1s(both: _Both, records: IntArray, rows: IntArray) -> float | None:
    """Return how far numbers are from what they were (Mateo-Sanz, Domingo-Ferrer and Sebé 2004)."""
    found = []
    for before, after in both.numbers.values():
        spread = float(np.nanstd(before))
        apart = np.abs(before[records] - after[rows])
        if spread > 0 and not np.isnan(apart).all():
            found.append(float(np.nanmean(apart)) / (np.sqrt(2) * spread))
    return float(np.mean(found)) if found else None


def _correlations(both: _Both) -> list[TwoColumns]:
    if len(both.numbers) < 2:
        return []
    before, after = _matrices(both)
    return [
        TwoColumns((a, b), float(before[i, j]), float(after[i, j]), float(abs(after[i, j] - before[i, j])))
        for (i, a), (j, b) in itertools.combinations(enumerate(both.numbers), 2)
    ]


def _eigenvalues(both: _Both) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if not both.numbers:
        return (), ()
    before, after = (np.sort(np.linalg.eigvalsh(matrix))[::-1] for matrix in _matrices(both))
    return tuple(map(float, before)), tuple(map(float, after))


def _tables(both: _Both) -> list[TwoColumns]:
    found = []
    for one, other in itertools.combinations(both.spreads, 2):
        (a, c), (b, d) = both.spreads[one], both.spreads[other]
        before, after = a.with_other(b, both.weights[0]), c.with_other(d, both.weights[1])
        found.append(TwoColumns((one, other), None, None, float(np.abs(before - after).sum() / 2)))
    return found


def _features(both: _Both, released: bool) -> Floats:
    """Numbers in standard deviations of the original, missing ones at the mean; texts as shares of categories."""
    columns = []
    for name, spreads in both.spreads.items():
        if name in both.numbers:
            numbers, original = both.numbers[name][released], both.numbers[name][0]
            middle, spread = np.nanmean(original), np.nanstd(original) or 1.0
            columns.append(((np.where(np.isnan(numbers), middle, numbers) - middle) / spread)[:, None])
        else:
            columns.append(spreads[released].rows[:, 1:])
    rows = len(next(iter(both.spreads.values()))[released].label) if both.spreads else 0
    return np.hstack([np.ones((rows, 1)), *columns])


def propensity(
    original: Floats, released: Floats, weights: Floats | None = None, their_weights: Floats | None = None
) -> Propensity:
    """Tell rows apart by a logistic regression on features, of which the first is a constant; by weights, if any."""
    design = np.vstack([original, released])
    outcome = np.concatenate([np.zeros(len(original)), np.ones(len(released))])
    sides = [np.ones(len(original)) if weights is None else weights]
    sides.append(np.ones(len(released)) if their_weights is None else their_weights)
    counted = np.concatenate([side * (len(side) / side.sum()) if len(side) else side for side in sides])
    rows, share = max(len(outcome), 1), len(released) / max(len(outcome), 1)
    scores = chances(design, logistic(design, outcome, counted).coefficients)
    parameters = int(np.linalg.matrix_rank(design)) if len(design) else 1
    expected = (parameters - 1) * share * (1 - share) / rows
    return Propensity(float(np.average((scores - share) ** 2, weights=counted)), expected)


def _regression(formula: str, both: _Both) -> Regression:
    outcome, predictors = _parsed(formula, both)
    names = ["constant"]
    for name in predictors:
        names += [name] if name in both.numbers else [f"{name}: {one}" for one in both.spreads[name][0].categories[1:]]
    fits: list[Fit] = []
    binary = outcome in both.texts
    for released in (False, True):
        columns = []
        for name in predictors:
            if name in both.numbers:
                columns.append(both.numbers[name][released][:, None])
            else:
                columns.append(both.spreads[name][released].rows[:, 1:])
        y = both.spreads[outcome][released].rows[:, 1] if binary else both.numbers[outcome][released]
        design = np.hstack([np.ones((len(y), 1)), *columns])
        known = ~np.isnan(y) & ~np.isnan(design).any(axis=1)
        fits.append((logistic if binary else linear)(design[known], y[known], both.weights[released][known]))
    shared = overlaps(*fits)
    found = zip(names, fits[0].coefficients, fits[1].coefficients, shared, strict=True)
    coefficients = tuple(Coefficient(name, float(a), float(b), float(share)) for name, a, b, share in found)
    return Regression(formula, "logistic" if binary else "linear", coefficients)


def _parsed(formula: str, both: _Both) -> tuple[str, list[str]]:
    left, tilde, right = formula.partition("~")
    outcome, predictors = left.strip(), [part.strip() for part in re.split(r"\+", right)]
    where, hint = f"regression {formula!r}", "write it as outcome ~ predictor + predictor, of released columns"
    if not tilde or not outcome or not all(predictors):
        raise DataError(Problem("usage", "A regression names an outcome and what it depends on.", where, hint))
    for name in (outcome, *predictors):
        if name not in both.spreads:
            message = f"Column {name!r} is not released, or has more than {MOST_CATEGORIES} different texts."
            raise DataError(Problem("usage", message, where, hint))
    if outcome in both.texts and len(both.spreads[outcome][0].categories) != 2:
        message = f"The outcome {outcome!r} is neither of numbers nor of two values."
        raise DataError(Problem("usage", message, where, hint))
    return outcome, predictors

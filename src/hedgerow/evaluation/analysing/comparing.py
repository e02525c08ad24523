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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.analysing.regressions import Fit, Floats, chances, linear, logistic, overlaps
from hedgerow.evaluation.analysing.spread import Spread, spread_numbers, spread_texts
from hedgerow.evaluation.analysing.typed import TypedRelease, read_release
from hedgerow.microdata import read_table

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
MOST_CATEGORIES = 50
"""A column of more categories takes no part in tables, regressions and the propensity score."""


@dataclass(frozen=True)
class Moved:
    """A figure before and after.

    Attributes
    ----------
    column, figure
        What it is of: ``mean``, ``standard deviation``, ``quantile 0.5``.
    original, released
        What it is in each.
    shift
        How far it moved, in standard deviations of the original column.
    """

    column: str
    figure: str
    original: float
    released: float
    shift: float

    def __str__(self) -> str:
        return f"the {self.figure} of {self.column} moves from {self.original:.5g} to {self.released:.5g}"


@dataclass(frozen=True)
class TwoColumns:
    """Two columns: how far apart a measure of both together is."""

    columns: tuple[str, str]
    original: float | None
    released: float | None
    distance: float


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression before and after, and how much of the two 95 % intervals overlaps."""

    name: str
    original: float
    released: float
    overlap: float


@dataclass(frozen=True)
class Regression:
    """A regression before and after."""

    formula: str
    kind: str
    coefficients: tuple[Coefficient, ...]

    @property
    def overlap(self) -> float:
        """Mean overlap of the intervals of all coefficients but the constant."""
        rest = [one.overlap for one in self.coefficients[1:]]
        return sum(rest) / len(rest) if rest else 1.0


@dataclass(frozen=True)
class Propensity:
    """How well rows of the release are told from those of the original.

    Attributes
    ----------
    pmse
        Mean squared difference of the propensity score from the share of the release.
    expected
        What it would be on average if the rows were a second sample from the same population.
    """

    pmse: float
    expected: float

    @property
    def ratio(self) -> float:
        """How many times as large as expected: about 1 and less cannot be told apart."""
        return self.pmse / self.expected if self.expected else 0.0


@dataclass(frozen=True)
class Utility:
    """Figures from an original and its release, side by side.

    Attributes
    ----------
    figures
        Means, spreads and quantiles of columns of numbers.
    correlations
        Every two columns of numbers.
    eigenvalues
        Of the matrix of correlations, before and after, the greatest first.
    tables
        Every two columns of few categories: the share of records that are in another cell of their table.
    regressions
        Those that were asked for.
    propensity
        How well rows are told apart.
    """

    figures: tuple[Moved, ...]
    correlations: tuple[TwoColumns, ...]
    eigenvalues: tuple[tuple[float, ...], tuple[float, ...]]
    tables: tuple[TwoColumns, ...]
    regressions: tuple[Regression, ...]
    propensity: Propensity

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        found = asdict(self)
        for one, told in zip(self.regressions, found["regressions"], strict=True):
            told["overlap"] = one.overlap
        found["propensity"]["ratio"] = self.propensity.ratio
        return found

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a steward asks, answered in a sentence each."""
        found = []
        if self.figures:
            means = [one for one in self.figures if one.figure == "mean"]
            worst = max(means, key=lambda one: abs(one.shift))
            found.append(f"{str(worst)[0].upper()}{str(worst)[1:]}; no other mean moves further for its spread.")
        if self.correlations:
            pair = max(self.correlations, key=lambda one: one.distance)
            found.append(
                f"The correlation of {pair.columns[0]} and {pair.columns[1]} moves from {pair.original:.2f} to "
                f"{pair.released:.2f}; no other moves further."
            )
        if self.tables:
            pair = max(self.tables, key=lambda one: one.distance)
            found.append(
                f"In the table of {pair.columns[0]} by {pair.columns[1]}, {pair.distance:.1%} of the records are in "
                "another cell; in no other table of two columns are there more."
            )
        for one in self.regressions:
            found.append(f"{one.formula}: confidence intervals overlap by {one.overlap:.0%} on average.")
        told = "cannot be told" if self.propensity.ratio < 3 else "can be told"
        found.append(
            f"Rows of the release {told} from rows of the original by a simple model (pMSE {self.propensity.ratio:.1f} "
            "times what chance gives)."
        )
        return tuple(found)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def utility(
    release: str | Path | TypedRelease,
    original: Any,
    *,
    regress: Sequence[str] = (),
    columns: Sequence[str] | None = None,
) -> Utility:
    """Work out what analysts would from an original and from its release, side by side.

    Parameters
    ----------
    release
        A release folder, or what :func:`hedgerow.read_release` returned.
    original
        The table that it was made from.
    regress
        Regressions, such as ``"income ~ age + sex"``: logistic if the outcome has two values, else linear.
    columns
        Which columns to look at; by default all that are released.

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
    made = release if isinstance(release, TypedRelease) else read_release(release)
    names = [name for name in made.columns if columns is None or name in columns]
    for name in columns or ():
        made[name]  # refuses a column that is not there
    table = read_table(original, made.plan)
    both = _Both.of(made, table, names)
    return Utility(
        tuple(_figures(both)),
        tuple(_correlations(both)),
        _eigenvalues(both),
        tuple(_tables(both)),
        tuple(_regression(formula, both) for formula in regress),
        propensity(_features(both, released=False), _features(both, released=True)),
    )


class _Both:
    """The columns of an original and its release: numbers, and shares of categories."""

    def __init__(self) -> None:
        self.numbers: dict[str, tuple[Floats, Floats]] = {}
        self.spreads: dict[str, tuple[Spread, Spread]] = {}
        self.texts: set[str] = set()

    @classmethod
    def of(cls, made: TypedRelease, table: Any, names: Sequence[str]) -> _Both:
        found = cls()
        for name in names:
            column, attribute = made[name], made.plan.attributes[name]
            before = table.columns[name].combine_chunks().cast("string")
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


def _as_numbers(texts: Any) -> Floats | None:
    import pyarrow as pa

    try:
        found: Floats = texts.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float64)
    except pa.ArrowInvalid:
        return None
    return found


def _figures(both: _Both) -> list[Moved]:
    found = []
    for name, (before, after) in both.numbers.items():
        before, after = before[~np.isnan(before)], after[~np.isnan(after)]
        if not len(before) or not len(after):
            continue
        spread = float(before.std()) or 1.0
        figures = [("mean", float(before.mean()), float(after.mean()))]
        figures.append(("standard deviation", float(before.std()), float(after.std())))
        quantiles = zip(QUANTILES, np.quantile(before, QUANTILES), np.quantile(after, QUANTILES), strict=True)
        figures += [(f"quantile {share}", float(a), float(b)) for share, a, b in quantiles]
        found += [Moved(name, figure, a, b, (b - a) / spread) for figure, a, b in figures]
    return found


def _matrix(columns: list[Floats]) -> Floats:
    """Correlations of the rows in which all columns are known; 0 with a column that is the same everywhere."""
    table = np.stack(columns)
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.shape[1]:
        return np.eye(len(table))
    spread = table.std(axis=1)
    scaled = (table - table.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)[:, None]
    matrix: Floats = scaled @ scaled.T / table.shape[1]
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _matrices(both: _Both) -> tuple[Floats, Floats]:
    before, after = zip(*both.numbers.values(), strict=True)
    return _matrix(list(before)), _matrix(list(after))


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
        before = a.with_other(b, np.ones(len(a.label)))
        after = c.with_other(d, np.ones(len(c.label)))
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


def propensity(original: Floats, released: Floats) -> Propensity:
    """Tell rows apart by a logistic regression on features, of which the first is a constant."""
    design = np.vstack([original, released])
    outcome = np.concatenate([np.zeros(len(original)), np.ones(len(released))])
    rows, share = max(len(outcome), 1), len(released) / max(len(outcome), 1)
    scores = chances(design, logistic(design, outcome).coefficients)
    parameters = int(np.linalg.matrix_rank(design)) if len(design) else 1
    expected = (parameters - 1) * share * (1 - share) / rows
    return Propensity(float(((scores - share) ** 2).mean()), expected)


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
        fits.append((logistic if binary else linear)(design[known], y[known]))
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

"""Figures of an original and its release side by side: what analyses come to before and after, in data and words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ALIKE = 3.0
"""Up to so many times as well as by chance rows are told apart, they are said not to be."""


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
        return f"the {self.figure} of {self.column} moves from {self.original:.4g} to {self.released:.4g}"


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
    weighted
        The column of sampling weights that all of it counts by; None: every record counts once.
    il1s
        How far numbers are from what they were, in standard deviations of their column times the root of 2, on average
        over records and columns (Mateo-Sanz et al. 2004); None without a link, which says which row is whose.
    """

    figures: tuple[Moved, ...]
    correlations: tuple[TwoColumns, ...]
    eigenvalues: tuple[tuple[float, ...], tuple[float, ...]]
    tables: tuple[TwoColumns, ...]
    regressions: tuple[Regression, ...]
    propensity: Propensity
    weighted: str | None = None
    il1s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, numbers to four digits, with the sentences."""
        found = {**_shortened(asdict(self)), "sentences": list(self.sentences)}
        for one, told in zip(self.regressions, found["regressions"], strict=True):
            told["overlap"] = _shortened(one.overlap)
        found["propensity"]["ratio"] = _shortened(self.propensity.ratio)
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
            moved = min(one.coefficients[1:], key=lambda coefficient: coefficient.overlap, default=None)
            effect = ""
            if moved is not None:
                effect = f" the coefficient of {moved.name} moves from {moved.original:.4g} to {moved.released:.4g};"
            found.append(f"{one.formula}:{effect} confidence intervals overlap by {one.overlap:.0%} on average.")
        told = "cannot be told" if self.propensity.ratio < ALIKE else "can be told"
        found.append(
            f"Rows of the release {told} from rows of the original by a simple model (pMSE {self.propensity.ratio:.1f} "
            "times what chance gives)."
        )
        if self.il1s is not None:
            found.append(
                f"A number is {self.il1s:.2f} of its usual distance from another away from what it was (IL1s)."
            )
        return tuple(found)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def _shortened(part: Any) -> Any:
    """Return plain data with numbers to four digits: a quantile is somebody's value."""
    if isinstance(part, dict):
        return {name: _shortened(below) for name, below in part.items()}
    if isinstance(part, list | tuple):
        return [_shortened(below) for below in part]
    return float(f"{part:.4g}") if isinstance(part, float) else part

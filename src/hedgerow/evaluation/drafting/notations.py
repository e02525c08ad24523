"""How the numbers of a table are written: by the columns that are numbers in one notation and text in another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from hedgerow.evaluation.drafting.column import MOSTLY_NUMBERS, SeenColumn
from hedgerow.plan.notation import Notation

NOTATIONS = (
    Notation(),
    Notation(","),
    Notation(",", "."),
    Notation(".", ","),
    Notation(",", " "),
    Notation(".", " "),
    Notation(".", "'"),
    Notation(",", "'"),
)
"""Notations that tables are found in, the simplest first: of those that fit as many columns the first is taken."""
SIGNS = {".": "a point", ",": "a comma", " ": "a blank", "'": "an apostrophe", "_": "an underscore", None: "nothing"}


@dataclass(frozen=True)
class SeenNotation:
    """The notation of a table.

    Attributes
    ----------
    columns
        Columns that are numbers only in it, and not in the usual notation.
    ambiguous
        Columns of which every sign could be a decimal sign or stand between thousands.
    others
        Columns that are numbers in the usual notation only, with signs that mean something else here.
    """

    notation: Notation
    columns: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def notation_of(columns: Sequence[SeenColumn], given: Notation, stated: Collection[str] = ()) -> SeenNotation:
    """Find the notation in which most columns are numbers; what of ``given`` is ``stated`` stands.

    Examples
    --------
    >>> costs = SeenColumn("costs", 3, {"1.234,50": 1, "7,25": 1, "12": 1})
    >>> notation_of([costs], Notation())
    SeenNotation(notation=Notation(decimal=',', thousands='.'), columns=('costs',), ambiguous=(), others=())
    """
    written = [column for column in columns if column.counts and _has_sign(column.counts)]
    possible = [one for one in NOTATIONS if all(getattr(one, sign) == getattr(given, sign) for sign in stated)]
    best = max(
        possible or [given],
        key=lambda one: sum(is_in(column, one) for column in written),  # of equal ones the first
    )
    usual = Notation()
    inside = [column for column in written if is_in(column, best)]
    return SeenNotation(
        best,
        tuple(column.name for column in inside if not is_in(column, usual)) if best != usual else (),
        tuple(column.name for column in inside if _is_ambiguous(column)),
        tuple(column.name for column in written if column not in inside and is_in(column, usual)),
    )


def is_in(column: SeenColumn, notation: Notation) -> bool:
    """Tell whether nearly all values of a column are numbers in a notation."""
    fitting = sum(count for label, count in column.weights.items() if notation.number(label) is not None)
    return fitting >= MOSTLY_NUMBERS * sum(column.weights.values()) > 0


def _has_sign(labels: Iterable[str]) -> bool:
    return any(
        any(sign in label for sign in ".,' \u00a0\u202f\u2019") and any(map(str.isdigit, label)) for label in labels
    )


def _is_ambiguous(column: SeenColumn) -> bool:
    """Tell whether each sign of a column's numbers has three digits behind it and could be read in two ways."""
    with_sign = [label for label in column.counts if "." in label or "," in label]
    points, commas = Notation(".", ","), Notation(",", ".")
    return bool(with_sign) and all(
        points.number(label) is not None
        and commas.number(label) is not None
        and points.number(label) != commas.number(label)
        for label in with_sign
    )

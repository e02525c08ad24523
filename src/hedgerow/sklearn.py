"""Hedgerow in a scikit-learn pipeline: a transformer that learns k-anonymous groups and recodes rows by them."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, NoSolution, Problem
from hedgerow.plan import Plan
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    problem = Problem("usage", "This needs scikit-learn.", hint="pip install '.[sklearn]' in a checkout")
    raise HedgerowError(problem) from None

__all__ = ["KAnonymizer"]

DIGITS = 12  # of numbers that have more, the rest is rounded away before groups are formed
PUBLISH = ("middle", "interval")


class KAnonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace values by those of k-anonymous groups.

    ``fit`` makes a release of the rows, which must pass the independent check, and remembers its groups. ``transform``
    puts rows into the finest group that their values lie in. After ``transform`` of the rows it was fitted with, every
    row agrees with at least k - 1 others in all quasi-identifiers. New rows are recoded in the same way, but nobody
    counts how many of *them* agree: the training rows are k-anonymous, new rows need not be.

    Parameters
    ----------
    k
        How many rows must agree, if there is no plan.
    plan
        A plan, its path or a mapping, for frames with named columns. Without one every column of ``columns`` is a
        quasi-identifier: numbers become intervals, anything else is kept or becomes ``*``.
    columns
        Without a plan: the quasi-identifiers, by name or position; by default all. Other columns stay as they are.
    publish
        ``middle``: an interval of numbers becomes the number in its middle. ``interval``: it stays a text.

    Attributes
    ----------
    plan_
        The plan, with everything filled in.
    facts_
        What is true of the release that the groups come from, as in ``facts.json``.

    Notes
    -----
    Rows that lie in no group, or were withheld, have missing values in all columns: drop or impute them.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.array([[30.0], [34.0], [50.0], [58.0]])
    >>> KAnonymizer(k=2).fit_transform(ages).ravel().tolist()
    [32.0, 32.0, 54.0, 54.0]
    >>> KAnonymizer(k=2, publish="interval").fit(ages).transform([[33.0], [40.0]]).ravel().tolist()
    ['30-34', nan]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        plan: Plan | Mapping[str, Any] | str | Path | None = None,
        columns: Sequence[str | int] | None = None,
        publish: str = "middle",
    ) -> None:
        self.k = k
        self.plan = plan
        self.columns = columns
        self.publish = publish

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn may expect: rows of numbers or text, cells of which may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def fit(self, X: Any, y: Any = None) -> KAnonymizer:
        """Form groups of the rows; ``y`` is not looked at."""
        from hedgerow.anonymization.frozen import FrozenGroups, finest_first
        from hedgerow.anonymization.resolving import resolve
        from hedgerow.api import anonymize, apply
        from hedgerow.microdata import read_table
        from hedgerow.release.applying import read_earlier

        if self.publish not in PUBLISH:
            raise ValueError(f"publish must be one of {', '.join(PUBLISH)}; got {self.publish!r}")
        cells = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan")
        names = self._names()
        self._digits = [_decimals(cells[:, at]) for at in range(cells.shape[1])]
        asked = self._asked(names, len(cells))
        table = self._as_text(cells, names)
        with tempfile.TemporaryDirectory() as scratch:
            try:
                release = anonymize(table, asked, Path(scratch) / "first", format="parquet")
                again = apply(Path(scratch) / "first", table, Path(scratch) / "second", afresh=False, format="parquet")
            except NoSolution as error:
                raise ValueError(f"No groups of k = {asked.privacy.k} from n_samples={len(cells)}: {error}") from None
            earlier = read_earlier(Path(scratch) / "first")
        self.plan_, self.facts_ = earlier.plan, dict(release.facts)
        columns = [again.table.column(name).to_pylist() for name in self.plan_.quasi_identifiers]
        groups = FrozenGroups(self.plan_.quasi_identifiers, tuple(dict.fromkeys(zip(*columns, strict=True))))
        ends = groups.ends(self.plan_)
        microdata, _ = resolve(read_table(table, self.plan_), self.plan_, strict=False, ends=ends)
        self._groups = finest_first(microdata, self.plan_, groups)
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Recode rows by the groups."""
        check_is_fitted(self, "plan_")
        cells = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
        group = self._group_of(self._as_text(cells, self._names()))
        published = {name: self._published(name) for name in self.plan_.quasi_identifiers}
        out = np.empty(cells.shape, object)
        for at, name in enumerate(self._names()):
            values = published[name][group] if name in published else cells[:, at].astype(object)
            out[:, at] = np.where(group < 0, np.nan, values)
        numbers = all(isinstance(cell, Real) for cell in out.ravel())
        return out.astype(np.float64) if numbers else out

    def _group_of(self, table: pa.Table) -> IntArray:
        """Return the group of every row, −1 where it is in none."""
        from hedgerow.anonymization.frozen import locate
        from hedgerow.anonymization.resolving import resolve
        from hedgerow.microdata import read_table

        ends = self._groups.ends(self.plan_)
        microdata, settled = resolve(read_table(table, self.plan_), self.plan_, strict=False, ends=ends)
        group = np.full(table.num_rows, -1, np.int64)
        if len(microdata.record_of):
            group[microdata.record_of] = locate(microdata, settled, self._groups)[microdata.profile_of_unit]
        return group

    def _published(self, name: str) -> npt.NDArray[Any]:
        """Return what the groups publish in a column, as it goes out."""
        from hedgerow.anonymization.frozen import read_interval

        at, attribute = self._groups.columns.index(name), self.plan_.attributes[name]
        found: list[Any] = [row[at] for row in self._groups.labels]
        if attribute.free and self.publish == "middle":
            intervals = [None if label is None else read_interval(label, attribute.snap) for label in found]
            found = [None if one is None else float(one.low + one.last) / 2 for one in intervals]
        values = np.empty(len(found) + 1, object)  # the last is for rows in no group
        values[:] = [*(np.nan if value is None else value for value in found), np.nan]
        return values

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{at}" for at in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _asked(self, names: Sequence[str], rows: int) -> Plan:
        """Return the plan for these columns."""
        if self.plan is not None:
            asked: Any = self.plan
            if not isinstance(asked, Plan):
                asked = Plan.from_dict(asked) if isinstance(asked, Mapping) else Plan.load(asked)
            plan: Plan = asked
            strange = [name for name in names if name not in plan.released_columns]
            if strange:
                raise ValueError(f"X has {len(strange)} columns that the plan does not release; drop them first")
            return plan
        k: Any = self.k
        if not isinstance(k, int | np.integer) or k < 2:
            raise ValueError(f"k must be a whole number of at least 2; got {k!r}")
        if rows < k:
            raise ValueError(f"k = {k} needs at least as many rows; got n_samples={rows}")
        chosen = set(names) if self.columns is None else {names[c] if isinstance(c, int) else c for c in self.columns}
        if not chosen or chosen - set(names):
            raise ValueError("columns must name columns of X, by name or position")
        attributes: dict[str, Any] = dict.fromkeys(names, "other")
        for name, digits in zip(names, self._digits, strict=True):
            if name in chosen:
                free = {} if digits is None else {"intervals": "free"}
                attributes[name] = {"role": "quasi-identifier", **free}
        return Plan.from_dict({"attributes": attributes, "privacy": {"k": int(k)}, "method": "partition"})

    def _as_text(self, cells: npt.NDArray[Any], names: Sequence[str]) -> pa.Table:
        """Write rows as a table of texts; numbers are rounded to a bounded number of digits."""
        import pyarrow as pa

        columns = [_texts(cells[:, at], digits) for at, digits in enumerate(self._digits)]
        return pa.table([pa.array(column, pa.string()) for column in columns], names=list(names))


def _decimals(values: npt.NDArray[Any]) -> int | None:
    """Return the decimal places that are looked at in a column of numbers; None if it is none."""
    present = [value for value in values.tolist() if not _is_missing(value)]
    if not present or not all(isinstance(value, Real) and not isinstance(value, bool) for value in present):
        return None
    largest = max(abs(float(value)) for value in present)
    return max(0, DIGITS - math.ceil(math.log10(largest + 1)))


def _texts(values: npt.NDArray[Any], digits: int | None) -> list[str | None]:
    written: list[str | None] = []
    for value in values.tolist():
        if _is_missing(value):
            written.append(None)
        elif digits is None or not isinstance(value, Real):
            written.append(str(value))
        else:
            written.append(f"{float(value):.{digits}f}")
    return written


def _is_missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"

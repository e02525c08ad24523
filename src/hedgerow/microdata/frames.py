"""Tables in memory, of whatever library: taken over once, and looked at for codes that have become numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.plan import Plan
from hedgerow.plan.hierarchy import Hierarchy

if TYPE_CHECKING:
    import pyarrow as pa

LIBRARIES = ("pandas", "polars", "pyarrow", "pyspark")
"""Libraries whose frames can be read again and again, to the same rows; of Spark's its engine makes sure."""


def taken_over(source: Any) -> Any:
    """Return data that can be read more than once, always to the same rows.

    A stream can be read once, a query that waits (a polars LazyFrame, a DuckDB relation) may come to other rows, or to
    another order, each time: both are read now. Anything else is returned as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [1, 2]})
    >>> stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    >>> taken_over(stream).equals(table), taken_over(table) is table, taken_over("people.csv")
    (True, True, 'people.csv')
    """
    library, kind = type(source).__module__.split(".")[0], type(source).__name__
    if library == "polars" and kind == "LazyFrame":
        return source.collect()
    lasting = library in LIBRARIES and kind != "RecordBatchReader"
    if lasting or not hasattr(source, "__arrow_c_stream__"):
        return source
    import pyarrow as pa

    return pa.table(source)


class LostZerosWarning(UserWarning):
    """A frame holds numbers where a plan speaks of codes, some of which begin with 0."""


def warn_of_lost_zeros(table: pa.Table, plan: Plan) -> None:
    """Warn where a column of numbers was probably one of codes, which lost their leading zeros when it was read.

    That is so where a hierarchy has leaves of digits that begin with 0, or where its prefixes are those of values of so
    many characters and some numbers have fewer digits. No value is told.

    Examples
    --------
    >>> import pyarrow as pa
    >>> zip_code = {"role": "quasi-identifier", "hierarchy": {"prefix": [3, 1], "length": 5}}
    >>> plan = Plan.from_dict({"attributes": {"zip": zip_code}, "privacy": {"k": 2}})
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_lost_zeros(pa.table({"zip": [1234, 98765]}), plan)
    ...     warn_of_lost_zeros(pa.table({"zip": ["01234", "98765"]}), plan)
    >>> [str(one.message).partition(":")[0] for one in found]
    ["Column 'zip' holds numbers, but the plan speaks of texts of 5 characters"]
    """
    for name, why in _lost(table, plan):
        message = (
            f"Column {name!r} holds numbers, but the plan speaks of {why}: where the frame was made, zeros at the"
            " beginning were lost. Read the column as text, for example with dtype=str."
        )
        warnings.warn(message, LostZerosWarning, stacklevel=2)


def _lost(table: pa.Table, plan: Plan) -> Iterator[tuple[str, str]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, attribute in plan.attributes.items():
        spec = attribute.hierarchy
        if spec is None or name not in table.column_names:
            continue
        column = table.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            continue
        if spec.prefix is not None and spec.length is not None:
            least = pc.min(pc.abs(column)).as_py()
            if least is not None and least < 10 ** (spec.length - 1):
                yield name, f"texts of {spec.length} characters"
        elif spec.tree is not None and any(map(_is_code, Hierarchy.from_tree(spec.tree).leaves)):
            yield name, "codes that begin with 0"


def _is_code(leaf: str) -> bool:
    return len(leaf) > 1 and leaf.startswith("0") and leaf.isdecimal()

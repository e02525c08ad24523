"""The local engine: reads files and tables into memory, every record; applies a recoding to the rows there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.anonymization.executing import HERE, Executor
from hedgerow.engines.base import published_labels
from hedgerow.engines.export import write
from hedgerow.engines.release_dialect import STANDARD, ReleaseDialect
from hedgerow.engines.rows import Rows
from hedgerow.microdata import Microdata, Table, read_table
from hedgerow.microdata.households import drawn_numbers
from hedgerow.microdata.microdata import MILLION, mean_weights, ranks
from hedgerow.microdata.ordering import order_by, pack
from hedgerow.microdata.read import check_types, place_of
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import number_label, simplest
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class LocalEngine:
    """A file, or a table in memory."""

    data: Any = None

    @property
    def place(self) -> str:
        """The path, or the word for a table in memory."""
        return str(self.data) if isinstance(self.data, str | Path) else "data"

    @property
    def library(self) -> str:
        """The library of a table in memory."""
        module = type(self.data).__module__.split(".")[0]
        return module if module in ("pandas", "polars") else "pyarrow"

    def read(self, plan: Plan, also: Sequence[str] = ()) -> Table:
        """Read every record; all released columns are read anyway."""
        return read(self.data, plan)

    @property
    def executor(self) -> Executor:
        """Where clusterings are run."""
        return HERE

    def apply(self, plan: Plan, table: Table, whole: Microdata, microdata: Microdata, recoding: Recoding) -> Rows:
        """Give the rows of a release, in the order of published values."""
        return Rows.of_table(*apply(table, plan, microdata, recoding))

    def write(self, rows: Rows, folder: Path, form: str, dialect: ReleaseDialect = STANDARD) -> str:
        """Write released rows into a folder."""
        return write(rows, folder, form, dialect)

    def close(self) -> None:
        """Nothing was opened."""


def read(source: Any, plan: Plan, key: bool = False) -> Table:
    """Read the columns that the plan needs, and the record key if it is asked for."""
    import pyarrow as pa

    table = read_table(source, plan, key)
    check_types(pa.schema([(name, column.type) for name, column in table.columns.items()]), place_of(source))
    return table


def apply(table: Table, plan: Plan, microdata: Microdata, recoding: Recoding) -> tuple[pa.Table, IntArray]:
    """Return the released rows, ordered by published values, and the record (from 0) behind each row."""
    import pyarrow as pa

    units = np.flatnonzero(recoding.group_of >= 0)
    group, record = recoding.group_of[units], microdata.record_of[units]
    kept = plan.as_they_are
    labels = dict(
        zip([column.name for column in microdata.columns], published_labels(microdata, recoding), strict=True)
    )
    ties = [ranks(table.columns[name]) for name in kept]
    keys = [group, *(rank[record] for rank, _ in ties)]
    sizes = [recoding.groups, *(size for _, size in ties)]
    households = None if microdata.households is None else microdata.households.of_units(units)
    if households is not None:
        texts = [labels[name].to_pylist() for name in plan.quasi_identifiers]
        texts += [sorted(set(map(str, table.columns[name].take(pa.array(record)).to_pylist()))) for name in kept]
        dense = [np.unique(key, return_inverse=True)[1].reshape(-1) for key in keys]  # as if there were no others
        content = [key.astype(np.uint64) for key in dense]
        numbers = drawn_numbers(households, content, json.dumps([plan.digest(), texts]))[households.of]
        keys, sizes = [*keys, numbers], [*sizes, households.count + 1]
    order = order_by(pack(keys, sizes))
    group, record = group[order], record[order]
    if plan.means_of_weights is not None:
        labels[plan.means_of_weights] = _means(plan, table, microdata, recoding)
    columns = [
        labels[name].take(pa.array(group)) if name in labels else table.columns[name].take(pa.array(record))
        for name in plan.released_columns
    ]
    if households is not None:
        columns.insert(0, pa.chunked_array([pa.array(numbers[order])]))
    return _plain(pa.table(dict(zip(plan.published_columns, columns, strict=True)))), record


def _means(plan: Plan, table: Table, microdata: Microdata, recoding: Recoding) -> pa.ChunkedArray:
    """Return the mean of the sampling weights of every group, written as the weights are."""
    import pyarrow as pa

    assert plan.means_of_weights is not None
    means = [Decimal(mean) / MILLION for mean in mean_weights(microdata, recoding.group_of, recoding.groups).tolist()]
    kind = table.columns[plan.means_of_weights].type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.chunked_array([pa.array(list(map(float, means)), pa.float64())])
    texts = [number_label(simplest(mean)).replace(".", plan.data.decimal) for mean in means]
    return pa.chunked_array([pa.array(texts, pa.string())])


def write_link(record_of_row: IntArray, path: Path) -> None:
    """Write the private link table; who may read it is up to the caller."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("record,row\n")
        file.writelines(f"{record + 1},{row}\n" for row, record in enumerate(record_of_row.tolist(), start=1))


def _plain(table: pa.Table) -> pa.Table:
    """Undo dictionary encoding, so that the file does not depend on the order in which values were met."""
    import pyarrow as pa

    columns = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names)

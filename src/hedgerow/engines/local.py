"""The local engine: reads files and tables into memory, applies a recoding to the rows, writes CSV or Parquet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.engines.spreadsheet import guard
from hedgerow.microdata import Microdata, Table, encode_table, read_table
from hedgerow.microdata.microdata import ranks
from hedgerow.microdata.ordering import order_by, pack
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.plan import Plan
from hedgerow.recoding import Recoding

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]


def read(source: Any, plan: Plan, key: bool = False) -> Table:
    """Read the columns that the plan needs, and the record key if it is asked for."""
    return read_table(source, plan, key)


def collapse(table: Table, plan: Plan, in_order: bool = False) -> Microdata:
    """Encode a table and collapse it to profiles with counts."""
    return encode_table(table, plan, in_order)


def apply(table: Table, plan: Plan, microdata: Microdata, recoding: Recoding) -> tuple[pa.Table, IntArray]:
    """Return the released rows, ordered by published values, and the record (from 0) behind each row."""
    import pyarrow as pa

    units = np.flatnonzero(recoding.group_of >= 0)
    group, record = recoding.group_of[units], microdata.record_of[units]
    kept = plan.columns("sensitive", "other")
    ties = [ranks(table.columns[name]) for name in kept]
    keys = [group, *(rank[record] for rank, _ in ties)]
    order = order_by(pack(keys, [recoding.groups, *(size for _, size in ties)]))
    group, record = group[order], record[order]
    labels = dict(zip([column.name for column in microdata.columns], recoding.labels(microdata), strict=True))
    columns = []
    for name in plan.released_columns:
        if name in labels:
            values = pa.array(labels[name], pa.string()).dictionary_encode().take(pa.array(group))
        else:
            values = table.columns[name].take(pa.array(record))
        columns.append(values)
    return _plain(pa.table(dict(zip(plan.released_columns, columns, strict=True)))), record


def write(table: pa.Table, path: Path) -> None:
    """Write rows as CSV or Parquet, by the path's ending; the same rows give the same bytes."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path, compression="zstd", store_schema=False)
    else:
        _write_csv(table, path)


def write_link(record_of_row: IntArray, path: Path) -> None:
    """Write the private link table, readable by its owner only."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write("record,row\n")
            file.writelines(f"{record + 1},{row}\n" for row, record in enumerate(record_of_row.tolist(), start=1))
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()  # it is ours: a file that was there already is never opened
        raise


def _write_csv(table: pa.Table, path: Path) -> None:
    """Write comma-separated UTF-8 text; cells are quoted only if some cell of the table needs it."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    guarded = [_guarded(column) for column in table.columns]
    names = [guard(name) for name in table.column_names]
    quoted = any(needs_quotes for _, needs_quotes in guarded) or any(map(_needs_quotes, names))
    header = pa.table([pa.array([name], pa.string()) for name in names], names=[str(i) for i in range(len(names))])
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed" if quoted else "none")
    with path.open("wb") as file:
        arrow_csv.write_csv(header, file, options)
        arrow_csv.write_csv(pa.table([column for column, _ in guarded], names=names), file, options)


def _guarded(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """Make text cells harmless and tell whether some need quotes; each distinct value is looked at once."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return column, False
    encoded = dictionary_encoded(column)
    cells = [None if cell is None else guard(cell) for cell in encoded.dictionary.to_pylist()]
    needs_quotes = any(cell is not None and _needs_quotes(cell) for cell in cells)
    return pa.chunked_array([pa.array(cells, pa.string()).take(encoded.indices)]), needs_quotes


def _needs_quotes(cell: str) -> bool:
    """Tell whether a cell would be misread without quotes; an empty one would be read as missing."""
    return not cell or any(sign in cell for sign in '",\r\n') or cell != cell.strip()


def _plain(table: pa.Table) -> pa.Table:
    """Undo dictionary encoding, so that the file does not depend on the order in which values were met."""
    import pyarrow as pa

    columns = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names)

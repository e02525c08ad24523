"""Putting what the check reads of files where there is room for it: rows only go through memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import DataError
from hedgerow.plan import Plan
from hedgerow.verification.counting.sources import FileSource, open_original
from hedgerow.verification.reading import formats
from hedgerow.verification.reading.cells import decoded
from hedgerow.verification.reading.original import positions
from hedgerow.verification.reading.places import Host, InDatabase, InFile
from hedgerow.verification.reading.published import Unreadable
from hedgerow.verification.reading.tables import OpenTable

if TYPE_CHECKING:
    import pyarrow as pa


def lay_out_released(host: Host, released: InFile, plan: Plan) -> InDatabase:
    """Read the file of a release, and put its columns beside the claim.

    Raises
    ------
    Unreadable
        If it is no table.
    """
    try:
        opened = formats.open_released(Path(released.path), plan)
    except DataError as error:
        raise Unreadable(error.problems[0].message) from None
    return _lay_out(host, "released_rows", opened, plan.released_columns, is_release=True)


def lay_out_original(host: Host, original: InFile, plan: Plan) -> InDatabase:
    """Read the original, and put those of its columns that are released, and the key of persons, beside the claim."""
    source = open_original(original, plan.data)
    wanted = [*plan.released_columns, *([plan.person] if plan.person is not None else [])]
    positions(source.header, wanted, source.place)
    assert isinstance(source, FileSource)
    return _lay_out(host, "original_rows", source.opened, wanted)


def _lay_out(host: Host, name: str, opened: OpenTable, wanted: Sequence[str], is_release: bool = False) -> InDatabase:
    here = [column for column in opened.header if column in wanted]
    kinds = dict(host.lay_out(name, here, _tables(opened, here, is_release)))
    return InDatabase(host, name, tuple((column, kinds.get(column, "other")) for column in opened.header))


def _tables(opened: OpenTable, names: Sequence[str], is_release: bool) -> Iterator[pa.Table]:
    import pyarrow as pa

    at = [opened.header.index(name) for name in names]
    kinds = [opened.schema.field(position).type for position in at]
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    yield schema.empty_table()
    try:
        for batch in opened.batches(at):
            columns = [pa.chunked_array([column]) for column in batch.columns]
            if opened.guarded:
                columns = [opened.meant(name, column) for name, column in zip(names, columns, strict=True)]
            columns = [decoded(column) if pa.types.is_dictionary(column.type) else column for column in columns]
            yield pa.table(columns, names=list(names)).cast(schema)
    except DataError as error:
        if is_release:
            raise Unreadable(error.problems[0].message) from None
        raise

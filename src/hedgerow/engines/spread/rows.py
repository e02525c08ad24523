"""The rows of a release whose records are spread over executors, and what is behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.rows import CountedLink
from hedgerow.engines.spread.coded import PERSON, Sent, found_values, gathered, numbers, values_of
from hedgerow.engines.sql import SqlSource, cleaned
from hedgerow.engines.sql import gathered as fetched
from hedgerow.microdata.microdata import ranks
from hedgerow.microdata.ordering import number_rows, pack

if TYPE_CHECKING:
    import pyarrow as pa


def publish_rows(
    sent: Sent, shown: Sequence[pa.Array], columns: Sequence[tuple[str, str]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write rows out as they are released, in the order in which they come.

    ``shown`` has sensitive values in their order; ``columns`` says what each column of the release is: ``l0`` is what
    the first quasi-identifier is published as, ``r0`` the first sensitive column, ``o0`` the first of the others.
    """
    import pyarrow as pa

    book = sent.book
    for table in gathered(batches, 1 << 16):
        again: Any = None
        if "n" in table.column_names:
            again = pa.array(np.repeat(np.arange(table.num_rows), numbers(table, "n")))
        labels = book.labels([numbers(table, name) for name in book.keys])
        found = []
        for name, _ in columns:
            at = int(name[1:])
            if name.startswith("l"):
                column: Any = labels[at].cast(pa.string())
            elif name.startswith("r"):
                column = shown[at].take(pa.array(numbers(table, name)))
            else:
                column = table.column(name)
            found.append(column if again is None else column.take(again))
        yield from pa.table(found, names=[name for name, _ in columns]).to_batches(max_chunksize=1 << 16)


def claim_rows(sent: Sent, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Say what was behind published values: values as they were read, and how many records there are."""
    import pyarrow as pa

    book = sent.book
    for table in gathered(batches, 1 << 16):
        values = values_of(book, table)
        columns: dict[str, Any] = {}
        for at, (of_row, known) in enumerate(zip(values, book.values, strict=True)):
            quasi = len(book.columns)
            columns[f"c{at}" if at < quasi else f"s{at - quasi}"] = known.take(pa.array(of_row))
        if sent.person:
            columns[PERSON] = table.column(PERSON)
        labels = book.labels([numbers(table, name) for name in book.keys])
        columns |= {f"l{at}": column.cast(pa.string()) for at, column in enumerate(labels)}
        columns["n"] = table.column("n")
        yield from pa.table(columns).to_batches()


def encode_others(sent: Sent, others: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Number the values of every record, and keep its other columns: a row each."""
    import pyarrow as pa

    book = sent.book
    for table in gathered(batches):
        values = found_values(book, table)
        words = pack(values, book.sizes)
        columns: dict[str, Any] = {
            name: pa.array(word.astype(np.int64)) for name, word in zip(book.words, words, strict=True)
        }
        if sent.person:
            columns[PERSON] = table.column(PERSON)
        for at, ((rank, _), of_row) in enumerate(zip(book.ranks, values[len(book.columns) :], strict=True)):
            columns[f"r{at}"] = pa.array(rank[of_row].astype(np.int32))
        columns |= {f"o{at}": table.column(f"o{at}") for at in range(others)}
        yield from pa.table(columns).to_batches()


class SpreadLink(CountedLink):
    """What became of records that are spread: as a relation, or fetched, where a check asks for it here."""

    def __init__(self, claim: str, source: SqlSource) -> None:
        object.__setattr__(self, "claim", claim)
        object.__setattr__(self, "_source", source)

    @cached_property
    def _fetched(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        return fetched_link(self.claim, self._source)  # type: ignore[attr-defined]

    @property
    def profiles(self) -> pa.Table:
        """The values of records as they were read, and their class."""
        return self._fetched[0]

    @property
    def parts(self) -> pa.Table:
        """So many records of a class are in a group."""
        return self._fetched[1]

    @property
    def labels(self) -> pa.Table:
        """What groups are published as."""
        return self._fetched[2]


def fetched_link(claim: str, source: SqlSource) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Fetch a claim as profiles, parts and labels: what reads alike, of one person, is a class."""
    import pyarrow as pa

    names, plan = source.names(), source.plan
    quasi = [alias for alias in names if alias.startswith("c")]
    keys = [alias for alias in names if alias != PERSON]
    labels = [f"l{alias[1:]}" for alias in quasi]
    query = f"SELECT {', '.join([*keys, *labels, 'n'])} FROM {claim}"
    if plan.person is not None:  # persons are numbered among all of the table
        persons = f"SELECT {PERSON} AS q FROM ({source.keyed()}) AS t GROUP BY {PERSON}"
        known = f"SELECT q, DENSE_RANK() OVER (ORDER BY q) AS number FROM ({persons}) AS t"
        found = ", ".join([*(f"t.{name}" for name in (*keys, *labels, "n")), f"k.number AS {PERSON}"])
        query = f"SELECT {found} FROM {claim} AS t JOIN ({known}) AS k ON k.q = t.{PERSON}"
        keys = [*keys, PERSON]
    rows = fetched(source.session, query)
    read = [
        rows.column(alias)
        if alias == PERSON
        else cleaned(rows.column(alias), source.kinds[names[alias]], plan.data.markers(names[alias]))
        for alias in keys
    ]
    class_of = number_rows([ranks(column)[0] for column in read])[0]
    group = number_rows([ranks(rows.column(name))[0] for name in labels])[0]
    real = ["person" if alias == PERSON else names[alias] for alias in keys]
    profiles = rows.select(keys).rename_columns(real).append_column("class", pa.array(class_of))
    parts = pa.table({"class": pa.array(class_of), "g": pa.array(group), "n": rows.column("n").cast(pa.int64())})
    first = np.unique(group, return_index=True)[1]
    shown = rows.select(labels).take(pa.array(first)).add_column(0, "g", pa.array(np.arange(len(first))))
    return profiles, parts, shown.rename_columns(["g", *(names[alias] for alias in quasi)])

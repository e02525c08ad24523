"""The tables of a store, and the steps that lead from one layout of them to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "hedgerow-store"

NUMBER, TEXT, KEY, BYTES = "number", "text", "key", "bytes"  # a key is text, compared and sorted byte by byte


@dataclass(frozen=True)
class StoredTable:
    """A table: its columns with their kinds, the columns that name a row, and those that may be empty."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    optional: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column."""
        return dict(self.columns)

    @property
    def arrow(self) -> pa.Schema:
        """The columns as Arrow has them."""
        import pyarrow as pa

        types = {NUMBER: pa.int64(), BYTES: pa.binary()}
        return pa.schema([(name, types.get(kind, pa.string())) for name, kind in self.columns])


META = StoredTable("meta", (("name", KEY), ("value", TEXT)), ("name",))
VERSIONS = StoredTable(
    "versions",
    (
        ("version", NUMBER),
        ("parent", NUMBER),
        ("verb", TEXT),
        ("made_at", TEXT),
        ("tool", TEXT),
        ("plan_digest", TEXT),
        ("counts", TEXT),
        ("scores", TEXT),
        ("facts", TEXT),
        ("verification", TEXT),
        ("audit", TEXT),
        ("previous", TEXT),
        ("chain", TEXT),
    ),
    ("version",),
    frozenset({"parent"}),
)
GROUPS = StoredTable(
    "groups",
    (("version", NUMBER), ("number", NUMBER), ("shown", TEXT), ("region", TEXT), ("size", NUMBER), ("counts", TEXT)),
    ("version", "number"),
)
RECORDS = StoredTable("records", (("version", NUMBER), ("key", KEY), ("content", TEXT)), ("version", "key"))
PLACES = StoredTable(
    "places",
    (("version", NUMBER), ("key", KEY), ("cluster", NUMBER), ("group_number", NUMBER)),
    ("version", "key"),
)
ERASURES = StoredTable(
    "erasures", (("number", NUMBER), ("made_at", TEXT), ("head", NUMBER), ("rows", NUMBER)), ("number",)
)

#: Private, and no part of the history: what a change needs to know of the version that was last checked in full.
#: It holds nothing that is not in the other tables, and is made again where it is missing.
INDEX = StoredTable("record_index", (("part", NUMBER), ("content", BYTES)), ("part",))

#: Private, and no part of the history either: the audit of all versions so far, on which that of the next is put.
AUDIT = StoredTable("audit_state", (("part", NUMBER), ("content", BYTES)), ("part",))

#: What every layout has: by these tables a store is known.
FIRST = (META, VERSIONS, GROUPS, RECORDS, PLACES)

#: The steps: the tables that each layout adds to the one before. A store says in ``meta`` how many it has taken.
STEPS: tuple[tuple[StoredTable, ...], ...] = (FIRST, (ERASURES,), (INDEX,), (AUDIT,))

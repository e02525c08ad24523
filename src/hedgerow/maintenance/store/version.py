"""A version of a release as the store keeps it, and the chain of hashes that ties it to the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_COLUMNS = ("number", "shown", "region", "size", "counts")
CHAINED = ("version", "parent", "verb", "tool", "plan_digest", "counts", "scores", "facts", "verification", "audit")
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, eq=False)
class NewVersion:
    """What is to be written as one version: its row, and only those groups, records and places that are new in it.

    Attributes
    ----------
    number
        One more than that of the newest version in the store; the first is 1.
    parent
        The version that it was made from; none for the first.
    verb
        What was done: ``create``, ``insert``, ``delete``, ``update``, ``optimize``.
    plan_digest
        The digest of the plan it was made with.
    counts, scores, facts, verification, audit
        What is known of it, as plain data that JSON can hold.
    groups
        Groups that changed: ``number``, ``shown``, ``region``, ``size`` (0: no longer published), ``counts``.
    records
        Private. Records that are new or changed: ``key``, ``content``.
    places
        Private. Where records lie that are new or moved: ``key``, ``cluster``, ``group_number``.
    index
        Private. What the next change is to know of this version without reading it; None: what was there stays.
    audit_state
        Private. The audit of all versions up to this one, for the next; None: what was there stays.
    """

    number: int
    parent: int | None
    verb: str
    plan_digest: str
    counts: dict[str, Any]
    scores: dict[str, Any]
    facts: dict[str, Any]
    verification: dict[str, Any]
    audit: dict[str, Any]
    groups: pa.Table
    records: pa.Table
    places: pa.Table
    index: bytes | None = None
    audit_state: bytes | None = None


@dataclass(frozen=True)
class VersionRow:
    """What a store says of one version.

    Attributes
    ----------
    made_at
        When it was written, in UTC.
    tool
        The program that wrote it, with its version.
    previous, chain
        The hash of the version before, and of this one; see :func:`chained`.
    """

    number: int
    parent: int | None
    verb: str
    made_at: str
    tool: str
    plan_digest: str
    counts: dict[str, Any]
    scores: dict[str, Any]
    facts: dict[str, Any]
    verification: dict[str, Any]
    audit: dict[str, Any]
    previous: str
    chain: str


@dataclass(frozen=True)
class Erasure:
    """That people were erased: when, at which newest version, and how many rows; never who."""

    number: int
    made_at: str
    head: int
    rows: int


def canonical(value: Any) -> str:
    r"""Write plain data as JSON in the one way that hashes rely on: names sorted, no spaces, ASCII only.

    Examples
    --------
    >>> canonical({"b": 1.5, "a": ["é", None]})
    '{"a":["\\u00e9",null],"b":1.5}'
    """
    return CANONICAL.encode(value)


def digest_of_groups(groups: pa.Table) -> str:
    """Hash the group rows of one version: SHA-256 of one JSON array per line, in order of number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> row = {"number": 1, "shown": "[30, 39]", "region": "[[0,9]]", "size": 5, "counts": "{}"}
    >>> digest_of_groups(pa.Table.from_pylist([row]))[:16]
    'ca5c60ddeaf6b75b'
    """
    lines = hashlib.sha256()
    for batch in groups.select(list(GROUP_COLUMNS)).sort_by("number").to_batches(max_chunksize=50_000):
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        lines.update("".join(canonical(row) + "\n" for row in rows).encode())
    return lines.hexdigest()


def chained(previous: str, row: Mapping[str, Any], groups: str) -> str:
    """Hash a version onto the one before it.

    Parameters
    ----------
    previous
        The hash of the version before; empty for the first.
    row
        The row of the version as it is stored, its plain data as JSON text. The time is not hashed, so that the same
        changes give the same chain; neither are the private tables, since people can be erased from them.
    groups
        The digest of its group rows.

    Returns
    -------
    str
        SHA-256 of the three, one per line, in hexadecimal.
    """
    said = canonical({name: row[name] for name in CHAINED})
    return hashlib.sha256(f"{previous}\n{said}\n{groups}".encode()).hexdigest()

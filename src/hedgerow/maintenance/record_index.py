"""What a change needs to know of the version that was last checked in full, in one piece that is read in a moment.

A store keeps records as text, a row each, and a million of them take seconds to read. So a full check leaves an index
behind: every key, every stored column as numbers beside its distinct values, where each record lies, and for every
group a fingerprint of what it shows and a digest of all that a check looks at. What happened since then is read from
the store's own tables, and is little.

The index holds nothing of its own: it is made again from the tables where it is missing or unreadable. It is plain
arrays and JSON, so reading one that somebody tampered with can do no harm.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.maintenance.packing import Arrays, data_of, narrow, pack, pack_keys, unpack, unpack_keys
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.types import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"hedgerow index 1\n"
DIGEST = 16  # bytes
SEPARATOR = "\0"  # no text of a store holds it
PRIME = np.uint64(0x100000001B3)

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class GroupIndex:
    """Every group that a release ever had, by ascending number.

    Attributes
    ----------
    number
        Their numbers.
    shown
        A fingerprint of the labels of each.
    digest
        Of each group that was published then (rows), what :func:`digests_of` says; zeros for the others.
    """

    number: IntArray
    shown: Words
    digest: Bytes

    def at(self, numbers: IntArray) -> IntArray:
        """Where groups with some numbers stand; −1 for those that are not there."""
        found = np.minimum(np.searchsorted(self.number, numbers), max(len(self.number) - 1, 0))
        there = self.number[found] == numbers if len(self.number) else np.zeros(len(numbers), bool)
        return np.where(there, found, -1)

    def with_more(self, number: IntArray, shown: Words) -> GroupIndex:
        """Return it with groups that came later; of those it has, the labels stay: a number stands for them."""
        new = self.at(number) < 0
        number, first = np.unique(np.append(self.number, number[new]), return_index=True)
        digest = np.concatenate([self.digest, np.zeros((int(new.sum()), DIGEST), np.uint8)])
        return GroupIndex(number, np.append(self.shown, shown[new])[first], digest[first])


@dataclass(frozen=True, eq=False)
class RecordIndex:
    """The living records of a version, in the order of their keys, and its groups.

    Attributes
    ----------
    version
        The version that was checked in full.
    keys, columns
        The key of every record, and its stored columns by name.
    place, group
        Where every record lies, as a store says it.
    groups
        Its groups.
    """

    version: int
    keys: pa.Array
    columns: dict[str, pa.ChunkedArray]
    place: IntArray
    group: IntArray
    groups: GroupIndex

    def pack(self) -> bytes:
        """Write it down."""
        import pyarrow as pa

        arrays: Arrays = {
            **pack_keys(self.keys),
            "place": narrow(self.place),
            "group": narrow(self.group),
            "number": narrow(self.groups.number),
            "shown": self.groups.shown,
            "digest": self.groups.digest.reshape(-1),
        }
        values = []
        for position, column in enumerate(self.columns.values()):
            encoded = dictionary_encoded(column)
            codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy().astype(np.int64)
            used = np.bincount(codes, minlength=len(encoded.dictionary) + 1)[:-1] > 0  # others may be of who has left
            texts = encoded.dictionary.filter(pa.array(used)).cast(pa.string()).to_pylist()
            arrays[f"column {position}"] = narrow(np.append(np.cumsum(used) - 1, len(texts))[codes])
            values.append(texts)
        said = {"version": self.version, "columns": list(self.columns), "values": values}
        return pack(MAGIC, said, arrays)

    @classmethod
    def unpack(cls, packed: bytes, schema: pa.Schema) -> RecordIndex | None:
        """Read what :meth:`pack` wrote, its columns of these types; None if it is anything else."""
        import pyarrow as pa

        found = unpack(MAGIC, packed)
        if found is None:
            return None
        try:
            return _read(*found, schema)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, pa.ArrowException):
            return None


def _read(said: dict[str, Any], arrays: Arrays, schema: pa.Schema) -> RecordIndex:
    import pyarrow as pa

    keys = unpack_keys(arrays)
    place, group = (arrays[name].astype(np.int64) for name in ("place", "group"))
    if not len(place) == len(group) == len(keys):
        raise ValueError("lengths")
    columns = {}
    for position, (name, texts) in enumerate(zip(said["columns"], said["values"], strict=True)):
        codes, kind = arrays[f"column {position}"].astype(np.int32), schema.field(name).type
        if len(codes) != len(place):
            raise ValueError("lengths")
        indices = pa.array(codes, mask=codes == len(texts))
        labels = pa.array(texts, pa.string())
        if pa.types.is_string(kind):
            column = pa.DictionaryArray.from_arrays(indices, labels)
        else:
            column = labels.cast(kind).take(indices)
        columns[name] = pa.chunked_array([column])
    number = arrays["number"].astype(np.int64)
    digest = arrays["digest"].astype(np.uint8, copy=False).reshape(len(number), DIGEST)
    shown = arrays["shown"].astype(np.uint64, copy=False)
    if len(shown) != len(number) or (np.diff(number) <= 0).any():
        raise ValueError("groups")
    groups = GroupIndex(number, shown, digest)
    return RecordIndex(int(said["version"]), keys, columns, place, group, groups)


# -- fingerprints and digests ------------------------------------------------------------------------------------------


def fingerprints(labels: Sequence[pa.DictionaryArray]) -> Words:
    """Return a number for the labels of every group, given by column; each distinct label is looked at once."""
    found = np.zeros(len(labels[0]), np.uint64) if labels else np.zeros(0, np.uint64)
    for column in labels:
        words = np.array([_word(label) for label in column.dictionary.to_pylist()], np.uint64)
        found = (found ^ words[column.indices.to_numpy()]) * PRIME
    return found


def fingerprints_of(shown: Iterable[str]) -> Words:
    """Return the same numbers for groups as a store has them: their labels as JSON lists."""
    found, words = [], {}
    mask, prime = (1 << 64) - 1, int(PRIME)
    for text in shown:
        number = 0
        for label in json.loads(text):
            if label not in words:
                words[label] = int(_word(label))
            number = ((number ^ words[label]) * prime) & mask
        found.append(number)
    return np.array(found, np.uint64)


def _word(label: str | None) -> np.uint64:
    said = b"\0" if label is None else b"\1" + label.encode("utf-8", "surrogatepass")
    return np.uint64(int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big"))


def digests_of(groups: pa.Table, records: pa.Table, group: IntArray) -> tuple[IntArray, Bytes]:
    """Digest groups as a store has them: what each publishes, and the keys and contents of all its records.

    Parameters
    ----------
    groups
        ``number``, ``shown``, ``region``, ``size`` and ``counts`` of the groups.
    records
        ``key`` and ``content`` of records, in the order of keys.
    group
        Number of every record's group; −1 if it is in none.

    Returns
    -------
    tuple
        The numbers of those groups that have records, ascending, and their digests (rows).
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = np.flatnonzero(group >= 0)
    order = inside[np.argsort(group[inside], kind="stable")]
    numbers, starts = np.unique(group[order], return_index=True)
    parts = [records.column(name).cast(pa.large_string()).take(pa.array(order)) for name in ("key", "content")]
    ends_with, between = (pa.scalar(said, pa.large_string()) for said in ("", SEPARATOR))
    text = pc.binary_join_element_wise(*parts, ends_with, between)
    text = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    ends = np.concatenate([[0], np.cumsum(pc.binary_length(text).to_numpy(zero_copy_only=False))]).astype(np.int64)
    data = data_of(text).tobytes()
    said = dict(zip(groups.column("number").to_pylist(), range(groups.num_rows), strict=True))
    what = [groups.column(name).to_pylist() for name in ("shown", "region", "size", "counts")]
    found = np.zeros((len(numbers), DIGEST), np.uint8)
    bounds = ends[np.append(starts, len(order))].tolist()
    for position, number in enumerate(numbers.tolist()):
        at = said.get(number)
        published = "".join(f"{column[at]}{SEPARATOR}" for column in what) if at is not None else ""
        digest = hashlib.blake2b(published.encode(), digest_size=DIGEST)
        digest.update(data[bounds[position] : bounds[position + 1]])
        found[position] = np.frombuffer(digest.digest(), np.uint8)
    return numbers, found


def differing_digests(one: Bytes, other: Bytes) -> BoolArray:
    """Tell which digests (rows) are not the same."""
    found: BoolArray = (one != other).any(axis=1)
    return found

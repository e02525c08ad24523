"""Arrays and a few words in one piece of bytes, with a hash by which damage is seen.

It is plain numbers and JSON, so reading a piece that somebody tampered with can do no harm.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
SIGNED = (np.int8, np.int16, np.int32, np.int64)

Arrays = dict[str, npt.NDArray[Any]]


def pack(magic: bytes, said: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Write words, which JSON can hold, and arrays of one dimension."""
    described = [[name, array.dtype.str, len(array)] for name, array in arrays.items()]
    header = json.dumps({**said, "arrays": described}).encode()
    body = b"".join([len(header).to_bytes(8, "big"), header, *(array.tobytes() for array in arrays.values())])
    return magic + hashlib.sha256(body).digest() + body


def unpack(magic: bytes, packed: bytes) -> tuple[dict[str, Any], Arrays] | None:
    """Read what :func:`pack` wrote; None if it is anything else."""
    body = memoryview(packed)[len(magic) + 32 :]
    if not packed.startswith(magic) or hashlib.sha256(body).digest() != packed[len(magic) : len(magic) + 32]:
        return None
    try:
        end = 8 + int.from_bytes(body[:8], "big")
        said = json.loads(bytes(body[8:end]))
        arrays: Arrays = {}
        for name, kind, length in said.pop("arrays"):
            found = np.frombuffer(body, np.dtype(kind), length, end)
            arrays[name], end = found, end + found.nbytes
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError):
        return None
    return said, arrays


def pack_keys(keys: pa.Array) -> Arrays:
    """Write texts as two arrays."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = keys.cast(pa.large_string())
    lengths = pc.binary_length(keys).to_numpy(zero_copy_only=False).astype(np.int64)
    return {"key lengths": narrow(lengths), "keys": data_of(keys)}


def unpack_keys(arrays: Arrays) -> pa.Array:
    """Read what :func:`pack_keys` wrote; raises ValueError or an error of Arrow's if it is anything else."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(arrays["key lengths"], dtype=np.int64)])
    data = arrays["keys"].astype(np.uint8, copy=False)
    if offsets[-1] != len(data):
        raise ValueError("lengths")
    keys = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    keys.validate(full=True)
    return keys.cast(pa.string())


def data_of(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of texts with offsets of 64 bits, one after the other."""
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if not len(texts) or texts.buffers()[2] is None:
        return np.zeros(0, np.uint8)
    return np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]


def narrow(numbers: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The same numbers in as few bytes as hold all of them."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for kind in SIGNED if low < 0 else UNSIGNED:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers

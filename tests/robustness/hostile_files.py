"""Files that strangers might bring to hurt whoever reads them."""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300
SECRET = "Zebra-77"
"""Stands in every table, and must never be printed."""


@functools.cache
def _table() -> pa.Table:
    numbers = range(ROWS)
    return pa.table(
        {
            "name": [f"{SECRET} {number}" for number in numbers],
            "age": pa.array([20 + number % 60 for number in numbers], pa.int64()),
            "town": pa.array([f"town {number % 9}" for number in numbers]).dictionary_encode(),
            "tags": pa.array([["a", "b"][: number % 3] for number in numbers]),
            "weight": pa.array([number / 7 for number in numbers]),
        }
    )


@functools.cache
def good_csv() -> bytes:
    """A table that is as it should be."""
    rows = "".join(f"{SECRET} {number},{20 + number % 60},town {number % 9}\n" for number in range(ROWS))
    return f"name,age,town\n{rows}".encode()


@functools.cache
def _arrow() -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, _table().schema) as writer:
        writer.write_table(_table(), max_chunksize=100)
    return sink.getvalue()


@functools.cache
def _parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(_table(), sink, row_group_size=100)
    return sink.getvalue()


@functools.cache
def bomb() -> bytes:
    """A Parquet file of a few kilobytes that unpacks to gigabytes of text."""
    sink = io.BytesIO()
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int32()), pa.array(["x" * 2_000]))
    part = pa.table({"a": text.cast(pa.dictionary(pa.int32(), pa.string()))})
    with pq.ParquetWriter(sink, part.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(part)
    return sink.getvalue()


def damaged(draw: random.Random, whole: bytes) -> bytes:
    """Change some bytes, leave some out, or put some in."""
    found = bytearray(whole)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        at = draw.randrange(len(found))
        way = draw.randrange(6)
        if way == 0:
            found[at] = draw.randrange(256)
        elif way == 1:
            found[at] ^= 1 << draw.randrange(8)
        elif way == 2:
            found[at : at + 8] = draw.choice((b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f\xff\xff\xff\x7f"))
        elif way == 3:
            del found[at : at + draw.randrange(1, 64)]
        elif way == 4:
            found[at:at] = draw.randbytes(draw.randrange(1, 64))
        else:
            del found[draw.randrange(len(found)) :]
        if not found:
            return b"x"
    return bytes(found)


def _csv(draw: random.Random) -> bytes:
    ways: list[Callable[[], bytes]] = [
        lambda: damaged(draw, good_csv()),
        lambda: b"name,age\n" + b'"' * 200_001,
        lambda: b"\0" * 100_000,
        lambda: draw.randbytes(50_000),
        lambda: (",".join(f"c{number}" for number in range(200_000)) + "\n" + "1," * 199_999 + "1\n").encode(),
        lambda: b"n" * 3_000_000 + b",b\n1,2\n",
        lambda: b"a,b\n" + b"x" * 4_000_000 + b",1\n",
        lambda: b"a\n" + b"9" * 20_000 + b"\n",
        lambda: ("a,b\n" + "".join(f"{number},{number}\n" for number in range(60_000))).encode(),
        lambda: b"\xff\xfe" + "a,b\n1,2\n".encode("utf-16-le")[:-1],
    ]
    return draw.choice(ways)()


def _plan(draw: random.Random) -> bytes:
    fine = b"attributes: {name: identifier, age: quasi-identifier, town: quasi-identifier}\nprivacy: {k: 2}\n"
    laughs = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + step)}: &{chr(98 + step)} [{', '.join([f'*{chr(97 + step)}'] * 10)}]\n" for step in range(12)
    )
    ways: list[Callable[[], bytes]] = [
        lambda: b"[" * 100_000,
        lambda: b"{a: " * 50_000,
        lambda: b"- " * 60_000,
        lambda: b"? " * 30_000,
        lambda: laughs.encode(),
        lambda: b"k: " + b"9" * 1_000_000,
        lambda: b"!!python/object/apply:os.system ['true']\n",
        lambda: draw.randbytes(10_000),
        lambda: damaged(draw, fine),
        lambda: b"attributes: {" + b", ".join(f"c{number}: other".encode() for number in range(50_000)) + b"}\n",
        lambda: b"attributes: {age: {role: quasi-identifier, hierarchy: {file: /etc/passwd}}}\nprivacy: {k: 2}\n",
    ]
    return draw.choice(ways)()


def hostile(draw: random.Random) -> tuple[str, str, bytes]:
    """Draw a file: what kind it is, its name, and its bytes. A plan is to be brought to a table that is open."""
    kind = draw.choice(("arrow", "arrow", "arrow", "parquet", "parquet", "csv", "csv", "csv", "plan", "plan", "bomb"))
    name = draw.choice(("t", "t" * 3_000, "../../t", "t\n\x1b[31m", "täble ☃", "'; drop", "<script>"))
    if kind == "arrow":
        return kind, f"{name}.{draw.choice(('arrow', 'feather'))}", damaged(draw, _arrow())
    if kind == "parquet":
        return kind, f"{name}.parquet", damaged(draw, _parquet())
    if kind == "bomb":
        return kind, f"{name}.parquet", bomb()
    if kind == "plan":
        return kind, f"{name}.yaml", _plan(draw)
    return kind, f"{name}.csv", _csv(draw)

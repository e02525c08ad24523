"""Mutated files for every reader, by the thousand; any signal, hang, untyped error or value in a message is a failure.

A host process loads everything once, and forks a worker that tries case after case. When a worker dies, the host knows
at which case, and forks another. Most cases call the functions that a sandbox's child runs, in the worker: there a
crash is what the sandbox is for, and is counted apart ("contained"). The rest run the library, sandbox and all, and
some the whole command: there a signal is a failure, whoever gets it.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import mmap
import os
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.robustness.campaign import Campaign
from tests.robustness.mutations import NASTY_TEXTS, change_bytes, change_data, change_text

CASES = 4000
CANARY = "Quirinius"
"""Stands in cells of every table; no message may hold it."""
LONGEST = 10
MOST_MEMORY = 2 << 30
PLAN = {
    "attributes": {
        "name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 1}},
        "sex": "quasi-identifier",
        "city": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": {"N": ["a", "b"], "S": ["c", CANARY]}}}},
        "ill": "sensitive",
        "note": "other",
    },
    "key": "name",
    "privacy": {"k": 3},
}
WANTED = ["age", "sex", "city", "ill", "note"]
YAML_WORDS = (
    "[", "]", "{", "}", ": ", "- ", "? ", "*a", "&a ", "!!python/object:os.system ", "!", "|", ">", "<<: ", "%YAML 1.1\n",
    "---", "...", "#", "\t", "'", '"', "\\x", "k: ", "hierarchy: ", "{file: /etc/passwd}", "bands: ", "cuts: ", "prefix: ",
    "limit: {level: ", "intervals: free", "quasi-identifier", "sensitive", "null", "[[[[[[[[[[", "1e9", "{bands: [5, 7]}",
    "method: lattice", "withhold: 5%", "weights: ", "encoding: zip", "seed: ", "p: 2", "t: 0.2", "{dates: [month, year]}",
)  # fmt: skip
CSV_WORDS = (
    ",",
    ";",
    "\t",
    "|",
    '"',
    '""',
    "\r\n",
    "\r",
    "\n\n",
    "'",
    "=",
    "\0",
    "\ufeff",
    ",,,,,,,,",
    CANARY,
    "NA",
    "1",
    "-",
)
ENCODINGS = (
    "utf-8",
    "latin-1",
    "cp1252",
    "utf-16",
    "zip",
    "rot13",
    "punycode",
    "idna",
    "utf-7",
    "ascii",
    "gb18030",
    "x\0",
)


# -- seeds -------------------------------------------------------------------------------------------------------------


def make_seeds(folder: Path) -> None:
    """Write files of every kind, whole ones."""
    import datetime as dt

    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    import hedgerow as hr

    rows = 60
    people = pa.table(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": [str(20 + i % 30) for i in range(rows)],
            "sex": ["fm"[i % 2] for i in range(rows)],
            "city": [["a", "b", "c", CANARY][i % 4] for i in range(rows)],
            "ill": [f"ill{i % 5}" for i in range(rows)],
            "note": [f"{CANARY} {i}" for i in range(rows)],
        }
    )
    typed = people.set_column(1, "age", pa.array([20 + i % 30 for i in range(rows)]))
    typed = typed.set_column(4, "ill", pa.array([dt.date(2020, 1, 1 + i % 5) for i in range(rows)]))
    typed = typed.set_column(5, "note", pa.array([dt.datetime(2020, 1, 1, i % 24) for i in range(rows)]))
    coded = pa.table({name: people.column(name).dictionary_encode() for name in people.column_names})
    arrow_csv.write_csv(people, folder / "people.csv")
    (folder / "plain.csv").write_bytes((folder / "people.csv").read_bytes().replace(b'"', b""))
    (folder / "tabs.csv").write_bytes((folder / "plain.csv").read_bytes().replace(b",", b"\t"))
    pq.write_table(people, folder / "people.parquet")
    pq.write_table(typed, folder / "typed.parquet", compression="zstd", row_group_size=20, data_page_version="2.0")
    pq.write_table(coded, folder / "coded.parquet", compression="none", write_statistics=False)
    pq.write_table(people, folder / "delta.parquet", use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    feather.write_feather(people, folder / "people.arrow", compression="uncompressed")
    feather.write_feather(typed, folder / "typed.arrow", compression="lz4")
    feather.write_feather(coded, folder / "coded.arrow", compression="zstd", chunksize=20)
    feather.write_feather(coded, folder / "whole.arrow", compression="uncompressed")
    plan = hr.Plan.from_dict(PLAN)
    (folder / "plan.yaml").write_text(plan.to_yaml())
    free = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 10}}
    rich = {"data": {"missing": ["", "NA"]}, "method": "lattice", "rules": [], "seed": 7}
    for number, other in enumerate(({"attributes": {**PLAN["attributes"], "age": free}}, rich)):  # type: ignore[dict-item]
        try:
            (folder / f"other{number}.yaml").write_text(hr.Plan.from_dict({**PLAN, **other}).to_yaml())
        except hr.PlanError:
            (folder / f"other{number}.yaml").write_text(json.dumps({**PLAN, **other}))
    (folder / "tree.txt").write_text("".join(f"leaf{i};group{i % 5};part{i % 2};*\n" for i in range(30)))
    (folder / "bands.txt").write_text("".join(f"{i},{i // 10 * 10}-{i // 10 * 10 + 9},*\n" for i in range(40)))
    hr.anonymize(people, plan, folder / "release", link=folder / "link.csv")
    hr.anonymize(people, plan, folder / "packed", format="parquet")
    store = folder / "store.db"
    with hr.create_release(folder / "people.csv", plan, store) as kept:
        kept.insert(people.slice(0, 9).set_column(0, "name", pa.array([f"q{i}" for i in range(9)])))


@functools.cache
def seeds() -> Path:
    """Return the folder of seeds, made once per machine and version of what makes them."""
    import hedgerow

    home = Path(hedgerow.__file__).parent
    sources = [Path(__file__), *sorted(home.glob("store/*.py")), *sorted(home.glob("publishing/*.py"))]
    mark = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"hedgerow-seeds-{os.getuid()}-{mark}"
    if not folder.exists():
        making = Path(tempfile.mkdtemp(prefix="hedgerow-seeds-"))
        make_seeds(making)
        try:
            making.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(making, ignore_errors=True)
    return folder


@functools.cache
def whole(pattern: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(seeds().glob(pattern)))


@functools.cache
def spots(content: bytes, kind: str) -> tuple[int, ...]:
    """Return places that matter in a file: its footer, the headers of its pages or messages, its last bytes."""
    size = len(content)
    if kind == "parquet":
        footer = size - 8 - struct.unpack_from("<i", content, size - 8)[0]
        headers = [
            at
            for at in range(0, footer, 1)
            if content[at : at + 2] == b"\x15\x00" or content[at : at + 2] == b"\x15\x04"
        ]
        return (*range(footer, size, 3), *headers[:60], *range(size - 8, size))
    if kind == "arrow":
        footer = size - 10 - struct.unpack_from("<i", content, size - 10)[0]
        messages = [at for at in range(0, size - 4, 4) if content[at : at + 4] == b"\xff\xff\xff\xff"]
        near = [at + step for at in messages for step in range(4, 200, 4)]
        return (*range(footer, size, 3), *near, *range(size - 10, size))
    if kind == "store":
        pages = range(0, size, 4096)
        return (*range(16, 100, 4), *(page + step for page in pages for step in range(0, 24, 2)))
    return ()


# -- cases -------------------------------------------------------------------------------------------------------------

Case = Callable[[random.Random, Path], None]


def table_request(kind: str, draw: random.Random) -> dict[str, Any]:
    from hedgerow.plan.formats import FILE_FORMATS

    encoding = draw.choice(ENCODINGS) if kind == "csv" and draw.random() < 0.15 else "utf-8"
    delimiter = draw.choice((None, None, None, ",", ";", '"', "\n", "x"))
    form = {
        "delimiter": delimiter if kind == "csv" else None,
        "encoding": encoding,
        "quote": draw.choice('"""\'a'),
        "missing": [""],
        "missing_in": draw.choice(({}, {WANTED[0]: ["7"]})),
        "sheet": None,
        "labels": draw.choice(("publish", "keep-codes")),
        "header": draw.random() < 0.9,
        "decimal": draw.choice(".,"),
    }
    wanted = WANTED if draw.random() < 0.8 else draw.sample(WANTED, 2)
    written = FILE_FORMATS[kind]
    said = {"place": "stranger", "title": written.title, "reader": written.reader}
    return {**said, "form": form, "wanted": wanted, "room": 1.0}


def in_child(function: Callable[..., Any], request: dict[str, Any], path: Path) -> Any:
    """Do what a sandbox's child and its caller do, here."""
    import pyarrow as pa

    from hedgerow.outside.sandbox.template import checked

    found = function(request, [str(path)])
    json.dumps(found.facts)
    if found.schema is None:
        return None
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, found.schema) as stream:
        for batch in checked(found, "stranger"):
            stream.write_batch(batch)
    table = pa.ipc.open_stream(pa.py_buffer(sink.getvalue())).read_all()
    return table if table.num_rows else None


def mutated_table(kind: str, draw: random.Random, path: Path) -> None:
    pool = whole("*.csv") if kind == "csv" else whole("*.parquet") if kind == "parquet" else whole("*.arrow")
    content = draw.choice(pool)
    if kind == "csv" and draw.random() < 0.7:
        text = change_text(draw, content.decode(), CSV_WORDS)
        path.write_bytes(text.encode(draw.choice(("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), "replace"))
    else:
        path.write_bytes(change_bytes(draw, content, pool, spots(content, kind)))


def try_table(kind: str, draw: random.Random, folder: Path) -> None:
    """A data file, by the functions of the sandbox's child; what could be read is looked at, now and then."""
    import hedgerow as hr
    from hedgerow.microdata.parsing import tasks

    path = folder / f"data.{kind}"
    if kind == "arrow" and draw.random() < 0.2:
        wrong_arrow(draw, path)
    else:
        mutated_table(kind, draw, path)
    task = draw.choice((tasks.read, tasks.read, tasks.stream, tasks.describe))
    table = in_child(task, table_request(kind, draw), path)
    if table is not None and task is not tasks.describe and draw.random() < 0.04:
        hr.draft_plan(table)
    if table is not None and task is not tasks.describe and draw.random() < 0.01:
        attributes = {name: PLAN["attributes"].get(name, "other") for name in table.column_names}  # type: ignore[attr-defined]
        hr.anonymize(
            table,
            hr.Plan.from_dict(
                {"attributes": {**attributes, table.column_names[0]: "quasi-identifier"}, "privacy": {"k": 2}}
            ),
        )


def wrong_arrow(draw: random.Random, path: Path) -> None:
    """An Arrow file that is put together well, of arrays that are wrong: offsets, indices, lengths, bits, text."""
    import pyarrow as pa

    def junk(size: int) -> pa.Buffer:
        return pa.py_buffer(
            draw.randbytes(size)
            if draw.random() < 0.5
            else struct.pack("<i", draw.choice((0, 1, 5, -1, 10**6))) * (size // 4 + 1)
        )

    def array() -> pa.Array:
        length = draw.choice((1, 3, 20))
        way = draw.randrange(6)
        if way == 0:
            return pa.Array.from_buffers(pa.string(), length, [None, junk(4 * length + 4), junk(40)])
        if way == 1:
            return pa.Array.from_buffers(pa.large_string(), length, [junk(4), junk(8 * length + 8), junk(40)])
        if way == 2:
            labels = array() if draw.random() < 0.3 else pa.array(["a", CANARY])
            indices = pa.Array.from_buffers(pa.int32(), length, [None, junk(4 * length)])
            return pa.DictionaryArray.from_arrays(indices, labels, safe=False)
        if way == 3:
            kind = draw.choice((pa.date32(), pa.date64(), pa.timestamp("us"), pa.timestamp("ns", "Europe/Paris"), pa.timestamp("s", "x"), pa.time64("us"), pa.time32("s"), pa.decimal128(38, 4), pa.float16(), pa.float64(), pa.bool_(), pa.duration("s"), pa.int8(), pa.uint64()))  # fmt: skip
            return pa.Array.from_buffers(kind, length, [junk(4), junk(16 * length)])
        if way == 4:
            return pa.ListArray.from_arrays(
                pa.array([0, *sorted(draw.choices(range(9), k=length))], pa.int32()), pa.array(range(9))
            )
        return pa.Array.from_buffers(pa.string_view(), length, [None, junk(16 * length), junk(64)])

    columns: list[pa.Array] = []
    while len(columns) < len(WANTED):
        with contextlib.suppress(pa.ArrowInvalid):  # what is seen to be wrong at once
            columns.append(array())
    length = min(map(len, columns))
    batch = pa.RecordBatch.from_arrays([column.slice(0, length) for column in columns], WANTED)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def try_released(kind: str, draw: random.Random, folder: Path) -> None:
    """The data of a release, or a link table, by the verifier's functions of the sandbox's child."""
    from hedgerow.verification.reading import cells, columnar, delimited

    path = folder / f"data.{kind}"
    mutated_table("csv" if kind == "link" else kind, draw, path)
    if kind == "link":
        path.write_bytes(change_text(draw, whole("link.csv")[0].decode(), CSV_WORDS).encode("utf-8", "replace"))
    if kind in ("csv", "link"):
        dialect = {
            "empty_is_missing": draw.random() < 0.5,
            "delimiter": draw.choice(",,,;x"),
            "encoding": draw.choice(ENCODINGS) if draw.random() < 0.1 else "utf-8",
        }
        request = {"place": "stranger", "dialect": dialect, "room": 1.0}
        header = delimited.csv_header(request, [str(path)]).facts["cells"]
        for name in header:
            cells.unguard(name)
        in_child(delimited.csv_rows, {**request, "columns": list(range(len(header))), "width": len(header)}, path)
    else:
        request = {"place": "stranger", "kind": kind, "columns": None, "room": 1.0}
        in_child(draw.choice((columnar.columnar_rows, columnar.columnar_schema)), request, path)


def try_plan(draw: random.Random, folder: Path) -> None:
    import hedgerow as hr

    pool = whole("*.yaml")
    content = draw.choice(pool)
    if draw.random() < 0.7:
        text = change_text(draw, content.decode(), YAML_WORDS)
    elif draw.random() < 0.5:
        text = change_bytes(draw, content, pool).decode("utf-8", "replace")
    else:
        text = json.dumps(change_data(draw, PLAN), ensure_ascii=draw.random() < 0.5)
    plan = hr.Plan.loads(text, file="plan.yaml", base=None)
    if draw.random() < 0.1:
        hr.Plan.loads(plan.to_yaml(), base=None)
        plan.digest()


def try_hierarchy(draw: random.Random, folder: Path) -> None:
    import hedgerow as hr

    pool = whole("*.txt")
    path = folder / "tree.csv"
    content = draw.choice(pool)
    if draw.random() < 0.8:
        path.write_bytes(
            change_text(draw, content.decode(), (*CSV_WORDS, "*", "leaf1", "group1")).encode("utf-8", "replace")
        )
    else:
        path.write_bytes(change_bytes(draw, content, pool))
    hr.read_hierarchy(path)


def try_facts(draw: random.Random, folder: Path) -> None:
    from hedgerow.verification.reading.published import _read_facts

    path = folder / "facts.json"
    path.write_bytes(mutated_facts(draw))
    _read_facts(path)


def mutated_facts(draw: random.Random) -> bytes:
    content = whole("release/facts.json")[0]
    if draw.random() < 0.5:
        return json.dumps(change_data(draw, json.loads(content))).encode()
    if draw.random() < 0.5:
        return change_bytes(draw, content, whole("packed/facts.json"))
    return change_text(
        draw, content.decode(), ("[", "{", "}", "]", '"', ",", ":", "null", "1e999", "-", "\\u", "NaN")
    ).encode("utf-8", "replace")


def try_comment(draw: random.Random, folder: Path) -> None:
    from hedgerow.engines.place import MARK, read_place
    from hedgerow.release.tables import _read_comment

    plan, facts = whole("release/plan.yaml")[0].decode(), json.loads(whole("release/facts.json")[0])
    said: Any = {MARK: {"plan": plan, "facts": facts}}
    way = draw.randrange(3)
    if way == 0:
        said = change_data(draw, said)
    elif way == 1:
        said[MARK]["plan"] = change_text(draw, plan, YAML_WORDS)
    text = json.dumps(said)
    if way == 2:
        text = change_bytes(draw, text.encode(), ()).decode("utf-8", "replace")
    _read_comment(text, read_place("postgresql://ann@db.example/health?table=a.b"))


def try_store(draw: random.Random, folder: Path) -> None:
    """A store, damaged in its bytes or in what stands in its tables."""
    import hedgerow as hr

    path = folder / "store.db"
    content = whole("store.db")[0]
    if draw.random() < 0.5:
        path.write_bytes(change_bytes(draw, content, (), spots(content, "store")))
    else:
        path.write_bytes(content)
        change_rows(draw, path)
    with hr.open_release(path) as kept:
        verb = draw.randrange(5)
        if verb == 0:
            kept.history()
        elif verb == 1:
            kept.check()
        elif verb == 2:
            kept.audit()
        elif verb == 3:
            kept.delete(keys=["p1"])
        else:
            kept.history()
            kept.insert(seeds() / "people.csv")


def change_rows(draw: random.Random, path: Path) -> None:
    database = sqlite3.connect(path)
    with database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = draw.choice(tables)
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        column = draw.choice(columns)
        before = database.execute(f'SELECT "{column}" FROM "{table}" LIMIT 1').fetchone()
        old = before[0] if before else None
        new: Any = draw.choice(
            (None, -1, 2**62, 0.5, b"\xff\xfe", b"", *NASTY_TEXTS[:12], "[" * 5000, "{}", "[]", '{"a": 1}')
        )
        if isinstance(old, str) and draw.random() < 0.7:
            new = change_text(draw, old, ("[", "{", '"', "null", ",", "1", "A", "=="))
        try:
            database.execute(f'UPDATE "{table}" SET "{column}" = ?', (new,))
        except (sqlite3.Error, UnicodeEncodeError):
            database.execute(f'DELETE FROM "{table}"')
    database.close()


def mutated_release(draw: random.Random, folder: Path) -> Path:
    name = draw.choice(("release", "packed"))
    target = folder / "release"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(seeds() / name, target)
    data = target / ("data.csv" if name == "release" else "data.parquet")
    way = draw.randrange(4)
    if way == 0:
        (target / "facts.json").write_bytes(mutated_facts(draw))
    elif way == 1:
        text = change_text(draw, (target / "plan.yaml").read_text(), YAML_WORDS)
        (target / "plan.yaml").write_bytes(text.encode("utf-8", "replace"))
    elif way == 2 and name == "release":
        data.write_bytes(change_text(draw, data.read_text(), CSV_WORDS).encode("utf-8", "replace"))
    else:
        content = data.read_bytes()
        data.write_bytes(change_bytes(draw, content, (), spots(content, "parquet") if name == "packed" else ()))
    return target


def try_library(draw: random.Random, folder: Path) -> None:
    """The library end to end, sandbox and all."""
    import hedgerow as hr

    way = draw.randrange(4)
    if way < 2:
        target = mutated_release(draw, folder)
        if draw.random() < 0.3:
            hr.report(target)
        elif draw.random() < 0.3:
            hr.verify(target, seeds() / "people.csv")
        else:
            hr.verify(target)
        return
    kind = draw.choice(("csv", "parquet", "arrow"))
    path = folder / f"data.{kind}"
    mutated_table(kind, draw, path)
    if way == 2:
        hr.draft_plan(path)
    else:
        hr.anonymize(path, hr.Plan.from_dict(PLAN), engine=draw.choice(("local", "duckdb")))


def try_command(draw: random.Random, folder: Path) -> None:
    """A whole command, in a process of its own."""
    way = draw.randrange(4)
    kind = draw.choice(("csv", "parquet", "arrow"))
    path = folder / f"data.{kind}"
    mutated_table(kind, draw, path)
    plan = folder / "plan.yaml"
    plan.write_bytes(change_text(draw, whole("plan.yaml")[0].decode(), YAML_WORDS).encode("utf-8", "replace"))
    words: list[object] = [
        ["verify", mutated_release(draw, folder)],
        ["plan", "draft", path],
        ["explain", path, seeds() / "plan.yaml"],
        ["plan", "check", plan],
    ][way]
    script = "from hedgerow.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert done.returncode in (0, 1, 2, 3), f"exit code {done.returncode}: {done.stderr[-500:]}"
    assert "Traceback" not in done.stderr, done.stderr[-1000:]
    assert "internal error" not in done.stderr, done.stderr[-500:]
    assert CANARY not in done.stderr or way == 3, "a value in a message"  # its tree stands in the plan


KINDS: dict[str, tuple[int, bool, Case]] = {
    # what is counted: how often, whether a sandbox stands around it, and one case
    "csv": (200, True, functools.partial(try_table, "csv")),
    "parquet": (200, True, functools.partial(try_table, "parquet")),
    "arrow": (250, True, functools.partial(try_table, "arrow")),
    "released csv": (60, True, functools.partial(try_released, "csv")),
    "released parquet": (60, True, functools.partial(try_released, "parquet")),
    "link": (40, True, functools.partial(try_released, "link")),
    "plan": (100, False, try_plan),
    "hierarchy": (100, False, try_hierarchy),
    "facts": (120, False, try_facts),
    "comment": (60, False, try_comment),
    "store": (12, False, try_store),
    "end to end": (8, False, try_library),
    "whole command": (0.15, False, try_command),  # type: ignore[dict-item]
}


# -- running them ------------------------------------------------------------------------------------------------------


def case(seed: str, number: int) -> tuple[random.Random, str]:
    draw = random.Random(f"{seed}/{number}")
    return draw, draw.choices(list(KINDS), [weight for weight, _, _ in KINDS.values()])[0]


def work(seed: str, first: int, last: int, folder: Path, now: mmap.mmap, results: int) -> None:
    """Try cases, one after the other; what fails is written down, and ends the worker."""
    from hedgerow.errors import HedgerowError

    counts: Counter[str] = Counter()
    for number in range(first, last):
        struct.pack_into("<q", now, 0, number)
        draw, kind = case(seed, number)
        _, contained, attempt = KINDS[kind]
        signal.setitimer(signal.ITIMER_PROF, 2 * LONGEST)  # of processor time, which does not grow on a busy machine
        signal.alarm(300)  # for one that waits
        began = time.process_time()
        failure = ""
        try:
            attempt(draw, folder)
            outcome = "read"
        except HedgerowError as error:
            outcome = "refused"
            # a text of the plan is the plan's: its labels may be shown to who gave it
            if CANARY in str(error) and kind not in ("plan", "comment", "hierarchy"):
                failure = f"a value in a message: {error}"
        except MemoryError:
            outcome = "refused"
            failure = "" if contained else "MemoryError"
        except BaseException:
            outcome, failure = "failed", traceback.format_exc()
        took = time.process_time() - began
        if took > LONGEST and not contained:
            failure = failure or f"took {took:.1f} s"
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > MOST_MEMORY:
            failure = failure or "took more than 2 GB"
        counts[f"{kind}, {outcome}"] += 1
        if failure:
            os.write(results, json.dumps({"failed": failure, "number": number, "kind": kind}).encode() + b"\n")
            os._exit(1)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    os.write(results, json.dumps({"counts": counts}).encode() + b"\n")
    os._exit(0)


def host(seed: str, cases: int, folder: Path) -> None:
    """Run workers until all cases are tried; print what was counted, or what failed."""
    import hedgerow.maintenance
    import hedgerow.microdata.parsing.tasks
    import hedgerow.reports.reporting
    import hedgerow.verification.in_place  # noqa: F401
    from hedgerow.outside.sandbox.sparing import NoPandas

    sys.meta_path.insert(0, NoPandas())
    seeds()
    counts: Counter[str] = Counter()
    now = mmap.mmap(-1, 8)
    first = 0
    while first < cases:
        reading, writing = os.pipe()
        sys.stdout.flush()
        worker = os.fork()
        if worker == 0:
            os.close(reading)
            if not os.environ.get("SHOW"):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 2)
            work(seed, first, cases, folder, now, writing)
        os.close(writing)
        with os.fdopen(reading) as told:
            said = [json.loads(line) for line in told]
        ended = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        at = struct.unpack_from("<q", now, 0)[0]
        kind = case(seed, at)[1]
        for word in said:
            counts.update(word.get("counts", {}))
            if "failed" in word:
                fail(seed, word["number"], word["kind"], word["failed"])
        if ended < 0:
            name = signal.Signals(-ended).name
            if not KINDS[kind][1]:
                fail(seed, at, kind, f"ended by {name}")
            counts[f"{kind}, contained {name}"] += 1
            for number in range(first, at):  # what the worker counted is lost with it
                counts[f"{case(seed, number)[1]}, tried"] += 1
            first = at + 1
        else:
            first = cases
    print(json.dumps({"counts": counts}))


def fail(seed: str, number: int, kind: str, why: str) -> None:
    print(json.dumps({"failed": why, "number": number, "kind": kind}))
    sys.exit(1)


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    seed = f"{draw.getrandbits(64):016x}"
    command = [
        sys.executable,
        "-m",
        "tests.robustness.attack_readers",
        seed,
        "--cases",
        str(CASES),
        "--folder",
        str(folder),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1800, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.strip(), f"the host died ({done.returncode}): {done.stderr[-2000:]}"
    told = json.loads(done.stdout.splitlines()[-1])
    again = f"python -m tests.robustness.attack_readers {seed} --only {told.get('number')} --folder ."
    assert "failed" not in told, f"{told['kind']}, case {told['number']}: {told['failed']}\n{again}"
    return Counter(told["counts"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", type=int, help="try one case again, in this process")
    asked = parser.parse_args()
    if asked.only is not None:
        draw, kind = case(asked.seed, asked.only)
        print(kind)
        KINDS[kind][2](draw, asked.folder)
        return
    host(asked.seed, asked.cases, asked.folder)


CAMPAIGN = Campaign("readers", "mutated inputs", batch, share=2.0)

if __name__ == "__main__":
    main()

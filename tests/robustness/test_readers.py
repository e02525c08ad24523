"""What strangers' files must not do: end the process, take its memory or its time, or read files of this machine."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError, PlanError
from hedgerow.maintenance.store import sqlite  # noqa: F401 - loaded before limits are set
from hedgerow.microdata import read_table
from hedgerow.release.tables import _read_comment
from tests.conftest import Run

Refused = Callable[..., str]
COLUMNS = ("age", "sex", "ill")
PLAN = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
    },
    "privacy": {"k": 3},
}


@pytest.fixture
def table() -> pa.Table:
    return pa.table(
        {
            "age": [str(20 + i % 40) for i in range(200)],
            "sex": ["fm"[i % 2] for i in range(200)],
            "ill": [f"ill{i % 7}" for i in range(200)],
        }
    )


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(hr.Plan.from_dict(PLAN).to_yaml())
    return path


@pytest.fixture
def data(tmp_path: Path, table: pa.Table) -> Path:
    arrow_csv.write_csv(table, tmp_path / "data.csv")
    return tmp_path / "data.csv"


@pytest.fixture
def release(tmp_path: Path, data: Path, plan: Path) -> Path:
    hr.anonymize(data, plan, tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture
def refused(hedgerow: Run) -> Refused:
    """Run a command that must be refused with a code; one that hangs fails the test."""

    def run(*words: object, code: str, **options: Any) -> str:
        done = hedgerow(*words, **options)
        assert done.returncode in (1, 2), (done.returncode, done.stdout, done.stderr)
        assert f"[{code}]" in done.stderr or code == "readable", done.stderr
        assert "Traceback" not in done.stderr
        assert "internal" not in done.stderr
        return done.stderr + done.stdout

    return run


def problems(error: pytest.ExceptionInfo[HedgerowError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


# -- damaged bytes -----------------------------------------------------------------------------------------------------


def test_a_damaged_arrow_file_ends_no_process(tmp_path: Path, table: pa.Table) -> None:
    feather.write_feather(table, tmp_path / "whole.arrow", compression="uncompressed")
    whole = (tmp_path / "whole.arrow").read_bytes()
    asked = hr.Plan.from_dict(PLAN)
    draw = random.Random(1)
    refusals = 0
    for number in range(60):
        broken = bytearray(whole)
        for _ in range(1 + number % 5):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        if number % 7 == 0:
            del broken[draw.randrange(len(broken)) :]
        (tmp_path / "broken.arrow").write_bytes(broken)
        try:
            read_table(tmp_path / "broken.arrow", asked)
        except HedgerowError:
            refusals += 1
    assert refusals > 5


def test_an_arrow_file_with_indices_outside_of_its_dictionary(tmp_path: Path) -> None:
    wrong = pa.DictionaryArray.from_arrays(pa.array([0, 1_000_000, -5], pa.int32()), pa.array(["a"]), safe=False)
    wrong_table = pa.table({"age": wrong, "sex": wrong, "ill": wrong})
    with pa.OSFile(str(tmp_path / "wrong.arrow"), "wb") as file, pa.ipc.new_file(file, wrong_table.schema) as writer:
        writer.write_table(wrong_table)
    with pytest.raises(DataError) as error:
        read_table(tmp_path / "wrong.arrow", hr.Plan.from_dict(PLAN))
    assert set(problems(error)) <= {"unreadable-file", "format"}


def test_a_file_is_not_mapped_into_memory(tmp_path: Path, table: pa.Table) -> None:
    path = tmp_path / "data.arrow"
    feather.write_feather(table, path, compression="uncompressed")
    read = read_table(path, hr.Plan.from_dict(PLAN))
    path.write_bytes(b"")  # cuts a mapped file off: what was read would be gone, with a signal
    assert read.columns["ill"].to_pylist() == table.column("ill").to_pylist()


def test_text_that_is_not_utf8_in_parquet(tmp_path: Path) -> None:
    wrong = pa.Array.from_buffers(pa.string(), 3, [None, *pa.array([b"\xff\xfe", b"a", b"b"]).buffers()[1:]])
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"age": ["1", "2", "3"], "sex": wrong, "ill": wrong}), path)
    with pytest.raises(DataError):
        read_table(path, hr.Plan.from_dict(PLAN))


@pytest.mark.parametrize(
    "wrong",
    [
        pa.array([2**31 - 1, 0, None], pa.date32()),
        pa.array([-(2**31), 0, None], pa.int32()).cast(pa.date32()),
        pa.array([2**62, 0, None], pa.int64()).cast(pa.timestamp("us")),
        pa.array([2**62, 0, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
        pa.array([0, 0, None], pa.int64())
        .cast(pa.timestamp("us"))
        .cast(pa.timestamp("us", "No/Such_Zone"), safe=False),
    ],
    ids=["far", "early", "late", "zoned", "no-zone"],
)
@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_dates_without_a_form(tmp_path: Path, wrong: pa.Array, engine: str) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"age": ["1", "2", "3"], "sex": ["a"] * 3, "ill": wrong}), path)
    with pytest.raises(DataError):
        hr.anonymize(path, hr.Plan.from_dict(PLAN), engine=engine)
    with pytest.raises(DataError):
        hr.draft_plan(path)


def test_dates_with_a_form_are_read(tmp_path: Path) -> None:
    ends = pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None])
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"age": ["1", "2", "3"], "sex": ["a"] * 3, "ill": ends}), path)
    assert read_table(path, hr.Plan.from_dict(PLAN)).columns["ill"].to_pylist() == ends.to_pylist()


# -- bombs -------------------------------------------------------------------------------------------------------------


def test_a_small_parquet_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    ones = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000_000, pa.int32()), pa.array(["x" * 100]))
    with pq.ParquetWriter(
        path, pa.schema([(name, ones.type) for name in COLUMNS]), compression="zstd", max_rows_per_page=10**8
    ) as writer:
        for _ in range(8):
            writer.write_table(pa.table(dict.fromkeys(COLUMNS, ones)))
    assert path.stat().st_size < 1_000_000
    script = (
        "import resource, hedgerow as hr\n"
        f"plan = hr.Plan.from_dict({PLAN!r})\n"
        "for engine in ('local', 'duckdb', 'auto'):\n"
        "    try:\n"
        f"        hr.anonymize({str(path)!r}, plan, engine=engine)\n"
        "    except hr.DataError as error:\n"
        "        print(error.problems[0].code)\n"
        "try:\n"
        f"    hr.draft_plan({str(path)!r})\n"
        "except hr.DataError as error:\n"
        "    print(error.problems[0].code)\n"
        "own = next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) >> 10)"  # ru_maxrss is inherited
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    *codes, peak = done.stdout.split()
    assert codes == ["too-much"] * 4
    assert int(peak) < 1000


def test_a_bomb_as_a_release(tmp_path: Path, release: Path, refused: Refused) -> None:
    (release / "data.csv").unlink()
    ones = pa.DictionaryArray.from_arrays(pa.array([0] * 30_000_000, pa.int32()), pa.array(["x" * 100]))
    pq.write_table(pa.table(dict.fromkeys(COLUMNS, ones)), release / "data.parquet")
    assert "cells" in refused("verify", release, code="readable")


def test_a_cell_of_many_megabytes(tmp_path: Path, plan: Path, refused: Refused) -> None:
    path = tmp_path / "data.csv"
    path.write_text('age,sex,ill\n1,f,"' + "x" * (20 << 20) + '"\n')
    refused("anonymize", path, plan, "-o", tmp_path / "out", code="too-much")
    pq.write_table(pa.table({"age": ["1"], "sex": ["f"], "ill": ["x" * (2 << 20)]}), tmp_path / "data.parquet")
    refused("anonymize", tmp_path / "data.parquet", plan, "-o", tmp_path / "out", code="too-much")


def test_too_many_columns_are_refused_at_once(tmp_path: Path, plan: Path, refused: Refused) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"column{i}" for i in range(200_000)) + "\n" + ",".join(["1"] * 200_000) + "\n")
    for words in (("plan", "draft", path), ("anonymize", path, plan, "-o", tmp_path / "out")):
        refused(*words, code="too-much", timeout=30)
    with pytest.raises(DataError) as error:
        read_table(path, hr.Plan.from_dict(PLAN))
    assert problems(error) == ["too-much"]
    assert "200,000" in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, "- " * 100_000, '{"a": ' * 100_000, "a: " + "[[" * 50_000],
    ids=["lists", "mappings", "items", "json", "below"],
)
def test_a_deep_plan_ends_no_process(tmp_path: Path, data: Path, text: str, refused: Refused) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text)
    refused("anonymize", data, path, "-o", tmp_path / "out", code="yaml", timeout=30)


def test_deep_facts_and_plans_of_a_release(release: Path, refused: Refused) -> None:
    facts = (release / "facts.json").read_text()
    for text in (
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"a":' * 100 + "1" + "}" * 100,
        "\ud800",
        '{"k": ' + "9" * 5000 + "}",
    ):
        (release / "facts.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        refused("verify", release, code="not-a-release", timeout=30)
    (release / "facts.json").write_text(facts)
    (release / "plan.yaml").write_text("[" * 100_000)
    refused("verify", release, code="yaml", timeout=30)


def test_a_deep_mapping_from_python() -> None:
    deep: Any = "leaf"
    for _ in range(100_000):
        deep = {"node": deep}
    with pytest.raises(PlanError):
        hr.Plan.from_dict({"attributes": {"a": {"role": "quasi-identifier", "hierarchy": {"tree": deep}}}})


@pytest.mark.parametrize(
    "comment",
    [
        "[" * 100_000,
        '{"hedgerow":' * 100_000,
        json.dumps({"hedgerow": {"plan": "[" * 100_000, "facts": {}}}),
        "9" * 5000,
    ],
    ids=["lists", "mappings", "plan", "number"],
)
def test_deep_comments_of_tables(comment: str) -> None:
    from hedgerow.engines.place import read_place

    with pytest.raises(HedgerowError):
        _read_comment(comment, read_place("postgresql://ann@db.example/health?table=a.b"))


# -- files of this machine ---------------------------------------------------------------------------------------------


def naming(path: object) -> str:
    return f"attributes:\n  age: {{role: quasi-identifier, hierarchy: {{file: '{path}'}}}}\nprivacy: {{k: 3}}\n"


def test_a_plan_that_comes_with_data_opens_no_file(tmp_path: Path, release: Path, data: Path, refused: Refused) -> None:
    secret = tmp_path / "secret"
    secret.write_text("CANARY;*\nother;*\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (secret, pipe, "/dev/zero", "/etc/passwd", "secret"):
        (release / "plan.yaml").write_text(naming(path))
        for words in (("verify", release), ("report", release, "-o", tmp_path / "report.html")):
            said = refused(*words, code="hierarchy-file", cwd=tmp_path, timeout=30)
            assert "CANARY" not in said
            assert "root:" not in said
            assert "may not name files" in said


def test_a_table_comment_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hedgerow.engines.place import read_place

    (tmp_path / "secret").write_text("CANARY;*\n")
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "secret", "secret"):
        comment = json.dumps({"hedgerow": {"plan": naming(path), "facts": {}}})
        with pytest.raises(HedgerowError) as error:
            _read_comment(comment, read_place("postgresql://ann@db.example/health?table=a.b"))
        assert "CANARY" not in str(error.value)
        assert problems(error) == ["hierarchy-file"]


def test_an_owners_plan_names_regular_files_only(tmp_path: Path, data: Path, refused: Refused) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    with large.open("wb") as file:
        file.truncate(100 << 20)
    plan = tmp_path / "own.yaml"
    for path in (pipe, "/dev/zero", tmp_path, large, tmp_path / "none"):
        plan.write_text(naming(path))
        refused("anonymize", data, plan, "-o", tmp_path / "out", code="hierarchy-file", timeout=30)


def test_paths_of_the_command_line_are_regular_files(
    tmp_path: Path, data: Path, plan: Path, release: Path, refused: Refused
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = tmp_path / "out"
    for odd in (pipe, "/dev/zero", "/dev/stdin"):
        for words in (
            ("anonymize", odd, plan, "-o", out),
            ("anonymize", data, odd, "-o", out),
            ("explain", odd, plan),
            ("plan", "draft", odd),
            ("plan", "check", odd),
            ("verify", release, "--original", odd),
            ("verify", release, "--original", data, "--link", odd),
        ):
            refused(*words, code="no-file", timeout=30)
    assert not out.exists()


def test_a_pipe_inside_of_a_release(release: Path, refused: Refused) -> None:
    (release / "data.csv").unlink()
    os.mkfifo(release / "data.parquet")
    assert "files" in refused("verify", release, code="readable", timeout=30)


# -- encodings, numbers, types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["zip", "rot13", "hex", "base64", "punycode", "idna", "utf-7", "undefined", "x\0y", "../x", ""]
)
def test_encodings_that_are_not_of_text(tmp_path: Path, data: Path, encoding: str) -> None:
    with pytest.raises(HedgerowError) as error:
        hr.anonymize(data, hr.Plan.from_dict({**PLAN, "data": {"encoding": encoding}}))
    assert set(problems(error)) <= {"encoding", "wrong-value"}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "ascii", "shift_jis", "utf_8", "gb18030"])
def test_encodings_of_text(tmp_path: Path, table: pa.Table, encoding: str) -> None:
    path = tmp_path / "data.csv"
    rows = ["age,sex,ill", *(",".join(row.values()) for row in table.to_pylist())]
    path.write_text("\n".join(rows) + "\n", encoding=encoding)
    assert hr.anonymize(path, hr.Plan.from_dict({**PLAN, "data": {"encoding": encoding}})).table.num_rows


@pytest.mark.parametrize(
    "number",
    ["9" * 4000, "9" * 100_000, "0." + "1" * 4000, "1e999", "-" + "9" * 5000],
    ids=["4000", "100000", "fraction", "exponent", "negative"],
)
@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_numbers_of_thousands_of_digits(tmp_path: Path, table: pa.Table, number: str, engine: str) -> None:
    ages = [number, *table.column("age").to_pylist()[1:]]
    path = tmp_path / "data.csv"
    arrow_csv.write_csv(table.set_column(0, "age", pa.array(ages)), path)
    for attribute in (PLAN["attributes"]["age"], {"role": "quasi-identifier", "intervals": "free"}):  # type: ignore[index]
        asked = hr.Plan.from_dict({**PLAN, "attributes": {**PLAN["attributes"], "age": attribute}})  # type: ignore[dict-item]
        error: HedgerowError | None = None
        try:
            hr.anonymize(path, asked, engine=engine)
        except HedgerowError as found:
            error = found
        assert number[:50] not in str(error)
    hr.draft_plan(path)


def test_a_plan_with_numbers_of_thousands_of_digits() -> None:
    for where in ({"privacy": {"k": "9" * 5000}}, {"privacy": {"k": 3}, "seed": "9" * 5000}):
        with pytest.raises(PlanError):
            hr.Plan.loads(json.dumps({**PLAN, **where}))


@pytest.mark.parametrize(
    "kind", ["categorical", "enum", "decimal", "time", "duration", "list", "object", "null", "struct"]
)
def test_polars_columns_of_all_kinds(kind: str) -> None:
    polars = pytest.importorskip("polars")
    from decimal import Decimal

    ages = [str(20 + i % 40) for i in range(200)]
    made = {
        "categorical": lambda: polars.Series(ages, dtype=polars.Categorical),
        "enum": lambda: polars.Series(ages, dtype=polars.Enum(sorted(set(ages)))),
        "decimal": lambda: polars.Series([Decimal(age) for age in ages]),
        "time": lambda: polars.Series([dt.time(int(age) % 24) for age in ages]),
        "duration": lambda: polars.Series([dt.timedelta(int(age)) for age in ages]),
        "list": lambda: polars.Series([[age] for age in ages]),
        "object": lambda: polars.Series([object() for _ in ages], dtype=polars.Object),
        "null": lambda: polars.Series([None for _ in ages]),
        "struct": lambda: polars.Series([{"a": age} for age in ages]),
    }[kind]()
    frame = polars.DataFrame({"age": made, "sex": ["f", "m"] * 100, "ill": ["a", "b", "c", "d"] * 50})
    asked = hr.Plan.from_dict({"attributes": {**PLAN["attributes"], "age": "quasi-identifier"}, "privacy": {"k": 3}})  # type: ignore[dict-item]
    try:
        assert hr.anonymize(frame, asked).table.num_rows
    except DataError:
        assert kind not in ("categorical", "enum")


# -- little memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("megabytes", [300, 500, 700, 1000, 1500, 2500])
def test_little_memory_is_a_message_or_an_answer(tmp_path: Path, megabytes: int) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("age,sex,ill\n" + "1,f,a\n1,f\n" * 20_000)
    done = subprocess.run(
        [sys.executable, "-c", "from hedgerow.cli import main; main()", "plan", "draft", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2),
    )
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert "terminate called" not in done.stderr


def test_a_ragged_file_many_times(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("age,sex,ill\n" + "1,f,a\n1,f\n" * 50_000)
    for _ in range(5):
        with pytest.raises(DataError) as error:
            hr.draft_plan(path)
        assert problems(error) == ["ragged"]


def test_small_files_are_read_in_no_time(tmp_path: Path, data: Path) -> None:
    asked = hr.Plan.from_dict(PLAN)
    read_table(data, asked)
    began = time.process_time()
    for _ in range(20):
        read_table(data, asked)
    assert time.process_time() - began < 2  # of this process: the child's is as much again

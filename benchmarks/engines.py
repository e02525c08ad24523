"""Whole commands on made-up census records, through DuckDB and a PostgreSQL server: time, memory, growth.

``HEDGEROW_RECORDS=10000000`` adds ten million to the sizes, which takes a quarter of an hour and 3 GB of disk.
"""

from __future__ import annotations

import csv
import math
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from benchmarks.processes import PYTHON, use
from benchmarks.results import Report
from hedgerow.engines.place import read_place
from hedgerow.engines.postgres import PostgresSession
from hedgerow.evaluation.synthetic import census
from tests.processes.postgres import programs, running

SIZES = (100_000, 1_000_000)
CHUNK = 500_000
SPLIT = 5_000
ATTRIBUTES = 8  # seven quasi-identifiers and a sensitive column


def run(report: Report) -> None:
    """Measure every size, and say how time grows with it."""
    more = int(os.environ.get("HEDGEROW_RECORDS") or 0)
    sizes = (*SIZES, *([more] if more else []))
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        folder = Path(scratch)
        tables = {size: _write(folder, size) for size in sizes}
        _measure("DuckDB, CSV to verified CSV", report, folder, {size: str(path) for size, path in tables.items()})
        if programs() is None:
            report.note("PostgreSQL", "no server is installed")
            return
        with running() as server:
            for size, path in tables.items():
                _load(server, f"public.census_{size}", path)
            addresses = {size: f"{server}&table=public.census_{size}" for size in tables}
            _measure("PostgreSQL, table to verified table", report, folder, addresses)


def _measure(what: str, report: Report, folder: Path, tables: dict[int, str]) -> None:
    seconds: dict[int, float] = {}
    for size, data in tables.items():
        output = f"{data}_released" if data.startswith("postgresql") else str(folder / f"release-{size}")
        words = ["anonymize", data, str(folder / "plan.yaml"), "-o", output]
        if not data.startswith("postgresql"):
            words += ["--engine", "duckdb"]
        seconds[size], memory = _command(words)
        report.time(f"{what}, {size:,} records", seconds[size])
        report.memory(f"{what}, {size:,} records", memory)
    (small, first), (large, last) = min(seconds.items()), max(seconds.items())
    report.ratio(f"{what}, growth exponent", math.log(last / first) / math.log(large / small))


def _command(words: list[str]) -> tuple[float, float]:
    """Run a command; returns seconds and the most memory it had, in MB."""
    used = use([PYTHON, "-c", "from hedgerow.cli import main; main()", *words], limit=3_600)
    return used.seconds, used.megabytes


def _write(folder: Path, records: int) -> Path:
    """Make up a table as CSV, chunk by chunk, with its plan and hierarchies."""
    path = folder / f"census-{records}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for seed, start in enumerate(range(0, records, CHUNK)):
            made = census(min(CHUNK, records - start), seed, ATTRIBUTES)
            if not seed:
                writer.writerow(made.columns)
            writer.writerows(zip(*made.columns.values(), strict=True))
    plan = made.plan.replace("method: cluster", f"method: {{name: cluster, split: {SPLIT}}}")
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")
    for name, lines in made.hierarchies.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(";".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _load(server: str, table: str, path: Path) -> None:
    """Copy a CSV file into a table of text columns."""
    session = PostgresSession(read_place(f"{server}&table={table}"))
    header = next(csv.reader(path.open(encoding="utf-8", newline="")))
    options = arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
    schema = pa.schema([(name, pa.string()) for name in header])
    hidden = session.fill(session.at, schema, iter(arrow_csv.open_csv(path, convert_options=options)))
    session.run(f"ALTER TABLE {hidden.sql} RENAME TO {session.quote(session.at.table)}")
    session.run("COMMIT")
    session.close()

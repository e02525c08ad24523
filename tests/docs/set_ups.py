"""What a page may start with, by the word in its comment ``<!-- set-up: … -->``; nothing else is there."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pyarrow as pa
import pytest

from tests.cases.data import data
from tests.cases.messy_export import write_messy_export
from tests.docs.blocks import ROOT
from tests.engines import mariadb_server
from tests.processes.postgres import programs
from tests.processes.spark import submit_arguments

HOST = "db.example"


@dataclass(frozen=True)
class Start:
    """Where the reader stands when a page begins.

    Attributes
    ----------
    installed
        Whether the shell finds ``hedgerow`` at once.
    environment
        Variables beside the usual ones.
    names
        What Python blocks may use without making it.
    instead
        What is really used for a name that only exists on pages, such as that of a server.
    """

    folder: Path
    installed: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)


def begin(set_ups: tuple[str, ...], place: Path, request: pytest.FixtureRequest) -> Start:
    """Make what a page starts with."""
    folder = place / ("hedgerow-demo" if "demo" in set_ups else "work")
    folder.mkdir()
    more: dict[str, Any] = {}
    for name in set_ups:
        more |= SET_UPS[name](folder, request)
    return Start(folder, **more)


def _demo(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In the folder that ``hedgerow demo`` has made."""
    shutil.copytree(request.getfixturevalue("demo"), folder, dirs_exist_ok=True)
    return {}


def _export(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a folder with a hospital's messy export."""
    write_messy_export(folder / "export.csv")
    return {}


def _checkout(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a checkout after ``make demo``."""
    if not (Path(sys.prefix) / "bin" / "activate").is_file():
        pytest.skip("needs an environment that can be activated, as make makes it")
    (folder / ".venv").symlink_to(sys.prefix)
    shutil.copytree(request.getfixturevalue("demo"), folder / "hedgerow-demo")
    return {"installed": False}


def _adult(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a folder with Adult as UCI has it, and the example that comes with the checkout."""
    for file in data("adult.data"):
        shutil.copy(file, folder)
    shutil.copytree(ROOT / "examples", folder / "examples")
    return {}


def _arx(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a folder with Adult and its hierarchies as ARX has them."""
    (table,) = data("arx-adult/adult.csv")
    for file in [table, *table.parent.glob("adult_hierarchy_*.csv")]:
        shutil.copy(file, folder)
    return {}


def _spark(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """With a Spark session, started in the folder: ours was started elsewhere, so its paths must say where."""
    environment = {"PYSPARK_SUBMIT_ARGS": submit_arguments()}
    instead = {f'{verb}("': f'{verb}("{folder}/' for verb in ("read.csv", "write.parquet")}
    return {"environment": environment, "names": {"spark": request.getfixturevalue("spark")}, "instead": instead}


def _wide(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a terminal that is wide enough for wide tables."""
    return {"environment": {"COLUMNS": "120"}}


def _postgres(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """With a server that has a table of the demo's patients, and roles for those who work there."""
    address = request.getfixturevalue("postgres")
    (socket,) = parse_qs(urlsplit(address).query)["host"]
    place = programs()
    assert place is not None
    psql = [str(place / "psql"), "-qX", "-v", "ON_ERROR_STOP=1", "-h", socket, "-U", "hedgerow"]
    names = (folder / "patients.csv").open(encoding="utf-8").readline().strip().split(",")
    columns = ", ".join(f"{name} text" for name in names)
    subprocess.run([*psql, "-d", "postgres", "-c", "CREATE DATABASE health"], check=True)
    script = f"""
        CREATE ROLE ann LOGIN; CREATE ROLE reader LOGIN;
        CREATE SCHEMA clinic AUTHORIZATION ann; CREATE SCHEMA research AUTHORIZATION ann;
        CREATE TABLE clinic.patients ({columns}); ALTER TABLE clinic.patients OWNER TO ann;
        GRANT USAGE ON SCHEMA research TO reader;
        ALTER DEFAULT PRIVILEGES FOR ROLE ann IN SCHEMA research GRANT SELECT ON TABLES TO reader;
        \\copy clinic.patients from '{folder / "patients.csv"}' csv header
    """
    subprocess.run([*psql, "-d", "health"], input="\n".join(map(str.strip, script.split("\n"))), text=True, check=True)
    return {"instead": {HOST: quote(socket, safe="")}}


def _mariadb(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """With a MariaDB server that has a table of the demo's patients, and a role for who works there."""
    address = request.getfixturevalue("mariadb")
    with (folder / "patients.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    there = mariadb_server.database(address, "health")
    mariadb_server.load(there, pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)}), "patients")
    mariadb_server.execute(
        address,
        "CREATE DATABASE research",
        "CREATE USER ann@localhost IDENTIFIED BY '…'",
        "GRANT SELECT, CREATE TEMPORARY TABLES ON health.* TO ann@localhost",
        "GRANT SELECT, INSERT, CREATE, ALTER, DROP, CREATE TEMPORARY TABLES ON research.* TO ann@localhost",
    )
    request.getfixturevalue("monkeypatch").setenv("MYSQL_PWD", "…")  # for what runs in Python
    socket = address.partition("?")[2]
    return {"instead": {f"{HOST}/health?": f"localhost/health?{socket}&"}}


def _survey(folder: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """In a folder with the table of sdcMicro."""
    for file in data("sdc/testdata.csv"):
        shutil.copy(file, folder)
    return {}


SET_UPS: Mapping[str, Callable[[Path, pytest.FixtureRequest], dict[str, Any]]] = {
    "demo": _demo,
    "export": _export,
    "checkout": _checkout,
    "adult": _adult,
    "arx": _arx,
    "spark": _spark,
    "postgres": _postgres,
    "mariadb": _mariadb,
    "survey": _survey,
    "wide": _wide,
}

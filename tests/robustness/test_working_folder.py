"""What lies in the working folder is a stranger's: no command imports it, or reads it as settings."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import typer.main

import hedgerow
from hedgerow import Plan
from hedgerow.cli.app import app
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.outside import children
from hedgerow.outside.working_folder import SETTINGS, module_path
from tests.cases.arx_projects import Project
from tests.processes.spark import has_java, submit_arguments
from tests.robustness.planted import OTHERS, marks_in, plant

SOURCES = Path(hedgerow.__file__).parent
PROGRAM = Path(sys.executable).with_name("hedgerow")
PATIENCE = 180


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A working folder with a table, a plan with a key, and modules of a stranger."""
    folder = tmp_path_factory.mktemp("planted")
    marks = plant(folder)
    data, plan = write_demo(folder, clinic(records=120))
    data.rename(folder / "data.csv")
    plan.rename(folder / "plain.yaml")
    (folder / "plan.yaml").write_text(Plan.load(folder / "plain.yaml").replace(key="patient_number").to_yaml())
    rows = (folder / "data.csv").read_text().splitlines(keepends=True)
    (folder / "all.csv").write_text("".join(rows[:100]))
    (folder / "more.csv").write_text(rows[0] + "".join(rows[100:]))
    levels = Plan.load(folder / "plain.yaml").to_dict()
    levels["attributes"]["income"] = {"role": "quasi-identifier", "hierarchy": {"bands": [10_000, 50_000]}}
    (folder / "levels.yaml").write_text(Plan.from_dict(levels).to_yaml())
    Project(("age", "sex"), [["33", "f"]] * 9, {"sex": [["f", "*"]]}).save(folder / "project.deid")
    (folder / "keys.txt").write_text(rows[1].rpartition('"')[2].split(",")[1] + "\n")
    return folder, marks


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [PROGRAM, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**kept, **environment},
    )


EVERY_COMMAND = (
    "plan schema",
    "inspect all.csv",
    "plan draft all.csv",
    "plan limits all.csv plain.yaml",
    "plan check plan.yaml",
    "plan upgrade plan.yaml -o upgraded.yaml",
    "plan from-arx project.deid -o from-arx",
    "plan to-arx levels.yaml -o arx --data all.csv",
    "explain all.csv plain.yaml",
    "assess all.csv plain.yaml -o assessed.html",
    "bound all.csv plain.yaml --effort 1s",
    "weights all.csv plain.yaml",
    "lattice all.csv levels.yaml",
    "anonymize all.csv plain.yaml -o made",
    "anonymize all.csv plain.yaml -o again --engine duckdb",
    "compare all.csv plain.yaml --method cluster,bottom-up --plot compare.svg",
    "apply made all.csv -o applied",
    "verify made --original all.csv",
    "attack made --original all.csv -o attacked.html",
    "utility made --original all.csv",
    "report made --original all.csv",
    "sign --make-key private.key",
    "sign made --key private.key",
    "simulate all.csv plain.yaml",
    "demo -o demo --records 100",
    "release create all.csv plan.yaml --store kept.store",
    "release insert more.csv --store kept.store",
    "release update more.csv --store kept.store",
    "release delete more.csv --store kept.store",
    "release optimize --store kept.store",
    "release restart --store kept.store",
    "release export latest --store kept.store -o exported",
    "release history --store kept.store",
    "release diff 1 2 --store kept.store",
    "release audit --store kept.store",
    "release erase --store kept.store --keys-from keys.txt --yes",
    "release check --store kept.store",
)
ELSEWHERE = {"studio", "prepare"}
"""Tested below, and in the tests of the studio."""


def test_no_command_executes_what_lies_in_the_working_folder(planted: tuple[Path, Path]) -> None:
    folder, marks = planted
    for line in EVERY_COMMAND:
        done = run(folder, *line.split())
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        assert marks_in(marks) == [], line
        assert "nonsense" not in done.stderr, line


def test_no_command_is_left_out() -> None:
    named = set()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        named |= {f"{name} {one}" for one in below} if below else {name}
    tried = {line for name in named for line in EVERY_COMMAND if line.startswith(name)}
    assert tried == set(EVERY_COMMAND)
    assert {name for name in named if not any(line.startswith(name) for line in EVERY_COMMAND)} == ELSEWHERE


COMPILE = """
from hedgerow.outside.working_folder import forget_working_folder
forget_working_folder()
from hedgerow.anonymization.preparing import _compile_in_processes, kernel_names
from hedgerow.anonymization import preparing
preparing.compile_kernel = None  # only a child may do it
_compile_in_processes([name for name in kernel_names() if name.startswith("width_runs.")], 1, lambda *_: None)
"""


def test_kernels_are_compiled_apart_from_the_working_folder(planted: tuple[Path, Path], tmp_path: Path) -> None:
    folder, marks = planted
    environment = {**os.environ, "HEDGEROW_CACHE": str(tmp_path)}
    words = [sys.executable, "-P", "-c", COMPILE]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "hedgerow").glob("width_runs-*/*.kernel"))
    assert marks_in(marks) == []


@pytest.mark.xdist_group("spark")
def test_the_workers_of_spark_import_nothing_from_the_working_folder(planted: tuple[Path, Path]) -> None:
    if not has_java():
        pytest.skip("needs Java 17 for Spark")
    folder, marks = planted
    words = ["anonymize", "all.parquet", "plain.yaml", "-o", "on-spark", "--engine", "spark", "--driver-profiles", "0"]
    pq.write_table(pa_csv.read_csv(folder / "all.csv"), folder / "all.parquet")
    done = run(folder, *words, PYSPARK_SUBMIT_ARGS=submit_arguments())
    assert done.returncode == 0, done.stderr
    assert marks_in(marks) == []


# -- the one place where children are started ------------------------------------------------------------------------

STARTERS = {
    "subprocess": None,
    "multiprocessing": None,
    "pty": None,
    "concurrent.futures": {"ProcessPoolExecutor"},
    "concurrent.futures.process": None,
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "asyncio.subprocess": None,
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"},
}
OWN_PLACE = {"outside/children.py", "outside/sandbox/running.py"}
FORKS = {"studio/nursery.py", "outside/sandbox/template.py"}
"""Forks of a child that was started in that place, or as isolated as there."""


def starts(source: str) -> Iterator[str]:
    """Find everything in a module that could start a process; attributes of modules and their parts count."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in STARTERS and STARTERS[name.name] is None)
        elif isinstance(node, ast.ImportFrom) and node.module in STARTERS:
            parts = STARTERS[node.module]
            yield from (f"{node.module}.{n.name}" for n in node.names if parts is None or n.name in parts)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = f"{node.value.id}.{node.attr}"
            parts = STARTERS.get(node.value.id)
            if (
                (parts and node.attr in parts)
                or whole == "run.cpu_bound"
                or (node.value.id == "os" and node.attr.startswith(("exec", "spawn")))
            ):
                yield whole


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCES)))
def test_processes_are_started_in_one_place(path: Path) -> None:
    found = set(starts(path.read_text(encoding="utf-8")))
    if path.relative_to(SOURCES).as_posix() in FORKS:
        found -= {"os.fork"}
    if path.relative_to(SOURCES).as_posix() not in OWN_PLACE:
        assert not found, "start children of ours by hedgerow.outside.children"


def test_that_guard_sees_every_way() -> None:
    for line in (
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing as m",
        "os.execv('a', [])",
        "os.spawnl(0, 'a')",
        "os.system('a')",
        "os.fork()",
        "from os import fork",
        "from concurrent.futures import ProcessPoolExecutor",
        "asyncio.create_subprocess_exec('a')",
        "run.cpu_bound(work)",
    ):
        assert list(starts(line)), line


# -- children --------------------------------------------------------------------------------------------------------

PROBE = "import json, os, sys; print(json.dumps([sys.path, dict(os.environ), os.getcwd(), sys.flags.isolated]))"


def probed(folder: Path, **environment: str) -> tuple[list[str], dict[str, str], str, int]:
    """Start a child from a process in a folder, and let it say where it is."""
    (folder / "probe.py").write_text(PROBE)
    program = (
        "import sys; from hedgerow.outside import children; children.module_path = lambda: [*sys.path, sys.argv[1]]; "
        "print(children.start('probe').stdout.read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        cwd=folder / "work",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    found: tuple[list[str], dict[str, str], str, int] = json.loads(done.stdout)
    return found


def test_a_child_gets_what_it_needs_and_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    given = {
        "AWS_SECRET_ACCESS_KEY": "s",
        "PGPASSWORD": "s",
        "GITHUB_TOKEN": "s",
        "LD_PRELOAD": "",
        "PYTHONSTARTUP": "s",
    }
    _, environment, place, isolated = probed(tmp_path, HEDGEROW_CACHE="here", LC_ALL="C.UTF-8", **given)
    assert isolated
    assert place == children.neutral_folder()
    assert environment["HEDGEROW_CACHE"] == str(tmp_path / "work" / "here")
    assert environment["LC_ALL"] == "C.UTF-8"
    assert environment["PATH"] == os.environ["PATH"]
    assert not set(environment) & set(given)
    assert "PGPASSWORD" in children.environment(given, databases=True)


def test_a_checkout_on_the_path_works_and_the_working_folder_is_not_on_it(tmp_path: Path) -> None:
    marks = plant(tmp_path / "work")
    code = "from hedgerow.outside import children, working_folder; working_folder.forget_working_folder(); "
    code += "import json; child = children.start('hedgerow.version'); print(json.dumps([working_folder.module_path(), child.wait()]))"
    packages = [entry for entry in module_path() if "site-packages" in entry]
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-c", code],  # without site, an editable install does not help
        cwd=tmp_path / "work",
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": os.pathsep.join([str(SOURCES.parent), *packages])},
    )
    path, code_of_child = json.loads(done.stdout)
    assert code_of_child == 0
    assert str(SOURCES.parent) in path
    assert str(tmp_path / "work") not in path
    assert marks_in(marks) == []


def test_libraries_that_look_for_settings_there_are_imported_in_one_place() -> None:
    """``import numba`` elsewhere would read them, and so would kernels not loaded by ``load``."""
    kernels = "hedgerow.anonymization.kernels"
    light = {kernels, *(f"{kernels}.{name}" for name in ("codes", "keeping", "telling"))}
    for path in SOURCES.rglob("*.py"):
        if path.relative_to(SOURCES).parts[:2] == ("anonymization", "kernels"):
            continue  # imported after numba
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert "numba" not in {name.partition(".")[0] for name in names}, path
            ours = {name for name in names if name.startswith(kernels)}
            assert {name for name in ours if not name.startswith(f"{kernels}.tuples.")} <= light, path
    assert set(SETTINGS) <= set(OTHERS)

"""How kernels are kept, compiled ahead, and what is said about it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow.anonymization import preparing
from hedgerow.anonymization.kernels import keeping, load_compiling, load_signatures
from hedgerow.anonymization.kernels.keeping import DAY, KERNELS, PACKAGE
from tests.conftest import kernels_of
from tests.processes.interpreters import COMMAND, run

KERNEL = re.compile(r"^@kernel$|^@nb.njit\(.*cache=True", re.MULTILINE)
SOURCES = Path(keeping.__file__).parent
MODULES = sorted(file.stem for file in SOURCES.glob("*.py") if KERNEL.search(file.read_text("utf-8")))
NEEDED = "width_runs.cut_cells"


def imported(module: str) -> set[str]:
    """All modules of ours that one imports, directly or not, and itself."""
    found = {module}
    for node in ast.walk(ast.parse(keeping.file_of(module).read_text("utf-8"))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        for one in names:
            if one.partition(".")[0] == "hedgerow":
                assert not (PACKAGE / Path(*one.split(".")[1:])).is_dir()  # which would not tell the file
                found |= imported(one)
    return found


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_kept_by_all_that_it_imports(name: str) -> None:
    module = f"{KERNELS}.{name}"
    assert set(keeping.sources_of(module)) == imported(module)
    assert keeping.sources_of(module)[-1] == module


def named_tuples_in(argument: Any) -> Iterator[type]:
    """Classes of the named tuples in a type of numba's."""
    if hasattr(argument, "instance_class"):
        yield argument.instance_class
    for member in getattr(argument, "types", ()):
        yield from named_tuples_in(member)


def test_a_module_is_kept_by_the_named_tuples_that_it_takes() -> None:
    found = set()
    for name, signature in load_signatures().items():
        sources = keeping.sources_of(f"{KERNELS}.{name.partition('.')[0]}")
        for taken in (one for argument in signature for one in named_tuples_in(argument)):
            assert taken.__module__ in sources, (name, taken)
            found.add(taken.__name__)
    assert {"Models", "Pool", "Prices", "View"} < found


def test_what_lies_elsewhere_and_kernels_import_imports_nothing() -> None:
    """Otherwise changes that have nothing to do with kernels would compile them anew."""
    every = {source for name in MODULES for source in keeping.sources_of(f"{KERNELS}.{name}")}
    elsewhere = {source for source in every if not source.startswith(f"{KERNELS}.")}
    assert elsewhere == {"hedgerow.privacy.codes"}
    assert all(imported(source) == {source} for source in elsewhere)


LIGHT = """
import sys
import hedgerow.anonymization.clustering.improve, hedgerow.anonymization.lattice.checker, hedgerow.anonymization.clustering.standing
print("hedgerow.anonymization.kernels.codes" in sys.modules, "numba" in sys.modules)
"""


def test_whoever_lays_out_arguments_loads_no_numba(tmp_path: Path) -> None:
    assert run(LIGHT, cwd=tmp_path, cache=tmp_path).stdout.split() == ["True", "False"]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A copy of the sources, and an empty cache."""
    sources = {source for name in MODULES for source in keeping.sources_of(f"{KERNELS}.{name}")}
    for file in map(keeping.file_of, sources):
        copied = tmp_path / file.relative_to(PACKAGE)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copied)
    monkeypatch.setattr(keeping, "PACKAGE", tmp_path)
    monkeypatch.setenv("HEDGEROW_CACHE", str(tmp_path / "cache"))
    caches = (keeping.sources_of, keeping.folder_of, keeping._writable)
    for one in caches:
        one.cache_clear()
    yield tmp_path
    for one in caches:
        one.cache_clear()


def changed_by(module: str, old: str, new: str) -> set[str]:
    """Kernel modules that get new folders when a text in a source is replaced."""
    before = {name: keeping.folder_of(name) for name in MODULES}
    file = keeping.file_of(module)
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    keeping.folder_of.cache_clear()
    return {name for name in MODULES if keeping.folder_of(name) != before[name]}


def importing(module: str) -> set[str]:
    return {name for name in MODULES if module in imported(f"{KERNELS}.{name}")}


def test_a_change_makes_new_folders_only_for_what_depends_on_it(fresh: Path) -> None:
    module = f"{KERNELS}.maintenance"
    assert (
        changed_by(module, "import numpy", "import  numpy") == importing(module) == {"maintenance", "lowering", "sizes"}
    )


def test_a_code_that_changes_makes_new_folders(fresh: Path) -> None:
    module = f"{KERNELS}.codes"
    assert changed_by(module, "TABLE, STEPS", "STEPS, TABLE") == importing(module)
    assert set(MODULES) - importing(module) == {"ascent", "hashed_lattice", "width_runs"}


def test_a_code_of_a_model_that_changes_makes_new_folders_though_it_lies_elsewhere(fresh: Path) -> None:
    module = "hedgerow.privacy.codes"
    assert changed_by(module, "DISTINCT, ENTROPY", "ENTROPY, DISTINCT") == importing(module)
    users = {"diverse", "regrouping", "exchanges", "exact_blocks", "clusters", "maintenance", "lowering", "sizes"}
    users |= {"squared"}
    assert users == importing(module)


def test_a_field_that_moves_makes_new_folders(fresh: Path) -> None:
    module = f"{KERNELS}.tuples.improving"
    assert (
        changed_by(module, "class Records", "class  Records")
        == importing(module)
        == {"closed_boxes", "exact_blocks", "exchanges", "neighbours", "regrouping"}
    )


def test_what_was_not_used_for_a_month_is_removed(tmp_path: Path) -> None:
    now = 2_000_000_000.0
    ages = {"0123456789abcdef": 40, "k_member-0123456789abcdef": 31, "lattice-0123456789abcdef": 29, "mine": 99}
    for name, age in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").touch()
        for path in (tmp_path / name / "code.nbc", tmp_path / name):
            os.utime(path, (now - age * DAY, now - age * DAY))
    assert keeping.sweep(tmp_path, now) == ["0123456789abcdef", "k_member-0123456789abcdef"]
    assert {path.name for path in tmp_path.iterdir()} == {".swept", "lattice-0123456789abcdef", "mine"}
    assert keeping.sweep(tmp_path, now + 2 * DAY - 1) == ["lattice-0123456789abcdef"]


def test_the_cache_is_swept_once_a_day(tmp_path: Path) -> None:
    now = 2_000_000_000.0
    assert keeping.sweep(tmp_path, now) == []
    (tmp_path / "0123456789abcdef").mkdir()
    os.utime(tmp_path / "0123456789abcdef", (1, 1))
    assert keeping.sweep(tmp_path, now + DAY - 1) == []
    assert keeping.sweep(tmp_path, now + DAY + 1) == ["0123456789abcdef"]


def test_a_cache_that_can_only_be_read_is_used(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keeping.folder_of("k_member")
    kept.mkdir(parents=True)
    (kept / "code.nbc").write_bytes(b"code")
    keeping.folder_of.cache_clear()
    monkeypatch.setattr(keeping, "_writable", lambda wanted: fresh / "temporary")
    assert not keeping.is_kept()
    used = keeping.folder_of("k_member")
    assert used == fresh / "temporary" / kept.name
    assert (used / "code.nbc").read_bytes() == b"code"


def test_every_kernel_has_its_types() -> None:
    assert {name for module in MODULES for name in kernels_of(load_compiling(module))} == set(preparing.kernel_names())


def test_every_kernel_is_compiled_by_one_process() -> None:
    names = preparing.kernel_names()
    assert sorted(name for share in preparing._shares(names) for name in share) == sorted(names)


# ---- from nothing ------------------------------------------------------------------------------------------------

PREPARE = """
import hedgerow as hr, hedgerow.anonymization.kernels.signatures as signatures
signatures.KERNELS = {name: signatures.KERNELS[name] for name in ("boxes.push", "lattice.mark_below")}
told = []
made = hr.prepare(2, lambda *stage: told.append(stage))
print(made.kernels, made.compiled, told[-1][1:])
"""


def test_prepare_compiles_what_is_not_compiled(tmp_path: Path) -> None:
    assert run(PREPARE, cwd=tmp_path, cache=tmp_path / "cache").stdout.split("\n")[0] == "2 2 (2, 2)"
    assert run(PREPARE, cwd=tmp_path, cache=tmp_path / "cache").stdout.split("\n")[0] == "2 0 (0, 0)"
    folder = next((tmp_path / "cache" / "hedgerow").glob("boxes-*"))
    shutil.rmtree(folder)
    assert run(PREPARE, cwd=tmp_path, cache=tmp_path / "cache").stdout.split("\n")[0] == "2 1 (1, 1)"


IN_PYTHON = """
import logging, sys, hedgerow as hr
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
hr.explain("data.csv", "plan.yaml")
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A plan that needs one kernel, which is quickly compiled."""
    (tmp_path / "data.csv").write_text("age\n" + "\n".join(str(20 + i % 9) for i in range(40)))
    age = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 5}}
    (tmp_path / "plan.yaml").write_text(json.dumps({"attributes": {"age": age}, "privacy": {"k": 2}}))
    return tmp_path


def test_a_command_says_that_it_compiles(case: Path) -> None:
    words = ("explain", "data.csv", "plan.yaml")
    first = run(COMMAND, *words, cwd=case, cache=case / "cache")
    assert first.stderr == "Compiling parts of Hedgerow for this machine, once: about 1 s …\n"
    assert run(COMMAND, *words, cwd=case, cache=case / "cache").stderr == ""


def test_a_command_that_prints_json_says_nothing_else(case: Path) -> None:
    done = run(COMMAND, "explain", "data.csv", "plan.yaml", "--json", cwd=case, cache=case / "cache")
    assert done.stderr == ""
    json.loads(done.stdout)


def test_python_is_told_by_a_log_only(case: Path) -> None:
    done = run(IN_PYTHON, cwd=case, cache=case / "cache")
    assert done.stderr == ""
    assert done.stdout.count("compiling") == 1
    assert f"compiling {NEEDED} for this machine" in done.stdout


def test_a_cache_that_cannot_be_kept_is_refused(case: Path) -> None:
    (case / "file").touch()
    environment = {**os.environ, "HEDGEROW_CACHE": str(case / "file")}
    command = [sys.executable, "-c", "from hedgerow.cli import main; main()", "prepare"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be written to [output]" in done.stderr

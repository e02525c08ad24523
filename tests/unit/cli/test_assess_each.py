"""Several tables are assessed with the same options: by hand, by pre-commit, by a step of a workflow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hedgerow.cli.assess_each import main

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table in which nobody is unique, and one in which all are; the latter's name is out to confuse."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good one.csv").write_text("age,sex\n" + "30-39,f\n40-49,m\n" * 3)
    (tmp_path / "--json.csv").write_text("age,sex\n" + "".join(f"{age},f\n" for age in range(30, 36)))
    return tmp_path


def code(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(ended.value.code or 0)


def test_the_worst_code_counts(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--columns", "age,sex", "--require", "k=3", "--")
    assert code(*asked, "in/good one.csv") == 0
    assert code(*asked, "in/good one.csv", "--json.csv") == 1
    said = capsys.readouterr().out
    assert "in/good one.csv" in said
    assert "--json.csv" in said
    assert code(*asked, "--json.csv", "absent.csv") == 2
    assert code(*asked) == 0
    assert code("--require", "k=3", "in/good one.csv") == 2
    assert "usage: hedgerow-assess" in capsys.readouterr().err


def test_the_hook_runs_what_is_installed() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == hook["id"] == "hedgerow-assess"
    assert hook["args"][-1] == "--"
    assert 'hedgerow-assess = "hedgerow.cli.assess_each:main"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(("require", "wanted"), [("k=3", 0), ("k=4", 1)])
def test_the_step_of_a_workflow(tables: Path, require: str, wanted: int) -> None:
    """Its script, with a pip that installs nothing, as inputs of people would reach it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if "run" in step]
    assert "${{" not in step["run"], "inputs go through variables"
    place = tables / "runner" / "hedgerow" / "bin"
    place.mkdir(parents=True)
    (place / "pip").write_text("#!/bin/sh\nexit 0\n")
    (place / "hedgerow-assess").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from hedgerow.cli.assess_each import main; main()" "$@"\n'
    )
    for program in place.iterdir():
        program.chmod(0o755)
    (tables / "python").write_text("#!/bin/sh\nexit 0\n")
    (tables / "python").chmod(0o755)
    inputs = {
        "TABLES": "in/**/*.csv\n\n",
        "REQUIRE": require,
        "COLUMNS_TO_LOOK_AT": "age,sex",
        "SENSITIVE": "",
        "PLAN": "",
    }
    assert set(step["env"]) == {"HERE", *inputs}
    given = {**os.environ, **inputs, "HERE": str(ROOT), "RUNNER_TEMP": str(tables / "runner")}
    given["PATH"] = f"{tables}:{given['PATH']}"
    shell = shutil.which("bash") or "bash"
    ran = subprocess.run(
        [shell, "-eo", "pipefail", "-c", step["run"]], env=given, capture_output=True, text=True, check=False
    )
    assert ran.returncode == wanted, ran.stdout + ran.stderr
    assert "good one.csv" in ran.stdout
    given["TABLES"] = "nothing/*.csv"
    assert subprocess.run([shell, "-c", step["run"]], env=given, capture_output=True, check=False).returncode == 2

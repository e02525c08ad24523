"""The README tells the truth: after ``make demo`` its commands work as typed, and print what it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hedgerow import errors
from tests.conftest import Run

pytestmark = pytest.mark.xdist_group("readme")  # everything is typed once

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MARK = "@@ {} ended with"
STUDIO = """
{} > studio.txt 2>&1 & studio=$!
for _ in $(seq 200); do if grep -q 'works once' studio.txt; then break; fi; kill -0 $studio; sleep 0.3; done
kill $studio; wait $studio; grep -q 'works once' studio.txt
"""


@dataclass(frozen=True)
class Step:
    """A command of the README and the lines that it shows of its output; a line that is cut ends with …"""

    command: str
    shown: tuple[str, ...]


def steps() -> list[Step]:
    """Commands that follow ``make demo``: those behind a prompt, but for servers that nobody has."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            if "postgresql://" not in command:
                found.append(Step(command, tuple(line for line in lines if line != "…")))
    return found


def saved() -> dict[str, str]:
    """Plans that the README says to save, by the name of the file."""
    return dict(re.findall(r"[Ss]aved as\s+`([\w.]+)`[^`]*```yaml\n(.*?)```", README, re.DOTALL))


def plain(line: str) -> str:
    return " ".join(line.split())


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory, hedgerow: Run) -> tuple[str, list[str]]:
    """Everything typed into one shell after a demo; what it printed, and what each command printed."""
    if not (Path(sys.prefix) / "bin" / "activate").is_file():
        pytest.skip("needs an environment that can be activated, as make makes it")
    place = tmp_path_factory.mktemp("checkout")
    (place / ".venv").symlink_to(sys.prefix)
    done = hedgerow("demo", "-o", "hedgerow-demo", cwd=place, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    for name, plan in saved().items():
        (place / "hedgerow-demo" / name).write_text(plan, encoding="utf-8")
    script = ""
    for number, step in enumerate(steps()):
        script += (STUDIO.format(step.command) if "hedgerow studio" in step.command else step.command) + "\n"
        script += f"echo '{MARK.format(number)}' $?\n"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "COLUMNS": "120"}
    command = ["bash", "-c", script]
    told = subprocess.run(command, cwd=place, capture_output=True, text=True, env=environment, check=False)
    return done.stdout, [*re.split(r"^@@ \d+ ended with (?=\d)", told.stdout, flags=re.MULTILINE), told.stderr]


def test_there_is_something_to_type() -> None:
    commands = [step.command for step in steps()]
    assert commands[:3] == ["source .venv/bin/activate", "cd hedgerow-demo", "hedgerow explain patients.csv plan.yaml"]
    assert len(commands) > 12
    assert set(saved()) == {"lattice.yaml", "rules.yaml"}


@pytest.mark.parametrize("number", range(len(steps())), ids=[step.command for step in steps()])
def test_commands_of_the_readme_work_as_typed(number: int, typed: tuple[str, list[str]]) -> None:
    _, parts = typed
    assert parts[number + 1].split("\n", 1)[0] == "0", parts[-1]
    printed = parts[number] if number == 0 else parts[number].split("\n", 1)[1]
    printed = plain(printed)  # lines are broken elsewhere in narrower windows
    assert [line for line in map(plain, steps()[number].shown) if line not in printed] == []


def test_what_the_demo_says_to_type_next_is_what_the_readme_types(typed: tuple[str, list[str]]) -> None:
    said, _ = typed
    lines = [line.strip() for line in said.partition("what to type next")[2].splitlines() if line.strip()]
    commands = [step.command for step in steps()]
    assert lines[-5:] == [line for line in commands if line in lines][-5:] != []
    assert "-o my-release" in said
    assert "hedgerow studio patients.csv plan.yaml" in lines


# ---- installing ----------------------------------------------------------------------------------------------------


def test_nothing_names_a_package_that_no_index_has() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.*")]
    pattern = re.compile(r"pip install (?:-\S+ )*['\"]?hedgerow\b")
    assert [str(path) for path in pages + sources if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_hints_to_install_work_as_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hint = errors.how_to_install("studio")
    assert hint == f"{sys.executable} -m pip install -e '{ROOT}[studio]'"
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "lib" / "hedgerow" / "errors.py"))
    assert errors.how_to_install("studio") == f"in a checkout of Hedgerow: {sys.executable} -m pip install '.[studio]'"

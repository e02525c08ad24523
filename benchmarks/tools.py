"""Every tool that makes a release of a task, as a process of its own: Hedgerow, the baselines, and installed peers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import adult
from benchmarks.processes import PEERS, PYTHON, ROOT, Failed, Used, use
from benchmarks.tables import FAST, Method, known
from benchmarks.task import Task

BARE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Tool:
    """One way to make a release.

    Attributes
    ----------
    name
        As tables say it.
    command
        From the folder of a task to the command that writes its release.
    most
        Records up to which it is run: beyond, it takes longer than a benchmark may.
    release
        Where the release is, in the folder.
    """

    name: str
    command: Callable[[Path], list[str]]
    most: int = 1_000_000
    release: str = "release.csv"

    def run(self, folder: Path, limit: float = 90) -> Used:
        """Make the release afresh; raises Failed."""
        shutil.rmtree(folder / "out", ignore_errors=True)
        (folder / self.release).unlink(missing_ok=True)
        used = use(self.command(folder), limit, BARE)
        if not (folder / self.release).exists():
            raise Failed("wrote no release")
        return used


def _baseline(method: str) -> Callable[[Path], list[str]]:
    return lambda folder: [PYTHON, "-m", "benchmarks.baselines", method, str(folder)]


def _peer(script: str) -> Callable[[Path], list[str]]:
    return lambda folder: [str(PEERS), f"benchmarks/peers/{script}.py", str(folder)]


def pinned(package: str) -> str:
    """A peer with its version, as peers.txt pins it."""
    lines = (ROOT / "benchmarks" / "peers.txt").read_text(encoding="utf-8").splitlines()
    return next(line.replace("==", " ") for line in lines if line.startswith(f"{package}=="))


OTHERS = (
    Tool(f"{pinned('anonypy')}, Mondrian", _peer("anonypy_mondrian"), most=31_000),
    Tool(f"{pinned('anjana')}, levels", _peer("anjana_levels"), most=100_000),
    Tool("baseline: nearest neighbours", _baseline("nearest"), most=31_000),
    Tool("baseline: MDAV", _baseline("mdav"), most=31_000),
    Tool("baseline: Mondrian", _baseline("mondrian"), most=300_000),
    Tool("naive reference of cluster", _baseline("naive"), most=1_000),
)


def hedgerow_tools() -> list[Tool]:
    """Whole commands of Hedgerow, from CSV to verified CSV."""
    thorough = {"cluster, improve: thorough": {"name": "cluster", "objective": "ncp", "improve": "thorough"}}
    methods = known({**dict(list(FAST.items())[:2]), **thorough, **dict(list(FAST.items())[2:])})
    return [Tool(f"Hedgerow, {name}", _command(method), release="out/data.csv") for name, method in methods.items()]


def _command(method: Method) -> Callable[[Path], list[str]]:
    def command(folder: Path) -> list[str]:
        plan = folder / "plan.yaml"
        plan.write_text(adult.public_plan(Task.read_k(folder), dict(method)).to_yaml(), encoding="utf-8")
        words = ["anonymize", str(folder / "data.csv"), str(plan), "-o", str(folder / "out")]
        return [PYTHON, "-c", "from hedgerow.cli import main; main()", *words]

    return command


def smallest_group(release: Path) -> int:
    """The smallest group of a release, counted by pycanon; raises Failed."""
    return int(use([str(PEERS), "benchmarks/peers/check.py", str(release)]).output.split()[-1])

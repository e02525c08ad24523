"""Shared by the tests of the pages: a command line that is loaded already, shells, and the demo."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.running import Shell, warmed
from tests.docs.set_ups import Start
from tests.processes.postgres import programs, running

Open = Callable[[Start], Shell]


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """The socket of a command line that is loaded already."""
    with tempfile.TemporaryDirectory(prefix="hedgerow-docs-") as folder, warmed(Path(folder)) as socket:
        yield socket


@pytest.fixture
def open_shell(warm: Path, tmp_path: Path) -> Iterator[Open]:
    """Open a shell where a page begins; the compiled kernels are those of whoever runs the tests."""
    with ExitStack() as stack:
        home = tmp_path / "home"
        home.mkdir()
        cache = os.environ.get("HEDGEROW_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")

        def new(start: Start) -> Shell:
            own = {"HOME": str(home), "HEDGEROW_CACHE": cache}
            shell = Shell(start.folder, start.installed, {**own, **start.environment}, warm)
            stack.callback(shell.close)
            return shell

        yield new


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of a server that a page has for itself: it makes roles, which all databases of a server share."""
    if programs() is None:
        pytest.skip("needs a PostgreSQL server (initdb and pg_ctl), for example: apt-get install postgresql")
    with running() as address:
        yield address


@pytest.fixture(scope="session")
def demo(warm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``hedgerow demo`` makes, to be copied."""
    place = tmp_path_factory.mktemp("demo")
    shell = Shell(place, True, dict(os.environ), warm)
    made = shell.run("hedgerow demo")
    shell.close()
    assert made.code == 0, made.text
    (place / "said").write_text(made.text, encoding="utf-8")
    return place / "hedgerow-demo"

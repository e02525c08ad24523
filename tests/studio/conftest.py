"""Shared by the tests of the studio: a studio, a real Chromium, and tables to bring."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow.evaluation.synthetic import clinic, write_demo
from tests.studio.servers import Served, serving

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table of made-up patients and a plan for it."""
    return write_demo(tmp_path_factory.mktemp("made-up"), clinic(records=600))


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One studio for many tests, which takes uploads of up to a million bytes; every test enters by itself."""
    folder = tmp_path_factory.mktemp("studio")
    with serving("--upload-limit", "1000000", "--log", folder / "audit.jsonl", folder=folder) as served:
        yield served


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs Chromium: make system-packages installs it")
        pytest.skip("needs Chromium, for example: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open pages, each in a browser of its own kind: no cookie is shared."""
    contexts = []

    def new(**options: Any) -> Any:
        context = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **options}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        return page

    yield new
    for context in contexts:
        context.close()

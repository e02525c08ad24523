"""The README and the documentation tell the truth: what they say to type works, and prints what they show."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from hedgerow import errors
from tests.docs.blocks import ROOT, RUNNABLE, Page, pages, read_page, typed
from tests.docs.conftest import Open
from tests.docs.following import follow
from tests.docs.set_ups import SET_UPS, begin

PAGES = [read_page(path) for path in pages()]
FOLLOWED = [page for page in PAGES if not page.not_run and any(block.language in RUNNABLE for block in page.blocks)]


@pytest.mark.parametrize("page", FOLLOWED, ids=[page.name for page in FOLLOWED])
def test_a_page_can_be_followed_to_the_letter(
    page: Page, open_shell: Open, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    start = begin(page.set_ups, tmp_path, request)
    troubles = follow(page, open_shell(start), start)
    if troubles:
        pytest.fail("\n\n".join(f"{page.name}:{trouble.line}: {trouble.what}" for trouble in troubles), pytrace=False)


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    left_out = [block for page in FOLLOWED for block in page.blocks if block.not_run]
    assert len(left_out) <= 12, "run more of them, rather than raise this bound"
    assert [page.name for page in PAGES if page.not_run] == [
        "docs/explanation/benchmarks.md",
        "docs/explanation/papers.md",
    ]


def test_there_is_something_to_follow() -> None:
    blocks = [block for page in FOLLOWED for block in page.blocks if not block.not_run]
    count = {language: sum(block.language == language for block in blocks) for language in RUNNABLE}
    assert count["console"] > 80
    assert count["python"] > 20
    assert count["yaml"] > 35


def test_every_set_up_is_known_and_used() -> None:
    assert {name for page in PAGES for name in page.set_ups} == set(SET_UPS)


def test_what_the_demo_says_to_type_next_is_what_the_readme_types(demo: Path) -> None:
    said = (demo.parent / "said").read_text(encoding="utf-8").partition("what to type next")[2]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    readme = next(page for page in PAGES if page.name == "README.md")
    commands = [
        step.command
        for block in readme.blocks
        if block.language == "console" and not block.not_run
        for step in typed(block)
    ]
    assert lines[-5:] == [line for line in commands if line in lines] != []
    assert "-o my-release" in said


# ---- words and names ---------------------------------------------------------------------------------------------


def test_nothing_names_a_package_that_no_index_has() -> None:
    texts = [*pages(), ROOT / "CONTRIBUTING.md", *(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.*")]
    pattern = re.compile(r"pip install (?:-\S+ )*['\"]?hedgerow\b")
    assert [str(path) for path in texts if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_hints_to_install_work_as_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hint = errors.how_to_install("studio")
    assert hint == f"{sys.executable} -m pip install -e '{ROOT}[studio]'"
    monkeypatch.setattr(errors, "__file__", str(tmp_path / "lib" / "hedgerow" / "errors.py"))
    assert errors.how_to_install("studio") == f"in a checkout of Hedgerow: {sys.executable} -m pip install '.[studio]'"

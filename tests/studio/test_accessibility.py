"""No screen shuts anybody out, as far as axe-core can tell; one walk through the studio, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow import anonymize, report
from tests.studio.axe import violations
from tests.studio.servers import Served

SCREENS = ("data", "limits", "promise", "run", "result", "releases")
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"


@pytest.fixture(scope="module")
def walked(studio: Served, chromium: Any) -> Any:
    """A page whose session has a table and a result."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(studio.link())
    page.wait_for_selector("[data-testid=made-up]")
    assert not violations(page)
    page.click("[data-testid=made-up]")
    page.wait_for_selector("[data-testid=next]")
    for screen, folded in (("promise", "more"), ("promise", "more-withholding"), ("run", "more-methods")):
        page.goto(f"{studio.url}/{screen}")  # what is opened stays so
        page.click(f"[data-testid={folded}]")
    page.click("[data-testid=start]")
    page.wait_for_selector("[data-testid=result-1]", timeout=120_000)
    yield page
    context.close()


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_serious(walked: Any, studio: Served, screen: str) -> None:
    found = []
    walked.goto(f"{studio.url}/{screen}")
    walked.wait_for_selector("h1")
    walked.add_style_tag(content=STILL)
    walked.wait_for_timeout(700)  # charts and trees draw themselves after the page is there
    for scheme in ("light", "dark"):
        walked.emulate_media(color_scheme=scheme)
        walked.wait_for_selector(".body--dark" if scheme == "dark" else "body:not(.body--dark)")
        found += [(scheme, one) for one in violations(walked)]
    assert not found


def test_axe_finds_nothing_serious_in_the_table_of_columns(walked: Any, studio: Served) -> None:
    walked.goto(f"{studio.url}/data")
    walked.get_by_role("button", name="Table", exact=True).click()
    walked.wait_for_selector("[data-testid=column-table]")
    assert not violations(walked)
    walked.get_by_role("button", name="Cards", exact=True).click()


def test_axe_finds_nothing_serious_in_a_report(
    new_page: Callable[..., Any], made_up: tuple[Path, Path], tmp_path: Path
) -> None:
    anonymize(*made_up, tmp_path / "release")
    report(tmp_path / "release", tmp_path / "page.html")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert not violations(page)

"""``make screenshots``: the pictures of the documentation, taken anew of the studio and the report of the demo.

Besides, every screen at three widths, light and dark, in ``build/screens``, to be looked at and not committed.

Sizes, theme and scale are fixed, nothing moves, and the data is that of ``hedgerow demo``: the same code on the same
machine gives the same pictures, up to how a browser smooths edges.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hedgerow.cli.demo import REPORT, DemoWish, run_demo
from tests.docs.blocks import ROOT
from tests.docs.gallery import STILL, take_all
from tests.studio.conftest import FLAGS
from tests.studio.servers import serving

ASSETS = ROOT / "docs" / "assets"
SCREENS = ROOT / "build" / "screens"
WIDE = 1280


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "hedgerow-demo"
        run_demo(folder, DemoWish(), False, lambda *_: None)
        with _browser() as new_page:
            with serving(folder=folder) as studio:
                take_all(new_page, studio.link, studio.url, SCREENS)
            with serving("patients.csv", "plan.yaml", folder=folder) as studio:
                page = new_page(WIDE, 900)
                page.goto(studio.link())
                _studio(page)
            page = new_page(840, 720, scale=2)
            page.goto((folder / REPORT).as_uri())
            _take(page, "report")


def _studio(page: Any) -> None:
    page.locator("[data-testid=next]").wait_for()
    _take(page, "studio-data", height=1240)
    page.click("[data-testid=nav-limits]")
    page.click('[data-testid="attribute-city"]')
    page.get_by_role("button", name="Open all").click()
    row = page.get_by_role("treeitem").filter(has_text="Oregon").last
    row.locator("[data-testid^=tree-limit-]").click()  # so that the bar says what a move costs
    page.get_by_text("56", exact=True).wait_for()
    _take(page, "studio-limits")
    page.locator("[data-testid^=tree-limit-]").locator("visible=true").first.wait_for()
    row.locator("[data-testid^=tree-limit-]").click()
    _proposals(page)
    page.click("[data-testid=nav-run]")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    page.locator("[data-testid=verdict]").wait_for()
    _take(page, "studio-result", height=1300)


def _proposals(page: Any) -> None:
    page.click("[data-testid=propose]")
    page.locator("[data-testid=propose-scope]").click()
    page.get_by_role("option", name="all columns").click()
    page.click("[data-testid=propose-work]")
    page.locator("[data-testid=propose-use]").wait_for()
    _take(page, "studio-proposals", height=1000)


def _take(page: Any, name: str, height: int | None = None) -> None:
    size = page.viewport_size
    if height:
        page.set_viewport_size({"width": size["width"], "height": height})
    page.add_style_tag(content=STILL)
    page.evaluate("document.fonts.ready")
    page.mouse.move(0, 0)
    page.wait_for_timeout(1000)  # charts draw themselves after the page is there
    page.screenshot(path=ASSETS / f"{name}.png", animations="disabled")
    page.set_viewport_size(size)
    print(f"docs/assets/{name}.png", file=sys.stderr)


@contextlib.contextmanager
def _browser() -> Iterator[Callable[..., Any]]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium takes the pictures, for example: apt-get install chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=FLAGS)

        def new_page(width: int, height: int, scale: int = 1) -> Any:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=scale,
                color_scheme="light",
                reduced_motion="reduce",
                locale="en-GB",
                timezone_id="UTC",
            )
            page = context.new_page()
            page.set_default_timeout(60_000)
            return page

        yield new_page
        browser.close()


if __name__ == "__main__":
    main()

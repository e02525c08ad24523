"""Every screen of the studio at three widths, light and dark: pictures to look at before and after a change.

``make screenshots`` writes them to ``build/screens``, which is not committed. They show made-up patients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WIDTHS = (1440, 800, 390)
SCHEMES = ("light", "dark")
HEIGHT, TALLEST = 900, 8000
SCREENS = ("open", "data", "limits", "promise", "run", "result", "releases")
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent }"


def take_all(new_page: Callable[..., Any], link: Callable[[], str], url: str, folder: Path) -> None:
    """Walk once through the studio, then photograph every screen at every width, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    page = new_page(WIDTHS[0], HEIGHT)
    page.goto(link())
    page.locator("h1").first.wait_for()
    _at_every_width(page, folder, "open")
    page.click("[data-testid=made-up]")
    page.locator("[data-testid=next]").wait_for()
    page.goto(f"{url}/run")
    page.click("[data-testid=start]")
    page.locator("[data-testid=result-1]").wait_for()
    for screen in SCREENS[1:]:
        page.goto(f"{url}/{screen}")
        page.locator("h1").first.wait_for()
        _at_every_width(page, folder, screen)


def _at_every_width(page: Any, folder: Path, screen: str) -> None:
    page.add_style_tag(content=STILL)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            page.evaluate("document.fonts.ready")
            page.wait_for_timeout(600)  # charts and trees draw themselves after the page is there
            tall = min(page.evaluate("document.documentElement.scrollHeight"), TALLEST)
            page.set_viewport_size({"width": width, "height": max(HEIGHT, tall)})  # so that the bar is at the end
            page.wait_for_timeout(300)
            path = folder / f"{screen}-{width}-{scheme}.png"
            page.screenshot(path=path, animations="disabled")
            print(path, file=sys.stderr)

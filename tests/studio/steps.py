"""What a person does on the screens, step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.studio.servers import Served

NewPage = Callable[..., Any]


def open_made_up(studio: Served, new_page: NewPage, page: Any = None) -> Any:
    """Enter, and take the made-up patients with their plan."""
    page = page or new_page()
    page.goto(studio.link())
    page.click("[data-testid=made-up]")
    expect_text(page, "records", "2,000")
    return page


def made_up_table(studio: Served) -> Path:
    """The table that the studio made up."""
    folder = Path(f"/proc/{studio.process.pid}/cwd").resolve()
    return max(folder.rglob("patients.csv"), key=lambda path: path.stat().st_mtime)


def expect_text(page: Any, testid: str, text: str) -> None:
    """Wait until an element shows a text."""
    page.wait_for_selector(f'[data-testid="{testid}"]:text-is("{text}")')


def fill(page: Any, testid: str, text: str) -> None:
    """Write into a field and leave it."""
    page.fill(f'[data-testid="{testid}"]', text)
    page.press(f'[data-testid="{testid}"]', "Enter")


def choose(page: Any, testid: str, option: str) -> None:
    """Choose from a list."""
    page.locator(f'[data-testid="{testid}"]').click()
    page.get_by_role("option", name=option).click()


def choose_attribute(page: Any, name: str) -> None:
    """Look at one column on the screen of limits."""
    page.click(f'[data-testid="attribute-{name}"]')
    page.wait_for_selector("[role=treeitem]")


def plan_text(page: Any) -> str:
    """The plan as the studio shows it."""
    page.click("[data-testid=show-plan]")
    text: str = page.inner_text("[data-testid=plan-text]")
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-testid=plan-text]", state="detached")
    return text


def download(page: Any, testid: str) -> bytes:
    """Press a button and return what it downloads; a report is made first, which takes its time."""
    with page.expect_download(timeout=120_000) as coming:
        page.click(f"[data-testid={testid}]")
    return Path(coming.value.path()).read_bytes()

"""The site as a whole: every page is in the menu and two clicks away, names every public name, and says its version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import hedgerow as hr
from hedgerow import privacy
from tests.docs.blocks import ROOT, links

DOCS = ROOT / "docs"
SETTINGS = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def in_menu(part: object) -> set[str]:
    """The pages that a part of the menu leads to."""
    if isinstance(part, str):
        return {part}
    below = part.values() if isinstance(part, dict) else part
    return set().union(*(in_menu(one) for one in below))  # type: ignore[attr-defined]


def linked(pages: set[Path]) -> set[Path]:
    """The pages of the site that these link to."""
    found = set()
    for page in pages:
        for link in links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_relative_to(DOCS):
                found.add(target)
    return found


def test_every_page_is_in_the_menu() -> None:
    assert in_menu(SETTINGS["nav"]) == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


def test_every_page_is_two_clicks_from_the_first() -> None:
    first = {DOCS / "index.md"}
    once = linked(first)
    assert set(DOCS.rglob("*.md")) - first - once - linked(once) == set()


def test_the_api_has_every_public_name() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: hedgerow\.([\w.]+)$", page, re.MULTILINE))
    public = {name for name in hr.__all__ if name not in ("__version__", "privacy")}
    assert shown == public | {f"privacy.{name}" for name in privacy.__all__} | {"sklearn.KAnonymizer"}


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name in hr.__all__ if name != "__version__" and not getattr(hr, name).__doc__] == []


def test_pages_and_citation_say_the_version() -> None:
    assert f"Hedgerow {hr.__version__} " in SETTINGS["copyright"]
    for file in ("docs/index.md", "docs/explanation/paper.md"):
        assert f"Version {hr.__version__}." in (ROOT / file).read_text(encoding="utf-8")
    assert f'version: "{hr.__version__}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"v{hr.__version__}" in (DOCS / "how-to" / "use-in-a-pipeline.md").read_text(encoding="utf-8")

"""Links between pages lead somewhere: to a file of the checkout, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import FENCED, ROOT, links, pages

HEADING = re.compile(r"^#+ (.*?)(?: *\{ *#([\w-]+) *\})?$", re.MULTILINE)
PAGES = [*pages(), *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]


def anchors(path: Path) -> set[str]:
    """The anchors of a page: those it names, and those that its headings get."""
    found: set[str] = set()
    for words, named in HEADING.findall(FENCED.sub("", path.read_text(encoding="utf-8"))):
        found.add(named or slug(words))
    return found


def slug(heading: str) -> str:
    """The anchor of a heading, as the builder of the pages makes it."""
    plain = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    lost = []
    for link in links(path):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
        elif path.is_relative_to(ROOT / "docs") and not target.is_relative_to(ROOT / "docs"):
            lost.append(f"{link}, which is not among the pages that are built")
    assert lost == []


def test_anchors_are_those_of_the_builder() -> None:
    assert slug("`hedgerow anonymize DATA PLAN -o DIR`") == "hedgerow-anonymize-data-plan-o-dir"
    assert slug("Is k within reach?") == "is-k-within-reach"
    assert slug("`research_value`") == "research_value"

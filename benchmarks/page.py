"""Pages whose figures are written by a run: blocks between two marks are replaced, the words around them stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs" / "explanation"


def replace_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` of a page.

    Raises ValueError if the page has no such block, or several.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    words = page.read_text(encoding="utf-8")
    if words.count(begin) != 1 or words.count(end) != 1 or words.index(begin) > words.index(end):
        raise ValueError(f"{page.name} needs one {begin} and one {end} after it")
    before, _, rest = words.partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)

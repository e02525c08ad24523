"""The verifier in the order in which to read it, made from its files and what they say of themselves.

``python -m tests.docs.verifier`` writes it into its page anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.docs.rooms import ROOT, SOURCES

VERIFIER = SOURCES / "verification"
PAGE = ROOT / "docs" / "explanation" / "verification.md"
BEGIN, END = "<!-- generated: verifier -->\n", "<!-- end -->"
PARTS = {
    "": ["check", "result", "in_place"],
    "promises": ["groups", "models", "limits", "truth", "possible"],
    "counting": ["evidence", "row_evidence", "tabulation", "histograms", "counted_evidence"],
    "reading": ["published", "original", "link", "formats", "tables", "delimited", "columnar", "cells"],
    "values": ["columns", "trees", "bands", "dates", "numbers"],
}
"""The parts, top to bottom, and what to begin with in each; the other files follow by their names."""


def files() -> Iterator[Path]:
    """Return the files of the verifier in the order in which to read them."""
    for part, first in PARTS.items():
        names = {path.stem for path in (VERIFIER / part).glob("*.py")} - {"__init__"}
        assert set(first) <= names, f"PARTS names a file of {part or 'the verifier'} that is not there"
        yield from (VERIFIER / part / f"{name}.py" for name in [*first, *sorted(names - set(first))])


def lines(path: Path) -> int:
    """Return the number of lines, rounded to tens, so that the page does not grow stale with every change."""
    return max(10, round(len(path.read_text(encoding="utf-8").splitlines()), -1))


def said(path: Path) -> str:
    """Return the first sentence of what a file says of itself, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n", 1)[0].split()).replace("|", "\\|")


def table() -> str:
    """Write the files as a table."""
    found = list(files())
    rows = [f"| `{path.relative_to(VERIFIER)}` | {lines(path)} | {said(path)} |" for path in found]
    total = round(sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found), -2)
    return "\n".join(["| file | lines | what it does |", "|---|---|---|", *rows, f"| all | {total:,} | |"]) + "\n"


def written(page: str) -> str:
    """Put the table into the text of its page."""
    before, rest = page.split(BEGIN, 1)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""The floor plan of the code, made from the import contract and from what the rooms say of themselves.

``python -m tests.docs.rooms`` writes it into its page anew.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "hedgerow"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
BEGIN, END = "<!-- generated: rooms -->\n", "<!-- end -->"


def layers() -> list[list[str]]:
    """Return the layers of the import contract, top to bottom; those in one layer do not know each other."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in told["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[name.strip(" ()") for name in layer.split("|")] for layer in contract["layers"]]


def rooms() -> list[str]:
    """Return the names of all rooms."""
    return sorted(folder.name for folder in SOURCES.iterdir() if (folder / "__init__.py").is_file())


def files_beside() -> list[str]:
    """Return the names of the files beside the rooms."""
    return sorted(path.name for path in SOURCES.glob("*.py"))


def said(name: str) -> str:
    """Return the first line of what a room, or a file beside them, says of itself."""
    room = SOURCES / name
    path = room / "__init__.py" if room.is_dir() else room.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n", 1)[0].split())


def table() -> str:
    """Write the floor plan as a table, top to bottom."""
    rows = [
        f"| {number} | `{name}` | {said(name).replace('|', chr(92) + '|')} |"
        for number, layer in enumerate(layers(), start=1)
        for name in layer
    ]
    return "\n".join(["| layer | room or file | what lives there |", "|---|---|---|", *rows]) + "\n"


def written(page: str) -> str:
    """Put the floor plan into the text of its page."""
    before, rest = page.split(BEGIN, 1)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END, 1)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""Pages and their blocks: what stands between fences, in the page's order, and what comments say about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(\w*)(?: title=\"([^\"]+)\")?$")
COMMENT = re.compile(r"^ *<!-- (not run|none of this page is run|set-up): (.+) -->$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)", re.DOTALL)
FENCED = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
RUNNABLE = frozenset({"console", "bash", "python", "pycon", "yaml"})


@dataclass(frozen=True)
class Block:
    """What stands between two fences.

    Attributes
    ----------
    line
        Where its text begins, counted from 1.
    title
        The file that it is to be saved as, if any.
    not_run
        Why it cannot be run, as the page says.
    close
        Whether nothing but empty lines stands between the block before and this one.
    """

    line: int
    language: str
    title: str | None
    text: str
    not_run: str | None = None
    close: bool = False


@dataclass(frozen=True)
class Page:
    """A page: the set-ups that it names, why nothing of it is run if so, and its blocks."""

    name: str
    set_ups: tuple[str, ...]
    not_run: str | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Typed:
    """A command behind a prompt, what the page shows below it, and the line of the page."""

    line: int
    command: str
    shown: str


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def links(path: Path) -> list[str]:
    """Return where the links of a page lead."""
    return LINK.findall(FENCED.sub("", path.read_text(encoding="utf-8")))


def read_page(path: Path) -> Page:
    """Read a page of the checkout."""
    return find_blocks(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))


def find_blocks(text: str, name: str) -> Page:
    """Find the blocks of a page and the comments for those who run it.

    A comment ``not run`` stands directly before its block; the others stand anywhere.
    """
    set_ups: list[str] = []
    nothing: str | None = None
    why: str | None = None
    blocks: list[Block] = []
    opened: tuple[int, Block] | None = None
    lines: list[str] = []
    close = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if opened:
            indent, block = opened
            if fence and not fence[2] and len(fence[1]) == indent:
                blocks.append(replace(block, text="\n".join(lines)))
                opened, lines, close = None, [], True
            else:
                lines.append(line[indent:])
        elif fence:
            opened = len(fence[1]), Block(number + 1, fence[2], fence[3], "", why, close)
            why = None
        elif comment := COMMENT.match(line):
            if comment[1] == "set-up":
                set_ups += comment[2].split(", ")
            elif comment[1] == "not run":
                why = comment[2]
            else:
                nothing = comment[2]
        elif "<!-- not run" in line or "<!-- set-up" in line:
            raise ValueError(f"{name}:{number}: this comment cannot be read")
        elif line.strip():
            if why:
                raise ValueError(f"{name}:{number}: a block must follow right after what says that it is not run")
            close = False
    if opened:
        raise ValueError(f"{name}:{opened[1].line}: this block has no end")
    return Page(name, tuple(set_ups), nothing, tuple(blocks))


def typed(block: Block) -> list[Typed]:
    """Take the commands of a console block apart: each begins with a prompt and goes on behind a backslash."""
    found: list[Typed] = []
    for number, line in enumerate(block.text.split("\n"), block.line):
        if line.startswith("$ "):
            found.append(Typed(number, line[2:], ""))
        elif not found:
            raise ValueError(f"line {number}: a console block begins with '$ ' and a command")
        elif found[-1].command.endswith("\\") and not found[-1].shown:
            found[-1] = replace(found[-1], command=f"{found[-1].command}\n{line}")
        else:
            found[-1] = replace(found[-1], shown=f"{found[-1].shown}{line}\n")
    return found

"""Follow a page from its first block to its last, and collect what does not come out as it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from hedgerow import HedgerowError, Plan
from tests.docs.blocks import Block, Page, Typed, typed
from tests.docs.comparing import difference
from tests.docs.running import Notebook, Shell
from tests.docs.set_ups import Start

FAILURES = ("hedgerow: ", "BROKEN", "problems")
"""What a page shows of a command that fails; a command that shows nothing of the kind must succeed."""
PLAN_KEYS = frozenset(Plan.model_fields) | {"limit", "limits"}


@dataclass(frozen=True)
class Trouble:
    """What is wrong, and in which line of the page."""

    line: int
    what: str


def follow(page: Page, shell: Shell, start: Start) -> list[Trouble]:
    """Do what a page says, block by block; go on after trouble, so that all of it is told at once."""
    found: list[Trouble] = []
    notebook = Notebook(start.names)
    blocks = [replace(block, text=_named(block.text, start.instead)) for block in page.blocks]
    for number, block in enumerate(blocks):
        if block.not_run:
            continue
        later = blocks[number + 1 :]
        if block.language in ("console", "bash"):
            commands = typed(block) if block.language == "console" else [Typed(block.line, block.text, "")]
            for at, command in enumerate(commands):
                asked = at + 1 < len(commands) and commands[at + 1].command == "echo $?"
                found += _type(shell, command, asked, apart=block.language == "bash")
        elif block.language in ("python", "pycon"):
            found += _calculate(notebook, shell, block, _output(later), page.name)
        elif block.title:
            file = shell.folder / block.title
            file.write_text(block.text + "\n", encoding="utf-8")
            if block.language == "yaml" and not any(block.title in other.text for other in later):
                found += _load(block, shell.folder)
        elif block.language == "yaml":
            found += _load(block, shell.folder)
    return found


def _type(shell: Shell, typed: Typed, code_is_asked: bool, apart: bool) -> list[Trouble]:
    printed = shell.run(typed.command, apart)
    if printed.code and not code_is_asked and not any(sign in typed.shown for sign in FAILURES):
        what = f"$ {typed.command}\nends with {printed.code}, which the page does not show:\n{printed.text}"
        return [Trouble(typed.line, what)]
    if typed.shown.strip() and (parting := difference(typed.shown, printed.text)):
        return [Trouble(typed.line, f"$ {typed.command}\n{parting}; it printed:\n{printed.text}")]
    return []


def _named(text: str, instead: Mapping[str, str]) -> str:
    for name, used in instead.items():
        text = text.replace(name, used)
    return text


def _output(later: list[Block]) -> str | None:
    shows = bool(later) and later[0].language == "text" and later[0].close and not later[0].title
    return later[0].text if shows else None


def _calculate(notebook: Notebook, shell: Shell, block: Block, shown: str | None, page: str) -> list[Trouble]:
    try:
        wrong = notebook.run(block.text, f"{page}:{block.line}", shell.folder, shown)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    return [Trouble(block.line, wrong)] if wrong else []


def _load(block: Block, folder: Path) -> list[Trouble]:
    """Load a plan; what is only a part of one is put into the plan that lies in the folder, or into a small one."""
    text = block.text
    raw = yaml.safe_load(text)
    if not {"attributes", "privacy"} <= raw.keys():
        file = folder / "plan.yaml"
        whole = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else SMALL
        more = raw if raw.keys() <= PLAN_KEYS else {"attributes": {**whole["attributes"], **raw}}
        whole = {**whole, **more}
        text = yaml.safe_dump(whole, sort_keys=False)
    try:
        Plan.loads(text, base=folder)
    except HedgerowError as error:
        return [Trouble(block.line, f"this plan is refused: {error}")]
    return []


SMALL = {"attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}}, "privacy": {"k": 5}}

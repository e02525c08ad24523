"""What commands print. Everything goes through here, because every text that is not ours is escaped here."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any

from rich import markup
from rich.console import Console, RenderableType

from hedgerow.cli.described import DescribedGroup
from hedgerow.errors import escape_data, escape_json, escape_text


def say(line: str, *, error: bool = False, flush: bool = False) -> None:
    """Print one line; a text in it cannot begin another."""
    print(escape_text(line), file=sys.stderr if error else sys.stdout, flush=flush)


def say_error(text: str) -> None:
    """Print text of ours, of one or more lines, whose parts are escaped already, on standard error."""
    print(escape_text(text, keep="\n"), file=sys.stderr)


def print_plan(text: str) -> None:
    """Print a plan, whose texts are quoted where they must be, so that it can be read again."""
    print(escape_text(text, keep="\n"), end="")


def print_json(value: Any, default: Callable[[Any], Any] = float) -> None:
    """Print plain data as JSON; ``default`` writes what JSON does not have, such as exact numbers."""
    print(escape_json(json.dumps(value, indent=2, ensure_ascii=False, default=default)))


def show(draw: Callable[..., RenderableType], *found: Any, highlight: bool | None = None) -> None:
    """Draw plain data, its texts escaped, and print it."""
    Console(emoji=False).print(draw(*(escape_data(part) for part in found)), markup=False, highlight=highlight)


def tell(said: str, *texts: object) -> None:
    """Print a line or some with marks of style, such as ``[bold]{}[/]``; texts go into its braces, escaped."""
    Console(emoji=False).print(said.format(*map(quote, texts)), highlight=False, soft_wrap=True)


def quote(text: object) -> str:
    r"""Escape a text for a line with marks of style.

    Examples
    --------
    >>> print(quote("[bold]\x1b[2J"))
    \[bold]\x1b[2J
    """
    return markup.escape(escape_text(str(text)))


class EscapingGroup(DescribedGroup):
    """Commands whose complaints about how they were called show what was typed, escaped."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the words after the command."""
        return _with_escaped_message(super().make_context, *arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Read the words after the subcommand, and do it."""
        return _with_escaped_message(super().invoke, ctx)


def _with_escaped_message(work: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    try:
        return work(*arguments, **more)
    except Exception as error:
        said = getattr(error, "message", None)
        if hasattr(error, "format_message") and isinstance(said, str):
            error.message = escape_text(said)  # type: ignore[attr-defined]
        raise


def allow_any_text() -> None:
    """Let a text be printed that the terminal's encoding does not have, escaped."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")

"""What commands say where k counts rows of a table that seems to have several rows of a person."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hedgerow.cli.printing import tell

if TYPE_CHECKING:
    from hedgerow.evaluation.people import Repeat


def as_plain(repeats: Sequence[Repeat]) -> dict[str, Any]:
    """Return what is to stand in JSON: nothing if nothing repeats."""
    return {"repeated_people": [dataclasses.asdict(repeat) for repeat in repeats]} if repeats else {}


def warn_of(repeats: Sequence[Repeat]) -> None:
    """Warn that k counts rows."""
    for repeat in repeats:
        hint = f"if {repeat.column} names a person, write 'person: {repeat.column}' into the plan: k then counts people"
        tell("\n[yellow]{}[/]\n  what to do: {}", repeat.sentence, hint)

"""What a person is advised to do about a column, with the change that does it. It goes when it was followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from hedgerow.plan import Plan
from hedgerow.studio.views import ColumnView


@dataclass(frozen=True)
class Advice:
    """Something to decide.

    Attributes
    ----------
    text, button
        The question, and what the button is called that does it.
    keys
        Keys of the column that it changes; none of them: see ``where``.
    where
        The screen that has the control; empty: the column becomes sensitive, which asks a question of its own.
    """

    text: str
    button: str
    keys: Mapping[str, Any] | None = None
    where: str = ""


def advice_on(column: ColumnView, plan: Plan) -> Iterator[Advice]:
    """Yield what is still to be decided about a column."""
    attribute = plan.attributes.get(column.name)
    published = attribute is not None and attribute.role != "identifier" and not attribute.free
    if attribute is not None and published and column.treat and attribute.treat is None:
        text = "Few people have numbers far from all others, which may tell who they are."
        yield Advice(text, "Publish these as one value", {"treat": column.treat})
    if attribute is None or attribute.role != "quasi-identifier":
        return
    if len(column.bars) == 1 and not column.missing:  # everybody has the same: there is nothing to decide
        return
    if column.delicate:
        text = "By its name people keep it to themselves. If nobody outside can know it, publish it as it is."
        yield Advice(text, "Make it sensitive")
    coarsened = attribute.free or attribute.hierarchy is not None
    if column.level is None and not coarsened:
        text = "It can only stay as it is or become nothing (*). Group its values, and some meaning is kept."
        yield Advice(text, "Group its values", where=f"/limits?column={quote(column.name)}&group=1")
    fits = coarsened == bool(column.rule) and not attribute.free  # it is coarsened as was proposed
    if column.level is not None and attribute.limit is None and fits:
        text = f"It may be coarsened to nothing (*). Should {column.leaves} remain at least?"
        yield Advice(text, f"Keep {column.leaves}", {"limit": {"level": column.level}})


def remarks_on(column: ColumnView) -> tuple[str, ...]:
    """Return the remarks that ask for a look, not for a change of the plan."""
    return tuple(note for note in column.notes if note.startswith(("Check:", "Proposed:")))

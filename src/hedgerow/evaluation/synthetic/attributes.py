"""The columns of a made-up table as data: what the plan says of each, its hierarchy file, and its rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.errors import HedgerowError, Problem
from hedgerow.evaluation.synthetic.trees import NestedNames

FEWEST = 3
FOLDER = "hierarchies"


@dataclass(frozen=True)
class MadeUpAttribute:
    """A column of a made-up table.

    Attributes
    ----------
    name
        Name of the column.
    says
        What the plan says of it: YAML after its name, which may have several lines.
    note
        A comment beside it.
    tree
        Its hierarchy, if that is written to a file; ``{file}`` in ``says`` stands for the name of the file.
    rules
        Its rules: two values to keep apart, and how important that is.
    """

    name: str
    says: str = "quasi-identifier"
    note: str = ""
    tree: NestedNames | None = None
    rules: tuple[tuple[str, str, int], ...] = ()

    @property
    def file(self) -> str:
        """Name of the hierarchy file."""
        return f"{FOLDER}/{self.name}.csv"

    def lines(self) -> str:
        """Write the column as a part of a plan."""
        says = self.says.replace("{file}", f"{{file: {self.file}}}")
        space = "" if says.startswith("\n") else " "
        return f"  {self.name}:{space}{says}" + (f"  # {self.note}" if self.note else "")


def first_attributes(attributes: Sequence[MadeUpAttribute], count: int) -> Sequence[MadeUpAttribute]:
    """Keep the first columns.

    Raises
    ------
    HedgerowError
        If there are not so many, or too few are asked for.
    """
    if not FEWEST <= count <= len(attributes):
        message = f"The 'attributes' parameter must be from {FEWEST} to {len(attributes)}. Got {count} instead."
        raise HedgerowError(Problem("usage", message, hint="leave it out for all of them"))
    return attributes[:count]


def attribute_lines(attributes: Sequence[MadeUpAttribute]) -> str:
    """Write columns as the ``attributes`` of a plan."""
    return "attributes:\n" + "".join(f"{attribute.lines()}\n" for attribute in attributes)


def rule_lines(attributes: Sequence[MadeUpAttribute]) -> str:
    """Write the rules of columns as the ``rules`` of a plan."""
    lines = [
        f"  - {{attribute: {attribute.name}, keep_apart: [{one}, {other}], importance: {importance}}}\n"
        for attribute in attributes
        for one, other, importance in attribute.rules
    ]
    return "rules:\n" + "".join(lines)


def hierarchy_files(attributes: Sequence[MadeUpAttribute]) -> dict[str, list[tuple[str, ...]]]:
    """Collect the hierarchy files of columns, by name."""
    return {attribute.file: attribute.tree.paths for attribute in attributes if attribute.tree is not None}

"""Hierarchies as papers print them: a table with one line for each value and one column for each level.

The label of a value at a level is the cell. It is published as it stands there, so a release of a level is the column.
A label may stand in several columns, and then mean different groups of values. That is sound as long as one column is
published, and every label of that column means one group.
"""

from __future__ import annotations

from collections.abc import Sequence

Line = Sequence[str]
"""The labels of a value from level 0, the value itself, to the root; lines may have different lengths."""


def label(line: Line, level: int) -> str:
    """What a value is published as at a level: beyond the end of its line it stays at the root."""
    return line[min(level, len(line) - 1)]


def group(lines: Sequence[Line], line: Line, level: int) -> frozenset[str]:
    """The values that are one group with a value at a level: those whose lines go on alike from there to the root."""
    rest = tuple(line[min(level, len(line) - 1) :])
    return frozenset(
        other[0] for other in lines if len(other) >= len(rest) and tuple(other[len(other) - len(rest) :]) == rest
    )


def ambiguous(lines: Sequence[Line], level: int) -> set[str]:
    """The labels of a level that stand for two different groups of values."""
    meanings: dict[str, set[frozenset[str]]] = {}
    for line in lines:
        meanings.setdefault(label(line, level), set()).add(group(lines, line, level))
    return {name for name, groups in meanings.items() if len(groups) > 1}


def publish(lines: Sequence[Line], values: Sequence[str], level: int) -> list[str]:
    """A column of a release at a level."""
    line_of = {line[0]: line for line in lines}
    return [label(line_of[value], level) for value in values]

"""Reading YAML so that every value knows its line and column.

All scalars are read as text (so ``no`` stays "no" and ``0123`` stays "0123"; the plan's fields convert what is a
number). Aliases are refused, size and depth are bounded: a plan may come from a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from hedgerow.errors import PlanError, Problem

MOST_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 40
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Places:
    """Where each part of a plan stands in its file."""

    file: str
    marks: dict[Path, tuple[int, int]]

    def of(self, path: Path) -> str:
        """Return ``file:line:column`` of a part, or of the nearest part around it that the file has."""
        steps = tuple(path)
        while steps and steps not in self.marks:
            steps = steps[:-1]
        line, column = self.marks.get(steps, (1, 1))
        return f"{self.file}:{line}:{column}"


NOWHERE = Places("plan", {})


def read_yaml(text: str, file: str) -> tuple[Any, Places, list[Problem]]:
    """Read YAML text to plain dicts, lists and strings, with places and the problems of its form."""
    if len(text.encode()) > MOST_BYTES:
        raise PlanError(Problem("yaml", f"The plan is larger than {MOST_BYTES >> 20} MiB.", file))
    try:
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        what = getattr(error, "problem", None) or "not YAML"
        raise PlanError(
            Problem("yaml", f"The plan is not readable: {what}.", place, "check indentation and quotes")
        ) from None
    except RecursionError:
        raise PlanError(Problem("yaml", f"The plan is nested deeper than {MOST_DEPTH} levels.", file)) from None
    marks: dict[Path, tuple[int, int]] = {}
    problems: list[Problem] = []
    seen: set[int] = set()

    def build(node: yaml.Node, path: Path, depth: int) -> Any:
        place = f"{file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        marks.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
        if id(node) in seen:
            raise PlanError(Problem("yaml", "A plan must not use YAML aliases (*name).", place, "write it out"))
        if depth > MOST_DEPTH:
            raise PlanError(Problem("yaml", f"The plan is nested deeper than {MOST_DEPTH} levels.", place))
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            empty = not node.style and node.value in ("", "~", "null", "Null", "NULL")
            return None if empty else node.value
        if isinstance(node, yaml.SequenceNode):
            return [build(item, (*path, i), depth + 1) for i, item in enumerate(node.value)]
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            at = f"{file}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
            if not isinstance(key, yaml.ScalarNode):
                problems.append(Problem("yaml", "A key must be a plain word.", at))
                continue
            if key.value in mapping:
                hint = "keep one of the two"
                problems.append(Problem("yaml", f"Key {key.value!r} stands twice in one mapping.", at, hint))
                continue
            marks[(*path, key.value)] = (key.start_mark.line + 1, key.start_mark.column + 1)
            mapping[key.value] = build(value, (*path, key.value), depth + 1)
        return mapping

    return (None if root is None else build(root, (), 0)), Places(file, marks), problems

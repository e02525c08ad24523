"""Reading YAML so that every value knows its line and column.

All scalars are read as text (so ``no`` stays "no" and ``0123`` stays "0123"; the plan's fields convert what is a
number). Aliases are refused, size, depth and number of parts are bounded: a plan may come from a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from hedgerow.errors import PlanError, Problem

MOST_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 40
MOST_PARTS = 4_000_000
LONGEST_TEXT = 1 << 20
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
    """Read YAML text to plain dicts, lists and strings, with places and the problems of its form.

    It is taken event by event, so that what is too deep, too large or an alias is refused before it is put together.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise PlanError(Problem("yaml", "The plan holds halves of characters.", file, "save it as UTF-8")) from None
    if size > MOST_BYTES:
        raise PlanError(Problem("too-much", f"The plan is larger than {MOST_BYTES >> 20} MiB.", file))
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    builder = _Builder(yaml.parse(text, Loader=loader), file)
    try:
        root = builder.document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        what = getattr(error, "problem", None) or "not YAML"
        raise PlanError(
            Problem("yaml", f"The plan is not readable: {what}.", place, "check indentation and quotes")
        ) from None
    return root, Places(file, builder.marks), builder.problems


class _Builder:
    """Puts a plan together from the events of the parser."""

    def __init__(self, events: Iterator[yaml.Event], file: str) -> None:
        self._events = events
        self._file = file
        self._parts = 0
        self.marks: dict[Path, tuple[int, int]] = {}
        self.problems: list[Problem] = []

    def document(self) -> Any:
        """Build the one document of the text; None if there is none."""
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        root = self._build(self._next(), (), 0)
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            message = "The plan is not readable: it is more than one document."
            raise PlanError(Problem("yaml", message, self._place(event), "keep what stands before the line ---"))
        return root

    def _build(self, event: yaml.Event, path: Path, depth: int) -> Any:
        self.marks.setdefault(path, _spot(event))
        self._check(event, depth)
        if isinstance(event, yaml.ScalarEvent):
            empty = not event.style and event.value in ("", "~", "null", "Null", "NULL")
            return None if empty else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(item := self._next(), yaml.SequenceEndEvent):
                items.append(self._build(item, (*path, len(items)), depth + 1))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                self.problems.append(Problem("yaml", "A key must be a plain word.", self._place(key)))
                self._skip(key, depth + 1)
                self._skip(self._next(), depth + 1)
                continue
            self._check(key, depth + 1)
            if key.value in mapping:
                message, hint = f"Key {key.value!r} stands twice in one mapping.", "keep one of the two"
                self.problems.append(Problem("yaml", message, self._place(key), hint))
                self._skip(self._next(), depth + 1)
                continue
            self.marks[(*path, key.value)] = _spot(key)
            mapping[key.value] = self._build(self._next(), (*path, key.value), depth + 1)
        return mapping

    def _skip(self, event: yaml.Event, depth: int) -> None:
        """Leave a part out."""
        begun = 0
        while True:
            if isinstance(event, yaml.CollectionEndEvent):
                begun -= 1
            else:
                self._check(event, depth + begun)
                begun += isinstance(event, yaml.CollectionStartEvent)
            if not begun:
                return
            event = self._next()

    def _check(self, event: yaml.Event, depth: int) -> None:
        """Refuse what a plan may not have, or not so much of."""
        if isinstance(event, yaml.AliasEvent):
            message = "A plan must not use YAML aliases (*name)."
            raise PlanError(Problem("yaml", message, self._place(event), "write it out"))
        if depth > MOST_DEPTH:
            message = f"The plan is nested deeper than {MOST_DEPTH} levels."
            raise PlanError(Problem("yaml", message, self._place(event)))
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > LONGEST_TEXT:
            message = f"A text of the plan has more than {LONGEST_TEXT:,} characters."
            raise PlanError(Problem("too-much", message, self._place(event), "check the quotes"))

    def _next(self) -> yaml.Event:
        self._parts += 1
        if self._parts > MOST_PARTS:
            message = f"The plan has more than {MOST_PARTS:,} parts."
            raise PlanError(Problem("too-much", message, self._file, "give a smaller hierarchy"))
        return next(self._events)

    def _place(self, event: yaml.Event) -> str:
        line, column = _spot(event)
        return f"{self._file}:{line}:{column}"


def _spot(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)

"""Facts as somebody wrote them: read with care, since a broken release has a report too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.verification import is_number


@dataclass(frozen=True)
class Facts:
    """Facts of which nothing is taken for granted.

    Examples
    --------
    >>> facts = Facts({"records": 10, "ntil": "a lot"})
    >>> facts.number("records"), facts.number("ntil"), facts.count("groups")
    (10, None, 0)
    """

    said: Mapping[str, Any]

    def get(self, *path: str) -> Any:
        """Return what is said at a path, or None."""
        found: Any = self.said
        for step in path:
            if not isinstance(found, Mapping) or step not in found:
                return None
            found = found[step]
        return found

    def number(self, *path: str) -> int | float | None:
        """Return a number, or None if there is none."""
        found = self.get(*path)
        return found if is_number(found) else None

    def count(self, *path: str) -> int:
        """Return a whole number, 0 if there is none."""
        found = self.number(*path)
        return found if isinstance(found, int) else 0

    def text(self, *path: str) -> str:
        """Return a text, empty if there is none."""
        found = self.get(*path)
        return found if isinstance(found, str) else ""

    def numbers(self, *path: str) -> dict[str, int | float]:
        """Return the numbers of a mapping, by name."""
        found = self.get(*path)
        if not isinstance(found, Mapping):
            return {}
        kept = {str(name): self.number(*path, name) for name in found}
        return {name: number for name, number in kept.items() if number is not None}

    def sizes(self, name: str) -> dict[int, int]:
        """Return counts by size, ascending."""
        found = {
            int(size): count
            for size, count in self.numbers(name).items()
            if size.isascii() and size.isdigit() and len(size) < 19 and int(size) and isinstance(count, int)
        }
        return {size: found[size] for size in sorted(found) if found[size] > 0}

    def entries(self, name: str) -> list[Mapping[str, Any]]:
        """Return the mappings of a list."""
        found = self.get(name)
        return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []

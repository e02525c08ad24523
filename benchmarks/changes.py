"""What differs between two runs of the benchmarks: losses and counts at all, measured figures beyond a margin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.results import MEASURED, Figure, Results, Section

MARGIN = 0.25
"""Times, memory and ratios within this share of the last ones count as unchanged: no two runs are the same."""
NOISE = {"s": 0.005, "ms": 2.0, "MB": 2.0}
"""Differences smaller than this, by unit, are never told, however large a share they are."""


@dataclass(frozen=True)
class Change:
    """A figure that is not what it was; None if there was none, or is none any more."""

    before: Figure | None
    after: Figure | None

    def __str__(self) -> str:
        if self.before is None:
            return f"new    {_name(self.after)}: {self.after}"
        if self.after is None:
            return f"gone   {_name(self.before)}: {self.before}"
        share = f" ({self.after.value / self.before.value - 1:+.0%})" if self.before.value else ""
        word = {True: "better", False: "worse "}.get(self.better, "other ")  # type: ignore[call-overload]
        return f"{word} {_name(self.after)}: {self.before} → {self.after}{share}"

    @property
    def better(self) -> bool | None:
        """Whether less is better and there is less; None where neither is better."""
        if self.before is None or self.after is None or self.after.kind in ("count", "ratio"):
            return None
        return self.after.value < self.before.value


def _name(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.section}: {figure.name} ({figure.kind})"


def changes(before: Results, after: Results, sections: Iterable[str] | None = None) -> Iterator[Change]:
    """What differs: losses and counts at all, measured figures beyond the margin and on the same machine only."""
    asked = None if sections is None else set(sections)
    same_machine = before.machine == after.machine
    for name in after.sections:
        if asked is not None and name not in asked:
            continue
        old = {(figure.name, figure.kind): figure for figure in before.sections.get(name, Section(name)).figures}
        for figure in after.sections[name].figures:
            last = old.pop((figure.name, figure.kind), None)
            if last is None:
                yield Change(None, figure)
            elif _differs(last, figure, same_machine):
                yield Change(last, figure)
        yield from (Change(figure, None) for figure in old.values())


def _differs(before: Figure, after: Figure, same_machine: bool) -> bool:
    if before.unit != after.unit:
        return True
    if after.kind not in MEASURED:
        return before.value != after.value
    distance = abs(after.value - before.value)
    return same_machine and distance > MARGIN * abs(before.value) and distance > NOISE.get(after.unit, 0)

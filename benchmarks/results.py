"""What benchmarks measure: figures, kept in ``results.json`` by section."""

from __future__ import annotations

import datetime
import json
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).parent / "results.json"
Kind = Literal["time", "cpu", "memory", "loss", "count", "ratio"]
MEASURED: tuple[Kind, ...] = ("time", "cpu", "memory", "ratio")
"""Kinds that differ from run to run; the others are the same on every machine."""


@dataclass(frozen=True)
class Figure:
    """One figure; within a section, name and kind are its key.

    Attributes
    ----------
    section
        The benchmark that measured it.
    name
        What was measured.
    value
        The figure, in its unit.
    unit
        Such as ``s``, ``ms``, ``MB``; empty for shares and counts.
    kind
        ``time``: from start to end; ``cpu``: time of all cores together; ``memory``; ``loss``: less is better, and the
        same on every machine; ``count``: likewise the same everywhere; ``ratio``: of two measured figures.
    """

    section: str
    name: str
    value: float
    unit: str
    kind: Kind

    def __str__(self) -> str:
        return shown(self.value, self.unit)


@dataclass(frozen=True)
class Section:
    """What one benchmark found, in order: figures, and words on what could not be measured."""

    name: str
    figures: list[Figure] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    measured: str = ""

    def find(self, name: str, kind: Kind) -> Figure | None:
        """The figure of that name and kind, if it was measured."""
        return next((figure for figure in self.figures if (figure.name, figure.kind) == (name, kind)), None)

    def value(self, name: str, kind: Kind) -> float | None:
        """Its value."""
        figure = self.find(name, kind)
        return None if figure is None else figure.value

    def cell(self, name: str, kind: Kind) -> str:
        """Its text for a table; a dash if it was not measured."""
        figure = self.find(name, kind)
        return "–" if figure is None else str(figure)

    def names(self, start: str = "") -> list[str]:
        """Names that begin so, each once, in the order in which they came."""
        every = (*(figure.name for figure in self.figures), *self.notes)
        return list(dict.fromkeys(name for name in every if name.startswith(start)))


class Report:
    """Takes the figures of one section, and prints each as it comes."""

    def __init__(self, section: str) -> None:
        self.section = Section(section, measured=datetime.date.today().isoformat())

    def time(self, name: str, value: float, unit: str = "s") -> None:
        """Time from start to end."""
        self._add(name, value, unit, "time")

    def cpu(self, name: str, value: float, unit: str = "s") -> None:
        """Time of all cores together."""
        self._add(name, value, unit, "cpu")

    def memory(self, name: str, value: float, unit: str = "MB") -> None:
        """The most memory there was."""
        self._add(name, value, unit, "memory")

    def loss(self, name: str, value: float, unit: str = "") -> None:
        """What a release loses; the same on every machine."""
        self._add(name, value, unit, "loss")

    def count(self, name: str, value: int, unit: str = "") -> None:
        """A number of things; the same on every machine."""
        self._add(name, value, unit, "count")

    def ratio(self, name: str, value: float, unit: str = "") -> None:
        """One measured figure by another."""
        self._add(name, value, unit, "ratio")

    def note(self, name: str, words: str) -> None:
        """Why there is no figure, or what goes with one."""
        self.section.notes[name] = words
        _line(name, words)

    def _add(self, name: str, value: float, unit: str, kind: Kind) -> None:
        if self.section.find(name, kind) is not None:
            raise ValueError(f"{self.section.name} has two figures '{name}' of kind {kind}")
        figure = Figure(self.section.name, name, rounded(value), unit, kind)
        self.section.figures.append(figure)
        _line(name, f"{figure}" if kind in ("time", "memory") else f"{figure} ({kind})")


def _line(name: str, words: str) -> None:
    print(f"  {name:<72} {words}", flush=True)


def rounded(value: float) -> float:
    """Six significant digits; whole numbers as they are."""
    return value if isinstance(value, int) else float(f"{value:.6g}")


def shown(value: float, unit: str = "") -> str:
    """A figure as tables show it: whole, or with three significant digits; a share (no unit) with four places.

    >>> shown(30162), shown(12.345, "s"), shown(0.3168, "s"), shown(0.049812), shown(1234.5, "MB")
    ('30,162', '12.3 s', '0.317 s', '0.0498', '1,234 MB')
    """
    if isinstance(value, int) or abs(value) >= 100:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4f}" if not unit and 0.001 <= abs(value) < 1 else f"{value:.3g}"
    return f"{text} {unit}".strip()


# ---- the file ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """All sections, with the machine and the versions of the last run."""

    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)

    def to_json(self) -> str:
        """As it is kept: every figure on a line of its own, so that a diff of two runs can be read."""
        sections = ",\n".join(f" {_json(name)}: {_section_json(section)}" for name, section in self.sections.items())
        return (
            f'{{\n"machine": {_json(self.machine)},\n"versions": {_json(self.versions)},\n'
            f'"sections": {{\n{sections}\n}}\n}}\n'
        )

    @classmethod
    def from_json(cls, text: str) -> Results:
        """From what was kept."""
        kept = json.loads(text)
        sections = {}
        for name, section in kept["sections"].items():
            figures = [Figure(section=name, **figure) for figure in section["figures"]]
            sections[name] = Section(name, figures, section["notes"], section["measured"])
        return cls(kept["machine"], kept["versions"], sections)


def _json(kept: object) -> str:
    return json.dumps(kept, ensure_ascii=False)


def _section_json(section: Section) -> str:
    keys = ("name", "value", "unit", "kind")
    lines = (_json({key: value for key, value in asdict(figure).items() if key in keys}) for figure in section.figures)
    figures = ",\n".join(f"   {line}" for line in lines)
    return (
        f'{{\n  "measured": {_json(section.measured)},\n  "notes": {_json(section.notes)},\n'
        f'  "figures": [\n{figures}\n  ]\n }}'
    )


def read_results(path: Path = FILE) -> Results:
    """What is in the file; nothing if there is none."""
    return Results.from_json(path.read_text(encoding="utf-8")) if path.exists() else Results()


def committed_results() -> Results | None:
    """What the last commit has; None if it has none, or this is no checkout."""
    command = ["git", "show", f"HEAD:{FILE.parent.name}/{FILE.name}"]
    try:
        found = subprocess.run(command, cwd=FILE.parent.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return Results.from_json(found.stdout)

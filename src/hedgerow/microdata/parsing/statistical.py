"""Files of statistical packages, read by pyreadstat: labels become cells, and missing values keep their kind.

A column ``x`` with missing values of several kinds (SPSS: user-defined; Stata: .a to .z; SAS: .A to .Z) is missing
there; a second column, ``x (missing)``, says of which kind. Like any column it stays behind unless a plan names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.microdata.notes import LONGEST_TITLE, MOST_LABELS, WHY, ColumnNote
from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.texts import Cells, TextTable, cell_text, check_cells, parsing, texts
from hedgerow.plan.hierarchy.numbers import number_label


@dataclass(frozen=True)
class Variable:
    """A variable of the file.

    Attributes
    ----------
    labels
        The label of each code that has one.
    ranges
        SPSS: the ranges of values that are missing, both ends within.
    marks
        Stata, SAS: the letters that stand for missing values of some kind.
    """

    name: str
    type: str
    labels: Mapping[Any, str]
    ranges: tuple[tuple[Any, Any], ...] = ()
    marks: frozenset[str] = frozenset()

    @property
    def is_text(self) -> bool:
        """Whether its cells are text."""
        return self.type == "string"

    @property
    def has_kinds(self) -> bool:
        """Whether it may be missing in several ways."""
        return bool(self.ranges or self.marks)

    def is_missing(self, cell: Any) -> bool:
        """Tell whether a cell is a value that means a missing one."""
        if isinstance(cell, str):
            return not self.is_text or any(cell.rstrip() == low for low, _ in self.ranges)
        return isinstance(cell, int | float) and any(
            low <= cell <= high for low, high in self.ranges if not isinstance(low, str)
        )

    def plain(self, cell: Any) -> str | None:
        """Write a cell without looking for its label."""
        if isinstance(cell, float) and self.type == "float" and np.isfinite(cell):
            return number_label(Decimal(str(np.float32(cell))))  # 0.1, not 0.10000000149011612
        return cell_text(cell)

    def label(self, cell: Any) -> str | None:
        """Return the label of a cell; without one, the cell as text."""
        found = self.labels.get(cell.rstrip() if isinstance(cell, str) else cell)
        return self.plain(cell) if found is None else found.strip() or self.plain(cell)

    def value(self, published: bool) -> Callable[[Any], str | None]:
        """Return how a cell is written."""

        def write(cell: Any) -> str | None:
            if self.is_missing(cell):
                return None
            return self.label(cell) if published else self.plain(cell)

        return write

    def why(self, cell: Any) -> str | None:
        """Return of which kind a missing cell is: its label, or the code itself."""
        return self.label(cell) if self.is_missing(cell) else None

    def note(self, title: str, published: bool) -> ColumnNote:
        """Say what the file says of it."""
        codes: dict[str, str] = {}
        missing: dict[str, str] = {}
        for code, label in sorted(self.labels.items(), key=lambda item: str(item[0]))[:MOST_LABELS]:
            if label.strip():
                (missing if self.is_missing(code) else codes).setdefault(label.strip(), self.plain(code) or "")
        return ColumnNote(title, codes, "text" if self.is_text else "", published, missing)


def open_statistical(path: Path, form: Form, reader: Callable[..., Any], options: Mapping[str, Any]) -> TextTable:
    """Open a file with one of the readers of pyreadstat."""
    size = path.stat().st_size
    given = {**options, "output_format": "dict"}
    with parsing(form):
        told = reader(str(path), metadataonly=True, **given)[1]
        form.check_names(list(told.column_names))
        rows = told.number_rows
        check_cells(form, size, max(rows or 0, 0), len(told.column_names))
        variables = {name: _variable(name, told) for name in told.column_names}
        titles = told.column_names_to_labels
        notes: dict[str, ColumnNote] = {}
        for name, variable in variables.items():
            notes[name] = variable.note(str(titles.get(name) or "").strip()[:LONGEST_TITLE], form.labels == "publish")
            if variable.has_kinds and name + WHY not in variables:
                notes[name + WHY] = ColumnNote(kind="text", explains=name)

    def load(wanted: Sequence[str]) -> dict[str, Cells]:
        sources = {name: name if name in variables else name.removesuffix(WHY) for name in wanted}
        columns, _ = reader(str(path), usecols=sorted(set(sources.values())), **given)
        check_cells(form, size, max(map(len, columns.values()), default=0), len(columns))
        found: dict[str, Cells] = {}
        for name, source in sources.items():
            variable = variables[source]
            write = variable.value(form.labels == "publish") if name == source else variable.why
            found[name] = texts(columns[source], write)
        return found

    return TextTable(form, notes, None if rows is None or rows < 0 else rows, size, load)


def _variable(name: str, told: Any) -> Variable:
    ranges = tuple((one["lo"], one["hi"]) for one in (told.missing_ranges or {}).get(name, ()))
    labels = (told.variable_value_labels or {}).get(name, {})
    marks = {str(mark) for mark in (told.missing_user_values or {}).get(name, ())}
    type_ = str(told.readstat_variable_types[name])
    if type_ != "string":  # a letter among the codes of numbers is a kind of missing value
        marks |= {code for code in labels if isinstance(code, str)}
    clean = {code.rstrip() if isinstance(code, str) else code: str(label) for code, label in labels.items()}
    ranges = tuple((low.rstrip() if isinstance(low, str) else low, high) for low, high in ranges)
    return Variable(name, type_, clean, ranges, frozenset(marks))

"""A made-up table with its plan, and writing both to files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.outside.outputs import cannot_write, new_file, put_text


@dataclass(frozen=True)
class Synthetic:
    """A made-up table, the plan that goes with it, and the hierarchy files that the plan names.

    Attributes
    ----------
    kind
        What the table is about, such as ``clinic``.
    filename
        Name under which the table is written.
    columns
        The cells of every column, as text; an empty cell is a missing value.
    plan
        The plan, as commented YAML.
    hierarchies
        Leaf-to-root lines by the name of the hierarchy file.
    """

    kind: str
    filename: str
    columns: dict[str, list[str]]
    plan: str
    hierarchies: dict[str, list[tuple[str, ...]]]

    @property
    def records(self) -> int:
        """Number of records."""
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"Synthetic({self.kind}: {self.records:,} records × {len(self.columns)} columns)"


def write_demo(folder: str | Path, data: Synthetic) -> tuple[Path, Path]:
    """Write a made-up table, its ``plan.yaml`` and its hierarchy files into a folder.

    Files of the same names are overwritten: whoever offers this to a person asks first.

    Returns
    -------
    tuple of Path
        The table and the plan.

    Raises
    ------
    DataError
        If the folder cannot be written to.
    """
    folder = Path(folder)
    table, plan = folder / data.filename, folder / "plan.yaml"
    try:
        for path in (folder, *{(folder / name).parent: None for name in data.hierarchies}):
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    _write_rows(table, [tuple(data.columns)], zip(*data.columns.values(), strict=True), delimiter=",")
    for name, paths in data.hierarchies.items():
        _write_rows(folder / name, paths, (), delimiter=";")
    put_text(plan, data.plan, "the plan", replace=True)
    return table, plan


def _write_rows(path: Path, first: Sequence[Sequence[str]], rest: Any, delimiter: str) -> None:
    with new_file(path, "the table", replace=True) as made, made.path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows(first)
        writer.writerows(rest)

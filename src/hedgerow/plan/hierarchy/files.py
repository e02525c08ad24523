"""Hierarchy files as ARX writes them: one line per leaf, from the leaf to the root, ``;`` or ``,`` between."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.outside.intake import read_bytes
from hedgerow.outside.outputs import put_text
from hedgerow.plan.hierarchy.tree import Hierarchy

MOST_BYTES = 64 << 20


def read_paths(path: Path) -> list[tuple[str, ...]]:
    """Read the leaf-to-root lines of a hierarchy file; ``;`` is taken as separator if the first line has one."""
    try:
        text = read_bytes(path, MOST_BYTES, "The hierarchy").decode("utf-8-sig")
    except DataError as error:
        raise PlanError(
            Problem("hierarchy-file", problem.message, problem.place, problem.hint) for problem in error.problems
        ) from None
    except UnicodeDecodeError:
        message = "The hierarchy file is not UTF-8 text."
        raise PlanError(Problem("hierarchy-file", message, str(path), "save it as UTF-8")) from None
    first = text.partition("\n")[0]
    try:
        rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in first else ",", strict=True))
    except csv.Error as error:
        message = f"The hierarchy file is not a table: {error}."
        raise PlanError(Problem("hierarchy-file", message, str(path), "check its quotes")) from None
    lines = []
    for row in rows:
        cells = [cell.strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()  # shorter paths may be padded with empty cells
        if cells:
            lines.append(tuple(cells))
    return lines


def read_hierarchy(path: str | Path, as_printed: bool = False) -> Hierarchy:
    """Read a hierarchy file; problems name the file.

    ``as_printed`` lets a label stand on several levels for different groups, as :meth:`Hierarchy.from_paths` says.
    """
    path = Path(path)
    try:
        return Hierarchy.from_paths(read_paths(path), as_printed)
    except PlanError as error:
        raise PlanError(
            Problem(problem.code, problem.message, problem.place or str(path), problem.hint)
            for problem in error.problems
        ) from None


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, delimiter: str = ";") -> None:
    """Write a hierarchy file that :func:`read_hierarchy` and ARX read."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(hierarchy.paths())
    put_text(path, text.getvalue(), "the hierarchy", replace=True)

"""A tree in a file beside the plan; it becomes part of the plan when that is read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from hedgerow.plan.hierarchy.files import read_hierarchy
from hedgerow.plan.hierarchy.kind import KindDescriptor
from hedgerow.plan.hierarchy.tree import Hierarchy


def _check(spec: Any, folder: Path) -> Hierarchy:
    return read_hierarchy(folder / spec.file, as_printed=True)


def _build(spec: Any, labels: Sequence[str]) -> NoReturn:
    raise AssertionError("a file is part of the plan before any table is read")


DESCRIPTOR = KindDescriptor(
    name="file",
    title="a tree of values",
    help="path of a [hierarchy file](files.md#hierarchy-files), relative to the plan",
    example="as in the file",
    order=10,
    check=_check,
    build=_build,
    is_file=True,
)

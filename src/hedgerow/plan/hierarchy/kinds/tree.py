"""A tree that the owner writes out in the plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.plan.hierarchy.builders import Built, place_in
from hedgerow.plan.hierarchy.kind import KindDescriptor
from hedgerow.plan.hierarchy.tree import Hierarchy


def _check(spec: Any, folder: Path) -> Hierarchy:
    return Hierarchy.from_tree(spec.tree, as_printed=True)


def _build(spec: Any, labels: Sequence[str]) -> Built:
    return place_in(Hierarchy.from_tree(spec.tree, as_printed=True), labels)


DESCRIPTOR = KindDescriptor(
    name="tree",
    title="a tree of values",
    help="`{root: {node: [leaf, …]}}`, any depth, one root",
    example="`{USA: {Kansas: [Wichita], Iowa: [Ames]}}`: Wichita → Kansas → USA",
    order=20,
    check=_check,
    build=_build,
)

"""Numbers between cut points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hedgerow.plan.hierarchy import builders
from hedgerow.plan.hierarchy.kind import Field, HierarchyRule, KindDescriptor, ends_of, round_width, typed_numbers
from hedgerow.plan.hierarchy.numbers import Number, number_label, parse_half_open, parse_number


def _check(spec: Any, folder: Path) -> None:
    builders.check_cuts(spec.cuts, _ends(spec))


def _build(spec: Any, labels: Sequence[str]) -> builders.Built:
    return builders.cuts(labels, spec.cuts, _ends(spec))


def _ends(spec: Any) -> builders.OpenEnds:
    return builders.OpenEnds(spec.top, spec.bottom)


def _could_be_node(spec: Any, name: str) -> bool:
    if _ends(spec).have(name):
        return True
    ends = parse_half_open(name)
    if parse_number(name) is not None or ends is None:
        return parse_number(name) is not None
    pieces = [piece for points in spec.cuts for piece in pairwise(points)]
    return any(ends == _ends(spec).within(*piece, whole) for piece in pieces for whole in (True, False))


def _begin(numbers: Sequence[Number], longest: int) -> dict[str, Any]:
    low, high = ends_of(numbers)
    width = round_width(high - low)
    start = int(low // width) * width
    return {"cuts": ", ".join(str(start + width * step) for step in range(int((high - start) // width) + 2))}


def _read(typed: Mapping[str, Any]) -> dict[str, Any]:
    return {"cuts": [typed_numbers(line) for line in str(typed["cuts"]).splitlines() if line.strip()]}


DESCRIPTOR = KindDescriptor(
    name="cuts",
    title="ranges between cuts",
    help="lists of ascending points, finest first; each list a part of the one before, with the same ends",
    example="`[[0, 20, 30, 40], [0, 20, 40]]`: 25 → 20-29 → 20-39 → *",
    order=40,
    check=_check,
    build=_build,
    as_numbers=True,
    height=lambda spec: len(spec.cuts) + 1,
    could_be_node=_could_be_node,
    beside=("top", "bottom"),
    steps=lambda spec: ["ranges"] * len(spec.cuts),
    node_names="intervals are named like 30-39, or [30, 40) where numbers have fractions",
    rule=HierarchyRule(
        choice="cuts: numbers between points that you choose",
        fields=(
            Field(
                "cuts",
                "Points between which numbers fall",
                "one list per line, the finest first; every list starts and ends at the same points",
                lines=True,
            ),
        ),
        begin=_begin,
        read=_read,
        typed=lambda spec: {"cuts": "\n".join(", ".join(map(number_label, points)) for points in spec.cuts)},
    ),
)

"""Numbers in bands of growing width."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.plan.hierarchy import builders
from hedgerow.plan.hierarchy.kind import Field, HierarchyRule, KindDescriptor, ends_of, round_width, typed_numbers
from hedgerow.plan.hierarchy.numbers import Number, number_label, parse_half_open, parse_number


def _check(spec: Any, folder: Path) -> None:
    builders.check_bands(spec.bands, _ends(spec))


def _build(spec: Any, labels: Sequence[str]) -> builders.Built:
    return builders.bands(labels, spec.bands, _ends(spec))


def _ends(spec: Any) -> builders.OpenEnds:
    return builders.OpenEnds(spec.top, spec.bottom)


def _could_be_node(spec: Any, name: str) -> bool:
    if _ends(spec).have(name):
        return True
    ends = parse_half_open(name)
    if parse_number(name) is not None or ends is None:
        return parse_number(name) is not None
    bands = [builders.band_of(ends[0], width) for width in spec.bands]
    return any(ends == _ends(spec).within(*band, whole) for band in bands for whole in (True, False))


def _begin(numbers: Sequence[Number], longest: int) -> dict[str, Any]:
    low, high = ends_of(numbers)
    width = round_width(high - low)
    return {"bands": f"{width}, {2 * width}, {4 * width}"}


DESCRIPTOR = KindDescriptor(
    name="bands",
    title="bands",
    help="widths above 0, each a multiple of the one before",
    example="`[5, 10, 20]`: 37 → 35-39 → 30-39 → 20-39 → *; with `top: 90` beside it, 97 → 90+ → *",
    order=30,
    check=_check,
    build=_build,
    as_numbers=True,
    height=lambda spec: len(spec.bands) + 1,
    could_be_node=_could_be_node,
    node_names="intervals are named like 30-39, or [30, 40) where numbers have fractions",
    beside=("top", "bottom"),
    shows_steps=True,
    steps=lambda spec: [f"bands of {number_label(width)}" for width in spec.bands],
    rule=HierarchyRule(
        choice="bands: numbers in bands of growing width",
        fields=(Field("bands", "Widths, narrow to wide", "each a multiple of the one before: 5, 10, 20"),),
        begin=_begin,
        read=lambda typed: {"bands": typed_numbers(typed["bands"])},
        typed=lambda spec: {"bands": ", ".join(map(number_label, spec.bands))},
    ),
)

"""Text cut after its first characters: zip codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import PlanError, Problem
from hedgerow.plan.hierarchy import builders
from hedgerow.plan.hierarchy.kind import Field, HierarchyRule, KindDescriptor, typed_numbers
from hedgerow.plan.hierarchy.numbers import Number


def _check(spec: Any, folder: Path) -> None:
    builders.check_prefixes(spec.prefix)


def _build(spec: Any, labels: Sequence[str]) -> builders.Built:
    return builders.prefixes(labels, spec.prefix, spec.length)


def _could_be_node(spec: Any, name: str) -> bool:
    stem = name.rstrip("*")
    length = spec.length or max(len(name), *spec.prefix)
    return 0 < len(name) <= length and (stem == name or (len(name) == length and len(stem) <= max(spec.prefix)))


def _settled(spec: Any, longest: int) -> Any:
    """Fill in the length of a full value."""
    return spec if spec.length is not None else spec.model_copy(update={"length": longest})


def _steps(spec: Any) -> list[str]:
    kept = [count for count in spec.prefix if count and (spec.length is None or count < spec.length)]
    return ["the first character" if count == 1 else f"the first {count} characters" for count in kept]


def _begin(numbers: Sequence[Number], longest: int) -> dict[str, Any]:
    kept = sorted({max(longest, 2) - 1, max(longest, 2) // 2}, reverse=True)
    return {"prefix": ", ".join(map(str, kept)), "length": ""}


def _read(typed: Mapping[str, Any]) -> dict[str, Any]:
    kept, length = [int(number) for number in typed_numbers(typed["prefix"])], typed_numbers(typed.get("length"))
    if len(length) > 1 or any(number < 1 or number != int(number) for number in length):
        message = "A full value has so many characters: one whole number of 1 or more."
        raise PlanError(Problem("wrong-value", message, hint="leave it empty for those of the longest value there is"))
    return {"prefix": kept} | ({"length": int(length[0])} if length else {})


def _typed(spec: Any) -> dict[str, Any]:
    return {"prefix": ", ".join(map(str, spec.prefix)), "length": "" if spec.length is None else str(spec.length)}


DESCRIPTOR = KindDescriptor(
    name="prefix",
    title="shorter codes",
    help="characters kept, falling; `0` may stand last",
    example="`[3, 2]`: 67202 → 672** → 67*** → *",
    order=50,
    check=_check,
    build=_build,
    beside=("length",),
    of_numbers=False,
    folded=True,
    could_be_node=_could_be_node,
    node_names="nodes are named like 431**, with as many characters as a full value",
    settled=_settled,
    shows_steps=True,
    steps=_steps,
    rule=HierarchyRule(
        choice="prefixes: the first characters, such as of zip codes",
        fields=(
            Field("prefix", "Characters kept at each level", "falling: 4, 2"),
            Field("length", "Characters of a full value", "if empty, as many as the longest value has"),
        ),
        begin=_begin,
        read=_read,
        typed=_typed,
    ),
)

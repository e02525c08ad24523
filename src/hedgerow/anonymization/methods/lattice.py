"""The lattice: one level for each column, the best node of all; searched by :mod:`hedgerow.anonymization.lattice`."""

from __future__ import annotations

from typing import Any

from hedgerow.plan.concepts import MethodDescriptor, Variant


def _by_value(search: str) -> dict[str, Any]:
    return {"objective": "research-value", "search": search}


DESCRIPTOR = MethodDescriptor(
    name="lattice",
    title="lattice",
    help="one level for each column, the best of all",
    order=30,
    variants=(
        Variant("lattice", "One level for each column, the best of all"),
        Variant("exact", "One level for each column, of most research value", _by_value("exact"), usual=True),
        Variant("global", "Research value, halving the list of all nodes by value", _by_value("global")),
        Variant("local", "Research value, from node to neighbouring node", _by_value("local")),
        Variant("hybrid", "Research value, from node to node, then halving the list", _by_value("hybrid")),
        Variant("divided", "Research value, block by block", _by_value("divided")),
    ),
    options=frozenset({"objective", "search", "block", "levels"}),
    objectives=("loss", "ncp", "granularity", "entropy", "discernibility", "group-size", "research-value"),
)

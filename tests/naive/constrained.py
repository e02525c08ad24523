"""GreedyCKA: withhold OUT, cluster inside every other cell (Miller, Campan and Truta 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .attributes import Attribute, FreeAttribute, Record
from .cells import cells, is_large_enough
from .costs import Costs
from .k_member import canonical_order, greedy_k_member
from .widths import width_runs


@dataclass(frozen=True)
class Clustering:
    """Groups and withheld records, as positions in the canonical order of the whole table."""

    groups: tuple[tuple[int, ...], ...]
    withheld: tuple[int, ...]


def greedy_cka(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    k: int,
    seed: int,
    persons: Sequence[int] | None = None,
) -> Clustering:
    """Greedy k-member clustering inside every cell of k records (persons), with the same seed in each.

    Cells come in order of first appearance in the canonical order, members of a group in the order they
    joined. If a free attribute has a greatest width, each cell is first cut into runs (``widths``), left to
    right, and every run is clustered like a cell; what no run covers is withheld.
    """
    order = canonical_order(records, persons)
    table = [records[i] for i in order]
    who = None if persons is None else [persons[i] for i in order]
    costs = Costs(attributes)
    groups: list[tuple[int, ...]] = []
    for cell in cells(attributes, table):
        if not is_large_enough(cell, k, who):
            continue
        for part in parts_within_width(attributes, table, cell, k, who):
            inside = None if who is None else [who[position] for position in part]
            found = greedy_k_member([table[position] for position in part], costs, k, seed, inside)
            groups += [tuple(part[i] for i in group) for group in found]
    released = {position for group in groups for position in group}
    return Clustering(tuple(groups), tuple(p for p in range(len(table)) if p not in released))


def parts_within_width(
    attributes: Sequence[Attribute],
    table: Sequence[Record],
    cell: Sequence[int],
    k: int,
    persons: Sequence[int] | None,
) -> list[list[int]]:
    """The cell itself, or its runs if a free attribute has a greatest width; each in canonical order.

    Records are sorted by value; equal values stay in canonical order.
    """
    limited = [
        (place, attribute.values, attribute.width)
        for place, attribute in enumerate(attributes)
        if isinstance(attribute, FreeAttribute) and attribute.width is not None
    ]
    if not limited:
        return [list(cell)]
    if len(limited) > 1 or persons is not None:
        raise ValueError("a greatest width is defined here for one attribute, and without persons.")
    ((place, numbers, width),) = limited
    by_value = sorted(cell, key=lambda position: table[position][place])
    values = [numbers[table[position][place]] for position in by_value]
    return [sorted(by_value[i] for i in run) for run in width_runs(values, k, width)]

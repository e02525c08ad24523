"""Tables on which a longer search for less loss must not lose more, and what each block loses after each search."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from hedgerow.anonymization.clustering import Cells, Objective
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.anonymization.clustering.layout import are_small
from hedgerow.anonymization.solving import cells_of, clustering_of
from hedgerow.errors import NoSolution
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, Improve, IntArray

EFFORTS: tuple[Improve, ...] = get_args(Improve)
MODELS: tuple[dict[str, Any], ...] = (
    {"p": 2},
    {"p": 3},
    {"l": 2},
    {"l": {"entropy": "1.6"}},
    {"l": {"recursive": [2, 2]}},
    {"t": {"at_most": "0.4", "distance": "equal"}},
    {"t": {"at_most": "0.4", "distance": "ordered"}},
    {"t": {"at_most": "0.4", "distance": "hierarchical"}},
    {"alpha": "0.6"},
)
METHODS = ("cluster",) * 6 + ("partition", "utility", "bottom-up")
ILLS = {"*": {"A": ["v0", "v1"], "B": {"C": ["v2", "v3"], "v4": None}}}


@dataclass(frozen=True)
class Searched:
    """A table with its plan, of which the method's ``improve`` is left open."""

    columns: dict[str, list[Any]]
    plan: dict[str, Any]

    def encoded(self) -> tuple[Microdata, Plan]:
        """Encode the table."""
        plan = Plan.from_dict(self.plan)
        return encode_table(read_table(pa.table(self.columns), plan), plan), plan


def draw_table(draw: random.Random, records: int | None = None) -> Searched:
    """Draw a table and a plan; half of them have blocks of fewer than 4k records, unless the records are given."""
    k = draw.randint(2, 6)
    small = records is None and draw.random() < 0.5
    blocks = draw.randint(1, 12) if small else draw.choice([1, 1, 2, 5])
    sizes = [draw.randint(k, 4 * k - 1) for _ in range(blocks)]
    if not small:
        total = records or draw.choice([40, 80, 150, 300, 500])
        sizes = [max(k, total // blocks)] * blocks
    n = sum(sizes)
    persons = draw.random() < 0.2
    columns: dict[str, list[Any]] = {"block": [f"b{i}" for i, size in enumerate(sizes) for _ in range(size)]}
    attributes: dict[str, Any] = {"block": {"role": "quasi-identifier", "limit": {"level": 0}}}
    widths = 0 if persons else 1
    for i in range(draw.randint(1, 5)):
        asked, columns[f"c{i}"] = _column(draw, n, widths)
        attributes[f"c{i}"] = asked
        widths -= "width" in asked.get("limit", {})
    plan: dict[str, Any] = {"attributes": attributes, "privacy": {"k": k}, "seed": draw.randint(0, 9)}
    method: dict[str, Any] = {"name": draw.choice(METHODS)}
    if method["name"] == "cluster":
        method["objective"] = draw.choice(["loss", "ncp", "granularity", "research-value"])
    plan["method"] = method
    if persons:
        plan["person"] = "who"
        columns["who"] = [f"w{draw.randrange(max(k, n * 2 // 3))}" for _ in range(n)]
    if draw.random() < 0.5:
        attributes["ill"] = {"role": "sensitive", "hierarchy": {"tree": ILLS}}
        columns["ill"] = draw.choices(["v0", "v1", "v2", "v3", "v4"], [5, 4, 3, 2, 1], k=n)
        model = draw.choice(MODELS)
        plan["privacy"] |= {**model, "k": max(k, model.get("p", 0))}
    order = draw.sample(range(n), n)
    return Searched({name: [cells[at] for at in order] for name, cells in columns.items()}, plan)


def _column(draw: random.Random, n: int, widths: int) -> tuple[dict[str, Any], list[Any]]:
    """Draw a quasi-identifier and its cells."""
    asked: dict[str, Any] = {"role": "quasi-identifier", "weight": draw.choice([1, 1, 2, "0.5"])}
    kind = draw.choice(["tree", "tree", "free", "bands", "flat"])
    if kind == "tree":
        tree = {"*": {f"g{g}": {f"h{g}{h}": [f"v{g}{h}{v}" for v in range(3)] for h in range(2)} for g in range(3)}}
        asked["hierarchy"] = {"tree": tree}
        leaves = [f"v{g}{h}{v}" for g in range(3) for h in range(2) for v in range(3)]
        return asked, draw.choices(leaves, [draw.random() for _ in leaves], k=n)
    if kind == "flat":
        return asked, draw.choices("abcdef", [8, 4, 3, 2, 1, 1], k=n)
    most = draw.choice([9, 40, 1000])
    cells = [min(most, int(draw.expovariate(3 / most))) for _ in range(n)]
    if kind == "bands":
        return {**asked, "hierarchy": {"bands": [5, 10, 50]}}, cells
    if widths > 0 and draw.random() < 0.3:
        asked["limit"] = {"width": most // 2}
    return {**asked, "intervals": "free"}, cells


def losses(case: Searched, efforts: tuple[Improve, ...] = EFFORTS) -> tuple[list[IntArray], BoolArray]:
    """What every block loses by every effort, in exact whole numbers, and which blocks are small.

    Nothing is returned if the plan has no solution. Raises AssertionError where a group does not hold.
    """
    microdata, plan = case.encoded()
    try:
        cells = cells_of(microdata, plan)
    except NoSolution:
        return [], np.zeros(0, bool)
    requirement = Requirement.of_plan(plan, microdata)
    found = []
    for effort in efforts:
        asked = Plan.from_dict({**case.plan, "method": {**case.plan["method"], "improve": effort}})
        groups = clustering_of(microdata, asked, requirement, 1)(microdata, cells=cells, progress=None)
        assert not requirement.fails(microdata, groups.group_of, groups.groups).any()
        found.append(block_losses(microdata, cells, groups, Objective.of_plan(microdata, asked)))
    profiles = np.unique(np.stack([cells.cell_of, microdata.profile_of_unit]), axis=1)[0]
    return found, are_small(cells.records, np.bincount(profiles, minlength=len(cells.records)))


def block_losses(microdata: Microdata, cells: Cells, groups: Recoding, objective: Objective) -> IntArray:
    """What every block loses, group by group; one that is withheld loses nothing."""
    costs = cost_tables(microdata, objective)
    order = list(microdata.index_order)
    lost = groups.sizes * costs.of_boxes(*costs.ends(groups.lo[:, order], groups.hi[:, order]))
    block = np.zeros(groups.groups, np.int64)
    inside = groups.group_of >= 0
    block[groups.group_of[inside]] = cells.cell_of[inside]
    total = np.zeros(len(cells.people), np.int64)
    np.add.at(total, block, lost)
    return total


def check_never_worse(case: Searched, efforts: tuple[Improve, ...] = EFFORTS) -> int:
    """Every effort loses at most what the one before it does, in every small block; returns how many blocks there are.

    In larger ones this is not so by construction, but on the whole of a table it is.
    """
    found, small = losses(case, efforts)
    for effort, less, more in zip(efforts, found, found[1:], strict=False):
        assert (more[small] <= less[small]).all(), f"more loss than by {effort!r}"
        assert more.sum() <= less.sum(), f"more loss than by {effort!r} on the whole"
    return len(small)

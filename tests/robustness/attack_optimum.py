"""Solve small blocks of tables of all kinds, and look for one that trying all groupings solves better.

The best grouping of a whole table must not lose less than the prices of a certificate say that any does.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np

from hedgerow.anonymization.bounding.certificate import ascents_of, blocks_of_profiles
from hedgerow.anonymization.clustering import Objective
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.anonymization.clustering.exact import solve_blocks
from hedgerow.anonymization.solving import cells_of, clustering_of
from hedgerow.errors import NoSolution
from hedgerow.privacy import Requirement
from tests.cases.searched import Searched, draw_table
from tests.naive.exact import Group, least_loss
from tests.robustness.campaign import Campaign

TABLES = 12  # in a batch
RECORDS = (6, 22)
MOST = 10  # records of a block whose groupings are all tried
LOOKS = 10_000_000


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Try some small tables, of one block or a few."""
    tried = Counter[str]()
    for _ in range(TABLES):
        case = draw_table(draw, draw.randint(*RECORDS))
        (folder / "case.json").write_text(json.dumps({"plan": case.plan, "columns": case.columns}))
        tried += check_best(case)
    return tried


def check_best(case: Searched) -> Counter[str]:
    """Hold every small block to the best of all its groupings, and a table of such blocks to its certificate."""
    microdata, plan = case.encoded()
    try:
        cells = cells_of(microdata, plan)
    except NoSolution:
        return Counter({"tables without a solution": 1})
    requirement, objective = Requirement.of_plan(plan, microdata), Objective.of_plan(microdata, plan)
    groups = clustering_of(microdata, plan, requirement, 1)(microdata, cells=cells, progress=None)
    found = solve_blocks(microdata, cells, requirement, objective, LOOKS, groups)
    costs, codes = cost_tables(microdata, objective), microdata.profiles[microdata.profile_of_unit]

    def may(group: Group) -> bool:
        group_of = np.full(len(microdata.profile_of_unit), -1)
        group_of[list(group)] = 0
        return not requirement.fails(microdata, group_of, 1)[0]

    def cost(group: Group) -> int:
        inside = codes[list(group)]
        return int(costs.of_boxes(*costs.ends(inside.min(axis=0)[None], inside.max(axis=0)[None]))[0])

    tried = Counter({"tables": 1})
    for i, cell in enumerate(found.cells.tolist()):
        units = np.flatnonzero((cells.cell_of == cell) & (groups.group_of >= 0))
        if 0 < len(units) <= MOST:
            assert found.proven[i], "a block that is this small must be solved"
            assert found.after[i] == least_loss(units.tolist(), may, cost), "not the loss of the best grouping"
            tried["blocks"] += 1
    if found.proven.all() and (found.group_of >= 0).all():
        paid = np.full(len(microdata.profiles), int(found.after.sum()) // len(microdata.profiles) + 1)
        ascents = ascents_of(microdata, plan, costs, blocks_of_profiles(microdata, plan), paid, 1)
        for ascent in ascents:
            ascent.run()
        assert sum(ascent.bound for ascent in ascents) <= found.after.sum(), "a bound above the best grouping there is"
        tried["certificates"] += 1
    return tried


CAMPAIGN = Campaign("optimum", "small blocks solved, and tables bounded", batch)

"""Search longer on tables of all kinds, and look for one that loses more by it."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from tests.cases.searched import EFFORTS, check_never_worse, draw_table
from tests.robustness.campaign import Campaign

TABLES = 20  # in a batch, and every other time one that is too large to be small
LARGE = (4_500, 8_000)  # records


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Try some tables with every effort; of a large one, the longest takes too long."""
    tried = Counter[str]()
    records = [*[None] * TABLES, *([draw.randint(*LARGE)] if draw.random() < 0.5 else [])]
    for many in records:
        case = draw_table(draw, many)
        (folder / "case.json").write_text(json.dumps({"plan": case.plan, "columns": case.columns}))
        blocks = check_never_worse(case, EFFORTS if many is None else EFFORTS[:3])
        tried["large tables" if many else "tables"] += 1
        tried["blocks"] += blocks
    return tried


CAMPAIGN = Campaign("search", "tables searched longer and longer", batch)

"""What a reader learns who knows the method and every quasi-identifier: ``python -m tests.robustness.minimality``.

The worst reader there is (Wong, Fu, Wang and Pei, *Minimality attack*, VLDB 2007): knows who is in the table, with all
quasi-identifiers, the plan and the program; only which sensitive value of a group is whose is not known. Such a reader
tries every way to deal the published values of each group out to its people, and strikes those on which the program
would have made another release. What is left says how sure the reader may be of a person's value. Without a method to
look through it would be the value's share of the group.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.anonymization.withholding import settle
from hedgerow.errors import NoSolution
from hedgerow.microdata import read_table
from hedgerow.plan import Plan

VALUES, CHANCES = ("flu", "cold", "rash", "gout"), (5, 3, 1, 1)
MOST_WORLDS = 150
METHODS: dict[str, Any] = {
    "cluster": {"name": "cluster"},
    "cluster, improve: quick": {"name": "cluster", "improve": "quick"},
    "partition": {"name": "partition"},
    "utility": {"name": "utility"},
    "bottom-up": {"name": "bottom-up"},
    "lattice": {"name": "lattice"},
    "lattice, research value": {"name": "lattice", "objective": "research-value"},
}
DEMANDS: dict[str, Any] = {
    "k alone": {},
    "p = 2": {"p": 2},
    "p = 3": {"p": 3},
    "entropy l = 1.8": {"l": {"entropy": 1.8}},
    "t = 0.35": {"t": 0.35},
    "alpha = 0.67": {"alpha": 0.67},
}
Groups = frozenset[frozenset[int]]


@dataclass(frozen=True)
class Learned:
    """How sure a reader is of each person's likeliest value: by the shares of the group, and by the method."""

    shares: tuple[float, ...]
    sure: tuple[float, ...]


def people(draw: random.Random, count: int) -> dict[str, list[str]]:
    """Draw a small table."""
    return {
        "age": [str(draw.randrange(20, 60)) for _ in range(count)],
        "sex": [draw.choice("FM") for _ in range(count)],
        "ill": draw.choices(VALUES, CHANCES, k=count),
    }


def plan_of(method: Any, demands: Any, k: int) -> Plan:
    """Ask for k, and more, by a method."""
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}}
    return Plan.from_dict(
        {
            "attributes": {"age": age, "sex": "quasi-identifier", "ill": "sensitive"},
            "privacy": {"k": k, **demands},
            "method": method,
        }
    ).settled()


def groups_of(table: dict[str, list[str]], plan: Plan) -> Groups | None:
    """Release a table, and return who is in which group; None if not everybody is released."""
    try:
        made = settle(read_table(pa.table(table), plan), plan, threads=1)
    except NoSolution:
        return None
    if len(made.microdata.unknown):
        return None
    found = defaultdict(set)
    for record, group in zip(made.microdata.record_of.tolist(), made.solution.recoding.group_of.tolist(), strict=True):
        found[group].add(record)
    return frozenset(map(frozenset, found.values()))


def worlds(table: dict[str, list[str]], groups: Groups) -> Iterator[list[str]]:
    """Yield every way to deal the values of each group out to its people."""
    members = [sorted(group) for group in sorted(groups, key=min)]
    dealt = [sorted(set(itertools.permutations(table["ill"][one] for one in group))) for group in members]
    for choice in itertools.product(*dealt):
        values = list(table["ill"])
        for group, cells in zip(members, choice, strict=True):
            for person, cell in zip(group, cells, strict=True):
                values[person] = cell
        yield values


def look_through(table: dict[str, list[str]], plan: Plan) -> Learned | None:
    """Find out what the worst reader learns; None if there are too many worlds to try, or somebody is withheld."""
    groups = groups_of(table, plan)
    if groups is None:
        return None
    sizes = [Counter(table["ill"][one] for one in group) for group in groups]
    ways = math.prod(math.factorial(c.total()) // math.prod(map(math.factorial, c.values())) for c in sizes)
    if ways > MOST_WORLDS:
        return None
    left = [values for values in worlds(table, groups) if groups_of({**table, "ill": values}, plan) == groups]
    share = {person: max(c.values()) / c.total() for group, c in zip(groups, sizes, strict=True) for person in group}
    sure = {person: max(Counter(values[person] for values in left).values()) / len(left) for person in share}
    return Learned(tuple(share[one] for one in sorted(share)), tuple(sure[one] for one in sorted(sure)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.minimality", description=__doc__)
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--methods", default=";".join(METHODS), help="some of them, with ; between")
    parser.add_argument("--demands", default=";".join(DEMANDS), help="some of them, with ; between")
    asked = parser.parse_args()
    print(
        "| method | asked | tables | people surer | mean: by shares → by the method | certain: by shares → by the method |"
    )
    print("|---|---|---|---|---|---|")
    for method, demand in itertools.product(asked.methods.split(";"), asked.demands.split(";")):
        draw = random.Random(asked.seed)
        plan = plan_of(METHODS[method], DEMANDS[demand], asked.k)
        found: list[Learned] = []
        for _ in range(asked.tables * 4):
            learned = look_through(people(draw, asked.people), plan)
            found += [] if learned is None else [learned]
            if len(found) == asked.tables:
                break
        if not found:
            continue
        shares, sure = (np.concatenate([getattr(one, name) for one in found]) for name in ("shares", "sure"))
        certain = [f"{(part > 1 - 1e-9).mean():.1%}" for part in (shares, sure)]
        surer = (sure > shares + 1e-9).mean()
        print(
            f"| {method} | {demand} | {len(found)} | {surer:.1%} | {shares.mean():.3f} → {sure.mean():.3f} |"
            f" {certain[0]} → {certain[1]} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

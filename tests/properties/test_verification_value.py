"""Missing cells that match anything, rules and overlaps: what the check says is what a plain look at the rows says."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.plan import Plan
from hedgerow.verification import Verification, verify_release
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.counting.matching import Matches
from tests.cases.stated import exact_ends, facts_of

few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
many = settings(max_examples=165, deadline=None)

Cell = str | None
Row = tuple[Cell, ...]


def match(one: Row, other: Row) -> bool:
    """A missing cell matches anything."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def matching(rows: Sequence[Row]) -> list[list[int]]:
    """For every row, the rows that it matches: by looking at all of them."""
    return [[i for i, other in enumerate(rows) if match(row, other)] for row in rows]


# -- counting ------------------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[Cell]]:
    """Rows of a few columns with missing cells, and a sensitive value for each."""
    width = draw(st.integers(1, 10))
    cell = st.sampled_from(draw(st.sampled_from([["a", None], ["a", "b", None], ["a", "b", "c", "d", None, None]])))
    rows = draw(st.lists(st.tuples(*[cell] * width), min_size=1, max_size=25))
    values = draw(st.lists(st.sampled_from(["x", "y", "z", "w", None]), min_size=len(rows), max_size=len(rows)))
    return rows, values


@many
@given(tables(), st.integers(1, 6))
def test_matches_are_counted_as_defined(table: tuple[list[Row], list[Cell]], asked: int) -> None:
    rows, values = table
    groups = list(dict.fromkeys(rows))
    labels: dict[str, int] = {}
    codes = [[-1 if cell is None else labels.setdefault(cell, len(labels)) for cell in group] for group in groups]
    matches = Matches(np.array(codes, np.int64), np.array([rows.count(group) for group in groups]))
    group_of = np.array([groups.index(row) for row in rows])
    known = sorted({value for value in values if value is not None})
    value_codes = np.array([-1 if value is None else known.index(value) for value in values])
    histograms = Histograms.of(group_of, value_codes, len(groups), len(known))
    sets = matching(rows)
    sizes = [len(found) for found in sets]
    distinct = [len({values[i] for i in found} - {None}) for found in sets]
    first = [rows.index(group) for group in groups]

    assert matches.fewest_rows(asked) == min(sizes)
    assert matches.fewest_values(histograms, asked) == min(distinct)
    assert np.minimum(matches.rows(asked), asked).tolist() == [min(sizes[i], asked) for i in first]
    counted = np.minimum(matches.values(histograms, asked), asked)
    assert counted.tolist() == [min(distinct[i], asked) for i in first]


# -- whole releases ------------------------------------------------------------------------------------------------------

TREE = {"any": {"odd": ["1", "3"], "even": {"small": ["2", "4"], "large": ["6", "8"]}}}
LEAVES: dict[str, set[str]] = {
    "any": {"1", "3", "2", "4", "6", "8"},
    "odd": {"1", "3"},
    "even": {"2", "4", "6", "8"},
    "small": {"2", "4"},
    "large": {"6", "8"},
} | {leaf: {leaf} for leaf in "132468"}
RANGES = ["1", "2", "3", "1-2", "2-3", "1-3", "3-5", "4-6", "2-5"]


@dataclass
class Made:
    """A release of a tree, a column of free intervals and a flat one, with cells made missing at random."""

    original: list[Row]
    published: list[Row]
    k: int
    p: int
    plan: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        qi = {"role": "quasi-identifier"}
        self.plan = {
            "attributes": {
                "node": qi | {"hierarchy": {"tree": TREE}},
                "range": qi | {"intervals": "free"},
                "flat": qi,
                "value": "sensitive",
            },
            "privacy": {"k": self.k, "p": self.p},
            "method": {"name": "utility", "suppress": True, "overlap": "forbidden"},
            "missing": "matches-any",
            "rules": [
                {"attribute": "node", "keep_apart": ["small", "6"], "importance": 3},
                {"attribute": "node", "keep_apart": ["1", "3"]},
                {"attribute": "range", "keep_apart": ["2", "3"]},
            ],
        }
        sizes = Counter(self.cells)
        self.facts = {
            "records": len(self.original),
            "released": len(self.published),
            "withheld": 0,
            "groups": len(sizes),
            "smallest_group": min(map(len, matching(self.cells))),
            "largest_group": max(sizes.values()),
            "limits_broken": 0,
            "suppressed_cells": {
                name: sum(
                    before[i] is not None and after[i] is None
                    for before, after in zip(self.original, self.published, strict=True)
                )
                for i, name in enumerate(["node", "range", "flat"])
            },
            "rules": [
                {"name": name, "attribute": name.split(":")[0], "importance": importance, "kept": not n, "groups_breaking": n}
                for name, importance, n in zip(
                    ["node: small | 6", "node: 1 | 3", "range: 2 | 3"], [3, 1, 1], self.groups_breaking(), strict=True
                )
            ],
        }  # fmt: skip

    @property
    def cells(self) -> list[Row]:
        return [row[:-1] for row in self.published]

    def groups_breaking(self) -> list[int]:
        groups = set(self.cells)
        nodes = [LEAVES[group[0]] for group in groups if group[0] is not None]
        spans = [set(numbers(group[1])) for group in groups if group[1] is not None]
        return [
            sum(bool(node & {"2", "4"} and "6" in node) for node in nodes),
            sum({"1", "3"} <= node for node in nodes),
            sum({2, 3} <= span for span in spans),
        ]

    def holds(self) -> dict[str, bool]:
        """What is kept, by a plain look at the rows."""
        sets = matching(self.cells)
        nodes = [LEAVES[label] for label in {row[0] for row in self.published} if label is not None]
        spans = [set(numbers(label)) for label in {row[1] for row in self.published} if label is not None]
        labels = {row[2] for row in self.published} - {None}
        flat = [labels if label == "*" else {label} for label in labels]
        shown: list[list[set[Any]]] = [list(nodes), list(spans), list(flat)]
        return {
            "k": min(map(len, sets)) >= self.k,
            "p": min(len({self.published[i][-1] for i in found} - {None}) for found in sets) >= self.p,
            "overlap": all(not a & b for sets_shown in shown for a, b in combinations(sets_shown, 2)),
        }

    def verify(self, original: bool = True, link: bool = True) -> Verification:
        names = [*self.plan["attributes"]]
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            lines = [",".join(cell or "" for cell in row) for row in [names, *self.published]]
            (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (folder / "plan.yaml").write_text(Plan.from_dict(self.plan).to_yaml(), encoding="utf-8")
            plan = Plan.from_dict(self.plan)
            behind = [(before[1], after[1]) for before, after in zip(self.original, self.published, strict=True)]
            given = {"exact_end_points": exact_ends(plan, {"range": behind})} | self.facts
            facts = facts_of(plan, names, self.published, len(self.original), given)
            (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
            columns = [pa.array(column, pa.string()) for column in zip(*self.original, strict=True)]
            links = list(range(1, len(self.original) + 1))
            source = pa.table(columns, names=names) if original else None
            return verify_release(folder, source, (links, links) if original and link else None)


def numbers(label: str) -> range:
    low, _, high = label.partition("-")
    return range(int(low), int(high or low) + 1)


@st.composite
def releases(draw: st.DrawFn) -> Made:
    k = draw(st.integers(2, 3))
    made: list[tuple[Row, Row]] = []
    for _ in range(draw(st.integers(1, 4))):
        node = draw(st.sampled_from(sorted(LEAVES)))
        span = draw(st.sampled_from(RANGES))
        flat = draw(st.sampled_from(["F", "M", "*"]))
        for _ in range(draw(st.integers(k - 1, k + 1))):
            value = draw(st.sampled_from(["x", "y", None]))
            before: list[Cell] = [
                draw(st.sampled_from(sorted(LEAVES[node]))),
                str(draw(st.sampled_from(numbers(span)))),
                draw(st.sampled_from(["F", "M"])) if flat == "*" else flat,
            ]
            after: list[Cell] = [node, span, flat]
            for i in range(3):
                lost = draw(st.sampled_from(["", "", "", "", "suppressed", "missing"]))
                if lost:
                    after[i] = None
                if lost == "missing":
                    before[i] = None
            made.append(((*before, value), (*after, value)))
    return Made([one for one, _ in made], [other for _, other in made], k, draw(st.integers(1, 2)))


@few
@given(releases())
def test_releases_with_suppressed_cells_are_judged_as_defined(made: Made) -> None:
    holds = made.holds()
    for found in (made.verify(), made.verify(link=False), made.verify(original=False)):
        kept = {promise.name: promise.kept for promise in found}
        expected = dict.fromkeys(kept, True) | {name: holds[name] for name in holds if name in kept}
        assert kept == expected, found
        assert ("p" in kept) == (made.p > 1)


@few
@given(releases(), st.data())
def test_a_wrong_fact_is_refused(made: Made, data: st.DataObject) -> None:
    part = data.draw(st.sampled_from(["smallest_group", "suppressed_cells", "rules"]))
    if part == "smallest_group":
        made.facts[part] += data.draw(st.sampled_from([-1, 1]))
        broken = "counts"
    elif part == "suppressed_cells":
        made.facts[part][data.draw(st.sampled_from(["node", "range", "flat"]))] += 1
        broken = "suppressed"
    else:
        rule = data.draw(st.sampled_from(made.facts["rules"]))
        rule["groups_breaking"] += 1
        rule["kept"] = False
        broken = "rules"
    found = made.verify()
    assert not found[broken].kept
    assert found["truthful"].kept


@few
@given(releases(), st.data())
def test_a_limit_forbids_suppression(made: Made, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["node", "flat"]))
    made.plan["attributes"][name]["limit"] = {"level": 0}
    made.plan["method"]["limits"] = "keep"
    lost = made.facts["suppressed_cells"][name]
    found = made.verify()
    assert found["suppressed"].kept == (lost == 0)
    assert found["truthful"].kept == (lost == 0)

"""The verifier against a naive one: random small tables, releases good and bad, agreement on every promise.

Tables are made in memory, many for one plan; what reads files and databases is attacked elsewhere.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import PlanError
from hedgerow.plan import Plan
from hedgerow.verification.check import conclude
from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.promises.agreement import said_by_plan
from hedgerow.verification.reading.link import Link
from hedgerow.verification.reading.original import Original
from hedgerow.verification.reading.published import Published
from hedgerow.verification.reading.stated import FACTS, read_facts
from tests.naive.verifier import KEPT, LENGTH, WIDTHS, Cell, Quasi, Release, Rule
from tests.robustness.campaign import Campaign

PLANS, TABLES = 3, 40
TREE = {"any": {"north": {"coast": ["a", "b"], "hills": ["c"]}, "south": {"plain": ["d", "e"]}}}
UNEVEN = {"top": {"left": {"low": ["s", "t"]}, "right": ["u", "v"], "w": None}}
WAYS = {
    "a": ("a", "coast", "north", "any"),
    "b": ("b", "coast", "north", "any"),
    "c": ("c", "hills", "north", "any"),
    "d": ("d", "plain", "south", "any"),
    "e": ("e", "plain", "south", "any"),
}
UNEVEN_WAYS = {
    "s": ("s", "low", "left", "top"),
    "t": ("t", "low", "left", "top"),
    "u": ("u", "right", "top"),
    "v": ("v", "right", "top"),
    "w": ("w", "top"),
}
VALUES: dict[str, list[str]] = {
    "tree": list(WAYS),
    "uneven": list(UNEVEN_WAYS),
    "bands": ["0", "3", "4", "5", "17", "19", "20", "33"],
    "free": ["1", "2", "3", "5", "7", "8", "12"],
    "prefix": ["43102", "43155", "4", "43", "51000", "510"],
    "flat": ["F", "M"],
}
STRANGE = ["x", "7-3", "30-40", "north", "0-4", "5-9", "2-7", "F", "43***", "*", "any", None, "a"]


def draw_column(rng: random.Random, name: str, method: str, suppress: bool) -> Quasi:
    kinds = ["tree", "uneven", "bands", "prefix", "flat"] + (["free", "free"] if method != "lattice" else [])
    kind = rng.choice(kinds)
    limited = rng.random() < 0.5
    may_suppress = suppress and not limited
    if kind == "free":
        snap = rng.choice([None, None, 1, 5])
        cuts = tuple(sorted(rng.sample([3, 5, 10], rng.randint(0, 1)))) if limited else ()
        width = rng.choice([4, 6, 9]) if limited and (not cuts or rng.random() < 0.5) else None
        return Quasi(name, "free", cuts=cuts, width=width, snap=snap, suppressible=may_suppress)
    tops = {"tree": 3, "uneven": 3, "bands": 3, "prefix": 3, "flat": 1}
    level = rng.randint(0, tops[kind]) if limited else None
    ways = {"tree": WAYS, "uneven": UNEVEN_WAYS}.get(kind, {})
    return Quasi(name, "tree" if ways else kind, ways, level, suppressible=may_suppress)


def attribute_of(column: Quasi) -> dict[str, Any]:
    made: dict[str, Any] = {"role": "quasi-identifier"}
    if column.kind == "tree":
        made["hierarchy"] = {"tree": TREE if column.ways is WAYS else UNEVEN}
    elif column.kind == "bands":
        made["hierarchy"] = {"bands": list(WIDTHS)}
    elif column.kind == "prefix":
        made["hierarchy"] = {"prefix": list(KEPT), "length": LENGTH}
    elif column.kind == "free":
        made["intervals"] = "free"
        if column.snap is not None:
            made["snap"] = column.snap
        if column.limited:
            made["limit"] = {"cuts": list(column.cuts)} if column.cuts else {}
            made["limit"] |= {} if column.width is None else {"width": column.width}
    if column.level is not None:
        made["limit"] = {"level": column.level}
    return made


def draw_plan(rng: random.Random) -> tuple[Plan, dict[str, Any]]:
    """Draw a plan, and what the naive verifier knows of it."""
    method = rng.choice(["cluster", "cluster", "lattice", "utility"])
    suppress = method == "utility" and rng.random() < 0.6
    matches_any = suppress or rng.random() < 0.25
    quasi = tuple(draw_column(rng, f"q{i}", method, suppress) for i in range(rng.randint(1, 3)))
    sensitive = tuple(f"s{i}" for i in range(rng.choice([0, 1, 1, 2])))
    others = ("o",) if rng.random() < 0.3 else ()
    models: dict[str, Any] = {}
    asked: dict[str, Any] = {}
    if sensitive and rng.random() < 0.7:
        model = rng.choice(["p", "distinct", "entropy", "recursive", "alpha", "t"])
        models[model] = {
            "p": 2,
            "distinct": rng.choice([2, 3]),
            "entropy": rng.choice([1.5, 2]),
            "recursive": rng.choice([("0.5", 1), ("1.5", 2), ("2", 2)]),
            "alpha": rng.choice(["0.4", "0.5", "0.75"]),
            "t": rng.choice(["0.1", "0.25", "0.4"]),
        }[model]
        forms = {
            "distinct": lambda x: x,
            "entropy": lambda x: {"entropy": x},
            "recursive": lambda x: {"recursive": list(x)},
        }
        asked = {"l": forms[model](models[model])} if model in forms else {model: models[model]}
    k = rng.choice([2, 2, 3])
    limits = rng.choice(["keep", "keep", "ignore"] + (["whole-levels"] if method == "lattice" else []))
    forbid = method == "utility" and rng.random() < 0.4
    rules = draw_rules(rng, quasi)
    at_most = rng.choice([None, None, 3])
    plan: dict[str, Any] = {
        "data": {"delimiter": ","},
        "attributes": {
            **{column.name: attribute_of(column) for column in quasi},
            **dict.fromkeys(sensitive, "sensitive"),
            **dict.fromkeys(others, "other"),
        },
        "privacy": {"k": k, **asked},
        "method": {"name": method, "limits": limits}
        | ({"suppress": True} if suppress else {})
        | ({"overlap": "forbidden"} if forbid else {}),
        "rules": [
            {"name": rule.title, "attribute": rule.attribute, "keep_apart": [rule.low, rule.high], "importance": rule.importance}
            for rule in rules
        ],
    }  # fmt: skip
    if matches_any:
        plan["missing"] = "matches-any"
    if at_most is not None:
        plan["withhold"] = at_most
    try:
        made = Plan.from_dict(plan)
    except PlanError:  # parts that do not go together
        return draw_plan(rng)
    due = tuple(fact.name for fact in FACTS if fact.due(made) and not fact.optional)
    known = {
        "quasi": quasi,
        "sensitive": sensitive,
        "others": others,
        "k": k,
        "models": models,
        "method": "utility" if suppress else "lattice" if method == "lattice" else "cluster",
        "limits": limits,
        "matches_any": matches_any,
        "forbid_overlap": forbid,
        "at_most": at_most,
        "rules": rules,
        "said_by_plan": said_by_plan(made),
        "due": due,
    }
    return made, known


def draw_rules(rng: random.Random, quasi: tuple[Quasi, ...]) -> tuple[Rule, ...]:
    rules = []
    for column in quasi:
        if rng.random() < 0.25:
            pairs = {"bands": ("4", "5"), "free": ("3", "5"), "flat": ("F", "M"), "prefix": ("43102", "43155")}
            low, high = pairs.get(column.kind, ("a", "c") if column.ways is WAYS else ("s", "u"))
            rules.append(Rule(f"rule of {column.name}", column.name, low, high, rng.randint(1, 3)))
    return tuple(rules)


def values_of(column: Quasi) -> list[str]:
    return VALUES["uneven" if column.ways is UNEVEN_WAYS else column.kind]


def publish(column: Quasi, values: list[Cell], level: int, within: bool) -> list[Cell]:
    """Publish the values of a group alike, or each at a level."""
    if column.kind == "free":
        numbers = [int(value) for value in values if value is not None]
        if not numbers:
            return [None] * len(values)
        grid = column.snap or 1
        low, high = min(numbers) // grid * grid, max(numbers) // grid * grid + grid - 1
        return [None if value is None else str(low) if low == high else f"{low}-{high}" for value in values]
    if level >= 0:
        return [column.at_level(value, level, within) for value in values]
    ways = [column.way(value) for value in values]
    shared = next((label for label in ways[0] if all(label in way for way in ways)), column.root)
    return [shared] * len(values)


def draw_case(rng: random.Random, known: dict[str, Any]) -> Release:
    """Draw an original, a release of it that is mostly right, and facts that are mostly true."""
    quasi: tuple[Quasi, ...] = known["quasi"]
    others = len(known["sensitive"]) + len(known["others"])
    within = known["limits"] == "keep"
    levels = [rng.randint(0, 3) for _ in quasi]
    missing = 0.1 if rng.random() < 0.3 else 0.0

    def cell(values: list[str]) -> Cell:
        return None if rng.random() < missing else rng.choice(values)

    original: list[list[Cell]] = []
    rows: list[list[Cell]] = []
    link: list[int] = []
    few = [rng.sample(values_of(column), rng.randint(1, 2)) for column in quasi]
    for _ in range(rng.randint(0 if rng.random() < 0.05 else 1, 3)):
        size = rng.randint(max(known["k"] - (rng.random() < 0.1), 1), known["k"] + 2)
        values = [[cell(few[at]) for _ in range(size)] for at in range(len(quasi))]
        if rng.random() < 0.6:  # all alike
            values = [[column[0]] * size for column in values]
        tail = [[cell(["flu", "Flu", "cold", "gout"]) for _ in range(others)] for _ in range(size)]
        lattice = known["method"] == "lattice"
        labels = [publish(column, values[at], levels[at] if lattice else -1, within) for at, column in enumerate(quasi)]
        for i in range(size):
            link.append(len(original))
            original.append([column[i] for column in values] + tail[i])
            rows.append([column[i] for column in labels] + tail[i])
    for _ in range(rng.choice([0, 0, 1, 2])):  # withheld
        more = [cell(few[at]) for at in range(len(quasi))] + [cell(["flu", "cold"]) for _ in range(others)]
        original.insert(at := rng.randint(0, len(original)), more)
        link = [number + (number >= at) for number in link]
    order = rng.sample(range(len(rows)), len(rows))
    rows, link = [rows[i] for i in order], [link[i] for i in order]
    suppressed = dict.fromkeys((column.name for column in quasi), 0)
    for row, record in zip(rows, link, strict=True):
        for at, column in enumerate(quasi):
            if column.suppressible and rng.random() < 0.1:
                suppressed[column.name] += original[record][at] is not None
                row[at] = None
    base = {**known, "rows": rows, "original": original, "link": link, "facts": {}}
    facts = true_facts(Release(**base), known, levels, suppressed)
    damage(rng, quasi, rows, original, facts)
    facts = json.loads(json.dumps(facts))
    mode = rng.choice(["folder", "original", "link"])
    at_hand = {"original": None if mode == "folder" else original, "link": link if mode == "link" else None}
    return Release(**{**base, "facts": facts, **at_hand})


def true_facts(case: Release, known: dict[str, Any], levels: list[int], suppressed: dict[str, int]) -> dict[str, Any]:
    assert case.original is not None
    assert case.link is not None
    behind = [case.original[record] for record in case.link]
    breaks = {
        column.name: sum(column.breaks(record[at], row[at]) for row, record in zip(case.rows, behind, strict=True))
        for at, column in enumerate(case.quasi)
    }
    records, withheld = len(case.original), len(case.original) - len(case.rows)
    squares = sum(len(rows) ** 2 for rows in case.groups.values())
    free = [at for at, column in enumerate(case.quasi) if column.kind == "free"]
    names = [column.name for column in case.quasi]
    facts: dict[str, Any] = {
        "version": "0",
        **case.true_counts(),
        **case.said_by_plan,
        "records": records,
        "withheld": withheld,
        "limits_broken": sum(breaks.values()),
        "limits_broken_by_attribute": breaks,
        "limits_by_attribute": {},
        "most_loss": None,
        "discernibility": squares + records * withheld,
        "normalized_average_group_size": records / (len(case.groups) * case.k) if case.groups else None,
        "exact_end_points": {names[at]: case.exact_ends(at)[0] for at in free},
        "columns_not_released": [],
        "columns_not_in_plan": 0,
        "blocks": min(len(case.rows), 2),
        "levels": dict(zip(names, levels, strict=True)),
        "score": 0.5,
        "lattice": {},
        "rules": [],
        "suppressed_cells": suppressed,
        "least_rows_for_a_known_person": None,
    }  # fmt: skip
    for rule in case.rules:
        at = names.index(rule.attribute)
        breaking = sum(rule.broken_by(case.quasi[at], cells[at]) for cells in case.groups)
        facts["rules"].append(
            {"name": rule.title, "attribute": rule.attribute, "importance": rule.importance, "kept": breaking == 0, "groups_breaking": breaking}
        )  # fmt: skip
    for name in ("loss", "ntil", "ncp", "granularity", "entropy", "research_value", "mean_group_value"):
        facts[name] = 0.5
    for name in ("loss", "share_lost", "bits", "bits_lost", "research_value"):
        facts[f"{name}_by_attribute"] = dict.fromkeys(names, 0.5)
    return {name: facts[name] for name in case.due}


COUNTED = ["records", "released", "withheld", "groups", "smallest_group", "largest_group", "discernibility", "k",
           "limits_broken", "blocks", "seed"]  # fmt: skip
BY_NAME = ["group_sizes", "group_risk_sizes", "limits_broken_by_attribute", "exact_end_points",
           "suppressed_cells", "levels", "largest_share_of_one_value"]  # fmt: skip


def damage(
    rng: random.Random,
    quasi: tuple[Quasi, ...],
    rows: list[list[Cell]],
    original: list[list[Cell]],
    facts: dict[str, Any],
) -> None:
    """Change something, mostly: cells, rows, or facts."""
    for _ in range(rng.choice([0, 1, 1, 2])):
        what = rng.choice(
            ["label", "label", "label", "value", "swap", "record", "fact", "fact", "by name", "gone", "group"]
        )
        if what == "label" and rows:
            at = rng.randrange(len(quasi))
            labels = [label for value in values_of(quasi[at]) for label in quasi[at].way(value)]
            label = rng.choice([*STRANGE, *labels, *labels])
            one = rng.choice(rows)
            for row in [one] if rng.random() < 0.5 else [row for row in rows if row[at] == one[at]]:
                row[at] = label
        elif what == "group" and rows:  # a whole group gets the labels of another
            one, other = rng.choice(rows)[: len(quasi)], rng.choice(rows)[: len(quasi)]
            for row in rows:
                if row[: len(quasi)] == one:
                    row[: len(quasi)] = other
        elif what == "value" and rows and len(rows[0]) > len(quasi):
            rng.choice(rows)[rng.randrange(len(quasi), len(rows[0]))] = rng.choice(["flu", "cold", "new", None])
        elif what == "swap" and len(rows) > 1 and len(rows[0]) > len(quasi):
            at = rng.randrange(len(quasi), len(rows[0]))
            one, other = rng.sample(rows, 2)
            one[at], other[at] = other[at], one[at]
        elif what == "record" and original:
            record = rng.choice(original)
            at = rng.randrange(len(quasi))
            record[at] = rng.choice([*values_of(quasi[at]), None])
        elif what == "fact":
            name = rng.choice([name for name in COUNTED if name in facts])
            facts[name] = max(0, facts[name] + rng.choice([-1, 1, 2]))
        elif what == "by name":
            name = rng.choice([name for name in BY_NAME if name in facts])
            if facts[name]:
                key = rng.choice(list(facts[name]))
                facts[name][key] = max(0, facts[name][key] + rng.choice([-1, 1]))
        elif what == "gone":
            facts.pop(rng.choice(list(facts)))


def column(cells: list[Cell]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


def verify(case: Release, plan: Plan) -> dict[str, bool]:
    """Ask the verifier itself."""
    sound, faults = read_facts(case.facts, plan)
    names = plan.released_columns
    width = len(names)
    columns = {name: column([row[at] for row in case.rows]) for at, name in zip(range(width), names, strict=True)}
    kinds = dict.fromkeys(names, "text")
    published = Published(plan, sound, tuple(faults), names, columns, kinds, len(case.rows))
    original = link = None
    if case.original is not None:
        known = {name: column([row[at] for row in case.original]) for at, name in enumerate(names)}
        original = Original(known, kinds, len(case.original))
    if case.link is not None:
        link = Link(np.array(case.link, np.int64) + 1, np.arange(1, len(case.link) + 1))
    return {promise.name: promise.kept for promise in conclude(RowEvidence(published, original, link), "")}


def batch(rng: random.Random, folder: Path) -> Counter[str]:
    cases: Counter[str] = Counter()
    for _ in range(PLANS):
        plan, known = draw_plan(rng)
        for _ in range(TABLES):
            case = draw_case(rng, known)
            expected, found = case.judge(), verify(case, plan)
            if expected != found:
                names = {*expected, *found}
                both = {name: (expected.get(name), found.get(name)) for name in names}
                (folder / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
                (folder / "case.txt").write_text(repr(case), encoding="utf-8")
                raise AssertionError(
                    f"naive, verifier: { {name: two for name, two in both.items() if two[0] != two[1]} }"
                )
            cases["kept" if all(found.values()) else "broken"] += 1
    return cases


CAMPAIGN = Campaign("verifier", "tables on which both verifiers agree", batch)

"""A bound is never above the best there is, is what a plain evaluation gives, and the same for threads and rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.bounding.ascending import Ascent
from hedgerow.anonymization.bounding.certificate import ascents_of, blocks_of_profiles
from hedgerow.anonymization.bounding.solved import UNKNOWN, least_losses
from hedgerow.anonymization.clustering import Objective
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.types import IntArray
from tests.cases.records import Case, cases, naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, naive_demands
from tests.naive.attributes import Attribute, Record, generalize
from tests.naive.bounding import bound_at, breaks, least_loss
from tests.naive.improving import OBJECTIVES, partitions

OBJECTIVE = st.sampled_from(["loss", "ncp", "granularity"])


def plan_of(case: Case, objective: str, limits: bool = True, **more: Any) -> Plan:
    method = {"name": "cluster", "objective": objective, **({} if limits else {"limits": "ignore"})}
    raw: dict[str, Any] = {"attributes": case.attributes, "privacy": {"k": case.k}, "method": method, **more}
    return Plan.from_dict({**raw, **({} if case.persons is None else {"person": "who"})})


def encode(case: Case, plan: Plan, more: dict[str, Any]) -> Microdata:
    table = {**case.rows, **more, **({} if case.persons is None else {"who": case.persons})}
    return encode_table(read_table(pa.table(table), plan), plan)


def by_block(block_of: IntArray, microdata: Microdata) -> list[list[int]]:
    """Units by block."""
    of_unit = block_of[microdata.profile_of_unit]
    return [np.flatnonzero(of_unit == block).tolist() for block in range(int(of_unit.max(initial=-1)) + 1)]


def released(
    microdata: Microdata, plan: Plan, attributes: Sequence[Attribute], may: Any, share: Any
) -> tuple[Microdata, list[list[int]], int] | None:
    """Leave out the blocks that cannot be released; the others, and the least that they lose. None if none can."""
    kept, best = list[int](), 0
    for units in by_block(blocks_of_profiles(microdata, plan), microdata):
        least = least_loss(attributes, records_of(microdata), units, may, share)
        if least is not None:
            kept += units
            best += least
    if not kept:
        return None
    left = microdata.of_units(np.sort(np.array(kept, np.int64)))
    return left, by_block(blocks_of_profiles(left, plan), left), best


def records_of(microdata: Microdata) -> list[Record]:
    """Records by unit, for the naive code."""
    return [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]


def of_blocks(microdata: Microdata, plan: Plan, seconds: int) -> IntArray:
    """What every block loses at least, as far as that is known; without a second, no block is solved."""
    objective = Objective.of_plan(microdata, plan)
    costs, block_of = cost_tables(microdata, objective), blocks_of_profiles(microdata, plan)
    return least_losses(microdata, block_of, costs, objective, plan.privacy.k, seconds)


def stated(microdata: Microdata, plan: Plan, paid: IntArray) -> tuple[int, list[Ascent], IntArray]:
    """The bound in whole numbers, and the prices (by unit) at which it stands, UNKNOWN where none is needed."""
    costs = cost_tables(microdata, Objective.of_plan(microdata, plan))
    block_of = blocks_of_profiles(microdata, plan)
    alone = of_blocks(microdata, plan, seconds=0)
    ascents = ascents_of(microdata, plan, costs, np.where(alone[block_of] == UNKNOWN, block_of, -1), paid, seconds=1)
    price = np.full(len(microdata.profiles), UNKNOWN)
    for ascent in ascents:
        ascent.run()
        price[ascent.piece.profiles] = ascent.price
    return int(alone[alone != UNKNOWN].sum()), ascents, price[microdata.profile_of_unit]


def check_bound(
    microdata: Microdata, plan: Plan, attributes: Sequence[Attribute], blocks: list[list[int]], best: int, name: str
) -> int:
    """The stated bound is not above the best, nor above a plain evaluation at its own prices; returns it."""
    paid = np.full(len(microdata.profiles), best // len(microdata.profiles) + 1)
    alone, ascents, price = stated(microdata, plan, paid)
    bound = alone + sum(ascent.bound for ascent in ascents)
    assert bound <= best
    least = of_blocks(microdata, plan, seconds=1)
    assert least[least != UNKNOWN].sum() <= best
    searched = [units for units in blocks if price[units[0]] != UNKNOWN]
    share, k = OBJECTIVES[name], plan.privacy.k
    plainly = bound_at(attributes, records_of(microdata), searched, k, price.tolist(), share, once=True)
    assert bound - alone <= plainly <= best
    return bound


@given(data=st.data())
@settings(max_examples=60)
def test_never_above_the_best_there_is(data: st.DataObject) -> None:
    """Trees, free intervals, limits, widths, weights, persons; all groupings within the limits are tried."""
    case = data.draw(cases(persons=data.draw(st.booleans()), at_most=9))
    name, limits = data.draw(OBJECTIVE), data.draw(st.booleans())
    plan = plan_of(case, name, limits)
    microdata = encode(case, plan, {})
    attributes = naive_attributes(case, microdata, limits=limits)
    records = records_of(microdata)

    def may(group: Sequence[int]) -> bool:
        people = group if microdata.person_of is None else {int(microdata.person_of[unit]) for unit in group}
        box = generalize(attributes, [records[unit] for unit in group])
        return len(people) >= case.k and not breaks(attributes, records[group[0]], box)

    found = released(microdata, plan, attributes, may, OBJECTIVES[name])
    if found is not None:
        left, blocks, best = found
        check_bound(left, plan, attributes, blocks, best, name)


@given(data=st.data())
@settings(max_examples=30)
def test_small_blocks_are_known_exactly(data: st.DataObject) -> None:
    """With k alone the certificate of a small table is the least of all groupings, not only a bound."""
    case = data.draw(cases(widths=False, at_most=9))
    name = data.draw(OBJECTIVE)
    plan = plan_of(case, name)
    microdata = encode(case, plan, {})
    attributes = naive_attributes(case, microdata, limits=True)
    found = released(microdata, plan, attributes, lambda group: len(group) >= case.k, OBJECTIVES[name])
    if found is not None:
        left, _, best = found
        least = of_blocks(left, plan, seconds=1)
        assert (least != UNKNOWN).all()
        assert int(least.sum()) == best


@pytest.mark.parametrize("kind", ["p", "entropy", "recursive", "alpha", "equal", "mixed"])
@given(data=st.data())
@settings(max_examples=10)
def test_models_only_raise_the_best_there_is(kind: str, data: st.DataObject) -> None:
    given: Diverse = data.draw(diverse(kind, at_most=8))
    case, name = given.case, data.draw(OBJECTIVE)
    roles = {f"s{i}": "sensitive" for i in range(len(given.sensitive))}
    plan = plan_of(case, name).replace(attributes={**case.attributes, **roles}, privacy=given.privacy)
    more = {f"s{i}": pa.array(column, pa.string()) for i, column in enumerate(given.sensitive)}
    microdata = encode(case, plan, more)
    attributes = naive_attributes(case, microdata, limits=True)
    values, demands = codes_of(given), naive_demands(given, codes_of(given))

    def may(group: Sequence[int]) -> bool:
        return len(group) >= case.k and demands.hold([values[int(microdata.record_of[unit])] for unit in group])

    found = released(microdata, plan, attributes, may, OBJECTIVES[name])
    if found is not None:
        left, blocks, best = found
        check_bound(left, plan, attributes, blocks, best, name)


@given(data=st.data())
@settings(max_examples=25)
def test_is_what_a_plain_evaluation_gives(data: st.DataObject) -> None:
    """Where no box has more than 2k records, all are named in it, and nothing is lost by listing only some."""
    case = data.draw(cases(widths=False, at_most=8))
    case = replace(case, k=4)
    name = data.draw(OBJECTIVE)
    plan = plan_of(case, name)
    microdata = encode(case, plan, {})
    attributes = naive_attributes(case, microdata, limits=True)
    found = released(microdata, plan, attributes, lambda group: len(group) >= 4, OBJECTIVES[name])
    if found is not None:
        left, blocks, best = found
        _, ascents, price = stated(left, plan, np.full(len(left.profiles), best // len(left.profiles) + 1))
        searched = [units for units in blocks if price[units[0]] != UNKNOWN]
        bound = sum(ascent.bound for ascent in ascents)
        for once, compare in ((True, int.__le__), (False, int.__ge__)):
            plainly = bound_at(attributes, records_of(left), searched, 4, price.tolist(), OBJECTIVES[name], once)
            assert compare(bound, plainly)


# ---- what the naive attributes do not have: grids, missing values, rules, research value ---------------------------

MIXED: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
        "pay": {"role": "quasi-identifier", "intervals": "free", "snap": 10, "limit": {"width": 69}},
        "far": {"role": "quasi-identifier", "intervals": "free", "weight": 2},
        "sex": "quasi-identifier",
    },
    "privacy": {"k": 2},
    "rules": [
        {"attribute": "age", "keep_apart": [29, 30], "importance": 3},
        {"attribute": "far", "keep_apart": [400, 401]},
    ],
    "research_value": {"base": 1},
}


def mixed(draw: random.Random, records: int, objective: str, k: int) -> tuple[Microdata, Plan]:
    def column(values: Sequence[Any], missing: float) -> list[str]:
        return ["" if draw.random() < missing else str(draw.choice(values)) for _ in range(records)]

    rows = {
        "age": column(range(18, 60), 0.2),
        "pay": column(range(100), 0.1),
        "far": column(range(0, 1000, 100), 0.02),
        "sex": column("FM", 0.1),
    }
    plan = Plan.from_dict({**MIXED, "privacy": {"k": k}, "method": {"name": "cluster", "objective": objective}})
    return encode_table(read_table(pa.table(rows), plan), plan), plan


@pytest.mark.parametrize("name", ["loss", "ncp", "granularity", "research-value"])
def test_grids_missing_values_widths_and_rules(name: str) -> None:
    draw = random.Random(name)
    checked = 0
    for _ in range(12):
        microdata, plan = mixed(draw, draw.randint(4, 7), name, draw.randint(2, 3))
        costs = cost_tables(microdata, Objective.of_plan(microdata, plan))
        codes = microdata.profiles[microdata.profile_of_unit]

        def lost(parts: list[list[int]], codes: Any = codes, costs: Any = costs) -> int:
            boxes = np.array([[codes[part].min(axis=0), codes[part].max(axis=0)] for part in parts])
            sizes = np.array([len(part) for part in parts])
            return int((sizes * costs.of_boxes(*costs.ends(boxes[:, 0], boxes[:, 1]))).sum())

        best = 0
        for units in by_block(blocks_of_profiles(microdata, plan), microdata):
            parts_within = [
                parts
                for parts in partitions(units)
                if all(len(part) >= plan.privacy.k for part in parts) and not _broken(microdata, parts)
            ]
            if not parts_within:
                break
            best += min(map(lost, parts_within))
        else:
            checked += 1
            alone, ascents, _ = stated(microdata, plan, np.full(len(microdata.profiles), best))
            assert alone + sum(ascent.bound for ascent in ascents) <= best
    assert checked > 1


def _broken(microdata: Microdata, parts: list[list[int]]) -> bool:
    group_of = np.full(len(microdata.record_of), -1)
    for number, part in enumerate(parts):
        group_of[part] = number
    return bool(sum(recoding_of(microdata, group_of).breaks_by_column(microdata).values()))


# ---- the same for any threads, rows, layout of costs ---------------------------------------------------------------


def table_of(records: int, seed: int = 1) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [draw.randint(18, 60) for _ in range(records)],
            "zip": [f"{draw.randint(0, 80):03}" for _ in range(records)],
            "sex": [draw.choice("FM") for _ in range(records)],
            "ill": [draw.choice("abc") for _ in range(records)],
        }
    )


PLAN: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [40]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [3, 2, 1]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
    },
    "privacy": {"k": 3, "p": 2},
}


@pytest.mark.parametrize("objective", ["loss", "research-value"])
def test_threads_and_rows_do_not_change_the_bound(objective: str) -> None:
    table = table_of(300)
    method = {"name": "cluster", "objective": objective, "certify": "1s"}
    plan = Plan.from_dict({**PLAN, "method": method})
    found = [
        hr.anonymize(rows, plan, threads=threads).facts["optimality"]
        for rows, threads in ((table, 1), (table, 3), (table.take(pa.array(range(299, -1, -1))), 2))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0]["overlooked"] == ["p"]
    assert 0 < found[0]["at_least"] <= found[0]["loss"]


def test_large_trees_have_the_same_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their costs are laid out in another way."""
    plan = Plan.from_dict({**PLAN, "method": {"name": "cluster", "objective": "ncp"}})
    found = [hr.bound(table_of(200), plan, effort="1s").to_dict()]
    monkeypatch.setattr("hedgerow.anonymization.clustering.costs.LARGEST_TABLE", 1)
    found.append(hr.bound(table_of(200), plan, effort="1s").to_dict())
    assert found[0] == found[1]


def test_small_blocks_together_are_bounded_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that are looked at together have no group in common."""
    plan = Plan.from_dict({**PLAN, "method": "cluster"})
    together = hr.bound(table_of(300), plan, effort="2s")
    monkeypatch.setattr("hedgerow.anonymization.bounding.pieces.PROFILES", 1)
    apart = hr.bound(table_of(300), plan, effort="2s")
    assert together.blocks == apart.blocks == 2
    assert float(together.at_least) == pytest.approx(float(apart.at_least), rel=0.01)

"""A bound is never above the best there is, is what a plain evaluation gives, and the same for threads and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.bounding.alone import UNKNOWN, least_losses
from hedgerow.anonymization.bounding.ascending import Ascent
from hedgerow.anonymization.bounding.certificate import ascents_of, blocks_of_profiles
from hedgerow.anonymization.clustering import Objective
from hedgerow.anonymization.clustering.costs import cost_tables
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


def releasable(microdata: Microdata, plan: Plan, fits: Any) -> tuple[Microdata, list[list[int]]] | None:
    """Leave out the blocks that cannot be released; None if none can."""
    blocks = [units for units in by_block(blocks_of_profiles(microdata, plan), microdata) if fits(units)]
    kept = np.sort(np.array([unit for units in blocks for unit in units], np.int64))
    if not len(kept):
        return None
    left = microdata.of_units(kept)
    return left, by_block(blocks_of_profiles(left, plan), left)


def stated(microdata: Microdata, plan: Plan, paid: IntArray) -> tuple[int, list[Ascent], IntArray]:
    """The bound in whole numbers, and the prices (by unit) at which it stands, UNKNOWN where none is needed."""
    costs = cost_tables(microdata, Objective.of_plan(microdata, plan))
    block_of = blocks_of_profiles(microdata, plan)
    alone = least_losses(microdata, block_of, costs, plan.privacy.k)
    ascents = ascents_of(microdata, plan, costs, np.where(alone[block_of] == UNKNOWN, block_of, -1), paid, seconds=1)
    price = np.full(len(microdata.profiles), UNKNOWN)
    for ascent in ascents:
        ascent.run()
        price[ascent.piece.profiles] = ascent.price
    return int(alone[alone != UNKNOWN].sum()), ascents, price[microdata.profile_of_unit]


def check_bound(
    microdata: Microdata, plan: Plan, attributes: Sequence[Attribute], blocks: list[list[int]], best: int, name: str
) -> tuple[int, int]:
    """The stated bound is not above the best, nor above a plain evaluation at its own prices; returns both."""
    records: list[Record] = [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]
    share, k = OBJECTIVES[name], plan.privacy.k
    paid = np.full(len(microdata.profiles), best // max(len(microdata.profiles), 1) + 1)
    alone, ascents, price = stated(microdata, plan, paid)
    bound = alone + sum(ascent.bound for ascent in ascents)
    assert bound <= best
    searched = [units for units in blocks if price[units[0]] != UNKNOWN]
    plainly = bound_at(attributes, records, searched, k, price.tolist(), share, once=True)
    assert bound - alone <= plainly <= best
    return bound, best


@given(data=st.data())
@settings(max_examples=60)
def test_never_above_the_best_there_is(data: st.DataObject) -> None:
    """Trees, free intervals, limits, widths, weights, persons; all groupings within the limits are tried."""
    case = data.draw(cases(persons=data.draw(st.booleans()), at_most=8))
    name, limits = data.draw(OBJECTIVE), data.draw(st.booleans())
    plan = plan_of(case, name, limits)
    microdata = encode(case, plan, {})
    attributes = naive_attributes(case, microdata, limits=limits)
    records = [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]

    def who(group: Sequence[int], among: Microdata) -> int:
        return len(group) if among.person_of is None else len({int(among.person_of[unit]) for unit in group})

    def within(group: Sequence[int], known: Sequence[Record]) -> bool:
        return not breaks(attributes, known[group[0]], generalize(attributes, [known[unit] for unit in group]))

    def fits(units: Sequence[int]) -> bool:
        return any(
            all(who(part, microdata) >= case.k and within(part, records) for part in parts)
            for parts in partitions(units)
        )

    found = releasable(microdata, plan, fits)
    if found is None:
        return
    left, blocks = found
    known = [tuple(row) for row in left.profiles[left.profile_of_unit].tolist()]
    best = least_loss(
        attributes, known, blocks, lambda group: who(group, left) >= case.k and within(group, known), OBJECTIVES[name]
    )
    assert best is not None
    check_bound(left, plan, attributes, blocks, best, name)


@pytest.mark.parametrize("kind", ["p", "entropy", "recursive", "alpha", "equal", "mixed"])
@given(data=st.data())
@settings(max_examples=10)
def test_models_only_raise_the_best_there_is(kind: str, data: st.DataObject) -> None:
    given: Diverse = data.draw(diverse(kind, at_most=7))
    case, name = given.case, data.draw(OBJECTIVE)
    roles = {f"s{i}": "sensitive" for i in range(len(given.sensitive))}
    plan = plan_of(case, name).replace(attributes={**case.attributes, **roles}, privacy=given.privacy)
    more = {f"s{i}": pa.array(column, pa.string()) for i, column in enumerate(given.sensitive)}
    microdata = encode(case, plan, more)
    attributes = naive_attributes(case, microdata, limits=True)
    values, demands = codes_of(given), naive_demands(given, codes_of(given))

    def may(group: Sequence[int], among: Microdata) -> bool:
        return len(group) >= case.k and demands.hold([values[int(among.record_of[unit])] for unit in group])

    found = releasable(
        microdata, plan, lambda units: any(all(may(part, microdata) for part in parts) for parts in partitions(units))
    )
    if found is None:
        return
    left, blocks = found
    records = [tuple(row) for row in left.profiles[left.profile_of_unit].tolist()]
    best = least_loss(attributes, records, blocks, lambda group: may(group, left), OBJECTIVES[name])
    assert best is not None
    check_bound(left, plan, attributes, blocks, best, name)

"""A release whose records stay in tasks is that of the local engine, and what is wrong with it is found there."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.engines import room
from hedgerow.engines.spread.blocks import Bundles
from hedgerow.engines.spread.groups import bounds_of, deal_ranges
from hedgerow.plan import Plan
from hedgerow.release.facts import facts_to_json
from tests.cases.research_value import ValueCase, value_cases
from tests.cases.spread import Spread, TasksHere
from tests.engines.tables import cases, hostile, hostile_plan

MANY = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_same(table: pa.Table, plan: Plan, seed: int = 0) -> Spread | None:
    """Compare rows, facts, plan and what the owner alone is told with the local engine; or what is refused."""
    refused = None
    try:
        wanted = hr.anonymize(table, plan)
    except hr.HedgerowError as error:
        refused = [one.code for one in error.problems]
    if refused is not None:
        with pytest.raises(hr.HedgerowError) as caught:
            Spread.of(table, plan, seed)
        assert [one.code for one in caught.value.problems] == refused
        return None
    found = Spread.of(table, plan, seed)
    assert found.release.table.to_pylist() == wanted.table.to_pylist()
    assert found.facts == facts_to_json(dict(wanted.facts))
    assert found.release.plan.to_yaml() == wanted.plan.to_yaml()
    assert found.release.private == wanted.private
    return found


METHODS: dict[str, dict[str, Any]] = {
    "cluster": {},
    "partition": {"method": "partition"},
    "utility": {"method": "utility", "privacy": {"k": 4}},
    "models": {"privacy": {"k": 4, "t": {"illness": 0.6}, "alpha": {"stage": 0.9}}},
    "limits ignored": {"method": {"name": "cluster", "limits": "ignore"}, "seed": 7},
}


@pytest.mark.parametrize("method", METHODS)
def test_a_hostile_table(method: str) -> None:
    found = assert_same(hostile(), hostile_plan(**METHODS[method]))
    assert found is not None
    assert found.is_spread
    assert found.check().kept


def people(records: int = 120) -> tuple[pa.Table, dict[str, Any]]:
    """People of several records, limits of all kinds, values without a leaf, a free column with a width."""
    table = pa.table(
        {
            "who": [f" {at // 2 % 50:02d}"[at % 2 :] for at in range(records)],
            "age": [at * 7 % 60 + 18 for at in range(records)],
            "city": [["Rome", " Rome", "Oslo", "Bari", "Lund", "nowhere"][at * 5 % 6] for at in range(records)],
            "ill": [["flu", "Flu ", "cold", None, "gout"][at * 3 % 5] for at in range(records)],
            "note": [f"n{at % 7}" for at in range(records)],
        }
    )
    tree = {"all": {"n": ["Oslo", "Lund"], "s": ["Rome", "Bari"]}}
    city = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "unknown": "withhold", "limits": ["n", "s"]}
    age = {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [30, 50]}}
    return table, {"age": age, "city": city, "ill": "sensitive"}


OF_PEOPLE: dict[str, dict[str, Any]] = {
    "k": {"privacy": {"k": 4}},
    "p": {"privacy": {"k": 3, "p": 2}},
    "persons": {"privacy": {"k": 3, "p": 2}, "person": "who"},
    "some left over": {"privacy": {"k": 3, "t": 0.3}, "person": "who"},
    "left over again": {"privacy": {"k": 2, "l": {"ill": {"entropy": 2}}}},
    "too many withheld": {"privacy": {"k": 40}, "withhold": 3},
    "entropy": {"privacy": {"k": 3}, "method": {"name": "cluster", "objective": "entropy"}},
    "improved": {"privacy": {"k": 3}, "method": {"name": "cluster", "improve": "quick"}},
    "rules": {"privacy": {"k": 3}, "rules": [{"attribute": "age", "keep_apart": [39, 40], "importance": 2}]},
}


@pytest.mark.parametrize("others", [False, True], ids=["", "others"])
@pytest.mark.parametrize("what", OF_PEOPLE)
def test_people(what: str, others: bool) -> None:
    table, attributes = people()
    more = {"note": "other"} if others else {}
    found = assert_same(
        table, Plan.from_dict({"attributes": {**attributes, **more}, **OF_PEOPLE[what]}), seed=len(what)
    )
    assert found is None or (found.is_spread and found.check().kept)


def test_blocks_that_are_split() -> None:
    records = 2_600
    age, pay = [at * 7919 % 83 for at in range(records)], [at * 104_729 % 997 for at in range(records)]
    table = pa.table({"age": age, "pay": pay, "ill": [["a", "b", "c"][at % 3] for at in range(records)]})
    free = {"role": "quasi-identifier", "intervals": "free"}
    plan = {"attributes": {"age": {**free, "limit": {"cuts": [40]}}, "pay": free, "ill": "sensitive"}}
    method = {"name": "cluster", "split": 1000}
    found = assert_same(table, Plan.from_dict({**plan, "privacy": {"k": 3}, "method": method}))
    assert found is not None
    assert found.release.facts["split"]["parts"] >= 2
    assert found.release.facts["split"]["sampled_loss_ratio"] is not None


def test_widths() -> None:
    table, attributes = people()
    age = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 6}}
    plan = Plan.from_dict({"attributes": {**attributes, "age": age, "note": "other"}, "privacy": {"k": 7}})
    found = assert_same(table, plan)
    assert found is not None
    assert found.release.withheld > 0
    assert found.check().kept


@given(case=cases(), seed=st.integers(0, 99))
@MANY
def test_generated_tables(case: tuple[pa.Table, Plan], seed: int) -> None:
    found = assert_same(*case, seed)
    assert found is None or found.check().kept


@pytest.mark.parametrize("kind", ["k", "mixed", "hierarchical"])
@given(data=st.data())
@settings(MANY, max_examples=8)
def test_models(kind: str, data: st.DataObject) -> None:
    case: ValueCase = data.draw(value_cases(kind, persons=data.draw(st.booleans())))
    found = assert_same(case.table(), case.plan(), data.draw(st.integers(0, 99)))
    assert found is None or found.check().kept


# ---- what is wrong is found ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Spread:
    table, attributes = people()
    plan = {"attributes": {**attributes, "note": "other"}, "privacy": {"k": 3, "p": 2}, "person": "who"}
    return Spread.of(table, Plan.from_dict({**plan, "rules": [{"attribute": "age", "keep_apart": [39, 40]}]}))


def changed(rows: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    cells = rows.column(name).to_pylist()
    cells[row] = value
    at = rows.column_names.index(name)
    return rows.set_column(at, name, pa.array(cells, rows.schema.field(name).type))


TAMPERED: dict[str, Any] = {
    "a row less": lambda rows: rows.slice(1),
    "a row twice": lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]),
    "another sensitive value": lambda rows: changed(
        rows, "ill", 0, "gout" if rows["ill"][0].as_py() != "gout" else "flu"
    ),
    "a sensitive value of nobody": lambda rows: changed(rows, "ill", 0, "pox"),
    "another value beside": lambda rows: changed(rows, "note", 0, "n9"),
    "another city": lambda rows: changed(rows, "city", 0, "Oslo" if rows["city"][0].as_py() != "Oslo" else "Bari"),
    "no node": lambda rows: changed(rows, "city", 0, "Atlantis"),
    "a missing cell": lambda rows: changed(rows, "age", 0, None),
    "a narrower range": lambda rows: changed(rows, "age", 0, "18"),
    "a range beyond the limit": lambda rows: changed(rows, "age", 0, "18-77"),
    "two rows with each other's values": lambda rows: changed(
        changed(rows, "ill", 0, rows["ill"][rows.num_rows - 1].as_py()),
        "ill",
        rows.num_rows - 1,
        rows["ill"][0].as_py(),
    ),
    "a column less": lambda rows: rows.drop_columns(["note"]),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_rows_that_were_tampered_with(what: str, made: Spread) -> None:
    rows = made.release.table
    tampered = TAMPERED[what](rows)
    if sorted(map(str, tampered.to_pylist())) == sorted(map(str, rows.to_pylist())):
        pytest.skip("the two rows agree")
    with pytest.raises(hr.BrokenPromise):
        made.check(tampered)


FACTS: dict[str, Any] = {
    "groups": lambda facts: facts["groups"] + 1,
    "released": lambda facts: facts["released"] - 1,
    "smallest_group": lambda facts: facts["smallest_group"] + 1,
    "smallest_group_persons": lambda facts: facts["smallest_group_persons"] + 1,
    "group_sizes": lambda facts: {"3": 1},
    "discernibility": lambda facts: facts["discernibility"] + 1,
    "attribute_disclosures": lambda facts: {**facts["attribute_disclosures"], "count": 99},
    "largest_share_of_one_value": lambda facts: {"ill": 0.01},
    "exact_end_points": lambda facts: {"age": facts["exact_end_points"]["age"] + 1},
    "limits_broken": lambda facts: 1,
    "records": lambda facts: facts["records"] + 1,
    "rules": lambda facts: [{**facts["rules"][0], "groups_breaking": 99, "kept": False}],
}


@pytest.mark.parametrize("fact", FACTS)
def test_facts_that_were_tampered_with(fact: str, made: Spread) -> None:
    facts = json.loads(made.facts)
    with pytest.raises(hr.BrokenPromise):
        made.check(facts={**facts, fact: FACTS[fact](facts)})


CLAIMS = {
    "more records": "SELECT * REPLACE (n + 1 AS n) FROM claim",
    "none": "SELECT * REPLACE (0 AS n) FROM claim",
    "values of nobody": "SELECT * REPLACE (CAST(c0 + 1000 AS BIGINT) AS c0) FROM claim",
    "another person": "SELECT * REPLACE ('nobody' AS p) FROM claim",
    "other labels": "SELECT * REPLACE ('18-77' AS l0) FROM claim",
    "nothing": "SELECT * FROM claim WHERE n < 0",
}


@pytest.mark.parametrize("what", CLAIMS)
def test_claims_that_do_not_fit(what: str, made: Spread) -> None:
    link: Any = made.release.rows.link
    session: Any = made.engine.session
    claimed = session.keep("claimed_otherwise", CLAIMS[what].replace("claim", link.claim))
    assert made.check().kept
    before = link.claim
    object.__setattr__(link, "claim", claimed)
    try:
        with pytest.raises(hr.BrokenPromise):
            made.check()
    finally:
        object.__setattr__(link, "claim", before)


# ---- tasks -----------------------------------------------------------------------------------------------------------


def test_large_blocks_are_dealt_out_evenly() -> None:
    import numpy as np

    records = np.random.default_rng(1).integers(1, 1000, 5_000)
    bundles = Bundles.of(np.arange(5_000), records, int(records.sum()), 8)
    load = np.bincount(bundles.tasks(np.arange(5_000)), weights=records)
    assert len(load) == 8
    assert load.max() < 1.01 * load.min()


def test_ranges_of_what_is_published_go_to_tasks_in_order() -> None:
    """All that is published alike has one task; tasks ascend with what is published, and have as many records each."""
    import numpy as np

    rng = np.random.default_rng(2)
    keys = pa.table({"k0": rng.integers(0, 40, 4_000), "k1": rng.integers(0, 40, 4_000)})
    pairs = list(zip(*keys.to_pydict().values(), strict=True))
    bounds = bounds_of([(pair, 10) for pair in pairs[::10]], 8)
    dealt = pa.Table.from_batches([*deal_ranges(["k0", "k1"], bounds, keys.to_batches(max_chunksize=700))])
    task = dealt.column("task").to_pylist()
    ordered = [number for _, number in sorted(zip(pairs, task, strict=True))]
    assert ordered == sorted(ordered)
    assert len(set(zip(pairs, task, strict=True))) == len(set(pairs))
    assert max(np.bincount(task)) < 1.5 * min(np.bincount(task))
    assert set(task) == set(range(8))


def test_small_blocks_need_no_list() -> None:
    import numpy as np

    bundles = Bundles.of(np.zeros(0, np.int64), np.zeros(0, np.int64), 100_000, 8)
    load = np.bincount(bundles.tasks(np.arange(100_000)))
    assert len(load) == 8
    assert load.max() < 1.1 * load.min()


def test_what_cannot_fit_here_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the combinations there are: 60 of the 120 people differ in what is asked."""
    table, attributes = people()
    plan = Plan.from_dict({"attributes": {"age": attributes["age"]}, "privacy": {"k": 3}})
    session: Any = TasksHere(table, plan)
    for free, fits in ((60 * room.COMBINATION * 2, True), (60 * room.COMBINATION // 2, False)):
        monkeypatch.setattr(room, "available_memory", lambda: free)  # noqa: B023
        if fits:
            room.check_room(session, plan)
        else:
            with pytest.raises(hr.DataError, match="block by block") as caught:
                room.check_room(session, plan)
            assert caught.value.problems[0].code == "no-memory"

"""What a person does to limits and hierarchies on the screen, as what then stands in the plan."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.anonymization.explanation import explain_limits
from hedgerow.engines.opening import read_microdata
from hedgerow.errors import PlanError
from hedgerow.microdata.columns import MISSING
from hedgerow.plan import Attribute, Limit, Plan
from hedgerow.plan.hierarchy import Hierarchy, editing
from hedgerow.plan.hierarchy.limits import limit_of_leaves, nodes_by_level, nodes_by_name
from hedgerow.studio import limit_changes
from hedgerow.studio.hierarchy_wishes import first_choice, wanted

PLACE = Hierarchy.from_tree(
    {"US": {"West": {"California": ["Fresno", "Napa"], "Nevada": ["Reno"]}, "Midwest": {"Kansas": ["Wichita"]}}}
)


@given(st.integers(0, 3), st.integers(0, len(PLACE.names) - 1))
def test_two_clicks_on_a_node_leave_every_value_its_limit(level: int, node: int) -> None:
    """A level is written out as names on the way; what each value may become stays the same."""
    once = limit_changes.toggled(Limit(level=level), PLACE, node)
    twice = limit_changes.toggled(None if once is None else Limit(nodes=tuple(once)), PLACE, node)
    marked = nodes_by_name(PLACE, twice or ())
    wanted_limits = limit_of_leaves(PLACE, nodes_by_level(PLACE, level)).tolist()
    assert limit_of_leaves(PLACE, marked).tolist() == wanted_limits


def test_the_leaf_for_missing_values_is_never_named() -> None:
    tree = PLACE.with_leaves_under_root([MISSING])
    assert MISSING not in limit_changes.names_of(Limit(level=0), tree)


def test_a_node_spelled_in_another_way_is_lifted_by_a_click() -> None:
    ages = Hierarchy.from_tree({"*": {"30-39": ["31", "35"], "40-49": ["44"]}})
    assert limit_changes.toggled(Limit(nodes=("[30, 40)", "40-49")), ages, ages.node("30-39")) == ["40-49"]


def test_a_changed_tree_keeps_its_limits() -> None:
    after = editing.dissolve(PLACE, PLACE.node("California"))
    assert limit_changes.carried(Limit(nodes=("California", "Midwest")), PLACE, after) == ["Fresno", "Napa", "Midwest"]
    assert limit_changes.carried(None, PLACE, after) is None


def test_every_lift_of_an_explanation_can_be_applied_and_saves_what_it_says() -> None:
    rows = [("Fresno", 20), ("Napa", 21), ("Reno", 48), ("Wichita", 50), ("Wichita", 75), ("Reno", 30), ("Napa", 33)]
    table = pa.table({"city": [city for city, _ in rows], "age": [age for _, age in rows]})
    for limit in ({"level": 1}, ["California", "Nevada", "Midwest"]):
        plan = Plan.from_dict(
            {
                "attributes": {
                    "city": {"role": "quasi-identifier", "hierarchy": {"tree": PLACE.tree()}, "limit": limit},
                    "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [25, 49], "width": 20}},
                },
                "privacy": {"k": 2},
            }
        )
        microdata = read_microdata(table, plan)[0]
        found = explain_limits(microdata, plan)
        assert found.lifts
        for lift in found.lifts:
            column = next(each for each in microdata.columns if each.name == lift.attribute)
            known, new = limit_changes.lifted(column, plan.attributes[lift.attribute].limit, lift.change)
            assert known
            attributes = plan.to_dict()["attributes"]
            attributes[lift.attribute].pop("limit")
            if new is not None:
                attributes[lift.attribute]["limit"] = new
            changed = plan.replace(attributes=attributes)
            after = explain_limits(read_microdata(table, changed)[0], changed)
            assert found.withheld - after.withheld == lift.saves


@pytest.mark.parametrize(
    ("kind", "typed", "hierarchy"),
    [
        ("bands", {"bands": "5, 10"}, {"bands": [5, 10]}),
        ("cuts", {"cuts": "0, 20, 40\n0, 40"}, {"cuts": [[0, 20, 40], [0, 40]]}),
        ("prefix", {"prefix": "1"}, {"prefix": [1]}),
        ("flat", {}, None),
    ],
)
def test_what_is_typed_is_a_plan(kind: str, typed: dict[str, str], hierarchy: object) -> None:
    found = wanted(kind, typed, ["12", "37"])
    assert found.keys["hierarchy"] == hierarchy
    parts = {name: part for name, part in found.keys.items() if part is not None}
    plan = Plan.from_dict({"attributes": {"x": {"role": "quasi-identifier", **parts}}, "privacy": {"k": 2}})
    again, filled = first_choice(read_column(), plan.attributes["x"])
    assert again == kind
    assert wanted(again, filled, ["12", "37"]).keys["hierarchy"] == hierarchy


def read_column():  # type: ignore[no-untyped-def]
    from hedgerow.evaluation.drafting.column import SeenColumn

    return SeenColumn("x", 2, {"12": 1, "37": 1})


def test_free_intervals_have_no_tree() -> None:
    found = wanted("free", {"snap": "5", "unknown": "own-leaf-under-root"}, ["12"])
    assert found.built is None
    assert found.keys["intervals"] == "free"
    assert found.keys["unknown"] == "error"
    assert Attribute(role="quasi-identifier", intervals="free", snap=found.keys["snap"]).snap == 5


@pytest.mark.parametrize(("kind", "typed"), [("bands", "5, twelve"), ("bands", "5, 12"), ("prefix", "2, 3")])
def test_what_is_wrong_is_said(kind: str, typed: str) -> None:
    with pytest.raises(PlanError):
        wanted(kind, {kind: typed}, ["12"])

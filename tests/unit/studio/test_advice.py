"""What the studio says of roles, people and decisions, and what pressing its buttons puts into the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from hedgerow.evaluation.drafting.examining import examine
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.plan import Plan
from hedgerow.plan.audiences import AUDIENCES
from hedgerow.studio.advice import advice_on, remarks_on
from hedgerow.studio.components.column_table import row_of
from hedgerow.studio.components.roles import ABOUT_ROLES, ROLES
from hedgerow.studio.demands import with_role
from hedgerow.studio.pages.promise import chance_of, offered
from hedgerow.studio.reading import _told
from hedgerow.studio.views import ColumnView

YAML = ("`", "{", "}", "hierarchy:", "limit:", "person:", "unknown:", "intervals:")


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, dict[str, ColumnView]]:
    """A draft of made-up patients, and what a screen knows of their columns."""
    data, _ = write_demo(tmp_path_factory.mktemp("advice"), clinic(records=300))
    seen = examine(data)
    columns = [ColumnView.of(raw) for raw in _told(seen)["columns"]]
    return Plan.loads(seen.to_yaml(), file="draft"), {column.name: column for column in columns}


def change(plan: Plan, column: str, **keys: object) -> Plan:
    raw = plan.to_dict()
    raw["attributes"][column] |= keys
    return Plan.from_dict(raw)


def test_no_role_promises_what_nobody_asked_for() -> None:
    assert "diverse" not in " ".join([*ROLES.values(), ABOUT_ROLES])


def test_a_sensitive_column_gets_the_diversity_that_was_answered(drafted: tuple[Plan, dict[str, ColumnView]]) -> None:
    plan, columns = drafted
    asked = plan.replace(**with_role(plan, [columns["diagnosis"]], "sensitive", 3))
    assert asked.privacy.demands("diagnosis")["p"] == 3
    both = asked.replace(**with_role(asked, [columns["income"]], "sensitive", None))
    assert "p" not in both.privacy.demands("income")
    assert both.privacy.demands("diagnosis")["p"] == 3
    back = both.replace(**with_role(both, [columns["diagnosis"], columns["income"]], "other"))
    assert not back.privacy.asked
    assert back.columns("sensitive") == ()


def test_a_quasi_identifier_again_gets_the_hierarchy_that_was_proposed(
    drafted: tuple[Plan, dict[str, ColumnView]],
) -> None:
    plan, columns = drafted
    other = plan.replace(**with_role(plan, [columns["age"]], "other"))
    back = other.replace(**with_role(other, [columns["age"]], "quasi-identifier"))
    assert back.attributes["age"] == plan.attributes["age"]


def test_advice_names_no_yaml_and_goes_when_it_was_followed(drafted: tuple[Plan, dict[str, ColumnView]]) -> None:
    plan, columns = drafted
    followed = 0
    for column in columns.values():
        said = list(remarks_on(column))
        for advice in advice_on(column, plan):
            said += [advice.text, advice.button]
            if advice.keys is not None:
                after = change(plan, column.name, **advice.keys)
                assert advice not in list(advice_on(column, after))
                followed += 1
        said.append(row_of(column, plan)["why"])
        assert not any(word in text for text in said for word in YAML), said
    assert followed > 2


def test_what_is_delicate_by_name_can_be_made_sensitive(drafted: tuple[Plan, dict[str, ColumnView]]) -> None:
    plan, columns = drafted
    first = next(advice_on(columns["diagnosis"], plan))
    assert (first.button, first.keys, first.where) == ("Make it sensitive", None, "")
    asked = plan.replace(**with_role(plan, [columns["diagnosis"]], "sensitive", 2))
    assert list(advice_on(columns["diagnosis"], asked)) == []


@pytest.mark.parametrize("name", AUDIENCES)
def test_an_audience_fills_in_all_of_its_numbers(drafted: tuple[Plan, dict[str, ColumnView]], name: str) -> None:
    plan, columns = drafted
    plan = plan.replace(**with_role(plan, [columns["diagnosis"]], "sensitive", None))
    audience = AUDIENCES[name]
    assert not audience.is_for(plan)
    asked = plan.replace(**audience.keys(plan))
    assert [one.name for one in AUDIENCES.values() if one.is_for(asked)] == [name]
    assert asked.accepted == audience.threshold
    assert audience.source


def test_promises_are_asked_for_in_words() -> None:
    assert all(len(label.split()) > 4 for label in offered().values())
    assert chance_of(11) == "1 in 11, 9.09%"


def test_people_with_several_rows_are_found(tmp_path: Path) -> None:
    rows = "".join(f"p{number % 150},{20 + number % 50},{'fm'[number % 2]}\n" for number in range(300))
    (tmp_path / "visits.csv").write_text(f"patient_id,age,sex\n{rows}")
    told = _told(examine(tmp_path / "visits.csv"))
    assert told["repeats"] == [{"column": "patient_id", "people": 150, "rows": 300}]

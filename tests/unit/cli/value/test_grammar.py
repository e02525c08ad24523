"""Every key of a plan survives being written, is part of the digest, and is in the schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from hedgerow.errors import PlanError
from hedgerow.plan import Plan
from hedgerow.plan.schema import plan_schema
from tests.cases.commands import Command
from tests.cases.parishes import (
    PLAN,
    RULES,
    SUPPRESS,
    files,
    write_plan,
)

# ---- the grammar -----------------------------------------------------------------------------------------------------

EVERYTHING = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}
  stage: {role: quasi-identifier, hierarchy: {tree: {any: {early: [1, 2], late: [3, 4]}}}, numeric: true}
  dose: {role: quasi-identifier, hierarchy: {bands: [0.5, 1]}, numeric: false, weight: 0.25}
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4, p: 2}
rules:
  - {name: 'no: [1] "quoted" # and ünïcode', attribute: age, keep_apart: [64, 65], importance: 2.5}
  - {attribute: sex, keep_apart: ['no', 'null']}
  - {attribute: dose, keep_apart: ['[0.5, 1)', '[1, 1.5)'], importance: 0.125}
weights: {age: 2.5, stage: 1, sex: 0.001}
research_value: {base: 0.5, lambda: 0}
missing: matches-any
"""
METHODS = {
    "method: {name: utility, suppress: true}\n": {"name": "utility", "suppress": True},
    "method: {name: bottom-up, overlap: forbidden}\n": {"name": "bottom-up", "overlap": "forbidden"},
    "method: euclidean\n": "euclidean",
    "method: {name: lattice, objective: research-value, search: divided, block: 2}\n": {
        "name": "lattice",
        "objective": "research-value",
        "search": "divided",
        "block": 2,
    },
}


@pytest.mark.parametrize("method", METHODS)
def test_every_new_key_survives_being_written(method: str) -> None:
    plan = Plan.loads(EVERYTHING + method)
    again = Plan.loads(plan.to_yaml())
    assert again.digest() == plan.digest()
    assert again.to_yaml() == plan.to_yaml()
    assert again == plan
    assert Plan.from_dict(plan.to_dict()).digest() == plan.digest()
    written = plan.to_dict()
    assert [rule["keep_apart"] for rule in written["rules"]] == [("64", "65"), ("no", "null"), ("[0.5, 1)", "[1, 1.5)")]
    assert [str(rule.get("importance", 1)) for rule in written["rules"]] == ["2.5", "1", "0.125"]
    assert written["research_value"].keys() == {"base", "lambda"}
    assert written["missing"] == "matches-any"
    assert {name: str(weight) for name, weight in written["weights"].items()} == {
        "age": "2.5",
        "stage": "1",
        "sex": "0.001",
    }
    assert (written["attributes"]["stage"]["numeric"], written["attributes"]["dose"]["numeric"]) == (True, False)
    assert plan.short()["method"] == METHODS[method]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("importance: 2.5", "importance: 2.6"),
        ("[64, 65]", "[63, 65]"),
        ("attribute: sex", "attribute: dose"),
        ("lambda: 0}", "lambda: 1}"),
        (", lambda: 0}", "}"),
        ("base: 0.5", "base: 0"),
        ("stage: 1", "stage: 2"),
        ("numeric: true", "numeric: false"),
        ("missing: matches-any", "missing: own-value"),
        ("weights: {age: 2.5, stage: 1, sex: 0.001}\n", ""),
        ("method: bottom-up", "method: {name: bottom-up, overlap: forbidden}"),
    ],
)
def test_every_new_key_is_part_of_the_digest(old: str, new: str) -> None:
    text = EVERYTHING + "method: bottom-up\n"
    assert old in text
    assert Plan.loads(text).digest() != Plan.loads(text.replace(old, new)).digest()


def test_weights_from_association_survive_being_written() -> None:
    text = EVERYTHING.replace("{age: 2.5, stage: 1, sex: 0.001}", "association").replace(", weight: 0.25", "")
    plan = Plan.loads(text)
    assert plan.weights == "association"
    assert Plan.loads(plan.to_yaml()).digest() == plan.digest()


VALUE = "research_value: {base: 2, lambda: 0.5}\n"


@pytest.mark.parametrize(
    "weights",
    [
        "weights: {age: 1, city: 2, parish: 0.3}\n",
        "weights: association\n",
    ],
)
def test_the_plan_of_a_release_makes_the_release_again(folder: Path, command: Command, weights: str) -> None:
    plan = write_plan(folder, RULES, SUPPRESS, VALUE, weights)
    code, printed, _ = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert code == 0
    released = Plan.load(folder / "release" / "plan.yaml")
    assert released.digest() == json.loads(printed)["plan"]
    assert [rule.title for rule in released.rules] == ["retirement", "city: Kansas | Nebraska", "sexes"]
    assert (released.missing, released.weights) == ("matches-any", None)
    code, _, _ = command("anonymize", "data.csv", "release/plan.yaml", "-o", "again", cwd=folder)
    assert code == 0
    assert files(folder / "again") == files(folder / "release")


@pytest.mark.parametrize("method", METHODS)
def test_the_schema_admits_every_new_key(method: str) -> None:
    schema = json.loads(json.dumps(plan_schema()))
    jsonschema.validate(yaml.safe_load(EVERYTHING + method), schema)
    jsonschema.validate(yaml.safe_load(Plan.loads(EVERYTHING + method).to_yaml()), schema)


@pytest.mark.parametrize(
    "wrong",
    [
        "rules: [{attribute: age}]",
        "rules: [{attribute: age, keep_apart: [1, 2, 3]}]",
        "rules: [{attribute: age, keep_apart: [1, 2], weight: 3}]",
        "weights: associaton",
        "weights: [age]",
        "research_value: {lamda: 0.5}",
        "missing: any",
        "method: utilty",
        "method: {name: utility, suppress: 3}",
        "method: {name: lattice, search: globl}",
        "method: {name: lattice, block: 0}",
    ],
)
def test_the_schema_refuses_what_does_not_load(wrong: str) -> None:
    schema = json.loads(json.dumps(plan_schema()))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(PLAN + wrong), schema)
    with pytest.raises(PlanError):
        Plan.loads(PLAN + wrong)

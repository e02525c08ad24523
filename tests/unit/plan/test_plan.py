"""Reading, checking and writing plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hedgerow.errors import CODES, PlanError
from hedgerow.plan import Plan, Withhold
from hedgerow.plan.schema import plan_schema

ARCHITECTURE = """
attributes:
  name:      identifier
  age:       {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, limit: {level: 2}}
  location:  {role: quasi-identifier, hierarchy: {file: location.csv}, limits: [California, Kansas, Midwest]}
  sex:       {role: quasi-identifier}                 # flat: value → *
  income:    {role: quasi-identifier, intervals: free, limit: {cuts: [50000], width: 20000}}
  diagnosis: sensitive
privacy: {k: 5}
method:  cluster
withhold: {at_most: 5%}
"""
LOCATION = "Wichita;Kansas;Midwest;US\nLincoln;Nebraska;Midwest;US\nSan Diego;California;West;US\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "location.csv").write_text(LOCATION)
    (tmp_path / "plan.yaml").write_text(ARCHITECTURE)
    return tmp_path


def problems(text: str, base: Path | str = ".") -> list[tuple[str, str]]:
    with pytest.raises(PlanError) as caught:
        Plan.loads(text, file="plan.yaml", base=base)
    return [(problem.code, problem.place) for problem in caught.value.problems]


def test_the_plan_of_the_architecture_page(folder: Path) -> None:
    plan = Plan.load(folder / "plan.yaml")
    assert plan.quasi_identifiers == ("age", "location", "sex", "income")
    assert plan.released_columns == ("age", "location", "sex", "income", "diagnosis")
    assert plan.privacy.k == 5
    assert plan.attributes["location"].limit.nodes == ("California", "Kansas", "Midwest")
    assert plan.withhold.records(100) == 5


def test_a_written_plan_needs_no_file_and_means_the_same(folder: Path) -> None:
    plan = Plan.load(folder / "plan.yaml")
    (folder / "location.csv").unlink()
    again = Plan.loads(plan.to_yaml(), base=folder)
    assert again.digest() == plan.digest()
    assert again.to_yaml() == plan.to_yaml()
    assert "location.csv" not in plan.to_yaml()


def test_labels_that_yaml_would_misread_stay_text() -> None:
    tree = "{tree: {'*': {yes: [no, 0123, 1e3, null, 'null', ~x]}}}"
    with pytest.raises(PlanError):
        Plan.loads(
            f"attributes: {{a: {{role: quasi-identifier, hierarchy: {tree}}}}}\nprivacy: {{k: 2}}"
        )  # null: no label
    tree = "{tree: {'*': {yes: [no, 0123, 1e3, 'null', ~x]}}}"
    plan = Plan.loads(f"attributes: {{a: {{role: quasi-identifier, hierarchy: {tree}}}}}\nprivacy: {{k: 2}}")
    assert list(plan.attributes["a"].hierarchy.tree["*"]["yes"]) == ["no", "0123", "1e3", "null", "~x"]
    assert Plan.loads(plan.to_yaml()).digest() == plan.digest()


def test_every_problem_in_one_go_with_its_place(folder: Path) -> None:
    text = """\
attributes:
  name:      identifer
  age:       {role: quasi-identifier, hierarchy: {bands: [5, 12]}}
  location:  {role: quasi-identifier, hierarchy: {file: location.csv}, limits: [Californa]}
  sex:       {role: quasi-identifier, limts: x}
  income:    {role: quasi-identifier, intervals: fre}
  income:    other
privcy: {k: 5}
privacy: {k: 1}
"""
    assert problems(text, folder) == [
        ("wrong-value", "plan.yaml:2:3"),
        ("bands", "plan.yaml:3:39"),
        ("unknown-limit", "plan.yaml:4:72"),
        ("unknown-key", "plan.yaml:5:39"),
        ("wrong-value", "plan.yaml:6:39"),
        ("yaml", "plan.yaml:7:3"),
        ("unknown-key", "plan.yaml:8:1"),
        ("k-too-small", "plan.yaml:9:11"),
    ]


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ("sex: {role: quasi-identifer}", "did you mean 'quasi-identifier'"),
        ("sex: {role: quasi-identifier, limts: [x]}", "did you mean 'limits'"),
        ("sex: {role: quasi-identifier, unknown: witold}", "did you mean 'withhold'"),
    ],
)
def test_hints(change: str, hint: str) -> None:
    with pytest.raises(PlanError, match=hint):
        Plan.loads(f"attributes:\n  {change}\nprivacy: {{k: 2}}\n")


@pytest.mark.parametrize(
    ("attribute", "code"),
    [
        ("{role: sensitive, limit: {level: 1}}", "conflict"),
        ("{role: quasi-identifier, intervals: free, hierarchy: {bands: [5]}, limit: {level: 1}}", "conflict"),
        ("{role: quasi-identifier, intervals: free, limit: {level: 1}}", "limit-kind"),
        ("{role: quasi-identifier, hierarchy: {bands: [5]}, limit: {cuts: [5]}}", "limit-kind"),
        ("{role: quasi-identifier, hierarchy: {bands: [5]}, limit: {level: 3}}", "limit-level"),
        ("{role: quasi-identifier, hierarchy: {bands: [5]}, limits: [31-35]}", "unknown-limit"),
        ("{role: quasi-identifier, hierarchy: {cuts: [[0, 5, 10]]}, limits: [0-9]}", "unknown-limit"),
        ("{role: quasi-identifier, limit: {level: 2}}", "limit-level"),
        ("{role: quasi-identifier, hierarchy: {prefix: [3, 2], length: 5}, limits: [67xxxx]}", "unknown-limit"),
        ("{role: quasi-identifier, hierarchy: {prefix: [3, 2], length: 5}, limits: ['67**']}", "unknown-limit"),
        ("{role: quasi-identifier, hierarchy: {dates: [year]}, limits: [Year2024]}", "unknown-limit"),
        ("{role: quasi-identifier, intervals: free, snap: 5000, limit: {width: 1000}}", "conflict"),
        ("{role: quasi-identifier, level: 1}", "conflict"),
        ("{role: sensitive, level: 1}", "limit-level"),
        ("{role: quasi-identifier, limit: {level: 1}, limits: [x]}", "wrong-value"),
        ("{role: quasi-identifier, hierarchy: {bands: [5], cuts: [[0, 5]]}}", "wrong-value"),
        ("{role: quasi-identifier, hierarchy: {tree: {'*': {A: [x], B: [x]}}}}", "two-parents"),
        ("{role: quasi-identifier, hierarchy: {tree: {A: [x], B: [y]}}}", "two-roots"),
        ("{role: quasi-identifier, hierarchy: {file: absent.csv}}", "hierarchy-file"),
        ("{role: quasi-identifier, weight: 0}", "wrong-value"),
        ("{role: quasi-identifier, weight: heavy}", "wrong-value"),
        ("{role: quasi-identifier, snap: 5}", "conflict"),
        ("{role: quasi-identifier, intervals: free, snap: 5, limit: {cuts: [7]}}", "conflict"),
        ("{role: quasi-identifier, intervals: free, unknown: own-leaf-under-root}", "conflict"),
        ("", "wrong-value"),
    ],
)
def test_problems_of_an_attribute(attribute: str, code: str) -> None:
    found = problems(f"attributes:\n  x: {attribute}\n  q: quasi-identifier\nprivacy: {{k: 2}}\n")
    assert found == [(code, found[0][1])]
    assert found[0][1].startswith("plan.yaml:2:")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "yaml"),
        ("just words", "yaml"),
        ("attributes: [", "yaml"),
        ("a: &x 1\nb: *x\n", "yaml"),
        ("attributes: {a: quasi-identifier}", "missing-key"),
        ("attributes: {a: sensitive}\nprivacy: {k: 2}", "no-quasi-identifier"),
        ("attributes: {}\nprivacy: {k: 2}", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: many}", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2, q: 3}", "unknown-key"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\nperson: a", "conflict"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\nwithhold: 5.5", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\nwithhold: 101%", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\nmethod: magic", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\ndata: {delimiter: ';;'}", "wrong-value"),
        ("attributes: {a: quasi-identifier}\nprivacy: {k: 2}\nseed: -1", "wrong-value"),
        ("[" * 60 + "]" * 60, "yaml"),
    ],
)
def test_problems_of_a_plan(text: str, code: str) -> None:
    assert problems(text)[0][0] == code


@pytest.mark.parametrize(
    ("given", "records"), [("5%", 50), (7, 7), ("7", 7), ({"at_most": "0.55%"}, 5), ("0", 0), ("100%", 1000)]
)
def test_withhold(given: Any, records: int) -> None:
    assert Withhold.model_validate(given).records(1000) == records


def test_the_schema_admits_what_loads_and_refuses_what_does_not(folder: Path) -> None:
    schema = json.loads(json.dumps(plan_schema()))
    right = {
        "attributes": {
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 1}},
            "place": {"role": "quasi-identifier", "limits": ["Kansas"]},
        },
        "privacy": {"k": 5},
        "method": "cluster",
        "withhold": "5%",
    }
    jsonschema.validate(right, schema)
    right["attributes"]["illness"] = "sensitive"  # type: ignore[index]
    for more in (
        {"p": 3},
        {"p": {"illness": 2}},
        {"l": 2},
        {"l": {"distinct": 3}},
        {"l": {"illness": {"recursive": [2, 3]}}},
        {"t": 0.2},
        {"t": {"at_most": 0.2, "distance": "ordered"}},
        {"t": {"illness": 0.2}},
        {"alpha": 0.5},
        {"alpha": {"illness": 0.5}},
    ):
        asked = {**right, "privacy": {"k": 5, **more}, "attributes": {"a": "quasi-identifier", "illness": "sensitive"}}
        jsonschema.validate(asked, schema)
        Plan.from_dict(asked)
    for wrong in ({"attributes": {"a": "quasi"}, "privacy": {"k": 2}}, {**right, "privcy": {}}, {"attributes": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_replace_checks_again() -> None:
    plan = Plan.loads("attributes: {a: quasi-identifier}\nprivacy: {k: 2}")
    with pytest.raises(PlanError, match="at least 2"):
        plan.replace(privacy={"k": 1})


def test_plans_are_frozen() -> None:
    plan = Plan.loads("attributes: {a: quasi-identifier}\nprivacy: {k: 2}")
    with pytest.raises(ValueError, match="frozen"):
        plan.privacy.k = 1  # type: ignore[misc]


def test_problem_codes_are_documented_and_used() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "reference" / "problems.md").read_text()
    documented = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert documented == set(CODES)
    source = "".join(file.read_text() for file in (root / "src").rglob("*.py") if file.name != "errors.py")
    unused = [code for code in CODES if f'"{code}"' not in source]
    assert unused == []

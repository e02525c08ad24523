"""What is said of how good a release is: in facts, on the command line, in reports; and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import hedgerow as hr
from hedgerow.anonymization.bounding.ranges import nodes_by_cost
from hedgerow.plan import Plan
from hedgerow.reports.html.page import report_html
from hedgerow.reports.wording import near_the_best
from tests.cases.shuffled import files, write

AGES = ["20", "21", "22", "40", "43", "61", "66", "67"]
PLAN: dict[str, Any] = {
    "attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}, "sex": "quasi-identifier"},
    "privacy": {"k": 2},
}
PEOPLE = pa.table({"age": AGES, "sex": list("FFFMMMMM")})


def plan_with(**method: Any) -> Plan:
    return Plan.from_dict({**PLAN, "method": {"name": "cluster", **method}})


def test_the_best_grouping_of_a_small_table_is_proven() -> None:
    found = hr.bound(pa.table({"age": ["1", "2", "8", "9"], "sex": list("FFMM")}), plan_with(), effort="1s")
    assert found.proven
    assert found.gap == 0
    assert found.at_least <= found.loss
    assert float(found.at_least) == pytest.approx(float(found.loss))


def test_a_release_states_it_and_the_check_lists_it_as_the_makers_word(tmp_path: Path) -> None:
    output = tmp_path / "release"
    hr.anonymize(PEOPLE, plan_with(certify="2s", objective="ncp"), output)
    facts = json.loads((output / "facts.json").read_text())
    stated = facts["optimality"]
    assert stated["loss"] == facts["ncp"]
    assert 0 < stated["at_least"] <= stated["loss"]
    assert stated["effort"] == "2s"
    found = hr.verify(output)
    assert found.kept
    assert "optimality" in found.makers_word


def test_without_asking_nothing_is_stated() -> None:
    assert "optimality" not in hr.anonymize(PEOPLE, plan_with()).facts


@pytest.mark.parametrize("method", ["cluster", "partition", "utility", "bottom-up", "euclidean", "lattice"])
def test_any_method_can_be_certified(tmp_path: Path, method: str) -> None:
    """The same records, grouped in any way, lose no less than the bound by the same objective."""
    attributes = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
        "pay": {"role": "quasi-identifier", "hierarchy": {"bands": [20, 40]}},
        "sex": "quasi-identifier",
    }
    options = {"name": method, "certify": "1s", **({"objective": "loss"} if method == "lattice" else {})}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, "method": options})
    stated = hr.anonymize(write(tmp_path, 0), plan).facts["optimality"]
    assert 0 < stated["at_least"] <= stated["loss"]


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_every_engine_states_the_same(tmp_path: Path, engine: str) -> None:
    plan = Plan.from_dict(
        {
            "attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}, "illness": "sensitive"},
            "privacy": {"k": 3},
            "method": {"name": "cluster", "certify": "1s"},
        }
    )
    outputs = []
    for order in range(2):
        output = tmp_path / f"{engine}{order}"
        hr.anonymize(write(tmp_path, order), plan, output, engine=engine, threads=1 + order)
        outputs.append(files(output)["facts.json"])
    assert outputs[0] == outputs[1]
    local = hr.anonymize(write(tmp_path, 0), plan).facts["optimality"]
    assert json.loads(outputs[0])["optimality"] == local


def test_it_does_not_depend_on_withheld_records() -> None:
    """Two tables that differ only in who is withheld, and how many there are is the same."""
    limited = {**PLAN["attributes"], "sex": {"role": "quasi-identifier", "limit": {"level": 0}}}
    plan = Plan.from_dict({**PLAN, "attributes": limited, "method": {"name": "cluster", "certify": "1s"}})
    stated = []
    for other, age in (("X", "30"), ("Y", "35")):
        table = pa.table({"age": [*AGES, age], "sex": [*"FFFMMMMM", other]})
        release = hr.anonymize(table, plan)
        assert release.withheld == 1
        stated.append(release.facts["optimality"])
    assert stated[0] == stated[1]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({"name": "cluster", "certify": "soon"}, "must be an effort in seconds such as 30s"),
        ({"name": "cluster", "certify": "0s"}, "must be an effort in seconds such as 30s"),
        ({"name": "lattice", "objective": "discernibility", "certify": "3s"}, "wants a loss that adds up"),
        ({"name": "lattice", "objective": "research-value", "certify": "3s"}, "wants a loss that adds up"),
        ({"name": "utility", "suppress": True, "certify": "3s"}, "does not go with 'suppress'"),
    ],
)
def test_what_is_refused(method: dict[str, Any], said: str) -> None:
    attributes = {"sex": "quasi-identifier"}
    raw = {"attributes": attributes, "privacy": {"k": 2}, "method": method, "missing": "matches-any"}
    with pytest.raises(hr.PlanError) as caught:
        Plan.from_dict(raw)
    assert said in " ".join(problem.message for problem in caught.value.problems)


def test_a_release_by_another_plan_is_refused(tmp_path: Path) -> None:
    hr.anonymize(PEOPLE, plan_with().replace(privacy={"k": 3}), tmp_path / "release")
    with pytest.raises(hr.HedgerowError) as caught:
        hr.bound(PEOPLE, plan_with(), tmp_path / "release", effort="1s")
    assert "under another plan" in caught.value.problems[0].message


def test_a_release_by_another_method_is_held_against_the_same_bound(tmp_path: Path) -> None:
    release = hr.anonymize(PEOPLE, plan_with().replace(method="partition"), tmp_path / "release")
    own = hr.bound(PEOPLE, plan_with(), effort="1s")
    other = hr.bound(PEOPLE, plan_with(), tmp_path / "release", effort="1s")
    assert other.at_least == own.at_least
    assert float(other.loss) == pytest.approx(release.facts["ntil"])


def test_whoever_ends_it_has_a_bound_all_the_same() -> None:
    patience = hr.Patience()
    patience.stop()
    found = hr.bound(PEOPLE, plan_with(), effort="5s", patience=patience)
    assert found.ended_early
    assert 0 <= found.at_least <= found.loss


def test_the_command_says_it_and_prints_json(tmp_path: Path, command: Any) -> None:
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    (tmp_path / "plan.yaml").write_text(plan_with(improve="quick").to_yaml())
    asked = ("bound", str(tmp_path / "people.csv"), str(tmp_path / "plan.yaml"), "--effort", "1s")
    done = command(*asked)
    assert done.returncode == 0, done.stderr
    assert "however these records are grouped" in done.stdout
    found = json.loads(command(*asked, "--json").stdout)
    assert 0 < found["at_least"] <= found["loss"]
    assert found["released"] == 8
    assert command(*asked[:-1], "later").returncode == 2


def test_report_and_summary_say_it(tmp_path: Path, command: Any) -> None:
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    plan = plan_with(certify="1s")
    (tmp_path / "plan.yaml").write_text(plan.to_yaml())
    done = command("anonymize", str(tmp_path / "people.csv"), str(tmp_path / "plan.yaml"), "-o", str(tmp_path / "r"))
    said = near_the_best(json.loads((tmp_path / "r" / "facts.json").read_text())["optimality"])
    assert said
    assert said.split()[0] in " ".join(done.stdout.split())
    assert said in hr.report(tmp_path / "r").html


@pytest.mark.parametrize(
    ("optimality", "said"),
    [
        ({"gap": 0.04501, "proven": False, "overlooked": []}, "at most 4.6% more"),
        ({"gap": 0.045, "proven": False, "overlooked": ["p", "person"]}, "not by p, person"),
        ({"gap": None, "proven": False}, "no bound was found"),
        ({"gap": 0, "proven": True}, "no grouping of these records loses less"),
        ({"gap": "much"}, "no bound was found"),
        ("nonsense", ""),
        (None, ""),
    ],
)
def test_words(optimality: Any, said: str) -> None:
    assert said in near_the_best(optimality)
    plan = plan_with(certify="1s")
    page = report_html({"optimality": optimality}, plan, {"promises": []})  # of a release with broken facts too
    assert said in page


def test_bound_is_rounded_down_and_gap_up() -> None:
    found = hr.bound(PEOPLE, plan_with(), effort="1s")
    written = found.to_dict()
    assert Fraction(str(written["at_least"])) <= found.at_least
    assert written["gap"] == 0 or Fraction(str(written["gap"])) >= found.loss / found.at_least - 1


def test_nodes_follow_from_costs() -> None:
    path, cost = nodes_by_cost(np.array([0, 2, 1, 2]))
    assert cost[path].tolist() == [[2, 0, 0], [2, 0, 0], [2, 1, 0], [2, 1, 0], [2, 0, 0]]
    assert path[0].tolist() == path[1].tolist()  # nothing is lost between them

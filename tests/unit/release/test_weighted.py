"""Sampling weights in a plan: what they tell of a release is estimated, checked again, and said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import DataError, PlanError
from hedgerow.reports.verdict import verdict_on
from hedgerow.verification.promises.weights import _risk
from tests.cases.data import data
from tests.naive import sampled as naive

SEX, AGE = list("FMFMFMFMFMFM"), ["30", "31", "32", "33", "34", "35", "50", "51", "52", "53", "54", "55"]
WEIGHT = ["10", "20.5", "5", "1", "1", "100", "7", "7", "30", "2", "2", "2.25"]


def table(weight: Any = WEIGHT) -> pa.Table:
    return pa.table({"sex": SEX, "age": AGE, "w": weight})


def plan(role: str = "identifier", **more: Any) -> hr.Plan:
    asked = {
        "attributes": {"sex": "quasi-identifier", "age": {"role": "quasi-identifier", "intervals": "free"}, "w": role}
    }
    return hr.Plan.from_dict({**asked, "privacy": {"k": 2}, "weight": "w", **more})


def broken(found: Any) -> list[str]:
    return [promise.name for promise in found.promises if not promise.kept]


def estimate(groups: dict[Any, list[float]]) -> dict[str, float]:
    risks = [naive.individual_risk(len(weights), sum(weights)) for weights in groups.values()]
    sizes = [len(weights) for weights in groups.values()]
    expected = sum(risk * size for risk, size in zip(risks, sizes, strict=True))
    fewest = min(map(sum, groups.values()))
    return {"fewest_people": fewest, "highest": max(risks), "average": expected / sum(sizes), "expected": expected}


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_what_weights_tell_is_that_of_plain_loops_before_and_after(role: str) -> None:
    made = hr.anonymize(table(), plan(role))
    found = made.facts["estimated_risk"]
    after: dict[Any, list[float]] = {}
    before: dict[Any, list[float]] = {}
    for row, record in zip(
        zip(*(made.table[n].to_pylist() for n in ("sex", "age")), strict=True), made.record_of_row, strict=True
    ):
        after.setdefault(row, []).append(float(WEIGHT[record]))
        before.setdefault((SEX[record], AGE[record]), []).append(float(WEIGHT[record]))
    assert found["people"] == pytest.approx(sum(map(float, WEIGHT)))
    assert {name: found[name] for name in estimate(after)} == pytest.approx(estimate(after))
    assert found["before"] == pytest.approx({**estimate(before), "people": found["people"]})
    assert ("w" in made.table.column_names) == (role == "other")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 90), st.floats(1.0, 200.0))
def test_the_check_estimates_by_an_integral_what_is_made_by_a_series(records: int, times: float) -> None:
    assert _risk(records, records * times) == pytest.approx(naive.individual_risk(records, records * times), rel=1e-8)


@pytest.mark.parametrize("method", ["cluster", "lattice", "partition"])
def test_k_map_is_estimated_from_weights_and_called_so(method: str, tmp_path: Path) -> None:
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}}
    asked = plan(privacy={"k": 2, "k_map": 40}, withhold="50%")
    asked = asked.replace(attributes={**asked.to_dict()["attributes"], "age": age}, method=method)
    made = hr.anonymize(table(), asked, tmp_path / "out", link=tmp_path / "link.csv")
    assert made.facts["estimated_risk"]["fewest_people"] >= 40
    assert made.verification is not None
    assert "estimated by weights" in str(made.verification["k_map"].asked)
    whole = hr.verify(tmp_path / "out", table(), tmp_path / "link.csv")
    assert whole.kept
    assert "weights" in [promise.name for promise in whole.promises]
    alone = hr.verify(tmp_path / "out")  # the weights stayed behind
    assert "not added up" in str(alone["k_map"].found)
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    facts["estimated_risk"]["fewest_people"] = 39
    (tmp_path / "out" / "facts.json").write_text(json.dumps(facts))
    assert broken(hr.verify(tmp_path / "out")) == ["k_map"]
    assert broken(hr.verify(tmp_path / "out", table(), tmp_path / "link.csv")) == ["weights"]


@pytest.mark.parametrize("name", ["people", "expected", "highest", "weights_of_few"])
def test_estimates_that_are_not_so_are_refused(tmp_path: Path, name: str) -> None:
    hr.anonymize(table(), plan("other"), tmp_path / "out")
    assert hr.verify(tmp_path / "out").kept
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    facts["estimated_risk"][name] += 1
    (tmp_path / "out" / "facts.json").write_text(json.dumps(facts))
    assert broken(hr.verify(tmp_path / "out")) == ["weights"]


def test_weights_that_few_share_are_said_to_tell_rows_apart() -> None:
    found = hr.anonymize(table(), plan("other"))
    assert found.facts["estimated_risk"]["weights_of_few"] == 6  # all but 7, 2 and 1, which two or more have
    assert any("tells them apart" in remark.text for remark in verdict_on(found).remains)
    even = hr.anonymize(table(["7"] * 12), plan("other"))
    assert even.facts["estimated_risk"]["weights_of_few"] == 0
    assert not any("tells them apart" in remark.text for remark in verdict_on(even).remains)
    kept = hr.anonymize(table(), plan())
    assert "weights_of_few" not in kept.facts["estimated_risk"]


def test_the_order_of_rows_changes_nothing() -> None:
    order = [7, 3, 11, 0, 5, 1, 9, 2, 10, 4, 8, 6]
    asked = plan(privacy={"k": 2, "k_map": 40}, withhold="50%")
    one, other = hr.anonymize(table(), asked), hr.anonymize(table().take(order), asked)
    assert one.table.equals(other.table)
    assert one.facts == other.facts


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (["x", *WEIGHT[1:]], "1 records have no weight above 0"),
        (["0"] * 12, "12 records"),
        ([None, *WEIGHT[1:]], "1 rec"),
    ],
)
def test_records_without_a_weight_are_refused(weight: list[Any], match: str) -> None:
    with pytest.raises(DataError, match=match):
        hr.anonymize(table(weight), plan())


def test_plans_of_weights_that_contradict_themselves_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="must be other or identifier"):
        plan("sensitive")
    with pytest.raises(PlanError, match="person of its own"):
        plan(person="w")
    with pytest.raises(DataError, match="no table of it is given"):
        hr.anonymize(table(), plan(privacy={"k": 2, "presence": 0.5}))
    with pytest.raises(PlanError, match="cannot be maintained"):
        hr.create_release(table().append_column("id", pa.array(map(str, range(12)))), plan(key="id"), tmp_path / "s.db")


def test_a_release_of_testdata_lowers_the_risk_that_is_known_of_it() -> None:
    """sdcMicro's table and its risk of the records as they are: ``risk.json``, keys of case A without water."""
    file = data("sdc/testdata.csv")[0]
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    attributes: dict[str, Any] = dict.fromkeys(keys, "quasi-identifier")
    attributes["age"] = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}}
    made = hr.anonymize(
        file, hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, "weight": "sampling_weight"})
    )
    found = made.facts["estimated_risk"]
    assert found["people"] == 458_000
    assert found["before"]["expected"] == pytest.approx(91.3423988313, rel=0.005)  # there f ≥ 3 is an approximation
    assert found["expected"] < found["before"]["expected"] / 3
    assert math.isclose(found["before"]["average"], found["before"]["expected"] / 4580, rel_tol=1e-9)


MEAN: Any = {"role": "other", "publish": "mean"}
ROUNDED: Any = {"role": "other", "treat": {"round": 10}}
ROOM = [str(weight) for weight in (14, 20.5, 16, 11, 21, 100, 27, 27, 30, 12, 22, 12.25)]


@pytest.mark.parametrize("weights", [ROOM, [float(weight) for weight in ROOM]])
@pytest.mark.parametrize("method", ["cluster", "lattice", "partition"])
def test_means_of_groups_keep_sums_and_tell_nobody_apart(weights: list[Any], method: str, tmp_path: Path) -> None:
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}}
    columns = {**plan(MEAN).to_dict()["attributes"], "age": age}
    asked = plan().replace(attributes=columns, method=method)
    made = hr.anonymize(table(weights), asked, tmp_path / "out", link=tmp_path / "link.csv")
    rows = list(zip(*(made.table[name].to_pylist() for name in ("sex", "age", "w")), strict=True))
    behind: dict[Any, list[float]] = {}
    for (sex, shown, _), record in zip(rows, made.record_of_row.tolist(), strict=True):
        behind.setdefault((sex, shown), []).append(float(ROOM[record]))
    for sex, shown, weight in rows:
        assert float(weight) == pytest.approx(sum(behind[sex, shown]) / len(behind[sex, shown]), abs=6e-7)
    found = made.facts["estimated_risk"]
    assert found["weights_of_few"] == 0
    assert found["people"] == pytest.approx(found["before"]["people"], abs=1e-5)
    assert found["before"]["people"] == pytest.approx(sum(map(float, ROOM)))
    as_they_were = hr.anonymize(
        table(weights), asked.replace(attributes={**asked.to_dict()["attributes"], "w": "other"})
    )
    same = ("fewest_people", "highest", "average", "expected")
    assert {name: found[name] for name in same} == {name: as_they_were.facts["estimated_risk"][name] for name in same}
    for beside in ({}, {"original": table(weights)}, {"original": table(weights), "link": tmp_path / "link.csv"}):
        assert not broken(hr.verify(tmp_path / "out", **beside))
    remarks = {remark.code: remark.text for remark in verdict_on(tmp_path / "out").remarks}
    assert "as means of groups" in remarks["weights-changed"]
    assert "weights" not in remarks
    assert "exact-columns" not in remarks


def test_rounded_weights_are_estimated_by_and_both_sums_are_told(tmp_path: Path) -> None:
    made = hr.anonymize(table(ROOM), plan(ROUNDED), tmp_path / "out", link=tmp_path / "link.csv")
    rounded = [round(float(weight) / 10) * 10 for weight in ROOM]
    assert [float(weight) for weight in made.table["w"].to_pylist()] == [rounded[at] for at in made.record_of_row]
    found = made.facts["estimated_risk"]
    assert found["people"] == sum(rounded)
    assert found["before"]["people"] == sum(map(float, ROOM))
    assert not broken(hr.verify(tmp_path / "out", table(ROOM), tmp_path / "link.csv"))
    (remark,) = [one for one in verdict_on(tmp_path / "out").remarks if one.code == "weights-changed"]
    assert remark.text.endswith(f"as rounded: they add up to {sum(rounded)} people, 312.75 as they were.")
    with pytest.raises(DataError, match="no weight above 0") as error:
        hr.anonymize(table(), plan(ROUNDED))
    assert "smaller step" in str(error.value)


@pytest.mark.parametrize("shown", [MEAN, ROUNDED])
def test_weights_that_are_not_what_is_said_are_found(shown: Any, tmp_path: Path) -> None:
    made = hr.anonymize(table(ROOM), plan(shown), tmp_path / "out", link=tmp_path / "link.csv", format="csv")
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    first, second = (line.rsplit(",", 1) for line in lines[1:3])
    lines[1:3] = [f"{first[0]},{float(first[1]) + 10:g}", f"{second[0]},{float(second[1]) - 10:g}"]  # the sum stays
    (tmp_path / "out" / "data.csv").write_text("\n".join(lines) + "\n")
    wanted = "weights" if shown is MEAN else "truthful"
    assert wanted in broken(hr.verify(tmp_path / "out", table(ROOM), tmp_path / "link.csv"))
    if shown is MEAN:  # without the original, too: groups show one weight
        assert "weights" in broken(hr.verify(tmp_path / "out"))
    facts = dict(made.facts)
    facts["estimated_risk"] = {
        **facts["estimated_risk"],
        "before": {**facts["estimated_risk"]["before"], "people": 1.0},
    }
    (tmp_path / "out" / "facts.json").write_text(json.dumps(facts, default=float))
    assert "weights" in broken(hr.verify(tmp_path / "out", table(ROOM), tmp_path / "link.csv"))


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_rows_with_means_of_weights_depend_on_sums_alone(data: st.DataObject) -> None:
    """Whoever swaps weights inside a group changes nothing that is published: not even the order of rows."""
    ill = data.draw(st.lists(st.sampled_from("xyz"), min_size=12, max_size=12))
    wide = {"role": "quasi-identifier", "hierarchy": {"tree": {"*": sorted(set(AGE))}}}
    columns = {"sex": "quasi-identifier", "age": wide, "w": MEAN, "ill": "sensitive"}
    asked = plan().replace(attributes=columns, method={"name": "lattice", "levels": {"sex": 0, "age": 1}})
    releases = []
    for weights in (ROOM, [*reversed(ROOM[::2]), *reversed(ROOM[1::2])]):
        women, men = (weights[::2], weights[1::2]) if weights is ROOM else (weights[:6], weights[6:])
        mixed = [weight for pair in zip(women, men, strict=True) for weight in pair]
        rows = pa.table({"sex": SEX, "age": AGE, "w": mixed, "ill": ill})
        releases.append(hr.anonymize(rows, asked).table)
    assert releases[0].equals(releases[1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"w": {**MEAN, "treat": {"round": 5}}}, "not rounded too"),
        ({"age": {"role": "other", "publish": "mean"}, "w": "other"}, "'age' is not the plan's 'weight'"),
        ({"w": {"role": "identifier", "publish": "mean"}}, "cannot have 'publish'"),
        ({"w": {"role": "other", "publish": "median"}}, "no median of its groups"),
    ],
)
def test_means_are_of_the_plan_s_weight_alone(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        hr.Plan.from_dict({**plan().to_dict(), "attributes": {**plan().to_dict()["attributes"], **changes}})


def test_a_release_with_means_of_weights_is_not_applied(tmp_path: Path) -> None:
    hr.anonymize(table(ROOM), plan(MEAN), tmp_path / "out")
    with pytest.raises(DataError, match="means of sampling weights by group"):
        hr.apply(tmp_path / "out", table(ROOM))

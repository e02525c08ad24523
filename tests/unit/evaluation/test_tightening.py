"""Proposed limits: from the command line, from Python and in drafts, and what they keep to."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.evaluation.tightening.columns import middle_cut, roundest
from tests.cases.commands import WIDE, Command

QI = "quasi-identifier"
CITY = {"US": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = random.Random(7)
    return pa.table(
        {
            "age": [str(int(draw.triangular(18, 90, 35))) for _ in range(400)],
            "city": draw.choices(["Wichita", "Topeka", "Lincoln", "Omaha"], [6, 3, 2, 1], k=400),
            "sex": draw.choices("fm", k=400),
            "pay": [str(draw.randint(0, 20) * 1000 - 2000) for _ in range(400)],
        }
    )


def plan(k: int = 5, **attributes: Any) -> hr.Plan:
    usual = {"age": {"role": QI, "hierarchy": {"bands": [5, 10, 20]}}, "sex": QI,
             "city": {"role": QI, "hierarchy": {"tree": CITY}}}  # fmt: skip
    return hr.Plan.from_dict({"attributes": {**usual, **attributes}, "privacy": {"k": k}})


def test_by_hand() -> None:
    """Kansas has three people, Nebraska one: with k = 3, the state could be kept at the cost of one of four."""
    table = pa.table({"city": ["Wichita", "Wichita", "Topeka", "Omaha"]})
    asked = hr.Plan.from_dict({"attributes": {"city": {"role": QI, "hierarchy": {"tree": CITY}}}, "privacy": {"k": 3}})
    assert hr.propose_limits(table, asked, withhold=0).limits[0].limit is None
    found = hr.propose_limits(table, asked, withhold=1)
    assert found.plan.attributes["city"].limit == hr.plan.Limit(level=1)
    assert (found.withheld, found.most_loss, found.most_loss_before) == (1, 0.625, 1.0)  # 3 × ½ + 1, of 4
    assert found.note("city") == "keeps 2 classes apart, none above level 1; withholds 25 %"


def test_what_is_stated_is_what_explain_and_anonymize_find(people: pa.Table) -> None:
    found = hr.propose_limits(people, plan(), withhold="3%")
    explained = hr.explain(people, found.plan)
    assert (found.withheld, found.allowed) == (explained.withheld, 12)
    assert found.withheld <= found.allowed
    release = hr.anonymize(people, found.plan)
    assert release.facts["records"] - release.facts["released"] == found.withheld
    causes = {cause.attribute: (cause.alone, cause.saves) for cause in explained.causes}
    assert {one.attribute: (one.alone, one.saves) for one in found.limits if one.limit} == causes


def test_a_larger_share_never_promises_less(people: pa.Table) -> None:
    losses = [hr.propose_limits(people, plan(), withhold=share).most_loss for share in ("0%", "10%", "40%")]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < 1


def test_the_order_of_rows_does_not_matter(people: pa.Table) -> None:
    order = list(range(people.num_rows))
    random.Random(3).shuffle(order)
    assert hr.propose_limits(people.take(order), plan()).to_dict() == hr.propose_limits(people, plan()).to_dict()


def test_limits_that_are_there_stay_and_count(people: pa.Table) -> None:
    limited = plan(age={"role": QI, "intervals": "free", "limit": {"width": 6}})
    found = hr.propose_limits(people, limited, withhold="20%")
    assert [one.attribute for one in found.limits] == ["sex", "city"]
    assert found.plan.attributes["age"] == limited.attributes["age"]
    assert hr.explain(people, found.plan).withheld == found.withheld <= 80
    (anew,) = hr.propose_limits(people, limited, withhold="20%", attributes=["age"]).limits
    assert anew.limit != limited.attributes["age"].limit


def test_where_too_many_are_withheld_already_nothing_is_proposed(people: pa.Table) -> None:
    found = hr.propose_limits(people, plan(k=500), withhold="1%")
    assert [one.limit for one in found.limits] == [None, None, None]
    assert found.note("age") == "none, for without any, more than 1% must be withheld already"
    assert found.withheld == 400


def test_a_rule_of_the_plan_is_the_first_cut_tried(people: pa.Table) -> None:
    free = plan(age={"role": QI, "intervals": "free"}).to_dict()
    rule = {"attribute": "age", "keep_apart": [64, 65]}
    ruled = hr.propose_limits(people, hr.Plan.from_dict({**free, "rules": [rule]}))
    without = hr.propose_limits(people, hr.Plan.from_dict(free))
    limits = [found.plan.to_dict()["attributes"]["age"]["limit"] for found in (ruled, without)]
    assert 65 in limits[0]["cuts"]
    assert 65 not in limits[1]["cuts"]
    assert "64 | 65" in ruled.note("age")


def test_cuts_lie_on_the_grid(people: pa.Table) -> None:
    pay = {"role": QI, "intervals": "free", "snap": 2500}
    found = hr.propose_limits(people, plan(pay=pay))
    limit = found.plan.attributes["pay"].limit
    assert limit is not None
    assert limit.cuts
    assert all(cut % 2500 == 0 for cut in limit.cuts)


def test_weight_steers(people: pa.Table) -> None:
    def loss_of_age(weight: int) -> float:
        age = {"role": QI, "hierarchy": {"bands": [5, 10, 20]}, "weight": weight}
        limited = hr.propose_limits(people, plan(age=age), withhold="2%").plan
        alone = {"attributes": {"age": limited.to_dict()["attributes"]["age"]}, "privacy": {"k": 5}}
        return hr.propose_limits(people, hr.Plan.from_dict(alone), attributes=[], withhold="99%").most_loss

    assert loss_of_age(50) < loss_of_age(1)


def test_persons_and_missing_and_unknown_values_are_counted(people: pa.Table) -> None:
    rows = people.append_column("who", pa.array([str(at // 2) for at in range(400)]))
    rows = rows.set_column(
        0, "age", pa.array([None if at % 9 == 0 else age for at, age in enumerate(rows["age"].to_pylist())])
    )
    rows = rows.set_column(
        1, "city", pa.array(["Gotham" if at % 50 == 0 else c for at, c in enumerate(rows["city"].to_pylist())])
    )
    city = {"role": QI, "hierarchy": {"tree": CITY}, "unknown": "withhold"}
    asked = plan(city=city, age={"role": QI, "intervals": "free"}).replace(person="who")
    found = hr.propose_limits(rows, asked, withhold="6%")
    assert 8 <= found.withheld <= 24
    assert hr.explain(rows, found.plan).withheld == found.withheld
    own = plan(city={**city, "unknown": "own-leaf-under-root"})
    proposed = hr.propose_limits(rows, own, withhold="10%")
    assert "Gotham" not in json.dumps(proposed.to_dict(), default=str)  # nobody named it


@pytest.mark.parametrize(
    ("numbers", "counts", "unit", "cut"),
    [
        (range(100), [1] * 100, 1, 50),
        ([0, 7], [9, 1], 1, 5),  # half of them share the first: it is split off, at the roundest point
        ([0, 7], [1, 9], 1, 5),
        ([-30, -20, -10, 0], [1, 1, 1, 1], 1, -20),
        ([-7, 5], [1, 1], 1, 0),
        ([25, 50, 75, 100, 125], [1] * 5, 25, 100),
    ],
)
def test_round_points(numbers: Any, counts: list[int], unit: int, cut: int) -> None:
    assert middle_cut(list(numbers), counts, unit) == cut


def test_a_round_point_lies_where_it_must_for_every_pair() -> None:
    for low in range(-60, 60):
        for high in range(low + 1, 61):
            assert low < roundest(low, high, 0, 1) <= high


# -- command line and drafts -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_demo(tmp_path, clinic(records=400))
    (tmp_path / "bare.yaml").write_text(
        "attributes:\n  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}\n  sex: quasi-identifier\n"
        "  diagnosis: sensitive\nprivacy: {k: 5, p: 2}\n"
    )
    return tmp_path


def test_a_plan_gets_limits_that_hold(folder: Path, command: Command) -> None:
    done = command(
        "plan", "limits", "patients.csv", "bare.yaml", "--withhold", "4%", "-o", "new.yaml", cwd=folder, **WIDE
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "may be withheld   16 of 400 records (4%)" in done.stdout
    assert "wrote new.yaml" in done.stdout
    made = hr.Plan.load(folder / "new.yaml")
    assert made.withhold is not None
    assert made.withhold.at_most == "4%"
    assert hr.explain(folder / "patients.csv", made).withheld <= 16
    again = command("plan", "limits", "patients.csv", "bare.yaml", "-o", "new.yaml", cwd=folder)
    assert again.returncode == 2
    assert "never overwritten" in again.stderr
    told = json.loads(
        command("plan", "limits", "patients.csv", "new.yaml", "--columns", "sex", "--json", cwd=folder).stdout
    )
    assert [one["attribute"] for one in told["limits"]] == ["sex"]
    assert (told["at_most"], told["plan"]["privacy"]["k"]) == ("4%", 5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--columns", "agee"), "did you mean 'age'?"),
        (("--withhold", "many"), "write it like 5% or 100"),
    ],
)
def test_what_means_nothing_is_refused(folder: Path, command: Command, words: tuple[str, str], said: str) -> None:
    done = command("plan", "limits", "patients.csv", "bare.yaml", *words, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr


def test_limits_of_a_plan_that_ignores_them_are_refused(people: pa.Table) -> None:
    with pytest.raises(hr.HedgerowError, match="ignores limits"):
        hr.propose_limits(people, plan().replace(method={"name": "cluster", "limits": "ignore"}))


def test_a_draft_with_limits_is_a_plan_that_says_what_each_keeps_and_costs(folder: Path, command: Command) -> None:
    done = command("plan", "draft", "patients.csv", "--limits", "--withhold", "10%", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    drafted = hr.Plan.loads(done.stdout)
    assert drafted.withhold is not None
    assert hr.explain(folder / "patients.csv", drafted).withheld <= 40
    assert done.stdout.count("# Proposed limit: ") == len(drafted.quasi_identifiers)
    assert re.search(r"withholds .* together with\s+(# )?the others", done.stdout)
    refused = command("plan", "draft", "patients.csv", "--withhold", "10%", cwd=folder)
    assert refused.returncode == 2
    assert "--limits" in refused.stderr


def test_no_cell_of_the_clinic_stands_in_its_draft_with_limits(tmp_path: Path) -> None:
    patients = clinic()
    path, _ = write_demo(tmp_path, patients)
    said = re.sub(r"bands: \[.*?\]|limit: \[[-0-9, ]*\]", "", hr.draft_plan(path, limits=True, withhold="20%"))
    assert "limit: " in said
    assert not {cell for cells in patients.columns.values() for cell in set(cells) if len(cell) > 3 and cell in said}

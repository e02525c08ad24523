"""A release on the lattice that is kept current: its levels stay while they hold."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import HedgerowError, NoSolution, PlanError
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.plan import Plan

TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}


def people(size: int, start: int = 0, ages: tuple[int, int] = (20, 39), cities: str = "a1 a2 b1 b2") -> pa.Table:
    rng = random.Random(start)
    keys = [f"p{number:03}" for number in range(start, start + size)]
    return pa.table(
        {
            "id": keys,
            "age": [str(rng.randint(*ages)) for _ in keys],
            "city": [rng.choice(cities.split()) for _ in keys],
            "ill": [rng.choice(["flu", "cold", "gout"]) for _ in keys],
        }
    )


def plan_of(method: dict[str, Any] | None = None, **changes: Any) -> Plan:
    raw = {
        "key": "id",
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
            "city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
            "ill": "sensitive",
        },
        "privacy": {"k": 3},
        "method": {"name": "lattice", **(method or {})},
    }
    return Plan.from_dict({**raw, **changes})


METHODS: dict[str, dict[str, Any]] = {
    "loss": {},
    "discernibility": {"objective": "discernibility"},
    "research value": {"objective": "research-value"},
    "local search": {"objective": "research-value", "search": "local"},
    "whole levels": {"limits": "whole-levels"},
}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("what", METHODS)
@pytest.mark.parametrize("withhold", [None, "10%"])
def test_the_first_version_is_what_anonymize_makes(tmp_path: Path, what: str, withhold: str | None) -> None:
    plan = plan_of(METHODS[what], **({} if withhold is None else {"withhold": withhold}))
    hr.anonymize(people(60), plan, tmp_path / "static")
    with create_release(people(60), plan, tmp_path / "x.store") as release:
        release.export(1, tmp_path / "one")
    assert files(tmp_path / "one") == files(tmp_path / "static")


@pytest.mark.parametrize("rule", ["free", "only-coarser"])
@pytest.mark.parametrize("what", METHODS)
def test_whatever_happens_every_version_is_as_it_was_written(tmp_path: Path, what: str, rule: str) -> None:
    plan = plan_of(METHODS[what], republish=rule, withhold="5%")
    with create_release(people(60), plan, tmp_path / "x.store") as release:
        release.insert(people(20, 100))
        release.delete(keys=[f"p{number:03}" for number in range(0, 40, 2)])
        release.update(people(5, 50))
        release.insert(people(2, 200, ages=(90, 99)))
        if rule == "free":
            release.restart()
        release.erase(["p001"])
        levels = [tuple(row.facts["levels"].values()) for row in release.history()]
        if rule == "only-coarser":
            for before, after in itertools.pairwise(levels):
                assert all(a <= b for a, b in zip(before, after, strict=True))
        checked = release.check()
        assert checked["chain"]
        assert checked["verification"]["kept"]
        assert json.loads(json.dumps(release.release().facts)) == release.history()[-1].facts


def test_levels_stay_while_they_hold(tmp_path: Path) -> None:
    with create_release(people(60), plan_of(), tmp_path / "x.store") as release:
        before = release.history()[0].facts
        version = release.insert(people(40, 100))
        assert version.facts["levels"] == version.facts["levels_before"] == before["levels"]
        assert "lattice" not in version.facts  # nothing was searched
        assert version.counts["steps"] == {"raised": 0, "lowered": 0}


def few(ages: list[int], start: int = 0) -> pa.Table:
    keys = [f"q{number}" for number in range(start, start + len(ages))]
    rows = {"id": keys, "age": [str(age) for age in ages], "city": ["a1"] * len(ages), "ill": ["flu"] * len(ages)}
    return pa.table(rows)


def ages_of(release: MaintainedRelease) -> list[str]:
    return sorted(release.release().table.column("age").to_pylist())


def test_levels_rise_to_the_nearest_that_hold(tmp_path: Path) -> None:
    with create_release(few([20, 20, 20, 27, 27, 27]), plan_of(), tmp_path / "x.store") as release:
        assert ages_of(release) == ["20"] * 3 + ["27"] * 3
        version = release.delete(keys=["q0"])
        assert version.facts["levels"] == {"age": 2, "city": 0}  # 20-24 and 25-29 have too few, too
        assert version.counts["steps"]["raised"] == 2
        assert ages_of(release) == ["20-29"] * 5
        version = release.insert(few([20], 9))
        assert version.facts["levels"] == {"age": 2, "city": 0}  # they stay where they are
        assert version.scores["ntil"] > version.scores["fresh_ntil"] == 0
        assert version.scores["drift"] is None  # of nothing there is no share


def test_optimizing_lowers_levels_and_restarting_finds_the_best(tmp_path: Path) -> None:
    with create_release(few([20, 20, 20, 27, 27, 27]), plan_of(), tmp_path / "x.store") as release:
        release.delete(keys=["q0"])
        assert release.optimize().verb == "delete"  # they are the lowest
        release.insert(few([20], 9))
        assert release.optimize().facts["levels"] == {"age": 0, "city": 0}
        assert release.restart().facts["lattice"]["checked"] > 0
        with pytest.raises(PlanError):
            release.optimize(improve="quick")


def test_levels_only_rise_under_only_coarser(tmp_path: Path) -> None:
    plan = plan_of(republish="only-coarser")
    with create_release(few([20, 20, 20, 27, 27, 27]), plan, tmp_path / "x.store") as release:
        release.delete(keys=["q0"])
        release.insert(few([20], 9))
        assert ages_of(release) == ["20-29"] * 6
        for change in (release.optimize, release.restart):
            with pytest.raises(PlanError):
                change()
        assert "only-coarser" in {promise["name"] for promise in release.history()[-1].verification["promises"]}


def test_a_budget_holds_people_back_before_levels_rise(tmp_path: Path) -> None:
    plan = plan_of(withhold={"at_most": 2})
    with create_release(few([20, 20, 20, 27, 27, 27]), plan, tmp_path / "x.store") as release:
        version = release.delete(keys=["q0"])
        assert (version.counts["held_back"], version.counts["released"]) == (2, 3)
        assert version.facts["levels"] == {"age": 0, "city": 0}
        assert release.insert(few([20], 9)).counts["held_back"] == 0


def test_a_change_that_no_levels_allow_changes_nothing(tmp_path: Path) -> None:
    with create_release(few([20, 20, 20, 27, 27, 27]), plan_of(), tmp_path / "x.store") as release:
        with pytest.raises(HedgerowError) as caught:
            release.delete(keys=["q0", "q1", "q2", "q3"])
        assert isinstance(caught.value, NoSolution)
        assert release.head == 1


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    chains = []
    for number, turn in enumerate((lambda rows: rows, lambda rows: rows.take(list(range(rows.num_rows))[::-1]))):
        with create_release(turn(people(60)), plan_of(withhold=3), tmp_path / f"{number}.store") as release:
            release.insert(turn(people(15, 100)))
            release.delete(turn(people(9, 20).select(["id"])))
            chains.append([row.chain for row in release.history()])
    assert chains[0] == chains[1]
    with open_release(tmp_path / "0.store") as release:
        assert release.audit().to_dict()["versions"] == 3

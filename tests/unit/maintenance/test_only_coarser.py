"""``republish: only-coarser``: what was published is never published narrower; what that costs, and who may know."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from hedgerow.errors import BrokenPromise, PlanError
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.maintenance.archive import Archive
from hedgerow.maintenance.changes.boxes import KeptBoxes
from hedgerow.plan import Plan
from hedgerow.reports.terminal.maintained import change_summary
from hedgerow.verification import verify_release

AGE: dict[str, Any] = {"role": "quasi-identifier", "intervals": "free"}


def plan_of(k: int = 2, **attributes: Any) -> Plan:
    return Plan.from_dict(
        {"key": "id", "attributes": attributes or {"age": AGE}, "privacy": {"k": k}, "republish": "only-coarser"}
    )


def people(keys: str, ages: Sequence[object], **other: Sequence[object]) -> pa.Table:
    columns = {"age": ages, **other}
    return pa.table({"id": list(keys), **{name: [str(cell) for cell in cells] for name, cells in columns.items()}})


@contextlib.contextmanager
def begun(store: Path, plan: Plan, first: pa.Table, *later: pa.Table) -> Iterator[MaintainedRelease]:
    """A release of which each table makes groups of its own."""
    with create_release(first, plan, store) as release:
        for rows in later:
            release.insert(rows)
        yield release


def shown(release: MaintainedRelease, version: int | None = None, name: str = "age") -> list[str]:
    return sorted(str(cell) for cell in release.release(version).table.column(name).to_pylist())


def test_those_who_remain_are_published_as_before(tmp_path: Path) -> None:
    with create_release(people("abc", [1, 2, 9]), plan_of(), tmp_path / "x.store") as release:
        assert shown(release) == ["1-9"] * 3
        version = release.delete(keys=["c"])
        assert shown(release) == ["1-9"] * 2
        assert version.verification["kept"]
        assert "only-coarser" in {promise["name"] for promise in version.verification["promises"]}


def test_the_owner_is_told_what_it_costs_and_nobody_else(tmp_path: Path) -> None:
    with begun(tmp_path / "x.store", plan_of(), people("abc", [1, 2, 9]), people("def", [20, 21, 22])) as release:
        assert "narrowest_ntil" not in release.history()[0].scores
        version = release.delete(keys=["c"])
        whole, narrow = 2 * 8 + 3 * 2, 2 * 1 + 3 * 2  # widths, of records that remain
        assert version.scores["ntil"] == pytest.approx(whole / 5 / 21)
        assert version.scores["narrowest_ntil"] == pytest.approx(narrow / 5 / 21)
        release.export(3, tmp_path / "out")
        facts = json.loads((tmp_path / "out" / "facts.json").read_text())
        assert facts["republish"] == "only-coarser"
        assert "exact_end_points" not in facts  # nobody is at 9 any more
        assert "narrow" not in json.dumps(facts)
        assert release.release().told["narrowest_ntil"] == version.scores["narrowest_ntil"]


def test_ends_that_nobody_has_count_in_the_range_of_a_column(tmp_path: Path) -> None:
    with create_release(people("abc", [1, 2, 9]), plan_of(), tmp_path / "x.store") as release:
        assert release.delete(keys=["c"]).scores["ntil"] == 1  # as before: 1-9 is all there is


def test_a_merged_group_holds_both_boxes(tmp_path: Path) -> None:
    with begun(tmp_path / "x.store", plan_of(), people("abc", [1, 2, 9]), people("def", [20, 28, 29])) as release:
        assert shown(release) == ["1-9"] * 3 + ["20-29"] * 3
        release.delete(keys=["c", "d"])
        assert shown(release) == ["1-9"] * 2 + ["20-29"] * 2
        release.delete(keys=["f"])
        assert shown(release) == ["1-29"] * 3


def test_who_was_held_back_comes_out_no_narrower(tmp_path: Path) -> None:
    with begun(tmp_path / "x.store", limited(), people("abc", [1, 2, 9]), people("def", [20, 28, 29])) as release:
        assert shown(release) == ["1-9"] * 3 + ["20-29"] * 3
        release.delete(keys=["b", "c"])
        assert shown(release) == ["20-29"] * 3
        version = release.insert(people("gh", [1, 2]))
        assert version.counts["held_back"] == 0
        assert shown(release) == ["1-9"] * 3 + ["20-29"] * 3


def limited() -> Plan:
    return plan_of(age={**AGE, "limit": {"cuts": [15]}})


def test_a_cell_that_would_break_a_limit_of_width_keeps_its_record_back(tmp_path: Path) -> None:
    plan = plan_of(age={**AGE, "limit": {"width": 9}})
    with create_release(people("abc", [1, 2, 9]), plan, tmp_path / "x.store") as release:
        release.delete(keys=["b"])
        assert shown(release) == ["1-9"] * 2
        release.insert(people("xyz", [40, 41, 42]))
        release.delete(keys=["c"])  # who is left was 1-9
        version = release.insert(people("gh", [-1, -2]))
        assert version.counts["held_back"] == 1  # with -2 it would be -2-9
        assert shown(release) == ["-2--1"] * 2 + ["40-42"] * 3


def test_who_changes_what_is_no_quasi_identifier_stays(tmp_path: Path) -> None:
    plan = plan_of(age=AGE, ill="sensitive")
    rows = people("abc", [1, 2, 9], ill=["flu", "flu", "gout"])
    with create_release(rows, plan, tmp_path / "x.store") as release:
        version = release.update(people("b", [2], ill=["cold"]))
        assert version.counts["held_back"] == 0
        assert shown(release) == ["1-9"] * 3
        assert shown(release, name="ill") == ["cold", "flu", "gout"]


def test_who_changes_to_what_the_cell_does_not_hold_is_free_in_that_column(tmp_path: Path) -> None:
    plan = plan_of(age=AGE, dose=AGE)
    rows = people("abc", [1, 2, 9], dose=[5, 6, 7])
    with create_release(rows, plan, tmp_path / "x.store") as release:
        release.update(people("bc", [50, 51], dose=[6, 7]))
        assert (shown(release), shown(release, name="dose")) == (["50-51"] * 2, ["5-7"] * 2)


def test_a_cell_beyond_the_limit_of_a_new_value_is_not_kept(tmp_path: Path) -> None:
    tree = {"all": {"Midwest": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Omaha"], "Iowa": ["Ames"]}}}
    town = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limits": ["Kansas", "Midwest"]}
    rows = people("abcdef", [1] * 6, town=["Omaha", "Ames", "Ames", "Wichita", "Topeka", "Topeka"])
    with create_release(rows, plan_of(town=town), tmp_path / "x.store") as release:
        assert shown(release, name="town") == ["Kansas"] * 3 + ["Midwest"] * 3
        version = release.update(people("ab", [1, 1], town=["Wichita", "Topeka"]))  # in the Midwest, but not so coarse
        assert version.counts["held_back"] == 1
        assert shown(release, name="town") == ["Kansas"] * 5


def test_intervals_of_fractions_stay_such(tmp_path: Path) -> None:
    with create_release(people("abc", [1, "1.5", 9]), plan_of(), tmp_path / "x.store") as release:
        assert shown(release) == ["[1, 9]"] * 3
        release.delete(keys=["b"])
        assert shown(release) == ["[1, 9]"] * 2  # 1-9 would say that both are whole


@pytest.mark.parametrize(("snap", "ages", "label"), [(5, [1, 2, 9], "0-9"), ("0.5", [1, 2, "1.2"], "[1, 2.5)")])
def test_ends_on_a_grid_stay_where_they_are(tmp_path: Path, snap: object, ages: list[object], label: str) -> None:
    plan = plan_of(age={**AGE, "snap": snap})
    with create_release(people("abc", ages), plan, tmp_path / "x.store") as release:
        assert shown(release) == [label] * 3
        release.delete(keys=["b" if snap == "0.5" else "c"])
        assert shown(release) == [label] * 2


def test_a_node_stays_although_one_child_alone_is_left_of_it(tmp_path: Path) -> None:
    tree = {"all": {"A": {"a": ["a1", "a2"], "aa": ["a3"]}, "B": ["b1"]}}
    plan = plan_of(town={"role": "quasi-identifier", "hierarchy": {"tree": tree}}, age=AGE)
    flat = plan_of(age={"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}})
    rows = people("abc", [1, 1, 1], town=["a1", "a2", "a3"])
    with create_release(rows, plan, tmp_path / "tree.store") as release:
        assert shown(release, name="town") == ["A"] * 3
        release.delete(keys=["c"])
        assert shown(release, name="town") == ["A"] * 2
    with create_release(people("abc", [21, 22, 33]), flat, tmp_path / "bands.store") as release:
        before = shown(release)
        release.delete(keys=["c"])  # no leaf is left of the other bands
        assert shown(release) == before[:2]


LEAVING = people("abcdef", [17, 18, 6, 8, 8, 18], ill=list("yyzyzz"))


def test_shrinking_tells_nothing(tmp_path: Path) -> None:
    plan = plan_of(age=AGE, ill="sensitive")
    with create_release(LEAVING, plan, tmp_path / "x.store") as release:
        version = release.delete(keys=["c", "d", "e"])
        assert shown(release) == ["8-18"] * 3
        assert version.audit["leaks"] == 0


def test_shrinking_would_have_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _as_narrow_as_can_be(monkeypatch)
    plan = plan_of(age=AGE, ill="sensitive")
    with create_release(LEAVING, plan, tmp_path / "x.store") as release:
        version = release.delete(keys=["c", "d", "e"])
        assert shown(release) == ["17-18"] * 3
        assert version.audit["leaks"] == 1
        assert version.audit["leavers"]["failing"] == 1


def _as_narrow_as_can_be(patch: pytest.MonkeyPatch, check: bool = False) -> None:
    """Let releases shrink, and the verifier be told nothing of it unless it shall check that."""
    patch.setattr(KeptBoxes, "widened", lambda self, microdata, recoding: recoding)
    if not check:
        before = Archive.labels_before
        patch.setattr(Archive, "labels_before", lambda *of: before(*of).slice(0, 0))


def test_the_verifier_lets_nothing_shrink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with create_release(people("abc", [1, 2, 9]), plan_of(), tmp_path / "x.store") as release:
        _as_narrow_as_can_be(monkeypatch, check=True)
        with pytest.raises(BrokenPromise) as caught:
            release.delete(keys=["c"])
        assert "'only-coarser'" in str(caught.value)
        assert release.head == 1


def test_the_verifier_judges_by_what_it_is_given(tmp_path: Path) -> None:
    rows = people("abc", [1, 2, 9])
    with create_release(rows, plan_of(), tmp_path / "x.store") as release:
        release.export(1, tmp_path / "one", link=tmp_path / "link.csv")
    told = [("1-9", True), ("1-8", True), ("0-9", False), ("[1, 9]", False), (None, True), ("2-5", True)]
    for label, kept in told:  # 1-8 is not true of 9, so it binds only the others
        before = pa.table({"record": [1, 3], "age": pa.array([label, None], pa.string())})
        found = verify_release(tmp_path / "one", rows, tmp_path / "link.csv", before)
        assert found["only-coarser"].kept == kept, label
        assert found.kept == kept


def test_the_change_says_what_it_costs(tmp_path: Path) -> None:
    with begun(tmp_path / "x.store", plan_of(), people("abc", [1, 2, 9]), people("def", [20, 21, 22])) as release:
        version = release.delete(keys=["c"])
        found = {
            "changed": True,
            "version": 3,
            "verb": "delete",
            "counts": version.counts,
            "scores": version.scores,
            "before": {"counts": release.history()[0].counts, "ntil": 0.1},
            "verified": True,
            "covered": {"how": "full"},
            "audit": version.audit,
            "republish": "only-coarser",
            "advise_above": None,
            "start_over": False,
        }
        with (console := Console(width=200)).capture() as drawn:
            console.print(change_summary(found))
        assert "0.0762 if every group were as narrow as its records" in drawn.get()


def test_versions_that_shrank_under_an_earlier_hedgerow_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "x.store"
    rows = people("abc", [1, 2, 9]), people("def", [20, 21, 22])
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "last_published", lambda *_: None)
        with begun(store, plan_of(), *rows) as release:
            release.delete(keys=["c"])
            assert shown(release) == ["1-2"] * 2 + ["20-22"] * 3
    with open_release(store) as release:
        assert "republish" not in release.history()[2].facts
        for number in (1, 2, 3):
            release.export(number, tmp_path / f"{number}")
        release.delete(keys=["f"])
        assert shown(release) == ["1-2"] * 2 + ["20-22"] * 2
        assert release.check()["verification"]["kept"]


def test_a_column_may_have_been_missing_everywhere(tmp_path: Path) -> None:
    rows = pa.table({"id": list("abc"), "age": pa.array([None] * 3, pa.string()), "dose": ["1", "2", "9"]})
    with create_release(rows, plan_of(age=AGE, dose=AGE), tmp_path / "x.store") as release:
        version = release.delete(keys=["c"])
        assert version.verification["kept"]
        assert release.release().table.to_pylist() == [{"age": None, "dose": "1-9"}] * 2
        assert release.update(people("ab", [5, 6], dose=[1, 2])).verification["kept"]
        assert shown(release) == ["5-6"] * 2


def test_people_are_not_grouped_anew(tmp_path: Path) -> None:
    with create_release(people("abc", [1, 2, 9]), plan_of(), tmp_path / "x.store") as release:
        for change in (release.optimize, release.restart):
            with contextlib.suppress(PlanError):
                change()
                pytest.fail("they must not be")
        assert release.head == 1

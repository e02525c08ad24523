"""Runs of the studio: kept with their plan, measured, and gone without a trace when they are removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow import Plan
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.studio.runs import Run, RunData
from hedgerow.studio.settings import Settings
from hedgerow.studio.stores import offered_stores, shown_store
from hedgerow.studio.workbench import Workbench

LONG = 120


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("session")
    data, plan = write_demo(folder, clinic(records=200))
    made = Run.start(1, "", RunData(str(data), "patients"), Plan.load(plan), folder)
    made.job.wait(LONG)
    return made


def test_a_run_is_named_by_what_was_asked(run: Run) -> None:
    assert run.title == "cluster, k = 5, 4 limits"


def test_a_run_keeps_its_plan_and_its_release(run: Run) -> None:
    assert run.state == "done"
    assert Plan.load(run.folder / "plan.yaml") == run.plan
    assert (run.release / "facts.json").is_file()
    assert run.folder.stat().st_mode & 0o777 == 0o700
    assert run.facts["records"] == 200
    assert run.verification["kept"]
    assert run.before_after["rows"]


def test_risks_follow_the_threshold(run: Run) -> None:
    smallest = run.facts["smallest_group"]
    assert run.risks(0.2)["prosecutor"]["highest"] == pytest.approx(1 / smallest)
    shares = [run.risks(threshold)["prosecutor"]["share_above_threshold"] for threshold in (0.33, 0.2, 0.09, 0.05)]
    assert shares == sorted(shares)
    assert shares[0] == 0


def test_patterns_belong_to_the_run_and_the_last_question_counts(run: Run) -> None:
    first = run.look_for_patterns("satisfaction")
    second = run.look_for_patterns("diagnosis")
    for job in (first, second):
        job.wait(LONG)
    assert first.state == "cancelled"
    assert run.patterns is second
    assert second.result["target"] == "diagnosis"


def test_a_run_that_is_closed_leaves_nothing(tmp_path: Path) -> None:
    data, plan = write_demo(tmp_path, clinic(records=200))
    made = Run.start(2, "mine", RunData(str(data), "patients"), Plan.load(plan), tmp_path)
    assert made.title == "mine"
    made.close()
    assert not made.running
    assert not made.folder.exists()


def test_a_workbench_ends_what_it_began(tmp_path: Path) -> None:
    data, plan = write_demo(tmp_path, clinic(records=200))
    bench = Workbench(tmp_path)
    job = bench.begin({"task": "patterns", "data": str(data), "plan": str(plan), "target": "diagnosis"})
    assert bench.busy
    bench.close()
    assert job.state == "cancelled"
    assert not bench.busy


# ---- stores ----------------------------------------------------------------------------------------------------------


def test_stores_of_the_folder_are_offered(tmp_path: Path) -> None:
    for name in ("b.store", "a.store", "c.csv"):
        (tmp_path / name).touch()
    assert [path.name for path in offered_stores(Settings(folder=tmp_path), "ann")] == ["a.store", "b.store"]
    assert offered_stores(Settings(folder=tmp_path / "none"), "ann") == []
    assert offered_stores(Settings(), "ann") == []


def test_the_place_of_a_store_is_shown_without_its_password() -> None:
    shown = shown_store("postgresql://ann:hunter2@db.example/health?schema=clinic&sslmode=require")
    assert "hunter2" not in shown
    assert shown.endswith("?schema=clinic")

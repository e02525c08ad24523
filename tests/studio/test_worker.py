"""The process that does the work of the studio: every task, cancelling, problems without values, and its end."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from hedgerow import Plan, anonymize
from hedgerow.evaluation.synthetic import clinic, write_demo
from hedgerow.studio import worker
from hedgerow.studio.archives import pack
from hedgerow.studio.before_after import before_and_after
from hedgerow.studio.jobs import Job
from hedgerow.studio.stores import look_at

LONG = 120
SECRET = "Zebra-77"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_demo(tmp_path_factory.mktemp("demo"), clinic(records=200))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Records that keep a worker busy for some seconds."""
    return write_demo(tmp_path_factory.mktemp("many"), clinic(records=30_000))


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, demo: tuple[Path, Path]) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("keyed")
    plan = Plan.load(demo[1]).replace(key="patient_number")
    (folder / "plan.yaml").write_text(plan.to_yaml())
    return demo[0], folder / "plan.yaml"


def done(task: dict[str, object]) -> Job:
    """Do a task to its end."""
    job = Job(task)
    job.wait(LONG)
    assert not job.running
    return job


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


# ---- releases --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, demo: tuple[Path, Path]) -> tuple[Job, Path]:
    output = tmp_path_factory.mktemp("made") / "release"
    task = {"task": "release", "data": str(demo[0]), "plan": str(demo[1]), "output": str(output)}
    return done(task), output


def test_a_release_has_the_bytes_of_the_library(
    made: tuple[Job, Path], demo: tuple[Path, Path], tmp_path: Path
) -> None:
    job, output = made
    anonymize(*demo, tmp_path / "release")
    assert job.state == "done"
    names = sorted(path.name for path in output.iterdir())
    assert names == ["data.csv", "facts.json", "plan.yaml"]
    for name in names:
        assert (output / name).read_bytes() == (tmp_path / "release" / name).read_bytes()
    stated = json.loads((output / "facts.json").read_text())
    told = job.result["facts"]  # the owner is told more: why records are withheld
    assert {name: told[name] for name in stated if name != "limits_by_attribute"} == {
        name: stated[name] for name in stated if name != "limits_by_attribute"
    }
    assert "withheld_because" in told
    assert "withheld_because" not in stated


def test_every_cell_was_checked_against_the_original(made: tuple[Job, Path]) -> None:
    found = made[0].result["verification"]
    assert found["kept"]
    assert "truthful" in [promise["name"] for promise in found["promises"]]


def test_only_the_owner_can_read_what_was_made(made: tuple[Job, Path]) -> None:
    assert all(path.stat().st_mode & 0o077 == 0 for path in made[1].iterdir())
    assert sorted(path.name for path in made[1].parent.iterdir()) == ["release"]  # no link table on disk


def test_records_before_and_after_belong_together(made: tuple[Job, Path], demo: tuple[Path, Path]) -> None:
    found = made[0].result["before_after"]
    columns, rows = found["columns"], found["rows"]
    plan = Plan.load(demo[1])
    assert found["linked"]
    assert columns == list(plan.released_columns)
    assert 0 < len(rows) <= 52
    original = [[row[name] or None for name in columns] for row in rows_of(demo[0])]
    released = [[row[name] or None for name in columns] for row in rows_of(made[1] / "data.csv")]
    kept = [columns.index(name) for name in plan.columns("sensitive", "other")]
    quasi = [columns.index(name) for name in plan.quasi_identifiers]
    by_group: dict[int, set[tuple[str | None, ...]]] = {}
    for row in rows:
        assert row["before"] in original
        if row["after"] is not None:
            assert row["after"] in released
            assert [row["before"][place] for place in kept] == [row["after"][place] for place in kept]
            by_group.setdefault(row["group"], set()).add(tuple(row["after"][place] for place in quasi))
    assert all(len(shown) == 1 for shown in by_group.values())
    assert len(by_group) > 1
    whole = Counter(tuple(row[place] for place in quasi) for row in released)  # groups are shown whole, or say so
    for group, shown in by_group.items():
        size, more = found["sizes"][group]
        assert (size, more) == (whole[next(iter(shown))], False)
        assert sum(row["group"] == group for row in rows) == min(size, 12)
    withheld = sum(row["after"] is None for row in rows)
    assert withheld == min(4, made[0].result["facts"]["withheld"])


def test_identifiers_are_not_shown_before_and_after(made: tuple[Job, Path], demo: tuple[Path, Path]) -> None:
    shown = json.dumps(made[0].result)
    assert not any(row["name"] in shown or row["patient_number"] in shown for row in rows_of(demo[0]))


def test_where_records_have_no_numbers_only_released_rows_are_shown(demo: tuple[Path, Path], tmp_path: Path) -> None:
    release = anonymize(*demo, tmp_path / "release", engine="duckdb")
    found = before_and_after(release, str(demo[0]))
    assert not found["linked"]
    assert len(found["rows"]) == 20
    first = rows_of(tmp_path / "release" / "data.csv")[0]
    assert found["rows"][0]["before"] is None
    assert found["rows"][0]["after"] == [first[name] or None for name in found["columns"]]


def test_an_archive_of_a_release_is_the_same_every_time(made: tuple[Job, Path], tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        pack(made[1], tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert (tmp_path / "one.zip").stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.namelist() == ["data.csv", "facts.json", "plan.yaml"]
        assert archive.read("data.csv") == (made[1] / "data.csv").read_bytes()


def test_a_cancelled_release_leaves_nothing(many: tuple[Path, Path], tmp_path: Path) -> None:
    for attempt in range(3):  # where nobody else has work, the release may be done before it is cancelled
        output = tmp_path / f"attempt {attempt}" / "release"
        output.parent.mkdir()
        job = Job({"task": "release", "data": str(many[0]), "plan": str(many[1]), "output": str(output)})
        for _ in range(600):
            if job.doing not in ("starting", "reading"):
                break
            time.sleep(0.05)
        assert job.doing != "starting"
        job.cancel()
        job.wait(LONG)
        if job.state != "done":
            break
    assert job.state == "cancelled"
    assert job.problems == ()
    assert list(output.parent.iterdir()) == []


def test_a_worker_ends_when_its_input_closes(many: tuple[Path, Path], tmp_path: Path) -> None:
    task = {"task": "release", "data": str(many[0]), "plan": str(many[1]), "output": str(tmp_path / "release")}
    command = [sys.executable, "-m", "hedgerow.studio.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        assert "doing" in process.stdout.readline()  # it is at work
        process.stdin.close()
        assert process.wait(30) != 0
    assert list(tmp_path.iterdir()) == []


# ---- patterns and reports --------------------------------------------------------------------------------------------


def test_patterns_are_compared(demo: tuple[Path, Path]) -> None:
    job = done({"task": "patterns", "data": str(demo[0]), "plan": str(demo[1]), "target": "diagnosis"})
    assert job.state == "done"
    assert job.result["original"]["target"] == job.result["runs"][0]["tree"]["target"] == "diagnosis"


def test_a_report_says_who_approves(made: tuple[Job, Path], demo: tuple[Path, Path], tmp_path: Path) -> None:
    task = {"task": "report", "release": str(made[1]), "data": str(demo[0]), "output": str(tmp_path / "r.html")}
    task |= {"threshold": 0.2, "sign_off": {"purpose": "teaching", "approver": "A. Steward", "review_by": "2027-01-31"}}
    job = done(task)
    assert job.result == {"kept": True}
    page = (tmp_path / "r.html").read_text()
    assert "A. Steward" in page
    assert "teaching" in page


def test_a_report_refuses_a_day_that_is_none(made: tuple[Job, Path], tmp_path: Path) -> None:
    task = {"task": "report", "release": str(made[1]), "data": None, "output": str(tmp_path / "r.html")}
    job = done(task | {"threshold": 0.2, "sign_off": {"review_by": "soon"}})
    assert job.state == "failed"
    assert [problem.code for problem in job.problems] == ["usage"]
    assert list(tmp_path.iterdir()) == []


# ---- maintained releases ---------------------------------------------------------------------------------------------


def test_a_maintained_release_goes_through_all_verbs(keyed: tuple[Path, Path], tmp_path: Path) -> None:
    data, plan = keyed
    rows = rows_of(data)
    store = str(tmp_path / "clinic.store")

    def write(name: str, records: list[dict[str, str]]) -> str:
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, records[0])
            writer.writeheader()
            writer.writerows(records)
        return str(tmp_path / name)

    def maintain(verb: str, **more: object) -> dict[str, object]:
        found = worker.maintain({"verb": verb, "store": store, **more}, lambda doing, at, total: None)
        assert found["verb"] == verb
        return found

    first = write("first.csv", rows[:150])
    assert maintain("create", data=first, plan=str(plan)) == {
        "verb": "create",
        "version": 1,
        "changed": True,
        "store": store,
    }
    assert maintain("insert", data=write("more.csv", rows[150:]))["version"] == 2
    assert (
        maintain("delete", data=write("gone.csv", [{"patient_number": row["patient_number"]} for row in rows[:9]]))[
            "version"
        ]
        == 3
    )
    changed = write("changed.csv", [{**row, "satisfaction": "1"} for row in rows[20:30]])
    assert maintain("update", data=changed)["changed"]
    again = maintain("update", data=changed)
    assert not again["changed"]
    maintain("optimize")
    maintain("restart")
    audit = maintain("audit")
    view = look_at(store)
    assert audit["versions"] == view.newest.number == len(view.versions)
    assert view.key == "patient_number"
    assert view.newest.counts["records"] == 191
    export = maintain("export", version=2, output=str(tmp_path / "two"))
    assert export["output"] == str(tmp_path / "two")
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["data.csv", "facts.json", "plan.yaml"]


def test_a_change_that_is_none_is_refused(keyed: tuple[Path, Path], tmp_path: Path) -> None:
    store = str(tmp_path / "clinic.store")
    task = {"task": "maintain", "store": store}
    assert done(task | {"verb": "create", "data": str(keyed[0]), "plan": str(keyed[1])}).state == "done"
    assert [problem.code for problem in done(task | {"verb": "close"}).problems] == ["usage"]
    again = done(task | {"verb": "insert", "data": str(keyed[0])})
    assert [problem.code for problem in again.problems] == ["duplicate-key"]
    assert look_at(store).newest.number == 1


# ---- problems --------------------------------------------------------------------------------------------------------


def test_problems_hold_no_values(tmp_path: Path) -> None:
    plan = {"attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}}}, "privacy": {"k": 2}}
    (tmp_path / "plan.yaml").write_text(Plan.from_dict(plan).to_yaml())
    (tmp_path / "people.csv").write_text(f"age\n31\n{SECRET}\n33\n34\n")
    task = {"data": str(tmp_path / "people.csv"), "plan": str(tmp_path / "plan.yaml"), "output": str(tmp_path / "out")}
    job = done({"task": "release", **task})
    assert job.state == "failed"
    assert job.problems
    assert not any(SECRET in str(problem.to_dict()) for problem in job.problems)
    assert not (tmp_path / "out").exists()


def test_what_was_not_foreseen_is_told_by_its_place_only() -> None:
    job = done({"task": "release", "data": SECRET})
    assert job.state == "failed"
    assert [problem.code for problem in job.problems] == ["internal"]
    assert "KeyError at worker.py:" in job.problems[0].message
    assert SECRET not in str(job.problems)


@pytest.mark.parametrize(
    "problems", [[], [{"code": "done-but", "message": "Done: version 2 is in the store. But why."}]]
)
def test_what_was_done_before_a_job_was_cancelled_is_not_denied(
    problems: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*_: object, **__: object) -> subprocess.Popen[str]:
        said = [*([{"problems": problems}] if problems else []), {"happened": "version 2 is in the store"}]
        program = f"import json, time; [print(json.dumps(one), flush=True) for one in {said}]; time.sleep(60)"
        words = [sys.executable, "-c", program]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    monkeypatch.setattr("hedgerow.studio.jobs.children.start", start)
    job = Job({"task": "maintain"})
    while not job._happened:
        time.sleep(0.02)
    job.cancel()
    job.wait(LONG)
    assert job.state == "failed"
    assert "Done: version 2 is in the store. But" in job.problems[0].message

"""``hedgerow report``, run as a user runs it: where the page goes, what is printed, exit codes."""

from __future__ import annotations

import json
import os
import random
import stat
from pathlib import Path

import pytest

from tests.conftest import Run

PLAN = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, limit: {level: 2}}
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4}
"""
SECRET = "Quasimodo"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, hedgerow: Run) -> Path:
    folder = tmp_path_factory.mktemp("made")
    draw = random.Random(1)
    rows = [
        f"{SECRET}{i},{draw.randint(18, 89)},{draw.choice('FM')},{draw.choice(['flu', 'cold', 'gout'])}"
        for i in range(120)
    ]
    (folder / "data.csv").write_text("name,age,sex,illness\n" + "\n".join(rows) + "\n")
    (folder / "plan.yaml").write_text(PLAN)
    assert hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(made, tmp_path / "work"))


def test_the_page_lies_beside_the_release(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("report", "release", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "meets k = 4 under the assumptions in the report" in done.stdout
    assert "report written to release-report.html" in done.stdout
    page = (folder / "release-report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert SECRET not in page
    assert sorted(path.name for path in (folder / "release").iterdir()) == ["data.csv", "facts.json", "plan.yaml"]
    assert hedgerow("verify", "release", cwd=folder).returncode == 0
    inside = hedgerow("report", ".", "--replace", cwd=folder / "release")
    assert inside.returncode == 0
    assert (folder / "release-report.html").read_text() == page


def test_an_earlier_report_stays_unless_it_may_be_replaced(folder: Path, hedgerow: Run) -> None:
    (folder / "mine.html").write_text("mine")
    done = hedgerow("report", "release", "-o", "mine.html", cwd=folder)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert (folder / "mine.html").read_text() == "mine"
    assert hedgerow("report", "release", "-o", "mine.html", "--replace", cwd=folder).returncode == 0
    assert (folder / "mine.html").read_text() != "mine"


def test_everything_that_is_signed(folder: Path, hedgerow: Run) -> None:
    words = [
        "--purpose", "a course & more", "--recipients", "students", "--approver", "Ann", "--role", "officer",
        "--date", "2026-11-15", "--review-by", "2027-11-15", "--assume", "They <signed>.", "--assume", "No copies.",
        "--threshold", "0.2", "--original", "data.csv",
    ]  # fmt: skip
    done = hedgerow("report", "release", "-o", "report.html", *words, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    page = (folder / "report.html").read_text()
    for text in (
        "a course &amp; more",
        "students",
        "Ann",
        "2027-11-15",
        "They &lt;signed&gt;.",
        "No copies.",
        "records above 0.2",
    ):
        assert text in page
    assert "the same release without each limit" in page
    assert SECRET not in page


def test_json_and_terminal_write_no_page(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("report", "release", "--json", "--original", "data.csv", cwd=folder)
    found = json.loads(done.stdout)
    assert set(found) == {"facts", "verification", "risks", "digests", "limit_effects", "audit", "verdict", "audience"}
    assert found["facts"] == json.loads((folder / "release" / "facts.json").read_text())
    assert found["risks"]["threshold"] == 0.2
    assert [effect["attribute"] for effect in found["limit_effects"]] == ["age"]
    shown = hedgerow("report", "release", "--terminal", "--original", "data.csv", cwd=folder, COLUMNS="100").stdout
    for text in (
        "Every promise is kept",
        "risk of being found",
        "records above common thresholds",
        "with it → without it",
    ):
        assert text in shown
    assert not list(folder.glob("*.html"))
    assert hedgerow("report", "release", "--terminal", "-o", "both.html", cwd=folder).returncode == 0
    assert (folder / "both.html").exists()


def test_a_broken_promise_is_exit_code_1_and_still_a_report(folder: Path, hedgerow: Run) -> None:
    data = folder / "release" / "data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    for words in ((), ("--terminal",), ("--json",)):
        done = hedgerow("report", "release", *words, cwd=folder)
        assert (done.returncode, done.stderr) == (1, "")
        assert "BROKEN" in done.stdout or words == ("--json",)
    assert "BROKEN" in (folder / "release-report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "does not exist"),
        (("data.csv",), "is a file, not a folder"),
        (("release", "-o", "release/report.html"), "holds the release and nothing else"),
        (("release", "-o", "no/where.html"), "folder for the report does not exist"),
        (("release", "--review-by", "soon"), "must be a day"),
        (("release", "--threshold", "1.5"), "threshold"),
        (("release", "--original", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_is_refused(folder: Path, hedgerow: Run, words: tuple[str, ...], message: str) -> None:
    done = hedgerow("report", *words, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert SECRET not in done.stderr
    assert not list(folder.rglob("*.html"))


def test_the_demo_has_a_report(tmp_path: Path, hedgerow: Run) -> None:
    for words in ((), ("--replace",)):
        done = hedgerow("demo", "-o", "demo", "--records", "300", *words, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "demo/release-report.html" in done.stdout
        assert "$ hedgerow report demo/release" in done.stdout
    assert (tmp_path / "demo" / "release-report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_a_page_about_the_original_is_private_whatever_the_umask(folder: Path, hedgerow: Run, mask: int) -> None:
    before = os.umask(mask)
    try:
        for name, words in (("private.html", ("--original", "data.csv")), ("public.html", ())):
            done = hedgerow("report", "release", "-o", name, *words, cwd=folder)
            assert done.returncode == 0, done.stderr
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((folder / name).stat().st_mode) for name in ("private.html", "public.html")]
    assert modes == [0o600, 0o644]

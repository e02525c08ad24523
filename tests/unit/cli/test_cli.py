"""The command line, run as a user runs it: what it prints, its exit codes, and that nothing is ever half written."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hedgerow.plan import Plan
from tests.conftest import Run

PLAN = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, limit: {level: 2}}
  city: {role: quasi-identifier, hierarchy: {file: city.csv}, limits: [Kansas, Nebraska]}
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4}
"""
CITIES = "Wichita;Kansas;*\nTopeka;Kansas;*\nLincoln;Nebraska;*\nOmaha;Nebraska;*\n"
SECRET = "Quasimodo"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(1)
    rows = [
        f"{SECRET}{i},{draw.randint(18, 89)},{draw.choice(['Wichita', 'Topeka', 'Lincoln', 'Omaha'])},"
        f"{draw.choice('FM')},{draw.choice(['flu', 'cold', '=cmd()', '-5'])}"
        for i in range(200)
    ]
    (tmp_path / "data.csv").write_text("name,age,city,sex,illness\n" + "\n".join(rows) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "city.csv").write_text(CITIES)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_from_table_and_plan_to_verified_release(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "verified" in done.stdout
    assert sorted(files(folder / "release")) == ["data.csv", "facts.json", "plan.yaml"]
    facts = json.loads((folder / "release" / "facts.json").read_text())
    assert {
        "records", "released", "withheld", "groups", "smallest_group", "largest_group", "loss", "ntil",
        "limits_broken", "loss_by_attribute", "seed", "version",
    } <= set(facts)  # fmt: skip
    assert facts["released"] + facts["withheld"] == facts["records"] == 200
    assert facts["smallest_group"] >= 4
    assert facts["limits_broken"] == 0
    text = (folder / "release" / "data.csv").read_text()
    assert SECRET not in text
    assert ",'=cmd()" in text
    assert ",-5\n" in text
    checked = hedgerow("verify", "release", "--original", "data.csv", "--json", cwd=folder)
    assert checked.returncode == 0
    found = json.loads(checked.stdout)
    assert found["kept"] is True
    assert all(set(promise) == {"name", "asked", "found", "kept"} for promise in found["promises"])
    (folder / "city.csv").unlink()
    assert Plan.load(folder / "release" / "plan.yaml").attributes["city"].hierarchy.tree is not None


def test_facts_are_byte_identical_from_run_to_run(folder: Path, hedgerow: Run) -> None:
    for name in ("one", "two"):
        hedgerow("anonymize", "data.csv", "plan.yaml", "-o", name, cwd=folder)
    assert files(folder / "one") == files(folder / "two")


def test_anonymize_json_is_facts_json_and_the_verdict(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert told.pop("verdict")["sentence"].startswith("Every promise is kept")
    assert told == json.loads((folder / "release" / "facts.json").read_text())


def test_parquet_and_link(folder: Path, hedgerow: Run) -> None:
    words = ("anonymize", "data.csv", "plan.yaml", "-o", "release", "--format", "parquet", "--link", "private.csv")
    assert hedgerow(*words, cwd=folder).returncode == 0
    assert pq.read_table(folder / "release" / "data.parquet").column_names == ["age", "city", "sex", "illness"]
    assert (folder / "private.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "private.csv").read_text().startswith("record,row\n")
    done = hedgerow("verify", "release", "--original", "data.csv", "--link", "private.csv", "--json", cwd=folder)
    assert done.returncode == 0
    assert {"truthful", "limits"} <= {promise["name"] for promise in json.loads(done.stdout)["promises"]}


def test_the_link_table_may_not_lie_in_the_release(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--link", "release/link.csv", cwd=folder)
    assert done.returncode == 2
    assert "must not lie in the release folder" in done.stderr
    assert not (folder / "release").exists()


def test_explain(folder: Path, hedgerow: Run) -> None:
    tight = PLAN.replace("level: 2", "level: 1").replace("k: 4", "k: 6")
    (folder / "plan.yaml").write_text(tight)
    found = json.loads(hedgerow("explain", "data.csv", "plan.yaml", "--json", cwd=folder).stdout)
    assert {"records", "blocks", "withheld", "causes"} <= set(found)
    shown = hedgerow("explain", "data.csv", "plan.yaml", cwd=folder)
    assert shown.returncode == 0
    assert f"{found['withheld']} records" in shown.stdout
    saves = {lift["change"]: lift["saves"] for lift in found["lifts"]}
    assert "lift 'Kansas'" not in saves  # Nebraska would still keep its records apart
    for change, plan in {
        "raise the level to 2": tight.replace("level: 1", "level: 2"),
        "remove all its limits": tight.replace(", limits: [Kansas, Nebraska]", ""),
    }.items():
        (folder / "plan.yaml").write_text(plan)
        again = json.loads(hedgerow("explain", "data.csv", "plan.yaml", "--json", cwd=folder).stdout)
        assert found["withheld"] - again["withheld"] == saves[change] > 0


def test_ignoring_limits_counts_those_broken(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--ignore-limits", "--json", cwd=folder)
    facts = json.loads(done.stdout)
    assert facts["limits_broken"] > 0
    assert facts["withheld"] == 0
    assert hedgerow("verify", "release", cwd=folder).returncode == 0


def test_a_tampered_release_is_refused(folder: Path, hedgerow: Run) -> None:
    hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
    data = folder / "release" / "data.csv"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines[:-1]))
    done = hedgerow("verify", "release", cwd=folder)
    assert done.returncode == 1
    assert "BROKEN" in done.stdout


def test_plan_commands(folder: Path, hedgerow: Run) -> None:
    assert hedgerow("plan", "check", "plan.yaml", cwd=folder).returncode == 0
    assert hedgerow("plan", "check", "plan.yaml", "--data", "data.csv", cwd=folder).returncode == 0
    (folder / "bad.yaml").write_text(PLAN.replace("Nebraska]", "Nebrask]").replace("k: 4", "k: 1"))
    done = hedgerow("plan", "check", "bad.yaml", cwd=folder)
    assert done.returncode == 2
    assert "bad.yaml:4:" in done.stderr
    assert "did you mean 'Nebraska'?" in done.stderr
    assert "bad.yaml:7:" in done.stderr
    listed = json.loads(hedgerow("plan", "check", "bad.yaml", "--json", cwd=folder).stdout)
    assert [problem["code"] for problem in listed["problems"]] == ["unknown-limit", "k-too-small"]
    assert json.loads(hedgerow("plan", "schema").stdout)["title"] == "Hedgerow plan"
    drafted = hedgerow("plan", "draft", "data.csv", "-o", "draft.yaml", cwd=folder)
    assert drafted.returncode == 0
    assert hedgerow("plan", "check", "draft.yaml", cwd=folder).returncode == 0
    assert hedgerow("plan", "draft", "data.csv", "-o", "draft.yaml", cwd=folder).returncode == 2  # never overwritten


def test_demo(tmp_path: Path, hedgerow: Run) -> None:
    done = hedgerow("demo", "-o", tmp_path / "demo", "--records", "400")
    assert (done.returncode, done.stderr) == (0, "")
    assert "where to look" in done.stdout
    assert (tmp_path / "demo" / "release" / "data.csv").exists()
    assert hedgerow("demo", "-o", tmp_path / "demo").returncode == 2
    assert hedgerow("demo", "-o", tmp_path / "demo", "--records", "400", "--replace").returncode == 0


BAD = {
    "no data": ("absent.csv", "plan.yaml", 2, "no-file"),
    "no plan": ("data.csv", "absent.yaml", 2, "no-file"),
    "folder as data": (".", "plan.yaml", 2, "no-file"),
    "empty file": ("empty.csv", "plan.yaml", 2, "empty"),
    "no records": ("header.csv", "plan.yaml", 2, "empty"),
    "ragged": ("ragged.csv", "plan.yaml", 2, "ragged"),
    "bytes": ("bytes.csv", "plan.yaml", 2, "encoding"),
    "delimiter": ("data.csv", "semicolon.yaml", 2, "missing-column"),
    "duplicate": ("duplicate.csv", "plan.yaml", 2, "duplicate-column"),
    "column": ("data.csv", "column.yaml", 2, "missing-column"),
    "small k": ("data.csv", "small.yaml", 2, "k-too-small"),
    "large k": ("data.csv", "large.yaml", 3, "too-few-records"),
    "no leaf": ("data.csv", "leaf.yaml", 2, "no-leaf"),
    "all withheld": ("data.csv", "all.yaml", 3, "all-withheld"),
    "budget": ("data.csv", "budget.yaml", 3, "withhold-budget"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_clear_message_and_nothing_is_lost(folder: Path, hedgerow: Run, case: str) -> None:
    data, plan, code, problem = BAD[case]
    good = (folder / "data.csv").read_text()
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text(good.splitlines()[0] + "\n")
    (folder / "ragged.csv").write_text(good + "one,two\n")
    (folder / "bytes.csv").write_bytes(good.encode() + b"a,20,Omaha,F,\xff\xfe\n")
    (folder / "duplicate.csv").write_text(good.replace("name,age", "age,age", 1))
    (folder / "semicolon.yaml").write_text(PLAN + "data: {delimiter: ';'}\n")
    (folder / "column.yaml").write_text(PLAN.replace("  sex:", "  gender:"))
    (folder / "small.yaml").write_text(PLAN.replace("k: 4", "k: 1"))
    (folder / "large.yaml").write_text(PLAN.replace("k: 4", "k: 201"))
    (folder / "less.csv").write_text(CITIES.replace("Omaha;Nebraska;*\n", ""))
    (folder / "leaf.yaml").write_text(PLAN.replace("city.csv", "less.csv"))
    (folder / "all.yaml").write_text(PLAN.replace("level: 2", "level: 0").replace("k: 4", "k: 20"))
    (folder / "budget.yaml").write_text(PLAN.replace("level: 2", "level: 1") + "withhold: 0\n")
    (folder / "release").mkdir()
    (folder / "release" / "facts.json").write_text("old")
    before = files(folder)
    for words in (["--replace"], ["--replace", "--json"]):
        done = hedgerow("anonymize", data, plan, "-o", "release", *words, cwd=folder)
        assert done.returncode == code, done.stderr
        assert f"[{problem}]" in done.stderr
        assert "Traceback" not in done.stderr
        assert SECRET not in done.stderr + done.stdout
        if "--json" in words:
            assert json.loads(done.stdout)["problems"][0]["code"] == problem
    assert files(folder) == before
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_an_output_folder_in_use_is_left_alone_unless_replaced(folder: Path, hedgerow: Run) -> None:
    (folder / "release").mkdir()
    (folder / "release" / "mine.txt").write_text("mine")
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
    assert done.returncode == 2
    assert "[output-in-use]" in done.stderr
    assert hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--replace", cwd=folder).returncode == 2
    assert hedgerow("anonymize", "data.csv", "plan.yaml", "-o", ".", "--replace", cwd=folder).returncode == 2
    assert files(folder / "release") == {"mine.txt": b"mine"}
    (folder / "release" / "mine.txt").unlink()
    for seed in ("0", "1"):
        words = ("anonymize", "data.csv", "plan.yaml", "-o", "release", "--replace", "--seed", seed)
        assert hedgerow(*words, cwd=folder).returncode == 0
    assert sorted(files(folder / "release")) == ["data.csv", "facts.json", "plan.yaml"]
    assert json.loads((folder / "release" / "facts.json").read_text())["seed"] == 1


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_full_disk_leaves_the_old_release_whole(folder: Path, hedgerow: Run, format: str) -> None:
    assert hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "warm", cwd=folder).returncode == 0  # compile kernels
    (folder / "release").mkdir()
    (folder / "release" / "facts.json").write_text("old")
    command = [sys.executable, "-c", "from hedgerow.cli import main; main()", "anonymize", "data.csv", "plan.yaml"]
    done = subprocess.run(
        [*command, "-o", "release", "--replace", "--format", format],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),  # a write beyond fails
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 2, done.stderr
    assert "[output]" in done.stderr
    assert files(folder / "release") == {"facts.json": b"old"}
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, sign: signal.Signals) -> None:
    draw = random.Random(2)
    rows = (",".join(str(draw.randint(0, 10**6)) for _ in range(5)) for _ in range(60_000))
    (tmp_path / "big.csv").write_text("a,b,c,d,e\n" + "\n".join(rows) + "\n")
    attributes = "".join(f"  {name}: {{role: quasi-identifier, intervals: free}}\n" for name in "abcde")
    (tmp_path / "plan.yaml").write_text(f"attributes:\n{attributes}privacy: {{k: 5}}\n")
    command = [sys.executable, "-c", "from hedgerow.cli import main; main()", "anonymize", "big.csv", "plan.yaml"]
    process = subprocess.Popen([*command, "-o", "release"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "interrupted; nothing was written" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.csv", "plan.yaml"]


def test_what_a_killed_run_left_is_swept_away(folder: Path, hedgerow: Run) -> None:
    left = folder / ".release.hedgerow-abc"
    (left / "new").mkdir(parents=True)
    (left / "new" / "data.csv").write_text("half")
    (left / ".lock").touch()
    assert hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder).returncode == 0
    assert not left.exists()


def test_usage_errors_and_help(hedgerow: Run) -> None:
    assert hedgerow("anonymize").returncode == 2
    assert hedgerow("nonsense").returncode == 2
    assert hedgerow("--version").stdout.startswith("hedgerow ")
    for words in (["--help"], ["anonymize", "--help"], ["plan", "--help"], ["explain", "-h"]):
        assert hedgerow(*words).returncode == 0


LATTICE = (
    PLAN.replace("privacy: {k: 4}", "privacy: {k: 4, p: 2}")
    + "method: {name: lattice, objective: loss}\nwithhold: 10%\n"
)


def test_the_lattice_from_the_command_line(folder: Path, hedgerow: Run) -> None:
    (folder / "plan.yaml").write_text(LATTICE)
    shown = hedgerow("lattice", "data.csv", "plan.yaml", cwd=folder)
    assert shown.returncode == 0, shown.stderr
    assert "minimal nodes" in shown.stdout
    view = json.loads(hedgerow("lattice", "data.csv", "plan.yaml", "--json", cwd=folder).stdout)
    assert view["nodes"] == 5 * 3 * 2
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["levels"] == view["best"]["loss"]["levels"]
    assert facts["withheld"] == view["best"]["loss"]["withheld"] <= 20
    assert facts["limits_broken"] == 0
    checked = json.loads(hedgerow("verify", "release", "--original", "data.csv", "--json", cwd=folder).stdout)
    assert checked["kept"] is True
    assert {"k", "p"} <= {promise["name"] for promise in checked["promises"]}


@pytest.mark.parametrize("limits", ["keep", "whole-levels", "ignore"])
def test_limits_on_the_lattice(folder: Path, hedgerow: Run, limits: str) -> None:
    (folder / "plan.yaml").write_text(LATTICE.replace("objective: loss", f"limits: {limits}"))
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    if limits == "whole-levels":
        assert facts["levels"]["city"] <= 1
        assert facts["levels"]["age"] <= 2
    assert (facts["limits_broken"] == 0) or limits == "ignore"


@pytest.mark.parametrize(
    ("privacy", "model"),
    [
        ("{k: 4, p: 3}", "p"),
        ("{k: 4, l: {distinct: 3}}", "l"),
        ("{k: 4, l: {entropy: 2}}", "l"),
        ("{k: 4, l: {recursive: [3, 2]}}", "l"),
        ("{k: 4, t: 0.5}", "t"),
        ("{k: 4, alpha: 0.6}", "alpha"),
    ],
)
@pytest.mark.parametrize("method", ["cluster", "lattice"])
def test_every_model_from_the_command_line(folder: Path, hedgerow: Run, privacy: str, model: str, method: str) -> None:
    plan = PLAN.replace("{k: 4}", privacy).replace("level: 2", "level: 3") + f"method: {method}\nwithhold: 60%\n"
    (folder / "plan.yaml").write_text(plan)
    done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
    assert done.returncode == 0, done.stderr
    checked = json.loads(hedgerow("verify", "release", "--original", "data.csv", "--json", cwd=folder).stdout)
    assert [promise["kept"] for promise in checked["promises"] if promise["name"] == model] == [True]
    # One group loses its diversity: every sensitive value of it becomes the same.
    data = folder / "release" / "data.csv"
    lines = data.read_text().splitlines()
    group = lines[1].rsplit(",", 1)[0]
    data.write_text("\n".join(f"{group},flu" if line.startswith(group + ",") else line for line in lines) + "\n")
    refused = hedgerow("verify", "release", "--json", cwd=folder)
    assert refused.returncode == 1
    broken = [promise["name"] for promise in json.loads(refused.stdout)["promises"] if not promise["kept"]]
    assert model in broken


def test_what_cannot_be_done_on_the_lattice_or_with_p(folder: Path, hedgerow: Run) -> None:
    for plan, code, problem in (
        (PLAN.replace("{k: 4}", "{k: 9, p: 9}"), 3, "too-few-values"),
        (LATTICE.replace("withhold: 10%\n", "").replace("k: 4", "k: 60"), 3, "no-node"),
        (PLAN.replace("{k: 4}", "{k: 4, p: 5}"), 2, "conflict"),
        (PLAN.replace("{k: 4}", "{k: 4, p: {sex: 2}}"), 2, "conflict"),
    ):
        (folder / "plan.yaml").write_text(plan)
        done = hedgerow("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
        assert (done.returncode, f"[{problem}]" in done.stderr) == (code, True), done.stderr
        assert not (folder / "release").exists()


def test_explain_shows_the_conditions(folder: Path, hedgerow: Run) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("{k: 4}", "{k: 4, p: 3}"))
    found = json.loads(hedgerow("explain", "data.csv", "plan.yaml", "--json", cwd=folder).stdout)
    assert found["conditions"][0]["p"] == 3
    assert found["conditions"][0]["max_p"] == 4
    shown = hedgerow("explain", "data.csv", "plan.yaml", cwd=folder).stdout
    assert "up to 4 different values" in shown

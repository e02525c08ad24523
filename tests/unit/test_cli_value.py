"""The command line for research value: rules, weights, searches, merging, comparisons; and plans that ask for nonsense."""

from __future__ import annotations

import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pyarrow.csv
import pytest
import yaml

import hedgerow as hr
from hedgerow.cli.run import run
from hedgerow.errors import PlanError
from hedgerow.plan import Plan
from hedgerow.plan.schema import plan_schema
from tests.conftest import Run

SECRET = "Quasimodo"
"""Part of every name, and a parish of its own that one misspelled rule nearly names."""
WIDE = {"COLUMNS": "160"}
PLAN = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}
  city: {role: quasi-identifier, hierarchy: {tree: {US: {Kansas: [Wichita, Topeka], Nebraska: [Lincoln, Omaha]}}}}
  parish: quasi-identifier
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4}
"""
AT_END = len(PLAN.splitlines()) + 1
RULES = """\
rules:
  - {name: retirement, attribute: age, keep_apart: [64, 65], importance: 25}
  - {attribute: city, keep_apart: [Kansas, Nebraska], importance: 2.5}
  - {name: sexes, attribute: sex, keep_apart: [F, M]}
"""
SUPPRESS = "method: {name: utility, suppress: true}\nmissing: matches-any\n"
LIMITED = PLAN.replace("sex: quasi-identifier", "sex: {role: quasi-identifier, limit: {level: 0}}").replace(
    "parish: quasi-identifier", "parish: {role: quasi-identifier, limit: {level: 0}}"
)
"""Sexes and parishes must stay: about 30 records of every pair."""
BY_VALUE = "method: {name: lattice, objective: research-value}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(4)
    rows = [
        f"{SECRET}{i},{draw.randint(18, 89)},{draw.choice(['Wichita', 'Topeka', 'Lincoln', 'Omaha'])},"
        f"{draw.choice(['Saint Jude', 'Saint Anne', 'Saint Mary', SECRET])},"
        f"{draw.choice('FM')},{draw.choice(['flu', 'cold', 'gout'])}"
        for i in range(240)
    ]
    (tmp_path / "data.csv").write_text("name,age,city,parish,sex,illness\n" + "\n".join(rows) + "\n")
    return tmp_path


def write_plan(folder: Path, *parts: str, name: str = "plan.yaml") -> str:
    (folder / name).write_text(PLAN + "".join(parts))
    return name


def rows_of(path: Path) -> list[dict[str, Any]]:
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=True, null_values=[""])
    rows: list[dict[str, Any]] = pyarrow.csv.read_csv(path, convert_options=options).to_pylist()
    return rows


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class Done(NamedTuple):
    """What a command came to; with the names that ``subprocess`` has for it."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in this process, which takes a fraction of the time."""

    def call(*words: str | Path, cwd: Path, **environment: str) -> Done:
        monkeypatch.chdir(cwd)
        for name, value in (WIDE | environment).items():
            monkeypatch.setenv(name, value)
        before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}
        try:
            with pytest.raises(SystemExit) as left:
                run([str(word) for word in words])
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)
        return Done(int(left.value.code or 0), *capsys.readouterr())

    return call


# ---- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["method: utility\n", BY_VALUE])
def test_rules_are_kept_or_broken_by_name_and_importance(
    folder: Path, hedgerow: Run, command: Command, method: str
) -> None:
    plan = write_plan(folder, RULES, method)
    release = hedgerow if "utility" in method else command
    done = release("anonymize", "data.csv", plan, "-o", "release", cwd=folder, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads((folder / "release" / "facts.json").read_text())
    assert [(rule["name"], rule["attribute"], rule["importance"]) for rule in facts["rules"]] == [
        ("retirement", "age", 25),
        ("city: Kansas | Nebraska", "city", 2.5),
        ("sexes", "sex", 1),
    ]
    # what is said of each rule, looked up in the release itself
    rows = rows_of(folder / "release" / "data.csv")
    columns = ("age", "city", "parish", "sex")
    groups = {tuple(row[name] for name in columns): row for row in rows}.values()
    for rule, breaks in zip(facts["rules"], (_spans_64_and_65, lambda row: row["city"] == "US", _any_sex), strict=True):
        assert rule["groups_breaking"] == sum(map(breaks, groups))
        assert rule["kept"] is (rule["groups_breaking"] == 0)
    # and shown
    shown = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for rule in facts["rules"]:
        groups = rule["groups_breaking"]
        state = "kept" if rule["kept"] else f"broken by {groups} group{'s' if groups > 1 else ''}"
        assert f"{rule['name']} {rule['importance']} {state}" in shown
    assert SECRET not in done.stdout
    assert command("verify", "release", "--original", "data.csv", cwd=folder).returncode == 0


def _spans_64_and_65(row: dict[str, Any]) -> bool:
    text = str(row["age"])
    if text == "*":
        return True
    low, _, high = text.partition("-")
    return int(low) <= 64 and int(high or low) >= 65


def _any_sex(row: dict[str, Any]) -> bool:
    return bool(row["sex"] == "*")


def test_a_lie_about_a_rule_is_found(folder: Path, command: Command) -> None:
    plan = write_plan(folder, RULES, "method: utility\n")
    assert command("anonymize", "data.csv", plan, "-o", "release", cwd=folder).returncode == 0
    path = folder / "release" / "facts.json"
    facts = json.loads(path.read_text())
    rule = next(rule for rule in facts["rules"] if not rule["kept"])
    rule["kept"], rule["groups_breaking"] = True, 0
    path.write_text(json.dumps(facts))
    done = command("verify", "release", "--json", cwd=folder)
    assert done.returncode == 1
    assert [promise["name"] for promise in json.loads(done.stdout)["promises"] if not promise["kept"]] == ["rules"]


@pytest.mark.parametrize("name", ["pension [us]", "pension [/us]"])
def test_names_in_brackets_are_shown_as_they_are(folder: Path, command: Command, name: str) -> None:
    plan = write_plan(folder, RULES.replace("retirement", f'"{name}"'), BY_VALUE)
    code, printed, errors = command("anonymize", "data.csv", plan, "-o", "release", cwd=folder)
    assert (code, errors) == (0, "")
    assert name in printed


def test_rules_of_every_kind_of_hierarchy(tmp_path: Path, command: Command) -> None:
    draw = random.Random(5)
    days = [f"{2019 + month // 12}-{month % 12 + 1:02}-{day:02}" for month in range(36) for day in (1, 15)]
    lines = [
        f"{draw.choice(days)},{draw.choice(['43102', '43103', '50111', '50199'])},{draw.randint(0, 79) / 10},"
        f"{draw.randint(1, 6)},{draw.randint(0, 99)}"
        for _ in range(300)
    ]
    (tmp_path / "data.csv").write_text("day,zip,dose,stage,pay\n" + "\n".join(lines) + "\n")
    (tmp_path / "plan.yaml").write_text("""\
attributes:
  day: {role: quasi-identifier, hierarchy: {dates: [month, year]}}
  zip: {role: quasi-identifier, hierarchy: {prefix: [3, 1]}}
  dose: {role: quasi-identifier, hierarchy: {cuts: [[0, 2.5, 5, 8]]}}
  stage: {role: quasi-identifier, hierarchy: {tree: {any: {early: [1, 2], late: [3, 4, 5, 6]}}}, numeric: true}
  pay: {role: quasi-identifier, intervals: free, snap: 10}
privacy: {k: 3}
method: utility
rules:
  - {attribute: day, keep_apart: [2019, 2020], importance: 5}
  - {attribute: zip, keep_apart: [431**, 50111], importance: 5}
  - {attribute: dose, keep_apart: [2.4, 2.5], importance: 5}
  - {attribute: stage, keep_apart: [2, 3], importance: 5}
  - {attribute: pay, keep_apart: [49, 50], importance: 5}
""")
    done = command("anonymize", "data.csv", "plan.yaml", "-o", "release", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    by_name = {rule["attribute"]: rule["groups_breaking"] for rule in json.loads(done.stdout)["rules"]}
    groups = {tuple(row.values()) for row in rows_of(tmp_path / "release" / "data.csv")}
    assert by_name["day"] == sum(str(group[0]) == "*" for group in groups)
    assert by_name["zip"] == sum(str(group[1]) == "*" for group in groups)
    assert by_name["dose"] == sum(str(group[2]) == "*" for group in groups)
    assert by_name["stage"] == sum(str(group[3]) == "any" for group in groups)
    spans = [str(group[4]).split("-") for group in groups]
    assert by_name["pay"] == sum(int(span[0]) <= 49 and int(span[-1]) >= 50 for span in spans)
    assert command("verify", "release", "--original", "data.csv", cwd=tmp_path).returncode == 0


# ---- merging ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        "utility",
        "bottom-up",
        "euclidean",
        "{name: utility, overlap: forbidden}",
        "{name: bottom-up, overlap: forbidden}",
    ],
)
def test_methods_that_merge_what_is_too_small(folder: Path, command: Command, method: str) -> None:
    plan = write_plan(folder, RULES, f"method: {method}\n")
    code, printed, errors = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert (code, errors) == (0, "")
    facts = json.loads(printed)
    assert facts["method"] == yaml.safe_load(method if method.startswith("{") else f"{{name: {method}}}")["name"]
    assert (facts["withheld"], facts["smallest_group"] >= 4) == (0, True)
    assert 0 < facts["mean_group_value"] <= 1
    assert "suppressed_cells" not in facts
    code, printed, _ = command("verify", "release", "--original", "data.csv", "--json", cwd=folder)
    promises = [promise["name"] for promise in json.loads(printed)["promises"]]
    assert (code, "overlap" in promises) == (0, "forbidden" in method)
    if "forbidden" in method:
        ranges = sorted({_ends(row["age"]) for row in rows_of(folder / "release" / "data.csv")})
        assert len(ranges) > 1
        crossing = [(one, other) for one in ranges for other in ranges if one[0] < other[0] <= one[1] < other[1]]
        assert crossing == []


def _ends(text: Any) -> tuple[int, int]:
    low, _, high = str(text).partition("-")
    return int(low), int(high or low)


def test_a_release_whose_ranges_cross_is_refused(folder: Path, command: Command) -> None:
    plan = write_plan(folder, "method: {name: utility, overlap: forbidden}\n")
    assert command("anonymize", "data.csv", plan, "-o", "release", cwd=folder)[0] == 0
    data = folder / "release" / "data.csv"
    head, *lines = data.read_text().splitlines()
    ages = [line.split(",")[0] for line in lines]
    # all rows of one range start one year later and end one year later, where another group shows the old range
    wide = next(age for age in ages if _ends(age)[1] > _ends(age)[0] and len({_rest(x) for x in _with(lines, age)}) > 1)
    one = _rest(_with(lines, wide)[0])
    later = f"{_ends(wide)[0] + 1}-{_ends(wide)[1] + 1}"
    changed = [
        line.replace(wide, later, 1) if line.startswith(wide + ",") and _rest(line) == one else line for line in lines
    ]
    data.write_text("\n".join([head, *changed]) + "\n")
    code, printed, _ = command("verify", "release", "--json", cwd=folder)
    assert code == 1
    assert "overlap" in [promise["name"] for promise in json.loads(printed)["promises"] if not promise["kept"]]


def _with(lines: list[str], age: str) -> list[str]:
    return [line for line in lines if line.startswith(age + ",")]


def _rest(line: str) -> str:
    return ",".join(line.split(",")[1:4])


def test_suppressed_cells_are_counted_said_and_checked(folder: Path, hedgerow: Run, command: Command) -> None:
    plan = write_plan(folder, RULES, SUPPRESS)
    done = hedgerow("anonymize", "data.csv", plan, "-o", "release", "--link", "link.csv", cwd=folder, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads((folder / "release" / "facts.json").read_text())
    rows = rows_of(folder / "release" / "data.csv")
    assert facts["missing"] == "matches-any"
    assert facts["suppressed_cells"] == {
        name: sum(row[name] is None for row in rows) for name in ("age", "city", "parish", "sex")
    }
    cells = sum(facts["suppressed_cells"].values())
    assert cells > 0
    assert f"{cells:,} cells are released as missing, and a missing cell counts as matching any value" in done.stdout
    matching = [
        sum(all(a is None or b is None or a == b for a, b in zip(one, other, strict=True)) for other in _groups(rows))
        for one in _groups(rows)
    ]
    assert facts["smallest_group"] == min(matching) >= 4
    assert facts["least_rows_for_a_known_person"] == min(_rows_that_fit(folder))
    words = ("verify", "release", "--original", "data.csv", "--link", "link.csv", "--json")
    checked = command(*words, cwd=folder)
    assert checked.returncode == 0, checked.stdout
    assert "suppressed" in [promise["name"] for promise in json.loads(checked.stdout)["promises"]]
    # one cell more is made missing
    data = folder / "release" / "data.csv"
    lines = data.read_text().splitlines()
    at = next(i for i, line in enumerate(lines[1:], 1) if line.split(",")[0])
    data.write_text(
        "\n".join(["," + line.split(",", 1)[1] if i == at else line for i, line in enumerate(lines)]) + "\n"
    )
    refused = command(*words, cwd=folder)
    assert refused.returncode == 1
    assert "suppressed" in [
        promise["name"] for promise in json.loads(refused.stdout)["promises"] if not promise["kept"]
    ]
    # one cell shows another value of the column
    sexes = {"F": "M", "M": "F"}
    at = next(i for i, line in enumerate(lines[1:], 1) if line.split(",")[3] in sexes)
    cut = lines[at].split(",")
    cut[3] = sexes[cut[3]]
    data.write_text("\n".join([*lines[:at], ",".join(cut), *lines[at + 1 :]]) + "\n")
    assert command(*words, cwd=folder).returncode == 1


def _rows_that_fit(folder: Path) -> list[int]:
    """For every released person: how many rows their true values do not rule out."""
    people = rows_of(folder / "data.csv")
    rows = rows_of(folder / "release" / "data.csv")
    above = {"Wichita": "Kansas", "Topeka": "Kansas", "Lincoln": "Nebraska", "Omaha": "Nebraska"}

    def fits(person: dict[str, Any], row: dict[str, Any]) -> bool:
        age, city = row["age"], row["city"]
        return (
            (age is None or _ends(age)[0] <= person["age"] <= _ends(age)[1])
            and (city is None or city in (person["city"], above[person["city"]], "US"))
            and all(row[name] in (None, "*", person[name]) for name in ("parish", "sex"))
        )

    return [sum(fits(people[link["record"] - 1], row) for row in rows) for link in rows_of(folder / "link.csv")]


def _groups(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["age"], row["city"], row["parish"], row["sex"]) for row in rows]


def test_a_limited_column_is_never_suppressed(folder: Path, command: Command) -> None:
    write_plan(folder, SUPPRESS)
    text = (folder / "plan.yaml").read_text()
    (folder / "plan.yaml").write_text(text.replace("sex: quasi", "sex: {role: quasi-identifier, limit: {level: 0}} #"))
    code, printed, errors = command("anonymize", "data.csv", "plan.yaml", "-o", "release", "--json", cwd=folder)
    assert (code, errors) == (0, "")
    facts = json.loads(printed)
    assert facts["suppressed_cells"]["sex"] == 0
    assert sum(facts["suppressed_cells"].values()) > 0
    assert {row["sex"] for row in rows_of(folder / "release" / "data.csv")} == {"F", "M"}


def test_cells_may_be_suppressed_where_others_are_missing_already(folder: Path, command: Command) -> None:
    lines = (folder / "data.csv").read_text().splitlines()
    cut = [line.split(",") for line in lines]
    for number, cells in enumerate(cut[1:]):
        if number % 9 == 0:
            cells[1 + number % 4] = ""
    (folder / "data.csv").write_text("\n".join(",".join(cells) for cells in cut) + "\n")
    plan = write_plan(folder, SUPPRESS)
    done = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    rows = rows_of(folder / "release" / "data.csv")
    assert facts["groups"] == len(set(_groups(rows)))
    assert command("verify", "release", "--original", "data.csv", cwd=folder).returncode == 0


# ---- the lattice by research value -----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["exact", "global", "local", "hybrid", "divided"])
def test_every_search_reports_what_it_looked_at(folder: Path, command: Command, search: str) -> None:
    plan = write_plan(folder, RULES, BY_VALUE.replace("}", f", search: {search}, block: 2}}"))
    code, printed, errors = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert (code, errors) == (0, "")
    facts = json.loads(printed)
    found = facts["search"]
    assert {"name", "strings", "generated", "tested", "pruned", "proven", "bound", "succeeded", "successes"} <= set(
        found
    )
    assert (found["name"], found["strings"]) == (search, 5 * 3 * 2 * 2)
    assert found["proven"] is (search != "local")
    assert (found["generated"] is None) is (search in ("exact", "local"))
    if found["generated"] is not None:
        assert found["tested"] <= found["generated"]
    best = found["successes"][0]
    assert (best["levels"], best["value"]) == (facts["levels"], facts["score"])
    assert facts["score"] == facts["research_value"]  # nothing is withheld
    assert facts["score"] <= found["bound"]
    tops = {"age": 4, "city": 2, "parish": 1, "sex": 1}
    assert best["at_root"] == sum(facts["levels"][name] == top for name, top in tops.items())
    values = [success["value"] for success in found["successes"]]
    assert values == sorted(values, reverse=True)
    assert command("verify", "release", "--original", "data.csv", cwd=folder)[0] == 0


def test_complete_searches_agree(folder: Path, command: Command) -> None:
    words = ("--method", "exact,global,hybrid,divided", "--json")
    code, printed, _ = command("compare", "data.csv", write_plan(folder, RULES), *words, cwd=folder)
    assert code == 0
    runs = json.loads(printed)["runs"]
    assert len(runs) == 4
    assert len({run["measures"]["research_value"] for run in runs}) == 1


def test_checks_are_not_called_strings(folder: Path, command: Command) -> None:
    """A small lattice has fewer strings than the exact search makes checks."""
    plan = PLAN.replace("  parish: quasi-identifier\n  sex: quasi-identifier\n", "")
    (folder / "plan.yaml").write_text(plan + BY_VALUE)
    done = command("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
    facts = json.loads((folder / "release" / "facts.json").read_text())
    said = f"exact: {facts['search']['tested']:,} checks, 15 strings of levels; these levels are worth"
    assert (done.returncode, said in " ".join(done.stdout.split())) == (0, True)


@pytest.mark.parametrize("search", ["exact", "global"])
def test_withholding_everything_is_no_solution(folder: Path, command: Command, search: str) -> None:
    plan = write_plan(folder, BY_VALUE.replace("}", f", search: {search}}}"), "withhold: 100%\n")
    code, _, errors = command("anonymize", "data.csv", plan, "-o", "release", cwd=folder)
    assert "our fault" not in errors
    assert code in (0, 3)


def test_no_string_passes(folder: Path, command: Command) -> None:
    for search in ("exact", "global", "local", "hybrid", "divided"):
        method = BY_VALUE.replace("}", f", search: {search}}}")
        (folder / "plan.yaml").write_text(LIMITED.replace("k: 4", "k: 40") + method)
        code, _, errors = command("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=folder)
        assert (code, "[no-node]" in errors) == (3, True), errors
        assert SECRET not in errors
        assert not (folder / "release").exists()


def test_an_exact_search_cut_short_is_not_told_to_search_exactly(folder: Path, command: Command) -> None:
    (folder / "plan.yaml").write_text(LIMITED.replace("k: 4", "k: 40") + BY_VALUE)
    code, _, errors = command("anonymize", "data.csv", "plan.yaml", "-o", "release", "--budget", "1", cwd=folder)
    assert code == 3
    assert "use search: exact" not in errors


# ---- budgets and Ctrl-C ----------------------------------------------------------------------------------------------


def write_hard(folder: Path, records: int, attributes: int) -> None:
    """Independent columns of eight values, three levels and different weights: an optimum takes very long to prove."""
    draw = random.Random(3)
    names = [f"q{number}" for number in range(attributes)]
    columns = [draw.choices(range(8), [30, 20, 15, 12, 9, 7, 5, 2], k=records) for _ in names]
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "hard.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    parts = "hierarchy: {bands: [2, 4]}, numeric: false"
    attributes_text = "".join(
        f"  {name}: {{role: quasi-identifier, {parts}, weight: {1 + number % 3}}}\n"
        for number, name in enumerate(names)
    )
    (folder / "plan.yaml").write_text(
        f"attributes:\n{attributes_text}privacy: {{k: 5}}\nwithhold: 5%\n"
        "method: {name: lattice, objective: research-value}\n"
    )


def test_a_budget_of_checks_gives_a_bound_and_the_same_bytes_every_time(
    tmp_path: Path, hedgerow: Run, command: Command
) -> None:
    write_hard(tmp_path, 1500, 14)
    for name in ("one", "two"):
        done = hedgerow("anonymize", "hard.csv", "plan.yaml", "-o", name, "--budget", "50", cwd=tmp_path, **WIDE)
        assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    facts = json.loads((tmp_path / "one" / "facts.json").read_text())
    found = facts["search"]
    assert (found["name"], found["proven"], found["strings"]) == ("exact", False, 4**14)
    assert 0 < facts["score"] < found["bound"] <= 1
    assert found["tested"] < 1000
    said = f"these levels are worth {facts['score']:.4f}, not proven the most: none is above {found['bound']:.4f}"
    assert said in " ".join(done.stdout.split())
    assert command("verify", "one", "--original", "hard.csv", cwd=tmp_path).returncode == 0
    more = command("anonymize", "hard.csv", "plan.yaml", "-o", "more", "--budget", "5000", "--json", cwd=tmp_path)
    again = json.loads(more.stdout)
    assert again["score"] >= facts["score"]  # patience is never punished
    assert again["search"]["bound"] <= found["bound"]


def test_a_budget_of_time_ends_in_time(tmp_path: Path, command: Command) -> None:
    write_hard(tmp_path, 300, 24)
    start = time.monotonic()
    done = command("anonymize", "hard.csv", "plan.yaml", "-o", "release", "--budget", "0.5s", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 30
    assert json.loads(done.stdout)["search"]["proven"] is False


@pytest.mark.parametrize("budget", ["nonsense", "0", "-5", "0s", "-1s", "nans", "5m", "1.5", ""])
def test_a_budget_that_is_none(folder: Path, command: Command, budget: str) -> None:
    plan = write_plan(folder, BY_VALUE)
    code, _, errors = command("anonymize", "data.csv", plan, "-o", "release", "--budget", budget, cwd=folder)
    assert code == 2
    assert "Invalid value for --budget: must be a time such as 60s, or a number of checks" in errors
    assert not (folder / "release").exists()


class Terminal:
    """A run whose standard error is a terminal, so that it can be watched as somebody at the keyboard does."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.screen, theirs = pty.openpty()
        self.seen = ""
        command = [sys.executable, "-c", "from hedgerow.cli import main; main()", *words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
        )
        os.close(theirs)

    def wait_for(self, word: str, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while word not in self.seen:
            assert time.monotonic() < end, self.seen[-400:]
            self.read()

    def read(self) -> bool:
        if select.select([self.screen], [], [], 0.05)[0]:
            try:
                self.seen += os.read(self.screen, 1 << 16).decode(errors="replace")
            except OSError:  # its other end is closed
                return False
        return True

    def end(self) -> tuple[int, str]:
        """Wait until it ends; its exit code and standard output."""
        while self.process.poll() is None:
            self.read()
        while select.select([self.screen], [], [], 0)[0] and self.read():
            pass
        os.close(self.screen)
        printed, _ = self.process.communicate()
        return self.process.returncode, printed


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory, hedgerow: Run) -> Path:
    """A table whose exact search takes minutes; a short one was made already, so that everything is compiled."""
    folder = tmp_path_factory.mktemp("hard")
    write_hard(folder, 1000, 30)
    assert hedgerow("anonymize", "hard.csv", "plan.yaml", "-o", "warm", "--budget", "50", cwd=folder).returncode == 0
    return folder


def start_searching(folder: Path, output: str) -> Terminal:
    terminal = Terminal(folder, "anonymize", "hard.csv", "plan.yaml", "-o", output)
    terminal.wait_for("searching")
    time.sleep(2)  # by then it is on its way
    assert terminal.process.poll() is None, terminal.seen[-400:]
    return terminal


def test_the_first_interrupt_ends_the_search_with_the_best_found(searching: Path, hedgerow: Run) -> None:
    terminal = start_searching(searching, "first")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("ending the search with the best found so far; again to abort")
    code, printed = terminal.end()
    assert code == 0, terminal.seen[-400:]
    assert "not proven the most: none is above" in " ".join(printed.split())
    facts = json.loads((searching / "first" / "facts.json").read_text())
    assert facts["search"]["proven"] is False
    assert 0 < facts["score"] <= facts["search"]["bound"]
    assert hedgerow("verify", "first", "--original", "hard.csv", cwd=searching).returncode == 0


def test_the_second_interrupt_aborts_and_leaves_nothing(searching: Path) -> None:
    before = sorted(path.name for path in searching.iterdir())
    terminal = start_searching(searching, "second")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("again to abort")
    terminal.process.send_signal(signal.SIGINT)
    code, printed = terminal.end()
    assert (code, printed) == (130, "")
    assert "interrupted; nothing was written" in terminal.seen
    assert sorted(path.name for path in searching.iterdir()) == before


def test_a_request_to_terminate_is_no_request_for_an_answer(searching: Path) -> None:
    before = sorted(path.name for path in searching.iterdir())
    terminal = start_searching(searching, "third")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == (130, "")
    assert sorted(path.name for path in searching.iterdir()) == before


# ---- weights ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Two columns that tell each other, and one that tells nothing."""
    lines = [f"{40 + i % 2 * 20},{'ab'[i % 2]},{'xy'[i // 2 % 2]}" for i in range(400)]
    (tmp_path / "data.csv").write_text("age,ward,coin\n" + "\n".join(lines) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "attributes:\n  age: {role: quasi-identifier, intervals: free}\n  ward: quasi-identifier\n"
        "  coin: quasi-identifier\nprivacy: {k: 2}\nweights: association\nmethod: utility\n"
    )
    return tmp_path


def test_weights(twins: Path, hedgerow: Run, command: Command) -> None:
    done = hedgerow("weights", "data.csv", "plan.yaml", "--json", cwd=twins)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["columns"] == ["age", "ward", "coin"]
    assert found["numeric"] == {"age": True, "ward": False, "coin": False}
    matrix = found["association"]
    assert [matrix[i][i] for i in range(3)] == [1, 1, 1]
    assert all(matrix[i][j] == matrix[j][i] for i in range(3) for j in range(3))
    assert matrix[0][1] == 1  # the age tells the ward
    assert matrix[0][2] == matrix[1][2] == 0
    assert found["weights"] == {"age": 0.25, "ward": 0.25, "coin": 0.5}
    shown = command("weights", "data.csv", "plan.yaml", cwd=twins, **WIDE)
    assert shown.returncode == 0
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["age", "ward", "coin", "weight"] in lines
    assert ["coin", "0.00", "0.00", "·", "0.500"] in lines


def test_a_release_says_the_weights_it_was_made_with(twins: Path, command: Command) -> None:
    assert command("anonymize", "data.csv", "plan.yaml", "-o", "release", cwd=twins).returncode == 0
    plan = Plan.load(twins / "release" / "plan.yaml")
    assert plan.weights is None
    assert {name: float(plan.attributes[name].weight) for name in plan.quasi_identifiers} == {
        "age": 0.25,
        "ward": 0.25,
        "coin": 0.5,
    }


def test_the_plot_of_weights_is_given_numbers(twins: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Any, ...]] = []
    monkeypatch.setattr("hedgerow.reports.plots.check_plot", lambda path: None)
    monkeypatch.setattr("hedgerow.reports.plots.association_plot", lambda *given: drawn.append(given))
    code, printed, _ = command("weights", "data.csv", "plan.yaml", "--plot", "plot.svg", "--json", cwd=twins)
    assert code == 0
    names, matrix, weights, path = drawn[0]
    assert (list(names), str(path)) == (["age", "ward", "coin"], "plot.svg")
    assert matrix == json.loads(printed)["association"]
    assert [float(weight) for weight in weights] == [0.25, 0.25, 0.5]


def test_a_plot_of_weights(twins: Path, hedgerow: Run) -> None:
    pytest.importorskip("matplotlib")
    done = hedgerow("weights", "data.csv", "plan.yaml", "--plot", "plot.svg", cwd=twins)
    assert (done.returncode, done.stderr) == (0, "")
    assert (twins / "plot.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize("words", [("weights", "data.csv", "plan.yaml"), ("compare", "data.csv", "plan.yaml")])
def test_a_plot_in_another_format_is_refused(twins: Path, command: Command, words: tuple[str, ...]) -> None:
    more = ("--method", "utility") if words[0] == "compare" else ()
    code, _, errors = command(*words, *more, "--plot", "plot.pdf", cwd=twins)
    assert code == 2
    assert "plot.pdf: A plot is written as SVG or PNG" in errors
    assert not (twins / "plot.pdf").exists()


# ---- comparisons -----------------------------------------------------------------------------------------------------


def test_compare_shows_every_method_at_every_k(folder: Path, hedgerow: Run, command: Command) -> None:
    plan = write_plan(folder, RULES)
    words = ("compare", "data.csv", plan, "--k", "3,6", "--method", "utility,exact", "--target", "illness")
    done = hedgerow(*words, cwd=folder, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "decision tree of the original records" in done.stdout
    for text in ("k = 3", "k = 6", "where illness can be told, k = 3", "This tells about the original records"):
        assert text in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    assert sum(line[:1] == ["exact"] for line in lines) >= 4  # measures and tree, at both k
    found = json.loads(command(*words, "--json", cwd=folder).stdout)
    assert set(found) == {"records", "target", "original", "runs"}
    assert (found["records"], found["target"]) == (240, "illness")
    assert [(run["k"], run["method"]) for run in found["runs"]] == [
        (3, "utility"),
        (3, "exact"),
        (6, "utility"),
        (6, "exact"),
    ]
    for one in found["runs"]:
        assert {
            "method", "k", "measures", "groups", "smallest_group", "withheld", "suppressed_cells", "levels", "rules",
            "risks", "queries", "distances", "tree",
        } <= set(one)  # fmt: skip
        assert set(one["measures"]) == {
            "research_value", "mean_group_value", "ntil", "ncp", "granularity", "discernibility",
        }  # fmt: skip
        assert one["smallest_group"] >= one["k"]
        assert one["risks"]["prosecutor"]["highest"] == pytest.approx(1 / one["smallest_group"])
        assert set(one["distances"]) == {"age", "city", "parish", "sex"}
        assert [rule["name"] for rule in one["rules"]] == ["retirement", "city: Kansas | Nebraska", "sexes"]
        assert sum(leaf["size"] for leaf in one["tree"]["leaves"]) == one["tree"]["records"] == 240
        assert (one["levels"] is None) == (one["method"] == "utility")
    values = [run["measures"]["research_value"] for run in found["runs"] if run["method"] == "exact"]
    assert values[0] >= values[1]  # a greater k is never worth more


def test_a_comparison_tells_the_same_as_the_release(folder: Path, command: Command) -> None:
    plan = write_plan(folder, RULES, SUPPRESS)
    _, printed, _ = command("compare", "data.csv", plan, "--method", "plan", "--json", cwd=folder)
    (compared,) = json.loads(printed)["runs"]
    _, printed, _ = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    facts = json.loads(printed)
    assert compared["measures"] == {name: facts[name] for name in compared["measures"]}
    assert compared["suppressed_cells"] == sum(facts["suppressed_cells"].values()) > 0
    assert compared["rules"] == facts["rules"]
    rows = min(facts["smallest_group"], facts["least_rows_for_a_known_person"])
    assert compared["risks"]["prosecutor"]["highest"] == pytest.approx(1 / rows)


def test_the_tree_of_the_original_does_not_depend_on_the_method(folder: Path, command: Command) -> None:
    plan = write_plan(folder)
    originals = []
    for method in ("exact", "utility"):
        words = ("--method", method, "--target", "illness", "--json")
        originals.append(json.loads(command("compare", "data.csv", plan, *words, cwd=folder)[1])["original"])
    assert originals[0] == originals[1]


def test_trees_side_by_side(folder: Path, command: Command) -> None:
    words = ("--method", "utility", "--target", "illness", "--trees")
    code, printed, _ = command("compare", "data.csv", write_plan(folder), *words, cwd=folder)
    assert code == 0
    assert "utility, k = 4" in printed


def test_methods_that_the_plan_does_not_allow_are_a_line_of_the_comparison(folder: Path, command: Command) -> None:
    plan = write_plan(folder)
    text = (folder / plan).read_text().replace("hierarchy: {bands: [5, 10, 20]}, ", "")
    (folder / plan).write_text(text)
    words = ("compare", "data.csv", plan, "--method", "exact,utility", "--k", "4,300")
    code, printed, errors = command(*words, "--json", cwd=folder)
    assert (code, errors) == (0, "")
    runs = json.loads(printed)["runs"]
    assert [set(run) == {"method", "k", "problem"} for run in runs] == [True, False, True, True]
    assert "the lattice needs levels" in runs[0]["problem"]
    assert "the table has only 240 records" in runs[3]["problem"]
    code, printed, _ = command(*words, cwd=folder)
    assert "exact, k = 4: " in printed
    assert SECRET not in printed


def test_a_target_that_is_coarsened_everywhere(folder: Path, command: Command) -> None:
    write_plan(folder)
    words = ("compare", "data.csv", "plan.yaml", "--target", "sex", "--method", "exact", "--k", "130")
    code, printed, errors = command(*words, "--json", cwd=folder)
    assert (code, errors) == (0, "")
    (one,) = json.loads(printed)["runs"]
    assert one["levels"]["sex"] == 1
    assert (one["tree"]["records"], one["tree"]["left_out"]["coarsened"]) == (0, 240)
    code, printed, _ = command(*words, cwd=folder)
    assert code == 0
    assert "not told: 240" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "exat"), "There is no method 'exat' to compare. [usage]\n  hint: did you mean 'exact'?"),
        (("--k", "1"), "Invalid value for --k"),
        (("--k", "three"), "Invalid value for --k"),
        (("--k", "3,,x"), "Invalid value for --k"),
        (
            ("--method", "utility", "--target", "ilness"),
            "The target 'ilness' is not a column that is released. [usage]\n  hint: did you mean 'illness'?",
        ),
        (("--method", "utility", "--target", "name"), "The target 'name' is not a column that is released."),
        (("--method", "utility", "--target", "age"), "Column 'age' has 6"),
        (("--budget", "soon"), "Invalid value for --budget"),
        (("--seed", "-1"), "Invalid value for '--seed'"),
    ],
)
def test_comparisons_that_cannot_be_made(folder: Path, command: Command, words: tuple[str, ...], message: str) -> None:
    code, printed, errors = command("compare", "data.csv", write_plan(folder), *words, cwd=folder)
    assert (code, printed) == (2, "")
    assert message in errors
    assert SECRET not in errors
    assert "Traceback" not in errors


def test_a_mistyped_method_in_a_process_of_its_own(folder: Path, hedgerow: Run) -> None:
    done = hedgerow("compare", "data.csv", write_plan(folder), "--method", "utilty", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'utility'?" in done.stderr


@pytest.mark.parametrize("wrong", [{"methods": ["utility", "exat"]}, {"methods": ["utility"], "target": "ilness"}])
def test_a_mistake_is_found_before_any_release_is_made(folder: Path, wrong: dict[str, Any]) -> None:
    asked: list[str] = []
    with pytest.raises(hr.HedgerowError):
        hr.compare(
            folder / "data.csv",
            folder / write_plan(folder),
            **wrong,
            progress=lambda stage, done, total: asked.append(stage),
        )
    assert not [stage for stage in asked if "k = " in stage]


def test_a_comparison_says_what_is_not_proven(tmp_path: Path, command: Command) -> None:
    write_hard(tmp_path, 300, 14)
    words = ("compare", "hard.csv", "plan.yaml", "--method", "exact", "--budget", "50")
    done = command(*words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(done.stdout)["runs"]
    assert one["search"]["proven"] is False
    assert one["search"]["bound"] > one["measures"]["research_value"]


def test_a_plot_of_risk_and_utility(folder: Path, hedgerow: Run) -> None:
    pytest.importorskip("matplotlib")
    words = ("compare", "data.csv", write_plan(folder), "--method", "utility,bottom-up", "--k", "3,6")
    done = hedgerow(*words, "--plot", "plot.svg", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plot written to plot.svg" in done.stdout
    assert (folder / "plot.svg").read_text().lstrip().startswith("<?xml")


def test_the_plot_of_a_comparison_is_given_a_point_for_every_release(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("hedgerow.reports.plots.check_plot", lambda path: None)
    monkeypatch.setattr("hedgerow.reports.plots.risk_utility_plot", lambda points, *_, **__: drawn.extend(points))
    words = ("compare", "data.csv", write_plan(folder), "--method", "utility,euclidean", "--k", "3,300")
    code, printed, _ = command(*words, "--plot", "plot.svg", "--json", cwd=folder)
    assert code == 0
    runs = [run for run in json.loads(printed)["runs"] if "problem" not in run]
    assert drawn == [
        {
            "method": run["method"],
            "k": 3,
            "risk": run["risks"]["prosecutor"]["average"],
            "utility": run["measures"]["mean_group_value"],
        }
        for run in runs
    ]
    assert len(drawn) == 2


# ---- is k within reach; made-up tables -------------------------------------------------------------------------------


def test_simulate_of_made_up_attributes(tmp_path: Path, hedgerow: Run, command: Command) -> None:
    words = ("simulate", "--attributes", "3", "--k", "3", "--records", "50,75", "--repetitions", "200")
    done = hedgerow(*words, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "69.3%" in done.stdout
    assert "97.6%" in done.stdout
    found = json.loads(command(*words, "--json", cwd=tmp_path).stdout)
    assert (found["attributes"], found["cells"], found["k"]) == (3, 8, 3)
    chances = [round(attempt["chance"]["probability"], 3) for attempt in found["attempts"]]
    assert chances == [0.693, 0.976]
    for attempt in found["attempts"]:
        assert abs(attempt["simulated"]["rate"] - attempt["chance"]["probability"]) < 0.15
    assert json.loads(command(*words, "--json", cwd=tmp_path).stdout) == found


def test_simulate_of_a_table(folder: Path, hedgerow: Run, command: Command) -> None:
    done = hedgerow("simulate", "data.csv", write_plan(folder), "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["records"], found["columns"]) == (240, ["age", "city", "parish", "sex"])
    assert [reach["k"] for reach in found["reaches"]] == [4]
    assert SECRET not in done.stdout
    shown = command("simulate", "data.csv", "plan.yaml", cwd=folder, **WIDE)
    assert shown.returncode == 0
    assert "With these 4 columns, k = 4 needs" in " ".join(shown.stdout.split())
    assert SECRET not in shown.stdout


@pytest.mark.parametrize(("kind", "columns"), [("census", 8), ("deaths", 8)])
def test_demos_of_other_kinds(tmp_path: Path, hedgerow: Run, command: Command, kind: str, columns: int) -> None:
    words = ("demo", "--kind", kind, "--records", "2000", "--attributes", str(columns))
    done = hedgerow(*words, "-o", tmp_path / "demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["records"] == 2000
    assert facts["released"] >= 1900
    assert len(facts["columns_released"]) == columns
    assert facts["rules"]
    assert 0 < facts["research_value"] < 1
    plan, data = tmp_path / "demo" / "plan.yaml", tmp_path / "demo" / f"{kind}.csv"
    assert command("plan", "check", plan, "--data", data, cwd=tmp_path).returncode == 0
    assert command("verify", "demo/release", "--original", data, cwd=tmp_path).returncode == 0
    if kind == "deaths":
        assert facts["search"]["proven"] is True


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--kind", "clinic", "--attributes", "5"), "--attributes"),
        (("--kind", "deaths", "--attributes", "37"), "--attributes"),
        (("--kind", "census", "--attributes", "2"), "--attributes"),
        (("--kind", "clinc"), "--kind"),
        (("--kind", "deaths", "--records", "10"), "--records"),
    ],
)
def test_demos_that_cannot_be_made(tmp_path: Path, command: Command, words: tuple[str, ...], option: str) -> None:
    code, printed, errors = command("demo", *words, "-o", "demo", cwd=tmp_path)
    assert (code, printed) == (2, "")
    assert "Invalid value for" in errors
    assert option in errors
    assert not (tmp_path / "demo").exists()


# ---- plans that ask for nonsense -------------------------------------------------------------------------------------

FREE = "  age: {role: quasi-identifier, intervals: free, limit: {width: 20}}\n"
LEVELS = "  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}\n"

# what is written at the end of the plan, the code, the column of the place, and a word of the message or the hint
WRONG: dict[str, tuple[str, str, int, str]] = {
    "rule on an unknown column": (
        "rules: [{attribute: agee, keep_apart: [64, 65]}]", "conflict", 9, "did you mean 'age'?",
    ),
    "rule on a sensitive column": (
        "rules: [{attribute: illness, keep_apart: [flu, cold]}]", "conflict", 9, "not a quasi-identifier",
    ),
    "rule on an identifier": (
        "rules: [{attribute: name, keep_apart: [a, b]}]", "conflict", 9, "not a quasi-identifier",
    ),
    "rule between equal numbers": (
        "rules: [{attribute: age, keep_apart: [65, 65]}]", "wrong-value", 9, "the smaller first",
    ),
    "rule between reversed numbers": (
        "rules: [{attribute: age, keep_apart: [65, 64]}]", "wrong-value", 9, "the smaller first",
    ),
    "rule between words of numbers": (
        "rules: [{attribute: age, keep_apart: [young, old]}]", "wrong-value", 9, "at two numbers",
    ),
    "rule between equal labels": (
        "rules: [{attribute: sex, keep_apart: [F, F]}]", "wrong-value", 9, "are the same",
    ),
    "rule between a node and a leaf under it": (
        "rules: [{attribute: city, keep_apart: [Kansas, Topeka]}]", "conflict", 9, "one holds the other",
    ),
    "rule between a leaf and the root": (
        "rules: [{attribute: city, keep_apart: [Topeka, US]}]", "conflict", 9, "one holds the other",
    ),
    "rule on an unknown node": (
        "rules: [{attribute: city, keep_apart: [Kansas, Nebrask]}]", "unknown-node", 9, "did you mean 'Nebraska'?",
    ),
    "importance of 0": (
        "rules: [{attribute: age, keep_apart: [64, 65], importance: 0}]", "wrong-value", 9, "importance must be above 0",
    ),
    "importance below 0": (
        "rules: [{attribute: age, keep_apart: [64, 65], importance: -2}]", "wrong-value", 9, "above 0",
    ),
    "importance that is no number": (
        "rules: [{attribute: age, keep_apart: [64, 65], importance: much}]", "wrong-value", 48, "must be a number",
    ),
    "importance without end": (
        "rules: [{attribute: age, keep_apart: [64, 65], importance: .inf}]", "wrong-value", 48, "must be a number",
    ),
    "rule between three": (
        "rules: [{attribute: age, keep_apart: [64, 65, 66]}]", "wrong-value", 26, "rules.0.keep_apart",
    ),
    "rule between one": ("rules: [{attribute: age, keep_apart: [64]}]", "missing-key", 26, "rules.0.keep_apart"),
    "rule without values": ("rules: [{attribute: age}]", "missing-key", 9, "'rules.0.keep_apart' is required"),
    "rules that are no list": (
        "rules: {attribute: age, keep_apart: [64, 65]}", "wrong-value", 1, "must be a list",
    ),
    "the second of two rules": (
        "rules: [{attribute: age, keep_apart: [1, 2]}, {attribute: aeg, keep_apart: [1, 2]}]", "conflict", 47, "'age'",
    ),
    "two rules of one name": (
        "rules: [{attribute: age, keep_apart: [1, 2]}, {attribute: age, keep_apart: [1, 2]}]", "conflict", 1, "name",
    ),
    "base below 0": ("research_value: {base: -1}", "wrong-value", 18, "must be 0 or more"),
    "lambda above 1": ("research_value: {lambda: 2}", "wrong-value", 18, "must be a number from 0 to 1"),
    "lambda below 0": ("research_value: {lambda: -0.1}", "wrong-value", 18, "must be a number from 0 to 1"),
    "lambda that is no number": ("research_value: {lambda: half}", "wrong-value", 18, "must be a number"),
    "weights by an unknown word": ("weights: associaton", "wrong-value", 1, "must be 'association'"),
    "weight of a sensitive column": ("weights: {illness: 2}", "conflict", 11, "which is not a quasi-identifier"),
    "weight of an unknown column": ("weights: {age: 1, agee: 2}", "conflict", 19, "did you mean 'age'?"),
    "weight of 0": ("weights: {age: 0}", "wrong-value", 11, "must be above 0"),
    "missing by an unknown word": ("missing: any", "wrong-value", 1, "matches-any"),
    "matches-any with persons": ("missing: matches-any\nperson: name", "conflict", 1, "person key"),
    "suppress without matches-any": (
        "method: {name: utility, suppress: true}", "conflict", 25, "missing: matches-any",
    ),
    "suppress with another method": (
        "method: {name: bottom-up, suppress: true}\nmissing: matches-any", "conflict", 27, "method utility only",
    ),
    "suppress with ignored limits": (
        "method: {name: utility, suppress: true, limits: ignore}\nmissing: matches-any", "conflict", 25, "ignored limits",
    ),
    "overlap with cluster": ("method: {name: cluster, overlap: forbidden}", "conflict", 25, "utility, bottom-up"),
    "overlap by an unknown word": ("method: {name: utility, overlap: never}", "wrong-value", 25, "'forbidden'"),
    "search without research value": (
        "method: {name: lattice, search: global}", "conflict", 25, "goes with the lattice by research value only",
    ),
    "search with clustering": ("method: {name: utility, search: local}", "conflict", 25, "research value only"),
    "search by an unknown word": (
        "method: {name: lattice, objective: research-value, search: globl}", "wrong-value", 52, "did you mean 'global'?",
    ),
    "research value with clustering": (
        "method: {name: utility, objective: research-value}", "conflict", 25, "goes with lattice, cluster and partition only",
    ),
    "blocks of nothing": (
        "method: {name: lattice, objective: research-value, search: divided, block: 0}", "wrong-value", 69, "block",
    ),
    "an unknown method": ("method: utilty", "wrong-value", 1, "did you mean 'utility'?"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_plan_that_asks_for_nonsense(folder: Path, command: Command, case: str) -> None:
    more, problem, column, words = WRONG[case]
    plan = write_plan(folder, more + "\n", name="bad.yaml")
    check_refused(folder, command, plan, problem, f"bad.yaml:{AT_END}:{column}", words)


def check_refused(folder: Path, command: Command, plan: str, problem: str, place: str, words: str) -> None:
    before = files(folder)
    code, printed, errors = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert code == 2, errors
    assert errors.startswith(f"hedgerow: {place}: ")
    assert f"[{problem}]" in errors
    assert words in errors
    assert "internal error" not in errors
    assert SECRET not in printed + errors
    listed = json.loads(printed)["problems"]
    assert [(one["code"], one["place"]) for one in listed] == [(problem, place)]
    assert files(folder) == before


@pytest.mark.parametrize(
    ("change", "more", "problem", "place", "words"),
    [
        (
            ("privacy: {k: 4}", "privacy: {k: 4, t: 0.3}"), SUPPRESS, "conflict", f"{AT_END}:25", "k and p only",
        ),
        (
            ("privacy: {k: 4}", "privacy: {k: 4, l: {entropy: 2}}"), SUPPRESS, "conflict", f"{AT_END}:25", "k and p only",
        ),
        (
            (LEVELS, FREE), "method: {name: utility, overlap: forbidden}\n", "conflict", f"{AT_END}:25", "greatest width",
        ),
        (
            ("sex: quasi-identifier", "sex: {role: quasi-identifier, weight: 2}"), "weights: association\n",
            "conflict", f"{AT_END}:1", "'sex' has one of its own",
        ),
        (
            ("sex: quasi-identifier", "sex: {role: quasi-identifier, weight: 2}"), "weights: {age: 1, sex: 2}\n",
            "conflict", f"{AT_END}:19", "'sex' is given a weight twice",
        ),
        (
            ("sex: quasi-identifier", "sex: {role: quasi-identifier, numeric: true}"), "", "conflict", "6:33", "numbers",
        ),
        (
            ("Omaha]}}}}", "Omaha]}}}, numeric: true}"), "", "conflict", "4:116", "wants a hierarchy of numbers",
        ),
        (
            ("intervals: free}", "intervals: free, limit: {level: 1}}"), "", "conflict", "3:66", "two things",
        ),
        (
            ("hierarchy: {bands: [5, 10, 20]}, ", ""), BY_VALUE, "conflict", "3:3", "the lattice needs levels",
        ),
    ],
)  # fmt: skip
def test_a_plan_whose_columns_contradict_it(
    folder: Path, command: Command, change: tuple[str, str], more: str, problem: str, place: str, words: str
) -> None:
    assert change[0] in PLAN
    (folder / "bad.yaml").write_text(PLAN.replace(*change) + more)
    check_refused(folder, command, "bad.yaml", problem, f"bad.yaml:{place}", words)


def test_every_problem_in_one_go(folder: Path, hedgerow: Run) -> None:
    (folder / "bad.yaml").write_text(
        PLAN
        + """\
rules:
  - {attribute: age, keep_apart: [65, 64]}
  - {attribute: city, keep_apart: [Kansas, Wichita], importance: 3}
  - {attribute: ward, keep_apart: [a, b]}
weights: {age: 0, illness: 1}
research_value: {base: -3}
method: {name: cluster, suppress: true, overlap: forbidden, search: hybrid}
"""
    )
    done = hedgerow("plan", "check", "bad.yaml", "--json", cwd=folder)
    assert done.returncode == 2
    found = [(problem["code"], problem["place"]) for problem in json.loads(done.stdout)["problems"]]
    at = [f"bad.yaml:{AT_END + line}" for line in range(7)]
    assert found[:6] == [
        ("wrong-value", f"{at[1]}:5"),
        ("conflict", f"{at[2]}:5"),
        ("conflict", f"{at[3]}:5"),
        ("wrong-value", f"{at[4]}:11"),
        ("conflict", f"{at[4]}:19"),
        ("wrong-value", f"{at[5]}:18"),
    ]
    assert {place for _, place in found[6:]} == {f"{at[6]}:25", f"{at[6]}:41", f"{at[6]}:61"}


def test_a_rule_on_a_value_that_does_not_occur(folder: Path, hedgerow: Run, command: Command) -> None:
    """Which values a flat column has is known from the data alone; so the nearest one must not be offered."""
    near = SECRET[:-1]
    plan = write_plan(folder, f"rules: [{{attribute: parish, keep_apart: [Saint Jude, {near}]}}]\nmethod: utility\n")
    assert command("plan", "check", plan, cwd=folder).returncode == 0
    before = files(folder)
    done = hedgerow("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert done.returncode == 2
    assert [problem["code"] for problem in json.loads(done.stdout)["problems"]] == ["unknown-node"]
    assert f"no record of column 'parish' lies at or under '{near}'" in done.stderr
    compared = command("compare", "data.csv", plan, "--method", "utility,exact", "--json", cwd=folder)
    assert compared.returncode == 2  # no method could make a release
    assert [problem["code"] for problem in json.loads(compared.stdout)["problems"]] == ["unknown-node"]
    shown = command("compare", "data.csv", plan, "--method", "utility", cwd=folder)
    for one in (done, compared, shown):
        assert f"'{near}'" in one.stdout + one.stderr
        assert SECRET not in one.stdout + one.stderr
        assert "Saint Anne" not in one.stdout + one.stderr
    assert files(folder) == before


@pytest.mark.parametrize(
    ("change", "more", "problem"),
    [
        (("", ""), "rules: [{attribute: parish, keep_apart: [Saint Jude, Saint Ann]}]\n", "unknown-node"),
        (("bands: [5, 10, 20]", "cuts: [[0, 50]]"), BY_VALUE, "not-a-number"),
    ],
)
def test_a_plan_is_checked_against_the_table_as_it_will_be_used(
    folder: Path, command: Command, change: tuple[str, str], more: str, problem: str
) -> None:
    (folder / "bad.yaml").write_text(PLAN.replace(*change) + more)
    made = command("anonymize", "data.csv", "bad.yaml", "-o", "release", cwd=folder)
    assert (made.returncode, f"[{problem}]" in made.stderr) == (2, True)
    found = command("plan", "check", "bad.yaml", "--data", "data.csv", "--json", cwd=folder)
    assert found.returncode == 2
    assert [one["code"] for one in json.loads(found.stdout)["problems"]] == [problem]
    assert SECRET not in found.stdout + found.stderr


def test_a_rule_between_words_on_free_intervals(folder: Path, command: Command) -> None:
    (folder / "bad.yaml").write_text(
        PLAN.replace(LEVELS, "  age: {role: quasi-identifier, intervals: free, numeric: false}\n")
        + "method: utility\nrules: [{attribute: age, keep_apart: [young, old]}]\n"
    )
    code, _, errors = command("anonymize", "data.csv", "bad.yaml", "-o", "release", cwd=folder)
    assert code == 2
    assert "internal error" not in errors
    assert errors.startswith("hedgerow: bad.yaml:")


def test_the_hint_for_a_mistyped_lambda_is_the_key_of_the_grammar() -> None:
    with pytest.raises(PlanError) as caught:
        Plan.loads(PLAN + "research_value: {lamda: 0.5}\n", file="bad.yaml")
    (problem,) = caught.value.problems
    assert (problem.code, problem.place) == ("unknown-key", f"bad.yaml:{AT_END}:18")
    assert problem.hint == "did you mean 'lambda'?"


def test_a_weight_that_is_no_number_is_named_where_it_stands() -> None:
    with pytest.raises(PlanError) as caught:
        Plan.loads(PLAN + "weights: {age: 1, sex: heavy}\n", file="bad.yaml")
    (problem,) = caught.value.problems
    assert (problem.code, problem.place) == ("wrong-value", f"bad.yaml:{AT_END}:19")
    assert "sex" in problem.message


# ---- the grammar -----------------------------------------------------------------------------------------------------

EVERYTHING = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}
  stage: {role: quasi-identifier, hierarchy: {tree: {any: {early: [1, 2], late: [3, 4]}}}, numeric: true}
  dose: {role: quasi-identifier, hierarchy: {bands: [0.5, 1]}, numeric: false, weight: 0.25}
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4, p: 2}
rules:
  - {name: 'no: [1] "quoted" # and ünïcode', attribute: age, keep_apart: [64, 65], importance: 2.5}
  - {attribute: sex, keep_apart: ['no', 'null']}
  - {attribute: dose, keep_apart: ['[0.5, 1)', '[1, 1.5)'], importance: 0.125}
weights: {age: 2.5, stage: 1, sex: 0.001}
research_value: {base: 0.5, lambda: 0}
missing: matches-any
"""
METHODS = {
    "method: {name: utility, suppress: true}\n": {"name": "utility", "suppress": True},
    "method: {name: bottom-up, overlap: forbidden}\n": {"name": "bottom-up", "overlap": "forbidden"},
    "method: euclidean\n": "euclidean",
    "method: {name: lattice, objective: research-value, search: divided, block: 2}\n": {
        "name": "lattice",
        "objective": "research-value",
        "search": "divided",
        "block": 2,
    },
}


@pytest.mark.parametrize("method", METHODS)
def test_every_new_key_survives_being_written(method: str) -> None:
    plan = Plan.loads(EVERYTHING + method)
    again = Plan.loads(plan.to_yaml())
    assert again.digest() == plan.digest()
    assert again.to_yaml() == plan.to_yaml()
    assert again == plan
    assert Plan.from_dict(plan.to_dict()).digest() == plan.digest()
    written = plan.to_dict()
    assert [rule["keep_apart"] for rule in written["rules"]] == [("64", "65"), ("no", "null"), ("[0.5, 1)", "[1, 1.5)")]
    assert [str(rule.get("importance", 1)) for rule in written["rules"]] == ["2.5", "1", "0.125"]
    assert written["research_value"].keys() == {"base", "lambda"}
    assert written["missing"] == "matches-any"
    assert {name: str(weight) for name, weight in written["weights"].items()} == {
        "age": "2.5",
        "stage": "1",
        "sex": "0.001",
    }
    assert (written["attributes"]["stage"]["numeric"], written["attributes"]["dose"]["numeric"]) == (True, False)
    assert plan.short()["method"] == METHODS[method]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("importance: 2.5", "importance: 2.6"),
        ("[64, 65]", "[63, 65]"),
        ("attribute: sex", "attribute: dose"),
        ("lambda: 0}", "lambda: 1}"),
        (", lambda: 0}", "}"),
        ("base: 0.5", "base: 0"),
        ("stage: 1", "stage: 2"),
        ("numeric: true", "numeric: false"),
        ("missing: matches-any", "missing: own-value"),
        ("weights: {age: 2.5, stage: 1, sex: 0.001}\n", ""),
        ("method: bottom-up", "method: {name: bottom-up, overlap: forbidden}"),
    ],
)
def test_every_new_key_is_part_of_the_digest(old: str, new: str) -> None:
    text = EVERYTHING + "method: bottom-up\n"
    assert old in text
    assert Plan.loads(text).digest() != Plan.loads(text.replace(old, new)).digest()


def test_weights_from_association_survive_being_written() -> None:
    text = EVERYTHING.replace("{age: 2.5, stage: 1, sex: 0.001}", "association").replace(", weight: 0.25", "")
    plan = Plan.loads(text)
    assert plan.weights == "association"
    assert Plan.loads(plan.to_yaml()).digest() == plan.digest()


VALUE = "research_value: {base: 2, lambda: 0.5}\n"


@pytest.mark.parametrize(
    "weights",
    [
        "weights: {age: 1, city: 2, parish: 0.3}\n",
        "weights: association\n",
    ],
)
def test_the_plan_of_a_release_makes_the_release_again(folder: Path, command: Command, weights: str) -> None:
    plan = write_plan(folder, RULES, SUPPRESS, VALUE, weights)
    code, printed, _ = command("anonymize", "data.csv", plan, "-o", "release", "--json", cwd=folder)
    assert code == 0
    released = Plan.load(folder / "release" / "plan.yaml")
    assert released.digest() == json.loads(printed)["plan"]
    assert [rule.title for rule in released.rules] == ["retirement", "city: Kansas | Nebraska", "sexes"]
    assert (released.missing, released.weights) == ("matches-any", None)
    code, _, _ = command("anonymize", "data.csv", "release/plan.yaml", "-o", "again", cwd=folder)
    assert code == 0
    assert files(folder / "again") == files(folder / "release")


@pytest.mark.parametrize("method", METHODS)
def test_the_schema_admits_every_new_key(method: str) -> None:
    schema = json.loads(json.dumps(plan_schema()))
    jsonschema.validate(yaml.safe_load(EVERYTHING + method), schema)
    jsonschema.validate(yaml.safe_load(Plan.loads(EVERYTHING + method).to_yaml()), schema)


@pytest.mark.parametrize(
    "wrong",
    [
        "rules: [{attribute: age}]",
        "rules: [{attribute: age, keep_apart: [1, 2, 3]}]",
        "rules: [{attribute: age, keep_apart: [1, 2], weight: 3}]",
        "weights: associaton",
        "weights: [age]",
        "research_value: {lamda: 0.5}",
        "missing: any",
        "method: utilty",
        "method: {name: utility, suppress: 3}",
        "method: {name: lattice, search: globl}",
        "method: {name: lattice, block: 0}",
    ],
)
def test_the_schema_refuses_what_does_not_load(wrong: str) -> None:
    schema = json.loads(json.dumps(plan_schema()))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(PLAN + wrong), schema)
    with pytest.raises(PlanError):
        Plan.loads(PLAN + wrong)

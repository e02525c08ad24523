"""Rules from the command line: kept or broken by name and importance, for every kind of hierarchy."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.cases.commands import WIDE, Command
from tests.cases.parishes import (
    BY_VALUE,
    RULES,
    SECRET,
    rows_of,
    write_plan,
)
from tests.conftest import Run

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

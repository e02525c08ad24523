"""Methods that merge what is too small, and cells that are suppressed, from the command line."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases.commands import WIDE, Command
from tests.cases.parishes import (
    RULES,
    SUPPRESS,
    rows_of,
    write_plan,
)
from tests.conftest import Run

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
        assert facts["groups"] > 1
        assert all(one[1] < other[0] for one, other in pairwise(ranges))


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

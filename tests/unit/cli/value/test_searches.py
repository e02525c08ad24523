"""The lattice by research value from the command line: what each search reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.commands import Command
from tests.cases.parishes import (
    BY_VALUE,
    LIMITED,
    PLAN,
    RULES,
    SECRET,
    write_plan,
)

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

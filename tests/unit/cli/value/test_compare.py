"""Comparisons from the command line: every method at every k, trees, plots, and what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from tests.cases.commands import WIDE, Command
from tests.cases.parishes import (
    RULES,
    SECRET,
    SUPPRESS,
    write_hard,
    write_plan,
)
from tests.conftest import Run

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
            "research_value", "mean_group_value", "ntil", "ncp", "granularity", "discernibility", "entropy",
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
    words = ("compare", "data.csv", write_plan(folder), "--method", "utility,bottom-up", "--k", "3,6")
    done = hedgerow(*words, "--plot", "plot.svg", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plot written to plot.svg" in done.stdout
    assert (folder / "plot.svg").read_text().lstrip().startswith("<svg ")


def test_the_plot_of_a_comparison_is_given_a_point_for_every_release(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("hedgerow.reports.charts.plots.check_plot", lambda path: None)
    monkeypatch.setattr(
        "hedgerow.reports.charts.plots.risk_utility_plot", lambda points, *_, **__: drawn.extend(points)
    )
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

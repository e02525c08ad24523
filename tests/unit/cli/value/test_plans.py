"""Plans that ask for nonsense: every problem is named, where it stands, and all in one go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hedgerow.errors import PlanError
from hedgerow.plan import Plan
from tests.cases.commands import Command
from tests.cases.parishes import (
    AT_END,
    BY_VALUE,
    PLAN,
    SECRET,
    SUPPRESS,
    files,
    write_plan,
)
from tests.conftest import Run

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
        "method: {name: utility, objective: research-value}", "conflict", 25, "does not go with method utility",
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

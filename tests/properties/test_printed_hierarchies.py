"""Hierarchies as papers print them: what they publish, who may read them, and what the independent check says."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.plan.hierarchy import Hierarchy
from tests.cases.lattice import printed_lines
from tests.naive import printed

Lines = list[tuple[str, ...]]


def plan_of(lines: Lines, method: Any, limit: int | None = None) -> hr.Plan:
    tree = Hierarchy.from_paths(lines, as_printed=True).tree()
    label: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": tree}}
    if limit is not None:
        label["limit"] = {"level": limit}
    return hr.Plan.from_dict({"attributes": {"x": label, "y": "other"}, "privacy": {"k": 2}, "method": method})


@given(lines=printed_lines(), data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_level_is_a_column_of_the_printed_table(lines: Lines, data: st.DataObject) -> None:
    tree = Hierarchy.from_paths(lines, as_printed=True)
    assert tree.paths() == Hierarchy.from_tree(tree.tree(), as_printed=True).paths()
    assert sorted(tree.paths()) == sorted(without_padding(line) for line in lines)
    for level in range(tree.height + 1):
        nodes = tree.ancestors_at_level(level)
        for code, leaf in enumerate(tree.leaves):
            node = int(nodes[code])
            line = next(line for line in tree.paths() if line[0] == leaf)
            assert tree.names[node] == printed.label(line, level)
            under = set(tree.leaves[tree.first_leaf[node] : tree.last_leaf[node] + 1])
            assert under == printed.group(tree.paths(), line, level)
        twofold = tree.two_meanings(nodes)
        assert (twofold is None) == (not printed.ambiguous(tree.paths(), level))


def without_padding(line: tuple[str, ...]) -> tuple[str, ...]:
    while len(line) > 2 and line[-1] == line[-2]:
        line = line[:-1]
    return line


@given(lines=printed_lines(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_the_lattice_publishes_the_column_and_the_check_agrees(lines: Lines, data: st.DataObject) -> None:
    tree = Hierarchy.from_paths(lines, as_printed=True)
    values = [line[0] for line in lines for _ in range(data.draw(st.integers(0, 4)))] + [lines[0][0]] * 2
    level = data.draw(st.integers(0, tree.height))
    limits = data.draw(st.sampled_from(["keep", "whole-levels", "ignore"]))
    limit = data.draw(st.one_of(st.none(), st.integers(0, tree.height)))
    withhold = {"at_most": "90%"}
    table = pa.table({"x": values, "y": [str(number) for number in range(len(values))]})
    plan = plan_of(lines, {"name": "lattice", "limits": limits, "levels": {"x": level}}, limit)
    plan = plan.replace(withhold=withhold)
    try:
        release = hr.anonymize(table, plan)  # every cell is checked, with original and link
    except hr.NoSolution:
        return
    stop = level if limit is None or limits == "ignore" else min(level, limit)
    sizes = Counter(printed.publish(tree.paths(), values, stop))
    expected = {label: count for label, count in sizes.items() if count >= 2}
    even = len({len(line) for line in tree.paths()}) == 1
    if limit is None or limits == "ignore" or even:
        assert Counter(release.table["x"].to_pylist()) == expected


@given(lines=printed_lines())
@settings(max_examples=60, deadline=None)
def test_only_the_lattice_reads_a_label_on_two_levels(lines: Lines) -> None:
    plan = plan_of(lines, "lattice")
    try:
        Hierarchy.from_paths(lines)
    except hr.PlanError:
        with pytest.raises(hr.PlanError):
            plan.replace(method="cluster")
    else:
        assert plan.replace(method="cluster").method.name == "cluster"


def test_a_label_that_is_repeated_up_a_chain_breaks_no_limit_where_limits_are_ignored() -> None:
    tree = {"any": {"W": {"W": {"W": {}}}, "X": {"Y": {"A": {}, "B": {}}}}}
    column: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limit": {"level": 1}}
    method = {"name": "lattice", "limits": "ignore", "levels": {"x": 2}}
    plan = hr.Plan.from_dict({"attributes": {"x": column}, "privacy": {"k": 2}, "method": method})
    release = hr.anonymize(pa.table({"x": ["W"] * 6 + ["A"] * 6 + ["B"] * 6}), plan)
    assert release.facts["limits_broken"] == 12  # X is beyond Y; W is what it was


# -- what must be refused ------------------------------------------------------------------------------------------------

UNEVEN: Lines = [("Asian", "Other", "Other", "*"), ("Black", "Other", "*"), ("White", "White", "*")]
"""On level 1 'Other' is Asian for one line, Asian and Black for the other."""


def test_a_level_on_which_a_label_is_two_groups_is_left_out_or_refused() -> None:
    table = pa.table({"x": ["Asian", "Black", "White"] * 3, "y": list("abcdefghi")})
    view = hr.lattice(table, plan_of(UNEVEN, "lattice"), which="all")
    assert [node.levels["x"] for node in sorted(view.listed, key=lambda node: node.levels["x"])] == [0, 2, 3]
    with pytest.raises(hr.NoSolution) as caught:
        hr.anonymize(table, plan_of(UNEVEN, {"name": "lattice", "levels": {"x": 1}}))
    (problem,) = caught.value.problems
    assert problem.code == "ambiguous-label"
    assert "'Other'" in problem.message
    assert "'Asian;Other;Other;*'" in problem.message
    assert "'Black;Other;*'" in problem.message


def test_limits_and_rules_that_name_a_label_of_two_groups_are_refused() -> None:
    tree = Hierarchy.from_paths(UNEVEN, as_printed=True).tree()
    column: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": tree}}
    raw: dict[str, Any] = {"attributes": {"x": column}, "privacy": {"k": 2}, "method": "lattice"}
    with pytest.raises(hr.PlanError) as caught:
        hr.Plan.from_dict({**raw, "attributes": {"x": {**column, "limits": ["Other"]}}})
    assert [problem.code for problem in caught.value.problems] == ["ambiguous-label"]
    assert "'Black;Other;*'" in caught.value.problems[0].message
    rule = {"attribute": "x", "keep_apart": ["White", "Other"]}
    with pytest.raises(hr.PlanError) as caught:
        hr.Plan.from_dict({**raw, "rules": [rule]})
    assert [problem.code for problem in caught.value.problems] == ["ambiguous-label"]
    assert hr.Plan.from_dict({**raw, "attributes": {"x": {**column, "limits": ["White"]}}}).keeps_limits


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([("a", "X", "*"), ("a", "Y", "*")], "two-parents"),  # a value has one line
        ([("a", "X", "P", "*"), ("b", "X", "Q", "*")], "two-parents"),  # twice on one level
        ([("X", "*"), ("a", "X", "*")], "value-is-node"),
        ([("a", "X"), ("b", "Y")], "two-roots"),
        ([], "hierarchy-empty"),
    ],
)
def test_what_no_reading_makes_sound(lines: Lines, code: str) -> None:
    with pytest.raises(hr.PlanError) as caught:
        Hierarchy.from_paths(lines, as_printed=True)
    assert code in [problem.code for problem in caught.value.problems]


@pytest.fixture
def released() -> Any:
    """A release at level 2 of the thesis's race, and the folder of another that says something else of it."""
    lines = [("W", "W", "W", "*"), ("B", "B", "O", "*"), ("L", "O", "O", "*"), ("A", "O", "O", "*")]
    values = [line[0] for line in lines for _ in range(4)]
    table = pa.table({"x": values, "y": [str(number) for number in range(16)]})
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hr.anonymize(table, plan_of(lines, {"name": "lattice", "levels": {"x": 1}}), folder / "release")
        yield table, folder


def test_the_check_reads_a_label_at_the_level_that_is_stated(released: Any) -> None:
    table, folder = released
    assert hr.verify(folder / "release", table).kept
    facts = json.loads((folder / "release" / "facts.json").read_text())
    assert facts["levels"] == {"x": 1}
    for level, broken in ((2, {"plan", "hierarchy", "possible"}), (0, {"plan", "hierarchy", "possible"})):
        other = folder / f"at-{level}"
        shutil.copytree(folder / "release", other)
        (other / "facts.json").write_text(json.dumps({**facts, "levels": {"x": level}}))
        found = hr.verify(other, table)
        assert broken <= {promise.name for promise in found.promises if not promise.kept}, level


def test_the_check_refuses_a_label_of_two_groups(released: Any) -> None:
    """A release by hand, at a level that no release of ours has."""
    _, folder = released
    table = pa.table({"x": ["Asian", "Asian", "Black", "Black", "White", "White"], "y": list("abcdef")})
    hr.anonymize(table, plan_of(UNEVEN, {"name": "lattice", "levels": {"x": 2}}), folder / "uneven")
    assert hr.verify(folder / "uneven", table).kept
    plan = (folder / "uneven" / "plan.yaml").read_text()
    (folder / "uneven" / "plan.yaml").write_text(plan.replace("x: 2", "x: 1"))
    facts = json.loads((folder / "uneven" / "facts.json").read_text())
    digest = hr.Plan.load(folder / "uneven" / "plan.yaml", files=False).digest()
    stated = json.dumps({**facts, "levels": {"x": 1}, "plan": digest})
    (folder / "uneven" / "facts.json").write_text(stated)
    cells = (folder / "uneven" / "data.csv").read_text().replace("*", "White")
    (folder / "uneven" / "data.csv").write_text(cells)
    broken = [promise for promise in hr.verify(folder / "uneven").promises if not promise.kept]
    assert "hierarchy" in [promise.name for promise in broken]
    assert "two different groups" in next(str(promise.found) for promise in broken if promise.name == "hierarchy")
